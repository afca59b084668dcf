"""Intervals, tests and estimates against published values, scipy, the textbook's procedures, and simulation."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from math import comb

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pddl_eval.report.intervals import (
    holm,
    mcnemar,
    moments,
    mover,
    paired,
    pass_at_k,
    student,
    wilson,
    with_interval,
)
from scipy import stats


def clustered_rate(yes: Sequence[int], rows: Sequence[int]) -> tuple[float, float]:
    """The report's interval of the rate of yes, from each reference's yes and rows."""
    table = pl.DataFrame({"yes": yes, "rows": rows}, schema={"yes": pl.Int64, "rows": pl.Int64})
    together = table.group_by(pl.lit(0)).agg(moments(pl.col("yes"), pl.col("rows")))
    low, high = with_interval(together).select("low", "high").row(0)
    return low, high


CLUSTERS = st.integers(1, 12).flatmap(lambda rows: st.tuples(st.integers(0, rows), st.just(rows)))


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
    assert wilson(yes / rows, rows) == pytest.approx((low, high), abs=6e-5)


@given(st.integers(1, 10**4).flatmap(lambda rows: st.tuples(st.integers(0, rows), st.just(rows))))
def test_one_answer_for_each_reference_is_wilsons_interval(case: tuple[int, int]) -> None:
    yes, rows = case
    found = clustered_rate([1] * yes + [0] * (rows - yes), [1] * rows)
    assert found == pytest.approx(tuple(stats.binomtest(yes, rows).proportion_ci(method="wilson")), abs=1e-9)


@given(st.lists(CLUSTERS, min_size=2, max_size=30), st.integers(2, 10))
def test_repeating_every_row_changes_nothing(clusters: list[tuple[int, int]], times: int) -> None:
    once = clustered_rate(*zip(*clusters, strict=True))
    again = clustered_rate(*([times * each for each in part] for part in zip(*clusters, strict=True)))
    assert again == pytest.approx(once, nan_ok=True)


@given(st.lists(CLUSTERS, min_size=2, max_size=30))
def test_an_interval_holds_the_rate_and_mirrors(clusters: list[tuple[int, int]]) -> None:
    yes, rows = zip(*clusters, strict=True)
    low, high = clustered_rate(yes, rows)
    assert 0 <= low <= sum(yes) / sum(rows) + 1e-9 and sum(yes) / sum(rows) - 1e-9 <= high <= 1
    mirrored = clustered_rate([all_ - part for part, all_ in clusters], rows)
    assert mirrored == pytest.approx((1 - high, 1 - low))


def test_several_answers_to_one_reference_have_no_interval() -> None:
    table = pl.DataFrame({"group": ["a", "a", "b"], "yes": [1, 3, 2], "rows": [2, 5, 4]})
    found = with_interval(table.group_by("group").agg(moments(pl.col("yes"), pl.col("rows")))).sort("group")
    assert found["low"].is_null().to_list() == [False, True]


def test_equal_answers_count_as_their_references() -> None:
    # 20 references with 5 wrong answers each are 20 wrong answers, because nothing says that the five are independent.
    assert clustered_rate([0] * 20, [5] * 20) == pytest.approx((0, 0.1611), abs=6e-5)


@pytest.mark.parametrize("freedom", [1, 2, 3, 4, 5, 7, 9, 12, 19, 25, 40, 99, 1000, 10**6])
def test_the_quantile_is_students(freedom: int) -> None:
    assert student(freedom) == pytest.approx(stats.t.ppf(0.975, freedom), rel=0.006)


@pytest.mark.parametrize("correlation", [0.0, 0.2, 0.4, 0.6, 0.8])
@pytest.mark.parametrize("rate", [0.5, 0.85])
@pytest.mark.parametrize("sizes", [(5,), (1, 2, 3, 4, 5, 6)])
def test_intervals_cover_the_rate_whatever_the_correlation(correlation: float, rate: float, sizes: tuple[int]) -> None:
    """120 references, 2,500 datasets of beta-binomial answers: 95 % intervals cover 93 to 97 %."""
    generator, datasets, references = np.random.default_rng(20261121), 2500, 120
    chances = np.full((datasets, references), rate)
    if correlation:
        strength = (1 - correlation) / correlation
        chances = generator.beta(rate * strength, (1 - rate) * strength, size=chances.shape)
    rows = np.tile(np.resize(sizes, references), (datasets, 1))
    yes = generator.binomial(rows, chances)
    dataset = np.repeat(np.arange(datasets), references)
    table = pl.DataFrame({"dataset": dataset, "yes": yes.ravel(), "rows": rows.ravel()})
    found = with_interval(table.group_by("dataset").agg(moments(pl.col("yes"), pl.col("rows"))))
    covers = found.select(((pl.col("low") <= rate) & (rate <= pl.col("high"))).mean()).item()
    assert 0.93 <= covers <= 0.97


@pytest.mark.parametrize("correlation", [0.0, 0.4, 0.8])
def test_the_macro_average_covers_the_mean_of_the_domains_rates(correlation: float) -> None:
    """1,500 datasets of three domains with 120, 60 and 40 references of four answers each."""
    generator, datasets, parts = np.random.default_rng(3), 1500, []
    for domain, (rate, references) in enumerate([(0.7, 120), (0.4, 60), (0.2, 40)]):
        chances = np.full((datasets, references), rate)
        if correlation:
            strength = (1 - correlation) / correlation
            chances = generator.beta(rate * strength, (1 - rate) * strength, size=chances.shape)
        yes = pl.Series("yes", generator.binomial(4, chances).ravel())
        dataset = pl.Series("dataset", np.repeat(np.arange(datasets), references))
        parts.append(pl.DataFrame([dataset, yes]).with_columns(domain=domain, rows=4))
    counts = pl.concat(parts).group_by("dataset", "domain").agg(moments(pl.col("yes"), pl.col("rows")))
    low, high = mover(*map(pl.col, ("percent", "low", "high")))
    means = with_interval(counts).group_by("dataset").agg(low.alias("low"), high.alias("high"))
    assert 0.93 <= means.select(pl.lit(1.3 / 3).is_between("low", "high").mean()).item() <= 0.97


@given(st.integers(0, 60), st.integers(0, 60))
def test_mcnemar_is_the_textbooks(only_first: int, only_second: int) -> None:
    textbook = stats.binomtest(only_first, only_first + only_second).pvalue if only_first + only_second else 1.0
    assert mcnemar(only_first, only_second) == pytest.approx(textbook)


def test_mcnemar_of_large_numbers() -> None:
    assert mcnemar(100_500, 99_500) == pytest.approx(stats.binomtest(99_500, 200_000).pvalue, rel=1e-6)


@given(st.lists(st.integers(0, 1000), min_size=1, max_size=12))
def test_holms_correction_is_the_least_level_at_which_his_procedure_rejects(thousandths: list[int]) -> None:
    p_values = [each / 1000 for each in thousandths]

    def rejected(level: float) -> set[int]:
        """Step down from the smallest p-value, against level / (how many are left), until one is not rejected."""
        found = set()
        for left, place in zip(range(len(p_values), 0, -1), np.argsort(p_values, kind="stable"), strict=True):
            if p_values[place] > level / left + 1e-12:
                break
            found.add(int(place))
        return found

    for place, corrected in enumerate(holm(p_values)):
        assert corrected == 1 or place in rejected(corrected)
        assert place not in rejected(corrected - 1e-6)


@given(st.integers(1, 10).flatmap(lambda n: st.tuples(st.just(n), st.integers(0, n), st.integers(1, n))))
def test_pass_at_k_is_the_share_of_all_choices_of_k_samples(case: tuple[int, int, int]) -> None:
    samples, right, k = case
    answers = [True] * right + [False] * (samples - right)
    choices = [any(chosen) for chosen in combinations(answers, k)]
    assert pass_at_k(samples, right, k) == pytest.approx(sum(choices) / len(choices))


@given(st.integers(1, 400).flatmap(lambda n: st.tuples(st.just(n), st.integers(0, n), st.integers(1, n))))
def test_pass_at_k_is_its_formula(case: tuple[int, int, int]) -> None:
    samples, right, k = case
    assert pass_at_k(samples, right, k) == pytest.approx(1 - comb(samples - right, k) / comb(samples, k), abs=1e-9)


def interval(gaps: list[float], sizes: list[int] | None = None) -> tuple[float, float]:
    found = paired(pl.Series(gaps), None if sizes is None else pl.Series(sizes))
    return found["low"], found["high"]


def test_the_bootstrap_is_that_of_resampled_references() -> None:
    values = [-1.0] * 20 + [0.0] * 50 + [1.0] * 30
    generator = np.random.default_rng(7)
    means = np.array([generator.choice(values, size=len(values)).mean() for _ in range(20_000)])
    assert interval(values) == pytest.approx(np.quantile(means, [0.025, 0.975]), abs=0.011)
    p_value = 2 * min((means <= 0).mean(), (means >= 0).mean())
    assert paired(pl.Series(values))["p"] == pytest.approx(p_value, abs=0.02)


def test_one_reference_has_no_interval_and_few_have_a_wide_one() -> None:
    assert paired(pl.Series([1.0])) == {"difference": 1.0, "low": None, "high": None, "p": 1.0}
    generator = np.random.default_rng(12)
    covers = []
    for _ in range(300):
        found = paired(pl.Series(generator.normal(0, 1, 8).round(1)))
        covers.append(found["low"] <= 0 <= found["high"])  # type: ignore[operator]
    assert np.mean(covers) >= 0.92


def test_rows_of_one_reference_are_resampled_together() -> None:
    totals, sizes = [3.0, -1.0, 0.0, 2.0, 1.0] * 10, [4, 2, 1, 2, 3] * 10
    generator = np.random.default_rng(7)
    drawn = generator.integers(0, len(totals), size=(20_000, len(totals)))
    means = np.array(totals)[drawn].sum(1) / np.array(sizes)[drawn].sum(1)
    assert interval(totals, sizes) == pytest.approx(np.quantile(means, [0.025, 0.975]), abs=0.011)
    ten = [10 * each for each in totals], [10 * each for each in sizes]
    assert interval(*ten) == pytest.approx(interval(totals, sizes))


def test_the_bootstrap_of_many_references_is_the_normal_interval() -> None:
    half = 1.96 * (0.25 * 0.75 / 40_000) ** 0.5
    assert interval([0.0] * 30_000 + [1.0] * 10_000) == pytest.approx((0.25 - half, 0.25 + half), abs=2e-4)


def test_the_bootstrap_of_the_same_sample_is_the_same() -> None:
    gaps = [-1.0] * 2 + [0.0] * 5 + [1.0] * 3
    assert paired(pl.Series(gaps)) == paired(pl.Series(gaps[::-1]))


def test_the_bootstrap_of_many_values_needs_little_memory() -> None:
    many = np.random.default_rng(3).normal(size=1000)
    low, high = interval(many.tolist())
    assert low < many.mean() < high


@pytest.mark.parametrize("effect", [0.0, 0.3])
def test_p_values_are_uniform_without_a_difference_and_small_with_one(effect: float) -> None:
    generator = np.random.default_rng(11)
    small = [paired(pl.Series(generator.normal(effect, 1, 80)), bin_width=0.5)["p"] < 0.05 for _ in range(60)]
    assert np.mean(small) > 0.5 if effect else np.mean(small) < 0.15
