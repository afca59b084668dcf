"""In words and tables: plan and domain metrics."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl
import pyarrow as pa

from pddl_eval.report.build import Report
from pddl_eval.report.distributions import QUANTILES
from pddl_eval.report.figures import histogram_figures, rate_figures
from pddl_eval.report.labels import count, words
from pddl_eval.report.page import Section, Table, table
from pddl_eval.report.rate_sections import rate_tables
from pddl_eval.report.rates import PLAN_MEASURES, at_level
from pddl_eval.report.svg import Figure
from pddl_eval.scoring.columns import DOMAIN, PLAN

MOST_COLUMNS = 6
"""Metrics side by side in a table of means."""


def plan_section(report: Report) -> Section | None:
    """Plan metrics and the plans that are valid; None where no plans were scored."""
    tables = rate_tables(report, PLAN_MEASURES)
    names = [field.name for field in PLAN.fields]
    return _section(report, "Plans", names, tables, rate_figures(report, PLAN_MEASURES))


def domain_section(report: Report) -> Section | None:
    """Domain metrics; None where no domains were scored."""
    return _section(report, "Domains", [field.name for field in DOMAIN.fields], (), ())


def _section(
    report: Report, title: str, names: Sequence[str], tables: tuple[Table, ...], figures: tuple[Figure, ...]
) -> Section | None:
    if not report.metrics.is_empty():
        frame = report.metrics.filter(pl.col("metric").is_in(names))
        if frame.height:
            tables += (_summary_table(report, frame), *_mean_tables(report, frame))
            figures += histogram_figures(report, frame["metric"].unique(maintain_order=True).to_list())
    if not tables:
        return None
    return Section(title, ("Rates, means and quantiles over the rows that have a value.",), tables, figures)


def _summary_table(report: Report, frame: pl.DataFrame) -> Table:
    alone = at_level(frame, report.by[:1], ())
    rows = [
        [
            words(record["metric"]),
            count(record["rows"]),
            *(_number(record["metric"], record[what]) for what in ("mean", "sd", *QUANTILES)),
        ]
        for record in alone.iter_rows(named=True)
    ]
    return table("Metrics, all rows together", ("metric", "rows", "mean", "sd", *QUANTILES), rows)


def _mean_tables(report: Report, frame: pl.DataFrame) -> list[Table]:
    if not report.by:
        return []
    first = report.by[0]
    grouped = frame.filter(pl.col(first).is_not_null())
    means = {(group, name): mean for group, name, mean in grouped.select(first, "metric", "mean").iter_rows()}
    groups = grouped[first].unique(maintain_order=True).to_list()
    names = grouped["metric"].unique(maintain_order=True).to_list()
    tables = []
    for start in range(0, len(names), MOST_COLUMNS):
        shown = names[start : start + MOST_COLUMNS]
        rows = [[group, *(_number(name, means.get((group, name))) for name in shown)] for group in groups]
        tables.append(table(f"Means of metrics by {first}", (first, *map(words, shown)), rows))
    return tables


def _number(name: str, value: float | None) -> str:
    """A metric's value: three decimals of a ratio, one of a number of steps."""
    if value is None:
        return "–"
    return f"{value:.3f}" if name in _RATIOS else f"{value:,.1f}"


_RATIOS = {field.name for kind in (PLAN, DOMAIN) for field in kind.fields if pa.types.is_floating(field.type)}
