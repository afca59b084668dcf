"""How a notebook shows verdicts, explanations and reports: the one place where values get their HTML.

Every text is escaped and cut; there are no scripts. The rooms of explanations and reports are imported when one of
their values is shown: it exists, so they are loaded already.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from pddl_eval.model import show_atom
from pddl_eval.pages import render
from pddl_eval.verdict import ProblemVerdict

MOST_CHARACTERS = 300
"""Characters of a line of a verdict."""

MOST_ITEMS = 8
"""Pairs of the object map and actions of the plan that are shown."""


def register() -> None:
    """Have a running IPython show verdicts, explanations and reports as HTML; does nothing without one."""
    shell = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
    if shell is not None:
        formatter = shell.display_formatter.formatters["text/html"]
        for (module, name), show in SHOWN.items():
            formatter.for_type_by_name(module, name, show)


def html(value: object) -> str:
    """A value as a fragment of HTML. Raises ``TypeError`` for a value of another type.

    >>> from pddl_eval import compare_problems
    >>> html(compare_problems("(define", "<b>")).count("<b>")
    0
    """
    show = SHOWN.get((type(value).__module__, type(value).__name__))
    if show is None:
        raise TypeError(f"{type(value).__name__} has no HTML; verdicts, explanations and reports have")
    return show(value)


def _verdict(verdict: ProblemVerdict) -> str:
    return render("verdict.html", rows=_rows(verdict), most_characters=MOST_CHARACTERS)


def _explanation(explanation: Any) -> str:
    from pddl_eval.explain import html_page  # loaded with the value

    return html_page(explanation, whole=False)


def _report(report: Any) -> str:
    from pddl_eval.report import report_html  # loaded with the value

    return report_html(report, whole=False)


def _rows(verdict: ProblemVerdict) -> Iterator[tuple[str, str]]:
    yield "verdict", f"{verdict.verdict.value}: {verdict.detail}"
    for label, answer in (
        ("parseable", verdict.parseable),
        ("solvable", verdict.solvable),
        ("equivalent", verdict.equivalent),
        ("ignoring types", verdict.equivalent_untyped),
    ):
        yield label, {True: "yes", False: "no", None: "not decided"}[answer]
    if verdict.object_map:
        pairs = [f"{ours} → {theirs}" for ours, theirs in verdict.object_map.items() if ours != theirs]
        yield "object map", _first(pairs, ", ") or "the same names"
    if verdict.plan is not None:
        yield "plan", _first([show_atom(action) for action in verdict.plan], " ") or "nothing to do"
    if verdict.certificate is not None:
        yield "certificate", verdict.certificate


def _first(items: Sequence[str], between: str) -> str:
    more = f" and {len(items) - MOST_ITEMS:,} more" if len(items) > MOST_ITEMS else ""
    return between.join(items[:MOST_ITEMS]) + more


SHOWN: dict[tuple[str, str], Callable[[Any], str]] = {
    (ProblemVerdict.__module__, "ProblemVerdict"): _verdict,
    ("pddl_eval.explain.explanation", "Explanation"): _explanation,
    ("pddl_eval.report.build", "Report"): _report,
}
"""Module and name of each type that is shown, so that importing this module loads none of the rooms above it."""
