"""How close an answer is to its reference: one metric a file, listed in the pairs that a row can have."""

from __future__ import annotations

from pddl_eval.metrics.actions import plan_jaccard, plan_lcs
from pddl_eval.metrics.domain_equivalence import decided_task
from pddl_eval.metrics.domains import DOMAIN, DomainPair, DomainScores, compare_domains
from pddl_eval.metrics.pairing import as_column
from pddl_eval.metrics.plans import PLAN, PlanScores, compare_plans
from pddl_eval.metrics.problem import PROBLEM, score_problem_pair
from pddl_eval.metrics.registry import Column, OnlySome, Pair, Row, domain_of

PAIRS = (PROBLEM, PLAN, DOMAIN)

ROW_COLUMNS = (
    Column("score_error", str, "null, or why the row could not be scored"),
    Column("score_micros", int, "time spent on the row, in microseconds"),
)
"""Columns that every scored dataset has."""


def left_out_by(score: str) -> tuple[str, ...]:
    """The verdicts that can leave a row out of a score's rates and means: its reference is a mistake in the data.

    >>> left_out_by("plan_lcs"), left_out_by("domain_precision")
    (('verdict',), ('verdict', 'domain_verdict'))
    """
    own = [pair for pair in PAIRS if any(column.name == score for column in pair.columns)]
    known = {column.name for pair in own for column in pair.columns}
    return tuple(name for name in ("verdict", "domain_verdict") if name == "verdict" or name in known)


__all__ = [
    "DOMAIN",
    "PAIRS",
    "PLAN",
    "PROBLEM",
    "ROW_COLUMNS",
    "DomainPair",
    "DomainScores",
    "OnlySome",
    "Pair",
    "PlanScores",
    "Row",
    "as_column",
    "compare_domains",
    "compare_plans",
    "decided_task",
    "domain_of",
    "left_out_by",
    "plan_jaccard",
    "plan_lcs",
    "score_problem_pair",
]
