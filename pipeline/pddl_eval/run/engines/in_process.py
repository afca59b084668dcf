"""Shards in this process: for few rows, which are scored before a worker process would have started."""

from __future__ import annotations

import platform
import time
from collections.abc import Callable

from pddl_eval.datasets import close_file
from pddl_eval.process import rows_scored
from pddl_eval.run.engines.processes import UnderWay
from pddl_eval.run.partitions import ShardResult, ShardTask


class InProcess:
    """Runs tasks in this process, each when it is taken."""

    capacity = 1

    def __init__(self, function: Callable[[ShardTask], ShardResult]) -> None:
        self._function = function
        self._tasks: list[ShardTask] = []
        self._begun: tuple[ShardTask, float] | None = None

    def submit(self, task: ShardTask) -> None:
        self._tasks.append(task)

    def take(self) -> tuple[ShardTask, ShardResult]:
        task = self._tasks.pop()
        self._begun = task, time.monotonic()
        rows_scored.counter.value = 0
        try:
            return task, self._function(task)
        finally:
            self._begun = None

    def under_way(self) -> list[UnderWay]:
        """What this process is on; it may be asked from another thread."""
        begun = self._begun
        if begun is None:
            return []
        return [UnderWay(begun[0], platform.node(), time.monotonic() - begun[1], rows_scored.counter.value)]

    def close(self) -> None:
        close_file()
