"""Answers to plans, domains and questions: their labels against what scoring says, and a judge that shares no code."""

from __future__ import annotations

from collections import Counter
from random import Random

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pddl_eval import score_frame
from pddl_eval.benchmark import KINDS, PRESETS, QUESTIONS_SAMPLE, Variants
from pddl_eval.benchmark.damages import DOMAIN_RECIPES, PLAN_RECIPES, RECIPES_OF, draw, plan_original
from pddl_eval.definition.options import ScoringOptions
from pddl_eval.definition.pddl import parse_domain
from pddl_eval.definition.plans import actions_of, read_plan

from tests.corpus import CORPUS
from tests.judges.interpreter import judge

HELD = "(define (problem p) (:domain blocksworld) (:objects a) (:init (holding a)) (:goal (clear a)))"
LABELS = {"plan": "plan_valid", "domain": "domain_equivalent", "question": "answer_correct"}


def references(kind: str) -> pa.Table:
    if kind == "question":
        return pq.read_table(QUESTIONS_SAMPLE).drop_columns(["generated_answer", "label_answer"])
    if kind == "domain":
        return pa.table({"reference_domain": [entry.domain for entry in CORPUS.values()]})
    problems = {"reference_problem": [entry.problem for entry in CORPUS.values()]}
    return pa.table({**problems, "domain": [entry.domain for entry in CORPUS.values()]})


def answers(kind: str, each: int) -> pl.DataFrame:
    return pl.DataFrame(Variants(PRESETS["every-kind"], KINDS[kind], each, seed=1).table(references(kind)))


@pytest.mark.parametrize(("kind", "each"), [("plan", 8), ("domain", 8), ("question", 3)])
def test_labels_are_what_scoring_says_and_every_recipe_is_drawn(kind: str, each: int) -> None:
    made = answers(kind, each)
    assert len(made) > 0.95 * each * len(references(kind))
    column = LABELS[kind]
    scored = score_frame(made)
    assert scored.filter(pl.col(column).ne_missing(pl.col(f"label_{column}"))).is_empty()
    assert 0.2 < scored[column].mean() < 0.6
    pair = column.split("_")[0]
    assert {*made[f"label_{pair}"]} == RECIPES_OF[pair].keys()


def test_an_interpreter_that_shares_no_code_executes_the_plans_to_their_labels() -> None:
    compared: Counter[bool] = Counter()
    for row in answers("plan", 4).filter(pl.col("label_plan").str.starts_with("plan_step")).to_dicts():
        steps = [actions_of(step) for step in read_plan(row["generated_plan"]).steps]
        assert judge(row["domain"], row["reference_problem"], steps).valid == row["label_plan_valid"], row
        compared[row["label_plan_valid"]] += 1
    assert min(compared[True], compared[False]) > 3


def test_the_only_step_is_lost() -> None:
    row = {"reference_problem": HELD, "reference_plan": "(putdown a)"}
    question = plan_original(row, ScoringOptions())
    lost = PLAN_RECIPES["plan_step_lost"].make(question, Random(0))
    assert lost == ()
    for seed in range(40):
        found = draw("plan", question, PRESETS["every-kind"], Random(seed))
        if found.recipe == "plan_step_lost":
            assert (found.text, found.labels) == ("[]", (False,))
            return
    raise AssertionError("it was never drawn")


def test_a_literal_is_lost_or_turned_round_in_one_operator() -> None:
    text = CORPUS["ferry"].domain
    sizes = Counter(len(part) for each in parse_domain(text).operators for part in each.parts)
    for name, change in (("domain_literal_lost", -1), ("domain_literal_negated", 0)):
        made = DOMAIN_RECIPES[name].make(text, Random(3))
        found = Counter(len(part) for each in parse_domain(made).operators for part in each.parts)
        assert found != sizes and sum(found.elements()) == sum(sizes.elements()) + change


@pytest.mark.parametrize("plan", ["(putdown b)", "(putdown a) (putdown a)", "(putdown"])
def test_a_reference_that_is_no_plan_has_no_answers(plan: str) -> None:
    rows = pa.table({"reference_problem": [HELD, HELD], "reference_plan": [plan, "(putdown a)"], "n": [0, 1]})
    made = Variants(PRESETS["every-kind"], KINDS["plan"]).table(rows)
    assert made["n"].to_pylist() == [1]
