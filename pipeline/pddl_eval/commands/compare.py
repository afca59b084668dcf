"""``pddl-eval compare OLD NEW``: which answers got better or worse between two scored datasets."""

from __future__ import annotations

import sys
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from pddl_eval.commands.command import FAILED, command, say

if TYPE_CHECKING:
    from pddl_eval.comparison import Comparison

PAGE_WIDTH = 100
"""Characters in a line where the output is no terminal."""

On = Annotated[
    list[str] | None,
    typer.Option(metavar="COLUMN,…", help="Columns that identify a row in both. Default: pair_id, else id."),
]


class Format(StrEnum):
    """How the comparison is written."""

    TERMINAL = "terminal"
    MARKDOWN = "md"
    JSON = "json"


class FailOn(StrEnum):
    """What makes the command fail."""

    REGRESSION = "regression"


@command
def compare(
    old: Annotated[str, typer.Argument(metavar="OLD", help="Scored dataset: folder, file, pattern, s3:// URI.")],
    new: Annotated[str, typer.Argument(metavar="NEW", help="Another one, of the same answers or of later ones.")],
    on: On = None,
    by: Annotated[
        list[str] | None,
        typer.Option(metavar="COLUMN,…", help="Columns to group by, '' for none. Default: model,domain if present."),
    ] = None,
    fail_on: Annotated[
        FailOn | None, typer.Option(help="Exit with 1 if an answer that was right is no longer right.")
    ] = None,
    form: Annotated[Format, typer.Option("--format", help="How to write it.")] = Format.TERMINAL,
) -> None:
    """Compare two scored datasets: which answers got better or worse.

    \b
    pddl-eval compare monday tuesday
    pddl-eval compare monday tuesday --on pair_id,model --by model --fail-on regression

    An answer is right if the problem is equivalent, the plan reaches the goal (if that is not known: equals the
    reference plan), the domain has no error. A regression was right and is now wrong, undecided or not scored.
    """
    from pddl_eval.comparison import compare_datasets

    found = compare_datasets(old, new, on=on, by=by)
    print_found(found, form)
    if fail_on and found.regressions:
        say(f"{found.regressions:,} {'row was' if found.regressions == 1 else 'rows were'} right before and not now.")
        raise typer.Exit(FAILED)


def print_found(found: Comparison, form: Format = Format.TERMINAL) -> None:
    """Write the comparison to stdout."""
    from rich.console import Console

    from pddl_eval.comparison.render import comparison_json, comparison_markdown, print_comparison

    if form == Format.TERMINAL:
        print_comparison(found, Console(highlight=False, width=None if sys.stdout.isatty() else PAGE_WIDTH))
    else:
        sys.stdout.write(comparison_markdown(found) if form == Format.MARKDOWN else comparison_json(found))
