"""Intervals, tests and estimates against published values, scipy, the textbook's procedures, and simulation."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations, product
from math import comb
from typing import Any

import numpy as np
import polars as pl
import pytest
import scipy
from hypothesis import given
from hypothesis import strategies as st
from pddl_eval.report.intervals import (
    bonett_price,
    detectable,
    holm,
    moments,
    mover,
    paired,
    pass_at_k,
    references_needed,
    sign_flips,
    student,
    wilson,
    with_interval,
)


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
    assert found == pytest.approx(tuple(scipy.stats.binomtest(yes, rows).proportion_ci(method="wilson")), abs=1e-9)


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
    assert student(freedom) == pytest.approx(scipy.stats.t.ppf(0.975, freedom), rel=0.006)


@pytest.mark.parametrize(
    "correlation", [0.0, 0.4, 0.8, *(pytest.param(each, marks=pytest.mark.slow) for each in (0.2, 0.6))]
)
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


def one_answer_each(only_first: int, only_second: int, neither: int = 0) -> np.ndarray:
    """The differences of two models with one answer each to every reference."""
    return np.repeat([1.0, -1.0, 0.0], [only_first, only_second, neither])


@given(st.integers(0, 60), st.integers(0, 60), st.integers(0, 5))
def test_with_one_answer_each_the_test_is_mcnemars(only_first: int, only_second: int, neither: int) -> None:
    textbook = scipy.stats.binomtest(only_first, only_first + only_second).pvalue if only_first + only_second else 1.0
    found = paired(one_answer_each(only_first, only_second, neither))["p"] if only_first + only_second + neither else 1
    assert found == pytest.approx(textbook, rel=1e-9, abs=1e-11)


@pytest.mark.parametrize(
    ("only_first", "only_second", "p_value"),
    # Fagerland, Lydersen, Laake, Statistics in Medicine 33 (2014), the examples of its tables IV to VI.
    [(1, 7, 0.0703), (6, 16, 0.0525)],
)
def test_mcnemars_published_values(only_first: int, only_second: int, p_value: float) -> None:
    assert paired(one_answer_each(only_first, only_second))["p"] == pytest.approx(p_value, abs=5e-5)


def test_the_test_of_large_numbers() -> None:
    found = paired(one_answer_each(100_500, 99_500))["p"]
    assert found == pytest.approx(scipy.stats.binomtest(99_500, 200_000).pvalue, rel=1e-6)
    # Too many different differences to be exact: as good as a normal sum.
    gaps = np.random.default_rng(4).normal(0.002, 0.3, 100_000)
    assert paired(gaps, step=1e-3)["p"] == pytest.approx(scipy.stats.ttest_1samp(gaps, 0).pvalue, abs=2e-3)


@given(st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), min_size=1, max_size=9))
def test_the_test_counts_all_signs(right: list[tuple[int, int]]) -> None:
    """Six answers of each model to a few references."""
    gaps = np.array([one - other for one, other in right])
    sums = [abs(gaps @ signs) for signs in product((1, -1), repeat=len(gaps))]
    assert paired(gaps / 6, step=1 / 6)["p"] == pytest.approx(np.mean(sums >= abs(gaps.sum())))
    assert sign_flips(gaps[::-1] / 6, 1 / 6) == paired(gaps / 6, step=1 / 6)["p"]


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


def interval(gaps: Sequence[float]) -> tuple[float, float]:
    found = paired(gaps)
    return found["low"], found["high"]


@pytest.mark.parametrize(
    ("only_first", "only_second", "neither", "low", "high"),
    # Fagerland, Lydersen, Laake, as above: airway hyper-responsiveness, complete response.
    [(1, 7, 13, -0.508, -0.013), (6, 16, 139, -0.1195, -0.0032)],
)
def test_with_one_answer_each_the_interval_is_bonetts_and_prices(
    only_first: int, only_second: int, neither: int, low: float, high: float
) -> None:
    found = interval(one_answer_each(only_first, only_second, neither))
    assert found == pytest.approx((low, high), abs=5e-4)


def tango(only_first: int, only_second: int, references: int) -> tuple[float, float]:
    """Tango's score interval, Statistics in Medicine 17 (1998): the differences that his test does not reject."""
    gaps = np.linspace(-1 + 1e-9, 1 - 1e-9, 40_001)
    linear = (2 * references - only_first + only_second) * gaps - only_first - only_second
    constant = -only_second * gaps * (1 - gaps)
    likeliest = (np.sqrt(linear**2 - 8 * references * constant) - linear) / (4 * references)
    variance = references * (2 * likeliest + gaps * (1 - gaps))
    kept = gaps[(only_first - only_second - references * gaps) ** 2 <= 1.959964**2 * variance]
    return kept.min(), kept.max()


@pytest.mark.parametrize("references", [10, 30, pytest.param(100, marks=pytest.mark.slow)])
def test_the_interval_is_about_tangos(references: int) -> None:
    # Published with the examples above.
    assert tango(1, 7, 21) == pytest.approx((-0.517, -0.026), abs=6e-4)
    assert tango(6, 16, 161) == pytest.approx((-0.1240, -0.0054), abs=1e-4)
    for only_first, only_second in product(range(0, references // 2, 2), repeat=2):
        ours = interval(one_answer_each(only_first, only_second, references - only_first - only_second))
        assert ours == pytest.approx(tango(only_first, only_second, references), abs=2.2 / references)


def coverage(references: int, rates: tuple[float, float], samples: int, same: float, datasets: int = 2000) -> float:
    """The share of datasets whose interval holds the difference of two models' true rates.

    A reference is always or never solved by a model, with that model's rate, or with chance 1/2 each answer is by
    itself. A reference is as hard for both models with chance ``same``.
    """
    generator, shape = np.random.default_rng(20261122), (datasets, references)
    hard, settled = generator.random(shape), generator.random(shape) < 0.5
    means = []
    for rate in rates:
        own = np.where(generator.random(shape) < same, hard, generator.random(shape)) < rate
        means.append(generator.binomial(samples, np.where(settled, own, rate) if samples > 1 else own) / samples)
    found = np.array([bonett_price(gaps) for gaps in np.round(means[0] - means[1], 9)])
    return float(np.mean((found[:, 0] <= rates[0] - rates[1]) & (rates[0] - rates[1] <= found[:, 1])))


@pytest.mark.parametrize("samples", [1, pytest.param(4, marks=pytest.mark.slow), 10])
@pytest.mark.parametrize("references", [10, 100, *(pytest.param(each, marks=pytest.mark.slow) for each in (30, 300))])
@pytest.mark.parametrize(
    ("rates", "same"), [((0.95, 0.9), 0.9), ((0.99, 0.98), 0.9), ((0.6, 0.5), 0.3), ((0.9, 0.4), 0)]
)
def test_intervals_of_differences_cover_them(
    references: int, rates: tuple[float, float], same: float, samples: int
) -> None:
    """95 % intervals cover 93 to 98 % of differences, and more where models rarely differ or references are few."""
    found = coverage(references, rates, samples, same)
    assert found >= 0.93
    assert found <= 0.98 or same == 0.9 or references == 10


def test_models_that_always_agree_may_differ() -> None:
    # Hanley, Lippman-Hand, JAMA 249 (1983): none among n, so at most about 3 among n.
    for references in (3, 10, 50, 1000):
        low, high = interval([0.0] * references)
        assert -low == high == pytest.approx(3 / references, rel=0.5)


def test_one_reference_has_no_interval() -> None:
    assert paired([1.0]) == {"difference": 1.0, "low": None, "high": None, "p": 1.0}


def test_the_interval_of_differences_is_that_of_a_bootstrap_of_references() -> None:
    gaps = np.array([0.75, -0.5, 0.0, 1.0, 1 / 3] * 20)
    means = gaps[np.random.default_rng(7).integers(0, len(gaps), size=(20_000, len(gaps)))].mean(1)
    assert interval(gaps) == pytest.approx(np.quantile(means, [0.025, 0.975]), abs=0.02)


def test_the_interval_of_many_references_is_the_normal_one() -> None:
    half = 1.96 * (0.25 * 0.75 / 40_000) ** 0.5
    assert interval(one_answer_each(10_000, 0, 30_000)) == pytest.approx((0.25 - half, 0.25 + half), abs=2e-4)


@given(st.lists(st.integers(-9, 9), min_size=2, max_size=30))
def test_an_interval_of_differences_holds_the_difference_and_mirrors(ninths: list[int]) -> None:
    gaps = np.array(ninths) / 9
    found = paired(gaps, 1 / 9)
    assert -1 <= found["low"] <= found["difference"] <= found["high"] <= 1
    mirrored = paired(-gaps, 1 / 9)
    assert (-mirrored["high"], -mirrored["low"], mirrored["p"]) == pytest.approx(
        (found["low"], found["high"], found["p"])
    )


@pytest.mark.parametrize("effect", [0.0, 0.3])
def test_p_values_are_small_only_with_a_difference(effect: float) -> None:
    generator = np.random.default_rng(11)
    small = [paired(generator.normal(effect, 1, 80), step=1e-3)["p"] < 0.05 for _ in range(400)]
    assert np.mean(small) > 0.5 if effect else np.mean(small) < 0.08


@pytest.mark.parametrize(("references", "samples"), [(50, 1), (40, 4), (200, 1)])
def test_a_detectable_difference_is_found_with_80_percent(references: int, samples: int) -> None:
    """Simulated: two models whose chances differ by it on every reference, half of which are equally hard for both."""
    generator = np.random.default_rng(7)

    def gaps(difference: float, size: int) -> Any:
        hard = generator.random(size)
        other = np.where(generator.random(size) < 0.5, hard, generator.random(size))
        chances = other * (1 - 2 * difference), hard * (1 - 2 * difference) + difference
        first, second = (generator.binomial(samples, chance) / samples for chance in chances)
        return second - first

    difference = 0.1
    for _ in range(12):  # The spread depends on the difference: the fixed point.
        spread = float(np.var(gaps(difference, 40_000)))
        difference = detectable(spread, references, 1 / samples)
    found = np.mean([sign_flips(gaps(difference, references), 1 / samples) < 0.05 for _ in range(300)])
    assert 0.7 < found < 0.88
    needed = references_needed(spread, difference, 1 / samples)
    assert abs(needed - references) <= 1
