"""``pddl-eval rescore`` as a command: what it prints and how it fails."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest


def run(*arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "pddl_eval", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)


@pytest.fixture
def pairs(tmp_path: Path) -> Path:
    table = pa.table({"reference_plan": ["(pick a)"] * 4, "generated_plan": [f"(pick b{n})" for n in range(4)]})
    pq.write_table(table, tmp_path / "pairs.parquet")
    return tmp_path / "pairs.parquet"


def test_it_says_how_many_rows_were_carried_over_and_how_many_scored(pairs: Path, tmp_path: Path) -> None:
    assert run("score", pairs, tmp_path / "old").returncode == 0
    table = pq.read_table(pairs)
    pq.write_table(table.set_column(1, "generated_plan", pa.array(["(pick a)", *(["(pick b1)"] * 3)])), pairs)
    result = run("rescore", "--previous", tmp_path / "old", pairs, tmp_path / "new")
    assert result.returncode == 0, result.stderr
    assert "3 unchanged, 1 scored" in result.stdout
    other = run("rescore", "--previous", tmp_path / "old", pairs, tmp_path / "other", "--beta", "0.5")
    assert "4 rows of" in other.stderr and "beta:0.75" in other.stderr
    assert "No row was carried over." in other.stdout


def test_no_earlier_dataset_is_one_sentence_and_nothing_written(pairs: Path, tmp_path: Path) -> None:
    result = run("rescore", "--previous", tmp_path / "old", pairs, tmp_path / "new")
    assert result.returncode == 2
    assert result.stderr == f"pddl-eval: There is no file or folder {tmp_path / 'old'}.\n"
    assert not (tmp_path / "new").exists()
