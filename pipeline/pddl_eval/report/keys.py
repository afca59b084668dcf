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


def digests(keys: Sequence[pl.Expr]) -> dict[str, pl.Expr]:
    """Two hashes of a row's key, named ``DIGEST``; null where part of the key is null, for it matches nothing."""
    hashes = (pl.struct(key.hash(seed) for key in keys).hash(seed) for seed in range(len(DIGEST)))
    return {name: pl.when(~_has_null(keys)).then(each) for name, each in zip(DIGEST, hashes, strict=True)}


def matching_rows(
    sides: Sequence[Scored], keys: Sequence[Sequence[pl.Expr]], known: Sequence[pl.DataFrame], order: Sequence[str] = ()
) -> list[pl.Series]:
    """The numbers of the rows of both sides with equal keys, in the order of the second side.

    ``keys`` are each side's key columns, with equal names and types; ``known`` has the number of each row (``ROW``) and
    their ``digests``. Without ``order``, a ``UserError`` names a key that several rows share. With it, rows of one key
    are paired in the order of these columns.
    """
    passes = max(1, -(-sum(each.height for each in known) * (3 + len(order)) // PASS_CELLS))
    found = []
    for turn in range(passes):
        old, new = (each.filter(pl.col(DIGEST[0]) % passes == turn).select(ROW, *DIGEST, *order) for each in known)
        if order:
            old, new = (_with_samples(each, order) for each in (old, new))
        else:
            for side, its, each in zip(sides, keys, (old, new), strict=True):
                if each[DIGEST[0]].n_unique() < each.height:
                    _require_unique(sides, side, its)
        joined = old.lazy().join(new.lazy(), on=[*DIGEST, *([SAMPLE] if order else [])], suffix=" new")
        found.append(joined.select(ROW, f"{ROW} new").collect(engine="streaming"))
    return pl.concat(found).sort(f"{ROW} new").get_columns()


def _with_samples(rows: pl.DataFrame, order: Sequence[str]) -> pl.DataFrame:
    """Each row's place among those of its key, in the order of these columns. Nearly all are alone, and not sorted."""
    again = rows[DIGEST[0]].is_duplicated()
    alone = rows.filter(~again).select(ROW, *DIGEST, pl.lit(0, pl.Int64).alias(SAMPLE))
    # By the digests first: these decide nearly each comparison.
    shared = rows.filter(again).sort([*DIGEST, *order], maintain_order=True)
    place, is_first = pl.int_range(pl.len()), pl.struct(DIGEST).rle_id().diff().fill_null(1) > 0
    sample = place - pl.when(is_first).then(place).forward_fill()
    return alone.vstack(shared.select(ROW, *DIGEST, sample.alias(SAMPLE)))


def _has_null(keys: Sequence[pl.Expr]) -> pl.Expr:
    """True for rows whose key is null, at least in part."""
    return pl.any_horizontal(key.is_null() for key in keys)


def _require_unique(sides: Sequence[Scored], side: Scored, keys: Sequence[pl.Expr]) -> None:
    """Name the first key that several rows share, and columns that may tell them apart."""
    names = [key.meta.output_name() for key in keys]
    counts = side.frame.filter(~_has_null(keys)).select(keys).group_by(names).agg(pl.len().alias(SAMPLE))
    first = counts.filter(pl.col(SAMPLE) > 1).sort(names).head(1).collect(engine="streaming")
    for *values, rows in first.rows():
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
