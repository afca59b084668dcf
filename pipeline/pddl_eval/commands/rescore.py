"""``pddl-eval rescore --previous OLD INPUT NEW``: score what changed since OLD was scored, carry the rest over."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Optional

import typer

from pddl_eval.commands.arguments import column_names, domain_text
from pddl_eval.commands.cli import run_job


def rescore(
    input: Annotated[list[str], typer.Argument(metavar="INPUT", help="Parquet files, folders, patterns, s3:// URIs.")],
    output: Annotated[str, typer.Argument(metavar="NEW", help="Folder for the scored partitions; may be s3://….")],
    previous: Annotated[str, typer.Option(metavar="OLD", help="The dataset as it was scored before; may be s3://….")],
    column: Annotated[
        Optional[list[str]],  # noqa: UP045 (typer reads it)
        typer.Option(metavar="MEANING=NAME", help="The dataset's own name for a column: generated_problem=output."),
    ] = None,
    previous_column: Annotated[
        Optional[list[str]],  # noqa: UP045
        typer.Option(metavar="MEANING=NAME", help="OLD's name for a column. Default: that under which it was scored."),
    ] = None,
    domain: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(metavar="NAME|FILE", help="Domain of all rows that name none: a known one or a PDDL file."),
    ] = None,
    check_solvable: Annotated[bool, typer.Option(help="Decide whether generated problems can be solved.")] = True,
    similarity: Annotated[str, typer.Option(help="Of plan steps: exact, lexical or embedding.")] = "exact",
    beta: Annotated[float, typer.Option(help="Weight of the action's name in the plan score, 0 to 1.")] = 0.75,
    threshold: Annotated[float, typer.Option(help="Similarity above which plan steps match, 0 to 1.")] = 0.8,
    engine: Annotated[str, typer.Option(help="auto, local or ray; changes no score.")] = "auto",
    address: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(help="Ray cluster to join: auto, HOST:PORT or ray://HOST:PORT. Default: RAY_ADDRESS."),
    ] = None,
    workers: Annotated[
        Optional[int],  # noqa: UP045
        typer.Option(help="Worker processes, or tasks in flight on Ray. Default: what pays."),
    ] = None,
    shard_rows: Annotated[int, typer.Option(help="Rows of a shard, at most.")] = 2048,
    json_log: Annotated[
        Optional[Path],  # noqa: UP045
        typer.Option(metavar="FILE", help="Append one JSON line for each finished shard."),
    ] = None,
) -> None:
    """Score a dataset again: only rows that changed, the others keep the scores they have.

    \b
    pddl-eval rescore --previous monday pairs.parquet tuesday
    pddl-eval compare monday tuesday

    A row keeps its scores where OLD has a row of the same content (pair, is_placeholder, domain), in whatever place,
    scored with the same signature and without score_error. Interrupted, the same command goes on where it stopped.
    """
    from pddl_eval.commands.progress import progress
    from pddl_eval.reuse import rescore_dataset

    with progress() as watch:
        summary = rescore_dataset(
            previous,
            input,
            output,
            columns=column_names(column or []),
            domain=domain_text(domain) if domain else None,
            check_solvable=check_solvable,
            similarity=similarity,
            beta=beta,
            threshold=threshold,
            previous_columns=None if previous_column is None else column_names(previous_column),
            engine=engine,
            address=address,
            workers=workers,
            shard_rows=shard_rows,
            json_log=json_log,
            watch=watch,
            warn=lambda sentence: print(f"pddl-eval: {sentence}", file=sys.stderr),
        )
    print(summary)
    if not summary.rows_carried:
        print("\nNo row was carried over.")


if __name__ == "__main__":
    run_job(rescore)
