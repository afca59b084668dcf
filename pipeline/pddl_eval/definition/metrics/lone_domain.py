"""A generated domain without a reference: it is read and checked, and nothing is compared."""

from __future__ import annotations

from pddl_eval.definition.budget import or_undecided
from pddl_eval.definition.domains import PlanningDomain
from pddl_eval.definition.metrics.plan_pair import MAX_DETAIL
from pddl_eval.definition.metrics.registry import OnlySome
from pddl_eval.definition.model import Atom, Domain, show_atom
from pddl_eval.definition.options import ScoringOptions
from pddl_eval.definition.pddl import (
    DomainError,
    has_several_domains,
    in_operator,
    note_on_drafts,
    parse_domain,
    says_nothing,
)
from pddl_eval.definition.verdict import DomainVerdict, Undecided
from pddl_eval.shown import listed


def check_domain(generated: str | None, options: ScoringOptions) -> OnlySome:
    """The scores that need no reference: the certificate, and in ``domain_detail`` what is wrong with the domain.

    The verdict says that there is none, or none that can be read; else it is null, for nothing is compared.

    >>> header = "(define (domain d) (:types car) (:predicates (at ?x - car))"
    >>> scores = check_domain(header + "(:action go :parameters (?x - car) :effect (in ?x)))", ScoringOptions())
    >>> scores.get("domain_verdict"), scores["domain_detail"]
    (None, 'the domain is ill-typed: operator go: (in ?x): the domain declares no predicate in')
    """
    if generated is None or says_nothing(generated):
        return OnlySome(domain_verdict=DomainVerdict.EMPTY.value, domain_detail="there is no domain")
    try:
        domain = parse_domain(generated, options.answer)
    except DomainError as error:
        return OnlySome(domain_verdict=DomainVerdict.UNPARSEABLE.value, domain_detail=str(error))
    known = PlanningDomain(domain)
    certificate = or_undecided(lambda: known.structure.certificate)
    ill_typed = or_undecided(lambda: known.ill_typed or _undeclared(domain))
    notes = [note_on_drafts(has_several_domains(generated), options.answer)]
    notes += [f"the domain {domain.name} has no operators"] * (not domain.operators)
    notes += [f"the domain is ill-typed: {ill_typed}"] if isinstance(ill_typed, str) else []
    if known.not_executed and not ill_typed:
        notes.append(f"not executed: {listed(known.not_executed, most=3)}")
    notes += [each.reason for each in dict.fromkeys((certificate, ill_typed)) if isinstance(each, Undecided)]
    return OnlySome(
        domain_certificate=certificate if isinstance(certificate, str) else None,
        domain_detail="; ".join(filter(None, notes))[:MAX_DETAIL] or None,
    )


def _undeclared(domain: Domain) -> str | None:
    """In words, an atom of an operator that the declarations do not have; a typed domain is checked elsewhere."""
    for operator in domain.operators if domain.predicates else ():
        for atom in sorted(frozenset[Atom]().union(*operator.parts)):
            if why := domain.why_not(atom, {}):
                return in_operator(operator.name, f"{show_atom(atom)}: {why}")
    return None
