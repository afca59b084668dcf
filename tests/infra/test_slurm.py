"""The Slurm scripts, run by a stand-in: it starts the tasks of an array, sends the signals of Slurm, queues again."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pddl_eval.run import run_status

from tests.support.running import ENVIRONMENT, ROOT, shard_rows

SLURM = ROOT / "infra" / "slurm"

COMMAND = f"""#!/bin/bash
exec {sys.executable} -m pddl_eval "$@"
"""

RECORD = f"""#!{sys.executable}
import json, os, sys
with open(os.environ["STAND_IN_LOG"], "a") as log:
    log.write(json.dumps([os.path.basename(sys.argv[0]), *sys.argv[1:]]) + "\\n")
print(len(open(os.environ["STAND_IN_LOG"]).readlines()))
"""


@dataclass
class Slurm:
    """``sbatch`` and ``scontrol`` that only write down how they were called; tasks are run when a test asks for it."""

    folder: Path
    bin: Path = field(init=False)

    def __post_init__(self) -> None:
        self.bin = self.folder / "bin"
        self.bin.mkdir()
        for name, text in (("sbatch", RECORD), ("scontrol", RECORD), ("pddl-eval", COMMAND)):
            (self.bin / name).write_text(text)
            (self.bin / name).chmod(0o755)

    @property
    def environment(self) -> dict[str, str]:
        path = f"{self.bin}:{os.environ['PATH']}"
        log = str(self.folder / "calls")
        return {**ENVIRONMENT, "PATH": path, "STAND_IN_LOG": log, "PDDL_EVAL_BIN": str(self.bin)}

    def calls(self) -> list[list[str]]:
        return [json.loads(line) for line in (self.folder / "calls").read_text().splitlines()]

    def submit(self, *arguments: object) -> list[list[str]]:
        command = [SLURM / "submit.sh", *map(str, arguments)]
        subprocess.run(command, env=self.environment, check=True, capture_output=True)
        return self.calls()[-2:]

    def start(self, call: list[str], task: int | None = None) -> subprocess.Popen[str]:
        """The script of a call of sbatch, copied into a spool as Slurm does it, in a session of its own."""
        script, *arguments = [each for each in call[1:] if not each.startswith("--parsable")][1:]
        spooled = self.folder / f"spool-{task}-{time.monotonic_ns()}"
        shutil.copy(script, spooled)
        own = {"SLURM_JOB_ID": "77", "SLURM_CPUS_PER_TASK": "1"}
        own |= {} if task is None else {"SLURM_ARRAY_TASK_ID": str(task)}
        return subprocess.Popen(
            ["bash", spooled, *arguments],
            env=self.environment | own,
            cwd=self.folder,
            start_new_session=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )


@pytest.fixture
def slurm(tmp_path: Path) -> Slurm:
    return Slurm(tmp_path)


@pytest.fixture
def plans(tmp_path: Path) -> Path:
    """Long enough for a signal to arrive in the middle."""
    steps = [", ".join(f"(act o{(row + step) % 97} o{step % 89})" for step in range(60)) for row in range(4000)]
    table = pa.table({"n": range(4000), "reference_plan": steps, "generated_plan": steps[::-1]})
    pq.write_table(table, tmp_path / "plans.parquet")
    return tmp_path / "plans.parquet"


@pytest.mark.slow
def test_an_array_is_preempted_queued_again_and_reported(slurm: Slurm, plans: Path, tmp_path: Path) -> None:
    out, page = tmp_path / "scored", tmp_path / "report.html"
    array, report = slurm.submit(2, plans, out, page, *shard_rows(50, tmp_path))
    assert array[1:3] == ["--parsable", "--array=1-2"]
    assert report[1:3] == ["--parsable", "--dependency=afterany:1"]

    preempted = slurm.start(array, 1)
    while not list(out.glob("*.parquet")):
        assert preempted.poll() is None, preempted.stdout and preempted.stdout.read()
        time.sleep(0.02)
    os.killpg(preempted.pid, signal.SIGTERM)  # Every process of the task, as Slurm does it.
    assert preempted.wait(60) == 143
    assert not list(out.glob("_running*"))
    assert [call[0] for call in slurm.calls()] == ["sbatch", "sbatch"], "Slurm itself queues it again"
    early = slurm.start(report)
    assert early.wait(60) == 3 and not page.exists()

    out_of_time = slurm.start(array, 1)
    done = len(list(out.glob("*.parquet")))
    while len(list(out.glob("*.parquet"))) == done:
        assert out_of_time.poll() is None
        time.sleep(0.02)
    out_of_time.send_signal(signal.SIGUSR1)  # The shell alone: --signal=B:USR1.
    assert out_of_time.wait(60) == 143
    assert slurm.calls()[-1] == ["scontrol", "requeue", "77"]

    tasks = [slurm.start(array, number) for number in (1, 2)]
    assert [task.wait(120) for task in tasks] == [0, 0]
    assert run_status(out).finished
    assert slurm.start(report).wait(60) == 0 and page.stat().st_size > 10_000
    rows = pa.concat_tables(pq.read_table(path, columns=["n"]) for path in sorted(out.glob("*.parquet")))
    assert rows["n"].to_pylist() == list(range(4000))


def test_a_task_that_fails_says_so(slurm: Slurm, tmp_path: Path) -> None:
    array, _ = slurm.submit(2, tmp_path / "no.parquet", tmp_path / "out", tmp_path / "r.html")
    assert slurm.start(array, 1).wait(60) == 2
