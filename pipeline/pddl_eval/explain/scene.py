"""What a drawing of a scene shows: every atom once, on a card, as a chip on a card, as an arrow, or as a flag.

Objects are of one kind when they have the same type and the same static unary atoms (two rooms, two tiles). An atom
over two objects of one kind is an arrow between their cards: blocks on blocks, tiles beside tiles, roads. An atom over
different kinds puts a chip on the card of the place: the ball in the room, the robot on the tile. Where a domain tells
no kinds apart this is the plain scene graph of the paper (section 3.3). Where things stand is for ``layout`` to say.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from pddl_eval.explain.explanation import Explanation
from pddl_eval.explain.side_by_side import AtomLine, Standing
from pddl_eval.model import ROOT_TYPE, Atom

MOST_CARDS = 120
MOST_CHIPS = 24
MOST_GROUPS = 6
MOST_ARROWS = 400
"""Bounds of a drawing: cards, chips of one group, groups of one card, arrows. What differs is drawn first."""


class Mark(StrEnum):
    """How an atom of one side compares with the other side."""

    SAME = "same"
    IMPLIED = "implied"
    """Added by fullySpecify, and so on the other side."""
    EXTRA = "extra"
    """Only this side has it."""
    LACKING = "lacking"
    """Only the other side has it."""


DIFFERENT = frozenset({Mark.EXTRA, Mark.LACKING})

Kind = tuple[str, ...]
"""An object's type and static unary predicates."""


@dataclass(frozen=True, slots=True)
class Chip:
    """An atom, or all of it that its place on the drawing does not say."""

    text: str
    atom: Atom
    mark: Mark


@dataclass(frozen=True, slots=True)
class Chips:
    """Chips under a label (the predicate that they share), and how many more there are."""

    label: str
    chips: tuple[Chip, ...]
    omitted: int


@dataclass(frozen=True, slots=True)
class Card:
    """An object: its kind, its own atoms (without a label), and by predicate the objects that are with it."""

    name: str
    kind: str
    extra: bool
    groups: tuple[Chips, ...]


@dataclass(frozen=True, slots=True)
class Arrow:
    """A binary atom over two cards; ``static`` where no operator changes it."""

    source: str
    target: str
    label: str
    mark: Mark
    static: bool


@dataclass(frozen=True, slots=True)
class Scene:
    """A scene of one side. ``flags`` are atoms over no object or more than two; ``silent`` objects have no atom."""

    title: str
    cards: tuple[Card, ...]
    arrows: tuple[Arrow, ...]
    flags: Chips
    silent: tuple[str, ...]
    cards_omitted: int
    arrows_omitted: int


def scenes_of(explanation: Explanation) -> tuple[Scene, ...]:
    """The initial scenes of both sides, then their goal scenes; a side that could not be read has none."""
    scenes = []
    for scene, lines in (("initial state", explanation.init), ("goal", explanation.goal)):
        for owner, side in (("Reference", explanation.reference), ("Answer", explanation.generated)):
            if side.problem is None:
                continue
            own = owner == "Reference"
            drawn = [found for line in lines if (found := _marked(line, own, explanation.compares)) is not None]
            fixed = sorted(atom for atom in side.problem.init if atom[0] in explanation.static)
            if scene == "goal":
                drawn = [
                    (atom, mark) for atom, mark in drawn if mark != Mark.IMPLIED or atom[0] not in explanation.static
                ]
            extra = {
                name
                for line in explanation.objects
                if explanation.compares and line.differs and (name := line.reference if own else line.generated)
            }
            title = f"{owner}: {scene}"
            scenes.append(_scene(title, side.problem.objects, drawn, fixed, explanation.static, extra))
    return tuple(scenes)


def _marked(line: AtomLine, own_is_reference: bool, compares: bool) -> tuple[Atom, Mark] | None:
    """The line's atom in the words of one side, None where that side has no words for it."""
    atom, standing = line.generated, line.in_generated
    if own_is_reference:
        atom, standing = line.reference, line.in_reference
    if atom is None or (standing == Standing.ABSENT and not compares):
        return None
    if standing == Standing.ABSENT:
        return atom, Mark.LACKING
    if compares and line.differs:
        return atom, Mark.EXTRA
    return atom, Mark.IMPLIED if standing == Standing.IMPLIED else Mark.SAME


def _scene(
    title: str,
    objects: Mapping[str, str],
    drawn: Sequence[tuple[Atom, Mark]],
    fixed: Iterable[Atom],
    static: frozenset[str],
    extra: set[str],
) -> Scene:
    kinds = _kinds(objects, fixed)
    marked = dict(drawn)
    ground = {atom: Mark.SAME for atom in fixed if _is_arrow(atom, kinds)}  # the grid that a goal takes for granted
    first_what_differs = dict(sorted((ground | marked).items(), key=lambda item: item[1] not in DIFFERENT))
    arrows, groups, flags = _sorted_out(first_what_differs, kinds, static)

    told = {name for arrow in arrows for name in (arrow.source, arrow.target)} | groups.keys()
    told_kinds = {kinds[name] for name in told}
    elsewhere = {name for atom in marked if len(atom) == 3 for name in atom[1:]}
    on_cards = [name for name in objects if name in told or (kinds[name] in told_kinds and name not in elsewhere)]
    differing = extra.union(*(atom[1:] for atom, mark in drawn if mark in DIFFERENT))
    kept = set(sorted(on_cards, key=lambda name: name not in differing)[:MOST_CARDS])
    named = elsewhere.union(on_cards)
    drawable = [arrow for arrow in arrows if arrow.source in kept and arrow.target in kept][:MOST_ARROWS]
    return Scene(
        title=title,
        cards=tuple(
            Card(name, _kind_name(kinds[name]), name in extra, _bounded(groups.get(name, {})))
            for name in on_cards
            if name in kept
        ),
        arrows=tuple(drawable),
        flags=Chips("", tuple(flags[:MOST_CHIPS]), len(flags[MOST_CHIPS:])),
        silent=tuple(name for name in objects if name not in named),
        cards_omitted=len(on_cards) - len(kept),
        arrows_omitted=len(arrows) - len(drawable),
    )


def _sorted_out(
    atoms: Mapping[Atom, Mark], kinds: Mapping[str, Kind], static: frozenset[str]
) -> tuple[list[Arrow], dict[str, dict[str, list[Chip]]], list[Chip]]:
    """Arrows, chips by card and predicate (a card's own atoms under none), and the atoms that are on no card."""
    arrows: list[Arrow] = []
    groups: dict[str, dict[str, list[Chip]]] = {}
    flags: list[Chip] = []
    joined = {name for atom in atoms if _is_arrow(atom, kinds) for name in atom[1:]}
    for atom, mark in atoms.items():
        if _is_arrow(atom, kinds):
            arrows.append(Arrow(atom[1], atom[2], atom[0], mark, atom[0] in static))
        elif len(atom) == 2 and atom[1] in kinds:
            if atom[0] not in static or mark != Mark.SAME:  # else the card's kind says it
                groups.setdefault(atom[1], {}).setdefault("", []).append(Chip(atom[0], atom, mark))
        elif len(atom) == 3 and (atom[1] in kinds or atom[2] in kinds):
            place, other = _place(atom, joined, kinds)
            groups.setdefault(place, {}).setdefault(atom[0], []).append(Chip(other, atom, mark))
        else:
            flags.append(Chip(" ".join(atom), atom, mark))
    return arrows, groups, flags


def _bounded(groups: Mapping[str, Sequence[Chip]]) -> tuple[Chips, ...]:
    """The own atoms of a card first, then what is with it; whole groups beyond the bound are counted in the last."""
    ordered = sorted(groups.items(), key=lambda item: item[0] != "")
    drawn = [Chips(label, tuple(chips[:MOST_CHIPS]), len(chips[MOST_CHIPS:])) for label, chips in ordered[:MOST_GROUPS]]
    beyond = sum(len(chips) for _, chips in ordered[MOST_GROUPS:])
    if beyond:
        drawn[-1] = replace(drawn[-1], omitted=drawn[-1].omitted + beyond)
    return tuple(drawn)


def _kinds(objects: Mapping[str, str], fixed: Iterable[Atom]) -> dict[str, Kind]:
    unary: dict[str, list[str]] = {name: [] for name in objects}
    for atom in fixed:
        if len(atom) == 2 and atom[1] in unary:
            unary[atom[1]].append(atom[0])
    return {name: (type_, *sorted(unary[name])) for name, type_ in objects.items()}


def _kind_name(kind: Kind) -> str:
    return " ".join(word for word in kind if word != ROOT_TYPE)


def _is_arrow(atom: Atom, kinds: Mapping[str, Kind]) -> bool:
    return len(atom) == 3 and atom[1] != atom[2] and atom[1] in kinds and kinds[atom[1]] == kinds.get(atom[2])


def _place(atom: Atom, joined: set[str], kinds: Mapping[str, Kind]) -> tuple[str, str]:
    """Which of the atom's objects gets the chip, and which one stands on it: the second is the place by habit."""
    _, first, second = atom
    if second not in kinds or (first in joined and second not in joined):
        return first, second
    return second, first
