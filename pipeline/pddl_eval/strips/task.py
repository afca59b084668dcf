"""The ground task: one bit for each atom that may change, the operators that can apply, and the states they lead to.

The goal plays no part: all goals over the same objects and initial state share one ground task. ``joins`` finds the
operators; here those that can never apply or never change anything are left out. Every other file of this room works
on the ground task.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache, reduce
from operator import or_

from pddl_eval.budget import check
from pddl_eval.model import Atom, Domain, Operator, Problem, State, indexes, show_atom
from pddl_eval.strips import joins
from pddl_eval.verdict import Undecided, Unsolvable

CACHED_TASKS = 4
"""Ground tasks kept, and as many of each thing derived from one: a reference and its answers share theirs."""

MAX_STATES = 50_000
"""Reachable states that are kept, some ten megabytes."""

MAX_LOOKS = 4_000_000
"""Operators that are looked at on the way (``successor_generator`` counts them), below a second."""

CACHED_STATE_SETS = 8
"""State sets kept, so that goals over one initial state share theirs."""

STATES_PER_CHECK = 500
"""States between two looks at the row's budget, some milliseconds."""

MAX_PASSES = 100
"""Passes over all operators to find those that can never apply; beyond it they are kept, which is no mistake."""

Successors = Callable[[int], tuple[list[tuple[Operator[int], int]], int]]
"""From a state to each applicable operator with the state after it, and how many operators were looked at."""


@dataclass(frozen=True, slots=True, eq=False)
class GroundTask:
    """An initial state and its reachable operators, over the atoms whose truth may change.

    ``atoms[i]`` is the atom of bit ``1 << i``, ``bit`` the way back. ``always`` holds the atoms that are true in every
    reachable state and have no bit. An atom in neither is false in every reachable state. No operator adds what it
    requires or deletes what it adds.
    """

    atoms: tuple[Atom, ...]
    bit: Mapping[Atom, int]
    always: State
    initial: int
    operators: tuple[Operator[int], ...]

    def state(self, bits: int) -> State:
        """The atoms of a state, including those that are always true."""
        return self.always.union(self.atoms[index] for index in indexes(bits))

    def bits_of_goal(self, goal: Iterable[Atom]) -> int | Unsolvable:
        """The goal's bits, or the proof that one of its atoms is false in every reachable state."""
        bits = 0
        for atom in sorted(goal):
            if atom not in self.always:
                if atom not in self.bit:
                    return Unsolvable(f"{show_atom(atom)} is not true initially and no applicable operator adds it")
                bits |= self.bit[atom]
        return bits


def ground(problem: Problem, domain: Domain) -> GroundTask | Undecided:
    """Ground the domain over the problem's objects and its own constants, from the problem's initial state.

    ``Undecided`` when a bound of ``joins`` was hit or when the domain says more than its STRIPS operators
    (``Domain.outside_strips``). A constant has the type that the domain gives it, whatever the problem declares. An
    undeclared type is a plain ``object``, of an object as of a parameter; an atom that no operator touches stays as it
    is. The last ``CACHED_TASKS`` answers are kept.
    """
    if domain.outside_strips:
        return Undecided(f"the domain is not STRIPS ({domain.outside_strips[0]})")
    return _ground(frozenset({**problem.objects, **domain.constants}.items()), problem.init, domain)


def ground_goal(problem: Problem, domain: Domain, goal: State) -> tuple[GroundTask, int] | Unsolvable | Undecided:
    """The ground task and the goal's bits, or why one of them does not exist."""
    task = ground(problem, domain)
    if isinstance(task, Undecided):
        return task
    bits = task.bits_of_goal(goal)
    return bits if isinstance(bits, Unsolvable) else (task, bits)


@lru_cache(maxsize=CACHED_TASKS)
def _ground(objects: frozenset[tuple[str, str]], init: State, domain: Domain) -> GroundTask | Undecided:
    try:
        found = joins.reachable_instances(dict(objects), init, domain)
    except joins.GroundingLimitError as limit:
        return Undecided(str(limit))
    instances = _without_impossible(found, init)
    addable = {atom for *_, added, _ in instances for atom in added}
    deletable = {atom for *_, added, deleted in instances for atom in deleted if atom not in added}
    changing = dict.fromkeys(atom for *_, added, deleted in instances for atom in (*added, *deleted))
    always = init - deletable
    atoms = tuple(atom for atom in changing if atom not in always and (atom in addable or atom in init))
    if len(atoms) > joins.MAX_ATOMS:
        return Undecided(f"more than {joins.MAX_ATOMS:,} atoms may change")
    bit = {atom: 1 << index for index, atom in enumerate(atoms)}

    def bits(some: Iterable[Atom]) -> int:
        return reduce(or_, [bit[atom] for atom in some if atom in bit], 0)

    kept: dict[tuple[int, int, int, int], Operator[int]] = {}
    for operator, arguments, needed, avoided, added, deleted in instances:
        needs, avoids, adds = bits(needed), bits(avoided), bits(added)
        deletes = bits(deleted) & ~adds & ~avoids
        adds &= ~needs
        if (adds or deletes) and not needs & avoids and always.isdisjoint(avoided):
            parameters = tuple(zip(arguments, (types for _, types in operator.parameters), strict=True))
            parts = (needs, avoids, adds, deletes)
            kept.setdefault(parts, Operator(operator.name, parameters, *parts))
    return GroundTask(atoms, bit, always, bits(init), tuple(kept.values()))


def _without_impossible(instances: list[joins.Instance], init: State) -> list[joins.Instance]:
    """Leave out what needs a false atom that stays true, or a true one that is added only by what is left out."""
    once_true, once_false = set(init), set[Atom]()

    def is_possible(instance: joins.Instance) -> bool:
        _, _, needed, avoided, *_ = instance
        return once_true.issuperset(needed) and all(atom not in init or atom in once_false for atom in avoided)

    if all(init.isdisjoint(avoided) for _, _, _, avoided, *_ in instances):
        return instances
    for _ in range(MAX_PASSES):
        check()
        size = len(once_true) + len(once_false)
        for *_, added, deleted in filter(is_possible, instances):
            once_true.update(added)
            once_false.update(atom for atom in deleted if atom not in added)
        if size == len(once_true) + len(once_false):
            return list(filter(is_possible, instances))
    return instances


@lru_cache(maxsize=CACHED_TASKS)
def successor_generator(task: GroundTask) -> Successors:
    """The function that lists, for a state, each applicable operator and its successor.

    Each operator is filed under one of its preconditions, the one that the fewest operators have, so that a state of n
    blocks looks at little more than its own n places. The function also counts the operators and drawers that it looked
    at, for budgets: one is some 0.2 microseconds.

    >>> push = Operator("push", (), 0b01, 0, 0b10, 0b01)
    >>> successors = successor_generator(GroundTask((("up",), ("down",)), {}, frozenset(), 0b01, (push,)))
    >>> successors(0b01) == ([(push, 0b10)], 2)
    True
    """
    frequency = Counter(index for operator in task.operators for index in indexes(operator.preconditions))
    filed: dict[int, list[tuple[Operator[int], int, int, int, int]]] = {0: []}
    for operator in task.operators:
        needed, avoided = operator.preconditions, operator.negative_preconditions
        rarest = min(indexes(needed), key=lambda index: (frequency[index], index), default=None)
        drawer = filed.setdefault(0 if rarest is None else 1 << rarest, [])
        drawer.append((operator, needed, avoided, operator.add_effects, operator.delete_effects))
    unconditional = filed[0]
    keys = sum(filed)

    def successors(state: int) -> tuple[list[tuple[Operator[int], int]], int]:
        found = []
        drawer = unconditional
        looked_at = len(drawer)
        present = state & keys
        while True:
            for operator, needed, avoided, added, deleted in drawer:
                if state & needed == needed and not state & avoided:
                    found.append((operator, (state | deleted) ^ deleted | added))
            if not present:
                return found, looked_at
            key = present & -present
            present ^= key
            drawer = filed[key]
            looked_at += 1 + len(drawer)

    return successors


@lru_cache(maxsize=CACHED_STATE_SETS)
def reachable_states(task: GroundTask, max_states: int = MAX_STATES) -> frozenset[int] | None:
    """The set of reachable states; None beyond ``max_states`` or ``MAX_LOOKS``."""
    successors = successor_generator(task)
    seen = {task.initial}
    queue = [task.initial]
    looks = 0
    for number, state in enumerate(queue, 1):
        following, looked_at = successors(state)
        looks += looked_at
        if not number % STATES_PER_CHECK:
            check()
        for _, after in following:
            if after not in seen:
                seen.add(after)
                queue.append(after)
        if len(seen) > max_states or looks > MAX_LOOKS:
            return None
    return frozenset(seen)
