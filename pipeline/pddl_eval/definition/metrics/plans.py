"""The metrics of plans, each in a file of its own, and how a row's plans are read."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from pddl_eval.definition.budget import OutOfBudgetError
from pddl_eval.definition.kept import kept
from pddl_eval.definition.metrics import actions, execution, plan_score, validity
from pddl_eval.definition.metrics.plan_pair import NotExecuted, PlanPair, executable, executed_plan
from pddl_eval.definition.metrics.problem import reads_problem
from pddl_eval.definition.metrics.registry import Column, Metric, OnlySome, Pair, Row, domain_of, given
from pddl_eval.definition.metrics.similarity import EMBEDDING, embed
from pddl_eval.definition.options import ScoringOptions
from pddl_eval.definition.pddl import DomainError
from pddl_eval.definition.plans import EMPTY, Operators, ReadPlan, read_plan
from pddl_eval.definition.task import Task, reference_task
from pddl_eval.definition.verdict import PlanVerdict


def _read(row: Row, options: ScoringOptions) -> PlanPair | OnlySome:
    problem = row.get("reference_problem")
    task: Task | NotExecuted | None = None
    if given(problem):
        try:
            task = executable(reference_task(problem, domain_of(row, options), for_plans=True))
        except DomainError as error:
            task = NotExecuted(f"the domain cannot be read: {error}")
    operators = operators_of(task)
    try:
        generated = read_plan(row["generated_plan"], options.answer, operators)
    except OutOfBudgetError as end:
        verdict = None if task is None else PlanVerdict.UNDECIDED.value
        return OnlySome(plan_detail=str(end), plan_verdict=verdict)
    reference = as_reference(kept(read_plan, row.get("reference_plan")), row.get("reference_plan"), operators)
    no_plan = task is not None and reference.reason == EMPTY and not _nothing_to_do(task)
    return PlanPair(None if no_plan else reference, generated, task, options)


def as_reference(read: ReadPlan, text: Any, operators: Operators | None) -> ReadPlan:
    """The plan of a reference: the domain's operators are asked only where nothing is read without them."""
    is_bare = operators and not read.found and isinstance(text, str)
    return read_plan(text, operators=operators) if is_bare else read


def _nothing_to_do(task: Task | NotExecuted) -> bool:
    """True where the goal holds in the initial state, and an empty text is the plan of a planner that saw it."""
    return isinstance(task, Task) and task.domain is not None and executed_plan((), None, task).reaches_goal


def operators_of(task: Task | NotExecuted | None) -> Operators | None:
    """The operators that a plan may name; None where none are known."""
    if not isinstance(task, Task) or task.domain is None:
        return None
    operators = task.domain.domain.operators
    return {operator.name: [name.lstrip("?") for name in operator.action[1:]] for operator in operators}


def embed_plans(plans: Iterable[ReadPlan], options: ScoringOptions) -> None:
    """Embed what the plans say in one go, ahead of the pairs that need it."""
    if options.similarity.startswith(EMBEDDING):
        steps = (step for plan in plans for step in plan.steps)
        embed(options.similarity, (text for step in steps for text in plan_score.texts_of(step) or ()))


DETAIL = Metric(
    (Column("plan_detail", str, "what of the plan could not be read or executed, if anything"),),
    lambda pair: (pair.detail or None,),
)

SKIPPED = Metric(
    (Column("plan_skipped", int, "lines that name an action and were not read as steps: prose that quotes actions"),),
    lambda pair: (pair.skipped,),
)

PLAN = Pair(
    "plan",
    _read,
    (
        *(actions.SHARED, plan_score.METRIC, actions.LENGTHS, actions.DISTANCE, validity.VALIDITY, execution.METRIC),
        # New ones go behind the detail, so that the order of columns stays; what adds a note to it comes before.
        *(
            validity.OPTIMALITY,
            DETAIL,
            validity.VERDICT,
            validity.SHARES,
            validity.COSTS,
            SKIPPED,
            validity.CONSTRAINTS,
        ),
    ),
    "reference_plan_length",
    "plan_verdict",
    lambda rows, options: embed_plans(
        (read_plan(row.get(side)) for row in rows for side in ("reference_plan", "generated_plan")), options
    ),
    reads=(("reference_plan", lambda text: read_plan(text).found), ("reference_problem", reads_problem)),
    needs_one=True,
)
