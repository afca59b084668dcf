"""Some columns of an input, batch by batch or at one row, for those who read and do not score.

Memory follows the batch. Which rows a worker reads, and what to do about damaged files, is the business of ``rows``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from difflib import get_close_matches
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from pddl_eval.dataset.locations import DatasetError, Location, dataset_errors
from pddl_eval.dataset.sources import Source

BATCH_ROWS = 1024
BUFFER_BYTES = 2**20
"""Read from each column chunk at a time."""


def require_columns(source: Source, names: Iterable[str]) -> None:
    """Raise ``DatasetError`` for the first name that is no column, with the nearest one that is."""
    for name in names:
        if name not in source.schema.names:
            near = get_close_matches(name, source.schema.names, n=1)
            known = f"did you mean {near[0]}?" if near else f"the columns are {', '.join(source.schema.names)}"
            raise DatasetError(f"There is no column {name} in {place_of(source)}: {known}")


def require_text(source: Source, name: str) -> None:
    """Raise ``DatasetError`` where that column is missing or holds no text."""
    require_columns(source, [name])
    if not holds_text(source, name):
        held = source.schema.field(name).type
        raise DatasetError(f"Column {name} of {place_of(source)} should hold text, but its type is {held}.")


def holds_text(source: Source, name: str) -> bool:
    """True for a column whose values are strings or null, however encoded; False where there is no such column."""
    if name not in source.schema.names:
        return False
    type_ = source.schema.field(name).type
    if pa.types.is_dictionary(type_):
        type_ = type_.value_type
    return bool(
        pa.types.is_string(type_)
        or pa.types.is_large_string(type_)
        or pa.types.is_string_view(type_)
        or pa.types.is_null(type_)
    )


def column_batches(source: Source, names: Sequence[str], batch_rows: int = BATCH_ROWS) -> Iterator[pa.RecordBatch]:
    """The columns of all rows, in the order of the files; raises ``DatasetError`` where a file cannot be read."""
    for file in source.files:
        yield from _batches(file.version.location, range(len(file.row_groups)), names, batch_rows)


def read_row(source: Source, number: int, names: Sequence[str]) -> dict[str, Any]:
    """The values of one row, counted from 0 over the files in their order; only its row group is read.

    Raises ``DatasetError`` where there is no such row.
    """
    if not 0 <= number < source.rows:
        raise DatasetError(f"There is no row {number:,}: {place_of(source)} has {source.rows:,}, counted from 0.")
    start = 0
    for file in source.files:
        for group, described in enumerate(file.row_groups):
            if number < start + described.rows:
                for batch in _batches(file.version.location, [group], names, BATCH_ROWS):
                    if number < start + batch.num_rows:
                        return dict(batch.slice(number - start, 1).to_pylist()[0])
                    start += batch.num_rows
            start += described.rows
    raise DatasetError(f"{place_of(source)} changed while it was read.")


def place_of(source: Source) -> Location:
    """What the input is called in a sentence: its only file, or the folder of its files."""
    return source.files[0].version.location if len(source.files) == 1 else source.base


def _batches(file: Location, groups: Sequence[int], names: Sequence[str], batch_rows: int) -> Iterator[pa.RecordBatch]:
    with (
        dataset_errors(file, "read"),
        file.filesystem.open_input_file(file.path) as stream,
        pq.ParquetFile(stream, buffer_size=BUFFER_BYTES, pre_buffer=False) as parquet,
    ):
        yield from parquet.iter_batches(batch_rows, row_groups=groups, columns=list(names), use_threads=False)
