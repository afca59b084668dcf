"""The metrics of domains, each in a file of its own, and how a row's domains are read."""

from __future__ import annotations

from contextlib import suppress
from functools import partial

from pddl_eval.definition.metrics import components, domain_equivalence, plan_exchange, predictive, syntactic
from pddl_eval.definition.metrics.domain_pair import DomainPair
from pddl_eval.definition.metrics.lone_domain import check_domain
from pddl_eval.definition.metrics.registry import Column, Metric, OnlySome, Pair, Row, given
from pddl_eval.definition.options import ScoringOptions
from pddl_eval.definition.pddl import DomainError, parse_domain
from pddl_eval.definition.task import reference_task
from pddl_eval.definition.verdict import DomainVerdict
from pddl_eval.errors import UserError


def _reads(text: str) -> bool:
    with suppress(DomainError):
        return bool(parse_domain(text).name)
    return False


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
        domain_equivalence.METRIC,
        predictive.METRIC,
        plan_exchange.METRIC,
        domain_equivalence.TASK,
        DETAIL,
    ),
    "domain_precision",
    "domain_verdict",
    signed=predictive.SIGNED,
    reads=(("reference_domain", _reads),),
)
