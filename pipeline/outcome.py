"""How questions about problems end: a proof that there is no solution, a limit that was hit, the verdict on a pair.

Functions that decide something return their answer, ``Unsolvable`` or ``Undecided``; they do not raise, because
one hopeless problem among a million is an answer and not an accident.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from pipeline.problem import Atom


@dataclass(frozen=True, slots=True)
class Unsolvable:
    """A proof that no reachable state contains the goal; ``reason`` says it in one sentence."""

    reason: str


@dataclass(frozen=True, slots=True)
class Undecided:
    """A limit was hit before an answer was found; ``reason`` names the limit."""

    reason: str


@dataclass(frozen=True, slots=True)
class BrokenAssumption:
    """An initial state that a domain's rules do not cover: in words why, and the atoms that do not go together."""

    reason: str
    atoms: tuple[Atom, ...]


class Verdict(StrEnum):
    """What a comparison of two problems came to, and with it why."""

    IDENTICAL = "identical"
    """The same atoms under the same names."""
    ISOMORPHIC = "isomorphic"
    """The same atoms after renaming objects."""
    EQUIVALENT = "equivalent"
    """The same planning problem only once both goals are fully specified."""
    EMPTY = "empty"
    UNPARSEABLE = "unparseable"
    NOT_STRIPS = "not_strips"
    DOMAIN_MISMATCH = "domain_mismatch"
    INVALID_ATOM = "invalid_atom"
    """An atom names an object that is not declared."""
    OBJECT_COUNT = "object_count"
    TYPES_DIFFER = "types_differ"
    INIT_DIFFERS = "init_differs"
    GOAL_DIFFERS = "goal_differs"
    UNSOLVABLE = "unsolvable"
    """Same objects and initial state, but no reachable state contains the generated goal."""
    UNDECIDED = "undecided"
    """A limit was hit before an answer was found."""
    REFERENCE_INVALID = "reference_invalid"
    """The reference cannot be read or cannot be solved: a mistake in the data, not a score."""
