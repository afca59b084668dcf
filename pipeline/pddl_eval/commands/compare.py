"""``pddl-eval compare OLD NEW``: which answers got better or worse between two scored datasets."""

from __future__ import annotations

import sys
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Optional

import typer

from pddl_eval.commands.cli import RUN_FAILED, run_job

if TYPE_CHECKING:
    from pddl_eval.diff import Comparison

PAGE_WIDTH = 100
"""Characters in a line where the output is no terminal."""


class Format(StrEnum):
    """How the comparison is written."""

    TERMINAL = "terminal"
    MARKDOWN = "md"
    JSON = "json"


class FailOn(StrEnum):
    """What makes the command fail."""

    REGRESSION = "regression"


def compare(
    old: Annotated[str, typer.Argument(metavar="OLD", help="Scored dataset: folder, file, pattern, s3:// URI.")],
    new: Annotated[str, typer.Argument(metavar="NEW", help="Another one, of the same answers or of later ones.")],
    on: Annotated[
        Optional[list[str]],  # noqa: UP045 (typer reads it)
        typer.Option(metavar="COLUMN,…", help="Columns that identify a row in both. Default: pair_id, else id."),
    ] = None,
    by: Annotated[
        Optional[list[str]],  # noqa: UP045
        typer.Option(metavar="COLUMN,…", help="Columns to group by, '' for none. Default: model,domain where present."),
    ] = None,
    fail_on: Annotated[
        Optional[FailOn],  # noqa: UP045
        typer.Option(help="Exit with 1 where an answer that was right is not right any more."),
    ] = None,
    format: Annotated[Format, typer.Option(help="How to write it.")] = Format.TERMINAL,
) -> None:
    """Compare two scored datasets row by row: which answers got better or worse, and by how much.

    \b
    pddl-eval compare monday tuesday
    pddl-eval compare monday tuesday --on pair_id,model --by model --fail-on regression

    An answer is right if the problem is equivalent, the plan reaches the goal (where that is not known: equals the
    reference plan), the domain has no error. A regression was right and is now wrong, undecided or not scored.
    """
    from pddl_eval.diff import compare_datasets

    found = compare_datasets(old, new, on=_names(on), by=_names(by))
    _print(found, format)
    if fail_on == FailOn.REGRESSION and found.regressions:
        rows = "row was right and is" if found.regressions == 1 else "rows were right and are"
        print(f"pddl-eval: {found.regressions:,} {rows} not any more.", file=sys.stderr)
        raise typer.Exit(RUN_FAILED)


def _names(options: list[str] | None) -> list[str] | None:
    return None if options is None else [name for part in options for name in part.split(",") if name]


def _print(found: Comparison, format: Format) -> None:
    from rich.console import Console

    from pddl_eval.diff import comparison_json, comparison_page
    from pddl_eval.pages import markdown, print_page

    if format == Format.TERMINAL:
        print_page(comparison_page(found), Console(highlight=False, width=None if sys.stdout.isatty() else PAGE_WIDTH))
    else:
        sys.stdout.write(markdown(comparison_page(found)) if format == Format.MARKDOWN else comparison_json(found))


if __name__ == "__main__":
    run_job(compare)
