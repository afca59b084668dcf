"""T-Eval's plan score: how much of the gold plan is in the predicted plan, in order, with alike actions counting too.

S = β σ(tool) + (1 − β) σ(args) for each pair of actions; pairs whose S is strictly above the threshold may be matched;
a maximum-weight matching; l, its longest increasing subsequence; precision l / n_pred, recall l / n_gt, and their F1.
Among matchings of equal weight the one with the longest increasing subsequence counts (``matching``).

T-Eval knows no concurrent steps: here one is matched whole, with an equal one only. S is compared in millionths, so
that equal similarities are ties and not rounding noise.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pddl_eval.errors import UserError
from pddl_eval.metrics.lcs import common_subsequence
from pddl_eval.metrics.matching import longest_ordered_matching
from pddl_eval.metrics.registry import Column, Metric
from pddl_eval.metrics.similarity import Similarity, similarity_named
from pddl_eval.model import Action
from pddl_eval.parsing import Plan, Step

if TYPE_CHECKING:
    from pddl_eval.metrics.plans import PlanPair

BETA = 0.75
THRESHOLD = 0.8

MAX_PAIRS = 250_000
"""Pairs of steps that are compared; of longer plans the score is not computed, but under ``exact``."""

_ONE = 1_000_000
_FINISH: Step = frozenset({("finishaction",)})


@dataclass(frozen=True, slots=True)
class PlanScore:
    """T-Eval's F1 score, precision and recall, from 0 to 1; None where not computed. ``note`` says what a limit did."""

    score: float | None
    precision: float | None
    recall: float | None
    note: str = ""


def plan_score(
    reference: Plan, generated: Plan, *, similarity: str = "exact", beta: float = BETA, threshold: float = THRESHOLD
) -> PlanScore:
    """Score a predicted plan against the gold plan; 0 where either is empty, a trailing FinishAction not counted.

    ``similarity`` as ``similarity.similarity_named`` has it; ``beta`` is the weight of the tool's name, ``threshold``
    what S must exceed, both from 0 to 1. Raises ``ValueError`` where they are not.
    Source: T-Eval (Chen et al., 2023), planning, and its page "Planning Metrics", section 2.

    >>> from pddl_eval.parsing import read_plan
    >>> plan_score(read_plan("pick(a), move(x, y), drop(a)").steps, read_plan("move(x, y), drop(a)").steps)
    PlanScore(score=0.8, precision=1.0, recall=0.6666666666666666, note='')
    """
    if not (0 <= beta <= 1 and 0 <= threshold <= 1):
        raise UserError(f"beta and threshold must be from 0 to 1, but are {beta} and {threshold}")
    compare = similarity_named(similarity)
    reference, generated = _without_finish(reference), _without_finish(generated)
    if not reference or not generated:
        return PlanScore(0.0, 0.0, 0.0)
    note = ""
    if similarity == "exact" and max(beta, 1 - beta) <= threshold < 1:
        # Only equal steps may be matched, all at weight 1. Every common subsequence extends to a matching that pairs
        # as many of each kind of step as there can be, which is what maximum weight means: so l is the LCS.
        in_order = common_subsequence(reference, generated)
    elif len(reference) * len(generated) > MAX_PAIRS:
        note = f"no plan score: more than {MAX_PAIRS:,} pairs of steps to compare"
        return PlanScore(None, None, None, note)
    else:
        found = longest_ordered_matching(_weights(generated, reference, compare, beta, threshold))
        in_order = found.length
        if found.at_most > in_order:
            note = f"plan score: the longest ordered matching found has {in_order} steps, it may be {found.at_most}"
    precision, recall = in_order / len(generated), in_order / len(reference)
    return PlanScore(2 * precision * recall / (precision + recall) if in_order else 0.0, precision, recall, note)


def texts_of(plan: Plan) -> set[str]:
    """The texts that σ compares: names and argument lists of the single actions."""
    return {text_of(action) for step in plan if (action := _single(step)) for text_of in (_tool, _arguments)}


def _without_finish(plan: Plan) -> Plan:
    return plan[:-1] if plan[-1:] == (_FINISH,) else plan


def _single(step: Step) -> Action | None:
    return next(iter(step)) if len(step) == 1 else None


def _tool(action: Action) -> str:
    return action[0]


def _arguments(action: Action) -> str:
    return ", ".join(action[1:])


def _weights(rows: Plan, columns: Plan, compare: Similarity, beta: float, threshold: float) -> list[list[int]]:
    """S of each pair of steps in millionths, 0 where it does not exceed the threshold."""
    alike_tools = _similarities(compare, _tool, rows, columns)
    alike_arguments = _similarities(compare, _arguments, rows, columns)
    bar = round(threshold * _ONE)

    def weight(step: Step, other_step: Step) -> int:
        action, other = _single(step), _single(other_step)
        if action is None or other is None:
            weight = _ONE if step == other_step else 0
        else:
            tools = alike_tools[_tool(action), _tool(other)]
            arguments = alike_arguments[_arguments(action), _arguments(other)]
            weight = round((beta * tools + (1 - beta) * arguments) * _ONE)
        return weight if weight > bar else 0

    return [[weight(step, other) for other in columns] for step in rows]


def _similarities(
    compare: Similarity, text_of: Callable[[Action], str], rows: Plan, columns: Plan
) -> dict[tuple[str, str], float]:
    """σ of each text of one plan with each of the other, each pair compared once."""
    first, second = (
        list(dict.fromkeys(text_of(action) for step in plan if (action := _single(step)))) for plan in (rows, columns)
    )
    table = compare(first, second)
    return {(a, b): value for a, row in zip(first, table, strict=True) for b, value in zip(second, row, strict=True)}


def _score(pair: PlanPair) -> tuple[float | None, float | None, float | None]:
    if not pair.found:
        return 0.0, 0.0, 0.0
    options = pair.options
    score = plan_score(
        pair.reference,
        pair.generated,
        similarity=options.similarity,
        beta=options.beta,
        threshold=options.threshold,
    )
    pair.notes.append(score.note)
    return score.score, score.precision, score.recall


METRIC = Metric(
    (
        Column("plan_score", float, "T-Eval's plan score, the F1 of the next two; settings sim, beta, threshold", True),
        Column("plan_precision", float, "ordered matches over the generated plan's length"),
        Column("plan_recall", float, "ordered matches over the reference plan's length"),
    ),
    _score,
)
