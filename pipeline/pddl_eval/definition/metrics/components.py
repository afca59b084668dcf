"""Component-wise F1 of Text2World: predicates, and of operators the parameters, preconditions and effects.

Operators match by name and their atoms by position of the parameters, as in ``syntactic``, from which it differs in
three ways: it compares what is declared too, it counts positive and negative atoms together, and one number stands for
precision and recall.
"""

from __future__ import annotations

from collections.abc import Set
from statistics import fmean

from pddl_eval.definition.metrics.registry import Column, Metric
from pddl_eval.definition.model import Atom, Domain, Operator
from pddl_eval.definition.structure import by_name, by_position, operator_name

COMPONENTS = ("predicates", "parameters", "preconditions", "effects")

COLUMNS = tuple(
    Column(
        f"domain_f1_{component}",
        float,
        f"Text2World's component-wise F1 of {component}",
        has_mean=component in ("preconditions", "effects"),
    )
    for component in COMPONENTS
)


def component_f1(reference: Domain, generated: Domain | None) -> list[float]:
    """F1 of the declared predicates, then of parameters, preconditions and effects, averaged over the operators.

    A predicate is its name and the number of its arguments, a parameter is its position with its types, a precondition
    or an effect is an atom, negated or not. F1 is twice the common ones over those of both sides; of no ones it is 1.
    The average is over the reference's operators. An operator that is missing has F1 0, and so has a domain that cannot
    be read (None).

    Source: Hu et al., "Text2World: Benchmarking Large Language Models for Symbolic World Model Generation", ACL 2025.
    Its published code compares texts: the words between two ``and`` of the printed precondition, the printed effects
    and the names of the parameters without their types. There, a parameter of another name costs all that it stands in,
    names that hold ``and`` come apart, and one missing operator makes all operators 0.

    >>> move = Operator("move", (("?x", ("object",)),), frozenset({("at", "?x")}), *[frozenset()] * 3)
    >>> walk = Operator("move", (("?y", ("object",)),), frozenset({("at", "?y"), ("up",)}), *[frozenset()] * 3)
    >>> component_f1(Domain("d", {}, {}, {}, (move,)), Domain("d", {}, {}, {}, (walk,)))
    [1.0, 1.0, 0.6666666666666666, 1.0]
    """
    if generated is None:
        return [0.0] * len(COMPONENTS)
    declared, named = (
        {(name, len(types)) for name, types in each.predicates.items()} for each in (reference, generated)
    )
    matching = by_name(generated)
    scores = []
    for operator in reference.operators:
        other = matching.get(operator_name(operator))
        parts = zip(_parts(operator), _parts(other), strict=True) if other is not None else ()
        scores.append([_f1(*sides) for sides in parts] or [0.0] * 3)
    return [_f1(declared, named), *(fmean(column) for column in zip(*scores, strict=True))]


def _parts(operator: Operator) -> tuple[Set[object], Set[object], Set[object]]:
    """Parameters, preconditions and effects; names of parameters do not count."""
    needed, avoided, added, deleted = by_position(operator)
    parameters = {(position, frozenset(types)) for position, (_, types) in enumerate(operator.parameters)}
    return parameters, _literals(needed, avoided), _literals(added, deleted)


def _literals(positive: Set[Atom], negative: Set[Atom]) -> Set[object]:
    return {(True, atom) for atom in positive} | {(False, atom) for atom in negative}


def _f1(one: Set[object], other: Set[object]) -> float:
    both = len(one) + len(other)
    return 2 * len(one & other) / both if both else 1.0


METRIC = Metric(COLUMNS, lambda pair: component_f1(pair.reference, pair.generated))
