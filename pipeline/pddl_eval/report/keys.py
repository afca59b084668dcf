"""Which rows of two scored datasets are the same: their keys joined, as 128-bit digests.

Only digests and row numbers are joined; what is compared is then read by the numbers of the rows (``diff``).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, get_args

import polars as pl

from pddl_eval.errors import UserError
from pddl_eval.report.scored import ROW, Scored

PASS_CELLS = 100_000_000
"""Values of both datasets that are in memory at a time, about 1 GB. Larger datasets are read several times."""

TELLING = ("model", "sample", "split")
"""Columns that often tell rows of one id apart."""

DIGEST = ["pddl_eval.digest.0", "pddl_eval.digest.1"]
SAMPLE = "pddl_eval.sample"


def matching_rows(
    sides: Sequence[Scored], keys: Sequence[Sequence[pl.Expr]], order: Sequence[Sequence[pl.Expr]] | None = None
) -> list[pl.Series]:
    """The numbers of the rows of both sides with equal keys, in the order of the second side.

    ``keys`` are each side's key columns, with equal names and types. Rows with a null in their key match nothing.
    Without ``order``, a ``UserError`` names a key that several rows share. With it, rows of one key are paired in the
    order of these expressions of each side.
    """
    columns = 3 + len(order[0] if order else ())
    passes = max(1, -(-sum(side.rows for side in sides) * columns // PASS_CELLS))
    found = []
    for turn in range(passes):
        of_this_pass = pl.col(DIGEST[0]) % passes == turn
        old, new = (
            _digests(sides, place, keys[place], order[place] if order else None, of_this_pass)
            for place in range(len(sides))
        )
        joined = old.lazy().join(new.lazy(), on=[*DIGEST, *([SAMPLE] if order else [])])
        found.append(joined.select("old", "new").collect(engine="streaming"))
    return pl.concat(found).sort("new").get_columns()


def has_null(keys: Sequence[pl.Expr]) -> pl.Expr:
    """True for rows whose key is null, at least in part."""
    return pl.any_horizontal(key.is_null() for key in keys)


def _digests(
    sides: Sequence[Scored],
    place: int,
    keys: Sequence[pl.Expr],
    order: Sequence[pl.Expr] | None,
    of_this_pass: pl.Expr,
) -> pl.DataFrame:
    """The digests of a side's keys with its row numbers, and the place of each row among those with its key."""
    name = ("old", "new")[place]
    digests = [pl.struct(key.hash(seed) for key in keys).hash(seed).alias(each) for seed, each in enumerate(DIGEST)]
    ranks = [rank.alias(f"pddl_eval.rank.{number}") for number, rank in enumerate(order or ())]
    rows = sides[place].frame.filter(~has_null(keys)).select(pl.col(ROW).alias(name), *digests, *ranks)
    found = rows.filter(of_this_pass).collect(engine="streaming")
    if order is not None:
        sample = pl.int_range(pl.len()).over(DIGEST).alias(SAMPLE)
        return found.sort(pl.exclude(name, *DIGEST), maintain_order=True).select(name, *DIGEST, sample)
    if found.lazy().group_by(DIGEST).len("rows").filter(pl.col("rows") > 1).collect(engine="streaming").height:
        _refuse(sides, sides[place], keys)
    return found


def _refuse(sides: Sequence[Scored], side: Scored, keys: Sequence[pl.Expr]) -> None:
    """Name the first key that several rows share, and columns that may tell them apart."""
    names = [key.meta.output_name() for key in keys]
    counts = side.frame.filter(~has_null(keys)).select(keys).group_by(names).agg(pl.len().alias(SAMPLE))
    *values, rows = counts.filter(pl.col(SAMPLE) > 1).sort(names).head(1).collect(engine="streaming").row(0)
    shared = ", ".join(f"{name} {str(value)[:60]}" for name, value in zip(names, values, strict=True))
    others = [name for name in TELLING if name not in names and all(_varies(each, name) for each in sides)]
    example = f" (--key {','.join([*names, *others])})" if others else ""
    raise UserError(f"{rows:,} rows of {side.name} share {shared}: say with --key what identifies a row{example}")


def _varies(side: Scored, name: str) -> bool:
    """Whether a column has several values: one that has a single value tells no rows apart."""
    return name in side.schema and side.frame.select(pl.col(name).n_unique() > 1).collect(engine="streaming").item()


def common_type(first: pl.DataType, second: pl.DataType) -> pl.DataType | None:
    """The type as which two columns of keys are compared; None if their values cannot be equal.

    A value that the common type cannot hold has no equal in the other column. Categories are their texts, a time with
    a zone is its instant, all NaN are equal, and so are 0.0 and -0.0. Lists and structs are equal if all their values
    are, also where both are null.

    >>> common_type(pl.Int16(), pl.UInt64()), common_type(pl.Categorical(), pl.String())
    (Int64, String)
    """
    one, other = _widened(first), _widened(second)
    if one == other or other == pl.Null:
        return one
    if one == pl.Null:
        return other
    if one.is_integer() and other.is_integer():
        return pl.Int64()
    if isinstance(one, pl.Decimal) and isinstance(other, pl.Decimal):
        return pl.Decimal(38, max(one.scale, other.scale))
    if isinstance(one, pl.Datetime) and isinstance(other, pl.Datetime) and one.time_zone == other.time_zone:
        return pl.Datetime(_finer(one.time_unit, other.time_unit), one.time_zone)
    if isinstance(one, pl.Duration) and isinstance(other, pl.Duration):
        return pl.Duration(_finer(one.time_unit, other.time_unit))
    return None


_Unit = Literal["ms", "us", "ns"]


def _finer(one: _Unit, other: _Unit) -> _Unit:
    return max(one, other, key=get_args(_Unit).index)


def _widened(type_: Any) -> pl.DataType:
    """The widest type of its kind into which every value of this one goes."""
    if isinstance(type_, (pl.Categorical, pl.Enum)):
        return pl.String()
    if isinstance(type_, pl.Datetime) and type_.time_zone:
        return pl.Datetime(type_.time_unit, "UTC")
    if isinstance(type_, (pl.List, pl.Array)):
        return pl.List(_widened(type_.inner))
    if isinstance(type_, pl.Struct):
        return pl.Struct([pl.Field(field.name, _widened(field.dtype)) for field in type_.fields])
    if type_.is_float():
        return pl.Float64()
    return pl.Int64() if type_.is_integer() and type_ not in (pl.UInt64, pl.Int128) else type_
