"""One dataset in every form of input: the same scores, seconds to describe it, rows per second of processor, memory.

    python -m tests.measure.inputs --rows 100000

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
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
from pddl_eval import score_dataset
from pddl_eval.datasets import open_source

from tests.support.sample import sample_table

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


PACKED: dict[str, Callable[[bytes], bytes]] = {
    "gz": lambda content: gzip.compress(content, 1),
    "bz2": lambda content: bz2.compress(content, 1),
    "xz": lambda content: lzma.compress(content, preset=0),
    "zst": lambda content: pa.Codec("zstd").compress(content, asbytes=True),
}


def pairs(rows: int) -> pl.DataFrame:
    """The problems of the bundled sample, again and again, each row with a number of its own.

    Repeated texts are scored quickly, so that what is measured is the reading.
    """
    sample = pl.DataFrame(pl.from_arrow(sample_table())).select(~pl.selectors.contains("plan", "domain"), "domain")
    return pl.concat([sample] * (rows // sample.height + 1)).head(rows).with_row_index("pair_id")


def write(frame: pl.DataFrame, form: str, folder: Path) -> Path:
    """The rows in that form; record batches of 1,000 rows, as Hugging Face writes them."""
    plain, _, packed = form.partition(".")
    path = folder / f"pairs.{plain}"
    if plain == "parquet":
        frame.write_parquet(path, row_group_size=10_000)
    elif plain == "jsonl":
        frame.write_ndjson(path)
    elif plain == "csv":
        frame.write_csv(path)
    elif plain == "arrow":
        frame.write_ipc(path, record_batch_size=1000)
    else:
        frame.write_ipc_stream(path)
    if packed:
        (folder / f"pairs.{form}").write_bytes(PACKED[packed](path.read_bytes()))
    return folder / f"pairs.{form}"


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
        for row in rows.to_pylist():  # Forms may have other shards.
            scores.update(repr(row).encode())
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
    parser.add_argument("--forms", nargs="+", choices=FORMS, default=FORMS)
    parser.add_argument("--one", nargs=2, metavar=("FILE", "OUTPUT"), help="measure one form, in this process")
    chosen = parser.parse_args()
    if chosen.one:
        print(json.dumps(measure(*map(Path, chosen.one))))
        return
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        found = []
        for form in chosen.forms:
            path = write(pairs(chosen.rows), form, folder)
            command = [sys.executable, "-m", "tests.measure.inputs", "--one", str(path), f"{folder}/{form}-out"]
            answer = subprocess.run(command, check=True, capture_output=True, text=True)
            found.append({"form": form, **json.loads(answer.stdout)})
            print(found[-1], flush=True)
        print("the same scores" if len({each["scores"] for each in found}) == 1 else "DIFFERENT SCORES")


if __name__ == "__main__":
    main()
