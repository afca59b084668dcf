"""What a run costs beside a plain loop, multiprocessing.Pool and Ray Data: the same rows, the same function.

    python -m tests.measure.engines --rows 200000 --rounds 3
    python -m tests.measure.engines --rows 300000 --short

Every way reads the same row groups, scores them with ``score_table`` and writes Parquet with the same compression. Each
is a process of its own, imports included, and they take turns. CPU time and memory are those of it and of all that
descend from it, looked up in /proc (Linux) ten times a second: CPU the sum, memory the peak of the proportional set
sizes. So Ray's own processes count too. Prints medians, and the ratios that matter. ``--short``: pairs of short plans,
where scoring is cheapest and the rest shows most; ``--ways`` names some of the ways.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from statistics import median
from uuid import uuid4

import pyarrow as pa
import pyarrow.parquet as pq
from pddl_eval import score_dataset
from pddl_eval.definition.options import ScoringOptions
from pddl_eval.scoring.table import score_table
from pddl_eval.settings import SHARD_ROWS

MARK = "PDDL_EVAL_MEASURED"
"""In the environment of all processes of one measurement."""

SAMPLE_SECONDS = 0.1

TICKS = os.sysconf("SC_CLK_TCK")


def score_group(source: str, output: str, number: int) -> None:
    """What every way does with a row group."""
    table = pq.ParquetFile(source).read_row_group(number)
    scored = score_table(table, ScoringOptions())
    pq.write_table(scored, f"{output}/{number:06}.parquet", compression="zstd", write_page_checksum=True)


def groups_of(source: str) -> range:
    return range(pq.read_metadata(source).num_row_groups)


def plain_loop(source: str, output: str) -> None:
    for number in groups_of(source):
        score_group(source, output, number)


def pool_of_two(source: str, output: str) -> None:
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        for _ in pool.imap_unordered(partial(score_group, source, output), groups_of(source)):
            pass


def in_process(source: str, output: str) -> None:
    score_dataset(source, output, engine="local", workers=1, watch=lambda _: None)


def two_processes(source: str, output: str) -> None:
    score_dataset(source, output, engine="local", workers=2, watch=lambda _: None)


def on_ray(source: str, output: str) -> None:
    score_dataset(source, output, engine="ray", workers=2, watch=lambda _: None)


def ray_data(source: str, output: str) -> None:
    import ray

    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, logging_level="ERROR")
    ray.data.DataContext.get_current().enable_progress_bars = False
    rows = ray.data.read_parquet(source, override_num_blocks=len(groups_of(source)))
    scored = rows.map_batches(
        partial(score_table, options=ScoringOptions()),
        batch_format="pyarrow",
        batch_size=SHARD_ROWS,
        zero_copy_batch=True,
    )
    scored.write_parquet(output, compression="zstd")


WAYS: dict[str, Callable[[str, str], None]] = {
    "plain loop": plain_loop,
    "in process": in_process,
    "two processes": two_processes,
    "multiprocessing.Pool(2)": pool_of_two,
    "Ray": on_ray,
    "ray.data.map_batches": ray_data,
}

COMMAND = "pddl-eval score --workers 2"
"""The program itself, whose workers are forks of it."""

RATIOS = (
    ("in process", "plain loop"),
    (COMMAND, "plain loop"),
    ("two processes", "multiprocessing.Pool(2)"),
    ("Ray", "ray.data.map_batches"),
)


def make_short(place: Path, rows: int) -> None:
    """Pairs of short plans, in row groups of a shard's size."""
    from tests.measure.capacity import SCHEMA, pairs  # polars, which no way needs

    with pq.ParquetWriter(place, SCHEMA, compression="zstd") as writer:
        for first in range(0, rows, SHARD_ROWS):
            writer.write_table(pairs(first, min(SHARD_ROWS, rows - first)).to_arrow().cast(SCHEMA))


def make(place: Path, rows: int) -> None:
    """Pairs of the sample over and over, in row groups of a shard's size; each answer has its number in a comment."""
    sample = pq.read_table(Path(sys.modules["pddl_eval"].__file__ or "").parent / "benchmark" / "sample.parquet")
    names = ["domain", "reference_problem", "generated_problem", "is_placeholder", "reference_plan", "generated_plan"]
    sample = sample.select(names)
    schema = pa.schema([*sample.schema, ("n", pa.int64())]).remove_metadata()
    with pq.ParquetWriter(place, schema, compression="zstd") as writer:
        for start in range(0, rows, SHARD_ROWS):
            numbers = range(start, min(start + SHARD_ROWS, rows))
            table = sample.take(pa.array([number % sample.num_rows for number in numbers]))
            answers = [
                f"{text}\n; {n}" for text, n in zip(table["generated_problem"].to_pylist(), numbers, strict=True)
            ]
            place_of = table.schema.get_field_index("generated_problem")
            table = table.set_column(place_of, "generated_problem", pa.array(answers))
            writer.write_table(table.append_column("n", pa.array(numbers)).cast(schema))


def descendants(mark: str) -> Iterator[Path]:
    """The processes with that mark in their environment."""
    for process in Path("/proc").iterdir():
        if process.name.isdecimal():
            with suppress(OSError):
                if f"{MARK}={mark}".encode() in (process / "environ").read_bytes().split(b"\0"):
                    yield process


def measured(way: str, source: Path, output: Path) -> tuple[float, float, float, float, float]:
    """Seconds of wall and CPU time; peaks of memory in megabytes: of all, of the first process, of any other one."""
    output.mkdir()
    mark = uuid4().hex
    command = [sys.executable, "-m", "tests.measure.engines", "--way", way, str(source), str(output)]
    if way == COMMAND:
        command = [sys.executable, "-m", "pddl_eval", *COMMAND.split()[1:], str(source), str(output), "--quiet"]
    # As where the program is installed: elsewhere each process would compile what it imports.
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    began = time.monotonic()
    child = subprocess.Popen(command, env={**environment, MARK: mark}, stderr=subprocess.DEVNULL)
    spent: dict[str, float] = {}
    peaks: dict[str, float] = {}
    peak = 0.0
    while child.poll() is None:
        memory = 0.0
        for process in descendants(mark):
            with suppress(OSError):
                fields = (process / "stat").read_text().rpartition(")")[2].split()
                spent[process.name] = (int(fields[11]) + int(fields[12])) / TICKS
                found = re.search(r"^Pss:\s+(\d+) kB", (process / "smaps_rollup").read_text(), re.MULTILINE)
                of_it = int(found[1]) / 1000 if found else 0.0
                memory, peaks[process.name] = memory + of_it, max(of_it, peaks.get(process.name, 0.0))
        peak = max(peak, memory)
        time.sleep(SAMPLE_SECONDS)
    seconds = time.monotonic() - began
    if child.returncode:
        raise SystemExit(f"{way} failed with {child.returncode}")
    own = peaks.pop(str(child.pid), 0.0)
    return seconds, sum(spent.values()), peak, own, max(peaks.values(), default=0.0)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--short", action="store_true")
    parser.add_argument("--ways", default=",".join([*WAYS, COMMAND]))
    parser.add_argument("--way", nargs=3, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.way:
        way, source, output = arguments.way
        WAYS[way](source, output)
        return
    with tempfile.TemporaryDirectory(prefix="engines-") as folder:
        source = Path(folder, "pairs.parquet")
        (make_short if arguments.short else make)(source, arguments.rows)
        found: dict[str, list[tuple[float, ...]]] = {way: [] for way in arguments.ways.split(",")}
        for number in range(arguments.rounds):
            for way in found:
                output = Path(folder, f"{way} {number}")
                found[way].append(measured(way, source, output))
                rows = sum(pq.read_metadata(path).num_rows for path in output.glob("*.parquet"))
                assert rows == arguments.rows, (way, rows)
        print(f"{arguments.rows:,} rows, medians of {arguments.rounds} rounds\n")
        print(
            "| way | wall, s | CPU, s | memory, MB | first process, MB | largest other, MB |\n|---|---|---|---|---|---|"
        )
        for way, rounds in found.items():
            wall, cpu, *memory = (median(each) for each in zip(*rounds, strict=True))
            print(f"| {way} | {wall:.1f} | {cpu:.1f} | {' | '.join(f'{each:,.0f}' for each in memory)} |")
        for one, other in RATIOS:
            if not {one, other} <= found.keys():
                continue
            both = list(zip(found[one], found[other], strict=True))
            wall, cpu = (median(ours[what] / theirs[what] for ours, theirs in both) for what in (0, 1))
            print(f"\n{one} / {other}: wall {wall:.2f}, CPU {cpu:.2f}")


if __name__ == "__main__":
    main()
