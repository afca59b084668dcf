"""The first fault of a plan, how far it gets, and what it costs."""

from __future__ import annotations

import pytest
from pddl_eval import compare_plans
from pddl_eval.definition.budget import OutOfBudgetError, looked_after, or_undecided
from pddl_eval.definition.metrics import PLAN, PlanPair
from pddl_eval.definition.options import ScoringOptions
from pddl_eval.definition.plans import read_plan
from pddl_eval.definition.task import Task, task_of
from pddl_eval.definition.verdict import PlanVerdict, Undecided

TOWER = """(define (problem p) (:domain blocksworld) (:objects a b c)
  (:init (arm-empty) (on-table a) (on-table b) (on-table c) (clear a) (clear b) (clear c))
  (:goal (and (on a b) (on b c))))"""
RIGHT = "(pickup b)(stack b c)(pickup a)(stack a b)"

FACTS = {
    # plan: verdict, executable_share, goal_share, plan_cost
    RIGHT: ("valid", 1.0, 1.0, 4.0),
    "(pickup b)(stack b c)": ("goal_not_reached", 1.0, 0.5, None),
    "(pickup b)(stack b c)(stack a b)": ("precondition", 2 / 3, 0.5, None),
    "(pickup b)(stack b c)(pickup d)": ("wrong_arguments", 2 / 3, 0.5, None),
    "(pickup b)(stack b)": ("wrong_arguments", 0.5, 0.0, None),
    "(fly b)(pickup b)": ("unknown_action", 0.0, 0.0, None),
    "pickup(b)\nstack(b c\npickup(a)": ("unreadable", 1 / 3, 0.0, None),
    "{pickup(a), pickup(b)}": ("interference", 0.0, 0.0, None),
    "[]": ("goal_not_reached", 1.0, 0.0, None),
    "": ("empty", 0.0, 0.0, None),
    "I cannot.": ("unreadable", 0.0, 0.0, None),
}


@pytest.mark.parametrize("plan", FACTS)
def test_facts(plan: str) -> None:
    scores = compare_plans(RIGHT, plan, problem=TOWER)
    found = scores.plan_verdict, scores.executable_share, scores.goal_share, scores.plan_cost
    assert found == FACTS[plan]
    assert scores.reference_plan_cost == 4.0
    assert (scores.plan_valid is True) == (scores.plan_verdict == PlanVerdict.VALID)


def test_a_reference_that_uses_up_the_budget_leaves_the_answer_its_verdict() -> None:
    looks = 0

    def look() -> None:
        nonlocal looks
        looks += 1
        if looks > 5:
            raise OutOfBudgetError

    task = task_of(TOWER, for_plans=True)
    assert isinstance(task, Task)
    reference, answer = (read_plan("(pickup a)(putdown a)" * many + RIGHT) for many in (5_000, 500))
    pair = PlanPair(reference, answer, task, ScoringOptions())
    with looked_after(look):
        assert pair.execution is not None
        assert pair.execution.reaches_goal
        assert isinstance(or_undecided(lambda: pair.reference_execution), Undecided)


def test_without_a_problem_nothing_is_said() -> None:
    scores = compare_plans(RIGHT, RIGHT)
    names = ("plan_verdict", "executable_share", "goal_share", "plan_cost", "reference_plan_cost")
    assert [getattr(scores, name) for name in names] == [None] * 5


def test_an_empty_goal_and_an_empty_plan_are_whole() -> None:
    nothing = TOWER.replace("(and (on a b) (on b c))", "(and)")
    scores = compare_plans("[]", "[]", problem=nothing)
    assert (scores.plan_verdict, scores.executable_share, scores.goal_share, scores.plan_cost) == (
        "valid",
        1.0,
        1.0,
        0.0,
    )
    assert scores.reference_plan_cost == 0.0


def test_a_cost_counts_actions_and_not_steps() -> None:
    grid = "(define (problem p) (:domain gripper) (:objects r b g h) (:init (room r) (ball b) (gripper g) (gripper h)"
    problem = f"{grid} (at-robby r) (at b r) (free g) (free h)) (:goal (carry b g)))"
    scores = compare_plans("(pick b r g)", "{pick(b, r, g)}, move(r, r)", problem=problem)
    assert (scores.plan_length, scores.plan_cost) == (2, 2.0)


def test_a_reference_plan_that_is_not_valid_has_no_cost() -> None:
    scores = compare_plans("(pickup a)", RIGHT, problem=TOWER)
    assert (scores.plan_cost, scores.reference_plan_cost) == (4.0, None)


@pytest.mark.parametrize(
    "problem", ["Sorry.", TOWER.replace("blocksworld", "nowhere"), TOWER.replace("(on b c)))", "")]
)
def test_a_problem_that_cannot_be_executed_is_a_mistake_in_the_data(problem: str) -> None:
    row = {"reference_problem": problem, "generated_plan": RIGHT}
    scores = dict(
        zip((column.name for column in PLAN.columns), PLAN.score(PLAN.read(row, ScoringOptions())), strict=True)
    )
    assert (scores["plan_verdict"], scores["plan_valid"], scores["executable_share"]) == (
        "reference_invalid",
        None,
        None,
    )
    assert scores["plan_detail"]
