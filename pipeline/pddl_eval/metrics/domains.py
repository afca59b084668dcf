"""One pair of domains: both are read, each metric scores them, and what is not scored is reported."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property, lru_cache, partial
from typing import Any

from pddl_eval.equivalence import Task, read_task, task_of
from pddl_eval.errors import UserError
from pddl_eval.metrics import components, plan_exchange, predictive, syntactic
from pddl_eval.metrics.pairing import Column as Values
from pddl_eval.metrics.pairing import pair_up
from pddl_eval.metrics.plans import runnable
from pddl_eval.metrics.registry import Column, Metric, Pair, Row, Scores
from pddl_eval.model import Domain, Problem
from pddl_eval.options import ScoringOptions
from pddl_eval.parsing import DomainError, Unreadable, parse_domain

DEFAULTS = ScoringOptions()

MAX_DETAIL = 500
"""Characters of a detail."""

REFERENCES_KEPT = 64
"""Reference domains kept for further rows."""

_reference = lru_cache(maxsize=REFERENCES_KEPT)(parse_domain)


class DomainPair:
    """A generated domain and its reference: what the metrics of domains take.

    ``generated`` is None where the answer holds no domain. ``missing_operators`` and ``extra_operators`` are names of
    operators that only the reference or only the generated domain has, ``outside_definition`` what either says that
    the syntactic definition does not cover, ``notes`` all of this in words, or why the domain cannot be read; metrics
    add to them. ``task`` is what both domains are carried out in: the reference problem in the reference domain; None
    where there is none or one of the domains goes beyond STRIPS.
    """

    def __init__(
        self,
        reference: str | Domain | None,
        generated: str | Domain | None,
        find_task: Callable[[], Task | Unreadable | None] = lambda: None,
        options: ScoringOptions = DEFAULTS,
    ) -> None:
        if reference is None:
            raise UserError("there is no reference domain")
        for side, domain in (("reference", reference), ("generated", generated)):
            if not isinstance(domain, str | Domain | None):
                raise TypeError(f"the {side} domain is a PDDL text or a Domain, not {type(domain).__name__}")
        try:
            self.reference = _reference(reference) if isinstance(reference, str) else reference
        except DomainError as error:
            raise DomainError(f"the reference domain cannot be read: {error}") from None
        self.generated: Domain | None = None
        self.missing_operators: tuple[str, ...] = ()
        self.extra_operators: tuple[str, ...] = ()
        self.outside_definition = tuple(f"reference: {note}" for note in self.reference.outside_strips)
        self.notes = ["there is no domain"]
        try:
            self.generated = parse_domain(generated) if isinstance(generated, str) else generated
        except DomainError as error:
            self.notes = [str(error)]
        if self.generated is not None:
            self.missing_operators = syntactic.operators_only_in(self.reference, self.generated)
            self.extra_operators = syntactic.operators_only_in(self.generated, self.reference)
            self.outside_definition += self.generated.outside_strips
            lists = {
                "missing operators": self.missing_operators,
                "extra operators": self.extra_operators,
                "outside the definition": self.outside_definition,
            }
            self.notes = [f"{what}: {', '.join(names)}" for what, names in lists.items() if names]
        self.options = options
        self.task: Task | None = None
        if (task := find_task()) is not None:
            found = runnable(task)
            if isinstance(found, Task) and self.generated is not None and self.generated.outside_strips:
                found = "the generated domain goes beyond STRIPS"
            if isinstance(found, Task):
                self.task = found
            else:
                self.notes.append(f"behaviour not compared: {found}")

    @cached_property
    def same_operators(self) -> frozenset[str]:
        """Names of operators that both domains have, see ``shared_operators``."""
        return frozenset() if self.generated is None else syntactic.shared_operators(self.reference, self.generated)

    @property
    def detail(self) -> str:
        """All notes in one sentence."""
        return "; ".join(note for note in self.notes if note)[:MAX_DETAIL]


DETAIL = Metric(
    (Column("domain_detail", str, "why the domain cannot be read; operators and constructs that are not scored"),),
    lambda pair: (pair.detail or None,),
)


def _read(row: Row, options: ScoringOptions) -> DomainPair:
    reference, problem = row["reference_domain"], row.get("reference_problem")
    find_task = partial(read_task, problem, reference) if problem is not None else lambda: None
    return DomainPair(reference, row["generated_domain"], find_task, options)


DOMAIN = Pair(
    "domain",
    _read,
    (syntactic.METRIC, components.METRIC, predictive.METRIC, plan_exchange.METRIC, DETAIL),
    signed=predictive.SIGNED,
)


class DomainScores(Scores):
    """The scores of one generated domain, from 0 to 1: an attribute for each column.

    ``missing_operators``, ``extra_operators`` and ``outside_definition`` list what is reported and not scored.
    ``detail`` says the same in a sentence, or why the domain cannot be read.

    >>> scores = compare_domains("(define (domain d) (:action a))", None)
    >>> scores.domain_precision, scores.detail
    (0.0, 'there is no domain')
    """

    def __init__(self, pair: DomainPair) -> None:
        super().__init__(DOMAIN, pair)
        self.missing_operators = pair.missing_operators
        self.extra_operators = pair.extra_operators
        self.outside_definition = pair.outside_definition


def compare_domains(
    reference: str | Domain | Values[str | Domain],
    generated: str | Domain | Values[str | Domain | None] | None,
    *,
    problem: str | Problem | Values[str | Problem] | None = None,
) -> DomainScores | list[DomainScores]:
    """How a generated PDDL domain is written against a reference and, if ``problem`` is given, what both do in it.

    A domain is a PDDL text (the generated one may be a raw model answer) or a ``Domain``. Lists, tuples, polars and
    pandas series and numpy arrays are columns of domains: then the result is a list of ``DomainScores``, and a single
    reference serves the whole column. A generated domain that is None or unreadable scores 0, with the reason in
    ``detail``. ``problem`` is the reference problem (a PDDL text or a ``Problem``), or a column of them: from its
    initial state both domains are carried out. Without it, predictive power and plan exchange are None.

    Raises ``UserError`` if a reference is missing or has no operators or if columns differ in length, ``DomainError``
    (a ``UserError``) if a reference cannot be read, ``ParseError`` (a ``UserError``) if a problem cannot, ``TypeError``
    for what is neither a domain nor a column.
    Sources: see ``syntactic_similarity``, ``component_f1``, ``predictive_power`` and ``exchange_plans``.

    >>> ferry = '''(define (domain ferry) (:action sail :parameters (?from ?to)
    ...   :precondition (at-ferry ?from) :effect (and (at-ferry ?to) (not (at-ferry ?from)))))'''
    >>> scores = compare_domains(ferry, ferry.replace("?from", "?a").replace("(at-ferry ?to)", "(at-ferry ?a)"))
    >>> scores.domain_precision, scores.domain_recall_effects_positive
    (0.6666666666666666, 0.0)
    """
    pairs, are_columns = pair_up(reference, generated, "domains")
    problems, _ = pair_up(problem, [None] * len(pairs), "problems")
    tasks: dict[tuple[int, int], Task] = {}  # one that serves several is found once

    def find_task(domain: Any, wanted: Any) -> Task | None:
        key = id(domain), id(wanted)
        if key not in tasks and wanted is not None:
            tasks[key] = task_of(wanted, domain)
        return tasks.get(key)

    scores = [
        DomainScores(DomainPair(*pair, partial(find_task, pair[0], wanted)))
        for pair, (wanted, _) in zip(pairs, problems, strict=True)
    ]
    return scores if are_columns else scores[0]
