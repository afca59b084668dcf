"""The command ``pddl-eval report``: what it prints and writes, and what it says when it cannot."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest
from pddl_eval.commands.cli import run_job
from pddl_eval.commands.report import report
from pddl_eval.run import list_files, locate, read_bytes

from tests.report.scored_rows import answers, write_partitions


@pytest.fixture
def scored(tmp_path: Path) -> Path:
    frame = answers(plans=True)
    return write_partitions(tmp_path / "scored", [frame.head(4), frame.tail(5)], ["one", "one"])


def run(monkeypatch: pytest.MonkeyPatch, *arguments: object) -> int:
    """The exit code of the command with these arguments."""
    monkeypatch.setattr(sys, "argv", ["report", *map(str, arguments)])
    monkeypatch.setenv("COLUMNS", "80")
    with pytest.raises(SystemExit) as stop:
        run_job(report)
    return int(stop.value.code or 0)


def test_by_default_a_table_for_the_terminal(
    scored: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(monkeypatch, scored) == 0
    out = capsys.readouterr().out
    assert "Percent of answers, by model and domain" in out
    assert "Why answers fail" in out
    assert max(map(len, out.splitlines())) <= 80


def test_columns_to_group_by_come_separated_by_commas_or_one_by_one(
    scored: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(monkeypatch, scored, "--by", "model,num_objects", "--by", "domain", "--format", "json") == 0
    assert json.loads(capsys.readouterr().out)["by"] == ["model", "num_objects", "domain"]


@pytest.mark.parametrize(("format_", "start"), [("md", "# Scores of"), ("csv", "model,domain,measure"), ("html", "<!")])
def test_formats_go_to_stdout(
    scored: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], format_: str, start: str
) -> None:
    assert run(monkeypatch, scored, "--format", format_) == 0
    assert capsys.readouterr().out.startswith(start)


@pytest.mark.parametrize("name", ["r.html", "r.md", "r.json", "r.txt"])
def test_the_output_s_name_chooses_the_format(scored: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    output = scored.parent / "new" / name
    assert run(monkeypatch, scored, "--output", output) == 0
    starts = {"r.html": "<!DOCTYPE html>", "r.md": "# Scores", "r.json": "{", "r.txt": "Scores of"}
    assert output.read_text(encoding="utf-8").startswith(starts[name])


def test_csv_and_parquet_fill_a_folder_or_a_file(scored: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert run(monkeypatch, scored, "--format", "parquet", "--output", scored.parent / "tables") == 0
    assert "differences.parquet" in {path.name for path in (scored.parent / "tables").iterdir()}
    assert run(monkeypatch, scored, "--output", scored.parent / "rates.csv") == 0
    assert pl.read_csv(scored.parent / "rates.csv").equals(pl.read_parquet(scored.parent / "tables" / "rates.parquet"))


def test_figures_are_written_beside(
    scored: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(monkeypatch, scored, "--format", "csv", "--figures", scored.parent / "figures") == 0
    assert (scored.parent / "figures" / "rates-by-model.svg").exists()
    captured = capsys.readouterr()
    assert "10 figures in" in captured.err
    assert captured.out.startswith("model,")


def test_mixed_signatures_are_said_even_where_the_format_has_no_place_for_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    mixed = write_partitions(tmp_path, [answers(), answers()], ["one", "two"])
    assert run(monkeypatch, mixed, "--format", "csv") == 0
    assert "not comparable" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--by", "modell"), "did you mean model?"),
        (("--pair-on", "nix"), "There is no column nix to pair on"),
        (("--format", "parquet"), "--format parquet needs --output"),
    ],
)
def test_what_cannot_be_done_is_one_sentence(
    scored: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    arguments: tuple[str, ...],
    message: str,
) -> None:
    assert run(monkeypatch, scored, *arguments) == 2
    error = capsys.readouterr().err
    assert message in error
    assert len(error.splitlines()) == 1


@pytest.mark.parametrize(
    "arguments",
    [
        ("--output", "{}/r.html"),
        ("--format", "csv", "--output", "{}/tables"),
        ("--format", "html", "--figures", "{}/figures"),
    ],
)
def test_what_cannot_be_written_is_one_sentence(
    scored: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...]
) -> None:
    (scored.parent / "file").write_text("no folder")
    assert run(monkeypatch, scored, *(each.format(scored.parent / "file") for each in arguments)) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("pddl-eval: Cannot write")


def test_reports_go_to_object_stores(scored: Path, bucket: str, monkeypatch: pytest.MonkeyPatch) -> None:
    place = f"s3://{bucket}/out"
    assert run(monkeypatch, scored, "--output", f"{place}/r.html", "--figures", f"{place}/figures") == 0
    assert run(monkeypatch, scored, "--format", "parquet", "--output", f"{place}/tables") == 0
    assert read_bytes(locate(f"{place}/r.html")).startswith(b"<!DOCTYPE html>")
    assert "rates-by-model.svg" in list_files(locate(f"{place}/figures"))
    assert "verdicts.parquet" in list_files(locate(f"{place}/tables"))


def test_the_module_runs_by_itself_and_shows_examples_first(tmp_path: Path) -> None:
    shown = subprocess.run(
        [sys.executable, "-m", "pddl_eval.commands.report", "--help"],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    ).stdout
    assert shown.index("pddl-eval report scored --by model,domain,split") < shown.index("--pair-on")
    missing = subprocess.run(
        [sys.executable, "-m", "pddl_eval.commands.report", str(tmp_path / "none")],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert (missing.returncode, len(missing.stderr.splitlines())) == (2, 1)


def test_the_help_does_not_import_polars() -> None:
    script = "import pddl_eval.commands.report, sys; sys.exit(any(name in sys.modules for name in ('polars', 'pyarrow', 'numpy')))"
    assert subprocess.run([sys.executable, "-c", script], timeout=60).returncode == 0
