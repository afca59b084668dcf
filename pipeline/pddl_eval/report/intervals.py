"""95 % intervals and tests that know that answers to one reference are not independent: all count references, not rows.

Each is a formula of a few sums over references, so that a million rows cost no more than their sums.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from math import acos, erfc
from typing import Any

import numpy as np
import polars as pl

Z = 1.959963984540054
"""The 0.975 quantile of the standard normal distribution."""

METHOD = "intervals:clustered-wilson,paired-bonett-price|tests:sign-flips-exact|correction:holm"
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


def moments(yes: pl.Expr, rows: pl.Expr, distinct: pl.Expr | None = None) -> list[pl.Expr]:
    """What ``with_interval`` needs of a group, aggregated over its references, of which ``yes`` and ``rows`` are.

    ``distinct`` is the number of distinct answers; by default what the counts of the references show.
    """
    size, right = rows.cast(pl.Float64), yes.cast(pl.Float64)
    return [
        rows.sum().cast(pl.Int64).alias("rows"),
        right.sum().alias("yes"),
        (rows > 0).sum().cast(pl.Int64).alias("references"),
        size.pow(2).sum().alias("nn"),
        (right * size).sum().alias("yn"),
        right.pow(2).sum().alias("yy"),
        pl.min_horizontal((yes > 0).sum(), (yes < rows).sum()).alias("mixed"),
        *([rows.unique().implode().alias("sizes"), yes.unique().implode().alias("counts")] if distinct is None else []),
        *([] if distinct is None else [distinct.alias("distinct")]),
    ]


def with_interval(frame: pl.DataFrame) -> pl.DataFrame:
    """The frame of ``moments`` with ``percent``, ``low`` and ``high`` as fractions.

    The variance is that of a ratio of sums over references (linearised), with Kish's number of them less one.
    """
    rows, yes, nn, yn, yy = (frame[name].to_numpy().astype(float) for name in ("rows", "yes", "nn", "yn", "yy"))
    if "distinct" in frame:
        distinct = frame["distinct"].to_numpy()
    else:
        # What divides all counts is how often every row was repeated.
        repeated = [
            int(np.gcd.reduce([*sizes, *counts])) for sizes, counts in zip(frame["sizes"], frame["counts"], strict=True)
        ]
        distinct = rows / np.maximum(repeated, 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        rate, references = yes / rows, rows**2 / nn
        spread = np.maximum(yy - 2 * rate * yn + rate**2 * nn, 0)
        variance = spread / rows**2 * references / (references - 1)
        low, high = clustered(rate, variance, references, frame["mixed"].to_numpy(), distinct)
    bounds = {"percent": rate, "low": low, "high": high}
    return frame.with_columns(pl.Series(name, values, nan_to_null=True) for name, values in bounds.items())


def paired(gaps: Numbers, step: float = 1.0) -> dict[str, float | None]:
    """The mean of paired differences, one of each reference, with its interval and the p-value of ``sign_flips``.

    They are multiples of ``step``. One reference has no interval (None).

    >>> found = paired(np.array([1, 1, 1, 0, 0, 0, 0, 0, 0, 0]))
    >>> found["difference"], found["p"]
    (0.3, 0.25)
    """
    gaps = np.asarray(gaps, dtype=float)
    low, high = bonett_price(gaps) if len(gaps) > 1 else (None, None)
    return {"difference": float(gaps.mean()), "low": low, "high": high, "p": sign_flips(gaps, step)}


def bonett_price(gaps: Numbers) -> tuple[float, float]:
    """The interval (95 %) of a mean of paired differences between −1 and 1, one of each reference.

    Two references are added, one for each side, and the interval is the normal one of the mean with them. With one
    answer for each reference their differences are 1 and −1: the interval of Bonett and Price, which is wide where two
    models never or rarely differ. With several, differences may be small wherever there are any: the square of the
    added ones is the mean of the differences' sizes, weighted by size, the added ones as 1. To repeat all rows changes
    nothing.

    Source: D. G. Bonett, R. M. Price, Adjusted Wald confidence interval for a difference of binomial proportions based
    on paired data, Journal of Educational and Behavioral Statistics 37 (2012); recommended by M. W. Fagerland et al.,
    Recommended tests and confidence intervals for paired binomial proportions, Statistics in Medicine 33 (2014).

    >>> [round(bound, 3) for bound in bonett_price(np.repeat([1, -1, 0], [1, 7, 13]))]
    [-0.508, -0.013]
    """
    added = ((gaps**2).sum() + 2) / (np.abs(gaps).sum() + 2)
    mean = gaps.sum() / (len(gaps) + 2)
    squares = ((gaps - mean) ** 2).sum() + 2 * (added + mean**2)
    margin = Z * squares**0.5 / (len(gaps) + 2)
    return float(max(mean - margin, -1.0)), float(min(mean + margin, 1.0))


Z_POWER = 0.8416212335729143
"""The 0.8 quantile of the standard normal distribution: a difference is found with 80 %."""


def detectable(spread: float, references: int, step: float = 1.0) -> float:
    """The smallest mean of paired differences that ``sign_flips`` finds at 5 % with 80 %; ``spread`` is their variance.

    They are multiples of ``step``, by which the sum of an exact test has to go further (the continuity correction). In
    simulations the chance is between 76 and 80 %.

    >>> round(detectable(0.25, 100), 3)
    0.151
    """
    return float((student(references - 1) + Z_POWER) * (spread / references) ** 0.5) + step / references


def references_needed(spread: float, difference: float, step: float = 1.0) -> int:
    """The fewest references, at least 2, with which a difference above 0 is ``detectable``.

    >>> references_needed(0.25, 0.151), references_needed(0.25, 0.05)
    (101, 827)
    """
    most = 2
    while detectable(spread, most, step) > difference:
        most *= 2
    return bisect_left(range(most), -difference, lo=2, key=lambda references: -detectable(spread, references, step))


def sign_flips(gaps: Numbers, step: float) -> float:
    """The share of all ways to give paired differences their signs in which the sum is as far from 0 or further.

    With one answer of each model to a reference it is McNemar's exact test: the differences are 1, 0 and −1, and the
    number of those that become positive is binomial. Differences are rounded to multiples of ``step``. A sum of more
    different ones than fit ``WORK`` is taken as normally distributed.

    Source: R. A. Fisher, The Design of Experiments (1935), section 21; Q. McNemar, Note on the sampling error of the
    difference between correlated proportions, Psychometrika 12 (1947).

    >>> round(sign_flips(np.repeat([1, -1, 0], [1, 9, 40]), 1), 4)
    0.0215
    """
    signed = np.rint(gaps / step)
    if not (common := np.gcd.reduce(signed.astype(int))):
        return 1.0
    signed /= common
    total = abs(signed.sum())
    units, counts = np.unique(np.abs(signed), return_counts=True)
    spread = (counts @ units**2) ** 0.5
    points = 1 << int(2 * min(counts @ units, _FAR * spread) + 2).bit_length()
    if points * len(units) > WORK:
        return max(erfc(total / spread / 2**0.5), SMALLEST)
    # The Fourier transform of the sum's distribution is the product of the cosines. The power of the most frequent one
    # is not 0 only near the angles at which it is 1 or −1, the product at fewer still.
    (most, times), *_ = factors = sorted(
        zip(units[units > 0], counts[units > 0], strict=True), key=lambda each: -each[1]
    )
    between = points / 2 / most
    reach = int(between * acos(_NOTHING ** (1 / times)) / np.pi) + 2
    peaks = np.rint(between * np.arange(most + 1))
    near = np.unique((peaks[:, None] + np.arange(-reach, reach + 1)).clip(0, points // 2))
    angles, product = 2 * np.pi / points * near, np.ones(len(near))
    for unit, count in factors:
        product *= np.cos(unit * angles) ** count
        kept = np.abs(product) > _NOTHING
        angles, product = angles[kept], product[kept]
    # Sums nearer to 0 than the total: the transform of a window. Angles between 0 and π stand for their negatives, too.
    weights = np.where((angles > 0) & (angles < np.pi), 2.0, 1.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        window = np.where(angles > 0, np.sin((total - 0.5) * angles) / np.sin(angles / 2), 2 * total - 1)
    p_value = 1 - float((weights * product) @ window) / points if total else 1.0
    return min(max(round(p_value, 12), SMALLEST), 1.0)


WORK = 1 << 23
"""Distinct differences × points of the distribution of their sum, at most."""

SMALLEST = 1e-12
"""Smaller p-values are given as this one: rounding errors of ``sign_flips`` are below it."""

_NOTHING = 1e-25
"""Smaller values of a transform are left out: all of them together are below the rounding errors."""

_FAR = 8
"""Standard deviations beyond which a sum of random signs has a chance below ``SMALLEST`` (Hoeffding)."""


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
    with np.errstate(divide="ignore", invalid="ignore"):
        for each in range(k):
            none = none * np.maximum(samples - right - each, 0) / (samples - each)
    return np.round(1 - none, 12)


def mover(rates: pl.Expr, low: pl.Expr, high: pl.Expr) -> tuple[pl.Expr, pl.Expr]:
    """Bounds of the mean of independent rates from their own bounds (aggregates); null if a rate has none.

    Source: G. Y. Zou, A. Donner, Construction of confidence limits about effect measures: a general approach,
    Statistics in Medicine 27 (2008).
    """
    below, above = ((bound - rates).pow(2).sum().sqrt() / rates.count() for bound in (low, high))
    known = low.null_count() == 0
    return pl.when(known).then(rates.mean() - below), pl.when(known).then(rates.mean() + above)
