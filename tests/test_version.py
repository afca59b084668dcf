"""Two states of the code that can give different scores have different versions or digests, and so other signatures."""

from __future__ import annotations

import os
import pickle
import shutil
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pddl_eval.definition import options
from pddl_eval.definition.options import ScoringOptions
from pddl_eval.report import build_report, compare_datasets
from pddl_eval.reuse import rescore_dataset
from pddl_eval.run import OtherRun
from pddl_eval.scoring.scorer import pair_scorer, score_dataset
from pddl_eval.version import PACKAGE, RELEASE, code_digest

SCORES = """
import pickle, sys
score, table = pickle.load(sys.stdin.buffer)
print(score(table, float("inf")).num_rows)
"""


def git(folder: Path, *words: str) -> str:
    settings = ("-c", "user.name=nobody", "-c", "user.email=nobody@example.org", "-c", "commit.gpgsign=false")
    command = ["git", *settings, "-C", str(folder), *words]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def commit(folder: Path) -> str:
    """Commit everything there; the first six digits of the commit."""
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--allow-empty", "--message", "state")
    return git(folder, "rev-parse", "HEAD")[:6]


def started(folder: Path, code: str, given: bytes = b"", **environment: str) -> subprocess.CompletedProcess[bytes]:
    """That code, run by a new process with the package in that folder, outside the folder."""
    places = {**os.environ, "PYTHONPATH": str(folder), **environment}
    return subprocess.run([sys.executable, "-c", code], cwd="/", env=places, input=given, capture_output=True)


def version(sources: Path, **environment: str) -> str:
    ran = started(sources, "import pddl_eval; print(pddl_eval.__version__)", **environment)
    return ran.stdout.decode().strip() or pytest.fail(ran.stderr.decode())


def signature(sources: Path) -> str:
    ran = started(sources, "from pddl_eval.definition.options import ScoringOptions; print(ScoringOptions().signature)")
    return ran.stdout.decode().strip() or pytest.fail(ran.stderr.decode())


@pytest.fixture
def sources(tmp_path: Path) -> Path:
    """The package outside any repository, as ``ray job submit`` and archives bring it."""
    shutil.copytree(PACKAGE, tmp_path / "checkout" / "pipeline" / "pddl_eval")  # With what Python compiled of it.
    return tmp_path / "checkout" / "pipeline"


@pytest.fixture
def checkout(sources: Path) -> Path:
    """The same as a repository with one commit."""
    (sources.parent / ".gitignore").write_text("__pycache__\n")
    git(sources.parent, "init", "--quiet")
    commit(sources.parent)
    return sources.parent


def edit(sources: Path, text: str = "# edited\n") -> None:
    with (sources / "pddl_eval" / "definition" / "canonical.py").open("a", encoding="utf-8") as file:
        file.write(text)


def test_every_commit_has_a_version_of_its_own(checkout: Path) -> None:
    for _ in range(2):
        assert commit(checkout) in version(checkout / "pipeline")
    assert version(checkout / "pipeline").startswith(f"{RELEASE}+g")
    assert version(checkout / "pipeline") in signature(checkout / "pipeline")


def test_edits_that_are_not_committed_are_told_apart(checkout: Path) -> None:
    sources = checkout / "pipeline"
    clean = version(sources)
    (checkout / "README.md").write_text("not code")
    assert version(sources) == clean
    edit(sources)
    first = version(sources)
    edit(sources)
    second = version(sources)
    git(checkout, "checkout", "--quiet", "pipeline")
    assert version(sources) == clean
    (sources / "pddl_eval" / "definition" / "domains" / "lamps.py").write_text("# a domain is found by its file\n")
    assert len({clean, first, second, version(sources)}) == 4
    assert all(each.startswith(clean) for each in (first, second))


def test_a_tagged_commit_is_the_release_until_it_is_edited(checkout: Path) -> None:
    git(checkout, "tag", "another")
    git(checkout, "tag", f"v{RELEASE}")
    assert version(checkout / "pipeline") == RELEASE
    edit(checkout / "pipeline")
    assert version(checkout / "pipeline") != RELEASE


def test_sources_without_history_say_so_and_are_told_apart(sources: Path) -> None:
    before = signature(sources)
    assert before.startswith(f"pddl-eval:{RELEASE}+nogit.") and code_digest() in before
    edit(sources)
    assert signature(sources) != before


def test_another_repository_is_not_asked(checkout: Path, tmp_path: Path) -> None:
    """Sources below another project's checkout, and a hook of another repository, which sets GIT_DIR."""
    git(tmp_path, "init", "--quiet")
    other = commit(tmp_path)
    deeper = shutil.copytree(checkout / "pipeline", tmp_path / "environment" / "lib" / "pipeline")
    assert "nogit" in version(deeper) and other not in version(deeper)
    assert version(checkout / "pipeline", GIT_DIR=str(tmp_path / ".git")) == version(checkout / "pipeline")


def test_metadata_of_another_copy_is_not_asked(sources: Path) -> None:
    """An editable installation leaves the version of its day beside the sources."""
    (sources / "pddl_eval.egg-info").mkdir()
    (sources / "pddl_eval.egg-info" / "PKG-INFO").write_text("Metadata-Version: 2.4\nName: pddl-eval\nVersion: 9.9\n")
    assert "nogit" in version(sources)


def test_an_installed_wheel_has_the_version_that_it_was_built_as(sources: Path) -> None:
    (sources / "pddl_eval-9.9.dist-info").mkdir()
    (sources / "pddl_eval-9.9.dist-info" / "METADATA").write_text("Name: pddl-eval\nVersion: 9.9\n")
    before = signature(sources)
    assert version(sources) == "9.9" and before.startswith("pddl-eval:9.9|")
    edit(sources)  # Where nobody should: the version is the same, the signature is not.
    assert signature(sources) != before


def test_without_git_there_is_a_version(checkout: Path, tmp_path: Path) -> None:
    assert "nogit" in version(checkout / "pipeline", PATH=str(tmp_path))


def test_git_is_not_started_by_an_import_and_once_for_many_signatures(checkout: Path, tmp_path: Path) -> None:
    fake = tmp_path / "bin" / "git"
    fake.parent.mkdir()
    fake.write_text(f'#!/bin/sh\necho "$@" >> {tmp_path}/calls\nexec {shutil.which("git")} "$@"\n')
    fake.chmod(0o755)
    asked, path = tmp_path / "calls", f"{fake.parent}:{os.environ['PATH']}"
    started(checkout / "pipeline", "import pddl_eval; pddl_eval.compare_plans; import pddl_eval.run", PATH=path)
    assert not asked.exists()
    version(checkout / "pipeline", PATH=path)
    once = len(asked.read_text().splitlines())
    asked.unlink()
    many = "from pddl_eval.definition.options import ScoringOptions; [ScoringOptions().signature for _ in range(9)]"
    started(checkout / "pipeline", many, PATH=path)
    assert len(asked.read_text().splitlines()) == once


def test_a_worker_with_other_sources_is_noticed(sources: Path) -> None:
    """With the same sources it scores, whatever their version is called there: the signature has the driver's."""
    table = pa.table({"reference_plan": ["(a)"], "generated_plan": ["(a)"]})
    sent = pickle.dumps((pair_scorer(ScoringOptions()).score, table))
    (sources / "pddl_eval-9.9.dist-info").mkdir()
    (sources / "pddl_eval-9.9.dist-info" / "METADATA").write_text("Name: pddl-eval\nVersion: 9.9\n")
    same = started(sources, SCORES, sent)
    assert same.stdout.strip() == b"1", same.stderr
    edit(sources)
    assert b"this worker would score as" in started(sources, SCORES, sent).stderr


@pytest.fixture
def plans(tmp_path: Path) -> Path:
    texts = [f"(pick b{number})" for number in range(6)]
    pq.write_table(pa.table({"reference_plan": texts, "generated_plan": texts[:3] * 2}), tmp_path / "pairs.parquet")
    return tmp_path / "pairs.parquet"


def test_another_version_of_the_same_code_goes_on_with_a_run_and_reuses_its_scores(
    plans: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As after a commit of documentation alone."""
    first = score_dataset(plans, tmp_path / "a", shard_rows=2)
    next((tmp_path / "a").glob("*.parquet")).unlink()
    monkeypatch.setattr(options, "program_version", lambda: "9.9+gabcdef1")
    again = score_dataset(plans, tmp_path / "a", shard_rows=2)
    assert (again.rows, again.rows_scored, again.shards_reused, again.signature) == (6, 2, 2, first.signature)
    told: list[str] = []
    rescored = rescore_dataset(tmp_path / "a", plans, tmp_path / "b", warn=told.append)
    assert (rescored.rows_carried, told) == (6, [])
    assert rescored.signature.startswith("pddl-eval:9.9+gabcdef1|")
    assert compare_datasets(tmp_path / "a", tmp_path / "b").same_signature
    both = build_report(str(tmp_path / "[ab]" / "*.parquet"))
    assert [rows for _, rows in both.signatures] == [12]


def test_other_code_under_the_same_version_does_not(
    plans: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    score_dataset(plans, tmp_path / "a")
    monkeypatch.setattr(options, "code_digest", lambda: "another")
    with pytest.raises(OtherRun):
        score_dataset(plans, tmp_path / "a")
    told: list[str] = []
    assert rescore_dataset(tmp_path / "a", plans, tmp_path / "b", warn=told.append).rows_carried == 0
    assert len(told) == 1 and not compare_datasets(tmp_path / "a", tmp_path / "b").same_signature
