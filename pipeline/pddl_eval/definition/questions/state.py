"""What is true after the plan? PlanBench's *plan execution* (task 7; Valmeekam et al. 2023).

All atoms that are true, static and derived ones included; numbers are not asked for. What is not named is false.

>>> from pddl_eval import judge_answer
>>> lamp = "(define (domain lamp) (:action switch :precondition (off) :effect (and (on) (not (off)))))"
>>> dark = "(define (problem p) (:domain lamp) (:init (off) (wired)) (:goal (on)))"
>>> judge_answer("state", "on, wired", dark, lamp, plan="(switch)").correct
True
>>> judge_answer("state", "(on)", dark, lamp, plan="(switch)").detail
'(wired) is missing'
"""

from __future__ import annotations

from pddl_eval.definition import words
from pddl_eval.definition.model import Action, Formula
from pddl_eval.definition.questions.question import Question
from pddl_eval.definition.questions.reading import as_atom
from pddl_eval.definition.questions.sets import set_kind
from pddl_eval.definition.validation import effects_of


def true_atoms(question: Question) -> frozenset[Formula]:
    """What is true after the plan."""
    return frozenset[Formula](question.true)


def why_wrong(element: Formula, question: Question, steps: int) -> str:
    """Why what is said of an atom is not so after that many steps of the plan."""
    atom, is_said = as_atom(element)
    if not is_said:
        return words.is_true(atom, steps)
    if why := question.why_no_atom(atom):
        return why
    assert question.task.domain is not None
    deleted: Action = ()
    for step in question.execution.steps[:steps]:
        if atom in effects_of(step)[1]:
            deleted = next(each.action for each in step if atom in each.delete_effects)
    return words.not_true(atom, steps, deleted, atom[0] in question.task.domain.derived)


KIND = set_kind(
    "all atoms that are true after the plan",
    "it names these atoms and no other",
    true_atoms,
    lambda element, question: why_wrong(element, question, question.steps),
)
