"""Blocks World: towers of blocks ``b1``, ``b2``, … and one arm (the paper's appendix D).

The parameters are a list of tower heights; a configuration that has a shape of its own takes only their sum. The
domain's operators and rules are in ``pddl_eval.definition.domains.blocksworld``, not here.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import accumulate, pairwise
from math import isqrt
from random import Random

from pddl_eval.benchmark.tasks import Side, TaskDomain, benchmark_partitions, choose, counted, named, numbered
from pddl_eval.definition.model import Atom, Problem, State

Heights = tuple[int, ...]
Tower = list[str]
"""The blocks of a tower from its top to its base."""

ARM_EMPTY: Atom = ("arm-empty",)


def on_table(heights: Heights) -> Side:
    """Unstacked: every block on the table by itself."""
    return _side([[block] for block in _blocks(heights)], f"{_count(heights)}, each alone on the table")


def holding_one(heights: Heights) -> Side:
    """Holding a block: one in the arm, every other on the table by itself."""
    held, *others = _blocks(heights)
    words = f"{_count(heights)}, one held by the arm and each of the others alone on the table"
    return Side((("holding", held), *_atoms([block] for block in others)), words)


def stack(heights: Heights) -> Side:
    """Stacked: all blocks in a single tower, the first one at its base."""
    base, *rest = _atoms([_blocks(heights)[::-1]], upwards=True)
    return Side((ARM_EMPTY, *rest, base), f"{_count(heights)} in a single stack; empty arm")


def tower(heights: Heights) -> Side:
    """Towers: one for each height of the list."""
    return _side(_towers(heights), f"{_count(heights)} in towers with a height of {', '.join(map(str, heights))}")


def staircase(heights: Heights) -> Side | None:
    """Staircase: towers of height 1, 2, 3, …; needs a triangular number of blocks."""
    steps = isqrt(2 * sum(heights))
    if sum(range(steps + 1)) != sum(heights):
        return None
    words = f"{_count(heights)} in a staircase of {counted(steps, 'tower')}, 1 to {steps} high"
    return _side(_towers(tuple(range(1, steps + 1))), words)


def equal_towers(heights: Heights) -> Side | None:
    """Equal towers: of the greatest height up to five that divides the blocks.

    The benchmark does not combine it with several towers of one block each. From a list of heights it tells the number
    of towers too, which makes the words differ from those for the same blocks given as one number.
    """
    if len(heights) > 1 and max(heights) == 1:
        return None
    total = sum(heights)
    height = max(height for height in range(1, 6) if total % height == 0)
    number = total // height
    words = "equal towers" if len(heights) == 1 else counted(number, "equal tower")
    upwards = [tower[::-1] for tower in _towers((height,) * number)]
    return _side(upwards, f"{_count(heights)} in {words}, {height} high", upwards=True)


def swap(heights: Heights) -> tuple[Side, Side]:
    """Swap (tied): two towers, at least two high, exchange their base blocks and keep the rest."""
    base, other_base, *above = _blocks(heights)
    upper, other_upper = above[: heights[0] - 1][::-1], above[heights[0] - 1 :][::-1]
    start = [[*upper, base], [*other_upper, other_base]]
    swapped = [[*upper, other_base], [*other_upper, base]]
    told = f"{_count(heights)} in two towers, {heights[0]} and {heights[1]} high"
    words = "the two blocks at the bottom have changed places, every other block stands where it was"
    return _side(start, told, upwards=True), _side(swapped, words, upwards=True)


def invert(heights: Heights) -> tuple[Side, Side]:
    """Invert (tied): every tower is turned upside down."""
    inverted = [tower[::-1] for tower in reversed(_towers(heights))]
    return tower(heights), _side(inverted, "every tower stands upside down, its blocks in the opposite order")


def _blocks(heights: Heights) -> list[str]:
    return numbered("b", sum(heights))


def _count(heights: Heights) -> str:
    return counted(sum(heights), "block")


def _towers(heights: Heights) -> list[Tower]:
    """All blocks cut into towers, their numbers growing downwards."""
    blocks = _blocks(heights)
    return [blocks[start:stop] for start, stop in pairwise(accumulate(heights, initial=0))]


def _atoms(towers: Iterable[Tower], *, upwards: bool = False) -> list[Atom]:
    """The atoms of the towers, each from its top down or from its base up."""
    listed = [
        [("clear", tower[0]), *(("on", *pair) for pair in pairwise(tower)), ("on-table", tower[-1])] for tower in towers
    ]
    return [atom for atoms in listed for atom in (reversed(atoms) if upwards else atoms)]


def _side(towers: Iterable[Tower], words: str, *, upwards: bool = False) -> Side:
    return Side((ARM_EMPTY, *_atoms(towers, upwards=upwards)), f"{words}; empty arm")


def _random_towers(problem: Problem, random: Random) -> State:
    """All blocks in towers: a state that is its own closure."""
    blocks = random.sample(sorted(problem.objects), len(problem.objects))
    towers = []
    while blocks:
        cut = random.randint(1, len(blocks))
        towers.append(blocks[:cut])
        blocks = blocks[cut:]
    return frozenset([ARM_EMPTY, *_atoms(towers)])


def _contradictions(problem: Problem, random: Random) -> list[tuple[Atom, ...]]:
    found: list[tuple[Atom, ...]] = []
    for a in choose(3, problem.objects, random):
        found += [(("on", a, a),), (("holding", a), ARM_EMPTY)]
    for a, b in pairwise(choose(3, problem.objects, random)):
        found += [(("on", a, b), ("on", b, a)), (("on", a, b), ("clear", b)), (("on", a, b), ("on-table", a))]
    return found


UNTIED = named(on_table, stack, staircase, tower, holding_one, equal_towers)

BLOCKSWORLD: TaskDomain[Heights] = TaskDomain(
    objects=_blocks,
    label=lambda heights: "_".join(map(str, heights)),
    initial=UNTIED,
    goals=UNTIED,
    tied={"swap": swap, "invert": invert},
    sizes={
        "stack": lambda: ((total,) for total in range(1, 56)),
        "staircase": lambda: ((total,) for total in accumulate(range(1, 11))),
        "tower": benchmark_partitions,
        "equal_towers": lambda: ((total,) for total in range(1, 6)),
        "swap": lambda: ((first, total - first) for total in range(4, 31) for first in range(2, total - 1)),
        "invert": benchmark_partitions,
    },
    random_goal=_random_towers,
    random_init=_random_towers,
    contradictions=_contradictions,
    left_out=frozenset((one, other) for one in ("on_table", "holding_one") for other in ("on_table", "holding_one")),
)
