"""States that random walks visit, and in which of them which actions apply: a table to compare domains in.

A set of states is an int with one bit a state, so that the states in which an action applies are the intersection of
those in which its preconditions hold: the cost follows the actions, not their product with the states.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from math import prod
from random import Random

from pddl_eval.definition.budget import spend
from pddl_eval.definition.grounding import OBJECTS_PER_WORK, GroundingLimitError, objects_that_fit, reachable_operators
from pddl_eval.definition.model import Atom, Domain, Operator, Problem, State, indexes
from pddl_eval.definition.planning.task import MAX_EXAMINED, GroundTask, bits_of, in_bits
from pddl_eval.definition.verdict import Undecided

WALKS = 20
STEPS = 25
SEED = 0

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

    def where(self, operator: Operator) -> int:
        """The states in which a ground operator applies."""
        states = (1 << self.count) - 1
        for atom in operator.preconditions:
            states &= self.holds.get(atom, 0)
        for atom in operator.negative_preconditions:
            states &= ~self.holds.get(atom, 0)
        return states


def visited_states(problem: Problem, domain: Domain) -> VisitedStates | Undecided:
    """The states on ``WALKS`` random walks from the initial state, each of at most ``STEPS`` steps, that included.

    A step chooses an operator among those that have applicable instances, then one of these, both in alphabetical
    order of the action and with equal chances: the element at ``int(len * random())`` of ``random.Random(SEED)``. One
    generator serves all walks. Choosing the operator first lets also those be seen that have few instances. A walk ends
    where nothing applies; all end where they have examined ``MAX_EXAMINED`` operators. ``Undecided`` where a bound of
    ``grounding`` is hit or the domain is not STRIPS.

    >>> from pddl_eval.definition.pddl import parse_domain
    >>> lamp = parse_domain("(define (domain d) (:action switch :precondition (off) :effect (and (on) (not (off)))))")
    >>> visited_states(Problem("p", "d", {}, frozenset({("off",)}), frozenset()), lamp).states
    (frozenset({('off',)}), frozenset({('on',)}))
    """
    if domain.outside_strips:
        return Undecided(f"the domain is not STRIPS ({domain.outside_strips[0]})")
    try:
        operators = reachable_operators({**problem.objects, **domain.constants}, problem.init, domain)
    except GroundingLimitError as limit:
        return Undecided(str(limit))
    operators.sort(key=lambda operator: operator.action)
    changing = frozenset().union(*(operator.add_effects | operator.delete_effects for operator in operators))
    always = problem.init - changing
    bit = {atom: 1 << index for index, atom in enumerate(sorted(changing))}
    possible = tuple(in_bits(each, bit) for each in operators if always.isdisjoint(each.negative_preconditions))
    states = _random_walks(GroundTask(tuple(bit), bit, always, bits_of(problem.init, bit), possible))
    holds = dict.fromkeys(always, (1 << len(states)) - 1) | dict.fromkeys(bit, 0)
    atoms = tuple(bit)
    for number, state in enumerate(states):
        spend(state.bit_count())
        for index in indexes(state):
            holds[atoms[index]] |= 1 << number
    visited = VisitedStates(len(states), holds, {})
    applicable: dict[str, dict[Arguments, int]] = {}
    for operator in operators:
        spend(len(operator.preconditions) + len(operator.negative_preconditions))
        if where := visited.where(operator):
            applicable.setdefault(operator.name, {})[operator.action[1:]] = where
    return replace(visited, applicable=applicable)


def _random_walks(task: GroundTask) -> Sequence[int]:
    """The states that the walks visit, each once."""
    chance = Random(SEED).random
    known: dict[int, list[list[int]]] = {}  # a state's successors, operator by operator
    seen = {task.initial: None}
    examined = 0
    for _ in range(WALKS):
        state = task.initial
        for _ in range(STEPS):
            if state not in known:
                found, count = task.successors(state)
                examined += count
                spend(1 + count)
                by_name = groupby(sorted(found), key=lambda each: each[0].action[0])
                known[state] = [[after for _, after in group] for _, group in by_name]
            choices = known[state]
            if not choices or examined > MAX_EXAMINED:
                break
            following = choices[int(len(choices) * chance())]
            state = following[int(len(following) * chance())]
            seen.setdefault(state)
    return tuple(seen)


def count_applicable(domain: Domain, objects: Mapping[str, str], visited: VisitedStates) -> Mapping[str, int]:
    """For each operator of a domain, the number of pairs of a visited state and an instance that applies in it.

    The instances themselves are not listed where parameters are in no precondition: these multiply the number. The
    domain's operators have different names. Raises ``GroundingLimitError``.
    """
    conditions, factor = [], {}
    for operator in domain.operators:
        asked = {term for part in operator.parts[:2] for atom in part for term in atom[1:]}
        free = [types for name, types in operator.parameters if name not in asked]
        factor[operator.name] = prod(len(objects_that_fit(objects, types, domain)) for types in free)
        parameters = tuple(each for each in operator.parameters if each[0] in asked)
        if factor[operator.name]:
            nothing = frozenset[Atom]()
            conditions.append(replace(operator, parameters=parameters, add_effects=nothing, delete_effects=nothing))
        spend(1 + len(objects) * len(free) // OBJECTS_PER_WORK)
    count = dict.fromkeys(factor, 0)
    once_true = frozenset(visited.holds)
    for ground in reachable_operators(objects, once_true, replace(domain, operators=tuple(conditions))):
        count[ground.name] += visited.where(ground).bit_count()
        spend(len(ground.preconditions) + len(ground.negative_preconditions))
    return {name: number * factor[name] for name, number in count.items()}
