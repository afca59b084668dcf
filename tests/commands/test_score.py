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
from pddl_eval.commands.cli import JOBS
from pddl_eval.run import MANIFEST, SUMMARY

from tests.run.parquet_files import write_numbered

ROOT = Path(__file__).parent.parent.parent

TOWER = (
    "(define (problem tower) (:domain blocksworld) (:objects a b)"
    " (:init (arm-empty) (clear a) (on-table a) (clear b) (on-table b)) (:goal (and (on a b))))"
)


def command(*arguments: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "pddl_eval", *map(str, arguments)],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=120,
    )


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
    arguments = ("score", pairs, tmp_path / "out", "--column", "generated_problem=answer", "--shard-rows", 5)
    first = command(*arguments, "--json-log", tmp_path / "run.jsonl")
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
    second = command(*arguments)
    assert second.returncode == 0
    assert "3 of them from an earlier start" in second.stdout


def test_a_dry_run_lists_the_shards_and_writes_nothing(pairs: Path, tmp_path: Path) -> None:
    result = command(
        "score", pairs, tmp_path / "out", "--column", "generated_problem=answer", "--shard-rows", 5, "--dry-run"
    )
    assert result.returncode == 0
    assert result.stdout.splitlines()[0].split() == ["to", "do", "5", "pairs-000000000000-000000000005.parquet"]
    assert result.stdout.splitlines()[-1] == "3 of 3 shards to do, 12 of 12 pairs"
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("none.parquet", "out"), "There is no file or folder"),
        (("{root}/pyproject.toml", "out"), "is not a Parquet file"),
        (("pairs.parquet", "out"), "no generated_problem"),
        (("pairs.parquet", "out", "--column", "generated_problem=anwser"), "did you mean answer?"),
        (("pairs.parquet", "out", "--column", "answer"), "should read MEANING=NAME"),
        (("pairs.parquet", "out", "--column", "goal=answer"), "No column means goal"),
        (("pairs.parquet", "out", "--domain", "blockworld"), "did you mean blocksworld?"),
        (("pairs.parquet", "out", "--engine", "spark"), "There is no engine spark"),
        (("s3://key:secret@bucket/in", "out"), "carries credentials"),
    ],
)
def test_what_is_wrong_is_said_in_one_sentence(
    arguments: tuple[str, ...], sentence: str, pairs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(pairs.parent)
    result = command("score", *(argument.replace("{root}", str(ROOT)) for argument in arguments))
    assert result.returncode == 2, result.stderr
    assert result.stderr.startswith("pddl-eval: ")
    assert sentence in result.stderr
    assert len(result.stderr.splitlines()) == 1
    assert "secret@" not in result.stderr
    assert not (pairs.parent / "out").exists()


def test_an_output_that_cannot_be_written_is_said_to_be_one(pairs: Path) -> None:
    result = command("score", pairs, pairs / "out", "--column", "generated_problem=answer")
    assert result.returncode == 1
    assert result.stderr.endswith("a part of this path is a file and not a folder.\n")
    assert len(result.stderr.splitlines()) == 1


def test_another_run_in_the_folder_is_refused(pairs: Path, tmp_path: Path) -> None:
    arguments = ("score", pairs, tmp_path / "out", "--column", "generated_problem=answer")
    assert command(*arguments).returncode == 0
    manifest = (tmp_path / "out" / MANIFEST).read_bytes()
    other = command(*arguments, "--no-check-solvable")
    assert other.returncode == 2
    assert "check_solvable was true and is false now" in other.stderr
    assert (tmp_path / "out" / MANIFEST).read_bytes() == manifest


def test_a_damaged_input_ends_with_one_sentence_and_its_readable_rows(tmp_path: Path) -> None:
    pairs = tmp_path / "pairs.parquet"
    texts = [f"{TOWER}; {n}" for n in range(60)]
    pq.write_table(pa.table({"reference_problem": texts, "generated_problem": texts}), pairs, row_group_size=20)
    column = pq.ParquetFile(pairs).metadata.row_group(1).column(1)
    content = bytearray(pairs.read_bytes())
    start = column.dictionary_page_offset
    content[start : start + column.total_compressed_size] = bytes(column.total_compressed_size)
    pairs.write_bytes(content)
    result = command("score", pairs, tmp_path / "out")
    assert result.returncode == 1
    assert "rows 20 to 39 of" in result.stderr
    assert "Traceback" not in result.stderr
    assert sum(pq.read_metadata(path).num_rows for path in (tmp_path / "out").glob("*.parquet")) == 40


INTERRUPTED = """
import sys
from pddl_eval.commands.cli import run_job
from pddl_eval.options import RunOptions
from pddl_eval.run import run_scorer
from tests.run.length_scorer import LengthScorer

def score() -> None:
    source, output = {places!r}
    run_scorer(source, output, LengthScorer(pause=0.3), RunOptions("local", workers={workers}, shard_rows=10))

if __name__ == "__main__":
    run_job(score)
"""


@pytest.mark.parametrize(("number", "code", "workers"), [(signal.SIGINT, 130, 2), (signal.SIGTERM, 143, 1)])
def test_ctrl_c_stops_cleanly_and_says_how_to_go_on(
    number: signal.Signals, code: int, workers: int, tmp_path: Path
) -> None:
    source = write_numbered(tmp_path / "pairs.parquet", rows=200, row_group=200)
    out = tmp_path / "out"
    script = tmp_path / "slow.py"
    script.write_text(INTERRUPTED.format(places=(str(source), str(out)), workers=workers))
    process = subprocess.Popen(
        [sys.executable, script],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    while len(list(out.glob("*.parquet"))) < 2:
        assert process.poll() is None
        time.sleep(0.02)
    os.killpg(process.pid, number)
    _, stderr = process.communicate(timeout=30)
    assert process.returncode == code
    assert stderr.splitlines()[-1].endswith(f"the same command goes on from there: {script}")
    assert "Traceback" not in stderr
    partitions = list(out.glob("*.parquet"))
    assert 2 <= len(partitions) < 20
    assert sum(pq.read_metadata(path).num_rows for path in partitions) == 10 * len(partitions)


def test_the_help_lists_every_job_and_imports_none_of_the_heavy_libraries() -> None:
    code = (
        "import sys\n"
        "sys.argv = ['pddl-eval', '--help']\n"
        "from pddl_eval.commands.cli import main\n"
        "try:\n"
        "    main()\n"
        "except SystemExit:\n"
        "    print({'ray', 'pyarrow', 'polars', 'igraph', 'networkx', 'pddl'} & set(sys.modules))\n"
    )
    result = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert result.stdout.splitlines()[-1] == "set()"
    assert all(job in result.stdout for job in JOBS)


@pytest.mark.parametrize("job", JOBS)
def test_every_job_of_the_help_has_a_help_of_its_own(job: str) -> None:
    result = command(job, "--help")
    assert result.returncode == 0, result.stderr
    assert "Usage" in result.stdout
