"""Score a table: every column of the input unchanged, then the score columns, one bad row costing one row."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from time import perf_counter_ns
from typing import Any

import pyarrow as pa

from pipeline.scoring.columns import PROBLEM, ROW_FIELDS, pairs_present, score_schema
from pipeline.scoring.settings import Settings

Row = dict[str, Any]
"""The meaningful columns of one row by meaning; absent columns are None."""


def score_table(table: pa.Table, settings: Settings) -> pa.Table:
    """The table with its score columns.

    Raises ``ColumnError`` where the columns do not fit. Whatever goes wrong inside a row stands in its ``score_error``.

    >>> plans = pa.table({"reference_plan": ["(pick a)"], "generated_plan": ["(pick a), (drop a)"]})
    >>> score_table(plans, Settings())["plan_lcs"].to_pylist()
    [0.5]
    """
    schema = score_schema(table.schema, settings)
    kinds = pairs_present(table.schema, settings)
    meanings = {name for kind in kinds for name in (kind.reference, kind.generated)}
    meanings |= {"is_placeholder", "domain", "reference_problem"}
    present = [meaning for meaning in sorted(meanings) if settings.column(meaning) in table.column_names]
    values = [table[settings.column(meaning)].to_pylist() for meaning in present]

    scorers = [(kind, _SCORERS[kind.name]) for kind in kinds]
    scored: list[list[Any]] = []
    for row_values in zip(*values, strict=True):
        start = perf_counter_ns()
        row: Row = dict(zip(present, row_values, strict=True))
        scores: list[Any] = []
        errors: list[str] = []
        for kind, scorer in scorers:
            try:
                scores += scorer(row, settings)
            except Exception as error:
                scores += [None] * len(kind.fields)
                errors.append(f"{kind.name}: {type(error).__name__}: {error}")
        scored.append([*scores, "; ".join(errors) or None, (perf_counter_ns() - start) // 1000])

    added = [field for kind in kinds for field in kind.fields] + list(ROW_FIELDS)
    columns = zip(*scored, strict=True) if scored else ((),) * len(added)
    arrays = [pa.array(column, field.type) for column, field in zip(columns, added, strict=True)]
    return pa.table([*table.columns, *arrays], schema=schema)


def _domain(row: Row, settings: Settings) -> str | None:
    return row.get("domain") or settings.domain


def _score_problems(row: Row, settings: Settings) -> Sequence[Any]:
    from pipeline.scoring.problem_pair import score_problem_pair

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


_SCORERS: dict[str, Callable[[Row, Settings], Sequence[Any]]] = {PROBLEM.name: _score_problems}
