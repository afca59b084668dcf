"""The job that makes the paper's table, on the benchmark's first pairs."""

from __future__ import annotations

import runpy
from itertools import islice
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner
from pddl_eval.benchmark import files

from tests.commands.running import ROOT


def test_the_table_is_made_and_a_second_start_makes_only_what_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = files.benchmark_pairs
    monkeypatch.setattr(files, "benchmark_pairs", lambda: islice(whole(), 60))
    app = runpy.run_path(str(ROOT / "jobs" / "planetarium.py"))["planetarium"]
    folder = tmp_path / "table"
    result = CliRunner().invoke(app, [str(folder), "--preset", "fine-tuned", "--workers", "1"])
    assert result.exit_code == 0, result.stderr
    assert "blocksworld" in result.stdout and "equivalent" in result.stdout
    assert pq.read_metadata(folder / "benchmark.parquet").num_rows == 60
    answers = folder / "fine-tuned-0" / "answers.parquet"
    assert pq.read_metadata(answers).num_rows == 60
    assert (folder / "fine-tuned-0" / "report.html").read_text().startswith("<!DOCTYPE html>")
    made = answers.stat().st_mtime_ns
    (folder / "fine-tuned-0" / "report.html").unlink()
    again = CliRunner().invoke(app, [str(folder), "--preset", "fine-tuned", "--workers", "1"])
    assert again.exit_code == 0 and answers.stat().st_mtime_ns == made
    assert (folder / "fine-tuned-0" / "report.html").exists()
    assert CliRunner().invoke(app, [str(folder), "--preset", "strong"]).exit_code == 2
