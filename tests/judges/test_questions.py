"""The judge of questions on tasks that can be done by hand."""

from __future__ import annotations

import pytest

from tests.judges.questions import NoKey, right_answers

SWITCHES = """(define (domain switches)
  (:requirements :strips :negative-preconditions :derived-predicates :action-costs)
  (:predicates (up ?s) (down ?s) (broken ?s) (all-up))
  (:functions (total-cost))
  (:derived (all-up) (forall (?s) (up ?s)))
  (:action flip :parameters (?s) :precondition (and (down ?s) (not (broken ?s)))
    :effect (and (up ?s) (not (down ?s)) (increase (total-cost) 1)))
  (:action kick :parameters (?s) :precondition (down ?s)
    :effect (and (up ?s) (not (down ?s)) (broken ?s) (increase (total-cost) 3))))"""

PROBLEM = """(define (problem p) (:domain switches) (:objects a b)
  (:init (down a) (up b) (= (total-cost) 0)) (:goal (all-up)) (:metric minimize (total-cost)))"""

FLIP, KICK = ("flip", "a"), ("kick", "a")
AFTER = frozenset({("up", "a"), ("up", "b"), ("all-up",)})


@pytest.mark.parametrize(
    ("question", "plan", "right"),
    [
        ("applicable", [], {frozenset({FLIP, KICK})}),
        ("applicable", [FLIP], {frozenset()}),
        ("state", [FLIP], {AFTER}),
        ("progression", [FLIP], {(frozenset({("up", "a"), ("all-up",)}), frozenset({("down", "a")}))}),
        ("trace", [FLIP], {(AFTER,)}),
        ("executability", [FLIP], {None}),
        ("executability", [FLIP, KICK], {1}),
        ("validity", [FLIP], {(True, None, None)}),
        ("validity", [], {(False, None, each) for each in (None, ("all-up",), ("not", "all-up"))}),
        ("unreachable_atom", [], {("down", "b"), ("broken", "b")}),
        ("unreachable_action", [], {("flip", "b"), ("kick", "b")}),
        ("justification", [FLIP], {None}),
        ("landmark", [], {("up", "a")}),
        ("next_action", [], {FLIP}),
        ("next_action", [FLIP], {None}),
    ],
)
def test_the_right_answers_are_those_found_by_hand(
    question: str, plan: list[tuple[str, ...]], right: set[object]
) -> None:
    assert right_answers(question, SWITCHES, PROBLEM, plan) == right


def test_a_plan_that_is_not_valid_for_two_reasons() -> None:
    asked = PROBLEM.replace("(all-up))", "(and (all-up) (not (broken a))))")
    unmet = {literal for _, _, literal in right_answers("validity", SWITCHES, asked, [KICK])}
    assert unmet == {None, ("not", "broken", "a"), ("broken", "a")}
    assert right_answers("validity", SWITCHES, asked, [FLIP, KICK]) == {
        (False, index, literal) for index in (None, 1) for literal in (None, ("down", "a"), ("not", "down", "a"))
    }


@pytest.mark.parametrize("question", ["applicable", "state", "trace", "progression", "next_action", "landmark"])
def test_no_key_where_the_prefix_cannot_be_executed(question: str) -> None:
    with pytest.raises(NoKey):
        right_answers(question, SWITCHES, PROBLEM, [FLIP, FLIP])


def test_what_only_one_action_can_do_is_left_in_the_plan() -> None:
    problem = PROBLEM.replace("(up b)", "(down b)").replace("(all-up))", "(up a))")
    plan = [("flip", "b"), FLIP]
    assert right_answers("justification", SWITCHES, problem, plan) == {(FLIP,)}
