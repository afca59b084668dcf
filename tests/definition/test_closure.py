"""cl(goal) and plans for any STRIPS domain: by enumeration, exact against the judge, or undecided."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pddl_eval.definition.closure import ClosedGoal, closure
from pddl_eval.definition.domains import PlanningDomain
from pddl_eval.definition.model import Action, Atom, Domain, Problem, State
from pddl_eval.definition.planning import Solution, solve
from pddl_eval.definition.state_space import state_space
from pddl_eval.definition.validation import execute
from pddl_eval.definition.verdict import Undecided, Unsolvable

from tests.judges import exhaustive
from tests.support.ipc_domains import DOMAINS, PROBLEMS
from tests.support.random_tasks import as_the_judge_reads, random_task
from tests.support.towers import BLOCKS, blocks
from tests.support.volume import scaled


def closed_goal(problem: Problem, domain: Domain) -> State | Unsolvable | Undecided:
    closed = closure(problem, state_space(problem, domain))
    return closed.true if isinstance(closed, ClosedGoal) else closed


def plan_of(problem: Problem, domain: Domain, lacking: Atom | None = None) -> object:
    found = solve(problem, PlanningDomain(domain), lacking=lacking)
    return found.plan if isinstance(found, Solution) else found


def judged(problem: Problem, domain: Domain) -> State | None:
    return exhaustive.closure(problem, as_the_judge_reads(domain))


def is_small(problem: Problem, domain: Domain) -> bool:
    return exhaustive.reachable(problem, as_the_judge_reads(domain), limit=1_000) is not None


def check_enumeration(problem: Problem, domain: Domain) -> None:
    if is_small(problem, domain):
        answer = closed_goal(problem, domain)
        assert isinstance(answer, Unsolvable) if judged(problem, domain) is None else answer == judged(problem, domain)


@settings(max_examples=scaled(60), deadline=None)
@given(st.integers(0, 10**9))
def test_enumeration_is_the_definition(seed: int) -> None:
    check_enumeration(*random_task(seed))


@pytest.mark.parametrize("name", sorted(DOMAINS))
def test_enumeration_is_the_definition_in_ipc_domains(name: str) -> None:
    for seed in range(20):
        check_enumeration(PROBLEMS[name](seed), DOMAINS[name])


def test_static_atoms_and_atoms_of_no_operator_are_in_the_closure() -> None:
    problem = PROBLEMS["ferry"](0)
    extra = replace(problem, init=problem.init | {("painted", "home", "blue")}, goal=frozenset())
    answer = closed_goal(extra, DOMAINS["ferry"])
    assert isinstance(answer, frozenset)
    assert ("painted", "home", "blue") in answer


def judged_plan(problem: Problem, domain: Domain) -> tuple[Action, ...] | None:
    """From the initial state always the alphabetically first action that comes nearer to the goal."""
    steps_in = exhaustive.steps(problem, domain)
    states = exhaustive.reachable(problem, domain) or frozenset()
    after = {state: sorted(steps_in(state).items()) for state in states}
    distance = {state: 0 for state in states if problem.goal <= state}
    for steps in range(len(states)):
        near = {state for state, found in distance.items() if found == steps}
        distance |= {s: steps + 1 for s in states - distance.keys() if any(then in near for _, then in after[s])}
    if problem.init not in distance:
        return None
    state, plan = problem.init, list[Action]()
    while distance[state]:
        action, state = next(each for each in after[state] if distance.get(each[1]) == distance[state] - 1)
        plan.append(action)
    return tuple(plan)


def check_plan(problem: Problem, domain: Domain) -> None:
    if is_small(problem, domain):
        plan = plan_of(problem, domain)
        expected = judged_plan(problem, as_the_judge_reads(domain))
        if expected is None:
            assert isinstance(plan, Unsolvable)
        else:
            assert plan == expected
            assert execute([{action} for action in expected], problem, domain).reaches_goal


@settings(max_examples=scaled(80), deadline=None)
@given(st.integers(0, 10**9))
def test_plans_are_the_shortest_and_the_first_of_these(seed: int) -> None:
    check_plan(*random_task(seed))


@pytest.mark.parametrize("name", sorted(DOMAINS))
def test_plans_in_ipc_domains_are_the_shortest_and_the_first_of_these(name: str) -> None:
    for seed in range(8):
        check_plan(PROBLEMS[name](seed), DOMAINS[name])


def test_atoms_can_be_asked_to_be_false() -> None:
    held = Problem("p", "blocksworld", {"a": "object"}, frozenset({("holding", "a")}), frozenset())
    assert plan_of(held, BLOCKS, ("holding", "a")) == (("putdown", "a"),)
    nowhere = [(":goal", ("not", atom)) for atom in (("holding", "a"), ("on-table", "a"), ("on", "a", "a"))]
    assert isinstance(plan_of(replace(held, formulas=tuple(nowhere)), BLOCKS), Unsolvable)


def test_a_limit_that_is_hit_is_undecided(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = blocks(1, 20)
    monkeypatch.setattr("pddl_eval.definition.state_space.MAX_STATES", 100)
    assert isinstance(plan_of(problem, BLOCKS), Undecided)
    assert isinstance(closed_goal(problem, BLOCKS), Undecided)
    # A plan that is near is found all the same.
    near = min(atom for atom in problem.init if atom[0] == "clear")
    assert plan_of(replace(problem, goal=frozenset({("holding", near[1])})), BLOCKS) is not None
