"""Domains as users hold them (texts, values, columns) compared by the metrics of this room."""

from __future__ import annotations

from typing import Any, overload

from pddl_eval.domain_metrics.syntactic import DomainScores, score_domains, unreadable_domain
from pddl_eval.errors import UserError
from pddl_eval.model import Domain
from pddl_eval.pairing import as_column, pair_up


@overload
def compare_domains(reference: str | Domain, generated: str | Domain | None) -> DomainScores: ...


@overload
def compare_domains(reference: Any, generated: Any) -> DomainScores | list[DomainScores]: ...


def compare_domains(reference: Any, generated: Any) -> DomainScores | list[DomainScores]:
    """Syntactic precision and recall of a generated PDDL domain against a reference, overall and by group.

    A domain is a PDDL text (the generated one a raw model answer, if need be) or a ``Domain``. Lists, tuples, polars
    and pandas series and numpy arrays are columns of domains: then a list of scores comes back, and a single reference
    serves the whole column. A generated domain that is None or unreadable scores 0, with the reason in ``detail``.

    Raises ``ValueError`` where a reference is missing (never silently replaced) or without operators, or columns
    differ in length, ``DomainError`` (a ``ValueError``) where a reference cannot be read.
    Source: AMLGym, "Syntactic similarity".

    >>> ferry = '''(define (domain ferry) (:action sail :parameters (?from ?to)
    ...   :precondition (at-ferry ?from) :effect (and (at-ferry ?to) (not (at-ferry ?from)))))'''
    >>> scores = compare_domains(ferry, ferry.replace("?from", "?a").replace("(at-ferry ?to)", "(at-ferry ?a)"))
    >>> scores.domain_precision, scores.domain_recall_effects_positive
    (0.6666666666666666, 0.0)
    """
    references, column = as_column(reference), as_column(generated)
    if column is None and references is not None:
        raise UserError("a column of reference domains needs a column of generated domains")
    if column is None:
        return _compare(_reference(reference), generated)
    single = _reference(reference) if references is None else None
    return [
        _compare(single or _reference(expected), value)
        for expected, value in pair_up(reference, references, column, "domains")
    ]


def _compare(reference: Domain, generated: str | Domain | None) -> DomainScores:
    from pddl_eval.parsing import DomainError, parse_domain

    if generated is None:
        return unreadable_domain("there is no domain")
    try:
        domain = generated if isinstance(generated, Domain) else parse_domain(generated)
    except DomainError as error:
        return unreadable_domain(str(error))
    return score_domains(reference, domain)


def _reference(value: str | Domain | None) -> Domain:
    from pddl_eval.parsing import parse_domain

    if value is None:
        raise UserError("there is no reference domain")
    return value if isinstance(value, Domain) else parse_domain(value)
