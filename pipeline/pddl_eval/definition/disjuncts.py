"""Operators whose condition is a disjunction, as several operators of literals: one for each way to meet it.

Searches know literals alone. A plan of these operators is one of the domain's under their own names, and the other way
round, each action for one action (Gazen and Knoblock, "Combining the expressivity of UCPOP with the efficiency of
Graphplan", 1997).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import product
from math import prod
from typing import cast

from pddl_eval.definition.model import EQUALITY, Action, Atom, Domain, Formula, Operator, is_atom, is_equation

MOST_DISJUNCTS = 50
"""Ways to meet a condition."""

Literals = frozenset[tuple[Atom, bool]]
"""Atoms, each with whether it has to be true."""

_PART = ":precondition"
_CONSTRUCTS = ("or", "imply", "negated conjunction")


@dataclass(frozen=True, slots=True)
class Disjuncts:
    """``domain`` has an operator for each disjunct; ``names`` has their own names, of those that have another."""

    domain: Domain
    names: Mapping[str, str]

    def own(self, plan: Iterable[Action]) -> tuple[Action, ...]:
        """The plan in the words of the domain that was split."""
        return tuple((self.names.get(name, name), *arguments) for name, *arguments in plan)

    def of(self, action: Action) -> list[Action]:
        """The actions that an action of that domain stands for."""
        others = [name for name, own in self.names.items() if own == action[0]]
        return [(name, *action[1:]) for name in (action[0], *others)]


def split(domain: Domain) -> Disjuncts:
    """The domain with its disjunctions split, where conditions are made of literals; other operators are as they were.

    >>> from pddl_eval.definition.pddl import parse_domain
    >>> lamp = parse_domain("(define (domain d) (:action on :precondition (or (hot) (not (lit))) :effect (lit)))")
    >>> [(each.name, *each.parts[:2]) for each in split(lamp).domain.operators]
    [('on', frozenset({('hot',)}), frozenset()), ('on-or-1', frozenset(), frozenset({('lit',)}))]
    """
    operators: list[Operator] = []
    names: dict[str, str] = {}
    done: set[str] = set()
    for operator in domain.operators:
        conditions = [formula for part, formula in operator.formulas if part == _PART]
        ways = _ways(("and", *conditions), True) if conditions else None
        if not ways:
            operators.append(operator)
            continue
        done.update(f"{operator.name}: {construct}" for construct in _CONSTRUCTS)
        others = tuple(each for each in operator.formulas if each[0] != _PART)
        for number, way in enumerate(ways):
            name = f"{operator.name}-or-{number}" if number else operator.name
            names |= {name: operator.name} if number else {}
            needed, negative = ({atom for atom, holds in way if holds is wanted} for wanted in (True, False))
            operators.append(
                replace(
                    operator,
                    name=name,
                    preconditions=operator.preconditions | needed,
                    negative_preconditions=operator.negative_preconditions | negative,
                    formulas=others,
                )
            )
    if not done:
        return Disjuncts(domain, names)
    left = tuple(note for note in domain.outside_strips if note not in done)
    return Disjuncts(replace(domain, operators=tuple(operators), outside_strips=left), names)


def _ways(formula: Formula, holds: bool) -> list[Literals] | None:
    """The ways to make a condition true, or false; None where it is no condition of literals, or they are too many."""
    if isinstance(formula, str) or not formula:
        return None
    head, *parts = formula
    if is_atom(formula) or (head == EQUALITY and is_equation(formula)):
        return [frozenset({(cast(Atom, formula), holds)})]
    if head == "not":
        return _ways(parts[0], not holds)
    if head == "imply":
        parts = [("not", parts[0]), parts[1]]
    elif head not in ("and", "or"):
        return None
    ways = [_ways(part, holds) for part in parts]
    if None in ways:
        return None
    found = [way for way in ways if way is not None]
    if (head == "and") == holds:
        if prod(map(len, found)) > MOST_DISJUNCTS:
            return None
        return [frozenset[tuple[Atom, bool]]().union(*choice) for choice in product(*found)]
    alternatives = [*dict.fromkeys(each for way in found for each in way)]
    return alternatives if len(alternatives) <= MOST_DISJUNCTS else None
