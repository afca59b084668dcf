"""All reachable states, where they fit a budget, and what follows from them exactly: the closure of a goal.

The plain definition, run: R(g) is the set of reachable states that contain the goal g, cl(g) their intersection
(the paper, section 4.1). Larger state spaces are ``closure``'s.
"""

from __future__ import annotations

from functools import lru_cache

from pddl_eval.model import Domain, Problem, State
from pddl_eval.strips.ground import ground
from pddl_eval.strips.successors import successor_generator
from pddl_eval.strips.task import GroundTask
from pddl_eval.verdict import Undecided, Unsolvable

MAX_STATES = 50_000
"""Reachable states that are kept, some ten megabytes."""

MAX_LOOKS = 4_000_000
"""Operators that are looked at on the way (``successors`` counts them), below a second."""

CACHED_STATE_SETS = 8
"""State sets kept, so that goals over one initial state share theirs."""


def closure_of_reachable(
    problem: Problem, domain: Domain, max_states: int = MAX_STATES
) -> State | Unsolvable | Undecided:
    """cl(goal) by enumeration: every atom that is true in all reachable goal states, and no other.

    The states are shared between goals over the same objects and initial state. ``Undecided`` when there are more
    than ``max_states``.
    """
    task = ground(problem, domain)
    if isinstance(task, Undecided):
        return task
    goal = task.bits_of_goal(problem.goal)
    if isinstance(goal, Unsolvable):
        return goal
    states = reachable_states(task, max_states)
    if isinstance(states, Undecided):
        return states
    return intersection(task, states, goal)


def intersection(task: GroundTask, states: frozenset[int], goal: int) -> State | Unsolvable:
    """The atoms that all of the states that contain the goal share."""
    shared: int | None = None
    for state in states:
        if state & goal == goal:
            shared = state if shared is None else shared & state
    if shared is None:
        return Unsolvable(f"none of the {len(states):,} reachable states contains the goal")
    return task.state(shared)


@lru_cache(maxsize=CACHED_STATE_SETS)
def reachable_states(task: GroundTask, max_states: int = MAX_STATES) -> frozenset[int] | Undecided:
    """The set of reachable states; ``Undecided`` beyond ``max_states`` or ``MAX_LOOKS``."""
    successors = successor_generator(task)
    seen = {task.initial}
    queue = [task.initial]
    looks = 0
    for state in queue:
        following, looked_at = successors(state)
        looks += looked_at
        for _, after in following:
            if after not in seen:
                seen.add(after)
                queue.append(after)
        if len(seen) > max_states or looks > MAX_LOOKS:
            return Undecided(f"the reachable states exceed the budget of {max_states:,}")
    return frozenset(seen)
