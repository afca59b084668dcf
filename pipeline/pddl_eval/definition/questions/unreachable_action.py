"""Which action can never be applied? ACPBench Hard's *action reachability* (Kokel et al. 2025).

An action of the problem (an operator with objects of its parameters' types) that is applicable in no state that can be
reached from the state after the plan, that one included; or "none".

>>> from pddl_eval import judge_answer
>>> lamp = '''(define (domain lamp) (:predicates (on) (off) (broken))
...   (:action switch :precondition (off) :effect (and (on) (not (off))))
...   (:action mend :precondition (broken) :effect (not (broken))))'''
>>> dark = "(define (problem p) (:domain lamp) (:init (off)) (:goal (on)))"
>>> [judge_answer("unreachable_action", said, dark, lamp).correct for said in ("mend()", "switch()", "none")]
[True, False, False]
"""

from __future__ import annotations

from collections.abc import Mapping

from pddl_eval.definition import words
from pddl_eval.definition.budget import OutOfBudgetError
from pddl_eval.definition.model import Action, Operator
from pddl_eval.definition.planning import Solution
from pddl_eval.definition.questions.applicable import why_not_applicable
from pddl_eval.definition.questions.picks import Picks, pick_kind, picks_among
from pddl_eval.definition.questions.question import Question, decided
from pddl_eval.definition.state_space import Node, StateSpace
from pddl_eval.definition.validation import operator_of


def _why_wrong(action: Action, question: Question) -> str:
    if why := question.why_no_action(action):
        return why
    if why_not_applicable(action, question) is None:
        return words.reachable(action, ())
    operator = operator_of(action, question.world)
    if not isinstance(operator, Operator):  # an equation does not hold, in any state
        return ""
    if not operator.formulas:
        found = decided(question.reach(operator.preconditions, operator.negative_preconditions))
        return words.reachable(action, found.plan) if isinstance(found, Solution) else ""
    space, limit = question.space, ""
    try:
        for _ in space:
            pass
    except OutOfBudgetError as end:
        limit = str(end)
    applied, limit = _applied(space), limit or (space.limit.reason if space.limit else "")
    if limit and action not in applied:
        if space.actions is not None and action not in space.actions:
            return ""
        raise OutOfBudgetError(limit)
    return words.reachable(action, space.plan_to(applied[action])) if action in applied else ""


def _applied(space: StateSpace) -> Mapping[Action, Node]:
    """The actions that are applied in the states that were enumerated, each with one in which it is."""
    return {operator.action: before for steps in space.into.values() for operator, _, before in steps}


def unreachable_actions(question: Question) -> Picks:
    """The actions of the problem that are applicable in no reachable state."""
    actions = sorted(question.instances(question.operators))
    if question.is_enumerated:
        applied = _applied(question.whole_space)
        return picks_among(actions, lambda action: action not in applied)
    applied = _applied(question.space)
    unseen = (action for action in actions if action not in applied)
    return picks_among(unseen, lambda action: not _why_wrong(action, question), "it is one of many")


KIND = pick_kind(
    "an action that is applicable in no state that can be reached, or none",
    "no reachable state admits it",
    _why_wrong,
    unreachable_actions,
    actions=True,
)
