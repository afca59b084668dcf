"""``pddl-eval status``: exit codes and what is printed."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from tests.commands.running import run


def test_from_no_run_to_a_finished_one(tmp_path: Path) -> None:
    plans = pa.table({"reference_plan": ["(a)"] * 30, "generated_plan": ["(b)"] * 30})
    pq.write_table(plans, tmp_path / "plans.parquet")
    place = tmp_path / "out"
    assert run("status", place).exit_code == 2
    for part, code in (("2/2", 3), ("1/2", 0)):
        scored = run("score", tmp_path / "plans.parquet", place, "--part", part)
        assert scored.exit_code == 0
        assert ("missing" in scored.stdout) == (code == 3)
        status = run("status", place)
        assert status.exit_code == code
        assert ("not finished" in status.stdout) == (code == 3)
    found = json.loads(run("status", place, "--format", "json").stdout)
    assert (found["finished"], found["rows_done"], found["missing"]) == (True, 30, [])
    for part in ("0/2", "3/2", "half"):
        refused = run("score", tmp_path / "plans.parquet", tmp_path / "no", "--part", part)
        assert refused.exit_code == 2 and not (tmp_path / "no").exists()
    planned = run("score", tmp_path / "plans.parquet", tmp_path / "no", "--part", "1/2", "--dry-run")
    assert planned.exit_code == 0 and not (tmp_path / "no").exists()
