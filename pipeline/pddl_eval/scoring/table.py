"""Score a table: every column of the input unchanged, then the score columns, one bad row costing one row."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from time import perf_counter_ns
from typing import Any

import pyarrow as pa

from pddl_eval.errors import UserError
from pddl_eval.model import Domain
from pddl_eval.options import ScoringOptions
from pddl_eval.plan_metrics.similarity import EMBEDDING
from pddl_eval.scoring.columns import DOMAIN, PLAN, PROBLEM, ROW_FIELDS, PairKind, pairs_present, score_schema

Row = dict[str, Any]
"""The meaningful columns of one row by meaning; absent columns are None."""

Scorer = Callable[[Row, ScoringOptions], Sequence[Any]]
"""From a row to the score columns of one kind of pair."""


def score_table(table: pa.Table, settings: ScoringOptions) -> pa.Table:
    """The table with its score columns.

    Raises ``ColumnError`` where the columns do not fit. Whatever goes wrong inside a row stands in its ``score_error``.

    >>> plans = pa.table({"reference_plan": ["(pick a)"], "generated_plan": ["(pick a), (drop a)"]})
    >>> score_table(plans, ScoringOptions())["plan_lcs"].to_pylist()
    [0.5]
    """
    schema = score_schema(table.schema, settings)
    kinds = pairs_present(table.schema, settings)
    meanings = {name for kind in kinds for name in (kind.reference, kind.generated)}
    meanings |= {"is_placeholder", "domain", "reference_problem"}
    present = [meaning for meaning in sorted(meanings) if settings.column(meaning) in table.column_names]
    values = [table[settings.column(meaning)].to_pylist() for meaning in present]

    if PLAN in kinds and settings.similarity.startswith(EMBEDDING):
        _embed_at_once(table, settings)
    scorers = [(kind, _SCORERS[kind.name]) for kind in kinds]
    with _patient_collector():
        scored = [
            _score_row(dict(zip(present, row, strict=True)), scorers, settings) for row in zip(*values, strict=True)
        ]
    added = [field for kind in kinds for field in kind.fields] + list(ROW_FIELDS)
    columns = zip(*scored, strict=True) if scored else ((),) * len(added)
    arrays = [pa.array(column, field.type) for column, field in zip(columns, added, strict=True)]
    return pa.table([*table.columns, *arrays], schema=schema)


def _score_row(row: Row, scorers: Sequence[tuple[PairKind, Scorer]], settings: ScoringOptions) -> list[Any]:
    """The row's score columns, whatever the row does."""
    start = perf_counter_ns()
    scores: list[Any] = []
    errors: list[str] = []
    for kind, scorer in scorers:
        try:
            scores += scorer(row, settings)
        except Exception as error:
            scores += [None] * len(kind.fields)
            errors.append(f"{kind.name}: {type(error).__name__}: {error}")
    return [*scores, "; ".join(errors) or None, (perf_counter_ns() - start) // 1000]


@contextmanager
def _patient_collector() -> Iterator[None]:
    """Let the cyclic garbage collector look less often: scoring makes many values, none of them in cycles.

    With the references of a shard in memory, Python's default would walk through all of them every few rows.
    """
    thresholds = gc.get_threshold()
    gc.set_threshold(50_000, 5, 1_000)
    try:
        yield
    finally:
        gc.set_threshold(*thresholds)


def _embed_at_once(table: pa.Table, settings: ScoringOptions) -> None:
    """Embed all words of the table's plans in batches, before the rows ask for them one by one."""
    from pddl_eval.parsing import read_plan
    from pddl_eval.plan_metrics.plan_score import texts_of
    from pddl_eval.plan_metrics.similarity import prepare

    plans = (plan for side in ("reference_plan", "generated_plan") for plan in table[settings.column(side)].to_pylist())
    prepare(settings.similarity, (text for plan in plans for text in texts_of(read_plan(plan).steps)))


def _domain(row: Row, settings: ScoringOptions) -> str | None:
    return row.get("domain") or settings.domain


def _score_problems(row: Row, settings: ScoringOptions) -> Sequence[Any]:
    from pddl_eval.scoring.problem_pair import score_problem_pair

    verdict = score_problem_pair(
        row["reference_problem"],
        row["generated_problem"],
        bool(row.get("is_placeholder")),
        _domain(row, settings),
        settings.check_solvable,
    )
    return (
        verdict.parseable,
        verdict.solvable,
        verdict.equivalent,
        verdict.equivalent_untyped,
        verdict.verdict.value,
        verdict.detail,
        verdict.certificate,
    )


def _score_plans(row: Row, settings: ScoringOptions) -> Sequence[Any]:
    from pddl_eval.scoring.plan_pair import score_plan_pair

    plans = row["reference_plan"], row["generated_plan"]
    scores = score_plan_pair(*plans, row.get("reference_problem"), _domain(row, settings), settings)
    return [getattr(scores, name) for name in _PLAN_SCORES] + [scores.detail or None]


def _score_domains(row: Row, settings: ScoringOptions) -> Sequence[Any]:
    from pddl_eval.domain_metrics import compare_domains

    scores = compare_domains(_reference_domain(row["reference_domain"]), row["generated_domain"])
    return [getattr(scores, name) for name in _DOMAIN_SCORES] + [scores.detail or None]


@lru_cache(maxsize=64)
def _reference_domain(text: str | None) -> Domain:
    from pddl_eval.parsing import parse_domain

    if text is None:
        raise UserError("there is no reference domain")
    return parse_domain(text)


_PLAN_SCORES = [field.name for field in PLAN.fields[:-1]]
_DOMAIN_SCORES = [field.name for field in DOMAIN.fields[:-1]]
_SCORERS: dict[str, Scorer] = {
    PROBLEM.name: _score_problems,
    PLAN.name: _score_plans,
    DOMAIN.name: _score_domains,
}
