"""pddl-eval: score PDDL problems, plans and domains written by language models against references.

The public names are imported when they are first used, so that the command's help and a worker that needs one room do
not pay for the others.
"""

from __future__ import annotations

import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pddl_eval.commands.config import read_config as read_config
    from pddl_eval.definition.model import Problem as Problem
    from pddl_eval.definition.pddl import ParseError as ParseError
    from pddl_eval.definition.pddl import parse_problem as parse_problem
    from pddl_eval.definition.verdict import AnswerVerdict as AnswerVerdict
    from pddl_eval.definition.verdict import Counterexample as Counterexample
    from pddl_eval.definition.verdict import DomainVerdict as DomainVerdict
    from pddl_eval.definition.verdict import PlanVerdict as PlanVerdict
    from pddl_eval.definition.verdict import ProblemVerdict as ProblemVerdict
    from pddl_eval.definition.verdict import RightAnswers as RightAnswers
    from pddl_eval.environment import Environment as Environment
    from pddl_eval.environment import Episode as Episode
    from pddl_eval.explain import explain_row as explain_row
    from pddl_eval.report import Report as Report
    from pddl_eval.report import build_report as build_report
    from pddl_eval.run import RunStatus as RunStatus
    from pddl_eval.run import Verification as Verification
    from pddl_eval.run import run_status as run_status
    from pddl_eval.scoring.api import UndecidedError as UndecidedError
    from pddl_eval.scoring.api import UnsolvableError as UnsolvableError
    from pddl_eval.scoring.api import certificate as certificate
    from pddl_eval.scoring.api import compare_problems as compare_problems
    from pddl_eval.scoring.api import compare_tasks as compare_tasks
    from pddl_eval.scoring.api import counterexample as counterexample
    from pddl_eval.scoring.api import fully_specify as fully_specify
    from pddl_eval.scoring.audit import Doubt as Doubt
    from pddl_eval.scoring.audit import audit_dataset as audit_dataset
    from pddl_eval.scoring.domains import DomainScores as DomainScores
    from pddl_eval.scoring.domains import compare_domains as compare_domains
    from pddl_eval.scoring.feedback import Feedback as Feedback
    from pddl_eval.scoring.feedback import feedback as feedback
    from pddl_eval.scoring.plans import PlanScores as PlanScores
    from pddl_eval.scoring.plans import Validation as Validation
    from pddl_eval.scoring.plans import compare_plans as compare_plans
    from pddl_eval.scoring.plans import validate as validate
    from pddl_eval.scoring.questions import judge_answer as judge_answer
    from pddl_eval.scoring.questions import right_answers as right_answers
    from pddl_eval.scoring.rewards import Rewarded as Rewarded
    from pddl_eval.scoring.rewards import areward as areward
    from pddl_eval.scoring.rewards import reward as reward
    from pddl_eval.scoring.scene_graph import scene_graph as scene_graph
    from pddl_eval.scoring.scorer import score_dataset as score_dataset
    from pddl_eval.scoring.summary import RunSummary as RunSummary
    from pddl_eval.scoring.table import score_frame as score_frame
    from pddl_eval.scoring.verify import verify_dataset as verify_dataset

    __version__: str

_ROOMS = {
    "commands.config": "read_config",
    "definition.model": "Problem",
    "definition.pddl": "ParseError parse_problem",
    "definition.verdict": "AnswerVerdict Counterexample DomainVerdict PlanVerdict ProblemVerdict RightAnswers",
    "environment": "Environment Episode",
    "explain": "explain_row",
    "report": "Report build_report",
    "run": "RunStatus Verification run_status",
    "scoring.api": "UndecidedError UnsolvableError certificate compare_problems compare_tasks counterexample"
    " fully_specify",
    "scoring.audit": "Doubt audit_dataset",
    "scoring.domains": "DomainScores compare_domains",
    "scoring.feedback": "Feedback feedback",
    "scoring.plans": "PlanScores Validation compare_plans validate",
    "scoring.questions": "judge_answer right_answers",
    "scoring.rewards": "Rewarded areward reward",
    "scoring.scene_graph": "scene_graph",
    "scoring.scorer": "score_dataset",
    "scoring.summary": "RunSummary",
    "scoring.table": "score_frame",
    "scoring.verify": "verify_dataset",
}
_ROOM_OF = {name: room for room, names in _ROOMS.items() for name in names.split()}

__all__ = sorted(_ROOM_OF)


def __getattr__(name: str) -> Any:
    if name == "__version__":  # Not at import: it asks git, where there is a repository.
        return import_module("pddl_eval.version").program_version()
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
