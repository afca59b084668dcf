"""``pddl-eval score INPUT OUTPUT``: score a dataset, in this process, in several, or on a Ray cluster."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Optional

import typer

from pddl_eval.commands.arguments import column_names, domain_text
from pddl_eval.commands.cli import run_job
from pddl_eval.options import ENGINES

if TYPE_CHECKING:
    from pddl_eval.run import PairScorer

SIMILARITIES = ("exact", "lexical", "embedding:")
"""What a shell completes."""


def score(
    input: Annotated[list[str], typer.Argument(metavar="INPUT", help="Parquet files, folders, patterns, s3:// URIs.")],
    output: Annotated[str, typer.Argument(metavar="OUTPUT", help="Folder for the scored partitions; may be s3://….")],
    column: Annotated[
        Optional[list[str]],  # noqa: UP045 (typer reads it)
        typer.Option(metavar="MEANING=NAME", help="What a column is called: generated_problem=output."),
    ] = None,
    domain: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(metavar="NAME|FILE", help="For rows that name no domain: a known one or a PDDL file."),
    ] = None,
    no_check_solvable: Annotated[bool, typer.Option("--no-check-solvable", help="Leave solvable undecided.")] = False,
    similarity: Annotated[
        str, typer.Option(help="exact, lexical or embedding:MODEL.", autocompletion=lambda: SIMILARITIES)
    ] = "exact",
    beta: Annotated[float, typer.Option(help="Weight of action names in the plan score.")] = 0.75,
    threshold: Annotated[float, typer.Option(help="Similarity above which plan steps match.")] = 0.8,
    engine: Annotated[
        str, typer.Option(help="auto, local or ray; changes no score.", autocompletion=lambda: ENGINES)
    ] = "auto",
    address: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(metavar="auto|HOST:PORT", help="Ray cluster, also ray://…. Default: RAY_ADDRESS."),
    ] = None,
    workers: Annotated[
        Optional[int],  # noqa: UP045
        typer.Option(help="Processes, or tasks on Ray. Default: what pays."),
    ] = None,
    shard_rows: Annotated[int, typer.Option(help="Rows of a shard, at most.")] = 2048,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print the shards and write nothing.")] = False,
    json_log: Annotated[
        Optional[Path],  # noqa: UP045
        typer.Option(metavar="FILE", help="Append one JSON line for each finished shard."),
    ] = None,
) -> None:
    """Score a dataset of (generated, reference) pairs into a folder of Parquet partitions.

    \b
    pddl-eval score pairs.parquet scored
    pddl-eval score 'pairs/*.parquet' scored --column generated_problem=output --workers 4
    pddl-eval score pairs.parquet scored --domain logistics.pddl
    pddl-eval score s3://bucket/pairs s3://bucket/scored --engine ray --address auto

    Every column passes through unchanged, the score columns come behind.
    Interrupted, the same command goes on where it stopped.
    """
    from pddl_eval.commands.progress import progress
    from pddl_eval.options import RunOptions, ScoringOptions
    from pddl_eval.run import PairScorer, run_scorer

    scorer = PairScorer(
        ScoringOptions(
            columns=column_names(column or []),
            domain=domain_text(domain) if domain else None,
            check_solvable=not no_check_solvable,
            similarity=similarity,
            beta=beta,
            threshold=threshold,
        )
    )
    if dry_run:
        _print_plan(input, output, scorer, shard_rows)
        return
    with progress() as watch:
        summary = run_scorer(
            input,
            output,
            scorer,
            RunOptions(engine, address, workers, shard_rows, None if json_log is None else str(json_log)),
            watch=watch,
        )
    print(summary)


def _print_plan(input: Sequence[str], output: str, scorer: PairScorer, shard_rows: int) -> None:
    from pddl_eval.run import prepare_run

    plan = prepare_run(input, output, scorer, shard_rows)
    for shard in plan.shards:
        state = "done " if shard.name in plan.finished else "to do"
        print(f"{state}  {shard.rows:>8,}  {shard.name}")
    missing = plan.missing
    rows = sum(shard.rows for shard in missing)
    print(f"{len(missing):,} of {len(plan.shards):,} shards to do, {rows:,} of {plan.source.rows:,} pairs")


if __name__ == "__main__":
    run_job(score)
