"""The figures of a report, drawn by Altair to SVG, PNG and PDF.

All are ``WIDTH`` wide: a column of a paper, and readable on a phone without zooming. They
are drawn in the light colours; ``style.css`` turns these dark in a page. Each has a description in words for
screen readers.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import polars as pl
from markupsafe import escape

from pddl_eval.pages import words
from pddl_eval.report.build import Report
from pddl_eval.report.groups import at_level
from pddl_eval.report.numbers import MOST_BINS, PLAN_MEASURES, PROBLEM_MEASURES, RIGHT, Bins, main_measure
from pddl_eval.report.scored import DOMAIN_COLUMNS, FRACTIONS, PLAN_COLUMNS
from pddl_eval.report.sections import DOMAINS, FAILURES, MEASURE_NAMES, PLANS, RATES, SIZES
from pddl_eval.shown import line

if TYPE_CHECKING:
    import altair as alt

WIDTH = 420
TICKS = (0, 25, 50, 75, 100)

INK, FAINT, GRID, PAPER = "#1b1f24", "#5a6370", "#dde1e6", "#ffffff"
SERIES = ("#2457a6", "#a86400", "#1c7a70", "#b5364e", "#7a4fa3", "#55751f", "#7a4b2a", "#6d7683")
"""Colours of texts and lines, of groups and verdicts. On white, all but the grid have a contrast of 4.5:1, and so have
the dark ones of ``style.css`` on its dark paper."""

MEASURE_COLOURS = {
    "parseable": SERIES[7],
    "solvable": SERIES[2],
    "equivalent_untyped": SERIES[1],
    "equivalent": SERIES[0],
    "plan_valid": SERIES[2],
    "goal_reached": SERIES[0],
}
"""In the order of the bars."""

MOST_GROUPS = 12
"""Groups in one figure; those with most rows."""

MOST_PANELS = 8
"""Values of the first column that get a figure of their own by each other column, or a row of a histogram."""

MOST_CURVES = 6
"""Lines in one figure, each with a dash and a mark of its own: colour is never the only difference."""

PNG_SCALE = 3
"""Pixels of a PNG for one unit of the SVG: about 300 dots an inch in a column of a paper."""

NAME_CHARACTERS = 80
"""Characters of a group's name in a figure."""

DESCRIPTION_CHARACTERS = 20_000

CONFIG: dict[str, Any] = {
    "font": "Liberation Sans, Arial, Helvetica, sans-serif",
    "aria": False,
    "background": "transparent",
    "view": {"stroke": None},
    "axis": {"labelColor": FAINT, "titleColor": FAINT, "titleFontWeight": "normal", "labelLimit": 110}
    | {"gridColor": GRID, "domain": False, "tickColor": GRID, "labelFontSize": 11, "titleFontSize": 11},
    "axisBand": {"labelColor": INK, "ticks": False, "domain": False},
    "legend": {"orient": "top", "title": None, "labelColor": FAINT, "labelFontSize": 11, "labelLimit": 180}
    | {"symbolOpacity": 1},
    "header": {"title": None, "labelColor": INK, "labelFontSize": 12, "labelFontWeight": 600}
    | {"labelOrient": "top", "labelAnchor": "start", "labelLimit": WIDTH - 10, "labelPadding": 2},
    "title": {"color": INK, "anchor": "start", "fontSize": 14, "limit": WIDTH - 10, "offset": 10},
    "text": {"color": INK, "fontSize": 11},
    "rule": {"color": INK},
}


@dataclass(frozen=True, slots=True)
class Figure:
    """A chart with its file name (without suffix), its title and, in words, what it shows."""

    name: str
    title: str
    description: str
    chart: alt.TopLevelMixin


def figures(report: Report) -> dict[str, list[Figure]]:
    """The figures of a report by the title of the section that they belong to."""
    return {
        RATES: [*_rate_figures(report, "rates", "Percent of answers", PROBLEM_MEASURES)],
        FAILURES: [*_verdict_figures(report)],
        SIZES: [*_size_figures(report)],
        PLANS: [
            *_rate_figures(report, "plan-rates", "Percent of plans", PLAN_MEASURES),
            *_histogram_figures(report, PLAN_COLUMNS),
        ],
        DOMAINS: [*_histogram_figures(report, DOMAIN_COLUMNS)],
    }


def svg(figure: Figure, **properties: Any) -> str:
    """The figure as an SVG element, named for screen readers by its title and description, in 420 units of width.

    ``properties`` are Vega-Lite's (``background``, ``title``). All of it is escaped: vl-convert writes what comes from
    the data as XML text.
    """
    import vl_convert  # Slow to import: it brings a JavaScript engine.

    label = escape(line(f"{figure.title}. {figure.description}", DESCRIPTION_CHARACTERS))
    drawn = vl_convert.vegalite_to_svg(
        {**figure.chart.to_dict(validate=False), "config": CONFIG, "padding": 4} | properties
    )
    return str(drawn).replace("<svg ", f'<svg role="img" aria-label="{label}" ', 1)


def standalone(figure: Figure) -> str:
    """The figure as an SVG file for a paper: on white, under its title."""
    return svg(figure, background=PAPER, title=line(figure.title, NAME_CHARACTERS))


def _rate_figures(report: Report, stem: str, what: str, measures: Sequence[str]) -> Iterator[Figure]:
    """Rates by each column (the paper's figure 3), and within values of the first by each other (its figure 4)."""
    if report.rates.is_empty():
        return
    frame = report.rates.filter(pl.col("measure").is_in(measures), pl.col("percent").is_not_null())
    if not report.by:
        yield from _bars(stem, f"{what}, all rows together", _largest(frame, (), MOST_GROUPS))
    for name in report.by:
        alone = _largest(at_level(frame, report.by, [name]), [name], MOST_GROUPS)
        yield from _bars(f"{stem}-by-{_slug(name)}", f"{what}, by {name}", alone)
    for name in report.by[1:] if measures == PROBLEM_MEASURES else ():
        first = report.by[0]
        both = _largest(at_level(frame, report.by, (first, name)), [first], MOST_PANELS)
        for number, ((group,), part) in enumerate(both.group_by("group", maintain_order=True), 1):
            file = f"{stem}-by-{_slug(name)}-within-{_slug(first)}-{number}-{_slug(str(group))}"
            yield from _bars(file, f"{group}, by {name}", _largest(part, [name], MOST_GROUPS))


def _bars(name: str, title: str, frame: pl.DataFrame) -> Iterator[Figure]:
    """Horizontal bars from 0 to 100 %, group under group, each with its interval and its value."""
    import altair as alt  # Slow to import.

    if frame.is_empty():
        return
    known = frame["measure"].unique().to_list()
    colours = {MEASURE_NAMES[each]: colour for each, colour in MEASURE_COLOURS.items() if each in known}
    label = pl.col("measure").replace_strict(MEASURE_NAMES).cast(pl.Enum([*colours]))
    frame = frame.with_columns(label=label).sort("group", "label").select("group", *SHOWN, "low", "high")
    # The values are written behind the intervals: they need room behind 100 %.
    percent = partial(alt.X, title="percent", scale=alt.Scale(domain=[0, 113]), axis=alt.Axis(values=TICKS))
    base = alt.Chart(frame).encode(y=alt.Y("group:N", sort=None, title=None), yOffset=alt.YOffset("label:N", sort=None))
    chart = alt.layer(
        base.mark_bar().encode(x=percent("percent:Q"), color=alt.Color(**_scaled("label", colours, colours.values()))),
        base.mark_rule().encode(x=percent("low:Q"), x2="high:Q"),
        base.mark_text(align="left", dx=4).encode(x=percent("high:Q"), text=alt.Text("percent:Q", format=".1f")),
    )
    height = frame["group"].n_unique() * (13 * len(colours) + 14)
    yield _figure(name, title, frame, chart, height)


def _verdict_figures(report: Report) -> Iterator[Figure]:
    """How the verdicts divide the rows, by the first column to group by."""
    import altair as alt  # Slow to import.

    if report.verdicts.is_empty():
        return
    commonest = at_level(report.verdicts, report.by, ())["verdict"].to_list()
    wrong = [verdict for verdict in commonest if verdict not in RIGHT][: len(SERIES) - 2]
    names = dict.fromkeys(RIGHT, "right") | {verdict: words(line(verdict, NAME_CHARACTERS)) for verdict in wrong}
    colours = dict(zip(["right", *map(words, wrong)], SERIES, strict=False)) | {"other": SERIES[-1]}
    alone = _largest(at_level(report.verdicts, report.by, report.by[:1]), report.by, MOST_GROUPS)
    label = pl.col("verdict").replace_strict(names, default="other").alias("label")
    found = alone.group_by("group", label, maintain_order=True).agg(pl.col("percent").sum())
    shown = {name: colour for name, colour in colours.items() if name in found["label"]}
    frame = _filled(found, [*shown])
    base = alt.Chart(frame.with_columns(place=pl.int_range(pl.len()))).encode(
        x=alt.X("percent:Q", title="percent of rows", scale=alt.Scale(domain=[0, 100]), axis=alt.Axis(values=TICKS)),
        y=alt.Y("group:N", sort=None, title=None),
        order="place:Q",
    )
    chart = alt.layer(
        base.mark_bar(stroke=PAPER).encode(color=alt.Color(**_scaled("label", shown, shown.values()))),
        # Narrow parts keep their place in the stack and only lose their number.
        base.mark_text(color=PAPER, fontWeight=600).encode(
            x=alt.X("percent:Q", bandPosition=0.5, stack="zero"),
            text=alt.condition("datum.percent >= 6", alt.Text("percent:Q", format=".0f"), alt.value("")),
        ),
    )
    title = " by ".join(["Verdicts", *report.by[:1]])
    yield _figure("verdicts", title, frame, chart, 26 * frame["group"].n_unique())


def _size_figures(report: Report) -> Iterator[Figure]:
    """A rate against size, one line a value of the first column to group by."""
    import altair as alt  # Slow to import.

    if report.sizes.is_empty():
        return
    measure = main_measure(report.sizes["measure"].unique().to_list())
    label = pl.col("problem_size").str.slice(0, NAME_CHARACTERS).alias("label")
    known = report.sizes.filter(pl.col("measure") == measure, pl.col("percent").is_not_null()).with_columns(label)
    ticks = at_level(known, report.by[:1], ())["label"].to_list()
    frame = _largest(known, report.by, MOST_CURVES).select("group", *SHOWN, "low", "high")
    groups = frame["group"].unique(maintain_order=True).to_list()
    percent = partial(alt.Y, title="percent", scale=alt.Scale(domain=[0, 100]), axis=alt.Axis(values=TICKS))
    base = alt.Chart(frame).encode(
        x=alt.X("label:O", sort=ticks, title=report.size, axis=alt.Axis(labelAngle=0, labelOverlap="greedy")),
        xOffset=alt.XOffset("group:N", sort=groups, scale=alt.Scale(paddingOuter=1)),
        color=alt.Color(**_scaled("group", groups, SERIES)),
    )
    points = base.encode(y=percent("percent:Q"))
    chart = alt.layer(
        base.mark_rule(opacity=0.5).encode(y=percent("low:Q"), y2="high:Q"),
        points.mark_line().encode(strokeDash=alt.StrokeDash(**_scaled("group", groups))),
        points.mark_point(filled=True, size=50, opacity=1).encode(shape=alt.Shape(**_scaled("group", groups))),
    )
    title = f"Percent {MEASURE_NAMES[measure]} against {report.size}"
    yield _figure("score-against-size", title, frame, chart, 210)


def _histogram_figures(report: Report, names: Iterable[str]) -> Iterator[Figure]:
    """How each metric's values are distributed: a row of bars for all rows, and for each group."""
    import altair as alt  # Slow to import.

    known = set(report.histograms["metric"]) if report.histograms.height else set()
    for name in (name for name in names if name in known):
        frame = report.histograms.filter(metric=name)
        bins = _bins(frame.select("value_from", "value_to").unique().sort("value_from"), name in FRACTIONS)
        share = 100 * pl.col("rows") / pl.col("rows").sum().over("group")
        levels = [(_largest(at_level(frame, report.by[:1], ()), (), 1)), _largest(frame, report.by, MOST_PANELS)]
        parts = pl.concat([part.cast({"group": pl.String}) for part in levels[: 1 + len(report.by)]])
        shares = parts.with_columns(label=pl.col("value_from").replace_strict(bins), percent=share)
        filled = _filled(shares, [*bins.values()])
        base = alt.Chart().encode(
            x=alt.X("label:O", sort=None, title="percent of the group's rows in each bin", axis=alt.Axis(labelAngle=0)),
            y=alt.Y("percent:Q", axis=None),
        )
        value = base.transform_filter("datum.percent >= 0.5").encode(text=alt.Text("percent:Q", format=".0f"))
        rows = alt.layer(base.mark_bar(color=SERIES[0]), value.mark_text(dy=-6, fontSize=10), data=filled)
        chart = rows.properties(width=WIDTH - 10, height=44).facet(row=alt.Row("group:N", sort=None), spacing=8)
        yield _figure(f"distribution-{_slug(name)}", f"Distribution of {words(name)}", filled, chart)


def _bins(known: pl.DataFrame, is_fraction: bool) -> dict[float, str]:
    """The labels of a histogram's bins (``.1–.2``, ``21–40``, ``> 40``), also of those in which there is nothing."""
    if is_fraction:
        bounds = ["0", *(f".{tenth}" for tenth in range(1, MOST_BINS)), "1"]
        return {place / MOST_BINS: f"{bounds[place]}–{bounds[place + 1]}" for place in range(MOST_BINS)}
    first, last = int(known["value_from"][0]), int(known["value_from"][-1])
    step = next((int(end - start) for start, end in known.iter_rows() if end is not None), 1)
    bins = Bins(first, step, last if known["value_to"].null_count() else None)
    return {float(start): bins.label(start) for start in range(first, last + 1, step)}


def _figure(
    name: str, title: str, frame: pl.DataFrame, chart: alt.LayerChart | alt.FacetChart, height: int | None = None
) -> Figure:
    """The figure that shows a frame's ``percent`` by ``group`` and ``label``; with a height it is fit to ``WIDTH``."""
    told: dict[str, list[str]] = {}
    for group, label, percent in frame.select("group", *SHOWN).iter_rows():
        told.setdefault(group, []).append(f"{label} {percent:.1f}")
    if height is not None:
        chart = chart.properties(width=WIDTH, height=height, autosize={"type": "fit-x", "contains": "padding"})
    return Figure(name, title, " ".join(f"{group}: {', '.join(said)}." for group, said in told.items()), chart)


SHOWN = ("label", "percent")


def _scaled(field: str, names: Collection[str], colours: Iterable[str] = ()) -> dict[str, Any]:
    """A channel with one value (or colour) for each name, and a legend in as many columns as fit."""
    scale = {"domain": [*names]} | ({"range": [*colours][: len(names)]} if colours else {})
    columns = max(1, WIDTH // (min(180, 7 * max(map(len, names))) + 30))
    return {"field": field, "type": "nominal", "scale": scale, "legend": {"columns": columns}}


def _filled(frame: pl.DataFrame, labels: Sequence[str]) -> pl.DataFrame:
    """A line for each group and each label, with 0 percent if the frame has none."""
    every = frame.select(pl.col("group").unique(maintain_order=True)).join(pl.DataFrame({"label": labels}), how="cross")
    known = frame.select("group", *SHOWN)
    return every.join(known, on=["group", "label"], how="left", maintain_order="left").fill_null(0.0)


def _largest(frame: pl.DataFrame, by: Sequence[str], most: int) -> pl.DataFrame:
    """The rows about those values of the first column that have most rows, with their names as shown in ``group``."""
    if not by:
        return frame.with_columns(group=pl.lit("all rows"))
    column = by[0]
    known = frame.drop_nulls(column)
    sizes = known.group_by(column).agg(pl.col("rows").sum()).sort("rows", column, descending=[True, False])
    kept = known.filter(pl.col(column).is_in(sizes[column].head(most).to_list()))
    names: dict[str, str] = {}
    for value in kept[column].unique(maintain_order=True):
        name = line(value, NAME_CHARACTERS)
        names[value] = f"{name} ({len(names)})" if name in names.values() else name
    # As an Enum, groups are sorted in the frame's order.
    return kept.with_columns(group=pl.col(column).replace_strict(names, return_dtype=pl.Enum([*names.values()])))


def _slug(name: str) -> str:
    """A name made of letters, digits and hyphens for a file name."""
    return re.sub(r"[\W_]+", "-", name.lower())[:40].strip("-") or "x"
