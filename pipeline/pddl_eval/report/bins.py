"""Bins: how many values lie between which bounds, with bounds that a person would have chosen."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import count

import polars as pl

MOST_BINS = 10


@dataclass(frozen=True, slots=True)
class Bins:
    """Bins of whole numbers, ``step`` wide from ``first`` on; the last of them, from ``last`` on, is open.

    ``last`` is None where none is.
    """

    first: int
    step: int
    last: int | None

    def start(self, value: pl.Expr) -> pl.Expr:
        """The smallest number in the bin of each value."""
        starts = (value - self.first) // self.step * self.step + self.first
        return starts if self.last is None else starts.clip(upper_bound=self.last)

    def label(self, start: int) -> str:
        """The name of the bin that begins there.

        >>> [Bins(1, 20, 81).label(start) for start in (1, 21, 81)]
        ['1–20', '21–40', '> 80']
        """
        if start == self.last:
            return f"> {start - 1}"
        return f"{start}" if self.step == 1 else f"{start}–{start + self.step - 1}"


def choose_bins(values: pl.DataFrame) -> Bins:
    """At most ten bins for whole numbers ``value`` that occur ``rows`` times, each 1, 2, 5, 10, 20, … wide.

    The largest 2 % share the last bin where they would need more, so that a straggler does not squeeze the rest.

    >>> choose_bins(pl.DataFrame({"value": [1, 45, 90, 2000], "rows": [500, 300, 199, 1]}))
    Bins(first=1, step=10, last=91)
    """
    ordered = values.sort("value")
    smallest, largest = ordered["value"][0], ordered["value"][-1]
    common = ordered.filter(pl.col("rows").cum_sum() >= 0.98 * pl.col("rows").sum())["value"][0]
    step = next(
        step
        for power in count()
        for step in (10**power, 2 * 10**power, 5 * 10**power)
        if (common - _first(smallest, step)) // step + 1 < MOST_BINS
    )
    first = _first(smallest, step)
    last = first + ((common - first) // step + 1) * step
    return Bins(first, step, last if last <= largest else None)


def _first(smallest: int, step: int) -> int:
    """Where the first bin begins: at 1, 21, … for positive numbers, at a multiple of the step for others."""
    if smallest <= 0 or step == 1:
        return smallest // step * step
    return (smallest - 1) // step * step + 1
