"""The definitions of predictive power and random walks written out, and mutants of domains.

Steps and states are those of the interpreter.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace

from pddl_eval.definition.model import Action, Domain, Operator, Problem, State

from tests.judges import exhaustive
from tests.support.random_tasks import as_the_judge_reads


def plain_name(name: str) -> str:
    return name.lower().replace("_", "-")


def steps(domain: Domain, problem: Problem) -> Callable[[State], dict[str, dict[tuple[str, ...], State]]]:
    """What each operator can do in any state: its arguments, and the state after it."""
    # One operator more that changes everything: the states are another domain's, so that no atom is static.
    atoms = frozenset(atom for each in domain.operators for part in each.parts for atom in part if atom[0] != "=")
    every = Operator("", (), frozenset(), frozenset(), atoms, frozenset())
    possible = exhaustive.steps(problem, as_the_judge_reads(replace(domain, operators=(*domain.operators, every))))

    def here(state: State) -> dict[str, dict[tuple[str, ...], State]]:
        found: dict[str, dict[tuple[str, ...], State]] = {
            name: {} for name in ["", *(o.name for o in domain.operators)]
        }
        for (name, *arguments), after in possible(state).items():
            found[name][tuple(arguments)] = after
        del found[""]
        return found

    return here


def predictive_power(reference: Domain, generated: Domain, problem: Problem, states: list[State]) -> list[float]:
    """AMLGym's counts, state by state and action by action."""
    ours, theirs = (
        [here(state) for state in states] for here in (steps(reference, problem), steps(generated, problem))
    )
    said = [{plain_name(name): found for name, found in each.items()} for each in theirs]
    ratios = []
    for name in (each.name for each in reference.operators):
        tp = fp = fn = right = wrong = missed = 0
        for state, true_steps, said_steps in zip(states, ours, said, strict=True):
            first, second = true_steps[name], said_steps.get(plain_name(name), {})
            both = first.keys() & second
            tp, fp, fn = tp + len(both), fp + len(second) - len(both), fn + len(first) - len(both)
            for arguments in both:
                true, claimed = first[arguments] ^ state, second[arguments] ^ state
                right, wrong, missed = (
                    right + len(true & claimed), wrong + len(claimed - true), missed + len(true - claimed)
                )  # fmt: skip
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


def random_walks(problem: Problem, domain: Domain, walks: int, length: int, seed: int) -> list[State]:
    """The states that ``definition.states`` says it visits, in their order."""
    chance = random.Random(seed)
    here = steps(domain, problem)
    seen = [problem.init]
    for _ in range(walks):
        state = problem.init
        for _ in range(length):
            choices = [found for _, found in sorted(here(state).items()) if found]
            if not choices:
                break
            found = choices[int(chance.random() * len(choices))]
            state = found[sorted(found)[int(chance.random() * len(found))]]
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
