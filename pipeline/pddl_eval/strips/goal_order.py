"""In which order goals had better be reached: a tower from below, a box in the corner before the one in the door.

A goal is ordered after another when every operator that makes the other true works only where the first one is false
or makes it false: reached first, it would have to be given up again. After Koehler and Hoffmann, "On reasonable and
forced goal orderings" (2000). An order guides the search and proves nothing.
"""

from __future__ import annotations

from functools import lru_cache, reduce
from operator import or_
from typing import NamedTuple

from pddl_eval.strips.ground import CACHED_TASKS
from pddl_eval.strips.groups import invariant_groups
from pddl_eval.strips.task import GroundTask, indexes


class OrderedGoals(NamedTuple):
    """The goals that come after no other, as one set, then each other goal with those before it, earliest first."""

    first: int
    later: tuple[tuple[int, int], ...]


@lru_cache(maxsize=CACHED_TASKS)
def order_goals(task: GroundTask, goal: int) -> OrderedGoals:
    """The bits of a goal, each after those that had better be reached before it; a circle is cut somewhere."""
    excluded = invariant_groups(task).excluded
    spoilt: dict[int, int] = {}
    for _, required, _, added, deleted in task.operators:
        if added & goal:
            impossible = reduce(or_, (excluded[index] for index in indexes(required | added)), deleted)
            for index in indexes(added & goal):
                spoilt[index] = spoilt.get(index, -1) & impossible
    before = dict.fromkeys(indexes(goal), 0)
    for earlier, spoiled_goals in spoilt.items():
        for spoiled in indexes(spoiled_goals & goal & ~(1 << earlier)):
            before[spoiled] |= 1 << earlier
    first = 0
    later = []
    placed = 0
    waiting = list(before)
    while waiting:
        ready = [index for index in waiting if not before[index] & ~placed] or waiting[:1]
        for index in ready:
            if before[index] & placed:
                later.append((1 << index, before[index] & placed))
            else:
                first |= 1 << index
            placed |= 1 << index
        waiting = [index for index in waiting if not placed >> index & 1]
    return OrderedGoals(first, tuple(later))


def settled_goals(state: int, goals: OrderedGoals) -> tuple[int, int]:
    """The goals that are true with all before them settled too, and the goals that are next in order."""
    settled = state & goals.first
    following = goals.first ^ settled
    for bit, before in goals.later:
        if not before & ~settled:
            if state & bit:
                settled |= bit
            else:
                following |= bit
    return settled, following
