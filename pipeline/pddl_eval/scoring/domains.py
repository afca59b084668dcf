"""The public function on domains: PDDL texts, ``Domain`` values or columns of them in, scores out."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from pddl_eval import kernel
from pddl_eval.definition.metrics import DOMAIN, DomainPair
from pddl_eval.definition.model import Domain, Problem, domain_to_pddl, problem_to_pddl
from pddl_eval.definition.options import ScoringOptions
from pddl_eval.definition.task import Task, task_of
from pddl_eval.scoring.budget import row_budget
from pddl_eval.scoring.pairing import Scores, Values, pair_up

DEFAULTS = ScoringOptions()


class DomainScores(Scores):
    """The scores of one generated domain, from 0 to 1: an attribute for each column.

    ``equivalent``, ``equivalent_untyped`` and ``verdict`` say whether it is the reference in some words, ``renaming``
    (generated → reference) which ones. ``missing_operators``, ``extra_operators`` and ``outside_definition`` list what
    the syntactic similarity does not score. ``detail`` says the nearest difference and this in a sentence, or why the
    domain cannot be read.

    >>> scores = compare_domains("(define (domain d) (:action a))", None)
    >>> scores.domain_precision, scores.detail
    (0.0, 'there is no domain')
    """

    def __init__(self, pair: DomainPair, known: Mapping[str, Any] | None = None) -> None:
        super().__init__(DOMAIN, pair, known)
        self.equivalent = pair.decision.equivalent
        self.equivalent_untyped = pair.decision.equivalent_untyped
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
    domain_header: str = DEFAULTS.domain_header,
    answer: str = DEFAULTS.answer,
) -> DomainScores | list[DomainScores]:
    """Whether a generated PDDL domain is the reference in some words, how it is written, and what it does.

    * ``reference``, ``generated``: a PDDL text (the generated one may be a raw model answer) or a ``Domain``; or a
      column of them: a list, a tuple, a polars or pandas series, a numpy array. A single reference serves a whole
      column.
    * ``problem``: the reference problem (a PDDL text or a ``Problem``), or a column of them. Both domains are executed
      from its initial state. Without it, predictive power and plan exchange are None.
    * ``domain_header``: with ``reference`` an answer of ``(:action …)`` blocks alone is read with the types, predicates
      and constants of the reference.
    * ``answer``: which of several drafts counts, ``first`` or ``last``; what is in thinking marks never does.

    The result is one ``DomainScores``, for columns a list of them. A generated domain that is None or unreadable scores
    0, with the reason in ``detail``.

    Raises ``UserError`` if a reference is missing or has no operators, if columns differ in length or a setting is
    wrong, ``DomainError`` and ``ParseError`` (both ``UserError``) if a reference or a problem cannot be read,
    ``TypeError`` for what is neither a domain nor a column.
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
    options = ScoringOptions(domain_header=domain_header, answer=answer)
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
        with row_budget(options.row_seconds):
            known = None if wanted is None else _by_kernel(*pair, wanted, options)
            scores.append(DomainScores(DomainPair(*pair, partial(find_task, pair[0], wanted), options), known))
    return scores if are_columns else scores[0]


def _by_kernel(
    reference: str | Domain, generated: str | Domain | None, problem: str | Problem, options: ScoringOptions
) -> dict[str, Any] | None:
    """The columns where the kernel knows them: without a problem nothing is searched, and the definition says all."""
    domains = (domain_to_pddl(each) if isinstance(each, Domain) else each for each in (reference, generated))
    text = problem_to_pddl(problem) if isinstance(problem, Problem) else problem
    row = dict(zip(("reference_domain", "generated_domain", "reference_problem"), (*domains, text), strict=True))
    return kernel.one_row("domain", row, options)
