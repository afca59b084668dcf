"""The command ``pddl-eval``: one file of this folder for each command.

Commands import the rooms of the library inside their functions, so that ``pddl-eval --help``, completion and a typing
mistake take a tenth of a second and not the second that polars, pyarrow, ray and pddl need to load. Nothing else
justifies an import inside a function here.
"""

from __future__ import annotations

from typing import Annotated

import typer

from pddl_eval.commands.bench import bench
from pddl_eval.commands.command import EXIT_CODES, application
from pddl_eval.commands.compare import compare
from pddl_eval.commands.completion import join_words_of_bash
from pddl_eval.commands.dedupe import dedupe
from pddl_eval.commands.explain import explain
from pddl_eval.commands.generate import generate
from pddl_eval.commands.report import report
from pddl_eval.commands.rescore import rescore
from pddl_eval.commands.score import score
from pddl_eval.commands.status import status
from pddl_eval.options import build, version_of

app = application("pddl-eval")
for each in (score, status, rescore, compare, report, explain):
    app.command(epilog=EXIT_CODES)(each)
app.add_typer(generate)
for each in (bench, dedupe):
    app.command(epilog=EXIT_CODES)(each)


def _print_version(wanted: bool) -> None:
    if wanted:
        print(f"pddl-eval {version_of('pddl-eval')} ({build()})")
        raise typer.Exit


@app.callback(epilog=EXIT_CODES)
def describe(
    version: Annotated[
        bool, typer.Option("--version", is_eager=True, callback=_print_version, help="Print the version.")
    ] = False,
) -> None:
    """Score PDDL problems, plans and domains written by language models against references.

    \b
    pddl-eval score pairs.parquet scored
    pddl-eval report scored --output report.html
    pddl-eval explain scored --row 17
    """


def main() -> None:
    """Entry point of ``pddl-eval``."""
    join_words_of_bash()
    app()
