"""T-Eval's plan score: how much of the gold plan is in the predicted plan, in order, with alike actions counting too.

S = β σ(tool) + (1 − β) σ(args) for each pair of actions; pairs whose S is strictly above the threshold may be matched;
a maximum-weight matching; l, its longest increasing subsequence; precision l / n_pred, recall l / n_gt, and their F1.
Among matchings of equal weight the one with the longest increasing subsequence counts (``matching``).

T-Eval knows no concurrent steps: here one is matched whole, with an equal one only. S is compared in millionths, so
that equal similarities are ties and not rounding noise.
"""

from __future__ import annotations

from typing import NamedTuple

from pddl_eval.definition.metrics.actions import common_subsequence
from pddl_eval.definition.metrics.matching import longest_ordered_matching
from pddl_eval.definition.metrics.plan_pair import PlanPair
from pddl_eval.definition.metrics.registry import Column, Metric
from pddl_eval.definition.metrics.similarity import similarities
from pddl_eval.definition.options import ScoringOptions
from pddl_eval.definition.plans import Plan, Step

DEFAULTS = ScoringOptions()

MAX_PAIRS = 250_000
"""Pairs of steps that are compared. For longer plans the score is not computed, except with ``exact``."""

_ONE = 1_000_000


class PlanScore(NamedTuple):
    """T-Eval's F1 score, precision and recall, from 0 to 1; None where not computed. ``note`` says what a limit did."""

    score: float | None
    precision: float | None
    recall: float | None
    note: str = ""


def plan_score(reference: Plan, generated: Plan, options: ScoringOptions = DEFAULTS) -> PlanScore:
    """Score a predicted plan against the gold plan; 0 where either is empty.

    A trailing FinishAction is no step (``definition.plans``).

    Of the options, ``similarity`` is σ, ``beta`` the weight of the tool's name, ``threshold`` what S must exceed.
    Source: T-Eval (Chen et al., 2023), planning, and its page "Planning Metrics", section 2.

    >>> from pddl_eval.definition.plans import read_plan
    >>> plan_score(read_plan("pick(a), move(x, y), drop(a)").steps, read_plan("move(x, y), drop(a)").steps)
    PlanScore(score=0.8, precision=1.0, recall=0.6666666666666666, note='')
    """
    if not reference or not generated:
        return PlanScore(0.0, 0.0, 0.0)
    note = ""
    if only_equal(options):
        # Only equal steps may be matched, all at weight 1. Every common subsequence extends to a matching that pairs
        # as many of each kind of step as there can be, which is what maximum weight means: so l is the LCS.
        in_order = common_subsequence(reference, generated)
    elif len(reference) * len(generated) > MAX_PAIRS:
        return PlanScore(None, None, None, f"no plan score: more than {MAX_PAIRS:,} pairs of steps to compare")
    else:
        found = longest_ordered_matching(_weights(generated, reference, options))
        in_order = found.length
        if found.at_most > in_order:
            note = f"plan score: the longest ordered matching found has {in_order} steps, it may be {found.at_most}"
    precision, recall = in_order / len(generated), in_order / len(reference)
    return PlanScore(2 * precision * recall / (precision + recall) if in_order else 0.0, precision, recall, note)


def only_equal(options: ScoringOptions) -> bool:
    """True where only equal steps may be matched: no S of others exceeds the threshold.

    >>> only_equal(DEFAULTS)
    True
    """
    return options.similarity == "exact" and max(options.beta, 1 - options.beta) <= options.threshold < 1


def texts_of(step: Step) -> tuple[str, str] | None:
    """What σ compares of an action: its name and its arguments as one text. None for what stands in braces."""
    if isinstance(step, frozenset):
        return None
    name, *arguments = step
    return name, ", ".join(arguments)


def _weights(rows: Plan, columns: Plan, options: ScoringOptions) -> list[list[int]]:
    """S of each pair of steps in millionths, 0 where it does not exceed the threshold."""
    row_texts, column_texts = ([texts_of(step) for step in plan] for plan in (rows, columns))
    alike: list[dict[tuple[str, str], float]] = []
    for part in (0, 1):  # each text of one plan with each of the other, each pair compared once
        first, second = (list(dict.fromkeys(each[part] for each in side if each)) for side in (row_texts, column_texts))
        table = similarities(options.similarity, first, second)
        alike.append({(a, b): table[i][j] for i, a in enumerate(first) for j, b in enumerate(second)})
    names, arguments = alike
    bar = round(options.threshold * _ONE)

    def weight(i: int, j: int) -> int:
        one, other = row_texts[i], column_texts[j]
        if one is None or other is None:
            weight = _ONE if rows[i] == columns[j] else 0
        else:
            by_name, by_arguments = names[one[0], other[0]], arguments[one[1], other[1]]
            weight = round((options.beta * by_name + (1 - options.beta) * by_arguments) * _ONE)
        return weight if weight > bar else 0

    return [[weight(i, j) for j in range(len(columns))] for i in range(len(rows))]


def _score(pair: PlanPair) -> tuple[float | None, ...]:
    if not pair.found:
        return 0.0, 0.0, 0.0
    assert pair.reference is not None  # a metric that compares
    *scores, note = plan_score(pair.reference, pair.generated, pair.options)
    pair.notes.append(note)
    return tuple(scores)


METRIC = Metric(
    (
        Column(
            "plan_score",
            float,
            "T-Eval's plan score, the F1 of the next two; settings sim, beta, threshold",
            has_mean=True,
        ),
        Column("plan_precision", float, "ordered matches over the generated plan's length"),
        Column("plan_recall", float, "ordered matches over the reference plan's length"),
    ),
    _score,
    compares=True,
)
