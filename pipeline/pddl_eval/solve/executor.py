"""The one executor: carries out a plan step by step and says where it fails and why.

Everything that runs a plan asks here: the check of what planners find, and the validity of plans that models write. It
works on atoms, straight from the definitions (the paper, definition 1), and shares nothing with the searches.

Concurrent actions are carried out together when each is applicable and none interferes with another: none deletes what
another needs or adds, none adds what another forbids. An action that is not in the domain's words (an unknown operator
or object, a wrong number or type of arguments) fails like any other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from functools import lru_cache
from operator import itemgetter

from pddl_eval.budget import check
from pddl_eval.model import EQUALITY, ROOT_TYPE, Action, Atom, Domain, Operator, Problem, State, show_atom

DOMAINS_KEPT = 8
"""Domains whose ground operators are kept."""

ACTIONS_KEPT = 20_000
"""Ground operators kept a domain; one takes about a kilobyte."""

STEPS_PER_CHECK = 100
"""Steps between two looks at the row's budget."""

GroundOperator = Operator[State]

ANYTHING = (ROOT_TYPE,)
"""The types of a parameter that takes any object."""


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
    state = set(problem.init)  # changed in place: a state may have thousands of atoms and a plan thousands of steps
    done: list[tuple[GroundOperator, ...]] = []
    failed_step, reason = None, ""
    for number, step in enumerate(plan, 1):
        found = _applicable(step, state, operators, objects)
        if isinstance(found, str):
            failed_step, reason = number, found
            break
        for operator in found:
            state -= operator.delete_effects
        for operator in found:  # What a step deletes and adds holds after it.
            state |= operator.add_effects
        done.append(found)
        if not number % STEPS_PER_CHECK:
            check()
    return Execution(tuple(done), frozenset(state), failed_step, reason, problem.goal - state)


def ground_operator(action: Action, domain: Domain) -> GroundOperator | str:
    """The operator of an action, whatever its objects are; in words where the domain has none.

    >>> lamp = Domain("d", {}, {}, {}, (Operator("switch", (), frozenset({("off",)}), *[frozenset()] * 3),))
    >>> ground_operator(("switch",), lamp).preconditions
    frozenset({('off',)})
    """
    return _operators_of(domain).ground(action)


def effects_of(step: Sequence[GroundOperator]) -> tuple[State, State]:
    """What the operators of a step add and delete together."""
    if len(step) == 1:
        return step[0].add_effects, step[0].delete_effects - step[0].add_effects
    added: State = frozenset().union(*(operator.add_effects for operator in step))
    return added, frozenset().union(*(operator.delete_effects for operator in step)) - added


class _Operators(dict[Action, GroundOperator]):
    """The ground operator of each action seen so far: problems of a domain share actions."""

    def __init__(self, domain: Domain) -> None:
        super().__init__()
        self.domain = domain
        self.lifted = {operator.name: _Lifted(operator) for operator in reversed(domain.operators)}

    def ground(self, action: Action) -> GroundOperator | str:
        """The operator with the action's arguments, taken in order, or by name where each is written ``name=object``.

        In words where there is no such operator, whatever the objects are.
        """
        if (known := self.get(action)) is not None:
            return known
        name, *arguments = action
        lifted = self.lifted.get(name)
        if lifted is None:
            return f"{show_atom(action)}: the domain has no operator {name}"
        variables = lifted.variables
        named = dict(argument.split("=", 1) for argument in arguments if "=" in argument)
        if named and len(named) == len(arguments) and sorted(f"?{key}" for key in named) == sorted(variables):
            arguments = [named[variable[1:]].strip() for variable in variables]
        if len(arguments) != len(variables):
            takes = f"{len(variables)} argument{'' if len(variables) == 1 else 's'}"
            return f"{show_atom(action)}: {name} takes {takes}, not {len(arguments)}"
        ground = lifted.ground(arguments)
        if isinstance(ground, str):
            return ground
        if len(self) >= ACTIONS_KEPT:
            self.clear()
        self[action] = ground
        return ground


class _Lifted:
    """An operator of the domain, prepared for many groundings: of each atom it is known where its terms come from."""

    def __init__(self, operator: Operator[State]) -> None:
        self.name = operator.name
        self.variables = operator.action[1:]
        self.types = [types for _, types in operator.parameters]
        self.compares = any(atom[0] == EQUALITY for part in operator.parts[:2] for atom in part)
        # Terms come from one sequence: the arguments, then predicates and constants.
        self.words = sorted({term for part in operator.parts for atom in part for term in atom})
        word_at = {word: at for at, word in enumerate(self.words, len(self.variables))}
        place = word_at | {variable: at for at, variable in enumerate(self.variables)}
        self.arguments = [place[variable] for variable in self.variables]
        self.parts = [
            [_picker([word_at[name], *[place[term] for term in terms]]) for name, *terms in part]
            for part in operator.parts
        ]

    def ground(self, arguments: Sequence[str]) -> GroundOperator | str:
        """The operator with these arguments; the last one counts where two parameters have one name."""
        terms = (*arguments, *self.words)
        parameters = tuple(zip([terms[at] for at in self.arguments], self.types, strict=True))
        needs, forbids, adds, deletes = [frozenset([pick(terms) for pick in part]) for part in self.parts]
        ground = Operator(self.name, parameters, needs, forbids, adds, deletes)
        return _compared(ground) if self.compares else ground


def _compared(ground: GroundOperator) -> GroundOperator | str:
    """The operator without its (in)equalities, once these hold; in words the first that does not."""
    equal, different = (
        [atom for atom in part if atom[0] == EQUALITY] for part in (ground.preconditions, ground.negative_preconditions)
    )
    for _, one, other in equal:
        if one != other:
            return f"{show_atom(ground.action)}: {one} and {other} must be the same"
    for _, one, other in different:
        if one == other:
            return f"{show_atom(ground.action)}: it needs two different objects, not {one} twice"
    return replace(
        ground,
        preconditions=ground.preconditions.difference(equal),
        negative_preconditions=ground.negative_preconditions.difference(different),
    )


def _picker(places: Sequence[int]) -> Callable[[Sequence[str]], Atom]:
    """The function that makes an atom of the terms in these places."""
    if len(places) == 1:
        return itemgetter(slice(places[0], places[0] + 1))
    return itemgetter(*places)


@lru_cache(maxsize=DOMAINS_KEPT)
def _operators_of(domain: Domain) -> _Operators:
    return _Operators(domain)


def _applicable(
    step: Set[Action], state: Set[Atom], operators: _Operators, objects: Mapping[str, str]
) -> tuple[GroundOperator, ...] | str:
    """The step's operators, or in words why it cannot happen."""
    found: list[GroundOperator] = []
    for action in step if len(step) == 1 else sorted(step):
        operator = operators.get(action) or operators.ground(action)
        if isinstance(operator, str):
            return operator
        for argument, types in operator.parameters:
            type_ = objects.get(argument)
            if type_ is None:
                return f"{show_atom(action)}: there is no object {argument}"
            if types != ANYTHING and (type_,) != types and not operators.domain.fits(type_, types):
                return f"{show_atom(action)}: {argument} is not a {' or '.join(types)}"
        if not operator.preconditions <= state:
            return f"{show_atom(action)} needs {_listed(operator.preconditions - state)}"
        if not operator.negative_preconditions.isdisjoint(state):
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
