"""What is true in all reachable states that contain a goal, where the states may be too many to list.

``closure`` gives cl(goal) exactly or says that it could not. Small state spaces are enumerated. In large ones the
closure is caught between two bounds: what invariants derive from the goal is in it, what a reachable goal state lacks
is not, and each atom in between is a planning task of its own: is there a goal state without it? A planner of the
caller's is asked last.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import reduce
from operator import and_, or_

from pddl_eval.budget import check
from pddl_eval.model import Atom, Domain, Problem, State, indexes, show_atom
from pddl_eval.strips.invariants import consequences
from pddl_eval.strips.search import MAX_EFFORT, find_path
from pddl_eval.strips.task import MAX_STATES, GroundTask, ground_goal, reachable_states, successor_generator
from pddl_eval.verdict import Undecided, Unsolvable

FEW_STATES = 5_000
"""Reachable states up to which enumeration comes first; it takes some ten milliseconds."""

MAX_SAMPLE_LOOKS = 200_000
"""Operators looked at for goal states around the first one, some ten milliseconds."""

MAX_QUESTIONS = 50
"""Atoms between the bounds that are asked for one by one."""

EFFORT_NEARBY = 3_000
"""Effort of a search that starts from a known goal state (``search.MAX_EFFORT`` has the unit)."""

MAX_OPEN = 3
"""Atoms that may stay undecided before the rest is left undecided too; each costs a whole search."""


Planner = Callable[[State, State], State | Unsolvable | Undecided]
"""From atoms to have and atoms to lack to a reachable state, the proof that there is none, or a limit."""

_Answer = int | Unsolvable | Undecided


@dataclass(frozen=True, slots=True)
class SeparatingState:
    """A reachable state that contains all of the given atoms and lacks ``atom``."""

    atom: Atom
    state: State


def closure(problem: Problem, domain: Domain, planner: Planner | None = None) -> State | Unsolvable | Undecided:
    """cl(goal): every atom that is true in all reachable goal states, and no other; exact or ``Undecided``.

    >>> from pddl_eval.parsing import parse_domain
    >>> lamp = parse_domain("(define (domain d) (:action switch :precondition (off) :effect (and (on) (not (off)))))")
    >>> sorted(closure(Problem("p", "d", {}, frozenset({("off",), ("dry",)}), frozenset({("on",)})), lamp))
    [('dry',), ('on',)]
    """
    grounded = ground_goal(problem, domain, problem.goal)
    if not isinstance(grounded, tuple):
        return grounded
    task, goal = grounded
    states = reachable_states(task, FEW_STATES)
    if states is None:
        bounds = closure_bounds(task, goal)
        if isinstance(bounds, Undecided) or (isinstance(bounds, tuple) and bounds[0] != bounds[1]):
            states = reachable_states(task, MAX_STATES)
            if states is None and planner is not None:
                bounds = _bounds_by_planner(task, goal, bounds, planner)
        if isinstance(bounds, Unsolvable):
            return bounds
        if isinstance(bounds, tuple) and bounds[0] == bounds[1]:
            return task.state(bounds[0])
        if states is None and isinstance(bounds, tuple):
            return _open(task, bounds)
        if states is None:
            return Undecided(f"the reachable states exceed the budget of {MAX_STATES:,}")
    having = [state for state in states if state & goal == goal]
    if not having:
        return Unsolvable(f"none of the {len(states):,} reachable states contains the goal")
    return task.state(reduce(and_, having))


def separating_state(
    problem: Problem, domain: Domain, given: State, asked: State, planner: Planner | None = None
) -> SeparatingState | Undecided | None:
    """A reachable state that contains ``given`` and lacks an atom of ``asked``; None is the proof that there is none.

    The problem's goal plays no part. None too where no reachable state contains ``given`` at all. The limits are those
    of ``closure_bounds``: where no state with ``given`` was found, no atom is asked for.
    """
    grounded = ground_goal(problem, domain, given)
    if not isinstance(grounded, tuple):
        return grounded if isinstance(grounded, Undecided) else None
    task, goal = grounded
    states = reachable_states(task, FEW_STATES)
    if states is not None:
        return _enumerated_separating_state(task, [state for state in states if state & goal == goal], asked)
    ask = _planner_on_bits(task, goal, planner)
    first = _goal_state(task, task.initial, goal, 0)
    if isinstance(first, Undecided):
        first = ask(0)
    if not isinstance(first, int):
        return first if isinstance(first, Undecided) else None
    missing = asked - task.state(first)
    wanted = reduce(or_, (task.bit[atom] for atom in asked if atom in task.bit), 0)
    bounds = _implied(task, goal), wanted
    for one in (_search_around(task, first, goal), ask):
        for lower, upper, state in () if missing else _narrowed(task, bounds, one):
            bounds = lower, upper
            if state is not None:
                first, missing = state, asked - task.state(state)
                break
    if missing:
        return SeparatingState(min(missing), task.state(first))
    return _open(task, bounds) if bounds[1] & ~bounds[0] else None


def _enumerated_separating_state(task: GroundTask, having: list[int], asked: State) -> SeparatingState | None:
    """The first atom that some of the states lack."""
    for atom in sorted(asked - task.always):
        lacking = [state for state in having if not state & task.bit.get(atom, 0)]
        if lacking:
            return SeparatingState(atom, task.state(min(lacking)))
    return None


def closure_bounds(
    task: GroundTask, goal: int, first: _Answer | None = None
) -> tuple[int, int] | Unsolvable | Undecided:
    """Bits that cl(goal) has and bits beyond which it has none; where they are equal they are the closure.

    ``first`` is a reachable goal state where one is known. No state space is enumerated. ``Undecided`` when no goal
    state was found.
    """
    first = _goal_state(task, task.initial, goal, 0) if first is None else first
    if not isinstance(first, int):
        return first
    lower = _implied(task, goal, with_h2=False)
    upper = _shared_around(task, first, goal, lower)
    if lower != upper:
        lower = _implied(task, goal)
    return _last(_narrowed(task, (lower, upper), _search_around(task, first, goal)), (lower, upper))


def _bounds_by_planner(
    task: GroundTask, goal: int, bounds: tuple[int, int] | Undecided, planner: Planner
) -> tuple[int, int] | Unsolvable | Undecided:
    """The bounds after the planner was asked for a goal state, if none is known, and for each atom between them."""
    ask = _planner_on_bits(task, goal, planner)
    found = closure_bounds(task, goal, ask(0)) if isinstance(bounds, Undecided) else bounds
    return _last(_narrowed(task, found, ask), found) if isinstance(found, tuple) else found


def _last(questions: Iterable[tuple[int, int, int | None]], bounds: tuple[int, int]) -> tuple[int, int]:
    """The bounds after the last question."""
    for lower, upper, _ in questions:
        bounds = lower, upper
    return bounds


def _narrowed(
    task: GroundTask, bounds: tuple[int, int], ask: Callable[[int], _Answer]
) -> Iterator[tuple[int, int, int | None]]:
    """Ask, for each atom between the bounds, for a goal state without it.

    The bounds after each answer, and the goal state if there is one.
    """
    lower, upper = bounds
    undecided = 0
    for _ in range(MAX_QUESTIONS):
        between = upper & ~lower & ~undecided
        if not between or undecided.bit_count() == MAX_OPEN:
            return
        atom = between & -between
        answer = ask(atom)
        if isinstance(answer, int):
            upper &= answer
        elif isinstance(answer, Unsolvable):
            lower = _implied(task, lower | atom)
        else:
            undecided |= atom
        yield lower, upper, answer if isinstance(answer, int) else None


def _search_around(task: GroundTask, first: int, goal: int) -> Callable[[int], _Answer]:
    """The search for a goal state that lacks some bits: near the first goal state, then from the initial state."""

    def ask(lacking: int) -> _Answer:
        answer = _goal_state(task, first, goal, lacking, EFFORT_NEARBY)
        return answer if isinstance(answer, int) else _goal_state(task, task.initial, goal, lacking)

    return ask


def _planner_on_bits(task: GroundTask, goal: int, planner: Planner | None) -> Callable[[int], _Answer]:
    """The planner, asked for a goal state that lacks some bits."""

    def ask(lacking: int) -> _Answer:
        if planner is None:
            return Undecided("the search found no goal state")
        answer = planner(*(frozenset(task.atoms[index] for index in indexes(bits)) for bits in (goal, lacking)))
        return reduce(or_, (task.bit.get(atom, 0) for atom in answer), 0) if isinstance(answer, frozenset) else answer

    return ask


def _open(task: GroundTask, bounds: tuple[int, int]) -> Undecided:
    """What to say of the first atom between the bounds."""
    lower, upper = bounds
    atom = min(task.state(upper) - task.state(lower))
    return Undecided(f"the goal was neither proven to imply {show_atom(atom)} nor reached without it")


def _implied(task: GroundTask, goal: int, *, with_h2: bool = True) -> int:
    """The bits that invariants derive from the goal's; all of them where they refute it."""
    literals = consequences(task, goal, 0, with_h2=with_h2)
    return (1 << len(task.atoms)) - 1 if literals is None else literals[0]


def _goal_state(task: GroundTask, start: int, goal: int, lacking: int, max_effort: int = MAX_EFFORT) -> _Answer:
    """A state with all bits of the goal and none of ``lacking`` that is reachable from a reachable state."""
    path = find_path(task, start, goal, lacking, max_effort)
    return reduce(lambda state, operator: operator.apply(state), path, start) if isinstance(path, tuple) else path


def _shared_around(task: GroundTask, first: int, goal: int, lower: int) -> int:
    """What the goal states around the first one share: states that show no literal for the first time are not passed.

    Literals are counted apart for states with and without the goal, so that leaving the goal and coming back is
    possible. Stops when nothing but ``lower`` is left.
    """
    n = len(task.atoms)
    everything = (1 << n) - 1
    successors = successor_generator(task)
    shown = {True: first | (everything & ~first) << n, False: 0}
    shared = first
    seen = {first}
    looks = 0
    queue = [first]
    for state in queue:
        following, looked_at = successors(state)
        looks += looked_at
        check()
        for _, after in following:
            if after in seen:
                continue
            seen.add(after)
            has_goal = after & goal == goal
            literals = after | (everything & ~after) << n
            if literals & ~shown[has_goal]:
                shown[has_goal] |= literals
                queue.append(after)
                if has_goal:
                    shared &= after
        if shared == lower or looks > MAX_SAMPLE_LOOKS:
            break
    return shared
