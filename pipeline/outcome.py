"""The two ways in which a question about a problem ends without a set of atoms or a plan: a proof, or a limit.

Functions that decide something return their answer, ``Unsolvable`` or ``Undecided``; they do not raise, because
one hopeless problem among a million is an answer and not an accident.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Unsolvable:
    """A proof that no reachable state contains the goal; ``reason`` says it in one sentence."""

    reason: str


@dataclass(frozen=True, slots=True)
class Undecided:
    """A limit was hit before an answer was found; ``reason`` names the limit."""

    reason: str
