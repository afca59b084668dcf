"""The report as a value: the frames of ``numbers`` for one scored dataset, computed lazily from its score columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields

import polars as pl

from pddl_eval.errors import UserError
from pddl_eval.report import numbers
from pddl_eval.report.groups import choose_groups, group_key
from pddl_eval.report.scored import ScoredInput, open_scored, unreadable_texts

MOST_GROUPS = 10_000
"""Combinations of values: a column with more identifies rows instead of grouping them."""


@dataclass(frozen=True, slots=True)
class Report:
    """The numbers of a scored dataset. A frame is empty if the dataset has nothing of its kind.

    ``place`` is None for a frame in memory. ``signatures`` are those of the partitions with their numbers of rows
    (None: a file without a signature). ``mistakes`` is the number of rows whose reference is a mistake in the data
    (left out of all rates and metrics), ``failed`` the number of rows with a ``score_error``. ``differences`` pairs
    models by the column ``paired_on``; ``sizes`` groups by the column ``size``. The columns of each frame: see the
    functions of ``numbers``. A notebook shows the report as a page.

    >>> report = build_report(pl.DataFrame({"equivalent": [True, False], "verdict": ["identical", "goal_differs"]}))
    >>> report.rows, list(report.tables())
    (2, ['rates', 'verdicts'])
    """

    place: str | None
    by: tuple[str, ...]
    rows: int
    mistakes: int
    failed: int
    signatures: tuple[tuple[str | None, int], ...]
    rates: pl.DataFrame
    differences: pl.DataFrame
    paired_on: str | None
    verdicts: pl.DataFrame
    details: pl.DataFrame
    examples: pl.DataFrame
    sizes: pl.DataFrame
    size: str | None
    metrics: pl.DataFrame
    histograms: pl.DataFrame

    def tables(self) -> dict[str, pl.DataFrame]:
        """The frames that are not empty, by name."""
        frames = ((field.name, getattr(self, field.name)) for field in fields(self))
        return {name: frame for name, frame in frames if isinstance(frame, pl.DataFrame) and not frame.is_empty()}

    def main_table(self) -> pl.DataFrame:
        """The rates, or the summary of the metrics if only plans or domains were scored."""
        return self.metrics if self.rates.is_empty() else self.rates


@unreadable_texts()
def build_report(scored: ScoredInput, by: str | Sequence[str] | None = None, pair_on: str | None = None) -> Report:
    """The report on a scored dataset: a Parquet file, folder, pattern or URI, or a frame with score columns.

    ``by``: the columns to group by (default: ``model`` and ``domain``, if present). The values of the first one are
    compared with each other on the same problems. ``pair_on``: the column that identifies a problem (default: the first
    of ``pair_id``, ``id``, ``reference_problem``, ``reference_plan`` that they share values of).

    Raises ``DatasetError`` if there is no such dataset, ``UserError`` if columns are missing.

    >>> report = build_report(pl.DataFrame({"model": ["a", "a", "b"], "equivalent": [True, False, None]}))
    >>> report.rates.filter(pl.col("model") == "a").select("measure", "rows", "percent").row(0)
    ('equivalent', 2, 50.0)
    """
    # Each query is collected before the next: together they are hardly faster and need more memory.
    data = open_scored(scored)
    groups = choose_groups(data.schema, by)
    names = numbers.measures(data.schema)
    verdict = ["verdict"] if "verdict" in data.schema else []
    counts = numbers.count_rows(data.frame, [*map(group_key, groups), *verdict], names)
    combinations = counts.select(groups).n_unique() if groups else 1
    if combinations > MOST_GROUPS:
        raise UserError(f"{' × '.join(groups)} make {combinations:,} groups; at most {MOST_GROUPS:,} can be reported")
    counted = counts.filter(data.is_counted())
    failed = data.frame.select(pl.col("score_error").count()).collect().item() if "score_error" in data.schema else 0
    differences, paired_on = numbers.differences(data, groups, names, counts, pair_on)
    details, examples = numbers.details(data, groups)
    size = next((each for each in numbers.SIZES if each in data.schema and not data.schema[each].is_nested()), None)
    sizes = numbers.rates_by_size(data, size, groups, names) if size and names else numbers.NOTHING
    metrics, histograms = numbers.metrics(data, groups)
    return Report(
        place=data.place,
        by=groups,
        rows=data.rows,
        mistakes=int(counts["rows"].sum()) - int(counted["rows"].sum()),
        failed=failed,
        signatures=data.signatures,
        rates=numbers.rates(counted, groups, names),
        differences=differences,
        paired_on=paired_on,
        verdicts=numbers.verdicts(counts, groups),
        details=details,
        examples=examples,
        sizes=sizes,
        size=numbers.SIZES[size] if size else None,
        metrics=metrics,
        histograms=histograms,
    )
