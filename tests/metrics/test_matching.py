"""The longest increasing subsequence over all maximum-weight matchings, against trying all of them."""

from __future__ import annotations

import tracemalloc
from collections.abc import Iterator
from itertools import product
from random import Random

import networkx as nx
import pytest
from pddl_eval.definition.metrics import matching
from pddl_eval.definition.metrics.matching import LongestOrdered, longest_ordered_matching

from tests.metrics.random_plans import best_matching, longest_increasing


@pytest.mark.parametrize("values", [[0, 1], [0, 0, 1], [3, 4, 5], [0, 5, 6], [0, 0, 0, 1, 2], [0, 7, 8, 9, 10]])
def test_all_matchings_tried(values: list[int]) -> None:
    """Few distinct weights make many ties, which is what the search is about."""
    rng = Random(sum(values))
    for _ in range(1_000):
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
    for _ in range(500):
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
    for _ in range(500):
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
