"""What the playground runs in the reader's browser, in Pyodide: a row is explained, and a plan is gone through.

Each function takes and returns JSON; ``playground.js`` calls ``answer`` in a worker.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from pddl_eval.definition.model import Problem, show_atom, show_number
from pddl_eval.definition.options import ScoringOptions
from pddl_eval.definition.plans import actions_of
from pddl_eval.errors import UserError
from pddl_eval.explain import Explanation, explain_row, html_page, problem_svg
from pddl_eval.pages import Page, Picture, Section, html
from pddl_eval.scoring.feedback import row_feedback
from pddl_eval.scoring.plans import Validation, validate

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
        "detail": scores.detail if isinstance(part, Explanation) else getattr(part, "detail", ""),
        "page": html_page(found),
        "feedback": _told(row),
        "certificate": _certificate(scores),
        "steps": len(shown.states) if shown else 0,
        "about": _about(part) if shown else "",
    }


def _told(row: dict[str, str]) -> str:
    try:
        return row_feedback(row, OPTIONS) or ""
    except UserError as error:
        return str(error)


def _certificate(scores: Any) -> str | None:
    return scores.get("domain_certificate") if isinstance(scores, dict) else getattr(scores, "certificate", None)


def _execution(row: dict[str, str], part: Any) -> Validation | None:
    """The counterexample in the reference, else the plan of the answer; a plan as it was written, in its problem."""
    if not isinstance(part, Explanation):
        return getattr(part, "validation", None)
    found = getattr(part.counterexample, "plan", None)
    side, plan = (part.reference, found) if found is not None else (part.generated, part.generated.plan)
    if not isinstance(plan, tuple) or not isinstance(side.problem, Problem):
        return None
    return validate("\n".join(map(show_atom, plan)), side.problem, row.get("domain") or part.domain)


def _about(part: Any) -> str:
    if not isinstance(part, Explanation):
        return "The plan"
    return "A plan that solves the answer" if part.counterexample is None else "A plan that tells the two goals apart"


def _state(number: int) -> dict[str, str]:
    """The state after that many steps, drawn, with what the step made true and false."""
    (found,) = _gone_through
    states = found.states
    state, numbers = states[number]
    before = states[max(number - 1, 0)][0]
    steps = ["the initial state", *(" ".join(sorted(map(show_atom, actions_of(step)))) for step in found.plan)]
    changes = {"now true": state - before, "no longer true": before - state}
    facts = [f"{words}: {', '.join(sorted(map(show_atom, atoms)))}" for words, atoms in changes.items() if atoms]
    facts += [f"{show_atom(fluent)} = {show_number(value)}" for fluent, value in sorted(numbers.items())]
    facts += found.advice if number == len(states) - 1 else ()
    assert found.task is not None
    problem = replace(found.task.problem, init=state)
    drawn = problem_svg(problem, ("State", "Goal"))
    title = f"{number} of {len(states) - 1}: {steps[number]}"
    return {"page": html(Page(title, (), facts, [Section("State")]), {"State": [Picture("State and goal", drawn)]})}
