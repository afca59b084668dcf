"""The life of a shard among workers that can be lost: when to try again, how to find the row that kills, when to stop.

A worker is lost to a machine that goes away, to the kernel's out-of-memory killer or to a crash in a library. The first
says nothing about the shard; the others come again. So after two losses the shard is probed by bisection, where every
suspicion must repeat itself: an innocent shard on an unreliable cluster comes out of it clean. A row that does kill its
worker is written without scores and the rest of the shard is scored.

There is no time limit a shard: scoring bounds its own searches, and a limit here could only guess.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass

from pddl_eval.dataset.partitions import ShardRecord
from pddl_eval.dataset.shards import Shard
from pddl_eval.dataset.work import ShardFailure, ShardTask

LOSSES_BEFORE_PROBING = 2
LOSSES_OF_A_KILLER = 10
"""How often running a single row must lose its worker to be held responsible. On a cluster where every second task
loses its worker, whatever it does, one innocent suspect in a thousand would be."""

ATTEMPTS = 20
"""Full attempts at a shard, before and after probing."""

MOST_KILLERS = 16
"""Rows of one shard that are left out at most; where there are more, something other than the rows is broken."""

ADVICE = "look at the installation and the memory of the workers, then try a smaller --shard-rows"


@dataclass(frozen=True, slots=True)
class WorkerLost:
    """A task came back without an answer because its worker died; ``reason`` is as the engine tells it."""

    name: str
    attempt: int
    reason: str


Outcome = ShardRecord | ShardFailure | WorkerLost

Life = Generator[ShardTask, Outcome, ShardRecord | ShardFailure]
"""Yields what is to be tried next, is sent what came of it, returns what came of the shard."""


def life_of_shard(shard: Shard) -> Life:
    """Attempts at a shard until there is a record or a failure to return."""
    killers: tuple[int, ...] = ()
    losses = 0
    reason = ""
    for attempt in range(1, ATTEMPTS + 1):
        outcome = yield ShardTask(shard, attempt, killers)
        if not isinstance(outcome, WorkerLost):
            return outcome
        reason = outcome.reason
        losses += 1
        if losses == LOSSES_BEFORE_PROBING:
            losses = 0
            found = yield from _find_killers(shard, attempt, killers)
            if isinstance(found, ShardFailure):
                return found
            killers = found
    return ShardFailure(
        shard.name,
        f"It lost its worker {ATTEMPTS} times ({reason}), and no single row of it does that: {ADVICE}.",
    )


def _find_killers(
    shard: Shard, attempt: int, known: tuple[int, ...]
) -> Generator[ShardTask, Outcome, tuple[int, ...] | ShardFailure]:
    killers = list(known)
    suspects = [(shard.start, shard.stop)]
    while suspects:
        start, stop = suspects.pop()
        single = stop - start == 1
        if start == stop or (single and start in killers):
            continue
        for _ in range(LOSSES_OF_A_KILLER if single else 1):
            outcome = yield ShardTask(shard, attempt, tuple(killers), probe=(start, stop))
            if not isinstance(outcome, WorkerLost):
                break
        else:
            if single:
                killers.append(start)
            else:
                middle = (start + stop) // 2
                suspects += [(middle, stop), (start, middle)]
        if isinstance(outcome, ShardFailure):
            return outcome
        if len(killers) > MOST_KILLERS:
            return ShardFailure(shard.name, f"More than {MOST_KILLERS} of its rows end their worker: {ADVICE}.")
    return tuple(sorted(killers))
