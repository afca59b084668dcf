"""Worker processes of this machine, each with a pipe of its own.

``ProcessPoolExecutor`` would not do: when one of its processes dies all tasks fail, nothing says which task the process
died of, and its processes outlive a parent that is killed. ``ordered_map`` uses the same worker processes for programs
without shards.
"""

from __future__ import annotations

import math
import multiprocessing
import platform
import signal
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess, _children  # type: ignore[attr-defined]
from typing import Any, NoReturn, TypeVar

from pddl_eval.errors import RunError
from pddl_eval.process import begin_own_process, rows_scored, stop_requested

START_ATTEMPTS = 5
"""Worker processes in a row that may be killed before they are ready."""

START_SECONDS = 120.0
"""How long a worker process may take to be ready."""

STOP_SECONDS = 2.0
"""How long worker processes may take to stop by themselves."""

TERMINATED = 128 + signal.SIGTERM
"""Exit code of a worker process that was told to stop."""

AHEAD = 3
"""Items for each worker that ``ordered_map`` takes before the first of them is done."""

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
class UnderWay:
    """A task that a worker has been on for ``seconds``, on which machine, and how many rows of it are scored.

    On Ray nothing says the latter.
    """

    task: Any
    node: str
    seconds: float
    rows: int = 0


def ordered_map(
    function: Callable[[Item], Result], items: Iterable[Item], workers: int, asked_by: str = "score_dataset"
) -> Iterator[Result]:
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
    with closing(Processes(partial(_of_second, function), workers, asked_by)) as pool:
        for (number, _), result in pool.outcomes(enumerate(items), lambda: AHEAD * workers - len(results)):
            if isinstance(result, WorkerLost):
                raise EngineError(
                    f"A worker process was lost ({result.reason}): it may lack memory, try fewer workers."
                )
            results[number] = result
            while following in results:
                yield results.pop(following)
                following += 1


def _of_second(function: Callable[[Item], Result], task: tuple[int, Item]) -> Result:
    return function(task[1])


@dataclass(slots=True, eq=False)
class _Worker:
    """``tasks`` holds the task that it works on, or will work on when it is ready."""

    process: BaseProcess
    pipe: Connection
    counter: Any
    tasks: list[Any] = field(default_factory=list)
    ready: bool = False
    since: float = field(default_factory=time.monotonic)
    """When it was started, or was sent its task."""

    def send(self) -> None:
        self.since = time.monotonic()
        self.counter.value = 0
        with suppress(OSError):  # It died just now: ``take`` finds the end of the pipe.
            self.pipe.send(self.tasks[0])


_forked: list[_Worker] = []
"""Worker processes that wait for a function."""


@contextmanager
def forked_workers(number: int) -> Iterator[None]:
    """In the block, the first so many worker processes of ``Processes`` are forks of this process as it is now.

    They have what it has imported: one that is spawned imports that anew, 0.4 s of processor time. Only for a process
    that has not used its libraries yet: forks of one whose threads hold a lock (Arrow's, of a store's client) can hang.
    """
    context = multiprocessing.get_context("fork")
    with suppress(OSError):  # No memory, no more processes: they are started when they are needed.
        for _ in range(number):
            ours, theirs = context.Pipe()
            counter = context.RawValue("q")
            inherited = [*(each.pipe for each in _forked), ours]
            process = context.Process(target=_serve_forked, args=(theirs, counter, inherited), daemon=True)
            process.start()
            theirs.close()
            _forked.append(_Worker(process, ours, counter))
    try:
        yield
    finally:
        while _forked:
            worker = _forked.pop()
            worker.pipe.close()  # It ends with its pipe.
            worker.process.join(STOP_SECONDS)


class Processes:
    """Runs tasks in worker processes, one at a time in each, started when they are needed.

    ``asked_by`` is the public function that asked for them. A worker that does not answer for ``patience`` seconds is
    lost: it is stopped, or waits for a disk that does not answer. Raises ``EngineError`` where none starts.
    """

    def __init__(
        self,
        function: Callable[[Any], Any],
        workers: int,
        asked_by: str = "score_dataset",
        patience: float = math.inf,
    ) -> None:
        self.capacity = workers
        self._asked_by = asked_by
        self._patience = patience
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
            worker.send()

    def take(self) -> tuple[Any, Any]:
        while True:
            busy = {each.pipe: each for each in self._workers if each.tasks}
            oldest = min(busy.values(), key=self._deadline)
            left = self._deadline(oldest) - time.monotonic()
            answered = wait(list(busy), None if left == math.inf else max(0.0, left))
            worker = busy[answered[0]] if answered else oldest  # type: ignore[index]
            try:
                if not answered:
                    worker.process.kill()
                    raise EOFError
                answer = worker.pipe.recv()
            except (EOFError, OSError):
                self._remove(worker)
                [task] = worker.tasks
                if worker.ready:
                    why = _why_it_ended(worker.process.exitcode) if answered else silence(self._patience)
                    return task, WorkerLost(task, why)
                self._count_failed_start(worker.process.exitcode or 0)
                self.submit(task)
                continue
            if not worker.ready:
                worker.ready, self._failed_starts = True, 0
                worker.send()
                continue
            if isinstance(answer, Exception):
                raise answer
            return worker.tasks.pop(), answer

    def _deadline(self, worker: _Worker) -> float:
        """When the worker will have been silent for too long; it takes more to start Python on a busy machine."""
        return worker.since + (self._patience if worker.ready else max(self._patience, START_SECONDS))

    def under_way(self) -> list[UnderWay]:
        """What the workers are on; it may be asked from another thread."""
        now, node = time.monotonic(), platform.node()
        busy = [each for each in list(self._workers) if each.ready]
        return [
            UnderWay(task, node, now - each.since, each.counter.value) for each in busy for task in list(each.tasks)
        ]

    def close(self) -> None:
        for worker in self._workers:
            worker.process.terminate()  # It stops its planner and removes what that wrote.
        deadline = time.monotonic() + STOP_SECONDS
        for worker in list(self._workers):
            worker.process.join(max(0.0, deadline - time.monotonic()))
            worker.process.kill()
            self._remove(worker)

    def _start(self) -> _Worker:
        current = multiprocessing.current_process()
        if current.daemon:
            raise EngineError(
                "This process is daemonic, such as a data loader's worker, and may not start worker processes: leave "
                f"out the workers of {self._asked_by}."
            )
        if getattr(current, "_inheriting", False):
            raise SystemExit(1)  # A worker that runs a script without its guard: the process that started it says so.
        if _forked:
            worker = _forked.pop()
            worker.since = time.monotonic()
            with suppress(OSError):  # It died: ``take`` finds the end of the pipe.
                worker.pipe.send(self._function)
            self._workers.append(worker)
            return worker
        # Not fork: Arrow's and Ray's threads do not survive it.
        context = multiprocessing.get_context("spawn")
        ours, theirs = context.Pipe()
        counter = context.RawValue("q")
        process = context.Process(target=_serve, args=(theirs, self._function, counter), daemon=True)
        process.start()
        theirs.close()
        self._workers.append(_Worker(process, ours, counter))
        return self._workers[-1]

    def _remove(self, worker: _Worker) -> None:
        self._workers.remove(worker)
        worker.pipe.close()  # A process that still lives ends with its pipe.
        worker.process.join(STOP_SECONDS)
        if worker.process.is_alive():  # The kernel waits for a disk: not even SIGKILL ends that, and nor do we wait.
            _children.discard(worker.process)

    def _count_failed_start(self, exitcode: int) -> None:
        self._failed_starts += 1
        # A process that ended by itself would do so again; one that was killed need not.
        if (exitcode > 0 and exitcode != TERMINATED) or self._failed_starts == START_ATTEMPTS:
            reason = _why_it_ended(exitcode).replace("its process", "the last one")
            advice = "look at the memory of this machine, and try fewer workers"
            if exitcode >= 0:
                advice = f'a script that calls {self._asked_by} with workers does so under `if __name__ == "__main__":`'
            raise EngineError(f"Worker processes do not start ({reason}): {advice}.") from None


def _serve(pipe: Connection, function: Callable[[Any], Any], counter: Any) -> None:
    """What a worker process does. It ends with the pipe, so it does not outlive the process that started it."""
    rows_scored.counter = counter
    # Ctrl-C reaches the whole process group; the parent decides what to do.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, _stop)
    begin_own_process()
    with suppress(EOFError, OSError):
        pipe.send("ready")
        while True:
            task = pipe.recv()
            try:
                answer = function(task)
            except Exception as error:
                answer = error
            pipe.send(answer)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)  # It ends already: being told so is no error.


def _serve_forked(pipe: Connection, counter: Any, inherited: Iterable[Connection]) -> None:
    """What a forked worker does: it waits for its function. ``inherited`` are pipes of the process that forked it."""
    for each in inherited:
        each.close()  # Else a worker would not end with that process.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    with suppress(EOFError, OSError):
        _serve(pipe, pipe.recv(), counter)


def _stop(_signal: int, _frame: object) -> NoReturn:
    stop_requested.set()
    raise SystemExit(TERMINATED)


def silence(seconds: float) -> str:
    """Why a worker is lost that did not answer for so long."""
    return f"its process did not answer for {seconds:.0f} s"


def _why_it_ended(exitcode: int | None) -> str:
    if exitcode is not None and exitcode < 0:
        with suppress(ValueError):
            return f"its process was ended by {signal.Signals(-exitcode).name}"
    return f"its process ended with exit code {exitcode}"
