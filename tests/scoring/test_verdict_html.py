"""A verdict in a notebook: all that a person wants to see, nothing that a browser would obey, and not much of it."""

from __future__ import annotations

from xml.etree import ElementTree

from hypothesis import given
from hypothesis import strategies as st
from pddl_eval import compare_problems
from pddl_eval.scoring.problem_pair import ProblemVerdict
from pddl_eval.scoring.verdict_html import MOST_CHARACTERS
from pddl_eval.verdict import Verdict

HELD = "(define (problem p) (:domain blocksworld) (:objects a) (:init (holding a)) (:goal (clear a)))"


def shown(verdict: ProblemVerdict) -> dict[str, str]:
    """Label → text of each line."""
    rows = ElementTree.fromstring(verdict._repr_html_()).findall(".//tr")
    return {(row[0].text or ""): (row[1].text or "") for row in rows}


def test_a_yes_shows_its_map_plan_and_certificate() -> None:
    verdict = compare_problems(HELD, HELD.replace("a)", "z)"))
    lines = shown(verdict)
    assert lines["verdict"] == "isomorphic: the same atoms after renaming objects"
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
    page = verdict._repr_html_()
    assert "<script" not in page
    assert len(page) < 30_000
    assert all(len(line) <= MOST_CHARACTERS for line in shown(verdict).values())
    assert all(line.isprintable() for line in shown(verdict).values())
