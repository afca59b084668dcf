"""Both problems as values: what is known of each side, and its objects and atoms beside those of the other side.

A goal's atom may be written, or implied: added by fullySpecify. Two goals differ in an atom that one of them has,
written or implied, and that is not in the other. Nothing here reads, decides or shows anything.
"""

from __future__ import annotations

from collections.abc import Mapping, Set
from dataclasses import dataclass
from enum import StrEnum

from pddl_eval.definition.model import Action, Formula, Problem, show_formula, show_number
from pddl_eval.definition.pddl import Unreadable
from pddl_eval.definition.scenes import as_written, renamed_formula, values_of
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
    added: tuple[Formula, ...] | Unsolvable | Undecided = ()
    plan: tuple[Action, ...] | Unsolvable | Undecided = ()
    certificate: str | None = None


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
    """An atom in the names of the reference and of the answer; None if an object of it has no counterpart.

    A number ``("=", fluent, number)``, the metric and other formulas have lines, too.
    """

    atoms: tuple[Formula | None, Formula | None]
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
        return str((self.atoms[0] or self.atoms[1] or ("",))[0])


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
    reference: Set[Formula],
    generated: Set[Formula],
    object_map: Mapping[str, str],
    reference_closure: Set[Formula] = frozenset(),
    generated_closure: Set[Formula] = frozenset(),
) -> tuple[AtomLine, ...]:
    """The atoms of both sides, each once: those that differ, those that one side writes, those that are implied.

    The map names all objects that have a counterpart, constants of the domain included.

    >>> lines = atom_lines(frozenset({("on", "a", "b")}), frozenset({("clear", "z")}), {"z": "a"})
    >>> [(line.atoms, line.standings[1].value) for line in lines]
    [((('clear', 'a'), ('clear', 'z')), 'written'), ((('on', 'a', 'b'), None), 'absent')]
    """

    def translated(atom: Formula, names: Mapping[str, str]) -> Formula | None:
        known = all(name in names for name in as_written(atom)[1:])
        return renamed_formula(atom, names) if known else None

    def standing(atom: Formula | None, written: Set[Formula], closure: Set[Formula]) -> Standing:
        if atom in written:
            return Standing.WRITTEN
        return Standing.IMPLIED if atom in closure else Standing.ABSENT

    def rank(line: AtomLine) -> tuple[bool, bool, list[str]]:
        return (
            not line.differs,
            line.implied,
            [*map(natural_key, show_formula(line.atoms[0] or line.atoms[1] or ())[1:-1].split())],
        )

    back = {name: own for own, name in object_map.items()}
    pairs: set[tuple[Formula | None, Formula | None]] = {
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


def initial_scene(problem: Problem) -> frozenset[Formula]:
    """What a problem says before its goal: atoms, numbers, the metric.

    >>> metric = (":metric", ("minimize", ("total-cost",)))
    >>> sorted(initial_scene(Problem("p", "d", {}, frozenset({("q",)}), frozenset(), formulas=(metric,))))
    [('minimize', ('total-cost',)), ('q',)]
    """
    values: list[Formula] = [("=", fluent, show_number(value)) for fluent, value in values_of(problem).items()]
    return frozenset([*problem.init, *values, *([problem.metric] if problem.metric else [])])
