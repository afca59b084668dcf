"""One night: score what changed since the last complete night, write its report, then fail if an answer got worse.

    python jobs/nightly.py INPUT NIGHTS

NIGHTS/2026-03-01/ gets scored/ and report.html. The report is written last: a night that has one is complete, and the
next night compares itself with it. Nothing is ever deleted.
"""

from __future__ import annotations

import json
import shlex
import subprocess
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import urlsplit
from urllib.request import Request, urlopen

import typer
from pddl_eval.commands.command import FAILED, Inputs, command, run_alone, say
from pddl_eval.commands.compare import On, print_found
from pddl_eval.commands.report import write_report
from pddl_eval.commands.score import watched_run
from pddl_eval.errors import RunError
from pddl_eval.options import RunOptions, ScoringOptions
from pddl_eval.report import build_report, compare_datasets
from pddl_eval.reuse import rescore_dataset
from pddl_eval.run import score_dataset

REPORT, SCORED = "report.html", "scored"

ALARM_SECONDS = 60
"""The longest that an alarm may take."""


@command
def nightly(
    inputs: Inputs,
    nights: Annotated[Path, typer.Argument(metavar="NIGHTS", help="Local folder with one folder for each night.")],
    options: ScoringOptions,
    run: RunOptions,
    on: On = None,
    on_regression: Annotated[
        str | None,
        typer.Option(metavar="COMMAND|URL", help="Gets the numbers as JSON if an answer got worse: on stdin, by POST."),
    ] = None,
    date: Annotated[
        datetime | None,
        typer.Option(formats=["%Y-%m-%d"], metavar="YYYY-MM-DD", help="The night. Default: today in UTC."),
    ] = None,
) -> None:
    """Score what changed since the last complete night, write the report, fail if an answer got worse.

    \b
    python jobs/nightly.py /srv/pairs /var/lib/pddl-eval --workers 4
    python jobs/nightly.py s3://bucket/pairs nights --on-regression https://chat.example.org/hook
    python jobs/nightly.py pairs nights --on pair_id,model --on-regression 'mail -s regression me@example.org'

    If a night is interrupted, the same command continues where it stopped; a complete night gives the same result
    again, so a scheduler may retry.
    """
    night = nights / (date or datetime.now(UTC)).strftime("%Y-%m-%d")
    complete = [report.parent for report in nights.glob(f"????-??-??/{REPORT}") if report.parent.name < night.name]
    previous = max(complete, default=None)
    scored = str(night / SCORED)
    with watched_run() as watch:
        if previous is None:
            summary = score_dataset(inputs, scored, watch=watch, **asdict(options), **asdict(run))
        else:
            before = str(previous / SCORED)
            summary = rescore_dataset(before, inputs, scored, watch=watch, warn=say, **asdict(options), **asdict(run))
    print(summary)
    write_report(build_report(scored), "html", str(night / REPORT))
    if previous is None:
        return
    found = compare_datasets(str(previous / SCORED), scored, on=on)
    print_found(found)
    if found.regressions:
        say(f"Answers that were right on {previous.name} and are not right now: {found.regressions:,}.")
        if on_regression:
            counts = {"rows": found.both, "regressions": found.regressions, "improvements": found.improvements}
            names = {"night": night.name, "previous": previous.name, "report": str(night / REPORT)}
            _alarm(on_regression, names | counts)
        raise typer.Exit(FAILED)


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
    run_alone(nightly)
