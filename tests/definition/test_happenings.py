"""Plans with times: durative actions, timed literals, what happens together and what comes when nothing is said."""

from __future__ import annotations

from fractions import Fraction

import polars as pl
import pytest
from pddl_eval import score_frame, validate
from pddl_eval.definition.model import problem_to_pddl
from pddl_eval.definition.pddl import parse_domain, parse_problem
from pddl_eval.definition.verdict import PlanVerdict

DOMAIN = """(define (domain depot) (:requirements :durative-actions :typing :numeric-fluents :timed-initial-literals)
  (:types place truck) (:constants home shop - place)
  (:predicates (at ?t - truck ?p - place) (open ?p - place) (free ?t - truck) (paid))
  (:functions (distance ?from ?to - place) (fuel ?t - truck))
  (:durative-action drive :parameters (?t - truck ?from ?to - place) :duration (= ?duration (distance ?from ?to))
    :condition (and (at start (and (at ?t ?from) (free ?t))) (over all (open ?to)) (at start (>= (fuel ?t) ?duration))
      (at end (preference arrives-paid (paid))))
    :effect (and (at start (not (at ?t ?from))) (at start (not (free ?t))) (at end (at ?t ?to)) (at end (free ?t))
      (at end (decrease (fuel ?t) ?duration))))
  (:durative-action rest :parameters (?t - truck) :duration (and (>= ?duration 1) (<= ?duration 10))
    :condition (at start (free ?t)) :effect (and (at start (not (free ?t))) (at end (free ?t))))
  (:action close :parameters (?p - place) :precondition (open ?p) :effect (not (open ?p)))
  (:action pay :effect (paid)))"""


def problem(init: str = "", more: str = "", goal: str = "(at t shop)") -> str:
    return f"""(define (problem p) (:domain depot) (:objects t - truck)
      (:init (at t home) (free t) (open shop) {init}
        (= (distance home shop) 5) (= (distance shop home) 4) (= (fuel t) 20))
      (:goal (and {goal})) {more})"""


@pytest.mark.parametrize(
    ("plan", "verdict", "step"),
    [
        ("0: (drive t home shop) [5]", "valid", None),
        ("0: (drive t home shop)", "valid", None),
        ("(drive t home shop)", "valid", None),
        ("t=2 (drive t home shop) [5.000]", "valid", None),
        ('[{"name": "drive", "args": ["t", "home", "shop"], "start": 0.5, "duration": 5}]', "valid", None),
        ('[{"action": "(drive t home shop)", "time": 0.5, "duration": 5}]', "valid", None),
        ('[{"action": "(drive t home shop)", "time": 0.5, "duration": 6}]', "duration", 1),
        ('[{"action": "rest", "args": ["t"], "start_time": 1, "end_time": 3}]', "goal_not_reached", None),
        ('[{"action": "rest", "args": ["t"], "start_time": 1, "end_time": 30}]', "duration", 1),
        (
            "; Version LPG-td-1.4\n; Time 0.02\n; MetricValue 5.00\n\n0.0003:   (DRIVE T HOME SHOP) [5.0000]",
            "valid",
            None,
        ),
        ("; MakeSpan 5.00\n\n0.0002:   (DRIVE T HOME SHOP) [5.0000])", "valid", None),  # up-lpg's file
        ("0.00100000: (drive t home shop) [5.00000000]", "valid", None),  # TFD
        (
            ";;;; Solution Found\n; Cost: 5.000\n; Time 0.00\n0.000: (drive t home shop)  [5.000]",
            "valid",
            None,
        ),  # OPTIC
        ("TimeTriggeredPlan:\n    0.0: drive(t, home, shop) [5.0]", "valid", None),  # Tamer and Aries
        ("(rest t) [3]\n(drive t home shop)", "valid", None),
        ("0: (rest t)\n4: (drive t home shop) [5]", "duration", 1),
        ("0: (rest t) [11]\n12: (drive t home shop) [5]", "duration", 1),
        ("0: (rest t) [10.001]\n12: (drive t home shop) [5]", "valid", None),
        ("0: (drive t home shop) [5.002]", "duration", 1),
        ("0: (drive t home shop) [5]\n4.9: (rest t) [1]", "precondition", 2),
        ("0: (drive t home shop) [5]\n5: (rest t) [1]", "precondition", 2),
        ("0: (drive t home shop) [5]\n5.001: (rest t) [1]", "valid", None),
        ("0: (drive t home shop) [5]\n3: (close shop)", "invariant", 1),
        ("0: (drive t home shop) [5]\n5: (close shop)", "valid", None),
        ("0: (close shop)\n1: (drive t home shop) [5]", "invariant", 2),
        ("0: (drive t home shop) [5]\n0: (close shop)", "invariant", 1),
        ("0: (rest t) [2]", "goal_not_reached", None),
        ("0: (fly t) [2]", "unknown_action", 1),
        ("0: (drive t shop shop) [2]", "duration", 1),
    ],
)
def test_plans_with_times(plan: str, verdict: str, step: int | None) -> None:
    """The durations of a plan may be off by VAL's tolerance; conditions over all hold from after the start on."""
    found = validate(plan, problem(), DOMAIN)
    assert (found.verdict.value, found.failed_step) == (verdict, step)


@pytest.mark.parametrize(
    ("init", "start", "verdict"),
    [
        ("(at 3 (not (open shop)))", 0, "invariant"),
        ("(at 5 (not (open shop)))", 0, "valid"),
        ("(at 1 (not (open shop))) (at 4 (open shop))", 3, "invariant"),
        ("(at 1 (not (open shop))) (at 4 (open shop))", 4, "valid"),
        ("(at 7 (= (fuel t) 1)) (at 8 (not (at t shop)))", 0, "goal_not_reached"),
        ("(at 2 (= (fuel t) 4))", 3, "precondition"),
        ("(at 0 (= (distance home shop) 5))", 0, "interference"),
    ],
)
def test_timed_literals_happen_whatever_the_plan(init: str, start: int, verdict: str) -> None:
    """Also after its last action, as for VAL; one at the time of an action is a concurrent one."""
    assert validate(f"{start}: (drive t home shop) [5]", problem(init), DOMAIN).verdict.value == verdict


def test_a_problem_is_written_with_each_timed_literal_once() -> None:
    constants = parse_domain(DOMAIN).constants
    read = parse_problem(problem("(at 3 (not (open shop)))"), constants)
    assert problem_to_pddl(read).count("(at 3 (not (open shop)))") == 1
    assert parse_problem(problem_to_pddl(read), constants) == read


def test_an_invariant_says_what_broke_it_and_when() -> None:
    found = validate("0: (drive t home shop) [5]\n2.5: (close shop)", problem(), DOMAIN)
    assert found.missing == (("open", "shop"),)
    assert "(close shop), at time 2.5" in found.detail


def test_what_comes_too_late_is_named() -> None:
    """LPG leaves 0.0002 between actions; as for VAL, that is one time unless ``-t`` says otherwise."""
    found = validate("0: (drive t home shop) [5]\n5.0002: (rest t) [1]", problem(), DOMAIN)
    assert (found.verdict, found.missing) == ("precondition", (("free", "t"),))
    assert "(drive t home shop) ends" in found.detail
    assert "ends" not in validate("0: (drive t home shop) [5]\n4: (rest t) [1]", problem(), DOMAIN).detail


def test_the_makespan_is_total_time() -> None:
    metric = "(:metric minimize (+ (* 2 (total-time)) (fuel t)))"
    found = validate("1.5: (drive t home shop) [5]", problem("(at 100 (open home))", metric), DOMAIN)
    assert found.cost == 2 * Fraction(13, 2) + 15
    assert validate("(drive t home shop) (pay)", problem(), DOMAIN).cost == 2


def test_preferences_count_where_they_are_violated() -> None:
    metric = "(:metric minimize (+ (is-violated arrives-paid) (* 10 (is-violated back))))"
    asked = problem("(open home)", metric, "(preference back (at t home))")
    there, back = "0: (drive t home shop) [5]\n", "6: (drive t shop home) [4]\n"
    assert validate(there, asked, DOMAIN).cost == 11
    assert validate(there + back, asked, DOMAIN).cost == 2
    assert "back" in validate(there, asked, DOMAIN).detail
    unfinished = validate(f"{there}6: (rest t) [11]", asked, DOMAIN)
    assert (unfinished.verdict, dict(unfinished.violated)) == ("duration", {"arrives-paid": 1})
    assert "arrives-paid" not in unfinished.detail
    found = validate(f"5.5: (pay)\n{there}{back}", asked, DOMAIN)
    assert (found.cost, found.valid, dict(found.violated)) == (1, True, {"arrives-paid": 1})


def test_a_preference_reads_what_it_asks_for() -> None:
    """Else it would be violated in one order and not in the other; VAL says mutex violation."""
    found = validate("0: (drive t home shop) [5]\n5: (pay)", problem(), DOMAIN)
    assert (found.verdict, found.failed_step) == (PlanVerdict.INTERFERENCE, 2)


def test_states_have_times() -> None:
    found = validate("0: (drive t home shop) [5]\n2: (pay)", problem(), DOMAIN)
    assert found.times == (0, 0, 2, 5)
    assert ("at", "t", "shop") not in found.states[2][0] and ("at", "t", "shop") in found.states[3][0]
    assert found.states[3][1]["fuel", "t"] == 15


def test_the_initial_state_has_a_time_where_nothing_happens() -> None:
    assert validate("()", problem(), DOMAIN).times == (0,)
    failed = validate("3: (drive t shop home) [4]", problem(), DOMAIN)
    assert (failed.times, len(failed.states)) == ((0,), 1)
    assert [condition.holds for condition in failed.conditions] == [False]
    assert failed.advice[0].startswith("(at t shop) is false where step 1")


def test_one_action_twice_whose_duration_is_left_out_once() -> None:
    domain = "(define (domain d) (:predicates (r)) (:durative-action b :duration (= ?duration 2) :effect (at end (r))))"
    found = validate("1: (b)\n1: (b) [2]", "(define (problem x) (:domain d) (:init) (:goal (r)))", domain)
    assert (found.verdict, found.times) == ("valid", (0, 1, 3))


def test_two_of_one_action_at_once() -> None:
    """Their starts are another happening than their ends, and both take what only one can have."""
    found = validate("0: (drive t home shop) [5]\n0.0005: (drive t home shop) [5]", problem(), DOMAIN)
    assert found.verdict is PlanVerdict.INTERFERENCE


@pytest.mark.parametrize("plan", ["1: (a) [0]", "1: (a)", "1.0005: (a)", "1: (a) [0.0005]"])
def test_what_ends_at_once_ends_in_the_happening_in_which_it_starts(plan: str) -> None:
    domain = """(define (domain d) (:predicates (p) (q) (r)) (:functions (f))
      (:durative-action a :duration (= ?duration (f)) :condition (at end (q))
        :effect (and (at start (q)) (at end (r)))))"""
    assert (
        validate(plan, "(define (problem x) (:domain d) (:init (= (f) 0)) (:goal (r)))", domain).verdict
        == "precondition"
    )


@pytest.mark.parametrize(
    ("durations", "verdict", "times"),
    [
        (("[4]", "[2]"), "valid", (0, 1, 3, 5)),
        (("[2]", "[2]"), "valid", (0, 1, 3)),
        (("[4]", "[0.1]"), "duration", (0,)),
        (("[0.1]", "[4]"), "duration", (0,)),
        (("[4]", ""), "duration", (0,)),
    ],
)
def test_one_action_twice_at_one_time(durations: tuple[str, str], verdict: str, times: tuple[int, ...]) -> None:
    """Fox and Long, definition 17: only what is equal in time, action and duration is one."""
    domain = """(define (domain d) (:predicates (r)) (:durative-action b :duration (>= ?duration 0.5)
      :effect (at end (r))))"""
    plan = "\n".join(f"1: (b) {each}" for each in durations)
    validation = validate(plan, "(define (problem x) (:domain d) (:init) (:goal (r)))", domain)
    assert (validation.verdict, validation.times) == (verdict, times)


def test_references_that_differ_in_times_only_are_told_apart() -> None:
    references = ["0: (drive t home shop) [5]", "2: (drive t home shop) [5]", "0: (drive t home shop) [5]"]
    asked = problem("", "(:metric minimize (total-time))")
    rows = [
        {"reference_problem": asked, "domain": DOMAIN, "reference_plan": each, "generated_plan": "()"}
        for each in references
    ]
    assert score_frame(pl.DataFrame(rows))["reference_plan_cost"].to_list() == [5, 7, 5]


LIGHTS = """(define (domain lights) (:requirements :adl :numeric-fluents :durative-actions)
  (:predicates (on) (lit) (seen)) (:functions (uses))
  (:durative-action look :parameters () :duration (= ?duration 2) :condition (at start (and))
    :effect (and (at end (seen)) (when (at start (on)) (at start (lit)))))
  (:action turn-on :parameters () :precondition (and) :effect (on))
  (:action keep :parameters () :precondition (on) :effect (and (on) (on)))
  (:action wave :parameters () :precondition (and) :effect (seen))
  (:action use :parameters () :precondition (and) :effect (increase (uses) 1)))"""


@pytest.mark.parametrize(
    ("plan", "verdict"),
    [
        ("1: (look) [2]\n1: (turn-on)", "interference"),
        ("1: (turn-on)\n2: (keep)\n2: (wave)", "valid"),
        ("1: (use)", "precondition"),
    ],
)
def test_what_val_decides_otherwise(plan: str, verdict: str) -> None:
    """Fox and Long: the condition of an effect is one of the action, also where it is false; effects are a set; what
    updates a number reads it.
    """
    lamp = "(define (problem p) (:domain lights) (:init) (:goal (and)))"
    assert validate(plan, lamp, LIGHTS).verdict.value == verdict
