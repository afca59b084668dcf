"""Plans: every one that is found executes, every "unsolvable" is the judge's too, and easy large problems are easy."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pddl_eval.domains import gripper
from pddl_eval.model import Atom, Domain, Problem
from pddl_eval.parsing import parse_domain
from pddl_eval.solve import execute
from pddl_eval.strips.search import find_plan
from pddl_eval.verdict import Undecided, Unsolvable

from tests import exhaustive
from tests.strips.ipc_domains import DOMAINS, PROBLEMS
from tests.strips.random_tasks import as_the_judge_reads, random_task
from tests.strips.towers import BLOCKS, blocks


def assert_executes(plan: object, problem: Problem, domain: Domain) -> None:
    assert isinstance(plan, tuple)
    assert execute(plan, problem, domain).reaches_goal


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
    problem = Problem("p", "blocksworld", {"a": "object"}, frozenset({("holding", "a")}), frozenset())
    assert find_plan(problem, BLOCKS, without=frozenset({("holding", "a")})) == (("putdown", "a"),)
    everywhere = frozenset({("holding", "a"), ("on-table", "a"), ("on", "a", "a")})
    assert isinstance(find_plan(problem, BLOCKS, without=everywhere), Unsolvable)
    static = Problem("p", "blocksworld", {"a": "object"}, frozenset({("red", "a")}), frozenset())
    assert isinstance(find_plan(static, BLOCKS, without=frozenset({("red", "a")})), Unsolvable)


def test_a_limit_that_is_hit_is_undecided() -> None:
    assert isinstance(find_plan(blocks(1, 20), BLOCKS, max_effort=10), Undecided)


def test_the_plan_does_not_depend_on_the_hash_seed() -> None:
    script = (
        "from tests.strips.test_search import *\n"
        "print(find_plan(blocks(3, 12), BLOCKS), [find_plan(PROBLEMS[n](5), DOMAINS[n]) for n in DOMAINS])"
    )
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    plans = [
        subprocess.run(
            [sys.executable, "-c", script], env={**environment, "PYTHONHASHSEED": seed}, capture_output=True, check=True
        ).stdout
        for seed in ("1", "2")
    ]
    assert plans[0] == plans[1]
    assert b"stack" in plans[0]


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


@settings(max_examples=300, deadline=None)
@given(st.integers(0, 10**9))
def test_random_tasks_are_solved_or_refuted_as_the_judge_does(seed: int) -> None:
    check_plan(*random_task(seed))


@pytest.mark.parametrize("name", sorted(DOMAINS))
def test_ipc_domains_are_solved_or_refuted_as_the_judge_does(name: str) -> None:
    for seed in range(60):
        check_plan(PROBLEMS[name](seed), DOMAINS[name])
