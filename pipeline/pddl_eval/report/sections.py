"""A report as a page: title, warnings, facts, and sections of tables. Nothing is computed here."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import product
from math import ceil
from operator import itemgetter
from typing import TYPE_CHECKING, Any

import polars as pl

from pddl_eval.pages import Cell, Page, Part, Section, Table, Value, Where, change, frame_table, slug, table, words
from pddl_eval.report.groups import MISSING, at_level, label_column, levels, only
from pddl_eval.report.numbers import MOST_BINS, QUANTILES, Bins, main_measure
from pddl_eval.report.reasons import OUTCOMES
from pddl_eval.scoring.columns import (
    ANSWER_COLUMNS,
    ANSWER_MEASURES,
    DOMAIN_COLUMNS,
    DOMAIN_MEASURES,
    FRACTIONS,
    MEASURES,
    PAIRS,
    PLAN_COLUMNS,
    PLAN_MEASURES,
    PROBLEM_MEASURES,
    Verdict,
)
from pddl_eval.shown import line, row_count

if TYPE_CHECKING:
    from pddl_eval.report.build import Report

MEASURE_NAMES = {
    **{name: words(name) for name in MEASURES},
    "equivalent_untyped": "ignoring types",
}

COUNTED = "counted in"
"""The column of the table of rows that names the measures in whose rates a row counts."""

MOST_SIZES, MOST_METRICS, MOST_VERDICTS = 10, 4, 6
"""Sizes, means of metrics (their names are long) and verdicts side by side in a table by groups."""

MOST_SPLITS, MOST_KINDS, MOST_QUESTIONS, MOST_NAMED = 6, 12, 30, 4
"""Tables of abstraction against size, kinds of detail and questions in a table, models that a sentence names."""

MAIN_VERDICTS = 5
"""The page shows example rows of this many verdicts, and always of mistakes in the data and undecided rows."""

RANKING, GROUPS, FAILURES, SIZES = "Ranking", "By group", "Why answers fail", "By size"
PLANS, DOMAINS, ANSWERS, COMPUTED = "Plans", "Domains", "Answers to questions", "How this was computed"
"""Titles of sections."""

KINDS = {
    "answers": PROBLEM_MEASURES,
    "plans": PLAN_MEASURES,
    "domains": DOMAIN_MEASURES,
    "answers to questions": ANSWER_MEASURES,
}
"""What is ranked: the first of which there are rates."""

SIGNIFICANT = 0.05


def report_page(report: Report) -> Page:
    """The report as a page, the answer first: only sections for which there is something to say."""
    makers = {
        _ranking: report.rates,
        _differences: report.differences,
        _power: report.power,
        _questions: report.questions,
        _failures: report.verdicts,
        _groups: report.rates,
        _samples: report.pass_at_k,
        _sizes: report.sizes,
    }
    sections = [make(report) for make, frame in makers.items() if not frame.is_empty()]
    sections += [
        _metrics(report, PLANS, PLAN_MEASURES, PLAN_COLUMNS, "plan"),
        _metrics(report, DOMAINS, DOMAIN_MEASURES, DOMAIN_COLUMNS, "domain"),
        _metrics(report, ANSWERS, ANSWER_MEASURES, ANSWER_COLUMNS, "answer"),
        _doubts(report),
    ]
    shown = [*(each for each in sections if each.tables), Section(COMPUTED, _computed(report))]
    title = "Scores" if report.place is None else f"Scores of {report.place}"
    return Page(title, warnings(report), _facts(report), shown, lead=lead(report), methods=methods(report))


WIDE_TERMINAL, MOST_BRIEF, BRIEF_LINES = 110, 3, 8
"""Characters in a line that have room for all columns; numbers in a narrower table before its last; lines of one."""


def brief_page(page: Page, width: int) -> Page:
    """What a report says first, on two screens: ranking, models compared, why answers fail; and what else there is."""
    shown, others = [], []
    for section in page.sections:
        first = tables = [each for each in section.written if each.rows]
        if section.title in (FAILURES, PLANS, DOMAINS, ANSWERS):
            outcomes = f"{section.title.split()[0].removesuffix('s')} outcomes"
            first = [each for each in tables if each.caption.startswith(("Verdicts", "Most common reasons", outcomes))]
        elif section.title not in (RANKING, "Scores", "Models compared"):
            first = []
        others += [slug(section.title)] * (tables != first)
        if first:
            narrow = [each if width >= WIDE_TERMINAL else _narrowed(each) for each in first[:2]]
            shown.append(replace(section, tables=[_beginning(each) for each in narrow]))
    more = f"More: --table NAME with {', '.join(others)}; --all for all of it; --output report/ for pages."
    return replace(page, sections=[*shown, Section("", [more])] if others else page.sections)


def _narrowed(shown: Table) -> Table:
    """The first numbers and the last, which says of how many."""
    numbers = range(shown.words, len(shown.header))
    kept = 2 if shown.kind == "forest" else MOST_BRIEF
    return shown.only([*range(shown.words), *(numbers if len(numbers) <= kept + 1 else [*numbers[:kept], numbers[-1]])])


def _beginning(shown: Table) -> Table:
    """The first lines; the caption says that there are more."""
    if len(shown.rows) <= BRIEF_LINES:
        return shown
    caption = f"{shown.caption.partition(' (the first ')[0]} (the first {BRIEF_LINES}; --all has more)"
    return replace(shown, caption=caption, rows=shown.rows[:BRIEF_LINES])


def _doubts(report: Report) -> Section:
    """What is wrong with the references; ``score --check`` says it before anything is scored."""
    columns: dict[str, Any] = {
        "doubt": "doubt",
        "first row": lambda each: Cell(f"{each['first']:,}", row=each["first"]),
        "mended by": "mended_by",
        "rows": "rows",
    }
    found = frame_table("References to look at", report.doubts, columns, texts=2)
    return Section("Doubtful data", (), [found] if found.rows else [])


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
    said = [
        row_count(report.rows) + (f" with {report.where}." if report.where else "."),
        f"{row_count(report.mistakes)} left out of all rates and metrics: the reference cannot be read or solved, "
        "or is outside STRIPS." * bool(report.mistakes),
        *(f"{row_count(rows)} not compared: no reference {pair}." for pair, rows in report.not_compared.items()),
        f"{row_count(report.failed)} not scored (the column score_error says why), counted as undecided."
        * bool(report.failed),
    ]
    return [*filter(None, said)]


def _computed(report: Report) -> list[str]:
    clusters = "each row is one of its own" if report.clusters == "row" else f"clustered by {report.clusters}"
    named = " or ".join(f'columns={{"reference_id": "{name}"}}' for name in report.question_columns[:2])
    bounded = [each for each in (report.rates, report.macro, report.pass_at_k, report.majority) if each.height]
    measures = _measures(report.rates)
    said = {
        f"Percent of rows; 95 % intervals count references, not rows ({clusters}).": measures,
        f"No column is named reference_id; if one names the questions, say so: {named}.": named,
        "“Ignoring types” is equivalence with every object's type erased.": "equivalent_untyped" in measures,
        "“Solves reference”: the answer's plan, executed in the reference, reaches its goal; of an equivalent "
        "answer under its object map. No plan counts as no, and so do other names of objects without a map.": (
            "solves_reference" in measures
        ),
        "No interval: of several answers to a single reference, which do not show how much references differ.": any(
            each.drop_nulls("percent")["low"].null_count() for each in bounded
        ),
        "Models are compared on the questions that both answered, each with the same weight and the mean of a "
        "model's answers. p: the exact sign-flip test of these means (with one answer each McNemar's exact test), "
        "corrected for all pairs of models (Holm).": report.differences.height,
        **_signed(report),
        f"Intervals and tests: {report.signature}": True,
    }
    return [sentence for sentence, holds in said.items() if holds]


def _signed(report: Report) -> dict[str, bool]:
    """The signature of all rows, where they have one and the same."""
    known = [signature for signature, _ in report.signatures]
    return {f"Signature: {known[0]}": True} if len(known) == 1 and known[0] is not None else {}


def lead(report: Report) -> str:
    """Who is best and better than whom, in a sentence or two; without models the rate of all answers."""
    if report.rates.is_empty():
        return ""
    kind, measures = main_kind(report.rates)
    measure = main_measure(measures)
    first = report.by[:1] if report.model is not None and report.by[0] == report.model else ()
    ranked = at_level(report.rates, report.by, first).filter(measure=measure).drop_nulls("percent")
    if ranked.is_empty():
        return ""
    best = ranked.row(0, named=True)
    between = "" if best["low"] is None else f" (95 % interval {best['low']:.1f} to {best['high']:.1f})"
    rate = f"{best['percent']:.1f} %{between}"
    what = "right" if measure == "answer_correct" else MEASURE_NAMES[measure]
    if not first:
        return f"{rate} of {best['rows']:,} {kind} are {what}."
    name = best[first[0]]
    if ranked.height == 1:
        return f"{name}: {rate} {what}."
    tests = [(other, *_gap(report, measure, name, other)) for other in ranked[first[0]][1:]]
    worse = {other: p_value for other, gap, p_value in tests if p_value is not None and gap > 0 and _certain(p_value)}
    open_ = {other: p_value for other, _, p_value in tests if p_value is not None and other not in worse}
    better = f" It is better than {_listed([*worse])} ({_p_words(worse, max)})." if worse else ""
    alike = f" No significant difference from {_listed([*open_])} ({_p_words(open_, min)})." if open_ else ""
    return f"{name} ranks first: {rate} {what}.{better}{alike}"


def _gap(report: Report, measure: str, first: str, second: str) -> tuple[float, float | None]:
    """How much better the first model is on common questions, and p; None where they have none."""
    for one, other, sign in ((first, second, 1), (second, first, -1)):
        found = only(report.differences, "measure", [measure])
        found = found.filter(first=one, second=other) if found.height else found
        if found.height:
            return sign * found["difference"][0], found["p_holm"][0]
    return 0.0, None


def _certain(p_value: float) -> bool:
    return p_value < SIGNIFICANT


def _listed(models: Sequence[str]) -> str:
    *others, last = [line(name) for name in models[:MOST_NAMED]]
    if len(models) > MOST_NAMED:
        return f"{', '.join([*others, last])} and {len(models) - MOST_NAMED} more"
    return f"{', '.join(others)} and {last}" if others else last


def _p_words(models: Mapping[str, float], nearest: Callable[..., float]) -> str:
    """The p that is nearest to the level, with whether the others are below or above it."""
    known = nearest(models.values())
    if known < 0.001:
        return "p < 0.001"
    shown = {f"{each:.3f}" for each in models.values()}
    return f"p {'=' if len(shown) == 1 else 'at least' if nearest is min else 'at most'} {known:.3f}"


def _measures(rates: pl.DataFrame) -> list[str]:
    return rates["measure"].unique(maintain_order=True).to_list() if rates.height else []


def main_kind(rates: pl.DataFrame) -> tuple[str, list[str]]:
    """What is ranked, and its measures: the first kind of which a frame has rates."""
    known = _measures(rates)
    kinds = ((kind, [name for name in names if name in known]) for kind, names in KINDS.items())
    return next((kind, names) for kind, names in kinds if names)


def _ranking(report: Report) -> Section:
    """The groups of the first column, best first; all rows together where there is nothing to group by."""
    kind, measures = main_kind(report.rates)
    level = report.by[:1]
    frame = at_level(only(report.rates, "measure", measures), report.by, level)
    caption = f"Percent of {kind}, by {level[0]}" if level else f"Percent of {kind}"
    table = replace(rate_table(caption, frame, level, shows_undecided=True), kind="ranking")
    undecided: dict[int, list[str]] = {}  # measures that share the number share a sentence
    for each in only(at_level(report.rates, report.by, ()), "measure", PROBLEM_MEASURES).iter_rows(named=True):
        share = 100 * (each["yes"] + each["undecided"]) / each["rows"]
        undecided.setdefault(each["undecided"], []).append(f"{MEASURE_NAMES[each['measure']]} {share:.1f} %")
    how = [
        f"{row_count(number)} undecided, counted as no; counted as yes: {', '.join(shares)}."
        for number, shares in undecided.items()
        if number
    ]
    table = _best_in_bold(report, table) if level == (report.model,) else table
    return Section(RANKING if level else "Scores", how, [table])


def _best_in_bold(report: Report, shown: Table) -> Table:
    """In each column the best model, and those from which the test does not tell it; none where nothing is told."""
    rows = [list(row) for row in shown.rows]
    marked = False
    for place in shown.switched:
        measure = next(name for name, text in MEASURE_NAMES.items() if text == shown.header[place])
        percents = {row[0].where[0][1]: each.interval[1] for row in rows if (each := row[place]).interval}
        best = max(percents, key=lambda name: percents[name], default="")
        tests = {other: _gap(report, measure, best, other)[1] for other in percents if other != best}
        if any(p_value is not None and _certain(p_value) for p_value in tests.values()):
            marked = True
            alike = {other for other, p_value in tests.items() if p_value is not None and not _certain(p_value)}
            for row in rows:
                if row[0].where[0][1] in {best, *alike}:
                    row[place] = replace(row[place], bold=True)
    said = f"Bold: the best, and what does not differ from it (p ≥ {SIGNIFICANT}, sign-flip test, Holm)"
    return replace(shown, rows=rows, bold=said) if marked else shown


def methods(report: Report) -> str:
    """A paragraph for a paper: what was scored and how, what was left out, how intervals and tests are made."""
    if report.rates.is_empty():
        return ""
    kind, measures = main_kind(report.rates)
    measure = main_measure(measures)
    meaning = next(each.meaning for pair in PAIRS for each in pair.columns if each.name == measure)
    models = len(_models(report)) if report.model else 0
    of = f" of {models} models" if models > 1 else ""
    undecided = at_level(report.rates, report.by, ()).filter(measure=measure)["undecided"].sum()
    said = {
        f"We scored {report.rows:,} {kind}{of} with pddl-eval.": True,
        f"{MEASURE_NAMES[measure].capitalize()}: {meaning.partition(';')[0]}.": True,
        f"{row_count(report.mistakes)} whose reference is invalid are left out.": report.mistakes,
        f"Undecided answers count as wrong ({undecided:,}).": undecided,
        "Intervals (95 %, Wilson's with the effective number of answers) and tests count questions, "
        f"clustered by {report.clusters}.": True,
        "Models are compared on the questions that both answered, with the exact sign-flip test of the mean "
        "differences, corrected by Holm for all pairs.": report.differences.height,
        **{f"{sentence}.": True for sentence in _signed(report)},
    }
    return " ".join(sentence for sentence, holds in said.items() if holds)


def _groups(report: Report) -> Section:
    kind, measures = main_kind(report.rates)
    tables = _rate_tables(report, f"Percent of {kind}", measures)
    return Section(GROUPS, (), tables if len(report.by) > 1 else [])


def _macro_table(report: Report, what: str, measures: Sequence[str]) -> list[Table]:
    """Every domain with the same weight: the paper's average, beside that of the rows."""
    frame = only(report.macro, "measure", measures)
    if frame.is_empty():
        return []
    keys = [name for name in report.by if name in frame.columns]
    named = frame.with_columns(pl.col(keys).fill_null("all rows")).rename({"domains": "rows"})
    found = rate_table(f"{what}, every domain with the same weight (macro average)", named, keys)
    # The last column counts domains, and opens no rows.
    rows = [[*cells, Cell(last.text)] for *cells, last in found.rows]
    return [replace(found, header=[*found.header[:-1], "domains"], rows=rows)]


def _rate_tables(report: Report, what: str, measures: Sequence[str], *, alone: bool = False) -> list[Table]:
    """A table for each level of grouping, and one in which domains have the same weight.

    Without that of the first column, and that of all rows, unless they stand ``alone``.
    """
    frame = only(report.rates, "measure", measures)
    tables = [
        rate_table(
            f"{what}, by {' and '.join(level)}" if level else f"{what}, all rows together",
            at_level(frame, report.by, level),
            level,
            shows_undecided=len(level) < 2,
        )
        for level in levels(report.by)
        if frame.height and (alone or level not in ((), report.by[:1]))
    ]
    return tables[:1] + _macro_table(report, what, measures) + tables[1:]


def rate_table(
    caption: str, frame: pl.DataFrame, keys: Sequence[str], *, shows_undecided: bool = False, opens: bool = True
) -> Table:
    """A row for each value of the keys, a column for each measure, the strictest first.

    Its cells open the rows behind them, unless the keys are no columns of the rows (``opens``).
    """
    main = main_measure({*frame["measure"]}) if frame.height else ""
    measures = sorted(dict.fromkeys(frame["measure"]), key=main.__ne__)
    lines: list[list[Value]] = []
    undecided: list[int] = []
    for part in frame.partition_by(keys, maintain_order=True) if keys else [frame]:
        found = {each["measure"]: each for each in part.iter_rows(named=True)}
        first = next(iter(found.values()))
        where = tuple((name, first[name]) for name in keys if opens and first[name] != "all rows")
        behind = {name: ((*where, (COUNTED, MEASURE_NAMES[name])) if opens else ()) for name in found}
        named = " ".join(first[key] for key in keys)
        labels = [Cell(first[name], where=where) for name in keys] or [Cell("all rows")]
        rates = [rate_cell(named, found[name], behind[name]) for name in measures if name in found]
        lines.append([*labels, *rates, Cell(f"{first['rows']:,}", where=behind[first["measure"]])])
        undecided.append(max(part["undecided"]) if shows_undecided else 0)
    header = [*(keys or [""]), *(MEASURE_NAMES[name] for name in measures), "rows"]
    if any(undecided):
        header.append("undecided")
        lines = [[*line, number] for line, number in zip(lines, undecided, strict=True)]
    labels_ = max(1, len(keys))
    return replace(table(caption, header, lines, labels=labels_), switched=range(labels_, labels_ + len(measures)))


def rate_cell(group: str, found: Mapping[str, Any], where: Where) -> Value:
    """A rate with its interval, drawn; what a pointer learns says all of it."""
    percent, low, high = found["percent"], found["low"], found["high"]
    if percent is None:
        return None
    tip = f"{line(group) or 'all rows'}: {percent:.1f} % {MEASURE_NAMES[found['measure']]}"
    tip += "" if low is None else f", 95 % interval {low:.1f} to {high:.1f}"
    tip += f", of {row_count(found['rows'])}" if "yes" in found else ""
    bounds = (percent, percent, percent) if low is None else (low, percent, high)
    return replace(rate_of(found), interval=bounds, where=where, tip=tip)


def rate_of(found: Mapping[str, Any]) -> Cell:
    """A percentage with its interval in words."""
    percent, low, high = found["percent"], found["low"], found["high"]
    return Cell("–" if percent is None else f"{percent:.1f}", "" if low is None else f"{low:.1f}–{high:.1f}")


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
    """Every two models, the better ranked first."""
    measure = main_measure({*report.differences["measure"]})
    model, ranks = str(report.model), {name: rank for rank, name in enumerate(_models(report))}
    lines: list[tuple[list[int], list[Value]]] = []
    most = 10
    for each in report.differences.filter(measure=measure).iter_rows(named=True):
        sides = sorted(("first", "second"), key=lambda side: ranks.get(each[side], 0))
        sign = 1 if sides[0] == "first" else -1
        first, second = (each[side] for side in sides)
        gap: float = sign * each["difference"]
        ends: list[float] = sorted(sign * each[end] for end in ("low", "high") if each[end] is not None)
        low, high = ends or (gap, gap)
        most = max(most, 10 * ceil(max(-low, high) / 10))
        tip = f"{line(first)} is {abs(gap):.1f} points {'better' if gap >= 0 else 'worse'} than {line(second)}"
        tip += f" on {each['references']:,} questions"
        tip += f"; 95 % interval {low:+.1f} to {high:+.1f}" if ends else ""
        drawn = replace(change(gap, low, high) if ends else change(gap), interval=(low, gap, high), tip=tip)
        names = [Cell(name, where=((model, name),)) for name in (first, second)]
        better = [each[f"{side}_better"] for side in sides]
        cells = [*names, drawn, p_cell(each["p_holm"]), *better, each["references"]]
        lines.append(([ranks.get(first, 0), ranks.get(second, 0)], cells))
    header = ("first", "second", "first − second", "p", "first better", "second better", "questions")
    caption = f"Difference in percent {MEASURE_NAMES[measure]}, on the same questions"
    compared = table(caption, header, [each for _, each in sorted(lines, key=itemgetter(0))], labels=2)
    compared = replace(compared, scale=(-most, most), kind="forest")
    return Section("Models compared", ["An interval right of zero: the first model is better."], [compared])


def _power(report: Report) -> Section:
    """What differences these questions can show, and how many would show a given one."""
    columns: dict[str, Any] = {
        "first": "first",
        "second": "second",
        "questions": "questions",
        "samples": "samples",
        "smallest difference found": "detectable",
        f"questions for {report.power['points'][0]:g} points": "questions_needed",
        "with endless samples": lambda each: each["with_endless_samples"] or "",
    }
    caption = f"Differences in percent {MEASURE_NAMES[report.power['measure'][0]]} that a test at 5 % finds with 80 %"
    return Section("What can be found", [], [frame_table(caption, report.power, columns, labels=2)])


def _models(report: Report) -> list[str]:
    """The models in the order of the ranking."""
    names = at_level(report.rates, report.by, [str(report.model)])[str(report.model)]
    return names.filter(names != MISSING).unique(maintain_order=True).to_list()


def p_cell(value: float) -> Value:
    """A p-value with three decimals."""
    return Cell(f"{value:.3f}" if value >= 0.001 else "< 0.001")


def _questions(report: Report) -> Section:
    """How many models solve a question, the hardest questions, and those that one model alone solves."""
    model = str(report.model)
    frame, counts = report.questions, report.solved
    total = counts["questions"].sum()
    answered = set(frame[model])
    models = [name for name in _models(report) if name in answered]
    lines: list[list[Value]] = []
    for solved_by, alone, number in counts.iter_rows():
        who = {0: "no model", len(models): f"all {len(models)} models"}.get(solved_by, f"{solved_by} models")
        share = 100 * number / total
        part = Part(share, "right" if solved_by else "wrong", f"{number:,} of {total:,} questions")
        lines.append([Cell(f"{alone} alone" if alone else who), number, Cell(f"{share:.1f}", parts=(part,))])
    solved = table("Questions solved by", ("", "questions", "percent"), lines)
    hard = frame.filter(pl.col("solved_by") < len(models))
    only_one = frame.filter(pl.col("solved_by") == 1)
    tables = [solved, _matrix(report, "The hardest questions", hard, models)]
    tables += [_matrix(report, "Questions that one model alone solves", only_one, models)] if only_one.height else []
    how = "Percent of a model's answers to a question that are right. A model solves it if one of its answers is."
    return Section("Questions", [how], [each for each in tables if each.rows])


def _matrix(report: Report, caption: str, frame: pl.DataFrame, models: Sequence[str]) -> Table:
    lines: list[list[Value]] = []
    for part in frame.partition_by("question", maintain_order=True):
        found = {each[str(report.model)]: each for each in part.iter_rows(named=True)}
        question = str(part["question"][0])
        cells: list[Value] = []
        for name in models:
            each = found[name]
            share = each["percent"]
            kind = "right" if share == 100 else "wrong" if share == 0 else "mixed"
            tip = f"{line(name)}: {share:.0f} % of {row_count(each['rows'])} right"
            where = ((label_column(report.by), question), (str(report.model), name))
            cells.append(Cell(f"{share:.0f}", kind=kind, tip=tip, row=each["row"], where=where))
        label = Cell(question, row=min(part["row"]), where=((label_column(report.by), question),))
        lines.append([label, *cells])
    return replace(table(caption, ("question", *models), lines, most=MOST_QUESTIONS), kind="matrix")


def _samples(report: Report) -> Section:
    """pass@k and the majority vote, of the models with several samples for a reference."""
    model = report.pass_at_k.columns[0]
    measure = main_measure({*report.pass_at_k["measure"]})
    shown = report.pass_at_k.filter(measure=measure)
    ks = shown["k"].unique().sort().to_list()
    lines: list[list[Value]] = []
    for part in shown.partition_by(model, maintain_order=True):
        known = {each["k"]: each for each in part.iter_rows(named=True)}
        rates = [rate_of(known[k]) if k in known else None for k in ks]
        lines.append([part[model][0], known[1]["references"] if 1 in known else None, *rates])
    header = (model, "references", *(f"pass@{k}" for k in ks))
    tables = [table(f"Percent {MEASURE_NAMES[measure]} in k samples", header, lines)]
    if report.majority.height:
        columns: dict[str, Any] = {model: model, "references": "references", "ties": "ties", "equivalent": rate_of}
        caption = "Percent of references whose most common answer is right"
        tables.append(frame_table(caption, report.majority, columns))
    how = (
        "pass@k: the unbiased estimate of the chance that one of k samples is right, over the references with at least "
        "k. Most common: by certificate, over the references with several samples; a tie counts with its mean."
    )
    return Section("Several samples", [how], tables)


def _failures(report: Report) -> Section:
    how = (
        "Verdicts in percent of the rows that have one. Reasons that differ only in names count together: the "
        "arguments of an atom are written …, digits are written #."
    )
    return Section(FAILURES, [how], _reason_tables(report, "problem", report.verdicts, report.details, report.examples))


def _reason_tables(
    report: Report, pair: str, verdicts: pl.DataFrame, details: pl.DataFrame, examples: pl.DataFrame
) -> list[Table]:
    """What became of a pair's answers, the most common reasons, and rows to look at; frames of ``numbers``."""
    if verdicts.is_empty():
        return []
    meanings, right = OUTCOMES[pair].meanings, OUTCOMES[pair].right
    column = words(OUTCOMES[pair].verdict)  # as the table of rows calls it

    def badge(each: Mapping[str, Any]) -> Cell:
        shown = words(each["verdict"])
        return Cell(shown, kind=each["verdict"], where=((column, shown),))

    columns: dict[str, Any] = {"verdict": badge, "meaning": lambda each: meanings.get(each["verdict"], "")}
    counts = {"rows": "rows", "percent": "percent"}
    caption = "Verdicts" if pair == "problem" else f"{pair.capitalize()} outcomes"
    alone = at_level(verdicts, report.by, ())
    tables = [frame_table(caption, alone, columns | counts, texts=1)]
    if report.by:
        first = report.by[0]
        by_first = at_level(verdicts, report.by, report.by[:1])
        tables.insert(0, _bars(f"{caption} by {first}", by_first, first, right, column))
        name = pl.when(pl.col("verdict").is_in(right)).then(pl.lit("right")).otherwise("verdict").alias("verdict")
        shares = by_first.group_by(first, name, maintain_order=True).agg(pl.col("percent").sum())
        wrong = [verdict for verdict in alone["verdict"] if verdict not in right][:MOST_VERDICTS]
        shown = {each: words(each) for each in ("right", *wrong)}
        caption = f"Most common verdicts in percent, by {first}"
        tables.append(replace(_by_group(caption, shares, shown, lambda _, share: share or 0.0), drawn=False))
    if not details.is_empty():
        caption = "Most common reasons, in percent of the rows that are not right"
        columns = {"verdict": badge, "reason": "kind", **counts}
        tables.append(frame_table(caption, details.head(MOST_KINDS), columns, texts=1))
        tables.append(_examples(report, examples))
    return tables


def _bars(caption: str, verdicts: pl.DataFrame, first: str, right: Sequence[str], column: str) -> Table:
    """A bar for each group, divided by its verdicts, the right ones together; for pages, others have the numbers."""
    lines: list[list[Value]] = []
    for part in verdicts.partition_by(first, maintain_order=True):
        group = str(part[first][0])
        stacks: dict[str, list[dict[str, Any]]] = {"right": []}
        for each in part.iter_rows(named=True):
            stacks.setdefault("right" if each["verdict"] in right else each["verdict"], []).append(each)
        parts = []
        for kind, members in stacks.items():
            rows, percent = (sum(each[name] for each in members) for name in ("rows", "percent"))
            where = ((first, group), *((column, words(each["verdict"])) for each in members))
            tip = f"{line(group)}: {percent:.1f} % {line(words(kind))}, {row_count(rows)}"
            parts += [Part(percent, kind, tip, where)] if rows else []
        lines.append([Cell(group, where=((first, group),)), Cell("", parts=tuple(parts))])
    return replace(table(caption, (first, "percent of rows"), lines), kind="bars", drawn=True)


def _examples(report: Report, examples: pl.DataFrame) -> Table:
    main = [*dict.fromkeys(examples["verdict"])][:MAIN_VERDICTS]
    shown = pl.concat(examples.partition_by("verdict", maintain_order=True))  # The groups of a verdict together.
    shown = only(shown, "verdict", [*main, Verdict.UNDECIDED.value, Verdict.REFERENCE_INVALID.value])
    columns: dict[str, Any] = {
        "verdict": lambda each: Cell(words(each["verdict"]), kind=each["verdict"]),
        f"row ({', '.join(report.by)})" if report.by else "row": lambda each: Cell(
            str(each["row"]), ", ".join(each[name] for name in report.by), row=each["row"]
        ),
        "detail, and the command that explains it": lambda each: Cell(
            each["detail"] or "", command=each["command"] or ""
        ),
    }
    return frame_table("Examples", shown, columns, texts=2)


def _sizes(report: Report) -> Section:
    _, names = main_kind(report.sizes)
    size = str(report.size)
    alone = only(at_level(report.sizes, report.by[:1], ()), "measure", names)
    caption = f"Percent of answers by {size}, all rows together"
    tables = [rate_table(caption, alone.drop(report.by[:1]).rename({"problem_size": size}), [size], opens=False)]
    shown = alone["problem_size"].unique(maintain_order=True).to_list()
    measure = main_measure(names)
    if report.by and len(shown) <= MOST_SIZES:
        caption = f"Percent {MEASURE_NAMES[measure]} by {report.by[0]} and {size}"
        rates = report.sizes.filter(measure=measure).select(report.by[0], "problem_size", "percent")
        tables.append(_by_group(caption, rates, dict(zip(shown, shown, strict=True)), _level))
    if report.abstraction.height:
        tables += _abstraction_tables(report, measure, shown)
    return Section(SIZES, (), tables)


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
        tables.append(_by_group(caption, rates, shown, _level))
    return tables[:MOST_SPLITS]


def _level(_name: str, percent: float | None) -> Value:
    """A percentage with a bar of its length."""
    if percent is None:
        return None
    return Cell(f"{percent:.1f}", parts=(Part(percent, "level", f"{percent:.1f} %"),))


def _metrics(report: Report, title: str, measures: Sequence[str], columns: Sequence[str], pair: str) -> Section:
    """Plans or domains: rates, why they fail, then means and quantiles of the metrics."""
    is_main = report.rates.height > 0 and set(main_kind(report.rates)[1]) <= set(measures)
    tables = [] if is_main else _rate_tables(report, f"Percent of {title.lower()}", measures, alone=True)
    frames = (report.outcomes, report.reasons, report.reason_examples)
    of_pair = [only(frame, "pair", [pair]).drop("pair", strict=False) for frame in frames]
    tables += _reason_tables(report, pair, *of_pair)
    frame = only(report.metrics, "metric", columns)
    if frame.height:
        statistics: dict[str, Any] = {"metric": lambda each: words(each["metric"]), "rows": "rows"}
        for name in ("mean", "sd", *QUANTILES):
            statistics[name] = lambda each, name=name: _metric(each["metric"], each[name])
        alone = at_level(frame, report.by[:1], ())
        tables.append(frame_table("Metrics, all rows together", alone, statistics))
        names = frame["metric"].unique(maintain_order=True).to_list()
        tables.append(_distributions(report, names))
        for first, start in product(report.by[:1], range(0, len(names), MOST_METRICS)):
            shown = {name: words(name) for name in names[start : start + MOST_METRICS]}
            means = frame.select(first, "metric", "mean")
            tables.append(_by_group(f"Means of metrics by {first}", means, shown, _metric))
    return Section(title, ["Rates, means and quantiles over the rows that have a value."], tables)


def _distributions(report: Report, names: Sequence[str]) -> Table:
    """A row of bars for each metric, as high as its bins are full; for pages."""
    alone = at_level(report.histograms, report.by[:1], ())
    lines: list[list[Value]] = []
    for name in names:
        known = alone.filter(metric=name).sort("value_from")
        labels = bin_labels(known.select("value_from", "value_to"), name in FRACTIONS)
        rows = dict(known.select("value_from", "rows").iter_rows())
        total, most = sum(rows.values()), max(rows.values())
        parts = [
            Part(100 * rows.get(start, 0) / most, "level", f"{label}: {rows.get(start, 0):,} of {row_count(total)}")
            for start, label in labels.items()
        ]
        ends = [*labels.values()]
        lines.append([words(name), Cell("", f"{ends[0]} to {ends[-1]}", parts=tuple(parts))])
    drawn = table("Distributions, all rows together", ("metric", "rows by value"), lines)
    return replace(drawn, kind="columns", drawn=True)


def bin_labels(known: pl.DataFrame, is_fraction: bool) -> dict[float, str]:
    """The labels of a histogram's bins (``.1–.2``, ``21–40``, ``> 40``), also of those in which there is nothing."""
    if is_fraction:
        bounds = ["0", *(f".{tenth}" for tenth in range(1, MOST_BINS)), "1"]
        return {place / MOST_BINS: f"{bounds[place]}–{bounds[place + 1]}" for place in range(MOST_BINS)}
    first, last = int(known["value_from"][0]), int(known["value_from"][-1])
    step = next((int(end - start) for start, end in known.iter_rows() if end is not None), 1)
    bins = Bins(first, step, last if known["value_to"].null_count() else None)
    return {float(start): bins.label(start) for start in range(first, last + 1, step)}


def _metric(name: str, value: float | None) -> Value:
    """Three decimals of a fraction, one of a number of steps."""
    return value if value is None else f"{value:.3f}" if name in FRACTIONS else f"{value:,.1f}"
