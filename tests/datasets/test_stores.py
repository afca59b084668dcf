"""``s3://`` in and out, against a real HTTP endpoint."""

from __future__ import annotations

from pathlib import Path
from typing import IO

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pddl_eval.datasets import places
from pddl_eval.datasets.inputs import open_source
from pddl_eval.datasets.places import (
    DatasetError,
    Location,
    OutputError,
    Unavailable,
    list_files,
    locate,
    put_bytes,
    read_bytes,
)
from pddl_eval.settings import RunOptions

from tests.support.length_scorer import length_scorer, run_scorer
from tests.support.parquet_files import numbered, read_output, write_numbered

pytestmark = pytest.mark.s3


def store(path: Path, place: str) -> None:
    put_bytes(locate(place), path.read_bytes())


def test_a_run_from_bucket_to_bucket_equals_the_local_one(bucket: str, tmp_path: Path) -> None:
    for name, start in (("a.parquet", 0), ("deep/b.parquet", 30)):
        path = write_numbered(tmp_path / "in" / name, rows=30, row_group=20, start=start)
        store(path, f"s3://{bucket}/in/{name}")
    local = run_scorer(tmp_path / "in", tmp_path / "out", length_scorer(), RunOptions(shard_rows=10, engine="local"))
    remote = run_scorer(
        f"s3://{bucket}/in", f"s3://{bucket}/out", length_scorer(), RunOptions(shard_rows=10, engine="local")
    )
    assert remote.statistics == local.statistics
    assert remote.output == f"s3://{bucket}/out"
    out = locate(f"s3://{bucket}/out")
    partitions = sorted(name for name in list_files(out) if name.endswith(".parquet"))
    assert partitions == sorted(path.name for path in (tmp_path / "out").glob("*.parquet"))
    tables = [pq.read_table(f"{out.path}/{name}", filesystem=out.filesystem) for name in partitions]
    assert tables == [pq.read_table(tmp_path / "out" / name) for name in partitions]
    again = run_scorer(
        f"s3://{bucket}/in", f"s3://{bucket}/out", length_scorer(), RunOptions(shard_rows=10, engine="local")
    )
    assert (again.rows_scored, again.shards_reused) == (0, 6)


def test_a_pattern_and_a_single_object(bucket: str, tmp_path: Path) -> None:
    path = write_numbered(tmp_path / "a.parquet", rows=3, row_group=3)
    for name in ("a.parquet", "b.parquet", "sub/c.parquet"):
        store(path, f"s3://{bucket}/in/{name}")
    assert [file.name for file in open_source(f"s3://{bucket}/in/*.parquet").files] == ["a.parquet", "b.parquet"]
    assert [file.name for file in open_source(f"s3://{bucket}/in/sub/c.parquet").files] == ["c.parquet"]


def test_a_bucket_or_key_that_is_not_there_is_named(bucket: str, tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match="There is no bucket s3://no-such-bucket"):
        open_source("s3://no-such-bucket/in")
    with pytest.raises(DatasetError, match=f"There is no file or folder s3://{bucket}/none"):
        open_source(f"s3://{bucket}/none")
    source = write_numbered(tmp_path / "a.parquet", rows=3, row_group=3)
    with pytest.raises(OutputError, match="there is no bucket no-such-bucket"):
        run_scorer(source, "s3://no-such-bucket/out", length_scorer(), RunOptions(engine="local"))


def test_an_endpoint_that_does_not_answer_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:1")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "testing")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "very-secret")
    monkeypatch.setattr(places, "S3_ATTEMPTS", 1)
    with pytest.raises(Unavailable, match=r"object store at http://127\.0\.0\.1:1 does not answer") as failure:
        open_source("s3://bucket/in")
    assert "very-secret" not in str(failure.value)


def test_a_put_that_fails_is_tried_again(bucket: str, monkeypatch: pytest.MonkeyPatch) -> None:
    failures = 2

    def failing(location: Location, content: IO[bytes]) -> None:
        nonlocal failures
        if failures:
            failures -= 1
            raise OSError("AWS Error INTERNAL_FAILURE during PutObject operation")
        upload(location, content)

    upload = places._upload
    monkeypatch.setattr(places, "_upload", failing)
    monkeypatch.setattr(places.time, "sleep", lambda seconds: None)
    target: Location = locate(f"s3://{bucket}/x")
    put_bytes(target, b"whole")
    assert read_bytes(target) == b"whole"
    failures = places.STORE_ATTEMPTS
    with pytest.raises(OutputError, match="INTERNAL_FAILURE"):
        put_bytes(target, b"never")
    assert read_bytes(target) == b"whole"


def test_a_half_written_object_does_not_count(bucket: str, tmp_path: Path) -> None:
    source = write_numbered(tmp_path / "a.parquet", rows=30, row_group=30)
    run_scorer(source, f"s3://{bucket}/out", length_scorer(), RunOptions(shard_rows=10, engine="local"))
    partition = locate(f"s3://{bucket}/out/a-000000000010-000000000020.parquet")
    put_bytes(partition, read_bytes(partition)[:-20])
    again = run_scorer(source, f"s3://{bucket}/out", length_scorer(), RunOptions(shard_rows=10, engine="local"))
    assert (again.rows_scored, again.shards_reused, again.rows) == (10, 2, 30)
    run_scorer(source, tmp_path / "local", length_scorer(), RunOptions(shard_rows=10, engine="local"))
    assert read_output(tmp_path / "local").select(["n", "text"]).equals(numbered(30))
    table = pq.read_table(partition.path, filesystem=partition.filesystem)
    assert table.equals(pq.read_table(tmp_path / "local" / "a-000000000010-000000000020.parquet"))


def test_a_partition_that_a_hiccup_hides_is_looked_at_again(
    bucket: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pairs = write_numbered(tmp_path / "pairs.parquet", rows=20, row_group=20)
    options = RunOptions(shard_rows=10, engine="local")
    run_scorer(pairs, f"s3://{bucket}/out", length_scorer(), options)
    read, failures = pq.read_metadata, [OSError("a hiccup")] * 2
    monkeypatch.setattr(places, "PAUSE_SECONDS", 0.01)

    def hiccups(file: pa.NativeFile) -> pq.FileMetaData:
        if failures and not isinstance(file, pa.BufferReader):  # a partition; the input's footer is in a buffer
            raise failures.pop()
        return read(file)

    monkeypatch.setattr("pddl_eval.run.partitions.pq.read_metadata", hiccups)
    assert run_scorer(pairs, f"s3://{bucket}/out", length_scorer(), options).shards_reused == 2
    assert not failures
