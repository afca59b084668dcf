"""``pddl-eval dedupe`` as a command: what it prints, what it writes, how it fails."""

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.commands.running import only_line, run

HELD = "(define (problem p) (:domain blocksworld) (:objects a) (:init (holding a)) (:goal (clear a)))"


@pytest.fixture
def problems(tmp_path: Path) -> Path:
    columns = {"reference_problem": [HELD, HELD.replace("clear", "on-table")], "split": ["train", "test"]}
    pq.write_table(pa.table(columns), tmp_path / "problems.parquet")
    return tmp_path / "problems.parquet"


def test_a_leak_is_printed_and_written(problems: Path, tmp_path: Path) -> None:
    output = tmp_path / "classes.parquet"
    result = run("dedupe", problems, output, "--split-by", "split", "--workers", "2")
    assert result.exit_code == 0, result.stderr
    assert "2 distinct texts, 1 problems" in result.stdout
    assert "1 rows of train (100.0%), 1 of test (100.0%)" in result.stdout
    assert pq.read_table(output)["leak"].to_pylist() == [True, True]


def test_the_columns_are_renamed_as_everywhere(problems: Path, tmp_path: Path) -> None:
    renamed = tmp_path / "renamed.parquet"
    pq.write_table(pq.read_table(problems).rename_columns(["pddl", "split\x1b[2J"]), renamed)
    column = ("--column", "reference_problem=pddl")
    split = ("--split-by", "split\x1b[2J", "--workers", "1")
    result = run("dedupe", renamed, tmp_path / "classes.parquet", *column, *split)
    assert result.exit_code == 0 and "1 problems" in result.stdout and "\x1b" not in result.stdout, result.stderr
    for wrong in ("pddl", "problem=pddl", "domain=none"):
        assert run("dedupe", renamed, tmp_path / "classes.parquet", "--column", wrong).exit_code == 2


def test_a_mistake_is_one_sentence_and_writes_nothing(problems: Path, tmp_path: Path) -> None:
    output = tmp_path / "classes.parquet"
    result = run("dedupe", problems, output, "--split-by", "splits")
    assert result.exit_code == 2
    assert "splits" in only_line(result.stderr) and "did you mean split?" in result.stderr
    assert not output.exists()
