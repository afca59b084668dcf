"""Actions that a question names in words, as ACPBench Hard's progression does."""

from __future__ import annotations

import pytest
from pddl_eval import judge_answer

DOMAIN = """(define (domain d) (:predicates (at ?r ?l) (laser ?l) (bomb ?l) (has-laser) (has-bomb) (gone ?l))
  (:action pickup-bomb :parameters (?l) :precondition (bomb ?l) :effect (has-bomb))
  (:action pickup-laser :parameters (?l) :precondition (laser ?l) :effect (has-laser))
  (:action move :parameters (?r ?a ?b) :precondition (at ?r ?a) :effect (and (at ?r ?b) (gone ?a))))"""

PROBLEM = """(define (problem p) (:domain d) (:objects r l0 l1)
  (:init (at r l0) (laser l0) (bomb l0)) (:goal (has-laser)))"""


@pytest.mark.parametrize(
    ("plan", "positive"),
    [
        ("pick up the laser at loc l0", "(has-laser)"),  # Two actions take l0: the names' words tell them apart.
        ("take the Bomb at L0.", "(has-bomb)"),
        ("drive robot r from l0 to l1", "(at r l1), (gone l0)"),
        ("(move r l0 l1)", "(at r l1), (gone l0)"),
        ("move r l0 l1", "(at r l1), (gone l0)"),
    ],
)
def test_the_action_is_the_applicable_one_with_these_objects(plan: str, positive: str) -> None:
    answer = f"Positive effects: [{positive}]. Negative effects: []"
    assert judge_answer("progression", answer, PROBLEM, DOMAIN, plan=plan).verdict == "right"


@pytest.mark.parametrize("plan", ["take it", "drive r to l1", "take the laser at l1", "x " * 1_000, "move r l1 l0"])
def test_words_without_an_applicable_action_are_no_question(plan: str) -> None:
    assert judge_answer("progression", "[(has-laser)] []", PROBLEM, DOMAIN, plan=plan).verdict == "reference_invalid"


def test_only_progression_asks_of_an_action_in_words() -> None:
    verdict = judge_answer("state", "(at r l1)", PROBLEM, DOMAIN, plan="drive robot r from l0 to l1")
    assert verdict.verdict == "reference_invalid"
