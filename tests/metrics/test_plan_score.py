"""T-Eval's plan score: its page's definition, its code's conventions, the tie rule of DESIGN.md section 6."""

from __future__ import annotations

from random import Random

import pytest
from pddl_eval.definition.metrics import plan_score as plan_score_module
from pddl_eval.definition.metrics.plan_score import PlanScore, plan_score
from pddl_eval.definition.options import ScoringOptions
from pddl_eval.definition.plans import Plan, read_plan
from rapidfuzz import fuzz

from tests.metrics.random_plans import best_matching, random_plan


def score(reference: str, generated: str, **settings: object) -> PlanScore:
    options = ScoringOptions(**settings)  # type: ignore[arg-type]
    return plan_score(read_plan(reference).steps, read_plan(generated).steps, options)


def test_precision_recall_and_f1() -> None:
    """l = 2 of 4 predicted and 3 gold actions: p = 1/2, r = 2/3, F1 = 4/7."""
    found = score("a(x), b(y), c(z)", "a(x), d, c(z), b(y)")
    assert (found.precision, found.recall) == (1 / 2, 2 / 3)
    assert found.score == pytest.approx(4 / 7)


@pytest.mark.parametrize(
    ("reference", "generated", "expected"),
    [
        ("a, b", "a, b", 1.0),
        ("a, b", "c", 0.0),
        ("a, b", "", 0.0),
        ("", "a, b", 0.0),
        ("", "", 0.0),  # an empty side scores 0, unlike GAICo's metrics
        ("a, b", "b, a", 0.5),  # matched both, but one of them in order
        ("a, FinishAction", "a", 1.0),
        ("a, FinishAction", "a, finishaction", 1.0),
        ('a, FinishAction("{}")', "a, FinishAction(done)", 1.0),
        ('[{"name": "a"}, {"name": "FinishAction", "args": {"answer": "b"}}]', "a", 1.0),
        ('[{"name": "FinishAction", "args": "{}"}]', "a", 0.0),
        ("FinishAction, a", "a", 2 / 3),  # only a trailing one is dropped
        ("FinishAction", "FinishAction", 0.0),  # nothing is left
        ("{a, b}, c", "{b, a}, c", 1.0),
        ("{a, b}, c", "a, b, c", 0.4),  # a concurrent step is one step
    ],
)
def test_conventions(reference: str, generated: str, expected: float) -> None:
    assert score(reference, generated).score == pytest.approx(expected)


def test_t_eval_objects() -> None:
    gold = '[{"name": "Search", "args": {"q": "a"}, "id": 0}, {"name": "Book", "args": {"n": 1}, "id": 1}]'
    same = '[{"name": "book", "args": {"n": 1}, "id": 7}, {"name": "search", "args": {"q": "A "}, "id": 3}]'
    assert score(gold, f"Plan: {same}").score == 1.0


def test_the_threshold_is_to_be_exceeded() -> None:
    """Equal tools and unequal arguments have S = β."""
    assert score("a(x)", "a(y)").score == 0.0  # 0.75 < 0.8
    assert score("a(x)", "a(y)", threshold=0.75).score == 0.0  # 0.75 = 0.75
    assert score("a(x)", "a(y)", threshold=0.74).score == 1.0
    assert score("a(x)", "a(x)", threshold=1.0).score == 0.0
    assert score("a(x)", "b(x)", beta=0.1).score == 1.0  # 0.9 > 0.8: here the arguments decide


def test_arguments_are_compared_as_a_list() -> None:
    assert score("a(x, y)", "a(y, x)").score == 0.0


def test_lexical_similarity_matches_what_is_alike() -> None:
    """pick-up and pick_up share 6 of 7 characters in order, block1 and block2 5 of 6: S = (6/7 + 5/6·1/3)·3/4 > 0.8."""
    assert score("pick-up(block1)", "pick_up(block2)").score == 0.0
    assert score("pick-up(block1)", "pick_up(block2)", similarity="lexical").score == 1.0
    assert score("pick-up(block1)", "drop(block1)", similarity="lexical").score == 0.0


def test_ties_count_in_favour_of_order() -> None:
    """Both matchings weigh the same; the one in order has l = 2, the crossed one l = 1."""
    assert score("go(a), go(b)", "go(c), go(d)", threshold=0.5).score == 1.0


@pytest.mark.parametrize(
    ("similarity", "beta", "threshold"),
    [("exact", 0.75, 0.8), ("exact", 0.75, 0.7), ("exact", 0.5, 0.4), ("lexical", 0.75, 0.8), ("lexical", 0.5, 0.6)],
)
def test_definition_by_trying_all_matchings(similarity: str, beta: float, threshold: float) -> None:
    def alike(one: str, other: str) -> float:
        return float(one == other) if similarity == "exact" else fuzz.ratio(one, other) / 100

    def weights(rows: Plan, columns: Plan) -> list[list[int]]:
        table = [[0] * len(columns) for _ in rows]
        for i, one in enumerate(rows):
            for j, other in enumerate(columns):
                if isinstance(one, tuple) and isinstance(other, tuple):
                    (tool, *args), (other_tool, *other_args) = one, other
                    of_args = alike(", ".join(args), ", ".join(other_args))
                    s = round(1_000_000 * (beta * alike(tool, other_tool) + (1 - beta) * of_args))
                else:
                    s = 1_000_000 * (one == other)
                table[i][j] = s if s > 1_000_000 * threshold else 0
        return table

    rng = Random(f"{similarity} {beta}")
    for _ in range(500):
        reference, generated = random_plan(rng, 6, 2, 2), random_plan(rng, 6, 2, 2)
        options = ScoringOptions(similarity=similarity, beta=beta, threshold=threshold)
        found = plan_score(reference, generated, options)
        length = best_matching(weights(generated, reference))[1] if reference and generated else 0
        assert found.note == ""
        assert found.precision == (length / len(generated) if length else 0.0)
        assert found.recall == (length / len(reference) if length else 0.0)
        assert found.score == pytest.approx(2 * length / (len(generated) + len(reference)) if length else 0.0)


def test_default_settings_need_no_matching() -> None:
    """Under `exact` l is the LCS: the shortcut and the matching agree on plans too long for trying all."""
    rng = Random(3)
    for _ in range(200):
        reference, generated = random_plan(rng, 30), random_plan(rng, 30)
        slow = plan_score(reference, generated, ScoringOptions(threshold=0.7499, beta=0.7499))
        fast = plan_score(reference, generated, ScoringOptions(threshold=0.75))
        assert slow.note == ""
        assert slow.score == pytest.approx(fast.score)


@pytest.mark.parametrize("settings", [{"beta": 1.1}, {"beta": -0.1}, {"threshold": 2}, {"threshold": float("nan")}])
def test_settings_out_of_range_are_errors(settings: dict[str, float]) -> None:
    with pytest.raises(ValueError, match="from 0 to 1"):
        score("a", "a", **settings)


def test_unknown_similarity_is_an_error() -> None:
    for name in ("semantic", "embedding", "embedding:"):
        with pytest.raises(ValueError, match="no similarity is named"):
            score("", "", similarity=name)


def test_long_plans_are_not_compared_pair_by_pair(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plan_score_module, "MAX_PAIRS", 3)
    found = score("a, b", "a, b", similarity="lexical")
    assert (found.score, found.precision, found.recall) == (None, None, None)
    assert found.note == "no plan score: more than 3 pairs of steps to compare"
    assert score("a, b", "a, b").score == 1.0  # the exact similarity needs no pairs
