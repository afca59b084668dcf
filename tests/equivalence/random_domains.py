"""Small random domains, symmetric ones among them, and pairs of them: renamed, changed in one place, independent.

Made of values of ``pddl_eval.model`` only, so that nothing is shared with what is tested. A pair's relation is not
known: the judge says it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from random import Random

from pddl_eval.model import EQUALITY, ROOT_TYPE, Atom, Domain, Operator, State, Types

Operators = tuple[Operator[State], ...]


def random_domain(random: Random, operators: int = 3, predicates: int = 4, arity: int = 3) -> Domain:
    """A domain of at most so many operators and predicates with so many arguments; often with a symmetry."""
    arities = {
        f"p{n}": random.choice([0, 1, 1, 2, 2, 3][: 2 * arity or 1]) for n in range(random.randint(1, predicates))
    }
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


@dataclass(frozen=True)
class Words:
    """Other names for what a domain names, and other orders of its predicates' arguments."""

    types: dict[str, str]
    constants: dict[str, str]
    predicates: dict[str, str]
    orders: dict[str, list[int]]

    def atom(self, atom: Atom, names: Mapping[str, str]) -> Atom:
        """The atom in other words; ``names`` has those of variables or objects. Both orders of an equation are one."""
        name, *terms = atom
        terms = [names.get(term) or self.constants.get(term, term) for term in terms]
        if name == EQUALITY:
            return (name, *reversed(terms))
        return (self.predicates[name], *(terms[i] for i in self.orders[name]))


def words(domain: Domain, random: Random) -> Words:
    """Other words; the predicates sometimes get each other's names."""

    def names(old: Iterable[str], stem: str) -> dict[str, str]:
        listed = list(old)
        return dict(zip(listed, random.sample([f"{stem}{n}" for n in range(len(listed))], len(listed)), strict=True))

    arities = {name: len(types) for name, types in domain.predicates.items()}
    exchanged = dict(zip(arities, _same_arity_shuffled(random, arities), strict=True))
    return Words(
        names(domain.types, "t"),
        names(domain.constants, "k"),
        exchanged if random.random() < 0.3 else names(arities, "q"),
        {name: random.sample(range(arity), arity) for name, arity in arities.items()},
    )


def renamed(domain: Domain, random: Random) -> Domain:
    """The domain in other words."""
    return renamed_by(domain, words(domain, random), random)


def renamed_by(domain: Domain, chosen: Words, random: Random) -> Domain:
    """The domain in those words, its operators and their parameters in other orders, with unused declarations."""
    types, constants = chosen.types, chosen.constants

    def operator(each: Operator[State], name: str) -> Operator[State]:
        variables = {variable: f"?v{n}" for n, (variable, _) in enumerate(each.parameters)}
        parameters = [(variables[v], tuple(types.get(t, t) for t in found)) for v, found in each.parameters]
        parts = (frozenset(chosen.atom(a, variables) for a in part) for part in each.parts)
        return Operator(name, tuple(random.sample(parameters, len(parameters))), *parts)

    names = random.sample([f"a{n}" for n in range(len(domain.operators))], len(domain.operators))
    made = [operator(each, name) for each, name in zip(domain.operators, names, strict=True)]
    predicates = {
        chosen.predicates[name]: tuple(found[i] for i in chosen.orders[name])
        for name, found in domain.predicates.items()
    }
    spare = {"spare": random.choice([ROOT_TYPE, *types.values()])} if random.random() < 0.3 else {}
    return Domain(
        domain.name,
        {types[name]: types.get(parent, parent) for name, parent in domain.types.items()} | {"unused": ROOT_TYPE},
        {constants[name]: types.get(type_, type_) for name, type_ in domain.constants.items()} | spare,
        predicates | {"unused-too": ()},
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
