"""What is said of a text that yields no problem: a verdict for the machine and one sentence for a person.

Scoring gets it as a value, ``Unreadable``; whoever calls ``parse_problem`` gets it as an exception, ``ParseError``.
Nothing here reads text.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from pddl_eval.errors import UserError

Verdict = Literal["empty", "unparseable", "not_strips", "invalid_atom"]
"""Those verdicts of DESIGN.md section 4 that a single text can earn."""


@dataclass(frozen=True, slots=True)
class Unreadable:
    """Why a text holds no problem; ``detail`` says in the words of the text what is wrong and what would be right."""

    verdict: Verdict
    detail: str


class ParseError(UserError):
    """A text holds no problem; ``verdict`` and ``detail`` are those of ``Unreadable``.

    >>> str(ParseError("not_strips", "goal contains `not`"))
    'not_strips: goal contains `not`'
    """

    def __init__(self, verdict: Verdict, detail: str) -> None:
        super().__init__(verdict, detail)
        self.verdict = verdict
        self.detail = detail

    def __str__(self) -> str:
        return f"{self.verdict}: {self.detail}"
