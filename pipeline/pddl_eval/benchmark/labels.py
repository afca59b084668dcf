"""What a right judge must say about an answer, and the outcomes by which papers count answers."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Outcome(StrEnum):
    """What an answer comes to."""

    CORRECT = "correct"
    """Equivalent to the reference."""
    SOLVABLE = "solvable"
    """Another problem, which has a solution."""
    UNSOLVABLE = "unsolvable"
    """Another problem, which has none."""
    OPEN = "open"
    """Another problem; whether it has a solution is not known."""
    UNPARSEABLE = "unparseable"


@dataclass(frozen=True, slots=True)
class Labels:
    """What the score columns of these names must say; None where it is not known."""

    parseable: bool
    solvable: bool | None
    equivalent: bool
    equivalent_untyped: bool


LABELS = {
    Outcome.CORRECT: Labels(True, True, True, True),
    Outcome.SOLVABLE: Labels(True, True, False, False),
    Outcome.UNSOLVABLE: Labels(True, False, False, False),
    Outcome.OPEN: Labels(True, None, False, False),
    Outcome.UNPARSEABLE: Labels(False, False, False, False),
}
"""What an outcome says about each column, where types make no difference."""
