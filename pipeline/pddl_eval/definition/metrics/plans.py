"""The metrics of plans, each in a file of its own, and how a row's plans are read.

``compare_plans`` takes what a user has: texts, sequences, columns.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from functools import lru_cache
from typing import Any

from pddl_eval.definition.budget import OutOfBudgetError
from pddl_eval.definition.metrics import actions, cost, execution, optimal, plan_score, plan_verdict, shares
from pddl_eval.definition.metrics.pairing import Values, as_column, pair_up
from pddl_eval.definition.metrics.plan_pair import NotExecuted, PlanPair, executable, executed_plan
from pddl_eval.definition.metrics.problem import reads_problem
from pddl_eval.definition.metrics.registry import Column, Metric, OnlySome, Pair, Row, Scores, domain_of, given
from pddl_eval.definition.metrics.similarity import EMBEDDING, embed
from pddl_eval.definition.model import Domain, Problem
from pddl_eval.definition.options import ScoringOptions
from pddl_eval.definition.pddl import DomainError
from pddl_eval.definition.plans import EMPTY, PlanError, ReadPlan, plan_of_steps, read_plan
from pddl_eval.definition.task import Task, plan_task_of, read_plan_task
from pddl_eval.definition.verdict import PlanVerdict

REFERENCES_KEPT = 256
"""Reference plans kept for further rows."""

_reference = lru_cache(maxsize=REFERENCES_KEPT)(read_plan)


class PlanScores(Scores):
    """The scores of one generated plan: an attribute for each column, None where nothing can be computed.

    Rates and distances are from 0 to 1, lengths are steps. ``plan_valid``: every step can be executed and the goal
    holds at the end (as in VAL). ``goal_reached``: the goal holds where the execution ended, after the last step or
    before the first that failed. ``first_failed_step`` counts from 1. ``plan_verdict`` names the first fault,
    ``executable_share`` and ``goal_share`` say how far the plan gets, ``plan_cost`` what it costs if it is valid. All
    these, ``state_distance`` and ``causal_distance`` are None if domain or problem is not known; the distances also if
    one of the plans fails. ``detail`` says what went wrong, if anything.

    >>> scores = compare_plans("(pick a), (drop a)", "(drop a), (pick a)")
    >>> scores.plan_lcs, scores.plan_jaccard, scores.plan_valid
    (0.5, 1.0, None)
    """

    def __init__(self, pair: PlanPair) -> None:
        super().__init__(PLAN, pair)


def _read(row: Row, options: ScoringOptions) -> PlanPair | OnlySome:
    problem = row.get("reference_problem")
    task: Task | NotExecuted | None = None
    if given(problem):
        try:
            task = executable(read_plan_task(problem, domain_of(row, options)))
        except DomainError as error:
            task = NotExecuted(f"the domain cannot be read: {error}")
    try:
        generated = read_plan(row["generated_plan"], options.answer, operators_of(task))
    except OutOfBudgetError as end:
        verdict = None if task is None else PlanVerdict.UNDECIDED.value
        return OnlySome(plan_detail=str(end), plan_verdict=verdict)
    reference = _reference(row.get("reference_plan"))
    no_plan = task is not None and reference.reason == EMPTY and not _nothing_to_do(task)
    return PlanPair(None if no_plan else reference, generated, task, options)


def _nothing_to_do(task: Task | NotExecuted) -> bool:
    """True where the goal holds in the initial state, and an empty text is the plan of a planner that saw it."""
    return isinstance(task, Task) and task.domain is not None and executed_plan((), None, task).reaches_goal


def operators_of(task: Task | NotExecuted | None) -> dict[str, int] | None:
    """The names of the operators that a plan may name, and how many arguments they take; None where none are known."""
    if not isinstance(task, Task) or task.domain is None:
        return None
    return {operator.name: len(operator.parameters) for operator in task.domain.domain.operators}


def _prepare(plans: Iterable[ReadPlan], options: ScoringOptions) -> None:
    """Embed what the plans say in one go, ahead of the pairs that need it."""
    if options.similarity.startswith(EMBEDDING):
        steps = (step for plan in plans for step in plan.steps)
        embed(options.similarity, (text for step in steps for text in plan_score.texts_of(step) or ()))


DETAIL = Metric(
    (Column("plan_detail", str, "what of the plan could not be read or executed, if anything"),),
    lambda pair: (pair.detail or None,),
)

PLAN = Pair(
    "plan",
    _read,
    (
        *(actions.SHARED, plan_score.METRIC, actions.LENGTHS, actions.DISTANCE, execution.METRIC),
        # New ones go behind the detail, so that the order of columns stays; what adds a note to it comes before.
        *(optimal.METRIC, DETAIL, plan_verdict.METRIC, shares.METRIC, cost.METRIC),
    ),
    "reference_plan_length",
    "plan_verdict",
    lambda rows, options: _prepare(
        (read_plan(row.get(side)) for row in rows for side in ("reference_plan", "generated_plan")), options
    ),
    reads=(("reference_plan", lambda text: read_plan(text).found), ("reference_problem", reads_problem)),
    needs_one=True,
)


def compare_plans(  # noqa: PLR0913 (the contract's keywords)
    reference: str | Values[Any],
    generated: str | Values[Any] | None,
    *,
    domain: str | Domain | None = None,
    problem: str | Problem | None = None,
    similarity: str = plan_score.DEFAULTS.similarity,
    beta: float = plan_score.DEFAULTS.beta,
    threshold: float = plan_score.DEFAULTS.threshold,
    answer: str = plan_score.DEFAULTS.answer,
) -> PlanScores | list[PlanScores]:
    """Compare a generated plan with a reference plan, and execute both if ``problem`` is given.

    * ``reference``, ``generated``: a text (any notation of ``definition.plans``, also a raw model answer) or a sequence
      of steps: tuples or lists ``("stack", "a", "b")``, T-Eval mappings, sets for concurrent actions, and strings among
      these; ``[]`` is the empty plan. Or a column: a list or tuple of texts only, or of whole plans, a polars or pandas
      series, a numpy array. A single reference serves a whole column.
    * ``problem``: what both plans are executed in (a PDDL text or a ``Problem``).
    * ``domain``: a known domain's name, a PDDL text or a ``Domain``; default: the domain that the problem names.
    * ``similarity``, ``beta``, ``threshold``: the settings of T-Eval's plan score, see ``plan_score``.
    * ``answer``: which of several drafts in a model's answer counts, ``first`` or ``last``.

    The result is one ``PlanScores``, for columns a list of them. A generated text that is empty, None or unreadable
    scores 0.

    Raises ``PlanError`` if a reference is missing or unreadable, ``UserError`` if columns differ in length or a setting
    is wrong, ``ParseError`` or ``DomainError`` if problem or domain cannot be read or no domain has the name,
    ``TypeError`` for what is neither a plan nor a column.
    Sources: GAICo's and T-Eval's pages on planning metrics; Nguyen et al. 2012 for the distances.

    >>> compare_plans("pickup(A), stack(A,B), pickup(C)", "1. (pickup a)\\n2. (stack a b)").plan_lcs
    0.6666666666666666
    >>> [scores.plan_jaccard for scores in compare_plans([("noop",)], ["noop", "noop, wave"])]
    [1.0, 0.5]
    """
    options = ScoringOptions(similarity=similarity, beta=beta, threshold=threshold, answer=answer)
    task = executable(plan_task_of(problem, domain)) if problem is not None else None
    pairs, are_columns = pair_up(reference, generated, "plans", _is_plan)
    references = {id(value): value for value, _ in pairs}
    read = {key: plan_of(value) for key, value in references.items()}  # one that serves several is read once
    operators = operators_of(task)
    plans = [(read[id(value)], plan_of(other, answer, operators)) for value, other in pairs]
    for number, (plan, _) in enumerate(plans):
        if not plan.found and plan.reason != EMPTY:
            where = f" in row {number}" * are_columns
            raise PlanError(f"the reference plan{where} is missing: {plan.reason}")
    _prepare((plan for pair in plans for plan in pair), options)
    scores = [PlanScores(PlanPair(*pair, task, options)) for pair in plans]
    return scores if are_columns else scores[0]


def _is_plan(sequence: Any) -> bool:
    """True for the steps of one plan, False for a column of plans."""
    if any(isinstance(item, (Set, Mapping)) for item in sequence):
        return True
    others = [item for item in sequence if not isinstance(item, str)]
    return all(map(_is_action, others)) and (bool(others) or not sequence)


def _is_action(value: Any) -> bool:
    """True for ``("stack", "a", "b")``, but not for ``["pick(a)", "drop(a)"]``, which is a plan."""
    if not isinstance(value, (list, tuple)) or not value:
        return False
    return all(isinstance(part, str) for part in value) and "(" not in value[0]


def plan_of(value: Any, answer: str = "first", operators: dict[str, int] | None = None) -> ReadPlan:
    """The plan that a text holds, or that a sequence of steps is.

    >>> plan_of([("pick", "a")]).steps
    (('pick', 'a'),)
    """
    if value is None or isinstance(value, str):
        return read_plan(value, answer, operators)
    steps = as_column(value)
    if steps is None:
        raise TypeError(f"a plan is a text or a sequence of steps, not {type(value).__name__}")
    return ReadPlan(plan_of_steps(steps))
