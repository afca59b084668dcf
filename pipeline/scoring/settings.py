"""Everything that a user can choose about scoring and that can change a score, as one value."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from difflib import get_close_matches

from pipeline.plan_metrics.similarity import similarity_named

MEANINGS = (
    "reference_problem",
    "generated_problem",
    "is_placeholder",
    "reference_plan",
    "generated_plan",
    "reference_domain",
    "generated_domain",
    "domain",
)
"""The columns that mean something (DESIGN.md, section 2)."""


@dataclass(frozen=True, slots=True)
class Settings:
    """How to score. ``columns`` renames: meaning → the dataset's column; ``domain`` is a known name or a PDDL text.

    ``similarity``, ``beta`` and ``threshold`` belong to T-Eval's plan score; ``check_solvable`` False leaves
    ``solvable`` null and saves its time.

    Raises ``ValueError`` where a setting has no meaning, ``ImportError`` where a similarity's extra is not installed.

    >>> Settings.from_json(Settings(beta=0.5).to_json()) == Settings(beta=0.5)
    True
    """

    columns: Mapping[str, str] = field(default_factory=dict)
    domain: str | None = None
    check_solvable: bool = True
    similarity: str = "exact"
    beta: float = 0.75
    threshold: float = 0.8

    def __post_init__(self) -> None:
        similarity_named(self.similarity)
        for name, value in (("beta", self.beta), ("threshold", self.threshold)):
            if not 0 <= value <= 1:
                raise ValueError(f"{name} is a number from 0 to 1, not {value}")
        for meaning in self.columns:
            if meaning not in MEANINGS:
                near = get_close_matches(meaning, MEANINGS, n=1) or [", ".join(MEANINGS)]
                raise ValueError(f"no column means {meaning}; did you mean {near[0]}?")

    def column(self, meaning: str) -> str:
        """The dataset's name for the column with that meaning."""
        return self.columns.get(meaning, meaning)

    def to_json(self) -> str:
        """One line of JSON that ``from_json`` reads back."""
        return json.dumps(asdict(self), sort_keys=True)

    @staticmethod
    def from_json(text: str) -> Settings:
        """The settings that ``to_json`` wrote."""
        return Settings(**json.loads(text))
