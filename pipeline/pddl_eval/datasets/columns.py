"""Columns and batches of Arrow: which columns hold text, their values, batches of bounded size."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa

PIECE_BYTES = 64 * 2**20
"""Decoded bytes of a piece of a file, at most (about). A small file can be large when decoded: rows share the values of
a dictionary."""

Batch = TypeVar("Batch", pa.RecordBatch, pa.Table)


def is_text(type_: pa.DataType) -> bool:
    """True for strings, however encoded, and for a column of nulls."""
    type_ = type_.value_type if pa.types.is_dictionary(type_) else type_
    return type_ in (pa.string(), pa.large_string(), pa.string_view(), pa.null())


def values_of(column: pa.Array | pa.ChunkedArray) -> list[Any]:
    """The column as Python values; rows share those of a dictionary. Bytes that are not UTF-8 are read as ``\\xff``.

    >>> values_of(pa.array([b"a\\xff", None]).cast(pa.string(), safe=False))
    ['a\\\\xff', None]
    """
    if isinstance(column, pa.ChunkedArray):
        return [value for chunk in column.chunks for value in values_of(chunk)]
    if pa.types.is_dictionary(column.type):
        known = values_of(column.dictionary)
        return [None if place is None else known[place] for place in column.indices.to_pylist()]
    try:
        return list(column.to_pylist())
    except UnicodeDecodeError:
        texts = column.cast(pa.large_string()).cast(pa.large_binary()).to_pylist()
        return [None if text is None else text.decode("utf-8", "backslashreplace") for text in texts]


def rows_of(table: pa.Table | pa.RecordBatch) -> Iterator[dict[str, Any]]:
    """The rows by the names of their columns; values are those of ``values_of``."""
    return (dict(zip(table.schema.names, row, strict=True)) for row in zip(*map(values_of, table.columns), strict=True))


def taken(table: pa.Table, rows: pa.Array) -> pa.Table:
    """The rows with these numbers, as ``Table.take``; nothing is copied where these are all of them, in order."""
    return table if rows.equals(pa.array(np.arange(table.num_rows))) else table.take(rows)


def together(batches: Iterable[Batch], most_rows: int, most_bytes: int = PIECE_BYTES) -> Iterator[list[Batch]]:
    """The batches, or tables, in lists of at most that many rows and bytes; always at least one list."""
    some: list[Batch] = []
    rows = size = 0
    for batch in batches:
        rows, size = rows + batch.num_rows, size + (added := batch.nbytes)
        if some and (rows > most_rows or size > most_bytes):
            yield some
            some, rows, size = [], batch.num_rows, added
        some.append(batch)
    yield some
