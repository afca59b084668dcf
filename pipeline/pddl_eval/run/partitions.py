"""One shard from descriptor to partition: what a worker does, on any engine.

A partition is the scored rows of one shard as a Parquet file, with a row group for each piece that was read, usually
one. Its metadata has a record of how it came about. Resumed runs and the summary read this record. A shard that takes
longer than ``SHARD_SECONDS`` ends there: its partition holds the rows that are done and is named by them, and the rest
is a shard of its own. Nothing that happens to a shard is raised here: it comes back as a value, a record or a failure,
so that an exception in an engine is always the engine's own.
"""

from __future__ import annotations

import hashlib
import json
import platform
import time
import traceback
from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, fields, replace
from functools import partial
from threading import Lock
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from pddl_eval.datasets import (
    SIGNATURE_KEY,
    DatasetError,
    FileVersion,
    Location,
    OutputError,
    Rows,
    Source,
    Unavailable,
    in_threads,
    places,
    read_rows,
    step_rows,
    taken,
)
from pddl_eval.errors import TRY_AGAIN, UserError
from pddl_eval.run.lock import Claim
from pddl_eval.run.shards import Shard, disjoint, left_over, named_rows
from pddl_eval.run.summary import SCORE_ERROR, RunCounts, Statistics, count_values, merge_statistics
from pddl_eval.settings import SHARD_ROWS
from pddl_eval.unchanged import MANIFEST

RECORD_KEY, DIGEST_KEY = "pddl_eval.shard", "pddl_eval.digest"
"""Metadata keys of the record, and of a digest of signature and record: Parquet has checksums for pages alone."""

KNOWN_ROW = "pddl_eval.row"
"""The column of known scores that says which row of its file each is of."""

SHARD_SECONDS = 240.0
"""Time of a shard. Then it writes what it has done and hands the rest back, so that a lost worker costs no more."""

SILENT_SECONDS = SHARD_SECONDS + 90.0
"""What the last row and writing may take beyond that. A worker that has not answered by then never will: it is stopped,
or a disk or a store does not answer it."""

DAMAGED = (OSError, pa.ArrowException, ValueError)
"""What the Parquet reader raises for bytes that are no such file; of a file on a disk or in a store, also the rest."""

ROW_SECONDS = 0.0005
"""Scoring a row, unless the scorer says otherwise: two parses, a comparison, sometimes a plan."""

_one_in_memory = Lock()

Read = TypeVar("Read")

UNSCORED = "Scoring this row ended its worker process, repeatedly (memory or a crash), so it was left out."


@dataclass(frozen=True, slots=True)
class Scorer:
    """What is done to the rows: picklable, cheap to send, the same on every worker.

    * ``signature`` names in one line every setting that can change a score; ``settings`` are for the run's manifest;
    * ``output_schema`` makes of an input's schema the same with the score columns behind it (``score_error`` among
      them) and raises for a bad one;
    * ``score(table, until)`` adds these columns to a table, or to its first rows if the clock (``time.monotonic``)
      passes ``until``, but at least to one;
    * ``count(table, columns)`` makes the statistics of a scored table;
    * ``summary`` is the class of the run's summary, which shows them;
    * ``check`` raises for an input whose first rows show that it is not what it is taken for, before the run;
    * ``constants_signed`` is what the signature says beside the settings, by the input's schema;
    * ``row_seconds`` says, by the input's schema, about how long a row takes: how many workers pay depends on it;
    * ``known`` has the scores that were made before of some rows of a file: their numbers (``KNOWN_ROW``), ascending,
      and the score columns.
    """

    signature: str
    settings: Mapping[str, object]
    output_schema: Callable[[pa.Schema], pa.Schema]
    score: Callable[[pa.Table, float], pa.Table]
    count: Callable[[pa.Table, Sequence[str]], Statistics] = count_values
    summary: type[RunCounts] = RunCounts
    check: Callable[[Source], None] | None = None
    constants_signed: Callable[[pa.Schema], str] | None = None
    row_seconds: Callable[[pa.Schema], float] | None = None
    known: Callable[[FileVersion, range], pa.Table | None] | None = None

    def seconds_of_row(self, schema: pa.Schema) -> float:
        """About how long a row of these columns takes."""
        return self.row_seconds(schema) if self.row_seconds else ROW_SECONDS

    def shard_rows(self, schema: pa.Schema) -> int:
        """Rows of a shard: ``SHARD_ROWS``, or what takes about a second if that is more."""
        return max(SHARD_ROWS, round(1 / self.seconds_of_row(schema)))


@dataclass(frozen=True, slots=True)
class Work:
    """What all shards of a run have in common; ``run`` is the run's fingerprint, the schemas those of its files.

    ``claim`` is that of the process which started them: nothing is written for one that has lost it.
    """

    run: str
    output: Location
    input_schema: pa.Schema
    output_schema: pa.Schema
    scorer: Scorer
    claim: Claim | None = None

    def may_write(self, name: str) -> Location:
        """Where a file of that name is written; raises ``OutputError`` where the claim is gone."""
        return self.claim.may_write(name) if self.claim else self.output / name

    def put(self, name: str, known: Mapping[str, Any]) -> None:
        """Write a small file of the run, as JSON; raises as ``may_write``."""
        places.put_bytes(self.output / name, json.dumps(known, indent=1).encode(), partial(self.may_write, name))

    @property
    def columns(self) -> str:
        """The columns of its partitions, as ``columns_of`` says them."""
        return announced(self.output_schema)

    @property
    def score_columns(self) -> list[str]:
        return list(self.output_schema.names[len(self.input_schema) :])


@dataclass(frozen=True, slots=True)
class ShardTask:
    """One attempt at a shard. ``unscored`` rows are written without scores.

    With ``probe``, a range of row numbers, only these are scored and nothing is written: does the worker survive it?
    """

    shard: Shard
    attempt: int = 1
    unscored: tuple[int, ...] = ()
    probe: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True)
class ShardRecord:
    """What is known of a partition: ``name`` says which rows it covers, ``rows`` how many were written.

    ``seconds`` is wall time on ``node``.

    ``unreadable`` are the ranges of rows (numbers in their file, end excluded) that could not be read from the input,
    ``damage`` says why; ``unscored`` are the numbers of poison rows, written without scores; ``carried`` rows have
    scores that were made before (see ``Scorer``). ``claim`` is the number of the claim under which it was written.
    ``content`` is a digest of the whole file, as it was written or proven whole; empty where nobody knows it.
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
    claim: int = 0
    content: str = field(default="", compare=False)

    @property
    def stop(self) -> int:
        """Where the rows that it covers end (excluded): before the shard's end if its time was up."""
        return (named_rows(self.name) or ("", 0, 0))[2]

    @property
    def unreadable_rows(self) -> int:
        return sum(stop - start for start, stop in self.unreadable)

    def to_json(self) -> str:
        """What its partition says of itself, which cannot be its content."""
        # Not by asdict, which copies all that the statistics hold.
        return json.dumps({each.name: getattr(self, each.name) for each in fields(self) if each.name != "content"})

    @classmethod
    def from_json(cls, text: str | bytes) -> ShardRecord:
        said = json.loads(text)
        said["unreadable"] = tuple((start, stop) for start, stop in said["unreadable"])
        said["unscored"] = tuple(said["unscored"])
        return cls(**said)


@dataclass(frozen=True, slots=True)
class ShardFailure:
    """Why a shard has no partition; ``fatal`` where no other shard can have one either.

    ``trace`` is for the developer: where an unexpected exception came from. ``node`` is the node of a cluster where it
    failed, else empty. ``may_pass`` says that the same command may succeed later.
    """

    name: str
    reason: str
    fatal: bool = False
    trace: str | None = None
    node: str = ""
    may_pass: bool = False


ShardResult = ShardRecord | ShardFailure


def score_shard(work: Work, task: ShardTask) -> ShardResult:
    """Read the rows of a shard, score them, write its partition; or as many as ``SHARD_SECONDS`` are enough for."""
    name = task.shard.name
    try:
        return _score_shard(work, task, time.monotonic() + SHARD_SECONDS)
    except OutputError as error:
        return ShardFailure(name, str(error), fatal=True, may_pass=error.exit_code == TRY_AGAIN)
    except DatasetError as error:
        return ShardFailure(name, str(error), may_pass=error.exit_code == TRY_AGAIN)
    except UserError as error:  # A setting that only shows here to be wrong, such as the name of a model.
        return ShardFailure(name, str(error), fatal=True)
    except MemoryError:
        return ShardFailure(name, "It does not fit into the worker's memory: choose a smaller shard_rows.")
    except Exception as error:
        reason = f"Scoring it failed with {type(error).__name__}: {error}"
        return ShardFailure(name, reason, trace=traceback.format_exc())


def _score_shard(work: Work, task: ShardTask, until: float) -> ShardRecord:
    started = time.perf_counter()
    shard = task.shard.between(*task.probe) if task.probe else task.shard
    present: list[range] = []
    damage: str | None = None
    statistics: Statistics = {}
    carried = 0
    _require_folder_of_run(work)  # Before the time is spent.

    def partition() -> Location:
        _require_folder_of_run(work)
        return work.may_write(shard.name)

    with ExitStack() as stack:
        writer = None
        for rows in read_rows(shard.file, shard.start, shard.stop, work.input_schema):
            damage = damage or rows.damage
            left_out = {**rows.lost, **dict.fromkeys(task.unscored, UNSCORED)}
            scored, known = _score(rows, shard.file, work, left_out, until)
            present.append(rows.numbers[: scored.num_rows])
            carried += known
            statistics = merge_statistics([statistics, work.scorer.count(scored, work.score_columns)])
            scored = scored.replace_schema_metadata(work.output_schema.metadata)
            if task.probe is None:
                # Not before the first rows are scored: a worker that dies of them leaves no file behind.
                writer = writer or stack.enter_context(
                    places.new_parquet(work.output / shard.name, scored.schema, partition)
                )
                writer.write_table(scored, row_group_size=max(1, scored.num_rows))
            if scored.num_rows and time.monotonic() > until:
                shard = shard.between(shard.start, present[-1].stop)
                break
        rows_read = [(numbers.start, numbers.stop) for numbers in present]
        record = ShardRecord(
            name=shard.name,
            run=work.run,
            rows=sum(map(len, present)),
            statistics=statistics,
            seconds=round(time.perf_counter() - started, 4),
            node=platform.node(),
            attempt=task.attempt,
            unreadable=() if task.probe else tuple(left_over(rows_read, shard.start, shard.stop)),
            damage=damage,
            unscored=tuple(row for row in task.unscored if shard.start <= row < shard.stop),
            carried=carried,
            claim=work.claim.number if work.claim else 0,
        )
        if writer is not None:
            metadata = {SIGNATURE_KEY: work.scorer.signature, RECORD_KEY: record.to_json()}
            writer.add_key_value_metadata({**metadata, DIGEST_KEY: _digest(*metadata.values())})
    return record if writer is None else with_content(record, work.output)


def with_content(record: ShardRecord, folder: Location) -> ShardRecord:
    """The record with the content of its partition, which is whole; object stores check themselves what they hold."""
    return replace(record, content=places.content_of(folder / record.name)) if folder.is_local else record


def _require_folder_of_run(work: Work) -> None:
    """Raise ``OutputError`` where nobody would look for a partition."""
    output = work.output
    if work.claim is None or not output.is_local:
        return
    # A network filesystem may remember that a file was missing, but not what a folder lists.
    if not places.has_file(output / MANIFEST) and MANIFEST not in places.list_files(output):
        raise OutputError(
            f"{output} is not the folder of the run on {platform.node()}: was it deleted, or is it a mount that this "
            "machine lacks? The same run started again does what is missing."
        )


def finished_records(
    output: Location,
    shards: Iterable[Shard],
    run: str,
    known: Mapping[str, ShardRecord] | None = None,
    columns: str | None = None,
) -> dict[str, ShardRecord]:
    """By name, the records of those partitions of a run that are there and hold all rows of their shards.

    Of those that overlap, some count (``disjoint``). ``known`` and ``columns`` are as in ``whole_records``, and so is
    what it raises.
    """
    shards = list(shards)
    records = whole_records(output, shards, run, known, columns)
    claims = {name: record.claim for name, record in records.items()}
    return {shard.name: records[shard.name] for shard in disjoint((s for s in shards if s.name in records), claims)}


def whole_records(
    output: Location,
    shards: Sequence[Shard],
    run: str,
    known: Mapping[str, ShardRecord] | None = None,
    columns: str | None = None,
) -> dict[str, ShardRecord]:
    """As ``finished_records``, also of partitions that overlap.

    Those that are ``known`` are not read. ``columns`` are those that the run has announced (``columns_of``), if known.
    Raises ``Unavailable`` where one cannot be read, and is not proven damaged.
    """

    def whole(shard: Shard) -> ShardRecord | None:
        if known and shard.name in known:
            return known[shard.name]
        record = record_of(output / shard.name, columns)
        named = record and record.run == run and record.name == shard.name
        return record if named and record and record.rows == shard.rows else None

    return {shard.name: record for shard, record in zip(shards, in_threads(whole, shards), strict=True) if record}


def record_of(partition: Location, columns: str | None = None) -> ShardRecord | None:
    """The record of a partition; None where it is gone, damaged, of another program or has other ``columns``.

    Raises ``Unavailable`` where it cannot be read.
    """
    found = proven(partition, _described)
    try:
        said = {key.decode(): value.decode() for key, value in found[0].items()} if found else {}
        digest = _digest(said[SIGNATURE_KEY], said[RECORD_KEY])
        record = ShardRecord.from_json(said[RECORD_KEY]) if said.get(DIGEST_KEY, digest) == digest else None
    except (KeyError, TypeError, ValueError):
        return None
    whole = record and found and record.rows == found[1] and columns in (None, found[2])
    return record if whole else None


def _described(file: pa.NativeFile) -> tuple[Mapping[bytes, bytes], int, str]:
    footer = pq.read_metadata(file)
    return footer.metadata or {}, footer.num_rows, columns_of(footer.schema.to_arrow_schema())


def _digest(signature: str, record: str) -> str:
    return hashlib.blake2b(f"{signature}\n{record}".encode(), digest_size=16).hexdigest()


def columns_of(schema: pa.Schema) -> str:
    """The names and types of columns, as manifests have them."""
    return str(schema.to_string(show_schema_metadata=False, show_field_metadata=False))


def announced(schema: pa.Schema) -> str:
    """The columns that a partition of this schema has when it is read."""
    file = pa.BufferOutputStream()
    pq.ParquetWriter(file, schema).close()
    return columns_of(pq.read_schema(pa.BufferReader(file.getvalue())))


def proven(file: Location, read: Callable[[pa.NativeFile], Read]) -> Read | None:
    """What ``read`` makes of a file of the output; None where the file is gone, or proven to be damaged.

    The proof is that ``read`` fails on its bytes in memory. A right that is missing, a disk or a store that fails says
    nothing of the bytes: then it raises ``Unavailable``.
    """

    def stored() -> Read:
        with file.filesystem.open_input_file(file.path) as stream:
            return read(stream)

    try:
        return places.persistently(file, stored)
    except FileNotFoundError:
        return None
    except pa.ArrowMemoryError:
        raise
    except DAMAGED:
        pass
    with _one_in_memory:
        try:
            content = places.read_bytes(file)
        except DatasetError as error:
            raise Unavailable(str(error)) from None
        try:
            return read(pa.BufferReader(content))
        except pa.ArrowMemoryError:
            raise
        except pa.ArrowNotImplementedError as error:  # Perhaps written by another version of Arrow.
            raise Unavailable(f"Cannot read {file} with Arrow {pa.__version__}: {places.one_line(error)}.") from None
        except DAMAGED:
            return None


def batches_of(file: Location, columns: Collection[str] | None = None) -> Iterator[pa.RecordBatch]:
    """All rows of a file of the output, or these columns of them, its checksums compared; raises ``DatasetError``."""
    with (
        places.dataset_errors(file, "read"),
        file.filesystem.open_input_file(file.path) as stream,
        pq.ParquetFile(stream, page_checksum_verification=True) as parquet,
    ):
        names = [name for name in parquet.schema_arrow.names if columns is None or name in columns]
        step = step_rows(parquet.metadata, SHARD_ROWS)
        yield from parquet.iter_batches(step, columns=names, use_threads=False)


def damaged(files: Iterable[Location], columns: str | None = None) -> set[Location]:
    """Those of the output's files that are proven damaged, or have other ``columns`` (``columns_of``).

    It reads all of them, some microseconds a row. Raises ``Unavailable`` where one cannot be read.
    """
    files = list(files)
    read = in_threads(lambda file: proven(file, _read_whole), files)
    return {file for file, found in zip(files, read, strict=True) if found is None or columns not in (None, found)}


def _read_whole(file: pa.NativeFile) -> str:
    """The columns of a file all of whose pages can be read."""
    with pq.ParquetFile(file, page_checksum_verification=True) as parquet:
        deque(parquet.iter_batches(step_rows(parquet.metadata, SHARD_ROWS), use_threads=False), maxlen=0)
        return columns_of(parquet.schema_arrow)


def _score(
    rows: Rows, file: FileVersion, work: Work, unscored: Mapping[int, str], until: float
) -> tuple[pa.Table, int]:
    """The scored rows, those with known scores and the unscored ones with the reason among them; how many are known.

    Only the first rows if the time is up.
    """
    table, numbers = rows.table, np.arange(rows.numbers.start, rows.numbers.stop)
    known = work.scorer.known(file, rows.numbers) if work.scorer.known else None
    left_out = np.isin(numbers, list(unscored))
    is_known = np.isin(numbers, known[KNOWN_ROW]) & ~left_out if known else np.zeros(len(numbers), bool)
    is_new = ~(is_known | left_out)
    scored = work.scorer.score(table if is_new.all() else table.filter(pa.array(is_new)), until)
    said = scored.schema.metadata  # for ``count``
    new = int(is_new.sum())
    if scored.num_rows < min(new, 1) or not scored.schema.equals(work.output_schema):
        raise TypeError("the scorer's rows or columns are not those that it announced")
    if scored.num_rows < new:
        done = int(np.flatnonzero(is_new)[scored.num_rows])
        table, numbers = table[:done], numbers[:done]
        is_known, left_out, is_new = (each[:done] for each in (is_known, left_out, is_new))
    if not is_new.all():
        # Each row's place among the scored and the known ones, or null for one that was left out: its scores are null.
        scores = scored.select(work.score_columns)
        places = np.cumsum(is_new) - 1
        if known:
            places[is_known] = scored.num_rows + np.searchsorted(known[KNOWN_ROW], numbers[is_known])
            scores = pa.concat_tables([scores, known.select(work.score_columns)])
        scores = taken(scores, pa.array(places, mask=left_out))
        reasons = pa.array(map(unscored.get, numbers.tolist()), pa.string())
        errors = pc.coalesce(reasons, scores[SCORE_ERROR])
        scores = scores.set_column(scores.schema.get_field_index(SCORE_ERROR), SCORE_ERROR, errors)
        scored = pa.table([*table.columns, *scores.columns], schema=work.output_schema)
    return scored.replace_schema_metadata(said), int(is_known.sum())
