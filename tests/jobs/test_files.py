"""The files of jobs/: started as files from any folder, and never mistaken for a user's own modules."""

from __future__ import annotations

import runpy
import subprocess
import sys
from itertools import islice
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner
from pddl_eval.benchmark import files

from tests.support.running import ENVIRONMENT, ROOT, shard_rows

JOBS = sorted(path for path in (ROOT / "jobs").glob("*.py"))


def python(folder: Path, *arguments: object) -> subprocess.CompletedProcess[str]:
    """Python in that folder, with the package but not the repository on its path."""
    environment = ENVIRONMENT | {"PYTHONPATH": ENVIRONMENT["PYTHONPATH"].partition(":")[0]}
    command = [sys.executable, *map(str, arguments)]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A user's folder with files of their own that cannot be imported."""
    for name in ("pipeline.py", "jobs.py", "score.py", "nightly.py"):
        (tmp_path / name).write_text("raise SystemExit('the wrong file was imported')\n")
    return tmp_path


@pytest.mark.slow  # Seven processes.
def test_a_user_s_own_files_do_not_get_in_the_way(folder: Path) -> None:
    pq.write_table(pa.table({"reference_plan": ["(a)"] * 40, "generated_plan": ["(a)"] * 40}), folder / "pairs.parquet")
    rows = shard_rows(10, folder)
    for arguments in (
        ("-c", "import pddl_eval; pddl_eval.score_dataset"),
        ("-m", "pddl_eval", "--help"),
        ("-m", "pddl_eval", "score", "pairs.parquet", "one", "--engine=local", "--workers=2", *rows),
        (ROOT / "jobs" / "score.py", "pairs.parquet", "two", "--engine=local", "--workers=2", *rows),
    ):
        result = python(folder, *arguments)
        assert result.returncode == 0, result.stderr
    assert len(list((folder / "one").glob("*.parquet"))) == len(list((folder / "two").glob("*.parquet"))) == 4


@pytest.mark.parametrize("job", JOBS, ids=lambda job: job.stem)
def test_a_job_starts_as_a_file_in_any_folder(job: Path, folder: Path) -> None:
    result = python(folder, job, "--help")
    assert result.returncode == 0 and "Usage" in result.stdout, result.stderr


def test_the_jobs_are_not_a_package(folder: Path) -> None:
    """What an installed program could import is below pipeline/."""
    assert not list((ROOT / "jobs").rglob("__init__.py"))
    (folder / "jobs.py").unlink()
    assert "ModuleNotFoundError" in python(folder, "-c", "import jobs").stderr


# --- The job that makes the paper's table, on the benchmark's first pairs


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
