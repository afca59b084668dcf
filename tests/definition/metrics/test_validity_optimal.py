"""Columns on request: whether a plan is one of the cheapest, and what these cost."""

from __future__ import annotations

import polars as pl
import pytest
from pddl_eval import compare_plans, score_frame

BLOCKS = "(define (problem p) (:domain blocksworld) (:objects a b) (:init {}) (:goal {}))"
START = "(arm-empty) (clear a) (on-table a) (clear b) (on-table b)"
ON = BLOCKS.format(START, "(on a b)")
MANY = BLOCKS.replace("a b", " ".join(f"a{number}" for number in range(12))).format(
    "(arm-empty) " + " ".join(f"(clear a{number}) (on-table a{number})" for number in range(12)), "(on a0 a1)"
)
ROWS = [
    (ON, "(pickup a) (stack a b)", True, 2.0),
    (ON, "(pickup a) (putdown a) (pickup a) (stack a b)", False, 2.0),
    (ON, "(pickup a)", False, 2.0),
    (ON, "I do not know.", False, 2.0),
    (BLOCKS.format(START, "(and (on a b) (on b a))"), "(pickup a) (stack a b)", False, None),
    (MANY, "(pickup a0) (stack a0 a1)", None, None),
    (MANY, "(pickup a0)", False, None),
    ("(define (problem", "(pickup a0)", None, None),
    (None, "(pickup a0)", None, None),
]


def frame() -> pl.DataFrame:
    return pl.DataFrame(
        {"reference_problem": [row[0] for row in ROWS], "generated_plan": [row[1] for row in ROWS]},
        schema={"reference_problem": pl.String, "generated_plan": pl.String},
    )


def test_plans_are_held_against_the_cheapest_ones() -> None:
    scored = score_frame(frame(), optimal=True)
    assert scored["plan_optimal"].to_list() == [row[2] for row in ROWS]
    assert scored["optimal_cost"].to_list() == [row[3] for row in ROWS]
    assert "not decided" in scored["plan_detail"][5]


def test_without_the_request_there_are_no_such_columns() -> None:
    scored = score_frame(frame())
    assert not {"plan_optimal", "optimal_cost"} & set(scored.columns)
    others = score_frame(frame(), optimal=True).drop("plan_optimal", "optimal_cost", "score_micros", "plan_detail")
    assert others.equals(scored.drop("score_micros", "plan_detail"))


@pytest.mark.parametrize("optimal", [True, False])
def test_the_signature_says_it(optimal: bool) -> None:
    from pddl_eval.definition.options import ScoringOptions

    assert ("optimal:yes" in ScoringOptions(optimal=optimal).signature.split("|")) == optimal


def test_compare_plans_does_not_search() -> None:
    assert compare_plans("(pickup a)", "(pickup a)", problem=ON).plan_optimal is None
