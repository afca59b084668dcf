"""Scenes as they are drawn: every atom once, what differs marked, no cards that overlap, towers and grids as such."""

import re
from itertools import chain, combinations, pairwise

from hypothesis import given, settings
from hypothesis import strategies as st
from pddl_eval.explain import explain
from pddl_eval.explain.drawing import (
    CHARACTER,
    LINE,
    MOST_ARROWS,
    MOST_CARDS,
    MOST_CHIPS,
    Card,
    Drawing,
    Item,
    Mark,
    Scene,
    draw,
    drawings,
    scenes_of,
)
from pddl_eval.explain.layout import place
from pddl_eval.model import Atom, show_atom
from pddl_eval.verdict import Verdict

from tests.explain.pairs import ANSWERS, REFERENCE, UNKNOWN

GRIPPER = """(define (problem p) (:domain gripper) (:objects r1 r2 b1 b2 g)
    (:init (room r1) (room r2) (ball b1) (ball b2) (gripper g) (at-robby r1) (at b1 r1) (at b2 r1) (free g))
    (:goal (and (at b1 r2) (carry b2 g))))"""

TILES = """(define (problem p) (:domain floor-tile) (:objects t1 t2 - tile k - robot c - color)
    (:init (right t2 t1) (robot-at k t1) (robot-has k c) (available-color c)) (:goal (painted t2 c)))"""


def drawn(scene: Scene) -> list[Atom]:
    return sorted([*marks(scene), *((label, source, target) for (source, target, label), _ in scene.arrows)])


def marks(scene: Scene) -> dict[Atom, Mark]:
    """Every atom that is a chip, with its mark."""
    chips = [chip for card in scene.cards for group in card.chips.values() for chip in group]
    found = {atom: mark for _, atom, mark in chips}
    assert len(found) == len(chips), "an atom is drawn once"
    return found


def contents(scene: Scene) -> dict[str, dict[str, list[str]]]:
    """Label → texts, by card."""
    return {
        card.name: {label: [text for text, _, _ in group] for label, group in card.chips.items()}
        for card in scene.cards
        if card.name or card.chips
    }


def test_blocks_are_towers_of_arrows() -> None:
    initial, _, goal, _ = scenes_of(explain(REFERENCE, REFERENCE))
    assert initial.title == "Reference: initial state"
    assert initial.arrows == [(("a", "b", "on"), Mark.SAME)]
    assert drawn(initial) == [
        *(("arm-empty",), ("clear", "a"), ("clear", "c"), ("on", "a", "b"), ("on-table", "b"), ("on-table", "c"))
    ]
    assert [(source, target) for (source, target, _), _ in goal.arrows] == [("a", "b"), ("b", "c")]
    assert marks(goal)[("arm-empty",)] == Mark.IMPLIED


def test_an_atom_or_a_type_of_the_answer_alone_changes_no_arrow() -> None:
    for answer in (REFERENCE.replace("(:init", "(:init (polished a)"), REFERENCE.replace("a b", "b - block a", 1)):
        scenes = scenes_of(explain(REFERENCE, answer))
        arrows = [sorted(arrow for arrow, _ in scene.arrows) for scene in scenes]
        assert arrows[0] == arrows[1] != [] and arrows[2] == arrows[3]
        assert all("polished" not in card.kind for scene in scenes for card in scene.cards)


def test_balls_are_chips_on_the_card_of_their_room() -> None:
    initial, _, goal, _ = scenes_of(explain(GRIPPER, GRIPPER))
    assert not initial.arrows
    assert {card.name: card.kind for card in initial.cards[1:]} == {"r1": "room", "r2": "room", "g": "gripper"}
    assert contents(initial)["r1"] == {"": ["at-robby"], "at": ["b1", "b2"]}
    assert [label for labels in contents(goal).values() for label in labels] == ["carry", "at"]


def test_tiles_are_joined_and_what_is_on_them_is_a_chip() -> None:
    initial, _, goal, _ = scenes_of(explain(TILES, TILES))
    assert initial.arrows == [(("t2", "t1", "right"), Mark.GROUND)]
    assert contents(initial) == {
        "c": {"": ["available-color"], "robot-has": ["k"]},
        "t1": {"robot-at": ["k"]},
        "t2": {},
    }
    assert goal.arrows == initial.arrows, "the goal is drawn on the same floor"
    assert {atom[0]: mark for atom, mark in marks(goal).items()} == {
        "painted": Mark.SAME,
        "robot-has": Mark.IMPLIED,  # there is but one colour to have
    }


def test_what_differs_is_extra_on_one_side_and_lacking_on_the_other() -> None:
    initial, answer, _, _ = scenes_of(explain(REFERENCE, ANSWERS[Verdict.INIT_DIFFERS]))
    for scene, mark in ((initial, Mark.EXTRA), (answer, Mark.LACKING)):
        found = marks(scene)
        assert found.pop(("on-table", "b")) == mark
        assert set(found.values()) == {Mark.SAME}


def test_both_sides_are_laid_out_alike() -> None:
    lost = REFERENCE.replace("(on a b) (on b c))", "(on a b))")
    *_, reference, answer = drawings(explain(REFERENCE, lost))
    assert [item[:4] for item in reference.items] == [item[:4] for item in answer.items]
    assert {line.style for line in reference.lines} == {"same", "extra"}
    assert {line.style for line in answer.lines} == {"same", "lacking"}


def frames(drawing: Drawing) -> dict[str, tuple[float, float, float, float]]:
    """Place and size of each card by its name."""
    cards = [item for item in drawing.items if item.style.startswith("card")]
    names = [item for item in drawing.items if item.style.startswith("name")]
    return {name.text: card[:4] for card, name in zip(cards, names, strict=True)}


def test_equal_objects_stand_at_equal_places_under_other_names() -> None:
    renamed = REFERENCE
    for name, other in zip("abc", "xyz", strict=True):
        renamed = re.sub(rf"(?<=[( ]){name}(?=[) ])", other, renamed)
    wrong = renamed.replace("(on x y) (on y z))", "(on x y) (on y z) (on-table x))")
    for answer in (renamed, wrong, renamed.replace("x y z", "x y z extra")):
        explanation = explain(REFERENCE, answer)
        initial, initial_answer, goal, goal_answer = map(frames, drawings(explanation))
        for ours, theirs in explanation.object_map.items():
            assert initial[theirs] == initial_answer[ours]
            assert goal[theirs] == goal_answer[ours]


def test_an_extra_atom_moves_no_card() -> None:
    names = [[f"t{row}{column}" for column in range(4)] for row in range(3)]
    across = [("right", right, left) for row in names for left, right in pairwise(row)]
    atoms = across + [("up", above, below) for rows in pairwise(names) for above, below in zip(*rows, strict=True)]
    reference = f"""(define (problem p) (:domain floor-tile)
        (:objects {" ".join(chain(*names))} - tile k - robot c - color)
        (:init (robot-at k t00) (robot-has k c) (available-color c) {" ".join(map(show_atom, atoms))})
        (:goal (painted t01 c)))"""
    plain = [*map(frames, drawings(explain(reference, reference)))]
    for extra in ("(right t00 t23)", "(up t11 t02)", "(right t10 t11)", "(left t20 t00)"):
        answer = reference.replace("(:init", f"(:init {extra}")
        drawn = drawings(explain(reference, answer))
        assert [*map(frames, drawn)] == plain, extra
        assert [line.tooltip for line in drawn[1].lines if line.style == "extra"] == [extra]


def box(item: Item) -> tuple[float, float, float, float]:
    """Left, top, right and bottom of a text or a frame, a little smaller than it is."""
    width = item.width or len(item.text) * CHARACTER
    return item.x + 1, item.y + 1, item.x + width - 1, item.y + (item.height or LINE - 4) - 1


BLOCKS = "abcdef"
GOALS = st.lists(st.tuples(st.sampled_from(BLOCKS), st.sampled_from(BLOCKS)), min_size=1, max_size=8)


@settings(deadline=None, max_examples=25)
@given(GOALS, GOALS)
def test_labels_cover_neither_cards_nor_each_other(goal: list[tuple[str, str]], other: list[tuple[str, str]]) -> None:
    def problem(pairs: list[tuple[str, str]]) -> str:
        atoms = " ".join(f"(on {above} {below})" for above, below in pairs)
        objects = " ".join(BLOCKS)
        return f"(define (problem p) (:domain nowhere) (:objects {objects}) (:init {atoms}) (:goal (and {atoms})))"

    for drawing in drawings(explain(problem(goal), problem(other))):
        cards = [box(item) for item in drawing.items if item.style.startswith("card")]
        labels = [box(item) for item in drawing.items if not item.height and item.style in ("same", "extra", "lacking")]
        for number, (left, top, right, bottom) in enumerate(labels):
            for each in cards + labels[:number]:
                assert right <= each[0] or each[2] <= left or bottom <= each[1] or each[3] <= top
            assert left >= 0 and right <= drawing.width + 1


def test_a_surplus_object_is_marked_on_its_card() -> None:
    answer = REFERENCE.replace("a b c", "a b c d").replace("(clear c)", "(clear c) (clear d)")
    assert [card.name for card in scenes_of(explain(REFERENCE, answer))[1].cards if card.extra] == ["d"]


def test_objects_without_an_atom_have_a_card() -> None:
    _, answer, _, _ = scenes_of(explain(UNKNOWN.format(""), UNKNOWN.format("").replace("(q a)", "(q2)")))
    assert contents(answer) == {"": {"": ["q2"]}, "a": {"": ["q"]}}
    assert marks(answer)["q", "a"] == Mark.LACKING
    empty = UNKNOWN.format("").replace("(q a)", "")
    assert contents(scenes_of(explain(empty, empty))[0]) == {"a": {}}


def test_longer_atoms_and_circles_are_drawn_too() -> None:
    text = (
        UNKNOWN.format("").replace("objects a", "objects a b c").replace("(q a)", "(t a b c) (e a b) (e b a) (e c c)")
    )
    scene = scenes_of(explain(text, text))[0]
    assert drawn(scene) == [("e", "a", "b"), ("e", "b", "a"), ("e", "c", "c"), ("t", "a", "b", "c")]
    (line,) = draw([scene])[0].lines
    assert len(line.heads) == 2


def test_a_side_that_cannot_be_read_has_no_scene() -> None:
    titles = ["Reference: initial state", "Reference: goal"]
    assert [scene.title for scene in scenes_of(explain(REFERENCE, "no"))] == titles
    assert scenes_of(explain("", "")) == []


def test_thousands_of_objects_are_bounded_and_counted() -> None:
    names = [f"o{number}" for number in range(3000)]
    init = " ".join(f"(p {name}) (e {name} o0) (e o1 {name}) (f{name} o0)" for name in names)
    text = f"(define (problem p) (:domain nowhere) (:objects {' '.join(names)}) (:init {init}) (:goal (and)))"
    answer = text.replace("(p o2999)", "")
    scene = scenes_of(explain(text, answer))[0]
    assert len(scene.cards) == MOST_CARDS + 1 and len(scene.arrows) <= MOST_ARROWS
    assert any("2,880 more objects" in note for note in scene.notes)
    # 2,999 arrows to o0 and 2,999 from o1, of which o1 to o0 is one
    assert any(f"{5997 - len(scene.arrows):,} more arrows" in note for note in scene.notes)
    cards: dict[str, Card] = {card.name: card for card in scene.cards}
    assert "o2999" in cards, "what differs is drawn"
    # (p o0), (e o0 o0) and 3,000 others
    assert cards["o0"].omitted == 3002 - MOST_CHIPS


NAMES = "abcdefgh"
SIZES = st.tuples(st.integers(10, 200), st.integers(10, 120))
LINKS = st.lists(
    st.tuples(st.sampled_from(NAMES), st.sampled_from(NAMES), st.sampled_from(["on", "up", "right", "road"])),
    max_size=16,
).map(lambda links: [link for link in links if link[0] != link[1]])
SQUARE = (40.0, 20.0)


@settings(deadline=None, max_examples=50)  # the first drawing imports networkx
@given(st.fixed_dictionaries(dict.fromkeys(NAMES, SIZES)), LINKS, LINKS)
def test_cards_do_not_overlap_and_stay_within_the_box(
    sizes: dict[str, tuple[float, float]], links: list[tuple[str, str, str]], own: list[tuple[str, str, str]]
) -> None:
    corners, size = place(sizes, links, own)
    assert corners.keys() == sizes.keys()
    for name, corner in corners.items():
        assert all(corner[axis] > -1e-6 for axis in (0, 1))
        assert all(corner[axis] + sizes[name][axis] < size[axis] + 1e-6 for axis in (0, 1))
    for a, b in combinations(sizes, 2):
        assert any(
            corners[a][axis] + sizes[a][axis] < corners[b][axis] + 1e-6
            or corners[b][axis] + sizes[b][axis] < corners[a][axis] + 1e-6
            for axis in (0, 1)
        )


def test_a_tower_stands_upright_with_its_base_on_the_floor() -> None:
    at, _ = place(dict.fromkeys("abcd", SQUARE), [("a", "b", "on"), ("b", "c", "on")])
    assert {at[name][0] for name in "abc"} == {0.0}
    assert at["a"][1] < at["b"][1] < at["c"][1] == at["d"][1]


def test_a_tower_of_one_side_is_drawn_where_both_sides_together_make_none() -> None:
    tower = [("a", "b", "on"), ("b", "c", "on")]
    for sides in ((tower, [*tower, ("c", "a", "on")]), ([*tower, ("a", "c", "on")], tower)):
        at, _ = place(dict.fromkeys("abc", SQUARE), *sides)
        assert {at[name][0] for name in "abc"} == {0.0}


def test_directions_make_a_grid() -> None:
    """1 2 above 3 4, told as Floor Tile tells it."""
    links = [("2", "1", "right"), ("4", "3", "right"), ("1", "3", "up"), ("2", "4", "up")]
    at, _ = place(dict.fromkeys("1234", SQUARE), links)
    assert at["1"][1] == at["2"][1] < at["3"][1] == at["4"][1]
    assert at["1"][0] == at["3"][0] < at["2"][0] == at["4"][0]


def test_of_directions_that_contradict_one_another_the_first_are_followed() -> None:
    links = [("b", "a", "right"), ("c", "b", "right"), ("a", "c", "right")]
    at, _ = place(dict.fromkeys("abc", SQUARE), links)
    assert at["a"][0] < at["b"][0] < at["c"][0]


def test_nothing_needs_no_room() -> None:
    assert place({}, []) == ({}, (0.0, 0.0))
