"""Scenes as they are drawn: every atom once, what differs marked, kinds told apart where the domain does."""

from pddl_eval.explain import explain
from pddl_eval.explain.scene import Arrow, Chips, Mark, Scene, scenes_of
from pddl_eval.model import Atom
from pddl_eval.verdict import Verdict

from tests.explain.pairs import ANSWERS, REFERENCE, UNKNOWN

GRIPPER = """(define (problem p) (:domain gripper) (:objects r1 r2 b1 b2 g)
    (:init (room r1) (room r2) (ball b1) (ball b2) (gripper g) (at-robby r1) (at b1 r1) (at b2 r1) (free g))
    (:goal (and (at b1 r2) (carry b2 g))))"""

TILES = """(define (problem p) (:domain floor-tile) (:objects t1 t2 - tile k - robot c - color)
    (:init (right t2 t1) (robot-at k t1) (robot-has k c) (available-color c)) (:goal (painted t2 c)))"""


def drawn(scene: Scene) -> list[Atom]:
    chips = [chip.atom for group in groups(scene) for chip in group.chips]
    return sorted(chips + [(arrow.label, arrow.source, arrow.target) for arrow in scene.arrows])


def groups(scene: Scene) -> list[Chips]:
    return [scene.flags, *(group for card in scene.cards for group in card.groups)]


def test_blocks_are_towers_of_arrows() -> None:
    initial, _, goal, _ = scenes_of(explain(REFERENCE, REFERENCE))
    assert initial.title == "Reference: initial state"
    assert initial.arrows == (Arrow("a", "b", "on", Mark.SAME, static=False),)
    assert drawn(initial) == [
        *(("arm-empty",), ("clear", "a"), ("clear", "c"), ("on", "a", "b"), ("on-table", "b"), ("on-table", "c"))
    ]
    assert [(arrow.source, arrow.target) for arrow in goal.arrows] == [("a", "b"), ("b", "c")]
    assert [(chip.atom, chip.mark) for chip in goal.flags.chips] == [(("arm-empty",), Mark.IMPLIED)]


def test_balls_are_chips_on_the_card_of_their_room() -> None:
    initial, _, goal, _ = scenes_of(explain(GRIPPER, GRIPPER))
    assert not initial.arrows and not initial.silent
    assert {card.name: card.kind for card in initial.cards} == {"r1": "room", "r2": "room", "g": "gripper"}
    first = initial.cards[0]
    assert [(group.label, [chip.text for chip in group.chips]) for group in first.groups] == [
        ("", ["at-robby"]),
        ("at", ["b1", "b2"]),
    ]
    assert [group.label for card in goal.cards for group in card.groups] == ["at", "carry"]


def test_tiles_are_joined_and_what_is_on_them_is_a_chip() -> None:
    initial, _, goal, _ = scenes_of(explain(TILES, TILES))
    assert [(arrow.source, arrow.target, arrow.static) for arrow in initial.arrows] == [("t2", "t1", True)]
    cards = {card.name: [(group.label, group.chips[0].text) for group in card.groups] for card in initial.cards}
    assert cards == {"t1": [("robot-at", "k")], "t2": [], "c": [("robot-has", "k")]}
    assert goal.arrows == initial.arrows, "the goal is drawn on the same floor"
    marks = {group.label: group.chips[0].mark for card in goal.cards for group in card.groups}
    assert marks == {"painted": Mark.SAME, "robot-has": Mark.IMPLIED}, "there is but one colour to have"


def test_what_differs_is_extra_on_one_side_and_lacking_on_the_other() -> None:
    initial, answer, _, _ = scenes_of(explain(REFERENCE, ANSWERS[Verdict.INIT_DIFFERS]))
    for scene, mark in ((initial, Mark.EXTRA), (answer, Mark.LACKING)):
        marks = {chip.atom: chip.mark for group in groups(scene) for chip in group.chips}
        assert marks.pop(("on-table", "b")) == mark
        assert set(marks.values()) == {Mark.SAME}


def test_a_surplus_object_is_marked_on_its_card() -> None:
    answer = REFERENCE.replace("a b c", "a b c d").replace("(clear c)", "(clear c) (clear d)")
    assert [card.name for card in scenes_of(explain(REFERENCE, answer))[1].cards if card.extra] == ["d"]


def test_objects_without_an_atom_are_named() -> None:
    _, answer, _, _ = scenes_of(explain(UNKNOWN.format(""), UNKNOWN.format("").replace("(q a)", "(q2)")))
    assert answer.silent == () and [chip.text for chip in answer.flags.chips] == ["q2"]
    (card,) = answer.cards
    assert [(chip.text, chip.mark) for chip in card.groups[0].chips] == [("q", Mark.LACKING)]
    empty = UNKNOWN.format("").replace("(q a)", "")
    assert scenes_of(explain(empty, empty))[0].silent == ("a",)


def test_longer_atoms_and_circles_are_drawn_too() -> None:
    text = (
        UNKNOWN.format("").replace("objects a", "objects a b c").replace("(q a)", "(t a b c) (e a b) (e b a) (e c c)")
    )
    scene = scenes_of(explain(text, text))[0]
    assert drawn(scene) == [("e", "a", "b"), ("e", "b", "a"), ("e", "c", "c"), ("t", "a", "b", "c")]


def test_a_side_that_cannot_be_read_has_no_scene() -> None:
    assert [scene.title for scene in scenes_of(explain(REFERENCE, "no"))] == [
        "Reference: initial state",
        "Reference: goal",
    ]
    assert scenes_of(explain("", "")) == ()


def test_thousands_of_objects_are_bounded_and_counted() -> None:
    names = [f"o{number}" for number in range(3000)]
    init = " ".join(f"(p {name}) (e {name} o0) (e o1 {name})" for name in names)
    text = f"(define (problem p) (:domain nowhere) (:objects {' '.join(names)}) (:init {init}) (:goal (and)))"
    answer = text.replace("(p o2999)", "")
    scene = scenes_of(explain(text, answer))[0]
    assert len(scene.cards) == 120 and scene.cards_omitted == 2880
    # 2,999 arrows to o0 and 2,999 from o1, of which o1 to o0 is one
    assert scene.arrows_omitted + len(scene.arrows) == 5997
    assert "o2999" in {card.name for card in scene.cards}, "what differs is drawn"
