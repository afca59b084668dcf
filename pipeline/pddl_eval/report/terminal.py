"""The report on a terminal, 80 columns wide or more, plain where it is no terminal."""

from __future__ import annotations

from textwrap import wrap
from typing import TYPE_CHECKING

from pddl_eval.report.build import Report
from pddl_eval.report.labels import clean
from pddl_eval.report.page import Cell, Table
from pddl_eval.report.sections import facts, sections, title, warnings

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table as RichTable
    from rich.text import Text


HEADING = 8
"""Characters in a line of the heading over a column of numbers, where its words are not longer."""


def print_report(report: Report, console: Console) -> None:
    """Print every section; what comes from the data is neither markup nor escape sequence."""
    from rich.text import Text

    console.print(Text(clean(title(report)), style="bold"))
    for warning in warnings(report):
        console.print(Text(f"Warning: {clean(warning)}", style="bold red"))
    for fact in facts(report):
        console.print(Text(clean(fact)))
    for section in sections(report):
        console.print()
        console.rule(Text(clean(section.title), style="bold"), align="left")
        for paragraph in section.paragraphs:
            console.print(Text(clean(paragraph), style="dim"))
        for each in section.tables:
            console.print()
            console.print(Text(clean(each.caption), style="italic"))
            console.print(_table(each))


def _table(shown: Table) -> RichTable:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table as RichTable
    from rich.text import Text

    drawn = RichTable(box=SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False)
    words = shown.labels + shown.texts
    for place, name in enumerate(shown.header):
        if place < words:
            drawn.add_column(Text(clean(name)), overflow="fold", min_width=3)
        else:
            # Numbers stay whole, so that words give way where the terminal is narrow.
            longest = max(map(len, name.split()), default=1)
            heading = "\n".join(wrap(clean(name), max(longest, HEADING)))
            drawn.add_column(Text(heading), justify="right", no_wrap=True)
    for row in shown.rows:
        drawn.add_row(*map(_cell, row))
    return drawn


def _cell(cell: Cell) -> Text:
    from rich.text import Text

    text = Text(clean(cell.text))
    if cell.minor:
        text.append(f"\n{clean(cell.minor)}", style="cyan" if cell.minor_is_code else "dim")
    return text
