"""Whether a plan is valid, and if it is not, what its first fault is: one of the names of ``PlanVerdict``."""

from __future__ import annotations

from pddl_eval.definition.budget import or_undecided
from pddl_eval.definition.metrics.plan_pair import PlanPair
from pddl_eval.definition.metrics.registry import Column, Metric
from pddl_eval.definition.validation import Execution
from pddl_eval.definition.verdict import PlanVerdict, Undecided


def plan_verdict(pair: PlanPair) -> PlanVerdict | None:
    """The verdict on the generated plan; None where there is no problem to solve.

    Mistakes in the problem or its domain come first, then an answer without a plan, then the execution: the first step
    that fails, else the goal.

    >>> from pddl_eval.definition.options import ScoringOptions
    >>> from pddl_eval.definition.plans import read_plan
    >>> from pddl_eval.definition.task import read_task
    >>> task = read_task("(define (problem p) (:domain gripper) (:init) (:goal (and)))")
    >>> for answer in ("", "I do not know.", "(fly a)", "[]"):
    ...     print(plan_verdict(PlanPair(None, read_plan(answer), task, ScoringOptions())).value)
    empty
    unreadable
    unknown_action
    valid
    """
    if pair.is_unexecutable or (pair.task is not None and pair.task.ill_typed):
        return PlanVerdict.REFERENCE_INVALID
    if pair.task is None:
        return None
    if not pair.found:
        return PlanVerdict.EMPTY if pair.is_empty else PlanVerdict.UNREADABLE
    execution = or_undecided(lambda: pair.execution)
    if isinstance(execution, Undecided):
        return PlanVerdict.UNDECIDED
    assert isinstance(execution, Execution)
    return execution.verdict


def _score(pair: PlanPair) -> tuple[str | None]:
    verdict = plan_verdict(pair)
    return (None if verdict is None else verdict.value,)


METRIC = Metric(
    (Column("plan_verdict", str, "valid, or what is wrong first, as one of the names in the table of verdicts"),),
    _score,
)
