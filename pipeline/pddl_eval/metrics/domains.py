"""One pair of domains: both are read, each metric scores them, and what is not scored is reported."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property, lru_cache, partial
from typing import Any

from pddl_eval.budget import row_budget
from pddl_eval.equivalence import DomainDecision, Task, read_task, task_of
from pddl_eval.errors import UserError
from pddl_eval.metrics import components, domain_equivalence, plan_exchange, predictive, syntactic
from pddl_eval.metrics.domain_equivalence import decided
from pddl_eval.metrics.pairing import Column as Values
from pddl_eval.metrics.pairing import pair_up
from pddl_eval.metrics.plans import runnable
from pddl_eval.metrics.registry import Column, Metric, OnlySome, Pair, Row, Scores
from pddl_eval.model import Domain, Problem
from pddl_eval.options import ScoringOptions
from pddl_eval.parsing import DomainError, Unreadable, parse_domain
from pddl_eval.verdict import DomainVerdict

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
        if not self.reference.operators:
            raise UserError(f"the reference domain {self.reference.name} has no operators")
        self.generated: Domain | None = None
        self.missing_operators: tuple[str, ...] = ()
        self.extra_operators: tuple[str, ...] = ()
        self.outside_definition = tuple(f"reference: {note}" for note in self.reference.outside_strips)
        self.notes = ["there is no domain"]
        self.has_answer = isinstance(generated, Domain) or bool(generated and generated.strip())
        try:
            self.generated = parse_domain(generated) if isinstance(generated, str) else generated
        except DomainError as error:
            self.notes = [str(error)]
        if self.generated is not None:
            self.missing_operators = syntactic.operators_only_in(self.reference, self.generated)
            self.extra_operators = syntactic.operators_only_in(self.generated, self.reference)
            self.outside_definition += self.generated.outside_strips
            outside = ", ".join(self.outside_definition)
            self.notes = [f"outside the definition: {outside}"] if outside else []
        self.problems: tuple[tuple[str | None, str], str | None, bool] | None = None
        self.options = options
        self.task = self._runnable(find_task())

    def _runnable(self, task: Task | Unreadable | None) -> Task | None:
        """What both domains can be carried out in; where there is nothing, the reason is noted."""
        found = runnable(task) if task is not None else None
        if isinstance(found, Task) and self.generated is not None and self.generated.outside_strips:
            found = "the generated domain goes beyond STRIPS"
        if isinstance(found, str):
            self.notes.append(f"behaviour not compared: {found}")
        return found if isinstance(found, Task) else None

    @cached_property
    def decision(self) -> DomainDecision:
        """The verdict on the domains."""
        return decided(self)

    @cached_property
    def same_operators(self) -> frozenset[str]:
        """Names of operators that both domains have, see ``shared_operators``."""
        return frozenset() if self.generated is None else syntactic.shared_operators(self.reference, self.generated)

    @property
    def detail(self) -> str:
        """The nearest difference and all notes in one sentence."""
        return "; ".join(note for note in (self.decision.detail, *self.notes) if note)[:MAX_DETAIL]


DETAIL = Metric(
    (
        Column(
            "domain_detail",
            str,
            "the nearest difference; what is not scored; which plan fails where; why a score is null",
        ),
    ),
    lambda pair: (pair.detail or None,),
)


def _read(row: Row, options: ScoringOptions) -> DomainPair | OnlySome:
    reference, problem = row["reference_domain"], row.get("reference_problem")
    find_task = partial(read_task, problem, reference) if problem is not None else lambda: None
    try:
        pair = DomainPair(reference, row["generated_domain"], find_task, options)
    except UserError as error:
        return OnlySome(domain_verdict=DomainVerdict.REFERENCE_INVALID.value, domain_detail=str(error))
    if problem is not None and "generated_problem" in row:
        pair.problems = (problem, reference), row["generated_problem"], bool(row.get("is_placeholder"))
    return pair


DOMAIN = Pair(
    "domain",
    _read,
    (
        syntactic.METRIC,
        components.METRIC,
        domain_equivalence.METRIC,
        predictive.METRIC,
        plan_exchange.METRIC,
        domain_equivalence.TASK,
        DETAIL,
    ),
    signed=predictive.SIGNED,
)


class DomainScores(Scores):
    """The scores of one generated domain, from 0 to 1: an attribute for each column.

    ``equivalent`` and ``verdict`` say whether it is the reference in some words, ``renaming`` (generated → reference)
    which ones. ``missing_operators``, ``extra_operators`` and ``outside_definition`` list what the syntactic similarity
    does not score. ``detail`` says the nearest difference and this in a sentence, or why the domain cannot be read.

    >>> scores = compare_domains("(define (domain d) (:action a))", None)
    >>> scores.domain_precision, scores.detail
    (0.0, 'there is no domain')
    """

    def __init__(self, pair: DomainPair) -> None:
        super().__init__(DOMAIN, pair)
        self.equivalent = pair.decision.equivalent
        self.verdict = pair.decision.verdict
        self.renaming = pair.decision.renaming
        self.missing_operators = pair.missing_operators
        self.extra_operators = pair.extra_operators
        self.outside_definition = pair.outside_definition


def compare_domains(
    reference: str | Domain | Values[str | Domain],
    generated: str | Domain | Values[str | Domain | None] | None,
    *,
    problem: str | Problem | Values[str | Problem] | None = None,
) -> DomainScores | list[DomainScores]:
    """Whether a generated PDDL domain is the reference in some words, how it is written, and what it does.

    A domain is a PDDL text (the generated one may be a raw model answer) or a ``Domain``. Lists, tuples, polars and
    pandas series and numpy arrays are columns of domains: then the result is a list of ``DomainScores``, and a single
    reference serves the whole column. A generated domain that is None or unreadable scores 0, with the reason in
    ``detail``. ``problem`` is the reference problem (a PDDL text or a ``Problem``), or a column of them: from its
    initial state both domains are carried out. Without it, predictive power and plan exchange are None.

    Raises ``UserError`` if a reference is missing or has no operators or if columns differ in length, ``DomainError``
    (a ``UserError``) if a reference cannot be read, ``ParseError`` (a ``UserError``) if a problem cannot, ``TypeError``
    for what is neither a domain nor a column.
    Sources: strong equivalence (Shoeeb and McCluskey; Chrpa et al.), and see ``syntactic_similarity``,
    ``component_f1``, ``predictive_power`` and ``exchange_plans``.

    >>> ferry = '''(define (domain ferry) (:action sail :parameters (?from ?to)
    ...   :precondition (at-ferry ?from) :effect (and (at-ferry ?to) (not (at-ferry ?from)))))'''
    >>> scores = compare_domains(ferry, ferry.replace("?from", "?a").replace("(at-ferry ?to)", "(at-ferry ?a)"))
    >>> scores.domain_precision, scores.domain_recall_effects_positive
    (0.6666666666666666, 0.0)
    >>> renamed = compare_domains(ferry, ferry.replace("sail", "cross").replace("at-ferry", "here"))
    >>> renamed.equivalent, renamed.verdict.value, renamed.renaming.operators
    (True, 'renamed', {'cross': ('sail', (0, 1))})
    """
    pairs, are_columns = pair_up(reference, generated, "domains")
    problems, _ = pair_up(problem, [None] * len(pairs), "problems")
    tasks: dict[tuple[int, int], Task] = {}  # one that serves several is found once

    def find_task(domain: Any, wanted: Any) -> Task | None:
        key = id(domain), id(wanted)
        if key not in tasks and wanted is not None:
            tasks[key] = task_of(wanted, domain)
        return tasks.get(key)

    scores = []
    for pair, (wanted, _) in zip(pairs, problems, strict=True):
        with row_budget(DEFAULTS.row_seconds):
            scores.append(DomainScores(DomainPair(*pair, partial(find_task, pair[0], wanted))))
    return scores if are_columns else scores[0]
