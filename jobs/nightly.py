"""One night: score what changed since the last complete night, write its report, then fail if an answer got worse.

    python jobs/nightly.py INPUT NIGHTS

NIGHTS is a folder or an s3:// URI. NIGHTS/2026-03-01/ gets scored/ and report.html. The report is written last: a night
that has one is complete, and the next night starts from its scores. It is compared with the same night if that one was
no worse than its own baseline, else with that baseline: a regression is told again each night until it is mended or
accepted (``--baseline``). If the input changes within a day, the next run of that day is a night of its own,
NIGHTS/2026-03-01.02/. Nothing is deleted without ``--keep``.
"""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from urllib.request import Request, urlopen

import click
from pddl_eval.commands.command import Command, note, say
from pddl_eval.commands.compare import print_found
from pddl_eval.commands.flags import argument, flags, inputs, key
from pddl_eval.commands.report import write_report
from pddl_eval.commands.score import watched_run
from pddl_eval.datasets import (
    Location,
    has_file,
    list_folders,
    locate,
    put_bytes,
    read_bytes,
    remove_file,
    remove_folder,
)
from pddl_eval.definition.options import ScoringOptions
from pddl_eval.errors import RunError, UserError, require_extra
from pddl_eval.report import Comparison, build_report, compare_datasets
from pddl_eval.reuse import rescore_dataset
from pddl_eval.run import OtherRun, RunIncomplete, claimed
from pddl_eval.scoring.scorer import score_dataset
from pddl_eval.scoring.summary import RunSummary
from pddl_eval.settings import RunOptions

REPORT, SCORED = "report.html", "scored"

COMPARED = "compared.json"
"""In a night: with which one it was compared, and whether it was worse or could not be compared."""

NIGHT = re.compile(r"(\d{4}-\d\d-\d\d)(?:\.(\d\d))?")
"""Names of nights: the date, and for later runs of that day a number from 02."""

MOST_A_DAY = 99

INCOMPLETE, REGRESSION = 3, 4
EXIT_CODES = (
    "Exit codes: 0 done, 1 failed, 2 wrong command or input, or another one runs, 3 some rows could not be scored, "
    "4 an answer got worse or too few rows can be compared, 75 try again later, 130 Ctrl-C, 143 terminated."
)

ALARM_SECONDS = 60
"""The longest that an alarm may take."""


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
    """Score what changed since the last complete night, write the report, fail if an answer got worse.

    \b
    python jobs/nightly.py /srv/pairs /var/lib/pddl-eval --workers 4
    python jobs/nightly.py s3://bucket/pairs s3://bucket/nights --on-regression https://chat.example.org/hook
    python jobs/nightly.py pairs nights --key pair_id,model --on-regression 'mail -s worse me@example.org' --keep 30
    python jobs/nightly.py /srv/pairs /var/lib/pddl-eval --baseline 2026-03-02

    If a night is interrupted, the same command continues where it stopped; a complete night gives the same result
    again, so a scheduler may retry. If the input has changed since, it is another night: YYYY-MM-DD.02. One job at a
    time writes into NIGHTS; a second one says who does.
    """
    require_extra("figures", "The report of a night")
    if on_regression:
        _require_no_shell(on_regression)
    folder = locate(nights)
    with claimed(folder):
        if baseline is not None and not (NIGHT.fullmatch(baseline) and _is_complete(folder / baseline)):
            raise UserError(f"{folder} has no complete night {baseline}")
        try:
            night, summary = _score(inputs, folder, (date or datetime.now(UTC)).strftime("%Y-%m-%d"), settings)
        except RunIncomplete as error:
            say(str(error))
            sys.exit(INCOMPLETE)
        print(summary)
        against = folder / baseline if baseline else _baseline(night)
        if against is not None:  # A night that ends before it is compared is no baseline.
            _put_compared(night, against, worse=True)
        write_report(build_report(str(night / SCORED)), "html", str(night / REPORT))
        if keep is not None:
            _delete_before(night, keep, against)
        if against is None:
            return
        found = compare_datasets(str(against / SCORED), str(night / SCORED), on=key)
        worse = bool(found.regressions or found.too_few)
        _put_compared(night, against, worse=worse)
    print_found(found)
    if worse:
        _tell(found, night, against, on_regression)
        sys.exit(REGRESSION)


def _put_compared(night: Location, against: Location, *, worse: bool) -> None:
    put_bytes(night / COMPARED, json.dumps({"baseline": against.name, "worse": worse}).encode())


def _tell(found: Comparison, night: Location, against: Location, on_regression: str | None) -> None:
    """Say that the night is worse, or cannot be compared, also to whoever ``on_regression`` names."""
    if found.too_few:
        say(found.too_few)
    if found.regressions:
        say(f"Answers that were right on {against.name} and are not right now: {found.regressions:,}.")
    note(f"The next night is compared with {against.name} again, unless --baseline {night.name} accepts this one.")
    if on_regression:
        counts = {"rows": found.both, "regressions": found.regressions, "improvements": found.improvements}
        names = {"night": night.name, "previous": against.name, "report": str(night / REPORT)}
        try:
            _alarm(on_regression, names | counts | {"gone": found.gone, "added": found.added})
        except RunError as error:
            say(str(error))


def _score(
    inputs: tuple[str, ...], nights: Location, date: str, settings: dict[str, Any]
) -> tuple[Location, RunSummary]:
    """Score the night, or what is missing of it: the last one of that date, or the next if the input has changed."""
    night = nights / max((name for name in _nights(nights) if name.startswith(date)), default=date)
    with watched_run() as watch:
        while True:
            scored, previous = str(night / SCORED), _previous(night)
            try:
                if previous is None:
                    return night, score_dataset(inputs, scored, watch=watch, **settings)
                before = str(previous / SCORED)
                return night, rescore_dataset(before, inputs, scored, watch=watch, warn=note, **settings)
            except OtherRun:
                number = int(night.name.partition(".")[2] or 1) + 1
                if number > MOST_A_DAY:
                    raise
                note(f"{night.name} is of another input or other settings: this is {date}.{number:02}.")
                night = nights / f"{date}.{number:02}"


def _nights(folder: Location) -> list[str]:
    """The names of the nights in a folder, complete or not, in order."""
    return [name for name in list_folders(folder) if NIGHT.fullmatch(name)]


def _is_complete(night: Location) -> bool:
    return has_file(night / REPORT)


def _previous(night: Location) -> Location | None:
    """The last complete night before that one."""
    earlier = (night.parent / name for name in reversed(_nights(night.parent)) if name < night.name)
    return next(filter(_is_complete, earlier), None)


def _baseline(night: Location) -> Location | None:
    """What a night is compared with: the last complete one, or what that one was found worse than."""
    previous = _previous(night)
    if previous is None or not has_file(previous / COMPARED):
        return previous
    try:
        told = json.loads(read_bytes(previous / COMPARED))
        baseline = night.parent / told["baseline"] if told["worse"] else previous
    except (ValueError, TypeError, KeyError):
        return previous
    return baseline if _is_complete(baseline) else previous


def _delete_before(night: Location, keep: int, baseline: Location | None) -> None:
    """Delete the nights before the last ``keep`` complete ones up to that night, except the one it is compared with."""
    kept = 0
    for name in reversed(_nights(night.parent)):
        each = night.parent / name
        if name > night.name:
            continue
        if kept < keep:
            kept += _is_complete(each)
        elif each != baseline and not (each.is_local and Path(each.path).is_symlink()):
            remove_file(each / REPORT)  # First, so that what is half deleted is not complete.
            remove_folder(each)
            say(f"Deleted the night {name}.")


def _require_no_shell(command_or_url: str) -> None:
    """Raise ``UserError`` for a command with an operator of a shell, which would be an argument without a word."""
    words: list[str] = []
    with suppress(ValueError):  # Unbalanced quotes: running it says so.
        words = shlex.split(command_or_url, posix=False)  # Quoted words keep their quotes.
    if operators := [word for word in words if word[0] in "<>|&;"]:
        quoted = shlex.quote(command_or_url)
        raise UserError(f"--on-regression has no shell, and {operators[0]} needs one: write sh -c {quoted}")


def _alarm(command_or_url: str, facts: dict[str, Any]) -> None:
    """Run a command with the facts on stdin, without a shell, or POST them to a URL."""
    content = json.dumps(facts).encode()
    url = urlsplit(command_or_url)
    try:
        if url.scheme in ("http", "https"):
            request = Request(command_or_url, content, {"Content-Type": "application/json"}, method="POST")
            urlopen(request, timeout=ALARM_SECONDS).close()
        else:
            subprocess.run(shlex.split(command_or_url), input=content, timeout=ALARM_SECONDS, check=True)
    except (OSError, ValueError, subprocess.SubprocessError) as error:
        # Not the whole URL: those of web hooks are secrets.
        raise RunError(f"The alarm {url.hostname or command_or_url} failed: {error}") from None


if __name__ == "__main__":
    nightly()
