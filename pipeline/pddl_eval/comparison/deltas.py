"""How much rates and scores moved between two datasets, over the rows that both have, with bootstrap intervals."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from pddl_eval.comparison.rows import COUNTED, group, new, old
from pddl_eval.report.groups import in_order
from pddl_eval.report.intervals import bootstrap_mean
from pddl_eval.report.rates import PROBLEM_MEASURES

BIN = 0.01
"""Differences of scores are resampled in bins of that width, each with its own mean: what varies inside is lost."""

_GAP, _BIN = "pddl_eval.gap", "pddl_eval.bin"


def levels(by: Sequence[str]) -> list[tuple[str, ...]]:
    """All rows together, then each column to group by alone."""
    return [(), *((name,) for name in by)]


def deltas(lines: pl.DataFrame, by: Sequence[str], names: Sequence[str]) -> pl.DataFrame:
    """One row for each group and measure: ``rows``, mean ``old`` and ``new``, ``difference`` with ``low`` and ``high``.

    ``rose`` and ``fell`` count the rows whose value did. A rate is a mean of 0 and 1. The interval (95 %) is the paired
    bootstrap's with a fixed seed: pairs of values of one row are drawn together. What counts as in ``report.rates``:
    no row whose reference is a mistake in the data; a null of a problem is no yes, a null of anything else no value. A
    null in a group's column means all its values together.
    """
    found = [
        _delta(part, level, by, name)
        for name in names
        for level in levels(by)
        for part in _parts(_values(lines, by, name), level)
        if part.height
    ]
    frame = pl.DataFrame(found, schema={**dict.fromkeys(by, pl.String), **_SCHEMA})
    ranks = pl.col("measure").replace_strict({name: place for place, name in enumerate(names)}, default=None)
    return in_order(frame.sort(ranks, maintain_order=True), by)


_SCHEMA = {
    "measure": pl.String,
    "rows": pl.Int64,
    **dict.fromkeys(("old", "new", "difference", "low", "high"), pl.Float64),
    "rose": pl.Int64,
    "fell": pl.Int64,
}


def _values(lines: pl.DataFrame, by: Sequence[str], name: str) -> pl.DataFrame:
    pair = lines.filter(COUNTED).select(
        *map(group, by), old(name).cast(pl.Float64).alias("old"), new(name).cast(pl.Float64).alias("new")
    )
    if name not in PROBLEM_MEASURES:
        pair = pair.drop_nulls(["old", "new"])
    elif pair["old"].null_count() == pair.height or pair["new"].null_count() == pair.height:
        pair = pair.clear()  # One of them did not ask: there is nothing to compare.
    return pair.with_columns(pl.col("old", "new").fill_null(0.0)).with_columns(
        (pl.col("new") - pl.col("old")).alias(_GAP)
    )


def _parts(values: pl.DataFrame, level: Sequence[str]) -> list[pl.DataFrame]:
    return values.partition_by(level) if level else [values]


def _delta(part: pl.DataFrame, level: Sequence[str], by: Sequence[str], name: str) -> dict[str, object]:
    bins = (pl.col(_GAP) / BIN).round().alias(_BIN)
    gaps = part.group_by(bins).agg(pl.col(_GAP).mean(), pl.len().alias("rows")).sort(_BIN)
    low, high = bootstrap_mean(gaps[_GAP].to_list(), gaps["rows"].to_list())
    facts = part.select(
        pl.len().cast(pl.Int64).alias("rows"),
        pl.col("old").mean(),
        pl.col("new").mean(),
        pl.col(_GAP).mean().alias("difference"),
        (pl.col(_GAP) > 0).sum().cast(pl.Int64).alias("rose"),
        (pl.col(_GAP) < 0).sum().cast(pl.Int64).alias("fell"),
    )
    groups = {column: part[column][0] if column in level else None for column in by}
    return {**groups, "measure": name, "low": low, "high": high, **facts.row(0, named=True)}
