"""The one executor: carries out a plan step by step and says where it fails and why.

Everything that runs a plan asks here: the check of what planners find, and the validity of plans that models write. It
works on atoms, straight from the definitions (the paper, definition 1), and shares nothing with the searches.

Concurrent actions are carried out together when each is applicable and none interferes with another: none deletes what
another needs or adds, none adds what another forbids. An action that is not in the domain's words (an unknown operator
or object, a wrong number or type of arguments) fails like any other.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass, replace

from pddl_eval.model import EQUALITY, ROOT_TYPE, Action, Atom, Domain, Operator, Problem, State, show_atom

DOMAINS_KEPT = 8
"""Domains whose ground operators are kept."""

ACTIONS_KEPT = 20_000
"""Ground operators kept a domain; one takes about a kilobyte."""

UNTYPED = (ROOT_TYPE,)

GroundOperator = Operator[State]


@dataclass(frozen=True, slots=True)
class Execution:
    """How far a plan got.

    ``steps`` are the operators of each step that was carried out, ``state`` is the state after the last of them.
    ``failed_step`` is the number, from 1, of the first step that could not be carried out and ``reason`` says why; None
    and empty where every step could. ``lacking`` are the goal atoms that do not hold in ``state``.
    """

    steps: tuple[tuple[GroundOperator, ...], ...]
    state: State
    failed_step: int | None
    reason: str
    lacking: State

    @property
    def reaches_goal(self) -> bool:
        """True where every step was carried out and the goal holds at the end: the plan is valid."""
        return self.failed_step is None and not self.lacking


def execute(plan: Iterable[Set[Action]], problem: Problem, domain: Domain) -> Execution:
    """Carry out the steps of a plan, each a set of actions, up to the first that fails.

    >>> lamp = Domain("d", {}, {}, {}, (Operator("switch", (), frozenset({("off",)}), frozenset(),
    ...                                          frozenset({("on",)}), frozenset({("off",)})),))
    >>> dark = Problem("p", "d", {}, frozenset({("off",)}), frozenset())
    >>> execute([{("switch",)}, {("switch",)}], dark, lamp).reason
    '(switch) needs (off)'
    """
    operators = _operators_of(domain)
    objects = {**problem.objects, **domain.constants}
    state = problem.init
    done: list[tuple[GroundOperator, ...]] = []
    failed_step, reason = None, ""
    for number, step in enumerate(plan, 1):
        found = _applicable(step, state, operators, objects)
        if isinstance(found, str):
            failed_step, reason = number, found
            break
        if len(found) == 1:
            state = found[0].apply(state)
        else:
            deleted = frozenset().union(*(operator.delete_effects for operator in found))
            state = (state - deleted).union(*(operator.add_effects for operator in found))
        done.append(found)
    return Execution(tuple(done), state, failed_step, reason, problem.goal - state)


class _Operators:
    """A domain's operators by name, and the ground operator of each action seen so far: problems share actions."""

    def __init__(self, domain: Domain) -> None:
        self.domain = domain
        self.by_name = {operator.name: operator for operator in reversed(domain.operators)}
        self._ground: dict[Action, GroundOperator | str] = {}

    def ground(self, action: Action, objects: Mapping[str, str]) -> GroundOperator | str:
        """The operator with the action's arguments, or in words why there is none.

        Arguments are taken in order, or by name where all are written ``name=object``.
        """
        if len(action) > 1 and "=" in action[1]:
            action = (action[0], *self._in_order(action))
        operator = self._ground.get(action)
        if operator is None:
            if len(self._ground) >= ACTIONS_KEPT:
                self._ground.clear()
            operator = self._ground[action] = self._instantiate(action)
        if isinstance(operator, str):
            return f"{show_atom(action)}: {operator}"
        for argument, types in operator.parameters:
            type_ = objects.get(argument)
            if type_ is None:
                return f"{show_atom(action)}: there is no object {argument}"
            if types != UNTYPED and (type_,) != types and not self.domain.fits(type_, types):
                return f"{show_atom(action)}: {argument} is not a {' or '.join(types)}"
        return operator

    def _in_order(self, action: Action) -> Action:
        """The arguments, in the order of the parameters where each is written ``name=object``."""
        operator = self.by_name.get(action[0])
        parameters = [variable.lstrip("?") for variable, _ in operator.parameters] if operator else []
        named = dict(argument.split("=", 1) for argument in action[1:] if "=" in argument)
        if len(named) == len(action) - 1 == len(parameters) and named.keys() == set(parameters):
            return tuple(named[name].strip() for name in parameters)
        return action[1:]

    def _instantiate(self, action: Action) -> GroundOperator | str:
        operator = self.by_name.get(action[0])
        if operator is None:
            return f"the domain has no operator {action[0]}"
        takes = len(operator.parameters)
        if len(action) - 1 != takes:
            return f"{action[0]} takes {takes} argument{'' if takes == 1 else 's'}, not {len(action) - 1}"
        ground = operator.renamed(dict(zip(operator.action[1:], action[1:], strict=True)))
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


_recent: list[_Operators] = []


def _operators_of(domain: Domain) -> _Operators:
    """The operators of this very domain value, the last few being kept (its mappings cannot be hashed)."""
    for kept in _recent:
        if kept.domain is domain:
            return kept
    if len(_recent) >= DOMAINS_KEPT:
        _recent.pop(0)
    _recent.append(_Operators(domain))
    return _recent[-1]


def _applicable(
    step: Set[Action], state: State, operators: _Operators, objects: Mapping[str, str]
) -> tuple[GroundOperator, ...] | str:
    """The step's operators, or in words why it cannot happen."""
    found: list[GroundOperator] = []
    for action in sorted(step):
        operator = operators.ground(action, objects)
        if isinstance(operator, str):
            return operator
        if not operator.applicable(state):
            if not operator.preconditions <= state:
                return f"{show_atom(action)} needs {_listed(operator.preconditions - state)}"
            return f"{show_atom(action)} needs {_listed(operator.negative_preconditions & state)} to be false"
        found.append(operator)
    return (_interference(found) if len(found) > 1 else None) or tuple(found)


def _interference(operators: list[GroundOperator]) -> str | None:
    """In words, which two of the operators cannot happen at once."""
    claims: dict[tuple[bool, Atom], list[tuple[Action, str]]] = {}
    for operator in operators:
        for truth, verb, atoms in (
            (True, "needs", operator.preconditions),
            (True, "adds", operator.add_effects),
            (False, "forbids", operator.negative_preconditions),
        ):
            for atom in atoms:
                claims.setdefault((truth, atom), []).append((operator.action, verb))
    for operator in operators:
        for truth, verb, atoms in (
            (True, "deletes", operator.delete_effects - operator.add_effects),
            (False, "adds", operator.add_effects),
        ):
            for atom in sorted(atoms):
                for other, claim in claims.get((truth, atom), ()):
                    if other != operator.action:
                        return (
                            f"{show_atom(operator.action)} and {show_atom(other)} interfere: "
                            f"the first {verb} {show_atom(atom)}, which the second {claim}"
                        )
    return None


def _listed(atoms: Iterable[Atom]) -> str:
    return " and ".join(show_atom(atom) for atom in sorted(atoms))
