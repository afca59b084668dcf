"""The rows of two scored datasets side by side, joined on what identifies a row in both."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain

import polars as pl

from pddl_eval.errors import UserError
from pddl_eval.report.groups import group_key, nearest
from pddl_eval.report.rates import is_counted, measures
from pddl_eval.report.scored import ROW, Scored
from pddl_eval.scoring.columns import DOMAIN, PLAN

KEYS = ("pair_id", "id")
"""What identifies a row where nothing else is asked for: the first that both datasets have."""

IN_OLD, IN_NEW, COUNTED = "pddl_eval.in_old", "pddl_eval.in_new", "pddl_eval.counted"

RIGHT = {
    "problem": (("equivalent",), pl.col("equivalent")),
    "plan": (("plan_score", "goal_reached"), pl.coalesce("goal_reached", pl.col("plan_score") == 1)),
    "domain": (
        ("domain_precision", "domain_recall"),
        (pl.col("domain_precision") == 1) & (pl.col("domain_recall") == 1),
    ),
}
"""By pair: the score columns that it takes, and when an answer is right. A plan is where it reaches the goal, or where
that is not known, where its plan score is 1."""


def old(name: str) -> pl.Expr:
    """The column's value in the old dataset."""
    return pl.col(f"pddl_eval.old.{name}")


def new(name: str) -> pl.Expr:
    """The column's value in the new dataset."""
    return pl.col(f"pddl_eval.new.{name}")


def group(name: str) -> pl.Expr:
    """The name of the row's group: the new dataset's, the old one's for a row that is gone."""
    return pl.coalesce(new(f"group.{name}"), old(f"group.{name}")).alias(name)


def rate_names(before: Scored, after: Scored) -> list[str]:
    """The yes-or-no scores that both datasets have."""
    return [name for name in measures(before.schema) if name in measures(after.schema)]


def score_names(before: Scored, after: Scored) -> list[str]:
    """The plan and domain scores that both datasets have."""
    fields = [field.name for field in chain(PLAN.fields, DOMAIN.fields)]
    return [name for name in fields if before.schema.get(name) == after.schema.get(name) == pl.Float64]


def right_pairs(before: Scored, after: Scored) -> list[str]:
    """The pairs of columns (``problem``, ``plan``, ``domain``) that are scored in both datasets."""
    return [
        pair
        for pair, (needed, _) in RIGHT.items()
        if all(name in each.schema for name in needed for each in (before, after))
    ]


def choose_keys(before: Scored, after: Scored, on: Sequence[str] | None) -> tuple[str, ...]:
    """The columns to join on; raises ``ValueError`` where one is missing or is of two types."""
    keys = tuple(dict.fromkeys(on or ()))
    if not keys:
        keys = tuple(name for name in KEYS if name in before.schema and name in after.schema)[:1]
    if not keys:
        raise UserError(f"neither {' nor '.join(KEYS)} is in both datasets: say with --on what identifies a row")
    for name in keys:
        for each in (before, after):
            if name not in each.schema:
                raise UserError(f"there is no column {name} in {_called(each)}{nearest(name, list(each.schema))}")
        types = before.schema[name], after.schema[name]
        if types[0] != types[1] and not all(type_.is_integer() for type_ in types):
            raise UserError(f"column {name} is {types[0]} in {_called(before)} and {types[1]} in {_called(after)}")
    return keys


def side_by_side(before: Scored, after: Scored, on: Sequence[str], by: Sequence[str]) -> pl.DataFrame:
    """One line for each key: its columns' values in both datasets, null where it is not there (``IN_OLD``, ``IN_NEW``).

    Only scores and groups are read, no texts. Raises ``ValueError`` where keys do not identify rows.
    """
    for each in (before, after):
        _require_unique(each, on)
    names = [*rate_names(before, after), *score_names(before, after)]
    pairs = right_pairs(before, after)
    lines = _side(before, "old", on, by, names, pairs).join(
        _side(after, "new", on, by, names, pairs), on=list(on), how="full", coalesce=True, nulls_equal=True
    )
    there = pl.col(IN_OLD, IN_NEW).fill_null(False)
    both = pl.col(IN_OLD) & pl.col(IN_NEW) & old("counted") & new("counted")
    # In the order of the new dataset, what is gone behind it.
    return (
        lines.with_columns(there).with_columns(both.alias(COUNTED)).sort(new(ROW), old(ROW), nulls_last=True).collect()
    )


def _side(
    scored: Scored, side: str, on: Sequence[str], by: Sequence[str], names: Sequence[str], pairs: Sequence[str]
) -> pl.LazyFrame:
    keys = [pl.col(name).cast(pl.Int64) if scored.schema[name].is_integer() else pl.col(name) for name in on]
    absent = pl.lit(None, pl.String)
    values = {
        ROW: pl.col(ROW),
        "counted": is_counted(scored.schema),
        "verdict": pl.col("verdict") if "verdict" in scored.schema else absent,
        **{name: pl.col(name) for name in names},
        **{f"right.{pair}": RIGHT[pair][1] for pair in pairs},
        **{f"group.{name}": group_key(name) if name in scored.schema else absent for name in by},
    }
    return scored.frame.select(
        *keys,
        *(value.alias(f"pddl_eval.{side}.{name}") for name, value in values.items()),
        pl.lit(True).alias(IN_OLD if side == "old" else IN_NEW),
    )


def _require_unique(scored: Scored, on: Sequence[str]) -> None:
    repeated = scored.frame.group_by(on).len("rows").filter(pl.col("rows") > 1).sort(on).head(1).collect()
    for line in repeated.to_dicts():
        shared = ", ".join(f"{name} {str(line[name])[:60]}" for name in on)
        raise UserError(
            f"{line['rows']:,} rows of {_called(scored)} share {shared}: say with --on what identifies a row "
            f"(--on {','.join([*on, 'model' if 'model' not in on else 'split'])})"
        )


def _called(scored: Scored) -> str:
    return scored.place or "the frame"
