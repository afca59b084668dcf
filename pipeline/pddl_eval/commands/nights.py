"""Nights: what changed since the last complete night is scored, compared, and shown on a page with the nights before.

NIGHTS/2026-03-01/ has ``scored/``, ``report.html`` and, once it is compared, ``rows/`` with a page for each answer that
got worse. The report is written after the scores: a night that has both is complete, and the next night starts from the
last one whose scores can be read. A night is compared with that one, and with each that it was found worse than: a
regression is told again each night until it is mended or accepted, and a new one is told although another is open. If
the input changes within a day, the next run of that day is a night of its own, NIGHTS/2026-03-01.02/.
"""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
from collections import deque
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from hashlib import blake2b
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from urllib.request import Request, urlopen

from pddl_eval.commands.command import note, say
from pddl_eval.commands.compare import write_page
from pddl_eval.commands.folder import Earlier, write_worse
from pddl_eval.commands.outputs import require_writable
from pddl_eval.commands.report import write_report
from pddl_eval.commands.score import require_outputs, watched_run
from pddl_eval.datasets import DatasetError, Input, Location, Unavailable, places
from pddl_eval.errors import RunError, UserError
from pddl_eval.report import (
    NAMES,
    Comparison,
    Report,
    build_report,
    compare_datasets,
    compare_series,
    comparison_page,
    open_scored,
    series_text,
)
from pddl_eval.reuse import rescore_dataset
from pddl_eval.run import OtherRun, RunIncomplete, Watcher, batches_of, claimed, open_scored_rows
from pddl_eval.scoring.scorer import score_dataset
from pddl_eval.scoring.summary import RunSummary
from pddl_eval.shown import line

REPORT, SCORED, ROWS = "report.html", "scored", "rows"

ALL_NIGHTS, MOST_NIGHTS = "nights.html", 30
"""The page over the last complete nights, and how many they are."""

COMPARED = "compared.json"
"""In a night: its ``Compared``."""

NIGHT = re.compile(r"(\d{4}-\d\d-\d\d)(?:\.(\d\d))?")
"""Names of nights: the date, and for later runs of that day a number from 02."""

MOST_A_DAY = 99

ALARM_SECONDS = 60
"""The longest that an alarm may take."""


INCOMPLETE, REGRESSION = 3, 4
"""Exit codes."""

MOST_NAMED, MOST_DETAIL = 20, 200
"""Answers that an alarm names, and characters of what it says of each."""

MOST_EXPLAINED, MOST_SECONDS = 100, 60.0
"""Answers that got worse that have a page, and how long these may take."""


@dataclass(frozen=True, slots=True)
class Compared:
    """Which nights a night was compared with, which of them it is ``worse_than``, and a digest of the alarm ``told``.

    Until it has been compared, it is taken for worse than all of them.
    """

    nights: Sequence[str] = ()
    worse_than: Sequence[str] = ()
    told: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class Before:
    """What a night follows: the last one whose scores can be read, and those that it is compared with, oldest first."""

    last: Location | None = None
    against: Sequence[Location] = ()


def one_night(
    inputs: Sequence[str],
    nights: str,
    date: str,
    *,
    key: Sequence[str] | None,
    on_regression: str | None,
    baseline: str | None,
    keep: int | None,
    force: bool,
    **settings: Any,
) -> int:
    """Score the night of a date, compare it with those that count, and tell what got worse; returns the exit code."""
    if on_regression is not None:
        require_alarm(on_regression)
    require_outputs(inputs, nights, None, settings, force=force)
    require_writable(f"{nights}/{ALL_NIGHTS}", "html", force=force)
    folder = places.locate(nights)
    with claimed(folder):
        if baseline is not None:
            why = unreadable(folder / baseline) if NIGHT.fullmatch(baseline) else "nights are named by their dates"
            if why:
                raise UserError(f"{folder} has no complete night {baseline}: {why}")
        try:
            with watched_run() as watch:
                night, before, summary = score_night(inputs, folder, date, settings, baseline, watch)
        except RunIncomplete as error:
            say(str(error))
            return INCOMPLETE
        print(summary)
        known = get_compared(night)
        told = known.told if known else ""
        put_compared(night, before.against, before.against, told)  # Until it is compared.
        report = build_report(str(night / SCORED))
        write_report(report, "html", str(night / REPORT))
        if keep is not None:
            for deleted in delete_before(night, keep, before.against):
                say(f"Deleted the night {deleted}.")
        found = _compared(night, before, report, key)
        worse = {each: its for each, its in found.items() if its.regressions or its.too_few}
        put_compared(night, before.against, worse, told)
        if found:
            write_page(comparison_page(found[before.against[0]], brief=True))
        if worse:
            told = _tell(found, night, on_regression, told)
            put_compared(night, before.against, worse, told)
        return REGRESSION if worse else 0


def _compared(night: Location, before: Before, report: Report, on: Sequence[str] | None) -> dict[Location, Comparison]:
    """The comparisons with the nights that count; writes the pages of what got worse, and the page of all nights."""
    found = {each: compare_datasets(str(each / SCORED), str(night / SCORED), on=on) for each in before.against}
    if worse := got_worse(found, MOST_EXPLAINED):
        links = {"Report of the night": f"../{REPORT}", "All nights": f"../../{ALL_NIGHTS}"}
        write_worse(report, str(night / ROWS), worse, links, MOST_SECONDS)
    try:
        put_all_nights(night, on)
    except (UserError, RunError) as error:  # Of nights long ago: this one is compared all the same.
        say(f"{ALL_NIGHTS} is left as it was: {error}")
    return found


def _tell(found: dict[Location, Comparison], night: Location, on_regression: str | None, told: str) -> str:
    """Say that the night is worse, or cannot be compared, also to whoever ``on_regression`` names.

    ``told`` is the digest of what that was told before: the same is not told twice. Returns that of what it knows now.
    """
    facts = facts_of(found, night)
    for each in facts["worse"]:
        named = ", ".join(f"{name} {each[name]}" for name in ("row", *NAMES) if each[name] is not None)
        verdicts = f"{each['old_verdict']} on {each['right_on']}, now {each['new_verdict']}"
        say(f"{named}: {verdicts}. {each['detail']}")
    for against, its in found.items():
        if its.too_few:
            say(its.too_few)
        if its.regressions:
            say(f"Answers that were right on {against.name} and are not right now: {its.regressions:,}.")
    worse = ", ".join(each.name for each, its in found.items() if its.regressions or its.too_few)
    note(f"{night.parent / ALL_NIGHTS} lists all of them, with a page each.")
    note(f"The next night is compared with {worse} again, unless --baseline {night.name} accepts this one.")
    known = blake2b(json.dumps(facts, sort_keys=True).encode(), digest_size=16).hexdigest()
    if on_regression is None or known == told:
        return told
    try:
        alarm(on_regression, facts)
    except RunError as error:
        say(str(error))
        return told
    return known


def score_night(
    inputs: Input,
    nights: Location,
    date: str,
    settings: dict[str, Any],
    baseline: str | None = None,
    watch: Watcher | None = None,
) -> tuple[Location, Before, RunSummary]:
    """Score the night, or what is missing of it: the last one of that date, or the next if the input has changed.

    Raises ``UserError`` as ``nights_before``.
    """
    night = nights / max((name for name in _nights(nights) if name.startswith(date)), default=date)
    while True:
        scored, before = str(night / SCORED), nights_before(night, baseline)
        try:
            if before.last is None:
                return night, before, score_dataset(inputs, scored, watch=watch, **settings)
            last = str(before.last / SCORED)
            return night, before, rescore_dataset(last, inputs, scored, watch=watch, warn=say, **settings)
        except OtherRun:
            number = int(night.name.partition(".")[2] or 1) + 1
            if number > MOST_A_DAY:
                raise
            say(f"{night.name} is of another input or other settings: this is {date}.{number:02}.")
            night = nights / f"{date}.{number:02}"


def nights_before(night: Location, baseline: str | None) -> Before:
    """What that night follows; ``baseline`` is the one that the user names.

    Nights that are passed over because they are damaged are named. Raises ``UserError`` where a night that counts is
    gone: whether an answer got worse since can no longer be known.
    """
    last = _last_readable(night)
    if baseline is not None:
        chosen = night.parent / baseline
        return Before(last, [chosen] if last is None or last.name <= baseline else [chosen, last])
    if last is None and any(_complete_before(night)):
        raise UserError(f"no night in {night.parent} can be read: move them away to begin anew")
    against = sorted({*_open_regressions(night), *([last.name] if last else ())})
    for name in against:
        if last and name != last.name and (why := unreadable(night.parent / name)):
            raise UserError(
                f"a later night is worse than {name}, so that one counts, and it is gone: {why.rstrip('.')}. Say which "
                f"night counts now: --baseline {last.name} accepts the answers of the last one"
            )
    return Before(last, [night.parent / name for name in against])


def _complete_before(night: Location) -> Iterator[Location]:
    """The nights before that one that have a report, the last one first."""
    for name in reversed(_nights(night.parent)):
        if name < night.name and places.has_file(night.parent / name / REPORT):
            yield night.parent / name


def _last_readable(night: Location) -> Location | None:
    for each in _complete_before(night):
        why = unreadable(each)
        if why is None:
            return each
        say(f"The night {each.name} is passed over: {why}")
    return None


def _open_regressions(night: Location) -> Sequence[str]:
    """The nights that the last one was found worse than; where that is damaged, what is known of those before it.

    One of which that is not known is taken for worse than the one before it that can be read.
    """
    found, is_open = list[str](), False
    for each in _complete_before(night):
        if is_open and unreadable(each) is None:
            found.append(each.name)
            is_open = False
        compared = get_compared(each)
        if compared is None and (places.has_file(each / COMPARED) or any(_complete_before(each))):
            say(f"{each / COMPARED} cannot be read: the nights before {each.name} count.")
            is_open = True
        elif not is_open:  # Nothing was written about the first of all, once.
            return [*found, *(compared.worse_than if compared else ())]
    return found


def unreadable(night: Location) -> str | None:
    """Why a complete night's scores cannot be used, in a sentence; None if they can. Every page of them is read."""
    try:
        if not is_complete(night):
            return f"{night} has no report, or no scores."
        place = str(night / SCORED)
        for file in open_scored_rows(place)[0].files:
            deque(batches_of(file.version.location), maxlen=0)
        return open_scored(place).unfinished
    except Unavailable:
        raise
    except (UserError, RunError) as error:
        return str(error)


def get_compared(night: Location) -> Compared | None:
    """What was written about a night, None if nothing was or it is damaged."""
    try:
        told = json.loads(places.read_bytes(night / COMPARED))
        if "baseline" in told:  # As earlier versions wrote it.
            told = {"nights": [told["baseline"]], "worse_than": [told["baseline"]] * bool(told["worse"])}
        found = Compared(**told)
        names = [NIGHT.fullmatch(name) for name in (*found.nights, *found.worse_than)]
        return found if all(names) and isinstance(found.told, str) else None
    except Unavailable:
        raise
    except (DatasetError, ValueError, TypeError, KeyError):
        return None


def put_compared(night: Location, against: Sequence[Location], worse_than: Iterable[Location], told: str = "") -> None:
    """Write with which nights a night was compared, and which of them it is worse than."""
    known = Compared([each.name for each in against], [each.name for each in worse_than], told)
    places.put_bytes(night / COMPARED, json.dumps(asdict(known)).encode())


def put_all_nights(night: Location, on: Sequence[str] | None) -> None:
    """Write the page over the last complete nights up to that one: how rates move, what changed, and since when.

    Nights that cannot be read are left out and named.
    """
    names = [name for name in _nights(night.parent) if name <= night.name and is_complete(night.parent / name)]
    names = names[-MOST_NIGHTS:]
    try:
        found = compare_series([str(night.parent / name / SCORED) for name in names], on=on)
    except (UserError, RunError):
        reasons = {name: unreadable(night.parent / name) for name in names}
        for name, why in reasons.items():
            if why:
                say(f"{ALL_NIGHTS} is without {name}: {why}")
        if not any(reasons.values()):
            raise
        found = compare_series([str(night.parent / name / SCORED) for name in names if not reasons[name]], on=on)
    folder = night.parent
    reports = {name: f"{name}/{REPORT}" for name in found.names if places.has_file(folder / name / REPORT)}
    pages = {
        (name, row): f"{name}/{ROWS}/{row}.html"
        for name in {*found.worse["since"]}
        for row in range_of(places.list_files(folder / name / ROWS))
    }
    text = series_text(found, "html", reports=reports, pages=pages)
    places.put_bytes(folder / ALL_NIGHTS, text.encode())


def range_of(files: Iterable[str]) -> list[int]:
    """The numbers of the rows that have a page."""
    return [int(name.removesuffix(".html")) for name in files if re.fullmatch(r"\d+\.html", name)]


def got_worse(found: Mapping[Location, Comparison], most: int) -> dict[int, Earlier]:
    """The first rows that got worse, what is new first, with the latest night on which they were right."""
    worse: dict[int, Earlier] = {}
    for other, comparison in reversed([*found.items()]):
        for each in comparison.moved.filter("worse").head(most).iter_rows(named=True):
            was = Earlier(other.name, str(other / SCORED), each["old_row"], each["old_verdict"])
            worse.setdefault(each["row"], was)
    return dict([*worse.items()][:most])


def facts_of(found: dict[Location, Comparison], night: Location) -> dict[str, Any]:
    """What an alarm says: ``previous`` and its counts are those of the baseline, regressions those since any night."""
    (against, first), *_ = found.items()
    names = {"night": night.name, "previous": against.name, "report": str(night / REPORT)}
    worse, last = got_worse(found, MOST_NAMED), [*found][-1]
    known = first.named([*worse])
    verdicts = {row: verdict for its in found.values() for row, verdict in its.moved["row", "new_verdict"].iter_rows()}
    return {
        **names,
        "compared": [each.name for each in found],
        "rows": first.both,
        "regressions": len({row for each in found.values() for row in each.regressed}),
        "new_regressions": found[last].regressions,
        "improvements": first.improvements,
        "gone": first.gone,
        "added": first.added,
        "too_few": next((each.too_few for each in found.values() if each.too_few), None),
        "worse": [
            {
                **{**known[row], "detail": line(known[row]["detail"] or "", MOST_DETAIL)},
                **{"right_on": was.name, "old_verdict": was.verdict, "new_verdict": verdicts[row]},
                "page": str(night / ROWS / f"{row}.html"),
            }
            for row, was in worse.items()
        ],
    }


def _nights(folder: Location) -> list[str]:
    """The names of the nights in a folder, complete or not, in order."""
    return [name for name in places.list_folders(folder) if NIGHT.fullmatch(name)]


def is_complete(night: Location) -> bool:
    """Whether a night has its report, and its scores still."""
    return places.has_file(night / REPORT) and SCORED in places.list_folders(night)


def delete_before(night: Location, keep: int, against: Collection[Location]) -> Iterator[str]:
    """Delete the nights before the last ``keep`` complete ones up to that night, except those it is compared with.

    Yields their names.
    """
    kept = 0
    for name in reversed(_nights(night.parent)):
        each = night.parent / name
        if name > night.name:
            continue
        if kept < keep:
            kept += is_complete(each)
        elif each not in against and not (each.is_local and Path(each.path).is_symlink()):
            places.remove_file(each / REPORT)  # First, so that what is half deleted is not complete.
            places.remove_folder(each)
            yield name


def require_alarm(command_or_url: str) -> None:
    """Raise ``UserError`` for a command that does not exist or needs a shell, and for a URL without a host."""
    try:
        words, as_written = shlex.split(command_or_url), shlex.split(command_or_url, posix=False)
        url = urlsplit(command_or_url)
    except ValueError as error:
        raise UserError(f"--on-regression cannot be read: {error}") from None
    if url.scheme in ("http", "https"):
        if not url.hostname:
            raise UserError("--on-regression is a URL without a host")
        return
    if operators := [word for word in as_written if word[0] in "<>|&;"]:  # Quoted words keep their quotes.
        quoted = shlex.quote(command_or_url)
        raise UserError(f"--on-regression has no shell, and {operators[0]} needs one: write sh -c {quoted}")
    if not words or shutil.which(words[0]) is None:
        name = words[0] if words else command_or_url
        raise UserError(f"--on-regression {shlex.quote(name)} is no command that can be executed, and no URL")


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
