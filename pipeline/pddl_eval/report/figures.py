"""The figures of a report: which there are, of which groups, with which words for those who do not see them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

import polars as pl

from pddl_eval.report.bars import Bar, grouped_bars, histogram_rows, stacked_bars
from pddl_eval.report.build import Report
from pddl_eval.report.curves import MOST_CURVES, Point, curves
from pddl_eval.report.distributions import RATIO_BINS
from pddl_eval.report.failures import YES
from pddl_eval.report.labels import MEASURE_NAMES, percent, shorten, words
from pddl_eval.report.rates import PLAN_MEASURES, PROBLEM_MEASURES, at_level, main_measure
from pddl_eval.report.svg import SERIES, Figure

MOST_GROUPS = 12
"""Groups in one figure; those with most rows."""

MOST_PANELS = 8
"""Values of the first column that get a figure of their own by each other column; those with most rows."""

_INKS = {"plan_valid": "solvable", "goal_reached": "equivalent"}
_ORDER = ("parseable", "solvable", "equivalent_untyped", "equivalent", *PLAN_MEASURES)


def all_figures(report: Report) -> tuple[Figure, ...]:
    """Every figure of the report."""
    names = report.metrics["metric"].unique(maintain_order=True).to_list() if report.metrics.height else []
    return (
        *rate_figures(report, PROBLEM_MEASURES),
        *verdict_figures(report),
        *size_figures(report),
        *rate_figures(report, PLAN_MEASURES),
        *histogram_figures(report, names),
    )


def rate_figures(report: Report, names: Sequence[str]) -> tuple[Figure, ...]:
    """Rates by each column (the paper's figure 3), and within values of the first by each other (its figure 4)."""
    if report.rates.is_empty():
        return ()
    frame = report.rates.filter(pl.col("measure").is_in(names) & pl.col("percent").is_not_null())
    stem, what = ("plan-rates", "Percent of plans") if names == PLAN_MEASURES else ("rates", "Percent of answers")
    found = []
    for name in report.by or (None,):
        alone = at_level(frame, report.by, (name,) if name else ())
        file, of = (f"{stem}-by-{_slug(name)}", f"by {name}") if name else (stem, "all rows together")
        found.append(_rate_figure(alone, name, file, f"{what}, {of}"))
    for name in report.by[1:] if names == PROBLEM_MEASURES else ():
        first = report.by[0]
        both = at_level(frame, report.by, (first, name))
        for number, (group, part) in enumerate(_groups(both, first, MOST_PANELS), 1):
            file = f"{stem}-by-{_slug(name)}-within-{_slug(first)}-{number}-{_slug(group)}"
            found.append(_rate_figure(part, name, file, f"{group}, by {name}"))
    return tuple(figure for figure in found if figure is not None)


def verdict_figures(report: Report) -> tuple[Figure, ...]:
    """How the verdicts divide the rows, by the first column to group by."""
    if report.verdicts.is_empty():
        return ()
    first = report.by[0] if report.by else None
    alone = at_level(report.verdicts, report.by, ())["verdict"].to_list()
    failing = [verdict for verdict in alone if verdict not in YES][: SERIES - 2]
    frame = at_level(report.verdicts, report.by, report.by[:1])
    groups = []
    for group, part in _groups(frame, first, MOST_GROUPS):
        shares = dict(part.select("verdict", "percent").iter_rows())
        right = sum(share for verdict, share in shares.items() if verdict in YES)
        shown = [right, *(shares.get(verdict, 0.0) for verdict in failing)]
        groups.append((group, [*shown, max(0.0, 100 - sum(shown))]))
    labels = ["right", *map(words, failing)]
    inks = [f"series-{number}" for number in range(len(labels))]
    if any(parts[-1] > 1e-6 for _, parts in groups):
        labels.append("other")
        inks.append(f"series-{SERIES - 1}")
    groups = [(group, parts[: len(labels)]) for group, parts in groups]
    title = f"Verdicts by {first}" if first else "Verdicts"
    description = _sentences((group, zip(labels, parts, strict=True)) for group, parts in groups)
    return (stacked_bars("verdicts", title, description, groups, list(zip(labels, inks, strict=True))),)


def size_figures(report: Report) -> tuple[Figure, ...]:
    """A rate against size, one line a value of the first column to group by."""
    if report.sizes.is_empty():
        return ()
    measure = main_measure(report.sizes["measure"].unique().to_list())
    frame = report.sizes.filter((pl.col("measure") == measure) & pl.col("percent").is_not_null())
    first = report.by[0] if report.by else None
    alone = frame.filter(pl.col(first).is_null()) if first else frame
    ticks = alone["problem_size"].to_list()
    groups = []
    for group, part in _groups(frame, first, MOST_CURVES):
        cells = part.select("problem_size", "percent", "low", "high").iter_rows()
        groups.append((group, [Point(ticks.index(size), *cell) for size, *cell in cells]))
    title = f"Percent {MEASURE_NAMES[measure]} against {report.size}"
    spoken = ((group, ((ticks[point.place], point.value) for point in points)) for group, points in groups)
    return (curves("score-against-size", title, _sentences(spoken), groups, ticks, str(report.size)),)


def histogram_figures(report: Report, names: Iterable[str]) -> tuple[Figure, ...]:
    """How each metric's values are distributed, by the first column to group by."""
    first = report.by[0] if report.by else None
    found = []
    for name in names:
        frame = report.histograms.filter(pl.col("metric") == name)
        bins = _all_bins(frame)
        ticks = [_tick(start, end) for start, end in bins]
        parts = _groups(frame.filter(pl.col(first).is_null()) if first else frame, None, 1)
        groups = []
        for group, part in [*parts, *(_groups(frame, first, MOST_PANELS) if first else [])]:
            shares = dict(part.select("value_from", 100 * pl.col("rows") / pl.col("rows").sum()).iter_rows())
            groups.append((group, [shares.get(start, 0.0) for start, _ in bins]))
        spoken = ((group, zip(ticks, shares, strict=True)) for group, shares in groups)
        title = f"Distribution of {words(name)}"
        found.append(histogram_rows(f"distribution-{_slug(name)}", title, _sentences(spoken), groups, ticks))
    return tuple(found)


def _rate_figure(frame: pl.DataFrame, name: str | None, file: str, title: str) -> Figure | None:
    present = [measure for measure in _ORDER if measure in frame["measure"]]
    if not present:
        return None
    groups = []
    for group, part in _groups(frame, name, MOST_GROUPS):
        bars = {
            measure: Bar(_INKS.get(measure, measure), *cell)
            for measure, *cell in part.select("measure", "percent", "low", "high").iter_rows()
        }
        groups.append((group, [(measure, bars[measure]) for measure in present if measure in bars]))
    series = [(MEASURE_NAMES[measure], _INKS.get(measure, measure)) for measure in present]
    spoken = ((group, ((MEASURE_NAMES[measure], bar.value) for measure, bar in bars)) for group, bars in groups)
    drawn = [(group, [bar for _, bar in bars]) for group, bars in groups]
    return grouped_bars(file, title, _sentences(spoken), drawn, series)


def _groups(frame: pl.DataFrame, column: str | None, most: int) -> list[tuple[str, pl.DataFrame]]:
    """The values of a column that stand for most rows, each with its part of the frame, in the frame's order."""
    if column is None:
        return [("all rows", frame)]
    known = frame.drop_nulls(column)
    sizes = known.group_by(column).agg(pl.col("rows").sum()).sort("rows", column, descending=[True, False])
    kept = sizes.head(most)[column].to_list()
    parts = known.filter(pl.col(column).is_in(kept)).partition_by(column, as_dict=True, maintain_order=True)
    return [(shorten(str(value), 80), part) for (value,), part in parts.items()]


def _sentences(groups: Iterable[tuple[str, Iterable[tuple[str, float]]]]) -> str:
    """The numbers of a figure in words, for those who do not see it."""
    return " ".join(
        f"{group}: {', '.join(f'{label} {percent(value)}' for label, value in values)}." for group, values in groups
    )


def _all_bins(frame: pl.DataFrame) -> list[tuple[float, float | None]]:
    """The bins of a histogram, those in which there is nothing too."""
    known = frame.select("value_from", "value_to").unique().sort("value_from").rows()
    width = next((end - start for start, end in known if end is not None), 1.0)
    if width < 1:
        return [(tenth / RATIO_BINS, (tenth + 1) / RATIO_BINS) for tenth in range(RATIO_BINS)]
    first, last = known[0][0], known[-1][0]
    starts = [first + place * width for place in range(round((last - first) / width) + 1)]
    return [(start, None if (start, None) in known else start + width) for start in starts]


def _tick(start: float, end: float | None) -> str:
    """A bin in few characters: ``.1–.2``, ``21–40``, ``> 40``."""
    if end is None:
        return f"> {start - 1:.0f}"
    if end - start < 1:
        return "–".join("0" if bound == 0 else f"{bound:g}".removeprefix("0") for bound in (start, end))
    return f"{start:.0f}" if end - start == 1 else f"{start:.0f}–{end - 1:.0f}"


def _slug(name: str) -> str:
    """A name made of letters, digits and hyphens for a file name."""
    return re.sub(r"[\W_]+", "-", name.lower())[:40].strip("-") or "x"
