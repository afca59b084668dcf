"""One pair of domains: read both, let each metric say its number, and say what the numbers leave out."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, overload

from pddl_eval.errors import UserError
from pddl_eval.metrics import syntactic
from pddl_eval.metrics.pairing import as_column, pair_up
from pddl_eval.metrics.registry import Column, Metric, Pair, Row, Scores
from pddl_eval.model import Domain
from pddl_eval.options import ScoringOptions
from pddl_eval.parsing import DomainError, parse_domain

MAX_DETAIL = 500
"""Characters of a detail."""

REFERENCES_KEPT = 64
"""Reference domains kept for further rows."""


class DomainPair:
    """A generated domain beside its reference: what the metrics of domains take.

    ``generated`` is None where the answer holds no domain, and ``reason`` says why.
    """

    def __init__(self, reference: str | Domain | None, generated: str | Domain | None) -> None:
        self.reference = reference if isinstance(reference, Domain) else _reference(reference)
        self.generated: Domain | None = None
        self.reason = "there is no domain"
        try:
            self.generated = parse_domain(generated) if isinstance(generated, str) else generated
        except DomainError as error:
            self.reason = str(error)

    @property
    def missing_operators(self) -> list[str]:
        """Names of the reference's operators that the generated domain does not have."""
        return _unmatched(self.reference, self.generated)

    @property
    def extra_operators(self) -> list[str]:
        """Names of the generated domain's operators that the reference does not have."""
        return _unmatched(self.generated, self.reference)

    @property
    def outside_definition(self) -> list[str]:
        """What either domain says that the syntactic definition does not cover."""
        notes = [f"reference: {note}" for note in self.reference.outside_strips]
        return notes + list(self.generated.outside_strips if self.generated else ())

    @property
    def detail(self) -> str:
        """Why the domain cannot be read, or what of the pair is not scored."""
        if self.generated is None:
            return self.reason
        lists = (
            ("missing operators", self.missing_operators),
            ("extra operators", self.extra_operators),
            ("outside the definition", self.outside_definition),
        )
        return "; ".join(f"{what}: {', '.join(names)}" for what, names in lists if names)[:MAX_DETAIL]


def _unmatched(one: Domain | None, other: Domain | None) -> list[str]:
    if one is None or other is None:
        return []
    known = {syntactic.name_of(operator) for operator in other.operators}
    return [operator.name for operator in one.operators if syntactic.name_of(operator) not in known]


@lru_cache(maxsize=REFERENCES_KEPT)
def _reference(text: str | None) -> Domain:
    if text is None:
        raise UserError("there is no reference domain")
    return parse_domain(text)


def _read(row: Row, _options: ScoringOptions) -> DomainPair:
    return DomainPair(row["reference_domain"], row["generated_domain"])


DETAIL = Metric(
    (Column("domain_detail", str, "why the domain cannot be read; operators and constructs that are not scored"),),
    lambda pair: (pair.detail or None,),
)

DOMAIN = Pair("domain", _read, (syntactic.METRIC, DETAIL))


class DomainScores(Scores):
    """The scores of one generated domain, from 0 to 1: an attribute for each column.

    ``missing_operators``, ``extra_operators`` and ``outside_definition`` list what is reported and not scored.
    ``detail`` says the same in a sentence, or why the domain cannot be read.

    >>> scores = compare_domains("(define (domain d) (:action a))", None)
    >>> scores.domain_precision, scores.detail
    (0.0, 'there is no domain')
    """

    def __init__(self, pair: DomainPair) -> None:
        super().__init__(DOMAIN, DOMAIN.score(pair))
        self.detail = pair.detail
        self.missing_operators = tuple(pair.missing_operators)
        self.extra_operators = tuple(pair.extra_operators)
        self.outside_definition = tuple(pair.outside_definition)


@overload
def compare_domains(reference: str | Domain, generated: str | Domain | None) -> DomainScores: ...


@overload
def compare_domains(reference: Any, generated: Any) -> DomainScores | list[DomainScores]: ...


def compare_domains(reference: Any, generated: Any) -> DomainScores | list[DomainScores]:
    """Syntactic precision and recall of a generated PDDL domain against a reference, overall and by group.

    A domain is a PDDL text (the generated one may be a raw model answer) or a ``Domain``. Lists, tuples, polars and
    pandas series and numpy arrays are columns of domains: then the result is a list, and a single reference serves the
    whole column. A generated domain that is None or unreadable scores 0, with the reason in ``detail``.

    Raises ``UserError`` if a reference is missing or has no operators or if columns differ in length, ``DomainError``
    (a ``UserError``) if a reference cannot be read.
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
        return DomainScores(DomainPair(reference, generated))
    return [DomainScores(DomainPair(*pair)) for pair in pair_up(reference, references, column, "domains")]
