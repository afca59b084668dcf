"""``pddl-eval dedupe INPUT OUT.parquet``: which rows state the same planning problem, and which leak between splits."""

from __future__ import annotations

from typing import Annotated, cast

from typer import Argument, Option

from pddl_eval.commands.command import Inputs, IsPlaceholder, Workers, command, flag_of, split_names
from pddl_eval.commands.completion import one_column, renamed_columns, several_columns
from pddl_eval.options import ScoringOptions
from pddl_eval.shown import printable


@command
def dedupe(
    inputs: Inputs,
    output: Annotated[str, Argument(metavar="OUT.parquet", help="Parquet file to write; may be s3://….")],
    columns: Annotated[list[str] | None, flag_of(ScoringOptions, "columns")] = None,
    split_by: Annotated[
        str | None,
        Option(metavar="COLUMN", help="Report problems in several splits: leaks.", autocompletion=one_column),
    ] = None,
    against: Annotated[list[str] | None, Option(metavar="OTHER", help="Report problems also in this dataset.")] = None,
    against_columns: Annotated[
        list[str] | None,
        Option(
            "--against-column",
            metavar="MEANING=NAME",
            help="OTHER's name for a column. Default: INPUT's.",
            autocompletion=renamed_columns("against"),
        ),
    ] = None,
    keep: Annotated[
        list[str] | None,
        Option(metavar="COLUMN,…", help="Copy columns to OUT: an id.", autocompletion=several_columns),
    ] = None,
    domain: Annotated[str | None, flag_of(ScoringOptions, "domain")] = None,
    is_placeholder: IsPlaceholder = False,
    workers: Workers = None,
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
            columns=cast("dict[str, str] | None", columns),  # ``command`` has read them.
            split_by=split_by,
            against=against,
            against_columns=cast("dict[str, str] | None", against_columns),
            keep=split_names(keep or []),
            domain=domain,
            is_placeholder=is_placeholder,
            workers=workers,
            watch=lambda _done: pace.advance(1),
        )
    write_rows(found.rows, output, is_placeholder)
    print(found.summary)
    print(f"\n{found.rows.height:,} rows written to {printable(output)}")
