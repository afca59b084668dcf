"""pddl-eval: score PDDL problems, plans and domains written by language models against references.

The public names are imported when they are first used, so that the command's help and a worker that needs one room do
not pay for the others.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pipeline.api import UndecidedError, UnsolvableError, certificate, compare_problems, fully_specify
    from pipeline.domain_metrics import DomainScores, compare_domains
    from pipeline.parsing.problems import ParseError, parse_problem
    from pipeline.plan_metrics import PlanScores, compare_plans
    from pipeline.problem import Problem
    from pipeline.report import Report, build_report
    from pipeline.run import RunSummary, score_dataset
    from pipeline.scoring.frame import score_frame
    from pipeline.scoring.problem_pair import ProblemVerdict

_HOME = {
    "DomainScores": "pipeline.domain_metrics",
    "ParseError": "pipeline.parsing.problems",
    "PlanScores": "pipeline.plan_metrics",
    "Problem": "pipeline.problem",
    "ProblemVerdict": "pipeline.scoring.problem_pair",
    "Report": "pipeline.report",
    "RunSummary": "pipeline.run",
    "UndecidedError": "pipeline.api",
    "UnsolvableError": "pipeline.api",
    "build_report": "pipeline.report",
    "certificate": "pipeline.api",
    "compare_domains": "pipeline.domain_metrics",
    "compare_plans": "pipeline.plan_metrics",
    "compare_problems": "pipeline.api",
    "fully_specify": "pipeline.api",
    "parse_problem": "pipeline.parsing.problems",
    "score_dataset": "pipeline.run",
    "score_frame": "pipeline.scoring.frame",
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
