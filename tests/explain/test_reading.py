"""What was read of a raw answer and what was thrown away, piece by piece."""

from hypothesis import given
from hypothesis import strategies as st
from pddl_eval.definition.model import Problem
from pddl_eval.definition.pddl import read_problem
from pddl_eval.explain.reading import MOST_DRAFTS, Piece, PieceKind, pieces_of

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
