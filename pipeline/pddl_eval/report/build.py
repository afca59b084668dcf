"""The report as a value: the frames of ``numbers`` for one scored dataset, computed lazily from its score columns."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import polars as pl

from pddl_eval.columns import NAMES, TWIN
from pddl_eval.errors import UserError, did_you_mean
from pddl_eval.report import numbers
from pddl_eval.report.groups import DEFAULT_GROUPS, at_level, choose_groups
from pddl_eval.report.intervals import METHOD
from pddl_eval.report.reasons import FAILED, count_rows, doubts, reasons
from pddl_eval.report.scored import WITHOUT, ScoredInput, open_scored, unreadable_texts
from pddl_eval.scoring.columns import PAIRS, SCORE_COLUMNS
from pddl_eval.version import version_of

MOST_GROUPS = 10_000
"""Combinations of values: a column with more identifies rows instead of grouping them."""


@dataclass(frozen=True, slots=True)
class Report:
    """The numbers of a scored dataset. A frame is empty if the dataset has nothing of its kind.

    ``place`` is None for a frame in memory, ``columns`` and ``where`` are as in ``build_report``.
    ``signatures`` are those of the partitions with their numbers of rows
    (None: a file without a signature). ``mistakes`` is the number of rows whose reference is a mistake in the data
    (left out of all rates and metrics), ``failed`` the number of rows with a ``score_error``, ``not_compared`` those
    without a reference, by pair: they are left out of what compares. ``unfinished`` says in a
    sentence that the run is not complete, with ``missing`` rows. ``clusters`` is the column whose equal values make
    answers belong together; ``question_columns`` of a frame may name its questions; ``sizes`` and ``abstraction``
    group by the column ``size``. The columns of each frame: see the functions of ``numbers``; ``outcomes``,
    ``reasons``, ``reason_examples`` (of plans and domains) and ``doubts`` are those of ``reasons``. A notebook shows
    the report as a page.

    >>> report = build_report(pl.DataFrame({"equivalent": [True, False], "verdict": ["identical", "goal_differs"]}))
    >>> report.rows, list(report.tables())
    (2, ['rates', 'verdicts'])
    """

    place: str | None
    columns: Mapping[str, str]
    where: str | None
    by: tuple[str, ...]
    rows: int
    mistakes: int
    failed: int
    not_compared: Mapping[str, int]
    signatures: tuple[tuple[str | None, int], ...]
    unfinished: str | None
    missing: int | None
    clusters: str
    question_columns: tuple[str, ...]
    model: str | None
    rates: pl.DataFrame
    macro: pl.DataFrame
    differences: pl.DataFrame
    power: pl.DataFrame
    questions: pl.DataFrame
    solved: pl.DataFrame
    pass_at_k: pl.DataFrame
    majority: pl.DataFrame
    verdicts: pl.DataFrame
    details: pl.DataFrame
    examples: pl.DataFrame
    outcomes: pl.DataFrame
    reasons: pl.DataFrame
    reason_examples: pl.DataFrame
    doubts: pl.DataFrame
    sizes: pl.DataFrame
    abstraction: pl.DataFrame
    size: str | None
    metrics: pl.DataFrame
    histograms: pl.DataFrame

    def __str__(self) -> str:
        """The answer in a sentence or two, and the first table."""
        from pddl_eval.report.sections import report_page  # writes reports, so it imports this file
        from pddl_eval.terminal import plain

        page = report_page(self)
        return plain(replace(page, sections=[replace(each, title="", paragraphs=()) for each in page.sections[:1]]))

    def tables(self) -> dict[str, pl.DataFrame]:
        """The frames that are not empty, by name."""
        frames = ((field.name, getattr(self, field.name)) for field in fields(self))
        return {name: frame for name, frame in frames if isinstance(frame, pl.DataFrame) and not frame.is_empty()}

    @property
    def signature(self) -> str:
        """How the report's intervals and p-values were made, in one line that can be quoted."""
        return f"pddl-eval-report:{version_of('pddl-eval')}|clusters:{self.clusters}|{METHOD}"

    def save(
        self,
        output: str | os.PathLike[str],
        *,
        table: str | None = None,
        columns: Sequence[str] | None = None,
        wide: bool = False,
    ) -> None:
        """Write the report as what the suffix says: ``tables.tex``, ``report.html``, ``figure.pdf`` (the ranking), ….

        A name without a suffix is a folder of pages (``report/``). ``table`` is one alone (``ranking``, or ``methods``,
        a paragraph for a paper), ``columns`` some of it. A figure is 3.3 inches wide, or 6.9 if it is ``wide``. Raises
        ``UserError`` for what is not there and for another suffix, ``OutputError`` where it cannot be written.
        """
        from pddl_eval.report.files import save  # writes reports, so it imports this file

        save(self, output, table=table, columns=columns, wide=wide)

    def main_table(self) -> pl.DataFrame:
        """The rates, or the summary of the metrics if only plans or domains were scored."""
        return self.metrics if self.rates.is_empty() else self.rates


@unreadable_texts()
def build_report(  # noqa: PLR0913 (what can be asked of a report)
    scored: ScoredInput,
    by: str | Sequence[str] | None = None,
    *,
    columns: Mapping[str, str] | None = None,
    size: str | None = None,
    where: str | None = None,
    metrics: Sequence[str] | None = None,
    detect: float | None = None,
) -> Report:
    """The report on a scored dataset: a Parquet file, folder, pattern or URI, or a frame with score columns.

    * ``by``: the columns to group by (default: ``model`` and ``domain``, if present). If ``model`` is one, models are
      compared on the references that both answered;
    * ``columns``: the dataset's own names by meaning (``{"reference_id": "question"}``), by default those under which
      it was scored;
    * ``size``: the column of ``numbers.SIZES`` that tells a problem's size, by default the first that there is;
    * ``where``: a condition in SQL (``split = 'test'``): only such rows are reported;
    * ``metrics``: the scores to report, by default all;
    * ``detect``: a difference between two models in points (0 to 100): how many questions would find it
      (``numbers.power``).

    Raises ``DatasetError`` if there is no such dataset, ``UserError`` if columns are missing.

    >>> report = build_report(pl.DataFrame({"model": ["a", "a", "b"], "equivalent": [True, False, None]}))
    >>> report.rates.filter(pl.col("model") == "a").select("measure", "rows", "percent").row(0)
    ('equivalent', 2, 50.0)
    """
    if detect is not None and not 0 < detect <= 100:
        raise UserError(f"a difference to detect is above 0 and at most 100 points, not {detect}")
    # Each query is collected before the next: together they are hardly faster and need more memory.
    data = open_scored(scored, columns, where)
    groups = choose_groups(data.schema, by, data.names)
    names = numbers.measures(data)
    scores = [each for each in data.schema if each in SCORE_COLUMNS]
    if metrics is not None and not metrics:
        raise UserError(f"no score of {data.name} is named: leave metrics out for all, or name some: {scores[0]},…")
    for name in metrics or ():
        if name not in scores:
            raise UserError(f"there is no score {name} in {data.name}; {did_you_mean(name, scores, 'scores')}")
    names = tuple(name for name in names if metrics is None or name in metrics)
    counts = count_rows(data, groups)
    combinations = counts.select(groups).n_unique() if groups else 1
    if combinations > MOST_GROUPS:
        raise UserError(f"{' × '.join(groups)} make {combinations:,} groups; at most {MOST_GROUPS:,} can be reported")
    mistakes = counts.filter(~data.is_counted())["rows"].sum() if "verdict" in data.schema else 0
    without = {pair.name: int(counts.filter(f"{WITHOUT}{pair.name}")["rows"].sum()) for pair in PAIRS}
    model, domain = (name if (name := data.names.get(each, each)) in groups else None for each in DEFAULT_GROUPS)
    if model is None and TWIN in data.schema and NAMES in groups:
        model = NAMES  # Twins are set beside each other as models are.
    sized, abstraction = numbers.size_of(data, size), numbers.abstraction_of(data)
    extra = {"size": sized[1] if sized else pl.lit(None, pl.String)}
    extra |= {} if abstraction is None else {"abstraction": abstraction}
    answers, clusters = numbers.read_answers(data, groups, names, **extra)
    answers, bins = numbers.with_bins(answers)
    rates = numbers.rates(answers, groups, names)
    told = reasons(data, groups, counts)
    of_verdicts, kinds, examples = told.pop("problem")
    outcomes, other_kinds, reason_examples = (
        pl.concat(
            [
                frames[place].select(pl.lit(pair).alias("pair"), pl.all())
                for pair, frames in told.items()
                if frames[place].height
            ]
            or [numbers.NOTHING]
        )
        for place in range(3)
    )
    summaries, histograms = numbers.metrics(data, groups, metrics)
    named = numbers.of_models(answers, model, names)
    questions, solved = numbers.questions(data, named, model, names)
    made = Report(
        place=data.place,
        columns=data.names,
        where=where,
        by=groups,
        rows=data.rows,
        mistakes=int(mistakes),
        failed=int(counts.filter(FAILED)["rows"].sum()),
        not_compared={pair: rows for pair, rows in without.items() if rows},
        signatures=data.signatures,
        unfinished=data.unfinished,
        missing=data.missing,
        clusters=clusters,
        question_columns=data.questions(),
        model=model,
        rates=rates,
        macro=numbers.macro(rates, groups, domain),
        differences=numbers.differences(named, model, names),
        power=numbers.NOTHING if detect is None else numbers.power(named, model, names, detect),
        questions=questions,
        solved=solved,
        pass_at_k=numbers.pass_at_k(named, model, names),
        majority=numbers.majority(named, model),
        verdicts=of_verdicts,
        details=kinds,
        examples=examples,
        outcomes=outcomes,
        reasons=other_kinds,
        reason_examples=reason_examples,
        doubts=doubts(data),
        sizes=numbers.rates_by_size(answers, bins, groups, names),
        abstraction=numbers.NOTHING
        if abstraction is None
        else numbers.rates_by_abstraction(answers, bins, groups, names),
        size=numbers.SIZES[sized[0]] if sized else None,
        metrics=summaries,
        histograms=histograms,
    )
    return replace(made, **best_first(made))


def ranking(
    scored: ScoredInput, columns: Mapping[str, str] | None = None, *, is_whole: bool = False
) -> list[tuple[str, str]]:
    """Each model and its strictest rate in words, best first; empty without models. Raises as ``build_report``.

    ``is_whole`` as in ``open_scored``.

    >>> ranking(pl.DataFrame({"model": ["a", "b"], "equivalent": [False, True]}))
    [('b', '100.0 % equivalent (20.7–100.0)'), ('a', '0.0 % equivalent (0.0–79.3)')]
    """
    data = open_scored(scored, columns, is_whole=is_whole)
    model = data.names.get("model", "model")
    names = numbers.measures(data)
    if model not in choose_groups(data.schema, None, data.names) or not names:
        return []
    answers, _ = numbers.read_answers(data, [model], names)
    known = [name for name in names if (answers[name] >= 0).any()]
    if not known:
        return []
    main = numbers.main_measure(known)
    rates = numbers.rates(answers, [model], [main], at=[(model,)]).drop_nulls("percent")
    found = []
    for name, percent, low, high in rates.sort("percent", descending=True)[[model, "percent", "low", "high"]].rows():
        interval = "" if low is None else f" ({low:.1f}–{high:.1f})"
        found.append((name, f"{percent:.1f} % {main.replace('_', ' ')}{interval}"))
    return found


def best_first(report: Report) -> dict[str, Any]:
    """The frames of the report with the values of the first column to group by sorted by score.

    The score is the strictest rate, without rates the mean of the first metric. Equal ones keep their order.
    """
    if not report.by:
        return {}
    (first, *_), alone, name, score = report.by, report.rates, "measure", "percent"
    if alone.is_empty():
        alone, name, score = report.metrics, "metric", "mean"
    if alone.is_empty():
        return {}
    alone = at_level(alone, [each for each in report.by if each in alone], [first]).drop_nulls(score)
    if alone.is_empty():
        return {}
    main = alone[name][0] if name == "metric" else numbers.main_measure({*alone[name]})
    scores = dict(alone.filter(pl.col(name) == main).select(first, score).iter_rows())
    rank = pl.col(first).replace_strict(scores, default=-1.0, return_dtype=pl.Float64)
    # Null, which means all values together, stays first.
    place = pl.when(pl.col(first).is_null()).then(None).otherwise(-rank)
    frames = {each: frame for each, frame in report.tables().items() if first in frame and each not in LEFT_IN_ORDER}
    found = pl.collect_all([frame.lazy().sort(place, maintain_order=True) for frame in frames.values()])
    return dict(zip(frames, found, strict=True))


LEFT_IN_ORDER = ("questions", "solved")
"""Frames whose order is not that of the models."""
