"""What follows from the operators of a domain, each thing made once: its graphs, its certificate."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import chain

from pddl_eval.definition.budget import spend
from pddl_eval.definition.canonical import Form, LabelledGraph, digest, encoded
from pddl_eval.definition.model import BINDERS, EQUALITY, Domain, Formula, Operator, State, Types, renamed, words_of
from pddl_eval.definition.scenes import numbered
from pddl_eval.definition.structure.graph import (
    PARTS,
    SETS,
    DomainGraph,
    bound_variables,
    number,
    parts_of,
    sorted_equality,
)
from pddl_eval.definition.structure.types import hierarchy, least_types
from pddl_eval.definition.verdict import CERTIFICATE_VERSION, UNCHANGED_SINCE

_ADDED_UP = frozenset({"increase", "decrease", "scale-up", "scale-down", "oneof", "probabilistic", "preference"})
"""What is more when it is said twice."""

_SINCE_VERSION_3 = (": durative action", ": :constraints")
"""Constructs that version 3 of certificates compares in another way than version 2."""

Formulas = Iterable[tuple[str, Formula]]
"""Each with the part of an operator, or the section of a domain, that it stands in."""


class DomainStructure:
    """A domain with what follows from its operators, each made once.

    >>> from pddl_eval.definition.pddl import parse_domain
    >>> text = "(define (domain d) (:types ball) (:action drop :parameters (?b - ball) :precondition (held ?b)))"
    >>> structures = DomainStructure(parse_domain(text)), DomainStructure(parse_domain(text.replace("ball", "toy")))
    >>> structures[0].certificate == structures[1].certificate, structures[0].as_written == structures[1].as_written
    (True, False)
    """

    def __init__(self, domain: Domain) -> None:
        self._written = domain

    @cached_property
    def domain(self) -> Domain:
        """The domain with everything that counts in it once."""
        return counted(self._written)

    @cached_property
    def graph(self) -> DomainGraph:
        """The graph of the operators."""
        return DomainGraph(self.domain)

    @cached_property
    def untyped(self) -> DomainGraph:
        """The graph of the operators once all types are erased."""
        return DomainGraph(counted(self.domain.without_types()))

    @cached_property
    def certificate(self) -> str:
        """32 hexadecimal digits that are equal exactly for equivalent domains; raises ``OutOfBudgetError``."""
        is_changed = any(note.endswith(_SINCE_VERSION_3) for note in self._written.outside_strips)
        version = CERTIFICATE_VERSION if is_changed else UNCHANGED_SINCE
        return digest(version, "domain", self.graph.labelled.form)

    @cached_property
    def as_written(self) -> object:
        """Equal for domains whose operators are equal under equal names, up to the names of parameters."""
        return _in_words(self.domain, self.domain.operators, self.domain.formulas)

    @cached_property
    def _used_names(self) -> tuple[frozenset[str], tuple[tuple[str, Types], ...]]:
        """The types that operators use, and the constants in their literals, each with its types."""
        domain = self.domain
        spend(2 * len(domain.operators))
        parts = chain.from_iterable(operator.parts for operator in domain.operators)
        terms = {term for part in parts for atom in part for term in atom[1:]}
        constants = {name: least_types(domain, domain.types_of(name)) for name in terms if not name.startswith("?")}
        asked = (types for operator in domain.operators for _, types in operator.parameters)
        types = chain(*constants.values(), *(least_types(domain, each) for each in asked))
        return frozenset(types), tuple(sorted(constants.items()))

    @cached_property
    def _operator_forms(self) -> list[bytes]:
        return sorted(encoded(operator_graph(self.domain, each).form) for each in self.domain.operators)

    def fingerprint(self, types: Iterable[str], *, numbers: bool = False) -> str:
        """32 digits of the name and the operators in their words, and of where these types stand among theirs.

        What operators and parameters are called, the order of parameters, costs and what no operator uses do not count.
        Where the domain is not STRIPS, or costs count (``numbers``), the domain counts as it is written, but for the
        names of operators and variables.
        """
        if self._written.outside_strips or (numbers and has_formulas(self._written)):
            return digest(self.domain.name, *self._in_full)
        used, constants = self._used_names
        below = hierarchy(self.domain, used.union(self.domain.types.keys() & set(types)))
        return digest(self.domain.name, constants, tuple(sorted(below)), tuple(self._operator_forms))

    @cached_property
    def _in_full(self) -> tuple[Form, ...]:
        """Constants and types with what they are declared with, operators, rules."""
        domain = self._written
        spend(2 * (len(domain.operators) + len(domain.formulas)))
        constants = tuple(sorted((name, domain.types_of(name)) for name in domain.constants))
        types = tuple(sorted((name, domain.parents(name)) for name in domain.types))
        operators = sorted({encoded(_operator_in_full(each)) for each in domain.operators})
        rules = sorted({encoded(numbered(form)) for _, form in domain.formulas})
        return constants, types, tuple(operators), tuple(rules)


def _operator_in_full(operator: Operator) -> Form:
    """The types of its parameters, its literals and its formulas, with numbers for its variables."""
    spend(2 * len(operator.formulas))
    place = {name: f"?{number}" for number, (name, _) in enumerate(operator.parameters)}
    literals = tuple(tuple(sorted(map(sorted_equality, renamed(part, place)))) for part in operator.parts)
    formulas = sorted(encoded((part, numbered(form, variables=place))) for part, form in operator.formulas)
    return tuple(types for _, types in operator.parameters), literals, tuple(formulas)


def operator_graph(domain: Domain, operator: Operator) -> LabelledGraph:
    """The graph of one operator's parts over its parameters, which have no names, and over constants, which have."""
    terms = {name: " ".join(["?", *least_types(domain, types)]) for name, types in operator.parameters}
    for part in operator.parts:
        terms |= {term: f"= {term}" for atom in part for term in atom[1:] if term not in terms}
    scenes = {
        name: part | {(EQUALITY, *reversed(atom[1:])) for atom in part if atom[0] == EQUALITY}
        for name, part in zip(PARTS, operator.parts, strict=True)
    }
    return LabelledGraph(terms, scenes)


def by_position(operator: Operator) -> list[State]:
    """The atoms of each part, parameters replaced by their positions, which no variable is called.

    In those of a durative action the time is a part of the predicate: ``at start light``.
    """
    position = {name: f"? {place}" for place, (name, _) in enumerate(operator.parameters)}
    said = list(parts_of(operator)[0].items())
    found = []
    for place, part in enumerate(PARTS):
        timed = [(label.removesuffix(part), renamed(atoms, position)) for label, atoms in said[place :: len(PARTS)]]
        found.append(
            frozenset((when + head, *terms) for when, atoms in timed for head, *terms in map(sorted_equality, atoms))
        )
    return found


def has_formulas(domain: Domain) -> bool:
    """True where the domain says more than sets of atoms can."""
    return bool(domain.formulas) or any(operator.formulas for operator in domain.operators)


def counted(domain: Domain) -> Domain:
    """The domain with everything that counts in it once.

    An operator or a formula that is repeated says nothing more, whatever its variables are called and however its
    conjunctions are ordered; nor does a derived predicate that neither operators nor other derived ones use.
    """
    names = Counter([operator.name for operator in domain.operators])
    if not has_formulas(domain) and len(names) == len(domain.operators):
        return domain
    operators: dict[object, Operator] = {}
    for place, operator in enumerate(domain.operators):
        spend(10)
        operator = _each_once(domain, operator)
        # An operator without a namesake is not repeated.
        operators.setdefault(_in_words(domain, [operator]) if names[operator.name] > 1 else place, operator)
    used = {_symbol(atom) for each in domain.operators for part in each.parts for atom in part}
    used.update(symbol for each in domain.operators for _, form in each.formulas for symbol in _symbols(form))
    formulas = _distinct(domain, _simple(domain, _used(domain.formulas, used)))
    return replace(domain, operators=tuple(operators.values()), formulas=formulas)


def _each_once(domain: Domain, operator: Operator) -> Operator:
    """The operator, or its halves, with each formula once."""
    if operator.halves:
        return replace(operator, halves={when: _each_once(domain, half) for when, half in operator.halves.items()})
    return replace(operator, formulas=_distinct(domain, _simple(domain, operator.formulas)))


def _in_words(domain: Domain, operators: Sequence[Operator], formulas: Formulas = ()) -> Form:
    """Equal for the same under equal names."""
    said = replace(domain, operators=tuple(operators), formulas=tuple(formulas))
    return DomainGraph(said, words=True, operators=True).labelled.form


def _distinct(domain: Domain, formulas: Formulas) -> tuple[tuple[str, Formula], ...]:
    """Simple formulas, each with the part that it stands in, without those that say again what another one says."""
    # Two that say the same have the same words but for variables, and numbers in their shortest form.
    simple = [
        (part, form, tuple(sorted(number(word) or word for word in words_of(form) if word[:1] != "?")))
        for part, form in formulas
    ]
    often = Counter((part, words) for part, _, words in simple)
    found: dict[object, tuple[str, Formula]] = {}
    for place, (part, form, words) in enumerate(simple):
        repeats = often[part, words] > 1 and not any(name in _ADDED_UP for name, _ in _symbols(form))
        found.setdefault(_in_words(domain, (), [(part, form)]) if repeats else place, (part, form))
    return tuple(found.values())


def _simple(domain: Domain, formulas: Formulas) -> Iterator[tuple[str, Formula]]:
    """The formulas with the members of each conjunction and each disjunction once."""
    for part, form in formulas:
        spend(10)
        if isinstance(form, str) or not form:
            yield part, form or ("and",)
            continue
        start = 2 if form[0] in BINDERS else 1  # a list of variables is no formula
        form = (*form[:start], *(each for _, each in _simple(domain, (("", each) for each in form[start:]))))
        if form[0] in SETS:
            members = _distinct(domain, (("", each) for each in _flat(form, form[0])))
            form = members[0][1] if len(members) == 1 else (form[0], *(each for _, each in members))
        yield part, form


def _flat(form: Formula, head: Formula) -> Iterator[Formula]:
    """The members of a conjunction in which conjunctions are nested, or of a disjunction."""
    if isinstance(form, tuple) and form[:1] == (head,):
        for each in form[1:]:
            yield from _flat(each, head)
    else:
        yield form


def derived_predicates(domain: Domain) -> set[tuple[str, int]]:
    """The predicates that rules derive, each with the number of its arguments."""
    return {head for _, form in domain.formulas if (head := _derived(form)) is not None}


def _derived(form: Formula) -> tuple[str, int] | None:
    """The predicate that a rule derives; None for what is no such rule."""
    bound = bound_variables(form) if form[:1] == (":derived",) else None
    return None if bound is None or not form[1] or not isinstance(form[1][0], str) else (form[1][0], len(bound))


def _used(formulas: Sequence[tuple[str, Formula]], used: set[tuple[str, int]]) -> list[tuple[str, Formula]]:
    """The formulas but for the rules of derived predicates that are not used, also not by rules that are."""
    rules: dict[tuple[str, int], list[Formula]] = {}
    for _, form in formulas:
        if (head := _derived(form)) is not None:
            rules.setdefault(head, []).append(form)
        else:
            used.update(_symbols(form))
    waiting = [head for head in rules if head in used]
    for head in waiting:  # grows while it is walked
        further = {symbol for form in rules[head] for symbol in _symbols(form[2:])} & rules.keys() - used
        used |= further
        waiting += further
    return [each for each in formulas if (head := _derived(each[1])) is None or head in used]


def _symbols(form: Formula) -> Iterator[tuple[str, int]]:
    """The first word of each list in a formula, with the number of what follows it."""
    if isinstance(form, tuple) and form:
        if isinstance(form[0], str):
            yield _symbol(form)
        for each in form:
            yield from _symbols(each)


def _symbol(form: Sequence[Formula]) -> tuple[str, int]:
    return str(form[0]), len(form) - 1
