"""What was made of a raw answer, piece by piece: the text around, drafts that were refused, the problem that counts.

The pieces follow one another and cover the answer. What was read is for ``pddl_eval.parsing`` to say; here it is only
found again in the answer.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum

from pddl_eval.model import Problem
from pddl_eval.parsing import Block, Unreadable, problem_blocks, read_problem

MOST_DRAFTS = 20
"""Refused drafts that are listed; those behind them are text."""

_COMMENT = re.compile(r";[^\n]*+")
_FENCE = re.compile(r"^[ \t]*+(?:```|~~~)", re.MULTILINE)
_DOMAIN = re.compile(r"\(\s*+define\s*+\(\s*+domain")
_START = re.compile(r"\(\s*+define\s*+\(\s*+problem")


class PieceKind(StrEnum):
    TEXT = "text"
    """Prose, fences, a domain, a problem that was cut off: thrown away."""
    DRAFT = "draft"
    """A closed problem block that was refused: thrown away."""
    PROBLEM = "problem"
    """The block that counts."""
    LATER = "later"
    """What comes after the block that counts: not looked at."""


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of the answer and its lines, counted from 1; ``note`` says why it was refused or what stands in it."""

    kind: PieceKind
    text: str
    first_line: int
    last_line: int
    note: str


def pieces_of(answer: str | None, constants: Iterable[str] = ()) -> tuple[Piece, ...]:
    """The pieces of a raw answer, in its order; ``constants`` are objects that the domain declares.

    >>> held = "(define (problem p) (:domain d) (:objects a) (:init (q a)) (:goal (q a)))"
    >>> for piece in pieces_of(f"Sure!\\n```pddl\\n{held}\\n```\\nGood luck!"):
    ...     print(piece.first_line, piece.last_line, piece.kind.value, "-", piece.note)
    1 2 text - a Markdown fence
    3 3 problem -
    4 5 later - a Markdown fence
    """
    if not answer:
        return ()
    lowered = answer.lower()
    shown = answer if len(answer) == len(lowered) else lowered
    pieces: list[Piece] = []
    line = 1
    for kind, text, note in _runs(shown, _blocks(lowered, frozenset(constants))):
        stripped = text.strip()
        if stripped:
            first = line + text[: text.index(stripped[0])].count("\n")
            pieces.append(Piece(kind, stripped, first, first + stripped.count("\n"), note or _contents(kind, stripped)))
        line += text.count("\n")
    return tuple(pieces)


@dataclass(frozen=True, slots=True)
class _Span:
    start: int
    stop: int
    refused: str | None


def _runs(shown: str, spans: Iterable[_Span]) -> Iterator[tuple[PieceKind, str, str]]:
    """The answer as consecutive runs; a block that opens inside a refused one ends it."""
    spans = list(spans)
    cursor = 0
    for i, span in enumerate(spans):
        yield PieceKind.TEXT, shown[cursor : span.start], ""
        if span.refused is None:
            yield PieceKind.PROBLEM, shown[span.start : span.stop], ""
            yield PieceKind.LATER, shown[span.stop :], ""
            return
        cursor = min([span.stop, *(inner.start for inner in spans[i + 1 : i + 2])])
        yield PieceKind.DRAFT, shown[span.start : cursor], span.refused
    yield PieceKind.TEXT, shown[cursor:], ""


def _blocks(lowered: str, constants: frozenset[str]) -> Iterator[_Span]:
    """The first refused blocks and the one that counts."""
    problem = read_problem(lowered, constants)
    position = -1
    for number, block in enumerate(problem_blocks(lowered)):
        if number == MOST_DRAFTS and isinstance(problem, Unreadable):
            return
        position = lowered.index(block.text, position + 1)
        stop = position + len(block.text)
        outcome = _outcome(block, constants)
        if outcome == problem and isinstance(outcome, Problem):
            yield _Span(position, stop, None)
            return
        if number < MOST_DRAFTS:
            yield _Span(position, stop, _why_refused(block, outcome, constants))


def _outcome(block: Block, constants: frozenset[str], first_line: int = 1) -> Problem | Unreadable:
    """What the block alone comes to: blocks that a comment hides in it are no part of it."""
    text = _COMMENT.sub("", block.text)
    if _START.search(text, 1):
        return Unreadable("unparseable", "another `(define (problem` opens inside it")
    return read_problem("\n" * (first_line - 1) + text, constants)


def _why_refused(block: Block, outcome: Problem | Unreadable, constants: frozenset[str]) -> str:
    """The reason, with lines counted from the beginning of the answer."""
    if isinstance(outcome, Unreadable):
        outcome = _outcome(block, constants, block.line)
    return outcome.detail if isinstance(outcome, Unreadable) else "it lies beyond what is read of an answer"


def _contents(kind: PieceKind, text: str) -> str:
    if kind == PieceKind.PROBLEM:
        return ""
    lowered = text.lower()
    found = {
        "a Markdown fence": _FENCE.search(lowered),
        "a domain": _DOMAIN.search(lowered),
        "a problem" if kind == PieceKind.LATER else "a problem that is not closed": _START.search(lowered),
    }
    return ", ".join(name for name, match in found.items() if match)
