"""Questions whose answer is a set: each element that is named has to be right, and none may be missing."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from pddl_eval.definition import words
from pddl_eval.definition.model import Formula, show_formula
from pddl_eval.definition.questions.question import Judged, Kind, Question
from pddl_eval.definition.questions.reading import Elements, answer_text, as_atom, read_elements, shown_elements
from pddl_eval.definition.verdict import Judgement, RightAnswers

JUDGEMENTS = {
    (True, True): Judgement.RIGHT,
    (True, False): Judgement.INCOMPLETE,
    (False, True): Judgement.TOO_MUCH,
    (False, False): Judgement.WRONG,
}
"""By whether nothing is wrong, and whether nothing is missing."""


def set_kind(
    asks: str,
    right_when: str,
    right: Callable[[Question], frozenset[Formula]],
    why_wrong: Callable[[Formula, Question], str],
    *,
    actions: bool = False,
) -> Kind:
    """A kind of question whose answer is the set of ``right`` atoms (or actions).

    ``why_wrong`` says why an element is no right one.
    """

    def judge(question: Question, text: str, answer: str) -> Judged:
        said, elements = read(answer_text(text, answer), question, actions=actions), question.once(right)
        why_none = question.why_no_action if actions else question.why_no_atom
        denied = {each for each in said.elements if not as_atom(each)[1]}
        # That something else is false is true, and is not asked for.
        others = {each for each in denied if each[1] not in elements and not why_none(as_atom(each)[0])}
        kept = tuple([each for each in said.elements if each not in others])
        said = replace(said, elements=kept, none=said.none or bool(others))
        return judge_set(said, elements, lambda element: why_wrong(element, question))

    def key(question: Question) -> RightAnswers:
        elements = question.once(right)
        return RightAnswers(elements, not elements, shown_elements(sorted(elements, key=show_formula)))

    return Kind(asks, right_when, judge, key, "precision, recall")


def read(text: str, question: Question, *, actions: bool = False) -> Elements:
    """The atoms, or the actions, that a text names in the words of the question's domain."""
    names, others = arities(question.predicates), arities(question.operators)
    return read_elements(text, others, names) if actions else read_elements(text, names, others)


def arities(kinds: Mapping[str, Sequence[Any]]) -> dict[str, int]:
    """The number of arguments of each predicate or operator."""
    return {name: len(types) for name, types in kinds.items()}


def judge_set(said: Elements, right: frozenset[Formula], why_wrong: Callable[[Formula], str]) -> Judged:
    """Precision, recall and the first element that is wrong, else the first that is missing."""
    if not said.found:
        return Judged.unreadable(said.reason)
    elements = [*dict.fromkeys(said.elements)]
    wrong = [each for each in elements if each not in right]
    missing = sorted(right.difference(elements), key=show_formula)
    named = len(elements) + len(said.damage)
    nothing_wrong = not wrong and not said.damage
    judgement = JUDGEMENTS[nothing_wrong, not missing]
    if wrong:
        detail = told = why_wrong(wrong[0])
    elif said.damage:
        detail = told = words.cannot_read_element(said.damage[0])
    else:
        detail = words.missing(missing[0], len(missing)) if missing else ""
        told = words.missing_count(len(missing)) if missing else ""
    hits = len(right) - len(missing)
    return Judged(judgement, hits / named if named else 1.0, hits / len(right) if right else 1.0, None, detail, told)
