"""The columns that a report groups by, the names of their values, and the order of groups."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from types import MappingProxyType

import polars as pl

from pddl_eval.columns import ASKED
from pddl_eval.errors import UserError, did_you_mean
from pddl_eval.report.scored import ROW
from pddl_eval.scoring.columns import ANSWER_MEASURES, SCORE_COLUMNS
from pddl_eval.shown import natural_key

DEFAULT_GROUPS = ("model", "domain")

MISSING = "(none)"
"""Names the group of rows whose value is null or empty."""

OWN_COLUMNS = {
    *("measure", "rows", "yes", "undecided", "percent", "low", "high", "problem_size", "size_from", "row", "command"),
    *("references", "abstraction", "domains", "k", "ties", "size", "value", "metric", "mean", "sd", "min", "q25"),
    *("median", "q75", "max", "value_from", "value_to", "pair", "questions", "solved_by"),
}
"""Columns of the report's frames; a column to group by cannot have the same name."""


def choose_groups(
    schema: Mapping[str, pl.DataType],
    by: str | Sequence[str] | None,
    names: Mapping[str, str] = MappingProxyType({}),
) -> tuple[str, ...]:
    """The columns to group by: those asked for, else ``model`` and ``domain`` if there are such columns.

    Answers to questions are grouped by ``question``, too.

    ``names`` are the dataset's own names of columns, by meaning.

    Raises ``UserError`` for a column that is not there, that is a score, or whose values cannot name groups.

    >>> choose_groups({"model": pl.String(), "split": pl.String(), "plan_score": pl.Float64()}, None)
    ('model',)
    """
    if by is None:
        wanted_by_default = (*DEFAULT_GROUPS, *ASKED[:1]) if ANSWER_MEASURES[0] in schema else DEFAULT_GROUPS
        default = (names.get(meaning, meaning) for meaning in wanted_by_default)
        return tuple(name for name in default if name in schema and _names_groups(schema[name]))
    columns = [name for name in schema if name not in SCORE_COLUMNS and name != ROW]
    wanted = tuple(dict.fromkeys([by] if isinstance(by, str) else by))
    for name in wanted:
        if name in SCORE_COLUMNS:
            raise UserError(f"{name} is a score, not a column to group by; {did_you_mean(name, columns, 'columns')}")
        if name not in columns:
            raise UserError(f"there is no column {name} to group by; {did_you_mean(name, columns, 'columns')}")
        if name in OWN_COLUMNS:
            raise UserError(f"the report has a column {name} of its own: rename yours to group by it")
        if not _names_groups(schema[name]):
            raise UserError(f"column {name} cannot name groups: its values are {schema[name]}")
    return wanted


def label_column(names: Collection[str]) -> str:
    """What the column with the label of each reference is called beside columns to group by.

    >>> label_column(["model"]), label_column(["model", "question"])
    ('question', 'reference')
    """
    return "reference" if "question" in names else "question"


def _names_groups(type_: pl.DataType) -> bool:
    return not type_.is_nested() and type_ != pl.Binary


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
    pairs = [(by[0], name) for name in by[1:]]
    return tuple(dict.fromkeys([(), *((name,) for name in by), *pairs, tuple(by)]))


def group_at(
    frame: pl.LazyFrame,
    by: Sequence[str],
    keys: Iterable[str | pl.Expr],
    *aggregates: pl.Expr,
    at: Iterable[Sequence[str]] | None = None,
    **named: pl.Expr,
) -> pl.LazyFrame:
    """Aggregates by ``keys`` and by the columns of each level of ``by`` (or of those ``at``), level after level.

    A column of ``by`` that a level does not have is null there: all its values together.

    >>> frame = pl.DataFrame({"model": ["a", "b", "b"], "rows": [1, 2, 3]})
    >>> group_at(frame.lazy(), ["model"], [], pl.col("rows").sum(), at=[()]).collect().rows()
    [(None, 6)]
    """
    parts = []
    for level in levels(by) if at is None else at:
        columns = [pl.col(name) if name in level else pl.lit(None, pl.String).alias(name) for name in by]
        parts.append(frame.group_by(*columns, *keys, pl.lit(0).alias(_ALL)).agg(*aggregates, **named).drop(_ALL))
    return pl.concat(parts)


_ALL = "pddl_eval.all"
"""A key that all rows share: polars does not group by nothing."""


def at_level(frame: pl.DataFrame, by: Sequence[str], level: Sequence[str]) -> pl.DataFrame:
    """The rows of a frame that belong to one level: grouped by its columns, all values of the others together."""
    return frame.filter(*(pl.col(name).is_not_null() if name in level else pl.col(name).is_null() for name in by))


def only(frame: pl.DataFrame, column: str, names: Sequence[str]) -> pl.DataFrame:
    """The rows of a frame with one of these names in a column; an empty frame has no columns."""
    return frame.filter(pl.col(column).is_in(names)) if frame.height else frame


def in_order(frame: pl.DataFrame, by: Sequence[str], *rest: str) -> pl.DataFrame:
    """The frame sorted by its group columns in natural order, the rows of all groups together (null) first.

    ``rest`` are further columns to sort by, in their own order.
    """
    ranks = [pl.col(name).cast(pl.Enum(sorted({*frame[name]} - {None}, key=natural_key))) for name in by]
    return frame.sort(*ranks, *rest, maintain_order=True) if ranks or rest else frame
