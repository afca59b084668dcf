"""One pair of problems: read both, decide, look for a plan, and say it as the values of the score columns.

A reference is read and analysed once for all its answers; answers that repeat are scored once.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from operator import attrgetter

from pddl_eval.budget import row_budget
from pddl_eval.domains import known_domain
from pddl_eval.equivalence import Task, decide, read_pair, same_domain
from pddl_eval.metrics.registry import Column, Metric, Pair, Row, domain_of
from pddl_eval.model import Action
from pddl_eval.options import ScoringOptions
from pddl_eval.parsing import Unreadable
from pddl_eval.solve import Solution, execute
from pddl_eval.verdict import ProblemVerdict, Undecided, Unsolvable

VERDICTS_KEPT = 1024
"""Scored pairs kept for rows that repeat them."""

DEFAULTS = ScoringOptions()


@lru_cache(maxsize=VERDICTS_KEPT)
def score_problem_pair(  # noqa: PLR0913 (what a verdict depends on)
    reference_text: str | None,
    generated_text: str | None,
    is_placeholder: bool = False,
    domain: str | None = None,
    check_solvable: bool = DEFAULTS.check_solvable,
    row_seconds: float = DEFAULTS.row_seconds,
) -> ProblemVerdict:
    """Score one generated answer; ``domain`` (a known name or a PDDL text) defaults to the reference's own.

    What is still open after ``row_seconds`` of processor time is not decided. Raises ``DomainError`` where ``domain``
    is a text but no PDDL domain.

    >>> held = "(define (problem p) (:domain blocksworld) (:objects a) (:init (holding a)) (:goal (clear a)))"
    >>> score_problem_pair(held, held.replace("clear", "on-table")).verdict.value
    'equivalent'
    """
    with row_budget(row_seconds):
        return _scored(*read_pair(reference_text, generated_text, domain), is_placeholder, check_solvable)


def _scored(
    reference: Task | Unreadable, generated: Task | Unreadable, is_placeholder: bool, check_solvable: bool
) -> ProblemVerdict:
    verdict = decide(reference, generated, is_placeholder)
    if isinstance(generated, Unreadable):
        return replace(verdict, reference_certificate=_certificate_of(reference))
    detail = verdict.detail
    plan: tuple[Action, ...] | Unsolvable | Undecided | None = None
    inherited: tuple[Action, ...] | None = None
    if isinstance(reference, Task) and not same_domain(reference, generated):
        plan = Unsolvable("it belongs to another domain")
        generated = Task(generated.problem, known_domain(generated.problem.domain))  # whose certificate it has
    elif check_solvable:
        inherited = _plan_through_map(reference, verdict)
        plan = generated.plan if inherited is None else inherited
        if isinstance(plan, Unsolvable) and generated.ill_typed:
            detail += f"; {plan.reason}"
    certificate: str | Undecided | None = None
    if verdict.equivalent and verdict.goal_object_map is None and isinstance(reference, Task):
        certificate = reference.certificate
    elif generated.has_closure:  # elsewhere it would take a search that the verdict did not need
        certificate = generated.certificate
    decided = check_solvable and not isinstance(plan, Undecided)
    return replace(
        verdict,
        detail=detail,
        solvable=not isinstance(plan, Unsolvable) if decided else None,
        solves_reference=_solves(plan, inherited, reference, generated) if isinstance(plan, tuple) else None,
        certificate=certificate if isinstance(certificate, str) else None,
        reference_certificate=_certificate_of(reference),
        plan=plan if isinstance(plan, tuple) else None,
    )


def _certificate_of(reference: Task | Unreadable) -> str | None:
    """The reference's certificate, labelled once for all its answers; the decision has its closure already."""
    certificate = reference.certificate if isinstance(reference, Task) and reference.has_closure else None
    return certificate if isinstance(certificate, str) else None


def _plan_through_map(reference: Task | Unreadable, verdict: ProblemVerdict) -> tuple[Action, ...] | None:
    """An equivalent problem's plan: the reference's, through the object map; None where there is no one map."""
    if isinstance(reference, Unreadable) or verdict.object_map is None or verdict.goal_object_map is not None:
        return None
    if not isinstance(reference.plan, tuple):
        return None
    back = {theirs: ours for ours, theirs in verdict.object_map.items()}
    return tuple([(name, *map(back.get, arguments, arguments)) for name, *arguments in reference.plan])


def _solves(
    plan: tuple[Action, ...], inherited: tuple[Action, ...] | None, reference: Task | Unreadable, generated: Task
) -> bool | None:
    """Whether a plan of the generated problem solves the reference; None where their objects have other names.

    ``inherited`` is that plan where it is the reference's through the object map.
    """
    if isinstance(reference, Unreadable) or reference.problem.objects.keys() != generated.problem.objects.keys():
        return None
    problem, domain = reference.problem, reference.domain
    if domain is None:  # then the only plan is the empty one
        return problem.goal <= problem.init
    if inherited is not None and inherited == reference.plan:
        return True
    same_types = problem.objects == generated.problem.objects or not domain.has_types
    if inherited is None and same_types and problem.init == generated.problem.init:
        found = generated.solution
        return isinstance(found, Solution) and problem.goal <= found.state
    return not reference.ill_typed and execute([{action} for action in plan], problem, domain.domain).reaches_goal


def _read(row: Row, options: ScoringOptions) -> ProblemVerdict:
    return score_problem_pair(
        row["reference_problem"],
        row["generated_problem"],
        bool(row.get("is_placeholder")),
        domain_of(row, options),
        options.check_solvable,
        options.row_seconds,
    )


COLUMNS = (
    Column("parseable", bool, "a problem could be read from the answer, in STRIPS, with declared objects only", True),
    Column("solvable", bool, "the generated problem has a plan in the reference's domain; null: not decided", True),
    Column("equivalent", bool, "it is the reference's planning problem; null: not decided", True),
    Column("equivalent_untyped", bool, "equivalent once types are erased from both", True),
    Column("verdict", str, "why, as one of the names in the table of verdicts"),
    Column("detail", str, "why, as a sentence: the first difference or the reason"),
    Column(
        "solves_reference",
        bool,
        "its plan solves the reference too; null: no plan, or objects of other names",
        in_summary=True,
        follows="solvable",
    ),
    Column("certificate", str, "32 digits, equal exactly for equivalent problems of a domain"),
    Column("reference_certificate", str, "the same of the reference: rows with equal ones are answers to one problem"),
)

METRIC = Metric(COLUMNS, attrgetter(*(column.name for column in COLUMNS)))

PROBLEM = Pair("problem", _read, (METRIC,))
