"""The metrics of domains, each in a file of its own, and how a row's domains are read."""

from __future__ import annotations

from contextlib import suppress
from functools import partial

from pddl_eval.definition.budget import or_undecided
from pddl_eval.definition.metrics import components, plan_exchange, predictive, syntactic
from pddl_eval.definition.metrics.domain_pair import DomainPair, check_domain
from pddl_eval.definition.metrics.registry import Column, Metric, OnlySome, Pair, Row, given
from pddl_eval.definition.model import Problem
from pddl_eval.definition.options import ScoringOptions
from pddl_eval.definition.pddl import DomainError, Unreadable, parse_domain
from pddl_eval.definition.task import Task, problem_in, reference_task
from pddl_eval.definition.task_equivalence import TaskDecision, decide_tasks
from pddl_eval.definition.verdict import DomainVerdict
from pddl_eval.errors import UserError


def _reads(text: str) -> bool:
    with suppress(DomainError):
        return bool(parse_domain(text).name)
    return False


def decided_task(
    pair: DomainPair, reference: Task | Unreadable, generated: str | Problem | None, is_placeholder: bool
) -> TaskDecision:
    """The verdict on the pair of domains with a reference problem and the generated one."""
    if pair.generated is None:
        return TaskDecision(False, pair.detail)
    read = problem_in(pair.own, generated, pair.options.answer) if not isinstance(generated, Problem) else generated
    return decide_tasks(pair.decision, reference, pair.generated, read, is_placeholder)


def _score(pair: DomainPair) -> tuple[bool | None, bool | None, str, str | None]:
    """The certificate is None where there is no domain or a limit was hit."""
    certificate = None
    if pair.own is not None:
        domain = pair.known if pair.decision.equivalent else pair.own
        certificate = or_undecided(lambda: domain.structure.certificate)
    decision = pair.decision
    certificate = certificate if isinstance(certificate, str) else None
    return decision.equivalent, decision.equivalent_untyped, decision.verdict.value, certificate


def _score_task(pair: DomainPair) -> tuple[bool | None]:
    if pair.problems is None:  # the row has only domains
        return (None,)
    reference, generated, is_placeholder = pair.problems
    return (decided_task(pair, reference_task(*reference), generated, is_placeholder).equivalent,)


EQUIVALENCE = Metric(
    (
        Column(
            "domain_equivalent",
            bool,
            "the operators are the reference's, in some words; null: not decided",
            needs=("domain",),
        ),
        Column("domain_equivalent_untyped", bool, "equivalent once types are erased from both", needs=("domain",)),
        Column("domain_verdict", str, "why, as one of the names in the table of verdicts on domains"),
        Column("domain_certificate", str, "32 digits, equal exactly for equivalent domains"),
    ),
    _score,
)

TASK = Metric(
    (
        Column(
            "task_equivalent",
            bool,
            "some renaming that makes the domains equivalent makes the problems equivalent; null: not decided",
            needs=("domain", "problem"),
        ),
    ),
    _score_task,
)

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
    reference, problem = row.get("reference_domain"), row.get("reference_problem")
    if reference is None or not given(reference):
        return check_domain(row["generated_domain"], options)
    problem = problem if given(problem) else None
    find_task = partial(reference_task, problem, reference) if problem is not None else lambda: None
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
        # Before precision, which is 1 for an operator that is missing.
        components.METRIC,
        syntactic.METRIC,
        EQUIVALENCE,
        predictive.METRIC,
        plan_exchange.METRIC,
        TASK,
        DETAIL,
    ),
    "domain_precision",
    "domain_verdict",
    signed=predictive.SIGNED,
    reads=(("reference_domain", _reads),),
)
