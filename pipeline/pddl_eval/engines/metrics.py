"""What workers on a Ray cluster count, for the monitoring that watches the cluster.

Ray exports these with its own metrics (Prometheus, on each node); elsewhere nobody would read them, so no other engine
comes here. Counted is work done: a shard that had to be done twice counts twice.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from pddl_eval.dataset.partitions import ShardRecord
from pddl_eval.dataset.work import SCORE_ERROR, ShardFailure

if TYPE_CHECKING:
    from ray.util.metrics import Counter, Histogram

SECONDS = (0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0, 300.0)
"""Bounds of the histogram's bins."""


def count_shard(outcome: ShardRecord | ShardFailure) -> None:
    """Count what came of a shard, from inside the task that did it.

    ``pddl_eval_rows``, of these ``pddl_eval_carried_rows`` and ``pddl_eval_errors`` (with a ``score_error``),
    ``pddl_eval_verdicts`` (by ``verdict``), ``pddl_eval_failed_shards``, the histogram ``pddl_eval_shard_seconds``.
    """
    if isinstance(outcome, ShardFailure):
        _counter("pddl_eval_failed_shards", "Shards that could not be written.").inc()
        return
    _add("pddl_eval_rows", "Rows written, scored or carried over.", outcome.rows)
    _add("pddl_eval_carried_rows", "Rows whose scores were carried over.", outcome.carried)
    _add("pddl_eval_errors", "Rows with a score_error.", outcome.statistics.get(SCORE_ERROR, {}).get("count", 0))
    for verdict, rows in outcome.statistics.get("verdict", {}).items():
        _add("pddl_eval_verdicts", "Rows by verdict.", rows, {"verdict": verdict})
    _seconds().observe(outcome.seconds)


def _add(name: str, description: str, value: float, tags: dict[str, str] | None = None) -> None:
    if value:  # Ray's counters refuse zero.
        _counter(name, description, tuple(tags or ())).inc(value, tags or {})


@lru_cache
def _counter(name: str, description: str, tags: tuple[str, ...] = ()) -> Counter:
    from ray.util.metrics import Counter

    return Counter(name, description, tag_keys=tags)


@lru_cache
def _seconds() -> Histogram:
    from ray.util.metrics import Histogram

    return Histogram("pddl_eval_shard_seconds", "Wall time of a shard.", boundaries=list(SECONDS))
