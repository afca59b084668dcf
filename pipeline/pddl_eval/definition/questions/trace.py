"""What is true after each step of the plan? The state traces of PDDL-Instruct (Verma et al. 2025).

States are those of ``state``: all atoms that are true. The initial state may be said as well. ``precision`` is the
share of the states that are said that are right, ``recall`` the share of the steps whose state is.

>>> from pddl_eval import judge_answer
>>> lamp = '''(define (domain lamp) (:action switch :precondition (off) :effect (and (on) (not (off))))
...   (:action smash :precondition (on) :effect (not (on))))'''
>>> dark = "(define (problem p) (:domain lamp) (:init (off)) (:goal (on)))"
>>> verdict = judge_answer("trace", "Step 1: (on)\\nStep 2: (on)", dark, lamp, plan="(switch) (smash)")
>>> verdict.first_wrong_step, verdict.recall, verdict.detail
(2, 0.5, '(on) is not true after step 2: (smash) deleted it')
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial

from pddl_eval.definition import words
from pddl_eval.definition.model import Formula, State, show_atom
from pddl_eval.definition.questions.question import Judged, Kind, Question
from pddl_eval.definition.questions.reading import NO_ELEMENT, Elements, answer_text, numbered_texts
from pddl_eval.definition.questions.sets import JUDGEMENTS, judge_set, read
from pddl_eval.definition.questions.state import why_wrong
from pddl_eval.definition.verdict import Judgement, RightAnswers

MOST_MORE = 100
"""States beyond those of the plan's steps that are read."""


def states(question: Question) -> tuple[State, ...]:
    """What is true after each step."""
    return tuple(question.states())[1:] if question.steps else ()


def _read(text: str, question: Question) -> Mapping[int, Elements]:
    """The states by the numbers of their steps, 0 of the initial one."""
    actions = question.operators.keys() - question.predicates.keys()
    said: list[tuple[int | None, Elements]] = []
    for number, part in numbered_texts(text)[: question.steps + MOST_MORE]:
        state = read(part, question)
        state = replace(state, elements=tuple([each for each in state.elements if each[0] not in actions]))
        if state.found:
            said.append((number, state))
    if any(number is None for number, _ in said):
        first = 0 if len(said) > question.steps else 1
        return dict(enumerate((state for _, state in said), first))
    found = {number: each for number, each in said if number is not None}
    from_zero = 0 in found and len(found) == question.steps > 0 and question.steps not in found
    return {number + from_zero: each for number, each in found.items()}


def _judge(question: Question, text: str, answer: str) -> Judged:
    steps = question.steps
    said = _read(answer_text(text, answer), question)
    if not said:
        return Judged(Judgement.RIGHT, 1.0, 1.0) if not steps else Judged.unreadable(NO_ELEMENT)
    right, wrong_step, detail, told = 0, None, "", ""
    for step, state in enumerate(question.states()):
        if step and step not in said:
            judged = Judged(Judgement.INCOMPLETE, detail=words.no_state_of_step(step))
        elif step in said:
            judged = judge_set(said[step], frozenset(state), partial(_why_wrong, question, step))
        else:
            continue
        right += bool(step) and judged.judgement.right
        if not judged.judgement.right and wrong_step is None:
            after = "" if step not in said or " after step " in judged.detail else f" after step {step}"
            wrong_step, detail = step, judged.detail + after
            told = (judged.told or judged.detail) + after
    more = [step for step in said if step > steps]
    if more and wrong_step is None:
        wrong_step, detail = steps + 1, words.extra_states(len(more), steps)
    named = len([step for step in said if step])
    is_right = wrong_step is None
    nothing_wrong = right == named and (is_right or wrong_step != 0)
    judgement = JUDGEMENTS[nothing_wrong, right == steps] if not is_right else Judgement.RIGHT
    shares = right / named if named else 1.0, right / steps if steps else 1.0
    return Judged(judgement, *shares, wrong_step, detail, told or detail)


def _why_wrong(question: Question, step: int, element: Formula) -> str:
    return why_wrong(element, question, step)


def _key(question: Question) -> RightAnswers:
    found = states(question)
    lines = (f"step {number}: {' '.join(map(show_atom, sorted(state))) or 'none'}"
             for number, state in enumerate(found, 1))  # fmt: skip
    return RightAnswers(found, not found, "\n".join(lines) or "none")


KIND = Kind(
    "what is true after each step of the plan",
    "each state is right",
    _judge,
    _key,
    "share of right states, first wrong one",
)
