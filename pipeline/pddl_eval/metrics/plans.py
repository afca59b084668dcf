"""One pair of plans: read both, carry them out where that is possible, and let each metric say its number.

``compare_plans`` takes what a user has (texts, sequences, columns); scoring a dataset reads each row's pair. Each
metric is in a file of its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from functools import cached_property, lru_cache
from typing import Any, overload

from pddl_eval.equivalence import Task, read_task, task_of
from pddl_eval.errors import UserError
from pddl_eval.metrics import distances, jaccard, lcs, length, plan_score, validity
from pddl_eval.metrics.pairing import as_column, pair_up
from pddl_eval.metrics.registry import Column, Metric, Pair, Row, Scores
from pddl_eval.metrics.similarity import prepare
from pddl_eval.model import Domain, Problem
from pddl_eval.options import ScoringOptions
from pddl_eval.parsing import Plan, PlanError, ReadPlan, Unreadable, plan_of_steps, read_plan
from pddl_eval.solve import Execution, execute

MAX_DETAIL = 500
"""Characters of a detail."""

REFERENCES_KEPT = 256
"""Reference plans kept for further rows."""

_HINT = "; a list of texts is a column of plans, the steps of one plan are a text or a list of tuples"


class PlanPair:
    """A generated plan beside its reference: what the metrics of plans take.

    ``task`` is what the plans are carried out in, None, or a sentence why they cannot be. ``found`` is False where the
    answer holds no plan. ``notes`` is what is said of the pair; metrics add to it. Raises ``PlanError`` where there is
    no reference plan.
    """

    def __init__(
        self, reference: ReadPlan, generated: ReadPlan, task: Task | str | None, options: ScoringOptions
    ) -> None:
        if not reference.found:
            raise PlanError(f"the reference plan is missing: {reference.reason}")
        self.reference: Plan = reference.steps
        self.generated: Plan = generated.steps
        self.found = generated.found
        self.options = options
        self.task = task if isinstance(task, Task) else None
        self.notes = [generated.reason]
        if reference.steps and reference.reason:
            self.notes.append(f"reference plan: {reference.reason}")
        if isinstance(task, str):
            self.notes.append(f"not carried out: {task}")

    @property
    def problem(self) -> Problem | None:
        """The problem that the plans are carried out in."""
        return self.task.problem if self.task else None

    @cached_property
    def execution(self) -> Execution | None:
        """What happens when the generated plan is carried out; None where nothing is known to carry it out in."""
        return self._execute(self.generated)

    @cached_property
    def reference_execution(self) -> Execution | None:
        """The same of the reference plan."""
        return self._execute(self.reference)

    def _execute(self, plan: Plan) -> Execution | None:
        if self.task is None or self.task.domain is None:
            return None
        return execute(plan, self.task.problem, self.task.domain.domain)

    @property
    def detail(self) -> str | None:
        """All notes on one line that every file can hold: names come from JSON and may be endless, or no Unicode."""
        text = " ".join("; ".join(note for note in self.notes if note).split())
        return text[:MAX_DETAIL].encode("utf-8", "backslashreplace").decode() or None


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
        super().__init__(PLAN, PLAN.score(pair))
        self.detail = self.plan_detail or ""


def _read(row: Row, options: ScoringOptions) -> PlanPair:
    problem, task = row.get("reference_problem"), None
    if problem is not None:
        task = _runnable(read_task(problem, row.get("domain") or options.domain))
    return PlanPair(_reference_plan(row["reference_plan"]), read_plan(row["generated_plan"]), task, options)


def _runnable(task: Task | Unreadable) -> Task | str:
    """The task, or in words why plans cannot be carried out in it."""
    if isinstance(task, Unreadable):
        return f"the reference problem cannot be read: {task.detail}"
    if task.domain is None:
        return f"nothing is known of a domain named {task.problem.domain}"
    outside = task.domain.domain.outside_strips
    return f"domain {task.domain.name} goes beyond STRIPS ({', '.join(outside)})" if outside else task


@lru_cache(maxsize=REFERENCES_KEPT)
def _reference_plan(text: str | None) -> ReadPlan:
    return read_plan(text)


def _prepare(rows: Sequence[Row], options: ScoringOptions) -> None:
    _prepare_texts([read_plan(row[side]) for row in rows for side in ("reference_plan", "generated_plan")], options)


def _prepare_texts(plans: Iterable[ReadPlan], options: ScoringOptions) -> None:
    if options.similarity not in ("exact", "lexical"):
        prepare(options.similarity, (text for plan in plans for text in plan_score.texts_of(plan.steps)))


DETAIL = Metric(
    (Column("plan_detail", str, "what of the plan could not be read or carried out, if anything"),),
    lambda pair: (pair.detail,),
)

PLAN = Pair(
    "plan",
    _read,
    (
        lcs.METRIC,
        jaccard.METRIC,
        plan_score.METRIC,
        length.METRIC,
        jaccard.DISTANCE,
        validity.METRIC,
        distances.METRIC,
        DETAIL,
    ),
    _prepare,
)


@overload
def compare_plans(
    reference: str,
    generated: str | None,
    *,
    domain: str | Domain | None = None,
    problem: str | Problem | None = None,
    similarity: str = "exact",
    beta: float = plan_score.BETA,
    threshold: float = plan_score.THRESHOLD,
) -> PlanScores: ...


@overload
def compare_plans(
    reference: Any,
    generated: Any,
    *,
    domain: str | Domain | None = None,
    problem: str | Problem | None = None,
    similarity: str = "exact",
    beta: float = plan_score.BETA,
    threshold: float = plan_score.THRESHOLD,
) -> PlanScores | list[PlanScores]: ...


def compare_plans(  # noqa: PLR0913 (the contract's keywords)
    reference: Any,
    generated: Any,
    *,
    domain: str | Domain | None = None,
    problem: str | Problem | None = None,
    similarity: str = "exact",
    beta: float = plan_score.BETA,
    threshold: float = plan_score.THRESHOLD,
) -> PlanScores | list[PlanScores]:
    """Compare a generated plan with a reference plan, and execute both if ``problem`` is given.

    A plan is a text (any notation of ``parsing.plans``, also a raw model answer) or a sequence of steps: tuples or
    lists ``("stack", "a", "b")``, T-Eval mappings, sets for concurrent actions, and strings among these. ``[]`` is the
    empty plan, and so is an empty text. A generated plan that is None or unreadable scores 0.

    A list or tuple of texts only, or of whole plans, is a column; so is every polars or pandas series and numpy array.
    For a column of generated plans the result is a list. A single reference serves a whole column.

    The plans are executed in ``problem`` (a PDDL text or a ``Problem``) and ``domain`` (a known domain's name, a PDDL
    text or a ``Domain``; default: the one that the problem names). ``similarity``, ``beta`` and ``threshold`` are the
    settings of T-Eval's plan score, see ``plan_score``.

    Raises ``PlanError`` if a reference is missing or unreadable, ``UserError`` if columns differ in length or a setting
    is wrong, ``ParseError`` or ``DomainError`` if problem or domain cannot be read.
    Sources: GAICo's and T-Eval's pages on planning metrics; Nguyen et al. 2012 for the distances.

    >>> compare_plans("pickup(A), stack(A,B), pickup(C)", "1. (pickup a)\\n2. (stack a b)").plan_lcs
    0.6666666666666666
    >>> [scores.plan_jaccard for scores in compare_plans([("noop",)], ["noop", "noop, wave"])]
    [1.0, 0.5]
    """
    options = ScoringOptions(similarity=similarity, beta=beta, threshold=threshold)
    task = _runnable(task_of(problem, domain)) if problem is not None else None
    references, column = as_column(reference, _is_plan), as_column(generated, _is_plan)
    if references is None and column is not None and _is_empty(reference):
        references = []
    if column is None and references is not None and _is_empty(generated):
        column = []
    if column is None and references is not None:
        raise UserError("a column of reference plans needs a column of generated plans")
    pairs = [(reference, generated)] if column is None else pair_up(reference, references, column, "plans", _HINT)
    read = _read_pairs(pairs, in_column=references is not None)
    _prepare_texts((plan for pair in read for plan in pair), options)
    scores = [PlanScores(PlanPair(*pair, task, options)) for pair in read]
    return scores if column is not None else scores[0]


def _is_plan(sequence: Any) -> bool:
    """True for the steps of one plan, False for a column of plans."""
    if any(isinstance(item, (Set, Mapping)) for item in sequence):
        return True
    actions = [item for item in sequence if not isinstance(item, str)]
    return all(_is_action(item) for item in actions) and (bool(actions) or not sequence)


def _is_action(value: Any) -> bool:
    """True for ``("stack", "a", "b")``, but not for ``["pick(a)", "drop(a)"]``, which is a plan."""
    if not isinstance(value, (list, tuple)) or not value:
        return False
    return all(isinstance(part, str) for part in value) and "(" not in value[0]


def _is_empty(value: Any) -> bool:
    return isinstance(value, (list, tuple)) and not value


def _read_pairs(pairs: Iterable[tuple[Any, Any]], in_column: bool) -> list[tuple[ReadPlan, ReadPlan]]:
    """Read each pair, a reference that serves several only once."""
    read: list[tuple[ReadPlan, ReadPlan]] = []
    last: Any = None
    reference = ReadPlan((), found=False)
    for number, (value, generated) in enumerate(pairs):
        if value is not last or not reference.found:
            last, reference = value, _plan_of(value)
            if not reference.found:
                where = f" in row {number} of the column" if in_column else ""
                raise PlanError(f"the reference plan is missing{where}: {reference.reason}")
        read.append((reference, _plan_of(generated)))
    return read


def _plan_of(value: Any) -> ReadPlan:
    if value is None or isinstance(value, str):
        return read_plan(value)
    steps = as_column(value)
    if steps is None:
        raise TypeError(f"a plan is a text or a sequence of steps, not {type(value).__name__}")
    return ReadPlan(plan_of_steps(steps))
