"""Constraints on trajectories and preferences (PDDL 3)."""

from __future__ import annotations

from fractions import Fraction

import pytest
from pddl_eval import validate
from pddl_eval.definition.trajectory import NEVER, breaking

TIMES = [Fraction(time) for time in (0, 2, 4, 6)]


def truth(said: str) -> list[bool]:
    return [each == "1" for each in said]


@pytest.mark.parametrize(
    ("constraint", "p", "q", "state"),
    [
        ("at end", "0001", "", None),
        ("at end", "1110", "", 3),
        ("always", "1111", "", None),
        ("always", "1101", "", 2),
        ("sometime", "0010", "", None),
        ("sometime", "0000", "", NEVER),
        ("within 4", "0010", "", None),
        ("within 3.9", "0011", "", NEVER),
        ("at-most-once", "0110", "", None),
        ("at-most-once", "1011", "", 2),
        ("sometime-after", "0100", "0010", None),
        ("sometime-after", "0100", "0100", None),
        ("sometime-after", "0110", "0100", 2),
        ("sometime-after", "0000", "0000", None),
        ("sometime-before", "0010", "0100", None),
        ("sometime-before", "0110", "0100", 1),
        ("sometime-before", "1000", "1000", 0),
        ("always-within 2", "0100", "0010", None),
        ("always-within 1", "0100", "0010", 1),
        ("always-within 2", "1001", "0100", 3),
        ("hold-during 2 4", "0100", "", None),
        ("hold-during 2 4.5", "0100", "", 2),
        ("hold-during 3 4", "0100", "", None),
        ("hold-during 1 4", "0100", "", 0),
        ("hold-after 3", "0111", "", None),
        ("hold-after 3", "0011", "", 1),
        ("hold-after 100", "0001", "", None),
        ("hold-after 100", "1110", "", 3),
    ],
)
def test_modal_operators(constraint: str, p: str, q: str, state: int | None) -> None:
    """The states begin at the times 0, 2, 4 and 6 (Gerevini et al. 2009, figure 1)."""
    formula = (*constraint.split(), *[("p",), ("q",)][: 1 + bool(q)])
    assert breaking(formula, TIMES, *map(truth, filter(None, (p, q)))) == state


DOMAIN = """(define (domain lamps) (:types lamp) (:predicates (lit ?l - lamp) (seen ?l - lamp)) {}
  (:action on :parameters (?l - lamp) :effect (lit ?l)) (:action off :parameters (?l - lamp) :effect (not (lit ?l)))
  (:action see :parameters (?l - lamp) :precondition (preference in-light (lit ?l)) :effect (seen ?l)))"""


def problem(constraints: str, metric: str = "") -> str:
    return f"""(define (problem p) (:domain lamps) (:objects a b - lamp) (:init) (:goal (seen a))
      (:constraints {constraints}) {metric})"""


def test_constraints_of_domain_and_problem() -> None:
    domain = DOMAIN.format("(:constraints (forall (?l - lamp) (at-most-once (lit ?l))))")
    asked = problem("(and (sometime (lit b)) (always (imply (seen a) (lit a))))")
    assert validate("(on b) (on a) (see a)", asked, domain).valid
    found = validate("(on a) (off a) (on a) (see a)", asked, domain)
    assert (found.verdict.value, found.failed_step, found.goal_reached) == ("constraint", None, True)
    assert found.constraint_share == 0.5
    assert "(at-most-once (lit a)) does not hold after step 3" in found.detail
    assert "the plan ends" in validate("(on a) (see a)", asked, domain).detail


def test_constraints_of_a_plan_that_fails_are_those_on_the_states_before() -> None:
    """As ``goal_share`` is that of the last state: lit a second time it would break the second one."""
    asked = problem("(and (sometime (lit a)) (at-most-once (lit a)) (sometime (lit b)) (always (not (lit b))))")
    found = validate("(on a) (off a) (sing a) (on a) (on b)", asked, DOMAIN.format(""))
    assert (found.verdict.value, found.failed_step, found.constraint_share) == ("unknown_action", 3, 0.75)


def test_times_of_steps() -> None:
    """Without times the steps are at 1, 2, 3 …; times that the plan gives count."""
    asked = problem("(within 2 (lit a))")
    assert (
        "does not hold: it is not true by step 2"
        in validate("(on b) (off b) (on a) (see a)", asked, DOMAIN.format("")).detail
    )
    domain = DOMAIN.format("")
    assert validate("(on b) (on a) (see a)", asked, domain).valid
    assert not validate("(on b) (off b) (on a) (see a)", asked, domain).valid
    assert not validate("1: (on b)\n2.5: (on a)\n3: (see a)", asked, domain).valid


def test_preferences_on_trajectories() -> None:
    metric = "(:metric minimize (+ (* 4 (is-violated each)) (+ (* 2 (is-violated all)) (is-violated in-light))))"
    asked = problem(
        "(and (forall (?l - lamp) (preference each (sometime (lit ?l))))"
        " (preference all (forall (?l - lamp) (sometime (seen ?l)))))",
        metric,
    )
    domain = DOMAIN.format("")
    assert validate("(see a) (see a)", asked, domain).cost == 2 * 4 + 2 + 2
    assert validate("(on a) (see a) (see b)", asked, domain).cost == 4 + 1
    assert validate("(on a) (on b) (see a) (see b)", asked, domain).cost == 0


@pytest.mark.parametrize(
    "constraints", ["(always (sometime (lit a)))", "(or (always (lit a)) (sometime (lit b)))", "(within soon (lit a))"]
)
def test_what_pddl_3_does_not_have_is_named(constraints: str) -> None:
    assert validate("(see a)", problem(constraints), DOMAIN.format("")).verdict == "undecided"
