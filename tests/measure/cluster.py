"""A cluster on paper: what 10^9 rows on 10,000 slots ask of the store and of the driver, and what breaks first.

    python -m tests.measure.cluster --rows 1000000000 --slots 10000

Three things are counted or measured by the program's own code, and the rest is arithmetic:

* requests to the store and bytes of one shard and of a whole run: runs of a few sizes in a bucket (moto on this
  machine), counted by the server; what grows with the number of shards is told from what does not;
* the driver's processor time, from the plan to the summary: a run of all the shards, whose workers answer at once;
* Ray's own processor time for a task is that of ``scale --slots``, given as ``--ray-ms``.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pyarrow.parquet as pq
from pddl_eval.datasets import FileVersion, Location, Source, locate, put_bytes
from pddl_eval.datasets.forms import InputFile, RowGroup
from pddl_eval.definition.options import ScoringOptions
from pddl_eval.run import Event, Run, ShardRecord, finish_shards, plan_shards, prepare_run
from pddl_eval.run import score as run_score
from pddl_eval.run.partitions import ShardTask, Work
from pddl_eval.scoring.scorer import KERNEL_ROW_SECONDS, pair_scorer
from pddl_eval.settings import RunOptions

from tests.measure.capacity import SCHEMA, pairs
from tests.measure.scale import counted_store

SIZES = (4, 8, 16)
"""Shards of the runs that are counted."""

COUNTED_ROWS = 1000
"""Rows of one of their shards."""

FILE_ROWS, GROUP_ROWS = 10**6, 10**5
"""Rows of a file and of a row group of the large input."""

WRITES, READS = 3_500, 5_500
"""Requests a second that S3 takes for a prefix: PUT, POST and DELETE; GET and HEAD. It splits a busy prefix in time."""

KINDS = {"PUT": "writes", "POST": "writes", "DELETE": "writes", "GET": "reads", "HEAD": "reads"}


def counted_run(shards: int, requests: Counter[str], folder: Path) -> tuple[dict[str, float], dict[str, float]]:
    """Requests of a run of so many shards: by kind, in all and from the first finished shard to the last."""
    place = f"s3://scale/cluster-{shards}"
    table = pairs(0, shards * COUNTED_ROWS).to_arrow().cast(SCHEMA)
    pq.write_table(table, folder / "pairs.parquet", row_group_size=COUNTED_ROWS)
    put_bytes(locate(f"{place}/pairs.parquet"), (folder / "pairs.parquet").read_bytes())
    seen: list[Counter[str]] = []

    def watch(event: Event) -> None:
        if isinstance(event, ShardRecord):
            seen.append(Counter(requests))

    before = Counter(requests)
    run = prepare_run(f"{place}/pairs.parquet", f"{place}/out", pair_scorer(ScoringOptions()), COUNTED_ROWS)
    finish_shards(run, RunOptions(engine="local", workers=1), watch=watch)
    kinds: list[dict[str, float]] = [dict.fromkeys(("writes", "reads"), 0.0) for _ in range(2)]
    for found, first, last in ((kinds[0], before, Counter(requests)), (kinds[1], seen[0], seen[-1])):
        for method, count in (last - first).items():
            found[KINDS[method]] += count
    return kinds[0], {kind: count / (shards - 1) for kind, count in kinds[1].items()}


class Answering:
    """An engine whose workers answer at once with the record of a shard like ``example``."""

    def __init__(self, example: ShardRecord, output: Path, slots: int) -> None:
        self.capacity = slots
        self._example, self._output = example, output
        self._tasks: list[ShardTask] = []
        self.apart = 0.0
        """Processor time that is not the driver's: making what the workers would have written."""

    def submit(self, task: ShardTask) -> None:
        self._tasks.append(task)

    def take(self) -> tuple[ShardTask, ShardRecord]:
        task = self._tasks.pop()
        began = time.process_time()
        os.close(os.open(self._output / task.shard.name, os.O_CREAT))
        self.apart += time.process_time() - began
        return task, replace(self._example, name=task.shard.name, rows=task.shard.rows)

    def under_way(self) -> list[object]:
        return []

    def close(self) -> None:
        """Nothing runs."""


@contextmanager
def large_run(rows: int, shard_rows: int, folder: Path) -> Iterator[Run]:
    """A run of so many rows that are nowhere."""
    groups = (RowGroup(GROUP_ROWS, GROUP_ROWS * 100),) * (FILE_ROWS // GROUP_ROWS)
    name = "pairs-{:06}.parquet".format
    files = tuple(
        InputFile(FileVersion(Location(f"/nowhere/{name(number)}"), ""), name(number), FILE_ROWS * 100, groups)
        for number in range(rows // FILE_ROWS)
    )
    source = Source(Location("/nowhere"), (), files, SCHEMA)
    scorer = replace(pair_scorer(ScoringOptions()), check=None)
    work = Work("run", locate(folder), SCHEMA, scorer.output_schema(SCHEMA), scorer)
    with patch.object(run_score, "contents", lambda *_, **__: dict.fromkeys((each.name for each in files), "")):
        entries = [{"name": each.name, "content": ""} for each in files]
        manifest = {"run": "run", "signature": scorer.signature, "files": entries}
        yield Run(source, work, plan_shards(source, shard_rows), {}, manifest)


def driver_seconds(rows: int, slots: int, shard_rows: int, example: ShardRecord) -> tuple[int, float, float]:
    """How many shards, the driver's processor time for all of them, and its memory in megabytes."""
    with tempfile.TemporaryDirectory(prefix="cluster-") as place:
        engine = Answering(example, Path(place), slots)
        began = time.process_time()
        with (
            large_run(rows, shard_rows, Path(place)) as run,
            patch.object(run_score, "start_engine", lambda *_, **__: engine),
            patch.object(run_score, "same_run", lambda _, manifest: manifest),
        ):
            finish_shards(run, RunOptions(engine="ray", address="none"), watch=lambda _: None)
        spent = time.process_time() - began - engine.apart
        peak = int(Path("/proc/self/status").read_text().partition("VmHWM:")[2].split()[0]) / 1000
        return len(run.shards), spent, peak


def example_record(folder: Path) -> ShardRecord:
    """The record of a shard that was scored."""
    pq.write_table(pairs(0, COUNTED_ROWS).to_arrow().cast(SCHEMA), folder / "one.parquet")
    found: list[ShardRecord] = []
    run = prepare_run(folder / "one.parquet", folder / "one", pair_scorer(ScoringOptions()), COUNTED_ROWS)
    finish_shards(
        run,
        RunOptions(engine="local", workers=1),
        watch=lambda event: found.append(event) if isinstance(event, ShardRecord) else None,
    )
    return found[0]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=10**9)
    parser.add_argument("--slots", type=int, default=10_000)
    parser.add_argument("--row-bytes", type=int, default=3_000, help="Bytes of a row, read and written, compressed.")
    parser.add_argument("--ray-ms", type=float, default=1.5, help="Ray's processor time for a task: scale --slots.")
    arguments = parser.parse_args()
    shard_rows = round(1 / KERNEL_ROW_SECONDS)
    with tempfile.TemporaryDirectory(prefix="cluster-") as folder, counted_store() as requests:
        found = [counted_run(each, requests, Path(folder)) for each in SIZES]
        example = example_record(Path(folder))
    each = {kind: float(np.median([shard[kind] for _, shard in found])) for kind in ("writes", "reads")}
    # What is left is asked for once a run, or once for each thousand names of a listing.
    once = {kind: max(0.0, found[-1][0][kind] - SIZES[-1] * each[kind]) for kind in each}
    shards, spent, peak = driver_seconds(arguments.rows, arguments.slots, shard_rows, example)
    own_ms = 1000 * spent / shards
    of_task = own_ms + arguments.ray_ms
    seconds = arguments.rows * KERNEL_ROW_SECONDS / arguments.slots
    shard_seconds = shard_rows * KERNEL_ROW_SECONDS
    written = " + ".join(f"{each[kind]:.0f} {kind}" for kind in each)
    print(f"{arguments.rows:,} rows of {arguments.row_bytes:,} bytes on {arguments.slots:,} slots\n")
    print("| | |\n|---|---|")
    say = partial("| {} | {} |".format)
    print(say("shards", f"{shards:,}, of about a second"))
    print(say("requests of a shard", written))
    print(say("requests of the run beside them", " + ".join(f"{once[kind]:.0f} {kind}" for kind in once)))
    print(say("requests of all", f"{shards * each['writes']:,.0f} writes, {shards * each['reads']:,.0f} reads"))
    print(
        say("bytes read, and written", f"{arguments.rows * arguments.row_bytes / 1e12:.1f} TB, as many and the scores")
    )
    print(say("scoring alone, if nothing else took time", f"{seconds:.0f} s"))
    print(say("the driver's own processor time", f"{spent:.0f} s: {own_ms:.2f} ms a shard; {peak:,.0f} MB"))
    print(say("with Ray's", f"{of_task * shards / 1000:.0f} s: {of_task:.2f} ms a shard"))
    limits = {
        "one driver (its processor time)": 1000 * shard_seconds / of_task,
        f"writes to one prefix of S3 ({WRITES:,} a second)": WRITES * shard_seconds / each["writes"],
        f"reads of one prefix of S3 ({READS:,} a second)": READS * shard_seconds / each["reads"],
    }
    for what, slots in sorted(limits.items(), key=lambda limit: limit[1]):
        print(say(f"{what} is enough for", f"{slots:,.0f} slots"))
    first, slots = min(limits.items(), key=lambda limit: limit[1])
    taken = max(1, arguments.slots / slots) * seconds
    print(f"\nFirst breaks: {first}, at {slots:,.0f} slots; the run takes {taken:.0f} s.")


if __name__ == "__main__":
    main()
