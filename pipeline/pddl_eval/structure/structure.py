"""What follows from the operators of a domain, each thing made once: its graphs, its certificate."""

from __future__ import annotations

from collections import Counter
from functools import cached_property
from hashlib import blake2b
from itertools import chain

from pddl_eval.model import ROOT_TYPE, Domain
from pddl_eval.structure.graph import DomainGraph, by_position, has_formulas, hierarchy, least_types, sorted_equality
from pddl_eval.verdict import CERTIFICATE_VERSION


class Structure:
    """A domain with what follows from its operators, each made once.

    >>> from pddl_eval.parsing import parse_domain
    >>> text = "(define (domain d) (:types ball) (:action drop :parameters (?b - ball) :precondition (held ?b)))"
    >>> structures = Structure(parse_domain(text)), Structure(parse_domain(text.replace("ball", "toy")))
    >>> structures[0].certificate == structures[1].certificate, structures[0].as_written == structures[1].as_written
    (True, False)
    """

    def __init__(self, domain: Domain) -> None:
        self.domain = domain

    @cached_property
    def graph(self) -> DomainGraph:
        """The graph of the operators."""
        return DomainGraph(self.domain)

    @cached_property
    def untyped(self) -> DomainGraph:
        """The graph of the operators once all types are erased."""
        return DomainGraph(self.domain.without_types())

    @cached_property
    def certificate(self) -> str:
        """32 hexadecimal digits that are equal exactly for equivalent domains; raises ``OutOfBudgetError``."""
        form = repr((CERTIFICATE_VERSION, "domain", self.graph.labelled.form))
        return blake2b(form.encode(), digest_size=16).hexdigest()

    @cached_property
    def outline(self) -> Counter[tuple[object, ...]]:
        """What is cheap and equal for equivalent domains: how large the operators and their parts are."""
        outline: Counter[tuple[object, ...]] = Counter()
        for operator in self.domain.operators:
            parts = [tuple(sorted(map(len, set(map(sorted_equality, part))))) for part in operator.parts]
            outline[len(operator.parameters), len(operator.formulas), *parts] += 1
        return outline

    @cached_property
    def as_written(self) -> object:
        """Equal for domains whose operators are equal under equal names, whatever their parameters are called."""
        domain = self.domain
        if has_formulas(domain):
            return DomainGraph(domain, named=True).labelled.form
        operators = []
        constants: set[str] = set()
        types: set[str] = set()
        for operator in domain.operators:
            kinds = tuple(least_types(domain, alternatives) for _, alternatives in operator.parameters)
            parts = by_position(operator)
            operators.append((operator.name, kinds, *parts))
            types.update(chain.from_iterable(kinds))
            constants.update(term for part in parts for atom in part for term in atom[1:] if term[0] != "?")
        typed = {name: least_types(domain, (domain.constants.get(name, ROOT_TYPE),)) for name in constants}
        below = hierarchy(domain, types.union(*typed.values()))
        return frozenset(operators), tuple(sorted(typed.items())), frozenset(below)
