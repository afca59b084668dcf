"""Shards as tasks of a Ray cluster.

Ray's own retries are off, so that lost workers are counted in one place (``retries``). A failed shard is tried on
another node, because the node may be at fault (``nodes``). A Ray that is started here listens on the loopback interface
alone, has no dashboard and reports no usage.
"""

from __future__ import annotations

import math
import os
import platform
import re
import signal
import socket
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

from pddl_eval.datasets import one_line
from pddl_eval.errors import require_extra
from pddl_eval.run.engines.processes import EngineError, WorkerLost
from pddl_eval.run.nodes import AGREED, STRIKES, Nodes, identity, shown
from pddl_eval.run.partitions import ShardFailure, ShardRecord, ShardResult, ShardTask
from pddl_eval.settings import RunOptions

TASKS_PER_CPU = 2
"""Tasks in flight for each CPU: a worker that finishes finds its next task waiting, and an autoscaler, which starts
nodes for tasks that wait, doubles the cluster each time."""

CONNECT_SECONDS = 10.0
"""How long a cluster's address may take to accept a connection."""

NODES_SECONDS = 5.0
"""How long the nodes of the cluster are taken as known; they come and go."""

CANNOT_RUN = "The Ray workers cannot run shards (is the same pddl-eval installed on every node?)"


@dataclass(frozen=True, slots=True)
class NodeExcluded:
    """A node of the cluster gets no more shards; ``reason`` is a sentence."""

    node: str
    reason: str


class RayTasks:
    """Runs each task as a Ray task, spread over the nodes.

    ``address`` as for ``ray.init``: ``auto``, ``host:port`` or ``ray://host:port``. Without it the cluster of
    ``RAY_ADDRESS`` is joined (so it is under ``ray job submit``), a Ray that this process is connected to is used, or
    a local one is started. ``workers`` bounds the tasks in flight. Raises ``EngineError`` where no Ray answers.
    """

    def __init__(self, function: Callable[[ShardTask], ShardResult], options: RunOptions) -> None:
        self._connected = _connect(options)
        import ray  # A second to import, and only after ``_connect`` has set its environment.
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

        self._ray: Any = ray
        self._on_node: Callable[..., Any] = NodeAffinitySchedulingStrategy
        self._workers = options.workers
        self._looked = -math.inf
        self._present: dict[str, float] = {}
        self._running: dict[Any, tuple[ShardTask, str]] = {}
        """Each task by Ray's reference to its result, and the node that was chosen for it, if one was."""
        self._nodes = Nodes()
        self._excluded: deque[NodeExcluded] = deque()
        self._task = ray.remote(max_retries=0, num_cpus=1, scheduling_strategy="SPREAD")(_run)
        self._function = ray.put(function)

    @property
    def capacity(self) -> int:
        return self._workers or max(2, TASKS_PER_CPU * math.ceil(sum(self._cpus().values())))

    def submit(self, task: ShardTask) -> None:
        cpus = self._cpus()
        excluded, tried = self._nodes.excluded(cpus), self._nodes.tried(task.shard.name)
        usable = cpus.keys() - excluded
        if not usable and cpus:
            reasons = "; ".join(f"{shown(node)}: {self._nodes.reason(node)}" for node in sorted(cpus))
            raise EngineError(f"No node is left that can score shards. {reasons}")
        node, options = "", {}
        if usable and (tried or excluded):
            # Ray takes a node or chooses among all. So: the one that has the fewest tasks of those that were sent.
            sent = Counter(chosen for _, chosen in self._running.values())
            node = min(sorted(usable - tried or usable), key=lambda each: sent[each] / cpus[each])
            # Soft: if that node goes away, any other one will do.
            options = {"scheduling_strategy": self._on_node(identity(node), soft=True)}
        self._running[self._task.options(**options).remote(self._function, task)] = task, node

    def take(self) -> tuple[ShardTask, ShardResult | WorkerLost] | NodeExcluded:
        errors = self._ray.exceptions
        while not self._excluded:
            finished, _ = self._ray.wait(list(self._running), num_returns=1, timeout=NODES_SECONDS)
            if not finished:
                self._cpus()  # It fails where the cluster is gone.
                continue
            task, _ = self._running.pop(finished[0])
            try:
                result = self._ray.get(finished[0])
            except (
                errors.WorkerCrashedError,
                errors.NodeDiedError,
                errors.LocalRayletDiedError,
                errors.OutOfMemoryError,
                errors.ObjectLostError,
            ) as error:
                return task, WorkerLost(task, type(error).__name__)
            except errors.RayError as error:
                reason = f"{CANNOT_RUN}: {one_line(getattr(error, 'cause', error))}"
                node = self._node_of(error)
                if node is None:
                    raise EngineError(f"{reason}.") from None
                result = ShardFailure(task.shard.name, reason, fatal=True, node=node)
            if settled := self._settled(task, result):
                return task, settled
            self.submit(task)
        return self._excluded.popleft()

    def close(self) -> None:
        if self._connected:
            self._ray.shutdown()  # It ends the tasks of this connection.
        else:
            for reference in self._running:
                # Not by force: that kills a worker under Ray's feet, which says so with a C++ stack trace.
                self._ray.cancel(reference)
        self._running.clear()

    def _cpus(self, known_for: float = NODES_SECONDS) -> dict[str, float]:
        """The nodes that have CPUs, and how many, as they were in the last seconds."""
        if time.monotonic() - self._looked > known_for:
            found = {_name_of(node): node["Resources"].get("CPU", 0) for node in self._ray.nodes() if node["Alive"]}
            self._present = {node: cpus for node, cpus in found.items() if cpus}
            self._looked = time.monotonic()
        return self._present

    def _node_of(self, error: Exception) -> str | None:
        """The node on which a task could not even begin; None where the error does not say it."""
        if not isinstance(error, self._ray.exceptions.RayTaskError):
            return None
        # Ray's exceptions that are also of the cause's class keep no more than this text.
        said = re.search(r"\bip=([\w.:]+)", str(error))
        there = [node for node in self._ray.nodes() if node["Alive"] and said and node["NodeManagerAddress"] == said[1]]
        return _name_of(there[0]) if len(there) == 1 else None

    def _settled(self, task: ShardTask, result: ShardResult) -> ShardResult | None:
        """The result; None for a failure that another node may not have."""
        if isinstance(result, ShardRecord):
            self._nodes.scored(result.node, task.shard.name)  # The record may be of a part of the shard.
            return result
        present = self._cpus(known_for=0.0)
        before = self._nodes.excluded(present)
        tried = self._nodes.failed(result, present)
        for node in self._nodes.excluded(present) - before:
            reason = f"{shown(node)} failed {STRIKES} shards in a row and gets no more: {self._nodes.reason(node)}"
            self._excluded.append(NodeExcluded(node, reason))
        on = ", ".join(map(shown, tried[:AGREED]))
        return replace(result, reason=f"{result.reason.rstrip('.')} (tried on {on}).") if tried else None


def cluster_address() -> str | None:
    """The cluster in ``RAY_ADDRESS``; None where that is the HTTP server to which jobs are submitted."""
    address = os.environ.get("RAY_ADDRESS") or None
    return None if address and address.startswith(("http://", "https://")) else address


def _run(function: Callable[[ShardTask], ShardResult], task: ShardTask) -> ShardResult:
    import ray  # Only in a Ray worker.

    return replace(function(task), node=f"{platform.node()}/{ray.get_runtime_context().get_node_id()}")


def _name_of(node: dict[str, Any]) -> str:
    return f"{node['NodeManagerHostname']}/{node['NodeID']}"


def _connect(options: RunOptions) -> bool:
    """Connect to Ray; False where this process was connected already and stays so after the run."""
    require_extra("ray", "The cluster in RAY_ADDRESS")  # Who asks for Ray otherwise has been told.
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
        with _kept_handlers():
            if cluster:
                ray.init(address=cluster, **quiet)
            else:
                ray.init(address="local", num_cpus=options.workers, include_dashboard=False, **quiet)
    except (OSError, RuntimeError, ValueError) as error:
        raise EngineError(f"No Ray answers at {cluster or 'this machine'}: {one_line(error)}.") from None
    return True


@contextmanager
def _kept_handlers() -> Iterator[None]:
    """Keep this process's handler of SIGTERM.

    ``ray.init`` sets one of its own, which leaves by ``SystemExit``, and one in C++, which prints a stack trace.
    """
    if threading.current_thread() is not threading.main_thread():
        yield  # Neither Ray nor anybody else sets handlers here.
        return
    before = signal.getsignal(signal.SIGTERM)
    terminated = False
    try:
        yield
    except SystemExit as left:
        terminated = left.code == signal.SIGTERM
        if not terminated:
            raise
    finally:
        signal.signal(signal.SIGTERM, before)
    if terminated:
        signal.raise_signal(signal.SIGTERM)


def _require_listener(address: str) -> None:
    """Raise ``OSError`` where nothing listens; Ray itself would try for minutes."""
    host, _, port = address.rpartition("://")[2].rpartition(":")
    if host and port.isdecimal():
        socket.create_connection((host.strip("[]"), int(port)), CONNECT_SECONDS).close()
