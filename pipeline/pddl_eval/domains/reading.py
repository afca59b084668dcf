"""What the rules of particular domains share: their interface, and how they read sets of atoms.

A domain's rules read an initial state once; what they return answers for any goal.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Concatenate, ParamSpec, Protocol, TypeVar, cast

from pddl_eval.model import Action, Atom, Problem, State
from pddl_eval.verdict import Unsolvable

RECENT = 16
"""Readings kept of initial states and of goals: closure and plan, reference and answer ask for the same ones."""


@dataclass(frozen=True, slots=True)
class BrokenAssumption:
    """Atoms of an initial state that exclude each other: the domain's rules do not cover it."""

    atoms: tuple[Atom, ...]


class CoveredState(Protocol):
    """An initial state that the rules of its domain cover; both answers are exact and take polynomial time."""

    def fully_specify(self, goal: State) -> State | Unsolvable:
        """cl(goal): the atoms of all reachable states that contain the goal (the paper's appendix C, made exact)."""

    def plan(self, goal: State) -> tuple[Action, ...] | Unsolvable:
        """A plan to a state that contains the goal."""


Rules = Callable[[Problem, bool], CoveredState | BrokenAssumption]
"""Reads the initial state of a problem, with types or (False) ignoring them; the goal plays no part."""

P = ParamSpec("P")
T = TypeVar("T")


def remembered(read: Callable[Concatenate[Iterable[Atom], P], T]) -> Callable[Concatenate[State, P], T]:
    """The function with its last answers kept. A refusal names the same atoms in every run.

    Sets of atoms have another order in each run; what the first order refuses is read again in alphabetical order.
    """

    def reader(atoms: State, *args: P.args, **kwargs: P.kwargs) -> T:
        answer = read(atoms, *args, **kwargs)
        if isinstance(answer, BrokenAssumption | Unsolvable):
            return read(sorted(atoms), *args, **kwargs)
        return answer

    return cast("Callable[Concatenate[State, P], T]", lru_cache(maxsize=RECENT)(reader))


def exclude_each_other(*atoms: Atom) -> Unsolvable:
    """The proof that there is no plan for a goal with atoms that are never true together."""
    return Unsolvable("are never true together" if len(atoms) > 1 else "is never true", atoms)


def never_true(atom: Atom) -> Unsolvable:
    """The proof that there is no plan for a goal with an atom that no operator can make true."""
    return Unsolvable("is not true initially and no operator can make it true", (atom,))
