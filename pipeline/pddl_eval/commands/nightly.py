"""``pddl-eval nightly INPUT NIGHTS``: score what changed since the last complete night, fail if an answer got worse."""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import click

from pddl_eval.commands.command import Command, note, say
from pddl_eval.commands.compare import print_found
from pddl_eval.commands.flags import argument, flags, inputs, key
from pddl_eval.commands.report import write_report
from pddl_eval.commands.score import watched_run
from pddl_eval.definition.options import ScoringOptions
from pddl_eval.errors import RunError, UserError
from pddl_eval.settings import RunOptions

if TYPE_CHECKING:
    from pddl_eval.datasets import Location
    from pddl_eval.report import Comparison

INCOMPLETE, REGRESSION = 3, 4
EXIT_CODES = (
    "Exit codes: 0 done, 1 failed, 2 wrong command or input, or another one runs, 3 some rows could not be scored, "
    "4 an answer got worse or too few rows can be compared, 75 try again later, 130 Ctrl-C, 143 terminated."
)


@click.command(cls=Command, epilog=EXIT_CODES)
@inputs
@argument("nights", "NIGHTS", "Folder with one folder for each night; may be s3://….")
@flags(ScoringOptions)
@flags(RunOptions)
@key("pair_id, else id, else reference and model")
@click.option(
    "--on-regression", metavar="COMMAND|URL", help="Gets the numbers as JSON if an answer got worse: on stdin, by POST."
)
@click.option(
    "--baseline", metavar="NIGHT", help="Accept that night's answers: this one and later ones are compared with it."
)
@click.option(
    "--date", type=click.DateTime(["%Y-%m-%d"]), metavar="YYYY-MM-DD", help="The night. Default: today in UTC."
)
@click.option(
    "--keep", type=click.IntRange(min=2), metavar="N", help="Delete all but the last N complete nights. Default: none."
)
def nightly(
    inputs: tuple[str, ...],
    nights: str,
    key: list[str] | None,
    on_regression: str | None,
    baseline: str | None,
    date: datetime | None,
    keep: int | None,
    **settings: Any,
) -> None:
    """Score what changed since last night, and say what got worse.

    \b
    pddl-eval nightly /srv/pairs /var/lib/pddl-eval --workers 4
    pddl-eval nightly s3://bucket/pairs s3://bucket/nights --on-regression https://chat.example.org/hook
    pddl-eval nightly pairs nights --key pair_id,model --on-regression ./tell-me.sh --keep 30
    pddl-eval nightly /srv/pairs /var/lib/pddl-eval --baseline 2026-03-02

    NIGHTS/2026-03-01/ gets scored/ and report.html, and NIGHTS/nights.html shows how the last 30 nights went, what got
    worse and since when. A regression is told again each night until it is mended or accepted (--baseline).

    If a night is interrupted, the same command continues where it stopped; a complete night gives the same result
    again, so a scheduler may retry. If the input has changed since, it is another night: YYYY-MM-DD.02. One job at a
    time writes into NIGHTS; a second one says who does.
    """
    from pddl_eval.commands.nights import (
        ALL_NIGHTS,
        NIGHT,
        REPORT,
        SCORED,
        baseline_of,
        delete_before,
        is_complete,
        put_all_nights,
        put_compared,
        require_no_shell,
        score_night,
    )
    from pddl_eval.datasets import locate
    from pddl_eval.report import build_report, compare_datasets
    from pddl_eval.run import RunIncomplete, claimed

    if on_regression:
        require_no_shell(on_regression)
    folder, day = locate(nights), (date or datetime.now(UTC)).strftime("%Y-%m-%d")
    with claimed(folder):
        if baseline is not None and not (NIGHT.fullmatch(baseline) and is_complete(folder / baseline)):
            raise UserError(f"{folder} has no complete night {baseline}")
        try:
            with watched_run() as watch:
                night, summary = score_night(inputs, folder, day, settings, watch, note)
        except RunIncomplete as error:
            say(str(error))
            sys.exit(INCOMPLETE)
        print(summary)
        against = folder / baseline if baseline else baseline_of(night)
        if against is not None:  # A night that ends before it is compared is no baseline.
            put_compared(night, against, worse=True)
        write_report(build_report(str(night / SCORED)), "html", str(night / REPORT))
        if keep is not None:
            for deleted in delete_before(night, keep, against):
                say(f"Deleted the night {deleted}.")
        try:
            put_all_nights(night, key)
        except UserError as error:  # Of nights long ago: this one is compared all the same.
            say(f"{ALL_NIGHTS} is left as it was: {error}")
        if against is None:
            return
        found = compare_datasets(str(against / SCORED), str(night / SCORED), on=key)
        worse = bool(found.regressions or found.too_few)
        put_compared(night, against, worse=worse)
    print_found(found)
    if worse:
        _tell(found, night, against, on_regression)
        sys.exit(REGRESSION)


def _tell(found: Comparison, night: Location, against: Location, on_regression: str | None) -> None:
    """Say that the night is worse, or cannot be compared, also to whoever ``on_regression`` names."""
    from pddl_eval.commands.nights import alarm, facts_of

    if found.too_few:
        say(found.too_few)
    if found.regressions:
        say(f"Answers that were right on {against.name} and are not right now: {found.regressions:,}.")
    note(f"The next night is compared with {against.name} again, unless --baseline {night.name} accepts this one.")
    if on_regression:
        try:
            alarm(on_regression, facts_of(found, night, against))
        except RunError as error:
            say(str(error))
