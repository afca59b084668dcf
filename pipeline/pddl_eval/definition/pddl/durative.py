"""Durative actions as what is needed and done at the start, over all and at the end (PDDL 2.1, level 3).

Fox and Long (JAIR 20, 2003), definition 18: a durative action is two actions without a duration, its start and its end,
and an invariant between them. Here formulas are taken apart; ``validation`` executes them.
"""

from __future__ import annotations

from collections.abc import Iterator

from pddl_eval.definition.model import COMPARISONS, PREFERENCE, QUANTIFIERS, UPDATES, Formula, Operator
from pddl_eval.definition.pddl.domains import DomainError
from pddl_eval.definition.pddl.sexpr import excerpt

When = tuple[str, str]
"""``AT_START``, ``OVER_ALL`` or ``AT_END``."""

AT_START: When = ("at", "start")
OVER_ALL: When = ("over", "all")
AT_END: When = ("at", "end")

DURATION = ":duration"
CONDITION = ":condition"
EFFECT = ":effect"
"""The parts of a durative action."""


def is_durative(operator: Operator) -> bool:
    """True for a durative action."""
    return any(part == DURATION for part, _ in operator.formulas)


def by_time(operator: Operator, part: str) -> Iterator[tuple[When, Formula]]:
    """The conjuncts of a part of a durative action, each with when it is needed or done.

    A duration is asked for at the start unless it says another time. Raises ``DomainError`` for what has no time, or an
    effect whose condition has another time than the effect.

    >>> wait = Operator("wait", (), *[frozenset()] * 4, ((":effect", ("and", ("at", "end", ("done",)))),))
    >>> list(by_time(wait, ":effect"))
    [(('at', 'end'), ('done',))]
    """
    for each, formula in operator.formulas:
        if each == part:
            yield from _apart(formula, part)


def _apart(formula: Formula, part: str) -> Iterator[tuple[When, Formula]]:  # noqa: C901 (one case a construct)
    if isinstance(formula, str):
        raise DomainError(f"{excerpt(formula)} in {part}")
    head = formula[0] if formula else "and"
    if head == "and":
        for conjunct in formula[1:]:
            yield from _apart(conjunct, part)
    elif (
        len(formula) == 3
        and formula[:2] in (AT_START, OVER_ALL, AT_END)
        and (part == CONDITION or formula[:2] != OVER_ALL)
    ):
        yield (str(formula[0]), str(formula[1])), formula[2]
    elif head in QUANTIFIERS or (head == PREFERENCE and part == CONDITION):
        if head == "exists" or len(formula) not in (3, 3 - (head == PREFERENCE)):
            raise DomainError(f"`{head}` around what is at a time")
        for when, conjunct in _apart(formula[-1], part):
            yield when, (*formula[:-1], conjunct)
    elif head == "when" and part == EFFECT and len(formula) == 3:
        conditions = list(_apart(formula[1], CONDITION))
        for when, effect in _apart(formula[2], part):
            if any(other != when for other, _ in conditions):
                raise DomainError("conditional effect over two times")
            yield when, ("when", ("and", *(each for _, each in conditions)), effect)
    elif head in COMPARISONS and part == DURATION:
        yield AT_START, formula
    elif head in UPDATES and part == EFFECT:
        raise DomainError("continuous effect")
    else:
        raise DomainError(f"{excerpt(formula)} without a time in {part}")
