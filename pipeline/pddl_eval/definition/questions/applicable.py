"""Which actions are applicable? ACPBench Hard's *applicability*: all of them, and no other (Kokel et al. 2025).

An action is an operator with objects and constants of its parameters' types. It is applicable exactly where the
validator can take it as the next step: its precondition holds, its numbers are defined, its effects do not contradict
each other.

>>> from pddl_eval import judge_answer
>>> lamp = "(define (domain lamp) (:action switch :precondition (off) :effect (and (on) (not (off)))))"
>>> dark = "(define (problem p) (:domain lamp) (:init (off)) (:goal (on)))"
>>> judge_answer("applicable", "switch()", dark, lamp).correct
True
>>> judge_answer("applicable", "switch()", dark, lamp, plan="(switch)").detail
'not applicable after step 1: (switch) needs (off)'
"""

from __future__ import annotations

from dataclasses import replace

from pddl_eval.definition import words
from pddl_eval.definition.budget import OutOfBudgetError
from pddl_eval.definition.formulas import World
from pddl_eval.definition.grounding import GroundingLimitError, reachable_operators
from pddl_eval.definition.model import Action, Atom, Formula
from pddl_eval.definition.questions.question import Question
from pddl_eval.definition.questions.reading import as_atom
from pddl_eval.definition.questions.sets import set_kind
from pddl_eval.definition.validation import Failure, taken


def applicable_actions(question: Question) -> frozenset[Action]:
    """All actions that the validator can take after the plan."""
    return applicable_in(question.world)


def applicable_in(world: World) -> frozenset[Action]:
    """All actions that the validator can take in a state; raises ``OutOfBudgetError``."""
    nothing = frozenset[Atom]()
    # Without effects nothing more is reached: what is left are the instances whose positive preconditions hold.
    conditions = [replace(each, add_effects=nothing, delete_effects=nothing) for each in world.domain.operators]
    domain = replace(world.domain, operators=tuple(conditions))
    try:
        found = reachable_operators(world.objects, frozenset(world.true), domain)
    except GroundingLimitError as limit:
        raise OutOfBudgetError(str(limit)) from None
    return frozenset([each.action for each in found if not isinstance(taken({each.action}, world), Failure)])


def why_not_applicable(action: Action, question: Question) -> str | None:
    """Why the validator cannot take an action after the plan."""
    found = taken({action}, question.world)
    return found.reason if isinstance(found, Failure) else None


def _why_wrong(element: Formula, question: Question) -> str:
    action, is_said = as_atom(element)
    reason = why_not_applicable(action, question)
    if not is_said and reason is None:
        return words.is_applicable(action, question.steps)
    return words.not_applicable(reason or "", question.steps)


KIND = set_kind(
    "the actions that are applicable after the plan",
    "it names these actions and no other",
    applicable_actions,
    _why_wrong,
    actions=True,
)
