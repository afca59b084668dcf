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


def damage(path: Path, row_group: int, column: int) -> None:
    """Overwrite a column's part of a row group with zeros: its rows can be counted but not read."""
    chunk = pq.read_metadata(path).row_group(row_group).column(column)
    begin, size = chunk.dictionary_page_offset or chunk.data_page_offset, chunk.total_compressed_size
    content = bytearray(path.read_bytes())
    content[begin : begin + size] = bytes(size)
    path.write_bytes(content)


def flip_bit(path: Path, column: str) -> None:
    """Change one bit of the values of a column of the first row group, which has a dictionary."""
    metadata = pq.read_metadata(path)
    chunk = metadata.row_group(0).column(metadata.schema.names.index(column))
    content = bytearray(path.read_bytes())
    assert chunk.has_dictionary_page
    content[chunk.data_page_offset - 1] ^= 1
    path.write_bytes(content)


def read_output(folder: Path) -> pa.Table:
    """All partitions in the order of their names."""
    return pa.concat_tables(pq.read_table(path) for path in sorted(folder.glob("*.parquet")))
