"""Execution: a step applies exactly when the definition says so, and the first that does not is named."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pddl_eval.model import Problem
from pddl_eval.parsing import parse_domain
from pddl_eval.solve.execute import execute

from tests import exhaustive
from tests.strips.random_tasks import as_the_judge_reads, random_task

DOMAIN = parse_domain("""
(define (domain ferry) (:types port car) (:constants home - port)
  (:action sail :parameters (?a ?b - port)
    :precondition (and (ferry ?a) (not (= ?a ?b)) (not (moored))) :effect (and (ferry ?b) (not (ferry ?a))))
  (:action wait :parameters (?a ?b - port) :precondition (= ?a ?b))
  (:action swap :parameters (?a ?b - port) :effect (and (ferry ?a) (not (ferry ?b)))))
""")
OBJECTS = {"north": "port", "mini": "car"}
PROBLEM = Problem("p", "ferry", OBJECTS, frozenset({("ferry", "home")}), frozenset({("ferry", "north")}))


def test_a_plan_that_reaches_the_goal() -> None:
    execution = execute([("sail", "home", "north")], PROBLEM, DOMAIN)
    assert execution.state == {("ferry", "north")}
    assert (execution.failed_step, execution.reason, execution.reaches_goal) == (None, None, True)


def test_a_plan_that_does_not_reach_the_goal() -> None:
    execution = execute([], PROBLEM, DOMAIN)
    assert execution.state == PROBLEM.init
    assert (execution.failed_step, execution.reason, execution.reaches_goal) == (None, None, False)


@pytest.mark.parametrize(
    ("action", "reason"),
    [
        (("fly", "home", "north"), "the domain has no operator fly"),
        (("sail", "home"), "sail takes 2 arguments, not 1"),
        (("sail", "home", "south"), "there is no object south"),
        (("sail", "home", "mini"), "mini is no port"),
        (("sail", "home", "home"), "it needs two different objects, not home twice"),
        (("wait", "home", "north"), "home and north must be the same"),
        (("sail", "north", "home"), "(ferry north) is not true"),
    ],
)
def test_a_step_that_does_not_apply_is_named(action: tuple[str, ...], reason: str) -> None:
    execution = execute([("sail", "home", "north"), ("sail", "north", "home"), action], PROBLEM, DOMAIN)
    assert execution.failed_step == 2
    assert execution.reason == f"step 2, ({' '.join(action)}): {reason}"
    assert execution.state == PROBLEM.init
    assert not execution.reaches_goal


def test_a_negative_precondition_that_is_true() -> None:
    moored = Problem("p", "ferry", OBJECTS, PROBLEM.init | {("moored",)}, PROBLEM.goal)
    assert execute([("sail", "home", "north")], moored, DOMAIN).reason == "step 0, (sail home north): (moored) is true"


def test_what_is_deleted_and_added_is_added() -> None:
    assert execute([("swap", "home", "home")], PROBLEM, DOMAIN).state == {("ferry", "home")}


def test_types_can_be_ignored() -> None:
    assert execute([("sail", "home", "mini")], PROBLEM, DOMAIN, typed=False).state == {("ferry", "mini")}


def test_an_undeclared_type_asks_for_any_object() -> None:
    domain = parse_domain("(define (domain d) (:action a :parameters (?x - thing) :effect (p ?x)))")
    assert execute([("a", "mini")], PROBLEM, domain).state >= {("p", "mini")}


@settings(max_examples=200, deadline=None)
@given(st.integers(0, 10**9))
def test_random_walks_go_as_the_judge_says(seed: int) -> None:
    problem, domain = random_task(seed)
    choose = Random(seed)
    names = sorted({**problem.objects, **domain.constants})
    plan = []
    for _ in range(6):
        operator = choose.choice(domain.operators)
        plan.append((operator.name, *(choose.choice(names) for _ in operator.parameters)))
    execution = execute(plan, problem, domain)
    done = plan if execution.failed_step is None else plan[: execution.failed_step]
    assert exhaustive.state_after(problem, done, as_the_judge_reads(domain)) == execution.state
    if execution.failed_step is not None:
        failing = plan[: execution.failed_step + 1]
        assert exhaustive.state_after(problem, failing, as_the_judge_reads(domain)) is None
        assert not execution.reaches_goal
    else:
        assert execution.reaches_goal == (problem.goal <= execution.state)
