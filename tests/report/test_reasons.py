"""Why plans and domains fail: what became of them, counted by hand."""

from pathlib import Path

import polars as pl
import pytest
from pddl_eval.report import build_report, report_page
from pddl_eval.report.groups import at_level

from tests.report.scored_rows import write_partitions

PLANS = (
    ("a", True, "valid", None),
    ("a", False, "precondition", "step 2 fails: (stack b1 b2) needs (clear b2)"),
    ("a", False, "precondition", "step 5 fails: (stack b7 b3) needs (clear b3)"),
    ("b", False, "goal_not_reached", "the goal is not reached: (on b1 b2)"),
    ("b", False, "empty", "there is no answer"),
    ("b", None, None, None),
)
DOMAINS = ("identical", "renamed", "operators_differ", "operators_differ", "reference_invalid", "empty")
SAID = ("", "go for move", "go lacks (at ?x)", "go lacks (at ?y)", "cannot be read", "there is no domain")


def scored() -> pl.DataFrame:
    names = ("model", "plan_valid", "plan_verdict", "plan_detail")
    plans = pl.DataFrame(PLANS, schema=names, orient="row")
    return plans.with_columns(domain_verdict=pl.Series(DOMAINS), domain_detail=pl.Series(SAID))


def test_plans_have_verdicts() -> None:
    outcomes = build_report(scored()).outcomes
    alone = at_level(outcomes, ["model"], ()).filter(pair="plan")
    assert dict(alone.select("verdict", "rows").rows()) == {
        "precondition": 2,
        "valid": 1,
        "goal_not_reached": 1,
        "empty": 1,
    }
    assert alone["percent"].sum() == pytest.approx(100), "a plan that was not executed is not among them"
    by_model = at_level(outcomes, ["model"], ("model",)).filter(pair="plan", model="b")
    assert set(by_model["verdict"]) == {"goal_not_reached", "empty"}


def test_the_commonest_details_of_plans_and_domains() -> None:
    reasons = build_report(scored()).reasons
    first = {pair: frame.row(0) for (pair,), frame in reasons.group_by("pair", maintain_order=True)}
    assert first["plan"] == ("plan", "precondition", "step # fails: (stack …) needs (clear …)", 2, 50.0)
    assert first["domain"] == ("domain", "operators_differ", "go lacks (at …)", 2, 50.0)
    assert set(reasons.filter(pair="domain")["verdict"]).isdisjoint({"identical", "renamed"})


def test_examples_have_the_command_that_explains_them(tmp_path: Path) -> None:
    folder = write_partitions(tmp_path / "scored", [scored()])
    examples = build_report(folder).reason_examples
    shown = examples.filter(pair="plan", verdict="goal_not_reached").row(0, named=True)
    assert (shown["row"], shown["model"]) == (3, "b")
    assert shown["command"] == f"pddl-eval explain {folder} --row 3 --only plan"


def test_the_page_has_them_under_plans_and_domains() -> None:
    sections = {section.title: section for section in report_page(build_report(scored())).sections}
    for title, meaning in (("Plans", "a precondition does not hold"), ("Domains", "the same operators in other words")):
        cells = [cell.text for table in sections[title].tables for row in table.rows for cell in row]
        assert meaning in cells


def test_a_dataset_without_these_columns_has_none() -> None:
    report = build_report(pl.DataFrame({"plan_valid": [True], "plan_score": [1.0]}))
    assert report.outcomes.is_empty() and report.reasons.is_empty() and report.reason_examples.is_empty()
    assert build_report(scored().head(1)).reasons.is_empty(), "all are right"
