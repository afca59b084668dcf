"""The validator: executes a plan step by step and says where it fails and why.

Everything that runs a plan asks here: the check of what planners find, and the validity of plans that models write. It
works on atoms, straight from the definitions (the paper, definition 1), and shares nothing with the searches.

Concurrent actions are executed together when each is applicable and none interferes with another: none deletes what
another needs or adds, none adds what another forbids. An action that is not in the domain's words (an unknown operator
or object, a wrong number or type of arguments) fails like any other.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from difflib import get_close_matches
from functools import lru_cache

from pddl_eval.definition.budget import spend
from pddl_eval.definition.grounding import instance
from pddl_eval.definition.model import Action, Atom, Domain, Operator, Problem, State, show_atom

WORK_PER_ACTION = 10
"""Work (``budget.spend``) to ground an action and to apply it."""

ACTIONS_KEPT = 20_000
"""Ground operators kept, a kilobyte each: the actions of a reference's plan stand in most of its answers."""


@dataclass(frozen=True, slots=True)
class Execution:
    """How far a plan got.

    ``steps`` are the operators of each step that was executed, ``state`` is the state after the last of them.
    ``failed_step`` is the number, from 1, of the first step that could not be executed and ``reason`` says why; None
    and empty where every step could. ``lacking`` are the goal atoms that do not hold in ``state``.
    """

    steps: tuple[tuple[Operator, ...], ...]
    state: State
    failed_step: int | None
    reason: str
    lacking: State

    @property
    def reaches_goal(self) -> bool:
        """True where every step was executed and the goal holds at the end: the plan is valid."""
        return self.failed_step is None and not self.lacking


def execute(plan: Iterable[Set[Action]], problem: Problem, domain: Domain) -> Execution:
    """Execute the steps of a plan, each a set of actions, up to the first that fails.

    >>> lamp = Domain("d", {}, {}, {}, (Operator("switch", (), frozenset({("off",)}), frozenset(),
    ...                                          frozenset({("on",)}), frozenset({("off",)})),))
    >>> dark = Problem("p", "d", {}, frozenset({("off",)}), frozenset())
    >>> execute([{("switch",)}, {("switch",)}], dark, lamp).reason
    '(switch) needs (off)'
    """
    objects = {**problem.objects, **domain.constants}
    state = set(problem.init)  # changed in place: a state may have thousands of atoms and a plan thousands of steps
    done: list[tuple[Operator, ...]] = []
    failed_step, reason = None, ""
    for number, step in enumerate(plan, 1):
        found = _applicable(step, state, objects, domain)
        if isinstance(found, str):
            failed_step, reason = number, found
            break
        for operator in found:
            state -= operator.delete_effects
        for operator in found:  # What a step deletes and adds holds after it.
            state |= operator.add_effects
        done.append(found)
        spend(WORK_PER_ACTION * len(found))
    return Execution(tuple(done), frozenset(state), failed_step, reason, problem.goal - state)


@lru_cache(maxsize=ACTIONS_KEPT)
def ground_operator(action: Action, domain: Domain) -> Operator | str:
    """The operator with the action's arguments, taken in order, or by name where each is written ``name=object``.

    In words where no objects make such an operator.

    >>> lamp = Domain("d", {}, {}, {}, (Operator("switch", (), frozenset({("off",)}), *[frozenset()] * 3),))
    >>> ground_operator(("switch",), lamp).preconditions
    frozenset({('off',)})
    """
    name, *arguments = action
    operator = next((each for each in domain.operators if each.name == name), None)
    if operator is None:
        near = get_close_matches(name, [each.name for each in domain.operators], n=1)
        hint = f"; did you mean {near[0]}?" if near else ""
        return f"{show_atom(action)}: the domain has no operator {name}{hint}"
    variables = operator.action[1:]
    named = dict(argument.split("=", 1) for argument in arguments if "=" in argument)
    if named and len(named) == len(arguments) and sorted(f"?{key}" for key in named) == sorted(variables):
        arguments = [named[variable[1:]].strip() for variable in variables]
    if len(arguments) != len(variables):
        takes = f"{len(variables)} argument{'' if len(variables) == 1 else 's'}"
        return f"{show_atom(action)}: {name} takes {takes}, not {len(arguments)}"
    ground = instance(operator, arguments)
    if isinstance(ground, Operator):
        return ground
    _, one, other = ground
    why = f"it needs two different objects, not {one} twice" if one == other else f"{one} and {other} must be the same"
    return f"{show_atom((name, *arguments))}: {why}"


def effects_of(step: Sequence[Operator]) -> tuple[State, State]:
    """What the operators of a step add and delete together."""
    if len(step) == 1:
        return step[0].add_effects, step[0].delete_effects - step[0].add_effects
    added: State = frozenset().union(*(operator.add_effects for operator in step))
    return added, frozenset().union(*(operator.delete_effects for operator in step)) - added


def _applicable(
    step: Set[Action],
    state: Set[Atom],
    objects: Mapping[str, str],
    domain: Domain,
) -> tuple[Operator, ...] | str:
    """The step's operators, or in words why it cannot happen."""
    found: list[Operator] = []
    for action in step if len(step) == 1 else sorted(step):
        operator = ground_operator(action, domain)
        if isinstance(operator, str):
            return operator
        for argument, types in operator.parameters:
            type_ = objects.get(argument)
            if type_ is None:
                return no_object(action, argument)
            if type_ not in types and not domain.fits(type_, types):
                return not_of_type(action, argument, types)
        if not operator.preconditions <= state:
            return needs(action, operator.preconditions - state)
        if not operator.negative_preconditions.isdisjoint(state):
            return f"{show_atom(action)} needs {_listed(operator.negative_preconditions & state)} to be false"
        found.append(operator)
    return (_interference(found) if len(found) > 1 else None) or tuple(found)


def no_object(action: Action, argument: str) -> str:
    """Why an action with a name that no object has cannot happen."""
    return f"{show_atom(action)}: there is no object {argument}"


def not_of_type(action: Action, argument: str, types: Sequence[str]) -> str:
    """Why an action with an argument of another type cannot happen."""
    return f"{show_atom(action)}: {argument} is not of type {' or '.join(types)}"


def needs(action: Action, lacking: Iterable[Atom]) -> str:
    """Why an action whose preconditions do not all hold cannot happen."""
    return f"{show_atom(action)} needs {_listed(lacking)}"


def _interference(operators: list[Operator]) -> str | None:
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
