"""The command as a person uses it: what it prints, what it says when something is wrong, how it stops."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pddl_eval.run import MANIFEST, SUMMARY

from tests.commands.running import ENVIRONMENT, ROOT, only_line, run, start
from tests.datasets.parquet_files import write_numbered

TOWER = (
    "(define (problem tower) (:domain blocksworld) (:objects a b)"
    " (:init (arm-empty) (clear a) (on-table a) (clear b) (on-table b)) (:goal (and (on a b))))"
)
RENAMED = ("--column", "generated_problem=answer")


@pytest.fixture
def pairs(tmp_path: Path) -> Path:
    table = pa.table(
        {
            "pair_id": list(range(12)),
            "reference_problem": [TOWER] * 12,
            "answer": [TOWER] * 9 + [None, "", "I cannot write PDDL."],
            "is_placeholder": [False] * 12,
        }
    )
    pq.write_table(table, tmp_path / "pairs.parquet")
    return tmp_path / "pairs.parquet"


def test_a_dataset_is_scored_summed_up_and_not_scored_again(pairs: Path, tmp_path: Path) -> None:
    arguments = ("score", pairs, tmp_path / "out", *RENAMED, "--shard-rows", 5)
    first = start("-m", "pddl_eval", *arguments, "--json-log", tmp_path / "run.jsonl")
    assert first.returncode == 0, first.stderr
    assert "12 in 3 shards" in first.stdout
    assert str(tmp_path / "out") in first.stdout
    assert "pairs/s" in first.stdout
    table = pa.concat_tables(pq.read_table(path) for path in sorted((tmp_path / "out").glob("*.parquet")))
    assert table.select(["pair_id", "reference_problem", "answer", "is_placeholder"]).equals(pq.read_table(pairs))
    assert table["verdict"].to_pylist() == ["identical"] * 9 + ["empty", "empty", "unparseable"]
    assert table["equivalent"].to_pylist() == [True] * 9 + [False] * 3
    assert len((tmp_path / "run.jsonl").read_text().splitlines()) == 3
    assert json.loads((tmp_path / "out" / SUMMARY).read_text())["verdicts"]["identical"] == 9
    second = run(*arguments)
    assert second.exit_code == 0
    assert "3 of them from an earlier start" in second.stdout


def test_a_dry_run_lists_the_shards_and_writes_nothing(pairs: Path, tmp_path: Path) -> None:
    result = run("score", pairs, tmp_path / "out", *RENAMED, "--shard-rows", 5, "--dry-run")
    assert result.exit_code == 0
    assert result.stdout.splitlines()[0].split() == ["to", "do", "5", "pairs-000000000000-000000000005.parquet"]
    assert "3 of 3 shards" in result.stdout and "12 of 12 pairs" in result.stdout
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("flag", ["--check-solvable", "--no-check-solvable"])
def test_both_spellings_of_a_switch_are_accepted(pairs: Path, tmp_path: Path, flag: str) -> None:
    assert run("score", pairs, tmp_path / "out", *RENAMED, flag).exit_code == 0
    solvable = pq.read_table(tmp_path / "out" / "pairs-000000000000-000000000012.parquet")["solvable"].to_pylist()
    assert (solvable[0] is True) == (flag == "--check-solvable")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("none.parquet", "out"), "none.parquet"),
        (("{root}/pyproject.toml", "out"), "pyproject.toml"),
        (("pairs.parquet", "out"), "generated_problem"),
        (("pairs.parquet", "out", "--column", "generated_problem=anwser"), "did you mean answer?"),
        (("pairs.parquet", "out", "--column", "answer"), "MEANING=NAME"),
        (("pairs.parquet", "out", "--column", "goal=answer"), "goal"),
        (("pairs.parquet", "out", "--domain", "blockworld"), "did you mean blocksworld?"),
        (("pairs.parquet", "out", "--domain", "{root}/LICENSE"), "LICENSE"),
        (("pairs.parquet", "out", "--column", "generated_problem=reference_problem"), "cannot be both"),
        (("pairs.parquet", "out", *RENAMED, *RENAMED), "twice"),
        (("pairs.parquet", ""), "place"),
        (("", "out"), "place"),
        (("pairs.parquet", "-"), "place"),
        (("pairs.parquet", "out.parquet"), "name a folder"),
        (("pairs.parquet", "out", *RENAMED, "--json-log", "s3://bucket/log"), "local file"),
        (("pairs.parquet", "out", "--engine", "spark"), "spark"),
        (("pairs.parquet", "out", "--workers", "0"), "0"),
        (("pairs.parquet", "out", "--beta", "2"), "2.0"),
        (("s3://key:secret@bucket/in", "out"), "AWS_ACCESS_KEY_ID"),
    ],
)
def test_a_mistake_is_one_sentence(
    arguments: tuple[str, ...], said: str, pairs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(pairs.parent)
    result = run("score", *(argument.replace("{root}", str(ROOT)) for argument in arguments))
    assert result.exit_code == 2, result.stderr
    assert only_line(result.stderr).startswith("pddl-eval: ") and said in result.stderr
    assert "secret@" not in result.stderr
    assert not (pairs.parent / "out").exists()


def test_an_output_that_cannot_be_written_is_one_sentence(pairs: Path) -> None:
    result = run("score", pairs, pairs / "out", *RENAMED)
    assert result.exit_code == 1
    assert str(pairs / "out") in only_line(result.stderr)


def test_another_run_in_the_folder_is_refused(pairs: Path, tmp_path: Path) -> None:
    arguments = ("score", pairs, tmp_path / "out", *RENAMED)
    assert run(*arguments).exit_code == 0
    manifest = (tmp_path / "out" / MANIFEST).read_bytes()
    other = run(*arguments, "--no-check-solvable")
    assert other.exit_code == 2
    assert "check_solvable" in only_line(other.stderr)
    assert (tmp_path / "out" / MANIFEST).read_bytes() == manifest


def test_a_damaged_input_ends_with_one_sentence_and_its_readable_rows(tmp_path: Path) -> None:
    pairs = tmp_path / "pairs.parquet"
    texts = [f"{TOWER}; {n}" for n in range(60)]
    pq.write_table(pa.table({"reference_problem": texts, "generated_problem": texts}), pairs, row_group_size=20)
    column = pq.ParquetFile(pairs).metadata.row_group(1).column(1)
    content = bytearray(pairs.read_bytes())
    begin = column.dictionary_page_offset
    content[begin : begin + column.total_compressed_size] = bytes(column.total_compressed_size)
    pairs.write_bytes(content)
    result = run("score", pairs, tmp_path / "out")
    assert result.exit_code == 1
    assert "20 to 39" in result.stderr
    assert sum(pq.read_metadata(path).num_rows for path in (tmp_path / "out").glob("*.parquet")) == 40


INTERRUPTED = """
from pddl_eval.commands.command import command, run_alone
from pddl_eval.options import RunOptions
from tests.run.length_scorer import length_scorer, run_scorer

@command
def score(run: RunOptions) -> None:
    source, output = {places!r}
    run_scorer(source, output, length_scorer(pause=0.3), run)

if __name__ == "__main__":
    run_alone(score)
"""


@pytest.mark.parametrize(
    ("number", "code", "engine", "workers"),
    [
        (signal.SIGINT, 130, "local", 2),
        (signal.SIGTERM, 143, "local", 1),
        pytest.param(signal.SIGINT, 130, "ray", 2, marks=[pytest.mark.ray, pytest.mark.slow]),
        pytest.param(signal.SIGTERM, 143, "ray", 2, marks=pytest.mark.ray),
    ],
)
def test_a_signal_stops_cleanly_and_says_how_to_go_on(
    number: signal.Signals, code: int, engine: str, workers: int, tmp_path: Path
) -> None:
    source = write_numbered(tmp_path / "pairs.parquet", rows=200, row_group=200)
    out = tmp_path / "out"
    script = tmp_path / "slow.py"
    script.write_text(INTERRUPTED.format(places=(str(source), str(out))))
    options = ["--engine", engine, "--workers", str(workers), "--shard-rows", "10"]
    process = subprocess.Popen(
        [sys.executable, script, *options],
        env=ENVIRONMENT,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    while len(list(out.glob("*.parquet"))) < 2:
        assert process.poll() is None
        time.sleep(0.02)
    # Ctrl-C reaches the whole process group.
    (os.killpg if number == signal.SIGINT else os.kill)(process.pid, number)
    _, stderr = process.communicate(timeout=30)
    assert process.returncode == code, stderr
    assert stderr.splitlines()[-1].endswith(f": {script} {' '.join(options)}"), "the command that continues"
    assert "Traceback" not in stderr and "PC: @" not in stderr
    partitions = list(out.glob("*.parquet"))
    assert 2 <= len(partitions) < 20
    assert sum(pq.read_metadata(path).num_rows for path in partitions) == 10 * len(partitions)


def test_workers_that_are_asked_for_are_said(pairs: Path, tmp_path: Path) -> None:
    asked = run("score", pairs, tmp_path / "out", *RENAMED, "--workers", 3)
    assert "1 worker)" in asked.stdout, "there is one shard"


def test_what_the_report_says_explains_a_row_with_the_settings_of_the_run(pairs: Path, tmp_path: Path) -> None:
    domain, out = tmp_path / "mine.pddl", tmp_path / "out"
    domain.write_text("(define (domain mine) (:action on :parameters (?x ?y) :effect (on ?x ?y)))")
    problem = TOWER.replace("blocksworld", "mine")
    pq.write_table(pa.table({"reference_problem": [problem] * 2, "answer": [problem, None]}), pairs)
    assert run("score", pairs, out, *RENAMED, "--domain", domain).exit_code == 0
    found = run("explain", out, "--row", 0)
    assert found.exit_code == 0 and "scored there as identical" in found.stdout, found.stderr
    assert "identical: equivalent" in found.stdout and "undecided" not in found.stdout


def test_a_name_cannot_tell_the_terminal_what_to_do(pairs: Path) -> None:
    result = run("score", pairs, pairs.parent / "out\x1b[2J", *RENAMED)
    assert result.exit_code == 0 and "\x1b" not in result.stdout and "\\x1b[2J" in result.stdout
