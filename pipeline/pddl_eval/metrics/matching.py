"""The longest increasing subsequence that a maximum-weight matching of two sequences can have.

T-Eval takes some maximum-weight matching between predicted and gold actions and counts its longest increasing
subsequence; where several matchings weigh the same, its number depends on the order in which a library walks a graph.
Here the matching whose increasing subsequence is longest counts, which depends on nothing but the weights.

How. The Hungarian method gives an optimal matching and dual prices of the rows and columns. Complementary slackness
then names every optimal matching: those that use tight edges only and leave no row or column with a positive price
alone. Among them the longest increasing subsequence is sought from above: the longest chain of
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
    if len(weights) > len(weights[0]):  # The same question, and rows cost more than columns.
        weights = list(zip(*weights, strict=True))
    optimum = _optimal_matchings(weights)
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
    """All maximum-weight matchings: those of tight edges that leave only rows and columns with price 0 alone.

    To be alone is to be matched with the outside, which is one more row and one more column and takes any number.
    ``tight`` has a mask of columns for each row, ``mate`` the column of each row in one optimal matching, ``real`` for
    each real row the columns that some optimal matching gives it.
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
        owner = _owners(mate, self.columns)
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
        rows, outside = len(self.real), self.columns
        start, target = owner[column], mate[row]
        reached_from = {column: start}
        unseen = ~(frozen | 1 << column)
        blocking = 0
        frontier = [start]
        mate[rows] = column if start == rows else -1  # The column for which the outside is reached; it counts once.
        for current in frontier:  # grows while it is walked: breadth first
            if current == rows:
                frontier += [i for i in range(rows) if mate[i] == outside]
            blocking |= self.tight[current] & frozen
            new = self.tight[current] & unseen
            unseen &= ~new
            for found in indexes(new):
                reached_from[found] = current
                if owner[found] < rows:
                    frontier.append(owner[found])
                elif mate[rows] < 0:
                    mate[rows] = found
                    frontier.append(rows)
            if target in reached_from:
                break
        else:
            return blocking
        _exchange(mate, owner, target, column, reached_from)
        mate[row], owner[column] = column, row
        return None


def _exchange(mate: list[int], owner: list[int], free: int, last: int, takers: Mapping[int, int]) -> None:
    """Give the free column to its taker, the column that this one leaves to the next, until the last column is left."""
    outside_row, outside_column = len(mate) - 1, len(owner) - 1
    while free != last:
        taker = takers[free]
        left = mate[taker]
        if taker != outside_row:
            mate[taker] = free
        if free != outside_column:
            owner[free] = taker
        free = left


def _optimal_matchings(weights: Sequence[Sequence[int]]) -> _Optimum:
    columns = len(weights[0])
    mate, row_prices, column_prices = _assignment(weights)
    tight = [
        [j for j, weight in enumerate(row) if 0 < weight == price + column_prices[j]] + [columns] * (price == 0)
        for row, price in zip(weights, row_prices, strict=True)
    ]
    tight.append([j for j, price in enumerate([*column_prices, 0]) if price == 0])
    mate.append(columns)
    return _Optimum(columns, tuple(map(_mask, tight)), tuple(mate), _in_some_optimum(tight, mate, columns))


def _mask(positions: Sequence[int]) -> int:
    """The inverse of ``indexes``, for positions that rise."""
    octets = bytearray(positions[-1] // 8 + 1 if positions else 0)
    for position in positions:
        octets[position >> 3] |= 1 << (position & 7)
    return int.from_bytes(octets, "little")


def _owners(mate: Sequence[int], columns: int) -> list[int]:
    """The row of each column; the outside, the last row, has itself and what no other row has."""
    rows = len(mate) - 1
    owner = [rows] * (columns + 1)
    for row, column in enumerate(mate):
        if column < columns:
            owner[column] = row
    return owner


def _assignment(weights: Sequence[Sequence[int]]) -> tuple[list[int], list[int], list[int]]:
    """A maximum-weight matching, as the column of each row (one past the last: none), and optimal dual prices.

    The Hungarian method (Kuhn 1955) by shortest augmenting paths, in at most rows² · columns steps, for no more rows
    than columns. There is one more column, worth nothing to any row: so some column is always free, and no price is
    negative. SciPy's method is ten times as fast on 500 rows, takes 150 MB to install and a second to import.
    """
    rows, columns = len(weights), len(weights[0])
    mate = [columns] * rows
    owner = [-1] * (columns + 1)
    row_prices = [max(row) for row in weights]
    column_prices = [0] * (columns + 1)
    unreached = 3 * max(row_prices) + 1  # A path is no longer than a price, one more edge no longer than two.
    for start in range(rows):
        distance = [unreached] * (columns + 1)
        reached_from = [start] * (columns + 1)
        left = list(range(columns + 1))
        passed: list[int] = []
        row, length = start, 0
        while True:
            base = length + row_prices[row]
            gains = (*weights[row], 0)
            nearest, length = columns, unreached
            for column in left:
                through = base + column_prices[column] - gains[column]
                known = distance[column]
                if through < known:
                    distance[column] = known = through
                    reached_from[column] = row
                if known <= length and (known < length or owner[column] < 0):
                    nearest, length = column, known
            if owner[nearest] < 0:
                break
            left.remove(nearest)
            passed.append(nearest)
            row = owner[nearest]
        row_prices[start] -= length
        for column in passed:
            row_prices[owner[column]] -= length - distance[column]
            column_prices[column] += length - distance[column]
        while True:
            row = reached_from[nearest]
            owner[nearest] = row
            mate[row], nearest = nearest, mate[row]
            if row == start:
                break
    matched = [column if column < columns and weights[row][column] > 0 else columns for row, column in enumerate(mate)]
    return matched, row_prices, column_prices[:columns]


def _in_some_optimum(tight: Sequence[Sequence[int]], mate: Sequence[int], columns: int) -> tuple[int, ...]:
    """Of each real row's tight edges those that lie in some optimal matching: on a circle that alternates with one.

    Such circles are those of the graph with an arc from each row to the present owner of each of its tight columns.
    """
    outside = len(tight) - 1
    owner = _owners(mate, columns)
    after = [sum({1 << owner[j] for j in each}) for each in tight]
    after[outside] |= sum(1 << i for i, j in enumerate(mate[:outside]) if j == columns)
    for middle in range(len(after)):  # Warshall's transitive closure
        bit, further = 1 << middle, after[middle]
        after = [mask | further if mask & bit else mask for mask in after]
    return tuple(_mask([j for j in tight[i] if j < columns and after[owner[j]] >> i & 1]) for i in range(outside))
