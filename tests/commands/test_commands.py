"""``status``, ``rescore``, ``compare`` and ``dedupe`` as commands: what they print, what they write, how they fail."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.support.running import only_line, run


def test_from_no_run_to_a_finished_one(tmp_path: Path) -> None:
    plans = pa.table({"reference_plan": ["(a)"] * 30, "generated_plan": ["(b)"] * 30})
    pq.write_table(plans, tmp_path / "plans.parquet")
    place = tmp_path / "out"
    assert run("status", place).exit_code == 2
    for part, code in (("2/2", 3), ("1/2", 0)):
        scored = run("score", tmp_path / "plans.parquet", place, "--part", part)
        assert scored.exit_code == 0
        assert ("missing" in scored.stdout) == (code == 3)
        status = run("status", place)
        assert status.exit_code == code
        assert ("not finished" in status.stdout) == (code == 3)
    found = json.loads(run("status", place, "--format", "json").stdout)
    assert (found["finished"], found["rows_done"], found["missing"]) == (True, 30, [])
    for part in ("0/2", "3/2", "half"):
        refused = run("score", tmp_path / "plans.parquet", tmp_path / "no", "--part", part)
        assert refused.exit_code == 2 and not (tmp_path / "no").exists()
    planned = run("score", tmp_path / "plans.parquet", tmp_path / "no", "--part", "1/2", "--dry-run")
    assert planned.exit_code == 0 and not (tmp_path / "no").exists()


# --- ``pddl-eval rescore`` as a command: what it prints and how it fails


@pytest.fixture
def pairs(tmp_path: Path) -> Path:
    table = pa.table({"reference_plan": ["(pick a)"] * 4, "generated_plan": [f"(pick b{n})" for n in range(4)]})
    pq.write_table(table, tmp_path / "pairs.parquet")
    return tmp_path / "pairs.parquet"


def test_it_says_how_many_rows_were_carried_over_and_how_many_scored(pairs: Path, tmp_path: Path) -> None:
    assert run("score", pairs, tmp_path / "old").exit_code == 0
    table = pq.read_table(pairs)
    pq.write_table(table.set_column(1, "generated_plan", pa.array(["(pick a)", *(["(pick b1)"] * 3)])), pairs)
    planned = run("rescore", "--previous", tmp_path / "old", pairs, tmp_path / "new", "--dry-run")
    assert planned.exit_code == 0 and "4 of 4 pairs" in planned.stdout
    assert planned.stdout.splitlines()[-1].startswith("4 rows of OLD")
    assert not (tmp_path / "new").exists()
    result = run("rescore", "--previous", tmp_path / "old", pairs, tmp_path / "new")
    assert result.exit_code == 0, result.stderr
    assert "3 unchanged, 1 scored" in result.stdout
    other = run("rescore", "--previous", tmp_path / "old", pairs, tmp_path / "other", "--answer", "last")
    assert "4 rows of" in other.stderr and "beta:0.75" in other.stderr
    assert "No row was carried over" in other.stdout


@pytest.mark.parametrize("dry_run", [(), ("--dry-run",)])
def test_no_earlier_dataset_is_one_sentence_and_nothing_written(
    pairs: Path, tmp_path: Path, dry_run: tuple[str, ...]
) -> None:
    result = run("rescore", "--previous", tmp_path / "old", pairs, tmp_path / "new", *dry_run)
    assert result.exit_code == 2
    assert str(tmp_path / "old") in only_line(result.stderr)
    assert not (tmp_path / "new").exists()


def test_only_undecided_rows_are_tried_again(pairs: Path, tmp_path: Path) -> None:
    assert run("score", pairs, tmp_path / "old").exit_code == 0
    again = run("rescore", "--previous", tmp_path / "old", pairs, tmp_path / "new", "--retry", "undecided")
    assert again.exit_code == 0 and "4 unchanged, 0 scored" in again.stdout, "plans have no verdict"
    wrong = run("rescore", "--previous", tmp_path / "old", pairs, tmp_path / "new", "--retry", "goal_differs")
    assert wrong.exit_code == 2


# --- ``pddl-eval compare`` as a command: its formats, its exit codes, its mistakes


@pytest.fixture
def datasets(tmp_path: Path) -> tuple[Path, Path]:
    paths = tmp_path / "old.parquet", tmp_path / "new.parquet"
    for path, equivalent in zip(paths, ([True, True, False], [True, False, True]), strict=True):
        verdicts = ["identical" if each else "goal_differs" for each in equivalent]
        pl.DataFrame({"n": [1, 2, 3], "equivalent": equivalent, "verdict": verdicts}).write_parquet(path)
    return paths


def test_a_regression_fails_only_where_that_was_asked_for(datasets: tuple[Path, Path]) -> None:
    old, new = datasets
    assert run("compare", old, new, "--key", "n").exit_code == 0
    failed = run("compare", old, new, "--key", "n", "--fail-on", "regression")
    assert failed.exit_code == 1
    assert "1" in only_line(failed.stderr)
    assert run("compare", old, old, "--key", "n", "--fail-on", "regression").exit_code == 0


def test_too_few_partners_fail_like_a_regression(datasets: tuple[Path, Path]) -> None:
    old, new = datasets
    pl.read_parquet(old).with_columns(pl.col("n") + 10).write_parquet(new)
    assert run("compare", old, new, "--key", "n").exit_code == 0
    failed = run("compare", old, new, "--key", "n", "--fail-on", "regression")
    assert failed.exit_code == 1
    assert "0 of the 3" in only_line(failed.stderr)


@pytest.mark.parametrize("nothing", [["--where", "n = -1"], ["--key", "verdict", "--where", "verdict = 'no'"]])
def test_a_gate_that_compared_nothing_fails(datasets: tuple[Path, Path], nothing: list[str]) -> None:
    gate = run("compare", *datasets, "--key", "n", *nothing, "--fail-on", "regression")
    assert gate.exit_code == 1 and only_line(gate.stderr)


def test_json_is_all_that_stdout_holds(datasets: tuple[Path, Path]) -> None:
    result = run("compare", *datasets, "--key", "n", "--format", "json", "--fail-on", "regression")
    found = json.loads(result.stdout)
    assert (found["regressions"], found["improvements"], found["examples"][0]["n"]) == (1, 1, 2)
    assert run("compare", *datasets, "--key", "n", "--format", "md").stdout.startswith("# ")


def test_a_mistake_is_one_sentence(datasets: tuple[Path, Path]) -> None:
    result = run("compare", *datasets)
    assert result.exit_code == 2
    assert "--key" in only_line(result.stderr)


@pytest.mark.parametrize(
    ("old", "new", "offered"),
    [
        ({"model": ["a"] * 4, "sample": [0, 1] * 2}, {"model": ["b"] * 4, "sample": [0, 1] * 2}, "id,sample"),
        ({"model": ["a", "b"] * 2}, {"model": ["a", "b"] * 2}, "id,model"),
        ({"model": ["a"] * 4}, {"model": ["b"] * 4}, None),
    ],
)
def test_only_keys_that_can_join_are_offered(
    old: dict[str, list[object]], new: dict[str, list[object]], offered: str | None, tmp_path: Path
) -> None:
    for name, columns in (("old", old), ("new", new)):
        rows = pl.DataFrame({"id": [1, 1, 2, 2], "equivalent": [True] * 4, **columns})
        rows.write_parquet(tmp_path / f"{name}.parquet")
    result = run("compare", tmp_path / "old.parquet", tmp_path / "new.parquet")
    assert result.exit_code == 2
    assert (f"(--key {offered})" in result.stderr) if offered else ("(--key" not in result.stderr)
    if offered:
        assert run("compare", tmp_path / "old.parquet", tmp_path / "new.parquet", "--key", offered).exit_code == 0


# --- ``pddl-eval dedupe`` as a command: what it prints, what it writes, how it fails


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
