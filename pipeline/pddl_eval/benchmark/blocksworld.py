"""Blocks World: towers of blocks ``b1``, ``b2``, … and one arm (the paper's appendix D).

The parameters are a list of tower heights; a configuration that has a shape of its own takes only their sum. What can
be done with blocks is in ``planning_domains.blocksworld``, not here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import accumulate, chain, pairwise

from pddl_eval.benchmark.partitions import benchmark_partitions
from pddl_eval.benchmark.scene import Arrange, Scene, TaskDomain, counted, numbered
from pddl_eval.model import ROOT_TYPE, Atom

Heights = tuple[int, ...]
Tower = list[str]
"""The blocks of a tower from its top to its base."""

ARM_EMPTY: Atom = ("arm-empty",)


def on_table(heights: Heights) -> Scene:
    """Unstacked: every block on the table by itself."""
    blocks = _blocks(heights)
    return Scene((ARM_EMPTY, *_alone(blocks)), f"{counted(len(blocks), 'block')}, each alone on the table; empty arm")


def holding_one(heights: Heights) -> Scene:
    """Holding a block: one in the arm, every other on the table by itself."""
    held, *others = _blocks(heights)
    words = f"{counted(1 + len(others), 'block')}, one held by the arm and each of the others alone on the table"
    return Scene((("holding", held), *_alone(others)), words)


def stack(heights: Heights) -> Scene:
    """Stacked: all blocks in a single tower, the first one at its base."""
    blocks = _blocks(heights)
    base, *upwards, top = _upwards(blocks[::-1])
    return Scene((ARM_EMPTY, *upwards, top, base), f"{counted(len(blocks), 'block')} in a single stack; empty arm")


def towers(heights: Heights) -> Scene:
    """Towers: one for each height of the list."""
    listed = ", ".join(map(str, heights))
    words = f"{counted(sum(heights), 'block')} in towers with a height of {listed}; empty arm"
    return Scene((ARM_EMPTY, *_all(_downwards, _towers(heights))), words)


def staircase(heights: Heights) -> Scene | None:
    """Staircase: towers of height 1, 2, 3, …; needs a triangular number of blocks."""
    total = sum(heights)
    steps = next(steps for steps in range(1, total + 1) if steps * (steps + 1) // 2 >= total)
    if steps * (steps + 1) // 2 != total:
        return None
    words = f"{counted(total, 'block')} in a staircase of {counted(steps, 'tower')}, 1 to {steps} high; empty arm"
    return Scene((ARM_EMPTY, *_all(_downwards, _towers(tuple(range(1, steps + 1))))), words)


def equal_towers(heights: Heights) -> Scene | None:
    """Equal towers: of the greatest height up to five that divides the blocks.

    The benchmark does not combine it with several towers of one block each. From a list of heights it tells the number
    of towers too, which makes the words differ from those for the same blocks given as one number.
    """
    if len(heights) > 1 and max(heights) == 1:
        return None
    total = sum(heights)
    height = max(height for height in range(1, 6) if total % height == 0)
    told = "equal towers" if len(heights) == 1 else counted(total // height, "equal tower")
    words = f"{counted(total, 'block')} in {told}, {height} high; empty arm"
    return Scene((ARM_EMPTY, *_all(_upwards, _towers((height,) * (total // height), upwards=True))), words)


def swap(heights: Heights) -> tuple[Scene, Scene]:
    """Swap (tied): two towers, at least two high, exchange their base blocks and keep the rest."""
    base, other_base, *above = _blocks(heights)
    stands, other_stands = above[: heights[0] - 1][::-1], above[heights[0] - 1 :][::-1]
    start = [[*stands, base], [*other_stands, other_base]]
    swapped = [[*stands, other_base], [*other_stands, base]]
    told = f"{counted(sum(heights), 'block')} in two towers, {heights[0]} and {heights[1]} high; empty arm"
    words = "the two blocks at the bottom have changed places, every other block stands where it was; empty arm"
    return Scene((ARM_EMPTY, *_all(_upwards, start)), told), Scene((ARM_EMPTY, *_all(_upwards, swapped)), words)


def invert(heights: Heights) -> tuple[Scene, Scene]:
    """Invert (tied): every tower is turned upside down."""
    inverted = [tower[::-1] for tower in _towers(heights)]
    words = "every tower stands upside down, its blocks in the opposite order; empty arm"
    return towers(heights), Scene((ARM_EMPTY, *_all(_downwards, inverted[::-1])), words)


def _blocks(heights: Heights) -> list[str]:
    return numbered("b", sum(heights))


def _towers(heights: Heights, *, upwards: bool = False) -> list[Tower]:
    """The blocks cut into towers, their numbers growing downwards, or upwards."""
    blocks = _blocks(heights)
    cuts = pairwise(accumulate(heights, initial=0))
    return [blocks[start:stop][:: -1 if upwards else 1] for start, stop in cuts]


def _alone(blocks: Iterable[str]) -> list[Atom]:
    return _all(_downwards, [[block] for block in blocks])


def _downwards(tower: Tower) -> list[Atom]:
    return [("clear", tower[0]), *(("on", *pair) for pair in pairwise(tower)), ("on-table", tower[-1])]


def _upwards(tower: Tower) -> list[Atom]:
    return _downwards(tower)[::-1]


def _all(order: Callable[[Tower], list[Atom]], towers: Iterable[Tower]) -> list[Atom]:
    return list(chain.from_iterable(map(order, towers)))


def _triangular(most_steps: int) -> Iterator[Heights]:
    return ((steps * (steps + 1) // 2,) for steps in range(1, most_steps + 1))


def _pairs_of_towers(most_blocks: int) -> Iterator[Heights]:
    for total in range(4, most_blocks + 1):
        yield from ((first, total - first) for first in range(2, total - 1))


UNTIED: dict[str, Arrange[Heights]] = {
    "on_table": on_table,
    "stack": stack,
    "staircase": staircase,
    "tower": towers,
    "holding_one": holding_one,
    "equal_towers": equal_towers,
}

BLOCKSWORLD: TaskDomain[Heights] = TaskDomain(
    name="blocksworld",
    objects=lambda heights: dict.fromkeys(_blocks(heights), ROOT_TYPE),
    kinds=lambda heights: (),
    label=lambda heights: "_".join(map(str, heights)),
    initial=UNTIED,
    goals=UNTIED,
    tied={"swap": swap, "invert": invert},
    sizes={
        "stack": lambda: ((total,) for total in range(1, 56)),
        "staircase": lambda: _triangular(10),
        "tower": benchmark_partitions,
        "equal_towers": lambda: ((total,) for total in range(1, 6)),
        "swap": lambda: _pairs_of_towers(30),
        "invert": benchmark_partitions,
    },
    left_out=frozenset((one, other) for one in ("on_table", "holding_one") for other in ("on_table", "holding_one")),
)
