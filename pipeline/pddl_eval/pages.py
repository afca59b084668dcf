"""Pages: sections of sentences and tables, written for a terminal, as Markdown or as HTML.

A room with something to say makes a ``Page``; the writers here know neither reports nor explanations. Names of models
and details of verdicts come from datasets: every text is cut and made printable (``pddl_eval.shown``), and escaped.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from hashlib import sha256
from io import StringIO
from textwrap import wrap
from types import MappingProxyType
from typing import Any

import jinja2
from markupsafe import Markup
from rich.box import SIMPLE_HEAD
from rich.console import Console, Group, RenderableType
from rich.rule import Rule
from rich.table import Table as RichTable
from rich.text import Text

from pddl_eval.shown import block, line, printable

MOST_ROWS = 60
"""Rows of one table on a page."""

CELL_CHARACTERS = 500
"""Characters of one cell: a name in the data can be as long as an answer."""

LINE_CHARACTERS = 5000
"""Characters of a title, a warning or a paragraph: they can list many signatures."""

EXCERPT_CHARACTERS, START_CHARACTERS = 20_000, 60
"""Characters of an excerpt in HTML, and of its start, which is all that the other formats show."""

NAME_CHARACTERS = 48
"""About the most of one name in a table on a terminal: a longer one would make its row a dozen lines."""

HEADING_CHARACTERS = 8
"""Width in which the heading of a column of numbers is wrapped on a terminal, if its words are not longer."""


@dataclass(frozen=True, slots=True)
class Cell:
    """A text, and below it something secondary (an interval) or the ``command`` that tells more.

    ``row`` is the number of the row in the dataset that the cell is about: a link, where the row has a page.
    """

    text: str
    minor: str = ""
    command: str = ""
    differs: bool = False
    row: int | None = None


@dataclass(frozen=True, slots=True)
class Table:
    """The first ``labels`` columns say what a row is about, the next ``texts`` are words, the rest are numbers.

    A reader can sort a ``browsed`` table, and filter it by those columns and by text.
    """

    caption: str
    header: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    labels: int = 1
    texts: int = 0
    browsed: Sequence[str] = ()

    @property
    def words(self) -> int:
        """How many of the columns are words."""
        return self.labels + self.texts


@dataclass(frozen=True, slots=True)
class Excerpt:
    """A part of a text as it was given; an important one has a ``kind``, which is its class in the style sheet."""

    title: str
    text: str
    kind: str = ""


@dataclass(frozen=True, slots=True)
class Section:
    """A heading (may be empty) with paragraphs, tables and excerpts under it."""

    title: str
    paragraphs: Sequence[str] = ()
    tables: Sequence[Table] = ()
    excerpts: Sequence[Excerpt] = ()


@dataclass(frozen=True, slots=True)
class Page:
    """A title, what the reader must know first, facts of one sentence each, and sections.

    ``good`` colours the title: True green, False red.
    """

    title: str
    warnings: Sequence[str]
    facts: Sequence[str]
    sections: Sequence[Section]
    good: bool | None = None


Value = Cell | str | int | float | None


def table(  # noqa: PLR0913 (what a table is made of)
    caption: str,
    header: Iterable[str],
    rows: Sequence[Sequence[Value]],
    *,
    labels: int = 1,
    texts: int = 0,
    most: int = MOST_ROWS,
) -> Table:
    """A table of at most ``most`` rows; its caption says if there are more.

    An integer is shown with separators, a float (percent) with one decimal, None as a dash.

    >>> table("Rates", ["model", "rows", "percent"], [["a", 145918, 24.84], ["b", 1, None]]).rows[0][1].text
    '145,918'
    """
    if len(rows) > most:
        caption += f" (the first {most} of {len(rows):,}; --format json has all)"
    return Table(caption, tuple(header), [tuple(map(_cell, row)) for row in rows[:most]], labels, texts)


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


def change(difference: float, low: float | None, high: float | None, decimals: int = 1) -> Cell:
    """A difference with its sign, and its interval if there is one.

    >>> change(-3.41, -7.5, 0.0) == Cell("−3.4", "−7.5 to +0.0")
    True
    """
    known = [each for each in (difference, low, high) if each is not None]
    gap, *ends = (f"{each:+.{decimals}f}".replace("-", "−") for each in known)
    return Cell(gap, " to ".join(ends))


_in_cell = partial(line, most=CELL_CHARACTERS)
_in_line = partial(line, most=LINE_CHARACTERS)


def _start(excerpt: Excerpt) -> str:
    return f"{excerpt.title}: {line(excerpt.text, START_CHARACTERS)}"


@dataclass(frozen=True, slots=True)
class Picture:
    """An SVG element, and the Vega-Lite specification of the same as a chart. Its maker has escaped the SVG."""

    caption: str
    svg: str
    chart: Mapping[str, Any] | None = None

    @property
    def json(self) -> Markup:
        """The specification as JSON that no HTML can end."""
        return Markup(re.sub("[<>&]", lambda each: f"\\u{ord(each[0]):04x}", json.dumps(self.chart)))


def html(  # noqa: PLR0913 (what a page is made of)
    page: Page,
    pictures: Mapping[str, Sequence[Picture]] = MappingProxyType({}),
    *,
    title: str | None = None,
    whole: bool = True,
    script: str = "",
    links: Mapping[str, str] = MappingProxyType({}),
    rows: Mapping[int, str] = MappingProxyType({}),
) -> str:
    """The page as HTML that loads nothing; a fragment with its style unless ``whole``.

    ``pictures`` are those of each section, by its title. ``title`` is the document's, by default the page's. ``script``
    is the only script that runs. ``links`` are addresses by their words; ``rows`` are those of the pages about rows.
    """
    # Chosen by the content, so that equal pages are equal files and no text in one can know it.
    nonce = sha256(repr((page, pictures, script)).encode("utf-8", "replace")).hexdigest()[:32]
    return render(
        "page.html",
        page=page,
        pictures=pictures,
        title=title or page.title,
        whole=whole,
        script=Markup(script),
        nonce=nonce,
        links=links,
        rows=rows,
    )


def render(template: str, **values: Any) -> str:
    """What a template of this package makes of the values; everything that is filled in is escaped."""
    return _environment().get_template(template).render(**values)


@cache
def _environment() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("pddl_eval"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"line": line, "cell": _in_cell, "sentence": _in_line, "printable": printable}
    environment.filters["block"] = partial(block, most=EXCERPT_CHARACTERS)
    return environment


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
        blocks += [escape_markdown(_start(each)) for each in section.excerpts]
    return "\n\n".join(blocks) + "\n"


def escape_markdown(text: str, most: int = CELL_CHARACTERS) -> str:
    """The text on one line with everything escaped that Markdown or HTML would take for markup.

    >>> escape_markdown("a|b <i>*c*")
    'a\\\\|b &lt;i>\\\\*c\\\\*'
    """
    return re.sub(r"([\\`*_\[\]|~$#])", r"\\\1", line(text, most).replace("&", "&amp;").replace("<", "&lt;"))


_escaped_line = partial(escape_markdown, most=LINE_CHARACTERS)


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


def terminal(page: Page) -> Group:
    """The page for rich; nothing that comes from the data is taken for markup or an escape sequence."""
    colour = {True: " green", False: " red", None: ""}[page.good]
    parts: list[RenderableType] = [Text(f"Warning: {_in_line(each)}", "bold red") for each in page.warnings]
    parts += [Text(_in_line(page.title), f"bold{colour}"), *(Text(_in_line(fact)) for fact in page.facts)]
    for section in page.sections:
        if section.title:
            parts += ["", Rule(Text(_in_line(section.title), "bold"), align="left")]
        parts += [Text(_in_line(paragraph), "dim") for paragraph in section.paragraphs]
        for each in section.tables:
            parts += ["", Text(_in_cell(each.caption), "italic"), _rich_table(each)]
        parts += [Text(_in_cell(_start(each)), "dim") for each in section.excerpts]
    return Group(*parts)


def plain(page: Page, width: int = 80) -> str:
    """What a terminal of that width shows, without colours."""
    stream = StringIO()
    Console(file=stream, width=width, color_system=None, force_terminal=False).print(terminal(page))
    return "\n".join(each.rstrip() for each in stream.getvalue().splitlines())


def _rich_table(shown: Table) -> RichTable:
    drawn = RichTable(
        box=SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False, show_edge=False, show_header=any(shown.header)
    )
    for place, name in enumerate(shown.header):
        if place < shown.words:
            drawn.add_column(Text(_in_cell(name)), overflow="fold", min_width=3 if name else None)
        else:
            # Numbers are never wrapped; words are, on a narrow terminal.
            longest = max(map(len, name.split()), default=1)
            heading = "\n".join(wrap(_in_cell(name), max(longest, HEADING_CHARACTERS)))
            drawn.add_column(Text(heading), justify="right", no_wrap=True)
    names = {word for row in shown.rows for cell in row for word in _in_cell(cell.text).split()}
    short = _short_names([name for name in names if len(name) > NAME_CHARACTERS])
    for row in shown.rows:
        drawn.add_row(*(_rich_cell(cell, short) for cell in row))
    return drawn


def _short_names(names: Sequence[str]) -> dict[str, str]:
    """Names without their middle, where that leaves them different."""
    half = NAME_CHARACTERS // 2
    short = {name: f"{name[:half]}…{name[-half:]}" for name in names}
    known = Counter(short.values())
    return {name: shown for name, shown in short.items() if known[shown] == 1}


def _rich_cell(cell: Cell, short: Mapping[str, str]) -> Text:
    shown = re.sub(r"\S+", lambda word: short.get(word[0], word[0]), _in_cell(cell.text))
    text = Text(shown, "bold red" if cell.differs else "")
    if cell.minor:
        text.append(f"\n{_in_cell(cell.minor)}", style="dim")
    if cell.command:
        # A command is only useful whole.
        text.append(f"\n{printable(cell.command)}", style="cyan")
    return text
