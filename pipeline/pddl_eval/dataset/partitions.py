"""Partitions: the scored rows of one shard as a Parquet file that says in its metadata how it came about.

The record in the metadata is what a resumed run and the closing summary go by: a partition counts when its footer can
be read, its record belongs to the run and it holds all rows of its shard.
"""

from __future__ import annotations

import json
from collections.abc import Collection
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass

import pyarrow as pa
import pyarrow.parquet as pq

from pddl_eval.dataset.locations import DatasetError, Location, dataset_errors, put_bytes
from pddl_eval.dataset.shards import Shard
from pddl_eval.dataset.statistics import Statistics

SIGNATURE_KEY = "pddl_eval.signature"
RECORD_KEY = "pddl_eval.shard"
FOOTER_READERS = 16


@dataclass(frozen=True, slots=True)
class ShardRecord:
    """What came of a shard: ``rows`` written; ``seconds`` is wall time on ``node``.

    ``unreadable`` are the ranges of rows (numbers in their file, end excluded) that could not be read from the input,
    ``damage`` says why; ``unscored`` are the numbers of rows that killed their worker and were written without scores;
    ``carried`` rows have scores that were made before (see ``work.Scorer``).
    """

    name: str
    run: str
    rows: int
    statistics: Statistics
    seconds: float
    node: str
    attempt: int
    unreadable: tuple[tuple[int, int], ...] = ()
    damage: str | None = None
    unscored: tuple[int, ...] = ()
    carried: int = 0

    @property
    def unreadable_rows(self) -> int:
        return sum(stop - start for start, stop in self.unreadable)

    def to_json(self) -> str:
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str | bytes) -> ShardRecord:
        fields = json.loads(text)
        fields["unreadable"] = tuple((start, stop) for start, stop in fields["unreadable"])
        fields["unscored"] = tuple(fields["unscored"])
        return cls(**fields)


def write_partition(output: Location, table: pa.Table, record: ShardRecord, signature: str) -> None:
    """Write a partition, whole or not at all; raises ``OutputError``."""
    sink = pa.BufferOutputStream()
    with pq.ParquetWriter(sink, table.schema, compression="zstd", write_page_checksum=True) as writer:
        writer.write_table(table, row_group_size=max(1, table.num_rows))
        writer.add_key_value_metadata({SIGNATURE_KEY: signature, RECORD_KEY: record.to_json()})
    put_bytes(output / record.name, sink.getvalue())


def read_record(partition: Location) -> ShardRecord | None:
    """The record of a partition; None where the file is not a whole partition of this program."""
    try:
        with dataset_errors(partition, "read"), partition.filesystem.open_input_file(partition.path) as file:
            metadata = pq.read_metadata(file)
        record = ShardRecord.from_json((metadata.metadata or {})[RECORD_KEY.encode()])
    except (DatasetError, KeyError, TypeError, ValueError):
        return None
    return record if record.rows == metadata.num_rows else None


def read_signature(partition: Location) -> str | None:
    """The signature of a file's scores, None where it carries none; raises ``DatasetError``."""
    with dataset_errors(partition, "read"), partition.filesystem.open_input_file(partition.path) as file:
        metadata = pq.read_metadata(file).metadata or {}
    signature = metadata.get(SIGNATURE_KEY.encode())
    return None if signature is None else signature.decode("utf-8", "replace")


def finished_records(
    output: Location, shards: Collection[Shard], present: Collection[str], run: str
) -> dict[str, ShardRecord]:
    """By shard name, the records of those partitions of a run that hold all rows of their shards.

    ``present`` are the names of the files that the output holds.
    """
    candidates = [shard for shard in shards if shard.name in present]
    with ThreadPoolExecutor(FOOTER_READERS) as readers:
        records = readers.map(lambda shard: read_record(output / shard.name), candidates)
        return {
            shard.name: record
            for shard, record in zip(candidates, records, strict=True)
            if record is not None and record.run == run and record.rows == shard.rows
        }
