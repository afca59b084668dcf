"""The value that a ground problem is: states as ints, operators as five bit sets.

Made by ``ground``; everything else in this room reads it. Nothing here searches.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from pddl_eval.model import Action, Atom, State, show_atom
from pddl_eval.verdict import Unsolvable


class BitOperator(NamedTuple):
    """A ground operator; each field after the action has the bits of its atoms set, and no effect is void."""

    action: Action
    required: int
    forbidden: int
    added: int
    deleted: int

    def applicable(self, state: int) -> bool:
        """True when all required bits of the state are set and none of the forbidden."""
        return state & self.required == self.required and not state & self.forbidden

    def apply(self, state: int) -> int:
        """The state after the operator; ``added`` and ``deleted`` have no common bit."""
        return (state | self.deleted) ^ self.deleted | self.added


@dataclass(frozen=True, slots=True, eq=False)
class GroundTask:
    """An initial state and its reachable operators, over the atoms whose truth may change.

    ``atoms[i]`` is the atom of bit ``1 << i``, ``bit`` the way back. ``always`` holds the atoms that are true in every
    reachable state and have no bit. An atom in neither is false in every reachable state.
    """

    atoms: tuple[Atom, ...]
    bit: Mapping[Atom, int]
    always: State
    initial: int
    operators: tuple[BitOperator, ...]

    def state(self, bits: int) -> State:
        """The atoms of a state, those that are always true included."""
        return self.always.union(self.atoms[index] for index in indexes(bits))

    def bits_of_goal(self, goal: Iterable[Atom]) -> int | Unsolvable:
        """The goal's bits, or the proof that one of its atoms is false in every reachable state."""
        bits = 0
        for atom in sorted(goal):
            if atom not in self.always:
                if atom not in self.bit:
                    return Unsolvable(f"{show_atom(atom)} is not true initially and no applicable operator adds it")
                bits |= self.bit[atom]
        return bits


def indexes(bits: int) -> Iterator[int]:
    """The positions of the set bits, lowest first.

    >>> list(indexes(0b1010))
    [1, 3]
    """
    while bits:
        lowest = bits & -bits
        yield lowest.bit_length() - 1
        bits ^= lowest
