"""Values in a notebook: all that a person wants to see, nothing that a browser would obey, and not much of it."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from xml.etree import ElementTree

import networkx
import pddl_eval
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pddl_eval import ProblemVerdict, compare_problems
from pddl_eval.definition.model import Problem
from pddl_eval.definition.verdict import Verdict
from pddl_eval.explain import Explanation, RowExplanation, explain
from pddl_eval.notebook import MOST_CHARACTERS, SHOWN, register
from pddl_eval.report import Comparison, build_report, compare_datasets

HELD = "(define (problem p) (:domain blocksworld) (:objects a) (:init (holding a)) (:goal (clear a)))"


def html(value: object) -> Any:
    return SHOWN[type(value).__module__, type(value).__name__](value)


def shown(verdict: ProblemVerdict) -> dict[str, str]:
    """Label → text of each line."""
    rows = ElementTree.fromstring(html(verdict)).findall(".//tr")
    return {(row[0].text or ""): (row[1].text or "") for row in rows}


def test_a_yes_shows_its_map_plan_and_certificate() -> None:
    verdict = compare_problems(HELD, HELD.replace("a)", "z)"))
    lines = shown(verdict)
    assert lines["verdict"] == f"isomorphic: {verdict.detail}"
    assert (lines["equivalent"], lines["object map"], lines["plan"]) == ("yes", "z → a", "(putdown z)")
    assert lines["certificate"] == verdict.certificate


def test_what_is_not_decided_is_not_no() -> None:
    lines = shown(compare_problems(HELD, HELD.replace("(clear a)", "(on-table b)"), check_solvable=False))
    assert (lines["parseable"], lines["solvable"]) == ("no", "no")
    lines = shown(compare_problems(HELD, HELD.replace("(clear a)", "(holding a)"), check_solvable=False))
    assert (lines["solvable"], lines["equivalent"]) == ("not decided", "no")


@given(st.text(max_size=2000))
def test_every_text_is_escaped_and_cut(text: str) -> None:
    text = f"<script>{text}</script>&"
    names = {f"{text}{number}": "a" for number in range(100)}
    plan = (("stack", text),) * 1000
    verdict = ProblemVerdict(True, True, True, True, Verdict.ISOMORPHIC, text, text, names, plan=plan)
    assert "<script" not in html(verdict)
    assert len(html(verdict)) < 30_000
    assert all(len(line) <= MOST_CHARACTERS for line in shown(verdict).values())
    assert all(line.isprintable() for line in shown(verdict).values())


def test_an_explanation_is_a_fragment_with_a_drawing() -> None:
    fragment = html(explain(HELD, HELD))
    assert fragment.count("<svg xmlns") == 1 and "<html" not in fragment


def test_a_scene_graph_is_drawn_and_other_graphs_are_shown_as_ever() -> None:
    graph = pddl_eval.scene_graph(HELD)
    fragment = html(graph)
    assert fragment.count("<svg xmlns") == 1 and ">holding<" in fragment and ">clear<" in fragment
    assert ">clear<" not in html(pddl_eval.scene_graph(HELD, ["init"]))
    hostile = pddl_eval.scene_graph(
        Problem("p", "d", {"<script>": "<b>"}, frozenset({("<i>", "<script>")}), frozenset())
    )
    assert not {"<script", "<b>", "<i>"} & {*re.findall(r"<\w+>?", html(hostile))}
    assert html(networkx.MultiDiGraph([(1, 2)])) is None


def test_a_run_shows_its_summary() -> None:
    statistics = {"equivalent": {"true": 1, "false": 3, "null": 0}, "verdict": {"identical": 1, "goal_differs": 3}}
    summary = pddl_eval.RunSummary("<b>out</b>", 4, 4, 0, 0, 1, 0, "local", 1, 0.002, "pddl-eval:0", statistics)
    rows = ElementTree.fromstring(html(summary)).findall(".//tr")
    lines = {row[0].text: " ".join((row[1].text or "").split()) for row in rows}
    assert lines["output"] == "<b>out</b>" and lines["verdict goal_differs"] == "3"
    assert lines["equivalent"].startswith("25.00%")


THEMES = {
    '[data-jp-theme-light="true"]': "light",
    '[data-jp-theme-light="false"]': "dark",
    ".vscode-light": "light",
    ".vscode-dark": "dark",
    '[theme="dark"]': "dark",
}
"""How JupyterLab, VS Code and Colab mark their theme on ``html`` or ``body``."""


def test_a_fragment_follows_the_notebook_s_theme_and_not_the_system_s() -> None:
    style = html(explain(HELD, HELD)).partition("<style>")[2].partition("</style>")[0]
    assert "prefers-color-scheme" not in style
    rules = re.findall(r":is\(([^)]+)\) div\.pddl-eval \{\s*color-scheme: (\w+);", style)
    for marker, scheme in THEMES.items():
        assert [found for markers, found in rules if marker in markers.split(", ")] == [scheme]
    assert re.search(r"(?<!\S)main\.pddl-eval \{ color-scheme: light dark", style), (
        "a page of its own follows the system"
    )
    colours = re.sub(r"light-dark\([^)]*\)", "", style)
    plain = re.findall(r"(?<![-\w])(?:color|background|fill|stroke): *#\w+", colours)
    assert plain == [], "a colour that is the same in both"


class Formatter:
    """IPython's formatter as far as it is used: functions by module and name of a type."""

    def __init__(self) -> None:
        self.known: dict[tuple[str, str], Any] = {}

    def for_type_by_name(self, module: str, name: str, function: Any) -> None:
        self.known[module, name] = function


def test_a_running_ipython_shows_values_as_html(monkeypatch: pytest.MonkeyPatch) -> None:
    formatter = Formatter()
    shell = SimpleNamespace(display_formatter=SimpleNamespace(formatters={"text/html": formatter}))
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: shell))
    register()
    types = (ProblemVerdict, Explanation, RowExplanation, pddl_eval.Report, pddl_eval.RunSummary)
    types += (pddl_eval.RunStatus, pddl_eval.PlanScores, pddl_eval.DomainScores, networkx.MultiDiGraph)
    types += (Comparison, pddl_eval.Validation, pddl_eval.AnswerVerdict, pddl_eval.Feedback)
    assert formatter.known.keys() == {(each.__module__, each.__name__) for each in types}


def test_without_a_running_ipython_nothing_is_registered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: None))
    register()
    monkeypatch.delitem(sys.modules, "IPython")
    register()


def test_the_package_registers_only_where_ipython_is_loaded() -> None:
    seen = "import sys, pddl_eval; print('pddl_eval.notebook' in sys.modules)"
    loaded = "import sys, types; sys.modules['IPython'] = types.SimpleNamespace(get_ipython=lambda: None); " + seen
    for code, expected in ((seen, "False"), (loaded, "True")):
        result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        assert result.stdout.strip() == expected


def test_scores_of_plans_and_domains_and_a_status_show_themselves(tmp_path: Path) -> None:
    go = "(define (domain d) (:action go :parameters (?a) :precondition (at ?a) :effect (in ?a)))"
    pairs = {"reference_plan": ["(a)"], "generated_plan": ["(a)"]}
    pl.DataFrame(pairs).write_parquet(tmp_path / "pairs.parquet")
    pddl_eval.score_dataset(tmp_path / "pairs.parquet", tmp_path / "scored", workers=1)
    values = {
        "plan jaccard": ("1.000", pddl_eval.compare_plans("(a)", "(a)")),
        "domain equivalent": ("yes", pddl_eval.compare_domains(go, go)),
        "state": ("finished", pddl_eval.run_status(tmp_path / "scored")),
    }
    for label, (text, value) in values.items():
        rows = ElementTree.fromstring(html(value)).findall(".//tr")
        assert {(row[0].text or ""): (row[1].text or "") for row in rows}[label] == text


LAMP = "(define (domain lamp) (:action switch :precondition (off) :effect (and (on) (not (off)))))"
DARK = "(define (problem p) (:domain lamp) (:init (off)) (:goal (on)))"


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (lambda: pddl_eval.validate("(switch)(switch)", DARK, LAMP), "precondition: step 2"),
        (lambda: pddl_eval.judge_answer("state", "(off)", DARK, LAMP, plan="(switch)"), "wrong: (off)"),
        (lambda: pddl_eval.feedback("(switch)", kind="plan", problem=DARK, domain=LAMP), "The plan is valid."),
        (lambda: build_report(TWO), "a ranks first"),
        (lambda: compare_datasets(TWO, models=["a", "b"]), "1 row right in a and not in b"),
    ],
)
def test_what_print_says_is_a_sentence_and_the_notebook_says_no_less(value: Callable[[], Any], said: str) -> None:
    made = value()
    assert said in str(made)
    shown = re.sub(r"<style>.*?</style>|<[^>]+>", " ", html(made), flags=re.DOTALL)
    assert said.partition(": ")[2] in shown or said in shown


TWO = pl.DataFrame({"model": ["a", "b"], "reference_id": ["q"] * 2, "equivalent": [True, False]})
