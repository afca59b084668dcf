"""Drawings of an explanation: which atoms become cards, chips or arrows, the layout, and the page and SVG with them.

Objects are of one kind when they have the same type, or the same static unary atoms if there are no types (two
rooms, two tiles). An atom over two objects of one kind is an arrow between their cards: blocks on blocks, tiles beside
tiles, roads. An atom over different kinds is a chip on the card of the place: the ball in the room, the robot on the
tile. Without kinds this is the plain scene graph of the paper (section 3.3). Everything is bounded, and
what differs is drawn first. The templates only write what is measured here.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import chain, groupby
from operator import itemgetter
from types import MappingProxyType
from typing import NamedTuple

from pddl_eval.explain.explanation import LEGEND, SCENES, Explanation, headline
from pddl_eval.explain.layout import GAP, STEPS, WIDTH, Arrow, Position, Size, place
from pddl_eval.explain.row import RowExplanation
from pddl_eval.explain.sides import AtomLine, Standing
from pddl_eval.model import ROOT_TYPE, Atom, Problem, show_atom
from pddl_eval.pages import Picture, html, render
from pddl_eval.shown import line as one_line

MOST_CARDS, MOST_CHIPS, MOST_ARROWS = 120, 40, 400
"""Bounds of a drawing: cards, chips of a card, arrows."""

NAME = 18
"""Characters of a name on a drawing; a tooltip has more of it."""

CHARACTER, LINE, PAD = 7.3, 18.0, 8.0
"""Width of a character of the 12 pixel typewriter face, height of a line, padding of a card."""

CARD_WIDTH = 210.0
"""The width at which the chips of a card begin a new row."""

SAID_ONCE = 8
"""If this many lines share a label, it is written once, below the drawing."""


class Mark(StrEnum):
    """How an atom of one side compares with the other side."""

    SAME = "same"
    IMPLIED = "implied"
    """Added by fullySpecify, on the other side too."""
    EXTRA = "extra"
    """Only this side has it."""
    LACKING = "lacking"
    """Only the other side has it."""
    GROUND = "ground"
    """An arrow that no operator changes, the same on both sides: drawn faintly, and for goals too."""


SIGNS: dict[str, str] = {Mark.EXTRA: "+ ", Mark.LACKING: "− "}


@dataclass(slots=True)
class Card:
    """An object, its kind, and its chips: by predicate the objects that are with it; its own atoms have no label.

    The card without a name holds the atoms over no object or more than two.
    """

    name: str
    kind: str
    extra: bool
    chips: dict[str, list[tuple[str, Atom, Mark]]] = field(default_factory=dict)
    omitted: int = 0

    def add(self, label: str, text: str, atom: Atom, mark: Mark) -> None:
        if sum(map(len, self.chips.values())) < MOST_CHIPS:
            self.chips.setdefault(label, []).append((text, atom, mark))
        else:
            self.omitted += 1


class Scene(NamedTuple):
    """A scene of one side; ``notes`` say what is not drawn.

    ``places`` gives each object a name for the layout, which its counterpart on the other side has too.
    """

    title: str
    cards: list[Card]
    arrows: list[tuple[Arrow, Mark]]
    notes: list[str]
    places: Mapping[str, str]


def scenes_of(explanation: Explanation) -> list[Scene]:
    """The initial scenes of both sides, then their goal scenes; a side that could not be read has none."""
    scenes = []
    reference = explanation.sides["reference"].problem
    known_kinds = _kinds(reference, explanation.static) if isinstance(reference, Problem) else {}
    expected = known_kinds if explanation.compares else {}
    init, goal = (explanation.init, explanation.objects), (explanation.goal, explanation.goal_objects)
    for scene, (lines, objects) in (("initial state", init), ("goal", goal)):
        for side, (name, known) in enumerate(explanation.sides.items()):
            if isinstance(known.problem, Problem):
                marks = dict(filter(None, (_marked(line, side, explanation) for line in lines)))
                extra = {line.names[side] or "": line.differs and explanation.compares for line in objects}
                extra.pop("", None)  # the other side's objects without a counterpart
                # An object of the answer alone gets a name that no object of the reference can have.
                places = {line.names[side] or "": line.names[0] or f" {line.names[1]}" for line in objects} | {"": ""}
                title = f"{name.capitalize()}: {scene}"
                scenes.append(_scene(title, known.problem, marks, extra, explanation.static, places, expected))
    return scenes


def _kinds(problem: Problem, static: frozenset[str]) -> dict[str, list[str]]:
    """Each object's type, else its static atoms."""
    kinds = {name: [] if type_ == ROOT_TYPE else [type_] for name, type_ in problem.objects.items()}
    for predicate, *terms in sorted(problem.init):
        if predicate in static and len(terms) == 1 and problem.objects.get(terms[0]) == ROOT_TYPE:
            kinds[terms[0]].append(predicate)
    return kinds


def _marked(line: AtomLine, side: int, explanation: Explanation) -> tuple[Atom, Mark] | None:
    """The line's atom in the names of one side; None if it has no such names, or is static and only implied."""
    atom, standing = line.atoms[side], line.standings[side]
    if atom is None or (standing == Standing.ABSENT and not explanation.compares):
        return None
    if line.differs and explanation.compares:
        return atom, Mark.LACKING if standing == Standing.ABSENT else Mark.EXTRA
    if standing == Standing.IMPLIED:
        return None if atom[0] in explanation.static else (atom, Mark.IMPLIED)
    return atom, Mark.SAME


def _scene(  # noqa: PLR0913 (what a scene is made of)
    title: str,
    problem: Problem,
    marks: dict[Atom, Mark],
    extra: Mapping[str, bool],
    static: frozenset[str],
    places: Mapping[str, str],
    expected: Mapping[str, list[str]],
) -> Scene:
    """``extra`` names all objects, in the order of the drawing, and says which ones are not on the other side.

    ``expected`` are the kinds of the reference's objects: an atom is drawn as one thing on both sides.
    """
    own = _kinds(problem, static)
    kinds = {name: expected.get(places.get(name, ""), kind) for name, kind in own.items()}
    fixed = sorted(atom for atom in problem.init if atom[0] in static)
    ground = {atom: Mark.GROUND for atom in fixed if _is_arrow(atom, kinds)}
    differing = {atom: mark for atom, mark in marks.items() if mark in SIGNS}
    atoms = differing | {atom: mark for atom, mark in (marks | ground).items() if atom not in differing}
    arrows = [((atom[1], atom[2], atom[0]), mark) for atom, mark in atoms.items() if _is_arrow(atom, kinds)]
    joined = {name for (source, target, _), _ in arrows for name in (source, target)}
    shown_kinds = {name: [kind for kind in own[name] if (kind, name) not in differing] for name in extra}
    cards = {name: Card(name, " ".join(shown_kinds[name]), extra[name]) for name in extra}
    flags = Card("", "", False)
    for atom, mark in atoms.items():
        predicate, *terms = atom
        if len(terms) == 1 and terms[0] in cards:
            if predicate not in own[terms[0]] or mark != Mark.SAME:  # else the card's kind says it
                cards[terms[0]].add("", predicate, atom, mark)
        elif len(terms) != 2 or cards.keys().isdisjoint(terms):
            flags.add("", " ".join(atom), atom, mark)
        elif not _is_arrow(atom, kinds):
            other, place = terms  # usually the second is the place: (at ball room)
            if place not in cards or (other in joined and place not in joined):
                other, place = place, other
            cards[place].add(predicate, other, atom, mark)

    elsewhere = {name for atom in marks if len(atom) == 3 for name in atom[1:]}
    shown = [card for card in cards.values() if card.name in joined or card.chips or card.name not in elsewhere]
    names = {name for atom in differing for name in atom[1:]}
    kept = {card.name for card in sorted(shown, key=lambda card: not (card.extra or card.name in names))[:MOST_CARDS]}
    drawn = [arrow for arrow in arrows if kept.issuperset(arrow[0][:2])][:MOST_ARROWS]
    omitted = {"objects": len(shown) - len(kept), "arrows": len(arrows) - len(drawn)}
    notes = [f"{count:,} more {what} are not drawn" for what, count in omitted.items() if count]
    return Scene(title, [flags, *(card for card in shown if card.name in kept)], drawn, notes, places)


def _is_arrow(atom: Atom, kinds: Mapping[str, list[str]]) -> bool:
    return len(atom) == 3 and atom[1] != atom[2] and atom[1] in kinds and kinds[atom[1]] == kinds.get(atom[2])


class Item(NamedTuple):
    """A text, a frame (if it has a width), or a text in a frame."""

    x: float
    y: float
    width: float
    height: float
    text: str
    style: str
    tooltip: str = ""


class Line(NamedTuple):
    """All arrows of one mark between two cards: a curve (start, bend, end), its heads (x, y, degrees), its label."""

    curve: tuple[Position, Position, Position]
    style: str
    heads: list[tuple[float, float, float]]
    tooltip: str


class Drawing(NamedTuple):
    """A scene with its measures; the items lie upon the lines."""

    title: str
    width: float
    height: float
    lines: list[Line]
    items: list[Item]


def html_page(
    explanation: Explanation | RowExplanation,
    title: str = "",
    *,
    whole: bool = True,
    links: Mapping[str, str] = MappingProxyType({}),
) -> str:
    """The explanation with its drawings as one HTML page, or (not ``whole``) as a fragment for a notebook.

    ``title`` says which answer it is about: dataset, row and model. ``links`` as in ``pddl_eval.pages.html``.

    >>> from pddl_eval.explain import explain
    >>> "<script>" in html_page(explain("(define (problem p)", "<script>alert(1)</script>"))
    False
    """
    pictures = [
        Picture(each.title, render("scene.svg", **each._asdict(), placed=[(0, 0, each)], labels=(), alone=False))
        for each in (drawings(explanation.problem) if explanation.problem is not None else ())
    ]
    return html(explanation.page(whole=True), {SCENES: pictures}, title=title, whole=whole, links=links)


def scenes_svg(explanation: Explanation) -> str:
    """One SVG file with all scenes: initial states above goals, the reference's beside the answer's.

    >>> from pddl_eval.explain import explain
    >>> held = "(define (problem p) (:domain blocksworld) (:objects a) (:init (holding a)) (:goal (clear a)))"
    >>> scenes_svg(explain(held, held)).count(">Answer: goal<")
    1
    """
    drawn = drawings(explanation)
    columns = 2 if explanation.compares else 1
    width = max([WIDTH, *(drawing.width for drawing in drawn)]) + GAP
    verdict = headline(explanation.verdict)
    texts = [(11.0, "title", verdict), (31.0, "note", one_line(explanation.verdict.detail))]
    labels = [Item(PAD, y, 0, LINE, text, style) for y, style, text in texts]
    placed, y = [], 90.0
    for start in range(0, len(drawn), columns):
        row = drawn[start : start + columns]
        for x, drawing in zip((PAD, PAD + width), row, strict=False):
            placed.append((x, y, drawing))
            labels.append(Item(x, y - GAP, 0, LINE, drawing.title, "title"))
        y += max(drawing.height for drawing in row) + 2 * GAP
    if not drawn:
        labels.append(Item(PAD, 59, 0, LINE, "neither problem could be read, so there is nothing to draw", ""))
    labels.append(Item(PAD, y - GAP, 0, LINE, LEGEND, "note"))
    longest = max(len(label.text) for label in labels) * CHARACTER + 2 * PAD
    whole = max(columns * width, longest)
    return render("scene.svg", title=verdict, placed=placed, labels=labels, width=whole, height=y, alone=True)


def drawings(explanation: Explanation) -> list[Drawing]:
    """All scenes with their measures, in the order of ``scenes_of``."""
    scenes = scenes_of(explanation)
    columns = 2 if explanation.compares else 1
    return [*chain.from_iterable(draw(scenes[start : start + columns]) for start in range(0, len(scenes), columns))]


def draw(scenes: Sequence[Scene]) -> list[Drawing]:
    """The scenes of one state, of one side or both: equal objects have equal frames at equal places."""
    sides = [{card.name: _items(card) for card in scene.cards if card.name or card.chips} for scene in scenes]
    sizes: dict[str, Size] = {}
    for scene, cards in zip(scenes, sides, strict=True):
        for name, (frame, *_) in cards.items():
            width, height = sizes.get(scene.places[name], (0.0, 0.0))
            sizes[scene.places[name]] = max(width, frame.width), max(height, frame.height)
    corners, extent = place(sizes, *map(_links, scenes))
    for scene, cards in zip(scenes, sides, strict=True):
        for name, (frame, *items) in cards.items():
            (left, top), (width, height) = corners[scene.places[name]], sizes[scene.places[name]]
            grown = [frame._replace(width=width, height=height), *items]
            cards[name] = [item._replace(x=item.x + left, y=item.y + top) for item in grown]
    return [_drawing(scene, cards, extent) for scene, cards in zip(scenes, sides, strict=True)]


def _links(scene: Scene) -> list[Arrow]:
    """The arrows that this side has, between places."""
    own = (arrow for arrow, mark in scene.arrows if mark != Mark.LACKING)
    return [(scene.places[source], scene.places[target], label) for source, target, label in own]


def _drawing(scene: Scene, cards: Mapping[str, list[Item]], extent: Size) -> Drawing:
    lines, labels, notes = _lines(scene.arrows, {name: items[0] for name, items in cards.items()})
    reached = [(x + PAD, y + PAD) for line in lines for x, y in line.curve]
    right, floor = (max(ends) for ends in zip(extent, *reached, strict=True))
    for number, note in enumerate([*scene.notes, *notes, *([] if cards else ["no atoms"])]):
        labels.append(Item(0, floor + PAD + number * LINE, 0, 0, note, "note"))
    right = max([right, *(item.x + len(item.text) * CHARACTER for item in labels)])
    bottom = max([floor, *(item.y + LINE for item in labels)])
    return Drawing(scene.title, right, bottom + PAD, lines, [*chain.from_iterable(cards.values()), *labels])


def _items(card: Card) -> list[Item]:
    """The frame of a card at the origin, then name and kind, its own atoms, the objects that are with it."""
    rows = [[(card.name, "name extra" if card.extra else "name", card.name), (card.kind, "kind", card.kind)]]
    for label, chips in sorted(card.chips.items(), key=lambda item: item[0] != ""):
        rows += [[(label, "group", label)], [(text, mark, show_atom(atom)) for text, atom, mark in chips]]
    rows.append([(f"and {card.omitted:,} more" if card.omitted else "", "note", "")])
    items: list[Item] = []
    y, right = 4.0, 0.0
    for row in rows:
        x = PAD
        for text, style, tooltip in filter(itemgetter(0), row):
            text = SIGNS.get(style, "") + one_line(text, NAME)
            frame = len(text) * CHARACTER + 10 if isinstance(style, Mark) else 0.0
            if x > PAD and x + frame > CARD_WIDTH:
                x, y = PAD, y + LINE + 2
            items.append(Item(x, y, frame, LINE, text, style, one_line(tooltip)))
            x += (frame or len(text) * CHARACTER) + 4
            right = max(right, x)
        y += (LINE + 2) * (x > PAD)
    style = ("card extra" if card.extra else "card") if card.name else "none"
    return [Item(0, 0, right - 4 + PAD, y + 2, "", style), *items]


def _lines(
    arrows: Sequence[tuple[Arrow, Mark]], frames: Mapping[str, Item]
) -> tuple[list[Line], list[Item], list[str]]:
    """The arrows as lines between cards, their labels, and notes: labels that many lines share or that have no room."""

    def ends(item: tuple[Arrow, Mark]) -> tuple[str, str, Mark]:
        (source, target, _), mark = item
        return min(source, target), max(source, target), mark

    found: list[tuple[Line, str]] = []
    pairs = Counter(pair[:2] for pair in {ends(arrow) for arrow in arrows})
    drawn: Counter[tuple[str, str]] = Counter()
    for (first, second, mark), group in groupby(sorted(arrows, key=ends), key=ends):
        links = [arrow for arrow, _ in group]
        names = ", ".join(dict.fromkeys(label for _, _, label in links))
        directions = {source == first for source, _, _ in links}
        placed = mark == Mark.GROUND and {label for _, _, label in links} <= STEPS.keys()
        if mark == Mark.GROUND and (len(directions) == 2 or placed):
            directions = set()
        others = [frame for name, frame in frames.items() if name not in (first, second) and frame.style != "none"]
        # Lines of different marks between the same cards are bent away from each other.
        aside = (drawn[first, second] - (pairs[first, second] - 1) / 2) * 3 * LINE
        drawn[first, second] += 1
        line = _line(frames[first], frames[second], mark, directions, others, aside)
        atoms = (show_atom((label, source, target)) for source, target, label in links)
        found.append((line._replace(tooltip=" ".join(map(one_line, atoms))), "" if placed else names))
    counts = Counter(name for line, name in found if name and line.style not in SIGNS)
    usual = {name for name, count in counts.most_common(1) if count >= SAID_ONCE}
    notes = [f"lines without a label: {one_line(name)}" for name in usual]
    labels: list[Item] = []
    for line, name in found:
        if name and (name not in usual or line.style in SIGNS):
            label = _label(line, name, [*frames.values(), *labels])
            if label is not None:
                labels.append(label)
            else:
                notes.append(f"without room for a label: {SIGNS.get(line.style, '')}{line.tooltip}")
    return [line for line, _ in found], labels, notes


def _line(  # noqa: PLR0913 (what a line depends on)
    first: Item, second: Item, mark: Mark, directions: set[bool], others: Sequence[Item], aside: float
) -> Line:
    """``directions`` holds True for an arrow from the first card to the second, False for one back.

    The line is straight, or bent: ``aside``, or around the ``others`` if it would go through one of them.
    """
    start, end = _middle(first), _middle(second)
    straight = start, _between(start, end), end
    points = [_point(straight, step / 24) for step in range(1, 24)]
    crossed = [each for each in others if any(_inside(point, each) for point in points)]
    length = math.dist(start, end)
    x, y = (start[1] - end[1]) / length, (end[0] - start[0]) / length
    if crossed and not aside:
        # To the right, or down: there is room at these ends of a drawing. A curve goes half as far as its bend.
        aside = max(max(each.width, each.height) for each in crossed) + 2 * PAD
        aside *= 1 if x > 0.1 or (abs(x) <= 0.1 and y > 0) else -1
    bend = straight[1][0] + aside * x, straight[1][1] + aside * y
    curve = _border(first, bend), bend, _border(second, bend)
    heads = []
    for forward in sorted(directions):
        tip = curve[2] if forward else curve[0]
        heads.append((*tip, math.degrees(math.atan2(tip[1] - bend[1], tip[0] - bend[0]))))
    return Line(curve, mark, heads, "")


def _label(line: Line, name: str, taken: Sequence[Item]) -> Item | None:
    """A label on the line or beside it, where it covers no card and no other label; None if there is no such place."""
    text = SIGNS.get(line.style, "") + one_line(name, NAME)
    width = len(text) * CHARACTER
    for share in (0.5, 0.35, 0.65, 0.2, 0.8):
        x, y = _point(line.curve, share)
        for left in (
            (x - width / 2, x + 5, x - width - 5) if line.curve[0][0] != line.curve[2][0] else (x + 5, x - width - 5)
        ):
            box = Item(left, y - 9, width, LINE - 4, text, line.style, line.tooltip)
            if left >= 0 and not any(_overlap(box, each) for each in taken):
                return box._replace(width=0, height=0)
    return None


def _overlap(box: Item, other: Item) -> bool:
    width, height = other.width or len(other.text) * CHARACTER, other.height or LINE - 4
    return (
        box.x < other.x + width
        and other.x < box.x + box.width
        and box.y < other.y + height
        and other.y < box.y + box.height
    )


def _inside(point: Position, box: Item) -> bool:
    return box.x < point[0] < box.x + box.width and box.y < point[1] < box.y + box.height


def _middle(box: Item) -> Position:
    return box.x + box.width / 2, box.y + box.height / 2


def _between(one: Position, other: Position) -> Position:
    return (one[0] + other[0]) / 2, (one[1] + other[1]) / 2


def _point(curve: tuple[Position, Position, Position], share: float) -> Position:
    """A point of a quadratic Bézier curve."""
    weights = (1 - share) ** 2, 2 * share * (1 - share), share**2
    x, y = (sum(weight * point[axis] for weight, point in zip(weights, curve, strict=True)) for axis in (0, 1))
    return x, y


def _border(box: Item, aim: Position) -> Position:
    """Where the line from the middle of a card to a point leaves the card."""
    x, y = _middle(box)
    dx, dy = aim[0] - x, aim[1] - y
    share = min(box.width / 2 / abs(dx) if dx else 1.0, box.height / 2 / abs(dy) if dy else 1.0, 1.0)
    return x + dx * share, y + dy * share
