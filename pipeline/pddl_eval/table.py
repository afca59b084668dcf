"""From a table of rows to a table of scores: every column of the input unchanged, then the score columns.

A bad row costs one row: an error inside it is its ``score_error``. Where rows come from and go to is not known here.
``score_frame`` does the same for a frame in a notebook.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from time import perf_counter_ns
from typing import Any, TypeVar

import pyarrow as pa

from pddl_eval.budget import row_budget
from pddl_eval.errors import UserError, did_you_mean
from pddl_eval.metrics import PAIRS, ROW_COLUMNS, Pair, Row
from pddl_eval.options import MEANINGS, ScoringOptions, takes
from pddl_eval.progress import progress

Frame = TypeVar("Frame")
"""``polars.DataFrame`` or ``pandas.DataFrame``."""

CHUNK_ROWS = 256
"""Rows of a frame between two updates of the progress bar."""

ARROW_TYPES = {bool: pa.bool_(), int: pa.int64(), float: pa.float64(), str: pa.string()}


class ColumnError(UserError):
    """The dataset's columns do not fit; the message says which and what would be right."""


def score_table(table: pa.Table, options: ScoringOptions) -> pa.Table:
    """The table with its score columns.

    Raises ``ColumnError`` if the columns do not fit. An error inside a row goes into its ``score_error``.

    >>> plans = pa.table({"reference_plan": ["(pick a)"], "generated_plan": ["(pick a), (drop a)"]})
    >>> score_table(plans, ScoringOptions())["plan_lcs"].to_pylist()
    [0.5]
    """
    schema = score_schema(table.schema, options)
    pairs = pairs_present(table.schema, options)
    present = [meaning for meaning in MEANINGS if options.column(meaning) in table.column_names]
    values = [table[options.column(meaning)].to_pylist() for meaning in present]
    rows = [dict(zip(present, row, strict=True)) for row in zip(*values, strict=True)]
    with _patient_collector():
        for pair in pairs:
            if pair.prepare is not None:
                pair.prepare(rows, options)
        scored = [_score_row(row, pairs, options) for row in rows]
    added = schema.names[len(table.column_names) :]
    columns = zip(*scored, strict=True) if scored else [()] * len(added)
    arrays = [pa.array(column, schema.field(name).type) for column, name in zip(columns, added, strict=True)]
    return pa.table([*table.columns, *arrays], schema=schema)


def _score_row(row: Row, pairs: Sequence[Pair], options: ScoringOptions) -> list[Any]:
    """The row's score columns; an error costs the columns of its pair."""
    start = perf_counter_ns()
    scores: list[Any] = []
    errors: list[str] = []
    with row_budget(options.row_seconds):
        for pair in pairs:
            try:
                scores += pair.score(pair.read(row, options))
            except Exception as error:
                scores += [None] * len(pair.columns)
                errors.append(f"{pair.name}: {type(error).__name__}: {error}")
    return [*scores, "; ".join(errors) or None, (perf_counter_ns() - start) // 1000]


@contextmanager
def _patient_collector() -> Iterator[None]:
    """Run the cyclic garbage collector less often: scoring makes many values, none of them in cycles.

    By default it would visit all references of the shard every few rows.
    """
    thresholds = gc.get_threshold()
    gc.set_threshold(50_000, 5, 1_000)
    try:
        yield
    finally:
        gc.set_threshold(*thresholds)


def pairs_present(schema: pa.Schema, options: ScoringOptions) -> list[Pair]:
    """The pairs of columns that the dataset has.

    Raises ``ColumnError`` where there is none, or where only one side of a pair is there.
    """
    for meaning, name in (options.columns or {}).items():
        if name not in schema.names:
            raise ColumnError(f"there is no column {name} for {meaning}; {did_you_mean(name, schema.names, 'columns')}")
    names = {pair: (options.column(pair.reference), options.column(pair.generated)) for pair in PAIRS}
    present = [pair for pair in PAIRS if set(names[pair]) <= set(schema.names)]
    if present:
        return present
    for sides in names.values():
        there, absent = sorted(sides, key=lambda name: name not in schema.names)
        if there in schema.names:
            raise ColumnError(
                f"there is a column {there} but no {absent}; {did_you_mean(absent, schema.names, 'columns')}; "
                f"name the column: --column {absent}=NAME, in Python columns={{{absent!r}: NAME}}"
            )
    wanted = " or ".join(map(" and ".join, names.values()))
    raise ColumnError(f"no pair of columns to score: expected {wanted}; found {', '.join(schema.names) or 'none'}")


def score_schema(schema: pa.Schema, options: ScoringOptions) -> pa.Schema:
    """The schema of the scored dataset: all columns of the input, then the score columns.

    Raises ``ColumnError``: no pair of columns present, a column of the wrong type, a score column's name already taken.

    >>> text = pa.schema([("reference_plan", pa.string()), ("generated_plan", pa.string())])
    >>> score_schema(text, ScoringOptions()).names[2:5]
    ['plan_lcs', 'plan_jaccard', 'plan_score']
    """
    present = pairs_present(schema, options)
    for meaning in [side for pair in present for side in (pair.reference, pair.generated)] + ["domain"]:
        name = options.column(meaning)
        if name in schema.names and not is_text(schema.field(name).type):
            raise ColumnError(f"column {name} should hold text, but its type is {schema.field(name).type}")
    placeholder = options.column("is_placeholder")
    if placeholder in schema.names and schema.field(placeholder).type not in (pa.bool_(), pa.null()):
        raise ColumnError(f"column {placeholder} should be boolean, but its type is {schema.field(placeholder).type}")
    added = [column for pair in present for column in pair.columns] + list(ROW_COLUMNS)
    taken = [column.name for column in added if column.name in schema.names]
    if taken:
        raise ColumnError(
            f"the input already has the score column{'s' if len(taken) > 1 else ''} {', '.join(taken)}: "
            "it seems scored already; drop or rename them first, or use `pddl-eval rescore`"
        )
    return pa.schema(
        [*schema, *(pa.field(column.name, ARROW_TYPES[column.type]) for column in added)], metadata=schema.metadata
    )


def is_text(type_: pa.DataType) -> bool:
    """True for strings, however encoded, and for a column of nulls."""
    type_ = type_.value_type if pa.types.is_dictionary(type_) else type_
    return type_ in (pa.string(), pa.large_string(), pa.string_view(), pa.null())


@takes(options=ScoringOptions)
def score_frame(frame: Frame, *, options: ScoringOptions) -> Frame:
    """The polars or pandas frame, followed by its score columns: the columns that ``pddl-eval score`` writes.

    For frames of up to about 10,000 rows: ``score_dataset`` uses all CPUs, resumes after interruptions and writes to
    disk. ``columns`` maps a column's meaning to its name in the frame (``{"generated_problem": "output"}``);
    ``domain`` is the name of a known domain or PDDL text, for rows that name none. The other settings are those of
    ``pddl_eval.score_dataset``. The frame itself is not changed, and pandas keeps its index. In pandas, bools and
    integers are nullable (``boolean``, ``Int64``), because None means "not decided". Long work shows a progress bar.

    Raises ``TypeError`` if this is not a frame, ``ColumnError`` (a ``UserError``) if columns are missing or of the
    wrong type, ``UserError`` if a setting is wrong. An error inside a row goes into its ``score_error``.

    >>> import polars
    >>> plans = polars.DataFrame({"reference_plan": ["(pick a)"] * 2, "generated_plan": ["(pick a)", "(drop a)"]})
    >>> score_frame(plans)["plan_lcs"].to_list()
    [1.0, 0.0]
    """
    names, take, attach = _library(frame)
    arrays: dict[str, pa.Array] = {}
    for name in dict.fromkeys(map(options.column, MEANINGS)):
        if names.count(name) > 1:
            raise ColumnError(f"{names.count(name)} columns are named {name}: keep one")
        if name in names:
            try:
                arrays[name] = take(name)
            except (pa.ArrowException, TypeError, ValueError) as error:
                raise ColumnError(f"column {name} holds values of different or unknown types: {error}") from None
    table = pa.table(arrays)
    # The other columns, whatever they hold, need not fit Arrow; but their names are checked.
    others = [pa.field(name, pa.null()) for name in names if isinstance(name, str) and name not in arrays]
    score_schema(pa.schema([*table.schema, *others]), options)
    chunks = []
    with progress(table.num_rows, "rows") as pace:
        for start in range(0, max(1, table.num_rows), CHUNK_ROWS):
            chunks.append(score_table(table.slice(start, CHUNK_ROWS), options).drop_columns(table.column_names))
            pace.advance(min(CHUNK_ROWS, table.num_rows - start))
    scored: Frame = attach(pa.concat_tables(chunks))
    return scored


def _library(frame: Any) -> tuple[list[Any], Callable[[str], pa.Array], Callable[[pa.Table], Any]]:
    """A frame's column names, how a column becomes an array, and how score columns are added to the frame."""
    # A frame exists only where its library was imported; this file does not import it for others.
    polars, pandas = sys.modules.get("polars"), sys.modules.get("pandas")
    if polars and isinstance(frame, polars.DataFrame):
        return frame.columns, lambda name: frame[name].to_arrow(), lambda added: frame.hstack(polars.from_arrow(added))
    if polars and isinstance(frame, polars.LazyFrame):
        raise TypeError("score_frame takes a frame whose rows are there: collect() the LazyFrame first")
    if pandas and isinstance(frame, pandas.DataFrame):
        nullable: Mapping[Any, Any] = {pa.bool_(): pandas.BooleanDtype(), pa.int64(): pandas.Int64Dtype()}

        def attach(added: pa.Table) -> Any:
            return pandas.concat([frame, added.to_pandas(types_mapper=nullable.get).set_index(frame.index)], axis=1)

        return list(frame.columns), lambda name: pa.array(frame[name], from_pandas=True), attach
    raise TypeError(f"score_frame takes a polars or pandas DataFrame, not a {type(frame).__name__}")
