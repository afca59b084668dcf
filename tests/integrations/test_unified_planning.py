"""The engine in unified-planning: found by its factory, its verdicts on all of unified-planning's own examples."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("unified_planning")

from pddl_eval.integrations.unified_planning import NAME, Validator, compare, register
from unified_planning.engines import FailedValidationReason, ValidationResultStatus
from unified_planning.plans import ActionInstance, SequentialPlan
from unified_planning.shortcuts import PlanValidator
from unified_planning.test.examples import get_example_problems

EXAMPLES = get_example_problems()
SUPPORTED = {name: each for name, each in EXAMPLES.items() if Validator.supports(each.problem.kind)}

DIFFER = {
    "logistic": ValidationResultStatus.INVALID,
    "temporal_conditional": ValidationResultStatus.INVALID,
    "basic_numeric_with_timed_effect": ValidationResultStatus.UNKNOWN,
}
"""Where PDDL 2.1 says something else of a valid plan: what one action changes, another needs at the same time; numbers
that change at a given time are not executed."""


@pytest.fixture(scope="module", autouse=True)
def registered() -> None:
    register()


PLANS = [
    pytest.param(each.problem, plan, DIFFER.get(name, status), id=f"{name}-{status.name}-{number}")
    for name, each in SUPPORTED.items()
    for status, found in (
        (ValidationResultStatus.VALID, each.valid_plans),
        (ValidationResultStatus.INVALID, each.invalid_plans),
    )
    for number, plan in enumerate(found)
    if Validator.supports_plan(plan.kind)
]


def test_enough_of_its_examples_are_supported() -> None:
    assert len(SUPPORTED) >= 29 and len(PLANS) >= 33


@pytest.mark.parametrize(("problem", "plan", "status"), PLANS)
def test_its_examples_have_their_verdicts(problem: Any, plan: Any, status: ValidationResultStatus) -> None:
    with PlanValidator(name=NAME) as validator:
        found = validator.validate(problem, plan)
    assert found.status is status, found.log_messages


def test_a_step_that_cannot_be_executed_and_a_goal_that_is_not_reached() -> None:
    problem = EXAMPLES["basic"].problem
    (step,) = EXAMPLES["basic"].valid_plans[0].actions
    with PlanValidator(name=NAME) as validator:
        empty = validator.validate(problem, SequentialPlan([]))
        twice = validator.validate(problem, SequentialPlan([step, ActionInstance(step.action)]))
    assert empty.reason is FailedValidationReason.UNSATISFIED_GOALS
    assert (
        twice.reason is FailedValidationReason.INAPPLICABLE_ACTION and twice.inapplicable_action.action == step.action
    )


@pytest.mark.parametrize("name", ["basic_with_costs", "locations_connected_cost_minimize"])
def test_costs_are_those_of_its_own_validator(name: str) -> None:
    plan, problem = EXAMPLES[name].valid_plans[0], EXAMPLES[name].problem
    with PlanValidator(name=NAME) as ours, PlanValidator(name="sequential_plan_validator") as theirs:
        found, expected = (each.validate(problem, plan).metric_evaluations for each in (ours, theirs))
    assert found == expected and found


def test_problems_are_compared() -> None:
    robot, other = EXAMPLES["robot_no_negative_preconditions"].problem, EXAMPLES["basic"].problem
    assert compare(robot, robot.clone()).equivalent is True
    assert compare(robot, other).equivalent is False
