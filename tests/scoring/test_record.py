"""The record of a scored dataset: equal for equal values, whatever the files, and a finding for what differs."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest
from pddl_eval import score_dataset, verify_dataset
from pddl_eval.errors import UserError
from pddl_eval.scoring.record import make_record, save_record

from tests.run.test_tiling import ROWS, scored
from tests.support.running import run

__all__ = ["scored"]


@pytest.fixture(scope="module")
def record(scored: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("record") / "record.json"
    save_record(scored, file)
    return file


def columns(frame: pl.DataFrame, folder: Path, rows: int = 1 << 20) -> dict[str, str]:
    """The digests of a frame that lies in a Parquet file with that many rows in a row group."""
    frame.write_parquet(folder / "frame.parquet", row_group_size=rows)
    found: dict[str, str] = make_record(folder / "frame.parquet")["columns"]
    return found


def test_scores_made_again_in_other_partitions_have_the_same_record(scored: Path, record: Path, tmp_path: Path) -> None:
    again = tmp_path / "again"
    score_dataset(scored.parent / "pairs.parquet", again, engine="local", workers=1, shard_rows=ROWS)
    assert verify_dataset(again, rows=0, record=record).ok
    assert json.loads(record.read_text())["columns"] == make_record(again)["columns"]
    score_dataset(scored.parent / "pairs.parquet", tmp_path / "other", engine="local", workers=1, check_solvable=False)
    found = verify_dataset(tmp_path / "other", rows=0, record=record)
    assert not found.ok and {each.kind for each in found.findings} == {"record"}
    where = {each.where for each in found.findings}
    assert {"signature", "solvable"} <= where and not {"equivalent", "generated_problem", "score_micros"} & where


def test_a_digest_is_of_values_in_their_order(tmp_path: Path) -> None:
    """Not of row groups, of widths of numbers, or of what stands behind a null; ``ab``, ``c`` is not ``a``, ``bc``."""
    frame = pl.DataFrame({"parseable": [True, None, False], "text": ["ab", "c", None], "number": [1, 2, None]})
    before = columns(frame, tmp_path)
    wide = frame.with_columns(pl.col("number").cast(pl.Int16), pl.col("text").cast(pl.Categorical))
    assert columns(frame, tmp_path, 1) == columns(wide, tmp_path) == before
    others = {
        "parseable": [[False, None, True], [True, False, False], [True, None, None]],
        "text": [["a", "bc", None], ["ab", "c", ""], ["c", "ab", None], [None, "ab", "c"]],
        "number": [[1, 2, 0], [2, 1, None], [1, 2, 3]],
    }
    for name, values in others.items():
        for each in values:
            after = columns(frame.with_columns(pl.Series(name, each, frame.schema[name])), tmp_path)
            assert {key for key in after if after[key] != before[key]} == {name}, each


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"record": 2}', '{"record": 1, "rows": "2"}', "\xff"])
def test_what_is_no_record_is_refused(content: str, scored: Path, tmp_path: Path) -> None:
    (tmp_path / "record.json").write_text(content, encoding="latin-1")
    with pytest.raises(UserError, match="is no record"):
        verify_dataset(scored, rows=0, record=tmp_path / "record.json")


def test_the_command_writes_a_record_and_holds_a_folder_against_it(scored: Path, tmp_path: Path) -> None:
    file = tmp_path / "record.json"
    assert run("verify", scored, "--rows", "0", "--save-record", file).exit_code == 0
    assert run("verify", scored, "--rows", "0", "--record", file).exit_code == 0
    told = json.loads(file.read_text())
    told["columns"]["verdict"] = "0" * 32
    file.write_text(json.dumps(told))
    found = run("verify", scored, "--rows", "0", "--record", file)
    assert found.exit_code == 3 and "verdict" in found.stdout
    (tmp_path / "mine.json").write_text('{"id": 1}')
    assert run("verify", scored, "--rows", "0", "--save-record", tmp_path / "mine.json").exit_code == 2
