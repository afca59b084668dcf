"""What a start of a run has done so far: its heartbeat tells it, and on request a Prometheus textfile or lines of JSON.

The numbers are the same in this process, in parts, on Ray and at night, because they count the events of the run. Each
part has a file of its own. The file appears whole each time and may be on an object store.
"""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress

from pddl_eval.datasets import DatasetError, OutputError, places
from pddl_eval.run.engines import NodeExcluded, UnderWay, WorkerLost
from pddl_eval.run.partitions import ShardFailure, ShardRecord
from pddl_eval.run.prepare import Run
from pddl_eval.run.summary import SCORE_ERROR, VERDICT

INTERVALS: Mapping[str, float] = {".prom": 15.0, ".jsonl": 60.0}
"""Seconds between two writings, by the form of the file. An object store has no way to add a line to what is there."""

MOST_LINES = 10_000
"""Lines of a log that are kept: a week."""

MEANINGS = {
    "rows": "Rows of the run, or of the part.",
    "rows_done": "Rows with a partition, from any start.",
    "rows_scored_total": "Rows scored by this start.",
    "rows_carried_total": "Rows of this start with scores from an earlier dataset.",
    "rows_unreadable_total": "Rows of this start that could not be read.",
    "score_errors_total": "Rows of this start that could not be scored.",
    "shards_total": "Shards finished by this start.",
    "shards_failed_total": "Shards that this start gave up.",
    "shard_seconds_total": "Time that workers spent on the finished shards.",
    "workers_lost_total": "Workers that died or hung.",
    "nodes_excluded_total": "Nodes of the cluster that get no more shards.",
    "shards_under_way": "Shards that workers are on.",
    "oldest_shard_seconds": "For how long a worker has been on the oldest of them.",
    "started_timestamp_seconds": "When this start began.",
    "last_result_timestamp_seconds": "When the last shard ended.",
    "finished": "1 if this start has ended with all its rows done.",
    "verdicts_total": "Rows of this start by verdict.",
}
"""The counters, each with ``pddl_eval_`` before its name in the textfile."""


class Counters:
    """The counters of one start of a run, and the file in which they are, if any.

    Raises ``OutputError`` where it cannot be written.
    """

    def __init__(self, run: Run, under_way: Callable[[], Sequence[UnderWay]], file: str | None = None) -> None:
        self.numbers: dict[str, float] = {**dict.fromkeys(MEANINGS, 0), "started_timestamp_seconds": time.time()}
        del self.numbers["verdicts_total"]
        self.numbers |= {"rows": run.total_rows, "rows_done": run.total_rows - run.rows_missing}
        self.verdicts: Counter[str] = Counter()
        self._under_way, self._file, self._lines = under_way, places.locate(file) if file else None, list[str]()
        self._labels = {"output": str(run.work.output), "part": str(run.part or "")}
        self._form = next((form for form in INTERVALS if file and file.endswith(form)), "")
        if self._file:
            self._file = self._file.parent / f"{self._file.name.removesuffix(self._form)}{run.suffix}{self._form}"
            if self._form == ".jsonl" and places.has_file(self._file):
                self._lines = places.read_bytes(self._file).decode(errors="replace").splitlines(keepends=True)
        self.write()

    def count(self, event: object) -> None:
        """Take note of an event, and write where it is time to."""
        numbers = self.numbers
        match event:
            case ShardRecord():
                numbers["rows_done"] += event.rows
                numbers["rows_scored_total"] += event.rows - event.carried
                numbers["rows_carried_total"] += event.carried
                numbers["rows_unreadable_total"] += event.unreadable_rows
                numbers["score_errors_total"] += event.statistics.get(SCORE_ERROR, {}).get("count", 0)
                numbers["shards_total"] += 1
                numbers["shard_seconds_total"] += event.seconds
                numbers["last_result_timestamp_seconds"] = time.time()
                self.verdicts.update({name: int(count) for name, count in event.statistics.get(VERDICT, {}).items()})
            case ShardFailure():
                numbers["shards_failed_total"] += 1
            case WorkerLost():
                numbers["workers_lost_total"] += 1
            case NodeExcluded():
                numbers["nodes_excluded_total"] += 1
        if self._file and time.monotonic() - self._written > INTERVALS[self._form]:
            with suppress(OutputError, DatasetError):  # The first writing has shown that the place is right.
                self.write()

    def write(self) -> None:
        """Write the file; raises ``OutputError``."""
        if self._file is None:
            return
        self._written = time.monotonic()
        doing = self._under_way()
        self.numbers["shards_under_way"] = len(doing)
        self.numbers["oldest_shard_seconds"] = round(max((each.seconds for each in doing), default=0.0), 1)
        if self._form == ".prom":
            content = "".join(self._families())
        else:
            now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
            line = {"time": now, **self._labels, **self.numbers, "verdicts_total": dict(self.verdicts)}
            self._lines = [*self._lines, json.dumps(line) + "\n"][-MOST_LINES:]
            content = "".join(self._lines)
        places.put_bytes(self._file, content.encode())

    def _families(self) -> Iterator[str]:
        """The counters as Prometheus reads them."""
        for name, meaning in MEANINGS.items():
            kind = "counter" if name.endswith("_total") else "gauge"
            yield f"# HELP pddl_eval_{name} {meaning}\n# TYPE pddl_eval_{name} {kind}\n"
            if name in self.numbers:
                yield f"pddl_eval_{name}{_braced(self._labels)} {self.numbers[name]!r}\n"
            for verdict, count in self.verdicts.items() if name == "verdicts_total" else ():
                yield f"pddl_eval_{name}{_braced({**self._labels, 'verdict': verdict})} {count}\n"


def _braced(labels: Mapping[str, str]) -> str:
    escaped = {ord("\\"): r"\\", ord('"'): r"\"", ord("\n"): r"\n"}
    return "{" + ",".join(f'{name}="{value.translate(escaped)}"' for name, value in labels.items()) + "}"
