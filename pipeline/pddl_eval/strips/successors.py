"""Which operators apply in a state, without looking at all of them.

Each operator is filed under one of the bits that it requires, the one that the fewest operators require: in Blocks
World the four operators are filed under ``on``, ``on-table`` and ``holding``, so that a state of n blocks looks at
little more than its own n places.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from functools import lru_cache

from pddl_eval.strips.ground import CACHED_TASKS
from pddl_eval.strips.task import GroundTask, indexes

Successors = Callable[[int], tuple[list[tuple[int, int]], int]]
"""From a state to each applicable operator's position with the state after it, and how many were looked at."""


@lru_cache(maxsize=CACHED_TASKS)
def successor_generator(task: GroundTask) -> Successors:
    """The function that lists, for a state, the position in the task of each applicable operator and its successor.

    It also counts the operators and drawers that it looked at, for budgets: one is some 0.2 microseconds.

    >>> from pddl_eval.strips.task import BitOperator
    >>> push = BitOperator(("push",), required=0b01, forbidden=0, added=0b10, deleted=0b01)
    >>> successor_generator(GroundTask((("up",), ("down",)), {}, frozenset(), 0b01, (push,)))(0b01)
    ([(0, 2)], 2)
    """
    frequency = Counter(index for operator in task.operators for index in indexes(operator.required))
    filed: dict[int, list[tuple[int, int, int, int, int]]] = {}
    unconditional: list[tuple[int, int, int, int, int]] = []
    for position, (_, required, forbidden, added, deleted) in enumerate(task.operators):
        rarest = min(indexes(required), key=lambda index: (frequency[index], index), default=None)
        drawer = unconditional if rarest is None else filed.setdefault(1 << rarest, [])
        drawer.append((position, required, forbidden, added, deleted))
    keys = sum(filed)

    def successors(state: int) -> tuple[list[tuple[int, int]], int]:
        found = []
        looked_at = len(unconditional)
        for position, _, forbidden, added, deleted in unconditional:
            if not state & forbidden:
                found.append((position, (state | deleted) ^ deleted | added))
        present = state & keys
        while present:
            key = present & -present
            present ^= key
            drawer = filed[key]
            looked_at += 1 + len(drawer)
            for position, required, forbidden, added, deleted in drawer:
                if state & required == required and not state & forbidden:
                    found.append((position, (state | deleted) ^ deleted | added))
        return found, looked_at

    return successors
