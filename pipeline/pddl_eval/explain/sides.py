"""Both problems as values: what is known of each side, and its objects and atoms beside those of the other side.

A goal's atom may be written, or implied: added by fullySpecify. Two goals differ in an atom that one of them has,
written or implied, and the other has not. Nothing here reads, decides or shows anything.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from pddl_eval.explain.reading import Piece
from pddl_eval.model import Action, Atom, Problem, State
from pddl_eval.parsing import Unreadable
from pddl_eval.verdict import Undecided, Unsolvable


class Standing(StrEnum):
    WRITTEN = "written"
    IMPLIED = "implied"
    ABSENT = "absent"


@dataclass(frozen=True, slots=True)
class Side:
    """The reference or the answer.

    ``added`` are the atoms that fullySpecify added to the goal, those that operators can change first; ``plan`` is the
    executed plan. Both say why where there is none.
    """

    pieces: tuple[Piece, ...]
    problem: Problem | Unreadable
    added: tuple[Atom, ...] | Unsolvable | Undecided
    plan: tuple[Action, ...] | Unsolvable | Undecided
    certificate: str | None


@dataclass(frozen=True, slots=True)
class ObjectLine:
    """An object of the reference and its counterpart in the answer; None where there is none."""

    reference: str | None
    generated: str | None
    reference_type: str | None
    generated_type: str | None

    @property
    def differs(self) -> bool:
        return self.reference_type != self.generated_type

    @property
    def same(self) -> bool:
        """True where name and type are the same on both sides."""
        return self.reference == self.generated and not self.differs


@dataclass(frozen=True, slots=True)
class AtomLine:
    """An atom in the names of either side; None where it names an object that has no counterpart there."""

    reference: Atom | None
    generated: Atom | None
    in_reference: Standing
    in_generated: Standing

    @property
    def differs(self) -> bool:
        return (self.in_reference == Standing.ABSENT) != (self.in_generated == Standing.ABSENT)

    @property
    def predicate(self) -> str:
        return (self.reference or self.generated or ("",))[0]

    @property
    def implied(self) -> bool:
        """True where no side writes the atom."""
        return Standing.WRITTEN not in (self.in_reference, self.in_generated)


def object_lines(
    reference: Mapping[str, str], generated: Mapping[str, str], object_map: Mapping[str, str]
) -> tuple[ObjectLine, ...]:
    """The objects of both sides (name → type), each once, those that differ first."""
    back = {name: own for own, name in object_map.items()}
    lines = [
        ObjectLine(name, back.get(name), type_, generated.get(back.get(name, ""))) for name, type_ in reference.items()
    ]
    lines += [ObjectLine(None, name, None, type_) for name, type_ in generated.items() if name not in object_map]
    return tuple(sorted(lines, key=lambda line: (not line.differs, _counted(line.reference or line.generated or ""))))


def atom_lines(
    reference: State,
    generated: State,
    object_map: Mapping[str, str],
    reference_closure: State = frozenset(),
    generated_closure: State = frozenset(),
) -> tuple[AtomLine, ...]:
    """The atoms of both sides, each once: those that differ, those that one side writes, those that are implied.

    The map names all objects that have a counterpart, constants of the domain included.

    >>> lines = atom_lines(frozenset({("on", "a", "b")}), frozenset({("clear", "z")}), {"z": "a"})
    >>> [(line.reference, line.generated, line.in_generated.value) for line in lines]
    [(('clear', 'a'), ('clear', 'z'), 'written'), (('on', 'a', 'b'), None, 'absent')]
    """

    def translated(atom: Atom, names: Mapping[str, str]) -> Atom | None:
        known = all(name in names for name in atom[1:])
        return (atom[0], *(names[name] for name in atom[1:])) if known else None

    def standing(atom: Atom | None, written: State, closure: State) -> Standing:
        if atom in written:
            return Standing.WRITTEN
        return Standing.IMPLIED if atom in closure else Standing.ABSENT

    def rank(line: AtomLine) -> tuple[bool, bool, list[str]]:
        return not line.differs, line.implied, [_counted(word) for word in line.reference or line.generated or ()]

    back = {name: own for own, name in object_map.items()}
    pairs: set[tuple[Atom | None, Atom | None]] = {
        (atom, translated(atom, back)) for atom in reference | reference_closure
    }
    pairs |= {(translated(atom, object_map), atom) for atom in generated | generated_closure}
    lines = [
        AtomLine(
            theirs,
            ours,
            standing(theirs, reference, reference_closure),
            standing(ours, generated, generated_closure),
        )
        for theirs, ours in pairs
    ]
    return tuple(sorted(lines, key=rank))


def _counted(name: str) -> str:
    """A key that sorts ``ball2`` before ``ball10``."""
    return re.sub(r"\d+", lambda digits: digits[0].zfill(9), name)
