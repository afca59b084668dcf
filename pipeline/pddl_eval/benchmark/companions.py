"""Plans and domain models beside a problem: a reference and an answer of known kind for each, for the bundled sample.

What the kinds must score follows from how they are made, see ``PLAN_KINDS`` and ``DOMAIN_KINDS``; no metric is computed
here.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import lru_cache
from importlib import import_module
from random import Random

from pddl_eval.domains import known_domain
from pddl_eval.errors import UserError
from pddl_eval.model import Action, Problem, show_atom
from pddl_eval.solve import solve

Plan = tuple[Action, ...]


def reference_plan(problem: Problem) -> Plan:
    """The plan that the project's own planner finds for a solvable problem of a known domain."""
    plan = solve(problem, known_domain(problem.domain))
    if not isinstance(plan, tuple):
        raise UserError(f"{problem.name} has no plan: {plan.reason}")
    return plan


def written(plan: Plan) -> str:
    """A plan as PDDL planners write it, one action a line.

    >>> written((("pickup", "a"), ("stack", "a", "b")))
    '(pickup a)\\n(stack a b)'
    """
    return "\n".join(map(show_atom, plan))


def _in_a_list(plan: Plan, random: Random) -> str:
    return ", ".join(f"{name}({', '.join(arguments)})" for name, *arguments in plan)


def _as_json(plan: Plan, random: Random) -> str:
    return json.dumps([{"id": i, "name": name, "args": arguments} for i, (name, *arguments) in enumerate(plan)])


def _step_lost(plan: Plan, random: Random) -> str:
    lost = random.randrange(len(plan)) if plan else 0
    return written(plan[:lost] + plan[lost + 1 :])


def _step_doubled(plan: Plan, random: Random) -> str:
    at = random.randrange(len(plan)) if plan else 0
    return written(plan[:at] + plan[at : at + 1] + plan[at:])


PLAN_KINDS: Mapping[str, Callable[[Plan, Random], str]] = {
    "same_plan": lambda plan, random: written(plan),
    "plan_in_a_list": _in_a_list,
    "plan_as_json": _as_json,
    "plan_step_lost": _step_lost,
    "plan_step_doubled": _step_doubled,
    "no_plan": lambda plan, random: "I could not find a plan for this problem.",
}
"""The first three are the reference in several notations: every score is 1, the plan is valid. A step lost or doubled:
``plan_lcs`` is (n−1)/n or n/(n+1) for a reference of n steps. The last scores 0."""


@lru_cache(maxsize=8)
def reference_domain(name: str) -> str:
    """The PDDL text of a known domain."""
    if known_domain(name) is None:
        raise UserError(f"no domain is known by the name {name}")
    module = import_module(f"pddl_eval.domains.{name.replace('-', '_')}")
    text: str = module.PDDL
    return text.strip()


def _effect_lost(text: str, random: Random) -> str:
    start = text.index(" (not (")
    return text[:start] + text[text.index("))", start) + 2 :]


DOMAIN_KINDS: Mapping[str, Callable[[str, Random], str]] = {
    "same_domain": lambda text, random: text,
    "domain_parameters_renamed": lambda text, random: text.replace("?", "?x-"),
    "domain_effect_lost": _effect_lost,
    "no_domain": lambda text, random: "(define (domain",
}
"""The first two score 1; where a delete effect is lost precision stays 1 and recall does not; the last scores 0."""
