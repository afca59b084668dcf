"""Several scored datasets in their order, such as nights: how the rates move, what changed, and since when."""

from __future__ import annotations

import os
from collections import defaultdict, deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby, pairwise
from math import ceil, floor
from pathlib import PurePosixPath
from types import MappingProxyType
from typing import Any

import polars as pl

from pddl_eval.pages import Cell, Page, Picture, Section, Table, Value, html, render, table, words
from pddl_eval.report.build import build_report
from pddl_eval.report.diff import NAMES, Comparison, compare_datasets
from pddl_eval.report.files import page_text
from pddl_eval.report.groups import at_level
from pddl_eval.report.numbers import main_measure
from pddl_eval.report.scored import Scored
from pddl_eval.report.sections import MEASURE_NAMES, rate_of, warnings
from pddl_eval.shown import line
from pddl_eval.version import without_version

MOST_DRAWN = 12
"""Models whose rate is drawn; a table has all."""

MOST_LISTED, MOST_LINES = 1_000, 20
"""Answers that got worse on a page to browse, and for other readers."""

NOW, MENDED, GONE = "wrong now", "mended", "no longer asked"


@dataclass(frozen=True, slots=True)
class Series:
    """``names`` of the datasets, their strictest ``measure`` by ``dataset`` and ``model`` (null: all), and each step.

    ``rates`` has the columns of ``Report.rates``. ``steps`` compares each dataset with the one before. ``worse`` are
    the answers that were right in one dataset and not in the next, ``since`` which: those that are wrong now first, the
    latest first, each with its ``row`` there, its ``state`` (``NOW``, ``MENDED``, ``GONE``) and ``until``, the dataset
    in which it is mended.
    """

    names: tuple[str, ...]
    measure: str
    rates: pl.DataFrame
    steps: tuple[Comparison, ...]
    worse: pl.DataFrame
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
    return Series(names, measure, rates, tuple(steps), _worse(steps, names), tuple(said))


def _named(places: Sequence[str]) -> tuple[str, ...]:
    """The last part of each place that tells it from the others."""
    paths = [PurePosixPath(place) for place in places]
    if len({path.name for path in paths}) < len(paths):
        paths = [path.parent for path in paths]
    names = [path.name for path in paths]
    return tuple(names if len(set(names)) == len(names) else places)


def _worse(steps: Sequence[Comparison], names: Sequence[str]) -> pl.DataFrame:
    """``Series.worse``; of rows with one key (samples without a number) the first that got worse is mended first."""
    found: list[dict[str, Any]] = []
    wrong = defaultdict[int, deque[int]](deque)
    for number, step in enumerate(steps):
        for each in step.moved.sort("worse").iter_rows(named=True):
            if each["worse"]:
                wrong[each["key"]].append(len(found))
                found.append({"step": number, "since": names[number + 1], "state": NOW, "until": None, **each})
            elif wrong[each["key"]]:
                found[wrong[each["key"]].popleft()] |= {"state": MENDED, "until": names[number + 1]}
    asked = steps[-1].keys_in_new() if any(each["state"] == NOW for each in found) else set()
    for each in found:
        if each["state"] == NOW and each["key"] not in asked:
            each["state"] = GONE
    texts = dict.fromkeys(("since", "state", "until", "old_verdict", "new_verdict"), pl.String)
    frame = pl.DataFrame(found, schema={"step": pl.Int64, "row": pl.Int64, "old_row": pl.Int64, **texts})
    return frame.sort(pl.col("state") != NOW, -pl.col("step"), "row", maintain_order=True)


def series_page(
    series: Series,
    reports: Mapping[str, str] = MappingProxyType({}),
    pages: Mapping[tuple[str, int], str] = MappingProxyType({}),
) -> Page:
    """The series as a page: what is wrong now, how the rates move, what changed from each dataset to the next.

    ``reports`` are addresses by the names of datasets, ``pages`` those of rows by dataset and number.
    """
    sections = [
        Section("Answers that got worse", (), _worse_tables(series, pages)),
        Section("Rates", *_rates(series)),
        Section("What changed", (), [_changes_table(series, reports)]),
    ]
    count = dict(series.worse["state"].value_counts().iter_rows())
    now, all_ = count.get(NOW, 0), series.worse.height
    ends = f"{series.names[0]} to {series.names[-1]}"
    better = sum(step.improvements for step in series.steps)
    which = "answers that were right are wrong now" if now != 1 else "answer that was right is wrong now"
    since = f"{all_:,} got worse, {count.get(MENDED, 0):,} of them mended since; {better:,} got better."
    lead = f"{ends}: {now:,} {which}. In all {since}" * bool(series.steps)
    said = list(series.warnings)
    if not all(comparison.same_signature for comparison in series.steps):
        said.append("Not all were scored in the same way: a difference may come from the scorer, not the answers.")
    shown = [each for each in sections if any(table.rows for table in each.tables)]
    return Page(f"{len(series.names)} scored datasets", said, (), shown, lead=lead)


def series_text(series: Series, form: str, **addresses: Any) -> str:
    """The series as ``terminal``, ``md``, ``tex`` or ``html``, there with its drawing; addresses as ``series_page``."""
    page = series_page(series, **addresses)
    return html(page, {"Rates": _drawn(series)}, script=render("rows.js")) if form == "html" else page_text(page, form)


def _rates(series: Series) -> tuple[list[str], list[Table]]:
    if series.rates.is_empty():
        return [], []
    found = {(each["dataset"], each["model"]): each for each in series.rates.to_dicts()}
    models = list(dict.fromkeys(model for _, model in found))  # The first is None, for all of them.
    lines: list[list[Value]] = [
        [name, *(rate_of(found[name, each]) if (name, each) in found else None for each in models)]
        for name in series.names
    ]
    caption = f"Percent {MEASURE_NAMES[series.measure]}"
    how = "With 95 % intervals. A dashed line: code, a setting or the rows changed; the last table says what."
    return [how], [table(caption, ("dataset", *(model or "all models" for model in models)), lines)]


def _changes_table(series: Series, reports: Mapping[str, str]) -> Table:
    lines: list[list[Value]] = [
        [
            Cell(name, address=reports.get(name, "")),
            "; ".join(changes(step)) or "–",
            *(step.both - step.strangers, step.regressions, step.improvements, step.added, step.gone),
        ]
        for name, step in zip(series.names[1:], series.steps, strict=True)
    ]
    first = series.names[0]
    lines.insert(0, [Cell(first, address=reports.get(first, "")), "the first", *[None] * 5])
    header = ("dataset", "changed", "compared", "worse", "better", "new", "gone")
    return table("Changes since the one before", header, lines if series.steps else [], texts=1)


def changes(step: Comparison) -> list[str]:
    """What else than answers changed between two datasets: code, settings, libraries, rows, references."""
    old, new = map(_settings, (step.old, step.new))
    pairs = {name: (old.get(name, "none"), new.get(name, "none")) for name in dict.fromkeys([*old, *new])}
    found = [
        "code or kernel" if name == "code" else f"{name} {before} → {after}"
        for name, (before, after) in pairs.items()
        if before != after
    ]
    rows = [f"{count:,} {what}" for count, what in ((step.added, "new"), (step.gone, "gone")) if count]
    found += [f"rows: {', '.join(rows)}"] if rows else []
    return [*found, f"references of {step.strangers:,} rows"] if step.strangers else found


def _settings(side: Scored) -> dict[str, str]:
    """The parts of a dataset's signatures by their names, but for the version."""
    found = defaultdict[str, list[str]](list)
    for signature, _ in side.signatures:
        for part in (without_version(signature) or "").split("|"):
            name, _, value = part.partition(":")
            found[name].append(value)
    return {name: " and ".join(sorted({*values})) for name, values in found.items() if name}


def _worse_tables(series: Series, pages: Mapping[tuple[str, int], str]) -> list[Table]:
    """The answers that got worse, to browse; for readers without a browser the first of them in fewer columns."""
    shown = series.worse.head(MOST_LISTED).to_dicts()
    names: dict[tuple[int, int], dict[str, Any]] = {}
    for number, of_step in groupby(sorted(shown, key=lambda each: each["step"]), key=lambda each: each["step"]):
        known = series.steps[number].named([each["row"] for each in of_step])
        names |= {(number, row): each for row, each in known.items()}
    used = [name for name in NAMES if any(each[name] is not None for each in names.values())]
    browsed: list[list[Value]] = []
    short: list[list[Value]] = []
    for each in shown:
        known, row, step = names[each["step"], each["row"]], each["row"], series.steps[each["step"]]
        page = pages.get((each["since"], row), "")
        command = step.new.explain_command(row) or ""
        was, is_ = (
            Cell(words(each[name] or "–"), kind=each[name] or "other") for name in ("old_verdict", "new_verdict")
        )
        state = each["state"] + f" on {each['until']}" * bool(each["until"])
        detail = Cell(known["detail"] or "", command="" if page else command)
        named = [Cell(known[name] or "–") for name in used]
        browsed.append([Cell(f"{row:,}", address=page), each["since"], *named, was, is_, state, detail])
        answer = ", ".join(line(known[name] or "–") for name in used) or f"row {row:,}"
        short.append(
            [each["since"], answer, f"{was.text} → {is_.text}", state, Cell(known["detail"] or "", command=command)]
        )
    caption, of = "Right in the dataset before", f"{series.worse.height:,}"
    header = ("row", "since", *used, "was", "became", "now", "detail")
    long = table(caption, header, browsed, texts=len(header) - 1, most=MOST_LISTED)
    filters = ("since", *(name for name in used if name != "question"), "now")
    brief = table(
        caption, ("since", ", ".join(used) or "row", "verdict", "now", "detail"), short, texts=4, most=MOST_LINES
    )
    brief = replace(brief, caption=f"{caption}: {min(MOST_LINES, len(short))} of {of}", drawn=False)
    return [replace(long, browsed=filters, kind="rows", drawn=True), brief]


WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 420, 170, 30, 46, 12, 24
"""Of the drawing of a model's rates, and its margins."""


def _drawn(series: Series) -> list[Picture]:
    """For each model its rate against the datasets, all on one scale, with intervals and marks of what else changed."""
    if series.rates.is_empty() or len(series.names) < 2:
        return []
    known = series.rates.drop_nulls("percent")
    ends = known.select(low=pl.coalesce("low", "percent").min(), high=pl.coalesce("high", "percent").max())
    low, high = floor(ends["low"].item() / 10) * 10, max(ceil(ends["high"].item() / 10) * 10, 10)

    def x(place: int) -> float:
        return LEFT + (WIDTH - LEFT - RIGHT) * place / (len(series.names) - 1)

    def y(percent: float) -> float:
        return float(TOP + (HEIGHT - TOP - BOTTOM) * (high - percent) / max(high - low, 1))

    marks = [(x(place), "; ".join(said)) for place, step in enumerate(series.steps, 1) if (said := changes(step))]
    ticks = [(y(each), each) for each in range(low, high + 1, 10 if high - low <= 50 else 25 if low % 25 == 0 else 20)]
    found = []
    for model in known["model"].unique(maintain_order=True).to_list()[:MOST_DRAWN]:
        rates = {each["dataset"]: each for each in known.filter(pl.col("model").eq_missing(model)).to_dicts()}
        points = [(place, rates[name]) for place, name in enumerate(series.names) if name in rates]
        drawn = [*_segments(points, x, y)]
        tips = [(x(place), y(each["percent"]), _tip(each)) for place, each in points]
        title = line(model or "all models")
        svg = render(
            "series.svg",
            **{"title": f"{title}: percent {MEASURE_NAMES[series.measure]}", "width": WIDTH, "height": HEIGHT},
            **{"left": LEFT, "right": WIDTH - RIGHT, "top": TOP, "floor": HEIGHT - BOTTOM, "ticks": ticks},
            **{"marks": marks, "segments": drawn, "points": tips, "last": points[-1][1]["percent"]},
            **{"ends": (series.names[0], series.names[-1])},
        )
        found.append(Picture(title, svg))
    return found


def _segments(points: Sequence[tuple[int, Mapping[str, Any]]], x: Any, y: Any) -> Iterator[tuple[str, str]]:
    """The line and the band of each run of datasets without a gap, as points of SVG."""
    for _, run in groupby(enumerate(points), lambda each: each[1][0] - each[0]):
        known = [(x(place), each) for _, (place, each) in run]
        line_ = " ".join(f"{at:.1f},{y(each['percent']):.1f}" for at, each in known)
        upper, lower = (
            [f"{at:.1f},{y(each['percent'] if each[end] is None else each[end]):.1f}" for at, each in known]
            for end in ("high", "low")
        )
        yield line_, " ".join([*upper, *reversed(lower)])


def _tip(found: Mapping[str, Any]) -> str:
    between = "" if found["low"] is None else f" ({found['low']:.1f} to {found['high']:.1f})"
    return f"{found['dataset']}: {found['percent']:.1f} %{between}"
