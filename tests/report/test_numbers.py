"""The numbers of a report against numbers made by hand: rates, sizes, differences, verdicts, details, metrics."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pddl_eval.report import Report, build_report, report_page
from pddl_eval.report.groups import at_level
from pddl_eval.report.numbers import MOST_BINS, choose_bins, main_measure, number_of_atoms
from pddl_eval.report.reasons import kind_of_detail
from pddl_eval.scoring.columns import DOMAIN_MEASURES

from tests.support.scored_rows import answers, write_partitions


def cell(report: Report, measure: str, **groups: str) -> tuple[int, int, int, float | None]:
    """Rows, yes, undecided and percent of a measure for a group."""
    found = at_level(report.rates, report.by, tuple(groups)).filter(
        pl.col("measure") == measure, *(pl.col(name) == value for name, value in groups.items())
    )
    rows = found.select("rows", "yes", "undecided", "percent").rows()
    assert len(rows) == 1
    return rows[0]


def test_rates_of_all_rows() -> None:
    report = build_report(answers())
    # Eight rows: the ninth has a reference that is a mistake in the data.
    assert cell(report, "parseable") == (8, 7, 0, 87.5)
    assert cell(report, "solvable") == (8, 6, 1, 75.0)
    assert cell(report, "equivalent") == (8, 3, 1, 37.5)
    assert cell(report, "equivalent_untyped") == (8, 4, 1, 50.0)
    assert (report.rows, report.mistakes, report.failed) == (9, 1, 0)


def test_rates_of_groups_alone_and_together() -> None:
    report = build_report(answers())
    assert report.by == ("model", "domain")
    assert cell(report, "equivalent", model="strong") == (4, 3, 0, 75.0)
    assert cell(report, "equivalent", model="weak") == (4, 0, 1, 0.0)
    assert cell(report, "equivalent", domain="gripper") == (4, 1, 1, 25.0)
    assert cell(report, "equivalent", model="strong", domain="gripper") == (2, 1, 0, 50.0)
    assert cell(report, "equivalent_untyped", model="weak", domain="blocksworld") == (2, 1, 0, 50.0)


def test_a_damaged_line_counts_as_undecided_and_is_no_model() -> None:
    damaged = {"score_error": ["line 7 is not JSON"] * 2}
    report = build_report(pl.concat([answers(), pl.DataFrame(damaged)], how="diagonal"), by=["model"])
    assert cell(report, "equivalent") == (10, 3, 3, 30.0), "in all rows together"
    assert set(report.rates["model"].drop_nulls()) == {"strong", "weak"}
    assert set(report.pass_at_k["model"]) <= {"strong", "weak"} if report.pass_at_k.height else True
    text = " ".join(
        cell.text for section in report_page(report).sections[:1] for row in section.tables[0].rows for cell in row
    )
    assert "(none)" not in text
    # An answer that names no model and was scored is one.
    unnamed = answers().with_columns(model=pl.col("model").replace("weak", None))
    assert set(build_report(unnamed, by=["model"]).rates["model"].drop_nulls()) == {"strong", "(none)"}


def test_every_level_counts_every_row_once() -> None:
    report = build_report(answers(), by=["domain", "model", "num_objects"])
    for level in ((), ("domain",), ("num_objects",), ("domain", "model"), ("domain", "model", "num_objects")):
        frame = at_level(report.rates, report.by, level).filter(pl.col("measure") == "parseable")
        assert frame["rows"].sum() == 8
        assert frame["yes"].sum() == 7


def test_the_interval_is_wilsons_in_percent() -> None:
    frame = pl.DataFrame({"parseable": [True] * 8 + [False] * 2})
    row = build_report(frame).rates.row(0, named=True)
    assert (row["low"], row["high"]) == pytest.approx((49.016, 94.332), abs=0.001)


def test_bounds_stay_between_0_and_100() -> None:
    rates = build_report(pl.DataFrame({"parseable": [False] * 3, "equivalent": [True] * 3})).rates
    assert 0 <= min(rates["low"].to_list()) < 1e-9
    assert 100 - 1e-9 < max(rates["high"].to_list()) <= 100


def test_what_nobody_decided_has_no_rate() -> None:
    frame = pl.DataFrame({"equivalent": [True, False], "solvable": pl.Series([None, None], dtype=pl.Boolean)})
    assert build_report(frame).rates["measure"].to_list() == ["equivalent"]


def test_a_group_in_which_nothing_was_decided_has_no_percent() -> None:
    frame = pl.DataFrame({"model": ["a", "b"], "solvable": [True, None]})
    assert cell(build_report(frame), "solvable", model="b") == (1, 0, 1, None)


def test_rows_that_failed_to_be_scored_are_undecided() -> None:
    frame = pl.DataFrame({"equivalent": [True, None], "verdict": ["identical", None], "score_error": [None, "crash"]})
    report = build_report(frame)
    assert cell(report, "equivalent") == (2, 1, 1, 50.0)
    assert report.failed == 1


def test_an_answer_without_a_plan_does_not_solve_the_reference_and_is_decided() -> None:
    frame = pl.DataFrame({"solvable": [True, False, None, True], "solves_reference": [True, None, None, None]})
    assert cell(build_report(frame), "solves_reference") == (4, 1, 1, 25.0)
    assert cell(build_report(frame[1:2]), "solves_reference") == (1, 0, 0, 0.0)


def test_details_of_domains_are_of_one_kind_whatever_their_notes_on_behaviour() -> None:
    details = [
        "go lacks the effect (p)",
        "go lacks the effect (p); the generated domain has no plan: (q) is never true",
    ]
    frame = pl.DataFrame({"domain_verdict": ["operators_differ"] * 2, "domain_detail": details})
    assert build_report(frame).reasons["rows"].to_list() == [2]


def test_no_rows_no_rates() -> None:
    report = build_report(answers().clear())
    assert report.rates.is_empty()
    assert report.tables() == {}


def test_too_many_groups_are_refused() -> None:
    frame = pl.DataFrame({"id": range(10_001), "equivalent": [True] * 10_001})
    with pytest.raises(ValueError, match="id make 10,001 groups; at most 10,000"):
        build_report(frame, by=["id"])


def by_size(frame: pl.DataFrame, **options: object) -> list[tuple[str, int, int]]:
    """Size, rows and yes of ``equivalent`` for all rows together."""
    sizes = build_report(frame, by=[]).sizes.filter(pl.col("measure") == "equivalent")
    return sizes.select("problem_size", "rows", "yes").rows()


def test_numbers_of_objects_are_binned() -> None:
    assert by_size(answers()) == [("3", 2, 1), ("4", 2, 1), ("5", 2, 1), ("9", 2, 0)]
    wide = answers().with_columns(pl.col("num_objects") * 10)
    assert by_size(wide) == [("21–30", 2, 1), ("31–40", 2, 1), ("41–50", 2, 1), ("81–90", 2, 0)]


def test_a_column_of_buckets_is_taken_as_it_is() -> None:
    buckets = pl.Series(["1-20", "1-20", "21-40", "100-120"] * 2 + [">120"])
    frame = answers().with_columns(size_bucket=buckets)
    assert by_size(frame) == [("1-20", 4, 2), ("21-40", 2, 1), ("100-120", 2, 0)]
    assert build_report(frame).size == "size"


def test_without_a_column_the_atoms_of_the_reference_are_counted() -> None:
    text = "(define (problem p) (:domain d) (:objects a b) (:init (on a b) (clear a) (q)) (:goal (and (clear b))))"
    frame = answers().drop("num_objects").with_columns(reference_problem=pl.lit(text))
    assert by_size(frame) == [("4", 8, 3)]
    assert build_report(frame).size == "atoms in the reference"


@pytest.mark.parametrize(
    ("text", "atoms"),
    [
        ("(define (problem p) (:init (a) (b x)) (:goal (a)))", 3),
        ("( DEFINE ( Problem p) (:init ( a ) (b x)) (:goal (AND (a) (android x))))", 4),
        ("", 0),
    ],
)
def test_sections_and_connectives_are_no_atoms(text: str, atoms: int) -> None:
    assert pl.DataFrame({"t": [text]}).select(number_of_atoms(pl.col("t"))).item() == atoms


def test_the_paper_s_buckets_come_out_of_the_paper_s_sizes() -> None:
    bins = choose_bins(pl.DataFrame({"value": [1, 20, 60, 165, 400], "rows": [100, 400, 400, 95, 5]}))
    assert [bins.label(start) for start in (1, 21, 181)] == ["1–20", "21–40", "> 180"]


@given(
    st.dictionaries(st.integers(0, 10**7), st.integers(1, 10**4), min_size=1, max_size=30),
)
def test_bins_are_few_and_hold_every_value_once(counts: dict[int, int]) -> None:
    frame = pl.DataFrame({"value": list(counts), "rows": list(counts.values())})
    bins = choose_bins(frame)
    starts = frame.select("value", bins.start(pl.col("value")).alias("start"))
    assert starts["start"].n_unique() <= MOST_BINS
    for value, start in starts.rows():
        assert start <= value
        assert value < start + bins.step or start == bins.last
    assert len({bins.label(start) for start in starts["start"].unique()}) == starts["start"].n_unique()


def test_each_group_has_its_own_rates() -> None:
    sizes = build_report(answers()).sizes.filter(pl.col("measure") == "equivalent", pl.col("model") == "strong")
    assert sizes.select("problem_size", "percent").rows() == [("3", 100.0), ("4", 100.0), ("5", 100.0), ("9", 0.0)]


def equivalent(frame: pl.DataFrame) -> list[dict[str, Any]]:
    """The comparisons in percent equivalent."""
    found = build_report(frame, by=["model"]).differences
    return found.filter(pl.col("measure") == "equivalent").to_dicts() if found.height else []


def test_the_difference_is_over_the_problems_that_both_answered() -> None:
    (row,) = equivalent(answers())
    # Problems 1 to 4; the fifth is answered by one model alone, and its reference is a mistake.
    assert (row["first"], row["second"], row["references"]) == ("strong", "weak", 4)
    assert (row["first_percent"], row["second_percent"], row["difference"]) == (75.0, 0.0, 75.0)
    assert (row["first_better"], row["second_better"]) == (3, 0)
    assert -100 <= row["low"] < 75 < row["high"] <= 100


def test_pairs_count_not_the_models_as_if_they_were_independent() -> None:
    # Both models are right on the same half of the problems: the interval is that of few disagreements among 100.
    frame = pl.DataFrame(
        {
            "model": ["a"] * 100 + ["b"] * 100,
            "reference_id": [*range(100)] * 2,
            "equivalent": ([True] * 50 + [False] * 50) * 2,
        }
    )
    (row,) = equivalent(frame)
    assert (row["difference"], row["low"], row["high"]) == (
        0,
        pytest.approx(-2.72, abs=0.01),
        pytest.approx(2.72, abs=0.01),
    )


def test_several_answers_to_a_problem_weigh_as_one() -> None:
    frame = pl.DataFrame(
        {
            "model": ["a", "a", "a", "b", "b"],
            "reference_id": [1, 1, 2, 1, 2],
            "equivalent": [True, False, True, False, True],
        }
    )
    (row,) = equivalent(frame)
    assert (row["references"], row["first_percent"], row["second_percent"]) == (2, 75.0, 50.0)
    assert (row["first_better"], row["second_better"]) == (1, 0)


def test_what_was_not_decided_counts_as_no() -> None:
    frame = pl.DataFrame(
        {"model": ["a", "b", "a", "b"], "reference_id": [1, 1, 2, 2], "equivalent": [True, None, True, True]}
    )
    (row,) = equivalent(frame)
    assert row["difference"] == 50.0


def test_a_model_that_was_nowhere_decided_is_not_compared() -> None:
    frame = pl.DataFrame(
        {"model": ["a", "b"], "reference_id": [1, 1], "equivalent": [True, None], "parseable": [True, True]}
    )
    found = build_report(frame).differences
    assert found["measure"].to_list() == ["parseable"]


def test_three_models_make_three_pairs_in_natural_order() -> None:
    frame = pl.DataFrame({"model": ["m10", "m9", "m2"], "reference_id": [1, 1, 1], "equivalent": [True, False, True]})
    assert [(row["first"], row["second"]) for row in equivalent(frame)] == [("m2", "m9"), ("m2", "m10"), ("m9", "m10")]


def kind(detail: str) -> str:
    return pl.DataFrame({"detail": [detail]}).select(kind_of_detail(pl.col("detail"))).item()


def test_details_that_differ_in_names_are_of_one_kind() -> None:
    assert kind("the goal asks for (on b1 b2)") == kind("the goal asks for (on b13 b4)") == "the goal asks for (on …)"
    assert kind("b3 has type block") == kind("b12 has type block")
    assert kind("5 objects instead of 6: b6 is missing") == "# objects instead of #: b# is missing"


def test_details_that_differ_in_predicates_are_not() -> None:
    assert kind("lacks (on b1 b2)") != kind("lacks (clear b1)")
    assert kind("has (arm-empty)") == "has (arm-empty)"
    assert kind("expected `(` or `)`, found `q`") == "expected `(` or `)`, found `q`", "these are no arguments"


def test_a_detail_that_quotes_a_whole_answer_is_cut() -> None:
    assert len(kind("x" * 100_000)) == 400


def test_verdicts_are_counted_by_group() -> None:
    report = build_report(answers())
    alone = at_level(report.verdicts, report.by, ())
    assert alone.row(0, named=True)["verdict"] == "goal_differs"
    assert alone["rows"].sum() == 9
    assert alone["percent"].sum() == pytest.approx(100)
    strong = at_level(report.verdicts, report.by, ("model",)).filter(model="strong", verdict="goal_differs")
    assert strong.select("rows", "percent").row(0) == (1, 25.0)


def test_the_commonest_kinds_come_first() -> None:
    details = build_report(answers()).details
    assert details.row(0) == (
        "goal_differs",
        "the goal asks for (on …), which the reference's does not imply",
        2,
        pytest.approx(100 * 2 / 6),
    )
    assert set(details["verdict"]).isdisjoint({"identical", "isomorphic", "equivalent"})


def test_examples_show_three_rows_of_different_kinds_first() -> None:
    details = ["lacks (on b1 b2)"] * 5 + ["lacks (clear b1)"] * 4 + ["lacks (arm-empty)"] + ["lacks (on b1 b9)"] * 5
    frame = pl.DataFrame({"verdict": ["init_differs"] * 15, "detail": details, "equivalent": [False] * 15})
    assert build_report(frame).examples["row"].to_list() == [0, 5, 9]


def test_examples_of_one_kind_are_its_first_rows() -> None:
    frame = pl.DataFrame({"verdict": ["empty"] * 9, "detail": ["no answer"] * 9, "equivalent": [False] * 9})
    assert build_report(frame).examples["row"].to_list() == [0, 1, 2]


def test_examples_say_how_to_explain_them(tmp_path: Path) -> None:
    frame = answers()
    folder = write_partitions(tmp_path / "it's scored", [frame.head(4), frame.tail(5)])
    examples = build_report(folder).examples
    shown = examples.filter(pl.col("verdict") == "types_differ").row(0, named=True)
    assert (shown["row"], shown["model"], shown["domain"]) == (5, "weak", "blocksworld")
    assert shown["detail"] == "b1 has type block instead of object"
    quoted = str(folder).replace("'", "'\"'\"'")
    assert shown["command"] == f"pddl-eval explain '{quoted}' --row 5"


def test_examples_of_a_frame_have_no_command() -> None:
    assert build_report(answers()).examples["command"].null_count() == 5 + 1


def test_means_and_quantiles_leave_out_nulls_and_mistakes_in_the_data() -> None:
    metrics = build_report(answers(plans=True)).metrics
    row = metrics.row(by_predicate=pl.col("model").is_null() & (pl.col("metric") == "plan_score"), named=True)
    # 0, 0.25, 0.3, 0.5, 0.5, 1, 1: the eighth is null, the ninth has an invalid reference.
    assert row["rows"] == 7
    assert row["mean"] == pytest.approx(3.55 / 7)
    assert (row["min"], row["median"], row["max"]) == (0.0, 0.5, 1.0)
    assert (row["q25"], row["q75"]) == pytest.approx((0.275, 0.75))


def test_groups_have_means_of_their_own() -> None:
    metrics = build_report(answers(plans=True)).metrics
    means = metrics.filter(pl.col("metric") == "plan_score").select("model", "mean").rows()
    assert means == [(None, pytest.approx(3.55 / 7)), ("strong", 0.75), ("weak", pytest.approx(0.55 / 3))]


def test_nan_is_no_value() -> None:
    row = build_report(pl.DataFrame({"plan_score": [1.0, float("nan")]})).metrics.row(0, named=True)
    assert (row["rows"], row["mean"]) == (1, 1.0)


def test_ratios_fall_into_tenths_of_which_the_last_holds_1() -> None:
    frame = pl.DataFrame({"plan_score": [0.0, 0.1, 0.1 + 0.2, 0.7, 0.95, 1.0]})
    found = build_report(frame).histograms.select("value_from", "value_to", "rows").rows()
    assert found == [(0.0, 0.1, 1), (0.1, 0.2, 1), (0.3, 0.4, 1), (0.7, 0.8, 1), (0.9, 1.0, 2)]


def test_lengths_fall_into_bins_of_whole_numbers() -> None:
    frame = pl.DataFrame({"plan_length": [1] * 50 + [2] * 49 + [1000]})
    found = build_report(frame).histograms.select("value_from", "value_to", "rows").rows()
    assert found == [(1.0, 2.0, 50), (2.0, 3.0, 49), (3.0, None, 1)]


def test_every_row_with_a_value_is_in_one_bin_of_each_level() -> None:
    histograms = build_report(answers(plans=True)).histograms.filter(pl.col("metric") == "plan_length")
    assert histograms.filter(pl.col("model").is_null())["rows"].sum() == 8
    assert histograms.filter(pl.col("model").is_not_null())["rows"].sum() == 8


def test_rates_of_plans_are_of_those_that_could_be_checked() -> None:
    rates = build_report(answers(plans=True), by=[]).rates.filter(pl.col("measure") == "plan_valid")
    assert rates.select("rows", "yes", "undecided").row(0) == (6, 2, 2)
    assert rates["percent"].to_list() == [pytest.approx(100 / 3)]


def test_plans_that_could_not_be_checked_are_not_compared() -> None:
    differences = build_report(answers(plans=True), by=["model"]).differences.filter(pl.col("measure") == "plan_valid")
    # The weak model's plans for problems 3 and 4 could not be checked.
    assert differences.select("references", "first_percent", "second_percent").rows() == [(2, 100.0, 0.0)]


def test_examples_show_a_group_by_its_own_value_whatever_it_is_called() -> None:
    frame = pl.DataFrame({"verdict": ["empty"], "detail": ["no answer"], "equivalent": [False]})
    for name in ("kind", "turn"):
        report = build_report(frame.with_columns(pl.lit("mine").alias(name)), by=[name])
        assert report.examples[name].to_list() == ["mine"]


# --- Why plans and domains fail: what became of them, counted by hand


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


def test_the_strictest_measure_depends_on_no_order() -> None:
    """A set of strings has another order in each process: reports of domains alone were ordered by any measure."""
    for first in DOMAIN_MEASURES:
        assert main_measure([first, *DOMAIN_MEASURES]) == DOMAIN_MEASURES[0] == "domain_equivalent"


def test_references_that_are_mistakes_or_state_one_problem_twice_are_doubtful() -> None:
    rows = {
        "reference_id": ["a", "b", "c", "c"],
        "reference_certificate": ["x", "x", None, None],
        "verdict": ["identical", "identical", "reference_invalid", "reference_invalid"],
        "detail": ["", "", "line 3 is cut", "line 3 is cut"],
        "equivalent": [True, True, None, None],
    }
    found = build_report(pl.DataFrame(rows)).doubts.select("doubt", "rows", "first").rows()
    assert found == [("2 questions with one problem", 2, 0), ("the reference: line # is cut", 2, 2)]
