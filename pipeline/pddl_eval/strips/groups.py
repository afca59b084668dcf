"""Groups of atoms of which every reachable state contains at most one, or exactly one: where a block is, what is free.

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
from functools import lru_cache
from itertools import permutations

from pddl_eval.model import Atom
from pddl_eval.strips.ground import CACHED_TASKS
from pddl_eval.strips.task import BitOperator, GroundTask, indexes

MAX_CANDIDATES = 100
"""Candidates that are looked at; Blocks World has 22."""

MAX_ARITY = 5
"""Predicates of more arguments join no candidate: the ways to match them grow with the factorial."""

Predicate = tuple[str, int]
"""A predicate's name and the length of its atoms."""

Part = tuple[Predicate, tuple[int, ...]]
"""A predicate of a candidate and the positions in its atoms of the candidate's parameters; at most one position is
left over, and counts over all objects."""

Candidate = frozenset[Part]


@dataclass(frozen=True, slots=True)
class Groups:
    """What induction proves of a task.

    Each of ``at_most_one`` is a set of bits of which no reachable state has two; ``exactly_one`` are those of them of
    which no reachable state lacks all; ``impossible`` are the bits that no reachable state has. ``excluded[i]`` joins
    the other members of bit i's groups.
    """

    at_most_one: tuple[int, ...]
    exactly_one: tuple[int, ...]
    impossible: int
    excluded: tuple[int, ...]


@lru_cache(maxsize=CACHED_TASKS)
def invariant_groups(task: GroundTask) -> Groups:
    """The groups of a task that refinement finds within ``MAX_CANDIDATES``."""
    at_most_one: dict[int, None] = {}
    exactly_one: dict[int, None] = {}
    impossible = 0
    queue = deque(_initial_candidates(task))
    seen = set(queue)
    while queue:
        candidate = queue.popleft()
        members = _members(task, candidate)
        refutation = _refutation(task, members)
        if refutation is None:
            for group, can_empty in _with_leaks(task, members).items():
                if not task.initial & group:
                    impossible |= group
                elif group.bit_count() > 1:
                    at_most_one[group] = None
                    if not can_empty:
                        exactly_one[group] = None
        else:
            for refined in _refinements(task, candidate, *refutation):
                if refined not in seen and len(seen) < MAX_CANDIDATES:
                    seen.add(refined)
                    queue.append(refined)
    excluded = [0] * len(task.atoms)
    for group in at_most_one:
        for index in indexes(group):
            excluded[index] |= group & ~(1 << index)
    return Groups(tuple(at_most_one), tuple(exactly_one), impossible, tuple(excluded))


def _initial_candidates(task: GroundTask) -> Iterator[Candidate]:
    """Each predicate alone, with one of its arguments counted or none."""
    for name, length in dict.fromkeys((atom[0], len(atom)) for atom in task.atoms):
        positions = range(1, length)
        for counted in (*positions, None):
            yield frozenset({((name, length), tuple(p for p in positions if p != counted))})


def _members(task: GroundTask, candidate: Candidate) -> dict[int, int]:
    """Each bit's group, for the groups that start with at most one member."""
    positions = dict(candidate)
    groups: dict[tuple[str, ...], int] = {}
    key_of: dict[int, tuple[str, ...]] = {}
    for atom, bit in task.bit.items():
        parameters = positions.get((atom[0], len(atom)))
        if parameters is not None:
            key = tuple(atom[p] for p in parameters)
            key_of[bit] = key
            groups[key] = groups.get(key, 0) | bit
    return {bit: group for bit, key in key_of.items() if ((group := groups[key]) & task.initial).bit_count() <= 1}


def _refutation(task: GroundTask, members: dict[int, int]) -> tuple[BitOperator, int] | None:
    """An operator that could raise a group's count above one and the bit that it adds; None proves the groups.

    Induction: let a state have at most one member. An operator that requires two does not apply. One that adds a
    member must add only one, and must require and delete another: the one that the state has.
    """
    everything = sum(members)
    for operator in task.operators:
        added = operator.added & everything
        while added:
            bit = added & -added
            added ^= bit
            group = members[bit]
            given = operator.required & group
            if given & (given - 1):
                continue
            if not given & operator.deleted or (operator.added & group) != bit:
                return operator, bit
    return None


def _with_leaks(task: GroundTask, members: dict[int, int]) -> dict[int, bool]:
    """Each proven group, and whether some operator can take its last member away."""
    leaks = dict.fromkeys(members.values(), False)
    everything = sum(members)
    for operator in task.operators:
        deleted = operator.deleted & everything
        while deleted:
            bit = deleted & -deleted
            deleted ^= bit
            group = members[bit]
            given = operator.required & group
            if not operator.added & group and not given & ~bit:
                leaks[group] = True
    return leaks


def _refinements(task: GroundTask, candidate: Candidate, operator: BitOperator, bit: int) -> Iterator[Candidate]:
    """The candidate with one more predicate: of an atom that the operator requires and deletes."""
    positions = dict(candidate)
    added = task.atoms[bit.bit_length() - 1]
    values = tuple(added[p] for p in positions[added[0], len(added)])
    for index in indexes(operator.required & operator.deleted):
        taken = task.atoms[index]
        predicate = (taken[0], len(taken))
        arity = len(taken) - 1
        if predicate not in positions and arity <= MAX_ARITY and arity - len(values) in (0, 1):
            for parameters in _places(taken, values):
                yield candidate | {(predicate, parameters)}


def _places(atom: Atom, values: tuple[str, ...]) -> Iterator[tuple[int, ...]]:
    """Every way to find the values at different positions of the atom."""
    for places in permutations(range(1, len(atom)), len(values)):
        if all(atom[place] == value for place, value in zip(places, values, strict=True)):
            yield places
