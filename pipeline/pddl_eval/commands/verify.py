"""``pddl-eval verify OUTPUT``: whether a scored folder is whole, and whether its scores come out again."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from typing import Any

import click

from pddl_eval.commands.command import Command
from pddl_eval.commands.flags import argument, seed, terminal_or_json
from pddl_eval.commands.outputs import force_option, require_writable
from pddl_eval.errors import UNFINISHED
from pddl_eval.settings import ROWS_AGAIN


@click.command(cls=Command)
@argument("output", "OUTPUT", "Folder that `pddl-eval score` has written; may be s3://….")
@click.option("--rows", type=click.IntRange(min=0), default=ROWS_AGAIN, show_default=True, help="Rows to score again.")
@seed
@click.option("--record", metavar="FILE", help="Also compare every column with this record.")
@click.option("--save-record", metavar="FILE", help="Write the record of a dataset in which nothing is wrong.")
@force_option
@click.option("--repair", is_flag=True, help="First remove what is proven damaged, doubled or left over.")
@terminal_or_json
def verify(output: str, record: str | None, save_record: str | None, force: bool, format: str, **drawn: Any) -> None:
    """Check that a scored folder is whole, and score rows of it again.

    \b
    pddl-eval verify scored
    pddl-eval verify scored --rows 1000 --seed 7
    pddl-eval verify scored --save-record record.json
    pddl-eval verify scored-again --record record.json
    pddl-eval verify s3://bucket/scored --repair

    Each row once, checksums, columns, signature, summary, nothing left over; rows drawn at random have the same scores
    again. It exits with 0 if nothing is wrong, else with 3 and a line for each finding. After --repair, the command
    that started the run makes what was removed.
    """
    from pddl_eval.scoring.record import save_record as write_record
    from pddl_eval.scoring.verify import verify_dataset

    require_writable(save_record, "record", [output, record], force=force, alone=True)
    found = verify_dataset(output, record=record, **drawn)
    if save_record and found.ok:
        write_record(output, save_record)
    print(json.dumps({**asdict(found), "ok": found.ok}, indent=1) if format == "json" else found)
    if not found.ok:
        sys.exit(UNFINISHED)
