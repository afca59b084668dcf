"""pddl-eval: score PDDL problems, plans and domains written by language models against references.

The public names are imported when they are first used, so that the command's help and a worker that needs one room do
not pay for the others.
"""

from __future__ import annotations

import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pddl_eval.api import (
        UndecidedError,
        UnsolvableError,
        certificate,
        compare_problems,
        compare_tasks,
        counterexample,
        fully_specify,
    )
    from pddl_eval.config import read_config
    from pddl_eval.equivalence import scene_graph
    from pddl_eval.metrics import DomainScores, PlanScores, compare_domains, compare_plans
    from pddl_eval.model import Problem
    from pddl_eval.parsing import ParseError, parse_problem
    from pddl_eval.report import Report, build_report
    from pddl_eval.rewards import reward
    from pddl_eval.run import RunStatus, RunSummary, run_status, score_dataset
    from pddl_eval.table import score_frame
    from pddl_eval.verdict import Counterexample, DomainVerdict, ProblemVerdict

__version__ = "0.1.0"
"""Here and not in the metadata of an installation, which sources that are only on the path have not."""

_ROOMS = {
    "api": (
        "UndecidedError",
        "UnsolvableError",
        "certificate",
        "compare_problems",
        "compare_tasks",
        "counterexample",
        "fully_specify",
    ),
    "config": ("read_config",),
    "equivalence": ("scene_graph",),
    "metrics": ("DomainScores", "PlanScores", "compare_domains", "compare_plans"),
    "model": ("Problem",),
    "parsing": ("ParseError", "parse_problem"),
    "report": ("Report", "build_report"),
    "rewards": ("reward",),
    "run": ("RunStatus", "RunSummary", "run_status", "score_dataset"),
    "table": ("score_frame",),
    "verdict": ("Counterexample", "DomainVerdict", "ProblemVerdict"),
}
_ROOM_OF = {name: room for room, names in _ROOMS.items() for name in names}

__all__ = [
    "Counterexample",
    "DomainScores",
    "DomainVerdict",
    "ParseError",
    "PlanScores",
    "Problem",
    "ProblemVerdict",
    "Report",
    "RunStatus",
    "RunSummary",
    "UndecidedError",
    "UnsolvableError",
    "build_report",
    "certificate",
    "compare_domains",
    "compare_plans",
    "compare_problems",
    "compare_tasks",
    "counterexample",
    "fully_specify",
    "parse_problem",
    "read_config",
    "reward",
    "run_status",
    "scene_graph",
    "score_dataset",
    "score_frame",
]


def __getattr__(name: str) -> Any:
    if name not in _ROOM_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"pddl_eval.{_ROOM_OF[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """The public names, for completion in a notebook, where most of them are not imported yet."""
    return [*__all__, "__version__"]


if "IPython" in sys.modules:
    from pddl_eval.notebook import register  # only a notebook needs it

    register()
