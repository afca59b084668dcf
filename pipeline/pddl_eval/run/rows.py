"""Reading the rows of one shard, in memory that follows the shard and not the row group that it is cut from.

A Parquet reader reaches the middle of a row group only by decoding what comes before. So each thread keeps the file it
read last open at the row where it stopped: consecutive shards of one row group cost one pass over it, and a worker that
is given every second shard skips the others at decoding speed (some million rows a second).
"""

from __future__ import annotations

import threading
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import accumulate, pairwise

import pyarrow as pa
import pyarrow.parquet as pq

from pddl_eval.run.inputs import FileVersion, read_footer
from pddl_eval.run.places import DatasetError, dataset_errors

LOCAL_BUFFER_BYTES = 128 * 1024
REMOTE_BUFFER_BYTES = 2 * 2**20
"""Read from each column chunk at a time: what a worker holds of a file is this times the number of columns."""

SALVAGE_BATCHES = 16_384
"""Steps in which a damaged row group is read: exact to the row up to that many rows, to a few rows beyond."""

READ_ATTEMPTS = 2
"""At a range, before its file is taken for damaged: a connection may break too."""

READ_ERRORS = (OSError, pa.ArrowException)


@dataclass(frozen=True, slots=True)
class Rows:
    """What could be read of a range: the rows, their numbers in the file, and why the others are missing (or None)."""

    table: pa.Table
    numbers: tuple[range, ...]
    damage: str | None = None


def read_rows(file: FileVersion, start: int, stop: int, schema: pa.Schema) -> Rows:
    """The rows ``start`` to ``stop`` of a file.

    Where the file is damaged, all rows before the damage in each row group; what lies behind it in the same row group
    cannot be decoded. Raises ``DatasetError`` where the file cannot be opened or is no longer that version.
    """
    for _ in range(READ_ATTEMPTS):
        try:
            if _kept.stream is None or _kept.stream.file != file:
                _close_stream()
                _kept.stream = _open(file)
            return Rows(_table(_kept.stream.read(start, stop), schema), (range(start, stop),))
        except READ_ERRORS:
            _close_stream()
    return _salvage(file, start, stop, schema)


def close_files() -> None:
    """Close the file that this thread keeps open and forget what was damaged, for the end of a run."""
    _close_stream()
    _kept.damage.clear()


@dataclass(slots=True)
class _Stream:
    """A file open at ``position``: ``rest`` is what was decoded and not yet asked for."""

    file: FileVersion
    parquet: pq.ParquetFile
    bounds: list[int]  # Of the row groups: the first row of each, and the number of rows behind.
    batches: Iterator[pa.RecordBatch] = field(default_factory=lambda: iter(()))
    position: int = 0
    rest: pa.RecordBatch | None = None

    def read(self, start: int, stop: int) -> list[pa.RecordBatch]:
        self._seek(start, max(1, stop - start))
        taken = []
        while self.position < stop:
            batch = self.rest if self.rest is not None else next(self.batches, None)
            if batch is None:
                raise OSError("the file holds fewer rows than its footer says")
            first = min(batch.num_rows, max(0, start - self.position))
            last = min(batch.num_rows, stop - self.position)
            if last > first:
                taken.append(batch.slice(first, last - first))
            self.rest = batch.slice(last) if last < batch.num_rows else None
            self.position += last
        return taken

    def _seek(self, start: int, batch_rows: int) -> None:
        """Go on decoding where ``start`` lies ahead in the same row group, else begin at its row group."""
        group = bisect_right(self.bounds, start) - 1
        if not self.bounds[group] <= self.position <= start or self.position == 0:
            self.rest = None
            self.position = self.bounds[group]
            following = range(group, self.parquet.num_row_groups)
            self.batches = self.parquet.iter_batches(batch_rows, row_groups=following, use_threads=False)


class _Kept(threading.local):
    """What a thread keeps from one shard to the next.

    ``damage`` is, by file and row group, the first row that cannot be read and why, so that it is looked for once.
    """

    def __init__(self) -> None:
        self.stream: _Stream | None = None
        self.damage: dict[tuple[FileVersion, int], tuple[int, str]] = {}


_kept = _Kept()


def _close_stream() -> None:
    if _kept.stream is not None:
        _kept.stream.parquet.close(force=True)
        _kept.stream = None


def _open(file: FileVersion) -> _Stream:
    place = file.location
    with dataset_errors(place, "read"):
        handle = place.filesystem.open_input_file(place.path)
        version, metadata = read_footer(handle, place)
        if version != file:
            raise DatasetError(f"{place} has changed since the run was prepared.")
        parquet = pq.ParquetFile(
            handle,
            metadata=metadata,
            buffer_size=LOCAL_BUFFER_BYTES if place.is_local else REMOTE_BUFFER_BYTES,
            pre_buffer=False,
            page_checksum_verification=True,
        )
    rows = (metadata.row_group(i).num_rows for i in range(metadata.num_row_groups))
    return _Stream(file, parquet, list(accumulate(rows, initial=0)))


def _salvage(file: FileVersion, start: int, stop: int, schema: pa.Schema) -> Rows:
    """Read each row group's part on its own, in small steps, up to where it is damaged."""
    batches: list[pa.RecordBatch] = []
    numbers: list[range] = []
    damage = None
    stream = _open(file)
    for group, (low, high) in enumerate(pairwise(stream.bounds)):
        first, last = max(start, low), min(stop, high)
        if first >= last:
            continue
        position, trouble = _kept.damage.get((file, group), (last, None))
        if trouble is None or position > first:
            position = low
            step = max(1, (high - low) // SALVAGE_BATCHES)
            try:
                for batch in stream.parquet.iter_batches(step, row_groups=[group], use_threads=False):
                    begin, end = max(first, position), min(last, position + batch.num_rows)
                    if begin < end:
                        batches.append(batch.slice(begin - position, end - begin))
                    position += batch.num_rows
                    if position >= last:
                        break
            except READ_ERRORS as error:
                if "AWS Error" in str(error):
                    raise DatasetError(f"Cannot read {file}: {error}") from None
                trouble = " ".join(str(error).split())[:200]
                _kept.damage[file, group] = position, trouble
            if position > first:
                numbers.append(range(first, min(last, position)))
        damage = damage or (trouble if position < last else None)
    stream.parquet.close(force=True)
    return Rows(_table(batches, schema), tuple(numbers), damage)


def _table(batches: list[pa.RecordBatch], schema: pa.Schema) -> pa.Table:
    if not batches:
        return schema.empty_table()
    return pa.Table.from_batches([batch.replace_schema_metadata(schema.metadata) for batch in batches])
