"""Which planner is asked for a plan, in which order: the domain's own rules, the search, Fast Downward."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

from pddl_eval.budget import check
from pddl_eval.domains import BrokenAssumption, PlanningDomain, Rules
from pddl_eval.model import Action, Atom, Domain, Operator, Problem, State
from pddl_eval.solve import fast_downward
from pddl_eval.solve.executor import execute
from pddl_eval.strips import find_plan
from pddl_eval.verdict import Undecided, Unsolvable

ANSWERS_KEPT = 8
"""Answers of Fast Downward that are kept: closure, counterexample and plan ask for the same goal."""

CONFLICTS = 3
"""Atoms that may be set aside from an initial state that no rules cover before the general search is asked."""


def solve(
    problem: Problem, planning_domain: PlanningDomain | None, typed: bool = True
) -> tuple[Action, ...] | Unsolvable | Undecided:
    """A plan for the problem in that domain, executed and found to reach the goal; else a proof or a limit.

    >>> from pddl_eval.domains import known_domain
    >>> init, goal = frozenset({("holding", "a")}), frozenset({("clear", "a")})
    >>> problem = Problem("p", "blocksworld", {"a": "object"}, init, goal)
    >>> solve(problem, known_domain("blocksworld"))
    (('putdown', 'a'),)
    """
    if problem.goal <= problem.init:
        return ()
    if planning_domain is None:
        return Undecided("the domain is not known")
    domain = planning_domain.operators_of(typed)
    plan: tuple[Action, ...] | Unsolvable | Undecided | None = None
    if planning_domain.rules is not None:
        plan = _plan_by_rules(problem, planning_domain.rules, typed, CONFLICTS)
    if plan is None:
        plan = find_plan(problem, domain)
        if isinstance(plan, Undecided):
            plan = _planned(frozenset(problem.objects.items()), problem.init, problem.goal, frozenset(), domain)
    if isinstance(plan, tuple):
        execution = execute([{action} for action in plan], problem, domain)
        if not execution.reaches_goal:
            raise AssertionError(f"a plan for {problem.name} does not reach its goal: {execution.reason}")
    return plan


def goal_state(problem: Problem, domain: Domain, goal: State, lacking: State) -> State | Unsolvable | Undecided:
    """A reachable state with all atoms of ``goal`` and none of ``lacking``: where a plan of Fast Downward's ends.

    The problem's own goal plays no part.
    """
    plan = _planned(frozenset(problem.objects.items()), problem.init, goal, lacking, domain)
    if not isinstance(plan, tuple):
        return plan
    execution = execute([{action} for action in plan], replace(problem, goal=goal), domain)
    if not execution.reaches_goal or lacking & execution.state:
        raise AssertionError(f"a plan for {problem.name} does not lead to a goal state: {execution.reason}")
    return execution.state


@lru_cache(maxsize=ANSWERS_KEPT)
def _planned(
    objects: frozenset[tuple[str, str]], init: State, goal: State, lacking: State, domain: Domain
) -> tuple[Action, ...] | Unsolvable | Undecided:
    """Fast Downward's answer. Goals are positive: what is to be lacking is a precondition of one more operator."""
    problem = Problem("p", domain.name, dict(sorted(objects)), init, goal)
    if not lacking:
        return fast_downward.find_plan(problem, domain)
    finish = Operator("(finish)", (), goal, lacking, frozenset({("(finished)",)}), frozenset[Atom]())
    asked = replace(domain, operators=(*domain.operators, finish))
    plan = fast_downward.find_plan(replace(problem, goal=finish.add_effects), asked)
    return plan[:-1] if isinstance(plan, tuple) else plan


def _plan_by_rules(
    problem: Problem, rules: Rules, typed: bool, conflicts: int
) -> tuple[Action, ...] | Unsolvable | None:
    """The rules' answer; where the initial state breaks an assumption, a plan from a part of it that breaks none.

    Where operators ask for no absent atom, as in every domain with rules, further initial atoms never hurt: a plan from
    a part of the initial state is a plan. That a part has none proves nothing: None.
    """
    start = rules(problem, typed)
    if not isinstance(start, BrokenAssumption):
        return start.plan(problem.goal)
    if conflicts:
        for atom in start.atoms:
            check()
            part = replace(problem, init=problem.init - {atom})
            found = _plan_by_rules(part, rules, typed, conflicts - 1)
            if isinstance(found, tuple):
                return found
    return None
