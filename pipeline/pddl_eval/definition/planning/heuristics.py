"""What guides the search: reasonable orders of goals, and relaxed plans.

An order proves nothing; where there is no relaxed plan there is no plan.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from operator import or_
from typing import TYPE_CHECKING, NamedTuple

from pddl_eval.definition.model import indexes

if TYPE_CHECKING:
    from pddl_eval.definition.planning.task import GroundTask

RelaxedPlanner = Callable[[int, int], int | None]
"""From a state and the bits of the goal to aim at, to the bits that a relaxed plan makes true on its way there."""


class OrderedGoals(NamedTuple):
    """The goals that come after no other, as one set, then each other goal with those before it, earliest first."""

    first: int
    later: tuple[tuple[int, int], ...]

    def settled(self, state: int) -> tuple[int, int]:
        """The goals that are true with all before them settled too, and the goals that are next in order."""
        settled = state & self.first
        following = self.first ^ settled
        for bit, before in self.later:
            if not before & ~settled:
                if state & bit:
                    settled |= bit
                else:
                    following |= bit
        return settled, following


def reasonable_orders(task: GroundTask, goal: int) -> OrderedGoals:
    """The bits of a goal in a reasonable order: a tower from below, a box in the corner before the one in the door.

    A goal is ordered after another when every operator that makes the other true works only where the first one is
    false or makes it false: reached first, it would have to be given up again (Koehler and Hoffmann, "On reasonable
    and forced goal orderings", 2000). A cycle is cut somewhere: an order guides the search and proves nothing.
    """
    excluded = task.groups.excluded
    spoilt: dict[int, int] = {}
    for operator in task.operators:
        if operator.add_effects & goal:
            true = operator.preconditions | operator.add_effects
            impossible = reduce(or_, (excluded[index] for index in indexes(true)), operator.delete_effects)
            for index in indexes(operator.add_effects & goal):
                spoilt[index] = spoilt.get(index, -1) & impossible
    before = dict.fromkeys(indexes(goal), 0)
    for earlier, spoilt_goals in spoilt.items():
        for index in indexes(spoilt_goals & goal & ~(1 << earlier)):
            before[index] |= 1 << earlier
    first = placed = 0
    later = []
    waiting = list(before)
    while waiting:
        index = next((index for index in waiting if not before[index] & ~placed), waiting[0])
        waiting.remove(index)
        if before[index] & placed:
            later.append((1 << index, before[index] & placed))
        else:
            first |= 1 << index
        placed |= 1 << index
    return OrderedGoals(first, tuple(later))


def relaxed_planner(task: GroundTask, true: int, false: int) -> RelaxedPlanner:  # noqa: C901 (the closure below is counted too)
    """Prepare relaxed planning towards a goal: all bits of ``true`` set and none of ``false``.

    In a relaxed plan what became true never becomes false again (Hoffmann and Nebel, "The FF planning system", 2001);
    negated atoms are literals of their own where operators or the goal ask for them. The function that is returned
    gives None where the whole goal has no relaxed plan, which proves that the goal cannot be reached from the state;
    else what a relaxed plan for the aims alone makes true.
    """
    n = len(task.atoms)
    needs, needed_by, makes, needed_false = task.literals
    only_asked = false & ~needed_false
    if only_asked:
        more = ([n + index for index in indexes(o.delete_effects & only_asked)] for o in task.operators)
        makes = [sorted(made + asked) for made, asked in zip(makes, more, strict=True)]
    unmet = [len(literals) for literals in needs]
    asked_false = needed_false | false
    goal = true | false << n

    def relaxed_plan(state: int, aims: int) -> int | None:  # noqa: C901 (the inner loop of the search)
        given = state | (asked_false & ~state) << n
        missing = goal & ~given
        queue = [2 * n, *indexes(given)]
        reached = bytearray(2 * n + 1)
        for literal in queue:
            reached[literal] = 1
        counts = unmet.copy()
        maker: dict[int, int] = {}
        for literal in queue:
            if not missing:
                break
            for position in needed_by[literal]:
                counts[position] -= 1
                if not counts[position]:
                    for made in makes[position]:
                        if not reached[made]:
                            reached[made] = 1
                            maker[made] = position
                            queue.append(made)
                            missing &= ~(1 << made)
        if missing:
            return None
        path = 0
        stack = [*indexes(aims)]
        while stack:
            literal = stack.pop()
            if literal in maker and not path >> literal & 1:
                path |= 1 << literal
                stack += needs[maker[literal]]
        return path & ((1 << n) - 1)

    return relaxed_plan


def literals_of(task: GroundTask) -> tuple[list[list[int]], list[list[int]], list[list[int]], int]:
    """The literals that each operator needs, the operators that need each literal, the literals that each makes true.

    Operators by position. Literal i is the atom of bit i and literal n + i its negation, n the number of atoms. Literal
    2n is always true: operators without preconditions need it. Of the negations only those are made that operators
    need; the bits of these come last.
    """
    n = len(task.atoms)
    needs = [[*indexes(o.preconditions | o.negative_preconditions << n)] or [2 * n] for o in task.operators]
    needed_by: list[list[int]] = [[] for _ in range(2 * n + 1)]
    for position, literals in enumerate(needs):
        for literal in literals:
            needed_by[literal].append(position)
    needed_false = reduce(or_, (operator.negative_preconditions for operator in task.operators), 0)
    makes = [[*indexes(o.add_effects | (o.delete_effects & needed_false) << n)] for o in task.operators]
    return needs, needed_by, makes, needed_false
