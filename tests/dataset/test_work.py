"""One shard from descriptor to partition: what is written, what is said about it, what comes back when it fails."""

from __future__ import annotations

from pathlib import Path

import pyarrow.parquet as pq
import pytest
from pddl_eval.dataset import locations
from pddl_eval.dataset.locations import locate
from pddl_eval.dataset.partitions import RECORD_KEY, SIGNATURE_KEY, ShardRecord, finished_records, read_record
from pddl_eval.dataset.plan import RunPlan, plan_run
from pddl_eval.dataset.work import UNSCORED, ShardFailure, ShardTask, score_shard

from tests.dataset.length_scorer import LengthScorer
from tests.dataset.parquet_files import numbered, write_numbered


def planned(folder: Path, scorer: LengthScorer | None = None, rows: int = 10) -> RunPlan:
    source = write_numbered(folder / "pairs.parquet", rows=rows, row_group=100)
    return plan_run(source, folder / "out", scorer or LengthScorer())


def score(plan: RunPlan, **task: object) -> ShardRecord | ShardFailure:
    return score_shard(plan.work, ShardTask(plan.shards[0], **task))  # type: ignore[arg-type]


def test_a_partition_holds_the_columns_the_scores_and_how_it_came_about(tmp_path: Path) -> None:
    plan = planned(tmp_path)
    record = score(plan, attempt=2)
    partition = tmp_path / "out" / "pairs-000000000000-000000000010.parquet"
    table = pq.read_table(partition)
    assert table.select(["n", "text"]).equals(numbered(10))
    assert table["length"].to_pylist() == [len(text) for text in numbered(10)["text"].to_pylist()]
    assert isinstance(record, ShardRecord)
    assert record.statistics["verdict"] == {"even": 6, "odd": 4}
    assert (record.rows, record.attempt, record.unreadable, record.unscored) == (10, 2, (), ())
    metadata = pq.read_metadata(partition).metadata
    assert metadata[SIGNATURE_KEY.encode()] == b"length|text:text"
    assert ShardRecord.from_json(metadata[RECORD_KEY.encode()]) == record == read_record(locate(partition))


def test_rows_that_kill_are_written_in_their_place_without_scores(tmp_path: Path) -> None:
    plan = planned(tmp_path)
    score(plan, unscored=(3, 9))
    table = pq.read_table(next((tmp_path / "out").glob("*.parquet")))
    assert table.select(["n", "text"]).equals(numbered(10))
    for row in table.to_pylist():
        if row["n"] in (3, 9):
            assert (row["length"], row["verdict"], row["score_error"]) == (None, None, UNSCORED)
        else:
            assert (row["length"], row["score_error"]) == (len(row["text"]), None)


def test_a_probe_scores_its_rows_and_writes_nothing(tmp_path: Path) -> None:
    record = score(planned(tmp_path), probe=(4, 7))
    assert isinstance(record, ShardRecord)
    assert record.rows == 3
    assert not (tmp_path / "out").exists()


def test_an_empty_input_gives_an_empty_partition_with_all_columns(tmp_path: Path) -> None:
    score(planned(tmp_path, rows=0))
    table = pq.read_table(next((tmp_path / "out").glob("*.parquet")))
    assert table.num_rows == 0
    assert table.column_names == ["n", "text", "length", "even", "verdict", "score_error"]


def test_a_bug_in_the_scorer_is_a_failure_of_the_shard_with_its_trace(tmp_path: Path) -> None:
    failure = score(planned(tmp_path, LengthScorer(fails=True)))
    assert isinstance(failure, ShardFailure)
    assert not failure.fatal
    assert "KeyError" in failure.reason
    assert "length_scorer.py" in (failure.trace or "")


def test_a_full_disk_is_fatal_and_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plan = planned(tmp_path)

    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(locations.os, "fsync", full)
    failure = score(plan)
    assert isinstance(failure, ShardFailure)
    assert failure.fatal
    assert "No space is left" in failure.reason
    assert list((tmp_path / "out").iterdir()) == []


def test_a_partition_counts_only_when_it_is_whole_and_of_this_run(tmp_path: Path) -> None:
    plan = planned(tmp_path)
    record = score(plan)
    partition = tmp_path / "out" / plan.shards[0].name
    present = [partition.name]

    def finished(run: str = plan.work.run) -> dict[str, ShardRecord]:
        return finished_records(plan.work.output, plan.shards, present, run)

    assert finished() == {partition.name: record}
    assert finished("another") == {}
    content = partition.read_bytes()
    for damaged in (b"", content[: len(content) // 2], content[:-1], b"x" * len(content)):
        partition.write_bytes(damaged)
        assert finished() == {}
    pq.write_table(numbered(10), partition)
    assert finished() == {}
