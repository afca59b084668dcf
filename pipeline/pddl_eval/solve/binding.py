"""What a ground action means: its operator looked up by name and bound to its arguments, or why that cannot be.

Whoever carries out plans asks here, on atoms and independent of ``grounded`` on purpose: the executor that has the last
word on a planner's plan, and the simulation of plans that models write.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from pddl_eval.model import EQUALITY, ROOT_TYPE, Action, Domain, Operator

BINDERS_KEPT = 8
"""Domains whose bound actions are kept."""

ACTIONS_KEPT = 20_000
"""Bound actions kept a domain; a bound action takes about a kilobyte."""


class Binder:
    """A domain's operators by name, and what each action seen so far means: problems share their actions."""

    def __init__(self, domain: Domain) -> None:
        self.domain = domain
        self._operators = {operator.name: operator for operator in reversed(domain.operators)}
        self._typed = {
            operator.name
            for operator in domain.operators
            if any(types != (ROOT_TYPE,) for _, types in operator.parameters)
        }
        self._bound: dict[Action, Operator | str] = {}

    def bind(self, action: Action) -> Operator | str:
        """The ground operator that the action names, or why there is none, whatever its arguments are."""
        bound = self._bound.get(action)
        if bound is None:
            if len(self._bound) >= ACTIONS_KEPT:
                self._bound.clear()
            bound = self._bound[action] = self._instantiate(action)
        return bound

    def parameters(self, name: str) -> tuple[str, ...]:
        """The variables of the operator with that name, none where there is no such operator."""
        operator = self._operators.get(name)
        return tuple(variable for variable, _ in operator.parameters) if operator is not None else ()

    def misfit(self, action: Action, objects: Mapping[str, str]) -> str | None:
        """What is wrong with the arguments of an action that ``bind`` knows: no such object, or of the wrong type."""
        for argument in action[1:]:
            if argument not in objects:
                return f"there is no object {argument}"
        if action[0] in self._typed:
            for argument, (_, types) in zip(action[1:], self._operators[action[0]].parameters, strict=True):
                if not self.domain.fits(objects[argument], types):
                    return f"{argument} is no {' or '.join(types)}"
        return None

    def _instantiate(self, action: Action) -> Operator | str:
        name, arguments = action[0], action[1:]
        operator = self._operators.get(name)
        if operator is None:
            return f"the domain has no operator {name}"
        if len(arguments) != len(operator.parameters):
            takes = len(operator.parameters)
            return f"{name} takes {takes} argument{'' if takes == 1 else 's'}, not {len(arguments)}"
        value = {variable: argument for (variable, _), argument in zip(operator.parameters, arguments, strict=True)}
        ground = operator.renamed(value)
        for _, one, other in (atom for atom in ground.preconditions if atom[0] == EQUALITY):
            if one != other:
                return f"{one} and {other} must be the same"
        for _, one, other in (atom for atom in ground.negative_preconditions if atom[0] == EQUALITY):
            if one == other:
                return f"it needs two different objects, not {one} twice"
        return replace(
            ground,
            preconditions=frozenset(atom for atom in ground.preconditions if atom[0] != EQUALITY),
            negative_preconditions=frozenset(atom for atom in ground.negative_preconditions if atom[0] != EQUALITY),
        )


_recent: list[Binder] = []


def binder_of(domain: Domain) -> Binder:
    """The binder of this very domain value, the last few being kept.

    >>> from pddl_eval.domains import known_domain
    >>> binder = binder_of(known_domain("blocksworld").domain)
    >>> binder.bind(("putdown", "a", "b")), binder.misfit(("putdown", "a"), {})
    ('putdown takes 1 argument, not 2', 'there is no object a')
    """
    for binder in _recent:
        if binder.domain is domain:
            return binder
    if len(_recent) >= BINDERS_KEPT:
        _recent.pop(0)
    _recent.append(Binder(domain))
    return _recent[-1]
