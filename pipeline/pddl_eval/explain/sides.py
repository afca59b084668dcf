"""Both problems as values: what is known of each side, and its objects and atoms beside those of the other side.

A goal's atom may be written, or implied: added by fullySpecify. Two goals differ in an atom that one of them has,
written or implied, and that is not in the other. Nothing here reads, decides or shows anything.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from pddl_eval.definition.model import Action, Atom, Problem, State
from pddl_eval.definition.pddl import Unreadable
from pddl_eval.definition.verdict import Undecided, Unsolvable
from pddl_eval.explain.reading import Piece
from pddl_eval.shown import natural_key


class Standing(StrEnum):
    WRITTEN = "written"
    IMPLIED = "implied"
    ABSENT = "absent"


@dataclass(frozen=True, slots=True)
class Side:
    """The reference or the answer.

    ``added`` are the atoms that fullySpecify added to the goal, those that operators can change first; ``plan`` is the
    executed plan. Both say why if there is none.
    """

    pieces: tuple[Piece, ...]
    problem: Problem | Unreadable
    added: tuple[Atom, ...] | Unsolvable | Undecided
    plan: tuple[Action, ...] | Unsolvable | Undecided
    certificate: str | None


@dataclass(frozen=True, slots=True)
class ObjectLine:
    """An object's name and type in the reference and in the answer; None if it has no counterpart."""

    names: tuple[str | None, str | None]
    types: tuple[str | None, str | None]

    @property
    def differs(self) -> bool:
        return self.types[0] != self.types[1]


@dataclass(frozen=True, slots=True)
class AtomLine:
    """An atom in the names of the reference and of the answer; None if an object of it has no counterpart."""

    atoms: tuple[Atom | None, Atom | None]
    standings: tuple[Standing, Standing]

    @property
    def differs(self) -> bool:
        return (self.standings[0] == Standing.ABSENT) != (self.standings[1] == Standing.ABSENT)

    @property
    def implied(self) -> bool:
        """True if no side writes the atom."""
        return Standing.WRITTEN not in self.standings

    @property
    def predicate(self) -> str:
        return (self.atoms[0] or self.atoms[1] or ("",))[0]


def object_lines(
    reference: Mapping[str, str], generated: Mapping[str, str], object_map: Mapping[str, str]
) -> tuple[ObjectLine, ...]:
    """The objects of both sides (name → type), each once, those that differ first."""
    back = {name: own for own, name in object_map.items()}
    pairs: list[tuple[str | None, str | None]] = [(name, back.get(name)) for name in reference]
    pairs += [(None, name) for name in generated if name not in object_map]
    lines = [ObjectLine(pair, (reference.get(pair[0] or ""), generated.get(pair[1] or ""))) for pair in pairs]
    return tuple(sorted(lines, key=lambda line: (not line.differs, natural_key(line.names[0] or line.names[1] or ""))))


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
    >>> [(line.atoms, line.standings[1].value) for line in lines]
    [((('clear', 'a'), ('clear', 'z')), 'written'), ((('on', 'a', 'b'), None), 'absent')]
    """

    def translated(atom: Atom, names: Mapping[str, str]) -> Atom | None:
        known = all(name in names for name in atom[1:])
        return (atom[0], *(names[name] for name in atom[1:])) if known else None

    def standing(atom: Atom | None, written: State, closure: State) -> Standing:
        if atom in written:
            return Standing.WRITTEN
        return Standing.IMPLIED if atom in closure else Standing.ABSENT

    def rank(line: AtomLine) -> tuple[bool, bool, list[str]]:
        return not line.differs, line.implied, [natural_key(word) for word in line.atoms[0] or line.atoms[1] or ()]

    back = {name: own for own, name in object_map.items()}
    pairs: set[tuple[Atom | None, Atom | None]] = {
        (atom, translated(atom, back)) for atom in reference | reference_closure
    }
    pairs |= {(translated(atom, object_map), atom) for atom in generated | generated_closure}
    lines = [
        AtomLine(
            (theirs, ours),
            (standing(theirs, reference, reference_closure), standing(ours, generated, generated_closure)),
        )
        for theirs, ours in pairs
    ]
    return tuple(sorted(lines, key=rank))
