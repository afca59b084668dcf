"""Pairs of problems with timed literals, constraints and preferences, in domains with durative actions."""

from __future__ import annotations

from random import Random

import pytest
from pddl_eval import compare_problems, compare_tasks

from tests.judges.timed_pairs import timed_pair, timed_pair_fault
from tests.support.volume import in_two_sizes


@in_two_sizes(40, 2000)
def test_pairs_are_equivalent_where_some_bijection_makes_them_the_same_as_written(cases: int) -> None:
    found = (timed_pair_fault(timed_pair(Random(number))) for number in range(cases))
    assert [fault for fault in found if fault] == []


SHOP = """(define (domain {name}) (:types shop) (:predicates ({open} ?s - shop) (done)) (:functions (price))
  (:durative-action buy :parameters (?s - shop) :duration (= ?duration 2) :condition (over all ({open} ?s))
    :effect (and (at end (done)) (at end (increase (price) 1)))))"""


def shops(init: str, objects: str = "a b", domain: str = "shopping") -> str:
    return f"(define (problem p) (:domain {domain}) (:objects {objects} - shop) (:init {init}) (:goal (done)))"


@pytest.mark.parametrize(
    ("reference", "generated", "detail"),
    [
        (
            "(at 5 (open a))",
            "(at 6 (open a))",
            "lacks (at 5 (open a)) and has (at 6 (open a)), which is not in the reference",
        ),
        ("(at 5 (open a))", "", "lacks (at 5 (open a))"),
        (
            "(at 5 (open a)) (at 7 (open b))",
            "(at 5 (open a)) (at 7 (open a))",
            "lacks (at 7 (open b)) and has (at 7 (open a))",
        ),
        ("(at 5 (= (price) 3))", "(at 5 (= (price) 4))", "lacks (at 5 (= (price) 3))"),
        ("(at 5 (open a))", "(at 5 (not (open a)))", "lacks (at 5 (open a))"),
    ],
)
def test_other_timed_literals_are_another_initial_state(reference: str, generated: str, detail: str) -> None:
    domain = SHOP.format(name="shopping", open="open")
    found = compare_problems(shops(reference), shops(generated), domain=domain)
    assert (found.verdict.value, found.equivalent) == ("init_differs", False)
    assert detail in found.detail


@pytest.mark.parametrize(("later", "is_equivalent"), [("(at 5.0 (offen y))", True), ("(at 6 (offen y))", False)])
def test_timed_literals_in_a_domain_in_other_words(later: str, is_equivalent: bool) -> None:
    domains = SHOP.format(name="shopping", open="open"), SHOP.format(name="kaufen", open="offen")
    problems = shops("(open a) (at 5 (open b))"), shops(f"(offen x) {later}", "x y", "kaufen")
    assert compare_tasks(domains[0], problems[0], domains[1], problems[1]).equivalent is is_equivalent
