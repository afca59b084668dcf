"""The benchmark, own tasks, answers, questions and the bundled sample as Parquet files, a row group at a time.

Each function returns counts of what it wrote. What the rows hold is decided in the other files of this folder.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from functools import partial
from itertools import accumulate, islice
from pathlib import Path
from typing import Protocol

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
from polars.selectors import integer

from pddl_eval.benchmark.enumeration import PAIRS_SCHEMA, SIZE_BUCKETS, benchmark_pairs, pairs_tables
from pddl_eval.benchmark.own_tasks import MOST_SEEDS, TASKS_SCHEMA, OwnTasks
from pddl_eval.benchmark.prompts import Prompts
from pddl_eval.benchmark.variants import require_texts
from pddl_eval.datasets import (
    DatasetError,
    Input,
    Source,
    column_batches,
    locate,
    new_parquet,
    put_bytes,
    read_rows,
    read_text,
    require_text,
    rows_of,
    values_of,
)
from pddl_eval.errors import UserError
from pddl_eval.run import Shard, open_rows, ordered_map, plan_shards
from pddl_eval.scoring.dedupe import dedupe

ROW_GROUP_ROWS = 4096
"""Rows that are made, written and held at a time, about."""

SAMPLE = Path(__file__).with_name("sample.parquet")
QUESTIONS_SAMPLE = Path(__file__).with_name("questions.parquet")

TABLE_1 = {
    "abstractness": ("explicit-explicit", "explicit-abstract", "abstract-explicit", "abstract-abstract"),
    "size_bucket": SIZE_BUCKETS,
    "split": ("train", "test"),
}
"""The columns of the paper's table 1 are values of columns of the benchmark."""


def write_benchmark(output: str, watch: Callable[[int], None]) -> pl.DataFrame:
    """Write all pairs; returns the paper's table 1 of what was written. ``watch`` is told how many rows are new."""
    written = []
    with new_parquet(locate(output), PAIRS_SCHEMA) as writer:
        for table in pairs_tables(benchmark_pairs(), ROW_GROUP_ROWS):
            writer.write_table(table)
            watch(table.num_rows)
            written.append(pl.DataFrame(table.select(["domain", *TABLE_1])))
    counts = [(pl.col(column) == value).sum().alias(value) for column, values in TABLE_1.items() for value in values]
    return pl.concat(written).group_by("domain", maintain_order=True).agg(pl.len().alias("total"), *counts)


def write_tasks(tasks: OwnTasks, count: int, output: str, workers: int, watch: Callable[[int], None]) -> pl.DataFrame:
    """Write that many tasks; returns how many plans have each number of ``steps``, and what is proven of these tasks.

    ``watch`` is told how many tasks are new. Raises ``UserError`` where none is found, and writes nothing then.
    """
    drawn, written = tasks.draw(count, workers), list[pl.DataFrame]()
    with new_parquet(locate(output), TASKS_SCHEMA) as writer:
        while some := [each._asdict() for each in islice(drawn, ROW_GROUP_ROWS // 16)]:
            table = pa.Table.from_pylist(some, TASKS_SCHEMA)
            writer.write_table(table)
            watch(len(some))
            written.append(pl.DataFrame(table.select(["steps", "optimal_cost", "states_complete"])))
        if not written:
            raise UserError("no task was found: other seeds, or other numbers of steps, may have some")
    proven, seen = pl.col("optimal_cost").is_not_null().sum(), pl.col("states_complete").sum()
    counts = pl.len().alias("tasks"), proven.alias("cost proven"), seen.alias("all states seen")
    return pl.concat(written).group_by("steps").agg(counts).sort("steps", nulls_last=True)


def seeds_in(places: Sequence[str], column: str = "reference_problem") -> list[str]:
    """The texts of seed problems: ``.pddl`` files, and the first different ones of datasets with that column.

    Raises ``DatasetError``.
    """
    found: dict[str, None] = {}
    for place in places:
        if place.endswith(".pddl"):
            found[read_text(place)] = None
            continue
        source = open_rows(place)
        require_text(source, column)
        for batch in column_batches(source, [column]):
            found.update(dict.fromkeys(filter(None, values_of(batch.column(0)))))
            if len(found) >= MOST_SEEDS:
                break
    return [*found]


def certificates_in(places: Sequence[Input], domain: str, workers: int, column: str) -> frozenset[str]:
    """The certificates of the problems of datasets; ``domain`` is that of rows without one. Raises ``DatasetError``."""
    found: set[str] = set()
    for place in places:
        named = {"reference_problem": column}
        rows = dedupe(place, columns=named, domain=domain, workers=workers).rows
        found.update(rows["certificate"].drop_nulls().unique())
    return frozenset(found)


class Making(Protocol):
    """What is made of the rows of a dataset, at most ``per_row`` of each: answers, questions, twins."""

    @property
    def per_row(self) -> int: ...

    def schema(self, schema: pa.Schema) -> pa.Schema:
        """The schema of what is made of rows with this schema; raises ``UserError`` where columns do not fit."""

    def table(self, rows: pa.Table, first_row: int) -> pa.Table:
        """What is made of rows, of which the first one has that number."""

    def counted(self, table: pa.Table) -> pl.DataFrame:
        """Numbers of rows of a table that was made, by what its other columns say."""


def write_made(making: Making, source: Source, output: str, workers: int, watch: Callable[[int], None]) -> pl.DataFrame:
    """Write what is made of the source's rows; returns its counts (``Making.counted``).

    ``watch`` is told how many are done, counting those that an unusable row does not get. The number of ``workers``
    changes nothing that is made. Raises ``UserError`` where the columns do not fit or no row can be used, and
    ``DatasetError`` where a file is damaged; nothing is written then.
    """
    schema = making.schema(source.schema)
    shards = plan_shards(source, max(1, ROW_GROUP_ROWS // making.per_row))
    first_rows = accumulate((shard.rows for shard in shards), initial=0)
    answer = partial(_answer, schema=source.schema, made=making.table)
    counts = [making.counted(schema.empty_table())]
    with new_parquet(locate(output), schema) as writer:
        tables = ordered_map(answer, zip(shards, first_rows, strict=False), workers)
        for shard, table in zip(shards, tables, strict=True):
            writer.write_table(table)
            watch(shard.rows * making.per_row)
            counts.append(making.counted(table))
        if source.rows and not any(map(len, counts)):
            raise UserError(f"none of the {source.rows:,} references can be used: each is empty or cannot be read")
    return pl.concat(counts).group_by(~integer(), maintain_order=True).agg(integer().sum())


def write_prompts(source: Source, output: str, prompts: Prompts) -> int:
    """Write requests as JSON Lines, whole or not at all; returns how many. Raises ``UserError`` for none at all."""
    require_texts(source.schema, prompts.texts, prompts.options)
    names = [name for name in source.schema.names if name in prompts.columns]
    batches = column_batches(source, names)
    rows = [row for batch in batches for row in rows_of(batch)]
    lines = [json.dumps(request, ensure_ascii=False) for request in prompts.requests(rows)]
    if not lines:
        raise UserError(
            f"no row has what a request for a {prompts.kind} is made of: {', '.join(sorted(prompts.columns))}"
        )
    put_bytes(locate(output), "".join(f"{line}\n" for line in lines).encode("utf-8", "replace"))
    return len(lines)


def _answer(shard_and_row: tuple[Shard, int], schema: pa.Schema, made: Callable[[pa.Table, int], pa.Table]) -> pa.Table:
    shard, first_row = shard_and_row
    tables = []
    for rows in read_rows(shard.file, shard.start, shard.stop, schema):
        if rows.damage:
            raise DatasetError(f"{shard.file} is damaged: {rows.damage}")
        tables.append(made(rows.table, first_row + rows.numbers.start - shard.start))
    return pa.concat_tables(tables)


def write_sample(output: str, *, questions: bool = False) -> int:
    """Write the bundled sample, or that of ``questions``; returns the number of its rows."""
    sample = QUESTIONS_SAMPLE if questions else SAMPLE
    put_bytes(locate(output), sample.read_bytes())
    return int(pq.read_metadata(sample).num_rows)
