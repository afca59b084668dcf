"""Durative actions as what is needed and done at the start, over all and at the end (PDDL 2.1, level 3).

Fox and Long (JAIR 20, 2003), definition 18: a durative action is two actions without a duration, its start and its end,
and an invariant between them. Here formulas are taken apart; ``domains`` makes operators of them.
"""

from __future__ import annotations

from collections.abc import Iterator

from pddl_eval.definition.model import (
    AT_END,
    AT_START,
    COMPARISONS,
    OVER_ALL,
    PREFERENCE,
    QUANTIFIERS,
    UPDATES,
    Formula,
    When,
)
from pddl_eval.definition.pddl.sexpr import excerpt

DURATION_PART = ":duration"
CONDITION = ":condition"
EFFECT = ":effect"
"""The parts of a durative action."""


class NoTimeError(ValueError):
    """Something in a durative action is said of no time, or of two; the message says what."""


def by_time(formula: Formula, part: str) -> Iterator[tuple[When, Formula]]:  # noqa: C901 (one case a construct)
    """The conjuncts of a part of a durative action, each with when it is needed or done.

    A duration is asked for at the start unless it says another time. Raises ``NoTimeError`` for what has no time, or an
    effect whose condition has another time than the effect.

    >>> list(by_time(("and", ("at", "end", ("done",))), ":effect"))
    [(('at', 'end'), ('done',))]
    """
    if isinstance(formula, str):
        raise NoTimeError(f"{excerpt(formula)} in {part}")
    head = formula[0] if formula else "and"
    if head == "and":
        for conjunct in formula[1:]:
            yield from by_time(conjunct, part)
    elif (
        len(formula) == 3
        and formula[:2] in (AT_START, OVER_ALL, AT_END)
        and (part == CONDITION or formula[:2] != OVER_ALL)
    ):
        if formula[2][:1] == ("and",):
            for conjunct in formula[2][1:]:
                yield from by_time((*formula[:2], conjunct), part)
        else:
            yield (str(formula[0]), str(formula[1])), formula[2]
    elif head in QUANTIFIERS or (head == PREFERENCE and part == CONDITION):
        if head == "exists" or len(formula) not in (3, 3 - (head == PREFERENCE)):
            raise NoTimeError(f"`{head}` around what is at a time")
        inside = list(by_time(formula[-1], part))
        if head == PREFERENCE:  # one a time, which is violated once
            inside = [(when, ("and", *(each for other, each in inside if other == when))) for when in dict(inside)]
        for when, conjunct in inside:
            yield when, (*formula[:-1], conjunct)
    elif head == "when" and part == EFFECT and len(formula) == 3:
        conditions = list(by_time(formula[1], CONDITION))
        for when, effect in by_time(formula[2], part):
            if any(other != when for other, _ in conditions):
                raise NoTimeError("conditional effect over two times")
            yield when, ("when", ("and", *(each for _, each in conditions)), effect)
    elif head in COMPARISONS and part == DURATION_PART:
        yield AT_START, formula
    elif head in UPDATES and part == EFFECT:
        raise NoTimeError("continuous effect")
    else:
        raise NoTimeError(f"{excerpt(formula)} without a time in {part}")
