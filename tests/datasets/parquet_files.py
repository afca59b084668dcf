"""Parquet files for tests: numbered rows with texts of known length, in row groups of a chosen size."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq


def numbered(rows: int, start: int = 0) -> pa.Table:
    """Rows ``n`` with text ``"x" * (n % 7)`` and ``n`` itself, so that each can be told from each."""
    numbers = range(start, start + rows)
    return pa.table(
        {"n": pa.array(numbers, pa.int64()), "text": pa.array([f"{n}:" + "x" * (n % 7) for n in numbers], pa.string())}
    )


def write_numbered(path: Path, rows: int, row_group: int, start: int = 0) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(numbered(rows, start), path, row_group_size=row_group)
    return path


def read_output(folder: Path) -> pa.Table:
    """All partitions in the order of their names."""
    return pa.concat_tables(pq.read_table(path) for path in sorted(folder.glob("*.parquet")))
