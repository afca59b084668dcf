"""A lock file per output folder, or per part of a run in it. A killed writer loses its lock.

Each holder has a file of its own name, so that no store has to refuse the second of two files. A process looks for
other holders, writes its file and looks again: of two that start at the same instant, the one whose second look is
later sees the other's file, on every store that lists what was written before (local and network filesystems, S3,
Google Cloud Storage, Azure). If both see each other, both withdraw and try again after pauses of random lengths.

A holder on this machine is looked up in ``/proc``, so a killed one is known at once. A holder elsewhere rewrites its
file every few seconds; one that stops doing so is gone. Clocks of two machines are never compared.

A claim has a number, larger than those of all claims that it takes over from or whose partitions it finds. It stands in
the partitions that are written under it: of two that overlap, the one of the newer claim counts.
"""

from __future__ import annotations

import json
import os
import platform
import random
import re
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from functools import cache, partial
from pathlib import Path
from threading import Event, Thread
from uuid import uuid4

from pddl_eval.datasets import DatasetError, Location, OutputError, Unavailable, in_threads, places
from pddl_eval.shown import printable

LOCKS = re.compile(r"_running-[\w-]+\.json")
"""Names of lock files. Parquet readers ignore names with a leading underscore."""

SECONDS = "%Y-%m-%d %H:%M:%S UTC"

ATTEMPTS = 6
"""Attempts to get a lock that others want at the same instant."""

PAUSE_SECONDS = 2.0
"""Longest pause before the next attempt."""

BEAT_SECONDS = 5.0
"""Interval at which a holder rewrites its file."""

BEAT_SECONDS_OF_PART, MOST_BEAT_SECONDS = 0.03, 60.0
"""Of many parts each does so less often, that many seconds for each of them, so that all together need about a hundred
requests a second."""

GONE_SECONDS = 45.0
"""A holder on another machine whose file does not change for that long is gone. Outages of stores are shorter."""

GONE_BEATS = 3
"""Nor is one gone that was silent for fewer of its intervals."""

ENDING_SECONDS = 120.0
"""How long a part waits for a process elsewhere that has the same part: schedulers replace one that is still ending."""


@dataclass(frozen=True, slots=True)
class Holder:
    """Who writes: ``machine`` and ``process`` tell it from all others, also in containers; ``beats`` counts rewrites.

    ``machine`` is empty where the system does not say it. Two holders exclude each other unless they have different
    parts of the same ``run``, a word that says also into how many parts it is cut. ``interval`` is that of the beats.
    ``doing`` is what its workers were on at the last one. ``number`` is that of its claim.
    """

    host: str
    pid: int
    since: str
    machine: str
    process: str
    token: str
    part: str
    run: str
    beats: int = 0
    interval: float = BEAT_SECONDS
    doing: Sequence[Mapping[str, str]] = ()
    number: int = 1

    def __str__(self) -> str:
        return f"process {self.pid} on {self.host}, since {self.since}"

    @property
    def name(self) -> str:
        return f"_running-{self.token}{self.run and '-'}{self.run}{self.part}.json"

    @property
    def gone_seconds(self) -> float:
        """It is gone if its file does not change for that long."""
        return max(GONE_SECONDS, GONE_BEATS * self.interval)

    def excludes(self, name: str) -> bool:
        """Whether the holder of that lock, if it is another one, may not write at the same time: by its name alone."""
        another_part = self.run and f"-{self.run}-" in name and not name.endswith(f"-{self.run}{self.part}.json")
        return name != self.name and not another_part


@dataclass(frozen=True, slots=True)
class Claim:
    """Proof for a process's workers, also on other machines, that the process holds a lock."""

    place: Location
    number: int = 1

    def check(self) -> None:
        """Raise ``OutputError`` if the lock file is gone, so that workers of a run that was replaced write nothing."""
        try:
            if _read(self.place):  # Not places.has_file, which network filesystems may answer from memory.
                return
            there = holders(self.place.parent)
        except DatasetError:
            return  # The store does not answer. It is asked again after the upload, and before the summary is written.
        if self.place.name in there:
            return  # The store did not answer for a moment.
        other = next(iter(there.values()), None)
        why = f"another run has taken over: {other}" if other else "its lock file was deleted"
        raise OutputError(f"This run may no longer write into {self.place.parent}: {why}.")

    def may_write(self, name: str) -> Location:
        """Where a file of that name is written in the folder; raises as ``check``."""
        self.check()
        return self.place.parent / name


@contextmanager
def claimed(  # noqa: PLR0913 (what a holder says of itself)
    folder: Location,
    part: str = "",
    run: str = "",
    parts: int = 1,
    doing: Callable[[], Sequence[Mapping[str, str]]] = tuple,
    after: int = 0,
) -> Iterator[Claim]:
    """Hold a folder's lock while the block runs. Holders of different parts of the same ``run`` may be there as well.

    It takes up to ``GONE_SECONDS`` to find out whether a holder on another machine is still there, longer if there are
    hundreds of ``parts``; a line on stderr says so. A holder elsewhere of the same part has ``ENDING_SECONDS`` more to
    end. ``doing`` is asked at each sign of life. The claim's number is larger than ``after``.

    Raises ``DatasetError`` if another run, also one in this process, writes into the folder (``Unavailable`` for the
    same part), and ``OutputError`` if the folder cannot be written to.
    """
    now, pid = datetime.now(UTC).strftime(SECONDS), os.getpid()
    interval = max(BEAT_SECONDS, min(BEAT_SECONDS_OF_PART * parts, MOST_BEAT_SECONDS))
    mine = Holder(platform.node(), pid, now, _machine(), _process(pid), uuid4().hex, part, run, interval=interval)
    mine = _get(folder, replace(mine, number=after + 1))
    ended = Event()
    heart = Thread(target=_beat, args=(folder, mine, ended, doing), daemon=True)
    heart.start()
    try:
        yield Claim(folder / mine.name, mine.number)
    finally:
        ended.set()
        heart.join(BEAT_SECONDS)
        if heart.is_alive():  # Its store is slow. If this is too early, the thread removes the file again.
            _release(folder, mine)


def _get(folder: Location, mine: Holder) -> Holder:
    """The holder with the number of its claim, once its lock is there."""
    for attempt in range(ATTEMPTS):
        time.sleep(random.uniform(0, PAUSE_SECONDS) if attempt else 0)
        others = _in_the_way(folder, mine)
        # Watched at once: what a cluster that was killed left is gone after the time of a few.
        for other, lives in zip(others, list(in_threads(partial(_blocks, mine, folder), others)), strict=True):
            if lives:
                kind = Unavailable if _same_part(mine, other) else DatasetError
                raise kind(f"Another run writes into {folder}: {other}. Wait until it has ended, or stop it.")
            _remove(folder, other)
            mine = replace(mine, number=max(mine.number, other.number + 1))
        try:
            places.put_bytes(folder / mine.name, _content(mine))
            # The second look finds all files that were written while this one was not there yet.
            others = _in_the_way(folder, mine)
        except BaseException:  # Also an interrupt: in a notebook, this process goes on, and so would its lock.
            _release(folder, mine)
            raise
        if not others:
            return mine
        _remove(folder, mine)
    raise Unavailable(f"Another run wants to write into {folder}: {others[0]}. Start this one again.")


def _blocks(mine: Holder, folder: Location, other: Holder) -> bool:
    """Whether another holder is still there; one of the same part has time to end."""
    return _is_alive(other, folder, ENDING_SECONDS if _same_part(mine, other) else 0.0)


def _same_part(mine: Holder, other: Holder) -> bool:
    """Whether a scheduler may have started this process in place of the other one."""
    return mine.run != "" and (other.run, other.part) == (mine.run, mine.part)


def holders(folder: Location) -> dict[str, Holder]:
    """The holders of a folder's locks, dead or alive, by the names of their files."""
    return _holders(folder, filter(LOCKS.fullmatch, places.list_files(folder)))


def dead_locks(folder: Location, part: str = "") -> list[str]:
    """Locks (of that part) whose holders seem to be killed, by the clocks of this machine and of the store.

    Also files that are named like locks and mean nothing.
    """
    times = {
        name: written
        for name, written in places.times_written(folder).items()
        if LOCKS.fullmatch(name) and name.endswith(f"{part}.json")
    }
    now, known = time.time(), _holders(folder, times)
    return [name for name in sorted(times) if name not in known or not is_alive_by_now(known[name], now - times[name])]


def _holders(folder: Location, names: Iterable[str]) -> dict[str, Holder]:
    return {name: holder for name in sorted(names) if (holder := _read(folder / name))}


def _in_the_way(folder: Location, mine: Holder) -> list[Holder]:
    locks = filter(LOCKS.fullmatch, places.list_files(folder))
    return list(_holders(folder, filter(mine.excludes, locks)).values())


def _beat(
    folder: Location, mine: Holder, ended: Event, doing: Callable[[], Sequence[Mapping[str, str]]] = tuple
) -> None:
    place, beats = folder / mine.name, 0
    while not ended.wait(mine.interval):
        beats += 1
        working: Sequence[Mapping[str, str]] = ()
        with suppress(Exception):  # A mistake in what is told must not end the signs of life.
            working = doing()
        with suppress(DatasetError, OutputError):  # The next one may get through.
            begun = time.time()
            if _read(place):  # If not, another process took this one for dead: the lock must not come back.
                places.put_bytes(place, _content(replace(mine, beats=beats, doing=working)))
                # If this process was stopped for long just before it wrote, another one may have the lock by now.
                if time.time() - begun > mine.gone_seconds / 2 and _in_the_way(folder, mine):
                    _remove(folder, mine)
    _release(folder, mine)  # Here, because this thread may have written the file late.


def _release(folder: Location, mine: Holder) -> None:
    with suppress(DatasetError, OutputError):
        _remove(folder, mine)


def _remove(folder: Location, holder: Holder) -> None:
    """Remove a lock file, and what its holder left if it was killed while it rewrote the file."""
    places.remove_file(folder / holder.name)
    places.remove_temporary_files(folder, holder.name)


def _content(holder: Holder) -> bytes:
    return json.dumps(asdict(holder), indent=1).encode()


def _read(place: Location) -> Holder | None:
    """The holder; None where there is no lock file, or one that means nothing. Raises ``DatasetError``."""
    try:
        fields = json.loads(places.read_bytes(place))
        interval = min(float(fields.get("interval", BEAT_SECONDS)), MOST_BEAT_SECONDS)
        doing = [each for each in fields.get("doing", ()) if isinstance(each, dict)]
        numbers = {"pid": int(fields["pid"]), "number": int(fields.get("number", 1))}
        holder = Holder(**fields | numbers | {"interval": interval, "doing": doing})
        return holder if holder.name == place.name else None
    except DatasetError:  # Also a ValueError: this comes first.
        if places.has_file(place):
            raise
        return None  # Removed since the folder was listed.
    except (ValueError, TypeError, KeyError, AttributeError):
        return None


def is_alive_by_now(holder: Holder, seconds: float) -> bool:
    """Whether a holder is still there whose file was written that many seconds ago, without watching it."""
    here = _is_alive_here(holder)
    return seconds < holder.gone_seconds if here is None else here


def _is_alive_here(holder: Holder) -> bool | None:
    """None where the holder is on another machine, or the system does not say."""
    if holder.machine and holder.machine == _machine():
        return _process(holder.pid) == holder.process
    return None


def _is_alive(holder: Holder, folder: Location, ending: float) -> bool:
    """Whether a holder is still there; one elsewhere that gives signs of life is asked again for ``ending`` seconds."""
    here = _is_alive_here(holder)
    if here is not None:
        return here
    seconds = f"{holder.gone_seconds:.0f} seconds"
    print(
        f"pddl-eval: {printable(str(holder))}, may write into this folder: watching it for {seconds}", file=sys.stderr
    )
    began = last = time.monotonic()
    while time.monotonic() - last < holder.gone_seconds:
        time.sleep(min(BEAT_SECONDS / 2, GONE_SECONDS))
        now = _read(folder / holder.name)
        if now != holder:
            if now is None or time.monotonic() - began >= ending:
                return now is not None
            holder, last = now, time.monotonic()
    return False


@cache
def _machine() -> str:
    """This boot of this machine, and the container on it: where a process number means one process."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
        return f"{boot} {Path('/proc/self/ns/pid').readlink()}"
    except OSError:  # Not Linux.
        return ""


def _process(pid: int) -> str:
    """When the process started, in ticks of this boot; empty if there is none."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
    except OSError:
        return ""
    return "" if fields[0] in "ZX" else fields[19]
