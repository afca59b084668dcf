"""``pddl-eval score INPUT OUTPUT``: score a dataset, in this process, in several, or on a Ray cluster."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

from typer import Argument, Option

from pddl_eval.commands.command import Inputs, command
from pddl_eval.options import RunOptions, ScoringOptions

if TYPE_CHECKING:
    from pddl_eval.run import Event, Run

Output = Annotated[str, Argument(metavar="OUTPUT", help="Folder for the scored partitions; may be s3://….")]
DryRun = Annotated[bool, Option("--dry-run", help="Print the shards and write nothing.")]


RowsPerFile = Annotated[
    int | None,
    Option(metavar="N", help="Merge the partitions into files of N rows when all is scored, for many small files."),
]


@command
def score(
    inputs: Inputs,
    output: Output,
    options: ScoringOptions,
    run: RunOptions,
    rows_per_file: RowsPerFile = None,
    dry_run: DryRun = False,
) -> None:
    """Score a dataset of (generated, reference) pairs.

    \b
    pddl-eval score pairs.parquet scored
    pddl-eval score 'pairs/*.parquet' scored --column generated_problem=output --workers 4
    pddl-eval score pairs.parquet scored --domain logistics.pddl
    pddl-eval score answers.jsonl.gz scored
    pddl-eval score s3://bucket/pairs s3://bucket/scored --engine ray --address auto
    pddl-eval score many-small-files scored --rows-per-file 100000

    OUTPUT gets Parquet partitions: every column of INPUT unchanged, then the score columns.
    If the command is interrupted, the same command continues where it stopped. One run at a time writes into OUTPUT; a
    second one says who does and exits with 2.
    """
    from pddl_eval.run import pair_scorer, partitions_of, prepare_run, score_dataset

    if dry_run:
        folder = output if rows_per_file is None else str(partitions_of(output))
        print_shards(prepare_run(inputs, folder, pair_scorer(options), run.shard_rows))
        return
    with watched_run() as watch:
        settings = {"rows_per_file": rows_per_file, **asdict(options), **asdict(run)}
        summary = score_dataset(inputs, output, watch=watch, **settings)
    print(summary)


def print_shards(run: Run) -> None:
    """What a run would do: its shards, which of them are done, how many rows are left."""
    for shard in run.shards:
        state = "done " if shard.name in run.finished else "to do"
        print(f"{state}  {shard.rows:>8,}  {shard.name}")
    rows = sum(shard.rows for shard in run.missing)
    print(f"{len(run.missing):,} of {len(run.shards):,} shards to do, {rows:,} of {run.total_rows:,} pairs")


@contextmanager
def watched_run() -> Iterator[Callable[[Event], None]]:
    """A watcher of a run that shows its progress and what goes wrong."""
    from pddl_eval.run import shown_progress

    # Ray reports dead workers on stdout, which is for the summary.
    with redirect_stdout(sys.stderr), shown_progress(lines=True) as watch:
        yield watch
