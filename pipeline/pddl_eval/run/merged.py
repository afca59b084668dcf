"""Copies partitions into fewer, larger files, in the order of the input: for a dataset of many small files.

Until all are there, the partitions lie in a folder of their own within the output.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import partial
from itertools import chain, groupby
from operator import itemgetter

import pyarrow as pa

from pddl_eval.datasets import PARQUET_SUFFIXES, PARTITIONS, SIGNATURE_KEY, Location, places, together
from pddl_eval.errors import UserError
from pddl_eval.run.lock import Claim, claimed
from pddl_eval.run.manifest import OtherRun, require_output, same_run
from pddl_eval.run.partitions import batches_of, damaged
from pddl_eval.run.prepare import Run
from pddl_eval.run.shards import shards_named
from pddl_eval.run.summary import RunCounts
from pddl_eval.run.tiling import MERGED, merged_names
from pddl_eval.settings import SHARD_ROWS
from pddl_eval.unchanged import MANIFEST, SUMMARY


def partitions_of(output: str | os.PathLike[str]) -> Location:
    """Where a run that merges its partitions keeps them until then; raises ``DatasetError``."""
    folder = places.locate(output)
    require_output(folder)
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


def finish_merged(run: Run, rows_per_file: int, finish: Callable[[], RunCounts]) -> RunCounts:
    """Finish the run, then merge its partitions into the folder above; nothing where that is done.

    A start after an interruption continues the run or merges again. The partitions are deleted when all is there.
    """
    output = run.work.output.parent
    if not 1 <= rows_per_file < 2**63:
        raise UserError(f"A file has from 1 to {2**63 - 1:,} rows, not {rows_per_file:,}.")
    present = require_output(output, run.source if run.source.original or not run.source.made_of else None)
    with claimed(output) as claim:
        if not places.has_file(output / MANIFEST):
            places.put_bytes(output / MANIFEST, json.dumps({**run.manifest, MERGED: rows_per_file}, indent=1).encode())
        files = {name for name in present if name.endswith(PARQUET_SUFFIXES)}
        is_whole = is_merged(run, rows_per_file) and files == {*merged_names(run.source.rows, rows_per_file)}
        if is_whole and not (output.is_local and damaged((output / name for name in files), run.work.columns)):
            summary = run.work.scorer.summary.from_json(json.loads(places.read_bytes(output / SUMMARY)), str(output))
        else:
            summary = replace(finish(), output=str(output))
            there = shards_named(run.source, places.list_files(run.work.output))
            partitions = (run.work.output / shard.name for shard in there)
            _merge(partitions, claim, run.work.output_schema, run.work.scorer.signature, rows_per_file)
            content = places.read_bytes(run.work.output / SUMMARY)
            places.put_bytes(output / SUMMARY, content, partial(claim.may_write, SUMMARY))
        places.remove_folder(run.work.output)
    return summary


def _merge(partitions: Iterable[Location], claim: Claim, schema: pa.Schema, signature: str, rows: int) -> None:
    """Write the rows of all partitions into files of ``rows`` rows, the last one of fewer; each appears whole.

    Not by ``pyarrow.dataset.write_dataset``: its files do not appear whole, and their names do not sort as their rows.
    Raises ``DatasetError`` where a partition cannot be read, ``OutputError`` where a file cannot be written.
    """
    nothing = pa.RecordBatch.from_pylist([], schema)  # A dataset without rows is a file with its columns.
    batches = chain([nothing], chain.from_iterable(map(batches_of, partitions)))
    for number, pieces in groupby(_cut(batches, rows), itemgetter(0)):
        name = f"part-{number:06d}.parquet"
        with places.new_parquet(claim.may_write(name), schema, partial(claim.may_write, name)) as writer:
            for some in together((piece for _, piece in pieces), SHARD_ROWS):
                writer.write_table(pa.Table.from_batches(some, schema), row_group_size=SHARD_ROWS)
            writer.add_key_value_metadata({SIGNATURE_KEY: signature})


def _cut(batches: Iterable[pa.RecordBatch], rows: int) -> Iterator[tuple[int, pa.RecordBatch]]:
    """The batches, cut where a file is full, each with the number of its file."""
    first = 0
    for batch in batches:
        stop = first + batch.num_rows
        last = max(stop - 1, 0) // rows
        for number in range(min(first // rows, last), last + 1):  # An empty batch begins no file.
            start = max(first, number * rows)
            yield number, batch.slice(start - first, min(stop, (number + 1) * rows) - start)
        first = stop
