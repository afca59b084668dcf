"""GAICo's PlanningLCS: how much of two plans is the same in the same order.

Steps are compared whole, so a concurrent step equals only a step of the same actions. Order counts, actions' likeness
does not: for that see ``plan_score``.
"""

from __future__ import annotations

from rapidfuzz.distance import LCSseq

from pddl_eval.metrics.registry import Column, Metric
from pddl_eval.parsing import Plan, Step


def plan_lcs(reference: Plan, generated: Plan) -> float:
    """The longest common subsequence's length over the longer plan's; 1.0 where both plans are empty.

    Source: GAICo's page on planning metrics, PlanningLCS.

    >>> from pddl_eval.parsing import read_plan
    >>> reference = read_plan("pickup(A), stack(A,B), pickup(C)").steps
    >>> plan_lcs(reference, read_plan("pickup(A), stack(A,B), {noop1, noop2}, pickup(C)").steps)
    0.75
    """
    longer = max(len(reference), len(generated))
    return common_subsequence(reference, generated) / longer if longer else 1.0


def common_subsequence(first: Plan, second: Plan) -> int:
    """The length of the longest common subsequence of the steps.

    Steps are numbered first: rapidfuzz compares hashes, and small numbers are their own.
    """
    number: dict[Step, int] = {}
    numbered = [[number.setdefault(step, len(number)) for step in plan] for plan in (first, second)]
    return int(LCSseq.similarity(*numbered))


METRIC = Metric(
    (
        Column(
            "plan_lcs", float, "GAICo's PlanningLCS: the longest common subsequence over the longer plan's length", True
        ),
    ),
    lambda pair: (plan_lcs(pair.reference, pair.generated) if pair.found else 0.0,),
)
