"""What holds in every reachable state: unit propagation of literals, the table h², and regression.

All of it is sound and not complete: what is derived holds; what is missing may hold too.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from functools import reduce
from itertools import islice
from operator import and_
from typing import TYPE_CHECKING

from pddl_eval.definition.budget import spend
from pddl_eval.definition.model import indexes

if TYPE_CHECKING:
    from pddl_eval.definition.planning.task import GroundTask

MAX_LITERALS = 1_200
"""Atoms times two of the largest task for which h² is computed; the table's size is the square."""

MAX_EVALUATIONS = 100_000
"""Evaluations of an operator by h²; with ``MAX_LITERALS`` it keeps the table below a second."""

MAX_REGRESSIONS = 300
"""Predecessors that regression examines, some hundred milliseconds."""

Literals = tuple[int, int]
"""The bits that are true and the bits that are false; the others are open."""


def unit_propagation(task: GroundTask, true: int, false: int, *, with_h2: bool = True) -> Literals | None:
    """Every literal that the invariants derive from the given ones, these included; None: no reachable state has them.

    The last member of a group that the others leave is true, what excludes a true atom is false, and so on until
    nothing new follows. ``with_h2=False`` leaves h² out, whose table is expensive.
    """
    groups = task.groups
    table = task.h2 if with_h2 else None
    n = len(task.atoms)
    everything = (1 << n) - 1
    false |= groups.impossible
    seen_true = seen_false = 0
    while true != seen_true or false != seen_false:
        spend(1 + len(groups.exactly_one) // 10)
        new_true, new_false = true & ~seen_true, false & ~seen_false
        seen_true, seen_false = true, false
        for index in indexes(new_true):
            false |= groups.excluded[index]
        if table is not None:
            compatible = (everything << n) | everything
            for literal in indexes(new_true | new_false << n):
                compatible &= table[literal]
            true |= everything & ~(compatible >> n)
            false |= everything & ~compatible
        for group in groups.exactly_one:
            left = group & ~false
            if not left:
                return None
            if not left & (left - 1):
                true |= left
        if true & false:
            return None
    return true, false


def h2(task: GroundTask) -> tuple[int, ...] | None:  # noqa: C901 (one fixed point)
    """For each literal the set of literals that may be true with it in one reachable state, itself included.

    Haslum and Geffner, "Admissible heuristics for optimal planning" (2000), as a yes-or-no table. Literal ``i`` is the
    atom of bit i, literal ``n + i`` its negation, n the number of atoms. An empty set: the literal is true in no
    reachable state. With negations a pair that is never true together is also an implication: ``have`` is true
    wherever ``communicated`` is, because ``communicated`` and *not* ``have`` exclude each other. None where the table
    would be too large.
    """
    n = len(task.atoms)
    if 2 * n > MAX_LITERALS:
        return None
    everything = (1 << n) - 1
    initial = task.initial | (everything & ~task.initial) << n
    table = [initial if initial >> literal & 1 else 0 for literal in range(2 * n)]
    operators = []
    for operator in task.operators:
        needed = operator.preconditions | operator.negative_preconditions << n
        made = operator.add_effects | operator.delete_effects << n
        lost = operator.delete_effects | operator.add_effects << n
        kept = needed & ~lost
        operators.append((needed, [*indexes(needed)], made | kept, made, [*indexes(made)], lost | made | kept))
    reached = initial
    evaluations = 0
    changed = initial
    while changed:
        changing, changed = changed, 0
        for needed, needs, true_after, made, makes, decided in operators:
            if needs and not needed & (changing | changed):
                continue
            evaluations += 1
            spend(1)
            if any(table[literal] & needed != needed for literal in needs):
                continue  # two of its preconditions are not true together, as far as is known
            # What may be true before it with all its preconditions may be true after it, unless it decides that.
            before = reduce(and_, [table[literal] for literal in needs], reached)
            after = before & ~decided | true_after
            new = 0
            for literal in makes:
                new |= after & ~table[literal]
                table[literal] |= after
            for other in indexes(new):
                table[other] |= made
            if new:
                reached |= made
                changed |= new | made
        if evaluations > MAX_EVALUATIONS:
            return None
    return tuple(table)


def is_unreachable(task: GroundTask, true: int, false: int) -> bool:
    """True when regression proves that no reachable state has all bits of ``true`` and none of ``false``.

    A set of literals that does not hold initially needs an operator that makes the last of them true, applied in a
    state that has the operator's preconditions and the other literals already. Where invariants exclude every such
    predecessor the set is unreachable: three blocks in a circle fail here after one step, which no pair of atoms shows.

    The proof. Let some reachable state have all literals of a set that was examined, and take the shortest plan to
    such a state, over all sets. It is not empty: no set holds initially. Its last operator made a literal of the set
    true, or the plan without it would be shorter. So the state before it has the literals of a predecessor. That was
    examined too, or contains a set that was, and its plan is shorter: a contradiction; or invariants exclude it.
    False says nothing: a limit was hit or a set holds initially.
    """
    seen: list[Literals] = []
    queue = deque([(true, false)])
    count = 0
    while queue:
        count += 1
        literals = unit_propagation(task, *queue.popleft())
        if literals is None or any(not t & ~literals[0] and not f & ~literals[1] for t, f in seen):
            continue
        if not literals[0] & ~task.initial and not literals[1] & task.initial:
            return False
        seen.append(literals)
        queue.extend(islice(_predecessors(task, *literals), MAX_REGRESSIONS + 1))
        if count + len(queue) > MAX_REGRESSIONS + 1:
            return False
    return True


def _predecessors(task: GroundTask, true: int, false: int) -> Iterator[Literals]:
    """What must hold before each operator that makes one of the literals true and none of them false."""
    for operator in task.operators:
        added, deleted = operator.add_effects, operator.delete_effects
        if (added & true or deleted & false) and not deleted & true and not added & false:
            before_true = true & ~added | operator.preconditions
            before_false = false & ~deleted | operator.negative_preconditions
            if not before_true & before_false:
                yield before_true, before_false
