"""cl(goal) between two bounds, where the reachable states are too many to list.

What invariants derive from the goal is in cl(goal); what a reachable goal state lacks is not. Each atom in between is a
planning task of its own: is there a goal state without it? Where the bounds meet they are the closure.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import reduce
from typing import NamedTuple

from pddl_eval.definition.budget import spend
from pddl_eval.definition.model import State, indexes, show_atom
from pddl_eval.definition.planning.invariants import unit_propagation
from pddl_eval.definition.planning.search import MAX_STATES, find_path
from pddl_eval.definition.planning.task import GroundTask, bits_of
from pddl_eval.definition.verdict import Undecided, Unsolvable

MAX_EXAMINED = 200_000
"""Operators examined for goal states around the first one, some ten milliseconds."""

MAX_QUESTIONS = 50
"""Atoms between the bounds that are asked for one by one."""

STATES_NEARBY = 3_000
"""States that a search from a known goal state generates."""

MAX_OPEN = 3
"""Atoms that may stay undecided before the rest is left undecided too; each costs a whole search."""

Planner = Callable[[State, State], State | Unsolvable | Undecided]
"""From atoms to have and atoms to lack to a reachable state, the proof that there is none, or a limit."""

Reached = int | Unsolvable | Undecided
"""A state, the proof that there is none, or a limit."""

Question = Callable[[int], Reached]
"""From bits to lack to a reachable goal state without them."""


class Bounds(NamedTuple):
    """Bits that cl(goal) has, and bits beyond which it has none."""

    lower: int
    upper: int

    @property
    def between(self) -> int:
        """The bits that are neither proven to be in the closure nor to be outside."""
        return self.upper & ~self.lower


def closure_bounds(
    task: GroundTask, goal: int, planner: Planner | None = None, known: Bounds | Undecided | Unsolvable | None = None
) -> Bounds | Unsolvable | Undecided:
    """The bounds of cl(goal) that the search finds, or narrower than the ``known`` ones with a planner's help.

    No state space is enumerated. ``Undecided`` when no goal state was found.
    """
    if isinstance(known, Bounds):
        return _narrowest(task, known, question_for(task, goal, planner))
    first = reach(task, task.initial, goal, 0) if known is None else question_for(task, goal, planner)(0)
    if not isinstance(first, int):
        return first
    lower = implied(task, goal, with_h2=False)
    upper = _shared_around(task, first, goal, lower)
    if lower != upper:
        lower = implied(task, goal)
    bounds = _narrowest(task, Bounds(lower, upper), question_near(task, first, goal))
    return bounds if planner is None else _narrowest(task, bounds, question_for(task, goal, planner))


def _narrowest(task: GroundTask, bounds: Bounds, question: Question) -> Bounds:
    """The bounds after the last question."""
    for after, _ in narrowed(task, bounds, question):
        bounds = after
    return bounds


def narrowed(task: GroundTask, bounds: Bounds, question: Question) -> Iterator[tuple[Bounds, int | None]]:
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
        answer = question(atom)
        if isinstance(answer, int):
            upper &= answer
        elif isinstance(answer, Unsolvable):
            lower = implied(task, lower | atom)
        else:
            undecided |= atom
        yield Bounds(lower, upper), answer if isinstance(answer, int) else None


def question_near(task: GroundTask, first: int, goal: int) -> Question:
    """The search for a goal state that lacks some bits: near the first goal state, then from the initial state."""

    def question(lacking: int) -> Reached:
        near = reach(task, first, goal, lacking, STATES_NEARBY)
        return near if isinstance(near, int) else reach(task, task.initial, goal, lacking)

    return question


def question_for(task: GroundTask, goal: int, planner: Planner | None) -> Question:
    """The planner, asked for a goal state that lacks some bits."""

    def question(lacking: int) -> Reached:
        if planner is None:
            return Undecided("the search found no goal state")
        answer = planner(*(frozenset(task.atoms[index] for index in indexes(bits)) for bits in (goal, lacking)))
        return bits_of(answer, task.bit) if isinstance(answer, frozenset) else answer

    return question


def reach(task: GroundTask, start: int, goal: int, lacking: int, max_states: int = MAX_STATES) -> Reached:
    """A state with all bits of the goal and none of ``lacking`` that is reachable from a reachable state."""
    path = find_path(task, start, goal, lacking, max_states)
    return reduce(lambda state, operator: operator.apply(state), path, start) if isinstance(path, tuple) else path


def open_question(task: GroundTask, bounds: Bounds) -> Undecided:
    """What to say of the first atom between the bounds."""
    atom = min(task.state(bounds.upper) - task.state(bounds.lower))
    return Undecided(f"the goal was neither proven to imply {show_atom(atom)} nor reached without it")


def implied(task: GroundTask, goal: int, *, with_h2: bool = True) -> int:
    """The bits that invariants derive from the goal's; all of them where they refute it."""
    literals = unit_propagation(task, goal, 0, with_h2=with_h2)
    return (1 << len(task.atoms)) - 1 if literals is None else literals[0]


def _shared_around(task: GroundTask, first: int, goal: int, lower: int) -> int:
    """What the goal states around the first one share: states that show no literal for the first time are not passed.

    Literals are counted apart for states with and without the goal, so that leaving the goal and coming back is
    possible. Stops when nothing but ``lower`` is left.
    """
    n = len(task.atoms)
    everything = (1 << n) - 1
    shown = {True: first | (everything & ~first) << n, False: 0}
    shared = first
    seen = {first}
    examined = 0
    queue = [first]
    for state in queue:
        following, looked_at = task.successors(state)
        examined += looked_at
        spend(1 + looked_at)
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
        if shared == lower or examined > MAX_EXAMINED:
            break
    return shared
