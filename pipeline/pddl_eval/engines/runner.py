"""The loop that all engines share: a bounded number of shards in flight, each led through its life."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from typing import Protocol

from pddl_eval.dataset.partitions import ShardRecord
from pddl_eval.dataset.shards import Shard
from pddl_eval.dataset.work import ShardFailure, ShardTask
from pddl_eval.engines.attempts import Life, Outcome, WorkerLost, life_of_shard
from pddl_eval.errors import RunError


class EngineError(RunError):
    """Why an engine cannot run anything, in one sentence."""


class Pool(Protocol):
    """Workers that run shard tasks. ``close`` stops what still runs and may be called at any time."""

    @property
    def capacity(self) -> int:
        """Tasks that it is worth to have submitted at the same time."""

    def submit(self, task: ShardTask) -> None:
        """Begin a task; only called while fewer than ``capacity`` are begun and not taken."""

    def take(self) -> tuple[ShardTask, Outcome]:
        """Wait for any begun task and return it with what came of it; raises ``EngineError``."""

    def close(self) -> None: ...


def run_shards(pool: Pool, shards: Iterable[Shard]) -> Iterator[Outcome]:
    """What came of each shard, as they finish, one record or failure each; lost workers are told in between.

    Ends early, without touching the shards that are left, after a failure that is fatal.
    """
    fresh = iter(shards)
    lives: dict[str, Life] = {}
    ready: deque[ShardTask] = deque()
    running = 0
    while True:
        while running < pool.capacity:
            if not ready:
                shard = next(fresh, None)
                if shard is None:
                    break
                lives[shard.name] = life_of_shard(shard)
                ready.append(next(lives[shard.name]))
            pool.submit(ready.popleft())
            running += 1
        if not running:
            return
        task, outcome = pool.take()
        running -= 1
        if isinstance(outcome, WorkerLost):
            yield outcome
        try:
            ready.append(lives[task.shard.name].send(outcome))
        except StopIteration as end:
            del lives[task.shard.name]
            result: ShardRecord | ShardFailure = end.value
            yield result
            if isinstance(result, ShardFailure) and result.fatal:
                return
