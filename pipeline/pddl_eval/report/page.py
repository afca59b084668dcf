"""What a report says, in an order and in words, before anything is rendered: sections of text, tables and figures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from pddl_eval.report.labels import count, shorten
from pddl_eval.report.svg import Figure

MOST_ROWS = 60
"""Of one table on a page; the frames hold all."""


MOST_CHARACTERS = 500
"""Of one cell on a page: a name in the data can be as long as an answer."""


@dataclass(frozen=True, slots=True)
class Cell:
    """``text`` and below or behind it something ``minor``: an interval, or where ``minor_is_code`` a command."""

    text: str
    minor: str = ""
    minor_is_code: bool = False


@dataclass(frozen=True, slots=True)
class Table:
    """The first ``labels`` columns say what a row is about, the next ``texts`` are words and the rest numbers."""

    caption: str
    header: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    labels: int = 1
    texts: int = 0


@dataclass(frozen=True, slots=True)
class Section:
    """A heading and what stands below it."""

    title: str
    paragraphs: tuple[str, ...] = ()
    tables: tuple[Table, ...] = ()
    figures: tuple[Figure, ...] = ()


def table(
    caption: str, header: Sequence[str], rows: Sequence[Sequence[Cell | str]], *, labels: int = 1, texts: int = 0
) -> Table:
    """A table of at most ``MOST_ROWS`` rows; the caption says what was left out."""
    kept = tuple(tuple(map(_cell, row)) for row in rows[:MOST_ROWS])
    if len(rows) > MOST_ROWS:
        caption += f" (the first {MOST_ROWS} of {count(len(rows))}; --format csv has all)"
    names = tuple(shorten(name, MOST_CHARACTERS) for name in header)
    return Table(shorten(caption, MOST_CHARACTERS), names, kept, labels, texts)


def _cell(cell: Cell | str) -> Cell:
    if isinstance(cell, str):
        return Cell(shorten(cell, MOST_CHARACTERS))
    # A command is of use only whole.
    minor = cell.minor if cell.minor_is_code else shorten(cell.minor, MOST_CHARACTERS)
    return replace(cell, text=shorten(cell.text, MOST_CHARACTERS), minor=minor)
