"""Carry out a plan in a domain from a problem's initial state: which step fails first and why, is the goal reached.

Steps are counted from 1. Concurrent actions are carried out together when each is applicable and none interferes with
another: none deletes what another needs or adds, none adds what another forbids. A step that is not in the domain's
words (an unknown operator or object, a wrong number or type of arguments) fails like any other. Searching for plans is
not done here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass, field

from pipeline.domain import EQUALITY, Action, Domain, GroundOperator, Operator
from pipeline.parsing.plans import Plan, Step
from pipeline.problem import ROOT_TYPE, Atom, Problem, State, show_atom

INIT: Action = ("<init>",)
"""The producer of what is true at the start; no operator can have this name."""

GOAL: Action = ("<goal>",)
"""The consumer of what the goal wants."""

MAX_INSTANCES = 10_000
"""Ground operators that a task remembers."""

CausalLink = tuple[Action, Atom, Action]
"""Producer, fact, consumer."""


@dataclass(frozen=True, slots=True)
class Task:
    """A problem in its domain, with the look-ups that carrying out plans needs; made by ``task_of``.

    ``instances`` remembers what ``instantiate`` answered, for all plans that are carried out in this task.
    """

    problem: Problem
    domain: Domain
    operators: Mapping[str, Operator]
    objects: Mapping[str, str]
    instances: dict[Action, GroundOperator | str] = field(default_factory=dict, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class StepEffects:
    """What a step that was carried out added to the state and deleted from it."""

    added: State
    deleted: State


@dataclass(frozen=True, slots=True)
class Execution:
    """What happened: the effects of each step up to the first that failed, and how it ended.

    ``failed_step`` is None where all steps were carried out, else its number from 1, and ``reason`` says why it failed.
    ``lacking`` are the goal atoms that do not hold where the execution ended. ``causal_links`` are those between the
    steps carried out, from the initial state and to the goal atoms that hold at the end.
    """

    effects: tuple[StepEffects, ...]
    failed_step: int | None
    reason: str
    lacking: State
    causal_links: frozenset[CausalLink]


def task_of(domain: Domain, problem: Problem) -> Task | str:
    """The task, or in words why plans cannot be carried out: the operators do not say all that the domain says."""
    if domain.outside_strips:
        return f"domain {domain.name} goes beyond STRIPS ({', '.join(domain.outside_strips)})"
    operators = {operator.name: operator for operator in domain.operators}
    return Task(problem, domain, operators, {**domain.constants, **problem.objects})


def execute(plan: Plan, task: Task) -> Execution:
    """Carry out a plan, up to the first step that fails.

    >>> from pipeline.parsing.plans import read_plan
    >>> from pipeline.planning_domains import known_domain
    >>> init, goal = frozenset({("holding", "a")}), frozenset({("clear", "a")})
    >>> task = task_of(known_domain("blocksworld").domain, Problem("p", "blocksworld", {"a": "object"}, init, goal))
    >>> execute(read_plan("(putdown a)").steps, task).lacking
    frozenset()
    >>> execute(read_plan("(putdown a) (putdown a)").steps, task).reason
    '(putdown a) needs (holding a)'
    """
    state = set(task.problem.init)
    producers: dict[Atom, tuple[Action, ...]] = {}
    links: set[CausalLink] = set()
    effects: list[StepEffects] = []
    failed_step, reason = None, ""
    for number, step in enumerate(plan, 1):
        happening = _applicable(step, state, task)
        if isinstance(happening, str):
            failed_step, reason = number, happening
            break
        for operator in happening:
            for fact in operator.preconditions:
                links |= {(producer, fact, operator.action) for producer in producers.get(fact, (INIT,))}
        added = frozenset().union(*(operator.add_effects for operator in happening))
        deleted = frozenset().union(*(operator.delete_effects for operator in happening)) - added
        state -= deleted
        state |= added
        producers |= {
            fact: tuple(operator.action for operator in happening if fact in operator.add_effects) for fact in added
        }
        effects.append(StepEffects(added, deleted))
    goal = task.problem.goal
    links |= {(producer, fact, GOAL) for fact in goal & state for producer in producers.get(fact, (INIT,))}
    return Execution(tuple(effects), failed_step, reason, goal - state, frozenset(links))


def instantiate(action: Action, task: Task) -> GroundOperator | str:
    """The operator with the action's arguments, or in words why there is none.

    Arguments are taken in order, or by name where all are written ``name=object``.
    """
    known = task.instances.get(action)
    if known is None:
        if len(task.instances) >= MAX_INSTANCES:
            task.instances.clear()
        known = task.instances[action] = _instantiate(action, task)
    return known


def _instantiate(action: Action, task: Task) -> GroundOperator | str:
    operator = task.operators.get(action[0])
    if operator is None:
        return f"{show_atom(action)}: the domain has no operator {action[0]}"
    names = [name for name, _ in operator.parameters]
    arguments = _in_order(action[1:], names)
    if len(arguments) != len(names):
        return f"{show_atom(action)} has {len(arguments)} arguments, but {operator.name} takes {len(names)}"
    for argument, (_, types) in zip(arguments, operator.parameters, strict=True):
        if argument not in task.objects:
            return f"{show_atom(action)}: there is no object {argument}"
        own = task.objects[argument]
        if not _fits(own, types, task.domain):
            return f"{show_atom(action)}: {argument} is of type {own}, not {' or '.join(types)}"
    value_of = dict(zip(names, arguments, strict=True))

    def ground(atoms: Iterable[Atom]) -> State:
        return frozenset(tuple([value_of.get(term, term) for term in atom]) for atom in atoms)

    equal, required = _split_equality(ground(operator.preconditions))
    different, forbidden = _split_equality(ground(operator.negative_preconditions))
    for _, one, other in sorted(equal):
        if one != other:
            return f"{show_atom(action)} needs {one} and {other} to be the same"
    for _, one, other in sorted(different):
        if one == other:
            return f"{show_atom(action)} needs two different objects, not {one} twice"
    return GroundOperator(action, required, forbidden, ground(operator.add_effects), ground(operator.delete_effects))


def _applicable(step: Step, state: Set[Atom], task: Task) -> list[GroundOperator] | str:
    """The step's operators, or in words why it cannot happen."""
    happening = []
    for action in sorted(step):
        operator = instantiate(action, task)
        if isinstance(operator, str):
            return operator
        if not operator.preconditions <= state:
            return f"{show_atom(action)} needs {_listed(operator.preconditions - state)}"
        if not operator.negative_preconditions.isdisjoint(state):
            return f"{show_atom(action)} needs {_listed(operator.negative_preconditions & state)} to be false"
        happening.append(operator)
    return _interference(happening) if len(happening) > 1 else happening


def _interference(happening: list[GroundOperator]) -> list[GroundOperator] | str:
    """The operators, or in words which two of them cannot happen at once."""
    claims: dict[tuple[bool, Atom], list[tuple[Action, str]]] = {}
    for operator in happening:
        for truth, verb, atoms in (
            (True, "needs", operator.preconditions),
            (True, "adds", operator.add_effects),
            (False, "forbids", operator.negative_preconditions),
        ):
            for atom in atoms:
                claims.setdefault((truth, atom), []).append((operator.action, verb))
    for operator in happening:
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
    return happening


def _in_order(arguments: tuple[str, ...], parameters: list[str]) -> tuple[str, ...]:
    """The arguments, sorted by the parameters' order where each is written ``name=object``."""
    named = dict(argument.split("=", 1) for argument in arguments if "=" in argument)
    if len(named) == len(arguments) == len(parameters) and all(name.lstrip("?") in named for name in parameters):
        return tuple(named[name.lstrip("?")].strip() for name in parameters)
    return arguments


def _fits(type_: str, alternatives: tuple[str, ...], domain: Domain) -> bool:
    """True when an object of that type is one of the alternatives; a type that is not declared is a plain object."""
    ancestors = set(domain.ancestors(type_))
    return any(wanted == ROOT_TYPE or wanted not in domain.types or wanted in ancestors for wanted in alternatives)


def _split_equality(atoms: State) -> tuple[State, State]:
    equations = frozenset(atom for atom in atoms if atom[0] == EQUALITY)
    return equations, atoms - equations


def _listed(atoms: Iterable[Atom]) -> str:
    return " and ".join(show_atom(atom) for atom in sorted(atoms))
