"""Is a generated domain the reference in some other words, and the generated problem with it the reference problem?"""

from __future__ import annotations

from pddl_eval.definition.budget import or_undecided
from pddl_eval.definition.metrics.domain_pair import DomainPair
from pddl_eval.definition.metrics.registry import Column, Metric
from pddl_eval.definition.model import Problem
from pddl_eval.definition.pddl import Unreadable
from pddl_eval.definition.task import Task, problem_in, reference_task
from pddl_eval.definition.task_equivalence import TaskDecision, decide_tasks


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


METRIC = Metric(
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
