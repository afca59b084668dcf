"""``pddl-eval dedupe INPUT OUT.parquet``: which rows state the same planning problem, and which leak between splits."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Annotated, Optional

import typer

from pddl_eval.commands.arguments import domain_text
from pddl_eval.commands.cli import run_job


def dedupe(
    input: Annotated[list[str], typer.Argument(metavar="INPUT", help="Parquet files, folders, patterns, s3:// URIs.")],
    output: Annotated[str, typer.Argument(metavar="OUT.parquet", help="Parquet file to write; may be s3://….")],
    column: Annotated[str, typer.Option(help="The column with the problems.")] = "reference_problem",
    split_by: Annotated[
        Optional[str],  # noqa: UP045 (typer reads it)
        typer.Option(metavar="COLUMN", help="Report problems under several of its values: leaks."),
    ] = None,
    against: Annotated[
        Optional[list[str]],  # noqa: UP045
        typer.Option(metavar="OTHER", help="Report problems that this dataset has too."),
    ] = None,
    against_column: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(metavar="COLUMN", help="OTHER's column, if it is called otherwise."),
    ] = None,
    keep: Annotated[
        Optional[list[str]],  # noqa: UP045
        typer.Option(metavar="COLUMN", help="Carry a column over, to join on: an id."),
    ] = None,
    domain: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(metavar="NAME|FILE", help="For rows that name no domain: a known one or a PDDL file."),
    ] = None,
    placeholder: Annotated[
        bool, typer.Option("--placeholder", help="Compare initial states and goals separately.")
    ] = False,
    workers: Annotated[
        Optional[int],  # noqa: UP045
        typer.Option(min=1, help="Worker processes. Default: one a CPU."),
    ] = None,
) -> None:
    """Find the rows that state the same planning problem, and leaks between splits or datasets.

    \b
    pddl-eval dedupe problems.parquet classes.parquet
    pddl-eval dedupe problems.parquet leaks.parquet --split-by split --keep id
    pddl-eval dedupe mine.parquet leaks.parquet --against planetarium.parquet --against-column problem_pddl

    OUT.parquet has a line for each row: certificate, its class's size and first row, duplicate, leak.
    """
    from pddl_eval.dedupe import dedupe as find_classes
    from pddl_eval.dedupe import require_output, write_rows

    require_output(output, [*input, *(against or [])])
    with _progress() as watch:
        found = find_classes(
            input,
            column=column,
            split_by=split_by,
            against=against,
            against_column=against_column,
            keep=keep or (),
            domain=domain_text(domain) if domain else None,
            is_placeholder=placeholder,
            workers=workers,
            watch=watch,
        )
    write_rows(found.rows, output, placeholder)
    print(found.summary)
    print(f"\n{found.rows.height:,} rows written to {output}")


@contextmanager
def _progress() -> Iterator[Callable[[int], None] | None]:
    """A counter of certified texts on a terminal; nothing elsewhere."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (SpinnerColumn(), TextColumn("{task.completed:,.0f} distinct problems"), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=None)
        yield lambda done: bar.update(task, completed=done)


if __name__ == "__main__":
    run_job(dedupe)
