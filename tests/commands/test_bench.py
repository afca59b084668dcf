"""``pddl-eval bench`` measures every number; how fast the machine is does not matter here."""

from __future__ import annotations

import json
from pathlib import Path

from pddl_eval.bench import WORKLOADS

from tests.commands.running import run


def test_every_number_is_there_and_stands_for_its_pairs(tmp_path: Path) -> None:
    numbers = tmp_path / "bench.json"
    chosen = ("zero-shot", "symmetric", "plans", "domains")
    result = run("bench", "--pairs", 12, "--json", numbers, *(f"--workload={name}" for name in chosen))
    assert result.exit_code == 0, result.stderr
    measured = json.loads(numbers.read_text())
    assert measured["machine"]["cpus"] >= 1
    assert tuple(measured["workloads"]) == chosen
    for name, workload in measured["workloads"].items():
        assert 0 < workload["pairs"] <= 12, name
        assert workload["micros"] > 0 and workload["pairs_per_second"] > 0 and workload["peak_mb"] > 0
        assert workload["ratio"] > 0 and workload["baseline"]["pairs"] == workload["pairs"]
        assert ("stages" in workload) == (name in ("zero-shot", "symmetric"))
        assert ("sequence_micros" in workload) == (name == "plans")
        assert sum(workload.get("stages", {"none": 1.0}).values()) > 0
        assert f"{name}: " in result.stdout


def test_an_unknown_workload_is_named() -> None:
    result = run("bench", "--pairs", 1, "--workload", "zeroshot")
    assert result.exit_code == 2 and "zero-shot" in result.stderr


def test_no_pairs_are_a_mistake_and_the_help_names_every_workload() -> None:
    assert run("bench", "--pairs", 0).exit_code == 2
    assert "|".join(WORKLOADS) in run("bench", "--help").stdout
