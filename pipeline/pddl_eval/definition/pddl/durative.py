"""Durative actions as what is needed and done at the start, over all and at the end (PDDL 2.1, level 3).

Fox and Long (JAIR 20, 2003), definition 18: a durative action is two actions without a duration, its start and its end,
and an invariant between them. Here formulas are taken apart; ``validation`` executes them.
"""

from __future__ import annotations

from collections.abc import Iterator

from pddl_eval.definition.model import COMPARISONS, PREFERENCE, QUANTIFIERS, UPDATES, Formula, Operator
from pddl_eval.definition.pddl.domains import DomainError, literals
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


def halves(operator: Operator, outside: list[str] | None = None) -> dict[When, Operator]:
    """What a durative action needs and does at its start, over all and at its end, each as an operator.

    The duration is a formula of the half that asks for it. ``outside`` gets the constructs that are no literals. An
    action without a duration has no halves. Raises ``DomainError`` as ``by_time``.

    >>> effect = (":effect", ("and", ("at", "start", ("busy",)), ("at", "end", ("not", ("busy",)))))
    >>> wait = Operator("wait", (), *[frozenset()] * 4, ((":duration", ("=", "?duration", "3")), effect))
    >>> halves(wait)[AT_END].delete_effects, halves(wait)[AT_START].formulas
    (frozenset({('busy',)}), ((':duration', ('=', '?duration', '3')),))
    """
    if not is_durative(operator):
        return {}
    said = {part: list(by_time(operator, part)) for part in (DURATION, CONDITION, EFFECT)}
    found = {}
    for half in (AT_START, OVER_ALL, AT_END):
        asked, needed, done = ([each for when, each in formulas if when == half] for formulas in said.values())
        formulas = [(DURATION, each) for each in asked]
        notes = [] if outside is None else outside
        conditions = literals(("and", *needed), operator.name, ":precondition", notes, formulas)
        effects = literals(("and", *done), operator.name, ":effect", notes, formulas)
        found[half] = Operator(operator.name, operator.parameters, *conditions, *effects, tuple(formulas))
    return found


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
        if formula[2][:1] == ("and",):
            for conjunct in formula[2][1:]:
                yield from _apart((*formula[:2], conjunct), part)
        else:
            yield (str(formula[0]), str(formula[1])), formula[2]
    elif head in QUANTIFIERS or (head == PREFERENCE and part == CONDITION):
        if head == "exists" or len(formula) not in (3, 3 - (head == PREFERENCE)):
            raise DomainError(f"`{head}` around what is at a time")
        inside = list(_apart(formula[-1], part))
        if head == PREFERENCE:  # one a time, which is violated once
            inside = [(when, ("and", *(each for other, each in inside if other == when))) for when in dict(inside)]
        for when, conjunct in inside:
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
