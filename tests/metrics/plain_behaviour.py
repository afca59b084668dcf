"""The definitions of predictive power, plan exchange and random walks written out, to compare the program with.

Nothing of the program is used but the values that it reads: every action over all tuples of objects is tried in every
state, and states are sets of atoms. ``mutated`` makes domains that differ.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import product

from pddl_eval.definition.model import Domain, Operator, Problem

State = frozenset[tuple[str, ...]]
Action = tuple[str, ...]


@dataclass(frozen=True)
class Act:
    """A ground action."""

    needs: State
    avoids: State
    adds: State
    deletes: State

    def applies(self, state: State) -> bool:
        return self.needs.issubset(state) and not self.avoids.intersection(state)

    def result(self, state: State) -> State:
        return frozenset(state.difference(self.deletes).union(self.adds))


def is_a(type_: str, wanted: str, domain: Domain) -> bool:
    """A type is each of its ancestors; undeclared types are ``object``."""
    if wanted == "object" or wanted not in domain.types:
        return True
    for _ in range(len(domain.types) + 1):
        if type_ == wanted:
            return True
        type_ = domain.types.get(type_, "object")
    return False


def actions(operator: Operator, problem: Problem, domain: Domain) -> Iterator[tuple[Action, Act]]:
    """All ground actions of an operator whose arguments have the right types and satisfy its equations."""
    objects = dict(problem.objects)
    objects.update(domain.constants)
    fitting = [
        sorted(name for name, kind in objects.items() if any(is_a(kind, wanted, domain) for wanted in types))
        for _, types in operator.parameters
    ]
    for arguments in product(*fitting):
        act = instance(operator, arguments)
        if act is not None:
            yield arguments, act


def instance(operator: Operator, arguments: Action) -> Act | None:
    value = dict(zip((name for name, _ in operator.parameters), arguments, strict=True))
    parts = []
    for number, part in enumerate(operator.parts):
        ground = {(atom[0], *(value.get(term, term) for term in atom[1:])) for atom in part}
        equations = {atom for atom in ground if atom[0] == "="}
        if number < 2 and any((atom[1] == atom[2]) == bool(number) for atom in equations):
            return None
        parts.append(frozenset(ground - equations))
    return Act(*parts)


def plain_name(name: str) -> str:
    return name.lower().replace("_", "-")


def predictive_power(reference: Domain, generated: Domain, problem: Problem, states: list[State]) -> list[float]:
    """AMLGym's counts, action by action and state by state."""
    ratios = []
    for operator in reference.operators:
        ours = dict(actions(operator, problem, reference))
        theirs: dict[Action, Act] = {}
        for other in generated.operators:
            if plain_name(other.name) == plain_name(operator.name):
                theirs = dict(actions(other, problem, generated))
        tp = fp = fn = right = wrong = missed = 0
        for state in states:
            first = {arguments for arguments, act in ours.items() if act.applies(state)}
            second = {arguments for arguments, act in theirs.items() if act.applies(state)}
            tp, fp, fn = tp + len(first & second), fp + len(second - first), fn + len(first - second)
            for arguments in first & second:
                true, said = ours[arguments].result(state) ^ state, theirs[arguments].result(state) ^ state
                right, wrong, missed = right + len(true & said), wrong + len(said - true), missed + len(true - said)
        never = tp + fn > 0 and tp == 0
        recall = 0.0 if never else right / (right + missed) if right + missed else 1.0
        ratios.append(
            (
                tp / (tp + fp) if tp + fp else 1.0,
                tp / (tp + fn) if tp + fn else 1.0,
                right / (right + wrong) if right + wrong else 1.0,
                recall,
            )
        )
    return [sum(column) / len(ratios) for column in zip(*ratios, strict=True)]


def random_walks(problem: Problem, domain: Domain, walks: int, steps: int, seed: int) -> list[State]:
    """The states that ``strips.sampled_states`` says it visits, in their order."""
    chance = random.Random(seed)
    possible = {
        operator.name: sorted(actions(operator, problem, domain), key=lambda each: each[0])
        for operator in domain.operators
    }
    seen = [problem.init]
    for _ in range(walks):
        state = problem.init
        for _ in range(steps):
            here = {name: [act for _, act in acts if act.applies(state)] for name, acts in sorted(possible.items())}
            choices = [acts for acts in here.values() if acts]
            if not choices:
                break
            acts = choices[int(chance.random() * len(choices))]
            state = acts[int(chance.random() * len(acts))].result(state)
            if state not in seen:
                seen.append(state)
    return seen


def is_plan(plan: tuple[Action, ...], problem: Problem, domain: Domain) -> bool:
    """Every step applies and the goal holds at the end."""
    state = problem.init
    for name, *arguments in plan:
        acts = {
            action: act
            for each in domain.operators
            if each.name == name
            for action, act in actions(each, problem, domain)
        }
        act = acts.get(tuple(arguments))
        if act is None or not act.applies(state):
            return False
        state = act.result(state)
    return problem.goal.issubset(state)


def reachable(problem: Problem, domain: Domain, limit: int = 300) -> set[State] | None:
    """All reachable states, None where there are more than so many."""
    acts = [act for operator in domain.operators for _, act in actions(operator, problem, domain)]
    seen, queue = {problem.init}, [problem.init]
    for state in queue:
        for act in acts:
            if act.applies(state) and (after := act.result(state)) not in seen:
                seen.add(after)
                queue.append(after)
        if len(seen) > limit:
            return None
    return seen


def mutated(domain: Domain, seed: int) -> Domain:
    """The domain after one to three changes: a literal lost, added or turned, an operator lost, a type widened …"""
    choose = random.Random(seed)
    operators = list(domain.operators)
    for _ in range(choose.randint(1, 3)):
        place = choose.randrange(len(operators))
        operator = operators[place]
        change = choose.choice(("lose", "lose", "lose", "add", "turn", "type", "name", "operator", "parameter"))
        parts = [set(part) for part in operator.parts]
        part = choose.randrange(4)
        atoms = sorted(atom for each in operators for group in each.parts for atom in group)
        if change in ("lose", "turn") and parts[part]:
            atom = choose.choice(sorted(parts[part]))
            parts[part].remove(atom)
            if change == "turn":
                parts[part].add((atom[0], *reversed(atom[1:])))
        elif change == "add" and atoms:
            terms = [*operator.action[1:], *domain.constants]
            atom = choose.choice(atoms)
            if atom[0] != "=" and (terms or len(atom) == 1):
                parts[part].add((atom[0], *(choose.choice(terms) for _ in atom[1:])))
        parameters = list(operator.parameters)
        if change == "type" and parameters:
            index = choose.randrange(len(parameters))
            parameters[index] = (parameters[index][0], (choose.choice(["object", *domain.types]),))
        if change == "parameter":
            parameters.append(("?more", (choose.choice(["object", *domain.types]),)))
        operators[place] = Operator(
            operator.name.replace("-", "_") + ("x" if change == "name" and choose.random() < 0.5 else ""),
            tuple(dict(parameters).items()),
            *map(frozenset, parts),
        )
        if change == "operator" and len(operators) > 1:
            operators.pop(place)
    return replace(domain, operators=tuple(operators))
