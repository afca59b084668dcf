"""PlanningJaccard as GAICo's page documents it, the action distance, and both against plain sets."""

from __future__ import annotations

from random import Random

import pytest
from pddl_eval.metrics.jaccard import action_distance, plan_jaccard
from pddl_eval.parsing import read_plan

from tests.metrics.random_plans import random_plan


@pytest.mark.parametrize(
    ("generated", "reference", "score"),
    [
        ("pickup(A), stack(A,B), pickup(C)", "pickup(C), pickup(A), stack(A,B)", 1.0),  # GAICo's page
        ("pickup(A), {stack(A,B), noop}", "pickup(A), stack(A,B), drop(B)", 0.5),  # GAICo's page
        ("a, a, a", "a", 1.0),  # frequency does not count
        ("{a, b}", "b, a", 1.0),  # concurrent steps are flattened
        ("a", "b", 0.0),
        ("", "a", 0.0),
        ("", "", 1.0),
    ],
)
def test_documented_scores(generated: str, reference: str, score: float) -> None:
    plans = read_plan(reference).steps, read_plan(generated).steps
    assert plan_jaccard(*plans) == score
    assert action_distance(*plans) == 1.0 - score


def test_plain_sets_on_random_plans() -> None:
    rng = Random(6)
    for _ in range(3_000):
        first, second = random_plan(rng, 8), random_plan(rng, 8)
        ours, theirs = ({action for step in plan for action in step} for plan in (first, second))
        union = ours | theirs
        assert plan_jaccard(first, second) == (len(ours & theirs) / len(union) if union else 1.0)
        assert action_distance(first, second) == pytest.approx(len(ours ^ theirs) / len(union) if union else 0.0)
