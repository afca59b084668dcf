"""Is this domain right? Strong equivalence of domain models (Shoeeb and McCluskey; Chrpa et al.).

The verdict follows from the structures (``structure``) and is exact; ``domain_difference`` says the nearest difference.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial

from pddl_eval.definition.budget import or_undecided, spend
from pddl_eval.definition.canonical import isomorphic
from pddl_eval.definition.domain_difference import count_sentence, nearest_sentence, renaming_sentence, types_sentence
from pddl_eval.definition.model import Domain, Operator
from pddl_eval.definition.structure import DomainStructure, Renaming, by_name, by_position, renaming_between
from pddl_eval.definition.verdict import DomainVerdict, Undecided


@dataclass(frozen=True)
class DomainDecision:
    """The verdict on a generated domain and, as ``detail``, the nearest difference or the reason.

    ``structures`` are those of the reference and of the generated domain, where both could be read.
    """

    verdict: DomainVerdict
    detail: str
    structures: tuple[DomainStructure, DomainStructure] | None = None

    @property
    def equivalent(self) -> bool | None:
        """None where it is not decided."""
        return None if self.verdict == DomainVerdict.UNDECIDED else self.verdict.right

    @cached_property
    def equivalent_untyped(self) -> bool | None:
        """The same once types are erased from both domains; None where it is not decided."""
        if self.verdict == DomainVerdict.OPERATOR_COUNT and self.structures is not None:
            # Types may be all that tells operators of one name apart.
            operators = [structure.domain.operators for structure in self.structures]
            if any(len({each.name for each in side}) < len(side) for side in operators):
                ours, theirs = (structure.untyped.labelled for structure in self.structures)
                found = or_undecided(lambda: isomorphic(ours, theirs))
                return None if isinstance(found, Undecided) else found
        return True if self.verdict == DomainVerdict.TYPES_DIFFER else self.equivalent

    @cached_property
    def renaming(self) -> Renaming | None:
        """Of the generated domain into the reference: the proof of a yes; None for a no, and where no time is left."""
        if self.structures is None or not self.verdict.right:
            return None
        reference, generated = self.structures
        # Of identical domains all names stay.
        other = generated if self.verdict == DomainVerdict.IDENTICAL else reference
        found = or_undecided(lambda: renaming_between(generated.graph, other.graph))
        return None if isinstance(found, Undecided) else found


def decide_domains(reference: DomainStructure, generated: DomainStructure) -> DomainDecision:
    """Whether the operators of the generated domain are those of the reference in some other words, and which ones.

    Source: strong equivalence of domain models (Shoeeb and McCluskey; Chrpa et al.).

    >>> from pddl_eval.definition.pddl import parse_domain
    >>> text = "(define (domain d) (:action go :parameters (?a ?b) :precondition (at ?a) :effect (at ?b)))"
    >>> other = text.replace("(at ?b)", "(not (at ?b))")
    >>> decide_domains(*[DomainStructure(parse_domain(each)) for each in (text, other)]).detail
    'go lacks the effect (at ?b)'
    """
    decided = or_undecided(lambda: _decide(reference, generated))
    if isinstance(decided, Undecided):
        return DomainDecision(DomainVerdict.UNDECIDED, decided.reason)
    verdict, words = decided
    detail = or_undecided(words)
    # The verdict stands where no time is left for words.
    return DomainDecision(verdict, detail if isinstance(detail, str) else verdict.meaning, (reference, generated))


def _decide(reference: DomainStructure, generated: DomainStructure) -> tuple[DomainVerdict, Callable[[], str]]:
    """The verdict, and what says why."""
    sides = reference.domain, generated.domain
    if reference.as_written == generated.as_written:
        return DomainVerdict.IDENTICAL, str
    if len(generated.domain.operators) != len(reference.domain.operators):
        return DomainVerdict.OPERATOR_COUNT, partial(count_sentence, *sides)
    if isomorphic(generated.graph.labelled, reference.graph.labelled):
        renaming = renaming_between(generated.graph, reference.graph)
        return DomainVerdict.RENAMED, partial(renaming_sentence, renaming)
    if any(each.types for each in sides) and isomorphic(generated.untyped.labelled, reference.untyped.labelled):
        renaming = renaming_between(generated.untyped, reference.untyped)
        return DomainVerdict.TYPES_DIFFER, partial(types_sentence, *sides, renaming)
    return DomainVerdict.OPERATORS_DIFFER, partial(nearest_sentence, *sides)


def shared_operators(reference: Domain, generated: Domain) -> frozenset[str]:
    """The names of the operators that are the same in both domains but for the names of their parameters.

    Types of parameters count here. Where the domains declare other types or constants, no operator is the same.
    """
    if (reference.types, reference.constants) != (generated.types, generated.constants):
        return frozenset()
    ours, theirs = by_name(reference), by_name(generated)
    spend(2 * len(ours))
    both = ours.keys() & theirs.keys()
    return frozenset(name for name in both if _as_positions(ours[name]) == _as_positions(theirs[name]))


def _as_positions(operator: Operator) -> object:
    return [types for _, types in operator.parameters], by_position(operator)
