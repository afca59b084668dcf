"""The report as a value: small frames of numbers, computed lazily from the score columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from pddl_eval.errors import UserError
from pddl_eval.report.differences import MAX_MODELS, answers_by_problem, differences, pairing_columns
from pddl_eval.report.distributions import count_values, histogram, metrics, summarise, summary
from pddl_eval.report.failures import count_kinds, example_rows, has_details, kinds, read_examples, verdicts
from pddl_eval.report.groups import MAX_GROUPS, choose_groups
from pddl_eval.report.rates import count_rows, is_counted, measures, rates
from pddl_eval.report.scored import Scored, ScoredInput, open_scored
from pddl_eval.report.sizes import count_sizes, rates_by_size, size_of


@dataclass(frozen=True, slots=True)
class Report:
    """What is to be said about a scored dataset. A frame is empty where the dataset has nothing of its kind.

    ``place`` is None for a frame in memory. ``signatures`` are those of the partitions (None: a file without one) with
    their rows. ``mistakes`` counts rows whose reference is a mistake in the data (left out of all rates and metrics),
    ``failed`` those with a ``score_error``. ``paired_on`` is the column by which the models of ``differences`` were
    paired, ``size`` what ``sizes`` measures. The columns of each frame: see the function in whose module it is made.
    In a notebook it shows itself.

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
        names = ("rates", "differences", "verdicts", "details", "examples", "sizes", "metrics", "histograms")
        return {name: frame for name in names if not (frame := getattr(self, name)).is_empty()}

    def main_table(self) -> pl.DataFrame:
        """The rates, or the summary of the metrics where only plans or domains were scored."""
        return self.metrics if self.rates.is_empty() else self.rates

    def _repr_html_(self) -> str:
        """How a notebook shows it."""
        from pddl_eval.report.html import report_fragment

        return report_fragment(self)


def build_report(scored: ScoredInput, by: str | Sequence[str] | None = None, pair_on: str | None = None) -> Report:
    """The report on a scored dataset: a Parquet file, folder, pattern or URI, or a frame with score columns.

    ``by`` are the columns to group by (default: ``model`` and ``domain`` where there are such columns); values of the
    first are compared with each other, on problems identified by the column ``pair_on`` (default: the first of
    ``pair_id``, ``id``, ``reference_problem``, ``reference_plan`` on which they meet). Only needed columns are read.

    Raises ``DatasetError`` where there is no such dataset, ``ValueError`` where columns do not fit.

    >>> report = build_report(pl.DataFrame({"model": ["a", "a", "b"], "equivalent": [True, False, None]}))
    >>> report.rates.filter(pl.col("model") == "a").select("measure", "rows", "percent").row(0)
    ('equivalent', 2, 50.0)
    """
    data = open_scored(scored)
    groups = choose_groups(data.schema, by)
    candidates = pairing_columns(data.schema, pair_on)
    names = measures(data.schema)
    counts = count_rows(data, groups).collect(engine="streaming")
    combinations = counts.select(groups).n_unique() if groups else 1
    if combinations > MAX_GROUPS:
        raise UserError(f"{' × '.join(groups)} make {combinations:,} groups; at most {MAX_GROUPS:,} can be reported")

    size, metric_names = size_of(data.schema), metrics(data.schema)
    queries: dict[str, pl.LazyFrame] = {}
    if "score_error" in data.schema:
        queries["failed"] = data.frame.select(pl.col("score_error").count())
    if has_details(data.schema):
        queries["kinds"] = count_kinds(data)
    if size is not None and names:
        queries["sizes"] = count_sizes(data, size, groups, names)
    if metric_names:
        queries |= {f"summary {number}": part for number, part in enumerate(summarise(data, groups, metric_names))}
    queries |= {f"values {name}": count_values(data, groups, name) for name in metric_names}
    # One after the other: together they are hardly faster and hold more in memory.
    found = {name: query.collect(engine="streaming") for name, query in queries.items()}

    kinds_counted = found.get("kinds", _NONE)
    paired, paired_on = _paired(data, groups, candidates, names, counts)
    return Report(
        place=data.place,
        by=groups,
        rows=data.rows,
        mistakes=_mistakes(counts),
        failed=found["failed"].item() if "failed" in found else 0,
        signatures=data.signatures,
        rates=rates(counts, groups, names),
        differences=paired,
        paired_on=paired_on,
        verdicts=verdicts(counts, groups) if "verdict" in counts.columns else _NONE,
        details=kinds(kinds_counted) if kinds_counted.height else _NONE,
        examples=read_examples(data, example_rows(kinds_counted), groups) if kinds_counted.height else _NONE,
        sizes=rates_by_size(found["sizes"], size, groups, names) if size is not None and "sizes" in found else _NONE,
        size=size.name if size is not None else None,
        metrics=summary([part for name, part in found.items() if name.startswith("summary ")], groups, metric_names),
        histograms=_histograms(data, groups, {name: found[f"values {name}"] for name in metric_names}),
    )


_NONE = pl.DataFrame()


def _paired(
    data: Scored, groups: Sequence[str], candidates: Sequence[str], names: Sequence[str], counts: pl.DataFrame
) -> tuple[pl.DataFrame, str | None]:
    """The differences and the column that they are paired on: the first on which two models meet."""
    if groups and names and 2 <= counts[groups[0]].n_unique() <= MAX_MODELS:
        for key in candidates:
            answers = answers_by_problem(data, groups[0], key, names).collect(engine="streaming")
            frame = differences(answers, groups[0], names)
            if not frame.is_empty():
                return frame, key
    return _NONE, None


def _histograms(data: Scored, groups: Sequence[str], values: Mapping[str, pl.DataFrame]) -> pl.DataFrame:
    parts = [
        histogram(counts, groups, name, is_ratio=data.schema[name].is_float())
        for name, counts in values.items()
        if counts.height
    ]
    return pl.concat(parts) if parts else _NONE


def _mistakes(counts: pl.DataFrame) -> int:
    return int(counts.filter(~is_counted(counts.schema))["rows"].sum())
