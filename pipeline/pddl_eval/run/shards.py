"""The shards of an input: which rows are worked on together, which are done, which part of a run has them.

A shard is named by what it covers, so the same input has the same shards wherever and whenever it is scored.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, groupby

from pddl_eval.datasets import DatasetError, FileVersion, InputFile, Source, partition_stem
from pddl_eval.settings import SHARD_ROWS

SHARD_BYTES = 128 * 2**20
"""Encoded bytes of a shard, at most (about), so that workers need no more memory for long answers."""

BLOCKS_OF_PART = 8
"""Blocks of a part, at least (about), so that the last ones make little difference."""


@dataclass(frozen=True, slots=True)
class Shard:
    """The rows ``start`` (included) to ``stop`` (excluded) of a file, counted from 0 over its row groups.

    Its partition is named by them, so that the partitions that are there say what is done. ``stem`` is that of the
    file's partitions.
    """

    stem: str
    file: FileVersion
    start: int
    stop: int

    @property
    def name(self) -> str:
        """What its partition is called."""
        return f"{self.stem}-{self.start:012d}-{self.stop:012d}.parquet"

    @property
    def rows(self) -> int:
        return self.stop - self.start

    def between(self, start: int, stop: int) -> Shard:
        """Other rows of its file."""
        return replace(self, start=start, stop=stop)


Ranges = Sequence[tuple[int, int]]
"""Rows of a file: where each range starts and where it stops (excluded), in the order of the starts."""


def plan_shards(source: Source, shard_rows: int, done: Mapping[str, Ranges] | None = None) -> tuple[Shard, ...]:
    """The shards of an input, in its order: runs of whole row groups, or ranges of rows of a large row group.

    With ``done``, ranges of rows by the stem of their file, the shards of the other rows. An empty file is one empty
    shard, so that its partition keeps the schema; it is done if it has a range.
    """
    shards: list[Shard] = []
    for file in source.files:
        stem = partition_stem(file.name)
        ranges = (done or {}).get(stem, ())
        if not file.rows and not ranges:
            shards.append(Shard(stem, file.version, 0, 0))
        bounds = list(accumulate((group.rows for group in file.row_groups), initial=0))
        for low, high in left_over(ranges, 0, file.rows):
            shards += [Shard(stem, file.version, *rows) for rows in _ranges(file, shard_rows, bounds, low, high)]
    return tuple(shards)


def _ranges(file: InputFile, shard_rows: int, bounds: Sequence[int], low: int, high: int) -> Iterator[tuple[int, int]]:
    """Ranges of the rows from low to high: of whole row groups, or of parts of one that is large or cut there."""
    start = stop = low
    size = 0
    for number in range(bisect_right(bounds, low) - 1, bisect_left(bounds, high)):
        group = file.row_groups[number]
        first, stop = max(low, bounds[number]), min(high, bounds[number + 1])
        if first == stop:
            continue
        encoded = group.size * (stop - first) // group.rows
        if start < first and (stop - start > shard_rows or size + encoded > SHARD_BYTES):
            yield start, first
            start, size = first, 0
        size += encoded
        step = min(shard_rows, max(1, SHARD_BYTES * (stop - first) // max(1, encoded)))
        if stop - first > step:
            # No earlier row group is left over here: the condition above is true for one this large.
            yield from ((each, min(each + step, stop)) for each in range(first, stop, step))
            start, size = stop, 0
    if start < stop:
        yield start, stop


@dataclass(frozen=True, slots=True)
class Part:
    """The ``number``-th of ``of`` shares of an input's rows, from 1.

    Blocks of rows are dealt to the parts in turn, because neighbours are alike: a dataset sorted by domain or model
    would give one part all the hard rows if parts were consecutive. Which rows a part has depends on the input and on
    ``of`` alone.
    """

    number: int
    of: int

    @classmethod
    def parse(cls, text: str) -> Part:
        """The part written as ``I/N``; raises ``DatasetError``.

        >>> str(Part.parse("3/32"))
        '3/32'
        """
        found = re.fullmatch(r"([0-9]{1,6})/([0-9]{1,6})", text)
        part = cls(int(found[1]), int(found[2])) if found else cls(0, 0)
        if not 1 <= part.number <= part.of:
            raise DatasetError(f"A part is written I/N with I from 1 to N, such as 3/32, not {text}.")
        return part

    def __str__(self) -> str:
        return f"{self.number}/{self.of}"

    @property
    def suffix(self) -> str:
        """What tells its files from those of other parts."""
        return f"-{self.number}-of-{self.of}"

    @staticmethod
    def of_file(name: str) -> str | None:
        """The part that a file is of, by its suffix; None for one of a whole run.

        >>> Part.of_file("_running-3-of-32.json"), Part.of_file("_running.json")
        ('3/32', None)
        """
        found = re.search(r"-([0-9]+)-of-([0-9]+)\.json$", name)
        return f"{found[1]}/{found[2]}" if found else None

    def split(self, source: Source) -> tuple[list[Shard], list[Shard]]:
        """The blocks of an input that are its own, and those of all other parts."""
        blocks = plan_shards(source, max(1, min(SHARD_ROWS, source.rows // (BLOCKS_OF_PART * self.of))))
        own = blocks[self.number - 1 :: self.of]
        return list(own), [block for number, block in enumerate(blocks) if number % self.of != self.number - 1]


def left_over(ranges: Iterable[tuple[int, int]], start: int, stop: int) -> Iterator[tuple[int, int]]:
    """What the ranges, in order, leave of the rows from start to stop.

    >>> list(left_over([(0, 10), (20, 25)], 5, 30))
    [(10, 20), (25, 30)]
    """
    for low, high in ranges:
        if start < min(low, stop):
            yield start, min(low, stop)
        start = max(start, high)
    if start < stop:
        yield start, stop


def named_rows(partition: str) -> tuple[str, int, int] | None:
    """The stem and the rows (end excluded) that the name of a partition says; None for any other file.

    >>> named_rows("pairs-000000002048-000000004000.parquet"), named_rows("pairs.parquet")
    (('pairs', 2048, 4000), None)
    """
    found = re.fullmatch(r"(.+)-([0-9]{12,18})-([0-9]{12,18})\.parquet", partition)
    return (found[1], int(found[2]), int(found[3])) if found else None


def shards_named(source: Source, partitions: Iterable[str]) -> list[Shard]:
    """The shards of an input whose partitions have these names, in the order of the input; other names are left out."""
    files = {partition_stem(file.name): (file.version, file.rows) for file in source.files}
    found = []
    for name in partitions:
        stem, start, stop = named_rows(name) or ("", 0, 0)
        version, rows = files.get(stem, (None, 0))
        if version and (start < stop <= rows or start == stop == rows == 0):
            shard = Shard(stem, version, start, stop)
            if shard.name == name:
                found.append(shard)
    return in_order(source, found)


def in_order(source: Source, shards: Iterable[Shard]) -> list[Shard]:
    """The shards in the order of their rows in the input; of two that begin together, the longer one first."""
    order = {partition_stem(file.name): number for number, file in enumerate(source.files)}
    return sorted(shards, key=lambda shard: (order[shard.stem], shard.start, -shard.stop))


def ranges_of(shards: Iterable[Shard]) -> dict[str, list[tuple[int, int]]]:
    """The rows of shards by the stem of their file, as ``plan_shards`` takes them."""
    ranges: dict[str, list[tuple[int, int]]] = {}
    for shard in shards:
        ranges.setdefault(shard.stem, []).append((shard.start, shard.stop))
    return {stem: sorted(rows) for stem, rows in ranges.items()}


def overlaps(shard: Shard, ranges: Mapping[str, Ranges]) -> bool:
    """Whether it has any of these rows, given by the stem of their file; an empty file overlaps an empty range.

    >>> from pddl_eval.datasets import Location
    >>> shard = Shard("s", FileVersion(Location("/pairs.parquet"), ""), 5, 9)
    >>> overlaps(shard, {"s": [(0, 5), (8, 9)]}), overlaps(shard, {"s": [(0, 5), (9, 10)]})
    (True, False)
    """
    rows = ranges.get(shard.stem, ())
    following = bisect_left(rows, (shard.stop, 0)) if shard.rows else len(rows)
    return following > 0 and (rows[following - 1][1] > shard.start or not shard.rows)


def disjoint(shards: Iterable[Shard], claims: Mapping[str, int]) -> list[Shard]:
    """Those of the shards, in order, that have the most rows together without overlapping.

    Of several choices, that of the newer ``claims``, by the names of the partitions: a partition of an older one may
    have been written late. So where some partitions tile a file, these or others that tile it count.

    >>> from pddl_eval.datasets import Location
    >>> file = FileVersion(Location("/pairs.parquet"), "")
    >>> shards = [Shard("s", file, *rows) for rows in [(0, 9), (0, 5), (5, 9), (9, 10)]]
    >>> [(each.start, each.stop) for each in disjoint(shards, {})]
    [(0, 9), (9, 10)]
    >>> [(each.start, each.stop) for each in disjoint(shards, {shard.name: 2 for shard in shards[1:]})]
    [(0, 5), (5, 9), (9, 10)]
    """
    kept: list[Shard] = []
    for _, of_file in groupby(shards, key=lambda shard: shard.stem):
        by_stop = sorted(of_file, key=lambda shard: (shard.stop, shard.start))
        stops = [shard.stop for shard in by_stop]
        best: list[tuple[int, int]] = [(0, 0)]  # Of the first shards: the most rows, and these times their claims.
        with_last: list[int] = []  # How many of the shards before may stay where a shard does.
        for number, shard in enumerate(by_stop):
            with_last.append(bisect_right(stops, shard.start, hi=number))
            rows, newness = best[with_last[-1]]
            both = rows + shard.rows, newness + shard.rows * claims.get(shard.name, 0)
            best.append(max(best[-1], both))
        number, chosen = len(by_stop), []
        while number:
            if best[number] == best[number - 1] and by_stop[number - 1].rows:
                number -= 1
            else:
                chosen.append(by_stop[number - 1])
                number = with_last[number - 1]
        kept += reversed(chosen)
    return kept
