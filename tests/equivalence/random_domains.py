"""Small random domains, symmetric ones among them, and pairs of them: renamed, changed in one place, independent.

Made of values of ``pddl_eval.model`` only, so that nothing is shared with what is tested. A pair's relation is not
known: the judge says it.
"""

from __future__ import annotations

from dataclasses import replace
from random import Random

from pddl_eval.model import EQUALITY, ROOT_TYPE, Atom, Domain, Operator, State, Types

Operators = tuple[Operator[State], ...]


def random_domain(random: Random, operators: int = 3, predicates: int = 4, arity: int = 3) -> Domain:
    """A domain of at most so many operators and predicates with so many arguments; often with a symmetry."""
    arities = {f"p{n}": random.choice([0, 1, 1, 2, 2, 3][: 2 * arity or 1]) for n in range(random.randint(1, predicates))}
    types = _random_types(random)
    constants = {f"c{n}": random.choice([ROOT_TYPE, *types]) for n in range(random.choice([0, 0, 0, 1, 2]))}
    made = [_random_operator(random, f"o{n}", arities, types, constants) for n in range(random.randint(1, operators))]
    if len(made) > 1 and random.random() < 0.5:  # a symmetry: the second operator is the first in other words
        names = dict(zip(arities, _same_arity_shuffled(random, arities), strict=True))
        made[1] = replace(_in_words(made[0], names), name=made[1].name)
    return Domain("d", types, constants, {n: ((ROOT_TYPE,),) * a for n, a in arities.items()}, tuple(made))


def random_pair(random: Random) -> tuple[Domain, Domain]:
    """A domain and one that is it in other words, or that in one or two places changed, or an independent one."""
    if random.random() < 0.2:  # so small that two of them are often equivalent
        return random_domain(random, 2, 2, 1), random_domain(random, 2, 2, 1)
    reference = random_domain(random)
    generated = reference
    for _ in range(random.choice([0, 1, 1, 2])):
        generated = changed(generated, random)
    return reference, renamed(generated, random)


def renamed(domain: Domain, random: Random) -> Domain:
    """The domain with other names, other orders of arguments, parameters and operators, and unused declarations."""
    old = [*domain.predicates]
    predicates = dict(zip(old, random.sample([f"q{n}" for n in range(len(old))], len(old)), strict=True))
    if random.random() < 0.3:
        predicates = dict(zip(old, _same_arity_shuffled(random, {n: len(a) for n, a in domain.predicates.items()}), strict=True))
    orders = {name: random.sample(range(len(a)), len(a)) for name, a in domain.predicates.items()}
    types = dict(zip(domain.types, random.sample([f"t{n}" for n in range(len(domain.types))], len(domain.types)), strict=True))
    constants = dict(
        zip(domain.constants, random.sample([f"k{n}" for n in range(len(domain.constants))], len(domain.constants)), strict=True)
    )

    def atom(found: Atom, variables: dict[str, str]) -> Atom:
        name, *terms = found
        terms = [variables.get(term, constants.get(term, term)) for term in terms]
        if name == EQUALITY:
            return (name, *random.sample(terms, 2))
        return (predicates[name], *(terms[i] for i in orders[name]))

    def operator(each: Operator[State], name: str) -> Operator[State]:
        variables = {variable: f"?v{n}" for n, (variable, _) in enumerate(each.parameters)}
        parameters = [(variables[v], tuple(types.get(t, t) for t in found)) for v, found in each.parameters]
        parts = (frozenset(atom(a, variables) for a in sorted(part)) for part in each.parts)
        return Operator(name, tuple(random.sample(parameters, len(parameters))), *parts)

    names = random.sample([f"a{n}" for n in range(len(domain.operators))], len(domain.operators))
    made = [operator(each, name) for each, name in zip(domain.operators, names, strict=True)]
    return Domain(
        domain.name,
        {types[name]: types.get(parent, parent) for name, parent in domain.types.items()} | {"unused": ROOT_TYPE},
        {constants[name]: types.get(type_, type_) for name, type_ in domain.constants.items()},
        {predicates[name]: found for name, found in domain.predicates.items()} | {"unused-too": ()},
        tuple(random.sample(made, len(made))),
    )


def changed(domain: Domain, random: Random) -> Domain:
    """The domain with one small change, which may make no difference."""
    if domain.types and random.random() < 0.15:
        names = [*domain.types]
        place = random.randrange(len(names))
        return replace(domain, types={**domain.types, names[place]: random.choice([ROOT_TYPE, *names[:place]])})
    number = random.randrange(len(domain.operators))
    each = domain.operators[number]
    kind = random.choice(("lose", "add", "swap", "type", "move"))
    parts = [set(part) for part in each.parts]
    filled = [n for n, part in enumerate(parts) if part]
    parameters = each.parameters
    if kind == "type" and parameters and domain.types:
        place = random.randrange(len(parameters))
        new = (parameters[place][0], _random_types_of(random, domain.types))
        parameters = (*parameters[:place], new, *parameters[place + 1 :])
    elif kind == "add" or not filled:
        arities = {name: len(found) for name, found in domain.predicates.items()}
        parts[random.randrange(4)] |= _random_atoms(random, arities, [v for v, _ in parameters], [*domain.constants], 1)
    else:
        part = random.choice(filled)
        atom = random.choice(sorted(parts[part]))
        parts[part].discard(atom)
        if kind == "swap":
            parts[part].add((atom[0], *random.sample(atom[1:], len(atom) - 1)))
        elif kind == "move" and atom[0] != EQUALITY:
            parts[random.randrange(4)].add(atom)
    made = Operator(each.name, parameters, *map(frozenset, parts))
    return replace(domain, operators=(*domain.operators[:number], made, *domain.operators[number + 1 :]))


def _random_types(random: Random) -> dict[str, str]:
    """Up to three types, each below ``object`` or an earlier one."""
    types: dict[str, str] = {}
    for number in range(random.choice([0, 0, 1, 2, 3])):
        types[f"s{number}"] = random.choice([ROOT_TYPE, *types])
    return types


def _random_types_of(random: Random, types: dict[str, str]) -> Types:
    return tuple(random.sample([ROOT_TYPE, *types], random.choice([1, 1, 1, min(2, 1 + len(types))])))


def _random_operator(
    random: Random, name: str, arities: dict[str, int], types: dict[str, str], constants: dict[str, str]
) -> Operator[State]:
    variables = [f"?x{n}" for n in range(random.randint(0, 3))]
    parameters = tuple((variable, _random_types_of(random, types)) for variable in variables)
    parts = [_random_atoms(random, arities, variables, [*constants], random.choice([0, 1, 1, 2])) for _ in range(4)]
    if len(variables) > 1 and random.random() < 0.2:
        parts[random.randrange(2)].add((EQUALITY, *random.sample(variables, 2)))
    return Operator(name, parameters, *map(frozenset, parts))


def _random_atoms(
    random: Random, arities: dict[str, int], variables: list[str], constants: list[str], count: int
) -> set[Atom]:
    terms = [*variables, *variables, *constants]
    names = [name for name, arity in arities.items() if terms or not arity]
    drawn = (random.choice(names) for _ in range(count if names else 0))
    return {(name, *(random.choice(terms) for _ in range(arities[name]))) for name in drawn}


def _same_arity_shuffled(random: Random, arities: dict[str, int]) -> list[str]:
    """The names in another order, each in the place of one of as many arguments."""
    pools = {arity: [name for name in arities if arities[name] == arity] for arity in set(arities.values())}
    shuffled = {arity: iter(random.sample(names, len(names))) for arity, names in pools.items()}
    return [next(shuffled[arity]) for arity in arities.values()]


def _in_words(operator: Operator[State], names: dict[str, str]) -> Operator[State]:
    parts = (frozenset((names.get(atom[0], atom[0]), *atom[1:]) for atom in part) for part in operator.parts)
    return Operator(operator.name, operator.parameters, *parts)

