"""Random small STRIPS domains and problems, for the property tests of everything that works for any domain.

Nothing about them is typical: operators with any literals over any parameters, types in a hierarchy, constants,
equations, atoms that no operator touches. Their state spaces are small enough for ``tests.judges.exhaustive``.
"""

from __future__ import annotations

import random
from dataclasses import replace

from pddl_eval.definition.model import EQUALITY, ROOT_TYPE, Atom, Domain, Operator, Problem

TYPES = {"thing": ROOT_TYPE, "box": "thing", "crate": "box", "place": ROOT_TYPE}
ARITIES = {"p": 0, "q": 1, "r": 1, "s": 2, "t": 2, "u": 3}


def random_task(seed: int) -> tuple[Problem, Domain]:
    """A domain and a problem in it, a function of the seed."""
    choose = random.Random(seed)
    typed = choose.random() < 0.5
    constants = {"c": choose.choice(["crate", "place"]) if typed else ROOT_TYPE} if choose.random() < 0.3 else {}
    predicates = choose.sample(sorted(ARITIES), choose.randint(2, 4))
    operators = tuple(
        _operator(f"a{number}", predicates, tuple(constants), typed, choose) for number in range(choose.randint(1, 4))
    )
    declared = {name: ((ROOT_TYPE,),) * ARITIES[name] for name in predicates}
    domain = Domain("random", TYPES if typed else {}, constants, declared, operators)
    kinds = [*TYPES, ROOT_TYPE] if typed else [ROOT_TYPE]
    objects = {f"o{number}": choose.choice(kinds) for number in range(choose.randint(1, 3))}
    names = [*objects, *constants]
    atoms = [_atom(predicates, names, choose) for _ in range(choose.randint(0, 8))]
    goal = [_atom(predicates, names, choose) for _ in range(choose.choice([0, 1, 1, 2, 2, 3]))]
    return Problem("random", "random", objects, frozenset(atoms), frozenset(goal)), domain


def _atom(predicates: list[str], names: list[str], choose: random.Random) -> Atom:
    predicate = choose.choice(predicates)
    return (predicate, *(choose.choice(names) for _ in range(ARITIES[predicate])))


def _operator(
    name: str, predicates: list[str], constants: tuple[str, ...], typed: bool, choose: random.Random
) -> Operator:
    alternatives = [(ROOT_TYPE,), ("thing",), ("box",), ("crate", "place"), ("undeclared",)]
    parameters = tuple(
        (f"?{variable}", choose.choice(alternatives) if typed else (ROOT_TYPE,))
        for variable in "xyz"[: choose.choice([0, 1, 1, 2, 2, 2, 3])]
    )
    terms = [*(variable for variable, _ in parameters), *constants]

    def atoms(counts: list[int]) -> set[Atom]:
        usable = [predicate for predicate in predicates if terms or not ARITIES[predicate]]
        return {_atom(usable, terms, choose) for _ in range(choose.choice(counts))} if usable else set()

    required, forbidden = atoms([0, 1, 1, 2, 2, 3]), atoms([0, 0, 0, 1, 2])
    if len(terms) > 1 and choose.random() < 0.3:
        equation = (EQUALITY, *choose.sample(terms, 2))
        (required if choose.random() < 0.2 else forbidden).add(equation)
    deleted = atoms([0, 1, 2]) | {atom for atom in sorted(required) if atom[0] != EQUALITY and choose.random() < 0.5}
    return Operator(
        name,
        parameters,
        frozenset(required),
        frozenset(forbidden - required),
        frozenset(atoms([0, 1, 1, 2])),
        frozenset(deleted),
    )


def as_the_judge_reads(domain: Domain) -> Domain:
    """The same domain with an undeclared type of a parameter written as what it means, ``object``."""

    def declared(types: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(type_ if type_ in domain.types else ROOT_TYPE for type_ in types)

    operators = tuple(
        replace(operator, parameters=tuple((name, declared(types)) for name, types in operator.parameters))
        for operator in domain.operators
    )
    return replace(domain, operators=operators)
