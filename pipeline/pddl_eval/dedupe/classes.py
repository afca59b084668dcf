"""Rows joined by certificate: the class of each row, its first row, and the groups in which its problem occurs.

A group is what a problem may leak out of: a value of the split column, a dataset, or a value within a dataset.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from pddl_eval.dedupe.certify import Certified
from pddl_eval.dedupe.texts import TEXT
from pddl_eval.errors import UserError

if TYPE_CHECKING:
    import polars

CLASS = "class"
GROUP = "group"
"""Working columns: the number of the class's first text, and the row's own group."""

MOST_GROUPS = 100
"""A split column has a few values; a column of ids is a mistake."""


class TooManyGroups(UserError):
    """The column that should name splits has as many values as ids would have."""


def classify(
    datasets: Mapping[str, Sequence[polars.DataFrame]], certified: Sequence[Certified], split: str | None
) -> polars.DataFrame:
    """All rows with the columns that ``Duplicates`` describes and the working columns ``text``, ``class``, ``group``.

    ``datasets`` holds each dataset's batches of text numbers and kept columns; ``certified`` what came of each text.
    Raises ``TooManyGroups``.
    """
    import polars as pl

    parts = [
        pl.concat(batches).select(pl.lit(name).alias("dataset"), pl.int_range(pl.len()).alias("row"), pl.all())
        for name, batches in datasets.items()
    ]
    rows = pl.concat(parts, how="diagonal_relaxed").join(_texts(certified), on=TEXT, how="left", maintain_order="left")
    in_class = pl.col(CLASS).is_not_null()
    first_row = pl.col("row").min().over("dataset", CLASS)
    rows = rows.with_columns(
        pl.when(in_class).then(pl.len().over(CLASS)).alias("class_rows"),
        pl.when(in_class).then(pl.col(TEXT).n_unique().over(CLASS)).alias("class_texts"),
        pl.when(in_class).then(first_row).alias("first_row"),
        pl.when(in_class).then(pl.col("row") > first_row).otherwise(False).alias("duplicate"),
        _group(split, several=len(datasets) > 1).alias(GROUP),
    )
    if len(datasets) == 1 and split is None:
        return rows
    if rows[GROUP].n_unique() > MOST_GROUPS:
        raise TooManyGroups(
            f"column {split} has {rows[GROUP].n_unique():,} values; a split column has a few (at most {MOST_GROUPS})"
        )
    groups = rows.filter(in_class).group_by(CLASS).agg(pl.col(GROUP).unique().sort().alias("groups"))
    rows = rows.join(groups, on=CLASS, how="left", maintain_order="left")
    return rows.with_columns((pl.col("groups").list.len() > 1).fill_null(False).alias("leak"))


def _texts(certified: Sequence[Certified]) -> polars.DataFrame:
    """What came of each text by its number; its class is the first text with the same certificate, or itself."""
    import polars as pl

    schema = {"certificate": pl.String, "obstacle": pl.String, "reason": pl.String}
    texts = pl.DataFrame(certified, schema=schema, orient="row").with_row_index(TEXT)
    return texts.with_columns(
        pl.when(pl.col("certificate").is_not_null())
        .then(pl.col(TEXT).min().over("certificate"))
        .otherwise(pl.col(TEXT))
        .alias(CLASS)
    )


def _group(split: str | None, several: bool) -> polars.Expr:
    import polars as pl

    if split is None:
        return pl.col("dataset")
    value = pl.col(split).cast(pl.String).fill_null(f"no {split}")
    return pl.format("{}: {}", pl.col("dataset"), value) if several else value
