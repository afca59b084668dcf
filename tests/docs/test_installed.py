"""The program as people install it: a wheel in an environment of its own, used outside the repository."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest

from tests.docs.markdown import ROOT

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("installed")]

SCORES = """
import pddl_eval
problem = "(define (problem p) (:domain blocksworld) (:objects a) (:init (holding a)) (:goal (clear a)))"
print(pddl_eval.compare_problems(problem, problem).verdict.value, pddl_eval.__file__)
"""


def run(*arguments: object, folder: Path) -> str:
    """The output of a program in that folder, without the test's own PYTHONPATH."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    result = subprocess.run(
        [*map(str, arguments)], cwd=folder, env=environment, capture_output=True, text=True, timeout=300
    )
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Built from a copy, so that no old ``build`` folder of the repository gets into it."""
    pytest.importorskip("setuptools", "77")
    folder = tmp_path_factory.mktemp("wheel")
    source = folder / "source"
    source.mkdir()
    for name in ("pyproject.toml", "setup.py", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source)
    shutil.copytree(ROOT / "pipeline", source / "pipeline", ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"))
    run(*(sys.executable, "-m", "pip", "wheel", "--no-deps", "--no-build-isolation", source), folder=folder)
    (built,) = folder.glob("pddl_eval-*.whl")
    return built


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The ``bin`` of an environment with the wheel; its dependencies are those of the running interpreter."""
    environment = tmp_path_factory.mktemp("installed")
    run(sys.executable, "-m", "venv", "--without-pip", environment, folder=environment)
    python = environment / "bin" / "python"
    run(
        *(sys.executable, "-m", "pip", "--python", python, "install", "--no-deps", "--no-index", wheel),
        folder=environment,
    )
    packages = Path(
        run(python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))", folder=environment).strip()
    )
    # Files .pth in a folder that is named in one are not followed: the repository is not found through them.
    ours = {sysconfig.get_path(name) for name in ("purelib", "platlib")}
    (packages / "dependencies.pth").write_text("\n".join(sorted(ours)) + "\n", encoding="utf-8")
    return environment / "bin"


def test_the_wheel_holds_the_package_its_data_and_the_license(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        files = set(archive.namelist())
        (metadata,) = (archive.read(name).decode() for name in files if name.endswith(".dist-info/METADATA"))
    assert {name.partition("/")[0].partition("-")[0] for name in files} == {"pddl_eval"}
    sources = (ROOT / "pipeline" / "pddl_eval").rglob("*.*")
    needed = {path.relative_to(ROOT / "pipeline").as_posix() for path in sources if "__pycache__" not in path.parts}
    assert needed <= files
    assert any(name.endswith("/LICENSE") for name in files)
    assert "License-Expression: Apache-2.0" in metadata


def test_the_command_scores_outside_the_repository(installed: Path, tmp_path: Path) -> None:
    shutil.copy(ROOT / "pipeline" / "pddl_eval" / "benchmark" / "sample.parquet", tmp_path / "pairs.parquet")
    printed = run(installed / "pddl-eval", "score", "pairs.parquet", "scored", "--engine", "local", folder=tmp_path)
    assert "pairs" in printed and "292" in printed
    assert list((tmp_path / "scored").glob("*.parquet"))


def test_files_named_like_folders_of_the_repository_do_no_harm(installed: Path, tmp_path: Path) -> None:
    for name in ("pipeline.py", "jobs.py"):
        (tmp_path / name).write_text("raise AssertionError(__name__)\n", encoding="utf-8")
    verdict, file = run(installed / "python", "-c", SCORES, folder=tmp_path).split()
    assert verdict == "identical"
    assert Path(file).is_relative_to(installed.parent)


def test_nothing_but_the_package_can_be_imported(installed: Path, tmp_path: Path) -> None:
    probe = "from importlib.util import find_spec; print([n for n in ('pipeline', 'jobs') if find_spec(n)])"
    assert run(installed / "python", "-c", probe, folder=tmp_path).strip() == "[]"
