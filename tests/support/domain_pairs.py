"""Small random domains, symmetric ones among them, and pairs of them: renamed, changed in one place, independent.

Some have predicates that share a name, constants that nobody declares, types and constants with several types, costs
and other formulas, rules, durative actions, constraints, and operators that are said twice. Made of values of
``definition.model`` only, so that nothing is shared with what is tested. A pair's relation is not known: the judge says
it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from random import Random
from typing import Any

from pddl_eval.definition.model import EQUALITY, ROOT_TYPE, Atom, Domain, Operator, State, Types

Operators = tuple[Operator, ...]

COST = ("total-cost",)

CONNECTIVES = ("and", "or", "not", "when")
MODAL = ("always", "sometime", "within", "sometime-after")


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


def random_pair(random: Random, plain: bool = False, timed: bool = False) -> tuple[Domain, Domain]:
    """A domain and one that is it in other words, or that in one or two places changed, or an independent one.

    ``plain``: without formulas, several types and what else only a few domains have. ``timed``: the first may have
    durative actions and constraints.
    """
    if random.random() < 0.2 and not timed:  # so small that two of them are often equivalent
        return random_domain(random, 2, 2, 1), random_domain(random, 2, 2, 1)
    reference = random_domain(random)
    if not plain and (random.random() < 0.4 or timed):
        reference = with_formulas(with_several_types(reference, random), random)
        if random.random() < 0.4 or timed:
            reference = with_times(reference, random)
    generated = reference
    for _ in range(random.choice([0, 1, 1, 2])):
        generated = changed(generated, random)
    pair = reference, renamed(generated, random)
    one, other = pair if plain else (_written_otherwise(each, random) for each in pair)
    return one, other


def _written_otherwise(domain: Domain, random: Random) -> Domain:
    """The same domain: predicates share names, constants are not declared, an operator is said twice."""
    if random.random() < 0.3:
        domain = overloaded(domain, shared_names(domain, random))
    if random.random() < 0.3:
        kept = {name: type_ for name, type_ in domain.constants.items() if type_ != ROOT_TYPE}
        domain = replace(domain, constants=kept)
    if random.random() < 0.1:
        each = random.choice(domain.operators)
        names = {variable: f"?w{n}" for n, (variable, _) in enumerate(each.parameters)}
        formulas = tuple(
            (part, reworded(mapped(form, lambda atom: _term_names(atom, names), names), random))
            for part, form in each.formulas
        )
        again = replace(each.renamed(names), formulas=formulas)
        domain = replace(domain, operators=(*domain.operators, again))
    return domain


def _term_names(atom: Atom, names: Mapping[str, str]) -> Atom:
    return (atom[0], *(names.get(term, term) for term in atom[1:]))


def with_several_types(domain: Domain, random: Random) -> Domain:
    """The domain, in which some types and constants have several types, always earlier ones."""
    several: dict[tuple[str, str], Types] = {}
    names = [*domain.types]
    for place, name in enumerate(names):
        if place and random.random() < 0.4:
            parents = tuple(random.sample([ROOT_TYPE, *names[:place]], min(2, place + 1)))
            several["types", name] = parents
    for name in domain.constants:
        if names and random.random() < 0.4:
            several["constants", name] = tuple(random.sample([ROOT_TYPE, *names], 2))
    single = {
        section: {name: found[0] for (each, name), found in several.items() if each == section}
        for section in ("types", "constants")
    }
    return replace(
        domain,
        types={**domain.types, **single["types"]},
        constants={**domain.constants, **single["constants"]},
        several=several,
    )


def with_formulas(domain: Domain, random: Random) -> Domain:
    """The domain with costs and other formulas in some operators, and with rules that may be used or not."""
    arities = {name: len(types) for name, types in domain.predicates.items()}
    operators = []
    rules = []
    for number in range(random.choice([0, 0, 1, 2])):
        variables = tuple(f"?d{n}" for n in range(random.choice([0, 1, 2])))
        head = (f"d{number}", *variables)
        rules.append(
            (":derived", (":derived", head, _condition(random, arities, [*variables, *domain.constants], domain)))
        )
        arities[f"d{number}"] = len(variables)
    for each in domain.operators:
        terms = [*(variable for variable, _ in each.parameters), *domain.constants]
        formulas = []
        for _ in range(random.choice([0, 1, 1, 2])):
            kind = random.choice(("needs", "cost", "cost", "when"))
            if kind == "needs":
                formulas.append((":precondition", ("or", *(_condition(random, arities, terms, domain) for _ in "ab"))))
            elif kind == "cost":
                formulas += [(":effect", _cost(random, arities, terms))] * random.choice([1, 1, 2])
            else:
                effects = [_cost(random, arities, terms), *_some_atoms(random, arities, terms)]
                condition = _condition(random, arities, terms, domain)
                formulas.append((":effect", ("when", condition, ("and", *random.choices(effects, k=2)))))
        operators.append(replace(each, formulas=tuple(formulas)))
    predicates = {name: ((ROOT_TYPE,),) * arity for name, arity in arities.items()}
    return replace(domain, operators=tuple(operators), formulas=tuple(rules), predicates=predicates)


TIMES = ("at", "start"), ("over", "all"), ("at", "end")


def with_times(domain: Domain, random: Random) -> Domain:
    """The domain, some of whose operators are durative actions, sometimes with constraints."""
    operators = tuple(_durative(each, domain, random) if random.random() < 0.6 else each for each in domain.operators)
    formulas = domain.formulas
    if random.random() < 0.3:
        arities = {name: len(types) for name, types in domain.predicates.items()}
        terms = [*domain.constants]
        formulas = (*formulas, (":constraints", ("and", *(_modal(random, arities, terms, domain) for _ in "ab"))))
    return replace(domain, operators=operators, formulas=formulas)


def _durative(operator: Operator, domain: Domain, random: Random) -> Operator:
    arities = {name: len(types) for name, types in domain.predicates.items()}
    amount = next(iter(_some_atoms(random, arities, [name for name, _ in operator.parameters])), "3")
    head, amounts = random.choice(["=", "<=", ">="]), ["3", "3.0", "4", amount]
    formulas: list[tuple[str, Any]] = [(":duration", (head, "?duration", random.choice(amounts)))]
    for number, atoms in enumerate(operator.parts):
        for atom in sorted(atoms):
            literal = ("not", atom) if number % 2 else atom
            formulas.append(_timed(":condition" if number < 2 else ":effect", literal, random))
    for part, form in operator.formulas:
        formulas.append(_timed(":condition" if part == ":precondition" else part, form, random))
    return replace(Operator(operator.name, operator.parameters, *[frozenset[Atom]()] * 4), formulas=tuple(formulas))


def _timed(part: str, form: Any, random: Random) -> tuple[str, Any]:
    return part, (*random.choice(TIMES if part == ":condition" else TIMES[::2]), form)


def _modal(random: Random, arities: dict[str, int], terms: list[str], domain: Domain) -> Any:
    head, *times = random.choice([("always",), ("sometime",), ("within", "3"), ("sometime-after",), ("at", "end")])
    count = 1 + (head == "sometime-after")
    return (head, *times, *(_condition(random, arities, terms, domain) for _ in range(count)))


def _cost(random: Random, arities: dict[str, int], terms: list[str]) -> Any:
    """An increase by a number, or by a function that is called as some predicate."""
    amount = next(iter(_some_atoms(random, arities, terms)), "1")
    return ("increase", COST, random.choice(["1", "1.0", "2", amount]))


def _some_atoms(random: Random, arities: dict[str, int], terms: list[str]) -> list[Any]:
    return sorted(_random_atoms(random, arities, terms, [], 1))


def _condition(random: Random, arities: dict[str, int], terms: list[str], domain: Domain) -> Any:
    """An atom, a negation, a conjunction or a quantifier, with members that may say the same."""
    kind = random.choice(("atom", "atom", "not", "and", "forall"))
    if kind == "forall":
        variables = [f"?q{n}" for n in range(random.choice([1, 2]))]
        listing = tuple(word for name in variables for word in (name, "-", random.choice([ROOT_TYPE, *domain.types])))
        body = _some_atoms(random, arities, [*variables, *variables, *terms])
        return (random.choice(["forall", "exists"]), listing, ("or", *body, *body))
    found = _some_atoms(random, arities, terms)
    if kind == "and":
        found += _some_atoms(random, arities, terms)
        return ("and", *found)
    if not found:
        return ("and",)
    return ("not", found[0]) if kind == "not" else found[0]


def mapped(
    form: Any, atom: Callable[[Atom], Atom], names: Mapping[str, str], types: Mapping[str, str] | None = None
) -> Any:
    """The formula with other atoms, variables and types; functions are renamed as predicates are."""
    if isinstance(form, str):
        return names.get(form, form)
    if form[0] in CONNECTIVES:
        return tuple(mapped(each, atom, names, types) if not isinstance(each, str) else each for each in form)
    if form[:2] in TIMES or form[0] in MODAL:
        return tuple(each if isinstance(each, str) else mapped(each, atom, names, types) for each in form)
    if form[1:2] == ("?duration",):
        return (*form[:2], form[2] if isinstance(form[2], str) else atom(form[2]))
    if form[0] in ("forall", "exists"):
        listing = tuple((types or {}).get(word, names.get(word, word)) for word in form[1])
        return (form[0], listing, mapped(form[2], atom, names, types))
    if form[0] == "increase":
        return (*form[:2], form[2] if isinstance(form[2], str) else atom(form[2]))
    if form[0] == ":derived":
        return (form[0], atom(form[1]), mapped(form[2], atom, names, types))
    return atom(form)


def reworded(form: Any, random: Random) -> Any:
    """The same in other words: members in another order or said again, bound variables with other names."""
    if not isinstance(form, str) and (form[:2] in TIMES or form[0] in MODAL):
        return tuple(reworded(each, random) for each in form)
    if isinstance(form, str) or form[0] not in (*CONNECTIVES, "forall", "exists"):
        return form
    if form[0] in ("forall", "exists"):
        old = form[1][::3]
        names = dict(zip(old, random.sample([f"?r{n}" for n in range(5)], len(old)), strict=True))
        groups = [(names[form[1][n]], *form[1][n + 1 : n + 3]) for n in range(0, len(form[1]), 3)]
        listing = tuple(word for group in random.sample(groups, len(groups)) for word in group)
        return (form[0], listing, reworded(mapped(form[2], lambda atom: _term_names(atom, names), names), random))
    members = [reworded(each, random) for each in form[1:]]
    if form[0] in ("and", "or"):
        members += [each for each in members if "increase" not in repr(each) and random.random() < 0.2]
        random.shuffle(members)
    return (form[0], *members)


def written(domain: Domain) -> str:
    """The domain as PDDL text."""

    def types(found: Types) -> str:
        return found[0] if len(found) == 1 else f"(either {' '.join(found)})"

    def listing(section: str, single: Mapping[str, str]) -> str:
        found = ((name, domain.several.get((section, name), (type_,))) for name, type_ in single.items())
        return f"(:{section} {' '.join(f'{name} - {types(each)}' for name, each in found)})"

    def shown(form: Any) -> str:
        return form if isinstance(form, str) else f"({' '.join(map(shown, form))})"

    def part(positive: State, negative: State, formulas: list[Any]) -> str:
        return shown(("and", *sorted(positive), *(("not", atom) for atom in sorted(negative)), *formulas))

    declared = " ".join(
        shown((name, *(f"?a{n}" for n in range(len(found))))) for name, found in domain.predicates.items()
    )
    lines = ["(define (domain d)", listing("types", domain.types), listing("constants", domain.constants)]
    lines += [f"(:predicates {declared})"]
    lines += [shown((section, form) if section == ":constraints" else form) for section, form in domain.formulas]
    for each in domain.operators:
        if any(own == ":duration" for own, _ in each.formulas):
            parameters = " ".join(f"{name} - {types(found)}" for name, found in each.parameters)
            lines.append(f"(:durative-action {each.name} :parameters ({parameters})")
            for name in (":duration", ":condition", ":effect"):
                lines.append(f" {name} {shown(('and', *(form for own, form in each.formulas if own == name)))}")
            lines[-1] += ")"
            continue
        conditions, effects = ([f for p, f in each.formulas if p == kind] for kind in (":precondition", ":effect"))
        parameters = " ".join(f"{name} - {types(found)}" for name, found in each.parameters)
        lines += [
            f"(:action {each.name} :parameters ({parameters})",
            f" :precondition {part(each.preconditions, each.negative_preconditions, conditions)}",
            f" :effect {part(each.add_effects, each.delete_effects, effects)})",
        ]
    return "\n".join([*lines, ")"])


def shared_names(domain: Domain, random: Random) -> dict[str, str]:
    """Names for the predicates that those with other numbers of arguments sometimes share."""
    names: dict[str, str] = {}
    taken: set[tuple[str, int]] = set()
    for old, types in random.sample(sorted(domain.predicates.items()), len(domain.predicates)):
        free = sorted({name for name, _ in taken if (name, len(types)) not in taken})
        names[old] = random.choice(free) if free and random.random() < 0.7 else old
        taken.add((names[old], len(types)))
    return names


def overloaded(domain: Domain, names: dict[str, str]) -> Domain:
    """The domain with such names; it declares no predicates, for a declaration has one number of arguments."""
    formulas = tuple((section, _with_names(form, names)) for section, form in domain.formulas)
    operators = tuple(_in_words(each, names) for each in domain.operators)
    return replace(domain, predicates={}, operators=operators, formulas=formulas)


def _with_names(form: Any, names: Mapping[str, str]) -> Any:
    return mapped(form, lambda atom: (names.get(atom[0], atom[0]), *atom[1:]), {})


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

    def operator(each: Operator, name: str) -> Operator:
        variables = {variable: f"?v{n}" for n, (variable, _) in enumerate(each.parameters)}
        parameters = [(variables[v], tuple(types.get(t, t) for t in found)) for v, found in each.parameters]
        parts = (frozenset(chosen.atom(a, variables) for a in part) for part in each.parts)
        found = tuple((part, formula(form, variables)) for part, form in each.formulas)
        formulas = tuple(random.sample(found, len(found)))
        return Operator(name, tuple(random.sample(parameters, len(parameters))), *parts, formulas)

    def formula(form: Any, variables: Mapping[str, str]) -> Any:
        return reworded(mapped(form, lambda atom: chosen.atom(atom, variables), variables, types), random)

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
        formulas=tuple((section, formula(form, {})) for section, form in domain.formulas),
        several={
            (section, (types if section == "types" else constants)[name]): tuple(types.get(t, t) for t in found)
            for (section, name), found in domain.several.items()
        },
    )


def changed(domain: Domain, random: Random) -> Domain:
    """The domain with one small change, which may make no difference."""
    if domain.types and random.random() < 0.15:
        names = [*domain.types]
        place = random.randrange(len(names))
        types = {**domain.types, names[place]: random.choice([ROOT_TYPE, *names[:place]])}
        kept = {key: found for key, found in domain.several.items() if key != ("types", names[place])}
        return replace(domain, types=types, several=kept)
    number = random.randrange(len(domain.operators))
    each = domain.operators[number]
    if each.formulas and each.formulas[0][0] == ":duration":
        made = replace(each, formulas=_changed_in_time(each.formulas, random))
        return replace(domain, operators=(*domain.operators[:number], made, *domain.operators[number + 1 :]))
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
    formulas = each.formulas
    if formulas and random.random() < 0.3:  # one less, or one again
        formulas = (*formulas[1:], *(formulas[:1] * random.choice([0, 2])))
    made = Operator(each.name, parameters, *map(frozenset, parts), formulas)
    return replace(domain, operators=(*domain.operators[:number], made, *domain.operators[number + 1 :]))


def _changed_in_time(formulas: tuple[tuple[str, Any], ...], random: Random) -> tuple[tuple[str, Any], ...]:
    """The parts of a durative action, one of them at another time, taken away, said again, or with another number."""
    place = random.randrange(len(formulas))
    part, form = formulas[place]
    if part == ":duration":
        new = [(part, (*form[:2], random.choice(["3", "4"])))]
    else:
        new = random.choice([[], [_timed(part, form[2], random)], [formulas[place]] * 2])
    return (*formulas[:place], *new, *formulas[place + 1 :])


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
) -> Operator:
    variables = [f"?x{n}" for n in range(random.randint(0, 3))]
    parameters = tuple((variable, _random_types_of(random, types)) for variable in variables)
    parts = [_random_atoms(random, arities, variables, [*constants], random.choice([0, 1, 1, 2])) for _ in range(4)]
    terms = [*variables, *constants]
    if terms and random.random() < 0.3:  # often of one term with itself
        parts[random.randrange(2)].add((EQUALITY, *random.choices(terms, k=2)))
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


def _in_words(operator: Operator, names: dict[str, str]) -> Operator:
    parts = (frozenset((names.get(atom[0], atom[0]), *atom[1:]) for atom in part) for part in operator.parts)
    formulas = tuple((part, _with_names(form, names)) for part, form in operator.formulas)
    return Operator(operator.name, operator.parameters, *parts, formulas)
