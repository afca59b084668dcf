"""The judge of time and trajectories on cases that can be done by hand, and the program against it.

The long run is ``tests.measure.temporal``.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from random import Random

import pytest

from tests.judges.agreement import timed_difference
from tests.judges.interpreter import State, Task, tree_of
from tests.judges.trajectories import Fault, Judgement, Moment, Step, holds_on, judge
from tests.support.random_trajectories import Case, cases, plan_text, trajectory
from tests.support.volume import in_two_sizes

LAMP = """(define (domain lamp) (:requirements :durative-actions :timed-initial-literals :preferences)
  (:predicates (power) (lit ?l) (read ?l))
  (:durative-action shine :parameters (?l) :duration (and (>= ?duration 2) (<= ?duration 5))
    :condition (over all (power)) :effect (and (at start (lit ?l)) (at end (not (lit ?l)))))
  (:durative-action study :parameters (?l) :duration (= ?duration 1)
    :condition (and (at start (lit ?l)) (over all (lit ?l))) :effect (at end (read ?l))))"""

PROBLEM = """(define (problem p) (:domain lamp) (:objects a b) (:init (power) (at 6 (not (power))))
  (:goal (read a)) (:constraints (and (within 4 (read a)) (preference w (always (not (lit b))))))
  (:metric minimize (+ (total-time) (* 10 (is-violated w)))))"""


def judged(*steps: tuple[str, str, str | None]) -> Judgement:
    return judge(LAMP, PROBLEM, [Step(Fraction(t), tuple(a.split()), Fraction(d) if d else None) for t, a, d in steps])


def fault(verdict: str, step: int | None) -> frozenset[Fault]:
    return frozenset({Fault(verdict, step)})


def test_one_action_within_another() -> None:
    found = judged(("0", "shine a", "3"), ("1", "study a", "1"))
    assert found.valid
    assert (found.cost, found.share, [moment.time for moment in found.path]) == (3, 1, [0, 0, 1, 2, 3, 6])


@pytest.mark.parametrize(
    ("steps", "faults"),
    [
        ([("0", "shine a", "3"), ("2.5", "study a", "1")], fault("invariant", 2)),
        ([("0", "shine a", "3"), ("0", "study a", "1")], fault("precondition", 1)),
        ([("0", "shine a", "3"), ("1", "study a", "1.002")], fault("duration", 2)),
        ([("0", "shine a", None)], fault("duration", 1)),
        ([("5", "shine a", "3")], fault("invariant", 1)),
        ([("0", "shine a", "3")], fault("constraint", None)),
        ([("2", "shine a", "3"), ("3.5", "study a", "1")], fault("constraint", None)),
    ],
)
def test_what_is_wrong(steps: Sequence[tuple[str, str, str | None]], faults: frozenset[Fault]) -> None:
    assert judged(*steps).faults & faults == faults


@pytest.mark.parametrize(
    ("duration", "asked", "right"),
    [
        *[("2.001", "(<= ?duration 2)", True), ("2.0011", "(<= ?duration 2)", False)],
        *[("1.999", "(>= ?duration 2)", True), ("1.9989", "(>= ?duration 2)", False)],
        *[("2.0009", "(= ?duration 2)", True), ("2.001", "(= ?duration 2)", False)],
    ],
)
def test_how_far_a_duration_may_be_off(duration: str, asked: str, right: bool) -> None:
    """As far as for VAL: less than the tolerance from an equation, up to it from a bound."""
    domain = LAMP.replace("(= ?duration 1)", asked)
    plan = [Step(Fraction(0), ("shine", "a"), Fraction(5)), Step(Fraction(1), ("study", "a"), Fraction(duration))]
    assert (judge(domain, PROBLEM, plan).faults == fault("duration", 2)) is not right


def test_what_ends_together_is_not_asked_for_at_the_end() -> None:
    """The invariant of the inner action counts until before its end, at which the outer one ends, too."""
    assert judged(("0", "shine a", "3"), ("2", "study a", "1")).valid


def test_a_preference_costs_what_the_metric_says() -> None:
    found = judged(("0", "shine a", "3"), ("1", "study a", None), ("1.5", "shine b", "2"))
    assert (found.valid, found.violated["w"], found.cost) == (True, 1, Fraction("13.5"))


@pytest.mark.parametrize(
    ("constraint", "holds"),
    [
        ("(at-most-once (p))", False),
        ("(at-most-once (q))", True),
        ("(sometime-before (q) (p))", True),
        ("(sometime-before (p) (q))", False),
        ("(sometime-after (p) (p))", True),
        ("(sometime-after (p) (q))", False),
        ("(within 1.9 (q))", False),
        ("(within 2 (q))", True),
        ("(always-within 2 (not (p)) (p))", True),
        ("(always-within 1 (q) (p))", False),
        ("(hold-during 1 2 (p))", True),
        ("(hold-during 1.5 2.5 (p))", False),
        ("(hold-during 2 4 (q))", True),
        ("(hold-after 4 (p))", True),
        ("(hold-after 3.9 (p))", False),
        ("(hold-after 9 (p))", True),
        ("(at end (and (p) (not (q))))", True),
    ],
)
def test_a_trajectory_by_hand(constraint: str, holds: bool) -> None:
    """``p`` is true from 1 to 2 and from 4, ``q`` from 2 to 4."""
    states = [(0, ""), (1, "p"), (2, "q"), (4, "p")]
    path = [Moment(Fraction(time), State(frozenset({(name,)}), {})) for time, name in states]
    assert holds_on(Task(), tree_of(constraint), path) is holds


# --- The program against the judge -----------------------------------------------------------------------------------


def check(case: Case) -> None:
    right = judge(case.domain, case.problem, case.steps)
    plan = plan_text(case)
    difference = timed_difference(plan, case.problem, case.domain, right)
    assert not difference, f"{case.how}: {difference}\n{case.domain}\n{case.problem}\n{plan}"


@in_two_sizes(25, 5_000)
def test_trajectories_are_judged_as_the_definitions_say(cases: int) -> None:
    for number in range(cases):
        check(trajectory(Random(f"39 {number}")))


@in_two_sizes(2, 300)
def test_plans_with_times_are_judged_as_the_definitions_say(cases: int) -> None:
    for number in range(cases):
        for case in drawn(number):
            check(case)


def drawn(number: int) -> list[Case]:
    return list(cases(number, seed=39))


SHORT = """(define (domain short) (:requirements :durative-actions :duration-inequalities :numeric-fluents)
  (:predicates (on) (done ?x)) (:functions (length))
  (:durative-action fixed :parameters (?x) :duration (= ?duration (length))
    :condition (at end (on)) :effect (and (at start (on)) (at end (done ?x))))
  (:durative-action free :parameters (?x) :duration (>= ?duration 0.5) :condition (and) :effect (at end (done ?x))))"""

SHORT_PROBLEM = """(define (problem p) (:domain short) (:objects a) (:init (= (length) 0) (at 1 (on)) (at 2 (not (on))))
  (:goal (done a)))"""


@pytest.mark.parametrize(
    ("plan", "verdict"),
    [
        ([("3", "fixed a", "0")], "precondition"),
        ([("3", "fixed a", None)], "precondition"),
        ([("1.5", "fixed a", None)], "interference"),
        ([("0.001", "free a", "4"), ("0.001", "free a", "0.0005")], "duration"),
        ([("0.001", "free a", "0.0005"), ("0.001", "free a", "4")], "duration"),
        ([("0.001", "free a", "2"), ("0.001", "free a", "4")], "valid"),
        ([("0.001", "free a", "2"), ("0.001", "free a", "2")], "valid"),
    ],
)
def test_what_takes_no_time_and_what_begins_twice_at_once(
    plan: Sequence[tuple[str, str, str | None]], verdict: str
) -> None:
    """An end within the tolerance belongs to the happening; with another duration an action is another one."""
    steps = [Step(Fraction(t), tuple(a.split()), Fraction(d) if d else None) for t, a, d in plan]
    right = judge(SHORT, SHORT_PROBLEM, steps)
    assert {each.verdict for each in right.faults} == ({verdict} - {"valid"})
    check(Case("by hand", SHORT, SHORT_PROBLEM, tuple(steps)))
