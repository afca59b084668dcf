"""The figures of a report: Altair charts, as files for a paper.

This file loads altair and a JavaScript engine, which is slow: it is imported where figures are asked for.

They are as wide as a column of a paper, or ``wide`` as its text, with letters of 8 points. Each has a description in
words for screen readers. Pages draw in their tables instead (``pages.Cell``).
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import cycle
from textwrap import wrap
from typing import TYPE_CHECKING, Any

import altair as alt
import polars as pl
import vl_convert
from markupsafe import escape

from pddl_eval.pages import COLOURS, words
from pddl_eval.report.groups import at_level, only
from pddl_eval.report.numbers import main_measure
from pddl_eval.report.reasons import OUTCOMES
from pddl_eval.report.sections import MEASURE_NAMES, bin_labels, main_kind
from pddl_eval.scoring.columns import (
    ANSWER_COLUMNS,
    ANSWER_MEASURES,
    DOMAIN_COLUMNS,
    DOMAIN_MEASURES,
    DRAWN,
    FRACTIONS,
    PLAN_COLUMNS,
    PLAN_MEASURES,
    PROBLEM_MEASURES,
)
from pddl_eval.shown import line

if TYPE_CHECKING:
    from pddl_eval.report.build import Report

COLUMN, WIDE = 3.3, 6.9
"""Inches: a column, and the text, of a page with two columns."""

SCALE = 2 / 3
"""Points on paper for one unit of a chart: letters of 12 units are letters of 8 points."""

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
    "solves_reference": SERIES[4],
    "plan_valid": SERIES[2],
    "goal_reached": SERIES[0],
    "domain_equivalent": SERIES[0],
    "task_equivalent": SERIES[3],
}
"""In the order of the bars; other measures come last, each in a colour that is left."""

MOST_VERDICTS, MOST_GROUPS, MOST_CURVES = 6, 40, 8
"""Verdicts in a bar (the others are one part), groups in a figure or figures of one kind (where there are more, the
title says so), and lines, each with a dash and a mark of its own: colour is never the only difference."""

NARROW, DOTS, NAME_CHARACTERS = 330, 300, 80
"""Width of a chart on a phone, dots of a PNG in an inch, characters of a group's name."""

LABEL_CHARACTERS, LABEL_LINE = 22, 13
"""Characters in a line of a group's name, for there is no room for more in a narrow figure, and the line's height."""

DESCRIPTION_CHARACTERS = 20_000

RIGHT = OUTCOMES["problem"].right

CONFIG: dict[str, Any] = {
    "font": "Liberation Sans, Arial, Helvetica, sans-serif",
    "aria": False,
    "background": "transparent",
    "view": {"stroke": None},
    "axis": {"labelColor": FAINT, "titleColor": FAINT, "titleFontWeight": "normal", "labelLimit": 150}
    | {"gridColor": GRID, "domain": False, "tickColor": GRID, "labelFontSize": 12, "titleFontSize": 12},
    "axisBand": {"labelColor": INK, "ticks": False, "domain": False},
    "legend": {"orient": "top", "title": None, "labelColor": FAINT, "labelFontSize": 12, "labelLimit": 180}
    | {"symbolOpacity": 1},
    "header": {"title": None, "labelColor": INK, "labelFontSize": 12, "labelFontWeight": 600}
    | {"labelOrient": "top", "labelAnchor": "start", "labelLimit": NARROW - 10, "labelPadding": 2},
    "title": {"color": INK, "anchor": "start", "fontSize": 12, "offset": 10},
    "text": {"color": INK, "fontSize": 12},
    "rule": {"color": INK},
}


@dataclass(frozen=True, slots=True)
class Figure:
    """A chart (Vega-Lite) with its file name (without suffix), its title and, in words, what it shows."""

    name: str
    title: str
    description: str
    chart: Mapping[str, Any]


def figures(report: Report) -> list[Figure]:
    """The figures of a report, the ranking first."""
    return [
        *_ranking_figures(report),
        *_rate_figures(report, "rates", "Percent of answers", PROBLEM_MEASURES),
        *_verdict_figures(report),
        *_size_figures(report),
        *_rate_figures(report, "plan-rates", "Percent of plans", PLAN_MEASURES),
        *_histogram_figures(report, PLAN_COLUMNS),
        *_rate_figures(report, "domain-rates", "Percent of domains", DOMAIN_MEASURES),
        *_histogram_figures(report, DOMAIN_COLUMNS),
        *_rate_figures(report, "answer-rates", "Percent of answers to questions", ANSWER_MEASURES),
        *_histogram_figures(report, ANSWER_COLUMNS),
    ]


def drawn_as(figure: Figure, form: str, *, wide: bool = False) -> bytes:
    """The figure as a file for a paper: on white, under its title; in SVG named for screen readers by its description.

    All of it is escaped: vl-convert writes what comes from the data as XML text.
    """
    width = round((WIDE if wide else COLUMN) * 72 / SCALE)
    own: dict[str, Any] = {"width": width}
    if "spec" in figure.chart:  # several rows: each has the width
        own = {"spec": {**figure.chart["spec"], "width": width - 10}}
    config = {**CONFIG, "title": {**CONFIG["title"], "limit": width - 10}}
    own |= {"config": config, "padding": 4, "background": PAPER, "title": line(figure.title, NAME_CHARACTERS)}
    svg = str(vl_convert.vegalite_to_svg({**figure.chart, **own}))
    label = line(f"{figure.title}. {figure.description}", DESCRIPTION_CHARACTERS)  # for screen readers
    svg = svg.replace("<svg ", f'<svg role="img" aria-label="{escape(label)}" ', 1)
    # A PDF takes a unit for a point; in SVG a length is what it says.
    scale, unit = (SCALE / 72, "in") if form == "svg" else (SCALE, "")
    svg = re.sub(
        r'(<svg [^>]*?)width="([\d.]+)" height="([\d.]+)"',
        lambda tag: f'{tag[1]}width="{float(tag[2]) * scale:.3f}{unit}" height="{float(tag[3]) * scale:.3f}{unit}"',
        svg,
        count=1,
    )
    if form == "svg":
        return svg.encode()
    return bytes(vl_convert.svg_to_pdf(svg) if form == "pdf" else vl_convert.svg_to_png(svg, scale=DOTS / 72))


def _ranking_figures(report: Report) -> Iterator[Figure]:
    """The strictest rate of each group, best first: a dot with its interval."""
    if report.rates.is_empty() or not report.by:
        return
    kind, measures = main_kind(report.rates)
    measure = main_measure(measures)
    known = at_level(report.rates, report.by, report.by[:1]).filter(measure=measure).drop_nulls("percent")
    frame, left_out = _groups(known.with_columns(label=pl.lit(MEASURE_NAMES[measure])), report.by[:1])
    if frame.is_empty():
        return
    frame = frame.select("group", *SHOWN, "low", "high")
    title = f"Percent {MEASURE_NAMES[measure]} of {kind}, by {report.by[0]}{left_out}"
    dot = {"type": "point", "color": SERIES[0], "filled": True, "size": 80, "opacity": 1}
    yield _figure("ranking", title, frame, _measured(frame, dot, color=SERIES[0], strokeWidth=2), _height(frame, 30))


def _percent(channel: Any, field: str, most: int = 100, **options: Any) -> Any:
    return channel(field, scale=alt.Scale(domain=[0, most]), axis=alt.Axis(values=TICKS), **options)


def _lines(name: str) -> list[str]:
    return wrap(name, LABEL_CHARACTERS) or [name]


def _beside(frame: pl.DataFrame) -> alt.Chart:
    """A chart with a line for each group, named in as many lines as its name needs."""
    long = [name for name in frame["group"].unique() if len(_lines(name)) > 1]
    lines, names = map(json.dumps, ([_lines(name) for name in long], long))
    label = f"{lines}[indexof({names}, datum.label)] || datum.label" if long else alt.Undefined
    return alt.Chart(frame).encode(y=alt.Y("group:N", sort=None, title=None, axis=alt.Axis(labelExpr=label)))


def _height(frame: pl.DataFrame, least: int) -> int:
    """Of all groups, where each has the least height, or that of the longest name."""
    names = frame["group"].unique()
    return len(names) * max(least, *(LABEL_LINE * len(_lines(name)) + 8 for name in names))


def _measured(frame: pl.DataFrame, mark: Mapping[str, Any], *channels: Any, **rule: Any) -> Any:
    """Each percentage as a mark, with its interval and its value, which stands behind both: there is room for it."""
    percent = partial(_percent, alt.X, most=113, title="percent")
    base = _beside(frame.with_columns(end=pl.coalesce("high", "percent"))).encode(*channels[:1])
    return alt.layer(
        base.properties(mark=mark).encode(percent("percent:Q"), *channels[1:]),
        base.mark_rule(**rule).encode(x=percent("low:Q"), x2="high:Q"),
        base.mark_text(align="left", dx=7).encode(x=percent("end:Q"), text=alt.Text("percent:Q", format=".1f")),
    )


def _rate_figures(report: Report, stem: str, what: str, measures: Sequence[str]) -> Iterator[Figure]:
    """Rates by each column (the paper's figure 3), and within values of the first by each other (its figure 4)."""
    if report.rates.is_empty():
        return
    frame = only(report.rates, "measure", measures).drop_nulls("percent")
    if not report.by:
        yield from _bars(stem, f"{what}, all rows together", *_groups(frame))
    for name in report.by if report.macro.height else ():
        if name in report.macro:
            alike = only(report.macro, "measure", measures).drop_nulls("percent")
            title = f"{what}, every domain with the same weight, by {name}"
            yield from _bars(f"{stem}-macro-by-{_slug(name)}", title, *_groups(at_level(alike, [name], [name]), [name]))
    for name in report.by:
        alone, left_out = _groups(at_level(frame, report.by, [name]), [name])
        yield from _bars(f"{stem}-by-{_slug(name)}", f"{what}, by {name}", alone, left_out)
    for name in report.by[1:] if measures == PROBLEM_MEASURES else ():
        first = report.by[0]
        both, left_out = _groups(at_level(frame, report.by, (first, name)), [first])
        for number, ((group,), part) in enumerate(both.group_by("group", maintain_order=True), 1):
            file = f"{stem}-by-{_slug(name)}-within-{_slug(first)}-{number}-{_slug(str(group))}"
            shown, omitted = _groups(part.drop("group"), [name])
            yield from _bars(file, f"{group}{left_out}, by {name}", shown, omitted)


def _bars(name: str, title: str, frame: pl.DataFrame, left_out: str) -> Iterator[Figure]:
    """Horizontal bars from 0 to 100 %, group under group, each with its interval and its value."""
    if frame.is_empty():
        return
    known = frame["measure"].unique(maintain_order=True).to_list()
    own = {each: colour for each, colour in MEASURE_COLOURS.items() if each in known}
    free = [colour for colour in SERIES if colour not in own.values()]
    others = zip([each for each in known if each not in own], cycle(free), strict=False)
    colours = {MEASURE_NAMES[each]: colour for each, colour in [*own.items(), *others]}
    label = pl.col("measure").replace_strict(MEASURE_NAMES).cast(pl.Enum([*colours]))
    frame = frame.with_columns(label=label).sort("group", "label")
    frame = frame.select("group", *SHOWN, "low", "high", *(each for each in ("rows", "domains") if each in frame))
    colour = alt.Color(**_scaled("label", colours, colours.values()))
    chart = _measured(frame, {"type": "bar"}, alt.YOffset("label:N", sort=None), colour)
    yield _figure(name, title + left_out, frame, chart, _height(frame, 13 * len(colours) + 14))


def _verdict_figures(report: Report) -> Iterator[Figure]:
    """How the verdicts divide the rows, by the first column to group by."""
    if report.verdicts.is_empty():
        return
    commonest = at_level(report.verdicts, report.by, ())["verdict"].to_list()
    wrong = [verdict for verdict in commonest if verdict not in RIGHT][:MOST_VERDICTS]
    names = dict.fromkeys(RIGHT, "right") | {verdict: words(line(verdict, NAME_CHARACTERS)) for verdict in wrong}
    other = COLOURS["other"]
    colours = {words(line(kind, NAME_CHARACTERS)): COLOURS.get(kind, other)[0] for kind in ("right", *wrong)} | {
        "other": other[0]
    }
    alone, left_out = _groups(at_level(report.verdicts, report.by, report.by[:1]), report.by[:1])
    label = pl.col("verdict").replace_strict(names, default="other").alias("label")
    found = alone.group_by("group", label, maintain_order=True).agg(pl.col("percent", "rows").sum())
    shown = {name: colour for name, colour in colours.items() if name in found["label"]}
    frame = _filled(found, [*shown])
    base = _beside(frame.with_columns(place=pl.int_range(pl.len()))).encode(
        x=_percent(alt.X, "percent:Q", title="percent of rows"), order="place:Q"
    )
    chart = alt.layer(
        base.mark_bar(stroke=PAPER).encode(color=alt.Color(**_scaled("label", shown, shown.values()))),
        # Narrow parts keep their place in the stack and only lose their number.
        base.mark_text(color=PAPER, fontWeight=600).encode(
            x=alt.X("percent:Q", bandPosition=0.5, stack="zero"),
            text=alt.condition("datum.percent >= 6", alt.Text("percent:Q", format=".0f"), alt.value("")),
        ),
    )
    title = " by ".join(["Verdicts", *report.by[:1]]) + left_out
    yield _figure("verdicts", title, frame, chart, _height(frame, 26))


def _size_figures(report: Report) -> Iterator[Figure]:
    """A rate against size, one line a value of the first column to group by."""
    if report.sizes.is_empty():
        return
    measure = main_measure(report.sizes["measure"].unique().to_list())
    label = pl.col("problem_size").str.slice(0, NAME_CHARACTERS).alias("label")
    known = report.sizes.filter(pl.col("measure") == measure, pl.col("percent").is_not_null()).with_columns(label)
    ticks = at_level(known, report.by[:1], ())["label"].to_list()
    frame, left_out = _groups(known, report.by[:1], MOST_CURVES)
    frame = frame.select("group", *SHOWN, "low", "high", "rows")
    groups = frame["group"].unique(maintain_order=True).sort().to_list()
    percent = partial(_percent, alt.Y, title="percent")
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
    title = f"Percent {MEASURE_NAMES[measure]} against {report.size}{left_out}"
    yield _figure("score-against-size", title, frame, chart, 210)


def _histogram_figures(report: Report, names: Iterable[str]) -> Iterator[Figure]:
    """How each metric's values are distributed: a row of bars for all rows, and for each group."""
    known = set(report.histograms["metric"]) if report.histograms.height else set()
    for name in (name for name in names if name in known & DRAWN):
        frame = report.histograms.filter(metric=name)
        bins = bin_labels(frame.select("value_from", "value_to").unique().sort("value_from"), name in FRACTIONS)
        share = 100 * pl.col("rows") / pl.col("rows").sum().over("group")
        groups, left_out = _groups(frame, report.by[:1])
        together = at_level(frame, report.by[:1], ()).with_columns(group=pl.lit("all rows"))
        parts = pl.concat([part.cast({"group": pl.String}) for part in [together, groups][: 1 + len(report.by)]])
        shares = parts.with_columns(label=pl.col("value_from").replace_strict(bins), percent=share)
        filled = _filled(shares, [*bins.values()])
        base = alt.Chart().encode(
            x=alt.X("label:O", sort=None, title="percent of the group's rows in each bin", axis=alt.Axis(labelAngle=0)),
            y=alt.Y("percent:Q", axis=None),
        )
        value = base.transform_filter("datum.percent >= 0.5").encode(text=alt.Text("percent:Q", format=".0f"))
        rows = alt.layer(base.mark_bar(color=SERIES[0]), value.mark_text(dy=-6), data=filled)
        chart = rows.properties(height=44).facet(row=alt.Row("group:N", sort=None), spacing=8)
        yield _figure(f"distribution-{_slug(name)}", f"Distribution of {words(name)}{left_out}", filled, chart)


def _figure(
    name: str,
    title: str,
    frame: pl.DataFrame,
    chart: alt.LayerChart | alt.FacetChart,
    height: int | None = None,
) -> Figure:
    """The figure that shows a frame's ``percent`` by ``group`` and ``label``.

    With a height it fits the width that it gets.
    """

    told: dict[str, list[str]] = {}
    for group, label, percent in frame.select("group", *SHOWN).iter_rows():
        told.setdefault(group, []).append(f"{label} {percent:.1f}")
    if height is not None:
        chart = chart.properties(height=height, autosize={"type": "fit-x", "contains": "padding"})
    known = chart.to_dict(validate=False)
    known.pop("$schema")  # an address that nobody needs to visit
    return Figure(name, title, " ".join(f"{group}: {', '.join(texts)}." for group, texts in told.items()), known)


SHOWN = ("label", "percent")


def _scaled(field: str, names: Collection[str], colours: Iterable[str] = ()) -> dict[str, Any]:
    """A channel with one value (or colour) for each name, and a legend in as many columns as fit on a phone."""
    scale = {"domain": [*names]} | ({"range": [*colours][: len(names)]} if colours else {})
    columns = max(1, NARROW // (min(180, 7 * max(map(len, names))) + 30))
    return {"field": field, "type": "nominal", "scale": scale, "legend": {"columns": columns}}


def _filled(frame: pl.DataFrame, labels: Sequence[str]) -> pl.DataFrame:
    """A line for each group and each label, with 0 percent if the frame has none."""
    every = frame.select(pl.col("group").unique(maintain_order=True)).join(pl.DataFrame({"label": labels}), how="cross")
    known = frame.select("group", *SHOWN, "rows")
    filled = every.join(known, on=["group", "label"], how="left", maintain_order="left")
    return filled.with_columns(pl.col("percent").fill_null(0.0), pl.col("rows").fill_null(0))


def _groups(frame: pl.DataFrame, level: Sequence[str] = (), most: int = MOST_GROUPS) -> tuple[pl.DataFrame, str]:
    """The rows of a frame about values of a level's column, named as in ``group``, and words for what is left out.

    If there are more than ``most`` values, those with most rows stay, of these with as many rows the best.
    """
    if not level:
        return frame.with_columns(group=pl.lit("all rows")), ""
    (column,) = level
    known = frame.drop_nulls(column)
    values = known[column].unique(maintain_order=True).to_list()
    size = pl.col("rows" if "rows" in known else "domains").sum()
    rows = dict(known.group_by(column).agg(size).iter_rows())
    kept = sorted(values, key=lambda value: -rows[value])[:most]
    names: dict[str, str] = {}
    for value in (value for value in values if value in kept):
        name = line(value, NAME_CHARACTERS)
        names[value] = f"{name} ({len(names)})" if name in names.values() else name
    # As an Enum, groups are sorted in this order.
    order = pl.Enum([*names.values()])
    shown = known.filter(pl.col(column).is_in(kept)).with_columns(
        group=pl.col(column).replace_strict(names, return_dtype=order)
    )
    left_out = f" ({most} of {len(values):,}: those with most rows)" if len(values) > most else ""
    return shown.sort("group", maintain_order=True), left_out


def _slug(name: str) -> str:
    """A name made of letters, digits and hyphens for a file name."""
    return re.sub(r"[\W_]+", "-", name.lower())[:40].strip("-") or "x"
