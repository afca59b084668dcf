"""What the tables of all explanations have in common: differences are marked, captions count."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from itertools import groupby, zip_longest
from typing import Any

from rapidfuzz.distance import LCSseq

from pddl_eval.definition.metrics import Pair
from pddl_eval.pages import DIFF, EXCERPT_CHARACTERS, PDDL, Cell, Excerpt, Section, Table, table, words
from pddl_eval.shown import score_text

DIFFERENT, ABSENT = "≠", "–"

Pairs = tuple[tuple[int | None, int | None], ...]
"""Positions in both sides from 0, None where only the other side has the item."""

MOST_ALIGNED = 3_000
"""Items of each side that are aligned: the time is that of their product over 64."""

MOST_LINES = 400
"""Lines of each text that are compared."""

KEPT_EQUAL = 3
"""Equal rows that are shown at both ends of a longer run."""

MOST_ROWS, ALL_ROWS = 40, 500
"""Rows of a table; rows on a page with the texts and drawings."""


def noted(caption: str, *notes: str) -> str:
    """A caption with its notes in parentheses, those that are not empty.

    >>> noted("Steps", "2 different", ""), noted("Steps", "")
    ('Steps (2 different)', 'Steps')
    """
    kept = [note for note in notes if note]
    return f"{caption} ({'; '.join(kept)})" if kept else caption


def cells(texts: Sequence[str], differs: bool) -> list[Cell]:
    return [Cell(text, differs=differs) for text in texts]


def align(reference: Sequence[Hashable], generated: Sequence[Hashable]) -> Pairs:
    """The items of both in order, those of a longest common subsequence side by side.

    >>> align(("a", "b"), ("b", "c"))
    ((0, None), (1, 0), (None, 1))
    """
    number: dict[Hashable, int] = {}
    ours, theirs = ([number.setdefault(item, len(number)) for item in side] for side in (generated, reference))
    pairs: list[tuple[int | None, int | None]] = []
    left = right = 0
    # rapidfuzz may put what only the answer has first; between equal items the reference's come first here.
    for block in LCSseq.opcodes(theirs[:MOST_ALIGNED], ours[:MOST_ALIGNED]).as_matching_blocks():
        pairs += [(place, None) for place in range(left, block.a)]
        pairs += [(None, place) for place in range(right, block.b)]
        left, right = block.a + block.size, block.b + block.size
        pairs += zip(range(block.a, left), range(block.b, right), strict=True)
    return tuple(pairs)


def shortened(rows: Iterable[Sequence[Cell]], note: Sequence[str]) -> Iterator[Sequence[Cell]]:
    """The rows, long runs of equal ones without their middle; ``note`` has ``{}`` for how many."""
    for differs, some in groupby(rows, lambda row: row[0].differs):
        run = list(some)
        omitted = len(run) - 2 * KEPT_EQUAL
        if not differs and omitted > 1:
            run[KEPT_EQUAL:-KEPT_EQUAL] = [cells([each.format(f"{omitted:,}") for each in note], differs=False)]
        yield from run


ATOMS = re.compile(r"\((?![:\s]|and\b|or\b|not\b)[^()]*\)|[()]|[^\s()]+")
"""What is marked as a whole inside a line: an atom, a parenthesis, a word."""


def marks_of(text: str, other: str) -> list[tuple[int, int]]:
    """The spans of a text's atoms and words that are not in the other text, or not as often; order does not count.

    >>> text = "(:init (on a b) (clear a))"
    >>> [text[start:stop] for start, stop in marks_of(text, "(:init (clear a) (on a c))")]
    ['(on a b)']
    """
    found, known = list[tuple[int, int]](), Counter(_plainly(other))
    for atom in ATOMS.finditer(text):
        (name,) = _plainly(atom[0])
        known[name] -= 1
        if known[name] < 0:
            found.append(atom.span())
    return found


def _plainly(text: str) -> list[str]:
    return [" ".join(each.lower().split()) for each in ATOMS.findall(text)]


def line_by_line(
    reference: str | None, generated: str | None, names: tuple[str, str] = ("reference", "answer")
) -> Section:
    """Both texts side by side, what one of them lacks marked inside the lines, long runs of equal lines cut short."""
    texts = [(text or "")[:EXCERPT_CHARACTERS].splitlines()[:MOST_LINES] for text in (reference, generated)]
    left, right = ([each.rstrip() for each in side if each.strip()] for side in texts)
    rows: list[Sequence[Cell]] = []
    keys = [[" ".join(each.lower().split()) for each in side] for side in (left, right)]
    # What only one side has, and what only the other has in the same place, stand beside each other.
    for is_equal, some in groupby(LCSseq.opcodes(*keys), lambda change: change.tag == "equal"):
        first, *_, last = [*some] * 2
        theirs, ours = left[first.src_start : last.src_end], right[first.dest_start : last.dest_end]
        differs = not is_equal and _but_order(theirs) != _but_order(ours)
        sides = [
            [Cell(each, differs=differs, marks=marks) for each, marks in _marked_lines(side, other)]
            for side, other in ((theirs, ours), (ours, theirs))
        ]
        sign = Cell(DIFFERENT * differs, differs=differs)
        rows += ([sign, *pair] for pair in zip_longest(*sides, fillvalue=Cell("", differs=differs)))
    if not left or not right or not any(row[0].differs for row in rows):
        return Section("")
    shown = [*shortened(rows, ("", "… {} equal lines", "…"))]
    how = ["Marked: atoms and words that the other side does not have there; their order does not count."]
    return Section("Line by line", how, [Table("Lines", ("", *names), shown, labels=0, texts=3, kind=DIFF)])


def _but_order(lines: Sequence[str]) -> tuple[list[str], list[str]]:
    """Words in their order, and atoms, whose order says nothing."""
    parts = _plainly("\n".join(lines))
    return [each for each in parts if "(" not in each], sorted(each for each in parts if len(each) > 1 and "(" in each)


def _marked_lines(lines: Sequence[str], others: Sequence[str]) -> Iterator[tuple[str, list[tuple[int, int]]]]:
    """Lines with the marks in each."""
    marks, start = marks_of("\n".join(lines), "\n".join(others)), 0
    for each in lines:
        end = start + len(each)
        yield each, [(max(a, start) - start, min(b, end) - start) for a, b in marks if a < end and b > start]
        start = end + 1


def as_written(title: str, names: Sequence[str], texts: Sequence[str | None]) -> Section:
    """Both texts, those that are not empty."""
    return Section(title, excerpts=[Excerpt(name, text, PDDL) for name, text in zip(names, texts, strict=True) if text])


def scores_table(pair: Pair, scores: Mapping[str, Any], *, whole: bool) -> Table:
    """The scores that have a value, but for sentences; with their meanings on a whole page."""
    rows = [
        (words(column.name), score_text(scores[column.name]), *([column.meaning] if whole else []))
        for column in pair.columns
        if column.type is not str and scores[column.name] is not None
    ]
    return table("Scores", ("", "", "")[: 3 if whole else 2], rows, texts=2 if whole else 1)
