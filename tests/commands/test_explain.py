"""``pddl-eval explain`` as a command: files, rows, pages, mistakes."""

import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from tests.explain.pairs import REFERENCE, RENAMED


def run(*arguments: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "pddl_eval.commands.explain", *arguments]
    return subprocess.run(command, capture_output=True, text=True, input=stdin, timeout=120, check=False)


def test_two_files_are_compared_and_drawn(tmp_path: Path) -> None:
    reference, answer = tmp_path / "reference.pddl", tmp_path / "answer.txt"
    reference.write_text(REFERENCE)
    answer.write_text(f"Sure:\n{RENAMED}")
    page, picture = tmp_path / "why.html", tmp_path / "why.svg"
    result = run(str(reference), str(answer), "--html", str(page), "--svg", str(picture))
    assert result.returncode == 0, result.stderr
    assert result.stdout.startswith("isomorphic: equivalent")
    assert max(map(len, result.stdout.splitlines()[:-4])) <= 80, "a pipe is 80 columns wide"
    assert page.read_text().startswith("<!DOCTYPE html>") and picture.read_text().startswith("<svg")


def test_an_answer_may_come_through_a_pipe(tmp_path: Path) -> None:
    reference = tmp_path / "reference.pddl"
    reference.write_text(REFERENCE)
    assert run(str(reference), "-", stdin="no").stdout.startswith("unparseable")


def test_a_row_is_named_with_what_the_dataset_says_of_it(tmp_path: Path) -> None:
    dataset = str(tmp_path / "pairs.parquet")
    columns = {"reference_problem": [REFERENCE] * 2, "output": ["no", RENAMED], "verdict": ["empty"] * 2, "id": [7, 8]}
    pq.write_table(pa.table(columns), dataset)
    result = run(dataset, "--pair-id", "8", "--column", "generated_problem=output", "--column", "pair_id=id")
    assert result.returncode == 0, result.stderr
    title, headline = result.stdout.splitlines()[:2]
    assert title == f"row 1 of {dataset}, scored there as empty"
    assert headline == "isomorphic: equivalent"


def test_a_mistake_is_one_sentence(tmp_path: Path) -> None:
    dataset = str(tmp_path / "pairs.parquet")
    pq.write_table(pa.table({"reference_problem": [REFERENCE], "generated_problem": ["no"]}), dataset)
    for arguments, sentence in (
        ((dataset,), "name one: --row N or --pair-id ID"),
        ((dataset, "--row", "5"), "There is no row 5"),
        ((dataset, dataset, "--row", "5"), "belong to a dataset"),
        ((str(tmp_path / "none.pddl"), dataset), "There is no"),
    ):
        result = run(*arguments)
        assert result.returncode == 2 and sentence in result.stderr
        assert result.stderr.count("\n") == 1 and "Traceback" not in result.stderr
