"""The longest increasing subsequence that a maximum-weight matching of two sequences can have.

T-Eval takes some maximum-weight matching between predicted and gold actions and counts its longest increasing
subsequence; where several matchings weigh the same, its number depends on the order in which a library walks a graph.
Here the matching whose increasing subsequence is longest counts, which depends on nothing but the weights.

How. An optimal matching comes from igraph, and from it the dual prices of the assignment problem, by shortest paths.
Complementary slackness then names every optimal matching: those that use tight edges only and leave no row or column
with a positive price alone. Among them the longest increasing subsequence is sought from above: the longest chain of
tight edges is a bound; if its edges can be forced into one optimal matching it is the answer; if not, a few of them
contradict each other, and the search branches on which of these to give up. In general the question is NP-hard (it
contains paths that avoid forbidden pairs), so the search has a budget; in practice the first chain or one of the next
fits, except for long plans that have nothing in common.

Rows and columns are bits of Python integers, so that a chain costs one addition a row and an alternating path one
mask a row.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from heapq import heappop, heappush

from pddl_eval.model import indexes

BUDGET = 16_000_000
"""(Rows + columns)², summed over the chains that are examined, before the best matching found so far counts: about a
second. Two plans of 80 steps have 600 chains."""

Edge = tuple[int, int]


@dataclass(frozen=True, slots=True)
class LongestOrdered:
    """A length that some maximum-weight matching has, and the length that none exceeds.

    They are equal unless the budget ended first.
    """

    length: int
    at_most: int


def longest_ordered_matching(weights: Sequence[Sequence[int]]) -> LongestOrdered:
    """The longest increasing subsequence over all maximum-weight matchings; 0 stands for "may not be matched".

    ``weights[i][j]`` is the integer weight of row i with column j.

    >>> longest_ordered_matching([[5, 5], [5, 5]])  # both matchings weigh 10, one of them is in order
    LongestOrdered(length=2, at_most=2)
    >>> longest_ordered_matching([[5, 6], [6, 5]])
    LongestOrdered(length=1, at_most=1)
    """
    edges = [(i, j) for i, row in enumerate(weights) for j, weight in enumerate(row) if weight > 0]
    if not edges:
        return LongestOrdered(0, 0)
    optimum = _optimal_matchings(weights, edges)
    size = optimum.columns
    best = 0
    serial = 0
    root = _longest_chain(optimum.real, size)
    queue: list[tuple[int, int, list[Edge], tuple[int, ...], tuple[Edge, ...]]] = []
    heappush(queue, (-len(root), serial, root, optimum.real, ()))
    for _ in range(1 + BUDGET // (len(weights) + size) ** 2):
        if not queue or -queue[0][0] <= best:
            return LongestOrdered(best, best)
        _, _, chain, allowed, required = heappop(queue)
        feasible, conflict = optimum.force(chain, required)
        best = max(best, feasible)
        if not conflict:
            continue
        kept = list(required)
        for edge in (edge for edge in conflict if edge not in required):
            smaller = _without(allowed, edge)
            child = _longest_chain(smaller, size)
            if len(child) > best:
                serial += 1
                heappush(queue, (-len(child), serial, child, smaller, tuple(kept)))
            kept.append(edge)
            allowed = _compatible(allowed, edge)
    return LongestOrdered(best, max(best, -queue[0][0]) if queue else best)


def _longest_chain(allowed: Sequence[int], columns: int) -> list[Edge]:
    """A longest sequence of allowed edges with rising rows and columns: the bit-parallel LCS (Hyyrö 2004), with a
    relation where it has equality. Bit j of a state is 0 where the chain grows at column j."""
    everything = (1 << columns) - 1
    state = everything
    states = [state]
    for mask in allowed:
        growing = state & mask
        state = ((state + growing) | (state - growing)) & everything
        states.append(state)
    chain: list[Edge] = []
    row, column = len(allowed), columns
    while row and column:
        bit = 1 << (column - 1)
        if states[row] & bit:
            column -= 1
        elif states[row - 1] & bit:
            row -= 1
            column -= 1
            chain.append((row, column))
        else:
            row -= 1
    chain.reverse()
    return chain


def _without(allowed: tuple[int, ...], edge: Edge) -> tuple[int, ...]:
    row, column = edge
    return (*allowed[:row], allowed[row] & ~(1 << column), *allowed[row + 1 :])


def _compatible(allowed: tuple[int, ...], edge: Edge) -> tuple[int, ...]:
    """The edge and those allowed edges that neither cross it nor share its row or column."""
    row, column = edge
    before = (1 << column) - 1
    after = ~((1 << (column + 1)) - 1)
    return (
        *(mask & before for mask in allowed[:row]),
        1 << column,
        *(mask & after for mask in allowed[row + 1 :]),
    )


@dataclass(frozen=True, slots=True)
class _Optimum:
    """All maximum-weight matchings: the perfect matchings of a square graph of tight edges.

    Row i may stay alone by taking a column of its own (``columns + i``), column j by taking a row of its own
    (``rows + j``); these extra rows and columns match each other freely. ``tight`` has a mask of columns for each row,
    ``mate`` one optimal matching, ``real`` for each real row the columns that some optimal matching gives it.
    """

    columns: int
    tight: tuple[int, ...]
    mate: tuple[int, ...]
    real: tuple[int, ...]

    def force(self, chain: Sequence[Edge], required: Sequence[Edge]) -> tuple[int, list[Edge]]:
        """Bring as many edges of the chain as possible into one optimal matching, the required ones first.

        Returns how many it holds in order, and a few edges of the chain that no optimal matching holds together
        (nothing where the whole chain fits).
        """
        mate = list(self.mate)
        owner = [0] * len(mate)
        for row, column in enumerate(mate):
            owner[column] = row
        frozen = 0
        forced: list[Edge] = []
        conflict: list[Edge] = []
        for edge in dict.fromkeys((*required, *chain)):
            blocking = self._force_edge(edge, mate, owner, frozen)
            if blocking is None:
                frozen |= 1 << edge[1]
                forced.append(edge)
            else:
                obstacles = [other for other in forced if blocking >> other[1] & 1]
                if not conflict or len(obstacles) + 1 < len(conflict):
                    conflict = [edge, *obstacles]
        rows = len(self.real)
        matched = tuple(1 << mate[row] if mate[row] < self.columns else 0 for row in range(rows))
        return len(_longest_chain(matched, self.columns)), conflict

    def _force_edge(self, edge: Edge, mate: list[int], owner: list[int], frozen: int) -> int | None:
        """Change the matching along an alternating circle through the edge, the frozen columns left alone.

        Returns None when that succeeded, else the mask of the frozen columns that block it.
        """
        row, column = edge
        if mate[row] == column:
            return None
        start, target = owner[column], mate[row]
        reached_from = {column: start}
        unseen = ~(frozen | 1 << column)
        blocking = 0
        frontier = [start]
        for current in frontier:  # grows while it is walked: breadth first
            blocking |= self.tight[current] & frozen
            new = self.tight[current] & unseen
            unseen &= ~new
            for found in indexes(new):
                reached_from[found] = current
                frontier.append(owner[found])
            if target in reached_from:
                break
        else:
            return blocking
        free = target
        while free != column:
            taker = reached_from[free]
            left = mate[taker]
            mate[taker], owner[free] = free, taker
            free = left
        mate[row], owner[column] = column, row
        return None


def _optimal_matchings(weights: Sequence[Sequence[int]], edges: Sequence[Edge]) -> _Optimum:
    import igraph

    rows, columns = len(weights), len(weights[0])
    graph = igraph.Graph(rows + columns, [(i, rows + j) for i, j in edges])
    kinds = [0] * rows + [1] * columns
    matching = graph.maximum_bipartite_matching(types=kinds, weights=[weights[i][j] for i, j in edges])
    partners = [matching.match_of(i) for i in range(rows)]
    matched = {i: partner - rows for i, partner in enumerate(partners) if partner is not None and partner >= 0}

    prices = _column_prices(weights, edges, matched, columns)
    tight = [0] * rows + [((1 << rows) - 1) << columns] * columns
    for i in range(rows):
        row_price = weights[i][matched[i]] - prices[matched[i]] if i in matched else 0
        for j, weight in enumerate(weights[i]):
            if weight > 0 and row_price + prices[j] == weight:
                tight[i] |= 1 << j
        if row_price == 0:
            tight[i] |= 1 << (columns + i)
    for j, price in enumerate(prices):
        if price == 0:
            tight[rows + j] |= 1 << j
    mate = _completed(matched, rows, columns)
    return _Optimum(columns, tuple(tight), tuple(mate), _in_some_optimum(tight, mate, rows, columns))


def _column_prices(
    weights: Sequence[Sequence[int]], edges: Sequence[Edge], matched: Mapping[int, int], columns: int
) -> list[int]:
    """The smallest optimal dual prices of the columns: what the best alternating path that ends there would gain."""
    import igraph

    source = columns
    arcs = [(source, j) for j in range(columns)]
    gains = [0] * columns
    for i, j in edges:
        held = matched.get(i)
        if held != j:
            arcs.append((source if held is None else held, j))
            gains.append(weights[i][j] - (0 if held is None else weights[i][held]))
    graph = igraph.Graph(columns + 1, arcs, directed=True)
    (lengths,) = graph.distances(source=[source], weights=[-gain for gain in gains], algorithm="bellman_ford")
    return [-int(length) for length in lengths[:columns]]


def _completed(matched: Mapping[int, int], rows: int, columns: int) -> list[int]:
    """The matching with everything alone on its own extra column or row, and the extra ones left over matched."""
    left_over = iter([columns + i for i in matched])
    held = set(matched.values())
    return [matched.get(i, columns + i) for i in range(rows)] + [
        next(left_over) if j in held else j for j in range(columns)
    ]


def _in_some_optimum(tight: Sequence[int], mate: Sequence[int], rows: int, columns: int) -> tuple[int, ...]:
    """Of each real row's tight edges those that lie in some optimal matching: on a circle that alternates with one.

    Such circles are those of the graph with an arc from each row to the present owner of each of its tight columns.
    """
    import igraph

    owner = [0] * len(mate)
    for row, column in enumerate(mate):
        owner[column] = row
    hub = len(mate)  # stands for the arcs from each extra row to the owner of each extra column
    arcs = [(i, owner[column]) for i in range(rows) for column in indexes(tight[i])]
    arcs += [(rows + j, owner[j]) for j in range(columns) if tight[rows + j] >> j & 1]
    arcs += [(rows + j, hub) for j in range(columns)] + [(hub, owner[columns + i]) for i in range(rows)]
    circle = igraph.Graph(len(mate) + 1, arcs, directed=True).connected_components(mode="strong").membership
    return tuple(
        sum(1 << j for j in indexes(tight[i]) if j < columns and circle[i] == circle[owner[j]]) for i in range(rows)
    )
