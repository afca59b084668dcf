"""Executes a plan step by step: the last word before a problem is called solvable.

Straight from the definitions (the paper, definition 1), on atoms, and independent of ``grounded`` on purpose: whatever
a planner did to find the plan, each step is looked up by name, bound to its arguments and applied here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from pipeline.domain import EQUALITY, Action, Domain, GroundOperator
from pipeline.problem import ROOT_TYPE, Atom, Problem, State, show_atom

BINDERS_KEPT = 8
"""Domains whose bound actions are kept."""

ACTIONS_KEPT = 20_000
"""Bound actions kept a domain; a bound action takes about a kilobyte."""


@dataclass(frozen=True, slots=True)
class Execution:
    """How far a plan gets. ``state`` is the state after the last step that could be applied.

    ``failed_step`` is the position of the first step that could not, counted from 0, and ``reason`` says why in one
    sentence; both are None where every step could. ``reaches_goal`` is true only then.
    """

    state: State
    failed_step: int | None
    reason: str | None
    reaches_goal: bool


def execute(plan: Iterable[Action], problem: Problem, domain: Domain, typed: bool = True) -> Execution:
    """Apply a plan's steps to the initial state, until the end or to the first that is not applicable.

    ``typed=False`` erases the types of problem and domain first.

    >>> from pipeline.parsing.domains import parse_domain
    >>> lamp = parse_domain("(define (domain d) (:action switch :precondition (off) :effect (and (on) (not (off)))))")
    >>> execute([("switch",), ("switch",)], Problem("p", "d", {}, frozenset({("off",)}), frozenset()), lamp).reason
    'step 1, (switch): (off) is not true'
    """
    if not typed:
        problem, domain = problem.without_types(), domain.without_types()
    binder = _binder_of(domain)
    objects = {**problem.objects, **domain.constants}
    state = set(problem.init)
    for step, action in enumerate(plan):
        operator = binder.bind(action)
        reason = operator if isinstance(operator, str) else binder.misfit(action, objects) or _unmet(operator, state)
        if reason is not None:
            return Execution(frozenset(state), step, f"step {step}, {show_atom(action)}: {reason}", False)
        assert isinstance(operator, GroundOperator)
        state -= operator.delete_effects
        state |= operator.add_effects
    return Execution(frozenset(state), None, None, problem.goal <= state)


class _Binder:
    """A domain's operators by name, and what each action seen so far means: problems share their actions."""

    def __init__(self, domain: Domain) -> None:
        self.domain = domain
        self._operators = {operator.name: operator for operator in reversed(domain.operators)}
        self._typed = {
            operator.name
            for operator in domain.operators
            if any(types != (ROOT_TYPE,) for _, types in operator.parameters)
        }
        self._bound: dict[Action, GroundOperator | str] = {}

    def bind(self, action: Action) -> GroundOperator | str:
        """The ground operator that the action names, or why there is none, whatever its arguments are."""
        bound = self._bound.get(action)
        if bound is None:
            if len(self._bound) >= ACTIONS_KEPT:
                self._bound.clear()
            bound = self._bound[action] = self._instantiate(action)
        return bound

    def misfit(self, action: Action, objects: Mapping[str, str]) -> str | None:
        """What is wrong with the arguments of an action that ``bind`` knows: no such object, or of the wrong type."""
        for argument in action[1:]:
            if argument not in objects:
                return f"there is no object {argument}"
        if action[0] in self._typed:
            for argument, (_, types) in zip(action[1:], self._operators[action[0]].parameters, strict=True):
                if not _fits(objects[argument], types, self.domain):
                    return f"{argument} is no {' or '.join(types)}"
        return None

    def _instantiate(self, action: Action) -> GroundOperator | str:
        name, arguments = action[0], action[1:]
        operator = self._operators.get(name)
        if operator is None:
            return f"the domain has no operator {name}"
        if len(arguments) != len(operator.parameters):
            return f"{name} takes {len(operator.parameters)} arguments, not {len(arguments)}"
        value = {variable: argument for (variable, _), argument in zip(operator.parameters, arguments, strict=True)}

        def bind(atoms: frozenset[Atom]) -> frozenset[Atom]:
            return frozenset((atom[0], *(value.get(term, term) for term in atom[1:])) for atom in atoms)

        required, forbidden = bind(operator.preconditions), bind(operator.negative_preconditions)
        for _, one, other in (atom for atom in required if atom[0] == EQUALITY):
            if one != other:
                return f"{one} is not {other}"
        for _, one, other in (atom for atom in forbidden if atom[0] == EQUALITY):
            if one == other:
                return f"{one} may not be {other}"
        return GroundOperator(
            action,
            frozenset(atom for atom in required if atom[0] != EQUALITY),
            frozenset(atom for atom in forbidden if atom[0] != EQUALITY),
            bind(operator.add_effects),
            bind(operator.delete_effects),
        )


_recent: list[_Binder] = []


def _binder_of(domain: Domain) -> _Binder:
    """The binder of this very domain value, the last few being kept."""
    for binder in _recent:
        if binder.domain is domain:
            return binder
    if len(_recent) >= BINDERS_KEPT:
        _recent.pop(0)
    _recent.append(_Binder(domain))
    return _recent[-1]


def _fits(type_: str, alternatives: tuple[str, ...], domain: Domain) -> bool:
    """True when an object of the type may stand for a parameter; an undeclared type asks for a plain object."""
    ancestors = set(domain.ancestors(type_))
    return any(wanted in ancestors or wanted not in domain.types or wanted == ROOT_TYPE for wanted in alternatives)


def _unmet(operator: GroundOperator, state: set[Atom]) -> str | None:
    """The first precondition that the state does not meet, in words."""
    if operator.preconditions <= state and operator.negative_preconditions.isdisjoint(state):
        return None
    missing = sorted(operator.preconditions - state)
    if missing:
        return f"{show_atom(missing[0])} is not true"
    present = sorted(operator.negative_preconditions & state)
    return f"{show_atom(present[0])} is true" if present else None
