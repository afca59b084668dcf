"""The figures of a report: which there are, of which groups, drawn by Altair to SVG, PNG and PDF.

All are ``WIDTH`` wide: a column of a paper, and near enough a phone's width to be readable there without zooming. They
are drawn in the light colours; ``style.css`` turns these dark in a page. Each has a description in words for those who
do not see it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Any

import polars as pl
from markupsafe import Markup, escape

from pddl_eval.pages import words
from pddl_eval.report.build import Report
from pddl_eval.report.groups import at_level
from pddl_eval.report.numbers import MOST_BINS, PLAN_MEASURES, PROBLEM_MEASURES, RIGHT, main_measure
from pddl_eval.report.scored import DOMAIN_COLUMNS, PLAN_COLUMNS
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
        RATES: _rate_figures(report, PROBLEM_MEASURES),
        FAILURES: _verdict_figures(report),
        SIZES: _size_figures(report),
        PLANS: _rate_figures(report, PLAN_MEASURES) + _histogram_figures(report, PLAN_COLUMNS),
        DOMAINS: _histogram_figures(report, DOMAIN_COLUMNS),
    }


def all_figures(report: Report) -> list[Figure]:
    """Every figure of a report."""
    return list(chain.from_iterable(figures(report).values()))


def draw(figure: Figure, suffix: str) -> bytes:
    """The figure as a file for a paper (``svg``, ``png`` or ``pdf``), on white and with its title."""
    import vl_convert  # Slow to import: it brings a JavaScript engine.

    specification = _specification(figure, background=PAPER, title=line(figure.title, NAME_CHARACTERS))
    if suffix == "svg":
        return _svg(figure, specification).encode()
    if suffix == "png":
        return bytes(vl_convert.vegalite_to_png(specification, scale=PNG_SCALE))
    return bytes(vl_convert.vegalite_to_pdf(specification))


def inline(figure: Figure) -> Markup:
    """The figure as an element of a page, named for screen readers by its title and description."""
    return Markup(_svg(figure, _specification(figure, background=None)))


def _specification(figure: Figure, **properties: Any) -> dict[str, Any]:
    return {**figure.chart.to_dict(), "config": CONFIG, "padding": 4, **properties}


def _svg(figure: Figure, specification: dict[str, Any]) -> str:
    """An SVG element that is escaped throughout: vl-convert writes texts of the data as XML texts."""
    import vl_convert  # Slow to import: it brings a JavaScript engine.

    label = escape(line(f"{figure.title}. {figure.description}", DESCRIPTION_CHARACTERS))
    drawn: str = vl_convert.vegalite_to_svg(specification)
    return drawn.replace("<svg ", f'<svg role="img" aria-label="{label}" ', 1)


def _rate_figures(report: Report, names: Sequence[str]) -> list[Figure]:
    """Rates by each column (the paper's figure 3), and within values of the first by each other (its figure 4)."""
    if report.rates.is_empty():
        return []
    stem, what = ("plan-rates", "Percent of plans") if names == PLAN_MEASURES else ("rates", "Percent of answers")
    frame = report.rates.filter(pl.col("measure").is_in(names) & pl.col("percent").is_not_null())
    found = []
    for name in report.by or (None,):
        alone = at_level(frame, report.by, (name,) if name else ())
        file, of = (f"{stem}-by-{_slug(name)}", f"by {name}") if name else (stem, "all rows together")
        found.append((file, f"{what}, {of}", name, alone))
    for name in report.by[1:] if names == PROBLEM_MEASURES else ():
        first = report.by[0]
        both = _largest(at_level(frame, report.by, (first, name)), first, MOST_PANELS)
        for number, ((group,), part) in enumerate(both.group_by("group", maintain_order=True), 1):
            file = f"{stem}-by-{_slug(name)}-within-{_slug(first)}-{number}-{_slug(str(group))}"
            found.append((file, f"{group}, by {name}", name, part))
    return [_bars(file, title, _largest(part, name, MOST_GROUPS)) for file, title, name, part in found if part.height]


def _bars(name: str, title: str, frame: pl.DataFrame) -> Figure:
    """Horizontal bars from 0 to 100 %, group under group, each with its interval and its value."""
    import altair as alt  # Slow to import.

    known = frame["measure"].unique().to_list()
    shown = {MEASURE_NAMES[each]: colour for each, colour in MEASURE_COLOURS.items() if each in known}
    frame = frame.with_columns(label=pl.col("measure").replace_strict(MEASURE_NAMES).cast(pl.Enum([*shown])))
    frame = frame.sort("label").sort(pl.col("group").cast(pl.Enum(frame["group"].unique(maintain_order=True))))
    # The values are written behind the intervals, so there is room behind 100 %.
    percent = partial(alt.X, title="percent", scale=alt.Scale(domain=[0, 113]), axis=alt.Axis(values=TICKS))
    base = alt.Chart(frame.select("group", "label", "percent", "low", "high")).encode(
        y=alt.Y("group:N", sort=None, title=None), yOffset=alt.YOffset("label:N", sort=None)
    )
    chart = alt.layer(
        base.mark_bar().encode(
            x=percent("percent:Q"), color=alt.Color(**_colour("label", [*shown], [*shown.values()]))
        ),
        base.mark_rule().encode(x=percent("low:Q"), x2="high:Q"),
        base.mark_text(align="left", dx=4).encode(x=percent("high:Q"), text=alt.Text("percent:Q", format=".1f")),
    )
    return _figure(name, title, frame, chart, frame["group"].n_unique() * (13 * len(shown) + 14))


def _verdict_figures(report: Report) -> list[Figure]:
    """How the verdicts divide the rows, by the first column to group by."""
    import altair as alt  # Slow to import.

    if report.verdicts.is_empty():
        return []
    first = report.by[0] if report.by else None
    commonest = at_level(report.verdicts, report.by, ())["verdict"].to_list()
    wrong = [verdict for verdict in commonest if verdict not in RIGHT][: len(SERIES) - 2]
    colours = dict(zip(["right", *map(words, wrong)], SERIES, strict=False)) | {"other": SERIES[-1]}
    named = {**dict.fromkeys(RIGHT, "right"), **{verdict: words(verdict) for verdict in wrong}}
    frame = (
        _largest(at_level(report.verdicts, report.by, report.by[:1]), first, MOST_GROUPS)
        .with_columns(label=pl.col("verdict").replace_strict(named, default="other").cast(pl.Enum([*colours])))
        .group_by("group", "label", maintain_order=True)
        .agg(pl.col("percent").sum())
    )
    every = frame.select(pl.col("group").unique(maintain_order=True)).join(
        frame.select(pl.col("label").unique()).sort("label"), how="cross"
    )
    frame = every.join(frame, on=["group", "label"], how="left", maintain_order="left").fill_null(0.0)
    shown = frame["label"].unique().sort().to_list()
    base = alt.Chart(frame.with_columns(place=pl.col("label").to_physical())).encode(
        x=alt.X("percent:Q", title="percent of rows", scale=alt.Scale(domain=[0, 100]), axis=alt.Axis(values=TICKS)),
        y=alt.Y("group:N", sort=None, title=None),
        order="place:Q",
    )
    chart = alt.layer(
        base.mark_bar(stroke=PAPER).encode(
            color=alt.Color(**_colour("label", shown, [colours[each] for each in shown]))
        ),
        base.transform_filter("datum.percent >= 6")
        .mark_text(color=PAPER, fontWeight=600)
        .encode(x=alt.X("percent:Q", bandPosition=0.5, stack="zero"), text=alt.Text("percent:Q", format=".0f")),
    )
    title = f"Verdicts by {first}" if first else "Verdicts"
    return [_figure("verdicts", title, frame, chart, 26 * frame["group"].n_unique())]


def _size_figures(report: Report) -> list[Figure]:
    """A rate against size, one line a value of the first column to group by."""
    import altair as alt  # Slow to import.

    if report.sizes.is_empty():
        return []
    measure = main_measure(report.sizes["measure"].unique().to_list())
    frame = report.sizes.filter(pl.col("measure") == measure, pl.col("percent").is_not_null())
    first = report.by[0] if report.by else None
    ticks = at_level(frame, report.by[:1], ())["problem_size"].to_list()
    frame = _largest(frame, first, MOST_CURVES).with_columns(label=pl.col("problem_size"))
    groups = frame["group"].unique(maintain_order=True).to_list()
    percent = partial(alt.Y, title="percent", scale=alt.Scale(domain=[0, 100]), axis=alt.Axis(values=TICKS))
    base = alt.Chart(frame.select("group", "label", "percent", "low", "high")).encode(
        x=alt.X("label:O", sort=ticks, title=report.size, axis=alt.Axis(labelAngle=0, labelOverlap="greedy")),
        xOffset=alt.XOffset("group:N", sort=groups, scale=alt.Scale(paddingOuter=1)),
        color=alt.Color(**_colour("group", groups, SERIES)),
    )
    points = base.encode(y=percent("percent:Q"))
    chart = alt.layer(
        base.mark_rule(opacity=0.5).encode(y=percent("low:Q"), y2="high:Q"),
        points.mark_line().encode(strokeDash=alt.StrokeDash(**_scaled("group", groups))),
        points.mark_point(filled=True, size=50, opacity=1).encode(shape=alt.Shape(**_scaled("group", groups))),
    )
    title = f"Percent {MEASURE_NAMES[measure]} against {report.size}"
    return [_figure("score-against-size", title, frame, chart, 210)]


def _histogram_figures(report: Report, names: Iterable[str]) -> list[Figure]:
    """How each metric's values are distributed: a row of bars for all rows, and for each group."""
    import altair as alt  # Slow to import.

    if report.histograms.is_empty():
        return []
    first = report.by[0] if report.by else None
    found = []
    for name in names:
        frame = report.histograms.filter(pl.col("metric") == name)
        if frame.is_empty():
            continue
        bins = _all_bins(frame)
        alone = _largest(at_level(frame, report.by[:1], ()), None, 1)
        parts = pl.concat([alone, _largest(frame, first, MOST_PANELS)] if first else [alone])
        shares = parts.select("group", "value_from", percent=100 * pl.col("rows") / pl.col("rows").sum().over("group"))
        groups = parts.select(pl.col("group").unique(maintain_order=True))
        every = groups.join(bins, how="cross").join(
            shares, on=["group", "value_from"], how="left", maintain_order="left"
        )
        filled = every.with_columns(pl.col("percent").fill_null(0.0))
        base = alt.Chart().encode(
            x=alt.X("label:O", sort=None, title="percent of the group's rows in each bin", axis=alt.Axis(labelAngle=0)),
            y=alt.Y("percent:Q", axis=None),
        )
        rows = alt.layer(
            base.mark_bar(color=SERIES[0]),
            base.transform_filter("datum.percent >= 0.5")
            .mark_text(dy=-6, fontSize=10)
            .encode(text=alt.Text("percent:Q", format=".0f")),
            data=filled.select("group", "label", "percent"),
        ).properties(width=WIDTH - 10, height=44)
        chart = rows.facet(row=alt.Row("group:N", sort=None), spacing=8)
        found.append(_figure(f"distribution-{_slug(name)}", f"Distribution of {words(name)}", filled, chart))
    return found


def _figure(
    name: str, title: str, frame: pl.DataFrame, chart: alt.LayerChart | alt.FacetChart, height: int | None = None
) -> Figure:
    """The figure that shows a frame's ``percent`` by ``group`` and ``label``; with a height it is fit to ``WIDTH``."""
    told: dict[str, list[str]] = {}
    for group, label, percent in frame.select("group", "label", "percent").iter_rows():
        told.setdefault(group, []).append(f"{label} {percent:.1f}")
    if height is not None:
        chart = chart.properties(width=WIDTH, height=height, autosize={"type": "fit-x", "contains": "padding"})
    return Figure(name, title, " ".join(f"{group}: {', '.join(said)}." for group, said in told.items()), chart)


def _colour(field: str, names: Sequence[str], colours: Sequence[str]) -> dict[str, Any]:
    """A colour for each name."""
    return _scaled(field, names) | {"scale": {"domain": [*names], "range": [*colours[: len(names)]]}}


def _scaled(field: str, names: Sequence[str]) -> dict[str, Any]:
    """A channel with one value for each name, and a legend in as many columns as fit."""
    columns = max(1, WIDTH // (min(180, 7 * max(map(len, names))) + 30))
    return {"field": field, "type": "nominal", "scale": {"domain": [*names]}, "legend": {"columns": columns}}


def _largest(frame: pl.DataFrame, column: str | None, most: int) -> pl.DataFrame:
    """The rows about the values of a column with most rows, named by ``group`` as they are shown, in the same order."""
    if column is None:
        return frame.with_columns(group=pl.lit("all rows"))
    known = frame.drop_nulls(column)
    sizes = known.group_by(column).agg(pl.col("rows").sum()).sort("rows", column, descending=[True, False])
    names: dict[str, str] = {}
    for value in sizes[column].head(most):
        name = line(value, NAME_CHARACTERS)
        names[value] = f"{name} ({len(names)})" if name in names.values() else name
    return known.filter(pl.col(column).is_in([*names])).with_columns(group=pl.col(column).replace_strict(names))


def _all_bins(frame: pl.DataFrame) -> pl.DataFrame:
    """The bins of a histogram with their labels, those in which there is nothing too."""
    known = frame.select("value_from", "value_to").unique().sort("value_from")
    widths = (known["value_to"] - known["value_from"]).drop_nulls()
    width = widths[0] if len(widths) else 1.0
    if width < 1:
        starts = [tenth / MOST_BINS for tenth in range(MOST_BINS)]
    else:
        first, last = known["value_from"][0], known["value_from"][-1]
        starts = [first + place * width for place in range(round((last - first) / width) + 1)]
    is_open = known["value_to"].null_count() > 0
    labels = [_tick(start, None if is_open and start == starts[-1] else start + width) for start in starts]
    return pl.DataFrame({"value_from": starts, "label": labels})


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
