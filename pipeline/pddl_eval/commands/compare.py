"""``pddl-eval compare OLD NEW``: which answers got better or worse between two scored datasets."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from pddl_eval.commands.command import FAILED, UNFINISHED, Command, say
from pddl_eval.commands.flags import argument, by, key, output_format

if TYPE_CHECKING:
    from pddl_eval.report import Comparison

PAGE_WIDTH = 100
"""Characters in a line where the output is no terminal."""


@click.command(cls=Command)
@argument("old", "OLD", "Scored dataset: folder, file, pattern, s3:// URI.")
@argument("new", "NEW", "Another one, of the same answers or of later ones.")
@key("pair_id, else id, else reference and model")
@by
@click.option(
    "--fail-on",
    type=click.Choice(["regression"]),
    help="Exit with 1 if an answer is right in OLD and not in NEW, or if 10 % of OLD found no partner.",
)
@output_format("terminal", "md", "json")
def compare(old: str, new: str, key: list[str] | None, by: list[str] | None, fail_on: str | None, format: str) -> None:
    """Compare two scored datasets: which answers got better or worse.

    \b
    pddl-eval compare monday tuesday
    pddl-eval compare monday tuesday --key pair_id,model --by model --fail-on regression

    An answer is right if the problem is equivalent, the plan reaches the goal (if that is not known: equals the
    reference plan), the domain has no error. OLD and NEW may also be the answers of two models to the same questions.
    Rows with an empty key, or with another reference than their partner, are compared with nothing. Where fewer than
    90 % of OLD's rows find a partner, --fail-on regression fails too.
    """
    from pddl_eval.report import compare_datasets

    found = compare_datasets(old, new, on=key, by=by)
    print_found(found, format)
    if fail_on and (found.regressions or found.too_few):
        if found.regressions:
            say(f"Right in OLD and not in NEW: {found.regressions:,}.")
        if found.too_few:
            say(found.too_few)
        sys.exit(FAILED)
    if found.unfinished:
        sys.exit(UNFINISHED)


def print_found(found: Comparison, form: str = "terminal") -> None:
    """Write the comparison to stdout."""
    from rich.console import Console

    from pddl_eval.pages import markdown, terminal
    from pddl_eval.report import comparison_json, comparison_page

    page = comparison_page(found)
    if form == "terminal":
        Console(highlight=False, width=None if sys.stdout.isatty() else PAGE_WIDTH).print(terminal(page))
    else:
        sys.stdout.write(markdown(page) if form == "md" else comparison_json(found))
