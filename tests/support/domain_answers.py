"""Recipes for answers of known correctness to domains: the same domain rewritten, another domain, or none.

As in ``answers``, labels hold by construction and no label comes from the comparison of domains that answers are there
to test. A domain that was only renamed or reordered is equivalent, and ``identical`` exactly if it says the same by
names and places. A changed domain is not equivalent where an invariant of isomorphism tells the two apart (the number
of operators, or colours that refine each other in ``surely_different``); where it does not, nothing is promised.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain, count
from random import Random
from typing import NamedTuple

from pddl_eval.benchmark.answers import Grade, surely_different
from pddl_eval.definition.model import EQUALITY, ROOT_TYPE

from tests.support.written_domain import (
    TOTAL_COST,
    Formula,
    Renaming,
    Typed,
    WrittenDomain,
    WrittenOperator,
    atoms_in,
    mapped,
    outline,
    read_written,
    spelled_out,
    used_types,
    without_types,
    write_domain,
)


class DomainLabels(NamedTuple):
    """What ``domain_equivalent`` and ``domain_verdict`` must say; None where it is not known."""

    equivalent: bool | None
    verdict: str | None


class OriginalDomain:
    """A reference domain that answers are made from.

    Raises ``UserError`` where the text cannot be read as ``read_written`` reads it.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self.domain = read_written(text)


Make = Callable[[WrittenDomain, Random], WrittenDomain | str | None]


class DomainRecipe(NamedTuple):
    """The function that makes an answer (None where it does not apply), and its grade: correct, open, unparseable."""

    make: Make
    grade: Grade


DOMAIN_ANSWERS: dict[str, DomainRecipe] = {}
"""All recipes by name. Their order, which is that of this file, decides what a seed draws."""


def recipe(grade: Grade) -> Callable[[Make], Make]:
    """Register a function as a recipe under its name."""

    def register(make: Make) -> Make:
        DOMAIN_ANSWERS[make.__name__] = DomainRecipe(make, grade)
        return make

    return register


def domain_answer(original: OriginalDomain, name: str, random: Random) -> tuple[str, DomainLabels] | None:
    """An answer by that recipe with its labels; None where the recipe does not apply.

    >>> domain = OriginalDomain("(define (domain d) (:action a :effect (p)) (:action b :effect (q)))")
    >>> domain_answer(domain, "operator_lost", Random(1))[1]
    DomainLabels(equivalent=False, verdict='operator_count')
    """
    make, grade = DOMAIN_ANSWERS[name]
    made = make(original.domain, random)
    if made is None or (made == original.domain and grade is Grade.OPEN):
        return None
    text = write_domain(made, random) if isinstance(made, WrittenDomain) else made
    if grade is Grade.UNPARSEABLE:
        return text, DomainLabels(False, "unparseable" if text.strip() else "empty")
    changed = made if isinstance(made, WrittenDomain) else read_written(made)
    if grade is Grade.CORRECT:
        same = spelled_out(changed) == spelled_out(original.domain)
        return text, DomainLabels(True, "identical" if same else "renamed")
    return text, labels_of(original.domain, changed)


def labels_of(reference: WrittenDomain, changed: WrittenDomain) -> DomainLabels:
    """What invariants tell of two domains; nothing where they do not differ, unless the domains say the same."""
    if len(reference.operators) != len(changed.operators):
        return DomainLabels(False, "operator_count")
    if spelled_out(reference) == spelled_out(changed):
        return DomainLabels(True, "identical")
    if _differ(reference, changed, typed=False):
        return DomainLabels(False, "operators_differ")
    if _differ(reference, changed, typed=True):
        only_types = spelled_out(without_types(reference)) == spelled_out(without_types(changed))
        return DomainLabels(False, "types_differ" if only_types else None)
    return DomainLabels(None, None)


def _differ(reference: WrittenDomain, changed: WrittenDomain, typed: bool) -> bool:
    (kinds, relations), (other_kinds, other_relations) = (outline(each, typed) for each in (reference, changed))
    return surely_different(kinds, (relations,), (other_relations,), other_objects=other_kinds)


# The same domain.


@recipe(Grade.CORRECT)
def reordered(domain: WrittenDomain, _random: Random) -> WrittenDomain:
    """Declarations, operators and conjuncts in another order, in which all answers are written."""
    return domain


@recipe(Grade.CORRECT)
def sections_reordered(domain: WrittenDomain, random: Random) -> str:
    """Sections and operators in any order."""
    return write_domain(domain, random, any_order=True)


@recipe(Grade.CORRECT)
def variables_renamed(domain: WrittenDomain, random: Random) -> WrittenDomain:
    """Other names for variables, among them perhaps old ones: within each operator the renaming is one to one."""
    return _with_variables(domain, random)


@recipe(Grade.CORRECT)
def all_renamed(domain: WrittenDomain, random: Random) -> WrittenDomain:
    """Other names and orders for everything, variables included."""
    return _with_variables(domain.renamed(random_renaming(domain, random)), random)


@recipe(Grade.CORRECT)
def unused_declared(domain: WrittenDomain, random: Random) -> WrittenDomain:
    """Declarations that no operator uses: a predicate, a constant and a type, below and beside those that are used."""
    fresh = _fresh_names(domain)
    types = [name for name, _ in domain.types] or [ROOT_TYPE]
    new = next(fresh)
    return replace(
        domain,
        types=(*domain.types, (new, random.choice(types))),
        constants=(*domain.constants, (next(fresh), (random.choice([new, *types]),))),
        predicates=(*domain.predicates, (next(fresh), (("?x", (new,)), ("?y", (ROOT_TYPE,))))),
    )


@recipe(Grade.CORRECT)
def predicates_undeclared(domain: WrittenDomain, _random: Random) -> WrittenDomain:
    """No declarations of predicates: what operators use says all that is compared."""
    return replace(domain, predicates=())


@recipe(Grade.CORRECT)
def literal_repeated(domain: WrittenDomain, random: Random) -> str | None:
    """A literal that is written twice, the second time in a conjunction of its own."""
    place = _literal(domain, random)
    if place is None:
        return None
    number, part, literal = place
    shown = write_domain(_with_part(domain, number, part, lambda members: (*members, ("and", literal))), random)
    return shown


@recipe(Grade.CORRECT)
def in_a_fence(domain: WrittenDomain, random: Random) -> str:
    """A Markdown fence."""
    return f"```pddl\n{write_domain(domain, random)}\n```\n"


@recipe(Grade.CORRECT)
def commented(domain: WrittenDomain, random: Random) -> str:
    """Comments at the ends of lines."""
    return "\n".join(f"{line} ; (line {number}" for number, line in enumerate(write_domain(domain, random).split("\n")))


# Another domain, as far as an invariant tells.


@recipe(Grade.OPEN)
def literal_added(domain: WrittenDomain, random: Random) -> WrittenDomain | None:
    """A literal more, over a predicate of the domain and terms of the operator."""
    number = random.randrange(len(domain.operators))
    signatures = sorted({(atom[0], len(atom) - 1) for atom in domain.atoms() if _is_plain(atom)})
    terms = _terms(domain, number)
    possible = [(name, arity) for name, arity in signatures if terms or not arity]
    if not possible:
        return None
    name, arity = random.choice(possible)
    literal: Formula = (name, *random.choices(terms or [""], k=arity))
    if random.random() < 0.5:
        literal = ("not", literal)
    return _with_part(domain, number, random.randrange(2), lambda members: tuple(dict.fromkeys((*members, literal))))


@recipe(Grade.OPEN)
def literal_lost(domain: WrittenDomain, random: Random) -> WrittenDomain | None:
    """A literal fewer."""
    return _on_literal(domain, random, lambda _: ())


@recipe(Grade.OPEN)
def literal_negated(domain: WrittenDomain, random: Random) -> WrittenDomain | None:
    """A literal that says the opposite."""
    return _on_literal(domain, random, lambda literal: (literal[1] if literal[0] == "not" else ("not", literal),))


@recipe(Grade.OPEN)
def literal_to_other_part(domain: WrittenDomain, random: Random) -> WrittenDomain | None:
    """A condition that has become an effect, or the reverse."""
    place = _literal(domain, random, _is_plain)
    if place is None:
        return None
    number, part, literal = place
    without = _with_part(domain, number, part, lambda members: tuple(m for m in members if m != literal))
    return _with_part(without, number, 1 - part, lambda members: tuple(dict.fromkeys((*members, literal))))


@recipe(Grade.OPEN)
def literal_to_other_operator(domain: WrittenDomain, random: Random) -> WrittenDomain | None:
    """A literal that has moved to another operator, with terms of that one."""
    place = _literal(domain, random)
    other = random.randrange(len(domain.operators))
    if place is None or other == place[0]:
        return None
    number, part, literal = place
    terms = _terms(domain, other)
    atom = atoms_in(literal)[0]
    if len(atom) > 1 and not terms:
        return None
    moved: Formula = (atom[0], *random.choices(terms or [""], k=len(atom) - 1))
    moved = ("not", moved) if literal[0] == "not" else moved
    without = _with_part(domain, number, part, lambda members: tuple(m for m in members if m != literal))
    return _with_part(without, other, part, lambda members: tuple(dict.fromkeys((*members, moved))))


@recipe(Grade.OPEN)
def arguments_swapped(domain: WrittenDomain, random: Random) -> WrittenDomain | None:
    """Two arguments exchanged in one literal."""

    def swapped(atom: Formula) -> Formula:
        terms = list(atom[1:])
        one, other = random.sample(range(len(terms)), 2)
        terms[one], terms[other] = terms[other], terms[one]
        return (atom[0], *terms)

    return _on_atom(domain, random, swapped, lambda atom: _is_plain(atom) and len(set(atom[1:])) > 1)


@recipe(Grade.OPEN)
def predicate_replaced(domain: WrittenDomain, random: Random) -> WrittenDomain | None:
    """Another predicate of as many arguments in one literal."""
    pair = _alike(domain, random)
    return pair and _on_atom(domain, random, lambda atom: (pair[1], *atom[1:]), lambda atom: atom[0] == pair[0])


@recipe(Grade.OPEN)
def predicates_merged(domain: WrittenDomain, random: Random) -> WrittenDomain | None:
    """One predicate in the place of two."""
    pair = _alike(domain, random)
    if pair is None:
        return None
    merged = domain.renamed(Renaming(predicates={pair[0]: pair[1]}))
    operators = tuple(
        replace(each, conditions=tuple(dict.fromkeys(each.conditions)), effects=tuple(dict.fromkeys(each.effects)))
        for each in merged.operators
    )
    return replace(merged, predicates=tuple(dict(merged.predicates).items()), operators=operators)


@recipe(Grade.OPEN)
def deletes_lost(domain: WrittenDomain, _random: Random) -> WrittenDomain:
    """No operator deletes anything."""
    for number in range(len(domain.operators)):
        domain = _with_part(domain, number, 1, lambda members: tuple(m for m in members if m[0] != "not"))
    return domain


@recipe(Grade.OPEN)
def parameter_added(domain: WrittenDomain, random: Random) -> WrittenDomain:
    """A parameter more, which no literal uses."""
    number = random.randrange(len(domain.operators))
    each = domain.operators[number]
    types = random.choice([types for _, types in each.parameters] or [(ROOT_TYPE,)])
    return _with_operators(domain, number, (replace(each, parameters=(*each.parameters, ("?added-one", types))),))


@recipe(Grade.OPEN)
def constant_generalised(domain: WrittenDomain, random: Random) -> WrittenDomain | None:
    """A parameter of its type in the place of a constant."""
    uses = [
        (number, name, types)
        for number, each in enumerate(domain.operators)
        for name, types in domain.constants
        if any(name in atom[1:] for formula in (*each.conditions, *each.effects) for atom in atoms_in(formula))
    ]
    if not uses:
        return None
    number, name, types = random.choice(uses)
    changed = domain.renamed(Renaming(constants={name: "?for-constant"})).operators[number]
    return _with_operators(
        domain, number, (replace(changed, parameters=(*changed.parameters, ("?for-constant", types))),)
    )


@recipe(Grade.OPEN)
def parameter_type_changed(domain: WrittenDomain, random: Random) -> WrittenDomain | None:
    """Another type for one parameter, perhaps a wider or a narrower one."""
    places = [(i, j) for i, each in enumerate(domain.operators) for j in range(len(each.parameters))]
    if not places:
        return None
    number, place = random.choice(places)
    each = domain.operators[number]
    variable, types = each.parameters[place]
    others = [name for name in [ROOT_TYPE, *dict(domain.types)] if (name,) != types]
    if not others:
        return None
    listing = list(each.parameters)
    listing[place] = (variable, (random.choice(others),))
    return _with_operators(domain, number, (replace(each, parameters=tuple(listing)),))


@recipe(Grade.OPEN)
def types_lost(domain: WrittenDomain, _random: Random) -> WrittenDomain | None:
    """No types."""
    return without_types(domain) if used_types(domain) else None


@recipe(Grade.OPEN)
def types_flattened(domain: WrittenDomain, _random: Random) -> WrittenDomain | None:
    """Every type directly below ``object``."""
    return replace(domain, types=tuple((name, ROOT_TYPE) for name, _ in domain.types))


@recipe(Grade.OPEN)
def operator_lost(domain: WrittenDomain, random: Random) -> WrittenDomain | None:
    """An operator fewer."""
    if len(domain.operators) < 2:
        return None
    return _with_operators(domain, random.randrange(len(domain.operators)), ())


@recipe(Grade.OPEN)
def operator_doubled(domain: WrittenDomain, random: Random) -> WrittenDomain:
    """An operator twice, under two names."""
    number = random.randrange(len(domain.operators))
    each = domain.operators[number]
    return _with_operators(domain, number, (each, replace(each, name=next(_fresh_names(domain)))))


# No domain.


@recipe(Grade.UNPARSEABLE)
def cut_off(domain: WrittenDomain, random: Random) -> str:
    """The text ends early, so that the parenthesis it opened with is never closed."""
    text = write_domain(domain, random)
    return text[: random.randint(len("(define (domain "), len(text) - 1)]


@recipe(Grade.UNPARSEABLE)
def empty(_domain: WrittenDomain, random: Random) -> str:
    """Nothing at all, or white space."""
    return random.choice(("", " \n"))


def random_renaming(domain: WrittenDomain, random: Random, taken: Collection[str] = ()) -> Renaming:
    """New names for all that a domain names, some of them perhaps old names of other things, and new orders.

    No fresh name is one of those ``taken``.
    """
    fresh = (name for name in _fresh_names(domain) if name not in taken)

    def names(old: Iterable[str]) -> dict[str, str]:
        ordered = sorted(set(old) - {ROOT_TYPE, EQUALITY, TOTAL_COST})
        new = random.choice((ordered, [next(fresh) for _ in ordered]))
        return dict(zip(ordered, random.sample(new, len(new)), strict=True))

    arities = {atom[0]: len(atom) - 1 for atom in domain.atoms() if atom[0] != EQUALITY}
    arities |= {name: len(listing) for name, listing in (*domain.predicates, *domain.functions)}
    types = {type_ for listing in _listings(domain) for _, alternatives in listing for type_ in alternatives}
    types |= set(chain.from_iterable(domain.types))
    mixed = {atom[0] for atom in domain.atoms() if len(atom) - 1 != arities.get(atom[0])}
    return Renaming(
        names(types),
        names(name for name, _ in domain.constants),
        names(arities),
        names(each.name for each in domain.operators),
        {name: random.sample(range(arity), arity) for name, arity in sorted(arities.items()) if name not in mixed},
        {each.name: random.sample(range(len(each.parameters)), len(each.parameters)) for each in domain.operators},
    )


def _same(atom: Formula) -> Formula:
    return atom


def _listings(domain: WrittenDomain) -> list[Typed]:
    """Every typed list of a domain."""
    found = [domain.constants, *(listing for _, listing in (*domain.predicates, *domain.functions))]

    def note(listing: Typed) -> Typed:
        found.append(listing)
        return listing

    for each in domain.operators:
        note(each.parameters)
        for formula in (*each.conditions, *each.effects):
            mapped(formula, _same, note)
    for _, parameters, body in domain.derived:
        note(parameters)
        mapped(body, _same, note)
    return found


def _with_variables(domain: WrittenDomain, random: Random) -> WrittenDomain:
    return replace(domain, operators=tuple(_with_other_variables(each, random) for each in domain.operators))


def _with_other_variables(operator: WrittenOperator, random: Random) -> WrittenOperator:
    """The operator with other names for all its variables, quantified ones included."""
    listings = [operator.parameters]

    def note(listing: Typed) -> Typed:
        listings.append(listing)
        return listing

    for formula in (*operator.conditions, *operator.effects):
        mapped(formula, _same, note)
    old = sorted({name for listing in listings for name, _ in listing})
    new = random.choice((old, [f"?v{number}" for number in range(len(old))]))
    return _renamed_variables(operator, dict(zip(old, random.sample(new, len(new)), strict=True)))


def _renamed_variables(operator: WrittenOperator, names: dict[str, str]) -> WrittenOperator:
    def typed(listing: Typed) -> Typed:
        return tuple((names.get(name, name), types) for name, types in listing)

    def changed(formula: Formula) -> Formula:
        return mapped(formula, lambda atom: (atom[0], *(names.get(term, term) for term in atom[1:])), typed)

    return WrittenOperator(
        operator.name,
        typed(operator.parameters),
        tuple(map(changed, operator.conditions)),
        tuple(map(changed, operator.effects)),
    )


def _fresh_names(domain: WrittenDomain) -> Iterator[str]:
    """Names that the domain does not use."""
    taken = set(chain.from_iterable(domain.types)) | {name for name, _ in domain.constants}
    taken |= {name for name, _ in (*domain.predicates, *domain.functions)} | {each.name for each in domain.operators}
    taken |= {term for atom in domain.atoms() for term in atom}
    return (name for name in (f"n{number}" for number in count(1)) if name not in taken)


def _is_plain(atom: Formula) -> bool:
    return bool(atom[0] != EQUALITY)


def _terms(domain: WrittenDomain, number: int) -> list[str]:
    """What a literal of the operator may be about: its parameters, and the constants."""
    return [name for name, _ in (*domain.operators[number].parameters, *domain.constants)]


def _literal(
    domain: WrittenDomain, random: Random, wanted: Callable[[Formula], bool] = lambda _: True
) -> tuple[int, int, Formula] | None:
    """A literal whose atom is wanted: the operator's number, the part (conditions or effects) and the literal."""
    found = []
    for number, each in enumerate(domain.operators):
        for part, members in enumerate((each.conditions, each.effects)):
            for member in members:
                atom = member[1] if member[0] == "not" else member
                if atoms_in(atom) == [atom] and wanted(atom):
                    found.append((number, part, member))
    return random.choice(found) if found else None


def _on_literal(
    domain: WrittenDomain, random: Random, change: Callable[[Formula], tuple[Formula, ...]]
) -> WrittenDomain | None:
    place = _literal(domain, random)
    if place is None:
        return None
    number, part, literal = place
    return _with_part(domain, number, part, lambda members: _replaced(members, literal, change(literal)))


def _on_atom(
    domain: WrittenDomain, random: Random, change: Callable[[Formula], Formula], wanted: Callable[[Formula], bool]
) -> WrittenDomain | None:
    place = _literal(domain, random, wanted)
    return place and _with_literal(domain, *place, change(atoms_in(place[2])[0]))


def _with_literal(domain: WrittenDomain, number: int, part: int, literal: Formula, atom: Formula) -> WrittenDomain:
    new = ("not", atom) if literal[0] == "not" else atom
    return _with_part(domain, number, part, lambda members: _replaced(members, literal, (new,)))


def _replaced(members: Sequence[Formula], old: Formula, new: tuple[Formula, ...]) -> tuple[Formula, ...]:
    return tuple(dict.fromkeys(each for member in members for each in (new if member == old else (member,))))


def _with_part(
    domain: WrittenDomain, number: int, part: int, change: Callable[[tuple[Formula, ...]], tuple[Formula, ...]]
) -> WrittenDomain:
    each = domain.operators[number]
    changed = replace(each, effects=change(each.effects)) if part else replace(each, conditions=change(each.conditions))
    return _with_operators(domain, number, (changed,))


def _with_operators(domain: WrittenDomain, number: int, new: tuple[WrittenOperator, ...]) -> WrittenDomain:
    """The domain with other operators in the place of one."""
    return replace(domain, operators=(*domain.operators[:number], *new, *domain.operators[number + 1 :]))


def _alike(domain: WrittenDomain, random: Random) -> tuple[str, str] | None:
    """Two predicates of as many arguments, both used."""
    by_arity: dict[int, set[str]] = {}
    for each in domain.operators:
        for formula in (*each.conditions, *each.effects):
            for atom in atoms_in(formula):
                if atom[0] not in (EQUALITY, TOTAL_COST) and atom[0] not in dict(domain.functions):
                    by_arity.setdefault(len(atom) - 1, set()).add(atom[0])
    several = [sorted(names) for _, names in sorted(by_arity.items()) if len(names) > 1]
    if not several:
        return None
    one, other = random.sample(random.choice(several), 2)
    return one, other
