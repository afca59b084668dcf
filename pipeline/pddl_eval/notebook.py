"""How a notebook shows verdicts, runs, explanations and reports: the one place where values get their HTML.

Every text is escaped and cut, and nothing has a script. The rooms of runs, explanations and reports are
imported when one of their values is shown: it exists, so they are loaded already.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from typing import Any

from pddl_eval.definition.model import show_atom, show_formula
from pddl_eval.definition.verdict import ProblemVerdict
from pddl_eval.pages import Page, Picture, Section, html, render, words
from pddl_eval.shown import YES, listed, score_text

MOST_CHARACTERS = 300
"""Characters of a line of a verdict."""

MOST_TOLD = 2_000
"""Characters of a feedback."""

MOST_ITEMS = 8
"""Pairs of the object map and actions of the plan that are shown."""


def register() -> None:
    """Have a running IPython show these values as HTML; does nothing without one."""
    shell = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
    if shell is not None:
        formatter = shell.display_formatter.formatters["text/html"]
        for (module, name), show in SHOWN.items():
            formatter.for_type_by_name(module, name, show)


def _verdict(verdict: ProblemVerdict) -> str:
    return render("lines.html", rows=_rows(verdict), most=MOST_CHARACTERS)


def _lines(value: Any) -> str:
    return render("lines.html", rows=value.lines(), most=MOST_CHARACTERS)


def _scores(scores: Any) -> str:
    known = [(name, value) for name, value in vars(scores).items() if value is not None and not name.startswith("_")]
    rows = [(words(name), score_text(value)) for name, value in known]
    return render("lines.html", rows=rows, most=MOST_CHARACTERS)


def _judged(value: Any) -> str:
    """What is said of a plan or of an answer to a question, and its numbers."""
    known = {name: getattr(value, name, None) for name in ("cost", "precision", "recall", "first_wrong_step")}
    rows = [
        ("verdict", str(value)),
        *((words(name), score_text(each)) for name, each in known.items() if each is not None),
    ]
    plan = getattr(value, "plan", ())
    rows += [("plan", f"{len(plan):,} step{'s' * (len(plan) > 1)}")] if plan else []
    missing = [show_formula(each) for each in getattr(value, "missing", ())]
    rows += [("missing", listed(missing, MOST_ITEMS, " "))] if missing else []
    return render("lines.html", rows=rows, most=MOST_CHARACTERS)


def _feedback(feedback: Any) -> str:
    rows = [
        ("verdict", words(feedback.verdict)),
        ("right", YES[feedback.ok]),
        ("what to tell the model", feedback.text),
    ]
    return render("lines.html", rows=rows, most=MOST_TOLD)


def _comparison(comparison: Any) -> str:
    from pddl_eval.report import comparison_page  # loaded with the value

    return html(comparison_page(comparison), whole=False)


def _explanation(explanation: Any) -> str:
    from pddl_eval.explain import html_page  # loaded with the value

    return html_page(explanation, whole=False)


def _report(report: Any) -> str:
    from pddl_eval.report import report_html  # loaded with the value

    return report_html(report, whole=False)


def _scene_graph(graph: Any) -> str | None:
    """The problem of a graph that ``scene_graph`` made; None for any other graph, which is shown as ever."""
    from pddl_eval.explain import problem_svg
    from pddl_eval.scoring.scene_graph import problem_of

    problem = problem_of(graph)
    if problem is None:
        return None
    pictures = {"": [Picture("Scene graph", problem_svg(problem))]}
    return html(Page("", (), (), [Section("")]), pictures, whole=False)


def _rows(verdict: ProblemVerdict) -> Iterator[tuple[str, str]]:
    yield "verdict", verdict.detail if verdict.verdict is None else f"{verdict.verdict.value}: {verdict.detail}"
    yield "parseable", YES[verdict.parseable]
    yield "solvable", YES[verdict.solvable]
    if verdict.solves_reference is not None:
        yield "solves the reference", YES[verdict.solves_reference]
    yield "equivalent", YES[verdict.equivalent]
    yield "ignoring types", YES[verdict.equivalent_untyped]
    if verdict.object_map:
        pairs = [f"{ours} → {theirs}" for ours, theirs in verdict.object_map.items() if ours != theirs]
        yield "object map", listed(pairs, MOST_ITEMS) or "the same names"
    if verdict.plan is not None:
        yield "plan", listed([show_atom(action) for action in verdict.plan], MOST_ITEMS, " ") or "nothing to do"
    if verdict.certificate is not None:
        yield "certificate", verdict.certificate


SHOWN: dict[tuple[str, str], Callable[[Any], str | None]] = {
    ("pddl_eval.definition.verdict", "ProblemVerdict"): _verdict,
    ("pddl_eval.explain.explanation", "Explanation"): _explanation,
    ("pddl_eval.explain.row", "RowExplanation"): _explanation,
    ("pddl_eval.report.build", "Report"): _report,
    ("pddl_eval.scoring.summary", "RunSummary"): _lines,
    ("pddl_eval.run.status", "RunStatus"): _lines,
    ("pddl_eval.report.diff", "Comparison"): _comparison,
    ("pddl_eval.scoring.plans", "PlanScores"): _scores,
    ("pddl_eval.scoring.plans", "Validation"): _judged,
    ("pddl_eval.definition.verdict", "AnswerVerdict"): _judged,
    ("pddl_eval.scoring.feedback", "Feedback"): _feedback,
    ("pddl_eval.scoring.domains", "DomainScores"): _scores,
    ("networkx.classes.multidigraph", "MultiDiGraph"): _scene_graph,
}
"""Module and name of each type that is shown, so that importing this module loads none of the rooms above it."""
