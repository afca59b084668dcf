"""One writer for one folder: a lock file that says who writes there, and that a writer which was killed does not keep.

A holder on this machine is asked for in ``/proc``, so that a killed one blocks nothing. One elsewhere is watched: it
writes its lock again every few seconds, and one that does not is gone. No two clocks are compared. On an object store,
which cannot refuse the second of two files, two writers that start in the same instant can both get the lock; what they
write is still right, only done twice.
"""

from __future__ import annotations

import json
import os
import platform
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from threading import Event, Thread
from uuid import uuid4

from pddl_eval.run.places import (
    DatasetError,
    Location,
    OutputError,
    list_files,
    put_bytes,
    put_new,
    read_bytes,
    remove_file,
)
from pddl_eval.shown import printable

LOCK = "_running.json"
"""Parquet readers ignore names with a leading underscore."""

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


@contextmanager
def claimed(folder: Location) -> Iterator[None]:
    """Hold the lock of a folder while the block runs.

    Where the holder is on another machine, it takes up to ``GONE_SECONDS`` to know whether it is still there, which is
    said on stderr. Raises ``DatasetError`` where another process, or another run of this one, writes into the folder,
    and ``OutputError`` where the folder cannot be written to.
    """
    place = folder / LOCK
    other = _read(place)
    if other and _is_alive(other, place):
        raise DatasetError(f"Another run writes into {folder}: {other}. Wait until it has ended, or stop it.")
    if other:
        remove_file(place)
    now = datetime.now(UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
    pid = os.getpid()
    mine = Holder(platform.node(), pid, now, _machine(), _process(pid), uuid4().hex)
    put_new(place, _content(mine))
    other = _read(place)
    if other and other.token != mine.token:
        raise DatasetError(f"Another run writes into {folder}: {other}. Wait until it has ended, or stop it.")
    ended = Event()
    heart = Thread(target=_beat, args=(place, mine, ended), daemon=True)
    heart.start()
    try:
        yield
    finally:
        ended.set()
        heart.join(BEAT_SECONDS)
        with suppress(DatasetError, OutputError):
            if (other := _read(place)) and other.token == mine.token:
                remove_file(place)


def _beat(place: Location, mine: Holder, ended: Event) -> None:
    beats = 0
    while not ended.wait(BEAT_SECONDS):
        beats += 1
        with suppress(DatasetError, OutputError):  # The next one may get through.
            if (other := _read(place)) is None or other.token == mine.token:
                put_bytes(place, _content(mine, beats))


def _content(holder: Holder, beats: int = 0) -> bytes:
    return json.dumps(asdict(holder) | {"beats": beats}, indent=1).encode()


def _read(place: Location) -> Holder | None:
    """The holder; None where there is no lock, or one that cannot be read."""
    if place.name not in list_files(place.parent):
        return None
    try:
        fields = json.loads(read_bytes(place))
        return Holder(**fields | {"pid": int(fields["pid"])})
    except (DatasetError, ValueError, TypeError, KeyError):
        return None


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
