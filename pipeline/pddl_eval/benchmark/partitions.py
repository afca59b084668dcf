"""Which lists of tower heights and of balls per room the benchmark uses: partitions of a number, thinned where many.

The paper does not say which; this is the rule behind the published problems. Listed are the partitions of 1 to 25 whose
smallest part is 1, of at most ten parts, ordered by sum, then by number of parts, then by the parts. Up to a sum of 20
all count, beyond that every n-th of the whole list.
"""

from __future__ import annotations

from collections.abc import Iterator

LARGEST_SUM = 25
MOST_PARTS = 10


def benchmark_partitions(most_parts: int = MOST_PARTS) -> Iterator[tuple[int, ...]]:
    """The benchmark's partitions of at most ``most_parts`` parts, in its order.

    >>> [len(list(benchmark_partitions(parts))) for parts in (10, 8)]
    [2119, 1705]
    """
    place = 0
    for total in range(1, LARGEST_SUM + 1):
        for parts in range(1, MOST_PARTS + 1):
            for partition in _starting_with_one(total, parts):
                if place % _step(total) == 0 and parts <= most_parts:
                    yield partition
                place += 1


def partitions(total: int, parts: int, smallest: int = 1) -> Iterator[tuple[int, ...]]:
    """The ways to write ``total`` as a sum of that many parts, none below ``smallest``, in ascending order.

    >>> list(partitions(5, 2))
    [(1, 4), (2, 3)]
    """
    if parts == 0:
        if total == 0:
            yield ()
    elif parts == 1:
        if total >= smallest:
            yield (total,)
    else:
        for first in range(smallest, total // parts + 1):
            for rest in partitions(total - first, parts - 1, first):
                yield (first, *rest)


def _starting_with_one(total: int, parts: int) -> Iterator[tuple[int, ...]]:
    return ((1, *rest) for rest in partitions(total - 1, parts - 1))


def _step(total: int) -> int:
    """Every how manieth partition of ``total`` is used."""
    if total <= 20:
        return 1
    return {21: 5, 22: 5, 23: 20, 24: 20, 25: 60}[total]
