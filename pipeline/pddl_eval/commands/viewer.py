"""The report as a folder of pages: the report, a table of the failures to browse, a page that explains each of them.

It opens from disk, without a server, and loads nothing from the network. Memory and time are bounded: rows are read and
explained one after the other, up to a number and a time that the page of failures names.
"""

from __future__ import annotations

import os
import time

import polars as pl

from pddl_eval.datasets import locate, open_source, put_bytes
from pddl_eval.errors import UserError
from pddl_eval.explain import explain_row, html_page, row_at
from pddl_eval.pages import Cell, Page, Section, Table, html, render, words
from pddl_eval.process import reraise_interrupt
from pddl_eval.progress import progress
from pddl_eval.report import ANSWER, Report, failing_rows, report_html, warnings
from pddl_eval.scoring.scorer import scored_with
from pddl_eval.shown import line, row_count

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
    beginnings: dict[int, str] = {}
    pages: dict[int, str] = {}
    source = open_source(report.place)
    options = scored_with(source)
    with progress(found.height, unit="rows") as bar:
        # In an order in which every model and verdict comes early, because the time can end.
        for row, holder, *groups in found.select("row", ANSWER, *report.by).iter_rows():
            named = map(" ".join, zip(report.by, groups, strict=True))
            title = ", ".join([f"Row {row:,} of {report.place}", *named])
            links = {"Report": f"../{INDEX}", "All failures": f"../{FAILURES}#row-{row}"}
            try:
                known = row_at(source, row, options.columns)
                page = html_page(explain_row(known.values, options=options), title, links=links)
                answer = known.values.get(holder) or ""
                beginnings[row] = line(answer, ANSWER_CHARACTERS)
            except Exception as error:  # One row costs one page: it is shown without.
                reraise_interrupt(error)
                beginnings[row] = line(f"not explained: {error}", ANSWER_CHARACTERS)
            else:
                pages[row] = f"rows/{row}.html"
                put_bytes(place / "rows" / f"{row}.html", page.encode())
            bar.advance(1)
            if time.monotonic() - started > MOST_SECONDS:
                break
    shown = found.drop(ANSWER).head(len(beginnings)).sort("row")
    put_bytes(place / INDEX, report_html(report, links={"All failures": FAILURES}, rows=pages).encode())
    table = _failures_page(report, shown, beginnings, number, most)
    browsed = html(table, script=render("failures.js"), links={"Report": INDEX}, rows=pages)
    put_bytes(place / FAILURES, browsed.encode())
    return len(pages)


def _failures_page(report: Report, shown: pl.DataFrame, beginnings: dict[int, str], number: int, most: int) -> Page:
    """The table of failures; ``beginnings`` are those of their answers."""
    below = "all are below"
    if shown.height < number:
        why = f"{most:,} are the most that were asked for" if shown.height == most else "the time was up"
        below = (
            f"{shown.height:,} are below ({why}), taken in turn from every group and verdict. Shares are in the report"
        )
    facts = [f"{row_count(number)} of {report.rows:,} with a problem, plan or domain that is not right; {below}."]
    rows = [
        [
            Cell(f"{row:,}", row=row),
            *map(Cell, groups),
            Cell(words(verdict)),
            Cell(detail, beginnings[row]),
        ]
        for row, *groups, verdict, detail in shown.iter_rows()
    ]
    browsed = (*report.by, "verdict")
    header = ("row", *browsed, "detail, and how the answer begins")
    table = Table("Rows that are not right", header, rows, labels=1, texts=len(header) - 1, browsed=browsed)
    title = f"Failures of {report.place}"
    return Page(title, warnings(report), facts, [Section("", tables=[table] if rows else [])])
