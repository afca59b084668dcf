"""The hostile graphs are what their names say, and their labellings are right or said to be undecided."""

from __future__ import annotations

from itertools import combinations

import networkx as nx
import pytest

from tests.measure.hostile_graphs import differ, form
from tests.support import hostile_graphs as graphs
from tests.support.hostile_graphs import GRAPHS, LOOKALIKES, HostileGraph, renamed

QUICK = (
    *("latin-square-6", "cyclic-latin-square-8", "steiner-15", "steiner-blocks-15", "plane-5", "sylvester-8"),
    *("cfi-k4", "cfi-k5", "miyazaki-5", "miyazaki-augmented-5", "paley-29", "chang", "hypercube-5"),
    *("cycles-3-4-5-20-times", "petersen-100", "shrikhande-10-rook-10"),
    *("interchangeable-5000", "towers-1000-of-3", "tower-of-3000"),
)
"""A fraction of a second each; ``python -m tests.measure.hostile_graphs`` labels all of them."""

SLOW = (
    *("latin-square-8", "random-steiner-19", "random-steiner-blocks-19", "plane-7", "hadamard-paley-20"),
    *("cfi-cubic-10", "kneser-10-3"),
)

QUICK_LOOKALIKES = ("cfi-k4", "cfi-k5", "cfi-torus-3x3", "rook-4", "johnson-8-2")


@pytest.mark.parametrize("name", [*QUICK, *(pytest.param(name, marks=pytest.mark.slow) for name in SLOW)])
def test_a_renamed_copy_has_the_same_form_or_both_are_undecided(name: str) -> None:
    graph = GRAPHS[name](2)
    assert form(graph) == form(renamed(graph, 3))


@pytest.mark.parametrize(
    "name",
    [*QUICK_LOOKALIKES, *(pytest.param(name, marks=pytest.mark.slow) for name in ("cfi-cubic-10", "cycle-1000"))],
)
def test_a_lookalike_never_has_the_same_form(name: str) -> None:
    assert differ(name) is not False


def as_networkx(graph: HostileGraph) -> nx.DiGraph:
    found = nx.DiGraph()
    found.add_nodes_from(graph.objects)
    found.add_edges_from(atom[1:] for atom in graph.atoms)
    return found


@pytest.mark.parametrize(
    ("name", "other"),
    [pytest.param(*pair, marks=() if pair[0] in QUICK_LOOKALIKES else pytest.mark.slow) for pair in LOOKALIKES.items()],
)
def test_lookalikes_have_equal_sizes_and_degrees(name: str, other: str) -> None:
    one, two = (as_networkx(GRAPHS[each](1)) for each in (name, other))
    assert sorted(degree for _, degree in one.in_degree()) == sorted(degree for _, degree in two.in_degree())
    assert sorted(degree for _, degree in one.out_degree()) == sorted(degree for _, degree in two.out_degree())


@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        ("latin-square-8", (64, 21, 8, 6)),
        ("steiner-blocks-15", (35, 18, 9, 9)),
        ("random-steiner-blocks-19", (57, 24, 11, 9)),
        ("paley-29", (29, 14, 6, 7)),
        ("shrikhande", (16, 6, 2, 2)),
        ("rook-4", (16, 6, 2, 2)),
        ("johnson-8-2", (28, 12, 6, 4)),
        ("chang", (28, 12, 6, 4)),
    ],
)
def test_strongly_regular_graphs_are(name: str, parameters: tuple[int, int, int, int]) -> None:
    """So many vertices and neighbours, so many common neighbours of two that are adjacent, and of two that are not.

    The same graph is drawn again by the same seed.
    """
    assert GRAPHS[name](4) == GRAPHS[name](4)
    graph = as_networkx(GRAPHS[name](4))
    v, k, adjacent, apart = parameters
    assert len(graph) == v
    assert all(graph.has_edge(b, a) for a, b in graph.edges())
    assert {len(graph[a]) for a in graph} == {k}
    for a, b in combinations(graph, 2):
        assert len(graph[a].keys() & graph[b].keys()) == (adjacent if graph.has_edge(a, b) else apart)


def test_two_lines_of_a_plane_meet_once_and_two_points_are_in_one_triple() -> None:
    lines = graphs.plane(5)
    assert len({point for line in lines for point in line}) == len(lines) == 31
    assert all(len(set(a) & set(b)) == 1 for a, b in combinations(lines, 2))
    for v, blocks in ((15, graphs.bose(15)), (19, graphs.random_steiner(1, 19))):
        pairs = [frozenset(pair) for block in blocks for pair in combinations(block, 2)]
        assert len(pairs) == len(set(pairs)) == v * (v - 1) // 2


@pytest.mark.parametrize(
    ("matrix", "order"),
    [(graphs.sylvester(3), 8), (graphs.paley_matrix(19), 20), (graphs.switched(1, graphs.paley_matrix(11)), 24)],
)
def test_rows_of_a_hadamard_matrix_are_orthogonal(matrix: list[list[int]], order: int) -> None:
    assert len(matrix) == order
    assert {value for row in matrix for value in row} == {1, -1}
    assert not any(sum(x * y for x, y in zip(a, b, strict=True)) for a, b in combinations(matrix, 2))


def test_both_cfi_graphs_are_cubic_and_only_one_is_twisted() -> None:
    """K4: 40 vertices each; a search of networkx tells them apart."""
    plain, twisted = (as_networkx(GRAPHS[name](1)).to_undirected() for name in ("cfi-k4", "cfi-k4-twisted"))
    assert {degree for _, degree in plain.degree()} == {degree for _, degree in twisted.degree()} == {3}
    assert len(plain) == len(twisted) == 40
    assert not nx.is_isomorphic(plain, twisted)
