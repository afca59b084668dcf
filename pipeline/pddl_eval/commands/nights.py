"""Nights: what changed since the last complete night is scored, compared, and shown on a page with the nights before.

NIGHTS/2026-03-01/ has ``scored/`` and ``report.html``. The report is written last: a night that has both is complete,
and the next night starts from its scores. A night is compared with the one before if that was no worse than its own
baseline, else with that baseline: a regression is told again each night until it is mended or accepted. If the input
changes within a day, the next run of that day is a night of its own, NIGHTS/2026-03-01.02/.
"""

from __future__ import annotations

import json
import re
import shlex
import subprocess
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from urllib.request import Request, urlopen

from pddl_eval.datasets import (
    Input,
    Location,
    has_file,
    list_folders,
    put_bytes,
    read_bytes,
    remove_file,
    remove_folder,
)
from pddl_eval.errors import RunError, UserError
from pddl_eval.report import Comparison, compare_series, page_text, series_page
from pddl_eval.reuse import rescore_dataset
from pddl_eval.run import OtherRun, Watcher
from pddl_eval.scoring.scorer import score_dataset
from pddl_eval.scoring.summary import RunSummary

REPORT, SCORED = "report.html", "scored"

ALL_NIGHTS, MOST_NIGHTS = "nights.html", 30
"""The page over the last complete nights, and how many they are."""

COMPARED = "compared.json"
"""In a night: with which one it was compared, and whether it was worse or could not be compared."""

NIGHT = re.compile(r"(\d{4}-\d\d-\d\d)(?:\.(\d\d))?")
"""Names of nights: the date, and for later runs of that day a number from 02."""

MOST_A_DAY = 99

ALARM_SECONDS = 60
"""The longest that an alarm may take."""


def score_night(
    inputs: Input,
    nights: Location,
    date: str,
    settings: dict[str, Any],
    watch: Watcher | None = None,
    warn: Callable[[str], None] = lambda _: None,
) -> tuple[Location, RunSummary]:
    """Score the night, or what is missing of it: the last one of that date, or the next if the input has changed."""
    night = nights / max((name for name in _nights(nights) if name.startswith(date)), default=date)
    while True:
        scored, previous = str(night / SCORED), _previous(night)
        try:
            if previous is None:
                return night, score_dataset(inputs, scored, watch=watch, **settings)
            before = str(previous / SCORED)
            return night, rescore_dataset(before, inputs, scored, watch=watch, warn=warn, **settings)
        except OtherRun:
            number = int(night.name.partition(".")[2] or 1) + 1
            if number > MOST_A_DAY:
                raise
            warn(f"{night.name} is of another input or other settings: this is {date}.{number:02}.")
            night = nights / f"{date}.{number:02}"


def put_compared(night: Location, against: Location, *, worse: bool) -> None:
    """Write with which night a night was compared, and whether it was worse."""
    put_bytes(night / COMPARED, json.dumps({"baseline": against.name, "worse": worse}).encode())


def put_all_nights(night: Location, on: Sequence[str] | None) -> None:
    """Write the page over the last complete nights up to that one: how rates move, what changed, and since when."""
    names = [name for name in _nights(night.parent) if name <= night.name and is_complete(night.parent / name)]
    places = [str(night.parent / name / SCORED) for name in names[-MOST_NIGHTS:]]
    put_bytes(night.parent / ALL_NIGHTS, page_text(series_page(compare_series(places, on=on)), "html").encode())


def facts_of(found: Comparison, night: Location, against: Location) -> dict[str, Any]:
    """What an alarm says of a comparison."""
    names = {"night": night.name, "previous": against.name, "report": str(night / REPORT)}
    counts = {"rows": found.both, "regressions": found.regressions, "improvements": found.improvements}
    return names | counts | {"gone": found.gone, "added": found.added}


def _nights(folder: Location) -> list[str]:
    """The names of the nights in a folder, complete or not, in order."""
    return [name for name in list_folders(folder) if NIGHT.fullmatch(name)]


def is_complete(night: Location) -> bool:
    """Whether a night has its report, and its scores still."""
    return has_file(night / REPORT) and SCORED in list_folders(night)


def _previous(night: Location) -> Location | None:
    """The last complete night before that one."""
    earlier = (night.parent / name for name in reversed(_nights(night.parent)) if name < night.name)
    return next(filter(is_complete, earlier), None)


def baseline_of(night: Location) -> Location | None:
    """What a night is compared with: the last complete one, or what that one was found worse than."""
    previous = _previous(night)
    if previous is None or not has_file(previous / COMPARED):
        return previous
    try:
        told = json.loads(read_bytes(previous / COMPARED))
        baseline = night.parent / told["baseline"] if told["worse"] else previous
    except (ValueError, TypeError, KeyError):
        return previous
    return baseline if is_complete(baseline) else previous


def delete_before(night: Location, keep: int, baseline: Location | None) -> Iterator[str]:
    """Delete the nights before the last ``keep`` complete ones up to that night, except the one it is compared with.

    Yields their names.
    """
    kept = 0
    for name in reversed(_nights(night.parent)):
        each = night.parent / name
        if name > night.name:
            continue
        if kept < keep:
            kept += is_complete(each)
        elif each != baseline and not (each.is_local and Path(each.path).is_symlink()):
            remove_file(each / REPORT)  # First, so that what is half deleted is not complete.
            remove_folder(each)
            yield name


def require_no_shell(command_or_url: str) -> None:
    """Raise ``UserError`` for a command with an operator of a shell, which would be an argument without a word."""
    words: list[str] = []
    with suppress(ValueError):  # Unbalanced quotes: running it says so.
        words = shlex.split(command_or_url, posix=False)  # Quoted words keep their quotes.
    if operators := [word for word in words if word[0] in "<>|&;"]:
        quoted = shlex.quote(command_or_url)
        raise UserError(f"--on-regression has no shell, and {operators[0]} needs one: write sh -c {quoted}")


def alarm(command_or_url: str, facts: dict[str, Any]) -> None:
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
