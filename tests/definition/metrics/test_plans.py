"""``compare_plans``: all columns of a pair of plans, and the ways in which users hold plans."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from pddl_eval import PlanScores, compare_plans, validate
from pddl_eval.definition import metrics
from pddl_eval.definition.domains import known_domain
from pddl_eval.definition.metrics import plan_score
from pddl_eval.definition.model import Problem
from pddl_eval.definition.options import ScoringOptions
from pddl_eval.definition.pddl import DomainError, ParseError, parse_problem
from pddl_eval.definition.planning import Solution, solve
from pddl_eval.definition.plans import PlanError, read_plan
from pddl_eval.definition.verdict import SEVERAL_DRAFTS
from pddl_eval.scoring.table import score_table

from tests.support.shared_problems import SHARED_PROBLEMS, needs_shared_problems

TWO_BLOCKS = """
(define (problem two) (:domain blocksworld) (:objects a b)
  (:init (arm-empty) (on-table a) (on-table b) (clear a) (clear b)) (:goal (and (on a b))))
"""
PLAN = "(pickup a)\n(stack a b)"
SCORES = ("plan_lcs", "plan_jaccard", "plan_score", "plan_precision", "plan_recall")


def values(scores: PlanScores) -> list[object]:
    names = [column.name for column in metrics.PLAN.asked(ScoringOptions()).columns]
    return [getattr(scores, name) for name in names[: names.index("plan_detail")]]


def test_columns_are_those_of_the_contract() -> None:
    assert [column.name for column in metrics.PLAN.asked(ScoringOptions()).columns] == [
        *SCORES,
        "plan_length",
        "reference_plan_length",
        "action_distance",
        "plan_valid",
        "goal_reached",
        "first_failed_step",
        "state_distance",
        "causal_distance",
        "plan_detail",
        "plan_verdict",
        "executable_share",
        "goal_share",
        "plan_cost",
        "reference_plan_cost",
        "plan_skipped",
        "constraint_share",
    ]


def test_gaico_worked_examples() -> None:
    reference = "pickup(A), stack(A,B), pickup(C)"
    assert compare_plans(reference, "pickup(A), stack(A,B), {noop1, noop2}, pickup(C)").plan_lcs == 0.75
    assert compare_plans("pickup(C), pickup(A), stack(A,B)", reference).plan_jaccard == 1.0
    assert compare_plans("pickup(A), stack(A,B), drop(B)", "pickup(A), {stack(A,B), noop}").plan_jaccard == 0.5


def test_without_a_problem_nothing_is_carried_out() -> None:
    found = values(compare_plans("a, b, c", "{c, d}, a, b"))
    assert found == [2 / 3, 0.75, 2 / 3, 2 / 3, 2 / 3, 3, 3, 0.25, None, None, None, None, None]
    assert compare_plans("a", "a", domain="blocksworld").plan_valid is None


def test_a_right_plan() -> None:
    scores = compare_plans(PLAN, "Sure:\n1. pickup(a)\n2. stack(a, b)", problem=TWO_BLOCKS)
    assert values(scores) == [1.0, 1.0, 1.0, 1.0, 1.0, 2, 2, 0.0, True, True, None, 0.0, 0.0]


def test_another_right_plan_is_valid_and_at_a_distance() -> None:
    scores = compare_plans(PLAN, f"(pickup b)\n(putdown b)\n{PLAN}", problem=TWO_BLOCKS)
    assert (scores.plan_valid, scores.goal_reached, scores.first_failed_step) == (True, True, None)
    assert scores.action_distance == 0.5
    assert scores.state_distance is not None and 0 < scores.state_distance < 1
    assert scores.causal_distance is not None and 0 < scores.causal_distance < 1


def test_a_plan_that_stops_short() -> None:
    scores = compare_plans(PLAN, "(pickup a)", problem=TWO_BLOCKS)
    assert (scores.plan_valid, scores.goal_reached, scores.first_failed_step) == (False, False, None)
    assert scores.state_distance == 0.5
    assert scores.detail == "the goal is not reached: (on a b)"


def test_a_plan_that_fails() -> None:
    scores = compare_plans(PLAN, "(pickup a)\n(pickup b)\n(stack a b)", problem=TWO_BLOCKS)
    assert (scores.plan_valid, scores.goal_reached, scores.first_failed_step) == (False, False, 2)
    assert (scores.state_distance, scores.causal_distance) == (None, None)
    assert scores.detail == "step 2 fails: (pickup b) needs (arm-empty)"


def test_a_goal_reached_before_a_step_fails() -> None:
    scores = compare_plans(PLAN, f"{PLAN}\n(stack a b)", problem=TWO_BLOCKS)
    assert (scores.plan_valid, scores.goal_reached, scores.first_failed_step) == (False, True, 3)


def test_a_reference_that_fails_is_said() -> None:
    scores = compare_plans("(stack a b)", PLAN, problem=TWO_BLOCKS)
    assert (scores.plan_valid, scores.state_distance) == (True, None)
    assert scores.detail.startswith("reference plan: step 1 ") and "(holding a)" in scores.detail


def test_domains_by_name_text_and_value() -> None:
    known = known_domain("blocksworld")
    assert known is not None
    problem = parse_problem(TWO_BLOCKS)
    expected = compare_plans(PLAN, PLAN, problem=TWO_BLOCKS)
    assert compare_plans(PLAN, PLAN, problem=problem, domain="blocksworld") == expected
    assert compare_plans(PLAN, PLAN, problem=problem, domain=known.domain) == expected
    text = "(define (domain d) (:constants b) (:action pickup :parameters (?x) :effect (on ?x b)))"
    assert compare_plans(PLAN, "(pickup a)", problem=problem, domain=text).plan_valid


def test_what_is_not_known_is_null_and_said() -> None:
    scores = compare_plans(PLAN, PLAN, problem=TWO_BLOCKS.replace("blocksworld", "chess"))
    assert (scores.plan_valid, scores.plan_lcs) == (None, 1.0)
    assert "not executed" in scores.detail and "`chess`" in scores.detail
    text = "(define (domain d) (:action a :parameters () :effect (when (p) (q))))"
    scores = compare_plans(PLAN, PLAN, problem=TWO_BLOCKS, domain=text)
    assert (scores.plan_valid, "not executed" in scores.detail) == (False, False)
    scores = compare_plans(PLAN, PLAN, problem=TWO_BLOCKS, domain=text.replace("when", "oneof"))
    assert (scores.plan_valid, scores.detail) == (None, "not executed: domain d has what is not supported (a: oneof)")


def test_texts_that_are_no_pddl_are_errors() -> None:
    with pytest.raises(ParseError):
        compare_plans(PLAN, PLAN, problem="no problem")
    with pytest.raises(DomainError):
        compare_plans(PLAN, PLAN, problem=TWO_BLOCKS, domain="(define (domain")


@pytest.mark.parametrize("answer", [None, "I cannot do that."])
@pytest.mark.parametrize("reference", [PLAN, ""])
def test_a_failed_answer_scores_0(answer: str | None, reference: str) -> None:
    scores = compare_plans(reference, answer, problem=TWO_BLOCKS)
    assert [getattr(scores, name) for name in SCORES] == [0.0] * 5
    assert (scores.action_distance, scores.plan_valid, scores.goal_reached) == (1.0, False, False)
    assert scores.first_failed_step is None
    assert scores.detail


@pytest.mark.parametrize(
    "plan", ["(fly a)", "(fly a) (land b)", "(fly) (pickup a)", "(pickup a) (fly a)", "(pickup z)"]
)
def test_the_first_failed_step_is_that_of_validate(plan: str) -> None:
    """Also where no step names an operator."""
    scores, found = compare_plans(PLAN, plan, problem=TWO_BLOCKS), validate(plan, TWO_BLOCKS)
    assert (scores.plan_valid, scores.plan_verdict) == (found.valid, found.verdict.value)
    assert scores.first_failed_step == found.failed_step == (2 if plan.startswith("(pickup a)") else 1)


def test_the_empty_plan() -> None:
    """Right where the reference is empty too, and where the goal holds already; an empty text is no answer."""
    solved = TWO_BLOCKS.replace("(on a b)", "(clear a)")
    scores = compare_plans("", "[]", problem=solved)
    assert (scores.plan_lcs, scores.plan_jaccard, scores.plan_score) == (1.0, 1.0, 0.0)
    assert (scores.plan_valid, scores.goal_reached, scores.state_distance) == (True, True, 0.0)
    assert compare_plans(PLAN, "[]", problem=TWO_BLOCKS).plan_valid is False
    for nothing in ("", "  \n", "; I do not know", "```\n```", "<think>[]</think>"):
        scores = compare_plans("[]", nothing, problem=solved)
        assert (scores.plan_valid, scores.plan_lcs, scores.plan_jaccard) == (False, 0.0, 0.0)


def test_a_step_that_cannot_be_read_ends_the_plan() -> None:
    """Every validator refuses such a plan, whatever its other steps do."""
    for damaged in ("(pickup a)\n(teleport b (b\n(stack a b)", "1. (pickup a)\n2. fly away\n3. (stack a b)"):
        scores = compare_plans(PLAN, damaged, problem=TWO_BLOCKS)
        assert (scores.plan_valid, scores.goal_reached, scores.first_failed_step) == (False, False, 2)
        assert "line 2" in scores.detail
    scores = compare_plans(PLAN, "(pickup a)\n(stack a b)\n(pickup", problem=TWO_BLOCKS)
    assert (scores.plan_valid, scores.goal_reached, scores.first_failed_step) == (False, True, 3)


def test_drafts_are_said_first_and_chosen() -> None:
    drafts = "1. (pickup a)\n2. (putdown a)\nThe final plan is:\n1. (pickup a)\n2. (stack a b)"
    first, last = (compare_plans(PLAN, drafts, problem=TWO_BLOCKS, answer=answer) for answer in ("first", "last"))
    assert (first.plan_valid, last.plan_valid, last.plan_length) == (False, True, 2)
    assert first.detail.startswith(SEVERAL_DRAFTS) and last.detail.startswith(SEVERAL_DRAFTS)


def test_operators_of_the_domain_tell_steps() -> None:
    assert compare_plans(PLAN, "pickup a\nstack a b", problem=TWO_BLOCKS).plan_valid is True
    refusal = compare_plans(PLAN, "`(on a b)` and `(on b a)` form a cycle, so there is no plan.", problem=TWO_BLOCKS)
    assert (refusal.plan_length, refusal.plan_valid) == (0, False)
    assert (
        "pickup" in compare_plans(PLAN, "(pick_up a), (stack a b)", problem=TWO_BLOCKS).detail.split("did you mean")[1]
    )


@pytest.mark.parametrize("reference", ["pickup a\nstack a b", '["pickup a", "stack a b"]', "pickup a, stack a b"])
def test_operators_of_the_domain_tell_steps_of_a_reference(reference: str) -> None:
    assert compare_plans(reference, PLAN, problem=TWO_BLOCKS).plan_lcs == 1
    row = pa.table({"reference_problem": [TWO_BLOCKS], "reference_plan": [reference], "generated_plan": [PLAN]})
    scored = score_table(row, ScoringOptions()).to_pylist()[0]
    assert (scored["plan_lcs"], scored["reference_plan_cost"], scored["plan_detail"]) == (1, 2, None)
    with pytest.raises(PlanError):
        compare_plans(reference, PLAN)


def test_a_plan_whose_reading_takes_too_long_is_not_decided() -> None:
    table = pa.table({"reference_plan": [PLAN], "generated_plan": ["a\n" * 500_000 + "("]})
    (row,) = score_table(table, ScoringOptions(row_seconds=0.01)).to_pylist()
    assert (row["plan_lcs"], row["score_error"]) == (None, None)
    assert "budget" in row["plan_detail"]


@pytest.mark.parametrize("reference", [None, "no plan at all", float("nan")])
def test_a_missing_reference_is_an_error(reference: object) -> None:
    with pytest.raises((PlanError, TypeError)):
        compare_plans(reference, PLAN)
    with pytest.raises(PlanError, match="row 1"):
        compare_plans([PLAN, reference], [PLAN, PLAN])


def test_what_could_not_be_read_is_said() -> None:
    scores = compare_plans("(a)\n1. what", "(a)\n2. whatever")
    assert scores.plan_lcs == 1.0
    assert scores.detail == (
        "not read: line 2, column 1: '2. whatever'; reference plan: not read: line 2, column 1: '1. what'"
    )


def test_details_are_short_and_fit_every_file() -> None:
    for name in ("\\ud800", "a\\nb", "x" * 100_000):
        answer = f'[{{"name": "{name}", "args": []}}]'
        detail = compare_plans(PLAN, answer, problem=TWO_BLOCKS).detail
        assert detail.startswith("no step names an operator")
        assert len(detail.encode()) < 1_000
        assert "\n" not in detail


STEPS = [("pickup", "a"), ("stack", "a", "b")]


@pytest.mark.parametrize(
    "plan",
    [
        PLAN,
        STEPS,
        tuple(STEPS),
        [list(step) for step in STEPS],
        ["pickup(a)", ("stack", "a", "b")],
        ["pickup(a)", {"name": "stack", "args": ["a", "b"]}],
        [{"name": "stack", "args": ["a", "b"], "id": 1}, {"name": "pickup", "args": ["a"], "id": 0}],
        read_plan(PLAN).steps,
    ],
)
def test_one_plan(plan: object) -> None:
    scores = compare_plans(PLAN, plan)
    assert isinstance(scores, PlanScores)
    assert scores.plan_lcs == 1.0
    assert compare_plans(plan, PLAN) == scores


TEXTS = [PLAN, "(pickup a)", None]


@pytest.mark.parametrize(
    "column",
    [
        TEXTS,
        tuple(TEXTS),
        pl.Series(TEXTS),
        pd.Series(TEXTS),
        pd.Series(TEXTS, dtype="string"),
        pd.Series([PLAN, "(pickup a)", float("nan")], dtype=object),
        np.array(TEXTS, dtype=object),
        pa.array(TEXTS),
        pa.chunked_array([TEXTS]),
        [STEPS, STEPS[:1], None],
        [["pickup(a)", "stack(a, b)"], ["pickup(a)"], None],
        pl.Series([["pickup(a)", "stack(a, b)"], ["pickup(a)"], None]),
    ],
)
def test_columns(column: object) -> None:
    """A single reference serves the whole column; a column of references goes row by row."""
    scores = compare_plans(PLAN, column)
    assert isinstance(scores, list)
    assert [pair.plan_lcs for pair in scores] == [1.0, 0.5, 0.0]
    scores = compare_plans([PLAN, "(pickup a)", PLAN], column)
    assert isinstance(scores, list)
    assert [pair.plan_lcs for pair in scores] == [1.0, 1.0, 0.0]


def test_references_as_numpy_strings() -> None:
    scores = compare_plans(np.array(["a", "b"]), np.array(["a", "a"]))
    assert isinstance(scores, list)
    assert [pair.plan_lcs for pair in scores] == [1.0, 0.0]
    assert compare_plans(np.str_("a"), np.str_("a")).plan_lcs == 1.0


def test_a_sequence_of_plans_that_has_none() -> None:
    assert compare_plans([], []).plan_lcs == 1.0  # two empty plans
    assert compare_plans(pl.Series([], dtype=pl.String), []) == []
    assert compare_plans([], pd.Series([], dtype=str)) == []


@pytest.mark.parametrize(
    ("reference", "generated"),
    [
        (["a", "b"], ["a"]),
        (["a"], ["a", "b"]),
        (["a", "b"], "a"),
        (["a"], "a"),
        ([], ["a"]),
        (pl.Series(["a"]), ["a", "b"]),
    ],
)
def test_columns_that_do_not_pair_up_are_errors(reference: object, generated: object) -> None:
    with pytest.raises(ValueError, match=r"do not pair up|needs a column"):
        compare_plans(reference, generated)


def test_what_is_no_plan_is_an_error() -> None:
    for value in (7, [7, 8], {"a": 1}, b"(a)"):
        with pytest.raises((TypeError, PlanError)):
            compare_plans("a", value)


def test_settings_reach_the_plan_score() -> None:
    assert compare_plans("a(x)", "a(y)").plan_score == 0.0
    assert compare_plans("a(x)", "a(y)", threshold=0.7).plan_score == 1.0
    assert compare_plans("a(x)", "b(x)", beta=0.1).plan_score == 1.0
    assert compare_plans("a(block1)", "a(block2)", similarity="lexical").plan_score == 1.0


def test_an_undecided_tie_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    note = plan_score.PlanScore(0.5, 0.5, 0.5, "plan score: …")
    monkeypatch.setattr(plan_score, "plan_score", lambda *_, **__: note)
    assert compare_plans("a", "a").detail == "plan score: …"


@needs_shared_problems
def test_the_planners_plans_are_valid_in_real_problems() -> None:
    """A plan of our planner, as a model would write it, is valid; without its last step it is not."""
    problems = pl.scan_parquet(SHARED_PROBLEMS)
    checked = 0
    for name in ("blocksworld", "gripper", "floor-tile"):
        known = known_domain(name)
        assert known is not None and known.rules is not None
        rows = problems.filter(pl.col("domain") == name).head(2_000).collect()["problem_pddl"].gather_every(100)
        for problem in map(parse_problem, rows):
            assert isinstance(problem, Problem)
            found = solve(problem, known)
            if not isinstance(found, Solution) or not found.plan:
                continue
            reference = "\n".join(f"({' '.join(action)})" for action in found.plan)
            whole = compare_plans(reference, f"Plan:\n{reference}", problem=problem)
            assert (whole.plan_valid, whole.state_distance, whole.causal_distance, whole.detail) == (True, 0.0, 0.0, "")
            short = compare_plans(reference, list(found.plan[:-1]), problem=problem)
            assert (short.plan_valid, short.first_failed_step) == (False, None)
            checked += 1
    assert checked > 20
