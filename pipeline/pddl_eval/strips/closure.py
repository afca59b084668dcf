"""What is true in all reachable states that contain a goal, where the states may be too many to list.

``closure`` gives cl(goal) exactly or says that it could not. Small state spaces are enumerated. In large ones the
closure is caught between two bounds: what invariants derive from the goal is in it, what a reachable goal state lacks
is not, and each atom in between is a planning task of its own: is there a goal state without it?
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from pddl_eval.model import Atom, Domain, Problem, State, show_atom
from pddl_eval.strips.ground import ground
from pddl_eval.strips.literals import consequences
from pddl_eval.strips.reachable import MAX_STATES, closure_of_reachable, reachable_states
from pddl_eval.strips.search import find_path
from pddl_eval.strips.successors import successor_generator
from pddl_eval.strips.task import GroundTask, indexes
from pddl_eval.verdict import Undecided, Unsolvable

FEW_STATES = 5_000
"""Reachable states up to which enumeration comes first; it takes some ten milliseconds."""

MAX_SAMPLE_LOOKS = 200_000
"""Operators looked at for goal states around the first one (``successors`` counts them), some ten milliseconds."""

MAX_QUESTIONS = 50
"""Atoms between the bounds that are asked for one by one."""

EFFORT_NEARBY = 3_000
"""Effort of a search that starts from a known goal state (``search.MAX_EFFORT`` has the unit)."""

MAX_OPEN = 3
"""Atoms that may stay undecided before the rest is left undecided too; each costs a whole search."""

Reach = Callable[[Problem, Domain, frozenset[Atom]], State | Unsolvable | Undecided]
"""A planner: from a problem, its domain and atoms to a reachable state with the goal and without the atoms."""


@dataclass(frozen=True, slots=True)
class ClosureBounds:
    """cl(goal) contains ``lower`` and is contained in ``upper``; where they are equal, they are cl(goal)."""

    lower: State
    upper: State

    @property
    def exact(self) -> bool:
        """True when the two bounds meet."""
        return self.lower == self.upper


@dataclass(frozen=True, slots=True)
class Counterexample:
    """A reachable state that contains all of the given atoms and lacks ``atom``."""

    atom: Atom
    state: State


def closure(problem: Problem, domain: Domain, reach: Reach | None = None) -> State | Unsolvable | Undecided:
    """cl(goal): every atom that is true in all reachable goal states, and no other; exact or ``Undecided``.

    ``reach`` is asked for goal states that the search of this room does not find.

    >>> from pddl_eval.parsing import parse_domain
    >>> lamp = parse_domain("(define (domain d) (:action switch :precondition (off) :effect (and (on) (not (off)))))")
    >>> sorted(closure(Problem("p", "d", {}, frozenset({("off",), ("dry",)}), frozenset({("on",)})), lamp))
    [('dry',), ('on',)]
    """
    few = closure_of_reachable(problem, domain, FEW_STATES)
    if not isinstance(few, Undecided):
        return few
    between = bounds(problem, domain, reach)
    if isinstance(between, Unsolvable):
        return between
    if isinstance(between, ClosureBounds) and between.exact:
        return between.lower
    many = closure_of_reachable(problem, domain, MAX_STATES)
    if isinstance(many, Undecided) and isinstance(between, ClosureBounds):
        open_atom = min(between.upper - between.lower)
        return Undecided(f"the goal was neither proven to imply {show_atom(open_atom)} nor reached without it")
    return many


def bounds(problem: Problem, domain: Domain, reach: Reach | None = None) -> ClosureBounds | Unsolvable | Undecided:
    """Bounds of cl(goal) that do not enumerate the reachable states; ``Undecided`` when no goal state was found."""
    task = ground(problem, domain)
    if isinstance(task, Undecided):
        return task
    goal = task.bits_of_goal(problem.goal)
    if isinstance(goal, Unsolvable):
        return goal
    world = _World(task, problem, domain, reach)
    first = _goal_state(world, goal, 0)
    if not isinstance(first, int):
        return first
    lower = _implied(task, goal, with_pairs=False)
    upper = _shared_around(task, first, goal, lower)
    if lower != upper:
        lower = _implied(task, goal)
    undecided = 0
    for _ in range(MAX_QUESTIONS):
        between = upper & ~lower & ~undecided
        if not between or undecided.bit_count() == MAX_OPEN:
            break
        atom = between & -between
        answer = _goal_state(world, goal, atom, near=first)
        if isinstance(answer, int):
            upper &= answer
        elif isinstance(answer, Unsolvable):
            lower = _implied(task, lower | atom)
        else:
            undecided |= atom
    return ClosureBounds(task.state(lower), task.state(upper))


def counterexample(
    problem: Problem, domain: Domain, given: State, asked: State, reach: Reach | None = None
) -> Counterexample | Undecided | None:
    """A reachable state that contains ``given`` and lacks an atom of ``asked``; None is the proof that there is none.

    The problem's goal plays no part. None too where no reachable state contains ``given`` at all.
    """
    task = ground(problem, domain)
    if isinstance(task, Undecided):
        return task
    goal = task.bits_of_goal(given)
    if isinstance(goal, Unsolvable):
        return None
    few = reachable_states(task, FEW_STATES)
    world = _World(task, problem, domain, reach)
    implied = task.state(_implied(task, goal, with_pairs=False))
    if not asked <= implied and isinstance(few, Undecided):
        implied = task.state(_implied(task, goal))
    answer: int | Unsolvable | Undecided
    undecided: Undecided | None = None
    for atom in sorted(asked - implied):
        lacking = task.bit.get(atom, 0)
        if isinstance(few, Undecided):
            answer = _goal_state(world, goal, lacking)
        else:
            lacks_it = (state for state in few if state & goal == goal and not state & lacking)
            answer = min(lacks_it, default=Unsolvable("no enumerated state"))
        if isinstance(answer, int):
            return Counterexample(atom, task.state(answer))
        if isinstance(answer, Undecided):
            undecided = undecided or answer
    return undecided


def implies(
    problem: Problem, domain: Domain, given: State, asked: State, reach: Reach | None = None
) -> bool | Undecided:
    """Does every reachable state that contains ``given`` contain ``asked``? See ``counterexample``."""
    answer = counterexample(problem, domain, given, asked, reach)
    return answer if isinstance(answer, Undecided) else answer is None


@dataclass(frozen=True, slots=True)
class _World:
    """The ground task and what a planner outside this room is told."""

    task: GroundTask
    problem: Problem
    domain: Domain
    reach: Reach | None


def _implied(task: GroundTask, goal: int, *, with_pairs: bool = True) -> int:
    """The bits that invariants derive from the goal's; all of them where they refute it."""
    literals = consequences(task, goal, 0, with_pairs=with_pairs)
    return (1 << len(task.atoms)) - 1 if literals is None else literals[0]


def _goal_state(world: _World, goal: int, lacking: int, near: int | None = None) -> int | Unsolvable | Undecided:
    """A reachable state with all bits of the goal and none of ``lacking``; a known goal state may be near to it."""
    task = world.task
    if near is not None:
        steps = find_path(task, near, goal, lacking, max_effort=EFFORT_NEARBY)
        if isinstance(steps, tuple):
            return _after(task, near, steps)
    steps = find_path(task, task.initial, goal, lacking)
    if isinstance(steps, tuple):
        return _after(task, task.initial, steps)
    if isinstance(steps, Undecided) and world.reach is not None:
        wanted = replace(world.problem, goal=task.state(goal))
        state = world.reach(wanted, world.domain, frozenset(task.atoms[index] for index in indexes(lacking)))
        return sum(task.bit[atom] for atom in state if atom in task.bit) if isinstance(state, frozenset) else state
    return steps


def _after(task: GroundTask, state: int, steps: tuple[int, ...]) -> int:
    for step in steps:
        state = task.operators[step].apply(state)
    return state


def _shared_around(task: GroundTask, first: int, goal: int, lower: int) -> int:
    """What the goal states around the first one share: states that show no literal for the first time are not passed.

    Literals are counted apart for states with and without the goal, so that leaving the goal and coming back is
    possible. Stops when nothing but ``lower`` is left.
    """
    everything = (1 << len(task.atoms)) - 1
    successors = successor_generator(task)
    shown = {True: [first, everything & ~first], False: [0, 0]}
    shared = first
    seen = {first}
    looks = 0
    queue = [first]
    for state in queue:
        following, looked_at = successors(state)
        looks += looked_at
        for _, after in following:
            if after in seen:
                continue
            seen.add(after)
            has_goal = after & goal == goal
            true, false = shown[has_goal]
            if after & ~true or everything & ~after & ~false:
                shown[has_goal] = [true | after, false | (everything & ~after)]
                queue.append(after)
                if has_goal:
                    shared &= after
        if shared == lower or looks > MAX_SAMPLE_LOOKS:
            break
    return shared
