"""Arrow IPC files and streams (also Feather version 2): their record batches, from the first to the last.

A local file that is not compressed is mapped into memory. A batch whose values point out of its buffers is damaged: its
rows are nulls, with the reason.
"""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa

from pddl_eval.datasets.forms import ARROW_FILE, FileVersion, open_bytes
from pddl_eval.shown import line

NULL_ROWS = 2**20
"""Rows of a batch beyond one for each bit of its values, which is more than there can be unless all are null."""


class Batches:
    """The record batches of a file, each with its damage, if any, and their schema.

    ``has_end`` is False behind the last batch of a stream without an end mark; of a compressed one it is not known.
    """

    def __init__(self, file: FileVersion) -> None:
        self.has_end = True
        self._name = line(file.location.name)
        mapped = file.location.is_local and file.compression is None
        self._bytes = pa.memory_map(file.location.path) if mapped else open_bytes(file.location, file.compression)
        is_file = file.compression is None and self._bytes.read_at(len(ARROW_FILE), 0) == ARROW_FILE
        self._source = (pa.ipc.open_file if is_file else pa.ipc.open_stream)(self._bytes)
        self._is_file = is_file
        self._can_tell = not is_file and file.compression is None
        self.schema = _plain_schema(self._source.schema)

    def close(self) -> None:
        self._bytes.close()

    def __iter__(self) -> Iterator[tuple[pa.RecordBatch, str | None]]:
        number = 0
        while (batch := self._next(number)) is not None:
            damage = f"{self._name}: record batch {number:,}, counted from 0, is damaged"
            # nbytes follows offsets that nobody has checked
            if not 0 <= batch.num_rows <= NULL_ROWS + 8 * batch.get_total_buffer_size():
                raise pa.ArrowInvalid(f"{damage}: it says that it has {batch.num_rows:,} rows")
            if why := _fault(batch):
                nulls = [pa.nulls(batch.num_rows, field.type) for field in self.schema]
                yield pa.RecordBatch.from_arrays(nulls, schema=self.schema), f"{damage}: {line(why, 300)}"
            else:
                yield batch.cast(self.schema), None
            number += 1

    def _next(self, number: int) -> pa.RecordBatch | None:
        """The next batch; nothing is known of its values."""
        if self._is_file:
            return self._source.get_batch(number) if number < self._source.num_record_batches else None
        begin = self._bytes.tell() if self._can_tell else None
        batch = next(self._source, None)
        if batch is None:
            self.has_end = begin is None or self._bytes.tell() > begin
        return batch


def _plain_schema(schema: pa.Schema) -> pa.Schema:
    """The schema with texts and bytes as Parquet stores them: Arrow's views (polars writes them) become plain.

    All columns may be null, for the rows of damaged batches.
    """
    fields = [field.with_type(_plain(field.type)).with_nullable(True) for field in schema]
    return pa.schema(fields, metadata=schema.metadata)


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


def _fault(batch: pa.RecordBatch) -> str | None:
    """Why a value points out of its buffers; pyarrow would end the process, or read on.

    Text need not be UTF-8: that costs its row and not the batch.
    """
    try:
        for column in batch.columns:
            if pa.types.is_dictionary(column.type):
                column.indices.validate(full=True)
                pa.DictionaryArray.from_arrays(column.indices, _as_bytes(column.dictionary)).validate(full=True)
            else:
                _as_bytes(column).validate(full=True)
    except (pa.ArrowException, IndexError) as error:
        return str(error)
    return None


def _as_bytes(array: pa.Array) -> pa.Array:
    """A column of text without the claim that it is UTF-8; any other column as it is."""
    plain = {pa.string(): pa.binary(), pa.large_string(): pa.large_binary(), pa.string_view(): pa.binary_view()}
    return array.view(plain[array.type]) if array.type in plain else array
