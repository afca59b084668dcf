"""Which two literals can be true together: the fixed point h² over atoms and their negations.

Haslum and Geffner, "Admissible heuristics for optimal planning" (2000), as a yes-or-no table. With negations among
the literals a pair that is never true together is also an implication: ``have`` is true wherever ``communicated`` is,
because ``communicated`` and *not* ``have`` exclude each other. Equal to all two-literal invariants in strength.
"""

from __future__ import annotations

from functools import lru_cache

from pddl_eval.strips.ground import CACHED_TASKS
from pddl_eval.strips.task import GroundTask, indexes
from pddl_eval.verdict import Undecided

MAX_LITERALS = 1_200
"""Atoms times two of the largest task for which the table is filled; the table's size is the square."""

MAX_EVALUATIONS = 100_000
"""Times that an operator's pairs are looked at; with ``MAX_LITERALS`` it keeps the table below a second."""


@lru_cache(maxsize=CACHED_TASKS)
def compatible_literals(task: GroundTask) -> tuple[int, ...] | Undecided:
    """For each literal the set of literals that may be true with it in one reachable state, itself included.

    Literal ``i`` is the atom of bit i, literal ``n + i`` its negation, n the number of atoms. An empty set: the literal
    is true in no reachable state.
    """
    n = len(task.atoms)
    if 2 * n > MAX_LITERALS:
        return Undecided(f"{2 * n:,} literals are more than {MAX_LITERALS:,}")
    everything = (1 << n) - 1
    initial = task.initial | (everything & ~task.initial) << n
    table = [initial if initial >> literal & 1 else 0 for literal in range(2 * n)]
    operators = []
    for _, required, forbidden, added, deleted in task.operators:
        needed = required | forbidden << n
        made = added | deleted << n
        lost = deleted | added << n
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
            with_all = reached
            for literal in needs:
                row = table[literal]
                if row & needed != needed:
                    break
                with_all &= row
            else:
                after = with_all & ~decided | true_after
                new = 0
                for literal in makes:
                    new |= after & ~table[literal]
                    table[literal] |= after
                if new:
                    reached |= made
                    changed |= new | made
                    for other in indexes(new):
                        table[other] |= made
        if evaluations > MAX_EVALUATIONS:
            return Undecided(f"the table of pairs takes more than {MAX_EVALUATIONS:,} operator evaluations")
    return tuple(table)
