"""The judge of domains: all bijections of types, constants, predicates and operators, tried one after the other.

Everything follows DESIGN.md, section 7, word by word, on values of ``pddl_eval.model``; no code is shared with the
program. It serves domains of about three operators, four predicates of up to three arguments and a few types. The only
pruning: when some predicates are mapped, every operator must have a partner as far as literals of these predicates go.
Only tests import it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, permutations
from typing import Protocol

from pddl_eval.model import EQUALITY, ROOT_TYPE, Domain, Operator, State

Mapped = tuple[str, tuple[int, ...]]
"""A name in the reference, and for each argument or parameter its place there."""


@dataclass(frozen=True)
class Renaming:
    """What each name of the generated domain becomes in the reference."""

    types: Mapping[str, str] = field(default_factory=dict)
    constants: Mapping[str, str] = field(default_factory=dict)
    predicates: Mapping[str, Mapped] = field(default_factory=dict)
    operators: Mapping[str, Mapped] = field(default_factory=dict)


class Witness(Protocol):
    """A renaming as ``compare_domains`` returns it."""

    @property
    def types(self) -> Mapping[str, str]: ...
    @property
    def constants(self) -> Mapping[str, str]: ...
    @property
    def predicates(self) -> Mapping[str, tuple[str, Sequence[int]]]: ...
    @property
    def operators(self) -> Mapping[str, tuple[str, Sequence[int]]]: ...


# What of a domain counts.


def used_types(domain: Domain, further: Sequence[str] = ()) -> frozenset[str]:
    """The types of parameters and of used constants, and the further ones, without ``object``."""
    found = {
        type_ for operator in domain.operators for _, types in operator.parameters for type_ in widest(domain, types)
    }
    found |= {plain(domain, domain.constants[name]) for name in used_constants(domain)}
    return frozenset(found | {plain(domain, type_) for type_ in further}) - {ROOT_TYPE}


def plain(domain: Domain, type_: str) -> str:
    """The type; an undeclared one is ``object``."""
    return type_ if type_ in domain.types else ROOT_TYPE


def above(domain: Domain, type_: str) -> set[str]:
    """The types that are really above the type."""
    found: set[str] = set()
    while type_ in domain.types and domain.types[type_] not in found:
        type_ = domain.types[type_]
        found.add(plain(domain, type_))
    return found | {ROOT_TYPE}


def widest(domain: Domain, types: Sequence[str]) -> frozenset[str]:
    """The alternatives without those that another one is above of."""
    found = {plain(domain, type_) for type_ in types}
    return frozenset(type_ for type_ in found if type_ == ROOT_TYPE or not above(domain, type_) & found)


def used_constants(domain: Domain) -> frozenset[str]:
    """The constants that a literal is about."""
    return frozenset(
        term for operator in domain.operators for part in operator.parts for atom in part for term in atom[1:]
    ).intersection(domain.constants)


def used_predicates(domain: Domain) -> dict[str, int]:
    """The predicates of literals, each with the number of its arguments."""
    atoms = chain.from_iterable(part for operator in domain.operators for part in operator.parts)
    return {atom[0]: len(atom) - 1 for atom in sorted(atoms) if atom[0] != EQUALITY}


# All renamings.


def renamings(reference: Domain, generated: Domain) -> Iterator[Renaming]:
    """Every renaming that turns the generated domain's operators into the reference's."""
    if len(reference.operators) != len(generated.operators):
        return
    for types in type_bijections(reference, generated, used_types(reference), used_types(generated)):
        for constants in constant_bijections(
            reference, generated, used_constants(reference), used_constants(generated), types
        ):
            yield from _extended(reference, generated, Renaming(types, constants))


def type_bijections(
    reference: Domain, generated: Domain, ours: frozenset[str], theirs: frozenset[str]
) -> Iterator[dict[str, str]]:
    """Every bijection of their types onto ours that keeps which type is above which."""
    if len(ours) != len(theirs):
        return
    for image in permutations(sorted(ours)):
        types = dict(zip(sorted(theirs), image, strict=True))
        if all(
            (b in above(generated, a)) == (types[b] in above(reference, types[a]))
            for a in theirs
            for b in theirs
            if a != b
        ):
            yield types


def constant_bijections(
    reference: Domain, generated: Domain, ours: frozenset[str], theirs: frozenset[str], types: Mapping[str, str]
) -> Iterator[dict[str, str]]:
    """Every bijection of their constants onto ours that keeps types."""
    if len(ours) != len(theirs):
        return
    for image in permutations(sorted(ours)):
        constants = dict(zip(sorted(theirs), image, strict=True))
        if all(
            types.get(type_ := plain(generated, generated.constants[name]), type_)
            == plain(reference, reference.constants[constants[name]])
            for name in theirs
        ):
            yield constants


def _extended(reference: Domain, generated: Domain, renaming: Renaming) -> Iterator[Renaming]:
    """The renaming with one more predicate mapped in every way; with all mapped, the operators in every way."""
    partners = [
        [
            (ours.name, order)
            for ours in reference.operators
            if len(ours.parameters) == len(theirs.parameters)
            for order in permutations(range(len(theirs.parameters)))
            if _become(reference, generated, ours, theirs, order, renaming)
        ]
        for theirs in generated.operators
    ]
    if not all(partners):
        return
    theirs, ours = used_predicates(generated), used_predicates(reference)
    if len(ours) != len(theirs):
        return
    left = sorted(theirs.keys() - renaming.predicates.keys())
    if not left:
        yield from _matched(generated, renaming, partners)
        return
    taken = {name for name, _ in renaming.predicates.values()}
    for name, arity in ours.items():
        if name not in taken and arity == theirs[left[0]]:
            for order in permutations(range(arity)):
                predicates = {**renaming.predicates, left[0]: (name, order)}
                yield from _extended(reference, generated, Renaming(renaming.types, renaming.constants, predicates))


def _matched(generated: Domain, renaming: Renaming, partners: list[list[Mapped]]) -> Iterator[Renaming]:
    def choose(number: int, chosen: dict[str, Mapped]) -> Iterator[dict[str, Mapped]]:
        if number == len(partners):
            yield dict(chosen)
            return
        for name, order in partners[number]:
            if all(name != other for other, _ in chosen.values()):
                yield from choose(number + 1, {**chosen, generated.operators[number].name: (name, order)})

    for operators in choose(0, {}):
        yield Renaming(renaming.types, renaming.constants, renaming.predicates, operators)


def _become(  # noqa: PLR0913
    reference: Domain,
    generated: Domain,
    ours: Operator[State],
    theirs: Operator[State],
    order: Sequence[int],
    renaming: Renaming | Witness,
) -> bool:
    """Whether their operator, renamed, with its parameter i in place ``order[i]``, is ours: in its parameters' types,
    and in the literals of equations and of the predicates that are mapped.
    """
    for place, (_, types) in zip(order, theirs.parameters, strict=True):
        image = {renaming.types.get(type_, type_) for type_ in widest(generated, types)}
        if image != widest(reference, ours.parameters[place][1]):
            return False
    variables = {name: ours.parameters[place][0] for place, (name, _) in zip(order, theirs.parameters, strict=True)}
    mapped = {name for name, _ in renaming.predicates.values()}
    for our_part, their_part in zip(ours.parts, theirs.parts, strict=True):
        wanted = {_symmetric(atom) for atom in our_part if atom[0] in mapped or atom[0] == EQUALITY}
        found = set()
        for predicate, *arguments in their_part:
            terms = [variables.get(term, renaming.constants.get(term, term)) for term in arguments]
            if predicate == EQUALITY:
                found.add(_symmetric((EQUALITY, *terms)))
            elif predicate in renaming.predicates:
                name, places = renaming.predicates[predicate]
                moved = dict(zip(places, terms, strict=True))
                found.add((name, *(moved[place] for place in range(len(terms)))))
        if wanted != found:
            return False
    return True


def _symmetric(atom: tuple[str, ...]) -> tuple[str, ...]:
    return (EQUALITY, *sorted(atom[1:])) if atom[0] == EQUALITY else atom


# Verdicts and witnesses.


def equivalent(reference: Domain, generated: Domain) -> bool:
    """Whether there is a renaming."""
    return next(renamings(reference, generated), None) is not None


def verdict(reference: Domain, generated: Domain) -> str:
    """The verdict of a pair of domains that can be read, by enumeration."""
    if len(reference.operators) != len(generated.operators):
        return "operator_count"
    if identity_is_a_witness(reference, generated):
        return "identical"
    if equivalent(reference, generated):
        return "renamed"
    return "types_differ" if equivalent(reference.without_types(), generated.without_types()) else "operators_differ"


def identity_is_a_witness(reference: Domain, generated: Domain) -> bool:
    """Whether the two are equal under equal names, parameters by their places."""
    same = Renaming(
        {type_: type_ for type_ in used_types(generated)},
        {name: name for name in used_constants(generated)},
        {name: (name, tuple(range(arity))) for name, arity in used_predicates(generated).items()},
        {each.name: (each.name, tuple(range(len(each.parameters)))) for each in generated.operators},
    )
    return not faults(reference, generated, same)


def faults(reference: Domain, generated: Domain, witness: Witness) -> list[str]:
    """What is wrong with a witness; nothing where it turns the generated domain's operators into the reference's."""
    sides = (generated, reference)
    found = [
        f"{what}: {sorted(theirs)} become {[names.get(name) for name in theirs]}, not {sorted(ours)}"
        for what, (theirs, ours), names in (
            ("types", map(used_types, sides), dict(witness.types)),
            ("constants", map(used_constants, sides), dict(witness.constants)),
            (
                "predicates",
                map(used_predicates, sides),
                {name: image for name, (image, _) in witness.predicates.items()},
            ),
            ("operators", map(_names, sides), {name: image for name, (image, _) in witness.operators.items()}),
        )
        if Counter(names.get(name) for name in theirs) != Counter(list(ours))
    ]
    arities = used_predicates(generated)
    orders = {name: sorted(witness.predicates.get(name, ("", ()))[1]) for name in arities}
    found += [f"predicate {name} has no order" for name in arities if orders[name] != list(range(arities[name]))]
    return found or [
        *_changed_types(reference, generated, witness),
        *(
            f"operator {each.name} does not become {witness.operators[each.name][0]}"
            for each in generated.operators
            if not _becomes(reference, generated, each, witness)
        ),
    ]


def _names(domain: Domain) -> set[str]:
    return {each.name for each in domain.operators}


def _changed_types(reference: Domain, generated: Domain, witness: Witness) -> Iterator[str]:
    for a, b in permutations(used_types(generated), 2):
        if (b in above(generated, a)) != (witness.types[b] in above(reference, witness.types[a])):
            yield f"types {a} and {b} are related in one domain only"
    for name in used_constants(generated):
        type_ = plain(generated, generated.constants[name])
        if witness.types.get(type_, type_) != plain(reference, reference.constants[witness.constants[name]]):
            yield f"constant {name} changes its type"


def _becomes(reference: Domain, generated: Domain, theirs: Operator[State], witness: Witness) -> bool:
    name, order = witness.operators[theirs.name]
    (ours,) = (each for each in reference.operators if each.name == name)
    is_order = sorted(order) == list(range(len(ours.parameters))) and len(order) == len(theirs.parameters)
    return is_order and _become(reference, generated, ours, theirs, order, witness)
