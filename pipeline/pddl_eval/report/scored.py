"""The scored dataset that a report is about: its rows as a lazy frame, its size and its signatures.

Files are found and compared by ``pddl_eval.run``; a frame that is already in memory (a notebook's) does as well.
"""

from __future__ import annotations

import os
import shlex
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import polars as pl
import pyarrow.dataset
import pyarrow.parquet as pq

from pddl_eval.errors import UserError
from pddl_eval.run import SIGNATURE_KEY, Location, dataset_errors
from pddl_eval.run.inputs import FOOTER_READERS, open_source
from pddl_eval.scoring.columns import KINDS

ROW = "pddl_eval.row"
"""The number of a row in the dataset, from 0, in the order of its files: what ``pddl-eval explain --row`` takes."""

ScoredInput = str | os.PathLike[str] | pl.DataFrame | pl.LazyFrame
"""A Parquet file, folder, pattern or URI; or a frame with score columns."""


@dataclass(frozen=True, slots=True)
class Scored:
    """``place`` is None for a frame in memory; ``signatures`` are those of the partitions with their rows.

    A signature is None where a file carries none.
    """

    place: str | None
    frame: pl.LazyFrame
    schema: pl.Schema
    rows: int
    signatures: tuple[tuple[str | None, int], ...]

    def explain_command(self, row: int) -> str | None:
        """The command that explains the verdict on a row, ready for a shell."""
        return None if self.place is None else f"pddl-eval explain {shlex.quote(self.place)} --row {row}"


def open_scored(scored: ScoredInput) -> Scored:
    """The scored dataset at a place, its rows not yet read.

    Raises ``DatasetError`` where there is no such dataset, ``ValueError`` where it has no score columns.

    >>> open_scored(pl.DataFrame({"plan_score": [1.0]})).rows
    1
    """
    if isinstance(scored, (pl.DataFrame, pl.LazyFrame)):
        frame = scored.lazy().with_row_index(ROW)
        found = Scored(None, frame, frame.collect_schema(), frame.select(pl.len()).collect().item(), ())
    else:
        found = _open_files(os.fspath(scored))
    if not any(field.name in found.schema for kind in KINDS for field in kind.fields):
        raise UserError(
            f"{found.place or 'the frame'} has no score columns (parseable, equivalent, plan_score, …): "
            "score it first with `pddl-eval score`"
        )
    return found


def _open_files(place: str) -> Scored:
    source = open_source(place)
    locations = [source.base / file.name for file in source.files]
    if source.base.is_local:
        frame = pl.scan_parquet([location.path for location in locations], glob=False, row_index_name=ROW)
    else:
        # Through Arrow, so that credentials are found as everywhere else in the program.
        paths = [location.path for location in locations]
        files = pyarrow.dataset.dataset(paths, filesystem=source.base.filesystem, format="parquet")
        frame = pl.scan_pyarrow_dataset(files).with_row_index(ROW)
    with ThreadPoolExecutor(FOOTER_READERS) as readers:
        signatures = list(readers.map(_signature, locations))
    rows: dict[str | None, int] = {}
    for signature, file in zip(signatures, source.files, strict=True):
        rows[signature] = rows.get(signature, 0) + file.rows
    return Scored(place, frame, frame.collect_schema(), source.rows, tuple(rows.items()))


def _signature(location: Location) -> str | None:
    with dataset_errors(location, "read"), location.filesystem.open_input_file(location.path) as file:
        metadata = pq.read_metadata(file).metadata or {}
    signature = metadata.get(SIGNATURE_KEY.encode())
    return None if signature is None else signature.decode("utf-8", "replace")
