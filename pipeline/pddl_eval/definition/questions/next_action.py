"""Which action comes next on a cheapest plan? ACPBench Hard's *next action* (Kokel et al. 2025).

An action a that is applicable in the state s after the plan, with c*(s) = c(a) + c*(s′): what it costs, and what the
goal costs at least from the state s′ that it leads to, is what the goal costs at least from s. Costs are those of the
problem's metric, else each action costs 1. Where the goal holds, "none" is right, too.

>>> from pddl_eval import judge_answer
>>> lamp = '''(define (domain lamp) (:action on :precondition (off) :effect (and (on) (not (off))))
...   (:action wait :effect (waited)))'''
>>> dark = "(define (problem p) (:domain lamp) (:init (off)) (:goal (on)))"
>>> judge_answer("next_action", "(on)", dark, lamp).correct, judge_answer("next_action", "(wait)", dark, lamp).detail
(True, '(wait): the cheapest plan that begins with it costs 2, not 1')
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from operator import sub

from pddl_eval.definition import words
from pddl_eval.definition.formulas import World
from pddl_eval.definition.model import Action, show_number
from pddl_eval.definition.questions.applicable import applicable_actions, why_not_applicable
from pddl_eval.definition.questions.picks import Picks, pick_kind
from pddl_eval.definition.questions.question import InvalidQuestionError, Question, decided
from pddl_eval.definition.state_space import GoalCosts, goal_costs
from pddl_eval.definition.task import kept_goal_costs
from pddl_eval.definition.validation import Failure, is_goal, taken
from pddl_eval.definition.verdict import Undecided


def _why_wrong(action: Action, question: Question) -> str:
    reason = why_not_applicable(action, question)
    if reason is not None:
        return words.not_applicable(reason, question.steps)
    least, costs = _costs(question)
    cost = costs.get(action)
    if cost == least:
        return ""
    return words.not_cheapest(action, "" if cost is None else show_number(cost), show_number(least))


def _costs(question: Question) -> tuple[Fraction, Mapping[Action, Fraction]]:
    """c*(s), and c(a) + c*(s′) for each action a after which the goal can be reached.

    One enumeration of the task's states serves all questions about it; beyond its limit, that of the states from s.
    """
    found = kept_goal_costs(question.task)
    if isinstance(found, Undecided):
        found = decided(goal_costs(question.after, question.domain))
    assert isinstance(found, GoalCosts)
    space, after, world = found.space, question.after, World(question.after, question.domain)
    least = found.to_goal.get(space.node(after.init, after.values))
    if least is None:
        raise InvalidQuestionError("there is no plan")
    costs: dict[Action, Fraction] = {}
    for action in applicable_actions(question):
        world.become(after.init, after.values)
        step = taken({action}, world)
        assert not isinstance(step, Failure), "it is applicable"
        world.change(*step)
        to_goal = found.to_goal.get(space.node(world.atoms, world.values))
        if to_goal is not None:
            paid = (values.get(found.counter or (), Fraction(0)) for values in (world.values, after.values))
            costs[action] = to_goal + (Fraction(1) if found.counter is None else sub(*paid))
    return least, costs


def cheapest(question: Question) -> Picks:
    """The actions that begin a cheapest plan."""
    least, costs = _costs(question)
    actions = frozenset(action for action, cost in costs.items() if cost == least)
    return Picks(actions, or_none=is_goal(question.after, question.world))


KIND = pick_kind(
    "an action that begins a cheapest plan from the state after the plan",
    "the cheapest plan that begins with it costs what the cheapest plan costs",
    _why_wrong,
    cheapest,
    actions=True,
)
