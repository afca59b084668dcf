"""What an explanation says for each verdict, with values worked by hand."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pddl_eval.definition.metrics import score_problem_pair
from pddl_eval.definition.model import Problem
from pddl_eval.definition.pddl import Unreadable, read_problem
from pddl_eval.definition.verdict import Undecided, Unsolvable, Verdict
from pddl_eval.explain import explain
from pddl_eval.explain.reading import MOST_DRAFTS, Piece, PieceKind, pieces_of
from pddl_eval.explain.sides import AtomLine, ObjectLine, Standing
from pddl_eval.explain.tables import MOST_ROWS
from pddl_eval.pages import words
from pddl_eval.terminal import plain

from tests.support.pairs_by_verdict import ANSWERS, REFERENCE, RENAMED, UNKNOWN


@pytest.mark.parametrize("verdict", ANSWERS, ids=str)
def test_an_explanation_repeats_the_verdict_and_decides_nothing(verdict: Verdict) -> None:
    explanation = explain(REFERENCE, ANSWERS[verdict])
    assert explanation.verdict == score_problem_pair(REFERENCE, ANSWERS[verdict])
    assert explanation.verdict.verdict == verdict
    assert explanation.domain == "blocksworld"
    assert isinstance(explanation.reference.problem, Problem)
    assert explanation.compares == explanation.verdict.parseable


def test_identical_problems_are_an_easy_case_without_a_difference() -> None:
    explanation = explain(REFERENCE, ANSWERS[Verdict.IDENTICAL])
    assert Verdict.IDENTICAL.decided_by in " ".join(str(explanation).split())
    assert not any(line.differs for line in explanation.objects + explanation.init + explanation.goal)
    kinds = [piece.kind for piece in explanation.generated.pieces]
    assert kinds == [PieceKind.TEXT, PieceKind.PROBLEM, PieceKind.LATER]
    assert explanation.generated.certificate == explanation.reference.certificate is not None


def test_the_object_map_pairs_the_objects_of_an_isomorphic_answer() -> None:
    explanation = explain(REFERENCE, ANSWERS[Verdict.ISOMORPHIC])
    assert explanation.object_map == {"x": "a", "y": "b", "z": "c"}
    assert explanation.objects == tuple(
        ObjectLine((theirs, ours), ("object", "object")) for theirs, ours in (("a", "x"), ("b", "y"), ("c", "z"))
    )
    assert explanation.generated.plan == (
        ("unstack", "x", "y"),
        ("putdown", "x"),
        ("pickup", "y"),
        ("stack", "y", "z"),
        ("pickup", "x"),
        ("stack", "x", "y"),
    )


def test_fully_specify_adds_what_the_goal_leaves_out() -> None:
    whole = explain(REFERENCE, REFERENCE)
    assert whole.reference.added == (("arm-empty",), ("clear", "a"), ("on-table", "c"))
    # c may stand on a, and a on b or in the arm or on the table: no atom is in all states with b on c
    part = REFERENCE.replace("(on a b) (on b c))", "(on b c))")
    assert explain(part, part).reference.added == ()


def test_an_equivalent_answer_shows_which_atoms_were_written_and_which_implied() -> None:
    explanation = explain(REFERENCE, ANSWERS[Verdict.EQUIVALENT])
    assert Verdict.EQUIVALENT.decided_by in " ".join(str(explanation).split())
    assert explanation.goal == (
        AtomLine((("clear", "a"), ("clear", "x")), (Standing.IMPLIED, Standing.WRITTEN)),
        AtomLine((("on", "a", "b"), ("on", "x", "y")), (Standing.WRITTEN, Standing.WRITTEN)),
        AtomLine((("on", "b", "c"), ("on", "y", "z")), (Standing.WRITTEN, Standing.WRITTEN)),
        AtomLine((("arm-empty",), ("arm-empty",)), (Standing.IMPLIED, Standing.IMPLIED)),
        AtomLine((("on-table", "c"), ("on-table", "z")), (Standing.IMPLIED, Standing.IMPLIED)),
    )


def test_the_separating_atom_of_different_goals_is_among_the_lines_that_differ() -> None:
    explanation = explain(REFERENCE, ANSWERS[Verdict.GOAL_DIFFERS])
    assert (explanation.verdict.separating_atom, explanation.verdict.separating_side) == (("on", "a", "b"), "reference")
    assert [line.atoms for line in explanation.goal if line.differs] == [
        (("on", "a", "b"), ("on", "x", "y")),
        (("on", "a", "c"), ("on", "x", "z")),
        (("on", "b", "a"), ("on", "y", "x")),
        (("on", "b", "c"), ("on", "y", "z")),
        (("clear", "a"), ("clear", "x")),
        (("clear", "b"), ("clear", "y")),
    ]


def test_a_lost_initial_atom_is_the_only_line_that_differs() -> None:
    explanation = explain(REFERENCE, ANSWERS[Verdict.INIT_DIFFERS])
    (line,) = [line for line in explanation.init if line.differs]
    assert line == AtomLine((("on-table", "b"), ("on-table", "b")), (Standing.WRITTEN, Standing.ABSENT))


def test_a_surplus_object_has_no_counterpart() -> None:
    explanation = explain(REFERENCE, ANSWERS[Verdict.OBJECT_COUNT])
    assert explanation.objects[0] == ObjectLine((None, "d"), (None, "object"))
    assert not any(line.differs for line in explanation.objects[1:])


def test_types_that_differ_are_marked_and_erased_they_agree() -> None:
    explanation = explain(REFERENCE, ANSWERS[Verdict.TYPES_DIFFER])
    assert explanation.objects[0] == ObjectLine(("a", "a"), ("object", "block"))
    assert explanation.verdict.equivalent_untyped is True


def test_an_unsolvable_answer_says_why_there_is_no_plan() -> None:
    side = explain(REFERENCE, ANSWERS[Verdict.UNSOLVABLE]).generated
    assert isinstance(side.plan, Unsolvable) and side.plan == side.added


def test_an_answer_of_another_domain_has_no_plan_and_not_the_reference_s_certificate() -> None:
    explanation = explain(REFERENCE, ANSWERS[Verdict.DOMAIN_MISMATCH])
    assert isinstance(explanation.generated.plan, Unsolvable) and "domain" in explanation.generated.plan.reason
    assert explanation.generated.certificate == explanation.verdict.certificate != explanation.reference.certificate


def test_what_cannot_be_read_says_so() -> None:
    explanation = explain(REFERENCE, ANSWERS[Verdict.INVALID_ATOM])
    assert isinstance(explanation.generated.problem, Unreadable)
    assert explanation.generated.problem.detail == explanation.verdict.detail
    assert isinstance(explanation.generated.plan, Undecided) and explanation.verdict.detail in str(explanation)
    assert [piece.kind for piece in explanation.generated.pieces] == [PieceKind.DRAFT]


def test_an_unknown_domain_leaves_goals_as_written() -> None:
    explanation = explain(UNKNOWN.format(""), UNKNOWN.format("(q a)"))
    assert explanation.verdict.verdict == Verdict.UNDECIDED
    assert explanation.domain is None and explanation.static == frozenset()
    assert explanation.reference.added == Undecided(explanation.verdict.detail)
    assert isinstance(explanation.generated.added, Undecided)
    (line,) = explanation.goal
    assert line == AtomLine((("q", "a"), ("q", "a")), (Standing.ABSENT, Standing.WRITTEN))


def test_a_reference_that_cannot_be_read_is_the_data_s_mistake() -> None:
    explanation = explain("nothing", RENAMED)
    assert explanation.verdict.verdict == Verdict.REFERENCE_INVALID
    assert isinstance(explanation.reference.problem, Unreadable)
    assert isinstance(explanation.generated.problem, Problem)
    assert not explanation.compares


def test_the_other_mode_is_named_where_it_says_otherwise() -> None:
    answer = REFERENCE.replace("(on a b) (on b c))", "(on a c) (on c b))")
    strict, separate = explain(REFERENCE, answer), explain(REFERENCE, answer, is_placeholder=True)
    assert (strict.verdict.verdict, strict.other_verdict) == (Verdict.GOAL_DIFFERS, Verdict.EQUIVALENT)
    assert (separate.verdict.verdict, separate.other_verdict) == (Verdict.EQUIVALENT, Verdict.GOAL_DIFFERS)
    assert separate.goal_map == {"a": "a", "b": "c", "c": "b"} != separate.object_map
    assert not any(line.differs for line in separate.goal)


def test_static_predicates_are_those_that_no_operator_changes() -> None:
    reference = """(define (problem p) (:domain gripper) (:objects r b g)
        (:init (room r) (ball b) (gripper g) (at-robby r) (at b r) (free g)) (:goal (carry b g)))"""
    explanation = explain(reference, reference)
    assert explanation.static == {"room", "ball", "gripper"}
    assert explanation.reference.added == (("at-robby", "r"), ("ball", "b"), ("gripper", "g"), ("room", "r"))


@pytest.mark.parametrize("verdict", ANSWERS, ids=str)
def test_the_first_line_is_the_verdict_and_no_line_is_too_long(verdict: Verdict) -> None:
    explanation = explain(REFERENCE, ANSWERS[verdict])
    lines = str(explanation).splitlines()
    assert lines[0].startswith(words(verdict))
    assert max(map(len, lines)) <= 80
    assert max(map(len, plain(explanation.page(), width=60).splitlines())) <= 60


def test_differences_are_marked_and_come_first() -> None:
    lines = str(explain(REFERENCE, ANSWERS[Verdict.INIT_DIFFERS])).splitlines()
    start = lines.index("Initial state (1 different)")
    assert lines[start + 3].split() == ["≠", "(on-table", "b)", "–"]
    assert not [line for line in lines[start + 4 :] if line.startswith("≠")]


def test_the_answer_s_pieces_are_listed_unless_it_is_nothing_but_the_problem() -> None:
    lines = str(explain(REFERENCE, ANSWERS[Verdict.IDENTICAL])).splitlines()
    (first,) = [line for line in lines if "lines 1-2:" in line]
    assert "ignored" in first and "fence" in first
    assert "1-6" not in str(explain(REFERENCE, REFERENCE))


def test_reasons_plans_and_certificates_of_both_sides() -> None:
    explanation = explain(REFERENCE, ANSWERS[Verdict.UNSOLVABLE])
    text = " ".join(str(explanation).split())
    assert isinstance(explanation.generated.plan, Unsolvable)
    assert text.count(f"none: {explanation.generated.plan.reason}") == 2, "of the added atoms and of the plan"
    assert "6 actions: (unstack a b) (putdown a) (pickup b) (stack b c) (pickup a) (stack a b)" in text
    assert explanation.reference.certificate and explanation.reference.certificate in text


def test_long_tables_are_cut_and_counted() -> None:
    names = [f"b{number}" for number in range(100)]
    init = " ".join(f"(clear {name}) (on-table {name})" for name in names)
    text = f"(define (problem p) (:domain blocksworld) (:objects {' '.join(names)}) (:init (arm-empty) {init})"
    lines = str(explain(f"{text} (:goal (on b0 b1)))", f"{text} (:goal (on b2 b3)))")).splitlines()
    assert any(f"first {MOST_ROWS} of 201" in line for line in lines)
    page = explain(f"{text} (:goal (on b0 b1)))", f"{text} (:goal (on b2 b3)))").page(whole=True)
    (equal,) = (each for section in page.sections for each in section.excerpts if each.title.startswith("Initial"))
    assert equal.title.endswith("201 equal") and len(equal.text.splitlines()) == 201


# --- What was read of a raw answer and what was thrown away, piece by piece


GOOD = "(define (problem p) (:domain d) (:objects a) (:init (q a)) (:goal (q a)))"
OTHER = GOOD.replace("problem p", "problem r")
BAD = "(define (problem p)\n  (:domain d) (:objects a) (:init (q b)) (:goal (q a)))"


def outline(answer: str) -> list[tuple[str, int, int]]:
    return [(piece.kind.name.lower(), piece.first_line, piece.last_line) for piece in pieces_of(answer)]


def test_nothing_is_no_piece() -> None:
    assert pieces_of(None) == pieces_of("") == pieces_of(" \n ") == ()


def test_prose_and_fences_around_the_problem() -> None:
    assert outline(f"Sure,\nhere it is:\n```pddl\n{GOOD}\n```\nGood luck!") == [
        ("text", 1, 3),
        ("problem", 4, 4),
        ("later", 5, 6),
    ]


def test_a_refused_draft_stands_before_the_problem_with_its_reason() -> None:
    answer = f"First:\n{BAD}\nNo, rather\n{GOOD}"
    assert outline(answer) == [("text", 1, 1), ("draft", 2, 3), ("text", 4, 4), ("problem", 5, 5)]
    assert "`b`" in pieces_of(answer)[1].note


def test_a_thought_is_no_draft() -> None:
    answer = f"<think>\n{OTHER}\n</think>\n{GOOD}"
    assert outline(answer) == [("text", 1, 3), ("problem", 4, 4)]
    assert pieces_of(answer)[0].note == "thoughts"
    assert OTHER in pieces_of(answer)[0].text


def test_the_last_good_problem_counts_where_asked_for() -> None:
    kinds = [piece.kind for piece in pieces_of(f"{GOOD}\n{OTHER}\n{BAD}", counts="last")]
    assert kinds == [PieceKind.DRAFT, PieceKind.PROBLEM, PieceKind.LATER]


def test_only_the_first_good_problem_counts() -> None:
    assert outline(f"{GOOD}\n{OTHER}") == [("problem", 1, 1), ("later", 2, 2)]
    assert pieces_of(f"{GOOD}\n{OTHER}")[1].note == "a problem"


def test_a_problem_inside_a_block_that_is_none() -> None:
    pieces = pieces_of(f"(define (problem x)\n {GOOD})")
    assert [piece.kind for piece in pieces] == [PieceKind.DRAFT, PieceKind.PROBLEM, PieceKind.LATER]
    assert pieces[1].text == GOOD
    assert "inside" in pieces[0].note


def test_a_commented_problem_inside_another_does_not_count() -> None:
    answer = f"(define (problem z) ; {OTHER}\n (:domain d) (:objects a) (:init (q a)) (:goal (q a)))"
    assert outline(answer) == [("problem", 1, 2)]


def test_an_answer_that_is_cut_off() -> None:
    (piece,) = pieces_of("Well:\n(define (problem p)\n (:domain d)")
    assert (piece.kind, piece.note) == (PieceKind.TEXT, "a problem that is not closed")


def test_a_domain_is_named_where_it_stands() -> None:
    assert pieces_of(f"(define (domain d) (:predicates (q ?x)))\n{GOOD}")[0].note == "a domain"


def test_texts_keep_their_case_and_lines_where_lower_case_is_longer() -> None:
    assert pieces_of(GOOD.upper())[0].text == GOOD.upper()
    assert outline(f"İİİ\n{GOOD}") == [("text", 1, 1), ("problem", 2, 2)]


def test_of_many_drafts_the_first_are_listed_and_the_good_one_is_found() -> None:
    answer = "\n".join([BAD.replace("\n", " ")] * 50 + [GOOD])
    kinds = [piece.kind for piece in pieces_of(answer)]
    assert kinds == [PieceKind.DRAFT] * MOST_DRAFTS + [PieceKind.TEXT, PieceKind.PROBLEM]


FRAGMENTS = [GOOD, OTHER, BAD, "prose ", "\n", "(define (problem x ", ")", "; ", "```\n", "(define (domain d))", "İ"]


@given(st.lists(st.sampled_from(FRAGMENTS), max_size=12).map("".join))
def test_the_pieces_cover_the_answer_and_the_problem_is_the_one_that_is_read(answer: str) -> None:
    pieces = pieces_of(answer)
    lowered = "".join(answer.lower().split())
    assert "".join("".join(piece.text.lower().split()) for piece in pieces) == lowered
    read = read_problem(answer)
    problems = [piece for piece in pieces if piece.kind == PieceKind.PROBLEM]
    assert len(problems) == isinstance(read, Problem)
    if problems:
        assert read_problem(problems[0].text) == read
    shown = answer if len(answer) == len(answer.lower()) else answer.lower()
    lines = shown.split("\n")
    for piece in pieces:
        assert_stands_at(piece, lines)


def assert_stands_at(piece: Piece, lines: list[str]) -> None:
    region = "\n".join(lines[piece.first_line - 1 : piece.last_line])
    assert piece.text in region


def test_a_counterexample_is_a_plan_step_by_step() -> None:
    """One block stacked, or held: a plan to the answer's goal adds and deletes what its steps say."""
    standing = "(arm-empty) (clear a) (clear b) (on-table a) (on-table b)"
    text = f"(define (problem p) (:domain blocksworld) (:objects a b) (:init {standing}) (:goal (and {{}})))"
    page = explain(text.format("(on a b)"), text.format("(holding b)")).page(whole=True)
    (section,) = (each for each in page.sections if each.title == "Counterexample")
    (table,) = section.tables
    assert [cell.text for cell in table.rows[0]][:2] == ["1", "(pickup b)"]
    assert table.kind == "steps" and section.paragraphs[-1].startswith("The last state: ")
