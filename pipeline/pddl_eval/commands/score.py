"""``pddl-eval score INPUT OUTPUT``: score a dataset, in this process, in several, or on a Ray cluster."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout
from dataclasses import asdict
from functools import partial
from typing import TYPE_CHECKING, Annotated

from typer import Argument, Option

from pddl_eval.commands.command import Inputs, command, note, say
from pddl_eval.commands.report import built, chosen_format, write_as
from pddl_eval.errors import Loudness, loudness
from pddl_eval.options import ReadingOptions, RunOptions, ScoringOptions

if TYPE_CHECKING:
    from pddl_eval.run import Event, Run

Output = Annotated[str, Argument(metavar="OUTPUT", help="Folder for the scored partitions; may be s3://….")]
ReportTo = Annotated[
    str | None, Option("--report", metavar="PATH", help="Also write the report: report/, report.html, tables.tex, ….")
]
Part = Annotated[str | None, Option(metavar="I/N", help="Score the I-th of N shares of the rows, for any scheduler.")]
DryRun = Annotated[bool, Option("--dry-run", help="Print the shards and write nothing.")]


RowsPerFile = Annotated[
    int | None,
    Option(metavar="N", help="Merge the partitions into files of N rows when all is scored, for many small files."),
]


@command
def score(
    inputs: Inputs,
    output: Output,
    reading: ReadingOptions,
    options: ScoringOptions,
    run: RunOptions,
    part: Part = None,
    rows_per_file: RowsPerFile = None,
    report_to: ReportTo = None,
    dry_run: DryRun = False,
) -> None:
    """Score a dataset of (generated, reference) pairs.

    \b
    pddl-eval score pairs.parquet scored
    pddl-eval score 'pairs/*.parquet' scored --column generated_problem=output --workers 4
    pddl-eval score pairs.parquet scored --domain logistics.pddl
    pddl-eval score answers.jsonl.gz scored
    pddl-eval score s3://bucket/pairs s3://bucket/scored --engine ray --address auto
    pddl-eval score answers.parquet scored --references problems.parquet --on id
    pddl-eval score logs/ scored --from inspect --references problems.parquet --report report/
    pddl-eval score pairs.parquet scored --part 3/32
    pddl-eval score many-small-files scored --rows-per-file 100000

    OUTPUT gets Parquet partitions: every column of INPUT unchanged, then the score columns.
    If the command is interrupted, the same command continues where it stopped, also with another --shard-rows. One run
    at a time writes into OUTPUT, or several parts of it, each once; another one says who does and exits with 2. The
    part that finds all others done writes the summary and the report. The command status says what is missing.
    """
    from pddl_eval.datasets import has_file, locate
    from pddl_eval.run import SUMMARY, is_merged, pair_scorer, partitions_of, prepare_run, readable_input, score_dataset

    if dry_run:
        folder = output if rows_per_file is None else str(partitions_of(output))
        with readable_input(inputs, folder, reading, options, note, keep=False) as source:
            prepared = prepare_run(source, folder, pair_scorer(options), run.shard_rows, part)
            print_shards(prepared, all_done=rows_per_file is not None and is_merged(prepared, rows_per_file))
        return
    chosen = None if report_to is None else chosen_format(None, report_to)
    settings = asdict(reading) | asdict(options) | asdict(run)
    with watched_run() as watch:
        settings |= {"part": part, "rows_per_file": rows_per_file}
        summary = score_dataset(inputs, output, watch=watch, warn=note, **settings)
    print(summary)
    if chosen is not None and (part is None or has_file(locate(output) / SUMMARY)):
        write_as(built(output), chosen, report_to)


def print_shards(run: Run, *, all_done: bool = False) -> None:
    """What a run would do: its shards, which of them are done, how many rows are left."""
    missing = () if all_done else run.missing
    for shard in run.shards:
        state = "done " if all_done or shard.name in run.finished else "to do"
        print(f"{state}  {shard.rows:>8,}  {shard.name}")
    rows = sum(shard.rows for shard in missing)
    print(f"{len(missing):,} of {len(run.shards):,} shards to do, {rows:,} of {run.total_rows:,} pairs")


@contextmanager
def watched_run() -> Iterator[Callable[[Event], None]]:
    """A watcher of a run that shows its progress and what goes wrong."""
    from pddl_eval.run import shown_progress

    # Ray reports dead workers on stdout, which is for the summary.
    with redirect_stdout(sys.stderr), shown_progress(lines=True) as watch:
        yield partial(_in_full, watch) if loudness.get() is Loudness.VERBOSE else watch


def _in_full(watch: Callable[[Event], None], event: Event) -> None:
    """Tell the watcher the event, and the user what it does not show: what the run is, and each finished shard."""
    from pddl_eval.run import Run, ShardRecord

    if isinstance(event, Run):
        source = event.source
        shards = f"{len(event.missing):,} of {len(event.shards):,} shards to do"
        say(f"{source.rows:,} pairs in {len(source.files):,} files, {shards}")
        say(f"signature {event.work.scorer.signature}")
    watch(event)
    if isinstance(event, ShardRecord):
        say(f"{event.name}: {event.rows:,} pairs in {event.seconds:.1f} s on {event.node}, attempt {event.attempt}")
