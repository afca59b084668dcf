"""Text to values: problems, domains and plans out of raw model answers. Nothing here compares, searches or scores.

Other rooms import from here: ``pddl_eval.parsing`` is the interface, its files are not.
"""

from pddl_eval.parsing.authority import ParseError, Unreadable
from pddl_eval.parsing.domains import DomainError, parse_domain, typed_list
from pddl_eval.parsing.plan_text import Step, Unread, actions_of
from pddl_eval.parsing.plans import Plan, PlanError, ReadPlan, plan_of_steps, read_plan
from pddl_eval.parsing.problems import parse_problem, read_problem, read_problem_by_package, require_declared
from pddl_eval.parsing.sexpr import DEFINE_DOMAIN, DEFINE_PROBLEM, Block, Expression, problem_blocks, read_expression

__all__ = [
    "DEFINE_DOMAIN",
    "DEFINE_PROBLEM",
    "Block",
    "DomainError",
    "Expression",
    "ParseError",
    "Plan",
    "PlanError",
    "ReadPlan",
    "Step",
    "Unread",
    "Unreadable",
    "actions_of",
    "parse_domain",
    "parse_problem",
    "plan_of_steps",
    "problem_blocks",
    "read_expression",
    "read_plan",
    "read_problem",
    "read_problem_by_package",
    "require_declared",
    "typed_list",
]
