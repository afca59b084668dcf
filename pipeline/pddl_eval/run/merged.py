"""Partitions copied into fewer, larger files, in the order of the input: for a dataset of many small files."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby
from operator import itemgetter

import pyarrow as pa
import pyarrow.parquet as pq

from pddl_eval.datasets import SIGNATURE_KEY, Location, dataset_errors, new_parquet, together
from pddl_eval.options import SHARD_ROWS


def merge(partitions: Iterable[Location], output: Location, schema: pa.Schema, signature: str, rows: int) -> None:
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
