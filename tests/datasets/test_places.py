"""Places that a worker can open again, writes that appear whole or not at all, errors in one sentence."""

from __future__ import annotations

import errno
import os
import pickle
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pddl_eval.datasets import places
from pddl_eval.datasets.places import (
    DatasetError,
    OutputError,
    dataset_errors,
    list_files,
    locate,
    new_parquet,
    put_bytes,
    read_bytes,
    remove_temporary_files,
)
from pddl_eval.errors import TRY_AGAIN, WRONG_INPUT


def test_a_local_path_becomes_absolute_and_keeps_its_own_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "blob").touch()
    (tmp_path / "pairs.parquet").symlink_to(tmp_path / "blob")
    assert locate("a/../pairs.parquet").path == str(tmp_path / "pairs.parquet")
    assert locate(f"file://{tmp_path}/a%20b").path == str(tmp_path / "a b")


def test_the_endpoint_and_the_region_travel_with_a_location_and_credentials_do_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9000/")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "very-secret")
    monkeypatch.setenv("AWS_REGION", "eu-north-1")
    location = locate("s3://bucket/pairs/")
    assert (location.endpoint, location.region) == ("http://127.0.0.1:9000", "eu-north-1")
    assert str(location) == "s3://bucket/pairs"
    assert b"very-secret" not in pickle.dumps(location)


@pytest.mark.parametrize(
    ("endpoint", "url"),
    [("127.0.0.1:9000", "http://127.0.0.1:9000"), ("minio.example:9000", "https://minio.example:9000")],
)
def test_an_endpoint_without_a_scheme_is_plain_http_on_loopback_alone(
    endpoint: str, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", endpoint)
    assert locate("s3://bucket/x").endpoint == url


@pytest.mark.parametrize(
    ("place", "sentence"),
    [
        ("s3://key:secret@bucket/x", "carries credentials"),
        ("s3://", "names no bucket"),
        ("nosuch://host/x", "No filesystem opens nosuch://host/x"),
    ],
)
def test_places_that_are_refused(place: str, sentence: str) -> None:
    with pytest.raises(DatasetError, match=sentence) as refusal:
        locate(place)
    assert "secret" not in str(refusal.value)


def test_a_folder_is_within_itself_and_not_within_one_whose_name_it_begins_with() -> None:
    assert locate("/data/a").within(locate("/data/a"))
    assert locate("/data/a/b").within(locate("/data/a"))
    assert not locate("/data/ab").within(locate("/data/a"))


def test_a_file_is_replaced_whole_and_nothing_is_left_aside(tmp_path: Path) -> None:
    target = locate(tmp_path / "new" / "x")
    put_bytes(target, b"one")
    put_bytes(target, b"two")
    assert read_bytes(target) == b"two"
    assert list_files(locate(tmp_path / "new")) == {"x": 3}


def test_another_filesystem_is_written_aside_and_renamed_too() -> None:
    target = locate("mock:///folder/x")
    put_bytes(target, b"one")
    put_bytes(target, b"two")
    assert read_bytes(target) == b"two"
    assert list_files(locate("mock:///folder")) == {"x": 3}


@pytest.mark.parametrize(
    ("code", "sentence"),
    [
        (errno.ENOSPC, "No space left on device"),
        (errno.EROFS, "Read-only file system"),
        (errno.EACCES, "Permission denied"),
        (errno.EIO, "Input/output error"),
    ],
)
def test_a_write_that_fails_says_why_and_leaves_the_old_file_alone(
    code: int, sentence: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = locate(tmp_path / "x")
    put_bytes(target, b"old")

    def fail(descriptor: int) -> None:
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(places.os, "fsync", fail)
    with pytest.raises(OutputError, match=sentence) as failure:
        put_bytes(target, b"new")
    assert str(target) in str(failure.value)
    assert "\n" not in str(failure.value)
    assert [path.name for path in tmp_path.iterdir()] == ["x"]
    assert read_bytes(target) == b"old"


@pytest.mark.parametrize(
    ("place", "error", "code"),
    [
        ("s3://bucket/in", OSError("AWS Error NETWORK_CONNECTION during HeadObject"), TRY_AGAIN),
        ("s3://bucket/in", OSError("AWS Error SLOW_DOWN during GetObject"), TRY_AGAIN),
        ("s3://bucket/in", OSError("AWS Error ACCESS_DENIED during HeadObject"), WRONG_INPUT),
        ("s3://bucket/in", FileNotFoundError("bucket/in"), WRONG_INPUT),
        ("s3://bucket/in", pa.ArrowInvalid("Parquet magic bytes not found in footer"), WRONG_INPUT),
        ("/mnt/in", OSError(errno.ESTALE, "Stale file handle"), TRY_AGAIN),
        ("/mnt/in", OSError(errno.EACCES, "Permission denied"), WRONG_INPUT),
    ],
)
def test_what_cannot_be_read_now_is_told_from_what_never_can(
    place: str, error: Exception, code: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_REGION", "us-east-1")
    with pytest.raises(DatasetError) as failure, dataset_errors(locate(place), "read"):
        raise error
    assert failure.value.exit_code == code


def test_a_file_in_the_place_of_a_folder_is_said_to_be_one(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(OutputError, match="is a file and not a folder"):
        put_bytes(locate(tmp_path / "file" / "x"), b"")
    with pytest.raises(DatasetError, match="is a file and not a folder"):
        list_files(locate(tmp_path / "file"))


def test_what_a_killed_writer_left_aside_is_removed_and_other_hidden_files_are_not(tmp_path: Path) -> None:
    left = tmp_path / f".x.parquet.{'0' * 32}.tmp"
    other = tmp_path / ".mine.tmp"
    left.touch()
    other.touch()
    remove_temporary_files(locate(tmp_path))
    assert list(tmp_path.iterdir()) == [other]


def test_a_parquet_file_appears_whole_or_not_at_all(tmp_path: Path) -> None:
    table = pa.table({"n": [1, 2]})
    for folder in (str(tmp_path), "mock:///parquet"):
        place = locate(f"{folder}/x.parquet")
        with pytest.raises(KeyError), new_parquet(place, table.schema) as writer:
            writer.write_table(table)
            raise KeyError
        assert list_files(locate(folder)) == {}
        with new_parquet(place, table.schema) as writer:
            writer.write_table(table)
            writer.write_table(table)
        assert pq.read_table(pa.BufferReader(read_bytes(place)))["n"].to_pylist() == [1, 2, 1, 2]
