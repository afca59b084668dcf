"""The judge of whole tasks: all renamings of the domains, all bijections of the objects, all reachable states.

A renaming that makes the domains equivalent is extended in every way to the types, predicates and constants that only
the problems use; the generated problem in the reference's words is then judged by ``tests.exhaustive``, which
enumerates states. Nothing is shared with the program. Only tests import it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import chain, permutations
from random import Random

from pddl_eval.model import ROOT_TYPE, Atom, Domain, Problem, State, renamed

from tests import exhaustive
from tests.equivalence.domain_judge import (
    Renaming,
    constant_bijections,
    renamings,
    type_bijections,
    used_constants,
    used_predicates,
    used_types,
)
from tests.equivalence.random_domains import changed, random_domain, renamed_by, words

Task = tuple[Domain, Problem]


def tasks_equivalent(reference: Task, generated: Task, is_placeholder: bool = False) -> bool:
    """DESIGN.md, section 7: some renaming that makes the domains equivalent makes the problems equivalent."""
    tried = set()
    for found in renamings(reference[0], generated[0]):
        for renaming in _extended(reference, generated, found):
            problem = _in_our_words(generated[1], renaming)
            key = (frozenset(problem.objects.items()), problem.init, problem.goal)
            if key not in tried:
                tried.add(key)
                if exhaustive.equivalent(reference[1], problem, is_placeholder, reference[0]):
                    return True
    return False


def _extended(reference: Task, generated: Task, renaming: Renaming) -> Iterator[Renaming]:
    """The renaming with all types, constants and predicates that the problems use, in every way."""
    sides = (reference, generated)
    our_constants, their_constants = (used_constants(domain) | _mentioned(domain, problem) for domain, problem in sides)
    our_types, their_types = (
        used_types(domain, [*problem.objects.values(), *(domain.constants[name] for name in constants)])
        for (domain, problem), constants in zip(sides, (our_constants, their_constants), strict=True)
    )
    ours, theirs = ({**_predicates(problem), **used_predicates(domain)} for domain, problem in sides)
    for types in type_bijections(reference[0], generated[0], our_types, their_types):
        if any(types[name] != renaming.types[name] for name in renaming.types):
            continue
        for constants in constant_bijections(reference[0], generated[0], our_constants, their_constants, types):
            if all(constants[name] == renaming.constants[name] for name in renaming.constants):
                for predicates in _predicate_maps(ours, theirs, renaming):
                    yield Renaming(types, constants, predicates, renaming.operators)


def _predicate_maps(
    ours: Mapping[str, int], theirs: Mapping[str, int], renaming: Renaming
) -> Iterator[dict[str, tuple[str, tuple[int, ...]]]]:
    known = dict(renaming.predicates)
    further = sorted(theirs.keys() - known.keys())
    free = sorted(ours.keys() - {name for name, _ in known.values()})
    if len(further) != len(free):
        return
    for image in permutations(free):
        if all(ours[name] == theirs[old] for old, name in zip(further, image, strict=True)):
            yield from _with_orders(known, list(zip(further, image, strict=True)), theirs)


def _with_orders(
    known: dict[str, tuple[str, tuple[int, ...]]], further: list[tuple[str, str]], arities: Mapping[str, int]
) -> Iterator[dict[str, tuple[str, tuple[int, ...]]]]:
    if not further:
        yield known
        return
    (old, name), *rest = further
    for order in permutations(range(arities[old])):
        yield from _with_orders({**known, old: (name, order)}, rest, arities)


def _predicates(problem: Problem) -> dict[str, int]:
    return {atom[0]: len(atom) - 1 for atom in sorted(problem.init | problem.goal)}


def _mentioned(domain: Domain, problem: Problem) -> frozenset[str]:
    """The constants that the problem is about."""
    terms = chain.from_iterable(atom[1:] for atom in problem.init | problem.goal)
    return frozenset(terms).intersection(domain.constants) - problem.objects.keys()


def _in_our_words(problem: Problem, renaming: Renaming) -> Problem:
    """The problem in the reference's words; its objects get names that no constant has."""
    objects = {name: f"their {name}" for name in problem.objects}

    def atom(found: Atom) -> Atom:
        name, order = renaming.predicates[found[0]]
        moved = {
            place: objects.get(term) or renaming.constants[term] for place, term in zip(order, found[1:], strict=True)
        }
        return (name, *(moved[place] for place in range(len(moved))))

    types = {objects[name]: renaming.types.get(type_, type_) for name, type_ in problem.objects.items()}
    init, goal = (frozenset(map(atom, atoms)) for atoms in (problem.init, problem.goal))
    return Problem(problem.name, problem.domain, types, init, goal)


# Random tasks.


def random_tasks(random: Random) -> tuple[Task, Task]:
    """A solvable task, and the same in other words, one that in one place differs, or has another problem."""
    while True:
        domain = random_domain(random, 3, 3, 2)
        problem = _random_problem(random, domain)
        states = problem and exhaustive.reachable(problem, domain, limit=300)
        if problem and states:
            break
    reference = (domain, replace(problem, goal=_random_goal(random, states)))
    other_domain = changed(domain, random) if random.random() < 0.15 else domain
    return reference, _in_other_words(random, other_domain, _perhaps_changed(random, domain, reference[1], states))


def _random_problem(random: Random, domain: Domain) -> Problem | None:
    """Up to four objects, and an initial state of atoms that the declarations admit."""
    objects = {f"b{n}": random.choice([ROOT_TYPE, *domain.types]) for n in range(random.randint(1, 4))}
    init = _random_atoms(random, domain, objects, random.randint(0, 5))
    return Problem("p", domain.name, objects, init, frozenset())


def _random_atoms(random: Random, domain: Domain, objects: Mapping[str, str], count: int) -> State:
    terms = [*objects, *objects, *domain.constants]
    names = [(name, len(types)) for name, types in domain.predicates.items()]
    drawn = (random.choice(names) for _ in range(count))
    return frozenset((name, *(random.choice(terms) for _ in range(arity))) for name, arity in drawn)


def _random_goal(random: Random, states: frozenset[State]) -> State:
    """Some atoms of a reachable state."""
    state = sorted(random.choice(sorted(states, key=sorted)))
    return frozenset(random.sample(state, min(len(state), random.choice([1, 1, 2, 3]))))


def _perhaps_changed(random: Random, domain: Domain, problem: Problem, states: frozenset[State]) -> Problem:
    """The problem, or one with another goal, an atom more or fewer, or objects exchanged in its goal."""
    kind = random.choice(("same", "goal", "init", "exchange", "exchange", "predicate", "type"))
    if kind == "goal":
        return replace(problem, goal=_random_goal(random, states))
    if kind == "init" and problem.init:
        return replace(
            problem,
            init=problem.init ^ {random.choice(sorted(problem.init))}
            | _random_atoms(random, domain, problem.objects, 1),
        )
    if kind == "type":
        name = random.choice(sorted(problem.objects))
        return replace(problem, objects={**problem.objects, name: random.choice([ROOT_TYPE, *domain.types])})
    if kind == "exchange" and len(problem.objects) > 1:
        one, other = random.sample(sorted(problem.objects), 2)
        return replace(problem, goal=renamed(problem.goal, {one: other, other: one}))
    if kind == "predicate":  # symmetric domains may undo it
        old = sorted(domain.predicates)
        alike = [(a, b) for a in old for b in old if a < b and len(domain.predicates[a]) == len(domain.predicates[b])]
        if alike:
            one, other = random.choice(alike)
            names = {one: other, other: one}
            sides = [renamed(side, {}, names) for side in (problem.init, problem.goal)]
            return replace(problem, init=random.choice((problem.init, sides[0])), goal=sides[1])
    return problem


def _in_other_words(random: Random, domain: Domain, problem: Problem) -> Task:
    """Both in other words, with other names for the objects."""
    chosen = words(domain, random)
    objects = dict(
        zip(
            problem.objects,
            random.sample([f"z{n}" for n in range(len(problem.objects))], len(problem.objects)),
            strict=True,
        )
    )
    init, goal = (
        frozenset(chosen.atom(atom, objects) for atom in sorted(side)) for side in (problem.init, problem.goal)
    )
    types = {objects[name]: chosen.types.get(type_, type_) for name, type_ in problem.objects.items()}
    return renamed_by(domain, chosen, random), Problem("p", domain.name, types, init, goal)
