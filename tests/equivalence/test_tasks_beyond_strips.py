"""Tasks beyond STRIPS in other words: formulas, numbers and the metric are read under the renaming of the domains."""

from __future__ import annotations

import re

import pytest
from pddl_eval import compare_problems, compare_tasks

from tests.judges.pairs import pair
from tests.volume import in_two_sizes

ROADS = """(define (domain roads) (:types car place) (:predicates (at ?c - car ?p - place) (washed ?c - car))
  (:functions (fuel ?c - car) (far ?a ?b - place) (total-cost))
  (:action go :parameters (?c - car ?a ?b - place) :precondition (and (at ?c ?a) (>= (fuel ?c) (far ?a ?b)))
    :effect (and (not (at ?c ?a)) (at ?c ?b) (decrease (fuel ?c) (far ?a ?b)) (increase (total-cost) (far ?a ?b))))
  (:action wash :parameters (?c - car) :effect (washed ?c)))"""
TRIP = """(define (problem p) (:domain roads) (:objects c - car x y - place)
  (:init (at c x) (= (fuel c) 5) (= (far x y) 3) (= (far y x) 4))
  (:goal (and (not (at c x)) (forall (?c - car) (>= (fuel ?c) 2)))) (:metric minimize (total-cost)))"""

KEPT = frozenset(
    """define domain problem and or not imply forall exists when increase decrease assign scale-up scale-down object
    number either total-cost total-time minimize maximize = < > <= >= + - * /""".split()  # noqa: SIM905 (a long list)
)


def in_other_words(text: str, words: dict[str, str]) -> str:
    """The text with other names for all that has a name."""

    def other(match: re.Match[str]) -> str:
        word = match[0]
        if word in KEPT or word[0] in ":?" or re.fullmatch(r"-?[\d.]+", word):
            return word
        return words.setdefault(word, f"w{len(words)}")

    return re.sub(r"[^\s()]+", other, re.sub(r";[^\n]*", "", text.lower()))


@pytest.mark.parametrize(
    ("old", "new", "equivalent"),
    [
        ("", "", True),
        ("(>= (fuel ?c) 2)", "(not (< (fuel ?c) 2.0))", True),
        ("(not (at c x))", "(at c y)", True),
        ("(= (far x y) 3)", "(= (far x y) 2)", False),
        ("(>= (fuel ?c) 2)", "(>= (fuel ?c) 3)", False),
        ("minimize", "maximize", False),
        ("(:metric minimize (total-cost))", "", False),
    ],
)
def test_a_task_with_numbers_in_other_words(old: str, new: str, equivalent: bool) -> None:
    words: dict[str, str] = {}
    domain, problem = (in_other_words(each, words) for each in (ROADS, TRIP.replace(old, new)))
    found = compare_tasks(ROADS, TRIP, domain, problem)
    assert found.equivalent is equivalent, found.detail
    if equivalent:
        assert found.renaming is not None and found.object_map is not None
        assert found.renaming.functions[words["far"], 2][0] == "far"
        assert found.object_map[words["x"]] == "x"


def test_a_cost_by_another_name_is_another_function() -> None:
    """(total-cost) need not be given a value, any other function has to."""
    words: dict[str, str] = {}
    domain, problem = (in_other_words(each, words).replace("total-cost", "price") for each in (ROADS, TRIP))
    assert compare_tasks(ROADS, TRIP, domain, problem).equivalent is False


def test_where_a_domain_has_several_renamings_one_no_proves_nothing() -> None:
    """Hot and cold can be exchanged, and with them the problems are the same."""
    domain = """(define (domain taps) (:predicates (hot) (cold))
      (:action heat :precondition (not (hot)) :effect (hot))
      (:action cool :precondition (not (cold)) :effect (cold)))"""
    problem = "(define (problem p) (:domain taps) (:init) (:goal (or {0} (and (hot) (cold)))))"
    hot, cold = problem.format("(hot)"), problem.format("(cold)")
    assert compare_tasks(domain, hot, domain, hot).equivalent is True
    assert compare_tasks(domain, hot, domain, cold).equivalent is not False


@in_two_sizes(15, 400)
def test_pairs_in_other_words_are_what_they_are_in_the_same(cases: int) -> None:
    """``compare_problems`` is held to the judge elsewhere (``tests.measure.pairs_any``)."""
    decided = 0
    for number in range(cases):
        drawn, words = pair(number, 8), dict[str, str]()
        text = drawn.story.text
        same = compare_problems(drawn.reference, drawn.generated, domain=text, is_placeholder=drawn.is_placeholder)
        other = [in_other_words(each, words) for each in (text, drawn.generated)]
        found = compare_tasks(text, drawn.reference, *other, is_placeholder=drawn.is_placeholder)
        if same.verdict != "reference_invalid" and found.equivalent is not None:
            assert found.equivalent is same.equivalent, (number, drawn, found.detail)
            decided += 1
    assert decided > cases / 2
