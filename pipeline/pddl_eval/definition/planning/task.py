"""The ground task: one bit for each atom that may change, the operators that can apply, and the states they lead to.

The goal plays no part: all goals over the same objects and initial state share one ground task. ``grounding`` finds the
operators; here those that can never apply or never change anything are left out. Every other file of this room works
on the ground task.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache, reduce
from itertools import count
from operator import or_
from typing import NamedTuple

from pddl_eval.definition import words
from pddl_eval.definition.budget import spend
from pddl_eval.definition.grounding import MAX_ATOMS, GroundingLimitError, reachable_operators
from pddl_eval.definition.model import Action, Atom, Domain, Operator, Problem, State, indexes
from pddl_eval.definition.verdict import Undecided, Unsolvable

TASKS_KEPT = 4
"""Ground tasks kept, with what is derived from them: a reference and its answers share theirs."""

MAX_STATES = 20_000
"""Reachable states that are enumerated, some five megabytes."""

MAX_EXAMINED = 4_000_000
"""Operators that are examined to enumerate states, or on random walks, below a second."""

MAX_PASSES = 100
"""Passes over all operators to find those that can never apply; beyond it they are kept, which is no mistake."""


NOT = "not"
"""Heads the name of a negated atom; no predicate is called so."""


class BitOperator(NamedTuple):
    """A ground operator whose sets of atoms are ints with one bit an atom."""

    action: Action
    preconditions: int
    negative_preconditions: int
    add_effects: int
    delete_effects: int

    def applicable(self, state: int) -> bool:
        """``Operator.applicable`` on bits."""
        return state & self.preconditions == self.preconditions and not state & self.negative_preconditions

    def apply(self, state: int) -> int:
        """``Operator.apply`` on bits."""
        return state & ~self.delete_effects | self.add_effects


Successors = Callable[[int], tuple[list[tuple[BitOperator, int]], int]]
"""From a state to each applicable operator with the state after it, and how many operators were examined."""


def successor_generator(task: GroundTask) -> Successors:
    """The function that lists, for a state, each applicable operator and its successor.

    Each operator is filed under one of its preconditions, the one that the fewest operators have, so that a state of n
    blocks examines little more than its own n places. A drawer that is opened counts as an operator; one is some 0.2
    microseconds.

    >>> push = BitOperator(("push",), 0b01, 0, 0b10, 0b01)
    >>> GroundTask((("up",), ("down",)), {}, frozenset(), 0b01, (push,)).successors(0b01) == ([(push, 0b10)], 2)
    True
    """
    frequency = Counter(index for operator in task.operators for index in indexes(operator.preconditions))
    drawers: dict[int, list[BitOperator]] = {-1: []}  # -1: operators without preconditions
    for operator in task.operators:
        rarest = min(indexes(operator.preconditions), key=lambda index: (frequency[index], index), default=-1)
        drawers.setdefault(rarest, []).append(operator)
    keys = sum(1 << index for index in drawers if index >= 0)

    def successors(state: int) -> tuple[list[tuple[BitOperator, int]], int]:
        found = []
        examined = -1
        for index in (-1, *indexes(state & keys)):
            drawer = drawers[index]
            examined += 1 + len(drawer)
            for operator in drawer:
                _, needed, avoided, added, deleted = operator  # in place of two calls: the inner loop
                if state & needed == needed and not state & avoided:
                    found.append((operator, state & ~deleted | added))
        return found, examined

    return successors


class StateSpace:
    """The reachable states, breadth first, by operators in alphabetical order; enumerated as far as somebody asked for.

    So the way on which a state is found is the shortest, and of the shortest the first when steps are compared as
    tuples of words. States are kept as ints: as sets of atoms they would take a hundred megabytes or more.
    """

    def __init__(self, task: GroundTask) -> None:
        self._successors = task.successors
        self._queue = [task.initial]
        self._into: dict[int, tuple[int, Action]] = {task.initial: (task.initial, ())}
        self._expanded = self._examined = 0

    def __iter__(self) -> Iterator[int]:
        """The states; it ends early at a limit (``is_whole``)."""
        for number in count():
            while number == len(self._queue):
                if self.is_whole or len(self._queue) > MAX_STATES or self._examined > MAX_EXAMINED:
                    return
                self._expand()
            yield self._queue[number]

    @property
    def is_whole(self) -> bool:
        """True where all reachable states were found."""
        return self._expanded == len(self._queue)

    def states(self) -> Sequence[int] | Undecided:
        """All reachable states."""
        found = [*self]
        return found if self.is_whole else Undecided(f"more than {MAX_STATES:,} states can be reached")

    def plan_to(self, state: int) -> tuple[Action, ...]:
        """The actions on the way to a state that was found."""
        plan = []
        while (before := self._into[state])[1]:
            state, action = before
            plan.append(action)
        return tuple(reversed(plan))

    def _expand(self) -> None:
        state = self._queue[self._expanded]
        following, examined = self._successors(state)
        spend(1 + examined)
        self._expanded += 1
        self._examined += examined
        for operator, after in sorted(following):
            if after not in self._into:
                self._into[after] = (state, operator.action)
                self._queue.append(after)


@dataclass(frozen=True, eq=False)
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
    operators: tuple[BitOperator, ...]

    # Lazy: an easy task needs none of them.
    successors = cached_property(successor_generator)
    space = cached_property(StateSpace)

    @cached_property
    def with_negations(self) -> GroundTask:
        """The same task with an atom ``("not", …)`` for each atom, true where that is false, behind all atoms."""
        width = len(self.atoms)
        everything = (1 << width) - 1
        negations = tuple((NOT, *atom) for atom in self.atoms)
        bit = {**self.bit, **{atom: 1 << width + index for index, atom in enumerate(negations)}}
        operators = tuple(
            BitOperator(
                each.action,
                each.preconditions | each.negative_preconditions << width,
                0,
                each.add_effects | each.delete_effects << width,
                each.delete_effects | each.add_effects << width,
            )
            for each in self.operators
        )
        initial = self.initial | (everything & ~self.initial) << width
        return GroundTask((*self.atoms, *negations), bit, self.always, initial, operators)

    def state(self, bits: int) -> State:
        """The atoms of a state, including those that are always true."""
        return self.always.union(self.atoms[index] for index in indexes(bits))

    def bits_of_goal(self, goal: Iterable[Atom]) -> int | Unsolvable:
        """The goal's bits, or the proof that one of its atoms is false in every reachable state."""
        bits = 0
        for atom in sorted(goal):
            if atom not in self.always:
                if atom not in self.bit:
                    return Unsolvable(words.never_added(atom))
                bits |= self.bit[atom]
        return bits


def ground(problem: Problem, domain: Domain) -> GroundTask | Undecided:
    """Ground the domain over the problem's objects and its own constants, from the problem's initial state.

    ``Undecided`` when a bound of ``grounding`` was hit or when the domain says more than its STRIPS operators
    (``Domain.outside_strips``). A constant has the type that the domain gives it, whatever the problem declares. An
    undeclared type is a plain ``object``, of an object as of a parameter; an atom that no operator touches stays as it
    is. The last ``TASKS_KEPT`` answers are kept.
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


@lru_cache(maxsize=TASKS_KEPT)
def _ground(objects: frozenset[tuple[str, str]], init: State, domain: Domain) -> GroundTask | Undecided:
    try:
        found = reachable_operators(dict(objects), init, domain)
        operators = sorted(_without_impossible(found, init), key=lambda operator: operator.action)
    except GroundingLimitError as limit:
        return Undecided(str(limit))
    deletable = {atom for operator in operators for atom in operator.delete_effects - operator.add_effects}
    added = {atom for operator in operators for atom in operator.add_effects}
    always = init - deletable
    atoms = tuple(sorted((added | init & deletable) - always))
    if len(atoms) > MAX_ATOMS:
        return Undecided(f"more than {MAX_ATOMS:,} atoms may change")
    bit = {atom: 1 << index for index, atom in enumerate(atoms)}
    kept: dict[tuple[int, int, int, int], BitOperator] = {}
    for operator in operators:
        if always.isdisjoint(operator.negative_preconditions):
            bits = in_bits(operator, bit)
            adds = bits.add_effects & ~bits.preconditions
            deletes = bits.delete_effects & ~bits.add_effects & ~bits.negative_preconditions
            if (adds or deletes) and not bits.preconditions & bits.negative_preconditions:
                bits = bits._replace(add_effects=adds, delete_effects=deletes)
                kept.setdefault(bits[1:], bits)
    return GroundTask(atoms, bit, always, bits_of(init, bit), tuple(kept.values()))


def bits_of(atoms: Iterable[Atom], bit: Mapping[Atom, int]) -> int:
    """The bits of the atoms that have one."""
    return reduce(or_, [bit[atom] for atom in atoms if atom in bit], 0)


def in_bits(operator: Operator, bit: Mapping[Atom, int]) -> BitOperator:
    """The ground operator over bits."""
    needed, avoided, added, deleted = (bits_of(part, bit) for part in operator.parts)
    return BitOperator(operator.action, needed, avoided, added, deleted)


def _without_impossible(operators: list[Operator], init: State) -> list[Operator]:
    """Leave out what needs a false atom that stays true, or a true one that is added only by what is left out."""
    once_true, once_false = set(init), set[Atom]()

    def is_possible(operator: Operator) -> bool:
        return operator.preconditions <= once_true and operator.negative_preconditions & init <= once_false

    if all(init.isdisjoint(operator.negative_preconditions) for operator in operators):
        return operators
    for _ in range(MAX_PASSES):
        spend(len(operators))
        size = len(once_true) + len(once_false)
        for operator in filter(is_possible, operators):
            once_true |= operator.add_effects
            once_false |= operator.delete_effects - operator.add_effects
        if size == len(once_true) + len(once_false):
            return list(filter(is_possible, operators))
    return operators
