"""What a report says to people: title, warnings, facts, and sections of tables. It computes nothing."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import polars as pl

from pddl_eval.pages import Cell, Page, Section, Table, Value, row_count, signed, table, words
from pddl_eval.report.build import Report
from pddl_eval.report.groups import at_level, levels
from pddl_eval.report.numbers import PLAN_MEASURES, PROBLEM_MEASURES, QUANTILES, RIGHT, main_measure
from pddl_eval.report.scored import DOMAIN_COLUMNS, FRACTIONS, PLAN_COLUMNS
from pddl_eval.verdict import Verdict

MEASURE_NAMES = {
    **{name: words(name) for name in PROBLEM_MEASURES + PLAN_MEASURES},
    "equivalent_untyped": "ignoring types",
}

MOST_SIZES = 10
"""Sizes side by side in a table of groups."""

MOST_METRICS = 6
"""Metrics side by side in a table of means."""

MOST_VERDICTS = 6
"""Verdicts in a column of their own in the table by groups."""

MOST_KINDS = 12
"""Kinds of detail on the page."""

MAIN_VERDICTS = 5
"""The commonest verdicts, of which the page shows example rows; besides, mistakes in the data and the undecided."""

RATES, FAILURES, SIZES, PLANS, DOMAINS = "Rates", "Why answers fail", "Score against size", "Plans", "Domains"
"""Titles of the sections that have figures."""


def report_page(report: Report) -> Page:
    """The report as a page: only sections for which there is something to say."""
    parts = (_rates(report), _differences(report), _failures(report), _sizes(report), *_metrics(report))
    title = f"Scores of {report.place}" if report.place is not None else "Scores"
    return Page(title, warnings(report), _facts(report), [section for section in parts if section is not None])


def warnings(report: Report) -> tuple[str, ...]:
    """What a reader must know before comparing any of the numbers."""
    if len(report.signatures) < 2:
        return ()
    listed = "; ".join(f"{signature or 'no signature'} ({row_count(rows)})" for signature, rows in report.signatures)
    return (f"The rows were scored in different ways and their scores are not comparable. Signatures: {listed}.",)


def _facts(report: Report) -> list[str]:
    found = [f"{row_count(report.rows)}."]
    if report.mistakes:
        found.append(
            f"{row_count(report.mistakes)} left out of all rates and metrics: the reference cannot be read or solved, "
            "a mistake in the data."
        )
    if report.failed:
        found.append(f"{row_count(report.failed)} not scored (the column score_error says why), counted as undecided.")
    if len(report.signatures) == 1 and report.signatures[0][0] is not None:
        found.append(f"Signature: {report.signatures[0][0]}")
    return found


def _rates(report: Report) -> Section | None:
    tables = _rate_tables(report, PROBLEM_MEASURES)
    if not tables:
        return None
    paragraphs = [
        "Percent of rows with 95 % intervals (Wilson). “Ignoring types” is equivalence with every object's type erased."
    ]
    together = at_level(report.rates, report.by, ()).filter(
        pl.col("undecided") > 0, pl.col("measure").is_in(PROBLEM_MEASURES)
    )
    undecided = [
        f"{MEASURE_NAMES[measure]} in {number:,} ({100 * (yes + number) / rows:.1f} % were these all yes)"
        for measure, rows, yes, number in together.select("measure", "rows", "yes", "undecided").iter_rows()
    ]
    if undecided:
        paragraphs.append(f"Rows that are not decided count as no. Not decided: {', '.join(undecided)}.")
    return Section(RATES, paragraphs, tables)


def _rate_tables(report: Report, names: Sequence[str]) -> list[Table]:
    """A table for each level of grouping, one column a measure."""
    if report.rates.is_empty():
        return []
    frame = report.rates.filter(pl.col("measure").is_in(names))
    what = "Percent of plans" if names == PLAN_MEASURES else "Percent of answers"
    return [
        _rate_table(
            f"{what}, by {' and '.join(level)}" if level else f"{what}, all rows together",
            at_level(frame, report.by, level),
            level,
            shows_undecided=len(level) < 2,
        )
        for level in levels(report.by)
        if frame.height
    ]


def _rate_table(caption: str, frame: pl.DataFrame, keys: Sequence[str], *, shows_undecided: bool = False) -> Table:
    """A row for each value of the keys, a column for each measure."""
    lines: dict[tuple[str, ...], list[Value]] = {}
    undecided: dict[tuple[str, ...], int] = {}
    for record in frame.iter_rows(named=True):
        key = tuple(record[name] for name in keys) or ("all rows",)
        lines.setdefault(key, [*key, record["rows"]]).append(_rate(record))
        undecided[key] = max(undecided.get(key, 0), record["undecided"])
    measures = frame["measure"].unique(maintain_order=True)
    header = [*(keys or [""]), "rows", *(MEASURE_NAMES[name] for name in measures)]
    if shows_undecided and any(undecided.values()):
        header.append("undecided")
        for key, number in undecided.items():
            lines[key].append(number)
    return table(caption, header, [*lines.values()], labels=max(1, len(keys)))


def _rate(record: Mapping[str, Any]) -> Cell:
    if record["percent"] is None:
        return Cell("–")
    return Cell(f"{record['percent']:.1f}", f"{record['low']:.1f}–{record['high']:.1f}")


def _by_group(
    caption: str,
    frame: pl.DataFrame,
    shown: Mapping[str, str],
    show: Callable[[str, float | None], Value] = lambda _, value: value,
) -> Table:
    """A table of a frame of groups, names and values: a row for each group, a column for each of the headings."""
    first = frame.columns[0]
    cells = {(group, name): value for group, name, value in frame.drop_nulls(first).iter_rows()}
    groups = dict.fromkeys(group for group, _ in cells)
    lines = [[group, *(show(name, cells.get((group, name))) for name in shown)] for group in groups]
    return table(caption, [first, *shown.values()], lines)


def _differences(report: Report) -> Section | None:
    if report.differences.is_empty():
        return None
    measure = main_measure(report.differences["measure"].unique().to_list())
    lines = [
        [
            record["first"],
            record["second"],
            record["problems"],
            Cell(signed(record["difference"]), f"{signed(record['low'])} to {signed(record['high'])}"),
            record["only_first"],
            record["only_second"],
        ]
        for record in report.differences.filter(measure=measure).iter_rows(named=True)
    ]
    header = ("first", "second", "problems", "first − second", "only first", "only second")
    how = (
        "Differences in percentage points, with 95 % intervals from a paired bootstrap, over the problems that both "
        f"answered (the same {report.paired_on}). “Only first”: problems on which the first did better."
    )
    compared = table(f"Difference in percent {MEASURE_NAMES[measure]}", header, lines, labels=2)
    return Section(f"Compared on the same problems, by {report.by[0]}", [how], [compared])


def _failures(report: Report) -> Section | None:
    if report.verdicts.is_empty():
        return None
    how = (
        "Verdicts in percent of all rows. Details that differ only in names count together: the arguments of an atom "
        "are written …, digits are written #."
    )
    alone = at_level(report.verdicts, report.by, ()).select("verdict", "rows", "percent").rows()
    meanings = {verdict.value: verdict.meaning for verdict in Verdict}
    lines = [[words(verdict), meanings.get(verdict, ""), rows, share] for verdict, rows, share in alone]
    tables = [table("Verdicts", ("verdict", "meaning", "rows", "percent"), lines, texts=1)]
    if report.by:
        tables.append(_verdicts_by_group(report, [verdict for verdict, *_ in alone if verdict not in RIGHT]))
    if not report.details.is_empty():
        caption = "Commonest details, in percent of the rows that are not right"
        lines = [[words(verdict), *rest] for verdict, *rest in report.details.head(MOST_KINDS).iter_rows()]
        tables.append(table(caption, ("verdict", "detail", "rows", "percent"), lines, texts=1))
        tables += _example_tables(report)
    return Section(FAILURES, [how], tables)


def _verdicts_by_group(report: Report, wrong: Sequence[str]) -> Table:
    first = report.by[0]
    alone = at_level(report.verdicts, report.by, report.by[:1])
    is_right = pl.col("verdict").is_in(RIGHT)
    name = pl.when(is_right).then(pl.lit("right")).otherwise("verdict").alias("verdict")
    shares = alone.group_by(first, name, maintain_order=True).agg(pl.col("percent").sum())
    shown = {each: words(each) for each in ("right", *wrong[:MOST_VERDICTS])}
    return _by_group(f"Commonest verdicts in percent, by {first}", shares, shown, lambda _, share: share or 0.0)


def _example_tables(report: Report) -> list[Table]:
    header = (f"row ({', '.join(report.by)})" if report.by else "row", "detail, and the command that explains it")
    tables = []
    for place, ((verdict,), frame) in enumerate(report.examples.group_by("verdict", maintain_order=True)):
        if place < MAIN_VERDICTS or verdict in (Verdict.UNDECIDED, Verdict.REFERENCE_INVALID):
            lines = [
                [
                    Cell(str(record["row"]), ", ".join(record[name] for name in report.by)),
                    Cell(record["detail"] or "", command=record["command"] or ""),
                ]
                for record in frame.iter_rows(named=True)
            ]
            tables.append(table(f"Examples: {words(str(verdict))}", header, lines, texts=1))
    return tables


def _sizes(report: Report) -> Section | None:
    if report.sizes.is_empty():
        return None
    known = report.sizes["measure"].unique()
    names = [name for name in PROBLEM_MEASURES if name in known] or [name for name in PLAN_MEASURES if name in known]
    size = str(report.size)
    alone = at_level(report.sizes, report.by[:1], ()).filter(pl.col("measure").is_in(names))
    caption = f"Percent of answers by {size}, all rows together"
    tables = [_rate_table(caption, alone.drop(report.by[:1]).rename({"problem_size": size}), [size])]
    shown = alone["problem_size"].unique(maintain_order=True).to_list()
    if report.by and len(shown) <= MOST_SIZES:
        measure = main_measure(names)
        caption = f"Percent {MEASURE_NAMES[measure]} by {report.by[0]} and {size}"
        rates = report.sizes.filter(measure=measure).select(report.by[0], "problem_size", "percent")
        tables.append(_by_group(caption, rates, dict(zip(shown, shown, strict=True))))
    return Section(SIZES, (), tables)


def _metrics(report: Report) -> list[Section | None]:
    """Plans and domains: valid plans, then means and quantiles of the metrics."""
    found = []
    for title, columns, tables in (
        (PLANS, PLAN_COLUMNS, _rate_tables(report, PLAN_MEASURES)),
        (DOMAINS, DOMAIN_COLUMNS, []),
    ):
        if not report.metrics.is_empty():
            frame = report.metrics.filter(pl.col("metric").is_in(columns))
            tables += _metric_tables(frame, report.by[:1]) if frame.height else []
        paragraph = "Rates, means and quantiles over the rows that have a value."
        found.append(Section(title, [paragraph], tables) if tables else None)
    return found


def _metric_tables(frame: pl.DataFrame, by: Sequence[str]) -> list[Table]:
    statistics = ("mean", "sd", *QUANTILES)
    lines = [
        [words(record["metric"]), record["rows"], *(_metric(record["metric"], record[each]) for each in statistics)]
        for record in at_level(frame, by, ()).iter_rows(named=True)
    ]
    tables = [table("Metrics, all rows together", ("metric", "rows", *statistics), lines)]
    names = frame["metric"].unique(maintain_order=True).to_list()
    for first in by:
        means = frame.select(first, "metric", "mean")
        for start in range(0, len(names), MOST_METRICS):
            shown = {name: words(name) for name in names[start : start + MOST_METRICS]}
            tables.append(_by_group(f"Means of metrics by {first}", means, shown, _metric))
    return tables


def _metric(name: str, value: float | None) -> Value:
    """Three decimals of a fraction, one of a number of steps."""
    return value if value is None else f"{value:.3f}" if name in FRACTIONS else f"{value:,.1f}"
