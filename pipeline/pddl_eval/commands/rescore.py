"""``pddl-eval rescore --previous OLD INPUT NEW``: score what changed since OLD was scored, carry the rest over."""

from __future__ import annotations

from typing import Any

import click

from pddl_eval.commands.command import Command, note, require_all_rows
from pddl_eval.commands.flags import argument, flags, inputs
from pddl_eval.commands.outputs import force_option
from pddl_eval.commands.report import write_report
from pddl_eval.commands.score import (
    dry_run,
    print_sections,
    print_shards,
    report_to,
    require_outputs,
    table_of_models,
    watched_run,
)
from pddl_eval.definition.options import ScoringOptions
from pddl_eval.settings import ReadingOptions, RunOptions, grouped


@click.command(cls=Command)
@inputs
@argument("output", "NEW", "Folder for the scored partitions; may be s3://….")
@click.option("--previous", required=True, metavar="OLD", help="The dataset as it was scored before; may be s3://….")
@click.option(
    "--retry",
    type=click.Choice(["undecided"]),
    multiple=True,
    help="Score the rows again whose verdict is undecided in OLD.",
)
@flags(ReadingOptions)
@flags(ScoringOptions)
@flags(RunOptions)
@report_to
@force_option
@dry_run
def rescore(
    inputs: tuple[str, ...],
    output: str,
    previous: str,
    retry: tuple[str, ...],
    report_to: str | None,
    force: bool,
    dry_run: bool,
    **settings: Any,
) -> None:
    """Score a dataset again: only the rows that changed.

    \b
    pddl-eval rescore --previous monday pairs.parquet tuesday
    pddl-eval compare monday tuesday
    pddl-eval rescore --previous monday pairs.parquet again --retry undecided --row-seconds 60

    A row keeps its scores if OLD has a row with the same content (pair, is_placeholder, domain), at any place,
    scored with the same signature and without score_error. With other --row-seconds, it keeps them if it took less than
    either. With --retry undecided, one that was undecided is scored again.
    If the command is interrupted, the same command continues where it stopped.
    """
    from pddl_eval.reuse import prepare_rescore, rescore_dataset
    from pddl_eval.run import open_scored_rows, readable_input

    old, tiling = open_scored_rows(previous)
    missing = tiling.unfinished(previous) if tiling and tiling.missing else None
    if dry_run:
        reading, scoring, running = grouped(settings, ReadingOptions, ScoringOptions, RunOptions)
        with readable_input(inputs, output, reading, scoring.columns, note, keep=False) as source:
            prepared, before = prepare_rescore(old, source, output, scoring, running.shard_rows, retry=retry)
            print_shards(prepared)
            if before.obstacle:
                note(before.obstacle)
            print(f"{before.count_reusable():,} rows of OLD have scores that can be carried over")
        require_all_rows(missing)
        return
    chosen = require_outputs([*inputs, previous], output, report_to, settings, force=force)
    with watched_run() as watch:
        summary = rescore_dataset(old, inputs, output, retry=retry, watch=watch, warn=note, **settings)
    print_sections(summary.sections(), table_of_models(summary), output)
    if not summary.rows_carried:
        print("\nNo row was carried over.")
    if chosen is not None:
        from pddl_eval.report import build_report  # polars, which no run needs

        write_report(build_report(output), chosen, report_to, force=force)
    require_all_rows(missing)  # NEW has all rows; of OLD, fewer could be carried over.
