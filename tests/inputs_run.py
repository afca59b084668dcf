"""One dataset in every form of input: the same scores, seconds to describe it, rows per second of processor, memory.

    python -m tests.inputs_run --rows 100000

Each form is scored in a process of its own, by one worker, so that its memory is that of one process.
"""

from __future__ import annotations

import argparse
import bz2
import gzip
import hashlib
import json
import lzma
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
from pddl_eval import score_dataset
from pddl_eval.benchmark.sample import sample_table
from pddl_eval.run import open_source

FORMS = (
    "parquet",
    "jsonl",
    "csv",
    "arrow",
    "arrows",
    "jsonl.gz",
    "jsonl.zst",
    "jsonl.bz2",
    "jsonl.xz",
    "csv.gz",
    "arrows.zst",
)


def pairs(rows: int) -> pl.DataFrame:
    """The problems of the bundled sample, again and again, each row with a number of its own.

    Repeated texts are scored quickly, so that what is measured is the reading.
    """
    sample = pl.DataFrame(pl.from_arrow(sample_table())).select(~pl.selectors.contains("plan", "domain"), "domain")
    return pl.concat([sample] * (rows // sample.height + 1)).head(rows).with_row_index("pair_id")


def write(frame: pl.DataFrame, folder: Path) -> None:
    """The rows in every form; batches of 1,000 rows, as Hugging Face writes them."""
    frame.write_parquet(folder / "pairs.parquet", row_group_size=10_000)
    frame.write_ndjson(folder / "pairs.jsonl")
    frame.write_csv(folder / "pairs.csv")
    frame.write_ipc(folder / "pairs.arrow", record_batch_size=1000)
    frame.write_ipc_stream(folder / "pairs.arrows")
    texts = {name: (folder / name).read_bytes() for name in ("pairs.jsonl", "pairs.csv", "pairs.arrows")}
    (folder / "pairs.jsonl.gz").write_bytes(gzip.compress(texts["pairs.jsonl"], 1))
    (folder / "pairs.csv.gz").write_bytes(gzip.compress(texts["pairs.csv"], 1))
    (folder / "pairs.jsonl.bz2").write_bytes(bz2.compress(texts["pairs.jsonl"], 1))
    (folder / "pairs.jsonl.xz").write_bytes(lzma.compress(texts["pairs.jsonl"], preset=0))
    zstd = pa.Codec("zstd")
    (folder / "pairs.jsonl.zst").write_bytes(zstd.compress(texts["pairs.jsonl"], asbytes=True))
    (folder / "pairs.arrows.zst").write_bytes(zstd.compress(texts["pairs.arrows"], asbytes=True))


def measure(path: Path, output: Path) -> dict[str, float | int | str]:
    """What one form costs, in this process."""
    before = peak_megabytes()
    started = time.process_time()
    source = open_source(path)
    described = time.process_time() - started
    started = time.process_time()
    summary = score_dataset(path, output, engine="local", workers=1)
    seconds = time.process_time() - started
    scores = hashlib.blake2b(digest_size=8)
    for partition in sorted(output.glob("*.parquet")):
        table = pq.read_table(partition).drop_columns(["score_micros"])
        rows = table.select(["pair_id", *table.column_names[len(source.schema) :]])
        scores.update(repr(rows.to_pylist()).encode())
    return {
        "rows": summary.rows,
        "MB": path.stat().st_size // 10**6,
        "describe s": round(described, 1),  # Of processor time, as all seconds here.
        "score s": round(seconds, 1),
        "rows/s": round(summary.rows / seconds),
        "imports MB": before,
        "peak MB": peak_megabytes(),
        "scores": scores.hexdigest(),
    }


def peak_megabytes() -> int:
    """Of this program, and not of the one that started it, which ``getrusage`` counts too."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) // 1024 for line in lines if line.startswith("VmHWM"))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--one", nargs=2, metavar=("FILE", "OUTPUT"), help="measure one form, in this process")
    chosen = parser.parse_args()
    if chosen.one:
        print(json.dumps(measure(*map(Path, chosen.one))))
        return
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write(pairs(chosen.rows), folder)
        found = []
        for form in FORMS:
            command = [
                sys.executable,
                "-m",
                "tests.inputs_run",
                "--one",
                f"{folder}/pairs.{form}",
                f"{folder}/{form}-out",
            ]
            answer = subprocess.run(command, check=True, capture_output=True, text=True)
            found.append({"form": form, **json.loads(answer.stdout)})
            print(found[-1], flush=True)
        print("the same scores" if len({each["scores"] for each in found}) == 1 else "DIFFERENT SCORES")


if __name__ == "__main__":
    main()
