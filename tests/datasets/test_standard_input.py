"""Rows from standard input: scored, resumed, read by the other commands; bounded."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import Result
from pddl_eval.datasets import standard_input
from pddl_eval.datasets.inputs import open_source
from pddl_eval.datasets.places import DatasetError

from tests.commands.running import run, shard_rows
from tests.datasets.parquet_files import numbered, read_output

PLAN = json.dumps({"reference_plan": "(pick a)", "generated_plan": "(pick a)"})

PROBLEM = (
    "(define (problem p) (:domain gripper) (:objects r b g) (:init (room r) (ball b) (at b r) (gripper g) (free g)"
    " (at-robby r)) (:goal (and (at b r))))"
)


@pytest.fixture(autouse=True)
def unread() -> Iterator[None]:
    """Standard input can be read once in a process."""
    yield
    standard_input.stored_standard_input.cache_clear()


def piped(rows: str, *arguments: object) -> Result:
    standard_input.stored_standard_input.cache_clear()
    return run(*arguments, stdin=rows)


def test_rows_are_scored_and_the_same_rows_are_the_same_run(tmp_path: Path) -> None:
    rows = f"{PLAN}\n" * 30
    score = ("score", "-", tmp_path / "out", *shard_rows(10, tmp_path))
    assert piped(rows, *score).exit_code == 0
    partitions = sorted((tmp_path / "out").glob("*.parquet"))
    assert len(partitions) == 3
    partitions[1].unlink()
    again = piped(rows, *score)
    assert again.exit_code == 0 and "2 of them from an earlier start" in again.stdout
    assert read_output(tmp_path / "out").num_rows == 30
    assert piped(rows * 2, *score).exit_code == 2, "other rows are another run"


def test_a_log_of_answers(tmp_path: Path) -> None:
    pq.write_table(pa.table({"id": ["q"], "reference_plan": ["(pick a)"]}), tmp_path / "references.parquet")
    log = json.dumps({"custom_id": "q", "response": {"body": {"choices": [{"text": "(pick a)"}]}}})
    score = ("score", "-", tmp_path / "out", "--from", "openai", "--column", "generated_plan=answer", "--references")
    for _ in range(2):
        assert piped(f"{log}\n", *score, tmp_path / "references.parquet").exit_code == 0
    assert read_output(tmp_path / "out")["plan_lcs"].to_pylist() == [1.0]


def test_every_form_is_known_by_its_content(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pq.write_table(numbered(5), tmp_path / "x.parquet")
    (tmp_path / "x.csv").write_text("n;text\n1;a\n")
    for name, rows in (("x.parquet", 5), ("x.csv", 1)):
        standard_input.stored_standard_input.cache_clear()
        with (tmp_path / name).open() as file:
            monkeypatch.setattr(sys, "stdin", file)
            source = open_source("-")
            assert (source.rows, source.schema.names) == (rows, ["n", "text"])
            assert open_source("-").files == source.files


def test_what_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "empty").touch()
    (tmp_path / "large").write_bytes(b"x" * 100)
    monkeypatch.setattr(standard_input, "MOST_BYTES", 10)
    for place, word in ((tmp_path / "empty", "empty"), (tmp_path / "large", "more than"), (Path(os.devnull), "empty")):
        with place.open() as file:
            monkeypatch.setattr(sys, "stdin", file)
            with pytest.raises(DatasetError, match=word):
                open_source("-")


def test_other_commands_read_lines_and_standard_input(tmp_path: Path) -> None:
    row = {"pair_id": 7, "reference_problem": PROBLEM}
    references = f"{json.dumps(row)}\n" * 2
    pairs = f"{json.dumps({**row, 'generated_problem': PROBLEM})}\n" * 2
    (tmp_path / "references.jsonl").write_text(references)
    (tmp_path / "pairs.jsonl").write_text(pairs)
    for place in ("-", tmp_path / "references.jsonl"):
        assert piped(references, "dedupe", place, tmp_path / "classes.parquet", "--workers", "1").exit_code == 0
        assert pq.read_table(tmp_path / "classes.parquet")["duplicate"].to_pylist() == [False, True]
        made = piped(references, "generate", "variants", place, tmp_path / "answers.parquet", "--workers", "1")
        assert made.exit_code == 0
        assert pq.read_table(tmp_path / "answers.parquet").num_rows == 2
    for place in ("-", tmp_path / "pairs.jsonl"):
        explained = piped(pairs, "explain", place, "--id", "7")
        assert explained.exit_code == 0 and "identical" in explained.stdout
    assert run("score", tmp_path / "pairs.jsonl", tmp_path / "scored").exit_code == 0
    rescored = piped(pairs, "rescore", "--previous", tmp_path / "scored", "-", tmp_path / "new")
    assert rescored.exit_code == 0 and "2 unchanged" in rescored.stdout
    assert piped(pairs, "report", tmp_path / "pairs.jsonl").exit_code == 2
