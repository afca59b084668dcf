"""Which action comes next on a cheapest plan? ACPBench Hard's *next action* (Kokel et al. 2025).

An action a that is applicable in the state s after the plan, with c*(s) = c(a) + c*(s′): what it costs, and what the
goal costs at least from the state s′ that it leads to, is what the goal costs at least from s. Costs are those of the
problem's metric, else each action costs 1. Where the goal holds, "none" is right, too. Of an answer that says that it
is a plan the first action counts.

>>> from pddl_eval import judge_answer
>>> lamp = '''(define (domain lamp) (:action on :precondition (off) :effect (and (on) (not (off))))
...   (:action wait :effect (waited)))'''
>>> dark = "(define (problem p) (:domain lamp) (:init (off)) (:goal (on)))"
>>> judge_answer("next_action", "(on)", dark, lamp).correct, judge_answer("next_action", "(wait)", dark, lamp).detail
(True, '(wait): the cheapest plan that begins with it costs 2, not 1')
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from operator import sub

from pddl_eval.definition import words
from pddl_eval.definition.formulas import World
from pddl_eval.definition.model import Action, Problem, show_number
from pddl_eval.definition.planning import Solution
from pddl_eval.definition.questions.applicable import applicable_actions, why_not_applicable
from pddl_eval.definition.questions.picks import PLAN, Picks, pick_kind
from pddl_eval.definition.questions.question import InvalidQuestionError, Question, decided
from pddl_eval.definition.state_space import GoalCosts, goal_costs
from pddl_eval.definition.validation import Failure, execute_actions, is_goal, taken
from pddl_eval.definition.verdict import Undecided, Unsolvable


def _why_wrong(action: Action, question: Question) -> str:
    reason = why_not_applicable(action, question)
    if reason is not None:
        return words.not_applicable(reason, question.steps)
    least, cost = _by_search(action, question) or _by_enumeration(action, question)
    if cost == least:
        return ""
    return words.not_cheapest(action, "" if cost is None else show_number(cost), show_number(least))


def _by_search(action: Action, question: Question) -> tuple[Fraction, Fraction | None] | None:
    """As ``_by_enumeration``; None where cheapest plans are not searched for, or not found."""
    plan = _cheapest_plan(question)
    if plan is None:
        return None
    least = Fraction(len(plan))
    if plan[:1] == (action,):
        return least, least
    after = replace(question.after, init=execute_actions((action,), question.after, question.domain).state)
    found = _search(question, after)
    if found is None:
        return None
    return least, Fraction(1 + len(found.plan)) if isinstance(found, Solution) else None


def _cheapest_plan(question: Question) -> tuple[Action, ...] | None:
    """A cheapest plan, each action at a cost of 1, by a search; None where it is not searched for, or not found."""
    found = None if question.is_enumerated else _search(question, question.after)
    if isinstance(found, Unsolvable):
        raise InvalidQuestionError("there is no plan")
    return None if found is None else found.plan


def _search(question: Question, problem: Problem) -> Solution | Unsolvable | None:
    cheapest, domain = question.searches.cheapest, question.task.domain
    assert domain is not None
    found = None if cheapest is None else cheapest(problem, domain)
    return None if isinstance(found, Undecided) else found


def _by_enumeration(action: Action, question: Question) -> tuple[Fraction, Fraction | None]:
    """c*(s), and c(a) + c*(s′); None where the goal cannot be reached from s′."""
    least, costs = _costs(question)
    return least, costs.get(action)


def _costs(question: Question) -> tuple[Fraction, Mapping[Action, Fraction]]:
    """c*(s), and c(a) + c*(s′) for each action a after which the goal can be reached.

    One enumeration of the task's states serves all questions about it; beyond its limit, that of the states from s.
    """
    found = question.task.goal_costs
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
    """The actions that begin a cheapest plan; where that is searched for, the first of one plan."""
    plan = _cheapest_plan(question)
    if plan is not None:
        return Picks(plan[:1], not plan, "it is one of many" if plan else "", or_none=not plan)
    least, costs = _costs(question)
    actions = sorted(action for action, cost in costs.items() if cost == least)
    return Picks(tuple(actions), or_none=is_goal(question.after, question.world))


KIND = pick_kind(
    "an action that begins a cheapest plan from the state after the plan",
    "the cheapest plan that begins with it costs what the cheapest plan costs",
    _why_wrong,
    cheapest,
    named=PLAN,
)
