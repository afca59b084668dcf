"""``pddl-eval dedupe INPUT OUT.parquet``: which rows state the same planning problem, and which leak between splits."""

from __future__ import annotations

from typing import Any

import click

from pddl_eval.commands.command import Command
from pddl_eval.commands.flags import argument, columns_option, flags, inputs, is_placeholder, split_names, workers
from pddl_eval.commands.outputs import force_option, require_writable
from pddl_eval.definition.options import ScoringOptions
from pddl_eval.shown import printable


@click.command(cls=Command)
@inputs
@argument("output", "OUT.parquet", "Parquet file to write; may be s3://….")
@flags(ScoringOptions, "columns", "domain")
@click.option("--split-by", metavar="COLUMN", help="Report problems in several splits: leaks.")
@click.option("--against", metavar="OTHER", multiple=True, help="Report problems also in this dataset.")
@columns_option("--keep", help="Copy columns to OUT: an id.")
@is_placeholder
@workers
@force_option
def dedupe(
    inputs: tuple[str, ...], output: str, against: tuple[str, ...], keep: tuple[str, ...], force: bool, **settings: Any
) -> None:
    """Find rows that state the same problem, and leaks between splits.

    \b
    pddl-eval dedupe problems.parquet classes.parquet
    pddl-eval dedupe problems.parquet leaks.parquet --split-by split --keep id
    pddl-eval dedupe mine.parquet leaks.parquet --against other.parquet

    OUT.parquet has a row for each row: certificate, its class's size and first row, duplicate, leak.
    """
    from pddl_eval.progress import progress
    from pddl_eval.scoring.dedupe import OWN_ALWAYS, write_rows
    from pddl_eval.scoring.dedupe import dedupe as find_classes

    require_writable(output, "table", [*inputs, *against], force=force, columns=[OWN_ALWAYS])
    with progress(unit="distinct problems") as bar:
        settings |= {"against": against or None, "keep": split_names(keep) or []}
        found = find_classes(inputs, watch=lambda _done: bar.advance(1), **settings)
    write_rows(found.rows, output, settings["is_placeholder"])
    print(found.summary)
    print(f"\n{found.rows.height:,} rows written to {printable(output)}")
