"""Blocks World with four operators and one arm: its PDDL, which initial states the rules cover, closures and plans.

The argument. Let a problem meet the assumptions. Its blocks fall into three kinds:

* *frozen*: every block of a tower whose top is not ``clear``, and every block where the arm is neither empty nor
  holding. No operator can name one of them in any reachable state: the top would have to be clear, and only an
  operator that already moved something of the tower could make it so.
* *rooted*: a tower's base that is neither on the table nor held. It can be built on, and can itself never be moved
  (``pickup`` needs ``on-table``, ``unstack`` needs ``on``).
* *movable*: all others. They can all be put down on the table one by one, and from there every arrangement of the
  movable blocks into towers on the table or on rooted blocks, with at most one of them in the arm, can be built. So
  the reachable states are exactly these arrangements.

A goal arranges the movable and rooted blocks into *chains* (maximal runs of ``on``). It is solvable exactly when no
block has two places or two blocks on it, no chain is a circle, and the arm is given one thing to do: then all open
chain bottoms can go on the table. That same state shows that a closure can add nothing but ``on-table`` for an open
bottom, ``clear`` for an open top and ``arm-empty``; and each of these is implied unless a legal arrangement avoids it:
a bottom can avoid the table on another chain's open top or, where it is a whole block of which the goal says nothing,
in an unspecified arm; a top can avoid being clear under another chain's open bottom or in the arm; the arm can avoid
being empty by holding such a block.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise

from pddl_eval.definition.domains.reading import NotCovered, exclude_each_other, never_true
from pddl_eval.definition.model import Action, Atom, Problem, State
from pddl_eval.definition.verdict import Unsolvable

PDDL = """
(define (domain blocksworld)
  (:requirements :strips)
  (:predicates (arm-empty) (holding ?b) (clear ?b) (on ?b ?base) (on-table ?b))
  (:action pickup :parameters (?b)
    :precondition (and (arm-empty) (clear ?b) (on-table ?b))
    :effect (and (holding ?b) (not (arm-empty)) (not (clear ?b)) (not (on-table ?b))))
  (:action putdown :parameters (?b)
    :precondition (holding ?b)
    :effect (and (arm-empty) (clear ?b) (on-table ?b) (not (holding ?b))))
  (:action stack :parameters (?b ?base)
    :precondition (and (holding ?b) (clear ?base))
    :effect (and (arm-empty) (clear ?b) (on ?b ?base) (not (holding ?b)) (not (clear ?base))))
  (:action unstack :parameters (?b ?base)
    :precondition (and (arm-empty) (clear ?b) (on ?b ?base))
    :effect (and (holding ?b) (clear ?base) (not (arm-empty)) (not (clear ?b)) (not (on ?b ?base)))))
"""

TABLE, ARM, NOTHING = "(table)", "(arm)", "(nothing)"
"""A block is on the table, in the arm or on a block; ``clear`` and ``arm-empty`` say that nothing is there."""

ARM_EMPTY: Atom = ("arm-empty",)


def read(problem: Problem, _typed: bool = True) -> Towers | NotCovered:
    """The towers of the initial state, or atoms that no state of Blocks World has together.

    >>> tower = frozenset({("arm-empty",), ("clear", "a"), ("on", "a", "b"), ("on-table", "b")})
    >>> goal = read(Problem("p", "blocksworld", {}, tower, frozenset())).goal(frozenset({("on", "b", "a")}))
    >>> sorted(goal.closure)
    [('arm-empty',), ('clear', 'b'), ('on', 'b', 'a'), ('on-table', 'a')]
    >>> goal.plan
    (('unstack', 'a', 'b'), ('putdown', 'a'), ('pickup', 'b'), ('stack', 'b', 'a'))
    """
    said = [(atom, _place(atom)) for atom in sorted(problem.init)]
    arrangement = _arrange(said)
    if isinstance(arrangement, NotCovered):
        return arrangement
    below, above = arrangement
    held = above.get(ARM, NOTHING)
    rooted = above.keys() - below.keys() - {ARM}
    bottoms = rooted.union(block for block, base in below.items() if base == TABLE)
    towers = [_stack(bottom, above) for bottom in sorted(bottoms)]
    if sum(map(len, towers)) + (held != NOTHING) != len(below) + len(rooted):
        return NotCovered(_circle(min(below.keys() - {held}.union(*towers)), below))
    alive = [tower for tower in towers if tower[-1] in above] if ARM in above else []
    live = {block for tower in alive for block in tower} | ({held} - {NOTHING})
    below = {block: base for block, base in below.items() if block in live}
    uppers, bases = below.keys() | {NOTHING}, live | {TABLE} | ({ARM} & above.keys())
    static = [atom for atom, place in said if place is None or place[0] not in uppers or place[1] not in bases]
    return Towers(problem.init, below, alive, rooted & live, uppers, bases, frozenset(static))


def _place(atom: Atom) -> tuple[str, str] | None:
    """An atom as what is where; None for an atom that no operator knows."""
    match atom:
        case ("on", block, base):
            return block, base
        case ("clear", base):
            return NOTHING, base
        case ("on-table", block):
            return block, TABLE
        case ("holding", block):
            return block, ARM
        case ("arm-empty",):
            return NOTHING, ARM
    return None


def _atom(upper: str, base: str) -> Atom:
    """The atom that says what is where; the way back from ``_place``."""
    if upper == NOTHING:
        return ARM_EMPTY if base == ARM else ("clear", base)
    if base in (TABLE, ARM):
        return ("on-table" if base == TABLE else "holding", upper)
    return ("on", upper, base)


def _arrange(
    places: Iterable[tuple[Atom, tuple[str, str] | None]],
) -> tuple[dict[str, str], dict[str, str]] | NotCovered:
    """What each block is on, and what is on each base; else two atoms that exclude each other."""
    below: dict[str, str] = {}
    above: dict[str, str] = {}
    for atom, place in places:
        if place is not None:
            block, base = place
            if block != NOTHING and below.setdefault(block, base) != base:
                return NotCovered((_atom(block, below[block]), atom))
            if base != TABLE and above.setdefault(base, block) != block:
                return NotCovered((_atom(above[base], base), atom))
    held = above.get(ARM, NOTHING)
    if held in above:
        return NotCovered((_atom(held, ARM), _atom(above[held], held)))
    return below, above


def _stack(base: str, above: dict[str, str]) -> list[str]:
    """The blocks from a base upwards."""
    stack = [base]
    while (upper := above.get(stack[-1], NOTHING)) != NOTHING:
        stack.append(upper)
    return stack


def _circle(first: str, below: dict[str, str]) -> tuple[Atom, ...]:
    """The atoms of a tower that stands on itself."""
    circle = [first]
    while below[circle[-1]] != first:
        circle.append(below[circle[-1]])
    return tuple(_atom(block, below[block]) for block in circle)


@dataclass(frozen=True, slots=True, eq=False)
class Towers:
    """An initial state: what each movable block is on, and the towers that can be changed."""

    init: State
    below: dict[str, str]
    towers: list[list[str]]
    rooted: set[str]
    uppers: set[str]
    """What can be on something: movable blocks, and nothing."""
    bases: set[str]
    """What something can be on: movable and rooted blocks, table, arm."""
    static: State

    def goal(self, goal: State) -> Chains | Unsolvable:
        """The goal's chains, or atoms that exclude each other."""
        wanted = [(atom, _place(atom)) for atom in sorted(goal) if atom not in self.static]
        for atom, place in wanted:
            if place is None or place[0] not in self.uppers or place[1] not in self.bases:
                return never_true(atom)
        arrangement = _arrange(wanted)
        if isinstance(arrangement, NotCovered):
            return exclude_each_other(*arrangement.atoms)
        below, above = arrangement
        live = self.bases - {TABLE, ARM}
        chains = [_stack(block, above) for block in sorted(live) if below.get(block, TABLE) == TABLE]
        if sum(map(len, chains)) + (above.get(ARM, NOTHING) != NOTHING) != len(live):
            first = min(live.difference([above.get(ARM, NOTHING)], *chains))
            return exclude_each_other(*_circle(first, below))
        return Chains(self, goal, chains, below, above)


@dataclass(frozen=True, slots=True, eq=False)
class Chains:
    """A consistent goal: chains of blocks, bottom first, what the goal wants each block on and on each base."""

    start: Towers
    goal: State
    chains: list[list[str]]
    below: dict[str, str]
    above: dict[str, str]

    @property
    def closure(self) -> State:
        """cl(goal)."""
        start = self.start
        open_bottoms = {c[0]: c[-1] for c in self.chains if c[0] not in self.below and c[0] not in start.rooted}
        open_tops = {c[-1]: c[0] for c in self.chains if c[-1] not in self.above}
        arm_open = ARM in start.bases and ARM not in self.above
        holdable = {b for b, top in open_bottoms.items() if arm_open and b == top and b in open_tops}
        closure = set(self.goal | start.static)
        for bottom, top in open_bottoms.items():
            if len(open_tops) == (top in open_tops) and bottom not in holdable:
                closure.add(("on-table", bottom))
        for top, bottom in open_tops.items():
            if len(open_bottoms) == (bottom in open_bottoms) and top not in holdable:
                closure.add(("clear", top))
        if arm_open and not holdable:
            closure.add(ARM_EMPTY)
        return frozenset(closure)

    @property
    def plan(self) -> tuple[Action, ...]:  # noqa: C901 (one pass down, one pass up)
        """At most four actions a block: take down what is not yet in its final place, then build bottom up."""
        start = self.start
        if self.goal <= start.init:
            return ()
        actions: list[Action] = [("putdown", block) for block, base in start.below.items() if base == ARM]
        settled = set(start.rooted)
        for tower in start.towers:
            for height, block in enumerate(tower):
                below, aim = start.below.get(block), self.below.get(block, TABLE)
                if block in settled:
                    continue
                if below == aim and (aim == TABLE or aim in settled):
                    settled.add(block)
                    continue
                for upper in reversed(tower[height:]):
                    if start.below[upper] != TABLE:
                        actions += [("unstack", upper, start.below[upper]), ("putdown", upper)]
                break
        for chain in self.chains:
            for base, block in pairwise(chain):
                if block not in settled:
                    actions += [("pickup", block), ("stack", block, base)]
        actions += [("pickup", block) for block, base in self.below.items() if base == ARM]
        return tuple(actions)
