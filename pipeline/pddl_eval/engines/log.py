"""What happened to each shard as one line of JSON, for whoever collects the logs of many runs."""

from __future__ import annotations

import json
from datetime import UTC, datetime

from pddl_eval.dataset.partitions import ShardRecord
from pddl_eval.dataset.work import ShardFailure
from pddl_eval.engines.attempts import Outcome


def log_line(outcome: Outcome) -> str:
    """A line without its line break: ``event`` is ``shard``, ``shard_failed`` or ``worker_lost``, ``time`` is UTC.

    A ``shard`` has ``rows``, of these ``carried``, ``unreadable`` and ``unscored`` ones, ``statistics`` (verdict counts
    among them), ``seconds``, ``node`` and ``attempt``; the others have a ``reason``.
    """
    fields: dict[str, object] = {"time": datetime.now(UTC).isoformat(timespec="milliseconds")}
    if isinstance(outcome, ShardRecord):
        fields |= {
            "event": "shard",
            "shard": outcome.name,
            "rows": outcome.rows,
            "carried": outcome.carried,
            "unreadable": outcome.unreadable_rows,
            "unscored": len(outcome.unscored),
            "statistics": outcome.statistics,
            "seconds": outcome.seconds,
            "node": outcome.node,
            "attempt": outcome.attempt,
        }
    elif isinstance(outcome, ShardFailure):
        fields |= {"event": "shard_failed", "shard": outcome.name, "reason": outcome.reason, "trace": outcome.trace}
    else:
        fields |= {
            "event": "worker_lost",
            "shard": outcome.name,
            "attempt": outcome.attempt,
            "reason": outcome.reason,
        }
    return json.dumps(fields)
