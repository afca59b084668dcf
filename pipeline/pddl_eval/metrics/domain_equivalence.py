"""Is a generated domain the reference in some other words, and the generated problem with it the reference problem?"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from pddl_eval.budget import attempt
from pddl_eval.equivalence import DomainDecision, Task, TaskDecision, decide_domains, decide_tasks, read_task
from pddl_eval.metrics.registry import Column, Metric
from pddl_eval.model import Problem
from pddl_eval.parsing import Unreadable, read_problem
from pddl_eval.structure import Structure
from pddl_eval.verdict import DomainVerdict

STRUCTURES_KEPT = 64
"""Structures kept of domains: of references, and of answers that repeat."""

structure_of = lru_cache(maxsize=STRUCTURES_KEPT)(Structure)


def decided(pair: Any) -> DomainDecision:
    """The verdict on a pair of domains; on no domain, why there is none."""
    if pair.generated is None:
        verdict = DomainVerdict.UNPARSEABLE if pair.has_answer else DomainVerdict.EMPTY
        return DomainDecision(verdict, "")
    return decide_domains(structure_of(pair.reference), structure_of(pair.generated))


def _certificate(pair: Any) -> str | None:
    """The generated domain's certificate; None where there is no domain or a limit was hit."""
    if pair.generated is None:
        return None
    domain = pair.reference if pair.decision.equivalent else pair.generated
    found = attempt(lambda: structure_of(domain).certificate)
    return found if isinstance(found, str) else None


def decided_task(
    pair: Any, reference: Task | Unreadable, generated: str | Problem | None, is_placeholder: bool
) -> TaskDecision:
    """The verdict on the pair of domains with a reference problem and the generated one."""
    if pair.generated is None:
        return TaskDecision(False, pair.detail)
    problem = generated if isinstance(generated, Problem) else read_problem(generated, pair.generated.constants)
    return decide_tasks(pair.decision, reference, pair.generated, problem, is_placeholder)


def _task_equivalent(pair: Any) -> bool | None:
    if pair.problems is None:  # the row has only domains
        return None
    reference, generated, is_placeholder = pair.problems
    return decided_task(pair, read_task(*reference), generated, is_placeholder).equivalent


METRIC = Metric(
    (
        Column("domain_equivalent", bool, "the operators are the reference's, in some words; null: not decided", True),
        Column("domain_verdict", str, "why, as one of the names in the table of verdicts on domains"),
        Column("domain_certificate", str, "32 digits, equal exactly for equivalent domains"),
    ),
    lambda pair: (pair.decision.equivalent, pair.decision.verdict.value, _certificate(pair)),
)

TASK = Metric(
    (
        Column(
            "task_equivalent",
            bool,
            "some renaming that makes the domains equivalent makes the problems equivalent; null: not decided",
            True,
        ),
    ),
    lambda pair: (_task_equivalent(pair),),
)
