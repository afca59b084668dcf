"""What the declarations of a typed domain do not admit makes a problem ill-typed: it has no solution, as VAL says."""

from __future__ import annotations

from pathlib import Path

import pytest
from pddl_eval import DomainScores, compare_domains, compare_plans, compare_problems
from pddl_eval.definition.budget import or_undecided, row_budget
from pddl_eval.definition.domains import ill_typed_operator, known_domain
from pddl_eval.definition.pddl import parse_domain
from pddl_eval.definition.task import Task, read_task
from pddl_eval.definition.verdict import Undecided

FLOOR = """(define (problem p) (:domain floor-tile)
  (:objects r - robot t1 t2 - tile c - color)
  (:init (robot-at r t1) (robot-has r c) (available-color c) (up t2 t1))
  (:goal (and (painted t2 c))))"""

BLOCKS = """(define (problem p) (:domain blocksworld) (:objects a b)
  (:init (arm-empty) (clear a) (on-table a) (clear b) (on-table b)) (:goal (and (on a b))))"""

LORRY = """(define (domain lorry) (:types place lorry - object big - lorry)
  (:predicates (at ?l - lorry ?p - place) (allowed ?p - place))
  (:action drive :parameters (?l - lorry ?from ?to - place) :precondition (and (at ?l ?from) (allowed ?to))
    :effect (and (at ?l ?to) (not (at ?l ?from)))))"""

DRIVE = """(define (problem p) (:domain lorry) (:objects l - lorry a b - place)
  (:init (at l a) (allowed b)) (:goal (and (at l b))))"""

SHARED_PROBLEMS = Path(__file__).parents[3] / "shared" / "data" / "planetarium_problems.parquet"


def added(problem: str, atom: str) -> str:
    return problem.replace("(:init", f"(:init {atom}")


@pytest.mark.parametrize(
    "atom", ["(polished t1)", "(available-color t2)", "(up t1)", "(robot-at t1 r)", "(painted t1 c c)"]
)
def test_an_ill_typed_atom_leaves_no_solution(atom: str) -> None:
    verdict = compare_problems(FLOOR, added(FLOOR, atom))
    assert (verdict.verdict.value, verdict.equivalent, verdict.solvable, verdict.plan) == (
        "init_differs",
        False,
        False,
        None,
    )
    assert "ill-typed" in verdict.detail and atom in verdict.detail


def test_the_verdict_of_equivalence_is_as_before() -> None:
    ill_typed = added(FLOOR, "(polished t1)")
    same = compare_problems(ill_typed, ill_typed)
    assert (same.verdict.value, same.equivalent, same.solvable) == ("identical", True, False)
    assert "polished" in same.detail


def test_untyped_domains_admit_undeclared_atoms() -> None:
    verdict = compare_problems(BLOCKS, added(BLOCKS, "(polished a)"))
    assert (verdict.verdict.value, verdict.solvable) == ("init_differs", True)
    assert "ill-typed" not in verdict.detail


def test_without_the_question_of_solvability_nothing_is_said_of_types() -> None:
    verdict = compare_problems(FLOOR, added(FLOOR, "(polished t1)"), check_solvable=False)
    assert (verdict.solvable, "ill-typed" in verdict.detail) == (None, False)


def test_no_plan_is_judged_in_an_ill_typed_problem() -> None:
    plan = "(paint-up r t2 t1 c)"
    assert compare_plans(plan, plan, problem=FLOOR).plan_valid is True
    scores = compare_plans(plan, plan, problem=added(FLOOR, "(available-color t2)"))
    assert (scores.plan_valid, scores.goal_reached, scores.plan_verdict) == (None, None, "reference_invalid")
    assert "(available-color t2)" in scores.detail


def test_subtypes_fit_and_a_domain_without_declarations_admits_every_atom() -> None:
    for change in ({"l - lorry": "l - big"}, {}):
        text = DRIVE
        for old, new in change.items():
            text = text.replace(old, new)
        assert compare_problems(text, text, domain=LORRY).solvable is True
    undeclared = LORRY.replace("(:predicates (at ?l - lorry ?p - place) (allowed ?p - place))", "")
    assert compare_problems(DRIVE, added(DRIVE, "(polished a)"), domain=undeclared).solvable is True
    assert compare_problems(DRIVE, added(DRIVE, "(polished a)"), domain=LORRY).solvable is False


VAL = [
    ("", "", True),
    # Parameters of a type that does not fit, or of none.
    ("(?l - lorry ?from", "(?l ?from", False),
    ("(?l - lorry ?from ?to - place)", "(?l - lorry ?from ?to)", False),
    ("lorry - object big - lorry)", "big - object lorry - big)", True),
    ("(?l - lorry ?from", "(?l - (either lorry big) ?from", True),
    ("(?l - lorry ?from", "(?l - (either lorry place) ?from", False),
    ("(?l - lorry ?from", "(?l - (either place lorry) ?from", False),
    ("(at ?l - lorry ?p - place)", "(at ?l - (either place lorry) ?p - place)", True),
    # Too many and too few arguments.
    ("(at ?l ?to)", "(at ?l ?to) (allowed ?l ?to)", False),
    ("(allowed ?to)", "(allowed)", False),
    ("(allowed ?to)", "(not (allowed))", False),
    # A predicate that is not declared; no declarations at all.
    (" (allowed ?p - place)", "", False),
    ("(:predicates (at ?l - lorry ?p - place) (allowed ?p - place))", "", True),
    # The first of two declarations counts.
    ("(allowed ?p - place)", "(allowed ?p - place) (allowed)", True),
    ("(allowed ?p - place)", "(allowed) (allowed ?p - place)", False),
    ("(allowed ?p - place)", "(allowed ?p - lorry) (allowed ?p - place)", False),
    # Constants.
    ("big - lorry)", "big - lorry) (:constants home - place)", True),
    # An operator that no plan uses, and an equation, which has no declaration.
    ("(:action drive", "(:action wash :parameters (?l - lorry) :effect (allowed ?l)) (:action drive", False),
    ("(allowed ?to))", "(allowed ?to) (not (= ?l ?to)))", True),
    # A domain without types.
    ("(:types place lorry - object big - lorry)", "", True),
]
"""A change of LORRY, and whether VAL (`Validate`, commit 3c7a1f3 of KCL-Planning/VAL) then accepts (drive l a b)."""


@pytest.mark.parametrize(("was", "is_", "accepted"), VAL)
def test_a_plan_is_valid_in_a_domain_where_val_says_so(was: str, is_: str, accepted: bool) -> None:
    assert was in LORRY
    domain = LORRY.replace(was, is_, 1) if was else LORRY
    # Where VAL refuses the domain there is a mistake in the data, and the plan is not judged.
    found = compare_plans("(drive l a b)", "(drive l a b)", problem=DRIVE, domain=domain)
    assert (found.plan_valid, found.plan_verdict) == ((True, "valid") if accepted else (None, "reference_invalid"))
    assert compare_problems(DRIVE, DRIVE, domain=domain).solvable is accepted
    scores = compare_domains(LORRY, domain, problem=DRIVE)
    assert isinstance(scores, DomainScores)
    assert scores.domain_reference_plan_valid is accepted


def test_a_plan_is_not_valid_where_the_problems_lorry_is_not_big() -> None:
    domain = LORRY.replace("(?l - lorry ?from", "(?l - big ?from")
    assert compare_plans("(drive l a b)", "(drive l a b)", problem=DRIVE, domain=domain).plan_valid is False
    assert compare_problems(DRIVE, DRIVE, domain=domain).solvable is False
    # As a domain it is the same in other words: big for lorry. Plans are exchanged in these words.
    scores = compare_domains(LORRY, domain, problem=DRIVE)
    assert (scores.verdict.value, scores.domain_reference_plan_valid) == ("renamed", True)


def test_nothing_is_carried_out_in_an_ill_typed_domain_and_the_rest_is_compared_as_written() -> None:
    wide = LORRY.replace("(?l - lorry", "(?l - object")
    scores = compare_domains(LORRY, wide, problem=DRIVE)
    assert (scores.domain_precision, scores.domain_recall, scores.verdict.value) == (1.0, 1.0, "types_differ")
    assert (scores.domain_plan_valid, scores.domain_reference_plan_valid) == (False, False)
    assert (scores.domain_applicability_recall, scores.domain_predicted_effects_precision) == (0.0, 0.0)
    for said in (scores.detail, compare_domains(LORRY, wide).detail):
        assert "(at ?l ?from)" in said and "lorry, not object" in said
    # Declarations do not count in equivalence, but VAL refuses the domain.
    declared = compare_domains(LORRY, LORRY.replace("(allowed ?p - place)", "(allowed ?p - lorry)"), problem=DRIVE)
    assert (declared.equivalent, declared.domain_plan_valid, declared.domain_reference_plan_valid) == (
        True,
        False,
        False,
    )


def test_against_an_ill_typed_reference_domain_no_behaviour_is_compared() -> None:
    wide = LORRY.replace("(?l - lorry", "(?l - object")
    scores = compare_domains(wide, LORRY, problem=DRIVE)
    assert (scores.domain_recall, scores.verdict.value) == (1.0, "types_differ")
    assert (scores.domain_plan_valid, scores.domain_reference_plan_valid) == (None, None)
    assert scores.domain_applicability_recall is scores.domain_predicted_effects_precision is None
    for said in (
        scores.detail,
        compare_domains(wide, LORRY).detail,
        compare_problems(DRIVE, DRIVE, domain=wide).detail,
    ):
        assert "(at ?l ?from)" in said and "lorry, not object" in said


def test_an_undeclared_type_is_a_plain_object() -> None:
    """That is ours alone: VAL lets no object stand for such a parameter."""
    spare = LORRY.replace("(?l - lorry", "(?m - mood ?l - lorry")
    assert compare_plans("(drive a l a b)", "(drive a l a b)", problem=DRIVE, domain=spare).plan_valid is True
    mood = LORRY.replace("(?l - lorry", "(?l - mood")
    scores = compare_domains(LORRY, mood, problem=DRIVE)
    assert scores.domain_reference_plan_valid is False and "lorry, not mood" in scores.detail


def test_the_time_to_find_an_ill_typed_operator_is_that_of_the_row() -> None:
    chain = " ".join(f"t{number} - t{number + 1}" for number in range(20_000))
    parameters = " ".join(f"?x{number} - t{number}" for number in range(10_000))
    atoms = " ".join(f"(p ?x{number})" for number in range(10_000))
    text = f"""(define (domain d) (:types {chain} u) (:predicates (p ?x - t20000))
      (:action a :parameters ({parameters}) :effect (and {atoms})))"""
    with row_budget(0):
        assert isinstance(or_undecided(lambda: ill_typed_operator(parse_domain(text))), Undecided)


@pytest.mark.skipif(not SHARED_PROBLEMS.exists(), reason="the shared data is not here")
def test_the_floors_of_the_benchmark_are_well_typed() -> None:
    import polars as pl

    rows = pl.read_parquet(SHARED_PROBLEMS).filter(pl.col("domain") == "floor-tile")
    for text in rows["problem_pddl"].gather_every(200):
        task = read_task(text)
        assert isinstance(task, Task) and task.domain is known_domain("floor-tile")
        assert task.ill_typed is None
