"""Each thing that can happen to a shard is one line of JSON that says which."""

from __future__ import annotations

import json

import pytest
from pddl_eval.dataset.partitions import ShardRecord
from pddl_eval.dataset.work import ShardFailure
from pddl_eval.engines.attempts import Outcome, WorkerLost
from pddl_eval.engines.log import log_line


@pytest.mark.parametrize(
    ("outcome", "expected"),
    [
        (
            ShardRecord("s", "run", 7, {"verdict": {"even": 7}}, 0.5, "node-3", 2, ((7, 9),), "corrupt", (4,)),
            {
                "event": "shard",
                "rows": 7,
                "carried": 0,
                "unreadable": 2,
                "unscored": 1,
                "statistics": {"verdict": {"even": 7}},
                "seconds": 0.5,
                "node": "node-3",
                "attempt": 2,
            },
        ),
        (ShardFailure("s", "It\nfailed."), {"event": "shard_failed", "reason": "It\nfailed.", "trace": None}),
        (WorkerLost("s", 2, "SIGKILL"), {"event": "worker_lost", "attempt": 2, "reason": "SIGKILL"}),
    ],
)
def test_a_line_says_what_happened_to_which_shard(outcome: Outcome, expected: dict[str, object]) -> None:
    line = log_line(outcome)
    assert "\n" not in line
    fields = json.loads(line)
    assert fields.pop("time").endswith("+00:00")
    assert fields == {"shard": "s", **expected}
