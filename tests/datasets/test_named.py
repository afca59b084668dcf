"""Test sets by name: a copy in any form has the same digest, another set is refused, and so is an unknown name."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pddl_eval.datasets import DatasetError, digest_of, open_source
from pddl_eval.datasets.inputs import as_parquet, find_source, make_aside
from pddl_eval.datasets.named import NAMED, named_set

from tests.support.running import run
from tests.support.shared_problems import SHARED_PROBLEMS, needs_shared_problems

HELD = "(define (problem p) (:domain blocksworld) (:objects {0}) (:init (holding {0})) (:goal (clear {0})))"
ROWS = [{"id": number, "reference_problem": HELD.format(name)} for number, name in enumerate("abc")]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of test sets with one set of one's own, and answers to it."""
    monkeypatch.setenv("PDDL_EVAL_TEST_SETS", str(tmp_path))
    pq.write_table(pa.Table.from_pylist(ROWS), tmp_path / "ours.parquet")
    digest = digest_of(open_source(tmp_path / "ours.parquet"))
    said = f'["ours@2"]\nplace = "{tmp_path}/ours.parquet"\ndigest = "{digest}"\n'
    (tmp_path / "test_sets.toml").write_text(said, encoding="utf-8")
    answers = [{"id": row["id"], "generated_problem": row["reference_problem"]} for row in ROWS]
    (tmp_path / "answers.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in answers), encoding="utf-8")
    return tmp_path


def test_answers_are_scored_against_the_set_of_that_name(folder: Path) -> None:
    out = run("score", folder / "answers.jsonl", folder / "out", "--references", "ours@2", "--engine", "local")
    assert out.exit_code == 0, out.stderr
    assert pq.read_table(folder / "out")["equivalent"].to_pylist() == [True] * 3


def test_a_copy_in_another_form_and_order_with_more_columns_is_the_same_set(folder: Path) -> None:
    lines = "".join(f"{json.dumps({**row, 'note': 'x'})}\n" for row in reversed(ROWS))
    (folder / "ours@2.jsonl").write_text(lines, encoding="utf-8")
    found = named_set("ours@2")
    assert found is not None and found.place == str(folder / "ours@2.jsonl")
    found.require(as_parquet(find_source(found.place), make_aside))


@pytest.mark.parametrize(
    "changed", [ROWS[:2], [*ROWS[:2], {**ROWS[2], "id": 7}], [*ROWS, ROWS[0]]], ids=["lost", "other", "doubled"]
)
def test_another_set_is_refused_and_nothing_is_scored(folder: Path, changed: list[dict[str, object]]) -> None:
    pq.write_table(pa.Table.from_pylist(changed), folder / "ours@2.parquet")
    out = run("score", folder / "answers.jsonl", folder / "out", "--references", "ours@2", "--engine", "local")
    assert out.exit_code == 2 and "is not the test set ours@2" in out.stderr
    assert not list((folder / "out").glob("*.parquet"))


def test_an_unknown_name_and_a_damaged_list_are_one_sentence(folder: Path) -> None:
    with pytest.raises(DatasetError, match=r"no test set our@2; did you mean ours@2\?"):
        named_set("our@2")
    (folder / "test_sets.toml").write_text('["ours@2"]\nplace = 3', encoding="utf-8")
    with pytest.raises(DatasetError, match=r"test_sets\.toml is no list of test sets"):
        named_set("ours@2")


@pytest.mark.parametrize("text", ["pairs.parquet", "s3://bucket/a@b", "a/b@1"])
def test_places_are_no_names(text: str) -> None:
    assert named_set(text) is None


def test_a_file_that_is_there_is_no_name(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    (folder / "ours@2").mkdir()
    assert named_set("ours@2") is None


@pytest.mark.slow
@needs_shared_problems
def test_the_published_problems_are_planetarium_1() -> None:
    assert digest_of(open_source(SHARED_PROBLEMS)) == NAMED["planetarium@1"][1]
