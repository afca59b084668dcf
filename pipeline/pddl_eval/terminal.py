"""Pages for a terminal: a room of its own, so that who writes pages of HTML needs no rich."""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from io import StringIO
from textwrap import wrap

from rich.box import SIMPLE_HEAD
from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.measure import Measurement
from rich.rule import Rule
from rich.table import Table as RichTable
from rich.text import Text

from pddl_eval.pages import Cell, Page, Table, in_cell, in_line, start_of
from pddl_eval.shown import printable

NAME_CHARACTERS = 48
"""About the most of one name in a table on a terminal: a longer one would make its row a dozen lines."""

HEADING_CHARACTERS = 8
"""Width in which the heading of a column of numbers is wrapped on a terminal, if its words are not longer."""


def terminal(page: Page) -> Group:
    """The page for rich; nothing that comes from the data is taken for markup or an escape sequence."""
    colour = {True: " green", False: " red", None: ""}[page.good]
    parts: list[RenderableType] = [Text(f"Warning: {in_line(each)}", "bold red") for each in page.warnings]
    parts += [Text(in_line(page.title), f"bold{colour}")]
    parts += [Text(in_line(page.lead), "bold cyan")] if page.lead else []
    parts += [Text(in_line(fact)) for fact in page.facts]
    for section in page.sections:
        if section.title:
            parts += ["", Rule(Text(in_line(section.title), "bold"), align="left")]
        parts += [Text(in_line(paragraph), "dim") for paragraph in section.paragraphs]
        for each in section.written:
            parts += ["", Text(in_cell(each.caption), "italic"), _Fitted(each)]
        parts += [Text(in_cell(start_of(each)), "dim") for each in section.excerpts]
    return Group(*parts)


def plain(page: Page, width: int = 80) -> str:
    """What a terminal of that width shows, without colours."""
    stream = StringIO()
    Console(file=stream, width=width, color_system=None, force_terminal=False).print(terminal(page))
    return "\n".join(each.rstrip() for each in stream.getvalue().splitlines())


@dataclass(frozen=True, slots=True)
class _Fitted:
    """A table in the width of the console: what does not fit beside its labels comes below, under the labels again."""

    table: Table

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        places = range(self.table.words, len(self.table.header))
        while True:
            kept = len(places)
            while kept > 1 and self._least(places[:kept], console, options) > options.max_width:
                kept -= 1
            yield _rich_table(self.table, places[:kept])
            places = places[max(kept, 1) :]
            if not places:
                return
            yield ""

    def _least(self, places: Sequence[int], console: Console, options: ConsoleOptions) -> int:
        wide = options.update(max_width=sys.maxsize)
        return Measurement.get(console, wide, _rich_table(self.table, places)).minimum


def _rich_table(shown: Table, places: Sequence[int]) -> RichTable:
    """The columns of words, and of the numbers those at some places."""
    drawn = RichTable(
        box=SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False, show_edge=False, show_header=any(shown.header)
    )
    names = {word for row in shown.rows for cell in row for word in in_cell(cell.text).split()}
    short = _short_names([name for name in names if len(name) > NAME_CHARACTERS])
    for place, name in enumerate(shown.header[: shown.words]):
        longest = max((len(_rich_cell(row[place], short).plain) for row in shown.rows), default=0)
        # A name is not broken; a sentence is.
        whole = place < shown.labels and longest <= NAME_CHARACTERS // shown.labels
        least = max(longest, len(name)) if whole else 3 if name else None
        drawn.add_column(Text(in_cell(name)), overflow="fold", min_width=least, no_wrap=whole)
    for place in places:
        # Numbers are never wrapped; words are, on a narrow terminal.
        name = shown.header[place]
        longest = max(map(len, name.split()), default=1)
        heading = "\n".join(wrap(in_cell(name), max(longest, HEADING_CHARACTERS)))
        texts = (text for row in shown.rows for text in _rich_cell(row[place], short).plain.split("\n"))
        widest = max(map(len, (*heading.split("\n"), *texts)))
        drawn.add_column(Text(heading), justify="right", no_wrap=True, min_width=widest)
    for row in shown.rows:
        drawn.add_row(*(_rich_cell(row[place], short) for place in (*range(shown.words), *places)))
    return drawn


def _short_names(names: Sequence[str]) -> dict[str, str]:
    """Names without their middle, where that leaves them different."""
    half = NAME_CHARACTERS // 2
    short = {name: f"{name[:half]}…{name[-half:]}" for name in names}
    known = Counter(short.values())
    return {name: shown for name, shown in short.items() if known[shown] == 1}


def _rich_cell(cell: Cell, short: Mapping[str, str]) -> Text:
    shown = re.sub(r"\S+", lambda word: short.get(word[0], word[0]), in_cell(cell.text))
    text = Text(shown, "bold red" if cell.differs else "")
    if cell.minor:
        text.append(f"\n{in_cell(cell.minor)}", style="dim")
    if cell.command:
        # A command is only useful whole.
        text.append(f"\n{printable(cell.command)}", style="cyan")
    return text
