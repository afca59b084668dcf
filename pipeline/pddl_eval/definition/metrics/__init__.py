"""How close an answer is to its reference: one metric a file, listed in the pairs that a row can have."""

from __future__ import annotations

from pddl_eval.definition.metrics.actions import plan_jaccard, plan_lcs
from pddl_eval.definition.metrics.answers import ANSWER, AnswerPair, read_answer
from pddl_eval.definition.metrics.domain_pair import DomainPair
from pddl_eval.definition.metrics.domains import DOMAIN, decided_task
from pddl_eval.definition.metrics.plan_pair import NotExecuted, PlanPair, detail_of, executable, executed_plan
from pddl_eval.definition.metrics.plan_score import only_equal
from pddl_eval.definition.metrics.plans import PLAN, as_reference, embed_plans, operators_of
from pddl_eval.definition.metrics.problem import (
    PROBLEM,
    domain_of_problem,
    score_lone_problem,
    score_problem_pair,
)
from pddl_eval.definition.metrics.registry import Column, OnlySome, Pair, Row, domain_of, given
from pddl_eval.definition.metrics.validity import (
    as_float,
    ending,
    failed_step_without_plan,
    is_optimal,
    verdict_without_plan,
)

PAIRS = (PROBLEM, PLAN, DOMAIN, ANSWER)
