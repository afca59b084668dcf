"""Pairs of problems in any PDDL: the program against the judge, and the judge against facts set out by hand.

The long run is ``tests.measure.pairs_any``.
"""

from __future__ import annotations

from collections import Counter

import pytest

from tests.judges.equivalence import Answer, Side, compared
from tests.judges.pair_agreement import AGREE, UNDECIDED, WRONG, findings
from tests.judges.pairs import pair
from tests.support.volume import in_two_sizes


@in_two_sizes(20, 2_000)
def test_pairs_are_decided_as_the_definitions_say(cases: int) -> None:
    seen: Counter[str] = Counter()
    for number in range(cases):
        drawn = pair(number, seed=27)
        for found in findings(drawn):
            assert found.outcome != WRONG, (number, found, drawn.reference, drawn.generated)
            seen[found.outcome] += 1
            seen["yes"] += found.check.endswith(" typed") and bool(found.judged)
    assert seen[AGREE] > 5 * cases and cases / 5 < seen["yes"] < 4 * cases / 5 and seen[UNDECIDED] <= 1 + cases / 50, (
        seen
    )


# --- The judge -------------------------------------------------------------------------------------------------------

SWITCHES = """(define (domain switches) (:requirements :adl :numeric-fluents) (:types switch)
 (:predicates (up ?s - switch) (beside ?s ?t - switch)) (:functions (flips) (weight ?s - switch))
 (:action flip :parameters (?s - switch) :precondition (not (up ?s)) :effect (up ?s))
 (:action reset :parameters (?s - switch) :precondition (up ?s) :effect (not (up ?s)))
 (:action both :parameters (?s ?t - switch) :precondition (and (beside ?s ?t) (not (= ?s ?t)))
  :effect (and (up ?s) (up ?t))))"""

START = "(define (problem p) (:domain switches) (:objects a b - switch) (:init {}) (:goal {}) {})"


def answer(left: tuple[str, ...], right: tuple[str, ...], is_placeholder: bool = False, types: bool = True) -> Answer:
    texts = [START.format(*each, *[""] * (3 - len(each))) for each in (left, right)]
    reference, generated = (Side(SWITCHES, text, types) for text in texts)
    return compared(reference, generated, is_placeholder)


YES, NO_INIT, NO_GOAL = Answer(True, ""), Answer(False, "init"), Answer(False, "goal")


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        (("", "(up a)"), ("", "(up b)"), YES),  # The two are alike.
        (("(up a)", "(up a)"), ("(up a)", "(up b)"), NO_GOAL),
        (("", "(up a)"), ("(up a)", "(up a)"), NO_INIT),
        (("", "(up a)"), ("", "(not (up a))"), NO_GOAL),
        (("", "(not (up a))"), ("", "(imply (up a) (not (up a)))"), YES),
        (("", "(or (up a) (up b))"), ("", "(not (forall (?s - switch) (not (up ?s))))"), YES),
        (("", "(up a)"), ("", "(and (up a) (not (beside a b)))"), YES),  # Never true: it follows.
        (("(= (flips) 1)", "(up a)"), ("(= (flips) 1.0)", "(up a)"), YES),
        (("(= (flips) 1)", "(up a)"), ("(= (flips) 2)", "(up a)"), NO_INIT),
        (("(= (flips) 1)", "(up a)"), ("", "(up a)"), NO_INIT),
        (("(= (weight a) 1)", "(up a)"), ("(= (weight b) 1)", "(up b)"), YES),
        (("(= (weight a) 1)", "(up a)"), ("(= (weight b) 1)", "(up a)"), NO_GOAL),
        (("", "(up a)", "(:metric minimize (flips))"), ("", "(up a)", "(:metric maximize (flips))"), NO_INIT),
        (("", "(up a)", "(:metric minimize (weight a))"), ("", "(up b)", "(:metric minimize (weight b))"), YES),
        (("", "(up a)", "(:metric minimize (weight a))"), ("", "(up a)", "(:metric minimize (weight b))"), NO_GOAL),
        (("", "(up a)"), ("", "(and (up a) (beside a b))"), Answer(False, "unsolvable")),
    ],
)
def test_what_the_judge_says(left: tuple[str, ...], right: tuple[str, ...], expected: Answer) -> None:
    assert answer(left, right) == expected
    other_way = answer(right, left)
    assert other_way.equivalent == expected.equivalent


def test_placeholders_have_two_bijections() -> None:
    left, right = ("(up a)", "(up a)"), ("(up a)", "(up b)")
    assert answer(left, right) == NO_GOAL
    assert answer(left, right, is_placeholder=True).equivalent
    # As sets of atoms both closed goals are one atom; the literal makes them differ.
    left, right = ("", "(and (up a) (not (up b)))"), ("", "(up a)")
    assert not answer(left, right, is_placeholder=True).equivalent


def test_without_types_all_objects_are_alike() -> None:
    domain = (
        "(define (domain d) (:types s t) (:predicates (up ?x - s)) (:action go :parameters (?x - s) :effect (up ?x)))"
    )
    one, other = (
        f"(define (problem p) (:domain d) (:objects a - s b - {kind}) (:init) (:goal (up a)))" for kind in "ts"
    )
    for types, expected in ((True, Answer(False, "types")), (False, YES)):
        assert compared(Side(domain, one, types), Side(domain, other, types), False) == expected


def test_too_many_states_leave_what_is_easy() -> None:
    sides = [Side(SWITCHES, START.format("", f"(up {name})", ""), limit=1) for name in "ab"]
    assert compared(*sides, False) == YES
    other = Side(SWITCHES, START.format("", "(not (up a))", ""), limit=1)
    assert compared(sides[0], other, False) == Answer(None, "")
    assert compared(sides[0], Side(SWITCHES, START.format("(up a)", "(up a)", ""), limit=1), False) == NO_INIT
