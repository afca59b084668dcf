"""An explanation on a terminal: the lines that a person looks for, within 80 columns."""

import pytest
from pddl_eval.explain import explain
from pddl_eval.explain.text import MOST_LINES, plain_text
from pddl_eval.verdict import Verdict

from tests.explain.pairs import ANSWERS, REFERENCE


@pytest.mark.parametrize("verdict", ANSWERS, ids=str)
def test_the_first_line_is_the_verdict_and_no_line_is_too_long(verdict: Verdict) -> None:
    explanation = explain(REFERENCE, ANSWERS[verdict])
    lines = str(explanation).splitlines()
    assert lines[0].startswith(verdict.value)
    assert max(map(len, lines)) <= 80
    assert max(map(len, plain_text(explanation, width=60).splitlines())) <= 60


def test_differences_are_marked_and_come_first() -> None:
    lines = str(explain(REFERENCE, ANSWERS[Verdict.INIT_DIFFERS])).splitlines()
    start = lines.index("Initial state (1 different)")
    assert lines[start + 2].split() == ["≠", "(on-table", "b)", "–"]
    assert not [line for line in lines[start + 3 :] if line.startswith("≠")]


def test_the_answer_s_pieces_are_listed_unless_it_is_nothing_but_the_problem() -> None:
    text = str(explain(REFERENCE, ANSWERS[Verdict.IDENTICAL]))
    assert "What was read of the answer" in text and "What was read of the reference" not in text
    assert "1-2    thrown away    a Markdown fence: Sure! ```pddl" in text
    assert "What was read" not in str(explain(REFERENCE, REFERENCE))


def test_reasons_plans_and_certificates_of_both_sides() -> None:
    explanation = explain(REFERENCE, ANSWERS[Verdict.UNSOLVABLE])
    text = " ".join(str(explanation).split())
    assert f"plan none: {explanation.generated.no_plan}" in text
    assert f"its goal cannot be specified: {explanation.generated.not_closed}" in text
    assert "6 actions: (unstack a b) (putdown a) (pickup b) (stack b c) (pickup a) (stack a b)" in text
    assert explanation.reference.certificate and explanation.reference.certificate in text


def test_long_tables_are_cut_and_counted() -> None:
    names = [f"b{number}" for number in range(100)]
    init = " ".join(f"(clear {name}) (on-table {name})" for name in names)
    text = f"(define (problem p) (:domain blocksworld) (:objects {' '.join(names)}) (:init (arm-empty) {init})"
    lines = str(explain(f"{text} (:goal (on b0 b1)))", f"{text} (:goal (on b2 b3)))")).splitlines()
    assert any(line.split() == ["…", f"{201 - MOST_LINES}", "more"] for line in lines)
