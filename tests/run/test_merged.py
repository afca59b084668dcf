"""``rows_per_file``: many small files are scored as ever, and a complete run has few large ones."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pddl_eval.datasets import list_files, locate, open_source
from pddl_eval.datasets.places import DatasetError, OutputError
from pddl_eval.errors import UserError
from pddl_eval.report import build_report
from pddl_eval.run import SUMMARY, OtherRun, merged, run_status
from pddl_eval.scoring.scorer import score_dataset

from tests.support.parquet_files import read_output

FILES, ROWS = 15, 4


@pytest.fixture
def pairs(tmp_path: Path) -> Path:
    """Fifteen files of four rows."""
    folder = tmp_path / "pairs"
    folder.mkdir()
    for number in range(FILES):
        answers = [f"(pick b{number * row % 3})" for row in range(ROWS)]
        table = pa.table({"reference_plan": ["(pick b1)"] * ROWS, "generated_plan": answers})
        table = table.append_column("kind", pa.array(["x", None, "y", "x"]).dictionary_encode())
        pq.write_table(table, folder / f"{number:02}.parquet")
    return folder


def sizes(folder: Path) -> list[int]:
    return [pq.read_metadata(path).num_rows for path in sorted(folder.glob("*.parquet"))]


def scores(folder: Path) -> pa.Table:
    return read_output(folder).drop_columns("score_micros")


def test_small_files_become_few_and_the_same_command_does_nothing(pairs: Path, tmp_path: Path) -> None:
    plain = score_dataset(pairs, tmp_path / "plain", engine="local", workers=1)
    merged = score_dataset(pairs, tmp_path / "out", engine="local", workers=1, rows_per_file=25)
    assert "60 in 15 shards" in str(merged)
    assert sizes(tmp_path / "out") == [25, 25, 10]
    assert scores(tmp_path / "out").equals(scores(tmp_path / "plain"))
    assert not (tmp_path / "out" / "_partitions").exists()
    again = score_dataset(pairs, tmp_path / "out", engine="local", workers=1, rows_per_file=25)
    assert (again.rows, again.rows_scored, again.mean("plan_lcs")) == (60, 0, plain.mean("plan_lcs"))
    report = build_report(tmp_path / "out")
    assert (report.rows, report.unfinished, report.signatures) == (60, None, ((plain.signature, 60),))


def test_an_interrupted_run_goes_on_and_an_interrupted_merge_is_made_again(
    pairs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    options = {"engine": "local", "workers": 1, "rows_per_file": 25}
    seen = []

    def stop(event: object) -> None:
        seen.append(event)
        if len(seen) == 5:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        score_dataset(pairs, tmp_path / "out", watch=stop, **options)
    assert sizes(tmp_path / "out") == []
    status = run_status(tmp_path / "out")
    assert (status.finished, status.rows, 0 < status.rows_done < 60) == (False, 60, True)
    with pytest.raises(DatasetError, match="_partitions"):
        build_report(tmp_path / "out")

    def fails(place: object, *how: object) -> object:
        if str(place).endswith("-000001.parquet"):
            raise OutputError("disk full")
        return new_parquet(place, *how)

    new_parquet = merged.places.new_parquet
    with monkeypatch.context() as patch:
        patch.setattr(merged.places, "new_parquet", fails)
        with pytest.raises(OutputError):
            score_dataset(pairs, tmp_path / "out", **options)
    assert build_report(tmp_path / "out").unfinished
    done = score_dataset(pairs, tmp_path / "out", **options)
    assert (done.rows, done.rows_scored, done.shards_reused) == (60, 0, FILES)
    assert sizes(tmp_path / "out") == [25, 25, 10]
    assert build_report(tmp_path / "out").unfinished is None
    status = run_status(tmp_path / "out")
    assert (status.finished, status.rows_done, status.missing) == (True, 60, ())


def test_partitions_that_a_killed_run_was_deleting_are_deleted_by_the_next(pairs: Path, tmp_path: Path) -> None:
    options = {"engine": "local", "workers": 1, "rows_per_file": 25}
    score_dataset(pairs, tmp_path / "plain", engine="local", workers=1)
    score_dataset(pairs, tmp_path / "out", **options)
    left = tmp_path / "out" / "_partitions"
    left.mkdir()
    for path in sorted((tmp_path / "plain").glob("*.parquet"))[:3]:
        (left / path.name).write_bytes(path.read_bytes())
    again = score_dataset(pairs, tmp_path / "out", **options)
    assert (again.rows, again.rows_scored) == (60, 0)
    assert not left.exists()
    assert sizes(tmp_path / "out") == [25, 25, 10]


def test_other_ways_into_the_same_folder_are_refused(pairs: Path, tmp_path: Path) -> None:
    options = {"engine": "local", "workers": 1}
    score_dataset(pairs, tmp_path / "merged", rows_per_file=60, **options)
    score_dataset(pairs, tmp_path / "plain", **options)
    for folder, rows in (("merged", 30), ("merged", None), ("plain", 60)):
        with pytest.raises(OtherRun):
            score_dataset(pairs, tmp_path / folder, rows_per_file=rows, **options)
    for rows in (0, 10**20):
        with pytest.raises(UserError):
            score_dataset(pairs, tmp_path / "other", rows_per_file=rows, **options)
    with pytest.raises(UserError):
        score_dataset(pairs, tmp_path / "other", rows_per_file=5, part="1/2", **options)
    with pytest.raises(OtherRun, match="beta"):
        score_dataset(pairs, tmp_path / "merged", rows_per_file=60, beta=0.5, **options)


def test_answers_are_joined_to_references_once(pairs: Path, tmp_path: Path) -> None:
    pq.write_table(pa.table({"id": [1, 2], "reference_plan": ["(a)", "(b)"]}), tmp_path / "references.parquet")
    answers = pa.table({"id": [2, 1, 2], "generated_plan": ["(b)", "(b)", "(b)"]})
    pq.write_table(answers, tmp_path / "answers.parquet")
    options = {"references": str(tmp_path / "references.parquet"), "engine": "local", "workers": 1, "rows_per_file": 2}
    for scored in (3, 0):
        found = score_dataset(tmp_path / "answers.parquet", tmp_path / "out", **options)
        assert (found.rows, found.rows_scored) == (3, scored)
    assert sizes(tmp_path / "out") == [2, 1]


def test_an_empty_dataset_keeps_its_schema(pairs: Path, tmp_path: Path) -> None:
    empty = pq.read_table(pairs / "00.parquet").slice(0, 0)
    pq.write_table(empty, tmp_path / "empty.parquet")
    score_dataset(tmp_path / "empty.parquet", tmp_path / "out", engine="local", workers=1, rows_per_file=9)
    assert sizes(tmp_path / "out") == [0]
    assert "plan_lcs" in open_source(tmp_path / "out").schema.names


@pytest.mark.s3
@pytest.mark.slow
def test_on_an_object_store(pairs: Path, bucket: str) -> None:
    output = f"s3://{bucket}/out"
    for scored in (60, 0):
        found = score_dataset(pairs, output, engine="local", workers=1, rows_per_file=40)
        assert (found.rows, found.rows_scored) == (60, scored)
    names = sorted(list_files(locate(output)))
    assert [name for name in names if name.endswith(".parquet")] == ["part-000000.parquet", "part-000001.parquet"]
    assert SUMMARY in names and not [name for name in names if name.startswith("_running")]
