"""What a shell completes: choices, and columns of the dataset in the line."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.shell_completion import ShellComplete
from pddl_eval.commands.cli import main

COLUMNS = ("model", "output", "out cost")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file, and a folder of partitions, which both have the columns model, output and "out cost"."""
    folder = tmp_path_factory.mktemp("completion")
    table = pa.table({"model": ["m"], "output": [""], "out cost": [1]})
    pq.write_table(table, folder / "pairs.parquet")
    (folder / "scored" / "split=test").mkdir(parents=True)
    pq.write_table(table, folder / "scored" / "split=test" / "part.parquet")
    (folder / "scored" / "_summary.json").write_text("{}")
    (folder / "text.txt").write_text("no Parquet")
    (folder / "answers.csv").write_text("a,b\n1,2\n")
    return folder


@pytest.mark.parametrize(
    ("line", "completed"),
    [
        ("report scored --by ", ["model", "output", "out cost", "split"]),
        ("report scored --by model,o", ["model,output", "model,out cost"]),
        ("report --by mo", []),  # no dataset yet
        ("report scored --by=mo", ["model"]),
        ("score pairs.parquet out --column generated_problem=", [f"generated_problem={name}" for name in COLUMNS]),
        ("score pairs.parquet --column generated_problem=outp", ["generated_problem=output"]),
        ("score pairs.parquet --column generated_p", ["generated_problem=", "generated_plan="]),
        ("score *.parquet --column is_placeholder=m", ["is_placeholder=model"]),
        ("score answers.csv out --references pairs.parquet --key outp", ["output"]),
        ("compare scored other --key m", ["model"]),
        ("explain scored --key model,outp", ["model,output"]),
        ("dedupe pairs.parquet --keep outp", ["output"]),
        ("score text.txt out --column domain=", []),
        ("score s3://bucket/pairs out --column domain=", []),
        ("score none.parquet out --column domain=", []),
        ("score answers.csv out --column domain=", ["domain=a", "domain=b"]),
        ("generate variants pairs.parquet out --preset z", ["zero-shot"]),
        ("score pairs.parquet out --engine l", ["local"]),
        ("score pairs.parquet out --domain gri", ["gripper"]),
        ("explain pairs.parquet --only pl", ["plan"]),
    ],
)
def test_a_shell_gets_columns_and_choices(
    line: str, completed: list[str], folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    *words, begun = line.split(" ")
    found = ShellComplete(main, {}, "pddl-eval", "_PDDL_EVAL_COMPLETE").get_completions(words, begun)
    assert [each.value for each in found] == completed
