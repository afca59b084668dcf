"""What the rules of particular domains share: their interface, and the proofs that they give.

A domain's rules read an initial state once; what they return answers for any goal. They read atoms in alphabetical
order, so that a refusal names the same atoms in every run.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from pddl_eval.definition.model import Action, Atom, Problem, State
from pddl_eval.definition.verdict import Unsolvable


@dataclass(frozen=True, slots=True)
class NotCovered:
    """Atoms of an initial state that exclude each other: the domain's rules do not cover it."""

    atoms: tuple[Atom, ...]


class CoveredGoal(Protocol):
    """A goal that some state contains which can be reached from an initial state that the rules cover.

    Both answers are exact and take polynomial time.
    """

    @property
    def closure(self) -> State:
        """cl(goal): the atoms of all reachable states that contain the goal (the paper's appendix C, made exact)."""

    @property
    def plan(self) -> tuple[Action, ...]:
        """A plan to a state that contains the goal."""


class CoveredState(Protocol):
    """An initial state that the rules of its domain cover."""

    def goal(self, goal: State) -> CoveredGoal | Unsolvable:
        """A goal as the rules read it, or the proof that no reachable state contains it."""


Rules = Callable[[Problem, bool], CoveredState | NotCovered]
"""Reads the initial state of a problem, with types or (False) ignoring them; the goal plays no part."""


def exclude_each_other(*atoms: Atom) -> Unsolvable:
    """The proof that there is no plan for a goal with atoms that are never true together."""
    return Unsolvable("are never true together" if len(atoms) > 1 else "is never true", atoms)


def never_true(atom: Atom) -> Unsolvable:
    """The proof that there is no plan for a goal with an atom that no operator can make true."""
    return Unsolvable("is not true initially and no operator can make it true", (atom,))
