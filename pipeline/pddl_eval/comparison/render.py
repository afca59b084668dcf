"""A comparison on a terminal, as Markdown and as JSON."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from pddl_eval.comparison.compare import Comparison
from pddl_eval.comparison.page import facts, tables, title, warning
from pddl_eval.report.labels import clean
from pddl_eval.report.markdown import escape_markdown
from pddl_eval.report.page import Cell, Table

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table as RichTable


def print_comparison(comparison: Comparison, console: Console) -> None:
    """Print it, different signatures first; what comes from the data is neither markup nor escape sequence."""
    from rich.text import Text

    warned = warning(comparison)
    if warned:
        console.print(Text(f"Warning: {clean(warned)}", style="bold red"))
    console.print(Text(clean(title(comparison)), style="bold"))
    for fact in facts(comparison):
        console.print(Text(clean(fact)))
    for each in tables(comparison):
        console.print()
        console.print(Text(clean(each.caption), style="italic"))
        console.print(_drawn(each))


def comparison_markdown(comparison: Comparison) -> str:
    """The same as Markdown; what comes from the data is escaped."""
    warned = warning(comparison)
    blocks = [f"> **Warning:** {escape_markdown(warned)}"] if warned else []
    blocks.append(f"# {escape_markdown(title(comparison))}")
    blocks += map(escape_markdown, facts(comparison))
    for each in tables(comparison):
        blocks += [f"**{escape_markdown(each.caption)}**", _markdown(each)]
    return "\n\n".join(blocks) + "\n"


def comparison_json(comparison: Comparison) -> str:
    """All that the comparison knows, unrounded."""
    simple = {name: getattr(comparison, name) for name in _NUMBERS}
    frames = {name: getattr(comparison, name).to_dicts() for name in ("flips", "rates", "scores", "examples")}
    sides = {
        side: {
            "place": scored.place,
            "rows": scored.rows,
            "signatures": [{"signature": signature, "rows": rows} for signature, rows in scored.signatures],
        }
        for side, scored in (("old", comparison.old), ("new", comparison.new))
    }
    everything = {"same_signature": comparison.same_signature, **sides, **simple, **frames}
    return json.dumps(everything, ensure_ascii=False, indent=1, default=str) + "\n"


_NUMBERS = ("on", "by", "both", "added", "gone", "regressions", "improvements")


def _drawn(shown: Table) -> RichTable:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table as RichTable
    from rich.text import Text

    drawn = RichTable(box=SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False)
    words = shown.labels + shown.texts
    for place, name in enumerate(shown.header):
        is_number = place >= words
        drawn.add_column(
            Text(clean(name)), justify="right" if is_number else "left", overflow="fold", no_wrap=is_number
        )
    for row in shown.rows:
        drawn.add_row(*(Text(clean(_in_a_line(cell))) for cell in row))
    return drawn


def _markdown(shown: Table) -> str:
    words = shown.labels + shown.texts
    ruler = [":--" if place < words else "--:" for place in range(len(shown.header))]
    rows = [
        map(escape_markdown, shown.header),
        ruler,
        *(map(escape_markdown, map(_in_a_line, row)) for row in shown.rows),
    ]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def _in_a_line(cell: Cell) -> str:
    return f"{cell.text} ({cell.minor})" if cell.minor else cell.text
