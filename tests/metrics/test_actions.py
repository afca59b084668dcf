"""PlanningLCS and PlanningJaccard as GAICo's page documents them, against the textbook's program and plain sets."""

from __future__ import annotations

from random import Random

import pytest
from pddl_eval import compare_plans
from pddl_eval.definition.metrics.actions import common_subsequence, plan_jaccard, plan_lcs
from pddl_eval.definition.plans import actions_of, read_plan

from tests.metrics.random_plans import random_plan, textbook_lcs


@pytest.mark.parametrize(
    ("generated", "reference", "score"),
    [
        ("pickup(A), stack(A,B), {noop1, noop2}, pickup(C)", "pickup(A), stack(A,B), pickup(C)", 0.75),  # GAICo's page
        (
            "take(objA), move(loc1, loc2), {action_set_1(param), action_set_2}, drop(objA)",
            "take(objA), move(loc1, loc2), drop(objA)",
            0.75,
        ),  # its input format
        ("pickup(A), stack(A,B), pickup(C)", "pickup(C), pickup(A), stack(A,B)", 2 / 3),  # order counts
        ("{a, b}", "{b, a}", 1.0),
        ("{a, b}", "a, b", 0.0),  # a concurrent step is one element
        ("{a}, b", "a, b", 0.5),  # braces around one action are another thing than the action
        ("a, {}", "a", 0.5),  # and a step of none is a step
        ("a", "{}", 0.0),
        ("{}", "{}", 1.0),
        (",", ",", 1.0),
        ("a", ",", 0.0),
        ("a, a, a", "a", 1 / 3),
        ("a", "b", 0.0),
        ("", "a", 0.0),
        ("[]", "", 1.0),
    ],
)
def test_documented_lcs(generated: str, reference: str, score: float) -> None:
    assert plan_lcs(read_plan(reference).steps, read_plan(generated).steps) == score


def test_textbook_on_random_plans() -> None:
    rng = Random(4)
    for _ in range(3_000):
        first, second = random_plan(rng, 12), random_plan(rng, 12)
        length = textbook_lcs(first, second)
        assert common_subsequence(first, second) == length
        longer = max(len(first), len(second))
        assert plan_lcs(first, second) == (length / longer if longer else 1.0)


def test_long_plans() -> None:
    rng = Random(5)
    first, second = ([step for _ in range(60) for step in random_plan(rng, 9)] for _ in range(2))
    assert common_subsequence(tuple(first), tuple(second)) == textbook_lcs(first, second)


@pytest.mark.parametrize(
    ("generated", "reference", "score"),
    [
        ("pickup(A), stack(A,B), pickup(C)", "pickup(C), pickup(A), stack(A,B)", 1.0),  # GAICo's page
        ("pickup(A), {stack(A,B), noop}", "pickup(A), stack(A,B), drop(B)", 0.5),  # GAICo's page
        ("a, a, a", "a", 1.0),  # frequency does not count
        ("{a, b}", "b, a", 1.0),  # concurrent steps are flattened
        ("{a}, {}", "a", 1.0),
        ("{}", ",", 1.0),
        ("a", "b", 0.0),
        ("", "a", 0.0),
        ("[]", "", 1.0),
    ],
)
def test_documented_jaccard(generated: str, reference: str, score: float) -> None:
    assert plan_jaccard(read_plan(reference).steps, read_plan(generated).steps) == score
    assert compare_plans(reference, generated).action_distance == 1.0 - score


def test_plain_sets_on_random_plans() -> None:
    rng = Random(6)
    for _ in range(3_000):
        first, second = random_plan(rng, 8), random_plan(rng, 8)
        ours, theirs = ({action for step in plan for action in actions_of(step)} for plan in (first, second))
        union = ours | theirs
        assert plan_jaccard(first, second) == (len(ours & theirs) / len(union) if union else 1.0)
        distance = len(ours ^ theirs) / len(union) if union else 0.0
        assert 1.0 - plan_jaccard(first, second) == pytest.approx(distance)
