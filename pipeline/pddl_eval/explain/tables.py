"""What the tables of all explanations have in common: differences are marked, captions count."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pddl_eval.definition.metrics import Pair
from pddl_eval.pages import Cell, Excerpt, Section, Table, table, words
from pddl_eval.shown import YES

DIFFERENT, ABSENT = "≠", "–"

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


def as_written(title: str, names: Sequence[str], texts: Sequence[str | None]) -> Section:
    """Both texts, those that are not empty."""
    return Section(title, excerpts=[Excerpt(name, text) for name, text in zip(names, texts, strict=True) if text])


def scores_table(pair: Pair, scores: Mapping[str, Any], *, whole: bool) -> Table:
    """The scores that have a value, but for sentences; with their meanings on a whole page."""
    rows = [
        (words(column.name), _score(scores[column.name]), *([column.meaning] if whole else []))
        for column in pair.columns
        if column.type is not str and scores[column.name] is not None
    ]
    return table("Scores", ("", "", "")[: 3 if whole else 2], rows, texts=2 if whole else 1)


def _score(value: float | bool) -> str:
    if isinstance(value, bool):
        return YES[value]
    return f"{value:.3f}" if isinstance(value, float) else f"{value:,}"
