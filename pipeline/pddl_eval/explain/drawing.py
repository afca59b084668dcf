"""Drawings of an explanation: a card for each object with its atoms, arrows between cards, and page and SVG of them.

Objects are of one kind if they have the same type, or the same static unary atoms if there are no types (two rooms).
An atom over two objects of one kind is an arrow between their cards: blocks on blocks, tiles beside tiles, roads. An
atom over different kinds is a line on the card of the place: the ball in the room, the robot on the tile. Without
kinds this is the scene graph of the paper (section 3.3). Everything is bounded, and what differs is drawn first.

Points and sizes are complex numbers.
"""

from __future__ import annotations

from cmath import phase
from collections import Counter, deque
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from enum import StrEnum
from fractions import Fraction
from math import degrees
from typing import Any, NamedTuple

from pddl_eval.definition.model import ROOT_TYPE, Atom, Problem, show_atom, show_formula, show_number
from pddl_eval.definition.pddl import Unreadable
from pddl_eval.definition.verdict import ProblemVerdict, Verdict
from pddl_eval.explain.explanation import SCENES, Explanation, headline
from pddl_eval.explain.plans import TIME_LINE, PlanExplanation, plans_headline
from pddl_eval.explain.row import RowExplanation
from pddl_eval.explain.sides import AtomLine, Side, Standing, atom_lines, object_lines
from pddl_eval.explain.timeline import bars_of, when
from pddl_eval.pages import Picture, Section, html, render
from pddl_eval.shown import line as one_line

MOST_CARDS, MOST_COLUMNS, MOST_LINES, MOST_ARROWS, NAME = 120, 8, 24, 400, 24
"""Bounds of a scene: cards, columns of a layer, lines of a card, arrows, characters of a line."""

CHARACTER, LINE, PAD, GAP, WIDTH = 7.3, 18.0, 8.0, 28.0, 340.0
"""Width of a character, height of a line, padding of a card, room between cards, and the width at which the parts of a
scene begin a new row."""

MOST_BARS, TIMELINE = 200, 600.0
"""Bars of a time line, and the width of the longest."""

OFFSETS = {"up": 1j, "north": 1j, "down": -1j, "south": -1j, "left": 1, "west": 1, "right": -1, "east": -1}
"""Where the second object is, seen from the first: ``(up a b)`` says that a is the tile above b."""


class Mark(StrEnum):
    """How an atom compares with the other side: only here (written, or implied), only there, the same, or implied.

    ``GROUND`` is an arrow that no operator changes, the same on both sides: drawn faintly, and for goals too.
    """

    EXTRA = "extra"
    EXTRA_IMPLIED = "extra implied"
    LACKING = "lacking"
    SAME = "same"
    IMPLIED = "implied"
    GROUND = "ground"


SIGNS = {Mark.EXTRA: "+ {}", Mark.EXTRA_IMPLIED: "+ ({})", Mark.LACKING: "− {}", Mark.IMPLIED: "({})"}
LEGEND = "+ only here; − only on the other side; in parentheses: implied by the goal"


class Text(NamedTuple):
    text: str
    style: str
    tooltip: str


class Arrow(NamedTuple):
    source: str
    target: str
    label: str
    mark: Mark
    tooltip: str


class Scene(NamedTuple):
    """The atoms of one side in one state; ``notes`` say what is not drawn.

    Cards and ends of arrows have the names of the reference's objects, so that both sides are drawn alike. The card
    named "" has the atoms over no object or more than two.
    """

    title: str
    cards: dict[str, list[Text]]
    arrows: list[Arrow]
    notes: list[str]


Links = dict[str, dict[str, tuple[str, complex]]]
"""Of each card the cards beside it, with the arrow's source and the way from there."""


def scenes_of(explanation: Explanation) -> list[list[Scene]]:
    """The initial states of both sides, then their goals; a side that could not be read has none."""
    read = [side for side, each in enumerate(explanation.sides.values()) if isinstance(each.problem, Problem)]
    return [[_scene(explanation, side, state) for side in read] for state in ("initial state", "goal")]


def _scene(explanation: Explanation, side: int, state: str) -> Scene:
    title, problem = [(f"{name.capitalize()}: {state}", each.problem) for name, each in explanation.sides.items()][side]
    assert isinstance(problem, Problem)
    init, goal = (explanation.init, explanation.objects), (explanation.goal, explanation.goal_objects)
    lines, objects = goal if state == "goal" else init
    # An object of the answer alone gets a name that no object of the reference can have.
    places = {name: each.names[0] or f" {name}" for each in objects if (name := each.names[side])}
    extra = {each.names[side] for each in objects if each.differs and explanation.compares}
    own, reference = _kinds(problem, explanation.static), explanation.reference.problem
    kinds = {places[name]: kind for name, kind in own.items()}
    if isinstance(reference, Problem):  # an atom is drawn as the same thing on both sides
        kinds |= _kinds(reference, explanation.static)

    def is_arrow(atom: Atom) -> bool:
        ends = [places.get(name, "") for name in atom[1:]]
        return len(ends) == 2 and ends[0] != ends[1] and all(ends) and kinds[ends[0]] == kinds[ends[1]]

    marks = dict(filter(None, (_marked(line, side, explanation) for line in lines)))  # those that differ come first
    ground = sorted(atom for atom in problem.init if atom[0] in explanation.static and is_arrow(atom))
    marks |= {atom: Mark.GROUND for atom in ground if marks.get(atom) in (None, Mark.SAME, Mark.IMPLIED)}
    joined = {places[name] for atom in marks if is_arrow(atom) for name in atom[1:]}
    cards = {"": list[Text]()}
    for name, each in places.items():
        heading = " ".join([name, *own[name]])
        cards[each] = [Text(one_line(heading, NAME), "name extra" * (name in extra) or "name", one_line(heading))]
    first, elsewhere = [places[name] for name in places if name in extra], set[str]()
    arrows = []
    for atom, mark in marks.items():
        ends, tooltip = [places.get(name, "") for name in atom[1:]], one_line(show_atom(atom))
        first += ends
        if is_arrow(atom):
            arrows.append(Arrow(ends[0], ends[1], atom[0], mark, tooltip))
        elif mark != Mark.SAME or len(ends) != 1 or atom[0] not in kinds.get(ends[0], ()):  # else the heading has it
            card, text = _written(atom, ends, joined)
            elsewhere |= {*ends} - {card} if card else set()
            cards[card].append(Text(_signed(text, mark), mark, tooltip))
    shown = {name: texts for name, texts in cards.items() if texts[1:] or (texts and name not in elsewhere - joined)}
    kept = {*[name for name in dict.fromkeys([*first, *shown]) if name in shown][:MOST_CARDS]}
    drawn = [arrow for arrow in arrows if kept.issuperset(arrow[:2])][:MOST_ARROWS]
    omitted = {"objects": len(shown) - len(kept), "arrows": len(arrows) - len(drawn)}
    notes = [f"{count:,} more {what} are not drawn" for what, count in omitted.items() if count]
    if faint := sorted({arrow.label for arrow in drawn if arrow.mark == Mark.GROUND}):
        notes.append(f"arrows without a label: {one_line(', '.join(faint))}")
    for texts in shown.values():
        texts[MOST_LINES:] = [Text(f"and {more:,} more", "note", "")] if (more := len(texts) - MOST_LINES) > 0 else []
    return Scene(title, {name: texts for name, texts in shown.items() if name in kept}, drawn[::-1], notes)


def _written(atom: Atom, ends: Sequence[str], joined: Collection[str]) -> tuple[str, str]:
    """The card that an atom is written on, and its text there."""
    if len(ends) == 1 and ends[0]:
        return ends[0], atom[0]
    if len(ends) == 2 and any(ends):  # usually the second is the place: (at ball room)
        place = 0 if not ends[1] or (ends[0] in joined and ends[1] not in joined) else 1
        return ends[place], f"{atom[0]} {atom[2 - place]}"
    return "", " ".join(atom)


def _kinds(problem: Problem, static: frozenset[str]) -> dict[str, list[str]]:
    """Each object's type, else its static atoms."""
    kinds = {name: [] if type_ == ROOT_TYPE else [type_] for name, type_ in problem.objects.items()}
    for predicate, *terms in sorted(problem.init):
        if predicate in static and len(terms) == 1 and problem.objects.get(terms[0]) == ROOT_TYPE:
            kinds[terms[0]].append(predicate)
    return kinds


def _marked(line: AtomLine, side: int, explanation: Explanation) -> tuple[Atom, Mark] | None:
    """The line's atom in the names of one side; None if it has no such names, or is static and only implied."""
    formula, standing = line.atoms[side], line.standings[side]
    if formula is None:
        return None
    atom = tuple([word for word in formula if isinstance(word, str)])
    if len(atom) < len(formula):  # a formula is written as it is, like an atom without arguments
        atom = (show_formula(formula)[1:-1],)
    if standing == Standing.ABSENT and not explanation.compares:
        return None
    if line.differs and explanation.compares:
        return atom, _DIFFERENT[standing]
    if standing == Standing.IMPLIED:
        return None if atom[0] in explanation.static else (atom, Mark.IMPLIED)
    return atom, Mark.SAME


_DIFFERENT = {Standing.WRITTEN: Mark.EXTRA, Standing.IMPLIED: Mark.EXTRA_IMPLIED, Standing.ABSENT: Mark.LACKING}


def _signed(text: str, mark: Mark) -> str:
    return SIGNS.get(mark, "{}").format(one_line(text, NAME))


def html_page(
    explanation: Explanation | RowExplanation,
    title: str = "",
    *,
    whole: bool = True,
    around: tuple[Sequence[Section], Sequence[Section]] = ((), ()),
    **options: Any,
) -> str:
    """The explanation with its drawing as one HTML page, or (not ``whole``) as a fragment for a notebook.

    ``title`` says which answer it is about: dataset, row and model. ``around`` are sections before and after those of
    the explanation; further options as in ``pddl_eval.pages.html``.

    >>> from pddl_eval.explain import explain
    >>> "<script>" in html_page(explain("(define (problem p)", "<script>alert(1)</script>"))
    False
    """
    problem = explanation.problem
    pictures = {}
    if problem is not None:
        pictures[SCENES] = [Picture("Initial states and goals", _svg(problem, alone=False))]
    plan = explanation.parts.get("plan") if isinstance(explanation, RowExplanation) else None
    if isinstance(plan, PlanExplanation) and (drawn := timeline_svg(plan, alone=False)):
        pictures[TIME_LINE] = [Picture("The actions of the plan and timed literals", drawn)]
    page = explanation.page(whole=True)
    before, after = around
    page = replace(page, sections=[*before, *page.sections, *after])
    return html(page, pictures, title=title, whole=whole, **options)


def scenes_svg(explanation: Explanation) -> str:
    """One SVG file with all scenes: initial states above goals, the reference's beside the answer's.

    >>> from pddl_eval.explain import explain
    >>> held = "(define (problem p) (:domain blocksworld) (:objects a) (:init (holding a)) (:goal (clear a)))"
    >>> scenes_svg(explain(held, held)).count(">Answer: goal<")
    1
    """
    return _svg(explanation, alone=True)


def timeline_svg(explanation: PlanExplanation, *, alone: bool = True) -> str:
    """The actions of a plan with times as bars, where it fails marked in colour and in words; empty without times.

    >>> from pddl_eval.explain import explain_row
    >>> timeline_svg(explain_row({"reference_plan": "(pick a)", "generated_plan": "(pick b)"}).parts["plan"])
    ''
    """
    bars = [] if explanation.execution is None else bars_of(explanation.execution, explanation.generated)[:MOST_BARS]
    if not bars:
        return ""
    end = max(bar.last for bar in bars) or Fraction(1)
    cards: list[Any] = []
    texts: list[tuple[complex, str, str]] = []
    for number, bar in enumerate(bars):
        left, width = (float(each / end) * TIMELINE for each in (bar.start, bar.last - bar.start))
        fails = bar.failed is not None
        top = 1j * (number * 2 * (LINE + 4))
        label = f"{when(bar)}  {one_line(show_atom(bar.action), 2 * NAME)}" + "  ✗" * fails
        texts.append((left + top + LINE * 1j, "name extra" if fails else "name", label))
        style = [Text("", "name extra" if fails else "name", "")]
        cards.append((left + top + (LINE + 4) * 1j, complex(max(width, 2), LINE - 8), style))
    below = 1j * (len(bars) * 2 * (LINE + 4) + LINE)
    texts += [(below, "note", "0"), (TIMELINE + below, "note", show_number(end))]
    _, size = _bounds(
        [place + len(text) * CHARACTER for place, _, text in texts] + [corner + each for corner, each, _ in cards]
    )
    title = plans_headline(explanation)
    return render("scene.svg", title=title, size=size + GAP * 1j, cards=cards, lines=[], texts=texts, alone=alone)


def problem_svg(problem: Problem, titles: tuple[str, str] = ("Initial state", "Goal")) -> str:
    """The initial state and the goal of a problem, as an SVG element for a page.

    >>> problem_svg(Problem("p", "d", {"a": "block"}, frozenset({("clear", "a")}), frozenset())).count(">clear<")
    1
    """
    objects = object_lines({}, problem.objects, {})
    init, goal = (atom_lines(frozenset(), atoms, {}) for atoms in (problem.init, problem.goal))
    nothing = Side((), Unreadable(Verdict.EMPTY, ""))
    verdict = ProblemVerdict(True, None, None, None, None, "")
    explanation = Explanation(verdict, nothing, Side((), problem), objects, objects, init, goal)
    scenes = scenes_of(explanation)
    named = [[scene._replace(title=title)] for (scene,), title in zip(scenes, titles, strict=True)]
    return _drawn(named, "", "", "", alone=False)


def _svg(explanation: Explanation, *, alone: bool) -> str:
    """The picture; if it stands ``alone``, with colours of its own."""
    verdict = explanation.verdict
    return _drawn(scenes_of(explanation), headline(verdict), one_line(verdict.detail), LEGEND, alone=alone)


def _drawn(rows: Sequence[Sequence[Scene]], title: str, note: str, legend: str, *, alone: bool) -> str:
    cards, lines = list[Any](), list[Any]()
    texts = [(24j, "title", title), (44j, "note", note)] if title else []
    below = 90.0 if title else 40.0
    for scenes in rows:
        sizes = _sizes(scenes)
        at, x, floor = places(sizes, scenes), 0.0, below
        for scene in scenes:
            middles = {name: at[name] + complex(x, below) for name in scene.cards}
            arrows = _joined(scene.arrows)
            curves = _curves(arrows, middles, sizes)
            cards += [(middle - sizes[name] / 2, sizes[name], scene.cards[name]) for name, middle in middles.items()]
            for arrow, curve in zip(arrows, curves, strict=True):
                label = _signed(arrow.label, arrow.mark) if arrow.label else ""
                lines.append((curve, degrees(phase(curve[2] - curve[1])), arrow.mark, label, arrow.tooltip))
            bends = [bend for _, bend, _ in curves]
            _, corner = _bounds([complex(x + WIDTH - GAP, below), *_ends(middles, sizes), *bends])
            notes = scene.notes if middles else ["no atoms"]
            texts.append((complex(x, below - GAP + 13), "title", scene.title))
            texts += [(complex(x, corner.imag + LINE * number), "note", note) for number, note in enumerate(notes, 1)]
            x, floor = corner.real + GAP, max(floor, corner.imag + LINE * len(notes))
        below = floor + 2 * GAP
    if not cards:
        texts.append((72j, "", "neither problem could be read, so there is nothing to draw"))
    texts.append((1j * (below - GAP + PAD), "note", legend))
    reached = [place + len(text) * CHARACTER for place, _, text in texts] + [bend for (_, bend, _), *_ in lines]
    _, size = _bounds([*reached, *(corner + each for corner, each, _ in cards)])
    return render("scene.svg", title=title, size=size + GAP * 1j, cards=cards, lines=lines, texts=texts, alone=alone)


def _bounds(points: Collection[complex]) -> tuple[complex, complex]:
    """The top left and the bottom right corner of all points."""
    axes = [point.real for point in points], [point.imag for point in points]
    return complex(*map(min, axes)), complex(*map(max, axes))


def _ends(middles: Mapping[str, complex], sizes: Mapping[str, complex]) -> list[complex]:
    """The top left and the bottom right corners of cards."""
    return [middle + sign * sizes[name] / 2 for name, middle in middles.items() for sign in (-1, 1)]


def _sizes(scenes: Sequence[Scene]) -> dict[str, complex]:
    """The size of each card, the same on both sides."""
    sizes: dict[str, complex] = {}
    for name, texts in (card for scene in scenes for card in scene.cards.items()):
        width = max(len(each.text) for each in texts) * CHARACTER + 2 * PAD
        sizes[name] = _bounds([complex(width, len(texts) * LINE + PAD), sizes.get(name, 0j)])[1]
    return sizes


def places(sizes: Mapping[str, complex], scenes: Sequence[Scene]) -> dict[str, complex]:
    """The middles of all cards, of which no two overlap: connected cards in rows and columns of their own.

    Arrows that name directions make grids, others make layers, such as towers.
    """
    links = _links(sizes, scenes)
    rows: list[dict[str, complex]] = []
    placed = set[str]()
    right = WIDTH
    for first in sizes:
        if first in placed:
            continue
        cells = {first: 0j}
        for known, name in _edges(links, first):
            source, offset = links[known][name]
            cell = cells[known] + (offset if source == known else -offset)
            while cell in cells.values():
                cell += 1 if cell.real < MOST_COLUMNS else 1j - MOST_COLUMNS
            cells[name] = cell
        placed |= cells.keys()
        step = _bounds([sizes[name] for name in cells])[1] + complex(2 * GAP, GAP)
        part = {name: complex(cell.real * step.real, cell.imag * step.imag) for name, cell in cells.items()}
        low, high = _bounds(_ends(part, sizes))
        if right + (high - low).real > WIDTH:
            rows.append({})
            right = 0.0
        rows[-1] |= {name: middle + complex(right - low.real, -high.imag) for name, middle in part.items()}
        right += (high - low).real + GAP / 2
    places: dict[str, complex] = {}
    floor = -GAP / 2
    for row in rows:  # all parts of a row stand on one floor
        floor += GAP / 2 - _bounds(_ends(row, sizes))[0].imag
        places |= {name: middle + 1j * floor for name, middle in row.items()}
    return places


def _links(names: Iterable[str], scenes: Sequence[Scene]) -> Links:
    """Which cards are placed beside which; directions alone where an arrow names one."""
    named = any(arrow.label in OFFSETS for scene in scenes for arrow in scene.arrows)
    links: Links = {name: {} for name in names}
    for scene in scenes:
        for source, target, label, mark, _ in scene.arrows:
            if mark == Mark.LACKING or (label in OFFSETS) != named:
                continue
            # An arrow of the second side alone joins two parts or moves nothing: a wrong one is drawn across.
            if scene is scenes[0] or all(name != target for _, name in _edges(links, source)):
                links[source][target] = links[target][source] = source, OFFSETS.get(label, 1j)
    return links


def _edges(links: Mapping[str, Collection[str]], first: str) -> Iterator[tuple[str, str]]:
    """The edges of a breadth-first search: each card that is linked with the first one, after one that is known."""
    found, queue = {first}, deque([first])
    while queue:
        known = queue.popleft()
        for name in links[known]:
            if name not in found:
                found.add(name)
                queue.append(name)
                yield known, name


def _joined(arrows: Sequence[Arrow]) -> list[Arrow]:
    """One arrow for all of a mark between two cards, without a label where nothing or the opposite one says it."""
    joined: dict[tuple[str, str, Mark], Arrow] = {}
    for arrow in arrows:
        key = (arrow.source, arrow.target, arrow.mark)
        known = joined.get(key)
        label = arrow.label if known is None else f"{known.label}, {arrow.label}"
        tooltip = arrow.tooltip if known is None else f"{known.tooltip} {arrow.tooltip}"
        joined[key] = arrow._replace(label=label, tooltip=tooltip)
    for (source, target, mark), arrow in joined.items():
        back = joined.get((target, source, mark))
        if mark == Mark.GROUND or (back is not None and back.label == arrow.label):
            joined[source, target, mark] = arrow._replace(label="")
    return [*joined.values()]


def _curves(
    arrows: Sequence[Arrow], middles: Mapping[str, complex], sizes: Mapping[str, complex]
) -> list[tuple[complex, complex, complex]]:
    """Tail, bend and tip of each arrow, which is straight unless another arrow or a card is on its way."""

    def reach(name: str, way: complex) -> float:
        """The distance from the middle of a card; 1 is its border."""
        return max(abs(way.real) * 2 / sizes[name].real, abs(way.imag) * 2 / sizes[name].imag)

    curves, between = [], Counter[frozenset[str]]()
    for source, target, label, _, _ in arrows:
        start, end, pair = middles[source], middles[target], frozenset((source, target))
        way = end - start
        aside = between[pair] * 2 * GAP if label else 0.0
        between[pair] += bool(label)
        for name in middles.keys() - pair:
            share = ((middles[name] - start) / way).real  # of the way, to the point that is next to the card
            if 0 < share < 1 and reach(name, start + share * way - middles[name]) < 1:
                aside += 4 * GAP
                break
        turn = -1j if way.imag > 0 or (way.imag == 0 and way.real < 0) else 1j  # to the right, or down: there is room
        bend = (start + end) / 2 + turn * aside * way / abs(way)
        aims = {name: bend - middles[name] for name in (source, target)}
        tail, tip = (middles[name] + aim / max(reach(name, aim), 1) for name, aim in aims.items())
        curves.append((tail, bend, tip))
    return curves
