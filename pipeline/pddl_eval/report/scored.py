"""The scored dataset that a report is about: its rows as a lazy frame, its size, its signatures, its score columns.

It is found and read through ``pddl_eval.run``; a frame in memory (in a notebook) works as well. Everything that
reports know of score columns and files is here.
"""

from __future__ import annotations

import os
import re
import shlex
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import polars as pl
import pyarrow.dataset

from pddl_eval.errors import UserError, did_you_mean
from pddl_eval.metrics import DOMAIN, PAIRS, PLAN, ROW_COLUMNS
from pddl_eval.run import open_source
from pddl_eval.verdict import Verdict

PLAN_COLUMNS, DOMAIN_COLUMNS = (tuple(column.name for column in pair.columns) for pair in (PLAN, DOMAIN))
PAIR_COLUMNS = frozenset(column.name for pair in PAIRS for column in pair.columns)
"""A scored dataset has at least one of these columns."""

SCORE_COLUMNS = PAIR_COLUMNS | {column.name for column in ROW_COLUMNS}
FRACTIONS = frozenset(column.name for pair in (PLAN, DOMAIN) for column in pair.columns if column.type is float)
"""Scores between 0 and 1; the other numeric ones are whole numbers."""

ROW = "pddl_eval.row"
"""The number of a row in the dataset, from 0, in the order of its files: what ``pddl-eval explain --row`` takes."""

ScoredInput = str | os.PathLike[str] | pl.DataFrame | pl.LazyFrame
"""A Parquet file, folder, pattern or URI; or a frame with score columns."""


@dataclass(frozen=True, slots=True)
class Scored:
    """``place`` is None for a frame in memory; ``signatures`` are those of the partitions with their rows.

    A signature is None if a file has none.
    """

    place: str | None
    frame: pl.LazyFrame
    schema: pl.Schema
    rows: int
    signatures: tuple[tuple[str | None, int], ...]

    @property
    def name(self) -> str:
        """What messages call it."""
        return self.place or "the frame"

    def require(self, column: str) -> None:
        """Raises ``UserError`` if there is no such column."""
        columns = [each for each in self.schema if each != ROW]
        if column not in columns:
            hint = did_you_mean(column, columns, "columns")
            raise UserError(f"there is no column {column} in {self.name}; {hint}")

    def explain_command(self, row: int) -> str | None:
        """The command that explains the verdict on a row, ready for a shell."""
        return None if self.place is None else f"pddl-eval explain {shlex.quote(self.place)} --row {row}"

    def is_counted(self) -> pl.Expr:
        """True for the rows that rates are about: all but those whose reference is a mistake in the data."""
        if "verdict" not in self.schema:
            return pl.lit(True)
        return pl.col("verdict").ne_missing(Verdict.REFERENCE_INVALID.value)


def open_scored(scored: ScoredInput) -> Scored:
    """The scored dataset at a place, its rows not yet read.

    Raises ``DatasetError`` if there is no such dataset, ``UserError`` if it has no score columns.

    >>> open_scored(pl.DataFrame({"plan_score": [1.0]})).rows
    1
    """
    if isinstance(scored, (pl.DataFrame, pl.LazyFrame)):
        frame = scored.lazy().with_row_index(ROW)
        found = Scored(None, frame, frame.collect_schema(), frame.select(pl.len()).collect().item(), ())
    else:
        found = _open_files(os.fspath(scored))
    if PAIR_COLUMNS.isdisjoint(found.schema):
        raise UserError(
            f"{found.name} has no score columns (parseable, equivalent, plan_score, …): "
            "score it first with `pddl-eval score`"
        )
    return found


@contextmanager
def unreadable_texts() -> Iterator[None]:
    """Raise ``UserError`` where a column that is read has bytes that are not UTF-8: polars reads no such text."""
    try:
        yield
    except pl.exceptions.ComputeError as error:
        if not re.search("utf-?8", str(error), re.IGNORECASE):
            raise
        raise UserError(f"a column to group or join by holds bytes that are not UTF-8: {error}") from None


def _open_files(place: str) -> Scored:
    source = open_source(place)
    for name, count in Counter(source.schema.names).items():
        if count > 1:
            raise UserError(f"{count} columns of {place} are named {name}: rename all but one")
    locations = [source.base / file.name for file in source.files]
    paths = [location.path for location in locations]
    if source.base.is_local:
        frame = pl.scan_parquet(paths, glob=False, row_index_name=ROW)
    else:
        # Through Arrow, so that credentials are found as everywhere else in the program.
        files = pyarrow.dataset.dataset(paths, filesystem=source.base.filesystem, format="parquet")
        frame = pl.scan_pyarrow_dataset(files).with_row_index(ROW)
    rows: Counter[str | None] = Counter()
    for file in source.files:
        rows[file.signature] += file.rows
    return Scored(place, frame, frame.collect_schema(), source.rows, tuple(rows.items()))
