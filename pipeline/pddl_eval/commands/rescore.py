"""``pddl-eval rescore --previous OLD INPUT NEW``: score what changed since OLD was scored, carry the rest over."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated, Literal, cast

from typer import Argument, Option

from pddl_eval.commands.command import Inputs, command, note
from pddl_eval.commands.completion import renamed_columns
from pddl_eval.commands.report import built, chosen_format, write_as
from pddl_eval.commands.score import DryRun, ReportTo, print_shards, watched_run
from pddl_eval.options import ReadingOptions, RunOptions, ScoringOptions


@command
def rescore(
    inputs: Inputs,
    output: Annotated[str, Argument(metavar="NEW", help="Folder for the scored partitions; may be s3://….")],
    previous: Annotated[str, Option(metavar="OLD", help="The dataset as it was scored before; may be s3://….")],
    reading: ReadingOptions,
    options: ScoringOptions,
    run: RunOptions,
    previous_columns: Annotated[
        list[str] | None,
        Option(
            "--previous-column",
            metavar="MEANING=NAME",
            help="OLD's name for a column. Default: that under which it was scored.",
            autocompletion=renamed_columns("previous"),
        ),
    ] = None,
    retry: Annotated[
        Literal["undecided"] | None, Option(help="Score the rows again whose verdict is undecided in OLD.")
    ] = None,
    report_to: ReportTo = None,
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
    from pddl_eval.run import readable_input

    columns = cast("dict[str, str] | None", previous_columns)  # ``command`` has read them.
    again = [retry] if retry else []
    if dry_run:
        with readable_input(inputs, output, reading, options, note, keep=False) as source:
            prepared, before = prepare_rescore(previous, source, output, options, run.shard_rows, columns, again)
            print_shards(prepared)
            if before.obstacle:
                note(before.obstacle)
            print(f"{before.count_reusable():,} rows of OLD have scores that can be carried over")
        return
    chosen = None if report_to is None else chosen_format(None, report_to)
    with watched_run() as watch:
        settings = {"previous_columns": columns, "retry": again}
        settings |= asdict(reading) | asdict(options) | asdict(run)
        summary = rescore_dataset(previous, inputs, output, watch=watch, warn=note, **settings)
    print(summary)
    if not summary.rows_carried:
        print("\nNo row was carried over.")
    if chosen is not None:
        write_as(built(output), chosen, report_to)
