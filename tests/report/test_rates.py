"""Rates against counts made by hand: grouping, what is left out, what is undecided."""

from __future__ import annotations

import polars as pl
import pytest
from pddl_eval.report import Report, build_report
from pddl_eval.report.groups import at_level

from tests.report.scored_rows import answers


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


def test_no_rows_no_rates() -> None:
    report = build_report(answers().clear())
    assert report.rates.is_empty()
    assert report.tables() == {}


def test_too_many_groups_are_refused() -> None:
    frame = pl.DataFrame({"id": range(10_001), "equivalent": [True] * 10_001})
    with pytest.raises(ValueError, match="id make 10,001 groups; at most 10,000"):
        build_report(frame, by=["id"])
