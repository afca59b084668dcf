"""``pddl-eval dedupe`` as a command: what it prints, what it writes, how it fails."""

import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

HELD = "(define (problem p) (:domain blocksworld) (:objects a) (:init (holding a)) (:goal (clear a)))"


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "pddl_eval.commands.dedupe", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)


@pytest.fixture
def problems(tmp_path: Path) -> str:
    path = tmp_path / "problems.parquet"
    columns = {"reference_problem": [HELD, HELD.replace("clear", "on-table")], "split": ["train", "test"]}
    pq.write_table(pa.table(columns), path)
    return str(path)


def test_a_leak_is_printed_and_written(problems: str, tmp_path: Path) -> None:
    output = tmp_path / "classes.parquet"
    result = run(problems, str(output), "--split-by", "split", "--workers", "2")
    assert result.returncode == 0, result.stderr
    assert "2 rows, 2 distinct texts, 1 problems" in result.stdout
    assert "1 rows of train (100.0%), 1 of test (100.0%)" in result.stdout
    assert pq.read_table(output)["leak"].to_pylist() == [True, True]


def test_a_mistake_is_one_sentence_and_writes_nothing(problems: str, tmp_path: Path) -> None:
    output = tmp_path / "classes.parquet"
    result = run(problems, str(output), "--split-by", "splits")
    assert result.returncode == 2
    assert result.stderr.count("\n") == 1
    assert "There is no column splits" in result.stderr and "did you mean split?" in result.stderr
    assert not output.exists()
