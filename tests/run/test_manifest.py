"""Which folders a run may go into, and what is left of it to do."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pddl_eval.datasets.places import DatasetError
from pddl_eval.errors import RunError
from pddl_eval.run import MANIFEST, SUMMARY
from pddl_eval.run.manifest import _first_difference
from pddl_eval.run.partitions import ShardRecord, ShardTask, score_shard
from pddl_eval.run.prepare import Run, prepare_run
from pddl_eval.run.score import begin_run, finish_run
from pddl_eval.run.summary import RunCounts
from pddl_eval.settings import SHARD_ROWS

from tests.support.length_scorer import length_scorer
from tests.support.parquet_files import write_numbered


@pytest.fixture
def pairs(tmp_path: Path) -> Path:
    return write_numbered(tmp_path / "in" / "pairs.parquet", rows=25, row_group=25)


def summary(records: Mapping[str, ShardRecord]) -> RunCounts:
    rows = sum(record.rows for record in records.values())
    return RunCounts("out", rows, rows, 0, 0, len(records), 0, "local", 1, 1.0, "s", {})


def begun(pairs: Path, output: Path) -> Run:
    plan = prepare_run(pairs, output, length_scorer(), 10)
    begin_run(plan)
    return plan


def test_the_same_run_does_what_is_missing(pairs: Path, tmp_path: Path) -> None:
    plan = begun(pairs, tmp_path / "out")
    record = score_shard(plan.work, ShardTask(plan.shards[1]))
    again = prepare_run(pairs, tmp_path / "out", length_scorer(), 10)
    assert again.work.run == plan.work.run
    assert again.finished == {plan.shards[1].name: record}
    assert again.missing == (plan.shards[0], plan.shards[2])


def test_an_input_that_moved_is_the_same_input(pairs: Path, tmp_path: Path) -> None:
    plan = begun(pairs, tmp_path / "out")
    moved = pairs.rename(tmp_path / "pairs.parquet")
    assert prepare_run(moved, tmp_path / "out", length_scorer(), 10).work.run == plan.work.run


def test_two_rows_exchanged_are_another_input_though_the_footer_is_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def write(flags: list[bool], place: Path) -> Path:
        table = pa.table({"number": range(4), "text": ["a", "b", "c", "d"], "is_placeholder": flags})
        pq.write_table(table, place, compression="none")
        return place

    pairs = write([True, False, False, True], tmp_path / "pairs.parquet")
    begun(pairs, tmp_path / "out")
    stamp = pairs.stat()
    exchanged = write([False, True, False, True], tmp_path / "other.parquet")
    assert exchanged.read_bytes()[-400:] == pairs.read_bytes()[-400:]
    exchanged.replace(pairs)
    with pytest.raises(DatasetError, match=r"pairs.parquet"):
        prepare_run(pairs, tmp_path / "out", length_scorer(), 10)
    write([True, False, False, True], pairs)  # touched, but the same
    prepare_run(pairs, tmp_path / "out", length_scorer(), 10)
    monkeypatch.setattr("pddl_eval.datasets.inputs.HASHED_BYTES", 0)
    plan = begun(pairs, tmp_path / "large")
    assert plan.manifest["files"][0]["content"].startswith("modified:")
    os.utime(pairs, ns=(stamp.st_atime_ns, stamp.st_mtime_ns))
    with pytest.raises(DatasetError, match=r"pairs.parquet"):
        prepare_run(pairs, tmp_path / "large", length_scorer(), 10)


def test_another_run_is_refused_with_what_differs(pairs: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    begun(pairs, out)
    with pytest.raises(DatasetError, match='text was "text" and is "other" now'):
        prepare_run(pairs, out, length_scorer(text="other"), 10)
    known = {"settings": {"columns": {"a": "b", "c": "d"}}, "format": 1, "signature": "s:1", "files": []}
    named = known | {"settings": {"columns": {"a": "b", "model": "m"}}}
    assert _first_difference(known, named) == 'columns was {"c": "d"} and is {"model": "m"} now'
    write_numbered(pairs, rows=25, row_group=25, start=1)
    with pytest.raises(DatasetError, match=r"pairs.parquet"):
        prepare_run(pairs, out, length_scorer(), 10)
    more = write_numbered(pairs.with_name("more.parquet"), rows=1, row_group=1)
    with pytest.raises(DatasetError, match=r"more.parquet"):
        prepare_run(pairs.parent, out, length_scorer(), 10)
    with pytest.raises(DatasetError, match="Choose another folder"):
        prepare_run(more, out, length_scorer(), 10)


@pytest.mark.parametrize("manifest", ["", "[]", "{}", '{"format": 1, "settings": 3}', "\0\1"])
def test_a_manifest_that_is_none_is_refused(manifest: str, pairs: Path, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / MANIFEST).write_text(manifest)
    with pytest.raises(DatasetError, match="cannot be read"):
        prepare_run(pairs, tmp_path / "out", length_scorer(), SHARD_ROWS)


def test_someone_elses_files_and_the_input_itself_are_no_output(pairs: Path, tmp_path: Path) -> None:
    write_numbered(tmp_path / "theirs" / "x.parquet", rows=1, row_group=1)
    with pytest.raises(DatasetError, match="holds Parquet files"):
        prepare_run(pairs, tmp_path / "theirs", length_scorer(), SHARD_ROWS)
    with pytest.raises(DatasetError, match="lies in the output"):
        prepare_run(pairs, pairs.parent, length_scorer(), SHARD_ROWS)
    with pytest.raises(DatasetError, match="lies in the input"):
        prepare_run(pairs.parent, pairs.parent / "out", length_scorer(), SHARD_ROWS)
    assert prepare_run(pairs, pairs.parent / "out", length_scorer(), SHARD_ROWS).missing, (
        "beside a single file is as good as anywhere"
    )


def test_planning_writes_nothing(pairs: Path, tmp_path: Path) -> None:
    prepare_run(pairs, tmp_path / "out", length_scorer(), SHARD_ROWS)
    assert not (tmp_path / "out").exists()


def test_a_run_is_complete_when_every_partition_is_to_be_seen(pairs: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    plan = begun(pairs, out)
    for shard in plan.shards[:-1]:
        score_shard(plan.work, ShardTask(shard))
    with pytest.raises(RunError, match="5 rows are missing"):
        finish_run(plan, summary)
    assert not (out / SUMMARY).exists()
    score_shard(plan.work, ShardTask(plan.shards[-1]))
    finish_run(plan, summary)
    kept = json.loads((out / SUMMARY).read_text())
    assert (kept["run"], kept["complete"], kept["rows"]) == (plan.work.run, True, 25)


def test_a_run_that_lost_a_partition_is_not_complete_any_more(pairs: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    plan = begun(pairs, out)
    for shard in plan.shards:
        score_shard(plan.work, ShardTask(shard))
    finish_run(plan, summary)
    (out / plan.shards[0].name).unlink()
    begun(pairs, out)
    assert not (out / SUMMARY).exists()


@pytest.mark.parametrize("text", ["text", "other"])
def test_of_two_runs_started_together_one_has_the_folder(text: str, pairs: Path, tmp_path: Path) -> None:
    first, second = (prepare_run(pairs, tmp_path / "out", length_scorer(each), 10) for each in ("text", text))
    begin_run(first)
    if text == "text":
        begin_run(second)
    else:
        with pytest.raises(DatasetError, match="other"):
            begin_run(second)
    assert json.loads((tmp_path / "out" / MANIFEST).read_text()) == first.manifest
    assert [path.name for path in (tmp_path / "out").iterdir()] == [MANIFEST]


def test_a_folder_that_became_another_run_s_is_not_completed(pairs: Path, tmp_path: Path) -> None:
    """As on an object store, where the later of two manifests stays."""
    out = tmp_path / "out"
    first, second = begun(pairs, out), prepare_run(pairs, tmp_path / "else", length_scorer("n"), 10)
    for shard in first.shards:
        score_shard(first.work, ShardTask(shard))
    (out / MANIFEST).write_text(json.dumps(second.manifest))
    with pytest.raises(DatasetError, match="belongs to another run"):
        finish_run(first, summary)
    (out / MANIFEST).write_text(json.dumps(first.manifest))
    score_shard(replace(first.work, run="another"), ShardTask(first.shards[0]))
    with pytest.raises(RunError, match="10 rows"):
        finish_run(first, summary)
    assert not (out / SUMMARY).exists()


def test_finishing_removes_what_killed_writers_left_and_nothing_else(pairs: Path, tmp_path: Path) -> None:
    plan = begun(pairs, tmp_path / "out")
    for shard in plan.shards:
        score_shard(plan.work, ShardTask(shard))
    (tmp_path / "out" / f".{plan.shards[0].name}.{'0' * 32}.tmp").write_bytes(b"PAR1")
    (tmp_path / "out" / ".mine.tmp").touch()
    finish_run(plan, summary)
    hidden = [path.name for path in (tmp_path / "out").iterdir() if path.name.startswith(".")]
    assert hidden == [".mine.tmp"]


@pytest.mark.parametrize("name", ["out.parquet", "out.JSONL", "", "-"])
def test_an_output_that_names_a_file_is_refused(
    name: str, pairs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(DatasetError, match="folder"):
        prepare_run(pairs, name, length_scorer(), 10)
    with pytest.raises(DatasetError):
        prepare_run(name, "out", length_scorer(), 10)
