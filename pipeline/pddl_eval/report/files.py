"""The report as files: a page, its frames as JSON, CSV and Parquet (unrounded, as the data names things), figures."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields
from io import BytesIO
from typing import TYPE_CHECKING, Any

import polars as pl

from pddl_eval.datasets import Location, locate, put_bytes
from pddl_eval.errors import UserError
from pddl_eval.pages import Page, html, markdown, plain
from pddl_eval.report.figures import PNG_SCALE, figures, standalone
from pddl_eval.report.latex import latex
from pddl_eval.report.scored import Scored
from pddl_eval.report.sections import report_page
from pddl_eval.settings import FIGURES, chosen_format
from pddl_eval.shown import printable, row_count

if TYPE_CHECKING:
    from pddl_eval.report.build import Report


def report_html(report: Report, **options: Any) -> str:
    """The report as one page that loads nothing and runs nothing; options as those of ``pddl_eval.pages.html``."""
    return html(report_page(report), **options)


PAGE_WIDTH = 100
"""Characters in a line of a text file."""


def report_text(report: Report, form: str) -> str:
    """The report as one text: ``terminal``, ``md``, ``tex``, ``csv`` (its main table), ``json`` or ``html``."""
    if form == "csv":
        return to_csv(report.main_table())
    return report_json(report) if form == "json" else page_text(report_page(report), form)


def page_text(page: Page, form: str) -> str:
    """A page as ``terminal``, ``md``, ``tex`` or ``html``."""
    return f"{plain(page, PAGE_WIDTH)}\n" if form == "terminal" else _WRITERS[form](page)


_WRITERS: dict[str, Callable[[Page], str]] = {"md": markdown, "tex": latex, "html": html}


def save(report: Report, output: str | os.PathLike[str], form: str | None = None) -> str:
    """Write the report as what the suffix of ``output`` says, or in a format; returns what a user wants to know of it.

    Raises ``UserError`` for a suffix that is not known, ``DatasetError`` and ``OutputError`` if it cannot be written.
    """
    from pddl_eval.report.folder import INDEX, write_folder  # explains rows, which is slow to import

    place = os.fspath(output)
    chosen = chosen_format(form, place)
    if chosen == "folder":
        return f"{row_count(write_folder(report, place))} with a page each; open {place.rstrip('/')}/{INDEX}"
    if chosen in FIGURES:
        names = write_figures(report, place, chosen)
        return f"{len(names)} figure{'' if len(names) == 1 else 's'} written: {place}"
    if chosen in ("csv", "parquet"):
        write_tables(report, place, chosen)
    else:
        put_bytes(locate(place), report_text(report, chosen).encode())
    return ""


def report_json(report: Report) -> str:
    """Everything in the report, frames as lists of objects under ``tables``."""
    names = [field.name for field in fields(report)]
    simple = {name: value for name in names if not isinstance(value := getattr(report, name), pl.DataFrame)}
    known = {"signature": report.signature, **simple, "signatures": _signatures(report.signatures)}
    return to_json({**known, "tables": report.tables()})


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


def files_in(report: Report, output: str | os.PathLike[str], form: str) -> dict[Location, tuple[str, ...]]:
    """The files that ``save`` writes into a folder of tables or figures, and the columns that tell what they are."""
    place = locate(output)
    if form not in ("csv", "parquet", *FIGURES) or place.path.endswith(f".{form}"):
        return {}
    if form in FIGURES:
        return {place / f"{figure.name}.{form}": () for figure in figures(report)}
    frames = {"about": _about(report), **report.tables()}
    return {
        place / f"{name}.{form}": tuple(each for each in frame.columns if each not in report.by)
        for name, frame in frames.items()
    }


def write_tables(report: Report, output: str | os.PathLike[str], suffix: str) -> None:
    """Write the frames as ``csv`` or ``parquet``: one file each into a folder, or the rates alone into a file.

    In a folder, ``about`` has a row with the dataset's place and rows, what is missing, and how the numbers are made.

    If ``output`` ends in ``.csv`` or ``.parquet`` it names a file; it may be a URI. Raises ``DatasetError`` if it is
    not a valid place, ``OutputError`` if it cannot be written.
    """
    place = locate(output)
    files = {place / f"{name}.{suffix}": frame for name, frame in {"about": _about(report), **report.tables()}.items()}
    for file, frame in {place: report.main_table()}.items() if place.path.endswith(f".{suffix}") else files.items():
        content = BytesIO(to_csv(frame).encode() if suffix == "csv" else b"")
        if suffix == "parquet":
            frame.write_parquet(content)
        put_bytes(file, content.getvalue())


def _about(report: Report) -> pl.DataFrame:
    names = ("place", "rows", "mistakes", "failed", "missing", "unfinished", "signature")
    return pl.DataFrame([{name: getattr(report, name) for name in names}])


def write_figures(report: Report, output: str | os.PathLike[str], form: str) -> tuple[str, ...]:
    """Write every figure as ``svg``, ``png`` or ``pdf`` into a folder, or the first into a file; returns the names.

    A folder (or URI) gets ``NAME.pdf``; if ``output`` ends in ``.pdf`` it names the file. Raises ``DatasetError`` and
    ``OutputError`` as ``write_tables``, and ``UserError`` if a file is named and there is no figure.
    """
    import vl_convert  # Slow to import: it brings a JavaScript engine.

    place, found = locate(output), figures(report)
    alone = place.path.endswith(f".{form}")
    if alone and not found:
        raise UserError(f"{report.place or 'the frame'} has nothing to draw")
    found = found[:1] if alone else found
    for figure in found:
        drawn = standalone(figure)
        content = drawn.encode()
        if form == "png":
            content = vl_convert.svg_to_png(drawn, scale=PNG_SCALE)
        elif form == "pdf":
            content = vl_convert.svg_to_pdf(drawn)
        put_bytes(place if alone else place / f"{figure.name}.{form}", content)
    return tuple(figure.name for figure in found)
