"""Intervals against published values and against the textbook's loop."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pddl_eval.report.intervals import bootstrap_mean, wilson


@pytest.mark.parametrize(
    ("yes", "rows", "low", "high"),
    [
        # R: prop.test(8, 10, correct = FALSE) and binom::binom.confint(8, 10, methods = "wilson")
        (8, 10, 0.4901625, 0.9433178),
        # Newcombe, Two-sided confidence intervals for the single proportion, Statistics in Medicine 17 (1998), table I
        (81, 263, 0.2553, 0.3662),
        (15, 148, 0.0624, 0.1605),
        (0, 20, 0.0000, 0.1611),
        (1, 29, 0.0061, 0.1718),
    ],
)
def test_wilson_has_its_published_values(yes: int, rows: int, low: float, high: float) -> None:
    assert wilson(yes, rows) == pytest.approx((low, high), abs=6e-5)


@given(st.integers(1, 10**6).flatmap(lambda rows: st.tuples(st.integers(0, rows), st.just(rows))))
def test_wilson_holds_the_rate_and_mirrors(case: tuple[int, int]) -> None:
    yes, rows = case
    low, high = wilson(yes, rows)
    assert -1e-9 <= low <= yes / rows + 1e-9
    assert yes / rows - 1e-9 <= high <= 1 + 1e-9
    assert wilson(rows - yes, rows) == pytest.approx((1 - high, 1 - low))


def test_wilson_is_the_same_on_columns() -> None:
    frame = pl.DataFrame({"yes": [8.0, 81.0], "rows": [10.0, 263.0]})
    low, high = wilson(pl.col("yes"), pl.col("rows"))
    found = frame.select(low.alias("low"), high.alias("high")).rows()
    assert found == [pytest.approx(wilson(8, 10)), pytest.approx(wilson(81, 263))]


def test_the_bootstrap_is_that_of_resampled_problems() -> None:
    values = [-1.0] * 20 + [0.0] * 50 + [1.0] * 30
    generator = np.random.default_rng(7)
    means = [generator.choice(values, size=len(values)).mean() for _ in range(20_000)]
    assert bootstrap_mean([-1, 0, 1], [20, 50, 30]) == pytest.approx(np.quantile(means, [0.025, 0.975]), abs=0.011)


def test_the_bootstrap_of_many_problems_is_the_normal_interval() -> None:
    low, high = bootstrap_mean([0, 1], [30_000, 10_000])
    half = 1.96 * (0.25 * 0.75 / 40_000) ** 0.5
    assert (low, high) == pytest.approx((0.25 - half, 0.25 + half), abs=2e-4)


def test_the_bootstrap_of_the_same_sample_is_the_same() -> None:
    assert bootstrap_mean([-1, 0, 1], [2, 5, 3]) == bootstrap_mean([-1, 0, 1], [2, 5, 3])


def test_the_bootstrap_of_many_different_values_draws_in_turns() -> None:
    many = np.linspace(0, 1, 400)
    low, high = bootstrap_mean(many.tolist(), [1] * len(many))
    half = 1.96 * many.std() / len(many) ** 0.5
    assert (low, high) == pytest.approx((0.5 - half, 0.5 + half), abs=2e-3)
