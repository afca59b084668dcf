"""In words and tables: the rates, the models compared, the rates against size."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from pddl_eval.report.build import Report
from pddl_eval.report.figures import rate_figures, size_figures
from pddl_eval.report.groups import levels
from pddl_eval.report.labels import MEASURE_NAMES, count, interval, percent, signed
from pddl_eval.report.page import Cell, Section, Table, table
from pddl_eval.report.rates import PLAN_MEASURES, PROBLEM_MEASURES, at_level, main_measure

MOST_COLUMNS = 10
"""Sizes side by side in a table of groups."""


def rates_section(report: Report) -> Section | None:
    """Percent parseable, solvable and equivalent; None where no problems were scored."""
    tables = rate_tables(report, PROBLEM_MEASURES)
    if not tables:
        return None
    paragraphs = [
        "Percent of rows with 95 % intervals (Wilson). “Ignoring types” is equivalence with every object's type erased."
    ]
    together = at_level(report.rates, report.by, ()).filter(pl.col("undecided") > 0)
    undecided = [
        f"{MEASURE_NAMES[measure]} in {count(number)} ({percent(100 * (yes + number) / rows)} % were these all yes)"
        for measure, rows, yes, number in together.select("measure", "rows", "yes", "undecided").iter_rows()
        if measure in PROBLEM_MEASURES
    ]
    if undecided:
        paragraphs.append(f"Rows that are not decided count as no. Not decided: {', '.join(undecided)}.")
    return Section("Rates", tuple(paragraphs), tables, rate_figures(report, PROBLEM_MEASURES))


def rate_tables(report: Report, names: Sequence[str]) -> tuple[Table, ...]:
    """A table for each level of grouping, one column a measure."""
    shown = [name for name in names if name in report.rates["measure"].unique()] if report.rates.height else []
    return tuple(_rate_table(report, level, shown) for level in levels(report.by)) if shown else ()


def _rate_table(report: Report, level: Sequence[str], names: Sequence[str]) -> Table:
    frame = at_level(report.rates, report.by, level).filter(pl.col("measure").is_in(names))
    rows: dict[tuple[str, ...], list[Cell | str]] = {}
    undecided: dict[tuple[str, ...], int] = {}
    for record in frame.iter_rows(named=True):
        key = tuple(record[name] for name in level) or ("all rows",)
        row = rows.setdefault(key, [*key, count(record["rows"])])
        row.append(_rate(record))
        undecided[key] = max(undecided.get(key, 0), record["undecided"])
    header = [*(level or [""]), "rows", *(MEASURE_NAMES[name] for name in names)]
    if any(undecided.values()) and len(level) < 2:
        header.append("undecided")
        for key, number in undecided.items():
            rows[key].append(count(number))
    what = "Percent of plans" if names[0] in PLAN_MEASURES else "Percent of answers"
    caption = f"{what}, by {' and '.join(level)}" if level else f"{what}, all rows together"
    return table(caption, header, list(rows.values()), labels=max(1, len(level)))


def differences_section(report: Report) -> Section | None:
    """Each two models on the problems that both answered; None where there are no two."""
    if report.differences.is_empty():
        return None
    measure = main_measure(report.differences["measure"].unique().to_list())
    rows = [
        [
            record["first"],
            record["second"],
            count(record["problems"]),
            Cell(signed(record["difference"]), f"{signed(record['low'])} to {signed(record['high'])}"),
            count(record["only_first"]),
            count(record["only_second"]),
        ]
        for record in report.differences.filter(pl.col("measure") == measure).iter_rows(named=True)
    ]
    header = ("first", "second", "problems", "first − second", "only first", "only second")
    compared = table(f"Difference in percent {MEASURE_NAMES[measure]}", header, rows, labels=2)
    how = (
        "Differences in percentage points, with 95 % intervals from a paired bootstrap, over the problems that both "
        f"answered (the same {report.paired_on}). “Only first”: problems on which the first did better."
    )
    return Section(f"Compared on the same problems, by {report.by[0]}", (how,), (compared,))


def sizes_section(report: Report) -> Section | None:
    """Rates against the size of the reference; None where it is not known."""
    if report.sizes.is_empty():
        return None
    names = [name for name in PROBLEM_MEASURES if name in report.sizes["measure"].unique()]
    names = names or [name for name in PLAN_MEASURES if name in report.sizes["measure"].unique()]
    alone = at_level(report.sizes, report.by[:1], ())
    rows: dict[str, list[Cell | str]] = {}
    for record in alone.filter(pl.col("measure").is_in(names)).iter_rows(named=True):
        row = rows.setdefault(record["problem_size"], [record["problem_size"], count(record["rows"])])
        row.append(_rate(record))
    size = str(report.size)
    header = [size, "rows", *(MEASURE_NAMES[name] for name in names)]
    tables = [table(f"Percent of answers by {size}, all rows together", header, list(rows.values()))]
    if report.by:
        tables += _sizes_by_group(report, names)
    return Section("Score against size", (), tuple(tables), size_figures(report))


def _sizes_by_group(report: Report, names: Sequence[str]) -> list[Table]:
    first, shown = report.by[0], main_measure(names)
    frame = report.sizes.filter(pl.col("measure") == shown)
    sizes = frame.filter(pl.col(first).is_null())["problem_size"].to_list()
    if len(sizes) > MOST_COLUMNS:
        return []
    groups = frame[first].drop_nulls().unique(maintain_order=True).to_list()
    rates = {(group, size): rate for group, size, rate in frame.select(first, "problem_size", "percent").iter_rows()}
    rows = [[group, *(percent(rates.get((group, size))) for size in sizes)] for group in groups]
    return [table(f"Percent {MEASURE_NAMES[shown]} by {first} and {report.size}", [first, *sizes], rows)]


def _rate(record: dict[str, float | None]) -> Cell:
    return Cell(percent(record["percent"]), interval(record["low"], record["high"]))
