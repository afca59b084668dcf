"""Initial states for tasks of one's own: those of seed problems, with more or fewer objects, after a random walk.

An object is added as a copy of another, or removed, where this leaves every object in a *shape* that some object of its
type has in a state of the seeds. The shape of an object is what atoms say of it: which predicate has it in which place.
So no block stands on two others, and no parcel is nowhere. How often counts only where it tells something: of places
that no operator fills, and of those that it fills only while it takes another atom of the object away. In
``(in ?parcel ?van)`` a van's place is not of that kind: it takes any number of parcels.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import islice
from random import Random
from typing import Any

from pddl_eval.benchmark.enumeration import DOMAINS, task_problem, tasks_of
from pddl_eval.benchmark.tasks import fresh_name, kind_of
from pddl_eval.definition.domains import PlanningDomain
from pddl_eval.definition.model import Atom, Operator, Problem, State
from pddl_eval.definition.state_space import Node, StateSpace
from pddl_eval.definition.validation import without_costs
from pddl_eval.errors import UserError

STATES_OF_A_SEED = 300
"""States of each seed that say which shapes there are, at most."""

LONGEST_WALK = 30
"""Steps of the random walk to an initial state, at most."""

TRIES = 12
"""Objects that are tried before the next change of the number of objects is given up."""

SEVERAL = 2
"""Two, or more."""

WORLD = "(the world)"
"""What one block is held by: it has a shape, too, of places that an operator fills while it takes away what is no
object's."""

Shape = tuple[str, frozenset[tuple[tuple[str, int], int]]]
"""An object's type, and how often which predicate has it in which place."""


class Starts:
    """Where tasks of a domain begin. Seeds are problems of it; without any, a domain of the benchmark has its own.

    Raises ``UserError`` where there are none, or where states alone do not say what a plan does.
    """

    def __init__(self, domain: PlanningDomain, seeds: Sequence[Problem] = ()) -> None:
        self.domain, self.seeds = domain, seeds
        if not seeds and domain.name not in DOMAINS:
            raise UserError(f"tasks of the domain {domain.name} need seeds: --from with problems of it")
        for problem in seeds:
            if obstacle := domain.obstacle_of(problem) or domain.domain.ill_typed(problem):
                raise UserError(f"the seed {problem.name} cannot be used: {obstacle}")

    def draw(self, random: Random, size: int) -> Problem:
        """An initial state, as a problem whose goal nobody asks for.

        ``size`` is how many objects more than the seed it may have; of a benchmark's problem, how many twice over.
        """
        if not self.seeds:
            fitting = [each for count, each in self._sizes if count <= 2 * size + 2]
            while True:
                if described := task_problem(self.domain.name, *random.choice(fitting)):
                    return self._after_walk(described.problem, random)
        problem = self._after_walk(random.choice(self.seeds), random)
        changes = random.randint(size // 2 - len(problem.objects) // 4, size)
        for _ in range(abs(changes)):
            changed = (self._changed(problem, random, more=changes > 0) for _ in range(TRIES))
            problem = next(filter(None, changed), problem)
            if random.random() < 0.3:  # an object can be copied in one state that cannot in another
                problem = self._after_walk(problem, random)
        return self._after_walk(problem, random) if changes else problem

    @cached_property
    def _sizes(self) -> list[tuple[int, tuple[str, str, Any]]]:
        """The configurations of the benchmark with their parameters, each with its number of objects."""
        domain = DOMAINS[self.domain.name]
        return [(len(domain.objects(task[2])), task) for task in tasks_of(domain)]

    def _after_walk(self, problem: Problem, random: Random) -> Problem:
        steps = random.choice((0, random.randint(1, LONGEST_WALK)))  # some walks do not lead back
        if not steps:
            return problem
        space = StateSpace(problem, without_costs(problem, self.domain.domain))
        node = next(islice(walk(space, random), steps, None), None)
        if node is None:
            return problem
        (atoms, told), _ = node
        values = {**problem.values, **dict(told)} if problem.values else {}
        return replace(problem, init=atoms, values=values)

    def _changed(self, problem: Problem, random: Random, more: bool) -> Problem | None:
        """The problem with one object more or less; None where that leaves an object in an unknown shape."""
        if not problem.objects:
            return None
        name = random.choice(sorted(problem.objects))
        own = sorted(atom for atom in problem.init if name in atom[1:])
        if not more:
            objects = {other: type_ for other, type_ in problem.objects.items() if other != name}
            values = {fluent: value for fluent, value in problem.values.items() if name not in fluent[1:]}
            changed = replace(problem, objects=objects, init=problem.init.difference(own), values=values)
            return changed if objects and self._is_known(changed) else None
        new = fresh_name(kind_of(name), {*problem.objects, *self.domain.domain.constants})
        objects = {**problem.objects, new: problem.objects[name]}

        def copied(atom: Atom) -> Atom:
            return (atom[0], *(new if term == name else term for term in atom[1:]))

        values = {copied(fluent): value for fluent, value in problem.values.items()} | dict(problem.values)
        own = [
            atom for atom in own if any((atom[0], n) in self._filled for n, term in enumerate(atom[1:]) if term == name)
        ]
        static = [atom for atom in own if atom[0] not in self.domain.fluents]
        of_type = {type_: [each for each in objects if objects[each] == type_] for type_ in {*objects.values()}}

        def elsewhere(atom: Atom) -> Atom:  # a guest with another destination
            terms = [random.choice(of_type.get(objects.get(term, ""), [term])) for term in atom[1:]]
            return (atom[0], *(old if old == name else new for old, new in zip(atom[1:], terms, strict=True)))

        for kept in ([*map(elsewhere, own)], own, static):
            changed = replace(problem, objects=objects, init=problem.init.union(map(copied, kept)), values=values)
            if self._is_known(changed):
                return changed
        return None

    def _is_known(self, problem: Problem) -> bool:
        return all(shape in self._known for shape in self._shapes(problem.objects, problem.init))

    def _shapes(self, objects: Mapping[str, str], state: State) -> Iterator[Shape]:
        uses: dict[str, Counter[tuple[str, int]]] = defaultdict(Counter)
        for atom in state:
            for place, term in [*enumerate(atom[1:]), (-1, WORLD)]:
                if (atom[0], place) in self._filled:
                    uses[term][atom[0], place] += 1
        for name, type_ in {**objects, WORLD: WORLD}.items():
            yield type_, frozenset((use, min(number, SEVERAL)) for use, number in uses[name].items())

    @cached_property
    def _known(self) -> frozenset[Shape]:
        """The shapes of objects in the seeds' states."""
        found: set[Shape] = set()
        for problem in self.seeds:
            space = StateSpace(problem, without_costs(problem, self.domain.domain))
            for atoms, _ in islice(space, STATES_OF_A_SEED):
                found.update(self._shapes(problem.objects, atoms))
        return frozenset(found)

    @cached_property
    def _filled(self) -> frozenset[tuple[str, int]]:
        """The places of predicates of which it tells something how often an object, or the world, is in them."""
        domain, filled = self.domain.domain, set()
        added = {atom[0] for operator in domain.operators for atom in operator.add_effects}
        for name, types in domain.predicates.items():
            if name not in added:  # A guest has one destination, which is that of other guests, too.
                filled |= {(name, place) for place, type_ in enumerate(types) if place == 0 or type_ == types[0]}
            if not types:
                filled.add((name, -1))
        for operator in domain.operators:
            for atom in operator.add_effects:
                terms = {term for deleted in operator.delete_effects for term in deleted[1:]}
                filled |= {(atom[0], place) for place, term in enumerate(atom[1:]) if term in terms}
                # One block is held, for the arm is empty no more; a lift is in one place at a time.
                others = [each for each in operator.delete_effects if not {*each[1:]} & {*atom[1:]}]
                if any(len(each) == 1 or each[0] == atom[0] for each in others):
                    filled.add((atom[0], -1))
        return frozenset(filled)


def walk(space: StateSpace, random: Random) -> Iterator[tuple[Node, Operator]]:
    """The states of a random walk that avoids those where it was, each with the operator that led to it."""
    node, met = space.start, {space.start}
    while steps := space.steps(node):
        new = [step for step in steps if step[2] not in met]
        operator, _, node = random.choice(new or steps)
        met.add(node)
        yield node, operator
