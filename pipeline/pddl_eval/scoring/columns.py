"""The columns of scores: which there are, what they say of each other, and what readers of a scored dataset need."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from types import MappingProxyType
from typing import Any

from pddl_eval.definition.metrics import ANSWER, DOMAIN, PLAN, PROBLEM, Column
from pddl_eval.definition.metrics import PAIRS as PAIRS
from pddl_eval.definition.metrics import Pair as Pair
from pddl_eval.definition.options import ScoringOptions
from pddl_eval.definition.pddl import without_thinking as without_thinking
from pddl_eval.definition.verdict import DomainVerdict, Judgement, NamedVerdict, PlanVerdict
from pddl_eval.definition.verdict import Verdict as Verdict

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

PLAN_COLUMNS, DOMAIN_COLUMNS, ANSWER_COLUMNS = (
    tuple(column.name for column in pair.columns) for pair in (PLAN, DOMAIN, ANSWER)
)
PAIR_COLUMNS = frozenset(column.name for pair in PAIRS for column in pair.columns)
"""A scored dataset has at least one of these columns."""

SCORE_COLUMNS = PAIR_COLUMNS | {column.name for column in (FEEDBACK, *ROW_COLUMNS)}

PROBLEM_MEASURES, PLAN_MEASURES, DOMAIN_MEASURES = (
    tuple(column.name for column in pair.columns if column.type is bool) for pair in (PROBLEM, PLAN, DOMAIN)
)
ANSWER_MEASURES = (ANSWER.columns[0].name,)
"""Whether the recorded answer is right is no score of the answer."""

MEASURES = PROBLEM_MEASURES + PLAN_MEASURES + DOMAIN_MEASURES + ANSWER_MEASURES
"""The yes-or-no scores."""

DRAWN = frozenset(PLAN_COLUMNS + ANSWER_COLUMNS) | {column.name for column in DOMAIN.columns if column.in_summary}
"""Metrics whose distribution is drawn; of a domain's many, those that a run's summary prints."""

FRACTIONS = frozenset(
    column.name for pair in PAIRS for column in pair.columns if column.type is float and not column.unbounded
)
"""Scores between 0 and 1; the other numeric ones are lengths and costs."""

VERDICTS: dict[str, type[NamedVerdict]] = {
    PROBLEM.verdict: Verdict,
    PLAN.verdict: PlanVerdict,
    DOMAIN.verdict: DomainVerdict,
    ANSWER.verdict: Judgement,
}
"""What can be said in the column with the verdict of each pair."""


def named_columns(
    columns: Mapping[str, str] | None, settings: Mapping[str, Any] = MappingProxyType({})
) -> dict[str, str]:
    """A dataset's own names of columns, by meaning: those here, else those of the settings that it was scored with."""
    given = ScoringOptions(columns=columns).columns or {}
    return {**(ScoringOptions.reading_as(settings).columns or {}), **given}


@cache  # asked of each column of each shard
def needed_by(score: str) -> tuple[Pair, ...]:
    """The pairs whose references a score needs: a row in which one of them had nothing to compare is left out.

    >>> [pair.name for pair in needed_by("task_equivalent")], needed_by("parseable")
    (['problem', 'domain'], ())
    """
    needs = {name for pair in PAIRS for column in pair.columns if column.name == score for name in column.needs}
    return tuple(pair for pair in PAIRS if pair.name in needs)


@cache
def left_out_by(score: str) -> tuple[str, ...]:
    """The verdicts that can leave a row out of a score's rates and means: its reference is a mistake in the data.

    >>> left_out_by("plan_lcs"), left_out_by("domain_precision")
    (('verdict',), ('verdict', 'domain_verdict'))
    """
    own = [pair for pair in PAIRS if any(column.name == score for column in pair.columns)]
    known = {column.name for pair in own for column in pair.columns}
    return tuple(name for name in ("verdict", "domain_verdict") if name == "verdict" or name in known)
