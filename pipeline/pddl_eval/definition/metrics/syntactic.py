"""AMLGym's syntactic precision and recall: which preconditions and effects of a domain's operators another one has.

Operators match by name, ``-`` and ``_`` being alike, parameters by position whatever their names; types are no part of
the definition. Extra operators and constructs outside STRIPS are reported, not scored. Whether two domains that differ
mean the same is not asked here.
"""

from __future__ import annotations

from statistics import fmean

from pddl_eval.definition.metrics.registry import Column, Metric
from pddl_eval.definition.model import Domain, Operator
from pddl_eval.definition.structure import by_name, by_position, operator_name
from pddl_eval.errors import UserError

GROUPS = ("preconditions_positive", "preconditions_negative", "effects_positive", "effects_negative")
"""The four sets of atoms of an operator, in the order in which they are compared."""

COLUMNS = tuple(
    Column(
        f"domain_{measure}{suffix}",
        float,
        f"AMLGym's syntactic {measure}{f' of {suffix[1:]}'.replace('_', ', ') if suffix else ''}{missing}",
        has_mean=not suffix,
    )
    for suffix in ("", *(f"_{group}" for group in GROUPS))
    for measure, missing in (("precision", "; a missing operator has 1"), ("recall", ""))
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
    theirs = by_name(generated)
    ratios = [_ratios(operator, theirs.get(operator_name(operator))) for operator in reference.operators]
    return [fmean(column) for column in zip(*ratios, strict=True)]


def _ratios(reference: Operator, generated: Operator | None) -> list[float]:
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
