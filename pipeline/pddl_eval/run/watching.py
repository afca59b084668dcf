"""Who is told what while a run lasts: a progress bar, a log of JSON lines, a caller's own watcher."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from threading import Event as Ended
from threading import Lock, Thread

from pddl_eval.datasets import DatasetError, OutputError, dataset_errors, locate
from pddl_eval.progress import progress
from pddl_eval.run.engines import Notice, WorkerLost
from pddl_eval.run.partitions import ShardFailure, ShardRecord, ShardResult
from pddl_eval.run.prepare import Run

HEARTBEAT_SECONDS = 60.0
"""After so long without a result, and again and again, watchers are told that the run still works."""


@dataclass(frozen=True, slots=True)
class Waiting:
    """No shard has ended for some ``seconds``; so many rows are ``done``."""

    done: int
    seconds: float


Event = Run | ShardResult | WorkerLost | Notice | Waiting

Watcher = Callable[[Event], None]
"""Is told the run before its first shard, then the record or failure of each shard, each lost worker and each notice.

And, once a minute and from another thread, that it waits (``Waiting``)."""


@contextmanager
def shown_progress(*, lines: bool = False) -> Iterator[Watcher]:
    """A watcher that shows a run's progress and what goes wrong; ``lines`` as in ``pddl_eval.progress``."""
    with progress(lines=lines) as pace:

        def watch(event: Event) -> None:
            if isinstance(event, Run):
                pace.begin(event.total_rows, event.total_rows - sum(shard.rows for shard in event.missing))
            elif isinstance(event, Waiting):
                pace.wait(event.seconds)
            elif isinstance(event, ShardRecord):
                pace.advance(event.rows)
                if event.unscored:
                    pace.say(f"{event.name}: {len(event.unscored)} rows end their worker and are left unscored")
            elif isinstance(event, ShardFailure):
                pace.say(f"{event.name}: {event.reason}")
            elif isinstance(event, Notice):
                pace.say(event.reason)
            else:
                task = event.task
                pace.say(f"{task.shard.name}: worker lost in attempt {task.attempt} ({event.reason})")

        yield watch


@contextmanager
def json_log(path: str) -> Iterator[Watcher]:
    """A watcher that appends a line to the file for each finished shard and each lost worker."""
    place = locate(path)
    if not place.is_local:
        raise DatasetError(f"Nothing can be appended to {place}: the log is a local file.")

    def watch(event: Event) -> None:
        if not isinstance(event, Run):
            with dataset_errors(place, "write"):
                lines.write(f"{log_line(event)}\n")

    with ExitStack() as stack:
        with dataset_errors(place, "write"):
            lines = stack.enter_context(Path(place.path).open("a", buffering=1, encoding="utf-8"))
        yield watch


def log_line(result: ShardResult | WorkerLost | Notice | Waiting) -> str:
    """A line of JSON without its line break, in UTC.

    ``event`` is ``shard``, ``shard_failed``, ``worker_lost``, ``node_excluded`` or ``no_node`` (``Notice``), or
    ``waiting``, once a minute while no shard ends: the rows ``done`` so far, ``seconds`` since the last result.

    A ``shard`` has ``rows``, of these ``carried``, ``unreadable`` and ``unscored`` ones, ``statistics`` (verdict counts
    among them), ``seconds``, ``node`` and ``attempt``; the others have a ``reason``.
    """
    fields: dict[str, object]
    if isinstance(result, ShardRecord):
        names = ("rows", "carried", "statistics", "seconds", "node", "attempt")
        fields = {"event": "shard", "shard": result.name, **{name: getattr(result, name) for name in names}}
        fields |= {"unreadable": result.unreadable_rows, "unscored": len(result.unscored)}
    elif isinstance(result, ShardFailure):
        fields = {"event": "shard_failed", "shard": result.name, "reason": result.reason, "trace": result.trace}
        fields |= {"node": result.node}
    elif isinstance(result, Notice):
        fields = asdict(result)
    elif isinstance(result, Waiting):
        fields = {"event": "waiting", "done": result.done, "seconds": round(result.seconds)}
    else:
        task = result.task
        fields = {"event": "worker_lost", "shard": task.shard.name, "attempt": task.attempt, "reason": result.reason}
    return json.dumps({"time": datetime.now(UTC).isoformat(timespec="milliseconds"), **fields})


@contextmanager
def told(watchers: Sequence[Watcher], run: Run) -> Iterator[Watcher]:
    """Tells all watchers of an event, one event at a time, and that the run waits where there is none for long."""
    one = Lock()
    ended = Ended()
    rows, last = run.total_rows - sum(shard.rows for shard in run.missing), time.monotonic()

    def tell(event: Event) -> None:
        nonlocal rows, last
        with one:
            last = time.monotonic()
            rows += event.rows if isinstance(event, ShardRecord) else 0
            for watch in watchers:
                watch(event)

    def wait() -> None:
        told = last
        while not ended.wait(max(0.01, max(told, last) + HEARTBEAT_SECONDS - time.monotonic())):
            with one:
                now = time.monotonic()
                if now - max(told, last) >= HEARTBEAT_SECONDS:
                    told = now
                    for watch in watchers:
                        with suppress(OutputError, DatasetError):  # The next result raises it again.
                            watch(Waiting(rows, now - last))

    heart = Thread(target=wait, daemon=True)
    heart.start()
    try:
        yield tell
    finally:
        ended.set()
        heart.join()
