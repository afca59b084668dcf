"""AMLGym's syntactic precision and recall: which preconditions and effects of a domain's operators another one has.

Operators match by name, ``-`` and ``_`` being alike, parameters by position whatever their names; types are no part of
the definition. Extra operators and constructs outside STRIPS are reported, not scored. Whether two domains that differ
mean the same is not asked here.
"""

from __future__ import annotations

from statistics import fmean

from pddl_eval.equivalence import operator_name
from pddl_eval.errors import UserError
from pddl_eval.metrics.registry import Column, Metric
from pddl_eval.model import Domain, Operator, State
from pddl_eval.structure import by_position

GROUPS = ("preconditions_positive", "preconditions_negative", "effects_positive", "effects_negative")
"""The four sets of atoms of an operator, in the order in which they are compared."""

COLUMNS = tuple(
    Column(
        f"domain_{measure}{suffix}",
        float,
        f"AMLGym's syntactic {measure}{f' of {suffix[1:]}'.replace('_', ', ') if suffix else ''}",
        in_summary=not suffix,
    )
    for suffix in ("", *(f"_{group}" for group in GROUPS))
    for measure in ("precision", "recall")
)


def syntactic_similarity(reference: Domain, generated: Domain | None) -> list[float]:
    """Precision and recall over all atoms, then by group, each an average over the reference's operators, 0 to 1.

    Precision is the share of the generated domain's atoms that the reference has, recall the share of the reference's
    atoms that the generated domain has; of no atoms the share is 1, so an operator that is missing costs recall only.
    A domain that cannot be read (None) scores 0 throughout. Raises ``UserError`` where the reference has no operators,
    for then there is nothing to average over.
    Source: AMLGym, "Syntactic similarity".

    >>> stop = Operator("stop", (), frozenset({("moving",)}), frozenset(), frozenset(), frozenset({("moving",)}))
    >>> halt = Operator("stop", (), frozenset({("moving",), ("late",)}), frozenset(), frozenset(), frozenset())
    >>> scores = syntactic_similarity(Domain("bus", {}, {}, {}, (stop,)), Domain("bus", {}, {}, {}, (halt,)))
    >>> scores[:2], scores[-2]
    ([0.5, 0.5], 1.0)
    """
    if generated is None:
        return [0.0] * len(COLUMNS)
    if not reference.operators:
        raise UserError(f"the reference domain {reference.name} has no operators")
    theirs = {operator_name(operator): operator for operator in generated.operators}
    ratios = [_ratios(operator, theirs.get(operator_name(operator))) for operator in reference.operators]
    return [fmean(column) for column in zip(*ratios, strict=True)]


def operators_only_in(one: Domain, other: Domain) -> tuple[str, ...]:
    """The names of the operators of a domain that match none of the other's."""
    known = set(map(operator_name, other.operators))
    return tuple(operator.name for operator in one.operators if operator_name(operator) not in known)


def shared_operators(reference: Domain, generated: Domain) -> frozenset[str]:
    """The names of the operators that are the same in both domains but for the names of their parameters.

    Types of parameters count here. Where the domains declare other types or constants, no operator is the same.
    """
    if (reference.types, reference.constants) != (generated.types, generated.constants):
        return frozenset()
    ours, theirs = (
        {
            operator_name(operator): ([types for _, types in operator.parameters], by_position(operator))
            for operator in domain.operators
        }
        for domain in (reference, generated)
    )
    return frozenset(name for name, said in ours.items() if theirs.get(name) == said)


def _ratios(reference: Operator[State], generated: Operator[State] | None) -> list[float]:
    """Precision and recall of one operator over all its atoms, then by group; an absent operator has no atoms."""
    expected = by_position(reference)
    found = by_position(generated) if generated else [frozenset()] * len(GROUPS)
    counts = [(len(e & f), len(f), len(e)) for e, f in zip(expected, found, strict=True)]
    overall = tuple(map(sum, zip(*counts, strict=True)))
    return [share(right, whole) for right, has, wants in (overall, *counts) for whole in (has, wants)]


def share(part: int, whole: int) -> float:
    """The ratio, 1 for 0/0."""
    return part / whole if whole else 1.0


METRIC = Metric(COLUMNS, lambda pair: syntactic_similarity(pair.reference, pair.generated))
