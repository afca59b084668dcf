"""Who is told what while a run lasts: a progress bar or a caller's own watcher."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from threading import Event as Ended
from threading import Lock, Thread

from pddl_eval.datasets import DatasetError, OutputError
from pddl_eval.progress import progress
from pddl_eval.run.counters import Counters
from pddl_eval.run.engines import NodeExcluded, UnderWay, WorkerLost
from pddl_eval.run.partitions import ShardFailure, ShardRecord, ShardResult
from pddl_eval.run.prepare import Run

HEARTBEAT_SECONDS = 60.0
"""Time without a result after which watchers are told that the run still works, and told again."""


TICK_SECONDS = 0.5
"""Time after which watchers are told of rows that were scored of shards under way."""


@dataclass(frozen=True, slots=True)
class Progressed:
    """``done`` is the number of rows that are done, those of shards under way among them."""

    done: int


@dataclass(frozen=True, slots=True)
class Waiting:
    """No shard has ended for ``seconds``; ``done`` is the number of rows that are done.

    ``oldest`` is the shard on which a worker has been for longest; None where none has begun.
    """

    done: int
    seconds: float
    oldest: UnderWay | None = None


Event = Run | ShardResult | WorkerLost | NodeExcluded | Progressed | Waiting

Watcher = Callable[[Event], None]
"""Is told the run before its first shard, then the record or failure of each shard, each lost worker and each excluded
node. From another thread, it is told how many rows of shards under way are scored (``Progressed``) and, once a minute,
that the run waits (``Waiting``)."""


@contextmanager
def shown_progress(*, lines: bool = False) -> Iterator[Watcher]:
    """A watcher that shows a run's progress and what goes wrong; ``lines`` as in ``pddl_eval.progress``."""
    with progress(lines=lines) as bar:
        done = 0

        def watch(event: Event) -> None:
            nonlocal done
            match event:
                case Run():
                    done = event.total_rows - event.rows_missing
                    bar.begin(event.total_rows, done)
                case Progressed():
                    bar.reach(event.done)
                case Waiting():
                    bar.wait(event.seconds, _shown(event.oldest) if event.oldest else "no shard has begun")
                case ShardRecord():
                    done += event.rows
                    bar.reach(done)
                    if event.unscored:
                        bar.say(f"{event.name}: {len(event.unscored)} rows end their worker and are left unscored")
                case ShardFailure():
                    bar.say(f"{event.name}: {event.reason}")
                case NodeExcluded():
                    bar.say(event.reason)
                case WorkerLost():
                    task = event.task
                    bar.say(f"{task.shard.name}: worker lost in attempt {task.attempt} ({event.reason})")

        yield watch


@contextmanager
def told(
    watch: Watcher, run: Run, under_way: Callable[[], Sequence[UnderWay]] = tuple, file: str | None = None
) -> Iterator[Watcher]:
    """A function that counts an event, in a ``file`` too, and tells the watcher.

    Without events for long, it is told that the run waits, and for which of what is ``under_way``. Raises
    ``OutputError`` for a file that cannot be written.
    """
    counters, one, ended, last = Counters(run, under_way, file), Lock(), Ended(), time.monotonic()

    def tell(event: Event) -> None:
        nonlocal last
        with one:
            last = time.monotonic()
            counters.count(event)
            watch(event)

    def wait() -> None:
        told, scored = last, 0
        while not ended.wait(min(TICK_SECONDS, HEARTBEAT_SECONDS)):
            with one, suppress(OutputError, DatasetError):  # The next result raises it again.
                doing, now, rows = under_way(), time.monotonic(), int(counters.numbers["rows_done"])
                before, scored = scored, sum(each.rows for each in doing)
                if scored > before:
                    watch(Progressed(rows + scored))
                if now - max(told, last) >= HEARTBEAT_SECONDS:
                    told = now
                    watch(Waiting(rows, now - last, max(doing, key=lambda each: each.seconds, default=None)))

    heart = Thread(target=wait, daemon=True)
    heart.start()
    try:
        yield tell
        counters.numbers["finished"] = 1
    finally:
        ended.set()
        heart.join()
        with suppress(OutputError, DatasetError):
            counters.write()


def _shown(each: UnderWay) -> str:
    return f"{each.task.shard.name} on {each.node} for {each.seconds:,.0f} s"
