"""``pddl-eval nightly INPUT NIGHTS``: score what changed since the last complete night, fail if an answer got worse."""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import click

from pddl_eval.commands.command import Command, note, say
from pddl_eval.commands.compare import print_found
from pddl_eval.commands.flags import argument, flags, inputs, key
from pddl_eval.commands.outputs import force as force_option
from pddl_eval.commands.outputs import require_writable
from pddl_eval.commands.report import write_report
from pddl_eval.commands.score import require_outputs, watched_run
from pddl_eval.definition.options import ScoringOptions
from pddl_eval.errors import RunError, UserError
from pddl_eval.settings import RunOptions

if TYPE_CHECKING:
    from pddl_eval.datasets import Location
    from pddl_eval.report import Comparison

INCOMPLETE, REGRESSION = 3, 4
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
def nightly(
    inputs: tuple[str, ...],
    nights: str,
    key: list[str] | None,
    on_regression: str | None,
    baseline: str | None,
    date: datetime | None,
    keep: int | None,
    force: bool,
    **settings: Any,
) -> None:
    """Score what changed since last night, and say what got worse.

    \b
    pddl-eval nightly /srv/pairs /var/lib/pddl-eval --workers 4
    pddl-eval nightly s3://bucket/pairs s3://bucket/nights --on-regression https://chat.example.org/hook
    pddl-eval nightly pairs nights --key pair_id,model --on-regression ./tell-me.sh --keep 30
    pddl-eval nightly /srv/pairs /var/lib/pddl-eval --baseline 2026-03-02

    NIGHTS/2026-03-01/ gets scored/ and report.html, and NIGHTS/nights.html shows how the last 30 nights went, what got
    worse and since when. A night is compared with the last one, and with those that the last one was worse than: a
    regression is told again each night until it is mended or accepted (--baseline). The last night that can be read
    counts; one that a later night is worse than must not be gone, or --baseline says what counts.

    If a night is interrupted, the same command continues where it stopped; a complete night gives the same result
    again, so a scheduler may retry. If the input has changed since, it is another night: YYYY-MM-DD.02. One job at a
    time writes into NIGHTS; a second one says who does.
    """
    from pddl_eval.commands.nights import (
        ALL_NIGHTS,
        NIGHT,
        REPORT,
        SCORED,
        delete_before,
        get_compared,
        put_all_nights,
        put_compared,
        require_alarm,
        score_night,
        unreadable,
    )
    from pddl_eval.datasets import locate
    from pddl_eval.report import build_report, compare_datasets
    from pddl_eval.run import RunIncomplete, claimed

    if on_regression is not None:
        require_alarm(on_regression)
    require_outputs(inputs, nights, None, settings, force=force)
    require_writable(f"{nights}/{ALL_NIGHTS}", "html", force=force)
    folder, day = locate(nights), (date or datetime.now(UTC)).strftime("%Y-%m-%d")
    with claimed(folder):
        if baseline is not None:
            why = unreadable(folder / baseline) if NIGHT.fullmatch(baseline) else "nights are named by their dates"
            if why:
                raise UserError(f"{folder} has no complete night {baseline}: {why}")
        try:
            with watched_run() as watch:
                night, before, summary = score_night(inputs, folder, day, settings, baseline, watch, say)
        except RunIncomplete as error:
            say(str(error))
            sys.exit(INCOMPLETE)
        print(summary)
        known = get_compared(night)
        told = known.told if known else ""
        put_compared(night, before.against, before.against, told)  # Until it is compared.
        write_report(build_report(str(night / SCORED)), "html", str(night / REPORT))
        if keep is not None:
            for deleted in delete_before(night, keep, before.against):
                say(f"Deleted the night {deleted}.")
        try:
            put_all_nights(night, key, say)
        except (UserError, RunError) as error:  # Of nights long ago: this one is compared all the same.
            say(f"{ALL_NIGHTS} is left as it was: {error}")
        found = {each: compare_datasets(str(each / SCORED), str(night / SCORED), on=key) for each in before.against}
        worse = {each: its for each, its in found.items() if its.regressions or its.too_few}
        put_compared(night, before.against, worse, told)
        if found:
            print_found(found[before.against[0]])
        if worse:
            told = _tell(found, night, on_regression, told)
            put_compared(night, before.against, worse, told)
            sys.exit(REGRESSION)


def _tell(found: dict[Location, Comparison], night: Location, on_regression: str | None, told: str) -> str:
    """Say that the night is worse, or cannot be compared, also to whoever ``on_regression`` names.

    ``told`` is the digest of what that was told before: the same is not told twice. Returns that of what it knows now.
    """
    from pddl_eval.commands.nights import alarm, digest_of, facts_of

    facts = facts_of(found, night)
    for each in facts["worse"]:
        named = ", ".join(f"{name} {each[name]}" for name in ("row", "model", "question") if each[name] is not None)
        verdicts = f"{each['old_verdict']} on {each['right_on']}, now {each['new_verdict']}"
        say(f"{named}: {verdicts}. {each['detail']}")
    for against, its in found.items():
        if its.too_few:
            say(its.too_few)
        if its.regressions:
            say(f"Answers that were right on {against.name} and are not right now: {its.regressions:,}.")
    worse = ", ".join(each.name for each, its in found.items() if its.regressions or its.too_few)
    note(f"The next night is compared with {worse} again, unless --baseline {night.name} accepts this one.")
    if on_regression is None or digest_of(facts) == told:
        return told
    try:
        alarm(on_regression, facts)
    except RunError as error:
        say(str(error))
        return told
    return digest_of(facts)
