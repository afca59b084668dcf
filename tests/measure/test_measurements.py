"""Each measurement runs, in its smallest form; what it finds is for people. ``.ci/more`` runs these tests."""

from __future__ import annotations

import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.docs.markdown import ROOT, read_page
from tests.support.shared_problems import SHARED_PROBLEMS

SMALLEST = {
    "bench": ["--pairs 12"],
    "canonical": ["--count 50"],
    "capacity": ["--rows 300"],
    "cluster": ["--rows 2000000 --slots 10"],
    "corpora": ["--help"],
    "counterexamples": ["--count 20"],
    "domains": ["--count 20 --tasks 5"],
    "doors": ["--count 12"],
    "engines": ["--rows 300 --rounds 1"],
    "exhaustive": ["--domain gripper --count 20", "--domain gripper --count 5 --overloaded"],
    "faults": ["--only two?runs*"],
    "fuzz": ["--minutes 0.02"],
    "growth": ["--largest 0.01"],
    "harness_logs": ["FOLDER"],
    "hostile": ["--only plan:*braces*"],
    "hostile_graphs": ["--name paley-13"],
    "inputs": ["--rows 300 --forms jsonl"],
    "ipc": ["--help"],
    "kernel": ["--references 20", "--domains 2", "--strips 1"],
    "optimal_costs": ["--count 20"],
    "own_tasks": ["--count 10 --domains 1 --first 1"],
    "pairs_any": ["--count 10"],
    "parts": ["--parts 3 --rows 100 --kills 2"],
    "plans_any": ["--count 20", "--count 20 --columns"],
    "published": ["--help"],
    "published_questions": ["--help"],
    "questions": ["--count 20"],
    "repair": ["--references 1"],
    "reward": ["--references 1"],
    "scale": ["--parts 2", "--slots 50"],
    "temporal": ["--count 40 --trajectories 40"],
    "twins": ["--count 10"],
    "trust": ["--help"],
    "written_plans": ["--count 100", "--answers 50"],
}
"""The arguments of each; ``corpora``, ``ipc`` and ``published…`` read repositories that nobody has by chance."""

SHARED = {"counterexamples", "kernel", "repair", "reward"}
"""They read the benchmark's problems beside the checkout."""

MODULES = {"engines": ["ray"], "scale": ["ray"], "faults": ["ray"], "harness_logs": ["inspect_ai", "lm_eval"]}
"""What is no dependency of the tests."""

PARTS = {"peer", "plans_peer", "tally", "workloads"}


def test_every_measurement_is_explained_and_run() -> None:
    files = {file.stem for file in Path(__file__).parent.glob("[a-z]*.py") if not file.stem.startswith("test_")}
    assert files == SMALLEST.keys() | PARTS
    page = read_page("tests/measure/README.md")
    assert not [name for name in files if f"`{name}" not in page]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "arguments"), [(name, each) for name, all_ in SMALLEST.items() for each in all_])
def test_it_runs(name: str, arguments: str, tmp_path: Path) -> None:
    """A measurement that compares with a judge exits with 1 on a disagreement."""
    if missing := [module for module in MODULES.get(name, ()) if find_spec(module) is None]:
        pytest.skip(f"needs {' and '.join(missing)}")
    if name in SHARED and not SHARED_PROBLEMS.exists():
        pytest.skip(f"needs {SHARED_PROBLEMS}")
    words = arguments.replace("FOLDER", str(tmp_path)).split()
    command = [sys.executable, "-m", f"tests.measure.{name}", *words]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-2_000:] + done.stderr[-2_000:]
    assert done.stdout
