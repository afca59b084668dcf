"""Pages and pictures stand alone, are well formed, and hold nothing of a hostile answer as it is."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from itertools import chain, combinations, pairwise
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pddl_eval.definition.model import show_atom
from pddl_eval.definition.verdict import Verdict
from pddl_eval.explain import explain, explain_row, html_page, scenes_svg
from pddl_eval.explain.drawing import (
    MOST_ARROWS,
    MOST_CARDS,
    MOST_LINES,
    OFFSETS,
    Arrow,
    Mark,
    Scene,
    Text,
    places,
    scenes_of,
)

from tests.support.pairs_by_verdict import ANSWERS, HOSTILE, REFERENCE, UNKNOWN

VOID = {"meta", "br", "img", "input", "link", "hr"}


class Page(HTMLParser):
    """Checks that tags nest, and keeps them and the text."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(page)
        assert not self.open, f"never closed: {self.open}"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


@pytest.mark.parametrize("verdict", ANSWERS, ids=str)
def test_a_page_for_every_verdict(verdict: Verdict) -> None:
    explanation = explain(REFERENCE, ANSWERS[verdict])
    page = Page(html_page(explanation, "a title"))
    assert verdict.value in page.text and "a title" in page.text
    assert not {"script", "link", "img", "iframe", "object"} & {tag for tag, _ in page.tags}
    assert not [attributes for _, attributes in page.tags if any(name.startswith("on") for name in attributes)]
    links = [attributes[name] or "" for _, attributes in page.tags for name in ("href", "src") if name in attributes]
    assert all(link.startswith("#") for link in links), "no network"
    ElementTree.fromstring(scenes_svg(explanation))
    fragment = Page(html_page(explanation, whole=False))
    assert not {"html", "head", "body", "main", "title"} & {tag for tag, _ in fragment.tags if tag != "title"}
    assert verdict.value in fragment.text


def test_drawings_and_tables_speak_to_a_screen_reader() -> None:
    page = Page(html_page(explain(REFERENCE, ANSWERS[Verdict.GOAL_DIFFERS])))
    pictures = [attributes for tag, attributes in page.tags if tag == "svg"]
    assert [attributes["role"] for attributes in pictures] == ["img"]
    heads = [attributes for tag, attributes in page.tags if tag == "th"]
    assert {attributes["scope"] for attributes in heads} == {"col", "row"}
    captions = [tag for tag, _ in page.tags if tag == "caption"]
    assert len(captions) == [tag for tag, _ in page.tags].count("table")


def hostile_answers() -> dict[str, str]:
    return {
        "prose": HOSTILE + REFERENCE + HOSTILE,
        "refused": REFERENCE.replace("(on b c)", f"(on b {HOSTILE})"),
        "comment": REFERENCE.replace("(:goal", f"; {HOSTILE.replace(chr(10), '')}\n(:goal"),
        "name": REFERENCE.replace("tower", "tower" * 20_000).replace("(clear c)", f"(clear c) ({'p' * 50_000} c)"),
        "drafts": REFERENCE.replace("(on b c)", "(on b q)") * 500,
        "endless": HOSTILE * 10_000,
    }


@pytest.mark.parametrize("name", hostile_answers())
def test_a_hostile_answer_is_escaped_and_bounded(name: str) -> None:
    explanation = explain(REFERENCE, hostile_answers()[name])
    for shown in (html_page(explanation, HOSTILE), scenes_svg(explanation), str(explanation)):
        assert len(shown) < 300_000
        assert "<script" not in shown or shown == str(explanation)
        assert "\x1b" not in shown and "\x07" not in shown and "\u202e" not in shown
    Page(html_page(explanation, HOSTILE))
    ElementTree.fromstring(scenes_svg(explanation))
    assert all(len(line) <= 80 for line in str(explanation).splitlines())


def test_markup_of_the_terminal_library_is_text() -> None:
    assert "[bold]rich[/bold]" in str(explain(REFERENCE, "[bold]rich[/bold]" + REFERENCE))


def test_the_same_pair_gives_the_same_picture() -> None:
    pictures = {scenes_svg(explain(REFERENCE, ANSWERS[Verdict.GOAL_DIFFERS])) for _ in range(3)}
    assert len(pictures) == 1


@pytest.mark.parametrize("verdict", [Verdict.GOAL_DIFFERS, Verdict.UNPARSEABLE])
def test_a_picture_is_as_wide_as_its_longest_line(verdict: Verdict) -> None:
    picture = ElementTree.fromstring(scenes_svg(explain(REFERENCE, ANSWERS[verdict])))
    texts = ["".join(each.itertext()) for each in picture.iter("{http://www.w3.org/2000/svg}text")]
    assert float(picture.attrib["width"]) > 7 * max(map(len, texts))


# --- Scenes as they are drawn: every atom once, what differs marked, both sides laid out alike, all within bounds


GRIPPER = """(define (problem p) (:domain gripper) (:objects r1 r2 b1 b2 g)
    (:init (room r1) (room r2) (ball b1) (ball b2) (gripper g) (at-robby r1) (at b1 r1) (at b2 r1) (free g))
    (:goal (and (at b1 r2) (carry b2 g))))"""

TILES = """(define (problem p) (:domain floor-tile) (:objects t1 t2 - tile k - robot c - color)
    (:init (right t2 t1) (robot-at k t1) (robot-has k c) (available-color c)) (:goal (painted t2 c)))"""


def drawn(scene: Scene) -> dict[str, Mark]:
    """Every atom that is drawn, as an arrow or as a line of a card, and its mark."""
    lines = [text for texts in scene.cards.values() for text in texts if text.style in set(Mark)]
    found = [*((arrow.tooltip, arrow.mark) for arrow in scene.arrows), *((each.tooltip, each.style) for each in lines)]
    assert len({atom for atom, _ in found}) == len(found), "an atom is drawn once"
    return {atom: Mark(mark) for atom, mark in found}


def test_every_atom_is_drawn() -> None:
    initial, _ = scenes_of(explain(REFERENCE, REFERENCE))[0]
    goal, _ = scenes_of(explain(REFERENCE, REFERENCE))[1]
    atoms = ["(arm-empty)", "(clear a)", "(clear c)", "(on a b)", "(on-table b)", "(on-table c)"]
    assert sorted(drawn(initial)) == atoms
    assert [arrow[:3] for arrow in initial.arrows] == [("a", "b", "on")]
    assert drawn(goal)["(on a b)"] == drawn(goal)["(on b c)"] == Mark.SAME
    assert drawn(goal)["(arm-empty)"] == Mark.IMPLIED


def test_longer_atoms_circles_and_objects_without_an_atom_are_drawn_too() -> None:
    atoms = "(t a b c) (e a b) (e b a) (e c c)"
    text = UNKNOWN.format("").replace("objects a", "objects a b c d").replace("(q a)", atoms)
    ((scene, _), _) = scenes_of(explain(text, text))
    assert sorted(drawn(scene)) == ["(e a b)", "(e b a)", "(e c c)", "(t a b c)"]
    assert scene.cards.keys() == {"", "a", "b", "c", "d"}
    assert scenes_svg(explain(text, text)).count(">e<") == 2, "both ways are one line, in two initial states"


def test_an_atom_over_different_kinds_is_on_the_card_of_the_place() -> None:
    (initial, _), (goal, _) = scenes_of(explain(GRIPPER, GRIPPER))
    assert not initial.arrows
    assert [text.text for text in initial.cards["r1"]] == ["r1 room", "at b1", "at b2", "at-robby"]
    assert "b1" not in initial.cards and "at b1" in [text.text for text in goal.cards["r2"]]
    (initial, _), (goal, _) = scenes_of(explain(TILES, TILES))
    for scene in (initial, goal):
        assert [arrow[:4] for arrow in scene.arrows] == [("t2", "t1", "right", Mark.GROUND)], (
            "goals have the same floor"
        )
    assert [text.text for text in goal.cards["t2"]] == ["t2 tile", "painted c"]


def test_what_differs_is_extra_on_one_side_and_lacking_on_the_other() -> None:
    explanation = explain(REFERENCE, ANSWERS[Verdict.INIT_DIFFERS])
    for scene, mark, sign in zip(scenes_of(explanation)[0], (Mark.EXTRA, Mark.LACKING), "+−", strict=True):
        found = drawn(scene)
        assert found.pop("(on-table b)") == mark and set(found.values()) == {Mark.SAME}
        assert f"{sign} on-table" in [text.text for text in scene.cards["b"]]
        assert f">{sign} on-table<" in scenes_svg(explanation)


def test_what_only_one_goal_implies_is_told_from_what_it_says() -> None:
    held = "(define (problem p) (:domain blocksworld) (:objects a) (:init (holding a)) (:goal {}))"
    explanation = explain(held.format("(clear a)"), held.format("(holding a)"))
    reference, answer = map(drawn, scenes_of(explanation)[1])
    assert (reference["(clear a)"], reference["(on-table a)"]) == (Mark.EXTRA, Mark.EXTRA_IMPLIED)
    assert (answer["(clear a)"], answer["(on-table a)"]) == (Mark.LACKING, Mark.LACKING)
    assert ">+ (on-table)<" in scenes_svg(explanation)


def test_a_surplus_object_is_marked_on_its_card() -> None:
    answer = REFERENCE.replace("a b c", "a b c d").replace("(clear c)", "(clear c) (clear d)")
    _, scene = scenes_of(explain(REFERENCE, answer))[0]
    assert [texts[0].text for texts in scene.cards.values() if "name extra" in texts[0].style] == ["d"]


def test_an_atom_or_a_type_of_the_answer_alone_changes_no_arrow() -> None:
    for answer in (REFERENCE.replace("(:init", "(:init (polished a)"), REFERENCE.replace("a b", "b - block a", 1)):
        for ours, theirs in scenes_of(explain(REFERENCE, answer)):
            assert {arrow[:3] for arrow in ours.arrows} == {arrow[:3] for arrow in theirs.arrows} != set()


def test_equal_objects_have_the_same_card_under_other_names() -> None:
    renamed = re.sub(r"(?<=[( ])[abc](?=[) ])", lambda name: {"a": "x", "b": "y", "c": "z"}[name[0]], REFERENCE)
    for ours, theirs in scenes_of(explain(REFERENCE, renamed.replace("x y z", "x y z extra"))):
        assert ours.cards.keys() - {" extra"} == theirs.cards.keys() - {" extra"}
        assert {theirs.cards[name][0].text for name in "abc"} == set("xyz")


def test_a_wrong_arrow_moves_no_card() -> None:
    names = [[f"t{row}{column}" for column in range(4)] for row in range(3)]
    across = [("right", right, left) for row in names for left, right in pairwise(row)]
    atoms = across + [("up", above, below) for rows in pairwise(names) for above, below in zip(*rows, strict=True)]
    reference = f"""(define (problem p) (:domain floor-tile)
        (:objects {" ".join(chain(*names))} - tile k - robot c - color)
        (:init (robot-at k t00) (robot-has k c) (available-color c) {" ".join(map(show_atom, atoms))})
        (:goal (painted t01 c)))"""
    sizes = dict.fromkeys(chain(*names), 40 + 20j)
    plain = places(sizes, scenes_of(explain(reference, reference))[0])
    assert plain["t00"].imag == plain["t03"].imag < plain["t10"].imag
    assert plain["t00"].real == plain["t20"].real < plain["t01"].real
    for extra in ("(right t00 t23)", "(up t11 t02)", "(right t10 t11)", "(left t20 t00)"):
        scenes = scenes_of(explain(reference, reference.replace("(:init", f"(:init {extra}")))[0]
        assert places(sizes, scenes) == plain, extra
        assert drawn(scenes[1])[extra] == Mark.EXTRA and drawn(scenes[0])[extra] == Mark.LACKING


NAMES = "abcdefgh"
SIZES = st.builds(complex, st.integers(10, 200), st.integers(10, 120))
ENDS = st.tuples(st.sampled_from(NAMES), st.sampled_from(NAMES)).filter(lambda ends: ends[0] != ends[1])
ARROWS = st.lists(st.builds(lambda e, label: Arrow(*e, label, Mark.SAME, ""), ENDS, st.sampled_from(["on", *OFFSETS])))


@settings(deadline=None, max_examples=50)  # the first drawing imports networkx
@given(st.fixed_dictionaries(dict.fromkeys(NAMES, SIZES)), ARROWS, ARROWS)
def test_cards_do_not_overlap(sizes: dict[str, complex], ours: list[Arrow], theirs: list[Arrow]) -> None:
    cards = {name: [Text("", "", "")] for name in NAMES}
    middles = places(sizes, [Scene("", cards, arrows, []) for arrows in (ours, theirs)])
    assert middles.keys() == sizes.keys()
    for a, b in combinations(NAMES, 2):
        way, room = middles[a] - middles[b], (sizes[a] + sizes[b]) / 2
        assert abs(way.real) > room.real - 1e-6 or abs(way.imag) > room.imag - 1e-6


def test_towers_stand_upright_on_one_floor() -> None:
    tower = [Arrow("a", "b", "on", Mark.SAME, ""), Arrow("b", "c", "on", Mark.SAME, "")]
    at = places(dict.fromkeys("abcd", 40 + 20j), [Scene("", {}, tower, [])])
    assert at["a"].real == at["b"].real == at["c"].real
    assert at["a"].imag < at["b"].imag < at["c"].imag == at["d"].imag


def test_a_side_that_cannot_be_read_has_no_scene() -> None:
    scenes = [scene.title for state in scenes_of(explain(REFERENCE, "no")) for scene in state]
    assert scenes == ["Reference: initial state", "Reference: goal"]
    assert scenes_of(explain("", "")) == [[], []]


def test_thousands_of_objects_are_bounded_and_counted() -> None:
    names = [f"o{number}" for number in range(500)]
    init = " ".join(f"(p {name}) (e {name} o0) (e o1 {name}) (f{name} o0)" for name in names)
    text = f"(define (problem p) (:domain nowhere) (:objects {' '.join(names)}) (:init {init}) (:goal (and)))"
    explanation = explain(text, text.replace("(p o499)", ""))
    scene = scenes_of(explanation)[0][0]
    assert len(scene.cards) <= MOST_CARDS and len(scene.arrows) <= MOST_ARROWS
    assert max(map(len, scene.cards.values())) == MOST_LINES + 1
    assert "o499" in scene.cards, "what differs is drawn"
    assert any(f"{997 - len(scene.arrows):,} more arrows" in note for note in scene.notes)
    assert len(scenes_svg(explanation)) < 500_000


def test_the_plan_that_a_question_is_about_is_stepped_through() -> None:
    dark = "(define (problem p) (:domain d) (:init (off)) (:goal (on)))"
    lamp = "(define (domain d) (:action switch :precondition (off) :effect (and (on) (not (off)))))"
    row = {
        "question": "state",
        "plan": "(switch)",
        "generated_answer": "(off)",
        "reference_problem": dark,
        "domain": lamp,
    }
    (section,) = (each for each in explain_row(row).page(whole=True).sections if "step by step" in each.title)
    assert [cell.text for cell in section.tables[0].rows[0]][:5] == ["1", "(switch)", "(off)", "(on)", "(off)"]
