"""The hostile graphs are what their names say, and their labellings are right or said to be undecided."""

from __future__ import annotations

from itertools import combinations

import networkx as nx
import pytest

from tests.canonical import hostile_graphs as graphs
from tests.canonical.hostile_graphs import GRAPHS, LOOKALIKES, HostileGraph, renamed
from tests.measure.hostile_graphs import differ, form

QUICK = (
    "latin-square-6",
    "cyclic-latin-square-8",
    "slope-net-9-4",
    "steiner-15",
    "steiner-blocks-15",
    "plane-4",
    "plane-7",
    "sylvester-8",
    "hadamard-paley-20",
    "cfi-k4",
    "cfi-k5",
    "cfi-cubic-10",
    "miyazaki-5",
    "miyazaki-augmented-5",
    "paley-29",
    "chang",
    "kneser-10-3",
    "hypercube-5",
    "cycles-3-4-5-20-times",
    "petersen-100",
    "shrikhande-10-rook-10",
    "interchangeable-5000",
    "towers-1000-of-3",
    "tower-of-3000",
)
"""A fraction of a second each; ``python -m tests.measure.hostile_graphs`` labels all of them."""

SLOW = ("latin-square-8", "latin-square-net-8", "random-steiner-19", "random-steiner-blocks-19", "hall-plane-9")

QUICK_LOOKALIKES = ("cfi-k4", "cfi-k5", "cfi-torus-3x3", "cfi-cubic-10", "rook-4", "johnson-8-2", "plane-9")


@pytest.mark.timeout(120)
@pytest.mark.parametrize("name", [*QUICK, *(pytest.param(name, marks=pytest.mark.slow) for name in SLOW)])
def test_a_renamed_copy_has_the_same_form_or_both_are_undecided(name: str) -> None:
    graph = GRAPHS[name](2)
    assert form(graph) == form(renamed(graph, 3))


@pytest.mark.timeout(120)
@pytest.mark.parametrize("name", QUICK_LOOKALIKES)
def test_a_lookalike_never_has_the_same_form(name: str) -> None:
    assert differ(name) is not False


def as_networkx(graph: HostileGraph) -> nx.DiGraph:
    found = nx.DiGraph()
    found.add_nodes_from(graph.objects)
    found.add_edges_from(atom[1:] for atom in graph.atoms)
    return found


@pytest.mark.parametrize(("name", "other"), LOOKALIKES.items())
def test_lookalikes_have_equal_sizes_and_degrees(name: str, other: str) -> None:
    one, two = (as_networkx(GRAPHS[each](1)) for each in (name, other))
    assert sorted(degree for _, degree in one.in_degree()) == sorted(degree for _, degree in two.in_degree())
    assert sorted(degree for _, degree in one.out_degree()) == sorted(degree for _, degree in two.out_degree())


@pytest.mark.parametrize("name", ["latin-square-8", "plane-4", "cfi-k4", "cfi-cubic-20", "hadamard-switched-40"])
def test_a_seed_draws_the_same_graph_again(name: str) -> None:
    assert GRAPHS[name](5) == GRAPHS[name](5)


@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        ("latin-square-8", (64, 21, 8, 6)),
        ("steiner-blocks-15", (35, 18, 9, 9)),
        ("steiner-blocks-13", (26, 15, 8, 9)),
        ("random-steiner-blocks-19", (57, 24, 11, 9)),
        ("paley-49", (49, 24, 11, 12)),
        ("shrikhande", (16, 6, 2, 2)),
        ("rook-4", (16, 6, 2, 2)),
        ("johnson-8-2", (28, 12, 6, 4)),
        ("chang", (28, 12, 6, 4)),
    ],
)
def test_strongly_regular_graphs_are(name: str, parameters: tuple[int, int, int, int]) -> None:
    """So many vertices and neighbours, so many common neighbours of two that are adjacent, and of two that are not."""
    graph = as_networkx(GRAPHS[name](4))
    v, k, adjacent, apart = parameters
    assert len(graph) == v
    assert all(graph.has_edge(b, a) for a, b in graph.edges())
    assert {len(graph[a]) for a in graph} == {k}
    for a, b in combinations(graph, 2):
        assert len(graph[a].keys() & graph[b].keys()) == (adjacent if graph.has_edge(a, b) else apart)


@pytest.mark.parametrize("lines", [graphs.plane(4), graphs.plane(9), graphs.hall_plane(3), graphs.hall_plane(4)])
def test_two_lines_of_a_plane_meet_once(lines: list[list[object]]) -> None:
    points = {point for line in lines for point in line}
    assert len(points) == len(lines)
    assert all(len(set(a) & set(b)) == 1 for a, b in combinations(lines, 2))


@pytest.mark.parametrize(
    "blocks",
    [graphs.bose(15), graphs.bose(63), graphs.skolem(13), graphs.skolem(61), graphs.random_steiner(1, 45)],
)
def test_two_points_are_in_one_triple(blocks: list[tuple[int, int, int]]) -> None:
    pairs = [frozenset(pair) for block in blocks for pair in combinations(block, 2)]
    v = len({point for block in blocks for point in block})
    assert len(pairs) == len(set(pairs)) == v * (v - 1) // 2


@pytest.mark.parametrize(
    ("matrix", "order"),
    [
        (graphs.sylvester(3), 8),
        (graphs.paley_matrix(19), 20),
        (graphs.paley_matrix(25), 52),
        (graphs.paley_matrix(103), 104),
        (graphs.doubled(graphs.paley_matrix(9), graphs.shuffled_columns(1, graphs.paley_matrix(9))), 40),
    ],
)
def test_rows_of_a_hadamard_matrix_are_orthogonal(matrix: list[list[int]], order: int) -> None:
    assert len(matrix) == order
    assert {value for row in matrix for value in row} == {1, -1}
    assert not any(sum(x * y for x, y in zip(a, b, strict=True)) for a, b in combinations(matrix, 2))


@pytest.mark.parametrize("q", [2, 4, 8, 9, 16, 25])
def test_fields(q: int) -> None:
    f = graphs.field(q)
    everything = set(range(q))
    assert all(set(f.add[a]) == everything for a in everything)
    assert all(set(f.times[a]) == everything for a in range(1, q))
    sample = range(min(q, 9))
    assert all(
        f.times[a][f.add[b][c]] == f.add[f.times[a][b]][f.times[a][c]] and f.times[a][b] == f.times[b][a]
        for a in sample
        for b in everything
        for c in sample
    )


def test_both_cfi_graphs_are_cubic_and_only_one_is_twisted() -> None:
    """K4: 40 vertices each; a search of networkx tells them apart."""
    plain, twisted = (as_networkx(GRAPHS[name](1)).to_undirected() for name in ("cfi-k4", "cfi-k4-twisted"))
    assert {degree for _, degree in plain.degree()} == {degree for _, degree in twisted.degree()} == {3}
    assert len(plain) == len(twisted) == 40
    assert not nx.is_isomorphic(plain, twisted)
