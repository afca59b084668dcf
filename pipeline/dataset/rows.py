"""Reading the rows of one shard, in memory that follows the shard and not the row group that it is cut from.

A Parquet reader reaches the middle of a row group only by decoding what comes before. So each thread keeps the file it
read last open at the row where it stopped: consecutive shards of one row group cost one pass over it, and a worker that
is given every second shard skips the others at decoding speed (some million rows a second).
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import dataclass, field

import pyarrow as pa
import pyarrow.parquet as pq

from pipeline.dataset.locations import DatasetError, Location, dataset_errors

LOCAL_BUFFER_BYTES = 128 * 1024
REMOTE_BUFFER_BYTES = 2 * 2**20
"""Read from each column chunk at a time: what a worker holds of a file is this times the number of columns."""

SALVAGE_BATCHES = 16_384
"""Steps in which a damaged row group is read: exact to the row up to that many rows, to a few rows beyond."""

READ_ERRORS = (OSError, pa.ArrowException)


@dataclass(frozen=True, slots=True)
class Rows:
    """What could be read of a range: the rows, their numbers in the file, and why the others are missing (or None)."""

    table: pa.Table
    numbers: tuple[range, ...]
    damage: str | None = None


def read_rows(file: Location, start: int, stop: int, schema: pa.Schema) -> Rows:
    """The rows ``start`` to ``stop`` of a file.

    Where the file is damaged, all rows before the damage in each row group; what lies behind it in the same row group
    cannot be decoded. Raises ``DatasetError`` where the file cannot be opened.
    """
    try:
        table = _table(_stream_for(file, start, stop).take(start, stop), schema)
        return Rows(table, (range(start, stop),))
    except READ_ERRORS:
        close_files()
        return _salvage(file, start, stop, schema)


def close_files() -> None:
    """Close the file that this thread keeps open, for the end of a run."""
    stream = getattr(_kept, "stream", None)
    if stream is not None:
        _kept.stream = None
        stream.parquet.close(force=True)


_kept = threading.local()


@dataclass(slots=True)
class _Stream:
    """A file open at ``position``: ``rest`` is what was decoded and not yet asked for."""

    file: Location
    parquet: pq.ParquetFile
    bounds: list[int]
    batches: Iterator[pa.RecordBatch] = field(default_factory=lambda: iter(()))
    position: int = 0
    rest: pa.RecordBatch | None = None

    def seek(self, start: int, batch_rows: int) -> None:
        """Go on decoding where ``start`` lies ahead in the same row group, else begin at its row group."""
        group = self.row_group(start)
        if self.position > start or self.row_group(self.position) != group or self.position == 0:
            self.rest = None
            self.position = self.bounds[group]
            self.batches = self.parquet.iter_batches(
                batch_size=batch_rows,
                row_groups=range(group, self.parquet.num_row_groups),
                use_threads=False,
            )

    def row_group(self, row: int) -> int:
        return next((i for i, stop in enumerate(self.bounds[1:]) if row < stop), 0)

    def take(self, start: int, stop: int) -> list[pa.RecordBatch]:
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


def _stream_for(file: Location, start: int, stop: int) -> _Stream:
    stream: _Stream | None = getattr(_kept, "stream", None)
    if stream is None or stream.file != file:
        close_files()
        stream = _kept.stream = _open(file)
    stream.seek(start, max(1, stop - start))
    return stream


def _open(file: Location) -> _Stream:
    with dataset_errors(file, "read"):
        parquet = pq.ParquetFile(
            file.filesystem.open_input_file(file.path),
            buffer_size=LOCAL_BUFFER_BYTES if file.is_local else REMOTE_BUFFER_BYTES,
            pre_buffer=False,
            page_checksum_verification=True,
        )
    metadata = parquet.metadata
    bounds = [0]
    for i in range(metadata.num_row_groups):
        bounds.append(bounds[-1] + metadata.row_group(i).num_rows)
    return _Stream(file, parquet, bounds)


def _salvage(file: Location, start: int, stop: int, schema: pa.Schema) -> Rows:
    """Read each row group's part on its own, in small steps, up to where it is damaged."""
    batches: list[pa.RecordBatch] = []
    numbers: list[range] = []
    damage = None
    stream = _open(file)
    for group, (low, high) in enumerate(zip(stream.bounds, stream.bounds[1:], strict=False)):
        first, last = max(start, low), min(stop, high)
        if first >= last:
            continue
        known = _damage_of_thread().get((file, group))
        if known is not None and known[0] <= first:
            damage = damage or known[1]
            continue
        position = low
        step = max(1, (high - low) // SALVAGE_BATCHES)
        try:
            for batch in stream.parquet.iter_batches(batch_size=step, row_groups=[group], use_threads=False):
                begin, end = max(first, position), min(last, position + batch.num_rows)
                if begin < end:
                    batches.append(batch.slice(begin - position, end - begin))
                position += batch.num_rows
                if position >= last:
                    break
        except READ_ERRORS as error:
            if "AWS Error" in str(error):
                raise DatasetError(f"Cannot read {file}: {error}") from None
            text = " ".join(str(error).split())[:200]
            _damage_of_thread()[file, group] = position, text
            damage = damage or text
        if position > first:
            numbers.append(range(first, min(last, position)))
    stream.parquet.close(force=True)
    return Rows(_table(batches, schema), tuple(numbers), damage)


def _damage_of_thread() -> dict[tuple[Location, int], tuple[int, str]]:
    """By file and row group: the first row that cannot be read and why, so that the damage is looked for once."""
    if not hasattr(_kept, "damage"):
        _kept.damage = {}
    return _kept.damage


def _table(batches: list[pa.RecordBatch], schema: pa.Schema) -> pa.Table:
    if not batches:
        return schema.empty_table()
    if not batches[0].schema.equals(schema):
        raise DatasetError("The columns of a file are no longer those that it had when the run was planned.")
    return pa.Table.from_batches([batch.replace_schema_metadata(schema.metadata) for batch in batches])
