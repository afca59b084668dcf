"""Is there a plan? A plan that was found and executed, a proof that there is none, or a limit that was hit.

A planning domain's own planner is asked first; where its assumptions do not hold, or there is none, the general search
of ``pddl_eval.strips`` and then Fast Downward. ``execute`` has the last word on every plan, whoever found it.
"""

from __future__ import annotations

from dataclasses import replace

from pddl_eval.domains import BrokenAssumption, PlanningDomain, Rules
from pddl_eval.model import Action, Domain, Problem
from pddl_eval.verdict import Undecided, Unsolvable

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
        return Undecided(f"nothing is known of a domain named {problem.domain}")
    domain = planning_domain.domain if typed else planning_domain.domain.without_types()
    rules = planning_domain.rules
    if rules is not None:
        found = _plan_by_rules(problem, rules, typed, CONFLICTS)
        if found is not None:
            return found if isinstance(found, Unsolvable) else _executed(found, problem, domain)
    from pddl_eval.solve import fast_downward
    from pddl_eval.strips import find_plan

    searched = find_plan(problem, domain)
    if isinstance(searched, Undecided):
        searched = fast_downward.find_plan(problem, domain)
    return _executed(searched, problem, domain) if isinstance(searched, tuple) else searched


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
            part = replace(problem, init=problem.init - {atom})
            found = _plan_by_rules(part, rules, typed, conflicts - 1)
            if isinstance(found, tuple):
                return found
    return None


def _executed(plan: tuple[Action, ...], problem: Problem, domain: Domain) -> tuple[Action, ...]:
    from pddl_eval.solve.execute import execute

    execution = execute(plan, problem, domain)
    if not execution.reaches_goal:
        raise AssertionError(f"a plan for {problem.name} does not reach its goal: {execution.reason}")
    return plan
