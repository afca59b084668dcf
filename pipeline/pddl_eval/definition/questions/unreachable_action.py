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
from pddl_eval.definition.formulas import World
from pddl_eval.definition.model import Action, Operator
from pddl_eval.definition.planning import Solution
from pddl_eval.definition.questions.applicable import why_not_applicable
from pddl_eval.definition.questions.picks import ACTIONS, ONE_OF_MANY, Picks, fewest_terms_first, pick_kind, picks_among
from pddl_eval.definition.questions.question import Question, decided
from pddl_eval.definition.state_space import Node, StateSpace
from pddl_eval.definition.validation import execute_actions, operator_of


def _why_wrong(action: Action, question: Question) -> str:
    if why := question.why_no_action(action):
        return why
    plan = _plan_to(action, question)
    return "" if plan is None else words.reachable(action, plan)


def _plan_to(action: Action, question: Question) -> tuple[Action, ...] | None:
    """A plan to a state that admits an action of the problem; None where there is no such state.

    Raises ``OutOfBudgetError`` where that is not decided.
    """
    if why_not_applicable(action, question) is None:
        return ()
    operator = operator_of(action, question.world)
    if not isinstance(operator, Operator):  # an equation does not hold, in any state
        return None
    assert question.task.domain is not None
    if not operator.formulas or question.task.domain.is_searched_in(question.after):
        return _plan_by_search(action, question)
    space, limit = question.space, ""
    try:
        for _ in space:
            pass
    except OutOfBudgetError as end:
        limit = str(end)
    applied, limit = _applied(space), limit or (space.limit.reason if space.limit else "")
    if limit and action not in applied:
        if space.actions is not None and action not in space.actions:
            return None
        raise OutOfBudgetError(limit)
    return space.plan_to(applied[action]) if action in applied else None


def _plan_by_search(action: Action, question: Question) -> tuple[Action, ...] | None:
    """The same, from a plan to a state in which the condition is met in one of the ways to meet it."""
    assert question.task.domain is not None
    split = question.task.domain.disjuncts
    world = question.world if split.domain is question.domain else World(question.after, split.domain)
    ways = (operator_of(each, world) for each in split.of(action))
    found = [question.reach(*way.parts[:2]) for way in ways if isinstance(way, Operator)]
    solution = next((each for each in found if isinstance(each, Solution)), None)
    if solution is None:
        for each in found:
            decided(each)
        return None
    # A cost without a value lacks it in every state.
    after = execute_actions((*solution.plan, action), question.after, question.domain)
    return solution.plan if after.failed_step is None else None


def _applied(space: StateSpace) -> Mapping[Action, Node]:
    """The actions that are applied in the states that were enumerated, each with one in which it is."""
    return {operator.action: before for steps in space.into.values() for operator, _, before in steps}


def unreachable_actions(question: Question) -> Picks:
    """The actions of the problem that are applicable in no reachable state."""
    space = question.space
    if question.is_enumerated:
        applied = _applied(question.whole_space)
        return picks_among(question.instances(question.operators), lambda action: action not in applied)
    if space.actions is not None:
        for action in question.instances(question.operators):
            if action not in space.actions:
                return Picks((action,), False, ONE_OF_MANY)
    # What is applied in one of the first states, or in a plan that was found, needs no search.
    seen = {*_applied(space)}

    def is_never_applied(action: Action) -> bool:
        plan = _plan_to(action, question)
        seen.update(plan or ())
        return plan is None

    candidates = fewest_terms_first(question.instances(question.operators))
    return picks_among((action for action in candidates if action not in seen), is_never_applied, ONE_OF_MANY)


KIND = pick_kind(
    "an action that is applicable in no state that can be reached, or none",
    "no reachable state admits it",
    _why_wrong,
    unreachable_actions,
    named=ACTIONS,
)
