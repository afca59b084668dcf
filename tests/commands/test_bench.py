"""``pddl-eval bench`` measures every number; how fast the machine is does not matter here."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

import pytest
from pddl_eval.bench import CELLS, WORKLOADS, measure_peer, peers, workloads
from pddl_eval.bench.workloads import equivalence
from pddl_eval.options import build
from pddl_eval.parsing import parse_problem

from tests.benchmark.problems import all_problems
from tests.commands.running import run

PAIRS = 12


@pytest.fixture(autouse=True)
def problems_made_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workloads, "benchmark_problems", all_problems)


@pytest.mark.parametrize(
    "chosen",
    [("weak", "plans", "domains"), pytest.param(("symmetric",), marks=pytest.mark.slow)],  # Twenty equal towers.
    ids=" ".join,
)
def test_every_number_is_there_and_stands_for_its_pairs(chosen: tuple[str, ...], tmp_path: Path) -> None:
    numbers = tmp_path / "bench.json"
    result = run("bench", "--pairs", PAIRS, "--json", numbers, *(f"--workload={name}" for name in chosen))
    assert result.exit_code == 0, result.stderr
    measured = json.loads(numbers.read_text())
    assert measured["machine"]["cpus"] >= 1 and measured["machine"]["build"] == build()
    assert tuple(measured["workloads"]) == chosen
    for name, workload in measured["workloads"].items():
        assert 0 < workload["pairs"] <= PAIRS, name
        assert workload["micros"] > 0 and workload["pairs_per_second"] > 0 and workload["peak_mb"] > 0
        assert workload["ratio"] > 0 and workload["baseline"]["pairs"] == workload["pairs"]
        assert ("stages" in workload) == (name in ("zero-shot", "weak", "symmetric"))
        assert all(ratio > 0 for ratio in workload.get("of_a_parse", {}).values())
        assert ("of_a_parse" in workload) == ("stages" in workload)
        assert ("sequence_micros" in workload) == (name == "plans")
        assert sum(workload.get("stages", {"none": 1.0}).values()) > 0
        assert f"{name}: " in result.stdout


def test_an_unknown_workload_is_named() -> None:
    result = run("bench", "--pairs", 1, "--workload", "zeroshot")
    assert result.exit_code == 2 and "zero-shot" in result.stderr


def test_no_pairs_are_a_mistake_and_the_help_names_every_choice() -> None:
    assert run("bench", "--pairs", 0).exit_code == 2
    page = run("bench", "--help").stdout
    assert "|".join(WORKLOADS) in page and "|".join(CELLS) in page


GAICO = """
class Metric:
    def calculate(self, generated, reference):
        print("a peer's own words")
        {body}
PlanningLCS = PlanningJaccard = Metric
"""


@pytest.fixture
def gaico(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A module in the place of GAICo's, for the other process to find."""
    module = tmp_path / "gaico" / "metrics" / "structured.py"
    module.parent.mkdir(parents=True)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    return module


def test_a_peer_scores_the_same_pairs(gaico: Path, tmp_path: Path) -> None:
    gaico.write_text(GAICO.format(body="assert generated.count(',') >= 19 and generated != reference"))
    numbers = tmp_path / "bench.json"
    result = run("bench", "--peer", "gaico", "--peer-python", sys.executable, "--pairs", 3, "--json", numbers)
    assert result.exit_code == 0, result.stderr
    measured = json.loads(numbers.read_text())
    assert measured["workloads"] == {}
    cells = measured["peers"]["gaico"]["cells"]
    wanted = {f"{steps} steps, {metric}" for metric in ("LCS", "Jaccard") for steps in (20, 100, 1000)}
    assert {name.partition(", ")[2] for name in cells} == wanted
    for name, cell in cells.items():
        assert cell["pairs"] == 3 and cell["failed"] == cell["given_up"] == 0
        assert cell["ratio"] == pytest.approx(cell["peer_micros"] / cell["micros"]) and cell["ratio"] > 0
        assert name in result.stdout


def test_the_package_that_is_always_there_is_a_peer() -> None:
    (cell,) = measure_peer("pddl", None, PAIRS)["cells"].values()
    assert cell["pairs"] == PAIRS and cell["ratio"] > 0


def test_an_error_of_the_peer_is_counted_and_shown(gaico: Path) -> None:
    gaico.write_text(GAICO.format(body="raise ZeroDivisionError('by nothing')"))
    for cell in measure_peer("gaico", None, 2)["cells"].values():
        assert cell["failed"] == 2 and cell["pairs"] == 0 and cell["ratio"] is None
        assert "ZeroDivisionError" in cell["error"]


@pytest.mark.parametrize("body", ["import time; time.sleep(60)", "import os; os._exit(3)"])
def test_a_peer_that_hangs_or_dies_is_given_up(gaico: Path, monkeypatch: pytest.MonkeyPatch, body: str) -> None:
    gaico.write_text(GAICO.format(body=body))
    monkeypatch.setattr(peers, "PEER_SECONDS", 0.5)
    monkeypatch.setitem(CELLS, "gaico", CELLS["gaico"][:1])
    start = time.monotonic()
    (cell,) = measure_peer("gaico", None, 50)["cells"].values()
    assert cell["given_up"] == peers.GIVEN_UP and cell["pairs"] == 0
    assert time.monotonic() - start < 60


@pytest.mark.parametrize("python", [sys.executable, "/bin/true", "/nowhere/python"])
def test_a_missing_peer_is_said(python: str) -> None:
    result = run("bench", "--peer", "gaico", "--peer-python", python)
    assert result.exit_code == 2 and python in result.stderr and len(result.stderr.splitlines()) == 1


def test_a_peer_ends_with_an_interrupt(gaico: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gaico.write_text(GAICO.format(body="pass"))
    started = []

    def interrupted(peer: peers._Peer, pair: object) -> None:
        started.append(peer._process)
        raise KeyboardInterrupt

    monkeypatch.setattr(peers._Peer, "ask", interrupted)
    with pytest.raises(KeyboardInterrupt):
        measure_peer("gaico", None, 1)
    (process,) = started
    assert process is not None and process.poll() is not None


def test_an_unknown_peer_is_named() -> None:
    result = run("bench", "--peer", "planetaryum")
    assert result.exit_code == 2 and "planetarium" in result.stderr


def test_most_weak_answers_are_wrong_and_their_objects_are_renamed() -> None:
    rows = WORKLOADS["weak"].make(PAIRS).to_pylist()
    assert len({row["reference_problem"] for row in rows}) == len(rows) == PAIRS
    right = 0
    for row in rows:
        reference, generated = (parse_problem(row[f"{side}_problem"]) for side in ("reference", "generated"))
        assert len(reference.objects) == len(generated.objects)
        assert (reference.init, reference.goal) != (generated.init, generated.goal) or len(reference.objects) == 1
        right += equivalence(row["reference_problem"], row["generated_problem"], row["is_placeholder"]) is True
    assert 0 < right < PAIRS / 2
