"""``pddl-eval compare OLD NEW``: which answers got better or worse between two scored datasets."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated, Literal

import typer
from typer import Argument, Option

from pddl_eval.commands.command import FAILED, UNFINISHED, By, command, say
from pddl_eval.commands.completion import several_columns

if TYPE_CHECKING:
    from pddl_eval.report import Comparison

PAGE_WIDTH = 100
"""Characters in a line where the output is no terminal."""

On = Annotated[
    list[str] | None,
    Option(
        metavar="COLUMN,…",
        help="What identifies a row in both. Default: pair_id, else id, else reference and model.",
        autocompletion=several_columns,
    ),
]


Format = Literal["terminal", "md", "json"]


@command
def compare(
    old: Annotated[str, Argument(metavar="OLD", help="Scored dataset: folder, file, pattern, s3:// URI.")],
    new: Annotated[str, Argument(metavar="NEW", help="Another one, of the same answers or of later ones.")],
    on: On = None,
    by: By = None,
    fail_on: Annotated[
        Literal["regression"] | None,
        Option(help="Exit with 1 if an answer is right in OLD and not in NEW, or if 10 % of OLD found no partner."),
    ] = None,
    form: Annotated[Format, Option("--format", help="How to write it.")] = "terminal",
) -> None:
    """Compare two scored datasets: which answers got better or worse.

    \b
    pddl-eval compare monday tuesday
    pddl-eval compare monday tuesday --on pair_id,model --by model --fail-on regression

    An answer is right if the problem is equivalent, the plan reaches the goal (if that is not known: equals the
    reference plan), the domain has no error. OLD and NEW may also be the answers of two models to the same questions.
    Rows with an empty key, or with another reference than their partner, are compared with nothing. Where fewer than
    90 % of OLD's rows find a partner, --fail-on regression fails too.
    """
    from pddl_eval.report import compare_datasets

    found = compare_datasets(old, new, on=on, by=by)
    print_found(found, form)
    if fail_on and (found.regressions or found.too_few):
        if found.regressions:
            say(f"Right in OLD and not in NEW: {found.regressions:,}.")
        if found.too_few:
            say(found.too_few)
        raise typer.Exit(FAILED)
    if found.unfinished:
        raise typer.Exit(UNFINISHED)


def print_found(found: Comparison, form: Format = "terminal") -> None:
    """Write the comparison to stdout."""
    from rich.console import Console

    from pddl_eval.pages import markdown, terminal
    from pddl_eval.report import comparison_json, comparison_page

    page = comparison_page(found)
    if form == "terminal":
        Console(highlight=False, width=None if sys.stdout.isatty() else PAGE_WIDTH).print(terminal(page))
    else:
        sys.stdout.write(markdown(page) if form == "md" else comparison_json(found))
