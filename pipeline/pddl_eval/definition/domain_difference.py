"""The difference between two domains: which operators are partners, and what one lacks that the other has.

Partners have the same names, or where names are of no help the least difference. They explain a verdict; they never
decide one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice, permutations, product

from pddl_eval.definition import words
from pddl_eval.definition.budget import spend
from pddl_eval.definition.canonical import isomorphic
from pddl_eval.definition.model import EQUALITY, Atom, Domain, Formula, Operator
from pddl_eval.definition.scenes import numbered
from pddl_eval.definition.structure import (
    DomainGraph,
    Renaming,
    operator_name,
    operator_names,
    parts_of,
    sorted_equality,
)

MOST_ORDERS = 120
"""Orders of an operator's parameters that are tried to find its partner: all of five."""

MOST_COMPARED = 100
"""Pairs of operators that are compared to find partners; what is left over is paired as it stands."""

Literal = tuple[str, Atom]
"""An atom with the part of the operator that it stands in (``structure.parts_of``)."""


@dataclass(frozen=True, slots=True)
class Partners:
    """An operator of the reference and the generated one that comes closest to it; None where one has no partner.

    ``lacks`` and ``has``: the literals that only the reference's operator has, and those that only the generated one
    has, in the words of the reference, with the parameters of its operator.
    """

    reference: Operator | None
    generated: Operator | None
    lacks: tuple[Literal, ...] = ()
    has: tuple[Literal, ...] = ()

    @property
    def distance(self) -> int:
        """How many literals and parameters differ."""
        if self.reference is None or self.generated is None:
            return 0
        parameters = len(self.reference.parameters) - len(self.generated.parameters)
        return len(self.lacks) + len(self.has) + abs(parameters)


def partners(reference: Domain, generated: Domain, renaming: Renaming | None = None) -> tuple[Partners, ...]:
    """Each operator of either domain with its partner, in the order of the reference: those of the renaming, if given.

    >>> from pddl_eval.definition.pddl import parse_domain
    >>> one = parse_domain("(define (domain d) (:action a :effect (p)) (:action b :effect (q)))")
    >>> other = parse_domain("(define (domain d) (:action b :effect (and (q) (p))))")
    >>> [(each.reference.name, each.generated and each.generated.name, each.has) for each in partners(one, other)]
    [('a', None, ()), ('b', 'b', (('added', ('p',)),))]
    """
    known = renaming or _words(reference, generated)
    theirs, ours = (
        operator_names(domain) if renaming else list(map(operator_name, domain.operators))
        for domain in (reference, generated)
    )
    left = dict(enumerate(generated.operators))
    found: dict[int, Partners] = {}

    def pair(number: int, other: int) -> None:
        if number not in found and other in left:
            order = renaming.operators[ours[other]][1] if renaming else None
            found[number] = _compared(reference.operators[number], left.pop(other), known, order)

    names = {renaming.operators[name][0] if renaming else name: number for number, name in enumerate(ours)}
    for number, name in enumerate(theirs):
        pair(number, names.get(name, -1))
    without = [number for number in range(len(reference.operators)) if number not in found]
    distances = sorted(
        (_compared(reference.operators[number], left[other], known).distance, number, other)
        for number, other in islice(product(without, left), MOST_COMPARED)
    )
    for _, number, other in distances:
        pair(number, other)
    for number, other in list(zip([number for number in without if number not in found], left, strict=False)):
        pair(number, other)
    lines = [found.get(number, Partners(operator, None)) for number, operator in enumerate(reference.operators)]
    return (*lines, *(Partners(None, operator) for operator in left.values()))


def renaming_sentence(renaming: Renaming) -> str:
    """What is called otherwise."""
    pairs = [(old, new) for old, (new, _) in renaming.operators.items()]
    pairs += [(old, new) for (old, _), (new, _) in chain(renaming.predicates.items(), renaming.functions.items())]
    pairs += [*renaming.types.items(), *renaming.constants.items()]
    return words.other_words([(old, new) for old, new in pairs if old != new])


def count_sentence(reference: Domain, generated: Domain) -> str:
    """Both numbers, and the operators that have no partner."""
    pairs = partners(reference, generated)
    missing = [each.reference.name for each in pairs if each.generated is None and each.reference is not None]
    extra = [each.generated.name for each in pairs if each.reference is None and each.generated is not None]
    return words.operator_count(len(generated.operators), len(reference.operators), missing, extra)


def nearest_sentence(reference: Domain, generated: Domain) -> str:
    """The first difference of the two partners that are closest to each other and differ."""
    pairs = partners(reference, generated)
    if any(each.distance for each in pairs):
        return _difference_sentence(min((each for each in pairs if each.distance), key=lambda each: each.distance))
    for each in pairs:
        if each.reference and each.generated and each.reference.formulas + each.generated.formulas:
            alone = (
                DomainGraph(replace(domain, operators=(operator,), formulas=())).labelled
                for domain, operator in ((reference, each.reference), (generated, each.generated))
            )
            if not isomorphic(*alone):
                differ = [_formulas(each.reference), _formulas(each.generated)]
                parts = sorted({part for part, _ in (differ[0] - differ[1]) | (differ[1] - differ[0])})
                return words.beyond_strips_differs(each.generated.name, parts)
    outside = sorted({section for section, _ in reference.formulas + generated.formulas})
    plain = (DomainGraph(replace(domain, formulas=())).labelled for domain in (reference, generated))
    if outside and isomorphic(*plain):
        return words.outside_operators(outside)
    return words.no_renaming()


def _difference_sentence(pair: Partners) -> str:
    """What the generated operator lacks or has first, in the words of the reference."""
    theirs, ours = pair.reference, pair.generated
    assert theirs is not None and ours is not None
    for verb, literals in (("lacks", pair.lacks), ("has", pair.has)):
        for part, atom in literals:
            return words.literal(ours.name, theirs.name, verb, part, atom)
    return words.parameters(ours.name, theirs.name, len(ours.parameters), len(theirs.parameters))


def types_sentence(reference: Domain, generated: Domain, renaming: Renaming) -> str:
    """The first parameter whose type is another one, under a renaming that ignores types."""
    theirs, ours = (
        dict(zip(operator_names(domain), domain.operators, strict=True)) for domain in (reference, generated)
    )
    # Without types there are fewer operators where some differ in nothing else.
    for own, operator in ours.items() if len(renaming.operators) == len(ours) else ():
        name, order = renaming.operators[own]
        for (parameter, types), place in zip(operator.parameters, order, strict=True):
            expected, wanted = theirs[name].parameters[place]
            if types != wanted:
                return words.parameter_type(operator.name, parameter, types, theirs[name].name, expected, wanted)
    return words.other_types()


def _words(reference: Domain, generated: Domain) -> Renaming:
    """Predicates and constants by the same names, else the most similar uses first; operators and types as they are."""
    theirs, ours = _uses(reference), _uses(generated)
    free = {name: uses for name, uses in theirs.items() if name not in ours}
    found = {name: name for name in ours if name in theirs}
    for name, uses in ours.items():
        alike = [other for other in free if name not in theirs and other[0] == name[0]]
        if alike:
            spend(10)
            found[name] = min(alike, key=lambda other: ((uses - free[other]) + (free[other] - uses)).total())
            del free[found[name]]
    constants = {name: new for (what, name, _), (_, new, _) in found.items() if what == "constant"}
    predicates = {
        (name, arity): (new, tuple(range(arity)))
        for (what, name, arity), (_, new, _) in found.items()
        if what == "predicate"
    }
    return Renaming({}, constants, predicates, {})


def _uses(domain: Domain) -> dict[tuple[str, str, int], Counter[tuple[str, int, int]]]:
    """How often each constant and each predicate stands in which part, in atoms of how many words, at which place.

    Each has the number of its arguments behind its name.
    """
    uses: dict[tuple[str, str, int], Counter[tuple[str, int, int]]] = {}
    for operator in domain.operators:
        spend(2)
        for part, atoms in parts_of(operator)[0].items():
            for atom in sorted(atoms):
                for place, word in enumerate(atom):
                    if word != EQUALITY and not word.startswith("?"):
                        name = ("constant", word, 0) if place else ("predicate", word, len(atom) - 1)
                        uses.setdefault(name, Counter())[part, len(atom), place] += 1
    return uses


def _compared(
    reference: Operator, generated: Operator, words: Renaming, order: Sequence[int] | None = None
) -> Partners:
    """Two operators as partners, their parameters in that order, else in the one that leaves the least difference."""
    theirs = _literals(reference)
    known, own = ([name for name, _ in operator.parameters] for operator in (reference, generated))
    literals = [(part, words.atom(atom)) for part, atom in _literals(generated)]
    # The known names as they stand, then in other orders; extra ones where they end.
    extra = [name for name in own if name not in known] + [f"{name}'" for name in own if name in known]
    names = known + extra[: max(0, len(own) - len(known))]
    orders: Iterable[Sequence[str]] = islice(permutations(names, len(own)), MOST_ORDERS)
    best: Partners | None = None
    for chosen in orders if order is None else [[known[place] for place in order]]:
        spend(10)
        parameter = dict(zip(own, chosen, strict=True))
        ours = {
            (part, sorted_equality((atom[0], *[parameter.get(term, term) for term in atom[1:]])))
            for part, atom in literals
        }
        compared = Partners(reference, generated, tuple(sorted(theirs - ours)), tuple(sorted(ours - theirs)))
        if best is None or compared.distance < best.distance:
            best = compared
        if not best.lacks and not best.has:
            break
    assert best is not None
    return best


def _formulas(operator: Operator) -> Counter[tuple[str, Formula]]:
    parameters = [name for name, _ in operator.parameters]
    return Counter((part, numbered(form, variables=parameters)) for part, form in parts_of(operator)[1])


def _literals(operator: Operator) -> set[Literal]:
    return {(part, sorted_equality(atom)) for part, atoms in parts_of(operator)[0].items() for atom in atoms}
