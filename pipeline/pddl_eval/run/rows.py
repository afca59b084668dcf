"""Reading the rows of one shard, in memory that follows the shard and not the row group that it is cut from.

A Parquet reader reaches the middle of a row group only by decoding what comes before. So each thread keeps the file it
read last open at the row where it stopped: consecutive shards of one row group cost one pass over it, and a worker that
is given every second shard skips the others at decoding speed (some million rows a second). Which rows a shard has is
known in ``inputs``.
"""

from __future__ import annotations

import threading
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, pairwise
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from pddl_eval.run.inputs import BATCH_ROWS, FileVersion, Source, place_of, read_footer
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
            reader = _reader(file)
            batches = list(reader.read(start, stop, max(1, stop - start), reader.parquet.num_row_groups))
            return Rows(_table(batches, schema), (range(start, stop),))
        except READ_ERRORS:
            _close_reader()
    batches = []
    numbers: list[range] = []
    damage = None
    for group, (low, high) in enumerate(pairwise(_reader(file).bounds)):
        first, last = max(start, low), min(stop, high)
        if first < last:
            salvaged, trouble = _salvage(file, group, first, last)
            damage = damage or trouble
            batches += salvaged
            rows = sum(batch.num_rows for batch in salvaged)
            if rows:
                numbers.append(range(first, first + rows))
    return Rows(_table(batches, schema), tuple(numbers), damage)


def read_row(source: Source, number: int, names: Sequence[str]) -> dict[str, Any]:
    """The values of one row, counted from 0 over the files in their order; only the rows around it are read.

    Raises ``DatasetError`` where there is no such row or it cannot be read.
    """
    place, rows = place_of(source), source.rows
    if not 0 <= number < rows:
        raise DatasetError(f"There is no row {number:,}: {place} has {rows:,}, counted from 0.")
    for file in source.files:
        if number < file.rows:
            start = number - number % BATCH_ROWS
            window = read_rows(file.version, start, min(start + BATCH_ROWS, file.rows), source.schema)
            close_files()
            if window.damage and all(number not in numbers for numbers in window.numbers):
                raise DatasetError(f"The row cannot be read: {file.location} is damaged ({window.damage}).")
            return dict(window.table.select(list(names)).slice(number - start, 1).to_pylist()[0])
        number -= file.rows
    raise AssertionError("the rows of the files are those of the source")


def close_files() -> None:
    """Close the file that this thread keeps open and forget what was damaged, for the end of a run."""
    _close_reader()
    _kept.damage.clear()


@dataclass(slots=True)
class _Reader:
    """A file open at ``position``: ``rest`` is what was decoded and not yet asked for."""

    file: FileVersion
    parquet: pq.ParquetFile
    bounds: list[int]  # Of the row groups: the first row of each, and the number of rows behind.
    batches: Iterator[pa.RecordBatch] = field(default_factory=lambda: iter(()))
    position: int = 0
    rest: pa.RecordBatch | None = None

    def read(self, start: int, stop: int, batch_rows: int, stop_group: int) -> Iterator[pa.RecordBatch]:
        """Go on decoding where ``start`` lies ahead in the same row group, else begin at its row group."""
        group = bisect_right(self.bounds, start) - 1
        if not self.bounds[group] <= self.position <= start or self.position == 0:
            self.rest = None
            self.position = self.bounds[group]
            groups = range(group, stop_group)
            self.batches = self.parquet.iter_batches(batch_rows, row_groups=groups, use_threads=False)
        while self.position < stop:
            batch = self.rest if self.rest is not None else next(self.batches, None)
            if batch is None:
                raise OSError("the file holds fewer rows than its footer says")
            first = min(batch.num_rows, max(0, start - self.position))
            last = min(batch.num_rows, stop - self.position)
            self.rest = batch.slice(last) if last < batch.num_rows else None
            self.position += last
            if last > first:
                yield batch.slice(first, last - first)


class _Kept(threading.local):
    """What a thread keeps from one shard to the next.

    ``damage`` is, by file and row group, the first row that cannot be read and why, so that it is looked for once.
    """

    def __init__(self) -> None:
        self.reader: _Reader | None = None
        self.damage: dict[tuple[FileVersion, int], tuple[int, str]] = {}


_kept = _Kept()


def _reader(file: FileVersion) -> _Reader:
    """The file as this thread keeps it open."""
    if _kept.reader is None or _kept.reader.file != file:
        _close_reader()
        place = file.location
        with dataset_errors(place, "read"):
            handle = place.filesystem.open_input_file(place.path)
            version, metadata = read_footer(handle, place)
            if version != file:
                raise DatasetError(f"{place} has changed since the run was prepared.")
            buffer = LOCAL_BUFFER_BYTES if place.is_local else REMOTE_BUFFER_BYTES
            parquet = pq.ParquetFile(
                handle, metadata=metadata, buffer_size=buffer, pre_buffer=False, page_checksum_verification=True
            )
        rows = (metadata.row_group(i).num_rows for i in range(metadata.num_row_groups))
        _kept.reader = _Reader(file, parquet, list(accumulate(rows, initial=0)))
    return _kept.reader


def _close_reader() -> None:
    if _kept.reader is not None:
        _kept.reader.parquet.close(force=True)
        _kept.reader = None


def _salvage(file: FileVersion, group: int, first: int, last: int) -> tuple[list[pa.RecordBatch], str | None]:
    """The rows of a part of a row group up to its damage, read in small steps, and what is damaged."""
    bad_row, damage = _kept.damage.get((file, group), (last, None))
    batches: list[pa.RecordBatch] = []
    if damage is None or bad_row > first:
        reader = _reader(file)
        low, high = reader.bounds[group : group + 2]
        try:
            batches.extend(reader.read(first, last, max(1, (high - low) // SALVAGE_BATCHES), group + 1))
            return batches, None
        except READ_ERRORS as error:
            if "AWS Error" in str(error):
                raise DatasetError(f"Cannot read {file}: {error}") from None
            damage = " ".join(str(error).split())[:200]
            _kept.damage[file, group] = max(low, reader.position), damage
        finally:
            _close_reader()
    return batches, damage


def _table(batches: list[pa.RecordBatch], schema: pa.Schema) -> pa.Table:
    if not batches:
        return schema.empty_table()
    return pa.Table.from_batches([batch.replace_schema_metadata(schema.metadata) for batch in batches])
