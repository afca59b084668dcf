"""A run of 32 parts in processes that are killed at random and started again, compared with one undisturbed run.

    python -m tests.measure.parts [--parts 32] [--rows 3000] [--kills 40] [--seed 1]

Each process scores one part of the rows of a small dataset, with a size of shards of its own and a bound on their time
that is often too short. Up to ``--at-once`` of them run, each is killed (SIGKILL, sometimes SIGTERM) after a random
time and started again, until none has anything to do. Says what differs from the undisturbed run, and exits with 1.
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from pddl_eval import score_dataset
from pddl_eval.run import SUMMARY, run_status

from tests.support.running import ENVIRONMENT

PART = """
import sys
from pddl_eval import score_dataset
from pddl_eval.run import partitions

source, output, part, shard_rows, seconds = sys.argv[1:]
partitions.SHARD_SECONDS = float(seconds)
score_dataset(source, output, part=part, engine="local", workers=1, shard_rows=int(shard_rows))
"""

TIMED = "score_micros"


def write_pairs(folder: Path, rows: int) -> Path:
    """Problems and plans of several domains; two files, one with a single large row group."""
    source = pq.read_table(Path(sys.modules["pddl_eval"].__file__ or "").parent / "benchmark" / "sample.parquet")
    names = ["domain", "reference_problem", "generated_problem", "is_placeholder", "reference_plan", "generated_plan"]
    table = pa.concat_tables([source.select(names)] * (rows // source.num_rows + 1)).slice(0, rows)
    table = table.append_column("n", pa.array(range(rows)))
    folder.mkdir()
    half = rows // 2
    pq.write_table(table.slice(0, half), folder / "a.parquet", row_group_size=half)
    pq.write_table(table.slice(half), folder / "b.parquet", row_group_size=97)
    return folder


def read(output: Path) -> pa.Table:
    return pa.concat_tables(pq.read_table(path) for path in sorted(output.glob("*.parquet"))).drop_columns([TIMED])


def run_parts(source: Path, output: Path, arguments: argparse.Namespace) -> tuple[int, int]:
    """Runs all parts to the end; how many processes were started and how many killed."""
    chance = random.Random(arguments.seed)
    waiting = [f"{number}/{arguments.parts}" for number in range(1, arguments.parts + 1)]
    chance.shuffle(waiting)
    running: dict[str, tuple[subprocess.Popen[bytes], float]] = {}
    starts = kills = 0
    while waiting or running:
        while waiting and len(running) < arguments.at_once:
            part = waiting.pop()
            sizes = [str(chance.choice([5, 40, 2048])), str(chance.choice([0.05, 0.5, 300]))]
            command = [sys.executable, "-c", PART, str(source), str(output), part, *sizes]
            process = subprocess.Popen(command, env=ENVIRONMENT)
            life = chance.uniform(1.0, 8.0) if kills + len(running) < arguments.kills else float("inf")
            running[part] = process, time.monotonic() + life
            starts += 1
        time.sleep(0.05)
        for part, (process, until) in list(running.items()):
            if process.poll() is None and time.monotonic() > until:
                process.send_signal(chance.choice([9, 9, 9, 15]))
                process.wait()
                kills += 1
            if process.poll() is not None:
                del running[part]
                if process.returncode > 0:
                    raise SystemExit(f"part {part} failed with {process.returncode}")
                if process.returncode < 0:
                    waiting.insert(chance.randrange(len(waiting) + 1), part)
    return starts, kills


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    for name, default in (("parts", 32), ("rows", 3000), ("kills", 40), ("seed", 1), ("at-once", 4)):
        parser.add_argument(f"--{name}", type=int, default=default)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        source = write_pairs(Path(folder) / "in", arguments.rows)
        output, whole = Path(folder) / "parts", Path(folder) / "whole"
        summary = score_dataset(source, whole, engine="local", workers=1)
        starts, kills = run_parts(source, output, arguments)
        found, expected = read(output), read(whole)
        numbers = found["n"].to_pylist()
        kept = json.loads((output / SUMMARY).read_text())
        wrong = {
            "rows lost": len(set(range(arguments.rows)) - set(numbers)),
            "rows doubled": len(numbers) - len(set(numbers)),
            "rows stale or in another order": 0 if found.equals(expected) else 1,
            "summary": 0 if (kept["rows"], kept["verdicts"]) == (summary.rows, dict(summary.verdicts)) else 1,
            "not finished": 0 if run_status(output).finished else 1,
            "files left behind": len(
                [path for path in output.iterdir() if path.name.startswith(("_running", "_in_process", "_failed"))]
            ),
        }
        partitions = len(list(output.glob("*.parquet")))
        print(f"{arguments.rows:,} rows in {partitions} partitions, {starts} starts, {kills} killed")
        print(wrong)
    raise SystemExit(1 if any(wrong.values()) else 0)


if __name__ == "__main__":
    main()
