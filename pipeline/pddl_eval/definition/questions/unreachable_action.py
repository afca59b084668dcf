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
    space = question.space
    before = _applied(space).get(action)
    if before is not None:
        return words.reachable(action, space.plan_to(before))
    if space.limit is not None and (space.actions is None or action in space.actions):
        raise OutOfBudgetError(space.limit.reason)
    return ""


def _applied(space: StateSpace) -> Mapping[Action, Node]:
    """The actions that are applied in the states, each with one in which it is."""
    for _ in space:  # finds them
        pass
    return {operator.action: before for steps in space.into.values() for operator, _, before in steps}


def unreachable_actions(question: Question) -> Picks:
    """The actions of the problem that are applicable in no reachable state."""
    space = question.space
    applied = _applied(space)
    actions = question.instances(question.operators)
    if space.limit is None:
        return picks_among(actions, lambda action: action not in applied)
    unseen = (action for action in actions if action not in applied)
    return picks_among(unseen, lambda action: not _why_wrong(action, question), space.limit.reason)


KIND = pick_kind(
    "an action that is applicable in no state that can be reached, or none",
    "no reachable state admits it",
    _why_wrong,
    unreachable_actions,
    actions=True,
)
