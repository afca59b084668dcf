"""95 % intervals: Wilson's of a rate, the paired bootstrap's of a difference between two models."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar, cast

import numpy as np
import polars as pl

Z = 1.959963984540054
"""The 0.975 quantile of the standard normal distribution."""

RESAMPLES = 10_000
SEED = 0
_DRAWS_AT_ONCE = 2_000_000

Number = TypeVar("Number", float, pl.Expr)


def wilson(yes: Number, rows: Number) -> tuple[Number, Number]:
    """Wilson's score interval (95 %) of the rate ``yes / rows``; ``rows`` must not be 0. Numbers or polars expressions.

    Source: E. B. Wilson, Probable inference, the law of succession, and statistical inference, JASA 22 (1927).

    >>> [round(bound, 4) for bound in wilson(8, 10)]
    [0.4902, 0.9433]
    """
    rate = yes / rows
    center = (rate + Z**2 / (2 * rows)) / (1 + Z**2 / rows)
    margin = (rate * (1 - rate) / rows + Z**2 / (4 * rows**2)) ** 0.5 * Z / (1 + Z**2 / rows)
    return center - margin, center + margin


def paired_difference(gaps: pl.Series, bin_width: float = 0.0) -> dict[str, float]:
    """The mean of paired differences with its bootstrap interval, and how many ``rose`` (are above 0) and ``fell``.

    Equal differences, or those in one bin, are resampled together; a bin counts with its own mean.

    >>> paired_difference(pl.Series([1.0, 0.0, 0.0, 0.0]))["difference"]
    0.25
    """
    bins = pl.DataFrame({"bin": (gaps / bin_width).round() if bin_width else gaps, "gap": gaps})
    bins = bins.group_by("bin").agg(pl.col("gap").mean(), pl.len().alias("rows")).sort("bin")
    low, high = bootstrap_mean(bins["gap"].to_list(), bins["rows"].to_list())
    rose, fell = int((gaps > 0).sum()), int((gaps < 0).sum())
    return {"difference": cast(float, gaps.mean()), "low": low, "high": high, "rose": rose, "fell": fell}


def bootstrap_mean(values: Sequence[float], counts: Sequence[int]) -> tuple[float, float]:
    """The percentile bootstrap interval (95 %) of the mean of a sample with each value's number of occurrences.

    Resampling n problems with replacement and counting the values is one draw from the multinomial distribution of
    the counts: the same distribution as the textbook's loop over problems, at a cost that does not grow with n. The
    seed is fixed, so that the same data has the same interval.
    Source: B. Efron, R. Tibshirani, An Introduction to the Bootstrap (1993), chapter 13.

    >>> bootstrap_mean([0.5], [100])
    (0.5, 0.5)
    """
    occurrences = np.asarray(counts, dtype=np.int64)
    sample = int(occurrences.sum())
    generator = np.random.default_rng(SEED)
    at_once = max(1, _DRAWS_AT_ONCE // len(counts))
    means = np.concatenate(
        [
            generator.multinomial(sample, occurrences / sample, size=min(at_once, RESAMPLES - start))
            @ np.asarray(values, dtype=np.float64)
            / sample
            for start in range(0, RESAMPLES, at_once)
        ]
    )
    low, high = np.quantile(means, [0.025, 0.975])
    return float(low), float(high)
