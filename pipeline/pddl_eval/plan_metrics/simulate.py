"""Carry out a plan in a domain from a problem's initial state: which step fails first and why, is the goal reached.

Steps are counted from 1. Concurrent actions are carried out together when each is applicable and none interferes with
another: none deletes what another needs or adds, none adds what another forbids. A step that is not in the domain's
words (an unknown operator or object, a wrong number or type of arguments) fails like any other. Searching for plans is
not done here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass

from pddl_eval.model import Action, Atom, Domain, Operator, Problem, State, show_atom
from pddl_eval.parsing import Plan, Step
from pddl_eval.solve.binding import binder_of

INIT: Action = ("<init>",)
"""The producer of what is true at the start; no operator can have this name."""

GOAL: Action = ("<goal>",)
"""The consumer of what the goal wants."""

CausalLink = tuple[Action, Atom, Action]
"""Producer, fact, consumer."""


@dataclass(frozen=True, slots=True)
class Task:
    """A problem in its domain, with all objects and constants by type; made by ``task_of``."""

    problem: Problem
    domain: Domain
    objects: Mapping[str, str]


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
    return Task(problem, domain, {**domain.constants, **problem.objects})


def execute(plan: Plan, task: Task) -> Execution:
    """Carry out a plan, up to the first step that fails.

    >>> from pddl_eval.parsing import read_plan
    >>> from pddl_eval.domains import known_domain
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


def instantiate(action: Action, task: Task) -> Operator | str:
    """The operator with the action's arguments, or in words why there is none.

    Arguments are taken in order, or by name where all are written ``name=object``.
    """
    binder = binder_of(task.domain)
    if len(action) > 1 and "=" in action[1]:
        action = (action[0], *_in_order(action[1:], binder.parameters(action[0])))
    operator = binder.bind(action)
    reason = operator if isinstance(operator, str) else binder.misfit(action, task.objects)
    return operator if reason is None else f"{show_atom(action)}: {reason}"


def _applicable(step: Step, state: Set[Atom], task: Task) -> list[Operator] | str:
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


def _interference(happening: list[Operator]) -> list[Operator] | str:
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


def _in_order(arguments: tuple[str, ...], parameters: tuple[str, ...]) -> tuple[str, ...]:
    """The arguments, sorted by the parameters' order where each is written ``name=object``."""
    named = dict(argument.split("=", 1) for argument in arguments if "=" in argument)
    if len(named) == len(arguments) == len(parameters) and all(name.lstrip("?") in named for name in parameters):
        return tuple(named[name.lstrip("?")].strip() for name in parameters)
    return arguments


def _listed(atoms: Iterable[Atom]) -> str:
    return " and ".join(show_atom(atom) for atom in sorted(atoms))
