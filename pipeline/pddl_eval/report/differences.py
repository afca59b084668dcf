"""Models compared on the same problems: the difference of their rates, with a paired bootstrap interval.

Two models are compared over the problems that both answered, each problem weighing the same however often it was
answered; rates over all their answers may differ from these. What counts as yes is what counts in ``rates``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations

import polars as pl

from pddl_eval.errors import UserError
from pddl_eval.report.groups import group_key, natural_order, nearest
from pddl_eval.report.intervals import bootstrap_mean
from pddl_eval.report.rates import PLAN_MEASURES, is_counted
from pddl_eval.report.scored import Scored

PAIRING_COLUMNS = ("pair_id", "id", "reference_problem", "reference_plan")
"""What may identify a problem, tried in this order: the first on which two models meet is taken."""

MAX_MODELS = 30
"""Beyond, every pair of them is no table that anybody reads."""

_PROBLEM = "pddl_eval.problem"


def pairing_columns(schema: Mapping[str, pl.DataType], pair_on: str | None) -> tuple[str, ...]:
    """The columns to try; raises ``ValueError`` where the one that was asked for is not there."""
    if pair_on is not None and pair_on not in schema:
        raise UserError(f"there is no column {pair_on} to pair on{nearest(pair_on, list(schema))}")
    candidates = PAIRING_COLUMNS if pair_on is None else (pair_on,)
    return tuple(name for name in candidates if name in schema and not schema[name].is_nested())


def answers_by_problem(scored: Scored, model: str, key: str, names: Sequence[str]) -> pl.LazyFrame:
    """For each model, problem and measure: the share of yes among its answers, and whether any of them was decided."""
    # A hash of 64 bits stands for the problem, which may be a long text.
    problem = pl.col(key).hash().alias(_PROBLEM)
    rows = scored.frame.filter(is_counted(scored.schema) & pl.col(key).is_not_null())
    shares = [
        # Of a plan, a null is no answer (see ``rates``).
        pl.col(name).mean() if name in PLAN_MEASURES else (pl.col(name).sum() / pl.len()).alias(name)
        for name in names
    ]
    decided = [pl.col(name).is_not_null().any().alias(f"{name}:decided") for name in names]
    return rows.group_by(group_key(model), problem).agg(*shares, *decided)


def differences(answers: pl.DataFrame, model: str, names: Sequence[str]) -> pl.DataFrame:
    """One row for each measure and each two models that share problems: the first's percent minus the second's.

    ``low`` and ``high`` bound the difference (percentage points, 95 %); ``only_first`` and ``only_second`` count the
    problems on which that model alone did better. What a model nowhere decided is not compared.
    """
    models = natural_order(answers[model].unique())
    rows = []
    for name in names:
        known = set(answers.filter(f"{name}:decided")[model].unique())
        table = answers.pivot(model, index=_PROBLEM, values=name)
        for first, second in combinations([each for each in models if each in known], 2):
            both = table.select(pl.col(first).alias("first"), pl.col(second).alias("second")).drop_nulls()
            if both.height:
                rows.append({"first": first, "second": second, "measure": name, **_difference(both)})
    return pl.DataFrame(rows, schema=_SCHEMA)


_SCHEMA = {
    "first": pl.String,
    "second": pl.String,
    "measure": pl.String,
    "problems": pl.Int64,
    "first_percent": pl.Float64,
    "second_percent": pl.Float64,
    "difference": pl.Float64,
    "low": pl.Float64,
    "high": pl.Float64,
    "only_first": pl.Int64,
    "only_second": pl.Int64,
}


def _difference(both: pl.DataFrame) -> dict[str, float]:
    gaps = both.select((pl.col("first") - pl.col("second")).alias("gap")).group_by("gap").len().sort("gap")
    low, high = bootstrap_mean(gaps["gap"].to_list(), gaps["len"].to_list())
    first, second = both.select(pl.col("first", "second").mean() * 100).row(0)
    return {
        "problems": both.height,
        "first_percent": first,
        "second_percent": second,
        "difference": first - second,
        "low": 100 * low,
        "high": 100 * high,
        "only_first": gaps.filter(pl.col("gap") > 0)["len"].sum(),
        "only_second": gaps.filter(pl.col("gap") < 0)["len"].sum(),
    }
