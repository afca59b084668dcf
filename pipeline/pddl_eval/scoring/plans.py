"""The public function on plans: texts, sequences of steps or columns of them in, scores out."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence, Set
from typing import Any

from pddl_eval.definition.metrics import PLAN, PlanPair, embed_plans, executable, operators_of
from pddl_eval.definition.model import Action, Domain, Problem
from pddl_eval.definition.options import ScoringOptions
from pddl_eval.definition.plans import (
    EMPTY,
    Plan,
    PlanError,
    ReadPlan,
    Step,
    in_order,
    read_plan,
    steps_of_value,
    without_finish,
)
from pddl_eval.definition.task import executed_in
from pddl_eval.scoring.pairing import Scores, Values, as_column, pair_up
from pddl_eval.shown import quote

DEFAULTS = ScoringOptions()


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


def compare_plans(  # noqa: PLR0913 (the contract's keywords)
    reference: str | Values[Any],
    generated: str | Values[Any] | None,
    *,
    domain: str | Domain | None = None,
    problem: str | Problem | None = None,
    similarity: str = DEFAULTS.similarity,
    beta: float = DEFAULTS.beta,
    threshold: float = DEFAULTS.threshold,
    answer: str = DEFAULTS.answer,
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
    task = executable(executed_in(problem, domain)) if problem is not None else None
    pairs, are_columns = pair_up(reference, generated, "plans", _is_plan)
    references = {id(value): value for value, _ in pairs}
    read = {key: plan_of(value) for key, value in references.items()}  # one that serves several is read once
    operators = operators_of(task)
    plans = [(read[id(value)], plan_of(other, answer, operators)) for value, other in pairs]
    for number, (plan, _) in enumerate(plans):
        if not plan.found and plan.reason != EMPTY:
            where = f" in row {number}" * are_columns
            raise PlanError(f"the reference plan{where} is missing: {plan.reason}")
    embed_plans((plan for pair in plans for plan in pair), options)
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
    return ReadPlan(without_finish(plan_of_steps(steps)))


def plan_of_steps(steps: Iterable[Any]) -> Plan:
    """The plan of a Python sequence: each step an action string, a sequence ``("stack", "a", "b")``, a T-Eval
    mapping, or a set of such for concurrent actions, which is what ``{…}`` is in a text.

    A string that is not in the notation of an action is the name of an action without arguments. Raises ``PlanError``
    for a step of another type.

    >>> plan_of_steps([("pick", "A"), {"noop", "drop(A)"}]) == (
    ...     ("pick", "a"), frozenset({("noop",), ("drop", "a")}))
    True
    """
    said = [(s, frozenset(map(_action_of_value, s)) if isinstance(s, Set) else _step_of_value(s)) for s in steps]
    return tuple(in_order(said))


def _step_of_value(value: Any) -> Step:
    steps: Sequence[Step] = steps_of_value(value)
    if not steps and isinstance(value, str) and re.search(r"[^\W\d_]", value) and not re.search(r"[(){},]", value):
        return (" ".join(value.lower().split()),)
    if len(steps) != 1:
        raise PlanError(f"a step of the plan is not an action: {quote(str(value))}")
    return steps[0]


def _action_of_value(value: Any) -> Action:
    step = _step_of_value(value)
    if isinstance(step, frozenset):
        raise PlanError(f"a set of actions holds another one: {quote(str(value))}")
    return step
