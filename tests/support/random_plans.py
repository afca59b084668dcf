"""Random plans that share many actions, and the definitions of the sequence metrics written down plainly."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from random import Random

from pddl_eval.definition.plans import Plan, Step


def random_plan(rng: Random, longest: int, names: int = 3, objects: int = 3) -> Plan:
    """A plan of at most that many steps over few actions, now and then one in braces."""

    def action() -> tuple[str, ...]:
        return (f"op{rng.randrange(names)}", *(f"o{rng.randrange(objects)}" for _ in range(rng.randrange(3))))

    return tuple(
        frozenset(action() for _ in range(rng.randrange(3))) if rng.random() < 0.1 else action()
        for _ in range(rng.randint(0, longest))
    )


def textbook_lcs(first: Sequence[Step], second: Sequence[Step]) -> int:
    """The longest common subsequence by the dynamic program of every textbook."""
    table = [[0] * (len(second) + 1) for _ in range(len(first) + 1)]
    for i, one in enumerate(first):
        for j, other in enumerate(second):
            table[i + 1][j + 1] = table[i][j] + 1 if one == other else max(table[i][j + 1], table[i + 1][j])
    return table[-1][-1]


def best_matching(weights: Sequence[Sequence[int]]) -> tuple[int, int]:
    """The weight of the heaviest matching and the longest increasing subsequence among the heaviest, by trying all."""
    best = (0, 0)
    columns = len(weights[0])

    def extend(row: int, weight: int, chosen: list[int]) -> None:
        nonlocal best
        if row == len(weights):
            best = max(best, (weight, longest_increasing(chosen)))
            return
        extend(row + 1, weight, chosen)
        for column in range(columns):
            if weights[row][column] and column not in chosen:
                extend(row + 1, weight + weights[row][column], [*chosen, column])

    extend(0, 0, [])
    return best


def longest_increasing(values: Sequence[int]) -> int:
    """The length of the longest strictly increasing subsequence (patience sorting)."""
    piles: list[int] = []
    for value in values:
        pile = bisect_left(piles, value)
        piles[pile : pile + 1] = [value]
    return len(piles)
