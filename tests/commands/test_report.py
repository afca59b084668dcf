"""The command ``pddl-eval report``: what it prints and writes, and what it says when it cannot."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest
from pddl_eval.datasets import list_files, locate, read_bytes

from tests.commands.running import only_line, run
from tests.report.scored_rows import answers, write_partitions


@pytest.fixture
def scored(tmp_path: Path) -> Path:
    frame = answers(plans=True)
    return write_partitions(tmp_path / "scored", [frame.head(4), frame.tail(5)], ["one", "one"])


def test_by_default_a_table_for_the_terminal(scored: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    result = run("report", scored)
    assert result.exit_code == 0, result.stderr
    assert "model" in result.stdout and "equivalent" in result.stdout
    assert max(map(len, result.stdout.splitlines())) <= 80


@pytest.mark.parametrize(
    ("by", "columns"),
    [
        (("--by", "model,num_objects", "--by", "domain"), ["model", "num_objects", "domain"]),
        (("--by", ""), []),
        ((), ["model", "domain"]),
    ],
)
def test_columns_to_group_by(scored: Path, by: tuple[str, ...], columns: list[str]) -> None:
    assert json.loads(run("report", scored, *by, "--format", "json").stdout)["by"] == columns


@pytest.mark.parametrize(("form", "start"), [("md", "# "), ("csv", "model,domain,measure"), ("html", "<!")])
def test_formats_go_to_stdout(scored: Path, form: str, start: str) -> None:
    assert run("report", scored, "--format", form).stdout.startswith(start)


@pytest.mark.parametrize(
    ("name", "start"), [("r.html", "<!DOCTYPE html>"), ("r.md", "# "), ("r.json", "{"), ("r.txt", "Scores of")]
)
def test_the_suffix_of_the_output_chooses_the_format(scored: Path, name: str, start: str) -> None:
    output = scored.parent / "new" / name
    result = run("report", scored, "--output", output)
    assert (result.exit_code, result.stdout) == (0, "")
    text = output.read_text(encoding="utf-8")
    assert text.startswith(start)
    if name == "r.txt":
        assert max(map(len, text.splitlines())) <= 100 and "\x1b" not in text


@pytest.mark.parametrize("name", ["pages/", "deep/pages"])
def test_an_output_without_a_suffix_is_a_folder_of_pages(scored: Path, name: str) -> None:
    result = run("report", scored, "--by", "model", "--output", f"{scored.parent}/{name}", "--failures", "2")
    assert (result.exit_code, result.stdout) == (0, "") and only_line(result.stderr).endswith("/index.html")
    assert {path.name for path in (scored.parent / name).iterdir()} == {"index.html", "failures.html"}, "no texts"


def test_csv_and_parquet_fill_a_folder_or_a_file(scored: Path) -> None:
    tables = scored.parent / "tables"
    assert run("report", scored, "--format", "parquet", "--output", tables).exit_code == 0
    assert "differences.parquet" in {path.name for path in tables.iterdir()}
    assert run("report", scored, "--output", scored.parent / "rates.csv").exit_code == 0
    assert pl.read_csv(scored.parent / "rates.csv").equals(pl.read_parquet(tables / "rates.parquet"))


def test_figures_are_written_beside(scored: Path) -> None:
    result = run("report", scored, "--format", "csv", "--figures", scored.parent / "figures")
    assert result.exit_code == 0, result.stderr
    assert {".svg", ".png"} <= {path.suffix for path in (scored.parent / "figures").iterdir()}
    assert str(scored.parent / "figures") in only_line(result.stderr)
    assert result.stdout.startswith("model,")


def test_mixed_signatures_are_reported_in_every_format(tmp_path: Path) -> None:
    mixed = write_partitions(tmp_path, [answers(), answers()], ["one", "two"])
    assert "not comparable" in run("report", mixed, "--format", "csv").stderr


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--by", "modell"), "did you mean model?"),
        (("--size", "nix"), "num_objects"),
        (("--size", "reference_plan_length"), "reference_plan_length"),
        (("--column", "reference_id=nix"), "nix"),
        (("--output", "x.rtf"), ".tex"),
        (("--format", "folder"), "--output"),
        (("--output", "folder", "--failures", "-1"), "failures"),
        (("--format", "parquet"), "--output"),
    ],
)
def test_a_mistake_is_one_sentence(scored: Path, arguments: tuple[str, ...], said: str) -> None:
    result = run("report", scored, *arguments)
    assert result.exit_code == 2 and said in only_line(result.stderr)


@pytest.mark.parametrize(
    "arguments",
    [
        ("--output", "{}/r.html"),
        ("--format", "csv", "--output", "{}/tables"),
        ("--format", "html", "--figures", "{}/figures"),
    ],
)
def test_an_output_that_cannot_be_written_is_one_sentence(scored: Path, arguments: tuple[str, ...]) -> None:
    file = scored.parent / "file"
    file.write_text("no folder")
    result = run("report", scored, *(each.format(file) for each in arguments))
    assert result.exit_code == 1 and str(file) in only_line(result.stderr)


def test_reports_go_to_object_stores(scored: Path, bucket: str) -> None:
    place = f"s3://{bucket}/out"
    assert run("report", scored, "--output", f"{place}/r.html", "--figures", f"{place}/figures").exit_code == 0
    assert run("report", scored, "--format", "parquet", "--output", f"{place}/tables").exit_code == 0
    assert read_bytes(locate(f"{place}/r.html")).startswith(b"<!DOCTYPE html>")
    assert any(name.endswith(".svg") for name in list_files(locate(f"{place}/figures")))
    assert "verdicts.parquet" in list_files(locate(f"{place}/tables"))


@pytest.mark.parametrize("form", ["csv", "json"])
def test_names_in_csv_and_json_are_printable(form: str, tmp_path: Path) -> None:
    frame = answers(strong="gpt\x1b[31m\x9b\u202e", plans=True)
    scored = write_partitions(tmp_path / "scored", [frame], ["one"])
    text = run("report", scored, "--format", form).stdout
    assert text.replace("\n", "").isprintable() and ("\\x1b" if form == "csv" else "\\u001b") in text
    if form == "json":
        assert {row["model"] for row in json.loads(text)["tables"]["rates"]} >= {"gpt\x1b[31m\x9b\u202e"}
