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
from collections.abc import Collection, Generator, Iterable, Iterator
from itertools import groupby

from pddl_eval.run.engines import Engine, Notice, WorkerLost
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

SKIPPED_ROWS = 50
"""Rows of a row group that are decoded in the time in which one is scored (about)."""

ADVICE = "look at the installation and the memory of the workers, then try a smaller --shard-rows"


def run_shards(engine: Engine, shards: Iterable[Shard]) -> Iterator[ShardResult | WorkerLost | Notice]:
    """The record or failure of each shard, as they finish; each lost worker and what the engine has to say in between.

    At most as many shards are in flight as the engine has capacity for. What a shard has handed back, because its time
    was up, goes on as shards of its own: as many as there are workers without anything else to do.
    """
    queue = Queue(shards)
    begun: dict[Shard, Attempts] = {}
    again: deque[ShardTask] = deque()
    running = 0
    done: Shard | None = None
    while True:
        while running < engine.capacity:
            if again:
                task = again.popleft()
            else:
                shard = queue.next(done, engine.capacity - running, running)
                if shard is None:
                    break
                begun[shard] = attempts_at(shard, queue.poison(shard))
                task = next(begun[shard])
            engine.submit(task)
            running += 1
        if not running:
            return
        taken = engine.take()
        if isinstance(taken, Notice):
            yield taken
            continue
        task, result = taken
        running -= 1
        done = task.shard
        if isinstance(result, WorkerLost):
            yield result
        try:
            again.append(begun[task.shard].send(result))
        except StopIteration as end:
            del begun[task.shard]
            if isinstance(end.value, ShardRecord) and end.value.stop < task.shard.stop:
                queue.hand_back(task.shard.between(end.value.stop, task.shard.stop), task.unscored)
            yield end.value


class Queue:
    """The shards that nobody works on.

    Shards of one row group follow each other where they can, because a worker that goes on where it stopped in a file
    does not decode again what comes before. So each row group with several shards is a lane, a slot that has done one
    of its shards gets the next one, and a slot without a lane gets a new one or half of the longest. Of N slots that
    share one row group, the n-th decodes n of its N stretches, where without lanes each decodes all.
    """

    def __init__(self, shards: Iterable[Shard]) -> None:
        self._fresh = [list(lane) for _, lane in groupby(shards, key=_lane)]
        self._fresh.reverse()
        self._lanes: list[deque[Shard]] = []
        self._handed_back: list[Shard] = []
        self._poison: set[tuple[str, int]] = set()

    def next(self, done: Shard | None, idle: int, busy: int) -> Shard | None:
        """What a slot works on that has just done a shard, or nothing yet; so many slots are idle (itself too) or busy.

        While others are busy, too few rows behind too many are left to who gets there without decoding them again.
        """
        self._lanes = [lane for lane in self._lanes if lane]
        for lane in self._lanes:
            if done is not None and lane[0].file == done.file and lane[0].start == done.stop:
                return lane.popleft()
        if self._fresh:
            self._lanes.append(deque(self._fresh.pop()))
            return self._lanes[-1].popleft()
        if self._lanes:
            longest = max(self._lanes, key=len)
            half = list(longest)[len(longest) // 2 :]
            skipped = half[0].start - (half[0].group or 0)
            if skipped <= SKIPPED_ROWS * sum(shard.rows for shard in half) or not busy:
                for _ in half:
                    longest.pop()
                self._lanes.append(deque(half))
                return self._lanes[-1].popleft()
        if not self._handed_back:
            return None
        shard = self._handed_back.pop(0)
        rows = -(-shard.rows // max(1, idle - len(self._handed_back)))
        if rows < shard.rows:
            self._handed_back.append(shard.between(shard.start + rows, shard.stop))
        return shard.between(shard.start, shard.start + rows)

    def hand_back(self, shard: Shard, poison: Collection[int]) -> None:
        """Take back rows that the time was not enough for; ``poison`` are rows known to end their worker."""
        self._handed_back.append(shard)
        self._poison |= {(shard.stem, row) for row in poison}

    def poison(self, shard: Shard) -> tuple[int, ...]:
        """The rows of a shard that are known to end their worker."""
        rows = (row for stem, row in self._poison if stem == shard.stem)
        return tuple(sorted(row for row in rows if shard.start <= row < shard.stop))


def _lane(shard: Shard) -> object:
    return shard if shard.group is None else (shard.stem, shard.group)


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
