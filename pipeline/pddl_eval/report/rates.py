"""Rates: how many percent of the answers are parseable, solvable, equivalent; how many are not decided.

What counts: a row whose reference is a mistake in the data (``reference_invalid``) is left out of every rate. Of a
problem, a null is no yes: a row that was not decided, or not scored at all, stays among the rows and is counted beside
as undecided, so that the truth lies between ``percent`` and ``percent`` plus the share of the undecided. Of a plan, a
null means that there was nothing to check it against: such rows are no rows of the plan's rates, only counted beside.
Where nothing of a group was decided (solvability not asked for), its rate is null. Every row weighs the same.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import polars as pl

from pddl_eval.report.groups import group_key, in_order, level_keys, levels
from pddl_eval.report.intervals import wilson
from pddl_eval.report.scored import Scored
from pddl_eval.verdict import Verdict

PROBLEM_MEASURES = ("parseable", "solvable", "equivalent", "equivalent_untyped")
PLAN_MEASURES = ("plan_valid", "goal_reached")


TALLIES = ("rows", "yes", "undecided")
SHARES = ("percent", "low", "high")


def measures(schema: Mapping[str, pl.DataType]) -> tuple[str, ...]:
    """The yes-or-no scores that a dataset has."""
    return tuple(name for name in PROBLEM_MEASURES + PLAN_MEASURES if schema.get(name) == pl.Boolean)


def main_measure(names: Sequence[str]) -> str:
    """The one of some measures to show where there is room for one: the strictest question that was asked.

    >>> main_measure(["parseable", "equivalent_untyped", "equivalent"])
    'equivalent'
    """
    preferred = ("equivalent", "equivalent_untyped", "solvable", "parseable", *reversed(PLAN_MEASURES))
    return next(name for name in preferred if name in names)


def is_counted(schema: Mapping[str, pl.DataType]) -> pl.Expr:
    """True for the rows that rates and metrics are about: all but those whose reference is a mistake in the data."""
    if "verdict" not in schema:
        return pl.lit(True)
    return pl.col("verdict").ne_missing(Verdict.REFERENCE_INVALID.value)


def tallies(names: Sequence[str]) -> list[pl.Expr]:
    """Aggregates of a group: its ``rows``, and for each measure how many are yes and how many undecided."""
    return [
        pl.len().cast(pl.Int64).alias("rows"),
        *(pl.col(name).sum().cast(pl.Int64).alias(f"{name}:yes") for name in names),
        *(pl.col(name).null_count().cast(pl.Int64).alias(f"{name}:undecided") for name in names),
    ]


def add_up(names: Sequence[str]) -> list[pl.Expr]:
    """Aggregates that make one group's tallies of those of its parts."""
    return [pl.col("rows", *(f"{name}:{what}" for what in ("yes", "undecided") for name in names)).sum()]


def count_rows(scored: Scored, by: Sequence[str]) -> pl.LazyFrame:
    """The tallies by all columns to group by and by verdict: all that rates and verdict counts are made of."""
    verdict = [pl.col("verdict")] if "verdict" in scored.schema else []
    keys = [*map(group_key, by), *verdict]
    if not keys:
        return scored.frame.select(tallies(measures(scored.schema)))
    return scored.frame.group_by(keys).agg(tallies(measures(scored.schema)))


def rates(counts: pl.DataFrame, by: Sequence[str], names: Sequence[str]) -> pl.DataFrame:
    """One row for each group and measure: ``rows``, ``yes``, ``undecided``, ``percent`` and its interval.

    A null in a column to group by means all its values together.

    >>> counts = pl.DataFrame({"rows": [10], "parseable:yes": [8], "parseable:undecided": [0]})
    >>> rates(counts, [], ["parseable"]).select("percent", pl.col("low", "high").round(1)).row(0)
    (80.0, 49.0, 94.3)
    """
    counted = counts.filter(is_counted(counts.schema))
    parts = []
    for level in levels(by):
        keys = level_keys(by, level)
        parts.append(counted.group_by(keys).agg(add_up(names)) if keys else counted.select(add_up(names)))
    return in_order(long_form(pl.concat(parts), by, names), by)


def at_level(frame: pl.DataFrame, by: Sequence[str], level: Sequence[str]) -> pl.DataFrame:
    """Those rows of a frame by groups that are about the values of the level's columns, all others together."""
    about = [pl.col(name).is_not_null() if name in level else pl.col(name).is_null() for name in by]
    return frame.filter(about) if about else frame


def long_form(wide: pl.DataFrame, by: Sequence[str], names: Sequence[str]) -> pl.DataFrame:
    """Tallies with one row for each measure and their ``percent``, ``low`` and ``high`` (Wilson, 95 %).

    They are null where nothing was decided; a measure that was nowhere decided is left out.
    """
    parts = []
    for name in names:
        undecided = pl.col(f"{name}:undecided")
        decided = pl.col("rows") - undecided
        rows = decided if name in PLAN_MEASURES else pl.col("rows")
        yes = pl.col(f"{name}:yes")
        shares = zip(SHARES, (yes / rows, *wilson(yes.cast(pl.Float64), rows)), strict=True)
        part = wide.select(
            *by,
            pl.lit(name).alias("measure"),
            rows.alias("rows"),
            yes.alias("yes"),
            undecided.alias("undecided"),
            *(pl.when(decided > 0).then(100 * share.clip(0, 1)).alias(what) for what, share in shares),
        )
        if part["percent"].count():
            parts.append(part)
    return pl.concat(parts) if parts else pl.DataFrame(schema=_long_schema(by))


def _long_schema(by: Sequence[str]) -> dict[str, type[pl.DataType]]:
    names = dict.fromkeys([*by, "measure"], pl.String)
    return {**names, **dict.fromkeys(TALLIES, pl.Int64), **dict.fromkeys(SHARES, pl.Float64)}
