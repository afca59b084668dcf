"""Plan and domain metrics against means and quantiles made by hand."""

from __future__ import annotations

import polars as pl
import pytest
from pddl_eval.report import build_report

from tests.report.scored_rows import answers


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
    assert differences.select("problems", "first_percent", "second_percent").rows() == [(2, 100.0, 0.0)]
