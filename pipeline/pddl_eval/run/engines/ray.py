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
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pddl_eval.datasets import one_line
from pddl_eval.errors import require_extra
from pddl_eval.process import begin_own_process
from pddl_eval.run.engines.processes import EngineError, UnderWay, WorkerLost, silence
from pddl_eval.run.nodes import AGREED, STRIKES, Nodes, identity, shown
from pddl_eval.run.partitions import SILENT_SECONDS, ShardFailure, ShardRecord, ShardResult, ShardTask
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


@dataclass(slots=True)
class _Sent:
    """A task under way: the node that was chosen for it, if one was, then that on which it began, and its worker."""

    task: ShardTask
    node: str
    pid: int = 0
    began: float = math.inf


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
        self._checked = time.monotonic()
        self._known: set[str] = set()
        """Nodes that were there since tasks that have not begun were last sent anew."""
        self._gone: set[str] = set()
        """Those, and nodes on which tasks began, that were not there when last looked."""
        self._heard = time.monotonic()
        self._choose_nodes = False
        self._running: dict[Any, _Sent] = {}
        """By what Ray yields of it: where it begins, then its result."""
        self._nodes = Nodes()
        self._ended: deque[tuple[ShardTask, ShardResult | WorkerLost] | NodeExcluded] = deque()
        spread = ray.remote(max_retries=0, num_cpus=1, scheduling_strategy="SPREAD", num_returns="streaming")
        self._task = spread(_run)
        self._kill = ray.remote(max_retries=0, num_cpus=0)(_kill)
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
        if usable and (tried or excluded or self._choose_nodes):
            # Ray takes a node or chooses among all. So: the one that has the fewest tasks of those that were sent.
            sent = Counter(each.node for each in self._running.values())
            node = min(sorted(usable - tried or usable), key=lambda each: sent[each] / cpus[each])
            # Soft: if that node goes away, any other one will do.
            options = {"scheduling_strategy": self._on_node(identity(node), soft=True)}
        self._running[self._task.options(**options).remote(self._function, task)] = _Sent(task, node)

    def take(self) -> tuple[ShardTask, ShardResult | WorkerLost] | NodeExcluded:
        while not self._ended:
            running = list(self._running)
            some, _ = self._ray.wait(running, num_returns=1, timeout=NODES_SECONDS, fetch_local=False)
            if some:  # All others too that are there: a call costs as much as there are tasks under way.
                some, _ = self._ray.wait(running, num_returns=len(running), timeout=0, fetch_local=False)
            for yields in some:
                self._hear(yields)
            if time.monotonic() - self._checked > NODES_SECONDS:
                self._checked = time.monotonic()
                self._give_up()
        return self._ended.popleft()

    def _hear(self, yields: Any) -> None:
        """What a task says: that it has begun, or its result."""
        errors = self._ray.exceptions
        sent, self._heard = self._running[yields], time.monotonic()
        try:
            said = self._ray.get(next(yields))
        except (
            errors.WorkerCrashedError,
            errors.NodeDiedError,
            errors.LocalRayletDiedError,
            errors.OutOfMemoryError,
            errors.ObjectLostError,
        ) as error:
            self._lost(yields, type(error).__name__)
            return
        except errors.RayError as error:
            reason = f"{CANNOT_RUN}: {one_line(getattr(error, 'cause', error))}"
            node = self._node_of(error)
            if node is None:
                raise EngineError(f"{reason}.") from None
            said = ShardFailure(sent.task.shard.name, reason, fatal=True, node=node)
        if isinstance(said, tuple):
            sent.node, sent.pid = said
            sent.began = time.monotonic()
            return
        del self._running[yields]
        if settled := self._settled(sent.task, said):
            self._ended.append((sent.task, settled))
        else:
            self.submit(sent.task)

    def _lost(self, yields: Any, reason: str) -> None:
        task = self._running.pop(yields).task
        self._ended.append((task, WorkerLost(task, reason)))

    def _give_up(self) -> None:
        """Give up what will never answer: tasks of nodes that are gone, and of workers that are silent for too long.

        Ray waits for both as long as their connections stay open. It also waits for a node's answer where a task may
        begin, for ever, and for few of them at a time: tasks that have not begun are sent anew if a node went and
        nothing was heard of any since.
        """
        there = {*map(identity, self._cpus(known_for=0.0))}  # It fails where the cluster is gone.
        began = {identity(sent.node) for sent in self._running.values() if sent.began < math.inf}
        self._known |= there
        # Ray needs some time to say of most nodes that are gone what has become of their tasks.
        before, self._gone = self._gone, (self._known | began) - there
        silent = before & self._gone
        send_anew = bool(silent & self._known) and time.monotonic() - self._heard > 2 * NODES_SECONDS
        if send_anew:
            self._known, self._choose_nodes = there, True
        for yields, sent in list(self._running.items()):
            if sent.began == math.inf:
                if send_anew:
                    self._ray.cancel(yields)
                    del self._running[yields]
                    self.submit(sent.task)
            elif identity(sent.node) in silent:
                self._lost(yields, "its node is gone")
            elif time.monotonic() - sent.began > SILENT_SECONDS:
                # Ray would ask the worker to end itself.
                here = self._on_node(identity(sent.node), soft=False)
                ended = self._kill.options(scheduling_strategy=here).remote(sent.pid)
                self._ray.wait([ended], timeout=NODES_SECONDS)
                self._lost(yields, silence(SILENT_SECONDS))

    def under_way(self) -> list[UnderWay]:
        """The tasks that have begun; it may be asked from another thread."""
        now, begun = time.monotonic(), [each for each in list(self._running.values()) if each.began < math.inf]
        return [UnderWay(each.task, shown(each.node), now - each.began) for each in begun]

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
            self._ended.append(NodeExcluded(node, reason))
        on = ", ".join(map(shown, tried[:AGREED]))
        return replace(result, reason=f"{result.reason.rstrip('.')} (tried on {on}).") if tried else None


def cluster_address() -> str | None:
    """The cluster in ``RAY_ADDRESS``; None where that is the HTTP server to which jobs are submitted."""
    address = os.environ.get("RAY_ADDRESS") or None
    return None if address and address.startswith(("http://", "https://")) else address


def _run(function: Callable[[ShardTask], ShardResult], task: ShardTask) -> Iterator[tuple[str, int] | ShardResult]:
    """Where the task begins, the node and the worker's process; then its result."""
    import ray  # Only in a Ray worker.

    begin_own_process()
    node = f"{platform.node()}/{ray.get_runtime_context().get_node_id()}"
    yield node, os.getpid()
    yield replace(function(task), node=node)


def _kill(pid: int) -> None:
    """End a worker of Ray on this node, if that process still is one."""
    with suppress(OSError):
        if Path(f"/proc/{pid}/cmdline").read_bytes().startswith(b"ray::"):
            os.kill(pid, signal.SIGKILL)


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
    os.environ.setdefault("RAY_IGNORE_UNHANDLED_ERRORS", "1")  # What a task says that was given up is not asked for.
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
