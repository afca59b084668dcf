"""Partitions copied into fewer, larger files, in the order of the input: for a dataset of many small files.

Until all is there they lie in a folder of their own within the output.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from itertools import groupby
from operator import itemgetter

import pyarrow as pa
import pyarrow.parquet as pq

from pddl_eval.datasets import (
    PARTITIONS,
    SIGNATURE_KEY,
    Location,
    dataset_errors,
    locate,
    new_parquet,
    places,
    together,
)
from pddl_eval.errors import UserError
from pddl_eval.options import SHARD_ROWS
from pddl_eval.run.answers import made_of
from pddl_eval.run.lock import claimed
from pddl_eval.run.manifest import MANIFEST, OtherRun, refuse_foreign, require_folder, same_run
from pddl_eval.run.prepare import MERGED, Run, refuse_overlap
from pddl_eval.run.shards import shards_named
from pddl_eval.run.summary import SUMMARY, RunSummary


def partitions_of(output: str | os.PathLike[str]) -> Location:
    """Where the partitions lie of a run that merges them in the end, until then; raises ``DatasetError``."""
    folder = locate(output)
    require_folder(folder)
    return folder / PARTITIONS


def is_merged(run: Run, rows_per_file: int) -> bool:
    """Whether the run is finished and merged in the folder above; raises ``OtherRun`` where another run is there."""
    output = run.work.output.parent
    if not places.has_file(output / MANIFEST):
        return False
    before = same_run(output, run.manifest).get(MERGED)
    if before != rows_per_file:
        has = f"has {MERGED} {before}, not {rows_per_file}" if before else f"was scored without {MERGED}"
        raise OtherRun(f"{output} {has}: choose another folder.")
    return places.has_file(output / SUMMARY)


def finish_merged(run: Run, rows_per_file: int, finish: Callable[[], RunSummary]) -> RunSummary:
    """Finish the run, then merge its partitions into the folder above; nothing where that is done.

    A start after an interruption continues the run or merges again. The partitions are deleted when all is there.
    """
    output = run.work.output.parent
    if rows_per_file < 1:
        raise UserError(f"A file has at least one row, not {rows_per_file}.")
    if not made_of(run.source):
        refuse_overlap(run.source, output)
    present = places.list_files(output)
    if MANIFEST not in present:
        refuse_foreign(output, present)
    with claimed(output):
        places.put_new(output / MANIFEST, json.dumps({**run.manifest, MERGED: rows_per_file}, indent=1).encode())
        if is_merged(run, rows_per_file):
            summary = RunSummary.from_json(json.loads(places.read_bytes(output / SUMMARY)), str(output))
        else:
            summary = replace(finish(), output=str(output))
            there = shards_named(run.source, places.list_files(run.work.output))
            partitions = (run.work.output / shard.name for shard in there)
            _merge(partitions, output, run.work.output_schema, run.work.scorer.signature, rows_per_file)
            places.put_bytes(output / SUMMARY, places.read_bytes(run.work.output / SUMMARY))
        places.remove_folder(run.work.output)
    return summary


def _merge(partitions: Iterable[Location], output: Location, schema: pa.Schema, signature: str, rows: int) -> None:
    """Write the rows of all partitions into files of so many rows, the last one of fewer; each appears whole.

    Raises ``DatasetError`` where a partition cannot be read, ``OutputError`` where a file cannot be written.
    """
    for number, pieces in groupby(_cut(_row_groups(partitions, schema), rows), itemgetter(0)):
        with new_parquet(output / f"part-{number:06d}.parquet", schema) as writer:
            for _, piece in pieces:
                writer.write_table(piece, row_group_size=max(1, piece.num_rows))
            writer.add_key_value_metadata({SIGNATURE_KEY: signature})


def _cut(tables: Iterable[pa.Table], rows: int) -> Iterator[tuple[int, pa.Table]]:
    """The tables, each with the number of the file that it goes to."""
    first = 0
    for table in tables:
        while table.num_rows or not first:
            room = rows - first % rows
            yield first // rows, table.slice(0, room)
            if not table.num_rows:
                break
            first += min(room, table.num_rows)
            table = table.slice(room)


def _row_groups(partitions: Iterable[Location], schema: pa.Schema) -> Iterator[pa.Table]:
    """All rows in tables of about a shard; always at least one."""
    for batches in together(_batches(partitions), SHARD_ROWS):
        yield pa.Table.from_batches(batches, schema)


def _batches(partitions: Iterable[Location]) -> Iterator[pa.RecordBatch]:
    for place in partitions:
        with (
            dataset_errors(place, "read"),
            place.filesystem.open_input_file(place.path) as stream,
            pq.ParquetFile(stream, page_checksum_verification=True) as parquet,
        ):
            yield from parquet.iter_batches(SHARD_ROWS, use_threads=False)
