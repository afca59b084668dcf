"""Scenes as SVG: self-contained, in light and dark, everything in it escaped and bounded.

Not colour alone tells marks apart: what only this side has carries a plus, what only the other side has a minus and
a dashed frame, what fullySpecify added a dotted one.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from html import escape
from textwrap import wrap

from pddl_eval.explain.explanation import Explanation
from pddl_eval.explain.layout import GAP, STEPS, WIDTH, Position, Size, place
from pddl_eval.explain.scene import Arrow, Card, Chips, Mark, Scene, scenes_of
from pddl_eval.explain.shown import shown, shown_atom
from pddl_eval.explain.words import headline

CHARACTER = 7.3
TITLE_CHARACTER = 9.5
"""Width of a character of the 12 pixel typewriter face, and of the 15 pixel face of titles, generously."""

LINE = 20.0
PAD = 8.0
CARD_WIDTH = 210.0
"""Beyond which a card's chips go on in the next line."""

NAME_CHARACTERS = 18
MOST_NAMES = 60

SMALLEST = 0.6
"""Of its natural size: how far a drawing shrinks on a narrow screen before it has to be scrolled."""

SAID_ONCE = 8
"""Lines with the same label, from which on the label stands below the drawing instead."""

STYLE = """
.pe text{font:12px ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;fill:#1f2328}
.pe .title{font:600 15px system-ui,sans-serif}.pe .note,.pe .kind,.pe .group{fill:#59636e}.pe .name{font-weight:600}
.pe rect{fill:#fff;stroke:#8c959f}.pe .card{fill:#f6f8fa}.pe .page{fill:#fff;stroke:none}
.pe line{stroke:#59636e;stroke-width:1.5}.pe .ground{stroke:#afb8c1;stroke-width:1}.pe path{fill:#59636e}
.pe .halo{paint-order:stroke;stroke:#fff;stroke-width:4px;stroke-linejoin:round}
.pe rect.implied,.pe line.implied{stroke-dasharray:2 3}.pe text.implied{fill:#59636e}
.pe rect.extra{fill:#ffebe9;stroke:#cf222e;stroke-width:1.5}.pe line.extra{stroke:#cf222e;stroke-width:2.5}
.pe text.extra{fill:#a40e26;font-weight:600}.pe path.extra,.pe path.lacking{fill:#cf222e}
.pe rect.lacking{fill:none;stroke:#cf222e;stroke-dasharray:5 3}.pe line.lacking{stroke:#cf222e;stroke-dasharray:5 4}
.pe text.lacking{fill:#a40e26;font-style:italic}
@media (prefers-color-scheme:dark){
.pe text{fill:#e6edf3}.pe .note,.pe .kind,.pe .group,.pe text.implied{fill:#9198a1}
.pe rect{fill:#0d1117;stroke:#656c76}.pe .card{fill:#161b22}.pe .page{fill:#0d1117}
.pe line{stroke:#9198a1}.pe .ground{stroke:#3d444d}.pe path{fill:#9198a1}.pe .halo{stroke:#0d1117}
.pe rect.extra{fill:#3c1618;stroke:#f85149}.pe line.extra,.pe line.lacking,.pe rect.lacking{stroke:#f85149}
.pe text.extra,.pe text.lacking{fill:#ff7b72}.pe path.extra,.pe path.lacking{fill:#f85149}}
"""

SIGN = {Mark.EXTRA: "+ ", Mark.LACKING: "− "}

LEGEND = "+ only here;  − only on the other side;  dotted: implied, added by fullySpecify"


@dataclass(slots=True)
class _Drawing:
    """SVG elements, and the size of what they cover."""

    elements: list[str] = field(default_factory=list)
    width: float = 0.0
    height: float = 0.0

    def text(self, x: float, y: float, text: str, style: str = "", tooltip: str = "") -> None:
        title = f"<title>{escape(tooltip)}</title>" if tooltip else ""
        self.elements.append(f'<text x="{x:.1f}" y="{y:.1f}" class="{style}">{escape(text)}{title}</text>')
        self.cover(x + len(text) * (TITLE_CHARACTER if style == "title" else CHARACTER), y + 4)

    def box(self, x: float, y: float, width: float, height: float, style: str = "") -> None:
        self.elements.append(
            f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" rx="5" class="{style}"/>'
        )
        self.cover(x + width, y + height)

    def cover(self, x: float, y: float) -> None:
        self.width, self.height = max(self.width, x), max(self.height, y)


def scene_drawings(explanation: Explanation) -> list[str]:
    """An SVG element for each scene: initial states, then goals, the reference's before the answer's.

    They are for a page that holds ``STYLE``.
    """
    return [_alone(scene) for scene in scenes_of(explanation)]


def scenes_svg(explanation: Explanation) -> str:
    """One SVG file with all scenes: initial states above goals, the reference's beside the answer's.

    >>> from pddl_eval.explain import explain
    >>> held = "(define (problem p) (:domain blocksworld) (:objects a) (:init (holding a)) (:goal (clear a)))"
    >>> scenes_svg(explain(held, held)).count("<g ")
    4
    """
    drawings = [_draw(scene) for scene in scenes_of(explanation)]
    rows = [drawings[start : start + 2] for start in range(0, len(drawings), 2)]
    if not explanation.compares:  # one side only: its goal stands under its initial state
        rows = [[drawing] for drawing in drawings]
    page = _Drawing()
    page.text(PAD, 24, shown(headline(explanation)), "title")
    page.text(PAD, 44, shown(explanation.verdict.detail), "note")
    y = 64.0
    for row in rows:
        x = PAD
        for drawing in row:
            page.elements.append(f'<g transform="translate({x:.1f} {y:.1f})">{"".join(drawing.elements)}</g>')
            page.cover(x + drawing.width, y + drawing.height)
            x += max(drawing.width, WIDTH) + GAP
        y += max(drawing.height for drawing in row) + GAP
    if not rows:
        page.text(PAD, 72, "neither problem could be read, so there is nothing to draw")
    page.text(PAD, page.height + 28, LEGEND, "note")
    told = f"{shown(headline(explanation))}. {description(explanation)}"
    ground = f'<rect class="page" width="{page.width + PAD:.0f}" height="{page.height + PAD:.0f}"/>'
    return _svg(page, "Scene graphs of both problems", told, f"<style>{STYLE}</style>{ground}")


def description(explanation: Explanation) -> str:
    """How many atoms differ in what is drawn."""
    counts = [
        f"{sum(line.differs for line in lines):,} of {len(lines):,} atoms of the {name} differ"
        for name, lines in (("initial state", explanation.init), ("goal", explanation.goal))
    ]
    return f"{'; '.join(counts)}." if explanation.compares else "There is but one problem to draw."


def _alone(scene: Scene) -> str:
    groups = [scene.flags, *(group for card in scene.cards for group in card.groups)]
    marks = [chip.mark for group in groups for chip in group.chips] + [arrow.mark for arrow in scene.arrows]
    more, less = marks.count(Mark.EXTRA), marks.count(Mark.LACKING)
    told = f"{len(scene.cards)} objects on cards, {more} atoms only here, {less} only on the other side"
    return _svg(_draw(scene), scene.title, told)


def _svg(drawing: _Drawing, title: str, told: str, ground: str = "") -> str:
    width, height = drawing.width + PAD, drawing.height + PAD
    shrinks = f"max-width:100%;min-width:{width * SMALLEST:.0f}px;height:auto"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="pe" role="img" viewBox="0 0 {width:.0f} {height:.0f}" '
        f'width="{width:.0f}" height="{height:.0f}" style="{shrinks}">'
        f"<title>{escape(title)}</title><desc>{escape(told)}</desc>{ground}{''.join(drawing.elements)}</svg>"
    )


def _draw(scene: Scene) -> _Drawing:
    drawing = _Drawing()
    drawing.text(0, 16, scene.title, "title")
    y = 28.0
    flags, height = _flow(scene.flags, WIDTH)
    for item in flags:
        item.draw(drawing, 0, y)
    y += height + PAD
    contents = {card.name: _contents(card) for card in scene.cards}
    sizes = {name: size for name, (size, _) in contents.items()}
    lines = _lines(scene.arrows)
    usual = _usual_label(lines)
    longest = max((len(shown(line.label, NAME_CHARACTERS)) for line in lines if line.label != usual), default=0)
    links = [(arrow.source, arrow.target, arrow.label) for arrow in scene.arrows if arrow.mark != Mark.LACKING]
    placed = place(sizes, links, longest * CHARACTER)
    at = {name: (left + 1, top + y) for name, (left, top) in placed.positions.items()}
    ends = {line: _ends(at[line.first], sizes[line.first], at[line.second], sizes[line.second]) for line in lines}
    for line in lines:
        _draw_line(drawing, line, *ends[line])
    for card in scene.cards:
        size, items = contents[card.name]
        drawing.box(*at[card.name], *size, "card extra" if card.extra else "card")
        for item in items:
            item.draw(drawing, *at[card.name])
    for line in lines:
        if line.label != usual:
            _draw_label(drawing, line, *ends[line])
    y += placed.height + LINE
    for note in [*([shown(f"arrows without a label: {usual}")] if usual else []), *_notes(scene)]:
        drawing.text(0, y, note, "note")
        y += LINE
    return drawing


def _notes(scene: Scene) -> list[str]:
    notes = [] if scene.cards or scene.flags.chips else ["no atoms"]
    if scene.cards_omitted:
        notes.append(f"{scene.cards_omitted:,} more objects are not drawn")
    if scene.arrows_omitted:
        notes.append(f"{scene.arrows_omitted:,} more arrows are not drawn")
    if scene.silent:
        names = ", ".join(shown(name, NAME_CHARACTERS) for name in scene.silent[:MOST_NAMES])
        more = f" and {len(scene.silent) - MOST_NAMES:,} more" if len(scene.silent) > MOST_NAMES else ""
        notes += wrap(f"nothing is said of {names}{more}", int(WIDTH / CHARACTER))
    return notes


@dataclass(frozen=True, slots=True)
class _Item:
    """A text at a place within its card; ``width`` is that of its frame, 0 without one."""

    x: float
    y: float
    width: float
    text: str
    style: str
    tooltip: str = ""

    def draw(self, drawing: _Drawing, left: float, top: float) -> None:
        if self.width:
            drawing.box(left + self.x, top + self.y, self.width, LINE - 2, self.style)
        inset = 5 if self.width else 0
        drawing.text(left + self.x + inset, top + self.y + 13, self.text, self.style, self.tooltip)


def _contents(card: Card) -> tuple[Size, list[_Item]]:
    """The size of a card and what stands on it: name and kind, its own atoms, then what is with it."""
    name, kind = shown(card.name, NAME_CHARACTERS), shown(card.kind, NAME_CHARACTERS)
    items = [_Item(PAD, 4, 0, name, "name extra" if card.extra else "name", card.name if name != card.name else "")]
    if kind:
        items.append(_Item(PAD + (len(name) + 1) * CHARACTER, 4, 0, kind, "kind"))
    width = PAD + (len(name) + len(kind) + bool(kind)) * CHARACTER
    y = 4 + LINE
    for group in card.groups:
        if group.label:
            items.append(_Item(PAD, y, 0, shown(group.label, NAME_CHARACTERS), "group"))
            width = max(width, PAD + len(items[-1].text) * CHARACTER)
            y += LINE - 3
        flow, height = _flow(group, CARD_WIDTH)
        items += [replace(item, x=item.x + PAD, y=item.y + y) for item in flow]
        width = max([width, *(PAD + item.x + item.width for item in flow)])
        y += height
    return (width + PAD, y + 4), items


def _flow(group: Chips, most: float) -> tuple[list[_Item], float]:
    """The chips from left to right in lines of at most that width, and the height of the lines."""
    items: list[_Item] = []
    x = y = 0.0
    for chip in group.chips:
        text = SIGN.get(chip.mark, "") + shown(chip.text, NAME_CHARACTERS)
        width = len(text) * CHARACTER + 10
        if x and x + width > most:
            x, y = 0.0, y + LINE
        items.append(_Item(x, y, width, text, chip.mark.value, shown_atom(chip.atom)))
        x += width + 4
    if group.omitted:
        items.append(_Item(0, y + LINE, 0, f"and {group.omitted:,} more", "note"))
        y += LINE
    return items, y + LINE if group.chips else 0.0


@dataclass(frozen=True, slots=True)
class _Line:
    """All arrows of one mark between two cards, drawn as one line with a head at either end if need be."""

    first: str
    second: str
    mark: Mark
    ground: bool
    """Static and the same on both sides: drawn faintly, without heads."""
    label: str
    forward: bool
    backward: bool

    @property
    def style(self) -> str:
        return "ground" if self.ground else self.mark.value


def _lines(arrows: Sequence[Arrow]) -> list[_Line]:
    merged: dict[tuple[str, str, Mark, bool], dict[str, set[bool]]] = {}
    for arrow in arrows:
        forward = arrow.source <= arrow.target
        pair = (arrow.source, arrow.target) if forward else (arrow.target, arrow.source)
        ground = arrow.static and arrow.mark == Mark.SAME
        merged.setdefault((*pair, arrow.mark, ground), {}).setdefault(arrow.label, set()).add(forward)
    lines = []
    for (first, second, mark, ground), labels in merged.items():
        directions = set().union(*labels.values())
        told = "" if ground and labels.keys() <= STEPS.keys() else ", ".join(labels)
        lines.append(_Line(first, second, mark, ground, told, True in directions, False in directions))
    return lines


def _usual_label(lines: Sequence[_Line]) -> str | None:
    """The label that so many lines carry that it is said once instead."""
    counts = Counter(line.label for line in lines if line.label and line.mark not in SIGN)
    label, count = counts.most_common(1)[0] if counts else ("", 0)
    return label if count >= SAID_ONCE else None


def _draw_line(drawing: _Drawing, line: _Line, start: Position, stop: Position) -> None:
    drawing.elements.append(
        f'<line x1="{start[0]:.1f}" y1="{start[1]:.1f}" x2="{stop[0]:.1f}" y2="{stop[1]:.1f}" class="{line.style}"/>'
    )
    if line.forward and not line.ground:
        drawing.elements.append(_head(start, stop, line.style))
    if line.backward and not line.ground:
        drawing.elements.append(_head(stop, start, line.style))


def _draw_label(drawing: _Drawing, line: _Line, start: Position, stop: Position) -> None:
    """Beside an upright line, else upon its middle."""
    text = SIGN.get(line.mark, "") + shown(line.label, NAME_CHARACTERS)
    x, y = (start[0] + stop[0]) / 2, (start[1] + stop[1]) / 2 + 4
    upright = abs(start[0] - stop[0]) < CHARACTER
    drawing.text(x + 5 if upright else x - len(text) * CHARACTER / 2, y, text, f"halo {line.style}")


def _ends(corner: Position, size: Size, other_corner: Position, other_size: Size) -> tuple[Position, Position]:
    """Where the line between the middles of two cards leaves the one and meets the other."""
    middle = corner[0] + size[0] / 2, corner[1] + size[1] / 2
    other = other_corner[0] + other_size[0] / 2, other_corner[1] + other_size[1] / 2
    return _border(middle, other, size), _border(other, middle, other_size)


def _border(inside: Position, outside: Position, size: Size) -> Position:
    dx, dy = outside[0] - inside[0], outside[1] - inside[1]
    share = min(size[0] / 2 / abs(dx) if dx else 1.0, size[1] / 2 / abs(dy) if dy else 1.0, 1.0)
    return inside[0] + dx * share, inside[1] + dy * share


def _head(tail: Position, tip: Position, style: str) -> str:
    angle = math.atan2(tip[1] - tail[1], tip[0] - tail[0])
    corners = [tip] + [
        (tip[0] - 8 * math.cos(angle + turn), tip[1] - 8 * math.sin(angle + turn)) for turn in (0.4, -0.4)
    ]
    return f'<path d="M{" L".join(f"{x:.1f} {y:.1f}" for x, y in corners)} Z" class="{style}"/>'
