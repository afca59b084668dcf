"""``pddl-eval status OUTPUT``: how far a run is, from its output folder alone."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict

import click

from pddl_eval.commands.command import Command
from pddl_eval.commands.flags import argument, terminal_or_json
from pddl_eval.errors import UNFINISHED


@click.command(cls=Command)
@argument("output", "OUTPUT", "Folder that `pddl-eval score` writes to; may be s3://….")
@terminal_or_json
def status(output: str, format: str) -> None:
    """Say how far a run is, and what is missing.

    \b
    pddl-eval status scored
    pddl-eval status s3://bucket/scored --format json

    It exits with 0 if the run is finished, with 3 if it is not, with 2 if OUTPUT is not that of a run.
    """
    from pddl_eval.run import run_status

    found = run_status(output)
    print(json.dumps(asdict(found), indent=1) if format == "json" else found)
    if not found.finished:
        sys.exit(UNFINISHED)
