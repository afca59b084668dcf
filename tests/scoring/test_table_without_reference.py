"""Without a reference: a plan is executed in its problem, a problem is solved, a domain is read and checked."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest
from pddl_eval import build_report, explain_row
from pddl_eval.definition.metrics import DOMAIN, PLAN, PROBLEM
from pddl_eval.definition.options import ScoringOptions
from pddl_eval.report.numbers import main_measure
from pddl_eval.scoring.summary import RunSummary, count_rows
from pddl_eval.scoring.table import ColumnError, score_table

from tests.support.sample import DOMAIN_TEXTS

BLOCKS = "(define (problem p) (:domain blocksworld) (:objects a b) (:init {}) (:goal (and {})))"
HELD = BLOCKS.format("(holding a) (clear b) (on-table b)", "(on a b) (arm-empty)")
PLAN_TEXT = "(stack a b)"

COMPARING = {
    "plan_lcs",
    "plan_jaccard",
    "plan_score",
    "plan_precision",
    "plan_recall",
    "reference_plan_length",
    "action_distance",
    "state_distance",
    "causal_distance",
    "reference_plan_cost",
}
"""Columns of plans that need a reference plan."""


def scored(**columns: list[Any]) -> list[dict[str, Any]]:
    types = {name: pa.string() for name in columns}
    table = pa.table({name: pa.array(values, types[name]) for name, values in columns.items()})
    return score_table(table, ScoringOptions()).to_pylist()


def test_a_plan_is_validated_without_a_column_of_reference_plans() -> None:
    (row,) = scored(reference_problem=[HELD], generated_plan=[PLAN_TEXT])
    assert (row["plan_valid"], row["goal_reached"], row["plan_verdict"]) == (True, True, "valid")
    assert (row["executable_share"], row["goal_share"], row["plan_cost"]) == (1.0, 1.0, 1.0)
    assert all(row[name] is None for name in COMPARING)
    assert (row["plan_detail"], row["score_error"]) == (None, None)


@pytest.mark.parametrize("reference", [None, "", "No plan was found within the time.", "<think>(stack a b)"])
def test_a_reference_plan_that_is_missing_or_cannot_be_read_costs_what_compares(reference: str | None) -> None:
    row, other = scored(
        reference_problem=[HELD] * 2, reference_plan=[reference, PLAN_TEXT], generated_plan=[PLAN_TEXT] * 2
    )
    assert (row["plan_valid"], row["plan_cost"], row["score_error"]) == (True, 1.0, None)
    assert all(row[name] is None for name in COMPARING)
    assert all(other[name] is not None for name in COMPARING)
    assert ("reference" in (row["plan_detail"] or "")) == bool(reference and reference.startswith("No plan"))


def test_an_empty_reference_plan_is_one_where_there_is_nothing_to_do() -> None:
    done = BLOCKS.format("(on a b) (on-table b) (clear a) (arm-empty)", "(on a b)")
    (row,) = scored(reference_problem=[done], reference_plan=[""], generated_plan=["[]"])
    assert (row["plan_lcs"], row["reference_plan_cost"], row["plan_valid"]) == (1.0, 0.0, True)


def test_a_plan_with_nothing_to_hold_it_against_is_a_mistake_in_the_data() -> None:
    rows = scored(
        reference_problem=[None, " "], reference_plan=[None, "I cannot do that."], generated_plan=[PLAN_TEXT] * 2
    )
    assert [row["plan_valid"] for row in rows] == [None, None]
    assert all(row["score_error"] for row in rows)


def test_the_domain_may_be_given_by_the_row() -> None:
    domain = DOMAIN_TEXTS["blocksworld"].replace("blocksworld", "table-top")
    problem = HELD.replace("blocksworld", "table-top")
    for column in ("domain", "reference_domain"):
        (row,) = scored(reference_problem=[problem], generated_plan=[PLAN_TEXT], **{column: [domain]})
        assert row["plan_verdict"] == "valid"
    (row,) = scored(reference_problem=[problem], generated_plan=[PLAN_TEXT])
    assert (row["plan_verdict"], row["plan_valid"]) == ("reference_invalid", None)
    assert "table-top" in row["plan_detail"]


def test_a_domain_that_cannot_be_read_costs_the_validity_and_not_the_comparison() -> None:
    (row,) = scored(
        reference_problem=[HELD], domain=["(define (domain"], generated_plan=[PLAN_TEXT], reference_plan=[PLAN_TEXT]
    )
    assert (row["plan_verdict"], row["plan_valid"], row["plan_lcs"]) == ("reference_invalid", None, 1.0)
    assert row["plan_detail"] and row["score_error"] is None


def test_a_problem_is_read_and_solved() -> None:
    answers = [HELD, HELD.replace("(on a b)", "(on a a)"), None, "Sorry.", HELD.replace("(on a b)", "(or (on a b))")]
    rows = scored(generated_problem=[*answers, HELD.replace("blocksworld", "unheard-of")])
    assert [row["parseable"] for row in rows] == [True, True, False, False, False, True]
    assert [row["solvable"] for row in rows] == [True, False, False, False, False, None]
    assert [row["verdict"] for row in rows] == [None, "unsolvable", "empty", "unparseable", "not_strips", None]
    assert rows[0]["certificate"] and all(row["detail"] for row in rows)
    for name in ("equivalent", "equivalent_untyped", "solves_reference", "reference_certificate", "score_error"):
        assert [row[name] for row in rows] == [None] * 6


def test_a_problem_is_solved_in_the_domain_that_was_written_with_it() -> None:
    """Both files are the model's, in words of its own and beyond STRIPS."""
    lamps = """(define (domain lamps) (:predicates (lit ?l))
      (:action switch :parameters (?l) :precondition (not (lit ?l)) :effect (lit ?l)))"""
    room = "(define (problem p) (:domain lamps) (:objects a b) (:init (lit a)) (:goal (forall (?l) (lit ?l))))"
    dark = room.replace("(forall (?l) (lit ?l))", "(not (lit a))")
    answers = [room, dark, room.replace("lamps", "doors"), room, HELD]
    domains = [f"Here: {lamps}", lamps, lamps, "(define (domain", lamps]
    rows = scored(generated_problem=answers, generated_domain=domains)
    assert [row["verdict"] for row in rows] == [None, "unsolvable", "not_strips", "not_strips", None]
    assert [row["solvable"] for row in rows] == [True, False, False, False, True]
    (given,) = scored(generated_problem=[room], generated_domain=[lamps], domain=["blocksworld"])
    assert given["verdict"] == "not_strips"
    told = explain_row({"generated_problem": answers[1], "generated_domain": lamps}, only="problem").parts["problem"]
    assert told.verdict.verdict == "unsolvable"


def test_a_problem_of_another_domain_than_the_given_one() -> None:
    (row,) = scored(generated_problem=[HELD], domain=["gripper"])
    assert (row["verdict"], row["solvable"], row["equivalent"]) == ("domain_mismatch", False, None)


def test_a_domain_is_read_and_checked() -> None:
    text = DOMAIN_TEXTS["blocksworld"]
    undeclared = text.replace("(holding ?b) (clear ?base)", "(holding ?b) (free ?base)", 1)
    rows = scored(generated_domain=[text, "Sorry.", None, undeclared])
    assert [row["domain_verdict"] for row in rows] == [None, "unparseable", "empty", None]
    assert [bool(row["domain_certificate"]) for row in rows] == [True, False, False, True]
    assert rows[0]["domain_detail"] is None
    assert "free" in rows[3]["domain_detail"]
    compared = [column.name for column in DOMAIN.columns if column.type is not str]
    assert all(row[name] is None for row in rows for name in compared)


def test_what_is_not_executed_in_a_domain_is_named() -> None:
    text = "(define (domain d) (:types t) (:predicates (p ?x - t)) (:action go :effect (forall (?x - t) (p ?y))))"
    rows = scored(generated_domain=[text, text.replace("?y", "?x"), text.replace("(:action", "(:process")])
    assert [row["domain_detail"] and row["domain_detail"].partition(":")[0] for row in rows][:2] == [
        "not executed",
        None,
    ]
    assert "?y is not a parameter" in rows[0]["domain_detail"] and ":process" in rows[2]["domain_detail"]


def test_what_was_not_compared_is_no_wrong_answer() -> None:
    """Two rows with a reference, of which one is right, and two without."""
    answers = [HELD, HELD.replace("on a b", "clear b"), HELD, "Sorry."]
    table = pa.table({"reference_problem": [HELD, HELD, None, ""], "generated_problem": answers})
    scores = score_table(table, ScoringOptions())
    statistics = count_rows(scores, [column.name for column in PROBLEM.columns], ScoringOptions())
    assert statistics["equivalent"] == {"true": 1, "false": 1, "null": 0}
    assert statistics["parseable"] == {"true": 3, "false": 1, "null": 0}
    assert statistics["not compared"] == {"problem": 2}
    summary = RunSummary("scored", 4, 4, 0, 0, 1, 0, "local", 1, 0.1, "s", statistics)
    assert (summary.share("equivalent"), summary.share("solves_reference")) == (0.5, 0.5)
    assert ("not compared", "2 rows: no reference problem") in summary.lines()
    import polars as pl

    report = build_report(pl.from_arrow(scores), by=[])  # type: ignore[arg-type]
    assert report.not_compared == {"problem": 2}
    percent = dict(report.rates.select("measure", "percent").rows())
    assert (percent["equivalent"], percent["solves_reference"], percent["parseable"]) == (50.0, 50.0, 75.0)


def test_the_headline_of_plans_without_references_is_validity() -> None:
    import polars as pl

    plans = [PLAN_TEXT, "(putdown a)", "(putdown a)(fly)", ""]
    table = pa.table({"reference_problem": [HELD] * 4, "generated_plan": plans, "model": ["m", "m", "n", "n"]})
    scores = score_table(table, ScoringOptions())
    statistics = count_rows(scores, [column.name for column in PLAN.asked(ScoringOptions()).columns], ScoringOptions())
    summary = RunSummary("scored", 4, 4, 0, 0, 1, 0, "local", 1, 0.1, "s", statistics)
    labels = [label for _, lines in summary.score_sections() for label, _ in lines]
    verdicts = ("empty", "goal_not_reached", "unknown_action", "valid")
    assert labels[0] == "plan_valid" and labels[-4:] == [f"plan_verdict {verdict}" for verdict in verdicts]
    report = build_report(pl.from_arrow(scores))  # type: ignore[arg-type]
    assert main_measure(report.rates["measure"].unique().to_list()) == "plan_valid"
    columns = report.main_table().select("measure", "model", "percent")
    assert {(measure, model): percent for measure, model, percent in columns.rows()} == {
        ("plan_valid", None): 25.0,
        ("plan_valid", "m"): 50.0,
        ("plan_valid", "n"): 0.0,
        ("goal_reached", None): 25.0,
        ("goal_reached", "m"): 50.0,
        ("goal_reached", "n"): 0.0,
    }
    outcomes = dict(report.outcomes.filter(pl.col("model").is_null()).select("verdict", "rows").rows())
    assert outcomes == {"valid": 1, "goal_not_reached": 1, "unknown_action": 1, "empty": 1}
    metrics = set(report.metrics["metric"])
    assert {"executable_share", "goal_share", "plan_cost"} <= metrics and metrics.isdisjoint(COMPARING)


def test_what_is_missing_is_named() -> None:
    with pytest.raises(ColumnError, match="no reference_plan or reference_problem"):
        scored(generated_plan=[PLAN_TEXT])
    with pytest.raises(ColumnError, match="no column to score"):
        scored(name=["x"])
    with pytest.raises(ColumnError, match="no generated_plan"):
        scored(reference_plan=[PLAN_TEXT])


def test_a_pair_says_which_columns_it_needs() -> None:
    assert PROBLEM.is_among(["generated_problem"]) and DOMAIN.is_among(["generated_domain"])
    assert [PLAN.is_among(["generated_plan", *more]) for more in ([], ["reference_plan"], ["reference_problem"])] == [
        False,
        True,
        True,
    ]
