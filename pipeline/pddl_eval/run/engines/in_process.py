"""Shards in this process: for few rows, which are scored before a worker process would have started."""

from __future__ import annotations

from collections.abc import Callable

from pddl_eval.datasets import close_file
from pddl_eval.run.partitions import ShardResult, ShardTask


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
