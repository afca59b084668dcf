"""What a deduplication found, in numbers, and as the lines that a person reads."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pddl_eval.dedupe.classes import CLASS, GROUP
from pddl_eval.dedupe.texts import TEXT

if TYPE_CHECKING:
    import polars

LEAKS_SHOWN = 20


@dataclass(frozen=True, slots=True)
class DatasetCounts:
    """``duplicates``: rows whose problem an earlier row states; ``repeated_texts``: those whose very text one holds."""

    name: str
    rows: int
    without_text: int
    texts: int
    classes: int
    duplicates: int
    repeated_texts: int


@dataclass(frozen=True, slots=True)
class Obstacle:
    """How many distinct texts, and rows, have no certificate for this reason (a verdict's name, or ``failed``)."""

    kind: str
    texts: int
    rows: int


@dataclass(frozen=True, slots=True)
class Leak:
    """Two groups that share ``classes``: how many rows of each state a shared problem, out of how many rows.

    ``texts`` are the distinct texts that both hold: the part of the leak that comparing texts would have found.
    """

    first: str
    second: str
    classes: int
    texts: int
    first_rows: int
    first_total: int
    second_rows: int
    second_total: int


@dataclass(frozen=True, slots=True)
class DedupeSummary:
    """``leaks`` are the pairs of groups that share a problem; None where there was but one group to begin with."""

    datasets: tuple[DatasetCounts, ...]
    largest_class: int
    obstacles: tuple[Obstacle, ...]
    leaks: tuple[Leak, ...] | None

    def lines(self) -> Iterator[tuple[str, str]]:
        """The summary as pairs of a label and its value, in the order in which a person wants them."""
        for counts in self.datasets:
            yield counts.name, f"{counts.rows:,} rows, {counts.texts:,} distinct texts, {counts.classes:,} problems"
            if counts.without_text:
                yield "", f"{counts.without_text:,} rows hold no text"
            yield (
                "duplicates",
                f"{counts.duplicates:,} rows state a problem that an earlier row states, "
                f"{counts.repeated_texts:,} of them word for word",
            )
        yield "largest class", f"{self.largest_class:,} rows"
        for obstacle in self.obstacles:
            yield f"no certificate: {obstacle.kind}", f"{obstacle.texts:,} texts in {obstacle.rows:,} rows"
        if self.leaks == ():
            yield "leaks", "none"
        for leak in (self.leaks or ())[:LEAKS_SHOWN]:
            yield (
                f"leak {leak.first} / {leak.second}",
                f"{leak.classes:,} problems ({leak.texts:,} texts word for word): "
                f"{leak.first_rows:,} rows of {leak.first} ({leak.first_rows / leak.first_total:.1%}), "
                f"{leak.second_rows:,} of {leak.second} ({leak.second_rows / leak.second_total:.1%})",
            )
        if self.leaks and len(self.leaks) > LEAKS_SHOWN:
            yield "", f"and between {len(self.leaks) - LEAKS_SHOWN:,} more pairs"

    def __str__(self) -> str:
        lines = list(self.lines())
        width = max(len(label) for label, _ in lines)
        return "\n".join(f"{label:<{width}}  {value}" for label, value in lines)


def summarise(rows: polars.DataFrame, datasets: Sequence[str]) -> DedupeSummary:
    """Count what ``classes.classify`` found in these datasets."""
    import polars as pl

    obstacles = (
        rows.filter(pl.col("obstacle").is_not_null())
        .group_by("obstacle")
        .agg(pl.col(TEXT).n_unique().alias("texts"), pl.len().alias("rows"))
        .sort("texts", "obstacle", descending=[True, False])
    )
    return DedupeSummary(
        datasets=tuple(_counts(name, rows.filter(dataset=name)) for name in datasets),
        largest_class=rows["class_rows"].max() or 0,  # type: ignore[arg-type]
        obstacles=tuple(Obstacle(*row) for row in obstacles.iter_rows()),
        leaks=_leaks(rows) if "leak" in rows.columns else None,
    )


def _counts(name: str, rows: polars.DataFrame) -> DatasetCounts:
    without_text = rows[TEXT].null_count()
    texts, classes = (rows[column].drop_nulls().n_unique() for column in (TEXT, CLASS))
    stated = rows.height - without_text
    return DatasetCounts(name, rows.height, without_text, texts, classes, stated - classes, stated - texts)


def _leaks(rows: polars.DataFrame) -> tuple[Leak, ...]:
    """The pairs of groups that share a problem; groups in the order in which the rows name them."""
    import polars as pl

    groups = rows.group_by(GROUP, maintain_order=True).agg(pl.len().alias("total")).with_row_index("rank")
    leaking = rows.filter("leak").join(groups, on=GROUP)

    def shared(by: str) -> polars.DataFrame:
        """For each pair of groups: how many values of ``by`` both have, and in how many rows of each."""
        held = leaking.group_by("rank", GROUP, "total", by).agg(pl.len().alias("rows"))
        pairs = held.join(held, on=by, suffix="_other").filter(pl.col("rank") < pl.col("rank_other"))
        return pairs.group_by("rank", "rank_other", GROUP, "group_other", "total", "total_other").agg(
            pl.len().alias("shared"), pl.col("rows", "rows_other").sum()
        )

    in_both = shared(TEXT).select("rank", "rank_other", pl.col("shared").alias("texts"))
    found = shared(CLASS).join(in_both, on=["rank", "rank_other"], how="left").sort("rank", "rank_other")
    return tuple(
        Leak(
            first=row[GROUP],
            second=row["group_other"],
            classes=row["shared"],
            texts=row["texts"] or 0,
            first_rows=row["rows"],
            first_total=row["total"],
            second_rows=row["rows_other"],
            second_total=row["total_other"],
        )
        for row in found.iter_rows(named=True)
    )
