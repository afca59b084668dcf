"""Mutex groups: atoms of which every reachable state contains at most one, or exactly one, such as a block's places.

Candidates are lifted, as in Helmert, "Concise finite-domain representations for PDDL planning tasks" (2009), section
5: ``on(x, *), on-table(x), holding(x)`` stands for one group for each x. A candidate whose count some operator can
raise is refined by an atom that this operator takes away. Its proof is not lifted but plain induction over the ground
operators, one group at a time, so that an initial state that breaks the rule for one object costs no other object its
group.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import permutations
from typing import TYPE_CHECKING

from pddl_eval.definition.budget import spend
from pddl_eval.definition.model import indexes

if TYPE_CHECKING:
    from pddl_eval.definition.planning.task import BitOperator, GroundTask

MAX_CANDIDATES = 100
"""Candidates that are examined; Blocks World has 22."""

MAX_ARITY = 5
"""Predicates of more arguments join no candidate: the ways to match them grow with the factorial."""

Candidate = frozenset[tuple[tuple[str, int], tuple[int, ...]]]
"""Predicates (name and length of their atoms), each with the positions in its atoms of the candidate's parameters; at
most one position is left over, and counts over all objects."""


@dataclass(frozen=True, slots=True)
class MutexGroups:
    """What induction proves of a task.

    Each of ``at_most_one`` is a set of bits of which no reachable state has two; ``exactly_one`` are those of them of
    which no reachable state lacks all; ``impossible`` are the bits that no reachable state has. ``excluded[i]`` joins
    the other members of bit i's groups.
    """

    at_most_one: tuple[int, ...]
    exactly_one: tuple[int, ...]
    impossible: int
    excluded: tuple[int, ...]


def mutex_groups(task: GroundTask) -> MutexGroups:  # noqa: C901 (one queue of candidates)
    """The groups of a task that refinement finds within ``MAX_CANDIDATES``."""
    at_most_one: dict[int, None] = {}
    exactly_one: dict[int, None] = {}
    impossible = 0
    queue: deque[Candidate] = deque()
    for name, length in dict.fromkeys((atom[0], len(atom)) for atom in task.atoms):
        for counted in (*range(1, length), None):
            queue.append(frozenset({((name, length), tuple(p for p in range(1, length) if p != counted))}))
    seen = set(queue)
    while queue:
        spend(len(task.operators))
        candidate = queue.popleft()
        groups = _groups(task, candidate)
        proof = _induction(task, groups)
        if isinstance(proof, tuple):
            for refined in _refinements(task, candidate, *proof):
                if refined not in seen and len(seen) < MAX_CANDIDATES:
                    seen.add(refined)
                    queue.append(refined)
            continue
        for group in dict.fromkeys(groups.values()):
            if not task.initial & group:
                impossible |= group
            elif group.bit_count() > 1:
                at_most_one[group] = None
                if group not in proof:
                    exactly_one[group] = None
    excluded = [0] * len(task.atoms)
    for group in at_most_one:
        for index in indexes(group):
            excluded[index] |= group & ~(1 << index)
    return MutexGroups(tuple(at_most_one), tuple(exactly_one), impossible, tuple(excluded))


def _groups(task: GroundTask, candidate: Candidate) -> dict[int, int]:
    """The group of each bit, for the groups that start with at most one member."""
    positions = dict(candidate)
    groups: dict[tuple[str, ...], int] = {}
    for atom, bit in task.bit.items():
        parameters = positions.get((atom[0], len(atom)))
        if parameters is not None:
            key = tuple(atom[p] for p in parameters)
            groups[key] = groups.get(key, 0) | bit
    possible = [group for group in groups.values() if (group & task.initial).bit_count() <= 1]
    return {1 << index: group for group in possible for index in indexes(group)}


def _induction(task: GroundTask, groups: dict[int, int]) -> tuple[BitOperator, int] | set[int]:
    """An operator that could raise a group's count above one and the bit that it adds; else the groups that can empty.

    Induction: let a state have at most one member. An operator that requires two does not apply. One that adds a
    member must add only one, and must require and delete another: the one that the state has. A group can empty where
    an operator deletes a member, adds none and does not require another one.
    """
    can_empty = set()
    everything = sum(groups)
    for operator in task.operators:
        for index in indexes((operator.add_effects | operator.delete_effects) & everything):
            bit = 1 << index
            group = groups[bit]
            given = operator.preconditions & group
            if operator.add_effects & bit:
                requires_two = given & (given - 1)
                if not requires_two and (not given & operator.delete_effects or operator.add_effects & group != bit):
                    return operator, bit
            elif not operator.add_effects & group and not given & ~bit:
                can_empty.add(group)
    return can_empty


def _refinements(task: GroundTask, candidate: Candidate, operator: BitOperator, bit: int) -> Iterator[Candidate]:
    """The candidate with one more predicate: of an atom that the operator requires and deletes."""
    positions = dict(candidate)
    added = task.atoms[bit.bit_length() - 1]
    values = tuple(added[p] for p in positions[added[0], len(added)])
    for index in indexes(operator.preconditions & operator.delete_effects):
        taken = task.atoms[index]
        predicate = (taken[0], len(taken))
        arity = len(taken) - 1
        if predicate not in positions and arity <= MAX_ARITY and arity - len(values) in (0, 1):
            for places in permutations(range(1, len(taken)), len(values)):
                if tuple(taken[place] for place in places) == values:
                    yield candidate | {(predicate, places)}
