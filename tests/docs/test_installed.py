"""The program as people install it: a wheel in an environment of its own, used outside the repository."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import zipfile
from email import message_from_string
from importlib.metadata import distribution
from pathlib import Path, PurePosixPath

import pddl_eval
import polars as pl
import pytest
from packaging.requirements import Requirement
from pddl_eval.version import RELEASE, code_digest

from tests.docs.markdown import ROOT

pytestmark = pytest.mark.slow

SCORES = """
import pddl_eval
problem = "(define (problem p) (:domain blocksworld) (:objects a) (:init (holding a)) (:goal (clear a)))"
print(pddl_eval.compare_problems(problem, problem).verdict.value, pddl_eval.__file__)
"""


def run(*arguments: object, folder: Path, exit_code: int = 0) -> str:
    """The output of a program in that folder, without the test's own PYTHONPATH."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    result = subprocess.run(
        [*map(str, arguments)], cwd=folder, env=environment, capture_output=True, text=True, timeout=300
    )
    assert result.returncode == exit_code, result.stdout + result.stderr
    return result.stdout if exit_code == 0 else result.stderr


@pytest.fixture(scope="module")
def sdist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Built from a copy, so that no old ``build`` folder of the repository gets into it."""
    pytest.importorskip("setuptools", "77")
    source = tmp_path_factory.mktemp("sdist") / "source"
    source.mkdir()
    for name in ("pyproject.toml", "setup.py", "MANIFEST.in", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source)
    unwanted = shutil.ignore_patterns("__pycache__", "*.egg-info")
    for name in ("pipeline", "jobs", "tests"):
        shutil.copytree(ROOT / name, source / name, ignore=unwanted)
    git = ("git", "-c", "user.name=nobody", "-c", "user.email=nobody@example.org")
    for words in (("init", "--quiet"), ("add", "--all"), ("commit", "--quiet", "--message", "all")):
        run(*git, *words, folder=source)
    build = "from setuptools.build_meta import build_sdist; build_sdist('dist')"
    run(sys.executable, "-c", build, folder=source)
    (built,) = (source / "dist").iterdir()
    return built


@pytest.fixture(scope="module")
def wheel(sdist: Path) -> Path:
    """Built from the sdist alone."""
    folder = sdist.parent
    run(*(sys.executable, "-m", "pip", "wheel", "--no-deps", "--no-build-isolation", sdist), folder=folder)
    (built,) = folder.glob("pddl_eval-*.whl")
    return built


def install(wheel: Path, environment: Path) -> Path:
    """The folder of packages of a new environment, which has the wheel and nothing else."""
    run(sys.executable, "-m", "venv", "--without-pip", environment, folder=environment)
    python = environment / "bin" / "python"
    run(
        *(sys.executable, "-m", "pip", "--python", python, "install", "--no-deps", "--no-index", wheel),
        folder=environment,
    )
    return Path(run(python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))", folder=environment).strip())


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The ``bin`` of an environment with the wheel; its dependencies are those of the running interpreter."""
    environment = tmp_path_factory.mktemp("installed")
    packages = install(wheel, environment)
    # Files .pth in a folder that is named in one are not followed: the repository is not found through them.
    ours = {sysconfig.get_path(name) for name in ("purelib", "platlib")}
    (packages / "dependencies.pth").write_text("\n".join(sorted(ours)) + "\n", encoding="utf-8")
    return environment / "bin"


@pytest.fixture(scope="module")
def plain(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The ``bin`` of an environment with the wheel and what it requires without extras, directly or not."""
    environment = tmp_path_factory.mktemp("plain")
    packages = install(wheel, environment)
    (metadata,) = packages.glob("pddl_eval-*.dist-info/METADATA")
    requirements = list(message_from_string(metadata.read_text(encoding="utf-8")).get_all("Requires-Dist", []))
    linked: set[str] = set()
    while requirements:
        requirement = Requirement(requirements.pop())
        wanted = requirement.marker is None or requirement.marker.evaluate({"extra": ""})
        if wanted and requirement.name not in linked:
            linked.add(requirement.name)
            found = distribution(requirement.name)
            requirements += found.requires or ()
            for name in {file.parts[0] for file in found.files or ()} - {"..", "__pycache__"}:
                (packages / name).symlink_to(found.locate_file(name))
    assert "ray" not in linked
    return environment / "bin"


def test_the_sdist_holds_what_a_wheel_is_built_from(sdist: Path) -> None:
    with tarfile.open(sdist) as archive:
        places = [PurePosixPath(name).relative_to(sdist.name.removesuffix(".tar.gz")) for name in archive.getnames()]
    assert {"pyproject.toml", "setup.py", "README.md", "LICENSE"} <= set(map(str, places))
    assert {"pipeline"} == {place.parts[0] for place in places if len(place.parts) > 1}


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


def test_the_sdist_the_wheel_and_the_sources_sign_alike(sdist: Path, installed: Path, tmp_path: Path) -> None:
    commit = run("git", "rev-parse", "--short=7", "HEAD", folder=sdist.parents[1]).strip()
    assert f"+g{commit}" in sdist.name
    assert run(installed / "pddl-eval", "--version", folder=tmp_path).startswith(
        f"pddl-eval {RELEASE}+g{commit} (kernel "
    )
    probe = "from pddl_eval.version import code_digest; print(code_digest())"
    assert run(installed / "python", "-c", probe, folder=tmp_path).strip() == code_digest()


def test_files_named_like_folders_of_the_repository_do_no_harm(installed: Path, tmp_path: Path) -> None:
    for name in ("pipeline.py", "jobs.py"):
        (tmp_path / name).write_text("raise AssertionError(__name__)\n", encoding="utf-8")
    verdict, file = run(installed / "python", "-c", SCORES, folder=tmp_path).split()
    assert verdict == "identical"
    assert Path(file).is_relative_to(installed.parent)


def test_nothing_but_the_package_can_be_imported(installed: Path, tmp_path: Path) -> None:
    probe = "from importlib.util import find_spec; print([n for n in ('pipeline', 'jobs') if find_spec(n)])"
    assert run(installed / "python", "-c", probe, folder=tmp_path).strip() == "[]"


def test_without_extras_every_module_is_imported(plain: Path, tmp_path: Path) -> None:
    probe = """
from importlib import import_module
from pkgutil import walk_packages
import pddl_eval
for module in walk_packages(pddl_eval.__path__, "pddl_eval."):
    if not module.name.endswith("__main__"):
        import_module(module.name)
"""
    run(plain / "python", "-c", probe, folder=tmp_path)


def test_without_extras_the_sample_has_the_same_scores(plain: Path, tmp_path: Path) -> None:
    sample = tmp_path / "pairs.parquet"
    shutil.copy(ROOT / "pipeline" / "pddl_eval" / "benchmark" / "sample.parquet", sample)
    printed = run(plain / "pddl-eval", "score", sample, "scored", "--workers", 2, folder=tmp_path)
    assert "up-fast-downward:none" in printed
    expected = pddl_eval.score_frame(pl.read_parquet(sample)).drop("score_micros")
    assert pl.read_parquet(tmp_path / "scored" / "*.parquet").drop("score_micros").equals(expected)
    assert "equivalent" in run(plain / "pddl-eval", "report", "scored", folder=tmp_path)
    run(plain / "pddl-eval", "report", "scored", "--output", "tables.tex", folder=tmp_path)
    run(plain / "pddl-eval", "explain", "scored", "--row", 14, "--html", "row.html", folder=tmp_path)


@pytest.mark.parametrize(
    ("arguments", "extra"),
    [
        (["score", "scored", "again", "--engine", "ray"], "ray"),
        (["score", "scored", "again", "--engine", "ray://host:1"], "ray"),
        (["score", "scored", "again", "--similarity", "embedding:NAME"], "embedding"),
        (["report", "scored", "--output", "report.html"], "figures"),
        (["report", "scored", "--output", "report/"], "figures"),
        (["report", "scored", "--output", "figures.svg"], "figures"),
    ],
)
def test_what_needs_an_extra_says_which_and_writes_nothing(
    plain: Path, tmp_path: Path, arguments: list[str], extra: str
) -> None:
    (tmp_path / "scored").mkdir()
    said = run(plain / "pddl-eval", *arguments, folder=tmp_path, exit_code=2)
    assert f"pip install 'pddl-eval[{extra}]'" in " ".join(said.split())
    assert [path.name for path in tmp_path.iterdir()] == ["scored"]


def test_without_a_planner_what_it_would_decide_is_undecided(plain: Path, tmp_path: Path) -> None:
    probe = """
from pddl_eval.definition.model import Domain, Problem
from pddl_eval.definition.planning.fast_downward import find_plan
print(find_plan(Problem("p", "d", {}, frozenset(), frozenset()), Domain("d", {}, {}, {}, ())).reason)
"""
    assert "pddl-eval[planner]" in run(plain / "python", "-c", probe, folder=tmp_path)
