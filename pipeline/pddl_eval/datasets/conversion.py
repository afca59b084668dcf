"""Rows in other forms than Parquet, converted to one file of Parquet, from the first to the last.

Memory follows neither the files nor their number: rows are read, checked and written a row group at a time. A row that
cannot be read is a row of nulls, and the column ``DAMAGE`` says why.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import replace
from itertools import chain, count, groupby, zip_longest
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from pddl_eval.datasets import arrow_ipc, lines
from pddl_eval.datasets.columns import together
from pddl_eval.datasets.forms import AS_LINES, DAMAGE, Form, InputFile, open_bytes, with_folder_columns
from pddl_eval.datasets.places import DatasetError, Location, dataset_errors, new_parquet, one_line
from pddl_eval.shown import line

GROUP_ROWS = 1024
GROUP_BYTES = 4 * 2**20
"""Largest row group, about."""

PASSES = 2
"""Over text: the second one knows all columns."""

Told = Callable[[Sequence[str]], Mapping[str, str]]
"""The metadata of the file, made at its end of what the user should know of its rows."""


def convert(files: Sequence[InputFile], place: Location, told: Told) -> None:
    """Write the rows of all files, of one form, to a Parquet file; it appears whole.

    Raises ``DatasetError`` where a file cannot be read or holds no rows of its form, or their columns do not fit.
    """
    if files[0].version.form is Form.ARROW:
        notes: list[str] = []
        schema = _arrow_schema(files)
        _write(place, files, schema, _arrow_rows(files, notes), lambda: told(notes))
        return
    columns: dict[str, int] = {}
    for _ in range(PASSES):
        # The types are those of the first rows; if the rows behind them need others, a second pass begins with these.
        blocks = _blocks(files, columns)
        head = next(blocks)
        schema = lines.schema_of(columns)
        with suppress(_OtherTypes):
            _write(place, files, schema, _text_rows(files, chain([head], blocks), columns, schema), lambda: told([]))
            return
    raise DatasetError(f"{files[0].version} has changed while it was read.")


def require_equal(name: str, schema: pa.Schema, other_name: str, other: pa.Schema) -> None:
    """Raise ``DatasetError`` where two files declare different columns."""
    for mine, theirs in () if schema.equals(other) else zip_longest(schema, other):
        if mine is None or theirs is None or not mine.equals(theirs):
            raise DatasetError(
                f"The files of one input must have the same columns: {name} has {_declared(mine)} where "
                f"{other_name} has {_declared(theirs)}."
            )


def _declared(field: pa.Field | None) -> str:
    return "no column" if field is None else f"{field.name}: {field.type}{'' if field.nullable else ' not null'}"


class _Rows(NamedTuple):
    """Some rows of one file: its number, their columns, and why each is null that could not be read.

    ``batch`` is the number of a damaged batch of Arrow: it becomes a row group of its own, because a reader gives up
    the row group that it is in.
    """

    file: int
    columns: Sequence[pa.Array]
    damage: pa.Array
    batch: int | None = None


def _write(
    place: Location,
    files: Sequence[InputFile],
    own: pa.Schema,
    found: Iterable[_Rows],
    told: Callable[[], Mapping[str, str]],
) -> None:
    """Write rows with the columns of their folders' names, and ``DAMAGE``, in row groups of a bounded size.

    Raises ``DatasetError`` where Parquet cannot hold a column, or two have one name.
    """
    where = files[0].version
    schema, keys = with_folder_columns([file.name for file in files], own)
    schema = schema.append(pa.field(DAMAGE, pa.string()))
    versions = [replace(file.version, keys=each) for file, each in zip(files, keys, strict=True)]
    twice = [name for name in schema.names if len(schema.get_all_field_indices(name)) > 1]
    if twice:
        raise DatasetError(f"{where} has two columns named {line(twice[0])}: rename one.")
    try:
        pq.ParquetWriter(pa.BufferOutputStream(), schema).close()
    except pa.ArrowNotImplementedError as error:
        raise DatasetError(f"{where} has a column that Parquet cannot hold: {one_line(error)}.") from None

    def table(rows: _Rows) -> pa.Table:
        version = versions[rows.file]
        batch = pa.RecordBatch.from_arrays([*rows.columns, rows.damage], schema=version.own(schema))
        return version.table([batch], schema)

    with new_parquet(place, schema) as writer:
        for _, neighbours in groupby(found, lambda rows: rows.batch):
            for some in together(map(table, neighbours), GROUP_ROWS, GROUP_BYTES):
                writer.write_table(pa.concat_tables(some))
        writer.add_key_value_metadata(dict(told()))


def _arrow_schema(files: Sequence[InputFile]) -> pa.Schema:
    """The columns that all files declare."""
    schema = None
    for file in files:
        with dataset_errors(file.version.location, "read"), closing(arrow_ipc.Batches(file.version)) as batches:
            schema = schema or batches.schema
            require_equal(files[0].name, schema, file.name, batches.schema)
    return schema


def _arrow_rows(files: Sequence[InputFile], notes: list[str]) -> Iterator[_Rows]:
    damaged = count()
    for number, file in enumerate(files):
        rows = 0
        with dataset_errors(file.version.location, "read"), closing(arrow_ipc.Batches(file.version)) as batches:
            for batch, why in batches:
                rows += batch.num_rows
                step = max(1, min(GROUP_ROWS, GROUP_BYTES * batch.num_rows // max(1, batch.nbytes)))
                which, step = (None, step) if why is None else (next(damaged), max(1, batch.num_rows))
                for first in range(0, batch.num_rows, step):
                    part = batch.slice(first, step)
                    reasons = pa.repeat(pa.scalar(why, pa.string()), part.num_rows)
                    yield _Rows(number, part.columns, reasons, which)
            if not batches.has_end:
                notes.append(f"{file.version} has no end mark: rows may be missing behind its {rows:,}.")


class _OtherTypes(Exception):
    """The columns are not those of the first rows."""


def _text_rows(
    files: Sequence[InputFile], blocks: Iterable[_Block], columns: Mapping[str, int], schema: pa.Schema
) -> Iterator[_Rows]:
    """The rows of blocks; raises ``_OtherTypes`` behind the last one if they do not have the columns of the schema."""
    form = files[0].version.form
    rows, fits, reason = 0, True, None
    for block in blocks:
        rows += len(block.values)
        reason = reason or next(filter(None, block.reasons), None)
        fits = fits and lines.schema_of(columns).equals(schema)
        if fits and block.values:
            arrays = [lines.array_of([row.get(each.name) for row in block.values], each.type, form) for each in schema]
            yield _Rows(block.file, arrays, pa.array(block.reasons, pa.string()))
    if rows and not columns:
        raise DatasetError(f"No line of {files[0].version} can be read: {reason}; {AS_LINES}.")
    if not fits:
        raise _OtherTypes


class _Block(NamedTuple):
    """As many rows of a file of text as a row group has: the number of the file, their values, their damage."""

    file: int
    values: Sequence[Mapping[str, Any]]
    reasons: Sequence[str | None]


def _blocks(files: Sequence[InputFile], columns: dict[str, int]) -> Iterator[_Block]:
    """The rows of files of text; the kinds of their values are added to the ``columns``. At least one block a file."""
    for number, file in enumerate(files):
        place, form = file.version.location, file.version.form
        with dataset_errors(place, "read"), closing(open_bytes(place, file.version.compression)) as stream:
            values: list[Mapping[str, Any]] = []
            reasons: list[str | None] = []
            size = 0
            for row in lines.rows(stream, form, place, columns):
                values.append(row.values)
                reasons.append(row.damage and f"{line(place.name)}:{row.line} {line(row.damage)}")
                size += row.size
                if len(values) >= GROUP_ROWS or size >= GROUP_BYTES:
                    yield _Block(number, values, reasons)
                    values, reasons, size = [], [], 0
            yield _Block(number, values, reasons)
