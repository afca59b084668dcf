"""Engine ``local``: shards one after the other in this process, or in worker processes of this machine.

Each worker is a process of its own with a pipe of its own, and not a member of a ``ProcessPoolExecutor``: when a member
of that dies all of its tasks fail, and it could not be told which shard the worker was lost to.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import signal
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess

from pddl_eval.dataset.partitions import ShardRecord
from pddl_eval.dataset.rows import close_files
from pddl_eval.dataset.work import ShardFailure, ShardTask
from pddl_eval.engines.attempts import Outcome, WorkerLost
from pddl_eval.engines.runner import EngineError
from pddl_eval.errors import UserError

ShardFunction = Callable[[ShardTask], ShardRecord | ShardFailure]
"""Picklable; where it runs is all that an engine decides."""

READY = "ready"
"""What a worker says first."""

START_SECONDS = 120.0
"""After which a worker process that has not said so is given up."""

START_ATTEMPTS = 5
"""Processes that are started for a worker until one is ready, where something kills them."""


class InProcess:
    """Runs each task here when it is asked for its result. A row that kills its worker kills this process."""

    capacity = 1

    def __init__(self, function: ShardFunction) -> None:
        self._function = function
        self._tasks: deque[ShardTask] = deque()

    def submit(self, task: ShardTask) -> None:
        self._tasks.append(task)

    def take(self) -> tuple[ShardTask, Outcome]:
        task = self._tasks.popleft()
        return task, self._function(task)

    def close(self) -> None:
        close_files()


@dataclass(slots=True)
class _Worker:
    process: BaseProcess
    pipe: Connection
    task: ShardTask | None = None


class Processes:
    """Runs tasks in worker processes, one at a time in each; a process that dies is replaced.

    Raises ``EngineError`` where the processes do not come up.
    """

    def __init__(self, function: ShardFunction, workers: int) -> None:
        self._function = function
        self._workers: list[_Worker] = []
        try:
            for _ in range(workers):
                self._workers.append(self._start())
            for place in range(workers):
                self._await_start(place)
        except BaseException:
            self.close()
            raise

    @property
    def capacity(self) -> int:
        return len(self._workers)

    def submit(self, task: ShardTask) -> None:
        for place, worker in enumerate(self._workers):
            if worker.task is None:
                if not worker.process.is_alive():
                    worker = self._replace(place)
                worker.task = task
                with contextlib.suppress(OSError):  # Died just now: the pipe tells ``take``.
                    worker.pipe.send(task)
                return
        raise UserError("no worker is free")

    def take(self) -> tuple[ShardTask, Outcome]:
        busy = {worker.pipe: place for place, worker in enumerate(self._workers) if worker.task is not None}
        pipe = wait(list(busy))[0]
        place = busy[pipe]  # type: ignore[index]
        worker = self._workers[place]
        task = worker.task
        assert task is not None
        worker.task = None
        try:
            return task, worker.pipe.recv()
        except (EOFError, OSError):
            worker.process.join()
            reason = _why_it_ended(worker.process.exitcode)
            self._replace(place)
            return task, WorkerLost(task.shard.name, task.attempt, reason)

    def close(self) -> None:
        for worker in self._workers:
            worker.process.kill()
        for worker in self._workers:
            worker.process.join()
            worker.pipe.close()
        self._workers.clear()

    def _start(self) -> _Worker:
        # Not fork: Arrow's and Ray's threads do not survive it.
        context = multiprocessing.get_context("spawn")
        ours, theirs = context.Pipe()
        process = context.Process(target=_serve, args=(theirs, self._function), daemon=True)
        process.start()
        theirs.close()
        return _Worker(process, ours)

    def _await_start(self, place: int) -> None:
        for _ in range(START_ATTEMPTS):
            worker = self._workers[place]
            with contextlib.suppress(EOFError, OSError):
                if worker.pipe.poll(START_SECONDS) and worker.pipe.recv() == READY:
                    return
            worker.process.kill()
            worker.process.join()
            worker.pipe.close()
            if (worker.process.exitcode or 0) > 0:
                break  # It ended by itself, and would do so again; being killed says nothing.
            self._workers[place] = self._start()
        raise EngineError(
            "Worker processes do not start: a script that calls score_dataset with workers "
            'does so under `if __name__ == "__main__":`.'
        )

    def _replace(self, place: int) -> _Worker:
        old = self._workers[place]
        old.pipe.close()
        old.process.kill()
        old.process.join()
        self._workers[place] = self._start()
        self._await_start(place)
        return self._workers[place]


def _serve(pipe: Connection, function: ShardFunction) -> None:
    """A worker's life: it ends when the pipe does, so it does not outlive the process that started it."""
    # Ctrl-C reaches the whole group; the parent decides what it means.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with contextlib.suppress(EOFError, OSError):
        pipe.send(READY)
        while True:
            pipe.send(function(pipe.recv()))


def _why_it_ended(exitcode: int | None) -> str:
    if exitcode is not None and exitcode < 0:
        with contextlib.suppress(ValueError):
            return f"its process was ended by {signal.Signals(-exitcode).name}"
    return f"its process ended with exit code {exitcode}"
