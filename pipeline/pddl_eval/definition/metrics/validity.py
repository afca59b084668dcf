"""Is a plan valid, what is its first fault, how far does it get, what does it cost? All that one execution says.

Valid is what VAL calls so. The shares tell answers apart that are not valid: one that fails at its last step from one
that fails at its first. Costs and optimality are exact, the latter where the states of the task can be enumerated.
"""

from __future__ import annotations

from fractions import Fraction
from math import inf

from pddl_eval.definition import words
from pddl_eval.definition.budget import or_undecided
from pddl_eval.definition.metrics.plan_pair import PlanPair
from pddl_eval.definition.metrics.registry import Column, Metric
from pddl_eval.definition.plans import EMPTY, NO_ANSWER, NO_OPERATOR
from pddl_eval.definition.trajectory import constraints_of
from pddl_eval.definition.validation import Execution
from pddl_eval.definition.verdict import PlanVerdict, Undecided


def plan_verdict(pair: PlanPair) -> PlanVerdict | None:
    """The verdict on the generated plan; None where there is no problem to solve.

    Mistakes in the problem or its domain come first, then an answer without a plan, then the execution: the first step
    that fails, else the goal.

    >>> from pddl_eval.definition.options import ScoringOptions
    >>> from pddl_eval.definition.plans import read_plan
    >>> from pddl_eval.definition.task import read_task
    >>> task = read_task("(define (problem p) (:domain gripper) (:init) (:goal (and)))")
    >>> for answer in ("", "I do not know.", "(fly a)", "[]"):
    ...     print(plan_verdict(PlanPair(None, read_plan(answer), task, ScoringOptions())).value)
    empty
    unreadable
    unknown_action
    valid
    """
    if pair.not_executed is not None:
        return pair.not_executed.verdict
    if pair.task is None:
        return None
    if pair.task.ill_typed:
        return PlanVerdict.REFERENCE_INVALID
    if not pair.found:
        return verdict_without_plan(pair.reason)
    execution = or_undecided(lambda: pair.execution)
    if isinstance(execution, Undecided):
        return PlanVerdict.UNDECIDED
    assert isinstance(execution, Execution)
    return execution.verdict


def verdict_without_plan(reason: str) -> PlanVerdict:
    """The verdict on an answer in which no plan was found, by the ``reason`` of its ``ReadPlan``."""
    if reason.startswith(NO_OPERATOR):
        return PlanVerdict.UNKNOWN_ACTION
    return PlanVerdict.EMPTY if reason in (EMPTY, NO_ANSWER) else PlanVerdict.UNREADABLE


def failed_step_without_plan(reason: str) -> int | None:
    """The first step, where an answer has steps and none of them names an operator; else None."""
    return 1 if verdict_without_plan(reason) is PlanVerdict.UNKNOWN_ACTION else None


def executable_share(steps_before: int, steps: int) -> float:
    """The steps before the first failure over all steps; 1.0 for a plan without steps, of which none fails.

    >>> executable_share(3, 4), executable_share(0, 0)
    (0.75, 1.0)
    """
    return steps_before / steps if steps else 1.0


def is_optimal(is_valid: bool | None, cost: Fraction | None, least: Fraction | Undecided | None) -> bool | None:
    """Whether a plan is valid and costs what the cheapest plans cost; None where that is not decided.

    >>> two = Fraction(2)
    >>> is_optimal(True, two, two), is_optimal(False, None, None), is_optimal(True, two, Undecided("a limit was hit"))
    (True, False, None)
    """
    if not is_valid:
        return is_valid
    return None if isinstance(least, Undecided) else cost == least


def as_float(number: Fraction) -> float:
    """The nearest number that a column can hold; infinite beyond all of them.

    >>> as_float(Fraction(-(10**400), 3))
    -inf
    """
    try:
        return float(number)
    except OverflowError:
        return inf if number > 0 else -inf


def ending(execution: Execution, whose: str = "") -> str:
    """What to say of an execution that failed or did not reach the goal."""
    if execution.failed_step is not None:
        return words.failure(execution.failed_step, execution.reason, whose)
    if execution.broken:
        first = min(execution.broken, key=lambda each: (each.state < 0, each.state))
        time = first.time if execution.times else None
        return words.constraint(first.constraint, first.state, time, len(execution.broken), whose)
    return words.goal_not_reached(execution.unmet[0], len(execution.unmet), whose) if execution.unmet else ""


def _validity(pair: PlanPair) -> tuple[bool | None, bool | None, int | None]:
    """All None where there is nothing to execute plans in."""
    if pair.task is None:
        return None, None, None
    if pair.task.ill_typed:
        pair.notes.append(f"in the reference, {pair.task.ill_typed}")
        return None, None, None
    actual, expected = pair.execution, pair.reference_execution
    if actual is None:
        return False, False, failed_step_without_plan(pair.reason)
    pair.notes.append(ending(actual) or words.preferences(actual.violated))
    pair.notes += [ending(expected, "reference plan: ") if expected else ""]
    return actual.reaches_goal, not actual.unmet, actual.failed_step


def _shares(pair: PlanPair) -> tuple[float | None, float | None]:
    """Both None where nothing can be executed, and 0 where the answer holds no plan."""
    if pair.task is None or pair.task.ill_typed:
        return None, None
    execution = pair.execution
    if execution is None:
        return 0.0, 0.0
    steps = len(pair.generated) + (pair.damage is not None)  # The step that cannot be read is one, too.
    before = steps if execution.failed_step is None else execution.failed_step - 1
    return executable_share(before, steps), execution.goal_share


def _constraint_share(pair: PlanPair) -> float | None:
    """None where nothing can be executed or no constraint is asked for, and 0 where the answer holds no plan."""
    if pair.task is None or pair.task.ill_typed or pair.task.domain is None:
        return None
    if (execution := pair.execution) is not None:
        return execution.constraint_share
    return 0.0 if constraints_of(pair.task.problem, pair.task.domain.domain) else None


def _costs(pair: PlanPair) -> list[float | None]:
    """None where a plan is not valid or is not executed."""
    costs = [each.cost if each is not None else None for each in (pair.execution, pair.reference_execution)]
    return [None if cost is None else as_float(cost) for cost in costs]


def _optimality(pair: PlanPair) -> tuple[bool | None, float | None]:
    """Both None unless it is asked for, and where there is nothing to execute plans in."""
    if not pair.options.optimal or pair.task is None or pair.task.ill_typed:
        return None, None
    least, execution = pair.task.optimal_cost, pair.execution
    verdict = execution is not None and is_optimal(execution.reaches_goal, execution.cost, least)
    if isinstance(least, Undecided):
        pair.notes.append(f"optimal cost not decided: {least.reason}")
        return verdict, None
    return verdict, None if least is None else as_float(least)


VALIDITY = Metric(
    (
        Column(
            "plan_valid",
            bool,
            "every step can be executed and the goal holds at the end, as VAL says it (but for surplus arguments)",
            optional=True,
        ),
        Column("goal_reached", bool, "the goal holds where the execution ended", optional=True),
        Column("first_failed_step", int, "the first step that could not be executed, from 1; null: none failed"),
    ),
    _validity,
)

OPTIMALITY = Metric(
    (
        Column(
            "plan_optimal", bool, "on request: it is valid, and no plan is cheaper; null: not decided", optional=True
        ),
        Column(
            "optimal_cost",
            float,
            "on request: what the cheapest plans cost; null: there is no plan, or it is not decided",
            unbounded=True,
        ),
    ),
    _optimality,
    asked_by="optimal",
)

VERDICT = Metric(
    (Column("plan_verdict", str, "valid, or what is wrong first, as one of the names in the table of verdicts"),),
    lambda pair: [verdict and verdict.value for verdict in (plan_verdict(pair),)],
)

SHARES = Metric(
    (
        Column(
            "executable_share",
            float,
            "steps before the first failure over all steps, of which one that cannot be read is one; no steps: 1",
            has_mean=True,
        ),
        Column(
            "goal_share",
            float,
            "share of the goal's conjuncts, a forall counted as its instances, that hold at the end; an empty goal: 1",
            has_mean=True,
        ),
    ),
    _shares,
)

CONSTRAINTS = Metric(
    (
        Column(
            "constraint_share",
            float,
            "share of the constraints that hold on the states passed through, up to a step that fails; a forall "
            "counted as its instances; null: there are none",
            has_mean=True,
        ),
    ),
    lambda pair: (_constraint_share(pair),),
)

COSTS = Metric(
    (
        Column(
            "plan_cost",
            float,
            "the value of the problem's metric, else the number of actions; null: the plan is not valid",
            unbounded=True,
        ),
        Column("reference_plan_cost", float, "the same of the reference plan", unbounded=True),
    ),
    _costs,
)
