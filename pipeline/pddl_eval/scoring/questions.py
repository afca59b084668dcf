"""Questions about a problem: whether an answer is right, and which answers are."""

from __future__ import annotations

from pddl_eval import kernel
from pddl_eval.definition.domains import chosen_domain
from pddl_eval.definition.metrics import AnswerPair
from pddl_eval.definition.model import Problem, problem_to_pddl
from pddl_eval.definition.options import ScoringOptions
from pddl_eval.definition.questions import unknown_kind
from pddl_eval.definition.verdict import AnswerVerdict, RightAnswers
from pddl_eval.errors import UserError
from pddl_eval.scoring.budget import row_budget

ROW_SECONDS = ScoringOptions().row_seconds
"""Processor time of each call: that of a row in a dataset."""


def judge_answer(
    question: str,
    answer: str | None,
    problem: str | Problem,
    domain: str | None = None,
    *,
    plan: str = "",
) -> AnswerVerdict:
    """Decide whether an answer to a question about a problem is right; the key is computed.

    * ``question``: one of ``applicable``, ``progression``, ``state``, ``trace``, ``executability``, ``validity``,
      ``unreachable_atom``, ``unreachable_action``, ``justification``, ``landmark``, ``next_action``;
    * ``answer``: a raw model answer: atoms, actions, states, an index, yes or no, "none";
    * ``problem``: a PDDL text; ``domain``: a known domain's name or a PDDL text, by default the one it names;
    * ``plan``: the actions that the question is about.

    Raises ``UserError`` for another question, ``DomainError`` if ``domain`` is neither a known name nor a PDDL domain.

    >>> held = "(define (problem p) (:domain blocksworld) (:objects a) (:init (holding a)) (:goal (clear a)))"
    >>> judge_answer("state", "(arm-empty), on-table(a)", held, plan="(putdown a)").detail
    '(clear a) is missing'
    >>> judge_answer("executability", "None", held, plan="(putdown a) (putdown a)").detail
    'step 2 cannot be executed: (putdown a) needs (holding a)'
    """
    with row_budget(ROW_SECONDS):
        return _asked(question, answer, problem, domain, plan).verdict


def right_answers(question: str, problem: str | Problem, domain: str | None = None, *, plan: str = "") -> RightAnswers:
    """The right answers to a question about a problem, computed; parameters and errors as ``judge_answer``.

    >>> held = "(define (problem p) (:domain blocksworld) (:objects a) (:init (holding a)) (:goal (clear a)))"
    >>> right_answers("applicable", held, plan="(putdown a)").elements
    frozenset({('pickup', 'a')})
    """
    with row_budget(ROW_SECONDS):
        return _asked(question, None, problem, domain, plan).key


def _asked(question: str, answer: str | None, problem: str | Problem, domain: str | None, plan: str) -> AnswerPair:
    if why := unknown_kind(question):
        raise UserError(why)
    if domain:
        chosen_domain(domain)
    text = problem_to_pddl(problem) if isinstance(problem, Problem) else problem
    row = {"question": question, "generated_answer": answer, "reference_problem": text, "domain": domain, "plan": plan}
    return kernel.read_answer(row, ScoringOptions())
