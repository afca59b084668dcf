"""The sentences and labels of an explanation, shared by the terminal and the page: what is said, not how it looks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pddl_eval.explain.explanation import Explanation, Side
from pddl_eval.explain.reading import Piece, PieceKind
from pddl_eval.explain.shown import shown, shown_atom, shown_plan
from pddl_eval.explain.side_by_side import AtomLine, ObjectLine, Standing
from pddl_eval.model import ROOT_TYPE, Atom
from pddl_eval.verdict import Verdict

ATOMS_SHOWN = 20
"""Added atoms, or actions of a plan, that are listed."""

ABSENT = "–"

PIECES = {
    PieceKind.TEXT: "thrown away",
    PieceKind.DRAFT: "refused",
    PieceKind.PROBLEM: "read",
    PieceKind.LATER: "not looked at",
}


def headline(explanation: Explanation) -> str:
    """The verdict and what it means, in half a line."""
    verdict = explanation.verdict
    if verdict.verdict == Verdict.REFERENCE_INVALID:
        return f"{verdict.verdict}: no answer can be scored"
    meaning = {True: "equivalent", False: "not equivalent", None: "not decided"}[verdict.equivalent]
    if verdict.equivalent is False and verdict.equivalent_untyped:
        meaning += ", but equivalent ignoring types"
    return verdict.verdict.value if verdict.verdict.value == meaning else f"{verdict.verdict}: {meaning}"


def facts(explanation: Explanation) -> Iterator[tuple[str, str]]:
    """Label and value of what an explanation says besides the problems themselves."""
    verdict = explanation.verdict
    yield "equivalent", f"{_yes(verdict.equivalent)}; ignoring types: {_yes(verdict.equivalent_untyped)}"
    yield "parseable", _yes(verdict.parseable)
    yield "solvable", _yes(verdict.solvable)
    yield "decided by", explanation.decided_by
    if verdict.separating_atom is not None:
        side, other = ("reference", "answer") if verdict.separating_side == "reference" else ("answer", "reference")
        atom = shown_atom(verdict.separating_atom)
        yield "separating atom", f"{atom}: the {side}'s goal asks for it, the {other}'s does not imply it"
    yield "mode", _mode(explanation)
    yield "domain", shown(explanation.domain) if explanation.domain else "unknown"


def specified(side: Side, static: frozenset[str]) -> str:
    """What fullySpecify added to a side's goal, or why it could not."""
    if side.problem is None:
        return f"nothing could be read: {shown(side.unreadable or '', most=400)}"
    if side.added is None:
        return f"its goal cannot be specified: {shown(side.not_closed or '', most=400)}"
    changing = [atom for atom in side.added if atom[0] not in static]
    rest = len(side.added) - len(changing)
    atoms = shown_plan(changing, ATOMS_SHOWN) if changing else "no atom that an operator can change"
    return atoms + (f"; and {rest:,} static atoms" if rest else "")


def plan(side: Side, most: int = ATOMS_SHOWN) -> str:
    """A side's plan with at most so many actions, or why there is none."""
    if side.plan is None:
        return f"none: {shown(side.no_plan or 'not looked for', most=400)}"
    if not side.plan:
        return "the initial state is a goal state: nothing to do"
    steps = "1 action" if len(side.plan) == 1 else f"{len(side.plan):,} actions"
    return f"{steps}: {shown_plan(side.plan, most)}"


def tables(explanation: Explanation) -> Iterator[tuple[str, tuple[ObjectLine | AtomLine, ...], str]]:
    """Title, lines and a remark for each part of the problems; what both sides have alike is only counted."""
    same = [line.reference for line in explanation.objects if line.reference is not None and _is_same(line)]
    remark = f"{len(same):,} with the same name and type on both sides: {_listed(same)}" if same else ""
    yield _objects_title(explanation), tuple(line for line in explanation.objects if not _is_same(line)), remark
    if explanation.goal_map != explanation.object_map:
        yield "Objects of the goal, in placeholder mode", explanation.goal_objects, ""
    init = sorted(explanation.init, key=lambda line: _is_static(line, explanation.static))
    yield "Initial state", tuple(init), ""
    goal = tuple(line for line in explanation.goal if not _goes_without_saying(line, explanation.static))
    implied = len(explanation.goal) - len(goal)
    remark = f"{implied:,} static atoms hold in every state and are implied on both sides" if implied else ""
    closed = explanation.reference.added is not None and explanation.generated.added is not None
    yield "Goal, fully specified" if closed else "Goal, as written", goal, remark


def _listed(names: Sequence[str]) -> str:
    return ", ".join(map(shown, names[:ATOMS_SHOWN])) + (" …" if len(names) > ATOMS_SHOWN else "")


def _is_same(line: ObjectLine) -> bool:
    return line.reference == line.generated and not line.differs


def _objects_title(explanation: Explanation) -> str:
    if explanation.verdict.object_map is not None:
        return "Objects, and which one stands for which"
    return "Objects, and which one seems to stand for which" if explanation.compares else "Objects"


def _is_static(line: AtomLine, static: frozenset[str]) -> bool:
    """True for an atom that both sides have and no operator changes."""
    atom = line.reference or line.generated
    return atom is not None and atom[0] in static and not line.differs


def _goes_without_saying(line: AtomLine, static: frozenset[str]) -> bool:
    return _is_static(line, static) and line.in_reference == line.in_generated == Standing.IMPLIED


def lines_of(piece: Piece) -> str:
    """Where a piece of the answer stands: ``3`` or ``3-9``."""
    return f"{piece.first_line}" if piece.first_line == piece.last_line else f"{piece.first_line}-{piece.last_line}"


def cells(line: ObjectLine | AtomLine) -> tuple[str, str]:
    """An object or an atom as the reference and as the answer has it."""
    if isinstance(line, ObjectLine):
        return _object(line.reference, line.reference_type), _object(line.generated, line.generated_type)
    return (
        _atom(line.reference, line.in_reference),
        _atom(line.generated, line.in_generated),
    )


def _object(name: str | None, type_: str | None) -> str:
    if name is None:
        return ABSENT
    return shown(name if type_ in (ROOT_TYPE, None) else f"{name} - {type_}")


def _atom(atom: Atom | None, standing: Standing) -> str:
    if atom is None or standing == Standing.ABSENT:
        return ABSENT
    return f"{shown_atom(atom)} implied" if standing == Standing.IMPLIED else shown_atom(atom)


def _mode(explanation: Explanation) -> str:
    mode, other = "objects keep their identity from initial state to goal", "placeholder"
    if explanation.is_placeholder:
        mode, other = "placeholder: initial state and goal are compared separately", "identity"
    if explanation.other_verdict is None:
        return mode
    return f"{mode} (in {other} mode the verdict is {explanation.other_verdict})"


def _yes(value: bool | None) -> str:
    return {True: "yes", False: "no", None: "not decided"}[value]
