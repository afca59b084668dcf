"""Pages: what is said in sections and tables, as text on a terminal, as Markdown and as HTML.

Whoever has something to say makes a ``Page`` of it; the renderers here know nothing of reports. Names of models and
details of verdicts come from datasets: whatever is shown passes through ``pddl_eval.shown``, and is escaped.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from textwrap import wrap
from typing import Any

import jinja2
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table as RichTable
from rich.text import Text

from pddl_eval.shown import MOST_CHARACTERS, block, line, printable

MOST_ROWS = 60
"""Rows of one table on a page."""

CELL_CHARACTERS = 500
"""Characters of one cell: a name in the data can be as long as an answer."""

LINE_CHARACTERS = 5000
"""Characters of a title, a warning or a paragraph: they can list many signatures."""

HEADING_CHARACTERS = 8
"""Width in which the heading of a column of numbers is wrapped on a terminal, where its words are not longer."""


@dataclass(frozen=True, slots=True)
class Cell:
    """A text, and below it something secondary (an interval) or the ``command`` that tells more."""

    text: str
    minor: str = ""
    command: str = ""


@dataclass(frozen=True, slots=True)
class Table:
    """The first ``labels`` columns say what a row is about, the next ``texts`` are words, the rest are numbers."""

    caption: str
    header: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    labels: int = 1
    texts: int = 0

    @property
    def words(self) -> int:
        """How many of the columns are words."""
        return self.labels + self.texts


@dataclass(frozen=True, slots=True)
class Section:
    """A heading with paragraphs and tables under it."""

    title: str
    paragraphs: Sequence[str] = ()
    tables: Sequence[Table] = ()


@dataclass(frozen=True, slots=True)
class Page:
    """A title, what the reader must know first, facts of one sentence each, and sections."""

    title: str
    warnings: Sequence[str]
    facts: Sequence[str]
    sections: Sequence[Section]


Value = Cell | str | int | float | None


def table(
    caption: str, header: Iterable[str], rows: Sequence[Sequence[Value]], *, labels: int = 1, texts: int = 0
) -> Table:
    """A table of at most ``MOST_ROWS`` rows; where there are more, its caption says so.

    An integer is shown with separators, a float (percent) with one decimal, None as a dash.

    >>> table("Rates", ["model", "rows", "percent"], [["a", 145918, 24.84], ["b", 1, None]]).rows[0][1:]
    (Cell(text='145,918', minor='', command=''), Cell(text='24.8', minor='', command=''))
    """
    if len(rows) > MOST_ROWS:
        caption += f" (the first {MOST_ROWS} of {len(rows):,}; --format json has all)"
    return Table(caption, tuple(header), tuple(tuple(map(_cell, row)) for row in rows[:MOST_ROWS]), labels, texts)


def _cell(value: Value) -> Cell:
    match value:
        case Cell():
            return value
        case float():
            return Cell(f"{value:.1f}")
        case int():
            return Cell(f"{value:,}")
    return Cell("–" if value is None else value)


def words(name: str) -> str:
    """The name of a verdict or a metric as words.

    >>> words("goal_differs")
    'goal differs'
    """
    return name.replace("_", " ")


def signed(value: float, decimals: int = 1) -> str:
    """A difference with its sign.

    >>> signed(-3.41), signed(0.0)
    ('−3.4', '+0.0')
    """
    return f"{value:+.{decimals}f}".replace("-", "−")


def row_count(number: int) -> str:
    """A number of rows in words.

    >>> row_count(1), row_count(2000)
    ('1 row', '2,000 rows')
    """
    return f"{number:,} row" if number == 1 else f"{number:,} rows"


@cache
def _environment() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("pddl_eval"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"line": line, "block": block, "printable": printable, "number": "{:,}".format}
    environment.filters |= {"cell": _in_cell, "sentence": _in_line}
    return environment


def render(template: str, *, whole: bool = True, **values: Any) -> str:
    """The HTML that a template of this package makes of the values; a fragment with its style unless ``whole``.

    A template extends ``base.html``: the head, a content policy that allows no network and no script, the one style
    sheet. Everything that is filled in is escaped.
    """
    return _environment().get_template(template).render(whole=whole, most=MOST_CHARACTERS, **values)


def markdown(page: Page) -> str:
    """The page as Markdown, with tables as GitHub, Pandoc and most others read them; all texts are escaped."""
    blocks = [f"> **Warning:** {_escaped_line(warning)}" for warning in page.warnings]
    blocks += [f"# {_escaped_line(page.title)}", *map(_escaped_line, page.facts)]
    for section in page.sections:
        blocks += [f"## {_escaped_line(section.title)}"] if section.title else []
        blocks += map(_escaped_line, section.paragraphs)
        for each in section.tables:
            ruler = [":--" if place < each.words else "--:" for place in range(len(each.header))]
            lines = [map(escape_markdown, each.header), ruler, *(map(_markdown_cell, row) for row in each.rows)]
            blocks += [f"**{escape_markdown(each.caption)}**"]
            blocks += ["\n".join(f"| {' | '.join(cells)} |" for cells in lines)]
    return "\n\n".join(blocks) + "\n"


def escape_markdown(text: str, most: int = CELL_CHARACTERS) -> str:
    """The text on one line with everything escaped that Markdown or HTML would take for markup.

    >>> escape_markdown("a|b <i>*c*")
    'a\\\\|b &lt;i>\\\\*c\\\\*'
    """
    return re.sub(r"([\\`*_\[\]|~$#])", r"\\\1", line(text, most).replace("&", "&amp;").replace("<", "&lt;"))


def _escaped_line(text: str) -> str:
    return escape_markdown(text, LINE_CHARACTERS)


def _markdown_cell(cell: Cell) -> str:
    text = escape_markdown(cell.text)
    if cell.minor:
        text += f" ({escape_markdown(cell.minor)})"
    if cell.command:
        # A code span, whatever the command holds; a bar would end the table's cell even there.
        command = printable(cell.command)
        fence = "`" * (max(map(len, re.findall("`+", command)), default=0) + 1)
        pad = " " if command.startswith("`") or command.endswith("`") else ""
        text += f"<br>{fence}{pad}{command}{pad}{fence}".replace("|", "\\|")
    return text


def print_page(page: Page, console: Console) -> None:
    """Print the page; what comes from the data is neither markup nor escape sequence."""
    for warning in page.warnings:
        console.print(Text(f"Warning: {_in_line(warning)}", style="bold red"))
    console.print(Text(_in_line(page.title), style="bold"))
    for fact in page.facts:
        console.print(Text(_in_line(fact)))
    for section in page.sections:
        if section.title:
            console.print()
            console.rule(Text(_in_line(section.title), style="bold"), align="left")
        for paragraph in section.paragraphs:
            console.print(Text(_in_line(paragraph), style="dim"))
        for each in section.tables:
            console.print()
            console.print(Text(_in_cell(each.caption), style="italic"))
            console.print(_rich_table(each))


def _rich_table(shown: Table) -> RichTable:
    drawn = RichTable(box=SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False)
    for place, name in enumerate(shown.header):
        if place < shown.words:
            drawn.add_column(Text(_in_cell(name)), overflow="fold", min_width=3)
        else:
            # Numbers stay whole, so that words give way where the terminal is narrow.
            longest = max(map(len, name.split()), default=1)
            heading = "\n".join(wrap(_in_cell(name), max(longest, HEADING_CHARACTERS)))
            drawn.add_column(Text(heading), justify="right", no_wrap=True)
    for row in shown.rows:
        drawn.add_row(*map(_rich_cell, row))
    return drawn


def _rich_cell(cell: Cell) -> Text:
    text = Text(_in_cell(cell.text))
    if cell.minor:
        text.append(f"\n{_in_cell(cell.minor)}", style="dim")
    if cell.command:
        # A command is of use only whole.
        text.append(f"\n{printable(cell.command)}", style="cyan")
    return text


def _in_cell(text: str) -> str:
    return line(text, CELL_CHARACTERS)


def _in_line(text: str) -> str:
    return line(text, LINE_CHARACTERS)
