"""Proves that literals are never true together by looking backwards: how could the last of them have been reached?

A set of literals that does not hold initially needs an operator that makes the last of them true, applied in a state
that has what the operator requires and the other literals already. Where invariants exclude every such predecessor
the set is unreachable: three blocks in a circle fail here after one step, which no pair of atoms shows.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator

from pddl_eval.strips.literals import Literals, consequences
from pddl_eval.strips.task import GroundTask

MAX_REGRESSIONS = 300
"""Predecessors that are looked at, some hundred milliseconds."""


def is_unreachable(task: GroundTask, true: int, false: int, *, max_regressions: int = MAX_REGRESSIONS) -> bool:
    """True when it is proven that no reachable state has all bits of ``true`` and none of ``false``.

    The proof. Let some reachable state have all literals of a set that was looked at, and take the shortest plan to
    such a state, over all sets. It is not empty: no set holds initially. Its last operator made a literal of the set
    true, else the plan without it were shorter. So the state before it has the literals of a predecessor. That was
    looked at too, or contains a set that was, and its plan is shorter: a contradiction; or invariants exclude it.
    False says nothing: a limit was hit or a set holds initially.
    """
    start = consequences(task, true, false)
    if start is None:
        return True
    seen = [start]
    queue = deque(seen)
    regressions = 0
    while queue:
        literals = queue.popleft()
        if not literals[0] & ~task.initial and not literals[1] & task.initial:
            return False
        for before_true, before_false in _predecessors(task, literals):
            regressions += 1
            if regressions > max_regressions:
                return False
            before = consequences(task, before_true, before_false)
            if before is None:
                continue
            if not any(not t & ~before[0] and not f & ~before[1] for t, f in seen):
                seen.append(before)
                queue.append(before)
    return True


def _predecessors(task: GroundTask, literals: Literals) -> Iterator[Literals]:
    """What must hold before each operator that makes one of the literals true and none of them false."""
    true, false = literals
    for _, required, forbidden, added, deleted in task.operators:
        if not (added & true or deleted & false) or deleted & true or added & false:
            continue
        before_true, before_false = true & ~added | required, false & ~deleted | forbidden
        if not before_true & before_false:
            yield before_true, before_false
