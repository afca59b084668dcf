"""What the columns of scores say of each other, and the columns that every scored dataset has."""

from __future__ import annotations

from pddl_eval.definition.metrics import PAIRS, Column, Pair

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
