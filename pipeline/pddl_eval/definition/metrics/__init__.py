"""How close an answer is to its reference: one metric a file, listed in the pairs that a row can have."""

from __future__ import annotations

from pddl_eval.definition.metrics.actions import plan_jaccard, plan_lcs
from pddl_eval.definition.metrics.cost import as_float
from pddl_eval.definition.metrics.domain_equivalence import decided_task
from pddl_eval.definition.metrics.domain_pair import NO_ANSWER as NO_DOMAIN_GIVEN
from pddl_eval.definition.metrics.domain_pair import DomainPair, ill_typed_domain
from pddl_eval.definition.metrics.domains import DOMAIN
from pddl_eval.definition.metrics.execution import ending, failure, goal_not_reached
from pddl_eval.definition.metrics.optimal import is_optimal
from pddl_eval.definition.metrics.plan_exchange import (
    GENERATED_PLAN,
    NO_GENERATED_PLAN,
    NO_REFERENCE_PLAN,
    REFERENCE_PLAN,
)
from pddl_eval.definition.metrics.plan_pair import NotExecuted, PlanPair, detail_of, executable, executed_plan
from pddl_eval.definition.metrics.plan_score import only_equal
from pddl_eval.definition.metrics.plan_verdict import failed_step_without_plan, verdict_without_plan
from pddl_eval.definition.metrics.plans import PLAN, embed_plans, operators_of
from pddl_eval.definition.metrics.problem import (
    PROBLEM,
    domain_of_problem,
    score_lone_problem,
    score_problem_pair,
)
from pddl_eval.definition.metrics.registry import Column, OnlySome, Pair, Row, domain_of, given

PAIRS = (PROBLEM, PLAN, DOMAIN)

OPTIONAL = frozenset(column.name for pair in PAIRS for column in pair.columns if column.optional)
"""Scores whose null means that there was nothing to decide: their rates are those of the rows that have a value."""

UNDECIDED_WITH = {column.name: column.follows for pair in PAIRS for column in pair.columns if column.follows}
"""Scores whose null is undecided only where this other score is null too, and else a no."""

FEEDBACK = Column("feedback", str, "on request: what to tell the model that wrote the answer")
"""A column of the whole row, where the setting of that name asks for it."""

ROW_COLUMNS = (
    Column("score_error", str, "null, or why the row could not be scored"),
    Column("score_micros", int, "time spent on the row, in microseconds"),
)
"""Columns that every scored dataset has."""


def needed_by(score: str) -> tuple[Pair, ...]:
    """The pairs whose references a score needs: a row in which one of them had nothing to compare is left out.

    >>> [pair.name for pair in needed_by("task_equivalent")], needed_by("parseable")
    (['problem', 'domain'], ())
    """
    needs = {name for pair in PAIRS for column in pair.columns if column.name == score for name in column.needs}
    return tuple(pair for pair in PAIRS if pair.name in needs)


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
    "FEEDBACK",
    "GENERATED_PLAN",
    "NO_DOMAIN_GIVEN",
    "NO_GENERATED_PLAN",
    "NO_REFERENCE_PLAN",
    "OPTIONAL",
    "PAIRS",
    "PLAN",
    "PROBLEM",
    "REFERENCE_PLAN",
    "ROW_COLUMNS",
    "UNDECIDED_WITH",
    "DomainPair",
    "NotExecuted",
    "OnlySome",
    "Pair",
    "PlanPair",
    "Row",
    "as_float",
    "decided_task",
    "detail_of",
    "domain_of",
    "domain_of_problem",
    "embed_plans",
    "ending",
    "executable",
    "executed_plan",
    "failed_step_without_plan",
    "failure",
    "given",
    "goal_not_reached",
    "ill_typed_domain",
    "is_optimal",
    "left_out_by",
    "needed_by",
    "only_equal",
    "operators_of",
    "plan_jaccard",
    "plan_lcs",
    "score_lone_problem",
    "score_problem_pair",
    "verdict_without_plan",
]
