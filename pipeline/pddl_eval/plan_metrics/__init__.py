"""How close two plans are and whether a plan works; one metric a file, ``compare`` puts them together."""

from pddl_eval.plan_metrics.compare import PlanScores, compare_plans, resolve_task, score_plans

__all__ = ["PlanScores", "compare_plans", "resolve_task", "score_plans"]
