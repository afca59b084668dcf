"""What the declarations of a typed domain do not admit makes a problem ill-typed: it has no solution, as VAL says."""

from __future__ import annotations

from pathlib import Path

import pytest
from pddl_eval import compare_plans, compare_problems
from pddl_eval.domains import known_domain
from pddl_eval.equivalence import Task, read_task

FLOOR = """(define (problem p) (:domain floor-tile)
  (:objects r - robot t1 t2 - tile c - color)
  (:init (robot-at r t1) (robot-has r c) (available-color c) (up t2 t1))
  (:goal (and (painted t2 c))))"""

BLOCKS = """(define (problem p) (:domain blocksworld) (:objects a b)
  (:init (arm-empty) (clear a) (on-table a) (clear b) (on-table b)) (:goal (and (on a b))))"""

LORRY = """(define (domain lorry) (:types place lorry big - lorry) (:predicates (at ?l - lorry ?p - place))
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


def test_plans_of_an_ill_typed_problem_are_not_valid() -> None:
    plan = "(paint-up r t2 t1 c)"
    assert compare_plans(plan, plan, problem=FLOOR).plan_valid is True
    scores = compare_plans(plan, plan, problem=added(FLOOR, "(available-color t2)"))
    assert (scores.plan_valid, scores.goal_reached) == (False, False)
    assert "(available-color t2)" in scores.detail


def test_subtypes_fit_and_what_operators_name_needs_no_declaration() -> None:
    for change in ({"l - lorry": "l - big"}, {}):
        text = DRIVE
        for old, new in change.items():
            text = text.replace(old, new)
        assert compare_problems(text, text, domain=LORRY).solvable is True
    undeclared = LORRY.replace("(:predicates (at ?l - lorry ?p - place))", "")
    assert compare_problems(DRIVE, added(DRIVE, "(polished a)"), domain=undeclared).solvable is True
    assert compare_problems(DRIVE, added(DRIVE, "(polished a)"), domain=LORRY).solvable is False


@pytest.mark.skipif(not SHARED_PROBLEMS.exists(), reason="the shared data is not here")
def test_the_floors_of_the_benchmark_are_well_typed() -> None:
    import polars as pl

    rows = pl.read_parquet(SHARED_PROBLEMS).filter(pl.col("domain") == "floor-tile")
    for text in rows["problem_pddl"].gather_every(200):
        task = read_task(text)
        assert isinstance(task, Task) and task.domain is known_domain("floor-tile")
        assert task.ill_typed is None
