"""``pddl-eval dedupe INPUT OUT.parquet``: which rows state the same planning problem, and which leak between splits."""

from __future__ import annotations

from typing import Annotated

from typer import Argument, Option

from pddl_eval.commands.command import Inputs, column_names, command, flag_of
from pddl_eval.options import ScoringOptions
from pddl_eval.shown import printable


@command
def dedupe(
    inputs: Inputs,
    output: Annotated[str, Argument(metavar="OUT.parquet", help="Parquet file to write; may be s3://….")],
    columns: Annotated[
        list[str] | None,
        Option("--column", metavar="MEANING=NAME", help="INPUT's name for reference_problem or domain."),
    ] = None,
    split_by: Annotated[str | None, Option(metavar="COLUMN", help="Report problems in several splits: leaks.")] = None,
    against: Annotated[list[str] | None, Option(metavar="OTHER", help="Report problems also in this dataset.")] = None,
    against_column: Annotated[
        list[str] | None, Option(metavar="MEANING=NAME", help="OTHER's name for it. Default: INPUT's.")
    ] = None,
    keep: Annotated[list[str] | None, Option(metavar="COLUMN", help="Copy a column to OUT: an id.")] = None,
    domain: Annotated[str | None, flag_of(ScoringOptions, "domain")] = None,
    placeholder: Annotated[bool, Option("--placeholder", help="Compare initial states and goals separately.")] = False,
    workers: Annotated[int | None, Option(min=1, help="Worker processes. Default: one a CPU.")] = None,
) -> None:
    """Find rows that state the same problem, and leaks between splits.

    \b
    pddl-eval dedupe problems.parquet classes.parquet
    pddl-eval dedupe problems.parquet leaks.parquet --split-by split --keep id
    pddl-eval dedupe mine.parquet leaks.parquet --against other.parquet --against-column reference_problem=pddl

    OUT.parquet has a row for each row: certificate, its class's size and first row, duplicate, leak.
    """
    from pddl_eval.dedupe import dedupe as find_classes
    from pddl_eval.dedupe import require_output, write_rows
    from pddl_eval.progress import progress

    require_output(output, [*inputs, *(against or [])])
    with progress(unit="distinct problems") as pace:
        found = find_classes(
            inputs,
            columns=columns,  # type: ignore[arg-type]  # ``command`` has read it.
            split_by=split_by,
            against=against,
            against_columns=None if against_column is None else column_names(against_column),
            keep=keep or (),
            domain=domain,
            is_placeholder=placeholder,
            workers=workers,
            watch=lambda _done: pace.advance(1),
        )
    write_rows(found.rows, output, placeholder)
    print(found.summary)
    print(f"\n{found.rows.height:,} rows written to {printable(output)}")
