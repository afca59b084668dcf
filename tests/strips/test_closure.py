"""cl(goal) for any domain: exact against the judge, by enumeration and by bounds, and never a guess between them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pddl_eval.domains import blocksworld, gripper, rover_single
from pddl_eval.model import Domain, Problem, State
from pddl_eval.parsing import parse_domain, parse_problem
from pddl_eval.solve import execute
from pddl_eval.strips import closure as closure_module
from pddl_eval.strips.closure import ClosureBounds, Counterexample, bounds, closure, counterexample, implies
from pddl_eval.strips.reachable import closure_of_reachable
from pddl_eval.strips.search import find_plan
from pddl_eval.verdict import Undecided, Unsolvable

from tests import exhaustive
from tests.strips.ipc_domains import DOMAINS, PROBLEMS
from tests.strips.random_tasks import as_the_judge_reads, random_task
from tests.strips.towers import BLOCKS, blocks

SHARED_PROBLEMS = Path(__file__).parents[3] / "shared" / "data" / "planetarium_problems.parquet"


@pytest.fixture
def no_enumeration(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave ``closure`` its bounds only, as if every state space were too large."""
    monkeypatch.setattr(closure_module, "FEW_STATES", 0)
    monkeypatch.setattr(closure_module, "MAX_STATES", 0)


def judged(problem: Problem, domain: Domain) -> State | None:
    return exhaustive.closure(problem, as_the_judge_reads(domain))


def is_small(problem: Problem, domain: Domain) -> bool:
    return exhaustive.reachable(problem, as_the_judge_reads(domain), limit=1_000) is not None


def check_enumeration(problem: Problem, domain: Domain) -> None:
    if is_small(problem, domain):
        answer = closure_of_reachable(problem, domain)
        assert isinstance(answer, Unsolvable) if judged(problem, domain) is None else answer == judged(problem, domain)


def check_bounds(problem: Problem, domain: Domain) -> None:
    if not is_small(problem, domain):
        return
    expected = judged(problem, domain)
    answer = bounds(problem, domain)
    if expected is None:
        assert isinstance(answer, Unsolvable)
    else:
        assert isinstance(answer, ClosureBounds)
        assert answer.lower <= expected <= answer.upper
        decided = closure(problem, domain)
        assert isinstance(decided, Undecided) or decided == expected


def check_counterexample(problem: Problem, domain: Domain, choose: Random) -> None:
    if not is_small(problem, domain):
        return
    states = exhaustive.reachable(problem, as_the_judge_reads(domain)) or frozenset()
    asked = frozenset(choose.sample(sorted(frozenset().union(*states) | {("never",)}), 1))
    is_implied = all(asked <= state for state in states if problem.goal <= state)
    answer = counterexample(problem, domain, problem.goal, asked)
    if isinstance(answer, Counterexample):
        assert answer.state in states
        assert problem.goal <= answer.state
        assert answer.atom in asked - answer.state
        assert implies(problem, domain, problem.goal, asked) is False
    elif answer is None:
        assert is_implied
        assert implies(problem, domain, problem.goal, asked) is True
    else:
        assert implies(problem, domain, problem.goal, asked) == answer


@settings(max_examples=200, deadline=None)
@given(st.integers(0, 10**9))
def test_enumeration_is_the_definition(seed: int) -> None:
    check_enumeration(*random_task(seed))


@pytest.mark.parametrize("name", sorted(DOMAINS))
def test_enumeration_is_the_definition_in_ipc_domains(name: str) -> None:
    for seed in range(60):
        check_enumeration(PROBLEMS[name](seed), DOMAINS[name])


def test_bounds_hold_and_meet(no_enumeration: None) -> None:
    for seed in range(300):
        problem, domain = random_task(seed)
        check_bounds(problem, domain)
        check_counterexample(problem, domain, Random(seed))


@pytest.mark.parametrize("name", sorted(DOMAINS))
def test_bounds_meet_in_ipc_domains(name: str, no_enumeration: None) -> None:
    for seed in range(60):
        problem, domain = PROBLEMS[name](seed), DOMAINS[name]
        check_bounds(problem, domain)
        check_counterexample(problem, domain, Random(seed))
        if is_small(problem, domain):
            assert not isinstance(closure(problem, domain), Undecided)


def test_static_atoms_and_atoms_of_no_operator_are_in_the_closure() -> None:
    problem = PROBLEMS["ferry"](0)
    extra = replace(problem, init=problem.init | {("painted", "home", "blue")}, goal=frozenset())
    answer = closure(extra, DOMAINS["ferry"])
    assert isinstance(answer, frozenset)
    assert ("painted", "home", "blue") in answer


def test_towers_too_large_to_enumerate_are_closed_as_their_own_rules_do() -> None:
    choose = Random(0)
    for seed in range(4):
        problem = blocks(seed, 12)
        goal = frozenset(atom for atom in sorted(problem.goal) if choose.random() < 0.5)
        problem = replace(problem, goal=goal)
        assert isinstance(closure_of_reachable(problem, BLOCKS), Undecided)
        assert closure(problem, BLOCKS) == blocksworld.fully_specify(problem)


def test_a_separating_state_proves_that_goals_differ() -> None:
    problem = blocks(0, 12)
    given, asked = frozenset({("on", "b1", "b2")}), frozenset({("on-table", "b2")})
    answer = counterexample(problem, BLOCKS, given, asked)
    assert isinstance(answer, Counterexample)
    assert answer.atom == ("on-table", "b2")
    assert given <= answer.state
    assert implies(problem, BLOCKS, given, asked) is False
    assert implies(problem, BLOCKS, frozenset({("holding", "b1")}), frozenset()) is True


def test_nothing_reachable_implies_everything() -> None:
    problem = blocks(0, 12)
    never = frozenset({("on", "b1", "b1")})
    assert implies(problem, BLOCKS, never, frozenset({("holding", "b2")})) is True


def test_a_planner_from_outside_is_asked_where_the_search_gives_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(closure_module, "find_path", lambda *_, **__: Undecided("no search today"))
    monkeypatch.setattr(closure_module, "FEW_STATES", 0)
    asked_for = []

    def reach(problem: Problem, domain: Domain, without: frozenset[tuple[str, ...]]) -> State | Unsolvable | Undecided:
        asked_for.append((problem.goal, without))
        plan = find_plan(problem, domain, without=without)
        return execute(plan, problem, domain).state if isinstance(plan, tuple) else plan

    domain = parse_domain(gripper.PDDL)
    init = {("room", "a"), ("gripper", "g"), ("free", "g"), ("ball", "o"), ("at", "o", "a"), ("at-robby", "a")}
    objects = dict.fromkeys(["a", "g", "o"], "object")
    problem = Problem("p", "gripper", objects, frozenset(init), frozenset({("free", "g")}))
    assert closure(problem, domain, reach) == frozenset(init)
    assert asked_for[0][1] == frozenset()
    assert isinstance(closure(replace(problem, goal=frozenset({("carry", "o", "g")})), domain), frozenset)


@pytest.mark.skipif(not SHARED_PROBLEMS.exists(), reason="the shared data is not here")
def test_every_rover_problem_of_the_benchmark_is_decided() -> None:
    import polars as pl

    rows = pl.read_parquet(SHARED_PROBLEMS).filter(pl.col("domain") == "rover-single")
    assert rows.height == 192
    domain = parse_domain(rover_single.PDDL)
    for text in sorted(set(rows["problem_pddl"])):
        problem = parse_problem(text)
        plan, closed = find_plan(problem, domain), closure(problem, domain)
        if isinstance(plan, tuple):
            assert isinstance(closed, frozenset)
            assert problem.goal <= closed <= execute(plan, problem, domain).state
        else:
            assert isinstance(plan, Unsolvable)
            assert isinstance(closed, Unsolvable)
