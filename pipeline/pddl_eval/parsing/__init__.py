"""Text to values: problems, domains and plans out of raw model answers. Nothing here compares, searches or scores."""

from pddl_eval.parsing.domains import DomainError, parse_domain
from pddl_eval.parsing.plans import Plan, PlanError, ReadPlan, Step, plan_of_steps, read_plan
from pddl_eval.parsing.problems import parse_problem, read_problem, read_problem_by_package
from pddl_eval.parsing.unreadable import ParseError, Unreadable
