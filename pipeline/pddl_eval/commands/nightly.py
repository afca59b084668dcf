"""``pddl-eval nightly INPUT NIGHTS``: score what changed since the last complete night, fail if an answer got worse."""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from typing import Any

import click

from pddl_eval.commands.command import Command
from pddl_eval.commands.flags import argument, flags, inputs, key
from pddl_eval.commands.outputs import force_option
from pddl_eval.definition.options import ScoringOptions
from pddl_eval.settings import RunOptions

EXIT_CODES = (
    "Exit codes: 0 done, 1 failed, 2 wrong command or input, another one runs or a night that counts is gone, 3 "
    "some rows could not be scored, 4 an answer got worse or too little can be compared, 75 try again later, "
    "130 Ctrl-C, 143 terminated."
)


@click.command(cls=Command, epilog=EXIT_CODES)
@inputs
@argument("nights", "NIGHTS", "Folder with one folder for each night; may be s3://….")
@flags(ScoringOptions)
@flags(RunOptions)
@key("pair_id, else id, else reference and model")
@click.option(
    "--on-regression",
    metavar="COMMAND|URL",
    help="Told once, as JSON, if an answer got worse: on stdin, by POST.",
)
@click.option(
    "--baseline", metavar="NIGHT", help="Accept that night's answers: this one and later ones are compared with it."
)
@click.option(
    "--date", type=click.DateTime(["%Y-%m-%d"]), metavar="YYYY-MM-DD", help="The night. Default: today in UTC."
)
@force_option
@click.option(
    "--keep", type=click.IntRange(min=2), metavar="N", help="Delete all but the last N complete nights. Default: none."
)
def nightly(inputs: tuple[str, ...], nights: str, date: datetime | None, **settings: Any) -> None:
    """Score what changed since last night, and say what got worse.

    \b
    pddl-eval nightly /srv/pairs /var/lib/pddl-eval --workers 4
    pddl-eval nightly s3://bucket/pairs s3://bucket/nights --on-regression https://chat.example.org/hook
    pddl-eval nightly pairs nights --key pair_id,model --on-regression ./tell-me.sh --keep 30
    pddl-eval nightly /srv/pairs /var/lib/pddl-eval --baseline 2026-03-02

    NIGHTS/2026-03-01/ gets scored/, report.html and rows/, a page for each answer that got worse. NIGHTS/nights.html
    shows how the last 30 nights went, which answers got worse, since when, and which are mended. A night is compared
    with the last one, and with those that the last one was worse than: a regression is told again each night until it
    is mended or accepted (--baseline). The last night that can be read counts; one that a later night is worse than
    must not be gone, or --baseline says what counts.

    If a night is interrupted, the same command continues where it stopped; a complete night gives the same result
    again, so a scheduler may retry. If the input has changed since, it is another night: YYYY-MM-DD.02. One job at a
    time writes into NIGHTS; a second one says who does.
    """
    from pddl_eval.commands.nights import one_night

    day = (date or datetime.now(UTC)).strftime("%Y-%m-%d")
    sys.exit(one_night(inputs, nights, day, **settings))
