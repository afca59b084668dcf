"""The judge of whole tasks: all renamings of the domains, all bijections of the objects, all reachable states.

A renaming that makes the domains equivalent is extended in every way to the types, predicates and constants that only
the problems use; the generated problem in the reference's words is then judged by ``tests.judges.exhaustive``, which
enumerates states. Nothing is shared with the program. Only tests import it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import chain, permutations
from random import Random

from pddl_eval.definition.model import ROOT_TYPE, Atom, Domain, Problem, State, renamed

from tests.judges import exhaustive
from tests.judges.domain_equivalence import (
    Mapped,
    Renaming,
    Symbol,
    constant_bijections,
    constant_types,
    images,
    plain,
    renamings,
    type_bijections,
    used_constants,
    used_predicates,
    used_types,
)
from tests.support.domain_pairs import changed, overloaded, random_domain, renamed_by, shared_names, words

Task = tuple[Domain, Problem]

UNDECLARED = ("u0", "u1")
"""Types of objects that no domain declares."""


def tasks_equivalent(reference: Task, generated: Task, is_placeholder: bool = False) -> bool:
    """DESIGN.md, section 7: some renaming that makes the domains equivalent makes the problems equivalent."""
    written = reference[0], generated[0]
    reference, generated = declared(reference), declared(generated)
    tried = set()
    for found in renamings(reference[0], generated[0]):
        # In the domains alone, an object that nobody declares is a constant of no type.
        types = [
            [plain(domain, domain.constants.get(name, ROOT_TYPE)) for name in names]
            for domain, names in zip(written, (found.constants.values(), found.constants), strict=True)
        ]
        if types[0] != [found.types.get(type_, type_) for type_ in types[1]]:
            continue
        for renaming in _extended(reference, generated, found):
            problem = _in_our_words(generated[1], renaming)
            key = (frozenset(problem.objects.items()), problem.init, problem.goal)
            if key not in tried:
                tried.add(key)
                if exhaustive.equivalent(reference[1], problem, is_placeholder, reference[0]):
                    return True
    return False


def problems_equivalent(reference: Task, generated: Problem, is_placeholder: bool = False) -> bool:
    """DESIGN.md, section 3, in the reference's domain; an object that its operators name is a constant."""
    domain, problem = declared(reference)
    theirs, other = declared((reference[0], generated))
    if theirs.constants != domain.constants:
        return False
    domain = replace(domain, types={**theirs.types, **domain.types})
    return exhaustive.equivalent(problem, other, is_placeholder, domain)


def declared(task: Task) -> Task:
    """The task with its domain declaring what only the problem declares: types, and objects that operators name."""
    domain, problem = task
    atoms = chain.from_iterable(part for operator in domain.operators for part in operator.parts)
    named = {term for atom in atoms for term in atom[1:]} - domain.constants.keys()
    constants = {name: type_ for name, type_ in problem.objects.items() if name in named}
    types = {type_: ROOT_TYPE for type_ in problem.objects.values() if type_ not in {ROOT_TYPE, *domain.types}}
    return (
        replace(domain, types={**types, **domain.types}, constants={**domain.constants, **constants}),
        replace(problem, objects={name: type_ for name, type_ in problem.objects.items() if name not in named}),
    )


def _extended(reference: Task, generated: Task, renaming: Renaming) -> Iterator[Renaming]:
    """The renaming with all types, constants and predicates that the problems use, in every way."""
    sides = (reference, generated)
    our_constants, their_constants = (used_constants(domain) | _mentioned(domain, problem) for domain, problem in sides)
    our_types, their_types = (
        used_types(
            domain,
            [*problem.objects.values(), *(t for name in constants for t in constant_types(domain, name))],
        )
        for (domain, problem), constants in zip(sides, (our_constants, their_constants), strict=True)
    )
    ours, theirs = (_predicates(problem) | used_predicates(domain) for domain, problem in sides)
    for types in type_bijections(reference[0], generated[0], our_types, their_types):
        if any(types[name] != renaming.types[name] for name in renaming.types):
            continue
        for constants in constant_bijections(reference[0], generated[0], our_constants, their_constants, types):
            if all(constants[name] == renaming.constants[name] for name in renaming.constants):
                for predicates in _predicate_maps(ours, theirs, renaming):
                    yield Renaming(types, constants, predicates, renaming.operators)


def _predicate_maps(
    ours: frozenset[Symbol], theirs: frozenset[Symbol], renaming: Renaming
) -> Iterator[dict[Symbol, Mapped]]:
    known = dict(renaming.predicates)
    further = sorted(theirs - known.keys())
    free = sorted(ours - images(renaming))
    if len(further) != len(free):
        return
    for image in permutations(free):
        if all(new[1] == old[1] for old, new in zip(further, image, strict=True)):
            yield from _with_orders(known, list(zip(further, image, strict=True)))


def _with_orders(known: dict[Symbol, Mapped], further: list[tuple[Symbol, Symbol]]) -> Iterator[dict[Symbol, Mapped]]:
    if not further:
        yield known
        return
    (old, (name, arity)), *rest = further
    for order in permutations(range(arity)):
        yield from _with_orders({**known, old: (name, order)}, rest)


def _predicates(problem: Problem) -> frozenset[Symbol]:
    return frozenset((atom[0], len(atom) - 1) for atom in problem.init | problem.goal)


def _mentioned(domain: Domain, problem: Problem) -> frozenset[str]:
    """The constants that the problem is about."""
    terms = chain.from_iterable(atom[1:] for atom in problem.init | problem.goal)
    return frozenset(terms).intersection(domain.constants) - problem.objects.keys()


def _in_our_words(problem: Problem, renaming: Renaming) -> Problem:
    """The problem in the reference's words; its objects get names that no constant has."""
    objects = {name: f"their {name}" for name in problem.objects}

    def atom(found: Atom) -> Atom:
        name, order = renaming.predicates[found[0], len(found) - 1]
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
    reference, changed_problem = _random_pair(random)
    domain = reference[0]
    other_domain = changed(domain, random) if random.random() < 0.15 else domain
    generated = in_other_words(random, other_domain, changed_problem)
    kind = random.random()  # mostly both domains declare their constants, or none does
    reference = undeclared(reference) if kind < 0.3 else reference
    generated = undeclared(generated) if 0.05 < kind < 0.35 else generated
    return _perhaps_overloaded(random, reference), _perhaps_overloaded(random, generated)


def random_problems(random: Random) -> tuple[Task, Problem]:
    """A solvable task, and a problem in its words; sometimes only the problems declare what operators name."""
    reference, other = _random_pair(random)
    if random.random() < 0.5:
        return undeclared(reference), undeclared((reference[0], other))[1]
    return reference, other


def _random_pair(random: Random) -> tuple[Task, Problem]:
    while True:
        domain = random_domain(random, 3, 3, 2)
        problem = _random_problem(random, domain)
        states = problem and exhaustive.reachable(problem, domain, limit=300)
        if problem and states:
            break
    reference = (domain, replace(problem, goal=_random_goal(random, states)))
    return reference, _perhaps_changed(random, domain, reference[1], states)


def undeclared(task: Task) -> Task:
    """The task with the problem declaring the constants that operators name: the reverse of ``declared``."""
    domain, problem = task
    used = {name: type_ for name, type_ in domain.constants.items() if name in used_constants(domain)}
    constants = {name: type_ for name, type_ in domain.constants.items() if name not in used}
    return replace(domain, constants=constants), replace(problem, objects={**problem.objects, **used})


def _perhaps_overloaded(random: Random, task: Task) -> Task:
    """The task, or one in which predicates share a name with others."""
    if random.random() < 0.7:
        return task
    domain, problem = task
    names = shared_names(domain, random)
    init, goal = (_with_predicates(atoms, names) for atoms in (problem.init, problem.goal))
    return overloaded(domain, names), replace(problem, init=init, goal=goal)


def _random_problem(random: Random, domain: Domain) -> Problem | None:
    """Up to four objects, and an initial state of atoms that the declarations admit."""
    objects = {f"b{n}": _random_type(random, domain) for n in range(random.randint(1, 4))}
    init = _random_atoms(random, domain, objects, random.randint(0, 5))
    return Problem("p", domain.name, objects, init, frozenset())


def _random_type(random: Random, domain: Domain) -> str:
    """A type of the domain, or one that it does not declare."""
    return random.choice([ROOT_TYPE, *domain.types] if random.random() < 0.8 else UNDECLARED)


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
        return replace(problem, objects={**problem.objects, name: _random_type(random, domain)})
    names = sorted({**problem.objects, **domain.constants})
    if kind == "exchange" and len(names) > 1:
        one, other = random.sample(names, 2)
        sides = [renamed(side, {one: other, other: one}) for side in (problem.init, problem.goal)]
        return replace(problem, init=random.choice((problem.init, problem.init, sides[0])), goal=sides[1])
    if kind == "predicate":  # symmetric domains may undo it
        old = sorted(domain.predicates)
        alike = [(a, b) for a in old for b in old if a < b and len(domain.predicates[a]) == len(domain.predicates[b])]
        if alike:
            one, other = random.choice(alike)
            names = {one: other, other: one}
            sides = [_with_predicates(side, names) for side in (problem.init, problem.goal)]
            return replace(problem, init=random.choice((problem.init, sides[0])), goal=sides[1])
    return problem


def in_other_words(random: Random, domain: Domain, problem: Problem) -> Task:
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
    other_types = chosen.types | dict(zip(UNDECLARED, random.sample(UNDECLARED, len(UNDECLARED)), strict=True))
    types = {objects[name]: other_types.get(type_, type_) for name, type_ in problem.objects.items()}
    return renamed_by(domain, chosen, random), Problem("p", domain.name, types, init, goal)


def _with_predicates(atoms: State, names: Mapping[str, str]) -> State:
    return frozenset((names.get(name, name), *terms) for name, *terms in atoms)
