"""What the playground runs in the reader's browser, in Pyodide: a row is explained, and a plan is gone through.

Each function takes and returns JSON; ``playground.js`` calls ``answer`` in a worker.
"""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import islice
from typing import Any

from pddl_eval.definition.model import Problem, show_atom, show_number
from pddl_eval.definition.options import ScoringOptions
from pddl_eval.errors import UserError
from pddl_eval.explain import Explanation, explain_row, html_page, problem_svg, validation_page
from pddl_eval.pages import Page, Picture, Section, html
from pddl_eval.scoring.feedback import row_feedback
from pddl_eval.scoring.plans import Validation, changes, validate

MOST_CHARACTERS = 200_000
"""Of one text: a browser draws and shows what it judges."""

OPTIONS = ScoringOptions()
_gone_through: list[Validation] = []
"""The execution whose states are asked for one by one: the last one."""


def answer(call: str) -> str:
    """Judge a row (``{"row": {meaning: text}}``) or show a state (``{"step": number}``); ``error`` says what is wrong.

    >>> json.loads(answer('{"row": {"generated_problem": ""}}'))["verdict"]
    'empty'
    """
    asked = json.loads(call)
    try:
        return json.dumps(_state(asked["step"]) if "step" in asked else _judged(asked["row"]))
    except UserError as error:
        return json.dumps({"error": str(error)})


def warm(rows: list[dict[str, str]]) -> None:
    """Judge the rows, so that modules are imported, patterns compiled and templates read; keep nothing of them."""
    for row in rows:
        answer(json.dumps({"row": row}))
        if _gone_through:
            answer('{"step": 0}')
    _gone_through.clear()


def _judged(row: dict[str, str]) -> dict[str, Any]:
    for name, text in row.items():
        if len(text) > MOST_CHARACTERS:
            raise UserError(f"{name} has {len(text):,} characters; here {MOST_CHARACTERS:,} are read at most")
    found = explain_row(row, options=OPTIONS)
    ((name, part),) = found.parts.items()
    scores = getattr(part, "verdict", None) or getattr(part, "scores", None)
    verdict = scores.get(f"{name}_verdict") if isinstance(scores, dict) else getattr(scores, "verdict", None)
    _gone_through[:] = [each for each in [_execution(row, part)] if each is not None and each.states]
    shown = _gone_through[0] if _gone_through else None
    return {
        "verdict": str(verdict) if verdict else None,
        "detail": (scores.get(f"{name}_detail") if isinstance(scores, dict) else scores.detail) or "",
        "page": html_page(found),
        "feedback": _told(row),
        "certificate": _certificate(scores),
        "steps": len(shown.states) if shown else 0,
        "about": _about(part) if shown else "",
        "timeline": html(validation_page([(_about(part), shown)])) if shown else "",
    }


def _told(row: dict[str, str]) -> str:
    try:
        return row_feedback(row, OPTIONS) or ""
    except UserError as error:
        return str(error)


def _certificate(scores: Any) -> str | None:
    return scores.get("domain_certificate") if isinstance(scores, dict) else getattr(scores, "certificate", None)


def _execution(row: dict[str, str], part: Any) -> Validation | None:
    """The counterexample in the reference, else the plan of the answer; a plan as it was written, in its problem.

    With a question the plan that it is about.
    """
    if not isinstance(part, Explanation):
        return getattr(part, "steps", None) or getattr(part, "validation", None)
    found = getattr(part.counterexample, "plan", None)
    side, plan = (part.reference, found) if found is not None else (part.generated, part.generated.plan)
    if not isinstance(plan, tuple) or not isinstance(side.problem, Problem):
        return None
    return validate("\n".join(map(show_atom, plan)), side.problem, row.get("domain") or part.domain)


def _about(part: Any) -> str:
    if not isinstance(part, Explanation):
        return "The plan that the question is about" if hasattr(part, "question") else "The plan"
    return "A plan that solves the answer" if part.counterexample is None else "A plan that tells the two goals apart"


def _state(number: int) -> dict[str, str]:
    """The state after that many steps, drawn, with what the step made true and false."""
    (found,) = _gone_through
    state, numbers = found.states[number]
    facts = [f"{show_atom(fluent)} = {show_number(value)}" for fluent, value in sorted(numbers.items())]
    happened, count = "the initial state", len(found.states) - 1
    if number:
        step = next(islice(changes(found, show_number), number - 1, None))
        at = f"at {step['time']}: " if "time" in step else ""
        happened = at + " ".join(step["actions"])
        said = {"needed": step["needed"], "now true": step["added"], "no longer true": step["deleted"]}
        facts = [f"{words}: {', '.join(atoms)}" for words, atoms in said.items() if atoms] + facts
    facts += found.advice if number == count else ()
    assert found.task is not None
    drawn = problem_svg(replace(found.task.problem, init=state), ("State", "Goal"))
    title = f"{number} of {count}: {happened}"
    return {"page": html(Page(title, (), facts, [Section("State")]), {"State": [Picture("State and goal", drawn)]})}
