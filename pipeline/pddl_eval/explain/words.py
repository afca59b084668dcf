"""The words of an explanation, as sections that a terminal and a page show alike, and the terminal's way to show them.

Every text of a problem or an answer is cut and made printable here (``pddl_eval.shown``).
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from pddl_eval.explain.sides import AtomLine, ObjectLine, Side, Standing
from pddl_eval.model import ROOT_TYPE, Atom, show_atom
from pddl_eval.shown import line as one_line
from pddl_eval.verdict import ProblemVerdict, Undecided, Unsolvable, Verdict

MOST_ITEMS = 20
"""Names, atoms or actions that are listed."""

MOST_ROWS = 40
"""Rows of a table in a terminal; the page shows more."""

MOST_REASON = 400
"""Characters of a reason."""

DIFFERENT, ABSENT = "≠", "–"
YES = {True: "yes", False: "no", None: "not decided"}


@dataclass(frozen=True, slots=True)
class Section:
    """A titled table; a row begins with a label, or with ``≠`` where the sides differ (these rows come first)."""

    title: str
    rows: Sequence[tuple[str, ...]]
    header: tuple[str, ...] = ()
    remark: str = ""

    @property
    def different(self) -> int:
        """How many rows differ."""
        return sum(row[0] == DIFFERENT for row in self.rows)

    @property
    def caption(self) -> str:
        """The title and how many rows differ."""
        return f"{self.title} ({self.different:,} different)" if self.different else self.title


def headline(verdict: ProblemVerdict) -> str:
    """The verdict and what it means for the score."""
    if verdict.verdict == Verdict.REFERENCE_INVALID:
        return f"{verdict.verdict}: no answer can be scored"
    meaning = {True: "equivalent", False: "not equivalent", None: "not decided"}[verdict.equivalent]
    if verdict.equivalent is False and verdict.equivalent_untyped:
        meaning += ", but equivalent ignoring types"
    return meaning if verdict.verdict == meaning else f"{verdict.verdict}: {meaning}"


def scores(verdict: ProblemVerdict) -> Iterator[tuple[str, str]]:
    """Label and value of each score of a verdict."""
    yield "equivalent", f"{YES[verdict.equivalent]}; ignoring types: {YES[verdict.equivalent_untyped]}"
    yield "parseable", YES[verdict.parseable]
    yield "solvable", YES[verdict.solvable]
    yield "decided by", verdict.verdict.decided_by
    if verdict.separating_atom is not None:
        side, other = ("reference", "answer") if verdict.separating_side == "reference" else ("answer", "reference")
        atom = one_line(show_atom(verdict.separating_atom))
        yield "separating atom", f"{atom}: the {side}'s goal asks for it, the {other}'s does not imply it"


def table(title: str, lines: Sequence[ObjectLine | AtomLine], compares: bool, remark: str = "") -> Section:
    """Objects or atoms of both sides, one a row."""
    rows = [(DIFFERENT if compares and line.differs else "", *_cells(line)) for line in lines]
    return Section(title, rows, ("", "reference", "answer"), remark or ("" if rows else "none"))


def about(name: str, side: Side, static: frozenset[str], most_actions: int = MOST_ITEMS) -> Section:
    """What fullySpecify added to a side's goal, its plan and its certificate."""
    rows = [("added", _added(side, static)), ("plan", _plan(side, most_actions))]
    rows.append(("certificate", side.certificate or "none"))
    return Section(f"The {name}: atoms added by fullySpecify, plan, certificate", rows)


def pieces(name: str, side: Side) -> Section:
    """The pieces of a text."""
    contents = [(f"{piece.note}: " if piece.note else "") + one_line(piece.text, most=50) for piece in side.pieces]
    rows = [(piece.lines, piece.kind.value, text) for piece, text in zip(side.pieces, contents, strict=True)]
    return Section(f"What was read of the {name}", rows, ("lines", "", ""), "" if rows else "there is no text")


def listed(items: Sequence[str], most: int = MOST_ITEMS, between: str = ", ") -> str:
    """The first items and how many more there are.

    >>> listed(["b1", "b2", "b3"], most=2)
    'b1, b2 and 1 more'
    """
    more = f" and {len(items) - most:,} more" if len(items) > most else ""
    return between.join(map(one_line, items[:most])) + more


def _cells(line: ObjectLine | AtomLine) -> tuple[str, str]:
    if isinstance(line, AtomLine):
        return _atom(line.reference, line.in_reference), _atom(line.generated, line.in_generated)
    return _object(line.reference, line.reference_type), _object(line.generated, line.generated_type)


def _object(name: str | None, type_: str | None) -> str:
    if name is None:
        return ABSENT
    return one_line(name if type_ in (ROOT_TYPE, None) else f"{name} - {type_}")


def _atom(atom: Atom | None, standing: Standing) -> str:
    if atom is None or standing == Standing.ABSENT:
        return ABSENT
    return one_line(show_atom(atom)) + (" implied" if standing == Standing.IMPLIED else "")


def _added(side: Side, static: frozenset[str]) -> str:
    if isinstance(side.added, Unsolvable | Undecided):
        return f"none: {one_line(side.added.reason, MOST_REASON)}"
    changing = [show_atom(atom) for atom in side.added if atom[0] not in static]
    rest = len(side.added) - len(changing)
    atoms = listed(changing, between=" ") or "no atom that an operator can change"
    return atoms + (f"; and {rest:,} static atoms" if rest else "")


def _plan(side: Side, most: int) -> str:
    if isinstance(side.plan, Unsolvable | Undecided):
        return f"none: {one_line(side.plan.reason, MOST_REASON)}"
    if not side.plan:
        return "the initial state is a goal state: nothing to do"
    count = "1 action" if len(side.plan) == 1 else f"{len(side.plan):,} actions"
    return f"{count}: {listed([show_atom(action) for action in side.plan], most, ' ')}"


def for_terminal(verdict: ProblemVerdict, sections: Iterable[Section]) -> Group:
    """A verdict and sections, for rich."""
    parts: list[RenderableType] = [Text(headline(verdict), "bold green" if verdict.equivalent else "bold red")]
    parts.append(Text(one_line(verdict.detail, MOST_REASON)))
    for section in sections:
        parts.append(Text(f"\n{section.caption}" if section.title else "", "bold"))
        if section.rows:
            parts.append(_table(section))
        if section.remark:
            parts.append(Text(section.remark, "dim"))
    return Group(*parts)


def plain(renderable: RenderableType, width: int = 80) -> str:
    """What a terminal of that width shows, without colours."""
    stream = io.StringIO()
    Console(file=stream, width=width, color_system=None, force_terminal=False).print(renderable)
    return "\n".join(text.rstrip() for text in stream.getvalue().splitlines())


def _table(section: Section) -> Table:
    table = Table(box=None, show_header=bool(section.header), header_style="dim", pad_edge=False, padding=(0, 2, 0, 0))
    for name in section.header or ("", ""):
        table.add_column(name, overflow="fold")
    for label, *cells in section.rows[:MOST_ROWS]:
        style = "bold red" if label == DIFFERENT else ""
        table.add_row(Text(label, style or "dim"), *(Text(cell, style) for cell in cells))
    if len(section.rows) > MOST_ROWS:
        different = max(section.different - MOST_ROWS, 0)
        more = f"… {len(section.rows) - MOST_ROWS:,} more" + (f", {different:,} of them different" * bool(different))
        table.add_row("", Text(more, "dim"))
    return table
