"""``pddl-eval compare OLD NEW``: which answers got better or worse between two scored datasets."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

import click

from pddl_eval.commands.command import Command, say
from pddl_eval.commands.flags import argument, by, flags, key
from pddl_eval.commands.outputs import force_option, require_writable
from pddl_eval.errors import FAILED, UNFINISHED, UserError
from pddl_eval.settings import ReadingOptions, chosen_format

if TYPE_CHECKING:
    from pddl_eval.pages import Page

PAGE_WIDTH = 100
"""Characters in a line where the output is no terminal."""


FORMATS = ("terminal", "md", "tex", "csv", "json", "html")


@click.command(cls=Command)
@argument("old", "OLD", "Scored dataset: folder, file, pattern, s3:// URI.")
@argument("news", "NEW...", "Others, of the same answers or of later ones; none with --models.", nargs=-1)
@click.option("--models", metavar="A,B", multiple=True, help="Compare two models of OLD.")
@key("pair_id, else id, else reference and model")
@by
@flags(ReadingOptions, "where")
@click.option(
    "--fail-on",
    type=click.Choice(["regression"]),
    help="Exit with 1 if an answer is right in OLD and not in NEW, or if too little of OLD is compared.",
)
@click.option("--format", type=click.Choice(FORMATS), help="Default: the suffix of --output, else terminal.")
@click.option("--output", metavar="FILE", help="Write it there: comparison.html, .txt, .md, .tex, .csv, .json.")
@force_option
def compare(
    old: str,
    news: tuple[str, ...],
    models: list[str] | None,
    key: list[str] | None,
    by: list[str] | None,
    where: str | None,
    fail_on: str | None,
    format: str | None,
    output: str | None,
    force: bool,
) -> None:
    """Compare scored datasets, or two models of one, row by row.

    \b
    pddl-eval compare monday tuesday
    pddl-eval compare monday tuesday --key pair_id,model --by model --fail-on regression
    pddl-eval compare scored --models gpt-4o,llama-3-8b --output comparison.html
    pddl-eval compare nights/*/scored --output nights.html

    An answer is right if the problem is equivalent, the plan reaches the goal (if that is not known: equals the
    reference plan), the domain has no error. OLD and NEW may also be the answers of two models to the same questions.
    Rows with an empty key, or with another reference than their partner, are compared with nothing. Where fewer than
    90 % of OLD's rows find a partner, or NEW has no scores of their kind, --fail-on regression fails too. Of more than
    two datasets, how the rates move and what changed from each to the next.
    """
    from pddl_eval.report import (
        compare_datasets,
        compare_series,
        comparison_page,
        comparison_text,
        series_page,
        series_text,
    )

    chosen = chosen_format(format, output)
    if chosen not in FORMATS:
        raise UserError(f"a comparison cannot be written as {chosen}: choose one of {', '.join(FORMATS)}")
    require_writable(output, chosen, [old, *news], force=force)
    if len(news) > 1:
        if models or by or fail_on or chosen in ("csv", "json"):
            raise UserError("more than two datasets are compared without --models, --by, --fail-on, csv and json")
        series = compare_series((old, *news), on=key, where=where)
        write_page(series_page(series), output, chosen, partial(series_text, series))
        if any(step.unfinished for step in series.steps):
            sys.exit(UNFINISHED)
        return
    found = compare_datasets(old, *news, on=key, by=by, models=models, where=where)
    write_page(comparison_page(found), output, chosen, partial(comparison_text, found))
    if fail_on and (found.regressions or found.too_few):
        if found.regressions:
            say(f"Right in OLD and not in NEW: {found.regressions:,}.")
        if found.too_few:
            say(found.too_few)
        sys.exit(FAILED)
    if found.unfinished:
        sys.exit(UNFINISHED)


def write_page(
    page: Page, output: str | None = None, form: str = "terminal", text: Callable[[str], str] = lambda _: ""
) -> None:
    """Write a page, or its text in another format, to a file or to stdout."""
    from rich.console import Console

    from pddl_eval.datasets import locate, put_bytes
    from pddl_eval.terminal import terminal

    if output is not None:
        put_bytes(locate(output), text(form).encode())
    elif form == "terminal":
        Console(highlight=False, width=None if sys.stdout.isatty() else PAGE_WIDTH).print(terminal(page))
    else:
        sys.stdout.write(text(form))
