"""An explanation on a terminal: the lines that a person looks for, within 80 columns."""

import pytest
from pddl_eval.explain import explain
from pddl_eval.explain.words import MOST_ROWS, plain
from pddl_eval.verdict import Unsolvable, Verdict

from tests.explain.pairs import ANSWERS, REFERENCE


@pytest.mark.parametrize("verdict", ANSWERS, ids=str)
def test_the_first_line_is_the_verdict_and_no_line_is_too_long(verdict: Verdict) -> None:
    explanation = explain(REFERENCE, ANSWERS[verdict])
    lines = str(explanation).splitlines()
    assert lines[0].startswith(verdict.value)
    assert max(map(len, lines)) <= 80
    assert max(map(len, plain(explanation, width=60).splitlines())) <= 60


def test_differences_are_marked_and_come_first() -> None:
    lines = str(explain(REFERENCE, ANSWERS[Verdict.INIT_DIFFERS])).splitlines()
    start = lines.index("Initial state (1 different)")
    assert lines[start + 2].split() == ["≠", "(on-table", "b)", "–"]
    assert not [line for line in lines[start + 3 :] if line.startswith("≠")]


def test_the_answer_s_pieces_are_listed_unless_it_is_nothing_but_the_problem() -> None:
    lines = [line.split() for line in str(explain(REFERENCE, ANSWERS[Verdict.IDENTICAL])).splitlines()]
    (first,) = [line for line in lines if line[:1] == ["1-2"]]
    assert "ignored" in first and "fence:" in first
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
    assert any(line.split() == ["…", f"{201 - MOST_ROWS}", "more"] for line in lines)
