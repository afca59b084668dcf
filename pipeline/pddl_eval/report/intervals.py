"""95 % intervals and tests that know that answers to one reference are not independent: all count references, not rows.

Each is a formula of a few sums over references, so that a million rows cost no more than their sums.
"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import NormalDist
from typing import Any

import numpy as np
import polars as pl

Z = 1.959963984540054
"""The 0.975 quantile of the standard normal distribution."""

RESAMPLES = 10_000
SEED = 0
_DRAWS_AT_ONCE = 2_000_000

METHOD = f"intervals:clustered-wilson|tests:mcnemar-exact,paired-bootstrap-{RESAMPLES}|correction:holm|seed:{SEED}"
"""The part of a report's signature that says how its intervals and p-values are made."""

PRIOR = 0.5
"""How many references the guess weighs that all answers to a reference are alike; see ``clustered``."""

_T = {1: 12.7062, 2: 4.3027, 3: 3.1824, 4: 2.7764, 5: 2.5706, 6: 2.4469, 8: 2.3060, 10: 2.2281, 15: 2.1314, 20: 2.0860}
_T |= {30: 2.0423, 60: 2.0003, 120: 1.9799}
"""The 0.975 quantile of Student's t by degrees of freedom."""

Numbers = Any
"""A number, or an array of them."""


def wilson(rate: Numbers, size: Numbers, z: Numbers = Z) -> tuple[Numbers, Numbers]:
    """Wilson's score interval (95 %) of a rate in ``size`` independent answers.

    Source: E. B. Wilson, Probable inference, the law of succession, and statistical inference, JASA 22 (1927).

    >>> [round(bound, 4) for bound in wilson(0.8, 10)]
    [0.4902, 0.9433]
    """
    center = (rate + z**2 / (2 * size)) / (1 + z**2 / size)
    margin = (rate * (1 - rate) / size + z**2 / (4 * size**2)) ** 0.5 * z / (1 + z**2 / size)
    return center - margin, center + margin


def clustered(
    rate: Numbers, variance: Numbers, references: Numbers, mixed: Numbers, most: Numbers
) -> tuple[Numbers, Numbers]:
    """Wilson's interval of a rate in as many answers as have the variance that the references show; NaN: no interval.

    ``variance`` is the rate's, from the spread of the references around it. ``references`` is Kish's effective number
    of references, (sum of their answers)² / sum of squares; ``mixed`` how many references have the rarer answer;
    ``most`` the number of distinct answers, which bounds the effective number. Few references with the rarer answer
    say little about the spread: as ``PRIOR`` references do, the guess counts that a reference's answers are all alike.
    The quantile is Student's t with one degree of freedom fewer than references. With one answer for each reference it
    is Wilson's interval itself. To repeat all rows changes nothing.

    Source: E. L. Korn, B. I. Graubard, Confidence intervals for proportions with small expected number of positive
    counts estimated from survey data, Survey Methodology 24 (1998), with Wilson's interval as in C. Franco et al.,
    Comparative study of confidence intervals for proportions in complex sample surveys, JSSAM 7 (2019).
    """
    rate, variance, references, mixed, most = map(np.asarray, (rate, variance, references, mixed, most))
    with np.errstate(divide="ignore", invalid="ignore"):
        effective = np.minimum(np.where(variance > 0, rate * (1 - rate) / variance, np.inf), most)
        weight = mixed / (mixed + PRIOR)
        size = 1 / (np.where(weight < 1, (1 - weight) / references, 0) + np.where(weight > 0, weight / effective, 0))
        alone = np.isclose(references, most)  # One distinct answer for each reference: no spread to estimate.
        low, high = wilson(rate, np.where(alone, most, size), np.where(alone, Z, student(references - 1)))
    known = alone | (references > 1 + 1e-9)
    return np.where(known, np.clip(low, 0, 1), np.nan), np.where(known, np.clip(high, 0, 1), np.nan)


def student(freedom: Numbers) -> Numbers:
    """The 0.975 quantile of Student's t, interpolated in the inverse of the degrees of freedom (at least 1).

    >>> round(float(student(9)), 2)
    2.26
    """
    inverse = 1 / np.maximum(freedom, 1)
    table = sorted((1 / each, quantile) for each, quantile in _T.items())
    return np.interp(inverse, [0.0, *(each for each, _ in table)], [Z, *(quantile for _, quantile in table)])


def moments(yes: pl.Expr, rows: pl.Expr) -> list[pl.Expr]:
    """What ``with_interval`` needs of a group, aggregated over its references, of which ``yes`` and ``rows`` are."""
    size, right = rows.cast(pl.Float64), yes.cast(pl.Float64)
    return [
        rows.sum().cast(pl.Int64).alias("rows"),
        yes.sum().cast(pl.Int64).alias("yes"),
        (rows > 0).sum().cast(pl.Int64).alias("references"),
        size.pow(2).sum().alias("nn"),
        (right * size).sum().alias("yn"),
        right.pow(2).sum().alias("yy"),
        pl.min_horizontal((yes > 0).sum(), (yes < rows).sum()).alias("mixed"),
        rows.unique().alias("sizes"),
        yes.unique().alias("counts"),
    ]


def with_interval(frame: pl.DataFrame) -> pl.DataFrame:
    """The frame of ``moments`` with ``percent``, ``low`` and ``high`` as fractions instead of the moments.

    The variance is that of a ratio of sums over references (linearised), with Kish's number of them less one.
    """
    rows, yes, nn, yn, yy = (frame[name].to_numpy().astype(float) for name in ("rows", "yes", "nn", "yn", "yy"))
    # What divides all counts is how often every row was repeated.
    repeated = [int(np.gcd.reduce([*sizes, *counts])) for sizes, counts in frame.select("sizes", "counts").rows()]
    with np.errstate(divide="ignore", invalid="ignore"):
        rate, references = yes / rows, rows**2 / nn
        spread = np.maximum(yy - 2 * rate * yn + rate**2 * nn, 0)
        variance = spread / rows**2 * references / (references - 1)
        low, high = clustered(rate, variance, references, frame["mixed"].to_numpy(), rows / np.array(repeated))
    found = {"percent": rate, "low": low, "high": high}
    bounds = [pl.Series(name, values, nan_to_null=True) for name, values in found.items()]
    return frame.drop("nn", "yn", "yy", "mixed", "sizes", "counts").with_columns(bounds)


def paired(totals: pl.Series, sizes: pl.Series | None = None, bin_width: float = 0.0) -> dict[str, float | None]:
    """The mean of paired differences, with its interval and p-value from a bootstrap that resamples references.

    ``totals`` and ``sizes`` (default: 1) are, for each reference, the sum of its differences and how many they are.
    References that are alike (whose mean differences are in one bin) are resampled together and count with their own
    mean. The p-value is two-sided: twice the smaller share of resamples on one side of 0, one resample added to both.
    For few references the percentiles are further out, as Student's t is; one reference has no interval (None).

    Resampling n references with replacement and counting those that are alike is one draw from the multinomial
    distribution of the counts: the textbook's loop over references at a cost that does not grow with n.
    Source: B. Efron, R. Tibshirani, An Introduction to the Bootstrap (1993), chapters 13 and 15; T. Hesterberg, What
    teachers should know about the bootstrap, The American Statistician 69 (2015), on few references.

    >>> found = paired(pl.Series([1.0, 0.0, 0.0, 0.0]))
    >>> found["difference"], found["low"], found["high"]
    (0.25, 0.0, 1.0)
    """
    sizes = totals.is_not_null().cast(pl.Int64) if sizes is None else sizes
    return resampled(alike(pl.DataFrame({"total": totals, "size": sizes}), bin_width))


ALIKE = ("bin", "size")
"""What references that are resampled together have in common: the bin of their mean, and how many rows they have."""


def alike(references: pl.DataFrame, bin_width: float = 0.0, by: Sequence[str] = ()) -> pl.DataFrame:
    """References (``total`` and ``size``, as for ``paired``) that are alike: their ``count``, the sum of their totals.

    ``by`` are columns that tell groups of references apart. Frames of disjoint references can be added up.
    """
    mean = pl.col("total") / pl.col("size")
    binned = references.with_columns(bin=(mean / bin_width).round() if bin_width else mean)
    return binned.group_by(*by, *ALIKE).agg(pl.len().alias("count"), pl.col("total").sum())


def resampled(alike: pl.DataFrame) -> dict[str, float | None]:
    """What ``paired`` returns, of a frame that ``alike`` makes."""
    alike = alike.sort(ALIKE)
    count, sums, size = (alike[name].to_numpy() for name in ("count", "total", "size"))
    total = sums / count
    sample = int(count.sum())
    generator = np.random.default_rng(SEED)
    at_once = max(1, _DRAWS_AT_ONCE // len(count))
    drawn = [
        generator.multinomial(sample, count / sample, size=min(at_once, RESAMPLES - start))
        for start in range(0, RESAMPLES, at_once)
    ]
    resampled = np.concatenate([(each @ total) / (each @ size) for each in drawn])
    difference = float(sums.sum()) / float((size * count).sum())
    if sample < 2:
        return {"difference": difference, "low": None, "high": None, "p": 1.0}
    outside = NormalDist().cdf(-float(student(sample - 1)) * (sample / (sample - 1)) ** 0.5)
    low, high = np.quantile(resampled, [outside, 1 - outside])
    tail = min((resampled <= 0).sum(), (resampled >= 0).sum())
    p_value = min(1.0, 2 * (int(tail) + 1) / (RESAMPLES + 1))
    return {"difference": difference, "low": float(low), "high": float(high), "p": p_value}


def mcnemar(only_first: int, only_second: int) -> float:
    """McNemar's exact test: the two-sided binomial p-value of the references that only one of two models got right.

    Source: Q. McNemar, Note on the sampling error of the difference between correlated proportions, Psychometrika 12
    (1947).

    >>> round(mcnemar(1, 9), 4)
    0.0215
    """
    both, fewer = only_first + only_second, min(only_first, only_second)
    each = np.arange(1, fewer + 1)
    logarithms = np.concatenate([[0.0], np.cumsum(np.log((both - each + 1) / each))]) - both * np.log(2)
    return min(1.0, 2 * float(np.exp(logarithms).sum()))


def holm(p_values: Sequence[float]) -> list[float]:
    """The p-values corrected for being several, as Holm's step-down method does it.

    Source: S. Holm, A simple sequentially rejective multiple test procedure, Scandinavian Journal of Statistics 6
    (1979).

    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    order = np.argsort(p_values, kind="stable")
    scaled = np.asarray(p_values, dtype=float)[order] * np.arange(len(order), 0, -1)
    corrected = np.empty(len(order))
    corrected[order] = np.minimum(np.maximum.accumulate(scaled), 1.0)
    return [float(each) for each in corrected]


def pass_at_k(samples: Numbers, right: Numbers, k: int) -> Numbers:
    """The unbiased estimate of the chance that one of ``k`` samples is right, from ``right`` of at least k samples.

    1 − C(n − c, k) / C(n, k). Source: M. Chen et al., Evaluating Large Language Models Trained on Code (2021),
    section 2.1.

    >>> float(pass_at_k(5, 2, 2))
    0.7
    """
    samples, right = np.asarray(samples, dtype=float), np.asarray(right, dtype=float)
    none = np.ones(np.broadcast(samples, right).shape)
    for each in range(k):
        none = none * np.maximum(samples - right - each, 0) / (samples - each)
    return np.round(1 - none, 12)


def mover(rates: pl.Expr, low: pl.Expr, high: pl.Expr) -> tuple[pl.Expr, pl.Expr]:
    """Bounds of the mean of independent rates from their own bounds (aggregates).

    Source: G. Y. Zou, A. Donner, Construction of confidence limits about effect measures: a general approach,
    Statistics in Medicine 27 (2008).
    """
    below, above = ((bound - rates).pow(2).sum().sqrt() / rates.count() for bound in (low, high))
    return rates.mean() - below, rates.mean() + above
