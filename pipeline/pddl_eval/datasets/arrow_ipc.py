"""Arrow IPC files and streams (also Feather version 2): their record batches, and their rows.

A batch is decoded whole, because the form has no smaller piece; a local file that is not compressed is mapped into
memory, so that only the rows that are asked for are read. A stream, and a compressed file, is read from its beginning,
or from where a worker stopped.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from threading import Event

import pyarrow as pa
import pyarrow.parquet as pq

from pddl_eval.datasets.forms import (
    ARROW_FILE,
    Blocks,
    FileVersion,
    Form,
    Mark,
    RowGroup,
    open_bytes,
    require_unchanged,
    version_of_ends,
)
from pddl_eval.datasets.places import DatasetError, Location, one_line


def describe(
    file: pa.NativeFile, location: Location, compression: str | None, stopped: Event
) -> tuple[FileVersion, tuple[RowGroup, ...], pa.Schema]:
    """The version of a file, its record batches and its schema; reads all of it, unless ``stopped`` is set.

    Raises ``DatasetError`` where a column has a type that the output, which is Parquet, cannot hold.
    """
    blocks = Blocks()
    rows = 0
    batches = _Batches(location, compression)
    try:
        schema = plain_schema(batches.schema)
        twice = [name for name, count in Counter(schema.names).items() if count > 1]
        if twice:
            raise DatasetError(f"{location} has two columns named {twice[0]}: rename one.")
        try:
            pq.ParquetWriter(pa.BufferOutputStream(), schema).close()
        except pa.ArrowNotImplementedError as error:
            raise DatasetError(f"{location} has a column that Parquet cannot hold: {one_line(error)}.") from None
        while (batch := batches.next()) is not None:
            blocks.begin(Mark(rows, batches.number - 1))
            rows += batch.num_rows
            blocks.end(batch.num_rows, batch.nbytes)
            if stopped.is_set():
                raise KeyboardInterrupt
    finally:
        batches.close()
    marks = blocks.marks(Mark(rows, batches.number))
    version = FileVersion(location, version_of_ends(file), (), Form.ARROW, compression, marks)
    return version, tuple(blocks.groups), schema


def plain_schema(schema: pa.Schema) -> pa.Schema:
    """The schema with texts and bytes as Parquet stores them: Arrow's views (polars writes them) become plain."""
    return pa.schema([field.with_type(_plain(field.type)) for field in schema], metadata=schema.metadata)


def _plain(type_: pa.DataType) -> pa.DataType:
    if type_ == pa.string_view():
        return pa.string()
    if type_ == pa.binary_view():
        return pa.binary()
    if pa.types.is_dictionary(type_):
        return pa.dictionary(type_.index_type, _plain(type_.value_type), type_.ordered)
    if pa.types.is_list(type_) or pa.types.is_large_list(type_):
        list_ = pa.list_ if pa.types.is_list(type_) else pa.large_list
        return list_(type_.value_field.with_type(_plain(type_.value_type)))
    if pa.types.is_struct(type_):
        return pa.struct([field.with_type(_plain(field.type)) for field in type_])
    return type_


def _cast(array: pa.Array, type_: pa.DataType) -> pa.Array:
    if array.type == type_:
        return array
    if pa.types.is_dictionary(type_):
        return pa.DictionaryArray.from_arrays(
            array.indices, _cast(array.dictionary, type_.value_type), ordered=type_.ordered
        )
    return array.cast(type_)


class _Batches:
    """The record batches of a file, one after the other; ``number`` is that of the next one."""

    def __init__(self, location: Location, compression: str | None) -> None:
        self.number = 0
        mapped = location.is_local and compression is None
        self._bytes = pa.memory_map(location.path) if mapped else open_bytes(location, compression)
        self._file = None
        if compression is None and self._bytes.read_at(len(ARROW_FILE), 0) == ARROW_FILE:
            self._file = pa.ipc.open_file(self._bytes)
            self.schema = self._file.schema
        else:
            self._stream = pa.ipc.open_stream(self._bytes)
            self.schema = self._stream.schema

    @property
    def can_seek(self) -> bool:
        return self._file is not None

    def next(self) -> pa.RecordBatch | None:
        if self._file is None:
            batch = next(self._stream, None)
        else:
            batch = self._file.get_batch(self.number) if self.number < self._file.num_record_batches else None
        if batch is not None:
            batch.validate()
            self.number += 1
        return batch

    def close(self) -> None:
        self._bytes.close()


class ArrowReader:
    """An Arrow IPC file or stream, open at a batch; see ``Reader``."""

    def __init__(self, file: FileVersion) -> None:
        require_unchanged(file)
        self.file = file
        self._batches = _Batches(file.location, file.compression)
        self._batch: pa.RecordBatch | None = None
        self._first = 0  # The first row of the batch, or of the next one where there is none.

    def close(self) -> None:
        self._batch = None
        self._batches.close()

    def row_group(self, row: int) -> tuple[int, int]:
        return self.file.block(row)

    def read(  # noqa: PLR0913 (see Reader)
        self,
        start: int,
        stop: int,
        batch_rows: int,
        schema: pa.Schema,
        lost: dict[int, str],  # noqa: ARG002 (no row of it is damaged alone)
        *,
        one_group: bool = False,  # noqa: ARG002 (no batch is decoded before it is asked for)
    ) -> Iterator[pa.RecordBatch]:
        mark = self.file.mark_before(start)
        if self._batches.can_seek and not mark.row <= self._first <= start:
            self._batch, self._first, self._batches.number = None, mark.row, mark.place
        elif self._first > start:
            self._batches.close()
            self._batch, self._first = None, 0
            self._batches = _Batches(self.file.location, self.file.compression)
        while start < stop:
            if self._batch is None:
                self._batch = self._batches.next()
                if self._batch is None:
                    raise OSError("the file holds fewer rows than before")
            end = self._first + self._batch.num_rows
            while start < min(end, stop):
                rows = min(batch_rows, min(end, stop) - start)
                part = self._batch.slice(start - self._first, rows)
                columns = [_cast(part.column(field.name), field.type) for field in schema]
                start += rows
                yield pa.RecordBatch.from_arrays(columns, schema=schema)
            if start >= end:
                self._batch, self._first = None, end
