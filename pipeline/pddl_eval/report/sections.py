"""A report as a page: title, warnings, facts, and sections of tables. Nothing is computed here."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import product, starmap

import polars as pl

from pddl_eval.definition.verdict import Verdict
from pddl_eval.pages import Cell, Page, Section, Table, Value, change, table, words
from pddl_eval.report.build import Report
from pddl_eval.report.groups import at_level, levels, only
from pddl_eval.report.numbers import (
    DOMAIN_MEASURES,
    MEASURES,
    PLAN_MEASURES,
    PROBLEM_MEASURES,
    QUANTILES,
    RIGHT,
    main_measure,
)
from pddl_eval.report.reasons import OUTCOMES
from pddl_eval.report.scored import DOMAIN_COLUMNS, FRACTIONS, PLAN_COLUMNS
from pddl_eval.shown import row_count

MEASURE_NAMES = {
    **{name: words(name) for name in MEASURES},
    "equivalent_untyped": "ignoring types",
}

MOST_SIZES = 10
"""Sizes side by side in a table of groups."""

MOST_SPLITS = 6
"""Tables of abstraction against size."""

MOST_METRICS = 4
"""Metrics side by side in a table of means: their names are long."""

MOST_VERDICTS = 6
"""Verdicts in a column of their own in the table by groups."""

MOST_KINDS = 12
"""Kinds of detail on the page."""

MAIN_VERDICTS = 5
"""The page shows example rows of this many verdicts, and always of mistakes in the data and undecided rows."""

RATES, FAILURES, SIZES, PLANS, DOMAINS = "Rates", "Why answers fail", "Score against size", "Plans", "Domains"
"""Titles of the sections that have figures."""


def report_page(report: Report) -> Page:
    """The report as a page: only sections for which there is something to say."""
    makers = {_rates: report.rates, _differences: report.differences, _samples: report.pass_at_k}
    makers |= {_failures: report.verdicts, _sizes: report.sizes}
    sections = [make(report) for make, frame in makers.items() if not frame.is_empty()]
    sections += [
        _metrics(report, PLANS, PLAN_MEASURES, PLAN_COLUMNS, "plan"),
        _metrics(report, DOMAINS, DOMAIN_MEASURES, DOMAIN_COLUMNS, "domain"),
    ]
    title = f"Scores of {report.place}" if report.place is not None else "Scores"
    return Page(title, warnings(report), _facts(report), [section for section in sections if section.tables])


def warnings(report: Report) -> tuple[str, ...]:
    """What a reader must know before comparing any of the numbers."""
    found = [report.unfinished] if report.unfinished else []
    if len(report.signatures) > 1:
        listed = "; ".join(
            f"{signature or 'no signature'} ({row_count(rows)})" for signature, rows in report.signatures
        )
        found.append(
            f"The rows were scored in different ways and their scores are not comparable. Signatures: {listed}."
        )
    return tuple(found)


def _facts(report: Report) -> list[str]:
    found = [f"{row_count(report.rows)}."]
    if report.mistakes:
        found.append(
            f"{row_count(report.mistakes)} left out of all rates and metrics: the reference cannot be read or solved, "
            "or is outside STRIPS."
        )
    found += [f"{row_count(rows)} not compared: no reference {pair}." for pair, rows in report.not_compared.items()]
    if report.failed:
        found.append(f"{row_count(report.failed)} not scored (the column score_error says why), counted as undecided.")
    if len(report.signatures) == 1 and report.signatures[0][0] is not None:
        found.append(f"Signature: {report.signatures[0][0]}")
    return [*found, f"Intervals and tests: {report.signature}"]


def _rates(report: Report) -> Section:
    clusters = "each row for itself" if report.clusters == "row" else f"answers with one {report.clusters} together"
    paragraphs = [
        f"Percent of rows with 95 % intervals that count references, not rows ({clusters}). “Ignoring types” is "
        "equivalence with every object's type erased."
    ]
    undecided = [
        f"{MEASURE_NAMES[measure]} in {number:,} ({100 * (yes + number) / rows:.1f} % if all of these were yes)"
        for measure, rows, yes, number in at_level(report.rates, report.by, ())
        .filter(pl.col("undecided") > 0, pl.col("measure").is_in(PROBLEM_MEASURES))
        .select("measure", "rows", "yes", "undecided")
        .iter_rows()
    ]
    if "solves_reference" in report.rates["measure"]:
        paragraphs.append(
            "“Solves reference”: an answer without a plan counts as no, and so does one that is not "
            "equivalent and has other names of objects."
        )
    if undecided:
        paragraphs.append(f"Undecided rows count as no. Undecided: {', '.join(undecided)}.")
    tables = _rate_tables(report, "Percent of answers", PROBLEM_MEASURES)
    return Section(RATES, [*paragraphs, *_without_interval(report.rates, report.macro)], tables)


def _without_interval(*frames: pl.DataFrame) -> list[str]:
    """Why some rates have no interval, if any has none."""
    if any(frame.height and frame.drop_nulls("percent")["low"].null_count() for frame in frames):
        return ["No interval: of several answers to a single reference, which do not show how much references differ."]
    return []


def _macro_table(report: Report, what: str, measures: Sequence[str]) -> list[Table]:
    """Every domain with the same weight: the paper's average, beside that of the rows."""
    frame = only(report.macro, "measure", measures)
    if frame.is_empty():
        return []
    keys = [name for name in report.by if name in frame.columns]
    named = frame.with_columns(pl.col(keys).fill_null("all rows")).rename({"domains": "rows"})
    found = _rate_table(f"{what}, every domain with the same weight (macro average)", named, keys)
    return [replace(found, header=[each.replace("rows", "domains") for each in found.header])]


def _rate_tables(report: Report, what: str, measures: Sequence[str]) -> list[Table]:
    """A table for each level of grouping, and one in which domains have the same weight."""
    frame = only(report.rates, "measure", measures)
    tables = [
        _rate_table(
            f"{what}, by {' and '.join(level)}" if level else f"{what}, all rows together",
            at_level(frame, report.by, level),
            level,
            shows_undecided=len(level) < 2,
        )
        for level in levels(report.by)
        if frame.height
    ]
    return tables[:1] + _macro_table(report, what, measures) + tables[1:]


def _rate_table(caption: str, frame: pl.DataFrame, keys: Sequence[str], *, shows_undecided: bool = False) -> Table:
    """A row for each value of the keys, a column for each measure."""
    header = [*(keys or [""]), "rows", *(MEASURE_NAMES[name] for name in frame["measure"].unique(maintain_order=True))]
    lines: list[list[Value]] = []
    undecided: list[int] = []
    for part in frame.partition_by(keys, maintain_order=True) if keys else [frame]:
        first = part.row(0, named=True)
        rates = starmap(_rate, part.select("percent", "low", "high").iter_rows())
        lines.append([*([first[name] for name in keys] or ["all rows"]), first["rows"], *rates])
        undecided.append(max(part["undecided"]) if shows_undecided else 0)
    if shows_undecided and any(undecided):
        header.append("undecided")
        lines = [[*line, number] for line, number in zip(lines, undecided, strict=True)]
    return table(caption, header, lines, labels=max(1, len(keys)))


def _rate(percent: float | None, low: float | None, high: float | None) -> Value:
    return percent if percent is None or low is None else Cell(f"{percent:.1f}", f"{low:.1f}–{high:.1f}")


def _by_group(
    caption: str,
    frame: pl.DataFrame,
    shown: Mapping[str, str],
    show: Callable[[str, float | None], Value] = lambda _, value: value,
) -> Table:
    """A table of a frame of groups, names and values: a row for each group, a column for each of the headings."""
    first = frame.columns[0]
    cells = {(group, name): value for group, name, value in frame.drop_nulls(first).iter_rows()}
    groups = dict.fromkeys(group for group, _ in cells)
    lines = [[group, *(show(name, cells.get((group, name))) for name in shown)] for group in groups]
    return table(caption, [first, *shown.values()], lines)


def _differences(report: Report) -> Section:
    how = (
        "Differences in percentage points over the references that both answered, each with the same weight and the "
        "mean of a model's answers. p is the number to quote: the exact sign-flip test of these means (with one answer "
        "each McNemar's exact test), corrected for all pairs of models (Holm)."
    )
    measure = main_measure(report.differences["measure"].unique().to_list())
    lines: list[list[Value]] = [
        [
            *(each[name] for name in ("first", "second", "references")),
            change(each["difference"], each["low"], each["high"]),
            *(each[name] for name in ("first_better", "second_better")),
            _p_value(each["p_holm"]),
        ]
        for each in report.differences.filter(measure=measure).to_dicts()
    ]
    header = ("first", "second", "references", "first − second", "first better", "second better", "p")
    compared = table(f"Difference in percent {MEASURE_NAMES[measure]}", header, lines, labels=2)
    return Section("Models compared on the same references", [how], [compared])


def _p_value(value: float) -> Value:
    return Cell(f"{value:.3f}" if value >= 0.001 else "< 0.001")


def _samples(report: Report) -> Section:
    """pass@k and the majority vote, of the models with several samples for a reference."""
    model = report.pass_at_k.columns[0]
    measure = main_measure(report.pass_at_k["measure"].unique().to_list())
    shown = report.pass_at_k.filter(measure=measure)
    ks = shown["k"].unique().sort().to_list()
    cells = {(name, k): _rate(*rate) for name, k, *rate in shown.select(model, "k", "percent", "low", "high").rows()}
    models = shown[model].unique(maintain_order=True).to_list()
    references = dict(shown.filter(k=1).select(model, "references").rows())
    lines = [[name, references.get(name), *(cells.get((name, k)) for k in ks)] for name in models]
    header = (model, "references", *(f"pass@{k}" for k in ks))
    tables = [table(f"Percent {MEASURE_NAMES[measure]} in k samples", header, lines)]
    if report.majority.height:
        votes = [[name, number, ties, _rate(*rate)] for name, number, ties, *rate in report.majority.rows()]
        header = (model, "references", "ties", "equivalent")
        tables.append(table("Percent of references whose commonest answer is right", header, votes))
    how = (
        "pass@k: the unbiased estimate of the chance that one of k samples is right, over the references with at least "
        "k. Commonest: by certificate, over the references with several samples; a tie counts with its mean."
    )
    notes = _without_interval(report.pass_at_k, report.majority)
    return Section("Several samples for a reference", [how, *notes], tables)


def _failures(report: Report) -> Section:
    how = (
        "Verdicts in percent of the rows that have one. Details that differ only in names count together: the "
        "arguments of an atom are written …, digits are written #."
    )
    meanings = {verdict.value: verdict.meaning for verdict in Verdict}
    frames = (report.verdicts, report.details, report.examples)
    return Section(FAILURES, [how], _reason_tables(report, "Verdicts", frames, meanings, RIGHT))


def _reason_tables(
    report: Report,
    caption: str,
    frames: Sequence[pl.DataFrame],
    meanings: Mapping[str, str],
    right: Sequence[str],
) -> list[Table]:
    """What became of the answers, the commonest details, and rows to look at; ``frames`` as ``numbers`` makes them."""
    verdicts, details, examples = frames
    if verdicts.is_empty():
        return []
    alone = at_level(verdicts, report.by, ()).select("verdict", "rows", "percent").rows()
    lines = [[words(verdict), meanings.get(verdict, ""), rows, share] for verdict, rows, share in alone]
    tables = [table(caption, ("verdict", "meaning", "rows", "percent"), lines, texts=1)]
    if report.by:
        first = report.by[0]
        name = pl.when(pl.col("verdict").is_in(right)).then(pl.lit("right")).otherwise("verdict").alias("verdict")
        by_first = at_level(verdicts, report.by, report.by[:1])
        shares = by_first.group_by(first, name, maintain_order=True).agg(pl.col("percent").sum())
        wrong = [verdict for verdict, *_ in alone if verdict not in right][:MOST_VERDICTS]
        shown = {each: words(each) for each in ("right", *wrong)}
        caption = f"Commonest verdicts in percent, by {first}"
        tables.append(_by_group(caption, shares, shown, lambda _, share: share or 0.0))
    if not details.is_empty():
        caption = "Commonest details, in percent of the rows that are not right"
        lines = [[words(verdict), *rest] for verdict, *rest in details.head(MOST_KINDS).iter_rows()]
        tables.append(table(caption, ("verdict", "detail", "rows", "percent"), lines, texts=1))
        tables += _example_tables(report, examples)
    return tables


def _example_tables(report: Report, examples: pl.DataFrame) -> list[Table]:
    header = (f"row ({', '.join(report.by)})" if report.by else "row", "detail, and the command that explains it")
    tables = []
    for place, ((verdict,), frame) in enumerate(examples.group_by("verdict", maintain_order=True)):
        if place < MAIN_VERDICTS or verdict in (Verdict.UNDECIDED, Verdict.REFERENCE_INVALID):
            lines = [
                (Cell(str(row), ", ".join(groups), row=row), Cell(detail or "", command=command or ""))
                for _, row, *groups, detail, command in frame.iter_rows()
            ]
            tables.append(table(f"Examples: {words(str(verdict))}", header, lines, texts=1))
    return tables


def _sizes(report: Report) -> Section:
    known = report.sizes["measure"].unique()
    kinds = ([name for name in kind if name in known] for kind in (PROBLEM_MEASURES, PLAN_MEASURES, DOMAIN_MEASURES))
    names = next(filter(None, kinds))
    size = str(report.size)
    alone = at_level(report.sizes, report.by[:1], ()).filter(pl.col("measure").is_in(names))
    caption = f"Percent of answers by {size}, all rows together"
    tables = [_rate_table(caption, alone.drop(report.by[:1]).rename({"problem_size": size}), [size])]
    shown = alone["problem_size"].unique(maintain_order=True).to_list()
    if report.by and len(shown) <= MOST_SIZES:
        measure = main_measure(names)
        caption = f"Percent {MEASURE_NAMES[measure]} by {report.by[0]} and {size}"
        rates = report.sizes.filter(measure=measure).select(report.by[0], "problem_size", "percent")
        tables.append(_by_group(caption, rates, dict(zip(shown, shown, strict=True))))
    if report.abstraction.height:
        tables += _abstraction_tables(report, main_measure(names), shown)
    return Section(SIZES, _without_interval(alone), tables)


def _abstraction_tables(report: Report, measure: str, sizes: Sequence[str]) -> list[Table]:
    """How abstract the descriptions are, against size: all rows, then each group of the first column."""
    frame = report.abstraction.filter(measure=measure)
    shown = {each: each for each in ("all sizes", *sizes[:MOST_SIZES])}
    first = report.by[:1]
    parts = {"all rows together": at_level(frame, first, ())}
    if first:
        groups = at_level(frame, first, first).partition_by(first, maintain_order=True)
        parts |= {part[first[0]][0]: part for part in groups}
    tables = []
    for name, part in parts.items():
        rates = part.select("abstraction", pl.col("problem_size").fill_null("all sizes"), "percent")
        caption = f"Percent {MEASURE_NAMES[measure]} by abstraction and {report.size or 'size'}, {name}"
        tables.append(_by_group(caption, rates, shown))
    return tables[:MOST_SPLITS]


def _metrics(report: Report, title: str, measures: Sequence[str], columns: Sequence[str], pair: str) -> Section:
    """Plans or domains: rates, why they fail, then means and quantiles of the metrics."""
    tables = _rate_tables(report, f"Percent of {title.lower()}", measures)
    frames = (report.outcomes, report.reasons, report.reason_examples)
    of_pair = [only(frame, "pair", [pair]).drop("pair", strict=False) for frame in frames]
    known = OUTCOMES[pair]
    tables += _reason_tables(report, f"What became of {title.lower()}", of_pair, known.meanings, known.right)
    frame = only(report.metrics, "metric", columns)
    if frame.height:
        statistics = ("mean", "sd", *QUANTILES)
        lines = [
            [words(name), rows, *(_metric(name, value) for value in values)]
            for name, rows, *values in at_level(frame, report.by[:1], ()).select("metric", "rows", *statistics).rows()
        ]
        tables.append(table("Metrics, all rows together", ("metric", "rows", *statistics), lines))
        names = frame["metric"].unique(maintain_order=True).to_list()
        for first, start in product(report.by[:1], range(0, len(names), MOST_METRICS)):
            shown = {name: words(name) for name in names[start : start + MOST_METRICS]}
            means = frame.select(first, "metric", "mean")
            tables.append(_by_group(f"Means of metrics by {first}", means, shown, _metric))
    rates = only(report.rates, "measure", measures)
    how = "Rates, means and quantiles over the rows that have a value."
    return Section(title, [how, *_without_interval(rates)], tables)


def _metric(name: str, value: float | None) -> Value:
    """Three decimals of a fraction, one of a number of steps."""
    return value if value is None else f"{value:.3f}" if name in FRACTIONS else f"{value:,.1f}"
