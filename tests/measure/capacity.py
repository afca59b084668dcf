"""How large a dataset may be: CPU time and memory of what a driver does, by the number of rows.

    python -m tests.measure.capacity --rows 1000,100000,1000000 --steps plan,resume,compare,rescore

Prints CPU seconds and peak memory of each step, in a process of its own (Linux). The rows are pairs of short plans,
with made-up scores, because to score a shard takes the same whatever the number of shards. A million rows take some
100 MB in TMPDIR and two minutes of CPU.
"""

from __future__ import annotations

import argparse
import json
import re
import resource
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
from pddl_eval.datasets import SIGNATURE_KEY
from pddl_eval.definition.options import ScoringOptions
from pddl_eval.report import compare_datasets
from pddl_eval.reuse import find_known, prepare_rescore, rescore_dataset
from pddl_eval.run import finish_shards, prepare_run
from pddl_eval.scoring.scorer import pair_scorer, score_dataset
from pddl_eval.settings import SHARD_ROWS, RunOptions

from tests.support.length_scorer import length_scorer

FILE_ROWS = 100_000
"""Rows of an input file."""

QUESTIONS = 145_918
"""References that the rows share, as many as Planetarium has."""


def pairs(first: int, rows: int) -> pl.DataFrame:
    """Plans for some questions, answered rightly by about half of the rows."""
    frame = pl.DataFrame({"id": pl.int_range(first, first + rows, eager=True)})
    number, block = pl.col("id"), pl.col("id") % QUESTIONS
    return frame.with_columns(
        pl.lit("model ").add((number % 3).cast(pl.String)).alias("model"),
        pl.format("(pick-up b{})\n(stack b{} c)\n(pick-up d)", block, block).alias("reference_plan"),
        pl.format("(pick-up b{})\n(stack b{} {})\n(pick-up d{})", block, block, (number % 2), number).alias(
            "generated_plan"
        ),
    )


def make(folder: Path, rows: int) -> None:
    """Write pairs, and twice the same pairs with made-up scores: those of the first row, and a plan score of chance."""
    for number, first in enumerate(range(0, rows, FILE_ROWS)):
        table = pairs(first, min(FILE_ROWS, rows - first)).to_arrow().cast(SCHEMA)
        write(table, folder / "pairs" / f"{number:06}.parquet")
        if not number:
            write(table.slice(0, 1), folder / "one" / "one.parquet")
            score_dataset(folder / "one", folder / "one scored", engine="local", workers=1)
            run = prepare_run(folder / "pairs", folder / "none", pair_scorer(ScoringOptions()), SHARD_ROWS)
            scores = pq.read_table(folder / "one scored").select(run.work.score_columns)
        for side in ("old", "new"):
            right = pl.Series(range(first, first + table.num_rows)).hash(seed=side == "new") % 10 < 6
            columns = {name: pa.repeat(scores[name][0], table.num_rows) for name in scores.column_names}
            columns["plan_score"] = right.cast(pl.Float64).to_arrow()
            scored = pa.table([*table.columns, *columns.values()], schema=run.work.output_schema)
            scored = scored.replace_schema_metadata({SIGNATURE_KEY: run.work.scorer.signature})
            for start in range(0, table.num_rows, SHARD_ROWS):
                write(scored.slice(start, SHARD_ROWS), folder / side / f"{number:06}-{start:012}.parquet")


SCHEMA = pa.schema(
    [("id", pa.int64()), *((name, pa.string()) for name in ("model", "reference_plan", "generated_plan"))]
)


def write(table: pa.Table, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(table, path, compression="zstd")


def plan(folder: Path) -> None:
    """Look at an input before a first start."""
    prepare_run(folder / "pairs", folder / "none", pair_scorer(ScoringOptions()), SHARD_ROWS)


def partition(folder: Path) -> None:
    """Write partitions that a run can find, by a scorer that counts characters: what a run costs beside scoring."""
    run = prepare_run(folder / "pairs", folder / "done", length_scorer("generated_plan"), SHARD_ROWS)
    finish_shards(run, RunOptions(engine="local", workers=1), watch=lambda _: None)


def resume(folder: Path) -> None:
    """Find that all is done."""
    run = prepare_run(folder / "pairs", folder / "done", length_scorer("generated_plan"), SHARD_ROWS)
    assert not run.missing


def compare(folder: Path) -> None:
    """Compare two nights."""
    compare_datasets(str(folder / "old"), str(folder / "new"))


def find(folder: Path) -> None:
    """What the driver of ``rescore`` does before the workers start."""
    run, before = prepare_rescore(folder / "old", folder / "pairs", folder / "found", ScoringOptions(), SHARD_ROWS)
    find_known(before, run, ScoringOptions(), run.work.output / "_previous")


def rescore(folder: Path) -> None:
    """Rescore when nothing changed, in this process."""
    summary = rescore_dataset(folder / "old", folder / "pairs", folder / "again", engine="local", workers=1)
    assert summary.rows_carried == summary.rows


STEPS: Mapping[str, Callable[[Path], None]] = {
    each.__name__: each for each in (plan, partition, resume, compare, find, rescore)
}


def measured(step: str, folder: Path) -> tuple[float, float]:
    """CPU seconds and peak megabytes of a step in a process of its own, imports included."""
    command = [sys.executable, "-m", "tests.measure.capacity", "--folder", str(folder), "--steps", step]
    found = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
    seconds, peak = json.loads(found.splitlines()[-1])
    return seconds, peak


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", default="1000,10000,100000")
    parser.add_argument("--steps", default=",".join(STEPS))
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    steps = arguments.steps.split(",")
    if arguments.folder:
        STEPS[steps[0]](arguments.folder)
        usage = resource.getrusage(resource.RUSAGE_SELF)
        # ru_maxrss would be that of the parent, if that was larger.
        peak = re.search(r"VmHWM:\s*(\d+) kB", Path("/proc/self/status").read_text(encoding="ascii"))
        print(json.dumps([usage.ru_utime + usage.ru_stime, int(peak[1]) / 1000 if peak else None]))
        return
    print("| rows | partitions | " + " | ".join(steps) + " |")
    print("|---|---|" + "---|" * len(steps))
    for rows in map(int, arguments.rows.split(",")):
        with tempfile.TemporaryDirectory(prefix="pddl-eval-capacity-") as folder:
            make(Path(folder), rows)
            partitions = len(list(Path(folder, "old").iterdir()))
            cells = [
                f"{seconds:.1f} s, {peak:.0f} MB" for seconds, peak in (measured(each, Path(folder)) for each in steps)
            ]
        print(f"| {rows:,} | {partitions:,} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
