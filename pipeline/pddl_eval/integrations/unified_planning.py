"""A plan validator for unified-planning, and a comparison of its problems: what it writes as PDDL is judged.

>>> from unified_planning.shortcuts import PlanValidator
>>> register()
>>> with PlanValidator(name="pddl-eval") as validator:
...     validator.name
'pddl-eval'
"""

from __future__ import annotations

from typing import Any

from unified_planning.engines import (
    FailedValidationReason,
    LogLevel,
    LogMessage,
    ValidationResult,
    ValidationResultStatus,
)
from unified_planning.engines.engine import Engine
from unified_planning.engines.mixins import PlanValidatorMixin
from unified_planning.environment import get_environment
from unified_planning.io import PDDLWriter
from unified_planning.model import Problem, ProblemKind
from unified_planning.plans import Plan, PlanKind

import pddl_eval
from pddl_eval.definition.verdict import PlanVerdict

NAME = "pddl-eval"

FEATURES = [
    "ACTION_BASED",
    "SIMPLE_NUMERIC_PLANNING",
    "GENERAL_NUMERIC_PLANNING",
    "FLAT_TYPING",
    "HIERARCHICAL_TYPING",
    "CONTINUOUS_TIME",
    "TIMED_EFFECTS",
    "DURATION_INEQUALITIES",
    "INT_TYPE_DURATIONS",
    "REAL_TYPE_DURATIONS",
    "STATIC_FLUENTS_IN_DURATIONS",
    "FLUENTS_IN_DURATIONS",
    "CONTINUOUS_NUMBERS",
    "DISCRETE_NUMBERS",
    "INT_FLUENTS",
    "REAL_FLUENTS",
    "NUMERIC_FLUENTS",
    "NEGATIVE_CONDITIONS",
    "DISJUNCTIVE_CONDITIONS",
    "EQUALITIES",
    "EXISTENTIAL_CONDITIONS",
    "UNIVERSAL_CONDITIONS",
    "CONDITIONAL_EFFECTS",
    "INCREASE_EFFECTS",
    "DECREASE_EFFECTS",
    "FORALL_EFFECTS",
    "STATIC_FLUENTS_IN_NUMERIC_ASSIGNMENTS",
    "FLUENTS_IN_NUMERIC_ASSIGNMENTS",
    "ACTIONS_COST",
    "FINAL_VALUE",
    "MAKESPAN",
    "PLAN_LENGTH",
    "STATIC_FLUENTS_IN_ACTIONS_COST",
    "FLUENTS_IN_ACTIONS_COST",
    "INT_NUMBERS_IN_ACTIONS_COST",
    "REAL_NUMBERS_IN_ACTIONS_COST",
    "TRAJECTORY_CONSTRAINTS",
    "STATE_INVARIANTS",
]
"""What its problems may have: what PDDL can say and ``pddl_eval.validate`` executes."""

REASONS = {
    PlanVerdict.PRECONDITION: FailedValidationReason.INAPPLICABLE_ACTION,
    PlanVerdict.DURATION: FailedValidationReason.INAPPLICABLE_ACTION,
    PlanVerdict.WRONG_ARGUMENTS: FailedValidationReason.INAPPLICABLE_ACTION,
    PlanVerdict.INTERFERENCE: FailedValidationReason.MUTEX_CONFLICT,
    PlanVerdict.GOAL_NOT_REACHED: FailedValidationReason.UNSATISFIED_GOALS,
    PlanVerdict.EMPTY: FailedValidationReason.UNSATISFIED_GOALS,
}


class Validator(Engine, PlanValidatorMixin):
    """The engine ``pddl-eval``: sequential and time-triggered plans; what is not decided is ``UNKNOWN``."""

    def __init__(self, **_options: Any) -> None:
        Engine.__init__(self)
        PlanValidatorMixin.__init__(self)

    @property
    def name(self) -> str:
        """As the factory knows it."""
        return NAME

    @staticmethod
    def supported_kind() -> ProblemKind:
        """The kinds of problems that it decides."""
        return ProblemKind(FEATURES)

    @staticmethod
    def supports(problem_kind: ProblemKind) -> bool:
        """Whether it decides problems of this kind."""
        return bool(problem_kind <= Validator.supported_kind())

    @staticmethod
    def supports_plan(plan_kind: PlanKind) -> bool:
        """Whether it reads plans of this kind."""
        return plan_kind in (PlanKind.SEQUENTIAL_PLAN, PlanKind.TIME_TRIGGERED_PLAN)

    def _validate(self, problem: Problem, plan: Plan) -> ValidationResult:
        writer = PDDLWriter(problem)
        found = pddl_eval.validate(writer.get_plan(plan), writer.get_problem(), writer.get_domain())
        if found.valid is None:
            status = ValidationResultStatus.UNKNOWN
        else:
            status = ValidationResultStatus.VALID if found.valid else ValidationResultStatus.INVALID
        reason = None if found.valid else REASONS.get(found.verdict)
        step = found.failed_step if reason is FailedValidationReason.INAPPLICABLE_ACTION else None
        sequential = plan.kind is PlanKind.SEQUENTIAL_PLAN
        metric = problem.quality_metrics[0] if len(problem.quality_metrics) == 1 and found.valid else None
        return ValidationResult(
            status,
            NAME,
            [LogMessage(LogLevel.INFO, found.detail or found.verdict.meaning)],
            metric_evaluations={metric: found.cost} if metric is not None and found.cost is not None else None,
            reason=reason,
            inapplicable_action=plan.actions[step - 1] if step and sequential else None,
        )


def register(environment: Any = None) -> None:
    """Make the engine known to a factory, by default that of the global environment, as ``PlanValidator`` asks it."""
    get_environment(environment).factory.add_engine(NAME, __name__, Validator.__name__)


def compare(reference: Problem, generated: Problem) -> Any:
    """Whether two problems, each with its domain, are one planning task in whatever words: as ``compare_tasks``."""
    sides = [PDDLWriter(problem) for problem in (reference, generated)]
    texts = [text for each in sides for text in (each.get_domain(), each.get_problem())]
    return pddl_eval.compare_tasks(*texts)
