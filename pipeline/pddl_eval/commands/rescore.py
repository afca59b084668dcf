"""``pddl-eval rescore --previous OLD INPUT NEW``: score what changed since OLD was scored, carry the rest over."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated, Literal

from typer import Argument, Option

from pddl_eval.commands.command import Inputs, column_names, command, say
from pddl_eval.commands.score import DryRun, print_shards, watched_run
from pddl_eval.options import RunOptions, ScoringOptions


@command
def rescore(
    inputs: Inputs,
    output: Annotated[str, Argument(metavar="NEW", help="Folder for the scored partitions; may be s3://….")],
    previous: Annotated[str, Option(metavar="OLD", help="The dataset as it was scored before; may be s3://….")],
    options: ScoringOptions,
    run: RunOptions,
    previous_column: Annotated[
        list[str] | None,
        Option(metavar="MEANING=NAME", help="OLD's name for a column. Default: that under which it was scored."),
    ] = None,
    retry: Annotated[
        Literal["undecided"] | None, Option(help="Score the rows again whose verdict is undecided in OLD.")
    ] = None,
    dry_run: DryRun = False,
) -> None:
    """Score a dataset again: only the rows that changed.

    \b
    pddl-eval rescore --previous monday pairs.parquet tuesday
    pddl-eval compare monday tuesday
    pddl-eval rescore --previous monday pairs.parquet again --retry undecided

    A row keeps its scores if OLD has a row with the same content (pair, is_placeholder, domain), at any place,
    scored with the same signature and without score_error. With --retry undecided, one that was undecided (a busy
    machine can run into the limit of time) is scored again.
    If the command is interrupted, the same command continues where it stopped.
    """
    from pddl_eval.reuse import prepare_rescore, rescore_dataset

    columns = None if previous_column is None else column_names(previous_column)
    again = [retry] if retry else []
    if dry_run:
        prepared, before = prepare_rescore(previous, inputs, output, options, run.shard_rows, columns, again)
        print_shards(prepared)
        if before.obstacle:
            say(before.obstacle)
        print(f"{before.count_reusable():,} rows of OLD have scores that can be carried over")
        return
    with watched_run() as watch:
        settings = {"previous_columns": columns, "retry": again, **asdict(options), **asdict(run)}
        summary = rescore_dataset(previous, inputs, output, watch=watch, warn=say, **settings)
    print(summary)
    if not summary.rows_carried:
        print("\nNo row was carried over.")
