"""An explanation for a terminal, or as plain text where it is piped."""

from __future__ import annotations

import io
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from pddl_eval.explain import words
from pddl_eval.explain.explanation import Explanation
from pddl_eval.explain.reading import PieceKind
from pddl_eval.explain.shown import shown
from pddl_eval.explain.side_by_side import AtomLine, ObjectLine

if TYPE_CHECKING:
    from rich.console import Group, RenderableType
    from rich.table import Table
    from rich.text import Text

MOST_LINES = 40
"""Lines of a table; those that differ come first, and the rest is counted."""

DIFFERS, FAINT = "bold red", "dim"
PIECE_STYLES = {PieceKind.TEXT: FAINT, PieceKind.DRAFT: "yellow", PieceKind.PROBLEM: "green", PieceKind.LATER: FAINT}


def plain_text(explanation: Explanation, width: int = 80) -> str:
    """The explanation without colours, in lines of at most ``width`` columns.

    >>> from pddl_eval.explain import explain
    >>> print(plain_text(explain("", "Sorry.")).splitlines()[0])
    reference_invalid: no answer can be scored
    """
    from rich.console import Console

    stream = io.StringIO()
    Console(file=stream, width=width, color_system=None, force_terminal=False).print(rendered(explanation))
    return "\n".join(line.rstrip() for line in stream.getvalue().splitlines())


def rendered(explanation: Explanation) -> Group:
    """The explanation for rich: headline, facts, what was read, the problems side by side, the plans."""
    from rich.console import Group
    from rich.text import Text

    good = bool(explanation.verdict.equivalent)
    parts: list[RenderableType] = [
        Text(words.headline(explanation), style="bold green" if good else DIFFERS),
        Text(shown(explanation.verdict.detail, most=400)),
        Text(),
        _facts(explanation),
        *_pieces(explanation),
    ]
    if explanation.reference.problem or explanation.generated.problem:
        parts += [_side_by_side(*table, explanation.compares) for table in words.tables(explanation)]
    return Group(*parts, _sides(explanation))


def _facts(explanation: Explanation) -> Table:
    table = _table()
    for label, value in words.facts(explanation):
        table.add_row(_text(label, FAINT), _text(value))
    return table


def _pieces(explanation: Explanation) -> Iterable[RenderableType]:
    """What was read of the answer, and of a reference that is more than its problem."""
    for name, side in (("reference", explanation.reference), ("answer", explanation.generated)):
        if all(piece.kind == PieceKind.PROBLEM for piece in side.pieces):
            continue
        table = _table("lines", "", "")
        for piece in side.pieces:
            excerpt = shown(piece.text, most=50)
            contents = f"{piece.note}: {excerpt}" if piece.note else excerpt
            table.add_row(
                words.lines_of(piece), _text(words.PIECES[piece.kind], PIECE_STYLES[piece.kind]), _text(contents)
            )
        yield _titled(f"What was read of the {name}", table)


def _side_by_side(title: str, lines: Sequence[ObjectLine | AtomLine], remark: str, compares: bool) -> Group:
    different = sum(line.differs for line in lines) if compares else 0
    title = f"{title} ({different:,} different)" if different else title
    table = _table("", "reference", "answer")
    for line in lines[:MOST_LINES]:
        differs = compares and line.differs
        table.add_row("≠" if differs else "", *(_text(cell, DIFFERS if differs else "") for cell in words.cells(line)))
    if len(lines) > MOST_LINES:
        rest = lines[MOST_LINES:]
        still = sum(line.differs for line in rest) if compares else 0
        table.add_row(
            "", _text(f"… {len(rest):,} more" + (f", {still:,} of them different" if still else ""), FAINT), ""
        )
    parts: list[RenderableType] = [table] if lines else []
    if remark or not lines:
        parts.append(_text(remark or "none", FAINT))
    return _titled(title, *parts)


def _sides(explanation: Explanation) -> Group:
    table = _table()
    for name, side in (("reference", explanation.reference), ("answer", explanation.generated)):
        table.add_row(name, _text("added", FAINT), _text(words.specified(side, explanation.static)))
        table.add_row("", _text("plan", FAINT), _text(words.plan(side)))
        table.add_row("", _text("certificate", FAINT), _text(side.certificate or "none"))
    return _titled("fullySpecify, plans, certificates", table)


def _titled(title: str, *parts: RenderableType) -> Group:
    from rich.console import Group

    return Group(_text(""), _text(title, "bold"), *parts)


def _table(*columns: str) -> Table:
    from rich.table import Table

    table = Table(
        box=None,
        show_header=any(columns),
        header_style=FAINT,
        pad_edge=False,
        padding=(0, 2, 0, 0),
    )
    for column in columns:
        table.add_column(column, overflow="fold")
    return table


def _text(text: str, style: str = "") -> Text:
    from rich.text import Text

    return Text(text, style=style)
