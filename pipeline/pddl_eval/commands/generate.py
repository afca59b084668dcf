"""``pddl-eval generate planetarium|variants|sample``: the benchmark's pairs, and answers of known correctness."""

from __future__ import annotations

import multiprocessing
import os
import sys
from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from contextlib import contextmanager, suppress
from itertools import accumulate
from typing import TYPE_CHECKING, Annotated

import typer

from pddl_eval.commands.cli import EXIT_CODES, with_plain_errors
from pddl_eval.errors import UserError

if TYPE_CHECKING:
    import pyarrow as pa

    from pddl_eval.run import Shard

ROW_GROUP_ROWS = 4096
"""Rows that are made, written and held at a time, about."""

app = typer.Typer(no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False)

Job = tuple["Shard", int, "pa.Schema", str, int, int]
"""A shard of references, the number of its first row, their schema; preset, seed and answers to each reference."""

Output = Annotated[str, typer.Argument(metavar="OUT", help="The Parquet file to write; may be s3://….")]


@app.callback(epilog=EXIT_CODES)
def generate() -> None:
    """Make the benchmark's text-to-PDDL pairs, or answers of known correctness to any references.

    \b
    pddl-eval generate planetarium benchmark.parquet
    pddl-eval generate variants benchmark.parquet answers.parquet --preset zero-shot
    """


@app.command(epilog=EXIT_CODES)
@with_plain_errors
def planetarium(output: Output) -> None:
    """The benchmark: 145,918 text-to-PDDL pairs of 73 tasks, with its train/test split.

    \b
    pddl-eval generate planetarium benchmark.parquet
    """
    from pddl_eval.benchmark.enumeration import PAIRS, benchmark_pairs
    from pddl_eval.benchmark.tables import PAIRS_SCHEMA, pairs_tables

    counts: Counter[tuple[str, str]] = Counter()
    with _parquet_file(output, PAIRS_SCHEMA) as write, _bar(PAIRS) as advance:
        for table in pairs_tables(benchmark_pairs(), ROW_GROUP_ROWS):
            write(table)
            advance(table.num_rows)
            for column in ("abstractness", "size_bucket", "split"):
                counts.update(zip(table["domain"].to_pylist(), table[column].to_pylist(), strict=True))
    _print_table_1(counts)


@app.command(epilog=EXIT_CODES)
@with_plain_errors
def variants(
    input: Annotated[list[str], typer.Argument(metavar="IN", help="Parquet with a column reference_problem.")],
    output: Output,
    preset: Annotated[str, typer.Option(help="The mix: zero-shot, fine-tuned or every-kind.")] = "every-kind",
    seed: Annotated[int, typer.Option(help="Another seed, other answers.")] = 0,
    per_reference: Annotated[int, typer.Option(min=1, help="Answers to each reference.")] = 1,
    workers: Annotated[int, typer.Option(min=1, help="Worker processes; changes no answer.")] = os.cpu_count() or 1,
) -> None:
    """Answers of known correctness to any references, to test a judge, a prompt or a cluster.

    \b
    pddl-eval generate variants problems.parquet answers.parquet
    pddl-eval generate variants problems.parquet answers.parquet --preset fine-tuned --seed 7 --per-reference 3

    OUT has the columns of IN, generated_problem, and label… columns: what a right judge must say.
    """
    from pddl_eval.benchmark.presets import PRESETS
    from pddl_eval.benchmark.tables import variants_schema
    from pddl_eval.run import open_source, plan_shards

    if preset not in PRESETS:
        raise UserError(f"--preset {preset}: there is no such mix; choose from {', '.join(PRESETS)}")
    source = open_source(input)
    schema = variants_schema(source.schema)
    shards = plan_shards(source, max(1, ROW_GROUP_ROWS // per_reference))
    rows_until = accumulate(shard.rows for shard in shards)
    jobs = [
        (shard, until - shard.rows, source.schema, preset, seed, per_reference)
        for shard, until in zip(shards, rows_until, strict=True)
    ]
    counts: Counter[tuple[str, bool, bool | None, bool]] = Counter()
    with _parquet_file(output, schema) as write, _bar(source.rows * per_reference) as advance:
        for job, table in zip(jobs, _in_order(jobs, workers), strict=True):
            write(table)
            advance(job[0].rows * per_reference)
            labels = (f"label{name}" for name in ("", "_parseable", "_solvable", "_equivalent"))
            counts.update(zip(*(table[label].to_pylist() for label in labels), strict=True))
    _print_kinds(counts, source.rows * per_reference)


@app.command(epilog=EXIT_CODES)
@with_plain_errors
def sample(output: Output) -> None:
    """The few hundred pairs that are bundled with the project.

    \b
    pddl-eval generate sample sample.parquet
    """
    from pddl_eval.benchmark.sample import sample_table

    table = sample_table()
    with _parquet_file(output, table.schema) as write:
        write(table)
    print(f"{table.num_rows} pairs in {output}")


def _answer_shard(job: Job) -> pa.Table:
    from pddl_eval.benchmark.presets import PRESETS
    from pddl_eval.benchmark.tables import by_preset, variants_table
    from pddl_eval.run import DatasetError, read_rows

    shard, first_row, schema, preset, seed, per_reference = job
    rows = read_rows(shard.file, shard.start, shard.stop, schema)
    if rows.damage:
        raise DatasetError(f"{shard.file} is damaged: {rows.damage}")
    return variants_table(rows.table, first_row, by_preset(PRESETS[preset], seed), per_reference)


def _in_order(jobs: Sequence[Job], workers: int) -> Iterator[pa.Table]:
    """The shards' answers in the shards' order, a few of them made ahead."""
    if min(workers, len(jobs)) == 1:
        yield from map(_answer_shard, jobs)
        return
    waiting: deque[Future[pa.Table]] = deque()
    with ProcessPoolExecutor(workers, mp_context=multiprocessing.get_context("spawn")) as pool:
        for job in jobs:
            waiting.append(pool.submit(_answer_shard, job))
            if len(waiting) > 2 * workers:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()


@contextmanager
def _parquet_file(output: str, schema: pa.Schema) -> Iterator[Callable[[pa.Table], None]]:
    """Write a file table by table, aside, and give it its name when it is whole."""
    import pyarrow.parquet as pq

    from pddl_eval.run import dataset_errors, locate

    location = locate(output)
    folder, _, name = location.path.rpartition("/")
    aside = f"{folder}/.{name}.tmp"
    with dataset_errors(location, "write"):
        location.filesystem.create_dir(folder, recursive=True)
        try:
            with pq.ParquetWriter(aside, schema, compression="zstd", filesystem=location.filesystem) as writer:
                yield writer.write_table
            location.filesystem.move(aside, location.path)
        except BaseException:
            with suppress(OSError):
                location.filesystem.delete_file(aside)
            raise


@contextmanager
def _bar(total: int) -> Iterator[Callable[[int], None]]:
    """A progress bar on a terminal, with pairs per second; nothing elsewhere."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (BarColumn(), MofNCompleteColumn(), TextColumn("{task.fields[pace]}"), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True, disable=not sys.stderr.isatty()) as progress:
        task = progress.add_task("", total=total, pace="")

        def advance(rows: int) -> None:
            speed = progress.tasks[0].speed
            progress.update(task, advance=rows, pace=f"{speed:,.0f} pairs/s" if speed else "")

        yield advance


def _print_table_1(counts: Counter[tuple[str, str]]) -> None:
    """The paper's table 1, of what was written."""
    from pddl_eval.benchmark.enumeration import BUCKETS, DOMAINS

    sides = [f"{init}-{goal}" for init in ("explicit", "abstract") for goal in ("explicit", "abstract")]
    columns = [*sides, *(name for _, name in BUCKETS), ">80", "train", "test"]
    rows = [(domain.name, [counts[domain.name, column] for column in columns]) for domain in DOMAINS]
    _print_table(["domain", "total", *columns], [(name, [sum(numbers[:4]), *numbers]) for name, numbers in rows])


def _print_kinds(counts: Counter[tuple[str, bool, bool | None, bool]], wanted: int) -> None:
    """How often each kind was drawn, and the shares by which the paper describes a model."""
    total = sum(counts.values())
    kinds: Counter[str] = Counter()
    for (kind, *_), count in counts.items():
        kinds[kind] += count
    _print_table(["label", "answers"], [(kind, [count]) for kind, count in kinds.most_common()])
    for place, share in ((1, "parseable"), (2, "solvable"), (3, "equivalent")):
        print(f"{sum(count for key, count in counts.items() if key[place]) / max(1, total):7.1%} {share}")
    print(f"{total:,} answers; {wanted - total:,} left out, whose references cannot be read or solved")


def _print_table(header: Sequence[str], rows: Sequence[tuple[str, list[int]]]) -> None:
    """A table as wide as it is, for a terminal or a file."""
    from rich import box
    from rich.console import Console
    from rich.table import Table

    table = Table(*header[:1], box=box.SIMPLE)
    for name in header[1:]:
        table.add_column(name, justify="right")
    for name, numbers in rows:
        table.add_row(name, *(f"{number:,}" for number in numbers))
    Console(width=max(80, 13 * len(header))).print(table)


if __name__ == "__main__":
    app()
