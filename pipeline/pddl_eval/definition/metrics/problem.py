"""One pair of problems: both are read and compared, and what is found becomes the values of the score columns."""

from __future__ import annotations

import re
from dataclasses import replace
from operator import attrgetter

from pddl_eval.definition.comparison import compare, read_alone
from pddl_eval.definition.domains import planning_domain
from pddl_eval.definition.kept import kept
from pddl_eval.definition.metrics.registry import Column, Metric, Pair, Row, domain_of, given
from pddl_eval.definition.options import ScoringOptions
from pddl_eval.definition.pddl import (
    MAX_CHARACTERS,
    DomainError,
    Unreadable,
    has_several_domains,
    has_several_problems,
    note_on_drafts,
    read_problem,
)
from pddl_eval.definition.task import read_pair, read_task
from pddl_eval.definition.verdict import ProblemVerdict, Verdict

DEFAULTS = ScoringOptions()

_NAMED = re.compile(r"\(:domain\s+([^\s()]+)", re.IGNORECASE)


def score_problem_pair(  # noqa: PLR0913 (what a verdict depends on)
    reference_text: str | None,
    generated_text: str | None,
    is_placeholder: bool = False,
    domain: str | None = None,
    check_solvable: bool = DEFAULTS.check_solvable,
    answer: str = DEFAULTS.answer,
) -> ProblemVerdict:
    """Score one generated answer; ``domain`` (a known name or a PDDL text) defaults to the reference's own.

    ``answer`` says which of several drafts counts. Raises ``DomainError`` where ``domain`` is a text but no PDDL
    domain.

    >>> held = "(define (problem p) (:domain blocksworld) (:objects a) (:init (holding a)) (:goal (clear a)))"
    >>> score_problem_pair(held, held.replace("clear", "on-table")).verdict.value
    'equivalent'
    """
    verdict = compare(*read_pair(reference_text, generated_text, domain, answer), is_placeholder, check_solvable)
    return _noted(verdict, generated_text, answer)


def score_lone_problem(
    generated_text: str | None,
    domain: str | None = None,
    check_solvable: bool = DEFAULTS.check_solvable,
    answer: str = DEFAULTS.answer,
    is_placeholder: bool = False,
) -> ProblemVerdict:
    """Score one generated answer that has no reference; parameters and errors as ``score_problem_pair``.

    ``domain`` defaults to the one that the generated problem names.

    >>> held = "(define (problem p) (:domain blocksworld) (:objects a) (:init (holding a)) (:goal (clear a)))"
    >>> verdict = score_lone_problem(held)
    >>> verdict.parseable, verdict.solvable, verdict.equivalent, verdict.plan
    (True, True, None, (('putdown', 'a'),))
    """
    verdict = read_alone(read_task(generated_text, domain, answer=answer), check_solvable, is_placeholder)
    return _noted(verdict, generated_text, answer)


def _noted(verdict: ProblemVerdict, generated_text: str | None, answer: str) -> ProblemVerdict:
    """The verdict, whose detail says first whether the answer held several drafts."""
    note = note_on_drafts(has_several_problems(generated_text), answer)
    return replace(verdict, detail="; ".join(filter(None, (note, verdict.detail)))) if note else verdict


def domain_of_problem(row: Row, options: ScoringOptions) -> str | None:
    """As ``domain_of``; a problem without a reference may also name the domain that was generated with it.

    >>> own = {"generated_problem": "(define (problem p) (:domain d)", "generated_domain": "(define (domain d))"}
    >>> domain_of_problem(own, ScoringOptions()), domain_of_problem({**own, "domain": "gripper"}, ScoringOptions())
    ('(define (domain d))', 'gripper')
    """
    given_domain, own = domain_of(row, options), row.get("generated_domain") or ""
    if given_domain or given(row.get("reference_problem")) or "(" not in own:
        return given_domain
    named = {name.lower() for name in _NAMED.findall(row["generated_problem"] or "", 0, MAX_CHARACTERS)}
    try:
        known = None if not named or has_several_domains(own) else kept(planning_domain, own)
    except DomainError:
        return None
    return own if known and named == {known.name} else None


def _read(row: Row, options: ScoringOptions) -> ProblemVerdict:
    generated, is_placeholder = row["generated_problem"], bool(row.get("is_placeholder"))
    asked = options.check_solvable, options.answer
    if not given(reference := row.get("reference_problem")):
        return score_lone_problem(generated, domain_of_problem(row, options), *asked, is_placeholder)
    return score_problem_pair(reference, generated, is_placeholder, domain_of(row, options), *asked)


def reads_problem(text: str) -> bool:
    problem = read_problem(text)
    return not isinstance(problem, Unreadable) or problem.verdict not in (Verdict.EMPTY, Verdict.UNPARSEABLE)


COLUMNS = (
    Column(
        "parseable",
        bool,
        "a problem in the domain's language could be read, as the pddl package or VAL reads it, with declared objects",
    ),
    Column("solvable", bool, "the generated problem has a plan in the reference's domain; null: not decided"),
    Column("equivalent", bool, "it is the reference's planning problem; null: not decided", needs=("problem",)),
    Column("equivalent_untyped", bool, "equivalent once types are erased from both", needs=("problem",)),
    Column("verdict", str, "why, as one of the names in the table of verdicts"),
    Column("detail", str, "why, as a sentence: the first difference or the reason"),
    Column(
        "solves_reference",
        bool,
        "its plan solves the reference too; null: no plan, or other names and no object map",
        follows="solvable",
        needs=("problem",),
    ),
    Column("certificate", str, "32 digits, equal exactly for equivalent problems of a domain, in the row's mode"),
    Column("reference_certificate", str, "the same of the reference: rows with equal ones are answers to one problem"),
)

METRIC = Metric(COLUMNS, attrgetter(*(column.name for column in COLUMNS)))

PROBLEM = Pair("problem", _read, (METRIC,), "equivalent", "verdict", reads=(("reference_problem", reads_problem),))
