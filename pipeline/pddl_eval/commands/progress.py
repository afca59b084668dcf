"""How far a run is: a bar on a terminal, a line now and then elsewhere, always on stderr."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pddl_eval.run import Event

LINE_SECONDS = 10.0
"""Between two lines, where stderr is no terminal."""


@dataclass(slots=True)
class Pace:
    """``done`` of ``total`` rows, ``reused`` of them from an earlier start and not counted in the speed.

    Rows come by the shard, so the speed is that up to the last one: it does not sink while the next is worked on.
    """

    total: int = 0
    done: int = 0
    reused: int = 0
    started: float = field(default_factory=time.monotonic)
    last: float = field(default_factory=time.monotonic)

    def advance(self, rows: int) -> None:
        self.done += rows
        self.last = time.monotonic()

    def __str__(self) -> str:
        scored = self.done - self.reused
        if not scored:
            return f"{self.done:,} of {self.total:,} pairs"
        speed = scored / max(self.last - self.started, 1e-6)
        left = max(0.0, (self.total - self.done) / speed - (time.monotonic() - self.last))
        return f"{self.done:,} of {self.total:,} pairs, {speed:,.0f} pairs/s, {timedelta(seconds=round(left))} left"


@contextmanager
def progress() -> Iterator[Callable[[Event], None]]:
    """A watcher of a run that shows its pace while the block lasts."""
    # Ray tells of dead workers on stdout, which is for the summary.
    with redirect_stdout(sys.stderr):
        if sys.stderr.isatty():
            yield from _bar()
        else:
            yield from _lines()


def _bar() -> Iterator[Callable[[Event], None]]:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn

    pace = Pace()
    columns = (BarColumn(), TaskProgressColumn(), TextColumn("{task.fields[pace]}"))
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=None, pace=pace)

        def watch(event: Event) -> None:
            trouble = _follow(pace, event)
            if trouble:
                bar.console.print(trouble, markup=False, highlight=False)
            bar.update(task, total=pace.total, completed=pace.done)

        yield watch


def _lines() -> Iterator[Callable[[Event], None]]:
    pace = Pace()
    last = time.monotonic()

    def watch(event: Event) -> None:
        nonlocal last
        trouble = _follow(pace, event)
        if trouble:
            print(trouble, file=sys.stderr)
        if time.monotonic() - last >= LINE_SECONDS:
            last = time.monotonic()
            print(pace, file=sys.stderr, flush=True)

    yield watch


def _follow(pace: Pace, event: Event) -> str | None:
    """Take an event into the pace; returns what a person should be told of it, if anything."""
    from pddl_eval.run import Run, ShardFailure, ShardRecord

    if isinstance(event, Run):
        pace.total = event.source.rows
        pace.done = pace.reused = sum(record.rows for record in event.finished.values())
        pace.started = pace.last = time.monotonic()
        return None
    if isinstance(event, ShardRecord):
        pace.advance(event.rows)
        if event.unscored:
            return f"{event.name}: {len(event.unscored)} rows end their worker and are left unscored"
        return None
    if isinstance(event, ShardFailure):
        return f"{event.name}: {event.reason}"
    return f"{event.task.shard.name}: worker lost in attempt {event.task.attempt} ({event.reason})"
