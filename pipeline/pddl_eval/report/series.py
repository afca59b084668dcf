"""Several scored datasets in their order, such as nights: how the rates move, what changed, and since when."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import PurePosixPath

import polars as pl

from pddl_eval.pages import Page, Section, Table, Value, table
from pddl_eval.report.build import build_report
from pddl_eval.report.diff import Comparison, compare_datasets, example_cells
from pddl_eval.report.groups import at_level
from pddl_eval.report.numbers import main_measure
from pddl_eval.report.sections import MEASURE_NAMES, rate_cell, warnings

MOST_SWITCHED = 12
"""Models of which a reader sees one at a time; if there are more, all are there side by side."""

MOST_LINES, MOST_EACH = 40, 5
"""Answers that got worse on the page, the last first, and of each dataset."""


@dataclass(frozen=True, slots=True)
class Series:
    """``names`` of the datasets, their strictest ``measure`` by ``dataset`` and ``model`` (null: all), and each step.

    ``rates`` has the columns of ``Report.rates``. ``steps`` compares each dataset with the one before.
    """

    names: tuple[str, ...]
    measure: str
    rates: pl.DataFrame
    steps: tuple[Comparison, ...]
    warnings: tuple[str, ...]


def compare_series(
    places: Sequence[str | os.PathLike[str]], *, on: Sequence[str] | None = None, where: str | None = None
) -> Series:
    """Compare scored datasets with the one before each; ``on`` and ``where`` as in ``compare_datasets``.

    A dataset ``…/2026-03-01/scored`` is named by its folder. Raises as ``compare_datasets``.
    """
    names = _named([os.fspath(place) for place in places])
    parts, said, measures = [], list[str](), list[str]()
    for name, place in zip(names, places, strict=True):
        report = build_report(place, where=where)
        said += [f"{name}: {each}" for each in warnings(report)]
        if report.rates.height:
            levels = [(), (report.model,)] if report.model else [()]
            shown = pl.concat([at_level(report.rates, report.by, level) for level in levels])
            model = pl.col(report.model) if report.model else pl.lit(None, pl.String)
            parts.append(shown.select(pl.lit(name).alias("dataset"), model.alias("model"), pl.exclude(report.by)))
            measures += report.rates["measure"].unique().to_list()
    measure = main_measure(measures) if measures else ""
    rates = pl.concat(parts).filter(measure=measure) if parts else pl.DataFrame()
    steps = [compare_datasets(old, new, on=on, where=where) for old, new in pairwise(places)]
    return Series(names, measure, rates, tuple(steps), tuple(said))


def _named(places: Sequence[str]) -> tuple[str, ...]:
    """The last part of each place that tells it from the others."""
    paths = [PurePosixPath(place) for place in places]
    if len({path.name for path in paths}) < len(paths):
        paths = [path.parent for path in paths]
    names = [path.name for path in paths]
    return tuple(names if len(set(names)) == len(names) else places)


def series_page(series: Series) -> Page:
    """The series as a page: the rates, what changed from each dataset to the next, and the answers that got worse."""
    rates: list[Table] = []
    if series.rates.height:
        found = {(each["dataset"], each["model"]): each for each in series.rates.to_dicts()}
        models = list(dict.fromkeys(model for _, model in found))  # The first is None, for all of them.
        moved: list[list[Value]] = [
            [name, *(rate_cell(name, found[name, each], ()) if (name, each) in found else None for each in models)]
            for name in series.names
        ]
        header = ("dataset", *(model or "all models" for model in models))
        drawn = table(f"Percent {MEASURE_NAMES[series.measure]}", header, moved)
        rates.append(replace(drawn, switched=range(1, len(header)) if len(models) <= MOST_SWITCHED else ()))
    lines: list[list[Value]] = [
        [name, step.both - step.strangers, step.regressions, step.improvements, step.added, step.gone]
        for name, step in zip(series.names[1:], series.steps, strict=True)
    ]
    changed = table("Changes since the one before", ("dataset", "compared", "worse", "better", "new", "gone"), lines)
    worse: list[list[Value]] = [
        [name, *example_cells(step, each)]
        for name, step in reversed([*zip(series.names[1:], series.steps, strict=True)])
        for each in step.examples.head(MOST_EACH).to_dicts()
    ]
    header = ("since", "row", "verdict", "detail")
    listed = table("Answers that got worse, the first of each dataset", header, worse, texts=3, most=MOST_LINES)
    sections = [
        Section("Rates", (), rates),
        Section("What changed", (), [each for each in (changed, listed) if each.rows]),
    ]
    total = sum(step.regressions for step in series.steps), sum(step.improvements for step in series.steps)
    worse_now = f"{total[0]:,} answer{'' if total[0] == 1 else 's'} got worse"
    lead = f"{series.names[0]} to {series.names[-1]}: {worse_now}, {total[1]:,} got better." * bool(series.steps)
    signatures = {comparison.same_signature for comparison in series.steps}
    said = list(series.warnings)
    if signatures - {True}:
        said.append("Not all were scored in the same way: a difference may come from the scorer, not the answers.")
    return Page(f"{len(series.names)} scored datasets", said, (), [each for each in sections if each.tables], lead=lead)
