"""Planning domains in our own words, each with a small solvable problem: one file a domain, the problem at its end.

Their structure is that of well-known domains of the planning competitions, or they are symmetric on purpose. Four are
beyond STRIPS (``ADL``), one has action costs.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple


class Entry(NamedTuple):
    """The texts of a domain and of its problem."""

    domain: str
    problem: str


def _entry(path: Path) -> Entry:
    domain, problem = path.read_text(encoding="utf-8").split("(define (problem")
    return Entry(domain, f"(define (problem{problem}")


CORPUS = {path.stem: _entry(path) for path in sorted(Path(__file__).parent.glob("*.pddl"))}
"""All domains by name."""

ADL = ("briefcase", "lift-adl", "shop", "wires")
SYMMETRIC = ("circle", "meetings", "movie", "petersen", "ring", "switches", "towers")

DELIVERIES_WITH_COSTS = (
    CORPUS["deliveries"]
    .problem.replace("(:init", "(:init (= (length a b) 3) (= (length b a) 2) (= (total-cost) 0)")
    .replace("(:goal", "(:metric minimize (total-cost)) (:goal")
)
"""The problem of deliveries, with what its steps cost."""
