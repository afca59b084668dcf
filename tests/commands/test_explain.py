"""``pddl-eval explain`` as a command: files, rows, pages, mistakes."""

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from tests.commands.running import only_line, run, start
from tests.explain.pairs import REFERENCE, RENAMED


def test_two_files_are_compared_and_drawn(tmp_path: Path) -> None:
    reference, answer = tmp_path / "reference.pddl", tmp_path / "answer.txt"
    reference.write_text(REFERENCE)
    answer.write_text(f"Sure:\n{RENAMED}")
    page, picture = tmp_path / "why.html", tmp_path / "why.svg"
    result = start("-m", "pddl_eval", "explain", reference, answer, "--html", page, "--svg", picture)
    assert result.returncode == 0, result.stderr
    assert result.stdout.startswith("isomorphic: equivalent")
    assert max(map(len, result.stdout.splitlines()[:-4])) <= 80, "a pipe is 80 columns wide"
    assert page.read_text().startswith("<!DOCTYPE html>") and picture.read_text().startswith("<svg")


def test_an_answer_may_come_through_a_pipe(tmp_path: Path) -> None:
    reference = tmp_path / "reference.pddl"
    reference.write_text(REFERENCE)
    assert run("explain", reference, "-", stdin="no").stdout.startswith("unparseable")


def test_a_row_is_named_with_what_the_dataset_says_of_it(tmp_path: Path) -> None:
    dataset = tmp_path / "pairs.parquet"
    columns = {"reference_problem": [REFERENCE] * 2, "output": ["no", RENAMED], "verdict": ["empty"] * 2, "id": [7, 8]}
    pq.write_table(pa.table(columns), dataset)
    names = ("--column", "generated_problem=output", "--column", "pair_id=id")
    result = run("explain", dataset, "--pair-id", "8", *names)
    assert result.exit_code == 0, result.stderr
    title, headline = result.stdout.splitlines()[:2]
    assert f"row 1 of {dataset}" in title and "empty" in title
    assert headline.startswith("isomorphic")


def test_a_mistake_is_one_sentence(tmp_path: Path) -> None:
    dataset = tmp_path / "pairs.parquet"
    pq.write_table(pa.table({"reference_problem": [REFERENCE], "generated_problem": ["no"]}), dataset)
    for arguments, said in (
        ((dataset,), "--row N or --pair-id ID"),
        ((dataset, "--row", "0", "--pair-id", "a"), "--row N or --pair-id ID"),
        ((dataset, "--row", "5"), "row 5"),
        ((dataset, dataset, "--row", "5"), "--row, --pair-id and --column"),
        ((tmp_path / "none.pddl", dataset), "none.pddl"),
    ):
        result = run("explain", *arguments)
        assert result.exit_code == 2 and said in only_line(result.stderr)
