"""Score against size: the rates by how large the reference problem is.

The size is the column ``size_bucket`` or ``num_objects`` where the dataset has one, else the number of atoms that the
reference problem lists (the paper's measure, section 4.2), else the length of the reference plan.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from pddl_eval.report.bins import choose_bins
from pddl_eval.report.groups import group_key, in_order, level_keys, levels, natural_order
from pddl_eval.report.rates import add_up, is_counted, long_form, tallies
from pddl_eval.report.scored import Scored


@dataclass(frozen=True, slots=True)
class Size:
    """A measure of size: ``name`` as a heading; ``is_number`` where values are counts and no labels."""

    name: str
    value: pl.Expr
    is_number: bool


def size_of(schema: Mapping[str, pl.DataType]) -> Size | None:
    """What the dataset says of its problems' size, None where it says nothing."""
    for column, name in (
        ("size_bucket", "size"),
        ("num_objects", "objects"),
        ("reference_problem", "atoms in the reference"),
        ("reference_plan_length", "steps of the reference plan"),
    ):
        if column in schema and not schema[column].is_nested():
            value = number_of_atoms(pl.col(column)) if column == "reference_problem" else pl.col(column)
            is_number = column == "reference_problem" or schema[column].is_numeric()
            return Size(name, value.cast(pl.Int64) if is_number else value.cast(pl.String), is_number)
    return None


def number_of_atoms(problem: pl.Expr) -> pl.Expr:
    """How many atoms a PDDL problem lists: the opening parentheses that open neither a section nor ``and``.

    >>> text = "(define (problem p) (:domain d) (:objects a b) (:init (on a b) (clear a)) (:goal (and (clear b))))"
    >>> pl.DataFrame({"problem": [text]}).select(number_of_atoms(pl.col("problem"))).item()
    3
    """
    words = problem.str.count_matches(r"\(\s*[^\s():]")
    return words.cast(pl.Int64) - problem.str.count_matches(r"(?i)\(\s*(?:define|problem|and)\b").cast(pl.Int64)


def count_sizes(scored: Scored, size: Size, by: Sequence[str], names: Sequence[str]) -> pl.LazyFrame:
    """The tallies by the first column to group by and by size."""
    keys = [*map(group_key, by[:1]), size.value.alias("value")]
    return scored.frame.filter(is_counted(scored.schema)).group_by(keys).agg(tallies(names)).drop_nulls("value")


def rates_by_size(counts: pl.DataFrame, size: Size, by: Sequence[str], names: Sequence[str]) -> pl.DataFrame:
    """Rates by size, smallest first, for all rows (null in the column to group by) and for each group.

    ``problem_size`` names the bin, ``size_from`` is the smallest number in it (null where sizes are labels).
    """
    if counts.is_empty():
        return pl.DataFrame()
    if size.is_number:
        bins = choose_bins(counts.select("value", "rows"))
        placed = counts.with_columns(bins.start(pl.col("value")).alias("size_from"))
        starts = placed["size_from"].unique().sort().to_list()
        labels = [bins.label(start) for start in starts]
        label = pl.col("size_from").replace_strict(starts, labels, return_dtype=pl.String)
    else:
        placed = counts.with_columns(pl.lit(None, pl.Int64).alias("size_from"))
        labels = natural_order(counts["value"].unique())
        label = pl.col("value")
    placed = placed.with_columns(label.cast(pl.Enum(labels)).alias("problem_size"))
    first = by[:1]
    parts = [
        placed.group_by(*level_keys(first, level), "problem_size", "size_from").agg(add_up(names))
        for level in levels(first)
    ]
    keys = [*first, "problem_size", "size_from"]
    rows = in_order(long_form(pl.concat(parts).sort("problem_size"), keys, names), first)
    return rows.with_columns(pl.col("problem_size").cast(pl.String))
