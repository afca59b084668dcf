"""Which action of the plan is the first that cannot be executed? ACPBench Hard's *validation* (Kokel et al. 2025).

The answer is its index, from 0, or the action itself, or "none". The goal plays no part. *The third action* counts from
1; where an action stands beside a number, the number may count from 0 or from 1.

>>> from pddl_eval import judge_answer
>>> lamp = "(define (domain lamp) (:action switch :precondition (off) :effect (and (on) (not (off)))))"
>>> dark = "(define (problem p) (:domain lamp) (:init (off)) (:goal (on)))"
>>> plan = "(switch) (switch)"
>>> [judge_answer("executability", said, dark, lamp, plan=plan).correct for said in ("1", "The second action.", "None")]
[True, True, False]
"""

from __future__ import annotations

from pddl_eval.definition import words
from pddl_eval.definition.pddl.patterns import deferred, re
from pddl_eval.definition.plans import actions_of
from pddl_eval.definition.questions.question import Judged, Kind, Question
from pddl_eval.definition.questions.reading import NO_ELEMENT, answer_text, read_position
from pddl_eval.definition.questions.sets import read
from pddl_eval.definition.verdict import RightAnswers

_ALL = deferred(
    r"\b(?:all|every|each)\b[^.\n]{0,60}\b(?:applicable|executable|executed|performed|valid)\b"
    r"|\b(?:plan|sequence)\b[^.\n]{0,20}\bis\s(?:fully\s)?(?:applicable|executable|valid)\b",
    re.IGNORECASE,
)
_NONE = deferred(r"(?m)^[^\w\n]*-1[^\w\n]*$|\bnone\b", re.IGNORECASE)


def first_failure(question: Question) -> int | None:
    """The index, from 0, of the first step that cannot be executed."""
    failed = question.execution.failed_step
    return None if failed is None else failed - 1


def _judge(question: Question, text: str, answer: str) -> Judged:
    right, text = first_failure(question), answer_text(text, answer)
    elements = read(text, question, actions=True)
    named = [each for each in elements.elements if each in question.actions or each[0] in question.operators]
    said = read_position(text, answer)
    if not named and (_NONE.search(text) or (said is None and (_ALL.search(text) or elements.none))):
        return Judged.of(right is None, _why_not(question), words.not_none())
    if named and (said is None or len({*named}) == 1):
        return _judge_action(question, named[-1 if answer == "last" else 0], None if said is None else said.number)
    if said is None:
        return Judged.unreadable(NO_ELEMENT)
    number = said.number - said.ordinal
    if number == right:
        return Judged.of(True)
    if not 0 <= number < len(question.plan):
        return Judged.of(False, words.no_such_step(number, len(question.plan)))
    return Judged.of(False, *_not_it(question, number))


def _judge_action(question: Question, action: object, number: int | None) -> Judged:
    """An action, with a number from 0 or from 1 if one was said."""
    places = [place for place, step in enumerate(question.plan) if action in actions_of(step)]
    if number is not None and (near := [place for place in places if number in (place, place + 1)]):
        places = near
    right = first_failure(question)
    if right in places:
        return Judged.of(True)
    if not places:
        return Judged.of(False, words.no_such_step(0 if number is None else number, len(question.plan)))
    return Judged.of(False, *_not_it(question, places[0]))


def _not_it(question: Question, place: int) -> tuple[str, str]:
    """In words, why it is another action."""
    right = first_failure(question)
    if right is None or place < right:
        return (words.no_step_fails(place + 1),) * 2
    return _why_not(question), words.fails_before(place + 1)


def _why_not(question: Question) -> str:
    failed = question.execution.failed_step
    return "" if failed is None else words.step_fails(failed, question.execution.reason)


def _key(question: Question) -> RightAnswers:
    right = first_failure(question)
    found = frozenset[int]() if right is None else frozenset({right})
    return RightAnswers(found, right is None, "none" if right is None else str(right))


KIND = Kind(
    "the first action of the plan that cannot be executed, or none",
    "it names its index, from 0, or the action",
    _judge,
    _key,
)
