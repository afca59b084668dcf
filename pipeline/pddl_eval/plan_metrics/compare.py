"""All that is said of a pair of plans: the sequence metrics, and what happens when the plans are carried out.

``compare_plans`` takes what a user has (texts, sequences, columns); ``score_plans`` takes values and is what scoring a
dataset calls for each row. Each metric is in a file of its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass
from typing import Any, overload

from pddl_eval.errors import UserError
from pddl_eval.model import Domain, Problem, show_atom
from pddl_eval.pairing import as_column, pair_up
from pddl_eval.parsing import PlanError, ReadPlan, plan_of_steps, read_plan
from pddl_eval.plan_metrics.distances import causal_distance, state_distance
from pddl_eval.plan_metrics.jaccard import action_distance, plan_jaccard
from pddl_eval.plan_metrics.lcs import plan_lcs
from pddl_eval.plan_metrics.plan_score import BETA, THRESHOLD, plan_score, texts_of
from pddl_eval.plan_metrics.similarity import prepare
from pddl_eval.plan_metrics.simulate import Execution, Task, execute, task_of

MAX_DETAIL = 500
"""Characters of ``detail``."""

_HINT = "; a list of texts is a column of plans, the steps of one plan are a text or a list of tuples"


@dataclass(frozen=True, slots=True)
class PlanScores:
    """The scores of one generated plan, under the names of their columns.

    All scores are from 0 to 1, lengths are steps. ``plan_valid``: every step can be carried out and the goal holds at
    the end (as VAL says it). ``goal_reached``: the goal holds where the execution ended, after the last step or before
    the first that failed. ``first_failed_step`` counts from 1, None where none failed. These three and the last two
    distances are None where domain or problem is not known; the distances also where one of the plans cannot be
    carried out, for then it has no states and causal links to compare. ``detail`` says what went wrong, if anything.

    >>> scores = compare_plans("(pick a), (drop a)", "(drop a), (pick a)")
    >>> scores.plan_lcs, scores.plan_jaccard, scores.plan_valid
    (0.5, 1.0, None)
    """

    plan_lcs: float
    plan_jaccard: float
    plan_score: float | None
    plan_precision: float | None
    plan_recall: float | None
    plan_length: int
    reference_plan_length: int
    action_distance: float
    plan_valid: bool | None = None
    goal_reached: bool | None = None
    first_failed_step: int | None = None
    state_distance: float | None = None
    causal_distance: float | None = None
    detail: str = ""


@overload
def compare_plans(
    reference: str,
    generated: str | None,
    *,
    domain: str | Domain | None = None,
    problem: str | Problem | None = None,
    similarity: str = "exact",
    beta: float = BETA,
    threshold: float = THRESHOLD,
) -> PlanScores: ...


@overload
def compare_plans(
    reference: Any,
    generated: Any,
    *,
    domain: str | Domain | None = None,
    problem: str | Problem | None = None,
    similarity: str = "exact",
    beta: float = BETA,
    threshold: float = THRESHOLD,
) -> PlanScores | list[PlanScores]: ...


def compare_plans(
    reference: Any,
    generated: Any,
    *,
    domain: str | Domain | None = None,
    problem: str | Problem | None = None,
    similarity: str = "exact",
    beta: float = BETA,
    threshold: float = THRESHOLD,
) -> PlanScores | list[PlanScores]:
    """How close is a generated plan to a reference plan, and does it work?

    A plan is a text (any notation of ``parsing.plans``, a raw model answer too) or a sequence of steps: tuples or
    lists ``("stack", "a", "b")``, T-Eval mappings, sets for concurrent actions, and strings among these. A list or
    tuple of texts only, or of whole plans, is a column, as a polars or pandas series or a numpy array always is: then a
    list of scores comes back. A single reference serves a whole column. ``[]`` is the empty plan, beside a column an
    empty column. A generated plan that is None or unreadable scores 0; an empty text is the empty plan.

    ``domain`` (a known domain's name, a PDDL text or a ``Domain``; default: the one that the problem names) and
    ``problem`` (a PDDL text or a ``Problem``) are what the plans are carried out in. ``similarity``, ``beta`` and
    ``threshold`` belong to T-Eval's plan score, see ``plan_score``.

    Raises ``PlanError`` where a reference is missing or unreadable, ``ValueError`` where columns differ in length or a
    setting is wrong, ``ParseError`` and ``DomainError`` where problem or domain cannot be read.
    Sources: GAICo's and T-Eval's pages on planning metrics; Nguyen et al. 2012 for the distances.

    >>> compare_plans("pickup(A), stack(A,B), pickup(C)", "1. (pickup a)\\n2. (stack a b)").plan_lcs
    0.6666666666666666
    >>> [scores.plan_jaccard for scores in compare_plans([("noop",)], ["noop", "noop, wave"])]
    [1.0, 0.5]
    """
    task = resolve_task(domain, problem)
    references, column = as_column(reference, _is_plan), as_column(generated, _is_plan)
    if references is None and column is not None and _is_empty(reference):
        references = []
    if column is None and references is not None and _is_empty(generated):
        column = []
    if column is None and references is not None:
        raise UserError("a column of reference plans needs a column of generated plans")
    pairs = [(reference, generated)] if column is None else pair_up(reference, references, column, "plans", _HINT)
    read = _read_pairs(pairs, in_column=references is not None)
    prepare(similarity, _texts(read))
    scores = [score_plans(*pair, task, similarity=similarity, beta=beta, threshold=threshold) for pair in read]
    return scores if column is not None else scores[0]


def score_plans(
    reference: ReadPlan,
    generated: ReadPlan,
    task: Task | str | None = None,
    *,
    similarity: str = "exact",
    beta: float = BETA,
    threshold: float = THRESHOLD,
) -> PlanScores:
    """Score plans that were read. ``task`` is what ``resolve_task`` returned.

    Raises ``PlanError`` where there is no reference plan, ``ValueError`` where a setting is wrong.

    >>> score_plans(read_plan("noop, wave"), read_plan("I give up")).detail
    "no action was found: line 1, column 1: 'I give up'"
    """
    if not reference.found:
        raise PlanError(f"the reference plan is missing: {reference.reason}")
    said = [generated.reason, f"reference plan: {reference.reason}" if reference.steps and reference.reason else ""]
    if isinstance(task, str):
        said.append(f"not carried out: {task}")
        task = None
    expected, plan = reference.steps, generated.steps
    if not generated.found:
        valid = None if task is None else False
        return PlanScores(0.0, 0.0, 0.0, 0.0, 0.0, 0, len(expected), 1.0, valid, valid, detail=_joined(said))
    score = plan_score(expected, plan, similarity=similarity, beta=beta, threshold=threshold)
    said.append(score.note)
    outcome: dict[str, Any] = {}
    if task is not None:
        execution, expected_execution = execute(plan, task), execute(expected, task)
        said += [
            _ending(execution, "step", "the goal is not reached"),
            _ending(expected_execution, "the reference plan's step", "the reference plan does not reach the goal"),
        ]
        outcome = _outcome(execution, expected_execution, task)
    return PlanScores(
        plan_lcs(expected, plan),
        plan_jaccard(expected, plan),
        score.score,
        score.precision,
        score.recall,
        len(plan),
        len(expected),
        action_distance(expected, plan),
        **outcome,
        detail=_joined(said),
    )


def resolve_task(domain: str | Domain | None, problem: str | Problem | None) -> Task | str | None:
    """What plans are carried out in: None without a problem, a sentence where nothing (or too much) is known of its
    domain.

    Raises ``ParseError`` and ``DomainError`` where a text cannot be read.

    >>> resolve_task(None, Problem("p", "chess", {}, frozenset(), frozenset()))
    'nothing is known of a domain named chess'
    """
    from pddl_eval.domains import planning_domain
    from pddl_eval.parsing import parse_problem

    if problem is None:
        return None
    if isinstance(domain, str):
        known = planning_domain(domain)
        if known is None:
            return f"nothing is known of a domain named {domain}"
        domain = known.domain
    if isinstance(problem, str):
        problem = parse_problem(problem, domain.constants if domain else ())
    if domain is None:
        known = planning_domain(problem.domain)
        if known is None:
            return f"nothing is known of a domain named {problem.domain}"
        domain = known.domain
    return task_of(domain, problem)


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
            last, reference = value, _read(value)
            if not reference.found:
                where = f" in row {number} of the column" if in_column else ""
                raise PlanError(f"the reference plan is missing{where}: {reference.reason}")
        read.append((reference, _read(generated)))
    return read


def _read(value: Any) -> ReadPlan:
    if value is None or isinstance(value, str):
        return read_plan(value)
    steps = as_column(value)
    if steps is None:
        raise TypeError(f"a plan is a text or a sequence of steps, not {type(value).__name__}")
    return ReadPlan(plan_of_steps(steps))


def _texts(pairs: Iterable[tuple[ReadPlan, ReadPlan]]) -> Iterable[str]:
    return (text for pair in pairs for plan in pair for text in texts_of(plan.steps))


def _outcome(execution: Execution, expected: Execution, task: Task) -> dict[str, Any]:
    """The columns that need a task."""
    outcome: dict[str, Any] = {
        "plan_valid": execution.failed_step is None and not execution.lacking,
        "goal_reached": not execution.lacking,
        "first_failed_step": execution.failed_step,
    }
    if execution.failed_step is None and expected.failed_step is None:
        outcome["state_distance"] = state_distance(task.problem.init, expected.effects, execution.effects)
        outcome["causal_distance"] = causal_distance(expected.causal_links, execution.causal_links)
    return outcome


def _ending(execution: Execution, step: str, goal: str) -> str:
    """What to say of an execution that failed or did not reach the goal."""
    if execution.failed_step is not None:
        return f"{step} {execution.failed_step} fails: {execution.reason}"
    if execution.lacking:
        lacking = sorted(execution.lacking)
        more = f" and {len(lacking) - 1} more" if len(lacking) > 1 else ""
        return f"{goal}: {show_atom(lacking[0])}{more}"
    return ""


def _joined(sentences: Iterable[str]) -> str:
    """One line that every file can hold: names come from JSON and may be endless, many lines, or no Unicode."""
    text = " ".join("; ".join(sentence for sentence in sentences if sentence).split())
    return text[:MAX_DETAIL].encode("utf-8", "backslashreplace").decode()
