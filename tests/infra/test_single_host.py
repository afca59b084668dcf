"""The nightly run on one host: the systemd units, the line of the crontab."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.infra.folder import INFRA

SYSTEMD = INFRA / "systemd"


@pytest.fixture
def units(tmp_path: Path) -> Path:
    """The units with the program where this checkout has it: verify looks whether it is there and executable."""
    shutil.copytree(SYSTEMD, tmp_path / "units")
    service = tmp_path / "units" / "pddl-eval-nightly.service"
    service.write_text(service.read_text().replace("/opt/pddl-eval/.venv/bin/python", sys.executable))
    return tmp_path / "units"


@pytest.mark.parametrize("drop_in", [False, True], ids=["local", "s3"])
def test_systemd_verifies_the_units(units: Path, drop_in: bool) -> None:
    if not drop_in:
        shutil.rmtree(units / "pddl-eval-nightly.service.d")
    verified = systemd_analyze("verify", "--man=no", *sorted(str(unit) for unit in units.glob("*.*") if unit.is_file()))
    assert (verified.returncode, verified.stderr) == (0, "")


def test_systemd_would_notice_a_wrong_unit(units: Path) -> None:
    service = units / "pddl-eval-nightly.service"
    service.write_text(service.read_text() + "NoSuchSetting=1\n")
    assert "NoSuchSetting" in systemd_analyze("verify", "--man=no", str(service)).stderr


def test_systemd_finds_the_service_well_confined(units: Path) -> None:
    """``--threshold`` is ten times the exposure: 2.0 of 10, where a service without settings has 9.6."""
    service = str(units / "pddl-eval-nightly.service")
    judged = systemd_analyze("security", "--offline=true", "--threshold=20", "--no-pager", service)
    assert judged.returncode == 0, judged.stdout + judged.stderr


def systemd_analyze(*arguments: str) -> subprocess.CompletedProcess[str]:
    program = shutil.which("systemd-analyze")
    if program is None:
        pytest.skip("systemd-analyze is not installed")
    return subprocess.run([program, *arguments], capture_output=True, text=True)


def crontab_line() -> str:
    """The one line of the crontab that is no comment and sets no variable."""
    lines = (INFRA / "crontab").read_text(encoding="utf-8").splitlines()
    (line,) = (line for line in lines if not re.match(r"#|[A-Z]+=|$", line))
    return line


def test_cron_accepts_the_crontab() -> None:
    crontab = shutil.which("crontab")
    if crontab is None or "dry run" not in subprocess.run([crontab, "-h"], capture_output=True, text=True).stderr:
        pytest.skip("there is no crontab that checks a file without installing it")
    checked = subprocess.run([crontab, "-n", INFRA / "crontab"], capture_output=True, text=True)
    assert checked.returncode == 0, checked.stderr


def test_cron_systemd_and_kubernetes_run_the_same_job_at_the_same_hour() -> None:
    """A ``%`` would end a command of cron's."""
    minute, hour, *every, command = crontab_line().split(maxsplit=5)
    assert every == ["*", "*", "*"] and "%" not in command
    timer = (SYSTEMD / "pddl-eval-nightly.timer").read_text(encoding="utf-8")
    assert f"OnCalendar=*-*-* {int(hour):02}:{int(minute):02}:00 UTC" in timer
    nightly = (INFRA / "kubernetes" / "nightly.yaml").read_text(encoding="utf-8")
    assert f"schedule: {minute} {hour} * * *" in nightly
    service = (SYSTEMD / "pddl-eval-nightly.service").read_text(encoding="utf-8")
    installed = "/opt/pddl-eval/jobs/nightly.py"
    assert f"/opt/pddl-eval/.venv/bin/python {installed} " in service and command.startswith(f"python {installed} ")
    assert "PATH=/opt/pddl-eval/.venv/bin:" in (INFRA / "crontab").read_text(encoding="utf-8")
