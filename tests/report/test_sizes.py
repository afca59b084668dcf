"""Rates against size: where the size comes from, and the bins."""

from __future__ import annotations

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pddl_eval.report import build_report
from pddl_eval.report.numbers import MOST_BINS, choose_bins, number_of_atoms

from tests.report.scored_rows import answers


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
