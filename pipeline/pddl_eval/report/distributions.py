"""Plan and domain metrics: their means and quantiles, and how their values are distributed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import polars as pl

from pddl_eval.report.bins import choose_bins
from pddl_eval.report.groups import group_key, in_order, level_keys, levels
from pddl_eval.report.rates import is_counted
from pddl_eval.report.scored import Scored
from pddl_eval.scoring.columns import DOMAIN, PLAN

QUANTILES = {"min": 0.0, "q25": 0.25, "median": 0.5, "q75": 0.75, "max": 1.0}

RATIO_BINS = 10
"""Bins between 0 and 1, each with its lower bound, the last one with 1 as well."""


def metrics(schema: Mapping[str, pl.DataType]) -> tuple[str, ...]:
    """The numeric plan and domain scores that a dataset has."""
    names = [field.name for kind in (PLAN, DOMAIN) for field in kind.fields]
    return tuple(name for name in names if name in schema and schema[name].is_numeric())


def summarise(scored: Scored, by: Sequence[str], names: Sequence[str]) -> list[pl.LazyFrame]:
    """Mean, standard deviation and quantiles of each metric: over all rows, then by the first column to group by."""
    rows = scored.frame.filter(is_counted(scored.schema))
    aggregates = [
        each.alias(f"{name}:{what}")
        for name in names
        for what, each in (
            ("rows", _value(name).count().cast(pl.Int64)),
            ("mean", _value(name).mean()),
            ("sd", _value(name).std()),
            *((what, _value(name).quantile(share, "linear")) for what, share in QUANTILES.items()),
        )
    ]
    alone = rows.select(*level_keys(by[:1], ()), *aggregates)
    return [alone, *(rows.group_by(group_key(name)).agg(aggregates) for name in by[:1])]


def summary(parts: Sequence[pl.DataFrame], by: Sequence[str], names: Sequence[str]) -> pl.DataFrame:
    """One row for each group (null: all rows) and metric, of those that have a value anywhere."""
    if not names:
        return pl.DataFrame()
    wide = pl.concat(parts)
    fields = ("rows", "mean", "sd", *QUANTILES)
    long = [
        wide.select(*by[:1], pl.lit(name).alias("metric"), *(pl.col(f"{name}:{what}").alias(what) for what in fields))
        for name in names
    ]
    return in_order(pl.concat(long).filter(pl.col("rows") > 0), by[:1])


def count_values(scored: Scored, by: Sequence[str], name: str) -> pl.LazyFrame:
    """How many rows have which value of a metric, values between 0 and 1 in tenths, by the first column to group by."""
    value = _value(name)
    if scored.schema[name].is_float():
        # A millionth keeps 0.3 * 10 = 2.9999… in its bin.
        value = (value * RATIO_BINS + 1e-6).floor().clip(0, RATIO_BINS - 1)
    rows = scored.frame.filter(is_counted(scored.schema))
    grouped = rows.group_by(*map(group_key, by[:1]), value.cast(pl.Int64).alias("value"))
    return grouped.agg(pl.len().cast(pl.Int64).alias("rows")).drop_nulls("value")


def histogram(counts: pl.DataFrame, by: Sequence[str], name: str, is_ratio: bool) -> pl.DataFrame:
    """Bins of a metric with their ``rows``, from ``value_from`` up to but without ``value_to`` (null: no end).

    Of all rows (null in the column to group by) and of each group.
    """
    if is_ratio:
        start, width, last = (pl.col("value") / RATIO_BINS).round(1), 1 / RATIO_BINS, None
    else:
        bins = choose_bins(counts)
        start, width, last = bins.start(pl.col("value")).cast(pl.Float64), float(bins.step), bins.last
    first = by[:1]
    parts = [
        counts.group_by(*level_keys(first, level), start.alias("value_from")).agg(pl.col("rows").sum())
        for level in levels(first)
    ]
    end = (pl.col("value_from") + width).round(1)
    binned = pl.concat(parts).with_columns(
        pl.lit(name).alias("metric"),
        (end if last is None else pl.when(pl.col("value_from") < last).then(end)).alias("value_to"),
    )
    return in_order(binned, first, "value_from").select(*first, "metric", "value_from", "value_to", "rows")


def _value(name: str) -> pl.Expr:
    return pl.col(name).cast(pl.Float64).fill_nan(None)
