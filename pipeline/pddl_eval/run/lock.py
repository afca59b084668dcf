"""One writer for one folder, or for one part of it: a lock file that says who writes there, and that a writer which was
killed does not keep.

A holder on this machine is asked for in ``/proc``, so that a killed one blocks nothing. One elsewhere is watched: it
writes its lock again every few seconds, and one that does not is gone. No two clocks are compared. On an object store,
which cannot refuse the second of two files, two writers that start in the same instant can both seem to get the lock:
workers look whose it is before each partition appears, so that only one of them writes (``Claim``).
"""

from __future__ import annotations

import json
import os
import platform
import re
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from threading import Event, Thread
from typing import NoReturn
from uuid import uuid4

from pddl_eval.datasets import (
    DatasetError,
    Location,
    OutputError,
    has_file,
    list_files,
    put_bytes,
    put_new,
    read_bytes,
    remove_file,
)
from pddl_eval.shown import printable

LOCK = "_running.json"
"""Parquet readers ignore names with a leading underscore."""

LOCKS = re.compile(r"_running(-[\w-]+)?\.json")
"""Names of locks: of the whole folder, and of parts of it."""

LOOKS = 3
"""How often a lock that is not there is looked for."""

BEAT_SECONDS = 5.0
"""Between two signs of life of a holder."""

GONE_SECONDS = 45.0
"""A holder on another machine that gives no sign of life for so long is gone. A hiccup of its store is shorter."""


@dataclass(frozen=True, slots=True)
class Holder:
    """Who writes: ``machine`` and ``process`` tell it from all others, also in containers; ``beats`` are signs of life.

    ``machine`` is empty where the system cannot say it.
    """

    host: str
    pid: int
    since: str
    machine: str
    process: str
    token: str
    beats: int = 0

    def __str__(self) -> str:
        return f"process {self.pid} on {self.host}, since {self.since}"


@dataclass(frozen=True, slots=True)
class Claim:
    """That a process has a lock, for its workers elsewhere."""

    place: Location
    token: str

    def check(self) -> None:
        """Raise ``OutputError`` where the lock has become another's, or is gone for good.

        So that a worker whose run was killed, or was thought dead, writes nothing into a folder that others work in.
        """
        for _ in range(LOOKS):
            try:
                holder = _read(self.place)
            except DatasetError:
                return  # The store does not answer. It has the last word when the partition is written.
            if holder is not None:
                break
            time.sleep(BEAT_SECONDS)  # The holder writes it again.
        if holder is None or holder.token != self.token:
            raise OutputError(f"Another run has taken over {self.place.parent}: {holder or 'it has ended'}.")


@contextmanager
def claimed(folder: Location, lock: str = LOCK, beside: re.Pattern[str] | None = None) -> Iterator[Claim]:
    """Hold a lock of a folder while the block runs; locks whose names match ``beside`` may be held by others.

    Where a holder is on another machine, it takes up to ``GONE_SECONDS`` to know whether it is still there, which is
    said on stderr. Raises ``DatasetError`` where another process, or another run of this one, writes into the folder,
    and ``OutputError`` where the folder cannot be written to.
    """
    place = folder / lock
    for held, other in _in_the_way(folder, lock, beside):
        if _is_alive(other, held):
            _refuse(folder, other)
        if (still := _read(held)) is None or still.token == other.token:
            remove_file(held)
    if has_file(place) and _read(place) is None:
        remove_file(place)  # It means nothing.
    now = datetime.now(UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
    pid = os.getpid()
    mine = Holder(platform.node(), pid, now, _machine(), _process(pid), uuid4().hex)
    put_new(place, _content(mine))
    for held, other in _in_the_way(folder, lock, beside):
        if other.token != mine.token:
            if held != place:
                remove_file(place)
            _refuse(folder, other)
    ended = Event()
    heart = Thread(target=_beat, args=(place, mine, ended), daemon=True)
    heart.start()
    try:
        yield Claim(place, mine.token)
    finally:
        ended.set()
        heart.join(BEAT_SECONDS)
        if heart.is_alive():  # Its store is slow. It will release the lock if this is too early.
            _release(place, mine)


def holders(folder: Location) -> dict[str, Holder]:
    """Who holds the locks of a folder, dead or alive, by the lock's name."""
    names = sorted(filter(LOCKS.fullmatch, list_files(folder)))
    return {name: holder for name in names if (holder := _read(folder / name))}


def _in_the_way(folder: Location, lock: str, beside: re.Pattern[str] | None) -> list[tuple[Location, Holder]]:
    """The holders of a lock and of those that exclude it."""
    held = holders(folder).items()
    return [(folder / name, each) for name, each in held if name == lock or not (beside and beside.fullmatch(name))]


def _refuse(folder: Location, other: Holder) -> NoReturn:
    raise DatasetError(f"Another run writes into {folder}: {other}. Wait until it has ended, or stop it.")


def _beat(place: Location, mine: Holder, ended: Event) -> None:
    beats = 0
    while not ended.wait(BEAT_SECONDS):
        beats += 1
        with suppress(DatasetError, OutputError):  # The next one may get through.
            if (other := _read(place)) is None or other.token == mine.token:
                put_bytes(place, _content(mine, beats))
    _release(place, mine)  # Here, because a beat may be written late.


def _release(place: Location, mine: Holder) -> None:
    with suppress(DatasetError, OutputError):
        if (holder := _read(place)) and holder.token == mine.token:
            remove_file(place)


def _content(holder: Holder, beats: int = 0) -> bytes:
    return json.dumps(asdict(holder) | {"beats": beats}, indent=1).encode()


def _read(place: Location) -> Holder | None:
    """The holder; None where there is no lock, or one that means nothing. Raises ``DatasetError``."""
    try:
        fields = json.loads(read_bytes(place))
        return Holder(**fields | {"pid": int(fields["pid"])})
    except (ValueError, TypeError, KeyError):
        return None
    except DatasetError:
        if has_file(place):
            raise
        return None  # There is none, or none any more.


def is_alive_by_now(holder: Holder, seconds: float) -> bool:
    """Whether a holder is still there that gave its last sign of life so many seconds ago, without watching it."""
    if holder.machine and holder.machine == _machine():
        return _process(holder.pid) == holder.process
    return seconds < GONE_SECONDS


def _is_alive(holder: Holder, place: Location) -> bool:
    if holder.machine and holder.machine == _machine():
        return _process(holder.pid) == holder.process
    seconds = f"{GONE_SECONDS:.0f} seconds"
    print(
        f"pddl-eval: {printable(str(holder))}, may write into this folder: watching it for {seconds}", file=sys.stderr
    )
    watched_until = time.monotonic() + GONE_SECONDS
    while time.monotonic() < watched_until:
        time.sleep(min(BEAT_SECONDS / 2, GONE_SECONDS))
        now = _read(place)
        if now != holder:
            return now is not None
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
