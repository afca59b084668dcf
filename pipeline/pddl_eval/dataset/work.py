"""Scoring one shard from descriptor to partition: what a worker does, on whatever engine.

Nothing that happens to a shard is raised here: it comes back as a value, a record or a failure, so that an exception
in an engine always means the engine's own trouble.
"""

from __future__ import annotations

import platform
import time
import traceback
from dataclasses import dataclass
from typing import Protocol

import pyarrow as pa

from pddl_eval.dataset.locations import DatasetError, Location, OutputError
from pddl_eval.dataset.partitions import ShardRecord, write_partition
from pddl_eval.dataset.rows import Rows, read_rows
from pddl_eval.dataset.shards import Shard
from pddl_eval.dataset.statistics import column_statistics

SCORE_ERROR = "score_error"
"""The score column that every scorer has: why a row could not be scored, or null."""

CARRIED_KEY = b"pddl_eval.carried"
"""Metadata of a scored table: how many of its rows have scores that were made before."""

UNSCORED = "Scoring this row ended its worker process, repeatedly (memory or a crash), so it was left out."


class Scorer(Protocol):
    """What is done to the rows: picklable, cheap to send, the same on every worker.

    ``signature`` names in one line every setting that can change a score; ``settings`` says the same for the run's
    manifest; ``counted`` are the score columns whose values the summary counts one by one.
    """

    @property
    def signature(self) -> str: ...

    @property
    def settings(self) -> dict[str, object]: ...

    @property
    def counted(self) -> tuple[str, ...]: ...

    def output_schema(self, schema: pa.Schema) -> pa.Schema:
        """The input's schema with the score columns (``score_error`` among them) behind it; raises for a bad one."""

    def __call__(self, table: pa.Table) -> pa.Table:
        """The table with its score columns, row by row; its metadata may have a ``CARRIED_KEY``."""


@dataclass(frozen=True, slots=True)
class Work:
    """What all shards of a run have in common; ``run`` is the run's fingerprint, the schemas those of its files."""

    run: str
    output: Location
    input_schema: pa.Schema
    output_schema: pa.Schema
    scorer: Scorer


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
class ShardFailure:
    """Why a shard has no partition; ``fatal`` where no other shard can have one either.

    ``trace`` is for the developer: where an unexpected exception came from.
    """

    name: str
    reason: str
    fatal: bool = False
    trace: str | None = None


def score_shard(work: Work, task: ShardTask) -> ShardRecord | ShardFailure:
    """Read the rows of a shard, score them, write its partition."""
    started = time.perf_counter()
    shard = task.shard
    try:
        rows = read_rows(shard.file, *(task.probe or (shard.start, shard.stop)), work.input_schema)
        scored, carried = _score(rows, work, frozenset(task.unscored))
        score_columns = work.output_schema.names[len(work.input_schema.names) :]
        record = ShardRecord(
            name=shard.name,
            run=work.run,
            rows=scored.num_rows,
            statistics=column_statistics(scored, score_columns, work.scorer.counted),
            seconds=round(time.perf_counter() - started, 4),
            node=platform.node(),
            attempt=task.attempt,
            unreadable=() if task.probe else _gaps(rows.numbers, shard),
            damage=rows.damage,
            unscored=task.unscored,
            carried=carried,
        )
        if task.probe is None:
            write_partition(work.output, scored, record, work.scorer.signature)
        return record
    except OutputError as error:
        return ShardFailure(shard.name, str(error), fatal=True)
    except DatasetError as error:
        return ShardFailure(shard.name, str(error))
    except MemoryError:
        return ShardFailure(shard.name, "It does not fit into the worker's memory: choose a smaller --shard-rows.")
    except Exception as error:
        reason = f"Scoring it failed with {type(error).__name__}: {error}"
        return ShardFailure(shard.name, reason, trace=traceback.format_exc())


def _gaps(present: tuple[range, ...], shard: Shard) -> tuple[tuple[int, int], ...]:
    starts = [shard.start, *(numbers.stop for numbers in present)]
    stops = [*(numbers.start for numbers in present), shard.stop]
    return tuple((start, stop) for start, stop in zip(starts, stops, strict=True) if start < stop)


def _score(rows: Rows, work: Work, unscored: frozenset[int]) -> tuple[pa.Table, int]:
    """The scored rows, and how many of them have scores that were made before."""
    numbers = [number for numbers in rows.numbers for number in numbers] if unscored else []
    left_out = [place for place, number in enumerate(numbers) if number in unscored]
    if not left_out:
        return _scores_of(rows.table, work)
    kept = [place for place, number in enumerate(numbers) if number not in unscored]
    scored, carried = _scores_of(rows.table.take(kept), work)
    blank = _without_scores(rows.table.take(left_out), work.output_schema)
    places = kept + left_out
    return pa.concat_tables([scored, blank]).take(sorted(range(len(places)), key=places.__getitem__)), carried


def _scores_of(table: pa.Table, work: Work) -> tuple[pa.Table, int]:
    scored = work.scorer(table)
    if scored.num_rows != table.num_rows or not scored.schema.equals(work.output_schema):
        raise TypeError("the scorer's rows or columns are not those that it announced")
    carried = int((scored.schema.metadata or {}).get(CARRIED_KEY, 0))
    return scored.replace_schema_metadata(work.output_schema.metadata), carried


def _without_scores(table: pa.Table, schema: pa.Schema) -> pa.Table:
    for column in list(schema)[len(table.schema.names) :]:
        values = [UNSCORED if column.name == SCORE_ERROR else None] * table.num_rows
        table = table.append_column(column, pa.array(values, column.type))
    return table.cast(schema)
