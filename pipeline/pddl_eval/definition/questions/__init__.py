"""Questions about a task and a plan, and whether their answers are right: one kind a file, its name that of the file.

Keys are computed, by the validator and by enumeration of the reachable states; beyond their limit by a search that
finds a plan or proves that there is none. A new kind is one new file with a ``KIND``.
"""

from __future__ import annotations

import pkgutil
from functools import cache
from importlib import import_module

from pddl_eval.definition.budget import OutOfBudgetError
from pddl_eval.definition.questions.applicable import applicable_in
from pddl_eval.definition.questions.in_words import action_in_words
from pddl_eval.definition.questions.question import PLAIN, InvalidQuestionError, Judged, Kind, Question, Searches
from pddl_eval.definition.questions.reading import answer_text, read_letter, read_truth, why_empty
from pddl_eval.definition.verdict import Judgement, RightAnswers
from pddl_eval.errors import did_you_mean
from pddl_eval.shown import quote

_NO_KINDS = frozenset({"question", "reading", "in_words", "sets", "picks"})


@cache
def kinds() -> dict[str, Kind]:
    """The kinds of questions by their names.

    >>> sorted(kinds())[:3]
    ['applicable', 'executability', 'justification']
    """
    names = sorted({each.name for each in pkgutil.iter_modules(__path__)} - _NO_KINDS)
    return {name: import_module(f"{__name__}.{name}").KIND for name in names}


def unknown_kind(name: str | None) -> str:
    """What to say of a name that no kind has; empty for one that a kind has.

    >>> unknown_kind("landmarks")
    'no question is named `landmarks`; did you mean landmark?'
    """
    if name in kinds():
        return ""
    return f"no question is named {quote(name or '')}; {did_you_mean(name or '', kinds(), 'questions')}"


def judge(name: str, question: Question, text: str | None, answer: str = "first") -> Judged:
    """Whether a raw answer to a question of that kind is right."""
    if empty := why_empty(text):
        return Judged(Judgement.EMPTY, 0.0, 0.0, None, empty)
    assert text is not None
    try:
        return kinds()[name].judge(question, text, answer)
    except InvalidQuestionError as error:
        return Judged(Judgement.REFERENCE_INVALID, detail=str(error))
    except OutOfBudgetError as end:
        return Judged(Judgement.UNDECIDED, detail=str(end))


def key(name: str, question: Question) -> RightAnswers:
    """The right answers to a question of that kind; without a text where they are not decided, or there are none."""
    try:
        return kinds()[name].key(question)
    except (InvalidQuestionError, OutOfBudgetError) as error:
        return RightAnswers(None, None, None, str(error))
