"""Engine ``ray``: tasks on a Ray cluster that is joined, or on a local Ray that is started for the run.

Ray's own retries are off: a lost worker is reported to ``retries``, which counts and looks for the poison row. A Ray
that is started here listens on the loopback interface alone, has no dashboard and reports no usage. Workers on Ray also
count what they do with Ray's metrics, which Ray exports to the monitoring that watches the cluster (Prometheus, on each
node).
"""

from __future__ import annotations

import math
import os
import socket
import time
from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from pddl_eval.options import RunOptions
from pddl_eval.run.engines import EngineError, WorkerLost, cluster_address
from pddl_eval.run.partitions import SCORE_ERROR, ShardFailure, ShardResult, ShardTask

if TYPE_CHECKING:
    from ray.util.metrics import Counter, Histogram

TASKS_PER_CPU = 1.5
"""Tasks in flight for each CPU of the cluster, so that a worker that finishes finds its next one waiting."""

CONNECT_SECONDS = 10.0
"""How long a cluster's address may take to accept a connection."""

RESOURCES_SECONDS = 5.0
"""How long the size of the cluster is believed; nodes come and go."""

HISTOGRAM_SECONDS = (0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0, 300.0)
"""Bounds of the histogram's bins."""


class RayTasks:
    """Runs each task as a Ray task, spread over the nodes.

    ``address`` as for ``ray.init``: ``auto``, ``host:port`` or ``ray://host:port``. Without it the cluster of
    ``RAY_ADDRESS`` is joined (so it is under ``ray job submit``), a Ray that this process is connected to is used, or
    a local one is started. ``workers`` bounds the tasks in flight. Raises ``EngineError`` where no Ray answers.
    """

    def __init__(self, function: Callable[[ShardTask], ShardResult], options: RunOptions) -> None:
        self._started = _connect(options)
        import ray  # A second to import, and only after ``_connect`` has set its environment.

        self._ray = ray
        self._workers = options.workers
        self._counted = -math.inf
        self._capacity = 1
        self._running: dict[Any, ShardTask] = {}
        # No retries of Ray's own: an attempt that is not counted here could not be held against a row.
        self._task = ray.remote(max_retries=0, num_cpus=1, scheduling_strategy="SPREAD")(_run)
        self._function = ray.put(function)

    @property
    def capacity(self) -> int:
        if self._workers:
            return self._workers
        if time.monotonic() - self._counted > RESOURCES_SECONDS:
            cpus = self._ray.cluster_resources().get("CPU", 1)
            self._capacity = max(2, math.ceil(TASKS_PER_CPU * cpus))
            self._counted = time.monotonic()
        return self._capacity

    def submit(self, task: ShardTask) -> None:
        self._running[self._task.remote(self._function, task)] = task

    def take(self) -> tuple[ShardTask, ShardResult | WorkerLost]:
        errors = self._ray.exceptions
        [finished], _ = self._ray.wait(list(self._running), num_returns=1)
        task = self._running.pop(finished)
        try:
            return task, self._ray.get(finished)
        except (
            errors.WorkerCrashedError,
            errors.NodeDiedError,
            errors.LocalRayletDiedError,
            errors.OutOfMemoryError,
            errors.ObjectLostError,
        ) as error:
            return task, WorkerLost(task, type(error).__name__)
        except errors.RayError as error:
            reason = " ".join(str(getattr(error, "cause", error)).split())[:300]
            raise EngineError(
                f"The Ray workers cannot run shards (is the same pddl-eval installed on every node?): {reason}"
            ) from None

    def close(self) -> None:
        for reference in self._running:
            self._ray.cancel(reference, force=True)
        self._running.clear()
        if self._started:
            self._ray.shutdown()


def _connect(options: RunOptions) -> bool:
    """Connect to Ray; True where it was started for this run and has to be stopped with it."""
    cluster = options.address or cluster_address()
    if not cluster:
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
        # Ray binds to this machine's public address otherwise; on Windows and macOS this is its default. It is read
        # when ray is imported for the first time.
        os.environ.setdefault("RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER", "0")
    import ray  # A second to import, and it reads the environment that is set above.

    if ray.is_initialized():
        if options.address:
            raise EngineError("This process is connected to Ray already: leave the address out to use that one.")
        return False
    quiet: dict[str, Any] = {"log_to_driver": False, "logging_level": "ERROR"}
    try:
        if cluster:
            _require_listener(cluster)
            ray.init(address=cluster, **quiet)
        else:
            ray.init(address="local", num_cpus=options.workers, include_dashboard=False, **quiet)
    except (OSError, RuntimeError, ValueError) as error:
        reason = " ".join(str(error).split())[:300]
        raise EngineError(f"No Ray answers at {cluster or 'this machine'}: {reason}") from None
    return True


def _require_listener(address: str) -> None:
    """Raise ``OSError`` where nothing listens; Ray itself would try for minutes."""
    host, _, port = address.rpartition("://")[2].rpartition(":")
    if host and port.isdecimal():
        socket.create_connection((host.strip("[]"), int(port)), CONNECT_SECONDS).close()


def _run(function: Callable[[ShardTask], ShardResult], task: ShardTask) -> ShardResult:
    result = function(task)
    if task.probe is None:
        _count(result)
    return result


def _count(result: ShardResult) -> None:
    """Count work done, from inside the task that did it; a shard that had to be done twice counts twice.

    ``pddl_eval_rows``, of these ``pddl_eval_carried_rows`` and ``pddl_eval_errors`` (with a ``score_error``),
    ``pddl_eval_verdicts`` (by ``verdict``), ``pddl_eval_failed_shards``, the histogram ``pddl_eval_shard_seconds``.
    """
    if isinstance(result, ShardFailure):
        _add("pddl_eval_failed_shards", "Shards that could not be written.", 1)
        return
    _add("pddl_eval_rows", "Rows written, scored or carried over.", result.rows)
    _add("pddl_eval_carried_rows", "Rows whose scores were carried over.", result.carried)
    _add("pddl_eval_errors", "Rows with a score_error.", result.statistics.get(SCORE_ERROR, {}).get("count", 0))
    for verdict, rows in result.statistics.get("verdict", {}).items():
        _add("pddl_eval_verdicts", "Rows by verdict.", rows, verdict=verdict)
    _seconds().observe(result.seconds)


def _add(name: str, description: str, value: float, **tags: str) -> None:
    if value:  # Ray's counters refuse zero.
        _counter(name, description, tuple(tags)).inc(value, tags)


@lru_cache
def _counter(name: str, description: str, tags: tuple[str, ...]) -> Counter:
    from ray.util.metrics import Counter  # Only in a Ray worker, which has imported ray.

    return Counter(name, description, tag_keys=tags)


@lru_cache
def _seconds() -> Histogram:
    from ray.util.metrics import Histogram  # Only in a Ray worker, which has imported ray.

    return Histogram("pddl_eval_shard_seconds", "Wall time of a shard.", boundaries=list(HISTOGRAM_SECONDS))
