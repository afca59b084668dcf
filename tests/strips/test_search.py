"""Plans: every one that is found executes, every "unsolvable" is the judge's too, and easy large problems are easy."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pddl_eval.definition.domains import gripper
from pddl_eval.definition.model import Atom, Domain, Problem
from pddl_eval.definition.pddl import parse_domain
from pddl_eval.definition.planning.search import find_path, find_plan
from pddl_eval.definition.planning.task import GroundTask, ground
from pddl_eval.definition.validation import execute
from pddl_eval.definition.verdict import Undecided, Unsolvable

from tests import exhaustive
from tests.strips.ipc_domains import DOMAINS, PROBLEMS
from tests.strips.random_tasks import as_the_judge_reads, random_task
from tests.strips.towers import BLOCKS, blocks


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


@settings(max_examples=80, deadline=None)
@given(st.integers(0, 10**9))
def test_random_tasks_are_solved_or_refuted_as_the_judge_does(seed: int) -> None:
    check_plan(*random_task(seed))


@pytest.mark.parametrize("name", sorted(DOMAINS))
def test_ipc_domains_are_solved_or_refuted_as_the_judge_does(name: str) -> None:
    for seed in range(60):
        check_plan(PROBLEMS[name](seed), DOMAINS[name])
