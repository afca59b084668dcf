"""Finding the files of an input and refusing what is none."""

from __future__ import annotations

import os
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pddl_eval.dataset.locations import DatasetError
from pddl_eval.dataset.sources import open_source, partition_stem

from tests.dataset.parquet_files import numbered, write_numbered


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("b.parquet", "a.parquet", "deep/er/c.parquet", "_run/x.parquet", ".hidden.parquet"):
        write_numbered(tmp_path / name, rows=3, row_group=2)
    (tmp_path / "README.md").write_text("not Parquet")
    return tmp_path


def names(*places: Path | str) -> list[str]:
    return [file.name for file in open_source([str(place) for place in places]).files]


def test_a_folder_is_walked_and_hidden_and_underscored_names_are_left_out(folder: Path) -> None:
    source = open_source(folder)
    assert [file.name for file in source.files] == ["a.parquet", "b.parquet", "deep/er/c.parquet"]
    assert source.rows == 9
    assert [group.rows for group in source.files[0].row_groups] == [2, 1]


def test_a_pattern_stays_within_one_folder_unless_it_says_otherwise(folder: Path) -> None:
    assert names(folder / "*.parquet") == ["a.parquet", "b.parquet"]
    assert names(folder / "[!a].parquet") == ["b.parquet"]
    assert names(folder / "**/*.parquet") == ["a.parquet", "b.parquet", "deep/er/c.parquet"]
    assert names(folder / "d*/?r/c.parquet") == ["deep/er/c.parquet"]


def test_a_file_whose_name_looks_like_a_pattern_is_that_file(tmp_path: Path) -> None:
    write_numbered(tmp_path / "a[1].parquet", rows=1, row_group=1)
    assert names(tmp_path / "a[1].parquet") == ["a[1].parquet"]


def test_several_inputs_are_one_and_a_file_named_twice_counts_once(folder: Path) -> None:
    assert names(folder / "b.parquet", folder / "deep", folder / "*.parquet") == [
        "a.parquet",
        "b.parquet",
        "deep/er/c.parquet",
    ]


def test_a_file_is_told_from_another_by_its_rows_and_not_by_its_time(tmp_path: Path) -> None:
    path = write_numbered(tmp_path / "a.parquet", rows=5, row_group=5)
    before = open_source(path).files
    os.utime(path, (0, 0))
    assert open_source(path).files == before
    write_numbered(path, rows=5, row_group=5, start=1)
    assert open_source(path).files != before


@pytest.mark.parametrize("content", [b"", b"PAR1", b"id,text\n1,x\n" * 9, b"PAR1" + b"\0" * 40 + b"PAR1"])
def test_a_file_that_is_not_parquet_is_named(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "x.parquet"
    path.write_bytes(content)
    with pytest.raises(DatasetError, match=r"x\.parquet is not a Parquet file"):
        open_source(path)


def test_nothing_there(tmp_path: Path) -> None:
    for place, sentence in {
        tmp_path / "none.parquet": "There is no file or folder",
        tmp_path / "*.parquet": "No file matches",
        tmp_path / "none/*.parquet": "There is no folder",
        tmp_path: "holds no Parquet files",
    }.items():
        with pytest.raises(DatasetError, match=sentence) as refusal:
            open_source(place)
        assert str(place) in str(refusal.value) or place.name == "*.parquet"
    with pytest.raises(DatasetError, match="No input is named"):
        open_source([])


@pytest.mark.parametrize(
    ("other", "sentence"),
    [
        (numbered(1).drop_columns(["text"]), "b.parquet lacks text"),
        (numbered(1).append_column("more", pa.array([1])), "a.parquet lacks more"),
        (numbered(1).set_column(0, "n", pa.array(["1"])), "n is string in b.parquet and int64 in a.parquet"),
        (numbered(1).select(["text", "n"]), "another order in b.parquet than in a.parquet"),
    ],
)
def test_files_with_other_columns_are_refused(other: pa.Table, sentence: str, tmp_path: Path) -> None:
    write_numbered(tmp_path / "a.parquet", rows=1, row_group=1)
    pq.write_table(other, tmp_path / "b.parquet")
    with pytest.raises(DatasetError, match=sentence):
        open_source(tmp_path)


def test_partition_names_are_safe_short_and_tell_files_apart() -> None:
    files = ["a.parquet", "a", "a.pq", "a/b.parquet", "a__b.parquet", "ä.parquet", "ö.parquet", "x" * 300 + ".parquet"]
    stems = {partition_stem(file) for file in files}
    assert len(stems) == len(files)
    assert all(stem.isascii() and len(stem) < 120 and not stem.startswith((".", "_")) for stem in stems)
