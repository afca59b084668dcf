"""This process: the CPUs that it may use, what makes it quick, how far it is, and how it is told to stop.

It imports nothing of the program.
"""

from __future__ import annotations

import gc
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event
from types import SimpleNamespace
from typing import Any

CPU_QUOTA = Path("/sys/fs/cgroup/cpu.max")
"""Where Linux says how many microseconds of each period a container may compute; absent outside one."""

GARBAGE_THRESHOLDS = (50_000, 5, 1_000)
"""With Python's own, the cyclic collector visits all references of a shard every few rows: a tenth of the time of
scoring, and it finds nothing."""

stop_requested = Event()
"""Set where this process owns its signals (commands, workers) when one asks it to stop."""


@dataclass(slots=True)
class Rows:
    """How many rows this process has scored of what it works on; in a worker process, shared with who started it."""

    counter: Any = field(default_factory=lambda: SimpleNamespace(value=0))

    def add(self, number: int) -> None:
        self.counter.value += number


rows_scored = Rows()


def available_cpus(quota_file: Path = CPU_QUOTA) -> int:
    """CPUs that this process may use: fewer than the machine's in a container with a CPU set or a quota."""
    cpus = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    try:
        quota, period = quota_file.read_text(encoding="ascii").split()
        return max(1, min(cpus, int(quota) // int(period)))
    except (OSError, ValueError):  # Not Linux, no control group, or the quota is "max".
        return cpus


def has_one_thread() -> bool:
    """Whether this process has one thread, those of libraries counted; False where the system does not say.

    >>> has_one_thread()
    False
    """
    try:
        return len(list(Path("/proc/self/task").iterdir())) == 1
    except OSError:
        return False


def begin_own_process() -> None:
    """Make a process quick that is the program's own: a command, a worker."""
    gc.set_threshold(*GARBAGE_THRESHOLDS)
    # With the first value that pyarrow converts it imports pandas, to know its types: a third of a worker's start.
    # It tries once; where pandas is asked for by name, as in to_pandas, it tries again.
    without_pandas = SimpleNamespace(find_spec=_refuse_pandas)
    sys.meta_path.insert(0, without_pandas)
    try:
        import pyarrow

        pyarrow.scalar(None)
    finally:
        sys.meta_path.remove(without_pandas)


def _refuse_pandas(name: str, _path: object, _target: object = None) -> None:
    if name == "pandas":
        raise ModuleNotFoundError(name=name)


def reraise_interrupt(error: Exception) -> None:
    """Raise ``KeyboardInterrupt`` if the error is what a library made of one.

    For places that turn any error into a result: an interrupt is none.

    >>> reraise_interrupt(ValueError("a bug in one row"))
    """
    if stop_requested.is_set() or isinstance(error.__context__, KeyboardInterrupt):
        raise KeyboardInterrupt from error


@contextmanager
def interrupted_by_signals() -> Iterator[list[int]]:
    """While the block runs, SIGINT and SIGTERM raise ``KeyboardInterrupt``. Yields a list that gets those that came."""
    stop_requested.clear()
    came: list[int] = []

    def interrupt(number: int, _frame: object) -> None:
        stop_requested.set()
        came.append(number)
        # A scheduler sends it to the program and to the shell around it, which passes it on.
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        raise KeyboardInterrupt

    before = {number: signal.signal(number, interrupt) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield came
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
