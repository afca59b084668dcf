"""Plans as texts."""

from __future__ import annotations

from collections.abc import Iterable

from pddl_eval.definition.model import Action, show_atom


def plan_to_pddl(plan: Iterable[Action]) -> str:
    """The plan as planners write it and VAL reads it, one action a line.

    >>> plan_to_pddl((("pickup", "a"), ("stack", "a", "b")))
    '(pickup a)\\n(stack a b)'
    """
    return "\n".join(map(show_atom, plan))
