"""Blocks World with four operators and one arm: its PDDL, which initial states the rules cover, closure and planner.

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

from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from pddl_eval.errors import UserError
from pddl_eval.model import Action, Atom, Problem, State, show_atom
from pddl_eval.verdict import BrokenAssumption, Unsolvable

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

ARITY = {"arm-empty": 0, "holding": 1, "clear": 1, "on": 2, "on-table": 1}
ARM_EMPTY: Atom = ("arm-empty",)
RECENT = 16
"""Readings kept of initial states and goals: closure and planner, reference and answer ask for the same ones."""
TABLE = ""
"""Where a block stands that is on the table; no object has this name."""


def failed_assumption(problem: Problem, typed: bool = True) -> BrokenAssumption | None:
    """What makes the initial state no Blocks World state, None when the rules of this file cover it.

    >>> failed_assumption(Problem("p", "blocksworld", {"a": "object"}, frozenset({("on", "a", "a")}), frozenset()))
    BrokenAssumption(reason='a tower runs in a circle', atoms=(('on', 'a', 'a'),))
    """
    arrangement = _arrangement(problem.init)
    return arrangement if isinstance(arrangement, BrokenAssumption) else None


def fully_specify(problem: Problem, typed: bool = True) -> State | Unsolvable:
    """cl(goal): the atoms true in all reachable states that contain the goal (the paper's appendix C, made exact).

    >>> tower = frozenset({("arm-empty",), ("clear", "a"), ("on", "a", "b"), ("on-table", "b")})
    >>> goal = frozenset({("on", "b", "a")})
    >>> sorted(fully_specify(Problem("p", "blocksworld", {"a": "object", "b": "object"}, tower, goal)) - goal)
    [('arm-empty',), ('clear', 'b'), ('on-table', 'a')]
    """
    chains = _goal_chains(problem.init, problem.goal)
    if isinstance(chains, Unsolvable):
        return chains
    open_bottoms, open_tops, floating = chains.open_bottoms, chains.open_tops, chains.floating
    holdable = floating if chains.arm_open else frozenset()
    closure = set(problem.goal | chains.static)
    for bottom, top in open_bottoms.items():
        if len(open_tops) == (top in open_tops) and bottom not in holdable:
            closure.add(("on-table", bottom))
    for top, bottom in open_tops.items():
        if len(open_bottoms) == (bottom in open_bottoms) and top not in holdable:
            closure.add(("clear", top))
    if chains.arm_open and not holdable:
        closure.add(ARM_EMPTY)
    return frozenset(closure)


def plan(problem: Problem, typed: bool = True) -> tuple[Action, ...] | Unsolvable:
    """A plan of at most four actions a block: take down what is not yet in its final place, then build bottom up.

    >>> tower = frozenset({("arm-empty",), ("clear", "a"), ("on", "a", "b"), ("on-table", "b")})
    >>> plan(Problem("p", "blocksworld", {"a": "object", "b": "object"}, tower, frozenset({("on", "b", "a")})))
    (('unstack', 'a', 'b'), ('putdown', 'a'), ('pickup', 'b'), ('stack', 'b', 'a'))
    """
    chains = _goal_chains(problem.init, problem.goal)
    if isinstance(chains, Unsolvable):
        return chains
    if problem.goal <= problem.init:
        return ()
    below = dict(chains.start.below)
    target = {block: chains.below.get(block, TABLE) for block in below}
    actions: list[Action] = []
    if chains.start.held is not None:
        actions.append(("putdown", chains.start.held))
        below[chains.start.held] = TABLE
        target.setdefault(chains.start.held, chains.below.get(chains.start.held, TABLE))

    settled = set(chains.start.rooted)
    for tower in chains.start.towers:
        for height, block in enumerate(tower):
            if block in settled:
                continue
            if below[block] == target[block] and (target[block] == TABLE or target[block] in settled):
                settled.add(block)
                continue
            for moved in reversed(tower[height:]):
                if below[moved] != TABLE:
                    actions += [("unstack", moved, below[moved]), ("putdown", moved)]
                    below[moved] = TABLE
            break
    for chain in chains.chains:
        for base, block in pairwise(chain):
            if block not in settled:
                actions += [("pickup", block), ("stack", block, base)]
    if chains.held is not None:
        actions.append(("pickup", chains.held))
    return tuple(actions)


@dataclass(frozen=True, slots=True)
class _Arrangement:
    """An initial state read as towers: what each movable block stands on, which blocks are rooted, what is held."""

    below: dict[str, str]
    towers: list[list[str]]
    rooted: frozenset[str]
    held: str | None
    static: State


@lru_cache(maxsize=RECENT)
def _arrangement(init: State) -> _Arrangement | BrokenAssumption:
    """The arrangement that the atoms describe, or the assumption they break."""
    place: dict[str, str] = {}
    above: dict[str, str] = {}
    clear: set[str] = set()
    held: str | None = None
    static: set[Atom] = set()
    for atom in init:
        predicate = atom[0]
        if ARITY.get(predicate) != len(atom) - 1:
            static.add(atom)
        elif predicate == "clear":
            clear.add(atom[1])
        elif predicate == "on":
            _, block, base = atom
            if block in place:
                return BrokenAssumption(f"{block} is in two places", (_place_atom(block, place), atom))
            if base in above:
                return BrokenAssumption(f"two blocks stand on {base}", (("on", above[base], base), atom))
            place[block] = base
            above[base] = block
        elif predicate == "on-table":
            if atom[1] in place:
                return BrokenAssumption(f"{atom[1]} is in two places", (_place_atom(atom[1], place), atom))
            place[atom[1]] = TABLE
        elif predicate == "holding":
            if held is not None:
                return BrokenAssumption("the arm holds two blocks", (("holding", held), atom))
            held = atom[1]
    arm_empty = ARM_EMPTY in init
    if held is not None:
        holding = ("holding", held)
        if held in place:
            return BrokenAssumption(f"{held} is in two places", (holding, _place_atom(held, place)))
        if held in above:
            on_held = ("on", above[held], held)
            return BrokenAssumption(f"{above[held]} stands on {held}, which the arm holds", (holding, on_held))
        if held in clear:
            return BrokenAssumption(f"{held} is clear although the arm holds it", (("clear", held), holding))
        if arm_empty:
            return BrokenAssumption("the arm is empty and holds a block", (holding, ARM_EMPTY))
    if not clear.isdisjoint(above):
        block = min(clear & above.keys())
        conflict = (("clear", block), ("on", above[block], block))
        return BrokenAssumption(f"{block} is clear although {above[block]} stands on it", conflict)

    bases = {block for block, base in place.items() if base == TABLE}
    rooted = {base for base in above if base not in place} | (clear - place.keys())
    towers: list[list[str]] = []
    in_towers = 0
    for base in sorted(bases | rooted):
        tower = [base]
        while tower[-1] in above:
            tower.append(above[tower[-1]])
        in_towers += len(tower)
        towers.append(tower)
    if in_towers != len(place) + len(rooted):
        standing = {block for tower in towers for block in tower}
        circling = tuple(("on", block, base) for block, base in sorted(place.items()) if block not in standing)
        return BrokenAssumption("a tower runs in a circle", circling)

    alive = [tower for tower in towers if tower[-1] in clear] if arm_empty or held is not None else []
    live = {block for tower in alive for block in tower}
    for atom in init:
        if ARITY.get(atom[0]) == len(atom) - 1 >= 1 and atom[1] not in live and atom[1] != held:
            static.add(atom)
    return _Arrangement(
        below={block: place[block] for block in live if block in place},
        towers=alive,
        rooted=frozenset(live & rooted),
        held=held,
        static=frozenset(static),
    )


def _place_atom(block: str, place: dict[str, str]) -> Atom:
    return ("on-table", block) if place[block] == TABLE else ("on", block, place[block])


@dataclass(frozen=True, slots=True)
class _GoalChains:
    """A consistent goal read as chains of blocks, bottom first, and what it leaves open."""

    start: _Arrangement
    below: dict[str, str]
    chains: list[list[str]]
    held: str | None
    arm_open: bool
    open_bottoms: dict[str, str]
    """Bottom of each chain whose bottom's place is open, with that chain's top."""
    open_tops: dict[str, str]
    """Top of each chain of which the goal does not say that it is clear, with that chain's bottom."""
    floating: frozenset[str]
    """Blocks of which the goal says nothing at all."""

    @property
    def static(self) -> State:
        return self.start.static


@lru_cache(maxsize=RECENT)
def _goal_chains(init: State, goal: State) -> _GoalChains | Unsolvable:
    start = _arrangement(init)
    if isinstance(start, BrokenAssumption):
        raise UserError(f"the initial state breaks an assumption: {start.reason}")
    movable = set(start.below)
    if start.held is not None:
        movable.add(start.held)
    live = movable | start.rooted
    arm_alive = start.held is not None or ARM_EMPTY in init

    below: dict[str, str] = {}
    above: dict[str, str] = {}
    clear: set[str] = set()
    held: str | None = None
    for atom in goal:
        predicate = atom[0]
        if atom in start.static:
            continue
        if ARITY.get(predicate) != len(atom) - 1:
            return Unsolvable(f"{show_atom(atom)} does not hold at the start and no operator makes it true")
        if predicate == "arm-empty":
            if not arm_alive:
                return Unsolvable("the arm is neither empty nor holding a block, so it can never do anything")
            continue
        block = atom[1]
        if predicate == "clear":
            if block not in live:
                return Unsolvable(f"no operator can ever make {block} clear")
            clear.add(block)
            continue
        if block not in movable:
            return Unsolvable(f"{block} can never be moved, so {show_atom(atom)} is out of reach")
        if predicate == "holding":
            if held is not None:
                return Unsolvable(f"the goal has the one arm hold both {held} and {block}")
            held = block
            continue
        base = TABLE if predicate == "on-table" else atom[2]
        if block in below:
            return Unsolvable(f"the goal puts {block} in two places")
        if base != TABLE:
            if base not in live:
                return Unsolvable(f"nothing can be put on {base}, so {show_atom(atom)} is out of reach")
            if base in above:
                return Unsolvable(f"the goal puts both {above[base]} and {block} on {base}")
            above[base] = block
        below[block] = base
    if held is not None:
        if held in below:
            return Unsolvable(f"the goal has {held} both in the arm and in a place")
        if held in above or held in clear:
            return Unsolvable(f"the goal has {held} in the arm and clear or with a block on it")
        if ARM_EMPTY in goal:
            return Unsolvable(f"the goal has the arm both empty and holding {held}")
    for block in clear:
        if block in above:
            return Unsolvable(f"the goal has {block} clear with {above[block]} on it")

    chains: list[list[str]] = []
    chained = 0
    for bottom in sorted(live):
        if bottom != held and below.get(bottom, TABLE) == TABLE:
            chain = [bottom]
            while chain[-1] in above:
                chain.append(above[chain[-1]])
            chains.append(chain)
            chained += len(chain)
    if chained + (held is not None) != len(live):
        return Unsolvable("the goal stacks blocks in a circle")

    open_bottoms = {c[0]: c[-1] for c in chains if c[0] not in below and c[0] not in start.rooted}
    open_tops = {c[-1]: c[0] for c in chains if c[-1] not in clear}
    return _GoalChains(
        start=start,
        below=below,
        chains=chains,
        held=held,
        arm_open=arm_alive and held is None and ARM_EMPTY not in goal,
        open_bottoms=open_bottoms,
        open_tops=open_tops,
        floating=frozenset(bottom for bottom, top in open_bottoms.items() if bottom == top and top in open_tops),
    )
