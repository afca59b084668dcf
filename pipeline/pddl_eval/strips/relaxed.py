"""A relaxed plan: how literals would be reached if nothing that became true ever became false again.

Hoffmann and Nebel, "The FF planning system" (2001), with negated atoms as literals of their own where operators or
the goal ask for them. Where there is no relaxed plan there is no plan.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, reduce
from operator import or_
from typing import NamedTuple

from pddl_eval.strips.ground import CACHED_TASKS
from pddl_eval.strips.task import GroundTask, indexes

RelaxedPlanner = Callable[[int, int], int | None]
"""From a state and the bits of the goal to aim at, to the bits that a relaxed plan makes true on its way there."""


def relaxed_planner(task: GroundTask, true: int, false: int) -> RelaxedPlanner:
    """Prepare relaxed planning towards a goal: all bits of ``true`` set and none of ``false``.

    The function that is returned gives None where the whole goal has no relaxed plan, which proves that the goal
    cannot be reached from the state; else what a relaxed plan for the aims alone makes true.
    """
    n = len(task.atoms)
    everything = (1 << n) - 1
    graph = _graph(task)
    makes = graph.makes
    asked_false = graph.asked_false | false
    if asked_false != graph.asked_false:
        extra = ((operator.deleted & false & ~graph.asked_false) << n for operator in task.operators)
        makes = [[*made, *indexes(more)] if more else made for made, more in zip(makes, extra, strict=True)]
    needs, needed_by, unmet = graph.needs, graph.needed_by, graph.unmet
    goal = true | false << n

    def relaxed_plan(state: int, aims: int) -> int | None:
        given = state | (asked_false & ~state) << n
        missing = goal & ~given
        reached = bytearray(2 * n)
        queue = [*indexes(given)]
        for literal in queue:
            reached[literal] = 1
        counts = unmet.copy()
        maker: dict[int, int] = {}

        def apply(position: int) -> None:
            nonlocal missing
            for literal in makes[position]:
                if not reached[literal]:
                    reached[literal] = 1
                    maker[literal] = position
                    queue.append(literal)
                    if goal >> literal & 1:
                        missing ^= 1 << literal

        for position in graph.unconditional:
            apply(position)
        for literal in queue:
            if not missing:
                break
            for position in needed_by[literal]:
                counts[position] -= 1
                if not counts[position]:
                    apply(position)
        if missing:
            return None
        path = 0
        stack = [*indexes(aims)]
        while stack:
            literal = stack.pop()
            if literal in maker and not path >> literal & 1:
                path |= 1 << literal
                stack += needs[maker[literal]]
        return path & everything

    return relaxed_plan


class _Graph(NamedTuple):
    """Which literals each operator needs and makes, and which operators need each literal, by position.

    Literal n + i is the negation of bit i; those that an operator asks for are in ``asked_false``, others are left out.
    """

    needs: list[list[int]]
    makes: list[list[int]]
    needed_by: list[list[int]]
    unmet: list[int]
    unconditional: list[int]
    asked_false: int


@lru_cache(maxsize=CACHED_TASKS)
def _graph(task: GroundTask) -> _Graph:
    n = len(task.atoms)
    asked_false = reduce(or_, (operator.forbidden for operator in task.operators), 0)
    needs = [[*indexes(operator.required | operator.forbidden << n)] for operator in task.operators]
    makes = [[*indexes(operator.added | (operator.deleted & asked_false) << n)] for operator in task.operators]
    needed_by: list[list[int]] = [[] for _ in range(2 * n)]
    for position, literals in enumerate(needs):
        for literal in literals:
            needed_by[literal].append(position)
    unmet = [len(literals) for literals in needs]
    return _Graph(needs, makes, needed_by, unmet, [p for p, count in enumerate(unmet) if not count], asked_false)
