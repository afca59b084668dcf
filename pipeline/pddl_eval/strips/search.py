"""Searches a plan in a ground task: best-first, complete, bounded by the number of states that it generates.

After Lipovetzky and Geffner, "Best-first width search" (2017): states with something new come first, then those with
few open goals, then those that have achieved much of a relaxed plan. A relaxed plan is computed only after a step that
settled a goal, or lost an atom that nothing adds, so that a state costs microseconds. Two things make towers easy: a
goal counts when the goals ordered before it count, and the relaxed plan is for the goals that come next. A search that
runs out of states is a proof.
"""

from __future__ import annotations

from functools import reduce
from heapq import heappop, heappush
from operator import or_

from pddl_eval.model import Action, Atom, Domain, Problem, show_atom
from pddl_eval.strips.goal_order import order_goals, settled_goals
from pddl_eval.strips.ground import ground
from pddl_eval.strips.literals import consequences
from pddl_eval.strips.regression import is_unreachable
from pddl_eval.strips.relaxed import relaxed_planner
from pddl_eval.strips.successors import successor_generator
from pddl_eval.strips.task import GroundTask
from pddl_eval.verdict import Undecided, Unsolvable

FIRST_EFFORT = 10_000
"""Effort before invariants are asked whether there can be a plan: what is easy is found by then."""

MAX_EFFORT = 100_000
"""Effort before the search gives up, about a second. The unit is a generated state, some ten microseconds."""

OPERATORS_PER_EFFORT = 20
"""A relaxed plan costs as much as one generated state for so many ground operators."""

LOOKS_PER_EFFORT = 50
"""Expanding a state costs as much as one generated state for so many operators looked at."""


def find_plan(
    problem: Problem, domain: Domain, *, without: frozenset[Atom] = frozenset(), max_effort: int = MAX_EFFORT
) -> tuple[Action, ...] | Unsolvable | Undecided:
    """A plan to a state that contains the goal and none of the atoms ``without``, or the proof that there is none.

    >>> from pddl_eval.parsing import parse_domain
    >>> light = parse_domain("(define (domain d) (:action switch :precondition (off) :effect (and (on) (not (off)))))")
    >>> find_plan(Problem("p", "d", {}, frozenset({("off",)}), frozenset({("on",)})), light)
    (('switch',),)
    """
    task = ground(problem, domain)
    if isinstance(task, Undecided):
        return task
    true = task.bits_of_goal(problem.goal)
    if isinstance(true, Unsolvable):
        return true
    fixed = sorted(without & task.always)
    if fixed:
        return Unsolvable(f"{show_atom(fixed[0])} is true in every reachable state")
    false = sum(task.bit[atom] for atom in without if atom in task.bit)
    steps = find_path(task, task.initial, true, false, max_effort=max_effort)
    if isinstance(steps, tuple):
        return tuple(task.operators[step].action for step in steps)
    return steps


def find_path(
    task: GroundTask, start: int, true: int, false: int, *, max_effort: int = MAX_EFFORT
) -> tuple[int, ...] | Unsolvable | Undecided:
    """Positions of operators that lead from a reachable state to one with all bits of ``true`` and none of ``false``.

    Before the search invariant groups are asked whether any reachable state is such a one, which is cheap; when the
    search takes longer than it does for easy goals, h² and regression are.
    """
    if start & true == true and not start & false:
        return ()
    if consequences(task, true, false, with_pairs=False) is None:
        return Unsolvable("no reachable state has the goal's atoms together: invariants exclude it")
    goals = order_goals(task, true)
    relaxed_plan = relaxed_planner(task, true, false)
    successors = successor_generator(task)
    literals = true.bit_count() + false.bit_count()
    lasting = reduce(or_, (operator.added for operator in task.operators), 0)
    familiar: dict[tuple[int, int], int] = {}

    def rank(state: int, open_goals: int, achieved: int) -> tuple[bool, int, int]:
        progress = achieved.bit_count()
        known = familiar.get((open_goals, progress), 0)
        familiar[open_goals, progress] = known | state
        return not state & ~known, open_goals, -progress

    def count_open(state: int) -> int:
        return literals - settled_goals(state, goals)[0].bit_count() - (false & ~state).bit_count()

    def relaxed_path(state: int) -> int | None:
        return relaxed_plan(state, settled_goals(state, goals)[1] | (false & state) << len(task.atoms))

    if relaxed_path(start) is None:
        return Unsolvable("the goal is out of reach even if nothing is ever deleted")
    reached_by: list[tuple[int, int]] = [(0, 0)]
    nodes: list[tuple[int, int, int | None, int]] = [(start, count_open(start), None, 0)]
    heap = [(rank(*nodes[0][:2], 0), 0)]
    seen = {start}
    effort = 1
    doubted = False
    while heap:
        if effort > FIRST_EFFORT and not doubted:
            doubted = True
            if is_unreachable(task, true, false):
                return Unsolvable("no reachable state has the goal's atoms together: each way to the last is excluded")
        if effort > max_effort:
            return Undecided(f"the search found no plan in {len(seen):,} states")
        _, node = heappop(heap)
        state, open_goals, path, achieved = nodes[node]
        if path is None:
            path = relaxed_path(state)
            effort += len(task.operators) // OPERATORS_PER_EFFORT
            if path is None:
                continue
        following, looked_at = successors(state)
        effort += 1 + looked_at // LOOKS_PER_EFFORT
        for position, after in following:
            if after in seen:
                continue
            seen.add(after)
            effort += 1
            if after & true == true and not after & false:
                return _steps(reached_by, node, position)
            now_open = count_open(after)
            look_again = now_open < open_goals or state & ~after & ~lasting
            now_achieved = 0 if look_again else achieved | after & path
            reached_by.append((node, position))
            nodes.append((after, now_open, None if look_again else path, now_achieved))
            heappush(heap, (rank(after, now_open, now_achieved), len(nodes) - 1))
    return Unsolvable(f"the search for the goal ran out after {len(seen):,} states")


def _steps(reached_by: list[tuple[int, int]], node: int, last: int) -> tuple[int, ...]:
    """The operators on the way to a node, then the last one."""
    steps = [last]
    while node:
        node, position = reached_by[node]
        steps.append(position)
    return tuple(reversed(steps))
