"""``pddl-eval compare`` as a command: its formats, its exit codes, its mistakes."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

from tests.commands.running import only_line, run


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
