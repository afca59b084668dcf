"""Does the plan work? Validity as VAL says it, and where a plan that does not work fails."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pddl_eval.metrics.registry import Column, Metric
from pddl_eval.model import show_atom
from pddl_eval.solve import Execution

if TYPE_CHECKING:
    from pddl_eval.metrics.plans import PlanPair


def validity(pair: PlanPair) -> tuple[bool | None, bool | None, int | None]:
    """Valid, goal reached, first failed step from 1; all None where nothing is known to carry the plans out in."""
    if pair.execution is None or pair.reference_execution is None:
        return None, None, None
    if not pair.found:
        return False, False, None
    pair.notes += [
        _ending(pair.execution, "step", "the goal is not reached"),
        _ending(pair.reference_execution, "the reference plan's step", "the reference plan does not reach the goal"),
    ]
    return pair.execution.reaches_goal, not pair.execution.lacking, pair.execution.failed_step


def _ending(execution: Execution, step: str, goal: str) -> str:
    """What to say of an execution that failed or did not reach the goal."""
    if execution.failed_step is not None:
        return f"{step} {execution.failed_step} fails: {execution.reason}"
    if execution.lacking:
        more = f" and {len(execution.lacking) - 1} more" if len(execution.lacking) > 1 else ""
        return f"{goal}: {show_atom(min(execution.lacking))}{more}"
    return ""


METRIC = Metric(
    (
        Column("plan_valid", bool, "every step can be carried out and the goal holds at the end, as VAL says it", True),
        Column("goal_reached", bool, "the goal holds where the execution ended", True),
        Column("first_failed_step", int, "the first step that could not be carried out, from 1; null: none failed"),
    ),
    validity,
)
