"""What does the last action make true, and what false? ACPBench Hard's *progression* (Kokel et al. 2025).

Positive effects are atoms that are false before the last step of the plan and true after it, negative ones those that
are true before and false after it, derived atoms included: what was so before is no effect.

>>> from pddl_eval import judge_answer
>>> lamp = "(define (domain lamp) (:action switch :precondition (off) :effect (and (on) (not (off)))))"
>>> dark = "(define (problem p) (:domain lamp) (:init (off)) (:goal (on)))"
>>> answer = "Positive effects: [(on)]. Negative effects: [{}]"
>>> judge_answer("progression", answer.format("(off)"), dark, lamp, plan="(switch)").correct
True
>>> judge_answer("progression", answer.format("(on)"), dark, lamp, plan="(switch)").detail
'(switch) does not make (on) false: it was false before'
"""

from __future__ import annotations

from collections.abc import Iterable

from pddl_eval.definition import words
from pddl_eval.definition.model import Atom, Formula, State, show_atom
from pddl_eval.definition.questions.question import InvalidQuestionError, Judged, Kind, Question
from pddl_eval.definition.questions.reading import Elements, answer_text, as_atom, signed_texts
from pddl_eval.definition.questions.sets import judge_set, read
from pddl_eval.definition.verdict import RightAnswers


def _around(question: Question) -> tuple[State, State]:
    """What is true before and after the last step."""
    if not question.steps:
        raise InvalidQuestionError("the plan has no step")
    before = after = frozenset[Atom]()
    for state in question.states():
        before, after = after, state
    return before, after


def changes(question: Question) -> frozenset[Formula]:
    """What the last step makes true, and as ``("not", atom)`` what it makes false."""
    before, after = _around(question)
    return frozenset[Formula](after - before).union([("not", atom) for atom in before - after])


def _read(text: str, question: Question) -> Elements:
    texts = signed_texts(text)
    if texts is None:
        return read(text, question)
    positive, negative = (read(each, question) for each in texts)
    elements = (*positive.elements, *_negated(negative.elements))
    none = positive.none or negative.none
    return Elements(elements, none, positive.damage + negative.damage, positive.reason or negative.reason)


def _negated(elements: Iterable[Formula]) -> list[Formula]:
    """What stands under a heading of negative effects is negative, whether or not it says so again."""
    return [("not", as_atom(each)[0]) for each in elements]


def _why_wrong(element: Formula, question: Question) -> str:
    atom, to = as_atom(element)
    if why := question.why_no_atom(atom):
        return why
    before, _ = _around(question)
    action = next(iter(question.execution.steps[-1])).action
    return words.not_changed(atom, action, to, (atom in before) == to)


def _judge(question: Question, text: str, answer: str) -> Judged:
    right = changes(question)
    return judge_set(_read(answer_text(text, answer), question), right, lambda each: _why_wrong(each, question))


def _key(question: Question) -> RightAnswers:
    right = changes(question)
    signed = {to: sorted(atom for atom, is_true in map(as_atom, right) if is_true == to) for to in (True, False)}
    lists = (f"{name} effects: [{', '.join(map(show_atom, signed[to]))}]"
             for name, to in (("positive", True), ("negative", False)))  # fmt: skip
    return RightAnswers(right, not right, "\n".join(lists))


KIND = Kind(
    "what the last action of the plan makes true, and what it makes false",
    "it names both sets and nothing else",
    _judge,
    _key,
    "precision, recall",
)
