"""One shard from descriptor to partition: what is written, what is said about it, what comes back when it fails."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pddl_eval.datasets import places
from pddl_eval.datasets.forms import FileVersion
from pddl_eval.datasets.inputs import open_source
from pddl_eval.datasets.rows import read_rows
from pddl_eval.run.partitions import (
    KNOWN_ROW,
    RECORD_KEY,
    SIGNATURE_KEY,
    UNSCORED,
    Scorer,
    ShardFailure,
    ShardRecord,
    ShardTask,
    _score,
    finished_records,
    score_shard,
)
from pddl_eval.run.prepare import Run, prepare_run
from pddl_eval.run.summary import count_values, merge_statistics
from pddl_eval.settings import SHARD_ROWS

from tests.support.length_scorer import length_scorer
from tests.support.parquet_files import numbered, write_numbered


def planned(folder: Path, scorer: Scorer | None = None, rows: int = 10) -> Run:
    source = write_numbered(folder / "pairs.parquet", rows=rows, row_group=100)
    return prepare_run(source, folder / "out", scorer or length_scorer(), SHARD_ROWS)


def score(plan: Run, **task: object) -> ShardRecord | ShardFailure:
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
    assert ShardRecord.from_json(metadata[RECORD_KEY.encode()]) == record


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
    failure = score(planned(tmp_path, length_scorer(fails=True)))
    assert isinstance(failure, ShardFailure)
    assert not failure.fatal
    assert "KeyError" in failure.reason
    assert "length_scorer.py" in (failure.trace or "")


def test_a_full_disk_is_fatal_and_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plan = planned(tmp_path)

    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(places.os, "fsync", full)
    failure = score(plan)
    assert isinstance(failure, ShardFailure)
    assert failure.fatal
    assert "No space left" in failure.reason
    assert list((tmp_path / "out").iterdir()) == []


def test_a_partition_counts_only_when_it_is_whole_and_of_this_run(tmp_path: Path) -> None:
    plan = planned(tmp_path)
    record = score(plan)
    partition = tmp_path / "out" / plan.shards[0].name

    def finished(run: str = plan.work.run) -> dict[str, ShardRecord]:
        return finished_records(plan.work.output, plan.shards, run)

    assert finished() == {partition.name: record}
    assert finished("another") == {}
    content = partition.read_bytes()
    for damaged in (b"", content[: len(content) // 2], content[:-1], b"x" * len(content)):
        partition.write_bytes(damaged)
        assert finished() == {}
    pq.write_table(numbered(10), partition)
    assert finished() == {}


rows = st.lists(
    st.tuples(
        st.none() | st.booleans(),
        st.none() | st.sampled_from(["equivalent", "unparseable"]),
        st.none() | st.integers(-100, 100),
        st.none() | st.text(max_size=2),
    )
)
SCHEMA = pa.schema(
    [("solvable", pa.bool_()), ("verdict", pa.string()), ("plan_length", pa.int64()), ("detail", pa.string())]
)


def table(values: list[tuple[object, ...]]) -> pa.Table:
    return pa.table([list(column) for column in zip(*values, strict=True)] or [[]] * 4, schema=SCHEMA)


@given(st.lists(rows, min_size=1, max_size=4))
def test_parts_add_up(parts: list[list[tuple[object, ...]]]) -> None:
    names = SCHEMA.names
    whole = count_values(table([row for part in parts for row in part]), names)
    merged = merge_statistics(count_values(table(part), names) for part in parts)
    assert merged == whole


def test_undecided_is_neither_true_nor_false_and_null_is_no_verdict() -> None:
    two = table([(True, "equivalent", 3, "x"), (None, None, None, None)])
    assert count_values(two, SCHEMA.names) == {
        "solvable": {"true": 1, "false": 0, "null": 1},
        "verdict": {"equivalent": 1},
        "plan_length": {"count": 1, "sum": 3},
        "detail": {"count": 1},
    }


@pytest.mark.parametrize("until", [float("inf"), 0.0])
def test_known_scores_lie_between_new_ones_and_rows_that_are_left_out(tmp_path: Path, until: float) -> None:
    """Rows 12 and 13 are known, 11 is left out. Without time, one row is scored: the next one ends it."""
    source = write_numbered(tmp_path / "a.parquet", rows=20, row_group=20)
    scorer = replace(length_scorer(slow=("nothing",)), known=known_rows)
    work = prepare_run(source, tmp_path / "out", scorer, 20).work
    file = open_source(source).files[0].version
    [rows] = read_rows(file, 10, 16, work.input_schema)
    scored, known = _score(rows, file, work, {11: "lost"}, until)
    assert known == 2
    lengths = [len(text) for text in numbered(20)["text"].to_pylist()]
    expected = [lengths[10], None, -12, -13, lengths[14], lengths[15]]
    assert scored["length"].to_pylist() == (expected if until else expected[:4])
    assert scored["score_error"].to_pylist()[:4] == [None, "lost", None, None]


def known_rows(file: FileVersion, numbers: range) -> pa.Table:
    rows = pa.array([12, 13])
    values = {"length": pa.array([-12, -13]), "even": pa.nulls(2, pa.bool_()), "verdict": pa.nulls(2, pa.string())}
    return pa.table({KNOWN_ROW: rows, **values, "score_error": pa.nulls(2, pa.string())})
