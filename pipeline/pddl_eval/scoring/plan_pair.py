"""One pair of plans of a dataset's row: read both, find the task they belong to, score them.

A reference plan and the task that a row's reference problem states are read once for all the rows that share them.
"""

from __future__ import annotations

from functools import lru_cache

from pddl_eval.options import ScoringOptions
from pddl_eval.parsing import ReadPlan, Unreadable, read_plan
from pddl_eval.plan_metrics import PlanScores
from pddl_eval.plan_metrics.compare import score_plans
from pddl_eval.plan_metrics.simulate import Task, task_of
from pddl_eval.scoring.problem_pair import reference_of

RECENT = 256
"""Reference plans and tasks kept for further rows."""


def score_plan_pair(
    reference: str | None,
    generated: str | None,
    reference_problem: str | None,
    domain: str | None,
    settings: ScoringOptions,
) -> PlanScores:
    """Score one generated plan; it is carried out where the row has a reference problem whose domain is known.

    Raises ``pddl_eval.parsing.plans.PlanError`` where there is no readable reference plan.

    >>> score_plan_pair("(pick a)", "pick(a)", None, None, ScoringOptions()).plan_score
    1.0
    """
    return score_plans(
        _reference_plan(reference),
        read_plan(generated),
        _task(reference_problem, domain) if reference_problem is not None else None,
        similarity=settings.similarity,
        beta=settings.beta,
        threshold=settings.threshold,
    )


@lru_cache(maxsize=RECENT)
def _reference_plan(text: str | None) -> ReadPlan:
    return read_plan(text)


@lru_cache(maxsize=RECENT)
def _task(reference_problem: str, domain: str | None) -> Task | str:
    reference = reference_of(reference_problem, domain)
    if isinstance(reference.problem, Unreadable):
        return f"the reference problem cannot be read: {reference.problem.detail}"
    if reference.planning_domain is None:
        return f"nothing is known of a domain named {domain or reference.problem.domain}"
    return task_of(reference.planning_domain.domain, reference.problem)
