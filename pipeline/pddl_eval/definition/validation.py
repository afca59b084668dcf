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
from pddl_eval.definition.model import Action, Atom, Domain, Formula, Operator, Problem, State, show_atom
from pddl_eval.definition.verdict import PlanVerdict

WORK_PER_ACTION = 10
"""Work (``budget.spend``) to ground an action and to apply it."""

ACTIONS_KEPT = 20_000
"""Ground operators kept, a kilobyte each: the actions of a reference's plan stand in most of its answers."""


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a step cannot be executed: the kind of fault, a sentence, and the conditions that do not hold.

    A missing condition is an atom, ``("not", atom)`` or another formula of the precondition with objects for its
    parameters.
    """

    verdict: PlanVerdict
    reason: str
    missing: tuple[Formula, ...] = ()


@dataclass(frozen=True, slots=True)
class Execution:
    """How far a plan got.

    ``steps`` are the operators of each step that was executed, ``state`` is the state after the last of them.
    ``failed_step`` is the number, from 1, of the first step that could not be executed and ``failure`` says why; None
    where every step could. ``unmet`` are the conjuncts of the goal that do not hold in ``state``, of ``conjuncts``;
    ``lacking`` are those of them that are atoms.
    """

    steps: tuple[tuple[Operator, ...], ...]
    state: State
    failed_step: int | None
    failure: Failure | None
    unmet: tuple[Formula, ...]
    lacking: State
    conjuncts: int

    @property
    def verdict(self) -> PlanVerdict:
        """``VALID``, ``GOAL_NOT_REACHED`` or why the first step that failed did."""
        if self.failure is not None:
            return self.failure.verdict
        return PlanVerdict.GOAL_NOT_REACHED if self.unmet else PlanVerdict.VALID

    @property
    def reason(self) -> str:
        """Why the first step that failed did; empty where none did."""
        return "" if self.failure is None else self.failure.reason

    @property
    def missing(self) -> tuple[Formula, ...]:
        """What does not hold: conditions of the first step that failed, else of the goal."""
        return self.unmet if self.failure is None else self.failure.missing

    @property
    def reaches_goal(self) -> bool:
        """True where every step was executed and the goal holds at the end: the plan is valid."""
        return self.failed_step is None and not self.unmet

    @property
    def goal_share(self) -> float:
        """The share of the goal's conjuncts that hold in ``state``; 1.0 where there are none."""
        return 1.0 - len(self.unmet) / self.conjuncts if self.conjuncts else 1.0

    @property
    def cost(self) -> int | None:
        """The number of actions; None where the plan is not valid."""
        return sum(map(len, self.steps)) if self.reaches_goal else None


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
    failed_step, failure = None, None
    for number, step in enumerate(plan, 1):
        found = _applicable(step, state, objects, domain)
        if isinstance(found, Failure):
            failed_step, failure = number, found
            break
        for operator in found:
            state -= operator.delete_effects
        for operator in found:  # What a step deletes and adds holds after it.
            state |= operator.add_effects
        done.append(found)
        spend(WORK_PER_ACTION * len(found))
    lacking = problem.goal - state
    return Execution(
        tuple(done), frozenset(state), failed_step, failure, tuple(sorted(lacking)), lacking, len(problem.goal)
    )


@lru_cache(maxsize=ACTIONS_KEPT)
def ground_operator(action: Action, domain: Domain) -> Operator | Failure:
    """The operator with the action's arguments, taken in order, or by name where each is written ``name=object``.

    A failure where no objects make such an operator.

    >>> lamp = Domain("d", {}, {}, {}, (Operator("switch", (), frozenset({("off",)}), *[frozenset()] * 3),))
    >>> ground_operator(("switch",), lamp).preconditions
    frozenset({('off',)})
    """
    name, *arguments = action
    operator = next((each for each in domain.operators if each.name == name), None)
    if operator is None:
        near = get_close_matches(name, [each.name for each in domain.operators], n=1)
        hint = f"; did you mean {near[0]}?" if near else ""
        reason = f"{show_atom(action)}: the domain has no operator {name}{hint}"
        return Failure(PlanVerdict.UNKNOWN_ACTION, reason)
    variables = operator.action[1:]
    named = dict(argument.split("=", 1) for argument in arguments if "=" in argument)
    if named and len(named) == len(arguments) and sorted(f"?{key}" for key in named) == sorted(variables):
        arguments = [named[variable[1:]].strip() for variable in variables]
    if len(arguments) != len(variables):
        takes = f"{len(variables)} argument{'' if len(variables) == 1 else 's'}"
        reason = f"{show_atom(action)}: {name} takes {takes}, not {len(arguments)}"
        return Failure(PlanVerdict.WRONG_ARGUMENTS, reason)
    ground = instance(operator, arguments)
    if isinstance(ground, Operator):
        return ground
    _, one, other = ground
    why = f"it needs two different objects, not {one} twice" if one == other else f"{one} and {other} must be the same"
    missing: Formula = ("not", ground) if one == other else ground
    return Failure(PlanVerdict.PRECONDITION, f"{show_atom((name, *arguments))}: {why}", (missing,))


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
) -> tuple[Operator, ...] | Failure:
    """The step's operators, or why it cannot happen."""
    found: list[Operator] = []
    for action in step if len(step) == 1 else sorted(step):
        operator = ground_operator(action, domain)
        if isinstance(operator, Failure):
            return operator
        for argument, types in operator.parameters:
            type_ = objects.get(argument)
            if type_ is None:
                return Failure(PlanVerdict.WRONG_ARGUMENTS, no_object(action, argument))
            if type_ not in types and not domain.fits(type_, types):
                return Failure(PlanVerdict.WRONG_ARGUMENTS, not_of_type(action, argument, types))
        if not operator.preconditions <= state:
            lacking = operator.preconditions - state
            return Failure(PlanVerdict.PRECONDITION, needs(action, lacking), tuple(sorted(lacking)))
        if not operator.negative_preconditions.isdisjoint(state):
            true = operator.negative_preconditions & state
            reason = f"{show_atom(action)} needs {_listed(true)} to be false"
            return Failure(PlanVerdict.PRECONDITION, reason, tuple(("not", atom) for atom in sorted(true)))
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


def _interference(operators: list[Operator]) -> Failure | None:
    """Which two of the operators cannot happen at once."""
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
                        reason = (
                            f"{show_atom(operator.action)} and {show_atom(other)} interfere: "
                            f"the first {verb} {show_atom(atom)}, which the second {claim}"
                        )
                        return Failure(PlanVerdict.INTERFERENCE, reason)
    return None


def _listed(atoms: Iterable[Atom]) -> str:
    return " and ".join(show_atom(atom) for atom in sorted(atoms))
