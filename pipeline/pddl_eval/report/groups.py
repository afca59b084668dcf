"""The columns that a report groups by: which they are, how their values are named and in what order they stand."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from itertools import chain

import polars as pl

from pddl_eval.errors import UserError
from pddl_eval.report.scored import ROW
from pddl_eval.scoring.columns import KINDS, ROW_FIELDS

DEFAULT_GROUPS = ("model", "domain")

MAX_GROUPS = 10_000
"""Combinations of values, at most: beyond, a column identifies rows and does not group them."""

MISSING = "(none)"
"""Names the group of rows whose value is null or empty."""

OWN_COLUMNS = {"measure", "rows", "yes", "undecided", "percent", "low", "high", "problem_size", "size_from"} | {
    *("row", "command", "value", "metric", "mean", "sd", "min", "q25", "median", "q75", "max", "value_from", "value_to")
}
"""Columns of the report's frames, which a column to group by must not repeat."""


def choose_groups(schema: Mapping[str, pl.DataType], by: str | Sequence[str] | None) -> tuple[str, ...]:
    """The columns to group by: those asked for, else ``model`` and ``domain`` where there are such columns.

    Raises ``ValueError`` for a column that is not there, that is a score, or whose values cannot name groups.

    >>> choose_groups({"model": pl.String(), "split": pl.String(), "plan_score": pl.Float64()}, None)
    ('model',)
    """
    if by is None:
        return tuple(name for name in DEFAULT_GROUPS if name in schema and _names_groups(schema[name]))
    wanted = [by] if isinstance(by, str) else by
    scores = {field.name for field in chain(*(kind.fields for kind in KINDS), ROW_FIELDS)}
    columns = [name for name in schema if name not in scores and name != ROW]
    for name in wanted:
        if name in scores:
            raise UserError(f"{name} is a score and no column to group by{nearest(name, columns)}")
        if name not in columns:
            raise UserError(f"there is no column {name} to group by{nearest(name, columns)}")
        if name in OWN_COLUMNS:
            raise UserError(f"the report has a column {name} of its own: rename yours to group by it")
        if not _names_groups(schema[name]):
            raise UserError(f"column {name} cannot name groups: its values are {schema[name]}")
    return tuple(dict.fromkeys(wanted))


def nearest(name: str, columns: Sequence[str]) -> str:
    """The end of a sentence about a wrong column: the right one, or all there are.

    >>> nearest("modell", ["model", "domain"])
    '; did you mean model?'
    """
    close = get_close_matches(name, columns, n=1)
    if close:
        return f"; did you mean {close[0]}?"
    return f"; the columns are {', '.join(name for name in columns if name != ROW) or 'none'}"


def group_key(name: str) -> pl.Expr:
    """The name of each row's group; a ``domain`` given as PDDL text is named by the domain's name.

    >>> domains = pl.DataFrame({"domain": ["gripper", "(define (domain ferry) (:types car))", None]})
    >>> domains.select(group_key("domain")).to_series().to_list()
    ['gripper', 'ferry', '(none)']
    """
    value = pl.col(name).cast(pl.String)
    if name == "domain":
        value = pl.coalesce(value.str.extract(r"(?i)\(\s*define\s*\(\s*domain\s+([^\s()]+)").str.to_lowercase(), value)
    return pl.when(value.is_null() | (value == "")).then(pl.lit(MISSING)).otherwise(value).alias(name)


def levels(by: Sequence[str]) -> tuple[tuple[str, ...], ...]:
    """What is grouped together: nothing, each column alone, the first with each other one, all of them.

    >>> levels(["model", "domain"])
    ((), ('model',), ('domain',), ('model', 'domain'))
    """
    alone = [(name,) for name in by]
    pairs = [(by[0], name) for name in by[1:]]
    return tuple(dict.fromkeys([(), *alone, *pairs, tuple(by)]))


def level_keys(by: Sequence[str], level: Sequence[str]) -> list[pl.Expr]:
    """The columns to group by at a level: null, which stands for all values together, where the level has them not."""
    return [pl.col(name) if name in level else pl.lit(None, pl.String).alias(name) for name in by]


def natural_order(names: Iterable[str]) -> list[str]:
    """Names in alphabetical order, numbers within them in numerical order.

    >>> natural_order(["21-40", "100-120", "1-20"])
    ['1-20', '21-40', '100-120']
    """
    return sorted(names, key=lambda name: [(part.isdigit(), _rank(part)) for part in re.split(r"([0-9]{1,18})", name)])


def in_order(frame: pl.DataFrame, by: Sequence[str], *rest: str) -> pl.DataFrame:
    """The frame sorted by its group columns in natural order, the rows of all groups together (null) first.

    ``rest`` are further columns to sort by, in their own order.
    """
    ranks = []
    for name in by:
        names = natural_order(frame[name].drop_nulls().unique())
        ranks.append(pl.col(name).cast(pl.Enum(names)))
    return frame.sort(*ranks, *rest, maintain_order=True) if ranks or rest else frame


def _names_groups(type_: pl.DataType) -> bool:
    return not type_.is_nested() and type_ != pl.Binary


def _rank(part: str) -> str:
    return part.zfill(18) if part.isdigit() else part.casefold()
