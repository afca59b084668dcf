"""How far a plan gets: the share of its steps that can be executed, and of the goal that holds where it ends.

They tell answers apart that are not valid: one that fails at its last step from one that fails at its first.
"""

from __future__ import annotations

from pddl_eval.definition.metrics.plan_pair import PlanPair
from pddl_eval.definition.metrics.registry import Column, Metric


def executable_share(steps_before: int, steps: int) -> float:
    """The steps before the first failure over all steps; 1.0 for a plan without steps, of which none fails.

    >>> executable_share(3, 4), executable_share(0, 0)
    (0.75, 1.0)
    """
    return steps_before / steps if steps else 1.0


def _score(pair: PlanPair) -> tuple[float | None, float | None]:
    """Both None where nothing can be executed, and 0 where the answer holds no plan."""
    if pair.task is None or pair.task.ill_typed:
        return None, None
    execution = pair.execution
    if execution is None:
        return 0.0, 0.0
    steps = len(pair.generated) + (pair.damage is not None)  # The step that cannot be read is one, too.
    before = steps if execution.failed_step is None else execution.failed_step - 1
    return executable_share(before, steps), execution.goal_share


METRIC = Metric(
    (
        Column(
            "executable_share",
            float,
            "steps before the first failure over all steps, of which one that cannot be read is one; no steps: 1",
            has_mean=True,
        ),
        Column(
            "goal_share",
            float,
            "share of the goal's conjuncts, a forall counted as its instances, that hold at the end; an empty goal: 1",
            has_mean=True,
        ),
    ),
    _score,
)
