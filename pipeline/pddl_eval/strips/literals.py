"""What follows from atoms being true and atoms being false, in every reachable state: invariants put to use.

Sound and not complete: what is returned holds; what is missing may hold too. Groups and, where its table is small
enough, h² do the work (``groups``, ``pairs``).
"""

from __future__ import annotations

from pddl_eval.strips.groups import invariant_groups
from pddl_eval.strips.pairs import compatible_literals
from pddl_eval.strips.task import GroundTask, indexes
from pddl_eval.verdict import Undecided

Literals = tuple[int, int]
"""The bits that are true and the bits that are false; the others are open."""


def consequences(task: GroundTask, true: int, false: int, *, with_pairs: bool = True) -> Literals | None:
    """Every literal that the invariants derive from the given ones, these included; None: no reachable state has them.

    The last member of a group that the others leave is true, what excludes a true atom is false, and so on until
    nothing new follows. ``with_pairs=False`` leaves h² out, whose table is the expensive one.
    """
    groups = invariant_groups(task)
    table = compatible_literals(task) if with_pairs else Undecided("not asked for")
    n = len(task.atoms)
    everything = (1 << n) - 1
    false |= groups.impossible
    seen_true = seen_false = 0
    while true != seen_true or false != seen_false:
        new_true, new_false = true & ~seen_true, false & ~seen_false
        seen_true, seen_false = true, false
        for index in indexes(new_true):
            false |= groups.excluded[index]
        if not isinstance(table, Undecided):
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
