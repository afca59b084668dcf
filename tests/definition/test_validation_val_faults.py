"""What VAL got wrong, by the issues of KCL-Planning/VAL: a case of our own for each, with the right verdict."""

from __future__ import annotations

import pytest
from pddl_eval import ParseError, Validation, validate


def domain(*sections: str) -> str:
    return f"(define (domain d) {' '.join(sections)})"


def problem(objects: str, init: str, goal: str, name: str = "p") -> str:
    return f"(define (problem {name}) (:domain d) (:objects {objects}) (:init {init}) (:goal {goal}))"


def test_names_that_concatenate_alike_are_different_atoms() -> None:
    """Issue 27: an invalid plan was accepted, because (p o aob) and (p oa ob) had one key."""
    text = domain(
        "(:predicates (p ?x ?y) (seen))",
        "(:action make :parameters (?x ?y) :precondition () :effect (p ?x ?y))",
        "(:action see :parameters () :precondition (p oa ob) :effect (seen))",
        "(:constants oa ob)",
    )
    asked = problem("o aob", "", "(seen)")
    found = validate("(make o aob) (see)", asked, text)
    assert (found.verdict, found.failed_step, found.missing) == ("precondition", 2, (("p", "oa", "ob"),))
    assert validate("(make oa ob) (see)", asked, text).valid


def test_names_that_concatenate_alike_are_different_fluents() -> None:
    text = domain(
        "(:functions (f ?x ?y))", "(:action set :parameters (?x ?y) :precondition () :effect (assign (f ?x ?y) 1))"
    )
    asked = problem("o aob oa ob", "(= (f o aob) 0) (= (f oa ob) 0)", "(= (f oa ob) 1)")
    assert validate("(set o aob)", asked, text).verdict == "goal_not_reached"
    assert validate("(set oa ob)", asked, text).valid


@pytest.mark.parametrize("precondition", ["", ":precondition ()", ":precondition (and)"])
def test_an_action_without_preconditions_can_always_be_executed(precondition: str) -> None:
    """Issues 29 and 65: a valid plan was rejected, the domain could not be read."""
    text = domain(f"(:action go :parameters (?x) {precondition} :effect (gone ?x))")
    assert validate("(go a) (go b)", problem("a b", "", "(and (gone a) (gone b))"), text).valid


ABOVE = domain(
    "(:predicates (on ?x ?y) (above ?x ?y) (free ?x) (table ?x))",
    "(:derived (above ?x ?y) (or (on ?x ?y) (exists (?z) (and (on ?x ?z) (above ?z ?y)))))",
    "(:derived (free ?x) (not (exists (?y) (above ?y ?x))))",
    "(:action lift :parameters (?x ?y) :precondition (and (free ?x) (on ?x ?y))"
    " :effect (and (not (on ?x ?y)) (table ?x)))",
)


@pytest.mark.parametrize(
    ("plan", "verdict", "failed_step"),
    [
        ("(lift a b) (lift b c) (lift c d)", "valid", None),
        ("(lift b c)", "precondition", 1),
        ("(lift a b) (lift c d)", "precondition", 2),
        ("(lift a b)", "goal_not_reached", None),
    ],
)
def test_derived_predicates_are_recursive_and_negated_in_higher_strata(
    plan: str, verdict: str, failed_step: int | None
) -> None:
    """Issue 7: two errors with derived predicates."""
    found = validate(plan, problem("a b c d", "(on a b) (on b c) (on c d)", "(and (free d) (table c))"), ABOVE)
    assert (found.verdict, found.failed_step) == (verdict, failed_step)


def test_a_derived_predicate_does_not_support_itself() -> None:
    text = domain("(:derived (p) (q)) (:derived (q) (p))", "(:action go :precondition (p) :effect (r))")
    assert validate("(go)", problem("", "", "(r)"), text).verdict == "precondition"


def test_conditional_effects_are_nested() -> None:
    """Issue 22: the domain was refused. Both conditions are read before either effect."""
    text = domain(
        "(:predicates (lit ?r) (in ?r) (door ?r ?s))",
        "(:action switch :parameters (?r ?s) :precondition (and (door ?r ?s)) :effect (when (lit ?r)"
        " (and (not (lit ?r)) (when (in ?r) (and (not (in ?r)) (in ?s))))))",
    )
    assert validate("(switch a b)", problem("a b", "(lit a) (in a) (door a b)", "(in b)"), text).valid
    found = validate("(switch a b)", problem("a b", "(in a) (door a b)", "(in b)"), text)
    assert (found.verdict, found.missing) == ("goal_not_reached", (("in", "b"),))


@pytest.mark.parametrize("name", ["15-puzzle", "3", "2nd"])
def test_names_may_begin_with_digits(name: str) -> None:
    """Issue 6: a crash."""
    text = domain("(:action go :parameters (?x) :effect (gone ?x))")
    assert validate("(go 1a)", problem("1a", "", "(gone 1a)", name), text).valid


def test_an_invalid_plan_has_repair_advice() -> None:
    """Issue 8: a crash while the advice was made."""
    found = validate(
        "(pickup a) (stack a b) (pickup c) (stack c b)",
        "(define (problem p) (:domain blocksworld) (:objects a b c) (:init (arm-empty) (clear a) (clear b) (clear c)"
        " (on-table a) (on-table b) (on-table c)) (:goal (and (on a b) (on c b))))",
    )
    assert (found.verdict, found.failed_step, found.missing) == ("precondition", 4, (("clear", "b"),))
    assert found.advice == ("(clear b) is false before step 4, (stack c b): step 2, (stack a b), deleted it",)


def test_a_conjunction_in_the_initial_state_is_refused_by_name() -> None:
    """Issue 28: a crash."""
    text = domain("(:action go :effect (gone))")
    with pytest.raises(ParseError, match="`and` in :init"):
        validate("(go)", problem("", "(and (p) (q))", "(gone)"), text)


def test_processes_are_refused_by_name() -> None:
    """Issue 60: a plan in a domain with processes was found invalid."""
    text = domain("(:process drive :parameters () :precondition (on) :effect (increase (at) (* #t 1)))")
    found = validate("(go)", problem("", "(on)", "(on)"), text)
    assert (found.valid, found.verdict) == (None, "undecided")
    assert ":process" in found.detail


def test_a_number_without_declared_functions() -> None:
    """Issue 23: a crash."""
    text = domain("(:types t)", "(:predicates (gone))", "(:action go :effect (gone))")
    assert validate("(go)", problem("", "(= (total-cost) 0)", "(gone)"), text).valid


@pytest.mark.parametrize("value", ["1", "0.9999", "1.0001"])
def test_strict_comparisons_are_strict(value: str) -> None:
    """No issue: VAL takes `(> (f) 1)` as true from 0.9999 on, because it compares with a tolerance of 0.0001."""
    text = domain("(:functions (f))", "(:action go :precondition (> (f) 1) :effect (gone))")
    assert validate("(go)", problem("", f"(= (f) {value})", "(gone)"), text).valid is (value > "1")


def test_an_action_with_arguments_too_many_is_wrong() -> None:
    """No issue: VAL ignores what is beyond the parameters."""
    text = domain("(:predicates (at ?x))", "(:action go :parameters (?x ?y) :precondition (at ?x) :effect (at ?y))")
    asked = problem("x y z", "(at x)", "(at y)")
    assert validate("(go x y)", asked, text).valid
    assert validate("(go x y z)", asked, text).verdict == "wrong_arguments"


def test_a_result_says_where_and_what() -> None:
    found: Validation = validate("(lift a b)", problem("a b", "(on a b)", "(and (table a) (table b))"), ABOVE)
    assert (found.valid, found.cost, found.missing) == (False, None, (("table", "b"),))
    assert [sorted(atoms) for atoms, _ in found.states] == [[("on", "a", "b")], [("table", "a")]]
