"""The report as a folder of pages: the report, a table of rows to browse, a page that explains each of them.

It opens from disk, without a server, and loads nothing from the network. Memory and time are bounded: rows are read and
explained one after the other, up to a number and a time that the table of rows names. It stands here because it needs
reports and explanations, which know nothing of each other; ``Report.save`` loads it by its name.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any
from urllib.parse import urlencode

import polars as pl

from pddl_eval.datasets import Source, locate, put_bytes, read_row
from pddl_eval.errors import UserError
from pddl_eval.explain import explain_row, html_page, line_by_line, marks_of, options_of, scored_columns
from pddl_eval.pages import (
    BESIDE,
    CELL_CHARACTERS,
    FOLDED,
    Cell,
    Excerpt,
    Page,
    Section,
    Table,
    html,
    render,
)
from pddl_eval.process import reraise_interrupt
from pddl_eval.progress import progress
from pddl_eval.report import Listed, Report, listed_rows, report_page, texts_of, warnings
from pddl_eval.run import open_scored_rows
from pddl_eval.scoring.columns import PAIRS
from pddl_eval.shown import line, row_count, words

MOST_ROWS = 500
"""Rows that are explained, by default."""

MOST_LISTED = 2_000
"""Rows in the table: those that are explained, and more."""

MOST_SECONDS = 600.0
"""After this time no further row is explained: one hostile answer can take ten seconds."""

MOST_SIBLINGS = 40
"""Other answers to its question on the page of a row."""

VALUE_CHARACTERS = 200
"""Characters of a value of another column on the page of a row."""

INDEX, ROWS = "index.html", "rows.html"
FOLDER_LINKS = {"Report": f"../{INDEX}", "All rows": f"../{ROWS}"}
"""From the page of a row, or of a question."""


def write_folder(report: Report, output: str | os.PathLike[str], most: int = MOST_ROWS) -> int:
    """Write the report as a folder (or below a URI) that opens with ``index.html``; returns how many rows it explains.

    At most ``most`` rows have a page of their own. Raises ``UserError`` if the report is about a frame in memory,
    ``DatasetError`` and ``OutputError`` as other writers.
    """
    if report.place is None:
        raise UserError("a report folder links to rows of a dataset: score into a folder, then report on that")
    if most < 0:
        raise UserError(f"a report folder explains 0 rows or more, not {most}")
    place, started = locate(output), time.monotonic()
    listed = listed_rows(report, max(most, MOST_LISTED if most else 0))
    chosen = listed.frame.head(most)
    order = [*chosen.sort("right", "row")["row"]]
    pages = {row: f"rows/{row}.html" for row in order}
    maker = _RowPages(report, listed, order, FOLDER_LINKS)
    with progress(len(order), unit="rows") as bar:
        # In an order in which every model and verdict comes early, because the time can end.
        for known in chosen.iter_rows(named=True):
            put_bytes(
                place / "rows" / f"{known['row']}.html",
                maker.page(known, late=time.monotonic() - started > MOST_SECONDS).encode(),
            )
            bar.advance(1)
    for asked, text in maker.questions():
        put_bytes(place / "questions" / f"{asked}.html", text.encode())
    put_bytes(place / INDEX, html(report_page(report), links={"All rows": ROWS}, rows=pages, browse=ROWS).encode())
    shown = _rows_page(report, listed)
    about = {"notes": str(report.place), "notes-columns": "\n".join(_identity(listed))}
    browsed = html(
        shown, script=render("rows.js") + render("notes.js"), links={"Report": INDEX}, rows=pages, about=about
    )
    put_bytes(place / ROWS, browsed.encode())
    return len(order)


@dataclass(frozen=True, slots=True)
class Earlier:
    """What a row was in an earlier dataset: the dataset's name and place, the row's number and verdict there."""

    name: str
    place: str
    row: int
    verdict: str | None


def write_worse(
    report: Report,
    output: str | os.PathLike[str],
    rows: Mapping[int, Earlier],
    links: Mapping[str, str],
    seconds: float,
) -> None:
    """Write ``N.html`` into a folder for rows that got worse: why, and what is not as it was.

    After so many ``seconds`` no further row is explained.
    """
    place, started = locate(output), time.monotonic()
    listed = listed_rows(report, len(rows), [*rows])
    maker = _RowPages(report, listed, [*rows], links)
    for known in listed.frame.iter_rows(named=True):
        text = maker.page(known, late=time.monotonic() - started > seconds, earlier=rows[known["row"]])
        put_bytes(place / f"{known['row']}.html", text.encode())


class _RowPages:
    """Makes the page of each row, in the ``order`` to read."""

    def __init__(self, report: Report, listed: Listed, order: Sequence[int], links: Mapping[str, str]) -> None:
        self._report, self._listed, self._order, self._links = report, listed, order, links
        self._addresses = {row: f"{row}.html" for row in order}  # From the page of a row.
        self._source = open_scored_rows(report.place or "")[0]
        self._options = options_of(self._source)
        asked = listed.frame.filter(pl.col("asked").is_not_null() & pl.col("row").is_in(order))
        self._siblings = {part["asked"][0]: part for part in asked.sort("row").partition_by("asked")}
        self._script = render("row.js")
        self._read = dict[int, tuple[str, str]]()
        self._earlier = dict[str, Source]()

    @cached_property
    def _names(self) -> dict[str, str]:
        return scored_columns(self._source, {**(self._options.columns or {}), **self._report.columns})

    def page(self, known: Mapping[str, Any], *, late: bool, earlier: Earlier | None = None) -> str:
        """The page of a row; without an explanation where there is no time for it, or a mistake in this program."""
        row, place = int(known["row"]), self._order.index(known["row"])
        texts = texts_of(self._listed, known)
        named = [f"{name} {texts[name]}" for name in self._listed.shown if name not in self._listed.verdicts]
        title = ", ".join([f"Row {row:,} of {self._report.place}", *named])
        links, about = dict(self._links), dict[str, str]()
        if self._links == FOLDER_LINKS:
            about = {"notes": str(self._report.place), "row": urlencode([*_identity(self._listed, known).items()])}
            links["permanent link"] = f"../{ROWS}#{about['row']}&:open="
            if (first := self._asked_first(known)) is not None:
                links["beside another"] = f"../questions/{first}.html"
        for text, step in (("previous (k)", -1), ("next (j)", 1)):
            other = self._order[(place + step) % len(self._order)]
            links[text] = self._addresses[other]
        script = self._script + (render("notes.js") if about else "")
        options: dict[str, Any] = {"links": links, "rows": self._addresses, "script": script, "about": about}
        before = [*self._other_answers(known)]
        try:
            if late:
                raise UserError("the time was up; `pddl-eval explain` shows why")
            values = read_row(self._source, row, self._source.schema.names)
            if isinstance(prompt := values.get(self._listed.prompt or ""), str):
                before.insert(0, Section("Prompt", excerpts=[Excerpt("What was asked", prompt, "prompt")]))
            before += self._since(earlier, values) if earlier else []
            meant = {meaning: values[name] for meaning, name in self._names.items()}
            pair = next(pair for pair in PAIRS if isinstance(meant.get(pair.generated), str))
            explanation = explain_row(meant, options=self._options)
            self._read[row] = (meant.get(pair.reference) or "", explanation.as_read(pair.name) or meant[pair.generated])
            return html_page(
                explanation,
                title,
                around=(before, [_columns(values)]),
                **options,
            )
        except Exception as error:  # One row costs one page: it is there without an explanation.
            reraise_interrupt(error)
            return html(Page(title, (), [f"not explained: {line(str(error))}"], before), **options)

    def _since(self, earlier: Earlier, values: Mapping[str, Any]) -> list[Section]:
        """The answers of an earlier dataset, line by line beside those that changed."""
        if earlier.place not in self._earlier:
            self._earlier[earlier.place] = open_scored_rows(earlier.place)[0]
        source = self._earlier[earlier.place]
        generated = [name for pair in PAIRS if (name := self._names.get(pair.generated))]
        names = [name for name in generated if name in source.schema.names]
        texts = read_row(source, earlier.row, names)
        changed = [name for name in names if texts[name] != values[name]]
        said = f"Row {earlier.row:,}: {words(earlier.verdict or 'no verdict')}."
        if not changed:
            said += " The answer is the same: the code, a setting or the reference changed."
        tables = [
            each for name in changed for each in line_by_line(texts[name], values[name], (earlier.name, "now")).tables
        ]
        return [Section(f"On {earlier.name}", [said], tables)]

    def _asked_first(self, known: Mapping[str, Any]) -> int | None:
        """The first row of its question, by which the page of the question is named; None if it is the only one."""
        part = self._siblings.get(known["asked"])
        return None if part is None or part.height < 2 else int(part["row"][0])

    def questions(self) -> Iterator[tuple[int, str]]:
        """For each question with several answers a page: two of them beside the reference. Rows' pages come first."""
        for part in self._siblings.values():
            answers = [each for each in part.head(MOST_SIBLINGS).iter_rows(named=True) if each["row"] in self._read]
            if len(answers) < 2:
                continue
            reference = self._read[answers[0]["row"]][0]
            asked, *_ = _identity(self._listed, answers[0]).values()
            named = [_identity(self._listed, each) for each in answers]
            names = [", ".join(list(each.values())[self._listed.label in each :]) for each in named]
            texts = [self._read[each["row"]][1] for each in answers]
            heads = [Cell("", kind="other")]
            for each in answers:
                said = next(
                    (known for name in self._listed.verdicts if (known := texts_of(self._listed, each)[name])), "–"
                )
                kind = said.replace(" ", "_")
                heads.append(Cell(said, each["detail"] or "", kind=kind, address=f"../rows/{each['row']}.html"))
            cells = [Cell(reference), *(Cell(text, marks=marks_of(text, reference)) for text in texts)]
            shown = Table(
                "Marked: what is not in the reference",
                ("reference", *names),
                [heads, cells],
                0,
                len(cells),
                kind=BESIDE,
            )
            page = Page(f"Two answers to {asked}", (), (), [Section("", tables=[shown])])
            yield answers[0]["row"], html(page, script=render("beside.js"), links=FOLDER_LINKS)

    def _other_answers(self, known: Mapping[str, Any]) -> list[Section]:
        """Other samples and models, side by side."""
        part = self._siblings.get(known["asked"])
        if part is None or part.height < 2:
            return []
        header = [name for name in self._listed.shown if name != self._listed.label]
        rows = [
            [
                Cell(f"{each['row']:,}", row=None if each["row"] == known["row"] else each["row"]),
                *_cells(self._listed, each, header),
            ]
            for each in part.head(MOST_SIBLINGS).iter_rows(named=True)
        ]
        columns = ("row", *header, "detail, and how the answer begins")
        caption = f"All {part.height} answers to this question that have a page"
        return [
            Section("Same question", (), [Table(caption, columns, rows, labels=1, texts=len(columns) - 1, kind="rows")])
        ]


def _identity(listed: Listed, known: Mapping[str, Any] | None = None) -> dict[str, str]:
    """What a row is linked by for good, and the names of these columns: question, groups, sample; else its number."""
    names = [name for name in listed.shown if name not in listed.verdicts]
    if known is None:
        return dict.fromkeys(names or ["row"], "")
    texts = texts_of(listed, known)
    return {name: line(texts[name], CELL_CHARACTERS) for name in names} or {"row": str(known["row"])}


def _columns(values: Mapping[str, Any]) -> Section:
    """All values of the row."""
    text = "\n".join(
        f"{name}: {line(str(value), VALUE_CHARACTERS)}" for name, value in values.items() if value is not None
    )
    return Section("All columns", excerpts=[Excerpt(f"{len(values)} columns of the row", text, FOLDED)])


def _cells(listed: Listed, known: Mapping[str, Any], names: Sequence[str]) -> list[Cell]:
    """The texts of a row, verdicts as badges, then its detail and how the answer begins."""
    texts = texts_of(listed, known)
    cells = []
    for name in names:
        verdict = texts[name] if name in listed.verdicts else ""
        cells.append(Cell(texts[name], kind=verdict.replace(" ", "_")))
    return [*cells, Cell(known["detail"] or "", line(known["answer"] or "", VALUE_CHARACTERS))]


def _rows_page(report: Report, listed: Listed) -> Page:
    frame = listed.frame.sort("right", "row")
    below = "all are below"
    if frame.height < listed.rows:
        below = f"{frame.height:,} are below, taken in turn from every group and verdict. Shares are in the report"
    facts = [
        f"{row_count(listed.rows)}, {listed.wrong:,} with a problem, plan, domain or answer that is not right; {below}."
    ]
    names = listed.shown
    header = ("row", *names, "detail, and how the answer begins", *listed.others)
    rows = []
    for known in frame.iter_rows(named=True):
        texts = texts_of(listed, known)
        others = [Cell(line(texts[name], VALUE_CHARACTERS)) for name in listed.others]
        rows.append([Cell(f"{known['row']:,}", row=known["row"]), *_cells(listed, known, names), *others])
    filters = tuple(name for name in names if name != listed.label)
    browsed = Table(
        "Rows", header, rows, labels=1, texts=len(header) - 1, browsed=filters, hidden=listed.others, kind="rows"
    )
    return Page(f"Rows of {report.place}", warnings(report), facts, [Section("", tables=[browsed] if rows else [])])
