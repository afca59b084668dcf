"""The report as files: a page, its frames as JSON, CSV and Parquet (unrounded, as the data names things), figures."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import fields
from functools import partial
from importlib import import_module
from io import BytesIO
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import polars as pl

from pddl_eval.datasets import Location, locate, put_bytes
from pddl_eval.errors import UserError, require_extra
from pddl_eval.latex import latex, paragraph
from pddl_eval.pages import LINE_CHARACTERS, Page, html, markdown, only_table
from pddl_eval.report.results import result_files, write_results
from pddl_eval.report.scored import Scored
from pddl_eval.report.sections import methods, report_page
from pddl_eval.settings import FIGURES, RESULTS, chosen_format
from pddl_eval.shown import line, printable, row_count
from pddl_eval.terminal import plain

if TYPE_CHECKING:
    from pddl_eval.report.build import Report
    from pddl_eval.report.figures import Figure


def report_html(report: Report, **options: Any) -> str:
    """The report as one page that loads nothing and runs nothing; options as those of ``pddl_eval.pages.html``."""
    return html(report_page(report), **options)


METHODS = "methods"

PAGE_WIDTH = 100
"""Characters in a line of a text file."""


def text_of(form: str, page: Callable[[], Page], main: pl.DataFrame, known: Mapping[str, Any]) -> str:
    """A report or a comparison as one text: its page for readers, its main table as CSV, all of it as JSON."""
    if form == "csv":
        return to_csv(main)
    return to_json(known) if form == "json" else page_text(page(), form)


def report_text(report: Report, form: str, table: str | None = None, columns: Sequence[str] | None = None) -> str:
    """The report as one text: ``terminal``, ``md``, ``tex``, ``csv`` (its main table), ``json`` or ``html``.

    A ``table`` is one alone, of it some ``columns`` (``pages.only_table``); the table ``methods`` is the paragraph.
    """
    if table == METHODS:
        return (paragraph if form == "tex" else line)(methods(report), LINE_CHARACTERS) + "\n"
    if table is not None:
        return page_text(only_table(report_page(report), table, columns), form)
    names = [field.name for field in fields(report)]
    simple = {name: value for name in names if not isinstance(value := getattr(report, name), pl.DataFrame)}
    known = {"signature": report.signature, **simple, "signatures": _signatures(report.signatures)}
    return text_of(form, partial(report_page, report), report.main_table(), {**known, "tables": report.tables()})


def page_text(page: Page, form: str) -> str:
    """A page as ``terminal``, ``md``, ``tex`` or ``html``."""
    return f"{plain(page, PAGE_WIDTH)}\n" if form == "terminal" else _WRITERS[form](page)


_WRITERS: dict[str, Callable[[Page], str]] = {"md": markdown, "tex": latex, "html": html}


def save(  # noqa: PLR0913 (what can be asked of a file)
    report: Report,
    output: str | os.PathLike[str],
    form: str | None = None,
    about: Mapping[str, str] = MappingProxyType({}),
    *,
    table: str | None = None,
    columns: Sequence[str] | None = None,
    wide: bool = False,
) -> str:
    """Write the report as what the suffix of ``output`` says, or in a format; returns what a user wants to know of it.

    ``about`` is what the formats of collections ask for besides (``results.ABOUT``), ``table`` and ``columns`` as in
    ``report_text``. Figures are as wide as a column (3.3 inches), or ``wide`` as the text (6.9). Raises ``UserError``
    for a suffix that is not known, ``DatasetError`` and ``OutputError`` if it cannot be written.
    """
    place = os.fspath(output)
    chosen = chosen_format(form, place)
    if chosen == "folder":
        folder = import_module("pddl_eval.commands.folder")  # By name: it explains rows, so it stands above this room.
        rows = folder.write_folder(report, place)
        return f"{row_count(rows)} with a page each; open {place.rstrip('/')}/{folder.INDEX}"
    if chosen in RESULTS:
        files = write_results(report, locate(place), chosen, about)
        return f"results of {files} model{'' if files == 1 else 's'} written: {place}"
    if chosen not in (*FRAMES, *FIGURES):
        put_bytes(locate(place), report_text(report, chosen, table, columns).encode())
        return ""
    found = _files(report, place, chosen)
    for file, shown in found.items():
        put_bytes(file, _content(shown, chosen, wide=wide))
    return f"{len(found)} figure{'' if len(found) == 1 else 's'} written: {place}" if chosen in FIGURES else ""


FRAMES = ("csv", "parquet")
"""Formats of frames: one file each into a folder, or the main one into a file."""


def to_json(known: Mapping[str, Any]) -> str:
    """JSON of values that may be frames (lists of objects) or scored datasets."""
    text = json.dumps(known, ensure_ascii=False, indent=1, default=_plain) + "\n"
    # The escapes of JSON for what is not printable and stands only inside strings.
    return re.sub(r"[^\n -~]", lambda each: each[0] if each[0].isprintable() else json.dumps(each[0])[1:-1], text)


def to_csv(frame: pl.DataFrame) -> str:
    """CSV with printable names and texts: they come from the data, and CSV has no escapes for the rest.

    An apostrophe goes before a text that a spreadsheet would take for a formula.

    >>> to_csv(pl.DataFrame({"model": ["=1+1"], "difference": [-0.5]}))
    "model,difference\\n'=1+1,-0.5\\n"
    """
    printed = frame.with_columns(pl.col(pl.String).map_elements(_cell, return_dtype=pl.String))
    return printed.rename(_cell).write_csv()


def _cell(text: str) -> str:
    return f"'{printable(text)}" if text.startswith(("=", "+", "-", "@", "\t", "\r")) else printable(text)


def _plain(value: object) -> object:
    if isinstance(value, pl.DataFrame):
        return value.to_dicts()
    if isinstance(value, Scored):
        return {"place": value.place, "rows": value.rows, "signatures": _signatures(value.signatures)}
    return str(value)


def _signatures(signatures: Iterable[tuple[str | None, int]]) -> list[dict[str, str | int | None]]:
    return [{"signature": signature, "rows": rows} for signature, rows in signatures]


def files_in(
    report: Report, output: str | os.PathLike[str], form: str, about: Mapping[str, str] = MappingProxyType({})
) -> dict[Location, tuple[str, ...]]:
    """The files that ``save`` writes into a folder of tables, figures or results; columns that tell what they are."""
    if form in RESULTS:
        return dict.fromkeys(result_files(report, locate(output), form, about), ())
    if form not in (*FRAMES, *FIGURES) or locate(output).path.endswith(f".{form}"):
        return {}
    return {
        file: tuple(each for each in shown.columns if each not in report.by) if isinstance(shown, pl.DataFrame) else ()
        for file, shown in _files(report, output, form).items()
    }


def _files(report: Report, output: str | os.PathLike[str], form: str) -> dict[Location, pl.DataFrame | Figure]:
    """What is written where: ``NAME.csv`` of each frame or figure into a folder, the first into ``output.csv``.

    In a folder of frames ``about`` has the dataset's place and rows, what is missing, and how the numbers are made.
    Raises ``UserError`` if a file is named and there is no figure.
    """
    place = locate(output)
    alone = place.path.endswith(f".{form}")
    if form in FIGURES:
        require_extra("figures", "A report with figures")
        from pddl_eval.report.figures import figures  # slow to import, and an extra

        found = figures(report)
        if alone and not found:
            raise UserError(f"{report.place or 'the frame'} has nothing to draw")
        return {place if alone else place / f"{each.name}.{form}": each for each in (found[:1] if alone else found)}
    names = ("place", "rows", "mistakes", "failed", "missing", "unfinished", "signature")
    about = pl.DataFrame([{name: getattr(report, name) for name in names}])
    frames = {"about": about, **report.tables()}
    return {place: report.main_table()} if alone else {place / f"{name}.{form}": each for name, each in frames.items()}


def _content(shown: pl.DataFrame | Figure, form: str, *, wide: bool) -> bytes:
    if not isinstance(shown, pl.DataFrame):
        from pddl_eval.report.figures import drawn_as  # loaded with the figure

        return drawn_as(shown, form, wide=wide)
    content = BytesIO(to_csv(shown).encode() if form == "csv" else b"")
    if form == "parquet":
        shown.write_parquet(content)
    return content.getvalue()
