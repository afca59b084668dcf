"""States that random walks visit, and in which of them which actions apply: a table to compare domains in.

A set of states is an int with one bit a state, so that the states in which an action applies are the intersection of
those in which its preconditions hold: the cost follows the actions, not their product with the states.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from math import prod
from operator import and_, or_
from random import Random

from pddl_eval.budget import check
from pddl_eval.model import EQUALITY, Atom, Domain, Operator, Problem, State, indexes
from pddl_eval.strips import joins
from pddl_eval.strips.joins import objects_that_fit, picker
from pddl_eval.strips.task import GroundTask, successor_generator
from pddl_eval.verdict import Undecided

WALKS = 20
STEPS = 25
SEED = 0

MAX_LOOKS = 4_000_000
"""Operators that are looked at on the way, below a second; the walks end where they need more."""

ACTIONS_PER_CHECK = 500
"""Actions between two looks at the row's budget, a few milliseconds."""

Arguments = tuple[str, ...]


@dataclass(frozen=True, slots=True, eq=False)
class VisitedStates:
    """``count`` different states; ``holds`` maps an atom to those in which it is true, ``applicable`` an operator's
    name to its instances that apply in some of them, by their arguments, and to these states. Bit i is state i.
    """

    count: int
    holds: Mapping[Atom, int]
    applicable: Mapping[str, Mapping[Arguments, int]]

    @property
    def states(self) -> tuple[State, ...]:
        """The states themselves, in the order in which they were visited first."""
        return tuple(
            frozenset(atom for atom, states in self.holds.items() if states >> index & 1) for index in range(self.count)
        )


def visited_states(problem: Problem, domain: Domain) -> VisitedStates | Undecided:
    """The states on ``WALKS`` random walks from the initial state, each of at most ``STEPS`` steps, that included.

    A step chooses an operator among those that have applicable instances, then one of these, both in alphabetical
    order of the action and with equal chances: the element at ``int(len * random())`` of ``random.Random(SEED)``. One
    generator serves all walks. Choosing the operator first lets also those be seen that have few instances. A walk ends
    where nothing applies; all end where they have looked at ``MAX_LOOKS`` operators. ``Undecided`` where a bound of
    ``joins`` is hit or the domain is not STRIPS.

    >>> from pddl_eval.parsing import parse_domain
    >>> lamp = parse_domain("(define (domain d) (:action switch :precondition (off) :effect (and (on) (not (off)))))")
    >>> visited_states(Problem("p", "d", {}, frozenset({("off",)}), frozenset()), lamp).states
    (frozenset({('off',)}), frozenset({('on',)}))
    """
    if domain.outside_strips:
        return Undecided(f"the domain is not STRIPS ({domain.outside_strips[0]})")
    try:
        instances = joins.reachable_instances({**problem.objects, **domain.constants}, problem.init, domain)
    except joins.GroundingLimitError as limit:
        return Undecided(str(limit))
    instances.sort(key=lambda instance: (instance[0].name, instance[1]))
    changing = {atom for *_, added, deleted in instances for atom in (*added, *deleted)}
    bit = {atom: 1 << index for index, atom in enumerate(sorted(changing))}

    def bits(atoms: Iterable[Atom]) -> int:
        return reduce(or_, [bit[atom] for atom in atoms if atom in bit], 0)

    operators = [
        Operator(
            operator.name, tuple((each, ()) for each in arguments), bits(needed), bits(avoided), bits(add), bits(delete)
        )
        for operator, arguments, needed, avoided, add, delete in instances
        if all(atom in bit or atom not in problem.init for atom in avoided)
    ]
    task = GroundTask(tuple(bit), bit, problem.init - changing, bits(problem.init), tuple(operators))
    states = _walk(task)
    everywhere = (1 << len(states)) - 1
    columns = zip(*(f"{state:0{len(bit) or 1}b}" for state in reversed(states)), strict=True)  # highest atom first
    holds = {atom: int("".join(column), 2) for atom, column in zip(reversed(task.atoms), columns, strict=False)}
    holds |= dict.fromkeys(task.always, everywhere)
    applicable: dict[str, dict[Arguments, int]] = {}
    for number, operator in enumerate(operators):
        positive = [holds[task.atoms[index]] for index in indexes(operator.preconditions)]
        negative = [holds[task.atoms[index]] for index in indexes(operator.negative_preconditions)]
        if where := reduce(and_, positive, everywhere) & ~reduce(or_, negative, 0):
            applicable.setdefault(operator.name, {})[operator.action[1:]] = where
        if not number % ACTIONS_PER_CHECK:
            check()
    return VisitedStates(len(states), holds, applicable)


def _walk(task: GroundTask) -> Sequence[int]:
    """The states that the walks visit, each once."""
    chance = Random(SEED).random
    successors = successor_generator(task)
    rank = {id(operator): number for number, operator in enumerate(task.operators)}
    known: dict[int, list[list[int]]] = {}  # a state's successors, operator by operator
    seen = {task.initial: None}
    looks = 0
    for _ in range(WALKS):
        state = task.initial
        for _ in range(STEPS):
            if state not in known:
                found, looked_at = successors(state)
                looks += looked_at
                by_name: dict[str, list[tuple[int, int]]] = {}
                for operator, after in found:
                    by_name.setdefault(operator.name, []).append((rank[id(operator)], after))
                known[state] = [[after for _, after in sorted(group)] for _, group in sorted(by_name.items())]
                check()
            choices = known[state]
            if not choices or looks > MAX_LOOKS:
                break
            following = choices[int(len(choices) * chance())]
            state = following[int(len(following) * chance())]
            seen.setdefault(state)
    return tuple(seen)


class Instances:
    """The instances of an operator of any domain, over the states that were visited.

    ``objects`` are those of the problem and the domain's constants.
    """

    def __init__(
        self, operator: Operator[State], domain: Domain, objects: Mapping[str, str], visited: VisitedStates
    ) -> None:
        self._holds, self._everywhere = visited.holds, (1 << visited.count) - 1
        self._fitting = [objects_that_fit(objects, types, domain) for _, types in operator.parameters]
        names = {term for part in operator.parts for atom in part for term in atom} - {*operator.action[1:]}
        self._words = tuple(sorted(names))
        slots = {term: slot for slot, term in enumerate((*self._words, *operator.action[1:]))}
        self._parts = [
            [picker([slots[term] for term in atom]) for atom in sorted(part) if atom[0] != EQUALITY]
            for part in operator.parts
        ]
        self._equal, self._different = (
            [(slots[atom[1]], slots[atom[2]]) for atom in part if atom[0] == EQUALITY] for part in operator.parts[:2]
        )

    def where(self, arguments: Arguments) -> int:
        """The states in which the instance with these arguments applies."""
        if len(arguments) != len(self._fitting):
            return 0
        if not all(each in fitting for each, fitting in zip(arguments, self._fitting, strict=True)):
            return 0
        terms = self._words + arguments
        if any(terms[a] != terms[b] for a, b in self._equal) or any(terms[a] == terms[b] for a, b in self._different):
            return 0
        states = self._everywhere
        for pick in self._parts[0]:
            states &= self._holds.get(pick(terms), 0)
        for pick in self._parts[1]:
            states &= ~self._holds.get(pick(terms), 0)
        return states

    def effects(self, arguments: Arguments) -> tuple[set[Atom], set[Atom]]:
        """What the instance adds, and what it deletes and does not add."""
        terms = self._words + arguments
        added, deleted = ({pick(terms) for pick in part} for part in self._parts[2:])
        return added, deleted - added


def count_applicable(domain: Domain, objects: Mapping[str, str], visited: VisitedStates) -> Mapping[str, int]:
    """For each operator of a domain, the number of pairs of a visited state and an instance that applies in it.

    The instances themselves are not listed where parameters are in no precondition: these multiply the number. The
    domain's operators have different names. Raises ``GroundingLimitError``.
    """
    bare, factor = {}, {}
    for operator in domain.operators:
        asked = {term for part in operator.parts[:2] for atom in part for term in atom[1:]}
        free = [types for name, types in operator.parameters if name not in asked]
        factor[operator.name] = prod(len(objects_that_fit(objects, types, domain)) for types in free)
        bare[operator.name] = Operator(
            operator.name,
            tuple(each for each in operator.parameters if each[0] in asked),
            *operator.parts[:2],
            frozenset[Atom](),
            frozenset[Atom](),
        )
    conditions = replace(domain, operators=tuple(bare[name] for name, number in factor.items() if number))
    instances = {each.name: Instances(each, domain, objects, visited) for each in conditions.operators}
    count = dict.fromkeys(factor, 0)
    found = joins.reachable_instances(objects, frozenset(visited.holds), conditions)
    for number, (operator, arguments, *_) in enumerate(found):
        count[operator.name] += instances[operator.name].where(arguments).bit_count()
        if not number % ACTIONS_PER_CHECK:
            check()
    return {name: number * factor[name] for name, number in count.items()}
