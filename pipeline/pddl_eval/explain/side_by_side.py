"""Both problems atom by atom: each line holds an atom, its counterpart under the object map, and where it stands.

A goal's atom may be written, or implied: added by fullySpecify. Two goals differ in an atom where one has it, either
way, and the other has it not.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from pddl_eval.equivalence.analysis import Analysis
from pddl_eval.equivalence.canonical import isomorphic
from pddl_eval.equivalence.differences import closest_matching
from pddl_eval.model import Atom, State

NOTHING: State = frozenset()


class Standing(StrEnum):
    WRITTEN = "written"
    IMPLIED = "implied"
    ABSENT = "absent"


@dataclass(frozen=True, slots=True)
class ObjectLine:
    """An object of the reference and the one of the answer that stands for it; None where there is none."""

    reference: str | None
    generated: str | None
    reference_type: str | None
    generated_type: str | None

    @property
    def differs(self) -> bool:
        return self.reference_type != self.generated_type


@dataclass(frozen=True, slots=True)
class AtomLine:
    """An atom in the words of either side; None where it names an object that has no counterpart there."""

    reference: Atom | None
    generated: Atom | None
    in_reference: Standing
    in_generated: Standing

    @property
    def differs(self) -> bool:
        return (self.in_reference == Standing.ABSENT) != (self.in_generated == Standing.ABSENT)


def matching_objects(reference: Analysis, generated: Analysis) -> dict[str, str]:
    """The generated → reference map under which unequal problems are shown: the one that the decision's words follow.

    It maps initial state onto initial state where it can, by the same names first, and is a plausible one where not.
    """
    ours, theirs = generated.problem, reference.problem
    if ours.objects == theirs.objects and ours.init == theirs.init:
        return {name: name for name in ours.objects}
    if isomorphic(generated.initial_scene, reference.initial_scene):
        return dict(zip(generated.initial_scene.order, reference.initial_scene.order, strict=True))
    return closest_matching(ours, theirs)


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
    reference_closure: State = NOTHING,
    generated_closure: State = NOTHING,
) -> tuple[AtomLine, ...]:
    """The atoms of both sides, each once: those that differ, those that one side writes, those that are implied.

    The map names all objects that have a counterpart, constants of the domain included.

    >>> lines = atom_lines(frozenset({("on", "a", "b")}), frozenset({("clear", "z")}), {"z": "a"})
    >>> [(line.reference, line.generated, line.in_generated.value) for line in lines]
    [(('clear', 'a'), ('clear', 'z'), 'written'), (('on', 'a', 'b'), None, 'absent')]
    """
    back = {name: own for own, name in object_map.items()}
    pairs: set[tuple[Atom | None, Atom | None]] = {
        *((atom, _translated(atom, back)) for atom in reference | reference_closure),
        *((_translated(atom, object_map), atom) for atom in generated | generated_closure),
    }
    lines = [
        AtomLine(
            theirs,
            ours,
            _standing(theirs, reference, reference_closure),
            _standing(ours, generated, generated_closure),
        )
        for theirs, ours in pairs
    ]
    return tuple(sorted(lines, key=_rank))


def _translated(atom: Atom, names: Mapping[str, str]) -> Atom | None:
    if all(name in names for name in atom[1:]):
        return (atom[0], *(names[name] for name in atom[1:]))
    return None


def _standing(atom: Atom | None, written: State, closure: State) -> Standing:
    if atom in written:
        return Standing.WRITTEN
    return Standing.IMPLIED if atom in closure else Standing.ABSENT


def _rank(line: AtomLine) -> tuple[bool, bool, list[str]]:
    implied = Standing.WRITTEN not in (line.in_reference, line.in_generated)
    return not line.differs, implied, [_counted(word) for word in line.reference or line.generated or ()]


def _counted(name: str) -> str:
    """``ball2`` before ``ball10``."""
    return re.sub(r"\d+", lambda digits: digits[0].zfill(9), name)
