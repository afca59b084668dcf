"""How a notebook shows a verdict: a few lines, every text escaped and cut, no script and no style sheet.

``pddl_eval.explain`` shows the whole of it, both problems side by side and drawn.
"""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from typing import TYPE_CHECKING

from pddl_eval.model import show_atom

if TYPE_CHECKING:
    from pddl_eval.scoring.problem_pair import ProblemVerdict

MOST_CHARACTERS = 300
"""Characters of a line."""

MOST_ITEMS = 8
"""Pairs of the object map and actions of the plan that are shown."""

ANSWERS = {True: "yes", False: "no", None: "not decided"}


def verdict_html(verdict: ProblemVerdict) -> str:
    """The verdict as a small table.

    >>> from pddl_eval import compare_problems
    >>> verdict_html(compare_problems("(define", "<b>")).count("<b>")
    0
    """
    rows = "".join(
        f'<tr><th scope="row" style="text-align:left">{label}</th><td style="text-align:left">{_show(text)}</td></tr>'
        for label, text in _lines(verdict)
    )
    return f"<table><tbody>{rows}</tbody></table>"


def _lines(verdict: ProblemVerdict) -> Iterator[tuple[str, str]]:
    yield "verdict", f"{verdict.verdict.value}: {verdict.detail}"
    yield "parseable", ANSWERS[verdict.parseable]
    yield "solvable", ANSWERS[verdict.solvable]
    yield "equivalent", ANSWERS[verdict.equivalent]
    yield "ignoring types", ANSWERS[verdict.equivalent_untyped]
    if verdict.object_map:
        pairs = [f"{ours} → {theirs}" for ours, theirs in verdict.object_map.items() if ours != theirs]
        yield "object map", _some(pairs, ", ") or "the same names"
    if verdict.plan is not None:
        yield "plan", _some([show_atom(action) for action in verdict.plan], " ") or "nothing to do"
    if verdict.certificate is not None:
        yield "certificate", verdict.certificate


def _some(items: list[str], between: str) -> str:
    more = f" and {len(items) - MOST_ITEMS:,} more" if len(items) > MOST_ITEMS else ""
    return between.join(items[:MOST_ITEMS]) + more


def _show(text: str) -> str:
    cut = text if len(text) <= MOST_CHARACTERS else f"{text[: MOST_CHARACTERS - 1]}…"
    return escape("".join(char if char.isprintable() else " " for char in cut))
