"""Two scored datasets joined by keys, bucket by bucket, so that memory follows a bucket and not the datasets.

Each dataset is read once, piece by piece, and only keys, scores and groups are kept; rows with equal keys fall into one
bucket. What is compared, and what it says, is in ``diff``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal, get_args

import polars as pl

from pddl_eval.datasets import dataset_errors, locate
from pddl_eval.errors import UserError
from pddl_eval.report.scored import Scored

BUCKET_ROWS = 250_000
"""Rows of a bucket, of both datasets together, on average: about 100 bytes each."""

MOST_BUCKETS = 100
"""Each piece of a dataset is a file in each bucket; with more rows, buckets grow."""

BUCKET = "pddl_eval.bucket"


class Buckets:
    """Frames divided by a hash: on disk, or in memory where there is one bucket."""

    def __init__(self, folder: str, count: int) -> None:
        self.folder = Path(folder)
        self.count = count
        self.parts: list[list[pl.DataFrame | Path]] = [[] for _ in range(count)]

    def add(self, frame: pl.DataFrame, by: Sequence[str]) -> None:
        """Add rows: those with equal values of the columns ``by`` are in one bucket.

        Raises ``OutputError`` where the disk is full.
        """
        if self.count == 1:
            self.parts[0].append(frame)
            return
        hashes = pl.struct(pl.col(name).hash() for name in by).hash()
        rows = frame.with_columns((hashes % self.count).alias(BUCKET))
        for (bucket,), part in rows.partition_by(BUCKET, as_dict=True, include_key=False).items():
            path = self.folder / f"{bucket}-{len(self.parts[bucket])}.arrow"
            with dataset_errors(locate(path), "write"):
                part.write_ipc(path, compression="lz4")
            self.parts[bucket].append(path)
        self.empty = frame.clear()

    def read(self, bucket: int) -> pl.DataFrame:
        """The rows of a bucket, in the order in which they were added."""
        parts = self.parts[bucket]
        read = (pl.read_ipc(part) if isinstance(part, Path) else part for part in parts)
        return pl.concat(read) if parts else self.empty


def bucket_count(rows: int) -> int:
    """How many buckets so many rows are divided into."""
    return max(1, min(MOST_BUCKETS, -(-rows // BUCKET_ROWS)))


def joined(
    sides: Mapping[str, Scored],
    keys: Mapping[str, Sequence[pl.Expr]],
    values: Mapping[str, Mapping[str, pl.Expr]],
    best_first: Sequence[str] | None = None,
) -> Iterator[pl.DataFrame]:
    """One line for each key, bucket by bucket: its values in both datasets, null if it is missing from one.

    By the name of the side, ``keys`` are the expressions of its key columns (with equal names on both sides) and
    ``values`` those of its values by name; value ``x`` of the side ``old`` is the column ``pddl_eval.old.x``. Rows with
    a null in their key match nothing. Without ``best_first`` a key identifies a row, and at the end a ``UserError``
    names one that does not; with it, rows of one key are paired in their order, those for which these values are true
    first.
    """
    names = [key.meta.output_name() for key in next(iter(keys.values()))]
    with TemporaryDirectory(prefix="pddl-eval-") as folder:
        count = bucket_count(sum(side.rows for side in sides.values()))
        buckets = {}
        for what, side in sides.items():
            Path(folder, what).mkdir()
            buckets[what] = Buckets(f"{folder}/{what}", count)
            chosen = [*keys[what], *(value.alias(f"pddl_eval.{what}.{name}") for name, value in values[what].items())]
            for piece in side.pieces:
                buckets[what].add(piece.select(chosen).collect(engine="streaming"), names)
        repeated: dict[str, list[pl.DataFrame]] = {what: [] for what in sides}
        for bucket in range(count):
            frames = {what: buckets[what].read(bucket) for what in sides}
            if best_first is not None:
                frames = {what: _numbered(frame, what, names, best_first) for what, frame in frames.items()}
            else:
                for what, frame in frames.items():
                    counts = frame.drop_nulls(names).group_by(names).len("rows").filter(pl.col("rows") > 1)
                    repeated[what] += [counts.sort(names).head(1)] if counts.height else []
            if not any(repeated.values()):
                on = names if best_first is None else [*names, _SAMPLE]
                first, second = frames.values()
                yield first.join(second, on=on, how="full", coalesce=True)
    for what, found in repeated.items():
        if found:
            _refuse(sides[what], names, pl.concat(found).sort(names).row(0, named=True))


_SAMPLE = "pddl_eval.sample"

_KEY = "pddl_eval.key."


def key_column(name: str) -> str:
    """What the joined lines call a key."""
    return f"{_KEY}{name}"


def _numbered(frame: pl.DataFrame, what: str, names: Sequence[str], best_first: Sequence[str]) -> pl.DataFrame:
    right = [pl.col(f"pddl_eval.{what}.{name}").fill_null(False) for name in best_first]
    ordered = frame.sort(*right, descending=True, maintain_order=True) if right else frame
    return ordered.with_columns(pl.int_range(pl.len()).over(names).alias(_SAMPLE))


def _refuse(side: Scored, names: Sequence[str], line: Mapping[str, object]) -> None:
    on = [name.removeprefix(_KEY) for name in names]
    shared = ", ".join(f"{name} {str(line[key_column(name)])[:60]}" for name in on)
    raise UserError(
        f"{line['rows']:,} rows of {side.name} share {shared}: say with --on what identifies a row "
        f"(--on {','.join([*on, 'model' if 'model' not in on else 'split'])})"
    )


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
