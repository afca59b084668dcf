"""Rows of which a condition in SQL is true: those that ``--where`` lets a run score, or a report show."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from pddl_eval.datasets.columns import together
from pddl_eval.datasets.conversion import GROUP_BYTES, GROUP_ROWS
from pddl_eval.datasets.forms import DAMAGE, Form
from pddl_eval.datasets.inputs import (
    FORMAT,
    INPUT_FOLDER,
    MADE_OF,
    NOTES,
    Make,
    Source,
    Write,
    described,
    made_from,
    open_source,
)
from pddl_eval.datasets.places import DatasetError, Location, locate, new_parquet
from pddl_eval.datasets.rows import column_batches
from pddl_eval.errors import UserError, did_you_mean
from pddl_eval.shown import line

if TYPE_CHECKING:
    import polars as pl

ROW = "pddl_eval.row"
"""The number of a row in its dataset, from 0."""


def fulfilling(frame: pl.LazyFrame, condition: str, name: object) -> tuple[pl.LazyFrame, int]:
    """The rows of which the condition is true, and how many; ``name`` is what messages call the dataset.

    Raises ``UserError`` where the condition cannot be understood.

    >>> import polars
    >>> fulfilling(polars.LazyFrame({"split": ["test", "train", None]}), "split = 'test'", "the frame")[1]
    1
    """
    import polars as pl  # Workers import this room and read no SQL.

    _names_in(condition, frame.collect_schema().names(), name)
    try:
        found = frame.filter(pl.sql_expr(condition))
        return found, int(found.select(pl.len()).collect().item())
    except (pl.exceptions.PolarsError, TypeError, ValueError) as error:
        raise _unusable(condition, name, str(error)) from None


def _names_in(condition: str, columns: Sequence[str], name: object) -> list[str]:
    """The columns that the condition asks for; raises ``UserError`` where it is no condition or one is not there."""
    import polars as pl  # as above

    try:
        names = list(dict.fromkeys(pl.sql_expr(condition).meta.root_names()))
    except (pl.exceptions.PolarsError, TypeError, ValueError) as error:
        raise _unusable(condition, name, str(error)) from None
    for each in names:
        if each not in columns:
            raise _unusable(condition, name, f"there is no column {each}; {did_you_mean(each, columns, 'columns')}")
    return names


def _unusable(condition: str, name: object, why: str) -> UserError:
    return UserError(f"--where {condition!r} cannot be used on {name}: {line(why)}")


def only_where(make: Make, condition: str) -> Make:
    """As ``make``, but the file has only the rows of which the condition is true."""

    def write_chosen(write: Write, place: Location, made_of: Mapping[str, Any]) -> None:
        with TemporaryDirectory(prefix="pddl-eval-") as aside:
            whole = locate(aside) / INPUT_FOLDER / "rows"
            write(whole, made_of)
            _copy(open_source(str(whole)), condition, place, made_of)

    def chosen(original: Source | None, made_of: Mapping[str, Any], write: Write) -> Location:
        return make(original, {**made_of, "where": condition}, lambda *to: write_chosen(write, *to))

    return chosen


def parquet_where(found: Source, make: Make, condition: str) -> Source:
    """The rows of an input in Parquet of which the condition is true, in a file that ``make`` keeps."""
    made_of = {"format": FORMAT, "where": condition, "rows": described(found)}
    return made_from(found, make(found, made_of, lambda place, told: _copy(found, condition, place, told)))


def _copy(source: Source, condition: str, place: Location, made_of: Mapping[str, Any]) -> None:
    """Write the rows of which the condition is true; a damaged line, of which nothing is known, stays and is named."""
    import polars as pl  # as above

    schema, total = source.schema, source.rows
    if source.form is not Form.PARQUET:
        schema = schema.append(pa.field(DAMAGE, pa.string()))
        source = replace(source, schema=schema)
    names = _names_in(condition, schema.names, "the input") or schema.names[:1]
    names += [DAMAGE] if DAMAGE in schema.names else []
    frame = pl.concat([pl.DataFrame(batch) for batch in column_batches(source, names)]).with_row_index(ROW)
    found, rows = fulfilling(frame.lazy(), condition, "the input")
    if not rows:
        raise DatasetError(f"--where {condition!r} is true of no row.")
    damaged = pl.col(DAMAGE).is_not_null() if DAMAGE in names else False
    mask = frame.select(pl.col(ROW).is_in(found.select(ROW).collect()[ROW].implode()) | damaged)[ROW].to_arrow()

    def kept() -> Iterator[pa.RecordBatch]:
        first = 0
        for batch in column_batches(source, schema.names, GROUP_ROWS):
            yield batch.filter(mask.slice(first, batch.num_rows))
            first += batch.num_rows

    with new_parquet(place, schema) as writer:
        for some in together(kept(), GROUP_ROWS, GROUP_BYTES):
            writer.write_table(pa.Table.from_batches(some, schema))
        notes = [*source.notes, f"{rows:,} of {total:,} rows are scored, those with {condition}"]
        writer.add_key_value_metadata({MADE_OF: json.dumps(made_of), NOTES: json.dumps(notes)})
