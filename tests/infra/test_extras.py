"""What needs an extra that is not installed says so; ``tests/docs/test_installed.py`` tries it in an environment."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from pddl_eval import errors
from pddl_eval.errors import EXTRAS, UserError, how_to_install
from pddl_eval.run.engines.ray import _connect
from pddl_eval.settings import RunOptions

from tests.support.running import ROOT, run

SAMPLE = ROOT / "pipeline" / "pddl_eval" / "benchmark" / "sample.parquet"


@pytest.fixture
def nothing_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    for extra in EXTRAS:
        monkeypatch.setitem(errors.EXTRAS, extra, ("a_package_that_nobody_has",))


def test_every_extra_is_declared_under_its_name() -> None:
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    assert EXTRAS.keys() < declared.keys()
    assert all(how_to_install(extra) is None for extra in ("ray", "planner", "figures"))


def test_the_engine_ray(nothing_installed: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for arguments in (["--engine", "ray"], ["--engine", "ray://host:1"]):
        result = run("score", SAMPLE, tmp_path / "scored", *arguments)
        assert result.exit_code == 2
        assert "pddl-eval[ray]" in result.stderr
    assert not (tmp_path / "scored").exists()
    monkeypatch.setenv("RAY_ADDRESS", "127.0.0.1:1")
    with pytest.raises(UserError, match=r"pddl-eval\[ray\]"):
        _connect(RunOptions())


def test_a_report_with_figures(nothing_installed: None) -> None:
    result = run("report", "scored", "--output", "figure.pdf")
    assert result.exit_code == 2
    assert "pddl-eval[figures]" in result.stderr


def test_the_planner(nothing_installed: None) -> None:
    assert "pddl-eval[planner]" in (how_to_install("planner") or "")


WITHOUT_THE_DATA_STACK = """
import sys, jinja2, networkx
for name in ("pyarrow", "polars", "numpy", "networkx", "rich", "click", "jinja2"):
    sys.modules[name] = None
import pddl_eval
start = "(:init (arm-empty) (clear a) (on-table a) (clear b) (on-table b))"
problem = f"(define (problem p) (:domain blocksworld) (:objects a b) {start} (:goal (on a b)))"
domain = "(define (domain d) (:action a :effect (p)))"
print(pddl_eval.compare_problems(problem, problem).verdict.value)
print(pddl_eval.validate("(pickup a)", problem).verdict.value)
print(pddl_eval.compare_plans("(a)", "(a)").plan_lcs, pddl_eval.compare_domains(domain, domain).verdict.value)
print(len(pddl_eval.certificate(problem)), pddl_eval.feedback("(a", reference=problem).ok)
print(pddl_eval.reward(problem, problem))
print(pddl_eval.judge_answer("applicable", "(pickup a), (pickup b)", problem).verdict.value)
parsed = pddl_eval.parse_problem(problem)
print(parsed.name, len(pddl_eval.fully_specify(problem)))
sys.modules |= {"jinja2": jinja2, "networkx": networkx}  # a page with drawings needs these two
from pddl_eval.explain import html_page
print("<svg" in html_page(pddl_eval.explain_row({"reference_problem": problem, "generated_problem": problem})))
"""


def test_functions_on_texts_need_no_data_stack() -> None:
    done = subprocess.run([sys.executable, "-c", WITHOUT_THE_DATA_STACK], capture_output=True, text=True)
    assert done.stdout.split() == [
        *("identical", "goal_not_reached", "1.0", "identical", "32", "False", "1.0", "right", "p", "4", "True")
    ], done.stderr
