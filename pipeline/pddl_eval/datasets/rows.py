"""The rows of an input: a range of a file, one row, or some columns of all of them.

Rows are read in pieces of bounded size, as decoded: memory follows neither the row group nor how often a value of a
dictionary is repeated. A Parquet reader reaches the middle of a row group only by decoding what comes before. So each
thread keeps the file that it read last open at the row where it stopped: consecutive shards of one row group cost one
pass over it, and a worker that is given every second shard skips the others at decoding speed (some 100,000 rows a
second).
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from pddl_eval.datasets.columns import PIECE_BYTES, together, values_of
from pddl_eval.datasets.forms import FileVersion
from pddl_eval.datasets.inputs import Source, place_of
from pddl_eval.datasets.parquet import MOST_STEP_ROWS, ParquetReader
from pddl_eval.datasets.places import STORE_ATTEMPTS, DatasetError, dataset_errors, one_line, pause_before, persistently
from pddl_eval.datasets.stores import Refused

BATCH_ROWS = 1024

SALVAGE_BATCHES = 16_384
"""Steps in which a damaged row group is read: exact to the row up to that many rows, to a few rows beyond."""

READ_ATTEMPTS = 2
"""Attempts at a range before its file counts as damaged: the connection may have failed."""

READ_ERRORS = (OSError, pa.ArrowException)


def column_batches(source: Source, names: Sequence[str], batch_rows: int = BATCH_ROWS) -> Iterator[pa.RecordBatch]:
    """The columns of all rows, in the order of the files, in batches of at most that many rows and ``PIECE_BYTES``.

    Raises ``DatasetError`` where a file cannot be read.
    """
    schema = pa.schema([source.schema.field(name) for name in names])
    for file in source.files:
        version = file.version
        with (
            dataset_errors(version.location, "read"),
            closing(ParquetReader(version, version.own(schema).names)) as reader,
        ):
            for batches in together(reader.read(0, reader.rows, {}, batch_rows), batch_rows, PIECE_BYTES):
                yield from version.table(batches, schema).combine_chunks().to_batches()


@dataclass(frozen=True, slots=True)
class Rows:
    """Consecutive rows of a file: ``damage`` says why rows before them, or behind the last ones, are missing.

    ``lost`` says, by their numbers, why rows are nulls: they are there, and their text cannot be read.
    """

    table: pa.Table
    numbers: range
    damage: str | None = None
    lost: Mapping[int, str] = field(default_factory=dict)


def read_rows(file: FileVersion, start: int, stop: int, schema: pa.Schema) -> Iterator[Rows]:
    """The rows ``start`` to ``stop`` of a file in pieces of about ``PIECE_BYTES``; always at least one.

    Where the file is damaged, all rows before the damage in each row group; those behind it in the same row group
    cannot be decoded. A damaged line is a row of nulls. Raises ``DatasetError`` where the file cannot be opened or is
    no longer that version.
    """
    batches: list[pa.RecordBatch] = []
    lost: dict[int, str] = {}
    size, first, damage, failures, refusals = 0, start, None, 0, 0
    while start < stop:
        try:
            reader = _reader(file)
            low, high = reader.row_group(start)
            # The last attempt reads row by row, up to the damage in this row group.
            last = failures == READ_ATTEMPTS
            step, end = (max(1, (high - low) // SALVAGE_BATCHES), min(stop, high)) if last else (MOST_STEP_ROWS, stop)
            for batch in reader.read(start, end, lost, step):
                added = batch.nbytes
                if batches and size + added > PIECE_BYTES:
                    yield _rows(file.table(batches, schema), range(first, start), damage, lost)
                    batches, size, first, damage = [], 0, start, None
                batches.append(batch)
                size, start = size + added, start + batch.num_rows
            failures = refusals = 0
            if last:
                close_file()
        except READ_ERRORS as error:
            close_file()
            if "AWS Error" in str(error) or isinstance(error, (Refused, TimeoutError)):
                refusals = _refused(file, refusals + 1, error)
                continue
            failures += 1
            if failures > READ_ATTEMPTS:
                if batches:
                    yield _rows(file.table(batches, schema), range(first, start), damage, lost)
                start = min(stop, _reader(file).row_group(start)[1])
                batches, size, first, damage, failures = [], 0, start, one_line(error), 0
    if batches or first == start:
        yield _rows(file.table(batches, schema), range(first, start), damage, lost)


def _rows(table: pa.Table, numbers: range, damage: str | None, lost: Mapping[int, str]) -> Rows:
    return Rows(table, numbers, damage, {number: why for number, why in lost.items() if number in numbers})


def _refused(file: FileVersion, refusals: int, error: Exception) -> int:
    """Wait before a store is asked again; raises ``DatasetError`` where it has refused too often."""
    if refusals == STORE_ATTEMPTS:
        with dataset_errors(file.location, "read"):
            raise error
    pause_before(refusals + 1)
    return refusals


def read_row(source: Source, number: int, names: Sequence[str]) -> dict[str, Any]:
    """The values of one row, counted from 0 over the files in their order; only the rows around it are read.

    Raises ``DatasetError`` where there is no such row or it cannot be read.
    """
    place, rows = place_of(source), source.rows
    if not 0 <= number < rows:
        raise DatasetError(f"There is no row {number:,}: {place} has {rows:,}, counted from 0.")
    for file in source.files:
        if number < file.rows:
            break
        number -= file.rows
    damage = None
    try:
        for piece in read_rows(file.version, number, number + 1, source.schema):
            damage = damage or piece.damage or piece.lost.get(number)
            if piece.table.num_rows and not piece.lost:
                return {name: values_of(piece.table[name])[0] for name in names}
    finally:
        close_file()
    where = place if source.original else file.version
    raise DatasetError(f"The row cannot be read: {where} is damaged ({damage}).")


def close_file() -> None:
    """Close the file that this thread keeps open."""
    if _kept.reader is not None:
        _kept.reader.close()
        _kept.reader = None


class _Kept(threading.local):
    """What a thread keeps from one shard to the next."""

    reader: ParquetReader | None = None


_kept = _Kept()


def _reader(file: FileVersion) -> ParquetReader:
    """The file as this thread keeps it open; raises ``DatasetError`` where it is no longer that version."""
    if _kept.reader is None or _kept.reader.file != file:
        close_file()
        with dataset_errors(file.location, "read"):
            _kept.reader = persistently(file.location, lambda: ParquetReader(file))
    return _kept.reader
