"""T-Eval's plan score: its page's definition, its code's conventions, the tie rule of DESIGN.md section 6."""

from __future__ import annotations

import tracemalloc
from collections.abc import Iterator
from itertools import product
from random import Random

import networkx as nx
import pytest
from pddl_eval.definition.metrics import matching
from pddl_eval.definition.metrics import plan_score as plan_score_module
from pddl_eval.definition.metrics.matching import LongestOrdered, longest_ordered_matching
from pddl_eval.definition.metrics.plan_score import PlanScore, plan_score
from pddl_eval.definition.options import ScoringOptions
from pddl_eval.definition.plans import Plan, read_plan
from rapidfuzz import fuzz

from tests.support.random_plans import best_matching, longest_increasing, random_plan


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
    for _ in range(200):
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


# --- The longest increasing subsequence over all maximum-weight matchings, against trying all of them


@pytest.mark.parametrize("values", [[0, 1], [0, 0, 1], [3, 4, 5], [0, 5, 6], [0, 0, 0, 1, 2], [0, 7, 8, 9, 10]])
def test_all_matchings_tried(values: list[int]) -> None:
    """Few distinct weights make many ties, which is what the search is about."""
    rng = Random(sum(values))
    for _ in range(300):
        rows, columns = rng.randint(1, 5), rng.randint(1, 5)
        weights = [[rng.choice(values) for _ in range(columns)] for _ in range(rows)]
        length = best_matching(weights)[1]
        assert longest_ordered_matching(weights) == LongestOrdered(length, length), weights


def random_weights(rng: Random, most: int) -> list[list[int]]:
    """Few distinct weights or many, few edges or all."""
    rows, columns = rng.randint(1, most), rng.randint(1, most)
    values = rng.choice([[1], [1, 2], range(1, 10), range(1, 1_000_000)])
    density = rng.choice([0.1, 0.5, 1])
    return [[rng.choice(values) if rng.random() < density else 0 for _ in range(columns)] for _ in range(rows)]


def test_prices_prove_that_no_matching_weighs_more() -> None:
    """Linear programming duality: no edge is worth more than its ends' prices, and the prices add up to the weight."""
    rng = Random(10)
    for _ in range(200):
        weights = random_weights(rng, 25)
        rows, columns = len(weights), len(weights[0])
        if rows > columns:
            continue
        mate, row_prices, column_prices = matching._assignment(weights)
        matched = [(i, j) for i, j in enumerate(mate) if weights[i][j]]
        assert len({*mate}) == rows
        assert min(*row_prices, *column_prices) >= 0
        assert all(weights[i][j] <= row_prices[i] + column_prices[j] for i, j in product(range(rows), range(columns)))
        assert sum(weights[i][j] for i, j in matched) == sum(row_prices) + sum(column_prices)


def all_matchings(weights: list[list[int]], row: int = 0) -> Iterator[frozenset[tuple[int, int]]]:
    if row == len(weights):
        yield frozenset()
        return
    for rest in all_matchings(weights, row + 1):
        yield rest
        taken = {j for _, j in rest}
        yield from (rest | {(row, j)} for j, weight in enumerate(weights[row]) if weight and j not in taken)


def test_the_edges_of_all_optimal_matchings_are_known() -> None:
    rng = Random(11)
    for _ in range(200):
        weights = random_weights(rng, 4)
        if len(weights) > len(weights[0]):
            continue
        weighed = [(sum(weights[i][j] for i, j in edges), edges) for edges in all_matchings(weights)]
        best = max(weight for weight, _ in weighed)
        expected = frozenset[tuple[int, int]]().union(*(edges for weight, edges in weighed if weight == best))
        real = matching._Optimum.of(weights).real
        assert {(i, j) for i, mask in enumerate(real) for j in range(len(weights[0])) if mask >> j & 1} == expected


def test_the_two_plans_may_be_exchanged() -> None:
    rng = Random(12)
    for _ in range(200):
        weights = random_weights(rng, 15)
        exchanged = [list(column) for column in zip(*weights, strict=True)]
        assert longest_ordered_matching(weights) == longest_ordered_matching(exchanged)


def test_a_long_plan_against_a_short_one_takes_little_memory() -> None:
    """What is kept grows with rows times columns, and not with the square of the longer plan."""
    weights = [[1, 2]] * 10_000
    tracemalloc.start()
    try:
        assert longest_ordered_matching(weights) == LongestOrdered(2, 2)
        assert tracemalloc.get_traced_memory()[1] < 5_000_000
    finally:
        tracemalloc.stop()


def test_weight_goes_before_order() -> None:
    assert longest_ordered_matching([[8, 9], [9, 8]]).length == 1
    assert longest_ordered_matching([[9, 9], [9, 9]]).length == 2


def test_the_heavier_of_two_matchings_may_be_the_smaller() -> None:
    """One pair of weight 9 outweighs two of weight 4, which T-Eval's matching would leave out."""
    assert longest_ordered_matching([[4, 9], [0, 4]]).length == 1


def test_a_chain_that_no_matching_holds_is_given_up() -> None:
    """Each row's tight edges form the chain (0,0), (1,1), (2,2), but (0,0) and (2,2) leave row 3 and column 3 alone."""
    weights = [[5, 0, 0, 5], [0, 5, 0, 0], [0, 0, 5, 5], [5, 0, 5, 0]]
    length = best_matching(weights)[1]
    assert longest_ordered_matching(weights) == LongestOrdered(length, length)


def test_nothing_may_be_matched() -> None:
    assert longest_ordered_matching([[0, 0]]) == LongestOrdered(0, 0)


def test_networkx_agrees_where_there_are_no_ties() -> None:
    """Distinct powers of two have one heaviest matching: T-Eval's own way, networkx and then the subsequence."""
    rng = Random(8)
    for _ in range(60):
        rows, columns = rng.randint(1, 6), rng.randint(1, 6)
        powers = rng.sample(range(40), rows * columns)
        weights = [[2 ** powers[i * columns + j] for j in range(columns)] for i in range(rows)]
        graph = nx.Graph()
        graph.add_weighted_edges_from((i, f"c{j}", weights[i][j]) for i in range(rows) for j in range(columns))
        pairs = (sorted(pair, key=str) for pair in nx.max_weight_matching(graph))
        mapping = {row: int(name[1:]) for row, name in ((a, b) if isinstance(a, int) else (b, a) for a, b in pairs)}
        expected = longest_increasing([mapping[i] for i in sorted(mapping)])
        assert longest_ordered_matching(weights) == LongestOrdered(expected, expected)


def test_a_budget_that_ends_leaves_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is found is a matching's length, what bounds it is no less than the truth."""
    rng = Random(9)
    shorter = 0
    for _ in range(300):
        weights = [[rng.choice([0, 1, 1]) for _ in range(6)] for _ in range(6)]
        truth = longest_ordered_matching(weights)
        with monkeypatch.context() as patched:
            patched.setattr(matching, "BUDGET", 0)
            found = longest_ordered_matching(weights)
        assert found.length <= truth.length <= found.at_most
        shorter += found.length < found.at_most
    assert shorter
