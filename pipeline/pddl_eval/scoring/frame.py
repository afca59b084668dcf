"""A polars or pandas frame in a notebook, scored where it is: no files, no engine, the columns that a dataset gets.

For frames of up to about 10,000 rows. ``pddl_eval.run.score_dataset`` is for larger ones: it uses all
CPUs, survives interruptions and keeps its result on disk.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import pyarrow as pa

from pddl_eval.options import MEANINGS, ScoringOptions
from pddl_eval.progress import progress
from pddl_eval.scoring.columns import ColumnError, score_schema
from pddl_eval.scoring.table import score_table

Frame = TypeVar("Frame")
"""``polars.DataFrame`` or ``pandas.DataFrame``."""

CHUNK_ROWS = 256
"""Rows between two looks at the clock."""


def score_frame(
    frame: Frame,
    *,
    columns: Mapping[str, str] | None = None,
    domain: str | None = None,
    check_solvable: bool = True,
    similarity: str = "exact",
    beta: float = 0.75,
    threshold: float = 0.8,
) -> Frame:
    """The polars or pandas frame with its score columns behind its own: the columns that ``pddl-eval score`` writes.

    ``columns`` maps a column's meaning to its name in the frame (``{"generated_problem": "output"}``); ``domain`` is
    the name of a known domain or PDDL text, for the rows that name none; the rest as for ``pddl_eval.score_dataset``.
    Nothing of the frame is changed, in pandas its index neither; there bools and integers come as nullable ``boolean``
    and ``Int64``, for None is "not decided". In a terminal or notebook a progress bar appears after a second.

    Raises ``TypeError`` for what is no frame, ``ColumnError`` (a ``ValueError``) where the columns do not fit,
    ``ValueError`` for a setting that is not right. Whatever goes wrong inside a row stands in its ``score_error``.

    >>> import polars
    >>> plans = polars.DataFrame({"reference_plan": ["(pick a)"] * 2, "generated_plan": ["(pick a)", "(drop a)"]})
    >>> score_frame(plans)["plan_lcs"].to_list()
    [1.0, 0.0]
    """
    names, take, attach = _library(frame)
    settings = ScoringOptions(
        columns=dict(columns or {}),
        domain=domain,
        check_solvable=check_solvable,
        similarity=similarity,
        beta=beta,
        threshold=threshold,
    )
    table = _meaningful(names, take, settings)
    # What is wrong with the columns is said of all of them, also of those that need not be read.
    others = [pa.field(name, pa.null()) for name in names if isinstance(name, str) and name not in table.column_names]
    score_schema(pa.schema([*table.schema, *others]), settings)
    return attach(_scores(table, settings))


def _library(frame: Any) -> tuple[list[Any], Callable[[str], pa.Array], Callable[[pa.Table], Any]]:
    """A frame's column names, how a column becomes an array, and how score columns become the frame's."""
    # A frame of a library can only be here if somebody imported it; nobody else should have to.
    polars, pandas = sys.modules.get("polars"), sys.modules.get("pandas")
    if polars is not None and isinstance(frame, polars.DataFrame):
        return (
            frame.columns,
            lambda name: frame[name].to_arrow(),
            lambda scores: frame.hstack(polars.from_arrow(scores)),
        )
    if polars is not None and isinstance(frame, polars.LazyFrame):
        raise TypeError("score_frame takes a frame whose rows are there: collect() the LazyFrame first")
    if pandas is not None and isinstance(frame, pandas.DataFrame):
        nullable = {pa.bool_(): pandas.BooleanDtype(), pa.int64(): pandas.Int64Dtype()}

        def attach(scores: pa.Table) -> Any:
            return pandas.concat([frame, scores.to_pandas(types_mapper=nullable.get).set_index(frame.index)], axis=1)

        return list(frame.columns), lambda name: pa.array(frame[name], from_pandas=True), attach
    raise TypeError(f"score_frame takes a polars or pandas DataFrame, not a {type(frame).__name__}")


def _meaningful(names: list[Any], take: Callable[[str], pa.Array], settings: ScoringOptions) -> pa.Table:
    """The columns that mean something; the others, whatever they hold, need not fit Arrow."""
    arrays: dict[str, pa.Array] = {}
    for name in dict.fromkeys(map(settings.column, MEANINGS)):
        if names.count(name) > 1:
            raise ColumnError(f"{names.count(name)} columns are named {name}: keep one")
        if name in names:
            try:
                arrays[name] = take(name)
            except (pa.ArrowException, TypeError, ValueError) as error:
                raise ColumnError(f"column {name} holds values of different or unknown types: {error}") from None
    return pa.table(arrays)


def _scores(table: pa.Table, settings: ScoringOptions) -> pa.Table:
    """The score columns alone, made chunk by chunk."""
    chunks = []
    with progress(table.num_rows) as pace:
        for start in range(0, max(1, table.num_rows), CHUNK_ROWS):
            chunks.append(score_table(table.slice(start, CHUNK_ROWS), settings).drop_columns(table.column_names))
            pace.advance(min(CHUNK_ROWS, table.num_rows - start))
    return pa.concat_tables(chunks)
