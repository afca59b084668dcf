"""How an input falls into shards: runs of whole row groups, or ranges of rows where a row group is large.

A shard is a descriptor, some hundred bytes: workers read the rows themselves. It is named by what it covers, so the
same input falls into the same shards with the same names wherever and whenever it is scored.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from pddl_eval.dataset.footers import FileVersion
from pddl_eval.dataset.locations import DatasetError
from pddl_eval.dataset.sources import InputFile, Source, partition_stem

SHARD_ROWS = 2048
"""Rows of a shard, at most: a second or two of scoring, a hundred times the overhead of a shard, and few enough that a
lost worker costs little and that ten thousand rows occupy several."""

SHARD_BYTES = 128 * 2**20
"""Encoded bytes of a shard, about and at most, so that long answers make shorter shards and not larger workers."""


@dataclass(frozen=True, slots=True)
class Shard:
    """The rows ``start`` (included) to ``stop`` (excluded) of a file, counted from 0 over its row groups."""

    name: str
    file: FileVersion
    start: int
    stop: int

    @property
    def rows(self) -> int:
        return self.stop - self.start


def plan_shards(source: Source, shard_rows: int = SHARD_ROWS) -> tuple[Shard, ...]:
    """The shards of an input, in its order; an empty file is one empty shard, so that no schema gets lost.

    Raises ``DatasetError`` where ``shard_rows`` is not positive.
    """
    if shard_rows < 1:
        raise DatasetError(f"A shard holds at least one row, not {shard_rows}.")
    return tuple(
        Shard(shard_name(file.name, start, stop), file.version, start, stop)
        for file in source.files
        for start, stop in _ranges(file, shard_rows)
    )


def shard_name(file: str, start: int, stop: int) -> str:
    """The name of the partition of these rows.

    >>> shard_name("pairs.parquet", 0, 2048)
    'pairs-000000000000-000000002048.parquet'
    """
    return f"{partition_stem(file)}-{start:012d}-{stop:012d}.parquet"


def _ranges(file: InputFile, shard_rows: int) -> Iterator[tuple[int, int]]:
    start = stop = size = 0
    for group in file.row_groups:
        if stop > start and (stop - start + group.rows > shard_rows or size + group.size > SHARD_BYTES):
            yield start, stop
            start, size = stop, 0
        stop += group.rows
        size += group.size
        step = min(shard_rows, max(1, SHARD_BYTES * group.rows // max(1, group.size)))
        if group.rows > step:
            # Nothing came before it in this run: what makes a row group too large has ended the run above.
            yield from ((first, min(first + step, stop)) for first in range(start, stop, step))
            start, size = stop, 0
    if stop > start or stop == 0:
        yield start, stop
