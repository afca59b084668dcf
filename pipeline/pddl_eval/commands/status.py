"""``pddl-eval status OUTPUT``: how far a run is, from its output folder alone."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Annotated, Literal

import typer
from typer import Argument, Option

from pddl_eval.commands.command import UNFINISHED, command


@command
def status(
    output: Annotated[str, Argument(metavar="OUTPUT", help="Folder that `pddl-eval score` writes to; may be s3://….")],
    form: Annotated[Literal["terminal", "json"], Option("--format", help="How to write it.")] = "terminal",
) -> None:
    """Say how far a run is, and what is missing.

    \b
    pddl-eval status scored
    pddl-eval status s3://bucket/scored --format json

    It exits with 0 if the run is finished, with 3 if it is not, with 2 if OUTPUT is not that of a run.
    """
    from pddl_eval.run import run_status

    found = run_status(output)
    print(json.dumps(asdict(found), indent=1) if form == "json" else found)
    if not found.finished:
        raise typer.Exit(UNFINISHED)
