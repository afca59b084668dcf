"""Any range of rows is read exactly, whatever was read before it, and damage costs no row that can be read."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pddl_eval.datasets import parquet
from pddl_eval.datasets import rows as rows_module
from pddl_eval.datasets.forms import FileVersion
from pddl_eval.datasets.inputs import open_source
from pddl_eval.datasets.parquet import ParquetReader
from pddl_eval.datasets.places import DatasetError, locate
from pddl_eval.datasets.rows import close_file, read_row
from pddl_eval.run import batches_of

from tests.support.parquet_files import numbered, write_numbered


@pytest.fixture(autouse=True)
def closed() -> Iterator[None]:
    yield
    close_file()


@dataclass
class Whole:
    """All pieces of a range together, and the ranges of row numbers that are not empty."""

    table: pa.Table
    numbers: tuple[range, ...]
    damage: str | None


def read_rows(file: FileVersion, start: int, stop: int, schema: pa.Schema) -> Whole:
    pieces = list(rows_module.read_rows(file, start, stop, schema))
    damage = next((piece.damage for piece in pieces if piece.damage), None)
    numbers = tuple(piece.numbers for piece in pieces if piece.numbers)
    return Whole(pa.concat_tables(piece.table for piece in pieces), numbers, damage)


def version(path: Path) -> FileVersion:
    return open_source(path).files[0].version


@pytest.fixture(scope="module")
def uneven(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Row groups of 100, 7 and 1,000 rows."""
    path = tmp_path_factory.mktemp("rows") / "uneven.parquet"
    table = numbered(1107)
    with pq.ParquetWriter(path, table.schema) as writer:
        for start, stop in ((0, 100), (100, 107), (107, 1107)):
            writer.write_table(table.slice(start, stop - start))
    return path


@given(st.lists(st.tuples(st.integers(0, 1107), st.integers(0, 400)), min_size=1, max_size=6))
@settings(max_examples=30, deadline=None)
def test_ranges_in_any_order(uneven: Path, ranges: list[tuple[int, int]]) -> None:
    expected = numbered(1107)
    for start, rows in ranges:
        stop = min(1107, start + rows)
        read = read_rows(version(uneven), start, stop, expected.schema)
        assert read.table.equals(expected.slice(start, stop - start))
        assert read.damage is None


def test_every_column_type_comes_through_unchanged(tmp_path: Path) -> None:
    words = pa.array(["a", None, "b", "a"])
    table = pa.table(
        {
            "dictionary": words.dictionary_encode(),
            "large": words.cast(pa.large_string()),
            "nested": pa.array([[{"x": 1}], [], None, [{"x": None}]], pa.list_(pa.struct([("x", pa.int8())]))),
            "null": pa.nulls(4),
            "time": pa.array([0, 1, None, 3], pa.timestamp("ns", "Europe/Berlin")),
            "decimal": pa.array([1, 2, None, 4], pa.decimal128(9, 2)),
            "bytes": pa.array([b"\xff", None, b"", b"x"], pa.binary(-1)),
        }
    ).replace_schema_metadata({"pandas": "{}", "note": "kept"})
    pq.write_table(table, tmp_path / "x.parquet", row_group_size=3)
    read = read_rows(version(tmp_path / "x.parquet"), 0, 4, table.schema).table
    assert read.schema.equals(table.schema)
    assert read.schema.metadata == table.schema.metadata
    assert read.to_pylist() == table.to_pylist()


@pytest.fixture
def damaged(tmp_path: Path) -> Path:
    """Three row groups of 5,000 rows; in the second, a page of ``text`` from row 8,072 on is overwritten."""
    path = tmp_path / "damaged.parquet"
    pq.write_table(
        numbered(15_000), path, row_group_size=5_000, data_page_size=1, write_batch_size=1024, use_dictionary=False
    )
    column = pq.ParquetFile(path).metadata.row_group(1).column(1)
    content = bytearray(path.read_bytes())
    # Pages end at multiples of 1,024 rows: the fourth of five begins at row 5,000 + 3 * 1,024.
    middle = column.data_page_offset + int(column.total_compressed_size * 0.7)
    content[middle : middle + 40] = bytes(40)
    path.write_bytes(content)
    return path


def test_rows_before_the_damage_and_in_other_row_groups_are_read(damaged: Path) -> None:
    schema = numbered(0).schema
    read = read_rows(version(damaged), 0, 15_000, schema)
    assert read.damage
    assert read.numbers == (range(8_072), range(10_000, 15_000))
    expected = pa.concat_tables([numbered(8_072), numbered(5_000, start=10_000)])
    assert read.table.equals(expected)


def test_ranges_beside_the_damage_are_whole_and_behind_it_are_empty(damaged: Path) -> None:
    schema = numbered(0).schema
    for start, stop, rows in ((0, 4_000, 4_000), (7_000, 8_072, 1_072), (8_500, 9_000, 0), (10_000, 12_000, 2_000)):
        read = read_rows(version(damaged), start, stop, schema)
        assert read.table.equals(numbered(rows, start))
        assert (read.damage is None) == (rows == stop - start)


def test_a_row_behind_the_damage_is_found_where_it_can_be_read(damaged: Path) -> None:
    source = open_source(damaged)
    assert read_row(source, 10_000, ["n"]) == {"n": 10_000}
    with pytest.raises(DatasetError, match="damaged"):
        read_row(source, 9_999, ["n"])


def test_a_file_that_changed_or_is_gone_is_an_error_and_never_other_rows(tmp_path: Path) -> None:
    path = write_numbered(tmp_path / "a.parquet", rows=50, row_group=50)
    planned = version(path)
    schema = numbered(0).schema
    read_rows(planned, 0, 10, schema)
    write_numbered(tmp_path / "b.parquet", rows=50, row_group=50, start=1).replace(path)
    assert read_rows(version(path), 10, 20, schema).table.equals(numbered(10, start=11))
    with pytest.raises(DatasetError, match="has changed"):
        read_rows(planned, 20, 30, schema)
    path.unlink()
    with pytest.raises(DatasetError, match="No such file"):
        read_rows(planned, 20, 30, schema)


def test_rows_that_share_a_long_value_are_read_in_pieces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (rows_module, parquet):
        monkeypatch.setattr(module, "PIECE_BYTES", 10_000_000)
    path = tmp_path / "shared.parquet"
    table = pa.table({"n": range(1000), "prompt": ["x" * 100_000] * 1000})
    pq.write_table(table, path)
    assert path.stat().st_size < 1_000_000
    pieces = list(rows_module.read_rows(version(path), 0, 1000, table.schema))
    assert max(piece.table.nbytes for piece in pieces) <= 10_000_000
    assert pa.concat_tables(piece.table for piece in pieces).equals(table)
    assert [piece.numbers.stop for piece in pieces[:-1]] == [piece.numbers.start for piece in pieces[1:]]
    batches = list(rows_module.column_batches(open_source(path), ["prompt"]))
    assert max(batch.nbytes for batch in batches) <= 10_000_000
    assert sum(batch.num_rows for batch in batches) == 1000


def with_small_sizes(path: Path) -> Path:
    """The same file, whose footer says that the values of its first column take a byte."""
    content = path.read_bytes()
    footer = len(content) - 8 - int.from_bytes(content[-8:-4], "little")
    said = thrift(pq.read_metadata(path).row_group(0).column(0).total_uncompressed_size)
    assert said in content[footer:]
    small = bytes([2 | 128, *[128] * (len(said) - 2), 0])
    path.write_bytes(content[:footer] + content[footer:].replace(said, small))
    return path


def thrift(number: int) -> bytes:
    """A positive number in Thrift's compact protocol: seven bits a byte, the last one without the eighth."""
    parts = [number * 2 >> shift & 127 for shift in range(0, (number * 2).bit_length(), 7)]
    return bytes([*(each | 128 for each in parts[:-1]), parts[-1]])


@pytest.mark.parametrize("lies", [False, True])
@pytest.mark.parametrize("texts", [1, 10])
def test_a_dictionary_costs_no_more_than_a_piece_whatever_the_footer_says(
    texts: int, lies: bool, tmp_path: Path
) -> None:
    """A hundred thousand rows share long texts: a hundred gigabytes, decoded."""
    path, rows = tmp_path / "shared.parquet", 100_000
    places = pa.array([number % texts for number in range(rows)], pa.int32())
    table = pa.table({"answer": pa.DictionaryArray.from_arrays(places, [f"{n}" * 2**20 for n in range(texts)])})
    pq.write_table(table, path, row_group_size=rows, store_schema=False, dictionary_pagesize_limit=2**24)
    assert path.stat().st_size < 1_000_000
    reader = ParquetReader(version(with_small_sizes(path) if lies else path))
    read = reader.read(0, 1000, {})
    assert sum(batch.num_rows for batch in read if batch.nbytes < 20_000_000) == 1000
    assert next(reader.read(1000, 1001, {}))["answer"][0].as_py()[:2] == "00"


@pytest.mark.parametrize("how", [{}, {"use_dictionary": False}, {"dictionary_pagesize_limit": 10_000}])
def test_many_short_rows_are_decoded_together_however_they_are_written(how: dict[str, Any], tmp_path: Path) -> None:
    path = tmp_path / "short.parquet"
    table = pa.table({"n": range(50_000), "answer": [f"(pick b{number})" for number in range(50_000)]})
    pq.write_table(table, path, **how)
    batches = list(ParquetReader(version(path)).read(0, 50_000, {}))
    assert {batch.num_rows for batch in batches[:-1]} == {4096}
    assert pa.Table.from_batches(batches).equals(table)


@pytest.mark.parametrize("row_group", [1, 30])
def test_long_rows_are_decoded_a_few_at_a_time_and_short_ones_together(row_group: int, tmp_path: Path) -> None:
    path = tmp_path / "long.parquet"
    table = pa.table({"n": range(30), "answer": [f"{n:02}" * 1_000_000 for n in range(30)]})
    pq.write_table(table, path, row_group_size=row_group, compression="zstd")
    batches = list(ParquetReader(version(path)).read(0, 30, {}))
    assert max(batch.nbytes for batch in batches) < 3_000_000
    assert pa.Table.from_batches(batches).equals(table)
    assert max(batch.nbytes for batch in batches_of(locate(path))) < 70_000_000
    short = tmp_path / "short.parquet"
    pq.write_table(pa.table({"n": range(1000)}), short)
    assert [batch.num_rows for batch in ParquetReader(version(short)).read(0, 128, {})] == [128]
