"""Pages: sections of sentences and tables, written as Markdown or as HTML; ``terminal`` writes them for a terminal.

A room with something to say makes a ``Page``; the writers here know neither reports nor explanations. Names of models
and details of verdicts come from datasets: every text is cut and made printable (``pddl_eval.shown``), and escaped.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from hashlib import sha256
from html import escape
from types import MappingProxyType
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from markupsafe import Markup

from pddl_eval.errors import UserError, did_you_mean
from pddl_eval.shown import block, line, printable
from pddl_eval.shown import words as words

if TYPE_CHECKING:
    import jinja2
    import polars as pl

MOST_ROWS = 60
"""Rows of one table on a page."""

CELL_CHARACTERS = 500
"""Characters of one cell: a name in the data can be as long as an answer."""

LINE_CHARACTERS = 5000
"""Characters of a title, a warning or a paragraph: they can list many signatures."""

EXCERPT_CHARACTERS, START_CHARACTERS = 20_000, 60
"""Characters of an excerpt in HTML, and of its start, which is all that the other formats show."""

Where = tuple[tuple[str, str], ...]
"""Names of columns with a value of each: the rows of a dataset that have one of the values in each of the columns."""


@dataclass(frozen=True, slots=True)
class Part:
    """A share (percent) of a bar; ``kind`` is its colour (``COLOURS``), ``tip`` says it in words."""

    share: float
    kind: str
    tip: str
    where: Where = ()


@dataclass(frozen=True, slots=True)
class Cell:
    """A text, and below it something secondary (an interval) or the ``command`` that tells more.

    ``row`` is the number of the row in the dataset that the cell is about, ``where`` says which rows are behind it:
    links, where these have pages; ``address`` is a link of its own. ``interval`` (low, value, high) is drawn on the
    table's scale, ``parts`` as a bar; ``kind`` is the colour of a badge, ``tip`` what a pointer learns. ``marks`` are
    the spans of a text of PDDL that stand out. ``bold`` is one of the best of its column, see ``Table.bold``.
    """

    text: str
    minor: str = ""
    command: str = ""
    differs: bool = False
    row: int | None = None
    where: Where = ()
    address: str = ""
    interval: tuple[float, float, float] | None = None
    parts: Sequence[Part] = ()
    kind: str = ""
    tip: str = ""
    marks: Sequence[tuple[int, int]] = ()
    bold: bool = False

    @property
    def plain(self) -> bool:
        """True if the cell is a text and nothing else."""
        own = (self.minor, self.command, self.where, self.address, self.interval, self.parts, self.kind)
        return not any(own) and self.row is None


@dataclass(frozen=True, slots=True)
class Table:
    """The first ``labels`` columns say what a row is about, the next ``texts`` are words, the rest are numbers.

    A reader can sort a ``browsed`` table, and filter it by those columns and by text. Of the ``switched`` columns a
    reader sees one, chosen by its heading, or all. Intervals are drawn on the ``scale``. ``kind`` is a class in the
    style sheet. A ``drawn`` table is for pages only; if that is False, for all other readers. The
    ``hidden`` columns of a browsed table are only shown if asked for. ``bold`` says which test
    its bold cells have passed.
    """

    caption: str
    header: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    labels: int = 1
    texts: int = 0
    browsed: Sequence[str] = ()
    switched: Sequence[int] = ()
    scale: tuple[float, float] = (0.0, 100.0)
    kind: str = ""
    drawn: bool | None = None
    hidden: Sequence[str] = ()
    bold: str = ""

    @property
    def words(self) -> int:
        """How many of the columns are words."""
        return self.labels + self.texts

    def classes(self) -> list[str]:
        """The class of each column, for cells that are not labels."""
        return [
            ("words" if name else "words mark")
            if place < self.words
            else f"m m{place - self.words + 1}" * (place in self.switched)
            for place, name in enumerate(self.header)
        ]

    def only(self, places: Sequence[int]) -> Table:
        """Some of the columns, labels first; none is chosen by its heading."""
        texts = sum(self.labels <= place < self.words for place in places)
        header = tuple(self.header[place] for place in places)
        rows = [tuple(row[place] for place in places) for row in self.rows]
        return replace(self, header=header, rows=rows, texts=texts, switched=())

    def place(self, value: float) -> str:
        """Where a value is on the scale, as CSS says it."""
        low, high = self.scale
        return f"{100 * min(1.0, max(0.0, (value - low) / (high - low))):.2f}%"


FOLDED, PDDL, DIFF, BESIDE = "folded", "pddl", "diff", "beside"
"""Kinds of excerpts, and of tables whose cells are lines of PDDL, or whole texts of which a reader sees two."""


@dataclass(frozen=True, slots=True)
class Excerpt:
    """A part of a text as it was given; an important one has a ``kind``, which is its class in the style sheet.

    ``FOLDED`` is the kind of one that a reader has to open, ``PDDL`` of one that is highlighted, as problems are, and
    ``beside`` of one that stands beside the others, highlighted.
    """

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

    @property
    def written(self) -> list[Table]:
        """The tables for a reader without pictures."""
        return [each for each in self.tables if each.drawn is not True]


@dataclass(frozen=True, slots=True)
class Page:
    """A title, what the reader must know first, facts of one sentence each, and sections.

    ``good`` colours the title: True green, False red. ``lead`` is the answer in a sentence or two. On a page of HTML
    ``badges`` stand for the title. ``methods`` is a paragraph for a paper.
    """

    title: str
    warnings: Sequence[str]
    facts: Sequence[str]
    sections: Sequence[Section]
    good: bool | None = None
    lead: str = ""
    badges: Sequence[Cell] = ()
    methods: str = ""


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


def frame_table(
    caption: str,
    frame: pl.DataFrame,
    columns: Mapping[str, str | Callable[[Mapping[str, Any]], Value]],
    **options: Any,
) -> Table:
    """A table of a frame's rows: under each heading the values of a column, or what a function makes of the row."""
    rows = frame.iter_rows(named=True)
    shown = [[each[show] if isinstance(show, str) else show(each) for show in columns.values()] for each in rows]
    return table(caption, columns, shown, **options)


def only_table(page: Page, name: str, columns: Sequence[str] | None = None) -> Page:
    """The page with one of its tables, and of its columns with numbers only some, in the order that is asked for.

    A table is named as its LaTeX label, or as its section: then all tables of it, or the first where columns are named.
    Raises ``UserError`` for others.

    >>> shown = Section("Ranking", (), [table("Rates", ["model", "rows", "percent"], [["a", 5, 24.84]])])
    >>> (section,) = only_table(Page("", (), (), [shown]), "ranking", ["percent"]).sections
    >>> section.tables[0].header
    ('model', 'percent')
    """
    known: dict[str, tuple[Section, Table]] = {}
    for section in page.sections:
        for each in section.written:
            known.setdefault(slug(section.title), (section, each))
            known.setdefault(slug(each.caption), (section, each))
    if slug(name) not in known:
        raise UserError(f"there is no table {name}; {did_you_mean(name, [*filter(None, known)], 'tables')}")
    section, shown = known[slug(name)]
    if columns is None and slug(name) == slug(section.title):
        return replace(page, lead="", facts=(), sections=[section], methods="")
    places = [*range(len(shown.header))]
    if columns is not None:
        at = {slug(each): place for place, each in enumerate(shown.header)}
        for column in columns:
            if slug(column) not in at:
                raise UserError(f"the table {name} has no column {column}; {did_you_mean(column, [*at], 'columns')}")
        wanted = [at[slug(column)] for column in columns]
        places = [*(place for place in range(shown.labels) if place not in wanted), *wanted]
    shown = shown.only(places)
    return replace(page, lead="", facts=(), sections=[Section(section.title, section.paragraphs, [shown])], methods="")


LABEL_CHARACTERS = 60


def slug(caption: str) -> str:
    """What a table is called where it is asked for, and in its label.

    >>> slug("Percent of answers, by model")
    'percent-of-answers-by-model'
    """
    return re.sub(r"[^a-z0-9]+", "-", caption.lower())[:LABEL_CHARACTERS].strip("-")


def _cell(value: Value) -> Cell:
    match value:
        case Cell():
            return value
        case float():
            return Cell(f"{value:.1f}")
        case int():
            return Cell(f"{value:,}")
    return Cell("–" if value is None else value)


def change(difference: float, low: float | None = None, high: float | None = None, decimals: int = 1) -> Cell:
    """A difference with its sign, and its interval if there is one.

    >>> change(-3.41, -7.5, 0.0) == Cell("−3.4", "−7.5 to +0.0")
    True
    """
    known = [each for each in (difference, low, high) if each is not None]
    gap, *ends = (f"{each:+.{decimals}f}".replace("-", "−") for each in known)
    return Cell(gap, " to ".join(ends))


in_cell = partial(line, most=CELL_CHARACTERS)
in_line = partial(line, most=LINE_CHARACTERS)


def start_of(excerpt: Excerpt) -> str:
    return f"{excerpt.title}: {line(excerpt.text, START_CHARACTERS)}"


COLOURS = {
    "right": ("#1a7f37", "#3fb950"),
    "goal_differs": ("#cf222e", "#f85149"),
    "init_differs": ("#c2570c", "#f0883e"),
    "unsolvable": ("#7a4fa3", "#b995e0"),
    "unparseable": ("#7a4b2a", "#c99b76"),
    "object_count": ("#2457a6", "#6ea8fe"),
    "types_differ": ("#1c7a70", "#45b8aa"),
    "invalid_atom": ("#a83a86", "#e58bc9"),
    "domain_mismatch": ("#4a5d8f", "#93a6d8"),
    "not_strips": ("#55751f", "#a3c76a"),
    "undecided": ("#6d7683", "#9aa5b4"),
    "other": ("#5a6370", "#a3adba"),
}
COLOURS |= {
    "identical": COLOURS["right"],
    "isomorphic": COLOURS["right"],
    "equivalent": COLOURS["right"],
    "renamed": COLOURS["right"],
    "valid": COLOURS["right"],
    "wrong": COLOURS["goal_differs"],
    "operators_differ": COLOURS["goal_differs"],
    "operator_count": COLOURS["object_count"],
    "precondition": COLOURS["goal_differs"],
    "duration": COLOURS["object_count"],
    "invariant": COLOURS["types_differ"],
    "constraint": COLOURS["not_strips"],
    "incomplete": COLOURS["init_differs"],
    "too_much": COLOURS["invalid_atom"],
    "goal_not_reached": COLOURS["init_differs"],
    "unknown_action": COLOURS["unsolvable"],
    "wrong_arguments": COLOURS["invalid_atom"],
    "unreadable": COLOURS["unparseable"],
    "interference": COLOURS["types_differ"],
    "empty": COLOURS["other"],
    "reference_invalid": COLOURS["undecided"],
}
"""Of each verdict, on light and on dark paper, the same in every report. Right is green, and red is only wrong."""


@dataclass(frozen=True, slots=True)
class Picture:
    """An SVG element; its maker has escaped it."""

    caption: str
    svg: str


def html(  # noqa: PLR0913 (what a page is made of)
    page: Page,
    pictures: Mapping[str, Sequence[Picture]] = MappingProxyType({}),
    *,
    title: str | None = None,
    whole: bool = True,
    script: str = "",
    links: Mapping[str, str] = MappingProxyType({}),
    rows: Mapping[int, str] = MappingProxyType({}),
    browse: str = "",
    about: Mapping[str, str] = MappingProxyType({}),
) -> str:
    """The page as HTML that loads nothing; a fragment with its style unless ``whole``.

    ``pictures`` are those of each section, by its title. ``title`` is the document's, by default the page's. ``script``
    is the only script that runs. ``links`` are addresses by their words; ``rows`` are those of the pages about rows,
    ``browse`` is that of the table of rows, which filters itself by what follows ``#``. ``about`` are texts for the
    script, by the names of ``data-`` attributes.
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
        browse=browse,
        about=about,
        style=_style(),
    )


@cache
def _style() -> Markup:
    """The style sheet: the same on every page."""
    return Markup(render("style.css"))


def render(template: str, **values: Any) -> str:
    """What a template of this package makes of the values; everything that is filled in is escaped."""
    return _environment().get_template(template).render(**values)


@cache
def _environment() -> jinja2.Environment:
    import jinja2  # here: a terminal needs no templates

    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("pddl_eval"),
        autoescape=True,
        auto_reload=False,  # Templates do not change while a program runs.
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"line": line, "cell": in_cell, "sentence": in_line, "printable": printable}
    environment.filters["pddl"] = _highlighted
    environment.filters["marked"] = _with_marks
    environment.filters["query"] = lambda where: urlencode([(in_cell(name), in_cell(value)) for name, value in where])
    environment.filters["block"] = partial(block, most=EXCERPT_CHARACTERS)
    environment.globals["verdict_colours"] = COLOURS
    return environment


_TOKENS = re.compile(
    r"(?P<c>;[^\n]*)|(?P<k>:[a-z][\w-]*|\(define\b|\(and\b|\(not\b)|(?P<v>\?[\w-]+)|(?P<t>[^;:?(]+|.)", re.I | re.S
)
"""Comments, keywords, variables, and all other text of PDDL."""


def _highlighted(text: str) -> Markup:
    """PDDL, already cut, with its comments, keywords and variables marked."""
    return Markup(_TOKENS.sub(_marked, text))


def _with_marks(cell: Cell, most: int = CELL_CHARACTERS) -> Markup:
    """A text of PDDL, highlighted, with its marks; the characters of each part are made printable."""
    text, found, last = cell.text[:most], [], 0
    for start, stop in (*cell.marks, (len(text), len(text))):
        found.append(_highlighted(block(text[last:start], most)))
        if start < stop:
            found.append(Markup("<mark>") + _highlighted(block(text[start:stop], most)) + Markup("</mark>"))
        last = max(last, stop)
    return Markup("").join(found) + "…" * (len(text) < len(cell.text))


def _marked(token: re.Match[str]) -> str:
    shown = escape(token[0])  # Not markupsafe's, which makes an object of each: pages have many thousands.
    return shown if token.lastgroup == "t" else f'<span class="{token.lastgroup}">{shown}</span>'


def markdown(page: Page) -> str:
    """The page as Markdown, with tables as GitHub, Pandoc and most others read them; all texts are escaped."""
    blocks = [f"> **Warning:** {_escaped_line(warning)}" for warning in page.warnings]
    blocks += [f"# {_escaped_line(page.title)}"]
    blocks += [f"**{_escaped_line(page.lead)}**"] if page.lead else []
    blocks += map(_escaped_line, page.facts)
    for section in page.sections:
        blocks += [f"## {_escaped_line(section.title)}"] if section.title else []
        blocks += map(_escaped_line, section.paragraphs)
        for each in section.written:
            ruler = [":--" if place < each.words else "--:" for place in range(len(each.header))]
            lines = [map(escape_markdown, each.header), ruler, *(map(_markdown_cell, row) for row in each.rows)]
            blocks += [f"**{escape_markdown(each.caption)}**"]
            blocks += ["\n".join(f"| {' | '.join(cells)} |" for cells in lines)]
        blocks += [escape_markdown(start_of(each)) for each in section.excerpts]
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
