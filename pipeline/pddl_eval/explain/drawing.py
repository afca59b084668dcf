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
from itertools import chain, combinations, groupby
from operator import itemgetter
from typing import NamedTuple

from pddl_eval.explain.explanation import LEGEND, SCENES, Explanation, headline
from pddl_eval.explain.row import RowExplanation
from pddl_eval.explain.sides import AtomLine, Standing
from pddl_eval.model import ROOT_TYPE, Atom, Problem, show_atom
from pddl_eval.pages import html, render
from pddl_eval.shown import line as one_line

MOST_CARDS, MOST_CHIPS, MOST_ARROWS = 120, 40, 400
"""Bounds of a drawing: cards, chips of a card, arrows."""

NAME = 18
"""Characters of a name on a drawing; a tooltip has more of it."""

CHARACTER, LINE, PAD, GAP = 7.3, 18.0, 8.0, 28.0
"""Width of a character of the 12 pixel typewriter face, height of a line, padding of a card, room between cards."""

CARD_WIDTH, WIDTH, LARGEST = 210.0, 560.0, 2400.0
"""Widths at which the chips of a card and the cards of a scene begin a new row; the largest graph."""

SAID_ONCE = 8
"""If this many lines share a label, it is written once, below the drawing."""

STEPS = {"up": (0, -1), "down": (0, 1), "left": (-1, 0), "right": (1, 0)}
STEPS |= {"north": (0, -1), "south": (0, 1), "west": (-1, 0), "east": (1, 0)}
"""``(up a b)``: a is the tile above b, as in Floor Tile."""

Size = tuple[float, float]
Position = tuple[float, float]
Arrow = tuple[str, str, str]
"""Source, target and label."""

Part = tuple[dict[str, Position], Size]
"""The top left corners of cards from the origin on, and the size of all."""


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
    """A scene of one side; ``notes`` say what is not drawn."""

    title: str
    cards: list[Card]
    arrows: list[tuple[Arrow, Mark]]
    notes: list[str]


def scenes_of(explanation: Explanation) -> list[Scene]:
    """The initial scenes of both sides, then their goal scenes; a side that could not be read has none."""
    scenes = []
    init, goal = (explanation.init, explanation.objects), (explanation.goal, explanation.goal_objects)
    for scene, (lines, objects) in (("initial state", init), ("goal", goal)):
        for side, (name, known) in enumerate(explanation.sides.items()):
            if isinstance(known.problem, Problem):
                marks = dict(filter(None, (_marked(line, side, explanation) for line in lines)))
                extra = {line.names[side] or "": line.differs and explanation.compares for line in objects}
                extra.pop("", None)  # the other side's objects without a counterpart
                title = f"{name.capitalize()}: {scene}"
                scenes.append(_scene(title, known.problem, marks, extra, explanation.static))
    return scenes


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


def _scene(
    title: str, problem: Problem, marks: dict[Atom, Mark], extra: Mapping[str, bool], static: frozenset[str]
) -> Scene:
    """``extra`` names all objects, in the order of the drawing, and says which ones are not on the other side."""
    fixed = sorted(atom for atom in problem.init if atom[0] in static)
    kinds = {name: [] if type_ == ROOT_TYPE else [type_] for name, type_ in problem.objects.items()}
    for atom in fixed:
        if len(atom) == 2 and problem.objects.get(atom[1]) == ROOT_TYPE:
            kinds[atom[1]].append(atom[0])
    ground = {atom: Mark.GROUND for atom in fixed if _is_arrow(atom, kinds)}
    differing = {atom: mark for atom, mark in marks.items() if mark in SIGNS}
    atoms = differing | {atom: mark for atom, mark in (marks | ground).items() if atom not in differing}
    arrows = [((atom[1], atom[2], atom[0]), mark) for atom, mark in atoms.items() if _is_arrow(atom, kinds)]
    joined = {name for (source, target, _), _ in arrows for name in (source, target)}
    cards = {name: Card(name, " ".join(kinds[name]), extra[name]) for name in extra}
    flags = Card("", "", False)
    for atom, mark in atoms.items():
        predicate, *terms = atom
        if len(terms) == 1 and terms[0] in cards:
            if predicate not in kinds[terms[0]] or mark != Mark.SAME:  # else the card's kind says it
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
    return Scene(title, [flags, *(card for card in shown if card.name in kept)], drawn, notes)


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
    """All arrows of one mark between two cards: both ends and the heads (x, y, degrees)."""

    start: Position
    end: Position
    style: str
    heads: list[tuple[float, float, float]]


class Drawing(NamedTuple):
    """A scene with its measures; the items lie upon the lines."""

    title: str
    width: float
    height: float
    lines: list[Line]
    items: list[Item]


def html_page(
    explanation: Explanation | RowExplanation, title: str = "pddl-eval explain", *, whole: bool = True
) -> str:
    """The explanation with its drawings as one HTML page, or (not ``whole``) as a fragment for a notebook.

    >>> from pddl_eval.explain import explain
    >>> "<script>" in html_page(explain("(define (problem p)", "<script>alert(1)</script>"))
    False
    """
    problem = explanation.problem
    drawings = [draw(scene) for scene in scenes_of(problem)] if problem is not None else []
    figures = [
        (drawing.title, render("scene.svg", **drawing._asdict(), placed=[(0, 0, drawing)], labels=()))
        for drawing in drawings
    ]
    return html(explanation.page(whole=True), {SCENES: figures}, title=title, whole=whole)


def scenes_svg(explanation: Explanation) -> str:
    """One SVG file with all scenes: initial states above goals, the reference's beside the answer's.

    >>> from pddl_eval.explain import explain
    >>> held = "(define (problem p) (:domain blocksworld) (:objects a) (:init (holding a)) (:goal (clear a)))"
    >>> scenes_svg(explain(held, held)).count(">Answer: goal<")
    1
    """
    drawings = [draw(scene) for scene in scenes_of(explanation)]
    columns = 2 if explanation.compares else 1
    width = max([WIDTH, *(drawing.width for drawing in drawings)]) + GAP
    verdict = headline(explanation.verdict)
    texts = [(11.0, "title", verdict), (31.0, "note", one_line(explanation.verdict.detail))]
    labels = [Item(PAD, y, 0, LINE, text, style) for y, style, text in texts]
    placed, y = [], 90.0
    for start in range(0, len(drawings), columns):
        row = drawings[start : start + columns]
        for x, drawing in zip((PAD, PAD + width), row, strict=False):
            placed.append((x, y, drawing))
            labels.append(Item(x, y - GAP, 0, LINE, drawing.title, "title"))
        y += max(drawing.height for drawing in row) + 2 * GAP
    if not drawings:
        labels.append(Item(PAD, 59, 0, LINE, "neither problem could be read, so there is nothing to draw", ""))
    labels.append(Item(PAD, y - GAP, 0, LINE, LEGEND, "note"))
    return render("scene.svg", title=verdict, placed=placed, labels=labels, width=columns * width, height=y)


def draw(scene: Scene) -> Drawing:
    """A scene with its measures."""
    cards = {card.name: _items(card) for card in scene.cards if card.name or card.chips}
    own = [arrow for arrow, mark in scene.arrows if mark != Mark.LACKING]
    both = [arrow for arrow, _ in scene.arrows]
    corners, (width, height) = place({name: items[0][2:4] for name, items in cards.items()}, both, own)
    for name, (left, top) in corners.items():
        cards[name] = [item._replace(x=item.x + left, y=item.y + top) for item in cards[name]]
    lines, labels, notes = _lines(scene.arrows, {name: items[0] for name, items in cards.items()})
    for note in [*scene.notes, *notes, *([] if cards else ["no atoms"])]:
        height += LINE
        labels.append(Item(0, height - LINE + PAD, 0, 0, note, "note"))
    right = max([width, *(item.x + len(item.text) * CHARACTER for item in labels)])
    return Drawing(scene.title, right, height + PAD, lines, [*chain.from_iterable(cards.values()), *labels])


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
    """The arrows as lines between cards, their labels, and a note for a label that many lines share."""

    def ends(item: tuple[Arrow, Mark]) -> tuple[str, str, Mark]:
        (source, target, _), mark = item
        return min(source, target), max(source, target), mark

    lines, labels = [], []
    for (first, second, mark), group in groupby(sorted(arrows, key=ends), key=ends):
        links = [arrow for arrow, _ in group]
        names = dict.fromkeys(label for _, _, label in links)
        directions = {source == first for source, _, _ in links}
        if mark == Mark.GROUND and (len(directions) == 2 or names.keys() <= STEPS.keys()):
            directions = set()
        lines.append(_line(frames[first], frames[second], mark, directions))
        if mark != Mark.GROUND or not names.keys() <= STEPS.keys():  # else the places of the cards say it
            labels.append(_label(lines[-1], ", ".join(names)))
    counts = Counter(label.tooltip for label in labels if label.style not in SIGNS)
    usual = [label for label, count in counts.most_common(1) if count >= SAID_ONCE]
    kept = [label for label in labels if label.tooltip not in usual or label.style in SIGNS]
    return lines, kept, [f"lines without a label: {label}" for label in usual]


def _line(first: Item, second: Item, mark: Mark, directions: set[bool]) -> Line:
    """``directions`` holds True for an arrow from the first card to the second, False for one back."""
    start, end = _border(first, second), _border(second, first)
    angle = math.degrees(math.atan2(end[1] - start[1], end[0] - start[0]))
    heads = [(*(end if forward else start), angle if forward else angle + 180) for forward in sorted(directions)]
    return Line(start, end, mark, heads)


def _label(line: Line, label: str) -> Item:
    """Beside an upright line, else on its middle."""
    text = SIGNS.get(line.style, "") + one_line(label, NAME)
    (x, y), (other_x, other_y) = line.start, line.end
    left = x + 5 if abs(x - other_x) < CHARACTER else (x + other_x - len(text) * CHARACTER) / 2
    return Item(left, (y + other_y) / 2 - 9, 0, 0, text, line.style, one_line(label))


def _border(box: Item, other: Item) -> Position:
    """Where the line between the middles of two cards leaves the first."""
    x, y = box.x + box.width / 2, box.y + box.height / 2
    dx, dy = other.x + other.width / 2 - x, other.y + other.height / 2 - y
    share = min(box.width / 2 / abs(dx) if dx else 1.0, box.height / 2 / abs(dy) if dy else 1.0, 1.0)
    return x + dx * share, y + dy * share


def place(sizes: Mapping[str, Size], both: Sequence[Arrow], own: Sequence[Arrow] = ()) -> Part:
    """Top left corners without overlapping cards, and the size of all.

    Arrows that make grids and chains are drawn as grids and towers: those of both sides, so that both are drawn alike,
    or else a side's own. Where they make neither, the graph is spread out.

    >>> place({"a": (40, 20), "b": (40, 20)}, [("a", "b", "on")])
    ({'a': (0.0, 0.0), 'b': (0.0, 48.0)}, (40.0, 68.0))
    """
    parts = _parts(sizes, both) or _parts(sizes, own) or _parts(sizes, both, spread=True)
    rows: list[list[Part]] = [[]]
    x = y = right = 0.0
    for part in parts:
        if x and x + part[1][0] > WIDTH:
            rows.append([])
            x = 0.0
        rows[-1].append(part)
        x += part[1][0] + GAP / 2
    places: dict[str, Position] = {}
    for row in rows:
        x, floor = 0.0, y + max((height for _, (_, height) in row), default=0.0)
        for corners, (width, height) in row:
            places |= {name: (x + left, floor - height + top) for name, (left, top) in corners.items()}
            x += width + GAP / 2
        right, y = max(right, x - GAP / 2), floor + GAP / 2
    return places, (right, y - GAP / 2)


def _parts(sizes: Mapping[str, Size], links: Sequence[Arrow], *, spread: bool = False) -> list[Part]:
    """The connected parts; an empty list if one is neither a grid nor a tower, unless ``spread``."""
    import networkx  # slow to import, and only drawings need it

    graph = networkx.Graph()
    graph.add_nodes_from(sizes)
    graph.add_edges_from(link[:2] for link in links)
    parts = []
    for component in networkx.connected_components(graph):
        inside = {name: size for name, size in sizes.items() if name in component}
        own = [link for link in links if link[0] in component]
        middles = _cells(inside, own) or (_spread(inside, own) if spread else None)
        if middles is None:
            return []
        parts.append(_around(inside, middles))
    return parts


def _around(sizes: Mapping[str, Size], middles: Mapping[str, Position]) -> Part:
    """Corners from the origin on, and the size of all, of cards with these middles."""
    corners = {name: (x - sizes[name][0] / 2, y - sizes[name][1] / 2) for name, (x, y) in middles.items()}
    left, top = (min(corner[axis] for corner in corners.values()) for axis in (0, 1))
    right, bottom = (max(corner[axis] + sizes[name][axis] for name, corner in corners.items()) for axis in (0, 1))
    return {name: (x - left, y - top) for name, (x, y) in corners.items()}, (right - left, bottom - top)


def _cells(sizes: Mapping[str, Size], links: Sequence[Arrow]) -> dict[str, Position] | None:
    """Middles in rows and columns if the arrows name directions that agree, or make a chain; else None."""
    named = [link for link in links if link[2] in STEPS] or links
    steps = [(source, target, STEPS.get(label, STEPS["up"])) for source, target, label in named]
    cells = {next(iter(sizes)): (0, 0)}
    for _ in sizes:
        for source, target, (dx, dy) in steps:
            if target in cells:
                cells.setdefault(source, (cells[target][0] + dx, cells[target][1] + dy))
            elif source in cells:
                cells[target] = cells[source][0] - dx, cells[source][1] - dy
    if len(cells) < len(sizes) or len(set(cells.values())) < len(cells):
        return None
    if any(cells[source] != (cells[target][0] + dx, cells[target][1] + dy) for source, target, (dx, dy) in steps):
        return None
    width, height = (max(size[axis] for size in sizes.values()) + GAP for axis in (0, 1))
    return {name: (column * width, row * height) for name, (column, row) in cells.items()}


def _spread(sizes: Mapping[str, Size], links: Sequence[Arrow]) -> dict[str, Position]:
    """Middles by the forces of Fruchterman and Reingold, scaled until no cards overlap."""
    import networkx  # slow to import, and only drawings need it

    graph = networkx.Graph()
    graph.add_nodes_from(sizes)
    graph.add_edges_from(link[:2] for link in links)
    points = networkx.spring_layout(graph, iterations=300, seed=1)
    scale = 1.0
    for (name, (x, y)), (other, (other_x, other_y)) in combinations(points.items(), 2):
        wide = ((sizes[name][0] + sizes[other][0]) / 2 + GAP) / max(abs(x - other_x), 1e-3)
        high = ((sizes[name][1] + sizes[other][1]) / 2 + GAP) / max(abs(y - other_y), 1e-3)
        scale = max(scale, min(wide, high))
    return {name: (float(x) * min(scale, LARGEST), float(y) * min(scale, LARGEST)) for name, (x, y) in points.items()}
