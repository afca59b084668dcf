"""Where work is done if not in this process: in worker processes of this machine, or on a Ray cluster.

An engine has ``submit(task)``, which starts a task, and ``take()``, which waits for any task and returns it with its
result or ``WorkerLost``, or returns a ``Notice``; at most ``capacity`` tasks may be submitted and not taken.
``close()`` stops what still runs.
What to do about a lost worker is decided in ``retries``, for all engines; an engine of several machines tries a failed
task on another one by itself (``nodes``). ``ordered_map`` uses the same worker processes for programs without shards.

A worker process has a pipe of its own. ``ProcessPoolExecutor`` would not do: when one of its processes dies all tasks
fail, nothing says which task the process died of, and its processes outlive a parent that is killed. Ray's own retries
are off, so that lost workers are counted in one place. A Ray that is started here listens on the loopback interface
alone, has no dashboard and reports no usage.
"""

from __future__ import annotations

import gc
import math
import multiprocessing
import os
import platform
import random
import re
import signal
import socket
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from itertools import islice
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any, NoReturn, TypeVar

from pddl_eval.datasets import close_file, one_line
from pddl_eval.errors import RunError, require_extra, told_to_stop
from pddl_eval.options import GARBAGE_THRESHOLDS, RunOptions
from pddl_eval.run.nodes import AGREED, STRIKES, Nodes, identity, shown
from pddl_eval.run.partitions import SCORE_ERROR, VERDICT, ShardFailure, ShardRecord, ShardResult, ShardTask

ROW_SECONDS = 0.0005
"""Scoring a row: two parses, a comparison, sometimes a plan."""

PROCESSES_SECONDS = 1.5
"""Starting worker processes."""

CLUSTER_SECONDS = 4.0
"""Joining a Ray cluster and starting its workers."""

CPU_QUOTA = Path("/sys/fs/cgroup/cpu.max")
"""Where Linux says how many microseconds of each period a container may compute; absent outside one."""

START_ATTEMPTS = 5
"""Worker processes in a row that may be killed before they are ready."""

STOP_SECONDS = 2.0
"""How long worker processes may take to stop by themselves."""

TERMINATED = 128 + signal.SIGTERM
"""Exit code of a worker process that was told to stop."""

AHEAD = 3
"""Items for each worker that ``ordered_map`` takes before the first of them is done."""

TASKS_PER_CPU = 1.5
"""Tasks in flight for each CPU of the cluster, so that a worker that finishes finds its next one waiting."""

MOST_CPUS = 1_000
"""CPUs that a run asks an autoscaler for, one for each of its first shards."""

ASKING_SECONDS = 900.0
"""How long it asks for them. After that the tasks in flight keep the nodes; what is asked for outlives a killed run."""

TASK_MEMORY = 2**30
"""Bytes of memory that a task asks Ray for: a worker with a shard needs less, and seldom a planner beside it, more."""

NO_NODE_SECONDS = 15.0
"""How long no node can run anything before that is said."""

EXCLUDED_SECONDS = 300.0
"""How long a run waits for another node where all that are there are excluded."""

CONNECT_SECONDS = 10.0
"""How long a cluster's address may take to accept a connection."""

RESOURCES_SECONDS = 5.0
"""How long the size of the cluster is taken as known; nodes come and go."""

HISTOGRAM_SECONDS = (0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0, 300.0)
"""Bounds of the histogram's bins."""

CANNOT_RUN = "The Ray workers cannot run shards (is the same pddl-eval installed on every node?)"

Item = TypeVar("Item")
Result = TypeVar("Result")


class EngineError(RunError):
    """An engine cannot run anything."""


@dataclass(frozen=True, slots=True)
class WorkerLost:
    """A task has no result because its worker died; ``reason`` is the engine's."""

    task: Any
    reason: str


@dataclass(frozen=True, slots=True)
class Notice:
    """What has happened to a cluster: ``event`` is ``node_excluded`` or ``no_node``, ``reason`` a sentence about it."""

    event: str
    reason: str
    node: str = ""


def choose_engine(rows: int, shards: int, options: RunOptions) -> RunOptions:
    """The options with the engine and number of workers that are expected to finish first.

    One local worker is this process (``finish_shards`` says what happens if a row ends it); Ray without ``workers`` has
    as many as CPUs. ``workers`` that are asked for are used, as far as there are shards for them.

    ``auto`` takes Ray where an address is given, and where ``RAY_ADDRESS`` names a cluster and there are enough rows to
    pay for joining it; otherwise this process or worker processes, whichever is faster. It starts no Ray on this
    machine, which is never faster. The estimate is the number of rows times the cost of a row over the workers, plus
    their start. Its constants matter only for a few thousand rows, where either choice takes seconds.

    >>> choose_engine(300, 1, RunOptions()).workers
    1
    >>> choose_engine(1_000_000, 245, RunOptions(workers=8)).engine
    'local'
    """
    if options.engine == "local":
        return replace(options, workers=max(1, min(options.workers or 1, shards)))
    if options.engine == "ray" or options.address:
        return replace(options, engine="ray")
    here = max(1, min(options.workers or available_cpus(), shards))
    alone, together = rows * ROW_SECONDS, PROCESSES_SECONDS + rows * ROW_SECONDS / here
    if min(alone, together) > CLUSTER_SECONDS and cluster_address():
        return replace(options, engine="ray")
    return replace(options, engine="local", workers=here if options.workers or together < alone else 1)


def cluster_address() -> str | None:
    """The cluster in ``RAY_ADDRESS``; None where that is the HTTP server to which jobs are submitted."""
    address = os.environ.get("RAY_ADDRESS") or None
    return None if address and address.startswith(("http://", "https://")) else address


def available_cpus(quota_file: Path = CPU_QUOTA) -> int:
    """CPUs that this process may use: fewer than the machine's in a container with a CPU set or a quota."""
    cpus = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    try:
        quota, period = quota_file.read_text(encoding="ascii").split()
        return max(1, min(cpus, int(quota) // int(period)))
    except (OSError, ValueError):  # Not Linux, no control group, or the quota is "max".
        return cpus


def ordered_map(function: Callable[[Item], Result], items: Iterable[Item], workers: int) -> Iterator[Result]:
    """The function's result for each item, in order, computed in worker processes; one worker is this process.

    Function and items are picklable. Items are drawn as workers need them, ``AHEAD`` for each worker at most. What the
    function raises is raised here. Raises ``EngineError`` where a worker dies.

    >>> list(ordered_map(len, ["a", "bc"], workers=1))
    [1, 2]
    """
    if workers == 1:
        yield from map(function, items)
        return
    results: dict[int, Result] = {}
    following = 0
    with closing(Processes(partial(_of_second, function), workers)) as pool:
        for (number, _), result in pool.outcomes(enumerate(items), lambda: AHEAD * workers - len(results)):
            if isinstance(result, WorkerLost):
                raise EngineError(
                    f"A worker process was lost ({result.reason}): it may lack memory, try fewer workers."
                )
            results[number] = result
            while following in results:
                yield results.pop(following)
                following += 1


@dataclass(slots=True, eq=False)
class _Worker:
    """``tasks`` holds the task that it works on, or will work on when it is ready."""

    process: BaseProcess
    pipe: Connection
    tasks: list[Any]
    ready: bool = False


class InProcess:
    """Runs tasks in this process, each when it is taken."""

    capacity = 1

    def __init__(self, function: Callable[[ShardTask], ShardResult]) -> None:
        self._function = function
        self._tasks: list[ShardTask] = []

    def submit(self, task: ShardTask) -> None:
        self._tasks.append(task)

    def take(self) -> tuple[ShardTask, ShardResult]:
        task = self._tasks.pop()
        return task, self._function(task)

    def close(self) -> None:
        close_file()


class Processes:
    """Runs tasks in worker processes, one at a time in each, started when they are needed."""

    def __init__(self, function: Callable[[Any], Any], workers: int) -> None:
        self.capacity = workers
        self._function = function
        self._workers: list[_Worker] = []
        self._failed_starts = 0

    def outcomes(self, tasks: Iterable[Item], most: Callable[[], int] | None = None) -> Iterator[tuple[Item, Any]]:
        """Each task with its result or ``WorkerLost``, as they end; ``most`` says how many may be under way now."""
        waiting = iter(tasks)
        running = 0
        while True:
            room = self.capacity if most is None else min(self.capacity, most())
            for task in islice(waiting, max(0, room - running)):
                self.submit(task)
                running += 1
            if not running:
                return
            yield self.take()
            running -= 1

    def submit(self, task: Any) -> None:
        worker = next((each for each in self._workers if not each.tasks), None) or self._start()
        worker.tasks.append(task)
        if worker.ready:
            _send(worker)

    def take(self) -> tuple[Any, Any]:
        while True:
            busy = {each.pipe: each for each in self._workers if each.tasks}
            worker = busy[wait(list(busy))[0]]  # type: ignore[index]
            try:
                answer = worker.pipe.recv()
            except (EOFError, OSError):
                self._remove(worker)
                [task] = worker.tasks
                if worker.ready:
                    return task, WorkerLost(task, _why_it_ended(worker.process.exitcode))
                self._count_failed_start(worker.process.exitcode)
                self.submit(task)
                continue
            if not worker.ready:
                worker.ready, self._failed_starts = True, 0
                _send(worker)
                continue
            if isinstance(answer, Exception):
                raise answer
            return worker.tasks.pop(), answer

    def close(self) -> None:
        for worker in self._workers:
            worker.process.terminate()  # It stops its planner and removes what that wrote.
        deadline = time.monotonic() + STOP_SECONDS
        for worker in list(self._workers):
            worker.process.join(max(0.0, deadline - time.monotonic()))
            worker.process.kill()
            self._remove(worker)

    def _start(self) -> _Worker:
        # Not fork: Arrow's and Ray's threads do not survive it.
        context = multiprocessing.get_context("spawn")
        ours, theirs = context.Pipe()
        process = context.Process(target=_serve, args=(theirs, self._function), daemon=True)
        process.start()
        theirs.close()
        self._workers.append(_Worker(process, ours, []))
        return self._workers[-1]

    def _remove(self, worker: _Worker) -> None:
        self._workers.remove(worker)
        worker.pipe.close()  # A process that still lives ends with its pipe.
        worker.process.join()

    def _count_failed_start(self, exitcode: int | None) -> None:
        self._failed_starts += 1
        # A process that ended by itself would do so again; one that was killed need not.
        if ((exitcode or 0) > 0 and exitcode != TERMINATED) or self._failed_starts == START_ATTEMPTS:
            raise EngineError(
                "Worker processes do not start: a script that calls score_dataset with workers "
                'does so under `if __name__ == "__main__":`.'
            )


@dataclass(frozen=True, slots=True)
class _Sent:
    """A task as it was given to Ray, and the nodes that may not run it."""

    task: ShardTask
    excluded: frozenset[str] = frozenset()


class RayTasks:
    """Runs each task as a Ray task, spread over the nodes.

    ``address`` as for ``ray.init``: ``auto``, ``host:port`` or ``ray://host:port``. Without it the cluster of
    ``RAY_ADDRESS`` is joined (so it is under ``ray job submit``), a Ray that this process is connected to is used, or
    a local one is started. ``workers`` bounds the tasks in flight. Raises ``EngineError`` where no Ray answers.
    """

    def __init__(self, function: Callable[[ShardTask], ShardResult], options: RunOptions, shards: int = 1) -> None:
        self._started = _connect(options)
        import ray  # A second to import, and only after ``_connect`` has set its environment.
        from ray.autoscaler.sdk import request_resources
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

        self._ray: Any = ray
        self._on_node: Callable[..., Any] = NodeAffinitySchedulingStrategy
        self._workers = options.workers
        self._own = self._started and not (options.address or cluster_address())
        self._counted = -math.inf
        self._cluster: dict[str, dict[str, float]] = {}
        self._running: dict[Any, _Sent] = {}
        self._nodes = Nodes()
        self._notices: deque[Notice] = deque()
        self._waiting_since: float | None = None
        self._waiting_said = False
        # No retries of Ray's own: poison rows are found by counting lost workers.
        self._task = ray.remote(max_retries=0, num_cpus=1, scheduling_strategy="SPREAD")(_run)
        self._function = ray.put(function)
        self._request: Callable[..., None] = request_resources
        self._asked, self._asked_at = 0, time.monotonic()
        if not self._own:
            self._ask(min(shards, options.workers or MOST_CPUS, MOST_CPUS))

    @property
    def capacity(self) -> int:
        if self._workers:
            return self._workers
        self._look()
        return max(2, math.ceil(TASKS_PER_CPU * self._cpus()))

    def submit(self, task: ShardTask) -> None:
        present = self._look()
        excluded, tried = self._nodes.excluded(present), self._nodes.tried(task.shard.name)
        options: dict[str, Any] = {} if self._own else {"memory": self._memory()}
        sent = _Sent(task)
        if tried and (others := sorted(present.keys() - excluded - tried)):
            # Soft: if that node goes away, any other one will do.
            options["scheduling_strategy"] = self._on_node(identity(random.choice(others)), soft=True)
        elif excluded:
            options["label_selector"] = {"ray.io/node-id": f"!in({','.join(sorted(map(identity, excluded)))})"}
            sent = _Sent(task, excluded)
        self._running[self._task.options(**options).remote(self._function, task)] = sent

    def take(self) -> tuple[ShardTask, ShardResult | WorkerLost] | Notice:
        errors = self._ray.exceptions
        while not self._notices:
            finished, _ = self._ray.wait(list(self._running), num_returns=1, timeout=RESOURCES_SECONDS)
            if not finished:
                self._see_who_waits()
                continue
            task = self._running.pop(finished[0]).task
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
        return self._notices.popleft()

    def close(self) -> None:
        self._ask(0)
        if self._started:
            self._ray.shutdown()  # It ends the tasks of this connection.
        else:
            for reference in self._running:
                # Not by force: that kills a worker under Ray's feet, which says so with a C++ stack trace.
                self._ray.cancel(reference)
        self._running.clear()

    def _look(self, seconds: float = RESOURCES_SECONDS) -> dict[str, dict[str, float]]:
        """The nodes with CPUs and their resources, as they were in the last seconds."""
        if time.monotonic() - self._counted > seconds:
            self._cluster = {
                _name_of(node): node["Resources"]
                for node in self._ray.nodes()
                if node["Alive"] and node["Resources"].get("CPU")
            }
            self._counted = time.monotonic()
            if self._cpus() >= self._asked or self._counted - self._asked_at > ASKING_SECONDS:
                self._ask(0)
        return self._cluster

    def _node_of(self, error: Exception) -> str | None:
        """The node on which a task could not even begin; None where the error does not say it."""
        if not isinstance(error, self._ray.exceptions.RayTaskError):
            return None
        # Ray's exceptions that are also of the cause's class keep no more than this text.
        said = re.search(r"\bip=([\w.:]+)", str(error))
        there = [node for node in self._ray.nodes() if node["Alive"] and said and node["NodeManagerAddress"] == said[1]]
        return _name_of(there[0]) if len(there) == 1 else None

    def _cpus(self) -> float:
        return sum(resources["CPU"] for resources in self._cluster.values())

    def _ask(self, cpus: int) -> None:
        """Ask an autoscaler, if there is one, for a cluster of that many CPUs; for none, where it was asked before."""
        if self._asked != cpus:
            with suppress(Exception):  # It is a hint: without it, nodes are started for the tasks that wait.
                self._request(num_cpus=cpus)
            self._asked = cpus

    def _memory(self) -> int:
        """What a task asks for: no more than the largest node has, or it would wait for ever.

        Nothing where there is no node yet: an autoscaler may not know what memory its nodes will have.
        """
        return int(min(TASK_MEMORY, max((each.get("memory", 0) for each in self._cluster.values()), default=0)))

    def _settled(self, task: ShardTask, result: ShardResult) -> ShardResult | None:
        """The result; None for a failure that another node may not have."""
        if isinstance(result, ShardRecord):
            self._nodes.scored(result.node, task.shard.name)  # The record may be of a part of the shard.
            return result
        present = self._look(0.0).keys()
        before = self._nodes.excluded(present)
        nodes = self._nodes.failed(result, present)
        for node in self._nodes.excluded(present) - before:
            reason = f"{shown(node)} failed {STRIKES} shards in a row and gets no more: {self._nodes.reason(node)}"
            self._notices.append(Notice("node_excluded", reason, node))
        tried = ", ".join(map(shown, nodes[:AGREED]))
        return replace(result, reason=f"{result.reason.rstrip('.')} (tried on {tried}).") if nodes else None

    def _see_who_waits(self) -> None:
        """Give tasks that no node may run to other nodes; say so and, in the end, raise where there are none."""
        present = self._look(0.0).keys()
        excluded = self._nodes.excluded(present)
        for reference, sent in list(self._running.items()):
            if present <= sent.excluded and not present <= excluded:
                del self._running[reference]
                self._ray.cancel(reference)
                self.submit(sent.task)
        now = time.monotonic()
        if present - excluded:
            self._waiting_since = None
            return
        if self._waiting_since is None:
            self._waiting_since, self._waiting_said = now, False
        if excluded & present and now - self._waiting_since > EXCLUDED_SECONDS:
            reasons = "; ".join(f"{shown(node)}: {self._nodes.reason(node)}" for node in sorted(excluded & present))
            raise EngineError(f"No node is left that can score shards. {reasons}")
        if not self._waiting_said and now - self._waiting_since > NO_NODE_SECONDS:
            self._waiting_said = True
            nodes = "All its nodes are excluded" if present else "The cluster has no node with CPUs"
            self._notices.append(
                Notice("no_node", f"{nodes}: {len(self._running)} shards wait for one (see ray status).")
            )


def _name_of(node: dict[str, Any]) -> str:
    return f"{node['NodeManagerHostname']}/{node['NodeID']}"


Engine = InProcess | Processes | RayTasks


def _of_second(function: Callable[[Item], Result], task: tuple[int, Item]) -> Result:
    return function(task[1])


def _send(worker: _Worker) -> None:
    with suppress(OSError):  # It died just now: ``take`` finds the end of the pipe.
        worker.pipe.send(worker.tasks[0])


def _serve(pipe: Connection, function: Callable[[Any], Any]) -> None:
    """What a worker process does. It ends with the pipe, so it does not outlive the process that started it."""
    # Ctrl-C reaches the whole process group; the parent decides what to do.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, _stop)
    gc.set_threshold(*GARBAGE_THRESHOLDS)
    with suppress(EOFError, OSError):
        pipe.send("ready")
        while True:
            task = pipe.recv()
            try:
                answer = function(task)
            except Exception as error:
                answer = error
            pipe.send(answer)


def _stop(_signal: int, _frame: object) -> NoReturn:
    told_to_stop.set()
    raise SystemExit(TERMINATED)


def _why_it_ended(exitcode: int | None) -> str:
    if exitcode is not None and exitcode < 0:
        with suppress(ValueError):
            return f"its process was ended by {signal.Signals(-exitcode).name}"
    return f"its process ended with exit code {exitcode}"


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


def _run(function: Callable[[ShardTask], ShardResult], task: ShardTask) -> ShardResult:
    import ray  # Only in a Ray worker.

    result = function(task)
    if task.probe is None:
        _count(result)
    return replace(result, node=f"{platform.node()}/{ray.get_runtime_context().get_node_id()}")


def _count(result: ShardResult) -> None:
    """Count work done, from inside the task that did it; a shard that had to be done twice counts twice.

    Ray exports these counts to the monitoring that watches the cluster (Prometheus, on each node): ``pddl_eval_rows``,
    of these ``pddl_eval_carried_rows`` and ``pddl_eval_errors`` (with a ``score_error``), ``pddl_eval_verdicts`` (by
    ``verdict``), ``pddl_eval_failed_shards``, the histogram ``pddl_eval_shard_seconds``.
    """
    if isinstance(result, ShardFailure):
        _metric("Counter", "failed_shards", "Shards that could not be written.").inc()
        return
    errors = result.statistics.get(SCORE_ERROR, {}).get("count", 0)
    verdicts = result.statistics.get(VERDICT, {})
    for name, rows, description, tags in (
        ("rows", result.rows, "Rows written, scored or carried over.", {}),
        ("carried_rows", result.carried, "Rows whose scores were carried over.", {}),
        ("errors", errors, "Rows with a score_error.", {}),
        *(("verdicts", rows, "Rows by verdict.", {"verdict": verdict}) for verdict, rows in verdicts.items()),
    ):
        if rows:  # Ray's counters refuse zero.
            _metric("Counter", name, description, tag_keys=tuple(tags)).inc(rows, tags)
    _metric("Histogram", "shard_seconds", "Wall time of a shard.", boundaries=HISTOGRAM_SECONDS).observe(result.seconds)


@lru_cache
def _metric(kind: str, name: str, description: str, **settings: tuple[Any, ...]) -> Any:
    from ray.util import metrics  # Only in a Ray worker, which has imported ray.

    return getattr(metrics, kind)(f"pddl_eval_{name}", description, **settings)
