"""The longest increasing subsequence that a maximum-weight matching of two sequences can have.

T-Eval takes some maximum-weight matching between predicted and gold actions and counts its longest increasing
subsequence; where several matchings weigh the same, its number depends on the order in which a library walks a graph.
Here the matching whose increasing subsequence is longest counts, which depends on nothing but the weights.

How. The Hungarian method gives an optimal matching and dual prices of the rows and columns. Complementary slackness
then names every optimal matching: those that use tight edges only, those whose ends' prices add up to their weight.
Among them the longest increasing subsequence is sought from above: the longest chain of tight edges is a bound; if its
edges can be forced into one optimal matching it is the answer; if not, a few of them contradict each other, and the
search branches on which of these to give up. In general the question is NP-hard (it contains paths that avoid forbidden
pairs), so the search has a budget; in practice the first chain or one of the next fits, except for long plans that have
nothing in common.

To be alone is to be matched at weight 0: with no more rows than columns every row has a column, and all columns that no
row has belong to one more row, the outside. Rows and columns are bits of Python integers, so that a chain costs one
addition a row and an alternating path one mask a row.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from heapq import heappop, heappush
from typing import NamedTuple

from pddl_eval.definition.model import indexes

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
    if len(weights) > len(weights[0]):  # The same question, and rows cost more than columns.
        weights = list(zip(*weights, strict=True))
    optimum = _Optimum.of(weights)
    size = len(weights[0])
    best = 0
    first = _longest_chain(optimum.real, size)
    queue: list[tuple[int, list[Edge], tuple[int, ...], tuple[Edge, ...]]] = [(-len(first), first, optimum.real, ())]
    for _ in range(1 + BUDGET // (len(weights) + size) ** 2):
        if not queue or -queue[0][0] <= best:
            return LongestOrdered(best, best)
        _, chain, allowed, required = heappop(queue)
        in_order, conflict = optimum.force(chain, required)
        best = max(best, in_order)
        for row, column in (edge for edge in conflict if edge not in required):
            # The optimal matchings without this edge, and from here on those with it.
            smaller = (*allowed[:row], allowed[row] & ~(1 << column), *allowed[row + 1 :])
            shorter = _longest_chain(smaller, size)
            if len(shorter) > best:
                heappush(queue, (-len(shorter), shorter, smaller, required))
            required = *required, (row, column)
            before, after = (1 << column) - 1, -1 << (column + 1)
            allowed = (
                *(mask & before for mask in allowed[:row]),
                1 << column,
                *(mask & after for mask in allowed[row + 1 :]),
            )
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
    while row:
        column = (~states[row] & ((1 << column) - 1)).bit_length()
        if not column:
            break
        row -= 1
        if states[row] >> (column - 1) & 1:
            column -= 1
            chain.append((row, column))
    chain.reverse()
    return chain


class _Optimum(NamedTuple):
    """All maximum-weight matchings: those of tight edges in which every column with a price has a row.

    ``tight`` has a mask of columns for each row and for the outside, ``mate`` the column of each row and ``owner`` the
    row of each column in one optimal matching; ``real`` has for each row the columns that some optimal matching gives
    it at a weight.
    """

    tight: Sequence[int]
    mate: Sequence[int]
    owner: Sequence[int]
    real: tuple[int, ...]

    @staticmethod
    def of(weights: Sequence[Sequence[int]]) -> _Optimum:
        mate, row_prices, column_prices = _assignment(weights)
        rows, columns = len(weights), len(weights[0])
        owner = [rows] * columns
        for row, column in enumerate(mate):
            owner[column] = row
        tight = [
            _mask(j for j, weight in enumerate(weights[i]) if weight == price + column_prices[j])
            for i, price in enumerate(row_prices)
        ]
        tight.append(_mask(j for j, price in enumerate(column_prices) if price == 0))
        # An edge is in some optimum if it lies on a circle that alternates with this one: a circle of the graph with an
        # arc from each row to the owner of each of its tight columns. Warshall's transitive closure:
        reach = [_mask({owner[j] for j in indexes(mask)}) for mask in tight]
        for middle in range(rows + 1):
            bit, further = 1 << middle, reach[middle]
            reach = [mask | further if mask & bit else mask for mask in reach]
        real = (
            _mask(j for j in indexes(mask) if weights[i][j] and reach[owner[j]] >> i & 1)
            for i, mask in enumerate(tight[:rows])
        )
        return _Optimum(tight, mate, owner, tuple(real))

    def force(self, chain: Sequence[Edge], required: Sequence[Edge]) -> tuple[int, list[Edge]]:
        """Bring as many edges of the chain as possible into one optimal matching, the required ones first.

        Returns how many it holds in order, and a few edges of the chain that no optimal matching holds together
        (nothing where the whole chain fits).
        """
        mate, owner = [*self.mate, 0], [*self.owner]
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
        matched = [mask & 1 << column for mask, column in zip(self.real, mate, strict=False)]
        return len(_longest_chain(matched, len(owner))), conflict

    def _force_edge(self, edge: Edge, mate: list[int], owner: list[int], frozen: int) -> int | None:
        """Change the matching along an alternating circle through the edge, the frozen columns left alone.

        Returns None when that succeeded, else the mask of the frozen columns that block it.
        """
        row, column = edge
        outside, target = len(self.real), mate[row]
        takers = {column: owner[column]}  # who takes a column on the way from its owner; breadth first
        unseen = ~(frozen | 1 << column)
        blocking = 0
        frontier = [owner[column]]
        mate[outside] = column if owner[column] == outside else -1  # the column that the outside gives; it counts once
        for taker in frontier:
            if target in takers:
                break
            blocking |= self.tight[taker] & frozen
            new = self.tight[taker] & unseen
            unseen &= ~new
            for found in indexes(new):
                takers[found] = taker
                if owner[found] < outside:
                    frontier.append(owner[found])
                elif mate[outside] < 0:
                    mate[outside] = found
                    frontier.append(outside)
        if target not in takers:
            return blocking
        free = target
        while free != column:
            taker = takers[free]
            owner[free] = taker
            mate[taker], free = free, mate[taker]
        mate[row], owner[column] = column, row
        return None


def _mask(positions: Iterable[int]) -> int:
    """The inverse of ``indexes``."""
    return sum(1 << position for position in positions)


def _assignment(weights: Sequence[Sequence[int]]) -> tuple[list[int], list[int], list[int]]:
    """A maximum-weight matching, as the column of each row, perhaps at weight 0, and optimal dual prices.

    The Hungarian method (Kuhn 1955) by shortest augmenting paths, in at most rows² · columns steps, for no more rows
    than columns. SciPy's method is ten times as fast on 500 rows, takes 150 MB to install and a second to import.
    """
    rows, columns = len(weights), len(weights[0])
    mate, owner = [-1] * rows, [rows] * columns
    row_prices, column_prices = [max(row) for row in weights], [0] * columns
    unreached = 3 * max(row_prices) + 1  # A path is no longer than a price, one more edge no longer than two.
    for start in range(rows):
        distance, taker = [unreached] * columns, [start] * columns
        left = list(range(columns))
        passed: list[int] = []
        row, length = start, 0
        while row < rows:
            gains, base = weights[row], length + row_prices[row]
            nearest, length = -1, unreached
            for column in left:
                through = base + column_prices[column] - gains[column]
                known = distance[column]
                if through < known:
                    distance[column] = known = through
                    taker[column] = row
                if known < length or (known == length and owner[column] == rows):
                    nearest, length = column, known
            left.remove(nearest)
            passed.append(nearest)
            row = owner[nearest]
        row_prices[start] -= length
        for column in passed[:-1]:
            row_prices[owner[column]] -= length - distance[column]
            column_prices[column] += length - distance[column]
        column = passed[-1]
        while column >= 0:  # each row on the path takes the next column, until the first, which had none
            row = owner[column] = taker[column]
            mate[row], column = column, mate[row]
    return mate, row_prices, column_prices
