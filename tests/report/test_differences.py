"""Models compared on the same problems, against differences made by hand."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest
from pddl_eval.report import build_report

from tests.report.scored_rows import answers


def equivalent(frame: pl.DataFrame, pair_on: str | None = None) -> list[dict[str, Any]]:
    """The comparisons in percent equivalent."""
    found = build_report(frame, by=["model"], pair_on=pair_on).differences
    return found.filter(pl.col("measure") == "equivalent").to_dicts() if found.height else []


def test_the_difference_is_over_the_problems_that_both_answered() -> None:
    (row,) = equivalent(answers())
    # Problems 1 to 4; the fifth is answered by one model alone, and its reference is a mistake.
    assert (row["first"], row["second"], row["problems"]) == ("strong", "weak", 4)
    assert (row["first_percent"], row["second_percent"], row["difference"]) == (75.0, 0.0, 75.0)
    assert (row["only_first"], row["only_second"]) == (3, 0)
    assert 0 <= row["low"] < 75 < row["high"] <= 100


def test_pairs_count_not_the_models_as_if_they_were_independent() -> None:
    # Both models are right on the same half of the problems: no doubt about the difference at all.
    frame = pl.DataFrame(
        {
            "model": ["a"] * 100 + ["b"] * 100,
            "id": [*range(100)] * 2,
            "equivalent": ([True] * 50 + [False] * 50) * 2,
        }
    )
    (row,) = equivalent(frame)
    assert (row["difference"], row["low"], row["high"]) == (0, 0, 0)


def test_several_answers_to_a_problem_weigh_as_one() -> None:
    frame = pl.DataFrame(
        {
            "model": ["a", "a", "a", "b", "b"],
            "id": [1, 1, 2, 1, 2],
            "equivalent": [True, False, True, False, True],
        }
    )
    (row,) = equivalent(frame)
    assert (row["problems"], row["first_percent"], row["second_percent"]) == (2, 75.0, 50.0)
    assert (row["only_first"], row["only_second"]) == (1, 0)


def test_what_was_not_decided_counts_as_no() -> None:
    frame = pl.DataFrame({"model": ["a", "b", "a", "b"], "id": [1, 1, 2, 2], "equivalent": [True, None, True, True]})
    (row,) = equivalent(frame)
    assert row["difference"] == 50.0


def test_a_model_that_was_nowhere_decided_is_not_compared() -> None:
    frame = pl.DataFrame({"model": ["a", "b"], "id": [1, 1], "equivalent": [True, None], "parseable": [True, True]})
    found = build_report(frame).differences
    assert found["measure"].to_list() == ["parseable"]


def test_the_first_column_on_which_models_meet_identifies_problems() -> None:
    frame = answers().with_columns(
        pair_id=pl.int_range(pl.len()), reference_problem=pl.format("(define (problem p{}))", "id")
    )
    report = build_report(frame.drop("id"))
    assert report.paired_on == "reference_problem"
    assert report.differences["problems"].unique().to_list() == [4]
    assert build_report(frame).paired_on == "id"


def test_pair_on_chooses_the_column() -> None:
    frame = answers().rename({"id": "task"})
    assert build_report(frame).differences.is_empty()
    assert build_report(frame, pair_on="task").paired_on == "task"
    with pytest.raises(ValueError, match="there is no column nix to pair on"):
        build_report(frame, pair_on="nix")


def test_three_models_make_three_pairs_in_natural_order() -> None:
    frame = pl.DataFrame({"model": ["m10", "m9", "m2"], "id": [1, 1, 1], "equivalent": [True, False, True]})
    assert [(row["first"], row["second"]) for row in equivalent(frame)] == [("m2", "m9"), ("m2", "m10"), ("m9", "m10")]


def test_groups_that_share_no_problem_are_not_compared() -> None:
    report = build_report(answers(), by=["domain"])
    assert report.differences.is_empty()
    assert report.paired_on is None
