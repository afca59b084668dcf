"""The pieces of a raw answer: the text around, drafts that were refused, the problem that counts.

The pieces follow one another and cover the answer. ``pddl_eval.definition.pddl`` decides what is read; here it is
only located in the answer.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from itertools import zip_longest

from pddl_eval.definition.model import Problem
from pddl_eval.definition.pddl import (
    DEFINE_DOMAIN,
    DEFINE_PROBLEM,
    Unreadable,
    pddl_text,
    problem_blocks,
    read_problem,
    too_long,
)
from pddl_eval.definition.verdict import Verdict
from pddl_eval.shown import line

MOST_DRAFTS = 20
"""Refused drafts that are listed; the drafts after them are text."""

TOO_LATE = "it is beyond the part of an answer that is read"

EARLIER = "a later draft counts"

_COMMENT = re.compile(r";[^\n]*+")
_CONTENTS = {
    "a Markdown fence": re.compile(r"^[ \t]*+(?:```|~~~)", re.MULTILINE),
    "a domain": DEFINE_DOMAIN,
    "a problem": DEFINE_PROBLEM,
}


class PieceKind(StrEnum):
    TEXT = "ignored"
    """Prose, fences, a domain, a problem that was cut off."""
    DRAFT = "refused"
    """A closed problem block that is not a valid problem."""
    PROBLEM = "read"
    """The block that counts."""
    LATER = "not read"
    """What comes after the block that counts."""


Reader = Callable[..., Problem | Unreadable]
"""``pddl.read_problem``, or another one with its parameters."""


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of the answer and its lines, counted from 1; ``note`` says why it was refused or what it contains."""

    kind: PieceKind
    text: str
    first_line: int
    last_line: int
    note: str

    @property
    def lines(self) -> str:
        """The lines as ``3`` or ``3-9``."""
        return f"{self.first_line}" if self.first_line == self.last_line else f"{self.first_line}-{self.last_line}"


def pieces_of(
    answer: str | None, constants: Iterable[str] = (), counts: str = "first", read: Reader = read_problem
) -> tuple[Piece, ...]:
    """The pieces of a raw answer, in its order; ``constants`` are objects that the domain declares.

    ``counts`` says which of several drafts does, the first or the last; ``read`` reads the domain's problems.

    >>> held = "(define (problem p) (:domain d) (:objects a) (:init (q a)) (:goal (q a)))"
    >>> for piece in pieces_of(f"Sure!\\n```pddl\\n{held}\\n```\\nGood luck!"):
    ...     print(piece.first_line, piece.last_line, piece.kind.value, "-", piece.note)
    1 2 ignored - a Markdown fence
    3 3 read -
    4 5 not read - a Markdown fence
    """
    answer = answer or ""
    if long := too_long(answer):
        return (Piece(PieceKind.TEXT, line(answer), 1, 1, long),)
    lowered = answer.lower()
    shown = answer if len(answer) == len(lowered) else lowered
    answered = pddl_text(lowered)
    pieces = []
    for kind, start, stop, note in _spans(answered, frozenset(constants), counts, read):
        text = shown[start:stop]
        stripped = text.strip()
        if stripped:
            first = shown.count("\n", 0, start + text.index(stripped[0])) + 1
            last = first + stripped.count("\n")
            pieces.append(
                Piece(
                    kind,
                    stripped,
                    first,
                    last,
                    note or _contents(kind, answered[start:stop], answered[start:stop] != lowered[start:stop]),
                )
            )
    return tuple(pieces)


def _spans(
    lowered: str, constants: frozenset[str], counts: str, read: Reader
) -> Iterator[tuple[PieceKind, int, int, str]]:
    """Kind, start, stop and note of consecutive pieces; a block that opens inside a refused one ends it."""
    blocks = list(_blocks(lowered, constants, counts, read))
    kind, cursor = PieceKind.TEXT, 0
    for (start, stop, refused), following in zip_longest(blocks, blocks[1:]):
        yield kind, cursor, start, ""
        cursor = min(stop, following[0]) if following else stop
        yield PieceKind.DRAFT if refused else PieceKind.PROBLEM, start, cursor, refused
        kind = PieceKind.TEXT if refused else PieceKind.LATER
    yield kind, cursor, len(lowered), ""


def _blocks(lowered: str, constants: frozenset[str], counts: str, read: Reader) -> Iterator[tuple[int, int, str]]:
    """Start, stop and reason of the first refused blocks, and of the block that counts, which has no reason."""
    problem = read(lowered, constants, answer=counts)
    blocks = [*problem_blocks(lowered)]
    last = 0  # the first block that may count
    if counts == "last" and isinstance(problem, Problem):
        last = max(number for number, block in enumerate(blocks) if read(block.text, constants) == problem)
    position = -1
    for number, block in enumerate(blocks):
        listed = number < MOST_DRAFTS
        if not listed and isinstance(problem, Unreadable):
            return
        position = lowered.index(block.text, position + 1)
        stop = position + len(block.text)
        # Blocks that a comment hides are no part of this one; a reason counts lines from the answer's start.
        text = "\n" * (block.line - 1) * listed + _COMMENT.sub("", block.text)
        outcome: Problem | Unreadable = Unreadable(Verdict.UNPARSEABLE, "another `(define (problem` opens inside it")
        if len(DEFINE_PROBLEM.findall(text)) == 1:
            outcome = read(text, constants)
        if number >= last and outcome == problem and isinstance(outcome, Problem):
            yield position, stop, ""
            return
        if listed:
            yield position, stop, outcome.detail if isinstance(outcome, Unreadable) else EARLIER if last else TOO_LATE


def _contents(kind: PieceKind, text: str, thoughts: bool) -> str:
    """What a piece of text contains besides prose."""
    found = [name for name, pattern in _CONTENTS.items() if kind != PieceKind.PROBLEM and pattern.search(text.lower())]
    unclosed = " that is not closed" if found[-1:] == ["a problem"] and kind == PieceKind.TEXT else ""
    return ", ".join(["thoughts"] * thoughts + found) + unclosed
