"""T-Eval's length of planning: how many steps each plan has."""

from __future__ import annotations

from pddl_eval.metrics.registry import Column, Metric

METRIC = Metric(
    (
        Column("plan_length", int, "steps of the generated plan"),
        Column("reference_plan_length", int, "steps of the reference plan"),
    ),
    lambda pair: (len(pair.generated), len(pair.reference)),
)
