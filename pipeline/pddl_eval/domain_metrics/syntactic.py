"""AMLGym's syntactic precision and recall: which preconditions and effects of a domain's operators another one has.

Operators match by name, ``-`` and ``_`` being alike, parameters by position whatever their names; types are no part of
the definition. Extra operators and constructs outside STRIPS are reported, not scored. Whether two domains that differ
mean the same is not asked here.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from pddl_eval.errors import UserError
from pddl_eval.model import EQUALITY, Atom, Domain, Operator

GROUPS = ("preconditions_positive", "preconditions_negative", "effects_positive", "effects_negative")
"""The four sets of atoms of an operator, in the order in which they are compared."""

COLUMNS = tuple(
    f"domain_{measure}{suffix}"
    for suffix in ("", *(f"_{group}" for group in GROUPS))
    for measure in ("precision", "recall")
)

MAX_DETAIL = 500
"""Characters of ``detail``."""


@dataclass(frozen=True, slots=True)
class DomainScores:
    """The scores of one generated domain, under the names of their columns, each an average over the reference's
    operators, from 0 to 1.

    Precision is the share of the generated domain's atoms that the reference has, recall the share of the reference's
    atoms that the generated domain has; of no atoms the share is 1, so an operator that is missing costs recall only.
    A domain that cannot be read scores 0 throughout. ``detail`` says why, and what else is worth knowing.

    >>> scores = unreadable_domain("there is no domain")
    >>> scores.domain_precision, scores.detail
    (0.0, 'there is no domain')
    """

    domain_precision: float
    domain_recall: float
    domain_precision_preconditions_positive: float
    domain_recall_preconditions_positive: float
    domain_precision_preconditions_negative: float
    domain_recall_preconditions_negative: float
    domain_precision_effects_positive: float
    domain_recall_effects_positive: float
    domain_precision_effects_negative: float
    domain_recall_effects_negative: float
    detail: str = ""
    missing_operators: tuple[str, ...] = ()
    extra_operators: tuple[str, ...] = ()
    outside_definition: tuple[str, ...] = ()


def score_domains(reference: Domain, generated: Domain) -> DomainScores:
    """Score a domain against a reference.

    Raises ``ValueError`` where the reference has no operators, for then there is nothing to average over.
    Source: AMLGym, "Syntactic similarity".

    >>> stop = Operator("stop", (), frozenset({("moving",)}), frozenset(), frozenset(), frozenset({("moving",)}))
    >>> halt = Operator("stop", (), frozenset({("moving",), ("late",)}), frozenset(), frozenset(), frozenset())
    >>> scores = score_domains(Domain("bus", {}, {}, {}, (stop,)), Domain("bus", {}, {}, {}, (halt,)))
    >>> scores.domain_precision, scores.domain_recall, scores.domain_precision_effects_negative
    (0.5, 0.5, 1.0)
    """
    if not reference.operators:
        raise UserError(f"the reference domain {reference.name} has no operators")
    theirs = {_name(operator): operator for operator in generated.operators}
    ours = {_name(operator) for operator in reference.operators}
    missing = tuple(operator.name for operator in reference.operators if _name(operator) not in theirs)
    extra = tuple(operator.name for operator in generated.operators if _name(operator) not in ours)
    outside = (*(f"reference: {note}" for note in reference.outside_strips), *generated.outside_strips)
    ratios = [_ratios(operator, theirs.get(_name(operator))) for operator in reference.operators]
    averages: dict[str, Any] = dict(zip(COLUMNS, map(fmean, zip(*ratios, strict=True)), strict=True))
    return DomainScores(
        **averages,
        detail=_joined(("missing operators", missing), ("extra operators", extra), ("outside the definition", outside)),
        missing_operators=missing,
        extra_operators=extra,
        outside_definition=outside,
    )


def unreadable_domain(reason: str) -> DomainScores:
    """The scores of a domain that cannot be read: 0 throughout.

    >>> unreadable_domain("the text has no (define (domain …))").domain_recall
    0.0
    """
    zeros: dict[str, Any] = dict.fromkeys(COLUMNS, 0.0)
    return DomainScores(**zeros, detail=reason)


def _ratios(reference: Operator, generated: Operator | None) -> list[float]:
    """Precision and recall of one operator over all its atoms, then by group; an absent operator has no atoms."""
    expected = _groups(reference)
    found = _groups(generated) if generated else [frozenset()] * len(GROUPS)
    counts = [(len(e & f), len(f), len(e)) for e, f in zip(expected, found, strict=True)]
    overall = tuple(map(sum, zip(*counts, strict=True)))
    return [_share(right, whole) for right, has, wants in (overall, *counts) for whole in (has, wants)]


def _name(operator: Operator) -> str:
    return operator.name.lower().replace("_", "-")


def _groups(operator: Operator) -> list[frozenset[Atom]]:
    """The operator's atoms by group, parameters replaced by their positions."""
    position = {name: f"?{number}" for number, (name, _) in enumerate(operator.parameters)}
    return [
        frozenset(_by_position(atom, position) for atom in atoms)
        for atoms in (
            operator.preconditions,
            operator.negative_preconditions,
            operator.add_effects,
            operator.delete_effects,
        )
    ]


def _by_position(atom: Atom, position: dict[str, str]) -> Atom:
    terms = [position.get(term, term) for term in atom[1:]]
    if atom[0] == EQUALITY:
        terms.sort()  # (= ?x ?y) says what (= ?y ?x) says
    return (atom[0], *terms)


def _share(part: int, whole: int) -> float:
    return part / whole if whole else 1.0


def _joined(*lists: tuple[str, Iterable[str]]) -> str:
    return "; ".join(f"{what}: {', '.join(names)}" for what, names in lists if names)[:MAX_DETAIL]
