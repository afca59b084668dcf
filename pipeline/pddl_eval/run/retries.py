"""Retry policy for shards whose worker died: when to try again, how to find the poison row, when to give up.

A worker dies because its machine goes away, because the kernel's out-of-memory killer ends it, or because a library
crashes. The first says nothing about the shard; the others happen again. So after two losses the shard is bisected for
the row that ends its worker. A single row must end its worker many times in a row, so that chance blames none. Such a
poison row is written without scores, and the rest of the shard is scored.

A worker bounds the time of a shard by itself: it hands back what it has not done (``partitions.SHARD_SECONDS``), and
the rest goes on as another shard.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Generator, Iterable, Iterator

from pddl_eval.run.engines import Engine, NodeExcluded, WorkerLost
from pddl_eval.run.partitions import ShardFailure, ShardRecord, ShardResult, ShardTask
from pddl_eval.run.shards import Shard

LOSSES_BEFORE_PROBING = 2
LOSSES_OF_POISON = 10
"""How often a single row must lose its worker to count as poison. On a cluster where every second task loses its
worker by chance, one row in a thousand of those suspected would be blamed wrongly."""

ATTEMPTS = 20
"""Full attempts at a shard, before and after probing."""

MOST_POISON_ROWS = 16
"""Rows of one shard that are left out at most; where there are more, something other than the rows is broken."""

ADVICE = "look at the installation and the memory of the workers, then try a smaller shard_rows"


def run_shards(engine: Engine, shards: Iterable[Shard]) -> Iterator[ShardResult | WorkerLost | NodeExcluded]:
    """The record or failure of each shard, as they finish; each lost worker and what the engine has to say in between.

    At most as many shards are in flight as the engine has capacity for. What a shard has handed back, because its time
    was up, goes on as shards of its own: as many as there are workers without anything else to do.
    """
    waiting = deque(ShardTask(shard) for shard in shards)
    begun: dict[Shard, Attempts] = {}
    running = 0
    while waiting or running:
        while waiting and running < engine.capacity:
            engine.submit(waiting.popleft())
            running += 1
        taken = engine.take()
        if isinstance(taken, NodeExcluded):
            yield taken
            continue
        task, result = taken
        shard = task.shard
        running -= 1
        if isinstance(result, WorkerLost):
            yield result
        if shard not in begun:
            begun[shard] = attempts_at(shard, task.unscored)
            next(begun[shard])  # The task that has just ended.
        try:
            waiting.appendleft(begun[shard].send(result))
        except StopIteration as end:
            del begun[shard]
            if isinstance(end.value, ShardRecord) and end.value.stop < shard.stop:
                idle = max(1, engine.capacity - running - len(waiting))
                size = -(-(shard.stop - end.value.stop) // idle)
                for start in range(end.value.stop, shard.stop, size):
                    rest = shard.between(start, min(start + size, shard.stop))
                    poison = tuple(row for row in task.unscored if start <= row < rest.stop)
                    waiting.append(ShardTask(rest, unscored=poison))
            yield end.value


Attempts = Generator[ShardTask, ShardResult | WorkerLost, ShardResult]


def attempts_at(shard: Shard, poison: tuple[int, ...] = ()) -> Attempts:
    """Yields what to try next, is sent its result, returns the record or failure of the shard."""
    reason = ""
    for attempt in range(1, ATTEMPTS + 1):
        result = yield ShardTask(shard, attempt, poison)
        if not isinstance(result, WorkerLost):
            return result
        reason = result.reason
        if attempt % LOSSES_BEFORE_PROBING == 0:
            found = yield from _find_poison(shard, attempt, poison)
            if isinstance(found, ShardFailure):
                return found
            poison = found
    return ShardFailure(
        shard.name, f"It lost its worker {ATTEMPTS} times ({reason}), and no single row of it does that: {ADVICE}."
    )


def _find_poison(
    shard: Shard, attempt: int, known: tuple[int, ...]
) -> Generator[ShardTask, ShardResult | WorkerLost, tuple[int, ...] | ShardFailure]:
    poison = list(known)
    suspects = [(shard.start, shard.stop)]
    while suspects:
        start, stop = suspects.pop()
        single = stop - start == 1
        if start == stop or (single and start in poison):
            continue
        for _ in range(LOSSES_OF_POISON if single else 1):
            result = yield ShardTask(shard, attempt, tuple(poison), probe=(start, stop))
            if not isinstance(result, WorkerLost):
                break
        else:
            if single:
                poison.append(start)
            else:
                middle = (start + stop) // 2
                suspects += [(middle, stop), (start, middle)]
        if isinstance(result, ShardFailure):
            return result
        if isinstance(result, ShardRecord) and start < result.stop < stop:
            suspects.append((result.stop, stop))  # Its time was up there.
        if len(poison) > MOST_POISON_ROWS:
            return ShardFailure(shard.name, f"More than {MOST_POISON_ROWS} of its rows end their worker: {ADVICE}.")
    return tuple(sorted(poison))
