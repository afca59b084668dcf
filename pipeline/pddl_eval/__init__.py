"""pddl-eval: score PDDL problems, plans and domains written by language models against references.

The public names are imported when they are first used, so that the command's help and a worker that needs one room do
not pay for the others.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pddl_eval.api import UndecidedError, UnsolvableError, certificate, compare_problems, fully_specify
    from pddl_eval.domain_metrics import DomainScores, compare_domains
    from pddl_eval.model import Problem
    from pddl_eval.parsing import ParseError, parse_problem
    from pddl_eval.plan_metrics import PlanScores, compare_plans
    from pddl_eval.report import Report, build_report
    from pddl_eval.run import RunSummary, score_dataset
    from pddl_eval.scoring.frame import score_frame
    from pddl_eval.scoring.problem_pair import ProblemVerdict

_HOME = {
    "DomainScores": "pddl_eval.domain_metrics",
    "ParseError": "pddl_eval.parsing",
    "PlanScores": "pddl_eval.plan_metrics",
    "Problem": "pddl_eval.model",
    "ProblemVerdict": "pddl_eval.scoring.problem_pair",
    "Report": "pddl_eval.report",
    "RunSummary": "pddl_eval.run",
    "UndecidedError": "pddl_eval.api",
    "UnsolvableError": "pddl_eval.api",
    "build_report": "pddl_eval.report",
    "certificate": "pddl_eval.api",
    "compare_domains": "pddl_eval.domain_metrics",
    "compare_plans": "pddl_eval.plan_metrics",
    "compare_problems": "pddl_eval.api",
    "fully_specify": "pddl_eval.api",
    "parse_problem": "pddl_eval.parsing",
    "score_dataset": "pddl_eval.run",
    "score_frame": "pddl_eval.scoring.frame",
}

__all__ = [
    "DomainScores",
    "ParseError",
    "PlanScores",
    "Problem",
    "ProblemVerdict",
    "Report",
    "RunSummary",
    "UndecidedError",
    "UnsolvableError",
    "build_report",
    "certificate",
    "compare_domains",
    "compare_plans",
    "compare_problems",
    "fully_specify",
    "parse_problem",
    "score_dataset",
    "score_frame",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(_HOME[name]), name)
    return value
