"""Searches a plan in a ground task: best-first, complete, bounded by the number of states that it generates.

After Lipovetzky and Geffner, "Best-first width search" (2017): states with something new come first, then those with
few open goals, then those that have achieved much of a relaxed plan. A relaxed plan is computed only after a step that
settled a goal, or lost an atom that nothing adds, so that a state costs microseconds. Two things make towers easy: a
goal counts when the goals ordered before it count, and the relaxed plan is for the goals that come next. A search that
runs out of states is a proof.
"""

from __future__ import annotations

from functools import lru_cache, reduce
from heapq import heappop, heappush
from operator import or_

from pddl_eval.definition.budget import spend
from pddl_eval.definition.model import Action, Domain, Problem, State
from pddl_eval.definition.planning.heuristics import reasonable_orders, relaxed_planner
from pddl_eval.definition.planning.invariants import is_unreachable, unit_propagation
from pddl_eval.definition.planning.task import TASKS_KEPT, BitOperator, GroundTask, ground_goal
from pddl_eval.definition.verdict import Undecided, Unsolvable

FIRST_STATES = 10_000
"""States before h² and regression are asked whether there can be a plan: what is easy is found by then."""

MAX_STATES = 100_000
"""States that the search generates before it gives up, about a second."""

OPERATORS_PER_STATE = 20
"""A relaxed plan counts as one generated state for that many ground operators."""

EXAMINED_PER_STATE = 50
"""Expanding a state counts as one generated state for that many operators examined."""

EXCLUDED = "no reachable state has the goal's atoms together: invariants exclude it"

EACH_WAY = "no reachable state has the goal's atoms together: each way to the last is excluded"

OUT_OF_REACH = "the goal is out of reach even if nothing is ever deleted"

_Steps = tuple["_Steps", BitOperator] | None
"""The last step of a plan, behind the steps before it."""

_Node = tuple[tuple[bool, int, int], int, int, int, int | None, int, _Steps]
"""A rank, a number, a state, its open goals, what its relaxed plan makes true (None: not computed), how much of that
was achieved, and how the state was reached."""


def find_plan(
    problem: Problem, domain: Domain, lacking: State = frozenset()
) -> tuple[Action, ...] | Unsolvable | Undecided:
    """A plan for the problem, to a state with no atom of ``lacking``; or the proof that there is none.

    >>> from pddl_eval.definition.pddl import parse_domain
    >>> light = parse_domain("(define (domain d) (:action switch :precondition (off) :effect (and (on) (not (off)))))")
    >>> find_plan(Problem("p", "d", {}, frozenset({("off",)}), frozenset({("on",)})), light)
    (('switch',),)
    """
    grounded = ground_goal(problem, domain, problem.goal)
    if not isinstance(grounded, tuple):
        return grounded
    task, true = grounded
    for atom in sorted(lacking & task.always):
        return Unsolvable("is true in every reachable state", (atom,))
    path = find_path(task, task.initial, true, reduce(or_, [task.bit.get(atom, 0) for atom in lacking], 0))
    return tuple(operator.action for operator in path) if isinstance(path, tuple) else path


@lru_cache(maxsize=TASKS_KEPT)
def find_path(  # noqa: C901 (one loop of a best-first search)
    task: GroundTask, start: int, true: int, false: int, max_states: int = MAX_STATES
) -> tuple[BitOperator, ...] | Unsolvable | Undecided:
    """Operators that lead from a reachable state to one with all bits of ``true`` and none of ``false``.

    Before the search mutex groups are asked whether any reachable state is such a one, which is cheap; when the search
    takes longer than it does for easy goals, h² and regression are. The last answers are kept: closure, separating
    state and plan begin with the same question.
    """
    if start & true == true and not start & false:
        return ()
    if unit_propagation(task, true, false, with_h2=False) is None:
        return Unsolvable(EXCLUDED)
    goals = reasonable_orders(task, true)
    relaxed_plan = relaxed_planner(task, true, false)
    literals = true.bit_count() + false.bit_count()
    lasting = reduce(or_, (operator.add_effects for operator in task.operators), 0)
    familiar: dict[tuple[int, int], int] = {}

    def rank(state: int, open_goals: int, achieved: int) -> tuple[bool, int, int]:
        progress = achieved.bit_count()
        known = familiar.get((open_goals, progress), 0)
        familiar[open_goals, progress] = known | state
        return not state & ~known, open_goals, -progress

    def count_open(state: int) -> int:
        return literals - goals.settled(state)[0].bit_count() - (false & ~state).bit_count()

    def relaxed_path(state: int) -> int | None:
        return relaxed_plan(state, goals.settled(state)[1] | (false & state) << len(task.atoms))

    path = relaxed_path(start)
    if path is None:
        return Unsolvable(OUT_OF_REACH)
    open_goals = count_open(start)
    heap: list[_Node] = [(rank(start, open_goals, 0), 0, start, open_goals, path, 0, None)]
    seen = {start}
    generated = 1 + len(task.operators) // OPERATORS_PER_STATE
    doubted = False
    while heap:
        if generated > FIRST_STATES and not doubted:
            doubted = True
            if is_unreachable(task, true, false):
                return Unsolvable(EACH_WAY)
        if generated > max_states:
            return Undecided(f"the search found no plan in {len(seen):,} states")
        _, _, state, open_goals, path, achieved, steps = heappop(heap)
        if path is None:
            path = relaxed_path(state)
            generated += len(task.operators) // OPERATORS_PER_STATE
            if path is None:
                continue
        following, examined = task.successors(state)
        generated += 1 + examined // EXAMINED_PER_STATE
        spend(1 + examined + len(following))
        for operator, after in following:
            if after in seen:
                continue
            seen.add(after)
            generated += 1
            if after & true == true and not after & false:
                return _plan((steps, operator))
            now_open = count_open(after)
            look_again = now_open < open_goals or state & ~after & ~lasting
            now_achieved = 0 if look_again else achieved | after & path
            now_path = None if look_again else path
            node = (rank(after, now_open, now_achieved), len(seen), after, now_open, now_path, now_achieved)
            heappush(heap, (*node, (steps, operator)))
    return Unsolvable(ran_out(len(seen)))


def ran_out(states: int) -> str:
    """What a search that visited all states proves."""
    return f"the search for the goal ran out after {states:,} states"


def no_state(states: int) -> str:
    """What an enumeration of all reachable states proves."""
    return f"none of the {states:,} reachable states contains the goal"


def _plan(steps: _Steps) -> tuple[BitOperator, ...]:
    plan = []
    while steps is not None:
        steps, operator = steps
        plan.append(operator)
    return tuple(reversed(plan))
