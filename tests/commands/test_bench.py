"""``pddl-eval bench`` measures what it says; that it is quick is nobody's business here."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from pddl_eval.commands.bench import bench


@pytest.mark.slow
def test_every_number_is_there_and_stands_for_its_pairs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    numbers = tmp_path / "bench.json"
    bench(pairs=12, only=["zero-shot", "symmetric", "plans", "domains"], engines=False, json_file=numbers)
    measured = json.loads(numbers.read_text())
    assert measured["machine"]["cpus"] >= 1
    for name, workload in measured["workloads"].items():
        assert 0 < workload["pairs"] <= 12, name
        assert workload["micros"] > 0 and workload["pairs_per_second"] > 0
        assert workload["ratio"] > 0 and workload["baseline"]["pairs"] == workload["pairs"]
        if name in ("zero-shot", "symmetric"):
            assert sum(workload["stages"].values()) > 0
    printed = capsys.readouterr().out
    assert "zero-shot: " in printed and "baseline" in printed


def test_an_unknown_workload_is_named() -> None:
    with pytest.raises(ValueError, match="there is no workload zeroshot; choose from zero-shot"):
        bench(pairs=1, only=["zeroshot"])
