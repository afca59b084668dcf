"""The report as a folder of pages: the report, a table of the failures to browse, a page that explains each of them.

It opens from disk, without a server, and loads nothing from the network. Memory and time are bounded: rows are read and
explained one after the other, up to a number and a time that the page of failures names.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator

import polars as pl

from pddl_eval.errors import UserError
from pddl_eval.explain import explain, html_page
from pddl_eval.metrics import Row
from pddl_eval.options import MEANINGS, ScoringOptions
from pddl_eval.pages import Cell, Excerpt, Page, Section, Table, html, render, row_count, words
from pddl_eval.progress import progress
from pddl_eval.report import Report, failing_rows, report_html, warnings
from pddl_eval.run import locate, open_source, put_bytes, read_row, scored_with
from pddl_eval.shown import line

MOST_FAILURES = 500
"""Failures that are shown and explained, by default."""

MOST_SECONDS = 600.0
"""After this time no further row is explained: one hostile answer can take ten seconds."""

ANSWER_CHARACTERS = 200
"""How much of an answer the table shows and searches."""

INDEX, FAILURES = "index.html", "failures.html"


def write_folder(report: Report, output: str | os.PathLike[str], most: int = MOST_FAILURES) -> int:
    """Write the report as a folder (or below a URI) that opens with ``index.html``; returns how many rows it explains.

    At most ``most`` failures are shown, each with a page of its own. Raises ``UserError`` if the report is about a
    frame in memory, ``DatasetError`` and ``OutputError`` as other writers.
    """
    if report.place is None:
        raise UserError("a report folder links to rows of a dataset: score into a folder, then report on that")
    if most < 0:
        raise UserError(f"a report folder shows 0 failures or more, not {most}")
    place, started = locate(output), time.monotonic()
    found, number = failing_rows(report, most)
    answers: dict[int, str] = {}
    with progress(found.height, unit="rows") as pace:
        # In an order in which every model and verdict comes early, because the time can end.
        for row, (title, values, options) in zip(found["row"], _rows(report, found), strict=True):
            links = {"Report": f"../{INDEX}", "All failures": f"../{FAILURES}#row-{row}"}
            put_bytes(place / "rows" / f"{row}.html", _explained(values, options, title, links).encode())
            answers[row] = next(
                (line(str(values[each]), ANSWER_CHARACTERS) for each in ANSWERS if values.get(each)), ""
            )
            pace.advance(1)
            if time.monotonic() - started > MOST_SECONDS:
                break
    pages = {row: f"rows/{row}.html" for row in answers}
    shown = found.head(len(answers)).sort("row")
    put_bytes(place / INDEX, report_html(report, links={"All failures": FAILURES}, rows=pages).encode())
    browsed = html(
        _failures_page(report, shown, answers, number, most),
        script=render("failures.js"),
        links={"Report": INDEX},
        rows=pages,
    )
    put_bytes(place / FAILURES, browsed.encode())
    return len(answers)


ANSWERS = tuple(meaning for meaning in MEANINGS if meaning.startswith("generated_"))


def _rows(report: Report, found: pl.DataFrame) -> Iterator[tuple[str, Row, ScoringOptions]]:
    """What names each row, its values by meaning, and how it was scored."""
    source = open_source(str(report.place))
    options = scored_with(source)
    names = {meaning: name for meaning in MEANINGS if (name := options.column(meaning)) in source.schema.names}
    for row, *groups in found.select("row", *report.by).iter_rows():
        known = read_row(source, row, [*names.values()])
        values = {meaning: known.get(names.get(meaning, "")) for meaning in MEANINGS}
        title = ", ".join([f"Row {row:,} of {report.place}", *map(" ".join, zip(report.by, groups, strict=True))])
        yield title, values, options


def _explained(values: Row, options: ScoringOptions, title: str, links: dict[str, str]) -> str:
    """The page of a row."""
    if values["generated_problem"] is not None or values["reference_problem"] is not None:
        explanation = explain(
            values["reference_problem"],
            values["generated_problem"],
            is_placeholder=bool(values["is_placeholder"]),
            domain=values["domain"] or options.domain,
        )
        return html_page(explanation, title, links=links)
    texts = [Excerpt(words(name), str(text), "problem") for name, text in values.items() if text is not None]
    return html(Page(title, (), (), [Section("", excerpts=texts)]), links=links)


def _failures_page(report: Report, shown: pl.DataFrame, answers: dict[int, str], number: int, most: int) -> Page:
    """The table of the failures that have a page."""
    facts = [f"{row_count(number)} of {report.rows:,} with a problem, plan or domain that is not right; all are below."]
    if shown.height < number:
        why = f"{most:,} are the most that were asked for" if shown.height == most else "the time was up"
        facts = [
            f"{row_count(number)} of {report.rows:,} with a problem, plan or domain that is not right; "
            f"{shown.height:,} are below ({why}), taken in turn from every group and verdict. Shares are in the report."
        ]
    rows = [
        [Cell(f"{row:,}", row=row), *map(Cell, groups), Cell(words(verdict)), Cell(detail, answers[row])]
        for row, *groups, verdict, detail in shown.iter_rows()
    ]
    browsed = (*report.by, "verdict")
    header = ("row", *browsed, "detail, and how the answer begins")
    table = Table("Rows that are not right", header, rows, labels=1, texts=len(header) - 1, browsed=browsed)
    title = f"Failures of {report.place}"
    return Page(title, warnings(report), facts, [Section("", tables=[table] if rows else [])])
