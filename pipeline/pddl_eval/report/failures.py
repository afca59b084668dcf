"""Why answers fail: how often each verdict, the commonest details, and rows to look at.

Details that differ only in names count together: the arguments of every atom become ``…`` and every run of digits
becomes ``#``, so that ``the goal asks for (on b1 b2)`` and ``… (on b3 b4)`` are one kind of detail, ``(on …)``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import polars as pl

from pddl_eval.report.groups import group_key, in_order, level_keys, levels
from pddl_eval.report.scored import ROW, Scored
from pddl_eval.verdict import Verdict

YES = (Verdict.IDENTICAL.value, Verdict.ISOMORPHIC.value, Verdict.EQUIVALENT.value)

EXAMPLES = 3
"""Rows shown of each verdict, of different kinds of detail where there are as many."""

KINDS_KEPT = 200
"""Kinds of detail in the report, the commonest of all."""

DETAIL_CHARACTERS = 400
"""How much of a detail is looked at and shown: what quotes an answer can be as long as the answer."""


def has_details(schema: Mapping[str, pl.DataType]) -> bool:
    """True where answers carry verdicts and details."""
    return schema.get("verdict") == pl.String and schema.get("detail") == pl.String


def kind_of_detail(detail: pl.Expr) -> pl.Expr:
    """What a detail says, whatever the objects are called.

    >>> details = pl.DataFrame({"detail": ["5 objects instead of 6: b6 is missing", "the goal asks for (on b1 b2)"]})
    >>> details.select(kind_of_detail(pl.col("detail"))).to_series().to_list()
    ['# objects instead of #: b# is missing', 'the goal asks for (on …)']
    """
    atoms = detail.str.slice(0, DETAIL_CHARACTERS).str.replace_all(r"\(([^\s()]+)\s[^()]*\)", "($1 …)")
    return atoms.str.replace_all(r"[0-9]+", "#")


def verdicts(counts: pl.DataFrame, by: Sequence[str]) -> pl.DataFrame:
    """One row for each group and verdict: its ``rows`` and their ``percent`` of the group, mistakes in the data too.

    A null in a column to group by means all its values together.
    """
    parts = []
    for level in levels(by):
        keys = [*level_keys(by, level), pl.col("verdict")]
        grouped = counts.drop_nulls("verdict").group_by(keys).agg(pl.col("rows").sum())
        total = pl.col("rows").sum().over(by) if by else pl.col("rows").sum()
        parts.append(grouped.with_columns((100 * pl.col("rows") / total).alias("percent")))
    return in_order(pl.concat(parts).sort("rows", "verdict", descending=[True, False]), by)


def count_kinds(scored: Scored) -> pl.LazyFrame:
    """For each verdict that is no yes and each kind of detail: how many rows, and the first of them."""
    kind = kind_of_detail(pl.col("detail").fill_null("")).alias("kind")
    failed = pl.col("verdict").is_not_null() & ~pl.col("verdict").is_in(YES)
    return (
        scored.frame.filter(failed)
        .group_by("verdict", kind)
        .agg(pl.len().cast(pl.Int64).alias("rows"), pl.col(ROW).bottom_k(EXAMPLES).alias("row"))
    )


def kinds(counted: pl.DataFrame) -> pl.DataFrame:
    """The commonest kinds of detail with their verdict, ``rows`` and ``percent`` of the rows that are no yes."""
    total = counted["rows"].sum()
    return (
        counted.sort(["rows", "verdict", "kind"], descending=[True, False, False])
        .head(KINDS_KEPT)
        .select("verdict", "kind", "rows", (100 * pl.col("rows") / total).alias("percent"))
    )


def example_rows(counted: pl.DataFrame) -> pl.DataFrame:
    """The numbers of some rows of each verdict: the first of its commonest kinds of detail, then the second, …"""
    ranked = counted.with_columns(pl.col("row").list.sort()).sort(
        ["rows", "kind"], descending=[True, False], maintain_order=True
    )
    turns = ranked.with_columns(pl.int_ranges(pl.col("row").list.len()).alias("turn")).explode("row", "turn")
    chosen = turns.sort("turn", maintain_order=True).group_by("verdict", maintain_order=True).head(EXAMPLES)
    sizes = counted.group_by("verdict").agg(pl.col("rows").sum())
    ordered = chosen.drop("rows").join(sizes, on="verdict", maintain_order="left")
    return ordered.sort("rows", "verdict", descending=[True, False], maintain_order=True).select("verdict", "row")


def read_examples(scored: Scored, rows: pl.DataFrame, by: Sequence[str]) -> pl.DataFrame:
    """The chosen rows, the commonest verdicts first: ``row``, groups, ``detail``, and the ``command`` to explain it."""
    wanted = rows["row"].to_list()
    keys = [group_key(name) for name in by]
    found = (
        scored.frame.filter(pl.col(ROW).is_in(wanted))
        .select(ROW, *keys, pl.col("detail").str.slice(0, DETAIL_CHARACTERS))
        .collect(engine="streaming")
    )
    commands = [scored.explain_command(row) for row in wanted]
    return (
        rows.with_columns(pl.Series("command", commands, pl.String))
        .join(found, left_on="row", right_on=ROW, maintain_order="left")
        .select("verdict", pl.col("row").cast(pl.Int64), *by, "detail", "command")
    )
