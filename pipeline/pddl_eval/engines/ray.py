"""Engine ``ray``: shards as Ray tasks, on a cluster that is joined or on a local Ray that is started for the run.

Ray's own retries are off: a lost worker is told to ``attempts``, which counts and looks for the row that does it. A Ray
that is started here listens on the loopback interface alone, has no dashboard and reports no usage.
"""

from __future__ import annotations

import math
import os
import socket
import time
from typing import Any

from pddl_eval.dataset.partitions import ShardRecord
from pddl_eval.dataset.work import ShardFailure, ShardTask
from pddl_eval.engines.attempts import Outcome, WorkerLost
from pddl_eval.engines.choice import cluster_address
from pddl_eval.engines.local import ShardFunction
from pddl_eval.engines.metrics import count_shard
from pddl_eval.engines.runner import EngineError

TASKS_PER_CPU = 1.5
"""Tasks in flight for each CPU of the cluster, so that a worker that finishes finds its next one waiting."""

KNOCK_SECONDS = 10.0
"""How long a cluster's address may take to accept a connection."""

RESOURCES_SECONDS = 5.0
"""How long the size of the cluster is believed; nodes come and go."""


class RayTasks:
    """Runs each task as a Ray task, spread over the nodes.

    ``address`` as for ``ray.init``: ``auto``, ``host:port`` or ``ray://host:port``. Without it the cluster of
    ``RAY_ADDRESS`` is joined (so it is under ``ray job submit``), a Ray that this process is connected to is used, or
    a local one is started. ``workers`` bounds the tasks in flight. Raises ``EngineError`` where no Ray answers.
    """

    def __init__(self, function: ShardFunction, *, address: str | None = None, workers: int | None = None) -> None:
        self._started = _connect(address, workers)
        import ray

        self._ray = ray
        self._workers = workers
        self._counted = -math.inf
        self._capacity = 1
        self._running: dict[Any, ShardTask] = {}
        # No retries of Ray's own: an attempt that is not counted here could not be held against a row.
        options: dict[str, Any] = {"max_retries": 0, "num_cpus": 1, "scheduling_strategy": "SPREAD"}
        self._task = ray.remote(**options)(_run)
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

    def take(self) -> tuple[ShardTask, Outcome]:
        from ray import exceptions

        lost = (
            exceptions.WorkerCrashedError,
            exceptions.NodeDiedError,
            exceptions.LocalRayletDiedError,
            exceptions.OutOfMemoryError,
            exceptions.ObjectLostError,
        )
        finished, _ = self._ray.wait(list(self._running), num_returns=1)
        task = self._running.pop(finished[0])
        try:
            return task, self._ray.get(finished[0])
        except lost as error:
            return task, WorkerLost(task.shard.name, task.attempt, type(error).__name__)
        except exceptions.RayError as error:
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


def _connect(address: str | None, workers: int | None) -> bool:
    """Connect to Ray; True where it was started for this run and has to be stopped with it."""
    cluster = address or cluster_address()
    if not cluster:
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
        # Ray binds to this machine's public address otherwise; on Windows and macOS this is its default. It is read
        # when ray is imported for the first time.
        os.environ.setdefault("RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER", "0")
    import ray

    if ray.is_initialized():
        if address:
            raise EngineError("This process is connected to Ray already: leave the address out to use that one.")
        return False
    quiet: dict[str, Any] = {"log_to_driver": False, "logging_level": "ERROR"}
    try:
        if cluster:
            _knock(cluster)
            ray.init(address=cluster, **quiet)
        else:
            ray.init(address="local", num_cpus=workers, include_dashboard=False, **quiet)
    except (OSError, RuntimeError, ValueError) as error:
        reason = " ".join(str(error).split())[:300]
        raise EngineError(f"No Ray answers at {cluster or 'this machine'}: {reason}") from None
    return True


def _knock(address: str) -> None:
    """Raises ``OSError`` where nothing listens; Ray itself would try for minutes."""
    host, _, port = address.rpartition("://")[2].rpartition(":")
    if host and port.isdecimal():
        socket.create_connection((host.strip("[]"), int(port)), KNOCK_SECONDS).close()


def _run(function: ShardFunction, task: ShardTask) -> ShardRecord | ShardFailure:
    outcome = function(task)
    if task.probe is None:
        count_shard(outcome)
    return outcome
