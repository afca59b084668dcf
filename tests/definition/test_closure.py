"""cl(goal) for any domain: exact against the judge, by enumeration and by bounds, and never a guess between them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pddl_eval.definition import closure as goal_closure
from pddl_eval.definition.closure import ClosedGoal, closure
from pddl_eval.definition.domains import NotCovered, blocksworld, gripper, rover_single_stores
from pddl_eval.definition.model import Atom, Domain, Problem, State
from pddl_eval.definition.pddl import parse_domain, parse_problem
from pddl_eval.definition.planning.search import find_path, find_plan
from pddl_eval.definition.planning.task import GroundTask, ground
from pddl_eval.definition.validation import execute
from pddl_eval.definition.verdict import Undecided, Unsolvable

from tests.judges import exhaustive
from tests.support.ipc_domains import DOMAINS, PROBLEMS
from tests.support.random_tasks import as_the_judge_reads, random_task
from tests.support.towers import BLOCKS, blocks
from tests.support.volume import scaled

SHARED_PROBLEMS = Path(__file__).parents[3] / "shared" / "data" / "planetarium_problems.parquet"


@pytest.fixture
def no_enumeration(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave ``closure`` its bounds only, as if every state space were too large."""
    monkeypatch.setattr(goal_closure, "FEW_STATES", 0)
    monkeypatch.setattr(goal_closure, "MAX_STATES", 0)


def closed_goal(problem: Problem, domain: Domain) -> State | Unsolvable | Undecided:
    closed = closure(problem, domain)
    return closed.true if isinstance(closed, ClosedGoal) else closed


def judged(problem: Problem, domain: Domain) -> State | None:
    return exhaustive.closure(problem, as_the_judge_reads(domain))


def is_small(problem: Problem, domain: Domain) -> bool:
    return exhaustive.reachable(problem, as_the_judge_reads(domain), limit=1_000) is not None


def check_enumeration(problem: Problem, domain: Domain) -> None:
    if is_small(problem, domain):
        answer = closed_goal(problem, domain)
        assert isinstance(answer, Unsolvable) if judged(problem, domain) is None else answer == judged(problem, domain)


def check_bounds(problem: Problem, domain: Domain) -> bool:
    """True where the closure is undecided."""
    if not is_small(problem, domain):
        return False
    expected, decided = judged(problem, domain), closed_goal(problem, domain)
    task = ground(problem, domain)
    assert isinstance(task, GroundTask)
    goal = task.bits_of_goal(problem.goal)
    bounds = goal if isinstance(goal, Unsolvable) else goal_closure.closure_bounds(task, goal)
    if expected is None:
        assert isinstance(bounds, Unsolvable)
        assert isinstance(decided, Unsolvable)
    else:
        assert isinstance(bounds, tuple)
        assert task.state(bounds[0]) <= expected <= task.state(bounds[1])
        assert isinstance(decided, Undecided) or decided == expected
    return isinstance(decided, Undecided)


@settings(max_examples=scaled(60), deadline=None)
@given(st.integers(0, 10**9))
def test_enumeration_is_the_definition(seed: int) -> None:
    check_enumeration(*random_task(seed))


@pytest.mark.parametrize("name", sorted(DOMAINS))
def test_enumeration_is_the_definition_in_ipc_domains(name: str) -> None:
    for seed in range(60):
        check_enumeration(PROBLEMS[name](seed), DOMAINS[name])


def test_bounds_hold_and_meet(no_enumeration: None) -> None:
    """The rate of undecided random tasks is none in 300."""
    for seed in range(300):
        problem, domain = random_task(seed)
        assert not check_bounds(problem, domain), seed


@pytest.mark.parametrize("name", sorted(DOMAINS))
def test_bounds_meet_in_ipc_domains(name: str, no_enumeration: None) -> None:
    for seed in range(60):
        problem, domain = PROBLEMS[name](seed), DOMAINS[name]
        check_bounds(problem, domain)
        if is_small(problem, domain):
            assert not isinstance(closed_goal(problem, domain), Undecided)


def test_static_atoms_and_atoms_of_no_operator_are_in_the_closure() -> None:
    problem = PROBLEMS["ferry"](0)
    extra = replace(problem, init=problem.init | {("painted", "home", "blue")}, goal=frozenset())
    answer = closed_goal(extra, DOMAINS["ferry"])
    assert isinstance(answer, frozenset)
    assert ("painted", "home", "blue") in answer


def test_towers_too_large_to_enumerate_are_closed_as_their_own_rules_do() -> None:
    choose = Random(0)
    for seed in range(4):
        problem = blocks(seed, 12)
        goal = frozenset(atom for atom in sorted(problem.goal) if choose.random() < 0.5)
        problem = replace(problem, goal=goal)
        task = ground(problem, BLOCKS)
        assert isinstance(task, GroundTask)
        assert task.space.states(goal_closure.MAX_STATES) is None
        towers = blocksworld.read(problem)
        assert not isinstance(towers, NotCovered)
        chains = towers.goal(goal)
        assert not isinstance(chains, Unsolvable)
        assert closed_goal(problem, BLOCKS) == chains.closure


@pytest.mark.skipif(not SHARED_PROBLEMS.exists(), reason="the shared data is not here")
def test_every_rover_problem_of_the_benchmark_is_decided() -> None:
    import polars as pl

    rows = pl.read_parquet(SHARED_PROBLEMS).filter(pl.col("domain") == "rover-single")
    assert rows.height == 192
    domain = parse_domain(rover_single_stores.PDDL)
    for text in sorted(set(rows["problem_pddl"])):
        problem = parse_problem(text)
        plan, closed = find_plan(problem, domain), closed_goal(problem, domain)
        if isinstance(plan, tuple):
            assert isinstance(closed, frozenset)
            assert problem.goal <= closed <= execute([{action} for action in plan], problem, domain).state
        else:
            assert isinstance(plan, Unsolvable)
            assert isinstance(closed, Unsolvable)


# --- Plans: every one that is found executes, every "unsolvable" is the judge's too, large easy problems are easy


def assert_executes(plan: object, problem: Problem, domain: Domain) -> None:
    assert isinstance(plan, tuple)
    assert execute([{action} for action in plan], problem, domain).reaches_goal


@pytest.mark.parametrize("count", [5, 20, 40])
def test_rebuilds_towers(count: int) -> None:
    for seed in range(3):
        problem = blocks(seed, count)
        assert_executes(find_plan(problem, BLOCKS), problem, BLOCKS)


def test_a_missing_atom_among_twenty_blocks_is_planned_around_or_refuted() -> None:
    """What models forget: one ``clear`` of the initial state. The block can never be touched."""
    problem = blocks(7, 20)
    top = min(atom for atom in problem.init if atom[0] == "clear")
    broken = Problem("p", "blocksworld", problem.objects, problem.init - {top}, problem.goal)
    assert isinstance(find_plan(broken, BLOCKS), Unsolvable)
    untouched = {atom for atom in problem.init if top[1] in atom[1:]} - {top}
    easy = Problem("p", "blocksworld", problem.objects, broken.init, frozenset(untouched))
    assert find_plan(easy, BLOCKS) == ()


@pytest.mark.parametrize(
    "goal",
    [
        {("on", "b1", "b1")},
        {("on", "b1", "b2"), ("on", "b3", "b2")},
        {("on", "b1", "b2"), ("on", "b2", "b1")},
        {("on", "b1", "b2"), ("on", "b2", "b3"), ("on", "b3", "b1")},
        {("holding", "b1"), ("holding", "b2")},
        {("on", "b1", "table")},
    ],
)
def test_contradictory_goals_are_refuted_in_a_huge_state_space(goal: set[Atom]) -> None:
    start = blocks(0, 20)
    problem = Problem("p", "blocksworld", start.objects, start.init, frozenset(goal))
    assert isinstance(find_plan(problem, BLOCKS), Unsolvable)


def test_carries_thirty_balls_with_no_rules() -> None:
    domain = parse_domain(gripper.PDDL)
    balls = [f"ball{number}" for number in range(30)]
    init: set[Atom] = {("room", "a"), ("room", "b"), ("at-robby", "a"), ("gripper", "left"), ("free", "left")}
    init |= {(predicate, ball, *more) for ball in balls for predicate, *more in (["ball"], ["at", "a"])}
    objects = dict.fromkeys(["a", "b", "left", *balls], "object")
    problem = Problem("p", "gripper", objects, frozenset(init), frozenset(("at", ball, "b") for ball in balls))
    assert_executes(find_plan(problem, domain), problem, domain)


def test_atoms_can_be_asked_to_be_false() -> None:
    task = ground(Problem("p", "blocksworld", {"a": "object"}, frozenset({("holding", "a")}), frozenset()), BLOCKS)
    assert isinstance(task, GroundTask)
    path = find_path(task, task.initial, 0, task.bit["holding", "a"])
    assert isinstance(path, tuple)
    assert [operator.action for operator in path] == [("putdown", "a")]
    everywhere = task.bit["holding", "a"] | task.bit["on-table", "a"] | task.bit["on", "a", "a"]
    assert isinstance(find_path(task, task.initial, 0, everywhere), Unsolvable)


def test_a_limit_that_is_hit_is_undecided() -> None:
    problem = blocks(1, 20)
    task = ground(problem, BLOCKS)
    assert isinstance(task, GroundTask)
    goal = task.bits_of_goal(problem.goal)
    assert isinstance(goal, int)
    assert isinstance(find_path(task, task.initial, goal, 0, max_states=10), Undecided)


def check_plan(problem: Problem, domain: Domain) -> None:
    if exhaustive.reachable(problem, as_the_judge_reads(domain), limit=1_000) is None:
        return
    plan = find_plan(problem, domain)
    if exhaustive.solvable(problem, as_the_judge_reads(domain)):
        assert_executes(plan, problem, domain)
        assert isinstance(plan, tuple)
        end = exhaustive.state_after(problem, plan, as_the_judge_reads(domain))
        assert end is not None
        assert problem.goal <= end
    else:
        assert isinstance(plan, Unsolvable)


@settings(max_examples=scaled(80), deadline=None)
@given(st.integers(0, 10**9))
def test_random_tasks_are_solved_or_refuted_as_the_judge_does(seed: int) -> None:
    check_plan(*random_task(seed))


@pytest.mark.parametrize("name", sorted(DOMAINS))
def test_ipc_domains_are_solved_or_refuted_as_the_judge_does(name: str) -> None:
    for seed in range(60):
        check_plan(PROBLEMS[name](seed), DOMAINS[name])
