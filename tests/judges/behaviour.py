"""The definitions of predictive power and random walks written out, and mutants of domains.

Actions and states are those of ``tests.judges.exhaustive``, which shares no code with the program.
"""

from __future__ import annotations

import random
from dataclasses import replace

from pddl_eval.definition.model import Action, Domain, Operator, Problem, State

from tests.judges import exhaustive
from tests.judges.exhaustive import GroundOperator
from tests.support.random_tasks import as_the_judge_reads


def plain_name(name: str) -> str:
    return name.lower().replace("_", "-")


def actions(domain: Domain, problem: Problem) -> dict[str, dict[tuple[str, ...], GroundOperator]]:
    """The ground actions of each operator, by their arguments."""
    found: dict[str, dict[tuple[str, ...], GroundOperator]] = {each.name: {} for each in domain.operators}
    # One operator more that changes everything: the states are another domain's, so that no atom is static.
    atoms = frozenset(atom for each in domain.operators for part in each.parts for atom in part if atom[0] != "=")
    every = Operator("", (), frozenset(), frozenset(), atoms, frozenset())
    free = as_the_judge_reads(replace(domain, operators=(*domain.operators, every)))
    for ground in exhaustive.ground_operators(problem, free)[:-1]:
        found[ground.action[0]][ground.action[1:]] = ground
    return found


def predictive_power(reference: Domain, generated: Domain, problem: Problem, states: list[State]) -> list[float]:
    """AMLGym's counts, action by action and state by state."""
    ratios = []
    said_by = {plain_name(name): ground for name, ground in actions(generated, problem).items()}
    for name, ours in actions(reference, problem).items():
        theirs = said_by.get(plain_name(name), {})
        tp = fp = fn = right = wrong = missed = 0
        for state in states:
            first = {arguments for arguments, act in ours.items() if act.applicable(state)}
            second = {arguments for arguments, act in theirs.items() if act.applicable(state)}
            tp, fp, fn = tp + len(first & second), fp + len(second - first), fn + len(first - second)
            for arguments in first & second:
                true, said = ours[arguments].apply(state) ^ state, theirs[arguments].apply(state) ^ state
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
        name: [ground[arguments] for arguments in sorted(ground)] for name, ground in actions(domain, problem).items()
    }
    seen = [problem.init]
    for _ in range(walks):
        state = problem.init
        for _ in range(steps):
            here = {name: [act for act in acts if act.applicable(state)] for name, acts in sorted(possible.items())}
            choices = [acts for acts in here.values() if acts]
            if not choices:
                break
            acts = choices[int(chance.random() * len(choices))]
            state = acts[int(chance.random() * len(acts))].apply(state)
            if state not in seen:
                seen.append(state)
    return seen


def is_plan(plan: tuple[Action, ...], problem: Problem, domain: Domain) -> bool:
    """Every step applies and the goal holds at the end."""
    end = exhaustive.state_after(problem, plan, as_the_judge_reads(domain))
    return end is not None and problem.goal <= end


def reachable(problem: Problem, domain: Domain) -> frozenset[State] | None:
    """All reachable states, None where there are more than 300."""
    return exhaustive.reachable(problem, as_the_judge_reads(domain), limit=300)


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
