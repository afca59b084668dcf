"""``pddl-eval compare`` as a command: its formats, its exit codes, its mistakes."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest


def run(*arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "pddl_eval", "compare", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)


@pytest.fixture
def datasets(tmp_path: Path) -> tuple[Path, Path]:
    paths = tmp_path / "old.parquet", tmp_path / "new.parquet"
    for path, equivalent in zip(paths, ([True, True, False], [True, False, True]), strict=True):
        verdicts = ["identical" if each else "goal_differs" for each in equivalent]
        pl.DataFrame({"n": [1, 2, 3], "equivalent": equivalent, "verdict": verdicts}).write_parquet(path)
    return paths


def test_a_regression_fails_only_where_that_was_asked_for(datasets: tuple[Path, Path]) -> None:
    old, new = datasets
    assert run(old, new, "--on", "n").returncode == 0
    failed = run(old, new, "--on", "n", "--fail-on", "regression")
    assert failed.returncode == 1
    assert failed.stderr == "pddl-eval: 1 row was right and is not any more.\n"
    assert "identical → goal differs" in failed.stdout
    assert run(old, old, "--on", "n", "--fail-on", "regression").returncode == 0


def test_json_is_all_that_stdout_holds(datasets: tuple[Path, Path]) -> None:
    result = run(*datasets, "--on", "n", "--format", "json", "--fail-on", "regression")
    found = json.loads(result.stdout)
    assert (found["regressions"], found["improvements"], found["examples"][0]["n"]) == (1, 1, 2)
    assert run(*datasets, "--on", "n", "--format", "md").stdout.startswith("# ")


def test_a_mistake_is_one_sentence(datasets: tuple[Path, Path]) -> None:
    result = run(*datasets)
    assert result.returncode == 2
    assert result.stderr.count("\n") == 1
    assert "say with --on what identifies a row" in result.stderr
