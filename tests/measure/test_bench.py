"""``tests.measure.bench`` measures every number; how fast the machine is does not matter here."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from pddl_eval.definition.pddl import parse_problem

from tests.measure import bench, peer, workloads
from tests.measure.workloads import WORKLOADS, equivalence
from tests.support.benchmark_problems import all_problems

PAIRS = 12
GAICO = """
class Metric:
    def calculate(self, generated, reference):
        print("a peer's own words")
        {body}
PlanningLCS = PlanningJaccard = Metric
"""


@pytest.fixture(autouse=True)
def problems_made_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workloads, "benchmark_problems", all_problems)


@pytest.fixture
def gaico(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A module in the place of GAICo's, for the other process to find."""
    module = tmp_path / "gaico" / "metrics" / "structured.py"
    module.parent.mkdir(parents=True)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setitem(bench.CELLS, "gaico", bench.CELLS["gaico"][:2])
    return module


def run(*arguments: object, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["bench", *map(str, arguments)])
    bench.main()


@pytest.mark.parametrize(
    "chosen",
    [("weak", "plans", "domains"), pytest.param(("symmetric",), marks=pytest.mark.slow)],  # Twenty equal towers.
    ids=" ".join,
)
def test_every_number_is_there(chosen: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run(*chosen, "--pairs", PAIRS, "--json", tmp_path / "bench.json", monkeypatch=monkeypatch)
    measured = json.loads((tmp_path / "bench.json").read_text())
    for name in chosen:
        numbers = measured[name]
        assert 0 < numbers["pairs"] <= PAIRS
        assert all(value > 0 for label, value in numbers.items() if label != "given up")
        assert {"micros", "slowest", "peak MB"} < numbers.keys()
        assert ({"of a parse", "baseline", "ratio"} < numbers.keys()) == (name in ("weak", "symmetric"))


def test_an_unknown_workload_is_named(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(SystemExit):
        run("zeroshot", monkeypatch=monkeypatch)
    assert "zeroshot" in capsys.readouterr().err


def test_a_peer_scores_the_same_pairs(gaico: Path) -> None:
    gaico.write_text(GAICO.format(body="assert generated.count(',') >= 19 and generated != reference"))
    for cell in bench.compare("gaico", sys.executable, 3).values():
        assert cell["pairs"] == 3 and cell["micros"] > 0 and cell["peer micros"] >= 0 and not cell["errors"]


def test_an_error_of_the_peer_is_counted_and_shown(gaico: Path) -> None:
    gaico.write_text(GAICO.format(body="raise ZeroDivisionError('by nothing')"))
    for cell in bench.compare("gaico", sys.executable, 2).values():
        assert cell["pairs"] == 0 and ["ZeroDivisionError" in each for each in cell["errors"]] == [True, True]


def test_a_peer_that_hangs_is_given_up() -> None:
    def hang() -> None:
        while True:
            pass

    assert "given up" in str(peer.timed(hang, limit=0.05))


@pytest.mark.parametrize("python", [sys.executable, "/bin/false", "/nowhere/python"])
def test_a_missing_peer_is_said(python: str) -> None:
    with pytest.raises(SystemExit, match="pip install"):
        bench.compare("gaico", python, 1)


def test_most_weak_answers_are_wrong_and_their_objects_are_renamed() -> None:
    rows = WORKLOADS["weak"](PAIRS).to_pylist()
    assert len({row["reference_problem"] for row in rows}) == len(rows) == PAIRS
    right = 0
    for row in rows:
        reference, generated = (parse_problem(row[f"{side}_problem"]) for side in ("reference", "generated"))
        assert len(reference.objects) == len(generated.objects)
        assert (reference.init, reference.goal) != (generated.init, generated.goal) or len(reference.objects) == 1
        right += equivalence(row["reference_problem"], row["generated_problem"], row["is_placeholder"]) is True
    assert 0 < right < PAIRS / 2
