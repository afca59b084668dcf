"""One pair of plans: read both, carry them out where that is possible, and let each metric say its number.

``compare_plans`` takes what a user has (texts, sequences, columns); scoring a dataset reads each row's pair. Each
metric is in a file of its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from functools import cached_property, lru_cache
from typing import Any

from pddl_eval.domains import nothing_known_of
from pddl_eval.equivalence import Task, read_task, task_of
from pddl_eval.metrics import actions, execution, plan_score
from pddl_eval.metrics.pairing import Column as Values
from pddl_eval.metrics.pairing import as_column, pair_up
from pddl_eval.metrics.registry import Column, Metric, Pair, Row, Scores, domain_of
from pddl_eval.metrics.similarity import EMBEDDING, embed
from pddl_eval.model import Domain, Problem
from pddl_eval.options import ScoringOptions
from pddl_eval.parsing import PlanError, ReadPlan, Unreadable, plan_of_steps, read_plan
from pddl_eval.shown import encodable

MAX_DETAIL = 500
"""Characters of a detail."""

REFERENCES_KEPT = 256
"""Reference plans kept for further rows."""

_reference = lru_cache(maxsize=REFERENCES_KEPT)(read_plan)


class PlanPair:
    """A generated plan and its reference: what the metrics of plans take.

    ``task`` is what the plans are carried out in, None, or a sentence why they cannot be. ``found`` is False where the
    answer holds no plan. ``notes`` is what is said of the pair; metrics add to it. Raises ``PlanError`` where there is
    no reference plan.
    """

    def __init__(
        self,
        reference: ReadPlan,
        generated: ReadPlan,
        task: Task | str | None,
        options: ScoringOptions,
    ) -> None:
        if not reference.found:
            raise PlanError(f"the reference plan is missing: {reference.reason}")
        self.reference = reference.steps
        self.generated = generated.steps
        self.found = generated.found
        self.options = options
        self.task = None if isinstance(task, str) else task
        self.notes = [generated.reason]
        if reference.steps and reference.reason:
            self.notes.append(f"reference plan: {reference.reason}")
        if isinstance(task, str):
            self.notes.append(f"not carried out: {task}")

    @cached_property
    def in_order(self) -> int:
        """The length of the longest common subsequence."""
        return actions.common_subsequence(self.reference, self.generated)

    @cached_property
    def jaccard(self) -> float:
        """The shared actions over all actions."""
        return actions.plan_jaccard(self.reference, self.generated)

    @property
    def detail(self) -> str:
        """All notes on one line that every file can hold: names come from JSON and may be endless, or no Unicode."""
        text = " ".join("; ".join(note for note in self.notes if note).split())
        return encodable(text[:MAX_DETAIL])


class PlanScores(Scores):
    """The scores of one generated plan: an attribute for each column, None where nothing can be computed.

    Rates and distances are from 0 to 1, lengths are steps. ``plan_valid``: every step can be executed and the goal
    holds at the end (as in VAL). ``goal_reached``: the goal holds where the execution ended, after the last step or
    before the first that failed. ``first_failed_step`` counts from 1. These three, ``state_distance`` and
    ``causal_distance`` are None if domain or problem is not known; the distances also if one of the plans fails.
    ``detail`` says what went wrong, if anything.

    >>> scores = compare_plans("(pick a), (drop a)", "(drop a), (pick a)")
    >>> scores.plan_lcs, scores.plan_jaccard, scores.plan_valid
    (0.5, 1.0, None)
    """

    def __init__(self, pair: PlanPair) -> None:
        super().__init__(PLAN, pair)


def _read(row: Row, options: ScoringOptions) -> PlanPair:
    problem, task = row.get("reference_problem"), None
    if problem is not None:
        task = runnable(read_task(problem, domain_of(row, options)))
    return PlanPair(_reference(row["reference_plan"]), read_plan(row["generated_plan"]), task, options)


def runnable(task: Task | Unreadable) -> Task | str:
    """What plans are carried out in, or in words why they cannot be."""
    if isinstance(task, Unreadable):
        return f"the reference problem cannot be read: {task.detail}"
    if task.domain is None:
        return nothing_known_of(task.asked_for)
    domain = task.domain.domain
    if domain.outside_strips:
        return f"domain {domain.name} goes beyond STRIPS ({', '.join(domain.outside_strips)})"
    return task


def _prepare(plans: Iterable[ReadPlan], options: ScoringOptions) -> None:
    """Embed what the plans say in one go, ahead of the pairs that need it."""
    if options.similarity.startswith(EMBEDDING):
        steps = (step for plan in plans for step in plan.steps)
        embed(options.similarity, (text for step in steps for text in plan_score.texts_of(step) or ()))


DETAIL = Metric(
    (Column("plan_detail", str, "what of the plan could not be read or carried out, if anything"),),
    lambda pair: (pair.detail or None,),
)

PLAN = Pair(
    "plan",
    _read,
    (actions.SHARED, plan_score.METRIC, actions.LENGTHS, actions.DISTANCE, execution.METRIC, DETAIL),
    lambda rows, options: _prepare(
        (read_plan(row[side]) for row in rows for side in ("reference_plan", "generated_plan")), options
    ),
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
) -> PlanScores | list[PlanScores]:
    """Compare a generated plan with a reference plan, and execute both if ``problem`` is given.

    A plan is a text (any notation of ``parsing.plans``, also a raw model answer) or a sequence of steps: tuples or
    lists ``("stack", "a", "b")``, T-Eval mappings, sets for concurrent actions, and strings among these. ``[]`` is the
    empty plan, and so is an empty text. A generated plan that is None or unreadable scores 0.

    A list or tuple of texts only, or of whole plans, is a column; so is every polars or pandas series and numpy array.
    For a column of generated plans the result is a list of ``PlanScores``. A single reference serves a whole column.

    The plans are executed in ``problem`` (a PDDL text or a ``Problem``) and ``domain`` (a known domain's name, a PDDL
    text or a ``Domain``; default: the one that the problem names). ``similarity``, ``beta`` and ``threshold`` are the
    settings of T-Eval's plan score, see ``plan_score``.

    Raises ``PlanError`` if a reference is missing or unreadable, ``UserError`` if columns differ in length or a setting
    is wrong, ``ParseError`` or ``DomainError`` if problem or domain cannot be read or no domain has the name,
    ``TypeError`` for what is neither a plan nor a column.
    Sources: GAICo's and T-Eval's pages on planning metrics; Nguyen et al. 2012 for the distances.

    >>> compare_plans("pickup(A), stack(A,B), pickup(C)", "1. (pickup a)\\n2. (stack a b)").plan_lcs
    0.6666666666666666
    >>> [scores.plan_jaccard for scores in compare_plans([("noop",)], ["noop", "noop, wave"])]
    [1.0, 0.5]
    """
    options = ScoringOptions(similarity=similarity, beta=beta, threshold=threshold)
    task = runnable(task_of(problem, domain)) if problem is not None else None
    pairs, are_columns = pair_up(reference, generated, "plans", _is_plan)
    references = {id(value): value for value, _ in pairs}
    read = {key: _plan_of(value) for key, value in references.items()}  # one that serves several is read once
    plans = [(read[id(value)], _plan_of(other)) for value, other in pairs]
    for number, (plan, _) in enumerate(plans):
        if are_columns and not plan.found:
            raise PlanError(f"the reference plan in row {number} is missing: {plan.reason}")
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


def _plan_of(value: Any) -> ReadPlan:
    if value is None or isinstance(value, str):
        return read_plan(value)
    steps = as_column(value)
    if steps is None:
        raise TypeError(f"a plan is a text or a sequence of steps, not {type(value).__name__}")
    return ReadPlan(plan_of_steps(steps))
