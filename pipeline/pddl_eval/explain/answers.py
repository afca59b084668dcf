"""Why an answer to a question is right or wrong: what was asked, what is wrong first, and the computed key."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from pddl_eval import kernel
from pddl_eval.definition.metrics import ANSWER, Row
from pddl_eval.definition.options import ScoringOptions
from pddl_eval.definition.questions import kinds
from pddl_eval.definition.verdict import RightAnswers
from pddl_eval.errors import UserError
from pddl_eval.explain.tables import as_written, scores_table
from pddl_eval.explain.validation import steps_section
from pddl_eval.pages import Cell, Page, Section
from pddl_eval.scoring.plans import Validation, validate

MOST_CHARACTERS = 2_000
"""Characters of a right answer that are shown."""

TEXTS = ("The problem", "The plan that the question is about", "The answer")


@dataclass(frozen=True, slots=True)
class AnswerExplanation:
    """Why an answer has its scores (by column), and the right answers; ``steps`` is the plan, executed."""

    question: str | None
    scores: Mapping[str, Any]
    key: RightAnswers
    texts: tuple[str | None, ...]
    steps: Validation | None = None

    def page(self, *, whole: bool = False) -> Page:
        """The scores, what is asked for, and a right answer."""
        verdict = self.scores["answer_verdict"]
        title = f"{self.question or 'question'}: {verdict.replace('_', ' ')}"
        asked = kinds().get(self.question or "")
        lines = [f"asked for: {asked.asks}", f"right when: {asked.right_when}"] if asked else []
        right = self.key.text or f"not known: {self.key.detail}"
        sections = [
            Section("", tables=[scores_table(ANSWER, self.scores, whole=whole)]),
            Section("The question", lines),
            Section("A right answer", right[:MOST_CHARACTERS].split("\n")),
            *([steps_section("The plan, step by step", self.steps)] if whole and self.steps is not None else []),
            as_written("As written", TEXTS, self.texts),
        ]
        facts = [self.scores["answer_detail"]] if self.scores["answer_detail"] else []
        return Page(title, (), facts, sections, self.scores["answer_correct"], badges=[Cell(title, kind=verdict)])


def explain_answers(row: Row, options: ScoringOptions) -> AnswerExplanation:
    """Why the answer of a row has its scores; ``row`` maps meanings (``options.MEANINGS``) to values.

    >>> dark = "(define (problem p) (:domain d) (:init (off)) (:goal (on)))"
    >>> lamp = "(define (domain d) (:action switch :precondition (off) :effect (and (on) (not (off)))))"
    >>> row = {"question": "state", "plan": "(switch)", "generated_answer": "(off)", "reference_problem": dark}
    >>> explain_answers({**row, "domain": lamp}, ScoringOptions()).key.text
    '(on)'
    """
    pair = kernel.read_answer(row, options)
    texts = row.get("reference_problem"), row.get("plan"), pair.text
    steps = None
    if row.get("plan") and row.get("reference_problem"):
        with suppress(UserError):  # what cannot be read is said by the scores
            steps = validate(row["plan"], row["reference_problem"], row.get("domain") or options.domain)
    return AnswerExplanation(row.get("question"), ANSWER.scores(pair), pair.key, texts, steps)
