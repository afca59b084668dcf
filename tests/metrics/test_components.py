"""Text2World's component-wise F1 on parsed atoms: computed by hand, and what its published code counts otherwise."""

from __future__ import annotations

import pytest
from pddl_eval import compare_domains
from pddl_eval.definition.metrics.components import COLUMNS, component_f1
from pddl_eval.definition.pddl import parse_domain

FERRY = """(define (domain ferry) (:types car port) (:predicates (at ?c - car ?p - port) (at-ferry ?p - port) (empty))
  (:action sail :parameters (?from ?to - port) :precondition (and (at-ferry ?from) (not (= ?from ?to)))
    :effect (and (at-ferry ?to) (not (at-ferry ?from))))
  (:action board :parameters (?c - car ?p - port) :precondition (and (at ?c ?p) (at-ferry ?p) (empty))
    :effect (and (not (at ?c ?p)) (not (empty)))))"""


def f1(generated: str, reference: str = FERRY) -> list[float]:
    return component_f1(parse_domain(reference), parse_domain(generated))


@pytest.mark.parametrize(
    ("was", "is_", "expected"),
    [
        ("", "", [1, 1, 1, 1]),
        ("?from", "?x", [1, 1, 1, 1]),
        ("(= ?from ?to)", "(= ?to ?from)", [1, 1, 1, 1]),
        ("(define (domain ferry)", "(define (domain other)", [1, 1, 1, 1]),
        # One predicate of three is another; its atoms in one precondition of three and one effect of two.
        ("(empty)", "(free)", [2 / 3, 1, (1 + 2 / 3) / 2, (1 + 1 / 2) / 2]),
        # As many arguments as before, whatever their types.
        ("(at ?c - car ?p - port)", "(at ?c ?p)", [1, 1, 1, 1]),
        ("(at ?c - car ?p - port)", "(at ?c - car)", [2 / 3, 1, 1, 1]),
        (":parameters (?from ?to - port)", ":parameters (?from ?to)", [1, 1 / 2, 1, 1]),
        (":parameters (?from ?to - port)", ":parameters (?from ?to - port ?c - car)", [1, (4 / 5 + 1) / 2, 1, 1]),
        (":parameters (?from ?to - port)", ":parameters (?to ?from - port)", [1, 1, (1 / 2 + 1) / 2, 1 / 2]),
        # A literal turned into its negation is another one.
        ("(not (at-ferry ?from))", "(at-ferry ?from)", [1, 1, 1, (1 / 2 + 1) / 2]),
        ("(and (at ?c ?p) (at-ferry ?p) (empty))", "(at ?c ?p)", [1, 1, (1 + 1 / 2) / 2, 1]),
        ("(and (at ?c ?p) (at-ferry ?p) (empty))", "()", [1, 1, 1 / 2, 1]),
        ("(:action board", "(:action embark", [1, 1 / 2, 1 / 2, 1 / 2]),
        ("(:action sail", "(:action rest :effect ()) (:action sail", [1, 1, 1, 1]),
    ],
)
def test_by_hand(was: str, is_: str, expected: list[float]) -> None:
    assert f1(FERRY.replace(was, is_) if was else FERRY) == pytest.approx(expected)


def test_nothing_on_both_sides_is_1() -> None:
    """As in Text2World's code."""
    still = "(define (domain d) (:action wait :effect ()))"
    assert f1(still, still) == [1.0] * 4


def test_where_the_published_code_differs() -> None:
    """It splits the printed precondition at ``and``, whatever holds it; here names may hold it."""
    land = "(define (domain d) (:action go :parameters (?x) :precondition (and (island ?x) (handy ?x)) :effect ()))"
    assert f1(land.replace("(island ?x) (handy ?x)", "(handy ?x) (isthmus ?x)"), land)[2] == 1 / 2
    # It gives all operators 0 where one is missing, and counts parameters by their names.
    assert f1(FERRY.replace("(:action board", "(:action embark").replace("?to", "?x"))[1:] == [1 / 2] * 3


def test_what_cannot_be_read_scores_0() -> None:
    for generated in (None, "", "(define (domain"):
        scores = compare_domains(FERRY, generated)
        assert [getattr(scores, column.name) for column in COLUMNS] == [0.0] * 4
