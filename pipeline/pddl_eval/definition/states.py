"""The states that random walks visit, and the actions that apply in each: what domains are compared by."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from math import prod
from random import Random

from pddl_eval.definition.budget import spend
from pddl_eval.definition.grounding import OBJECTS_PER_WORK, GroundingLimitError, objects_that_fit, reachable_operators
from pddl_eval.definition.model import Atom, Domain, Operator, Problem, State
from pddl_eval.definition.verdict import Undecided

WALKS = 20
STEPS = 25
SEED = 0

VisitedStates = Mapping[State, Sequence[Operator]]
"""States in the order in which they were visited first, each with the instances of operators that apply in it."""


def visited_states(problem: Problem, domain: Domain) -> VisitedStates | Undecided:
    """The states on ``WALKS`` random walks from the initial state, each of at most ``STEPS`` steps, that included.

    A step chooses an operator among those that have applicable instances, then one of these, both in alphabetical
    order of the action and with equal chances: the element at ``int(len * random())`` of ``random.Random(SEED)``. One
    generator serves all walks. Choosing the operator first lets also those be seen that have few instances. A walk ends
    where nothing applies. ``Undecided`` where a bound of ``grounding`` is hit or the domain is not STRIPS.

    >>> from pddl_eval.definition.pddl import parse_domain
    >>> lamp = parse_domain("(define (domain d) (:action switch :precondition (off) :effect (and (on) (not (off)))))")
    >>> [*visited_states(Problem("p", "d", {}, frozenset({("off",)}), frozenset()), lamp)]
    [frozenset({('off',)}), frozenset({('on',)})]
    """
    if domain.outside_strips:
        return Undecided(f"the domain is not STRIPS ({domain.outside_strips[0]})")
    try:
        operators = reachable_operators({**problem.objects, **domain.constants}, problem.init, domain)
    except GroundingLimitError as limit:
        return Undecided(str(limit))
    operators.sort(key=lambda operator: operator.action)
    chance = Random(SEED).random
    visited: dict[State, list[Operator]] = {}
    for _ in range(WALKS):
        state = problem.init
        for step in range(STEPS + 1):
            if state not in visited:
                visited[state] = [operator for operator in operators if operator.applicable(state)]
                spend(1 + len(operators))
            if step == STEPS or not visited[state]:
                break
            by_name = [[*instances] for _, instances in groupby(visited[state], key=lambda each: each.name)]
            instances = by_name[int(len(by_name) * chance())]
            state = instances[int(len(instances) * chance())].apply(state)
    return visited


def count_applicable(domain: Domain, objects: Mapping[str, str], visited: VisitedStates) -> Mapping[str, int]:
    """For each operator of a domain, the number of pairs of a visited state and an instance that applies in it.

    The instances themselves are not listed where parameters are in no precondition: these multiply the number. The
    domain's operators have different names. Raises ``GroundingLimitError``.
    """
    conditions, factor = [], {}
    for operator in domain.operators:
        asked = {term for part in operator.parts[:2] for atom in part for term in atom[1:]}
        free = [types for name, types in operator.parameters if name not in asked]
        factor[operator.name] = prod(len(objects_that_fit(objects, types, domain)) for types in free)
        parameters = tuple(each for each in operator.parameters if each[0] in asked)
        if factor[operator.name]:
            nothing = frozenset[Atom]()
            conditions.append(replace(operator, parameters=parameters, add_effects=nothing, delete_effects=nothing))
        spend(1 + len(objects) * len(free) // OBJECTS_PER_WORK)
    count = dict.fromkeys(factor, 0)
    once_true = frozenset[Atom]().union(*visited)
    for ground in reachable_operators(objects, once_true, replace(domain, operators=tuple(conditions))):
        count[ground.name] += sum(map(ground.applicable, visited))
        spend(len(visited))
    return {name: number * factor[name] for name, number in count.items()}
