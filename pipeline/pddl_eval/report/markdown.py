"""The report as Markdown, with tables as GitHub, Pandoc and most others read them."""

from __future__ import annotations

import re

from pddl_eval.report.build import Report
from pddl_eval.report.labels import clean
from pddl_eval.report.page import Cell, Table
from pddl_eval.report.sections import facts, sections, title, warnings


def report_markdown(report: Report) -> str:
    """The whole report; what comes from the data is escaped."""
    blocks = [f"# {escape_markdown(title(report))}"]
    blocks += [f"> **Warning:** {escape_markdown(warning)}" for warning in warnings(report)]
    blocks += [escape_markdown(fact) for fact in facts(report)]
    for section in sections(report):
        blocks.append(f"## {escape_markdown(section.title)}")
        blocks += map(escape_markdown, section.paragraphs)
        for each in section.tables:
            blocks += [f"**{escape_markdown(each.caption)}**", _table(each)]
    return "\n\n".join(blocks) + "\n"


def escape_markdown(text: str) -> str:
    """The text with everything escaped that Markdown or HTML would take for markup.

    >>> escape_markdown("a|b <i>*c*")
    'a\\\\|b &lt;i>\\\\*c\\\\*'
    """
    escaped = re.sub(r"([\\`*_\[\]|~$#])", r"\\\1", clean(text).replace("&", "&amp;").replace("<", "&lt;"))
    return escaped.strip()


def _table(shown: Table) -> str:
    words = shown.labels + shown.texts
    ruler = [":--" if place < words else "--:" for place in range(len(shown.header))]
    rows = [map(escape_markdown, shown.header), ruler, *(map(_cell, row) for row in shown.rows)]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def _cell(cell: Cell) -> str:
    if not cell.minor:
        return escape_markdown(cell.text)
    if cell.minor_is_code:
        return f"{escape_markdown(cell.text)}<br>{_code(cell.minor)}"
    return f"{escape_markdown(cell.text)} ({escape_markdown(cell.minor)})"


def _code(command: str) -> str:
    """A code span, whatever the command holds; a bar would end the table's cell even there."""
    command = clean(command)
    fence = "`" * (max(map(len, re.findall("`+", command)), default=0) + 1)
    pad = " " if command.startswith("`") or command.endswith("`") else ""
    return f"{fence}{pad}{command}{pad}{fence}".replace("|", "\\|")
