"""S-expressions and blocks of an answer: facts by example, and on random text the definition itself as the judge."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pddl_eval.definition.pddl.sexpr import (
    WINDOW,
    Unbalanced,
    problem_blocks,
    read_expression,
    split_words,
    why_no_block,
)


def blocks(answer: str) -> list[str]:
    return [block.text for block in problem_blocks(answer)]


def blocks_by_definition(answer: str) -> list[str]:
    """From each start, one character after the other, to the parenthesis that matches it."""
    found = []
    for start in re.finditer(r"\(\s*define\s*\(\s*problem", answer):
        depth, commented = 0, False
        for position in range(start.start(), len(answer)):
            char = answer[position]
            commented = (commented or char == ";") and char != "\n"
            if not commented:
                depth += (char == "(") - (char == ")")
            if depth == 0:
                found.append(answer[start.start() : position + 1])
                break
    return found


PIECES = ["(define (problem", "(define(problem", "( define\n(\tproblem", "(define", "(", ")", "))", ";", "\n", " x "]


@given(st.lists(st.sampled_from(PIECES), max_size=40).map("".join))
def test_blocks_are_what_the_definition_says(answer: str) -> None:
    assert blocks(answer) == blocks_by_definition(answer)


@given(st.text(alphabet="(); \ndefineproblem", max_size=60))
def test_blocks_are_what_the_definition_says_of_any_text(answer: str) -> None:
    answer = f"(define (problem {answer}"
    assert blocks(answer) == blocks_by_definition(answer)


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("Here it is:\n```pddl\n(define (problem p) (:init))\n```\nDone :)", ["(define (problem p) (:init))"]),
        ("(define (domain d) (:types t)) (define (problem p))", ["(define (problem p))"]),
        ("(define (problem p)) or better (define (problem q))", ["(define (problem p))", "(define (problem q))"]),
        ("(define (problem p) (:init (a\n\nAgain: (define (problem q))", ["(define (problem q))"]),
        (
            "(define (problem p) (define (problem q)))",
            ["(define (problem p) (define (problem q)))", "(define (problem q))"],
        ),
        ("(define\u00a0(problemx) (:domain d))", ["(define\u00a0(problemx) (:domain d))"]),
        ("(define (problem p) ; :) :)\n (:init))", ["(define (problem p) ; :) :)\n (:init))"]),
        ("; (define (problem p) (:init)) ; )\n", ["(define (problem p) (:init))"]),
        ("; (define (problem p) ; (\n (:init))", ["(define (problem p) ; (\n (:init))"]),
        ("(defined (problem p)) (define the (problem p)) define (problem p)", []),
    ],
)
def test_blocks_by_example(answer: str, expected: list[str]) -> None:
    assert blocks(answer) == expected


def test_a_block_knows_its_line() -> None:
    answer = "one\n(define (problem p))\n\nfour (define\n(problem q)) (define (problem r))"
    assert [block.line for block in problem_blocks(answer)] == [2, 4, 5]


def test_blocks_come_one_at_a_time() -> None:
    first = next(problem_blocks("(define (problem p))" + "(" * 100_000))
    assert first.text == "(define (problem p))"


@pytest.mark.parametrize(
    ("answer", "facts"),
    [
        ("(define (domain d))", ["`(define (problem …`"]),
        ("\n\n (define (problem p) (:init", ["line 3", "cut off"]),
        ("(define (problem p)" + "()" * (WINDOW // 2), ["line 1", "1,000,000"]),
    ],
)
def test_the_reason_for_no_block(answer: str, facts: list[str]) -> None:
    assert blocks(answer) == []
    assert all(fact in why_no_block(answer) for fact in facts)


def test_the_window_opens_at_the_first_start() -> None:
    answer = "noise ( " * WINDOW + "(define (problem p))"
    assert blocks(answer) == ["(define (problem p))"]


def test_a_block_may_fill_the_window_and_no_more() -> None:
    fill = WINDOW - len("(define (problem))")
    fits, too_long = (f"(define (problem{' ' * spaces}))" for spaces in (fill, fill + 1))
    assert blocks(fits) == [fits]
    assert blocks(too_long) == []


def test_blocks_inside_blocks_are_bounded() -> None:
    nested = blocks("(define (problem " * 20_000 + "))" * 20_000)
    assert nested[0].count("problem") == 20_000
    assert sum(map(len, nested)) <= 2 * WINDOW


@pytest.mark.parametrize(
    "answer",
    [
        "(" * 10_000_000,
        "(define (problem" * 600_000,
        "(define (problem p)" + "(;" * 5_000_000,
        "(define (problem p)" + "(;\n" * 3_000_000,
        "(define (problem;" * 600_000,
        "(define (problem;\n" * 600_000,
        "(define" + " " * 10_000_000,
        "(define (problem" + "\n" * 10_000_000,
    ],
    ids=lambda answer: answer[:20],
)
def test_hostile_answers_without_a_block(answer: str) -> None:
    assert blocks(answer) == []


# Words and expressions


def test_an_expression_is_nested_tuples_of_words() -> None:
    text = "(a (b c) ; (comment\n() d\u00a0e) (f"
    assert split_words(text) == ["(", "a", "(", "b", "c", ")", "(", ")", "d", "e", ")", "(", "f"]
    assert read_expression(text, deepest=2) == ("a", ("b", "c"), (), "d", "e")


@given(st.text(alphabet="(); \na", max_size=40))
def test_an_expression_is_what_its_words_say(text: str) -> None:
    """One word after the other, the definition; and of a depth that is exceeded, whatever follows."""
    for deepest in (2, 50):
        outer: list[list[Any]] = [[]]
        for word in split_words(text := f"({text}"):
            if word == "(":
                outer.append([])
            elif word == ")":
                closed = tuple(outer.pop())
                outer[-1].append(closed)
            else:
                outer[-1].append(word)
            if len(outer) == 1 or len(outer) > deepest + 1:
                break
        if len(outer) == 1:
            assert read_expression(text, deepest) == outer[0][0]
        else:
            with pytest.raises(Unbalanced):
                read_expression(text, deepest)


@pytest.mark.parametrize("text", ["(a (b)", "((a))", "(" * 1_000_000])
def test_an_expression_is_closed_and_not_too_deep(text: str) -> None:
    with pytest.raises(Unbalanced):
        read_expression(text, deepest=1)
