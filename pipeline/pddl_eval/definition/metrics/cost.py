"""What a valid plan costs: the value of the problem's metric at its end, else the number of its actions."""

from __future__ import annotations

from pddl_eval.definition.metrics.registry import Column, Metric
from pddl_eval.definition.validation import Execution


def plan_cost(execution: Execution | None) -> float | None:
    """The cost of a plan that was executed; None where it is not valid or was not executed.

    >>> from pddl_eval.definition.validation import execute
    >>> from pddl_eval.definition.task import task_of
    >>> held = "(define (problem p) (:domain blocksworld) (:objects a) (:init (holding a)) (:goal (clear a)))"
    >>> task = task_of(held)
    >>> plan_cost(execute([{("putdown", "a")}], task.problem, task.domain.domain))
    1.0
    """
    cost = None if execution is None else execution.cost
    return None if cost is None else float(cost)


METRIC = Metric(
    (
        Column(
            "plan_cost",
            float,
            "the value of the problem's metric, else the number of actions; null: the plan is not valid",
            unbounded=True,
        ),
        Column("reference_plan_cost", float, "the same of the reference plan", unbounded=True),
    ),
    lambda pair: (plan_cost(pair.execution), plan_cost(pair.reference_execution)),
)
