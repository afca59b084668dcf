"""The numbers of a report as polars frames: rates, comparisons of models, verdicts, sizes and metrics, by group.

What counts: a row whose reference is a mistake in the data (``reference_invalid``) is left out of every rate. A null
counts as no: a row that was not decided, or not scored at all, stays among the rows and is also counted as undecided,
so that the true rate is between ``percent`` and ``percent`` plus the share of the undecided. For an optional score
(``plan_valid``: there may be nothing to check a plan against) such rows are left out of its rates and only counted, and
so are rows whose reference domain is a mistake in the rates of domains. If nothing of a group was decided (solvability
not asked for), its rate is null. Every row has weight 1.

Answers to one reference are not independent: every interval and test counts references (``Scored.clusters``).

In every frame a null in a column to group by means all its values together.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, count, takewhile
from math import lcm
from typing import Any, Literal

import numpy as np
import polars as pl

from pddl_eval.errors import UserError, did_you_mean
from pddl_eval.report import intervals
from pddl_eval.report.groups import MISSING, at_level, group_at, group_key, in_order, levels
from pddl_eval.report.intervals import Numbers
from pddl_eval.report.scored import ROW, Scored
from pddl_eval.scoring.columns import (
    ANSWER_COLUMNS,
    DOMAIN_COLUMNS,
    FRACTIONS,
    MEASURES,
    OPTIONAL,
    PLAN_COLUMNS,
    PLAN_MEASURES,
    UNDECIDED_WITH,
)
from pddl_eval.shown import natural_key

MOST_MODELS = 30
"""Models compared with each other: nobody reads a table of more pairs."""

MOST_STEPS = 2520
"""Steps between 0 and 1 on which the means of up to ten samples lie, however many each; the test rounds others."""

MOST_QUESTIONS = 100
"""Questions that are listed as the hardest, and as solved by one model alone."""

LABEL_CHARACTERS = 200
"""How much of a question's id is shown, about: it can be the question."""

SIZES = {
    "size_bucket": "size",
    "num_objects": "objects",
    "reference_problem": "atoms in the reference",
    "reference_plan_length": "steps of the reference plan",
}
"""Columns that tell a problem's size, and what that is (atoms: the paper's measure, section 4.2).

The first that a dataset has is taken, unless another is asked for."""

QUANTILES = {"min": 0.0, "q25": 0.25, "median": 0.5, "q75": 0.75, "max": 1.0}

MOST_BINS = 10
"""Bins of a histogram or of sizes. Fractions have as many between 0 and 1, the last of them with 1 itself."""

VALUES = 2_000_000
"""Values of metrics that are in memory at a time, about 16 MB."""

ROWS = pl.len().cast(pl.Int64).alias("rows")

IN_ORDER: Literal["in-memory"] = "in-memory"
"""The engine that adds fractions in the order of the rows: the same sum each time."""

NOTHING = pl.DataFrame()

CLUSTER, QUESTION, CLASS = "pddl_eval.cluster", "pddl_eval.question", "pddl_eval.class"
"""Columns of ``read_answers``: the answer's reference, what it is paired with other models' on, its certificate."""


OF_SEARCH = ("solvable", "solves_reference")
"""Scores that are not computed with ``--no-check-solvable``: only what cannot be read has a value then."""


def measures(scored: Scored) -> tuple[str, ...]:
    """The yes-or-no scores that a dataset has, and that all of its rows were asked for."""
    asked = not any("|solvable:no" in (signature or "") for signature, _ in scored.signatures)
    return tuple(
        name for name in MEASURES if scored.schema.get(name) == pl.Boolean and (asked or name not in OF_SEARCH)
    )


def main_measure(names: Collection[str]) -> str:
    """The measure to show if there is room for only one: the strictest that was asked.

    >>> main_measure(["parseable", "equivalent_untyped", "equivalent"])
    'equivalent'
    """
    preferred = ("equivalent", "equivalent_untyped", "solvable", "parseable", *PLAN_MEASURES, *MEASURES)
    return next(name for name in preferred if name in names)


def read_answers(
    scored: Scored, by: Sequence[str], names: Sequence[str], **others: pl.Expr
) -> tuple[pl.DataFrame, str]:
    """The rows that count, in their order, and the column that clusters them.

    Of each row only its groups, measures and ``others``, and of its reference, question and answer a hash: some 50
    bytes. A measure is 1 for yes, 0 for no, null if undecided, and ``LEFT_OUT`` if the row does not count in it.
    """
    cluster, question, clusters = scored.clusters()
    answer = pl.col("certificate") if "certificate" in scored.schema else pl.lit(None, pl.String)
    rows = scored.frame.filter(scored.is_counted()).select(
        *map(group_key, by),
        *(_answer(scored, name) for name in names),
        **others,
        row=pl.col(ROW).cast(pl.Int64),
        **{CLUSTER: cluster, QUESTION: question, CLASS: pl.when(answer.is_not_null()).then(answer.hash())},
    )
    return rows.collect(engine="streaming"), clusters


LEFT_OUT = -1


def of_models(answers: pl.DataFrame, model: str | None, names: Sequence[str]) -> pl.DataFrame:
    """The answers but those that name no model, if nothing of them is decided: damaged lines are of no model."""
    if model is None or not names:
        return answers
    unnamed, decided = pl.col(model) == MISSING, pl.any_horizontal((pl.col(names) >= 0).fill_null(False))
    return answers if answers.select((unnamed & decided).any()).item() else answers.filter(~unnamed)


def counts_in(scored: Scored, name: str) -> pl.Expr:
    """True for the rows that the rate of a measure is of."""
    counted = scored.is_counted() & scored.is_counted(name)
    return counted & pl.col(name).is_not_null() if name in OPTIONAL else counted


def _answer(scored: Scored, name: str) -> pl.Expr:
    return (
        pl.when(~counts_in(scored, name)).then(LEFT_OUT).otherwise(as_counted(scored, name)).cast(pl.Int8).alias(name)
    )


def as_counted(scored: Scored, name: str) -> pl.Expr:
    """A score as it counts: a null is false where nothing is open (``UNDECIDED_WITH``)."""
    value, other = pl.col(name), UNDECIDED_WITH.get(name)
    if other is None or scored.schema.get(other) != pl.Boolean:
        return value
    return value.fill_null(pl.when(pl.col(other).is_not_null()).then(False))


def _right(name: str) -> pl.Expr:
    """Whether answers are right (undecided: no), null if they do not count."""
    return pl.when(pl.col(name).ne_missing(LEFT_OUT)).then(pl.col(name).fill_null(0)).cast(pl.Int64).alias(name)


def rates(
    answers: pl.DataFrame, by: Sequence[str], names: Sequence[str], at: Iterable[Sequence[str]] | None = None
) -> pl.DataFrame:
    """One row for each group and each measure, with its rate; ``answers`` as ``read_answers`` reads them.

    ``rows``, ``yes``, ``undecided``, ``references``, ``percent`` with ``low`` and ``high`` (95 %, clustered by
    reference; null for several answers to one reference). A measure without any decided value is left out.

    >>> from pddl_eval.report.scored import open_scored
    >>> rows = open_scored(pl.DataFrame({"parseable": [True] * 8 + [False] * 2}))
    >>> found = rates(read_answers(rows, [], ["parseable"])[0], [], ["parseable"])
    >>> found.select("percent", pl.col("low", "high").round(1)).row(0)
    (80.0, 49.0, 94.3)
    """
    if not names or answers.is_empty():
        return NOTHING
    counts = [each for name in names for each in _counts(name)]
    moments = {name: pl.struct(*_moments(name)) for name in names}
    parts = []
    for level in levels(by) if at is None else at:
        references = group_at(answers.lazy(), by, [CLUSTER], *counts, at=[level])
        groups = group_at(references, by, [], at=[by], **moments)
        of = [groups.select(*by, pl.lit(name).alias("measure"), pl.col(name).struct.unnest()) for name in names]
        parts.append(pl.concat(of).collect())  # One level after the other, for the memory.
    bounds = pl.col("percent", "low", "high")
    counted = pl.concat(parts)
    if by:  # A damaged line has no model and no verdict: it counts as undecided, and is no group of its own.
        unnamed = pl.any_horizontal(pl.col(by).eq_missing(pl.lit(MISSING)))
        counted = counted.filter(~unnamed | (pl.col(DECIDED).sum().over(by) > 0))
    found = (
        intervals.with_interval(counted)
        .lazy()
        .with_columns(pl.when(pl.col(DECIDED) > 0).then(bounds * 100))
        .filter((pl.col(DECIDED) > 0).any().over("measure"))
        .sort(_place_of_measure())
        .select(*by, "measure", "rows", pl.col("yes").cast(pl.Int64), "undecided", "references", bounds)
        .collect()
    )
    return in_order(found, by)


ALL, UNDECIDED, DECIDED = "pddl_eval.all", "pddl_eval.undecided", "pddl_eval.decided"


def _counts(name: str) -> Iterator[pl.Expr]:
    """Of the answers to one reference: how many count, and how many are right, decided, or not."""
    value = pl.col(name)
    decided = (value >= 0).fill_null(False)
    counts = {f"{ALL} {name}": value.ne_missing(LEFT_OUT), name: value == 1}
    counts |= {f"{DECIDED} {name}": decided, f"{UNDECIDED} {name}": ~decided}
    yield from (count.sum().cast(pl.Int64).alias(each) for each, count in counts.items())


def _moments(name: str) -> list[pl.Expr]:
    open_, known = (pl.col(f"{each} {name}").sum() for each in (UNDECIDED, DECIDED))
    moments = intervals.moments(pl.col(name), pl.col(f"{ALL} {name}"))
    return [*moments, open_.alias("undecided"), known.alias(DECIDED)]


def macro(rates: pl.DataFrame, by: Sequence[str], domain: str | None) -> pl.DataFrame:
    """The mean of the rates of all domains, each with the same weight: the paper's number (its figure 3).

    ``domains`` and ``percent`` with ``low`` and ``high``, by measure, for all rows together and by the first other
    column to group by. Empty if there are not several domains.
    """
    if domain is None or rates.is_empty():
        return NOTHING
    others = [name for name in by if name != domain][:1]
    bounds = [pl.col("percent").mean(), *intervals.mover(*map(pl.col, ("percent", "low", "high")))]
    means = [each.alias(name) for each, name in zip(bounds, ("percent", "low", "high"), strict=True)]
    found = pl.concat(
        at_level(rates, by, [*level, domain])
        .drop_nulls("percent")
        .group_by([*others, "measure"], maintain_order=True)
        .agg(pl.len().cast(pl.Int64).alias("domains"), *means)
        for level in levels(others)
    )
    return in_order(found, others).filter(pl.col("domains").max() > 1)


def differences(answers: pl.DataFrame, model: str | None, names: Sequence[str]) -> pl.DataFrame:
    """The models compared with each other on the questions that both answered.

    One row for each measure and each two models that share questions (``Scored.clusters``). Each question
    (``references``) has the same weight, with the mean of a model's answers to it: rates over all answers may differ.
    ``difference`` is the first's percent minus the second's, with ``low`` and ``high`` (95 %, null for one question).
    ``first_better`` and ``second_better`` count the questions on which that model has the higher mean. ``p`` is the
    exact test of the differences (``intervals.sign_flips``; with one answer each McNemar's), ``p_holm`` is corrected
    for all pairs of models. A measure without any decided value of a model is not compared.
    """
    parts = []
    for name, pairs in _sides(answers, model, names):
        found = []
        for named, share, times in pairs:
            known = paired_means(share[0], share[1], times)
            percents = {to: None if known[each] is None else 100 * known[each] for each, to in _PERCENTS.items()}
            counts = {each: known[each] for each in ("first_better", "second_better", "p")}
            found.append({**named, "measure": name, "references": known["references"], **percents, **counts})
        corrected = intervals.holm([each["p"] for each in found])
        parts += [{**each, "p_holm": p_value} for each, p_value in zip(found, corrected, strict=True)]
    return pl.DataFrame(parts)


def _sides(
    answers: pl.DataFrame, model: str | None, names: Sequence[str]
) -> Iterator[tuple[str, list[tuple[dict[str, str], Numbers, Numbers]]]]:
    """By measure, each two models for which it is decided and that share questions.

    Of each shared question the means of both models' answers, and how many these are.
    """
    models = sorted({*answers[model]}, key=natural_key) if model and not answers.is_empty() else []
    if not model or not 2 <= len(models) <= MOST_MODELS:
        return
    rows, right = answers.lazy(), [_right(name) for name in names]
    is_decided, means = pl.collect_all(
        [
            rows.group_by(model).agg((pl.col(names) >= 0).any()),
            rows.filter(pl.col(QUESTION).is_not_null())
            .group_by(model, QUESTION)
            .agg(*(each.mean() for each in right), *(each.count().name.suffix(_TIMES) for each in right)),
        ]
    )
    decided = {each[model]: each for each in is_decided.to_dicts()}
    asked, question = np.unique(means[QUESTION].to_numpy(), return_inverse=True)
    who = means[model].replace_strict(models, range(len(models))).to_numpy()
    for name in names:
        share, times = np.full((2, len(models), len(asked)), np.nan)  # NaN where a model did not answer
        share[who, question], times[who, question] = means[name].to_numpy(), means[name + _TIMES].to_numpy()
        pairs = []
        for pair in combinations([place for place, each in enumerate(models) if decided[each][name]], 2):
            both = ~np.isnan(share[[*pair]]).any(axis=0)
            if both.any():
                named = dict(zip(("first", "second"), (models[each] for each in pair), strict=True))
                pairs.append((named, share[[*pair]][:, both], times[[*pair]][:, both]))
        yield name, pairs


def power(answers: pl.DataFrame, model: str | None, names: Sequence[str], points: float) -> pl.DataFrame:
    """What differences between two models the questions can show, by the strictest measure.

    For each two models with at least two shared ``questions``: their ``samples`` a question (mean), the smallest
    difference that a test at 5 % finds with 80 % (``detectable``, in points), and how many questions would find
    ``points``: with as many samples, and with so many that chance within a question is gone (``questions_needed``,
    ``with_endless_samples``; null with one sample, where what is between and what is within questions is not told
    apart). The spread is that of the paired differences, as the models show it.

    Source: E. Miller, Adding Error Bars to Evals (2024), section 5.
    """
    found = []
    for name, pairs in _sides(answers, model, [main_measure(names)] if names else []):
        for named, mean, size in pairs:
            questions = mean.shape[1]
            if questions < 2:
                continue
            spread = float(np.var(mean[0] - mean[1], ddof=1))
            several = size.min() > 1
            within = float((mean * (1 - mean) / (size - 1)).sum(axis=0).mean()) if several else 0.0
            step, endless = 1 / lcm(*map(int, np.unique(size))), max(spread - within, 0.0)
            found.append(
                {
                    **named,
                    "measure": name,
                    "questions": questions,
                    "samples": float(size.mean()),
                    "detectable": 100 * intervals.detectable(spread, questions, step),
                    "points": points,
                    "questions_needed": intervals.references_needed(spread, points / 100, step),
                    "with_endless_samples": intervals.references_needed(endless, points / 100, 0) if several else None,
                }
            )
    return pl.DataFrame(found)


_TIMES = " pddl_eval.times"
_PERCENTS = {"first": "first_percent", "second": "second_percent"} | {
    each: each for each in ("difference", "low", "high")
}


def paired_means(first: Numbers, second: Numbers, times: Numbers, step: float | None = None) -> dict[str, Any]:
    """What two sides differ in over the ``references`` that both have, each with the same weight.

    Of each reference ``first`` and ``second`` are the two sides' means of its values, ``times`` how many these are: of
    yes and no, or multiples of ``step``. ``difference`` is the ``first`` mean of them less the ``second``, with
    ``low``, ``high`` and ``p`` of ``intervals.paired``; ``first_better`` and ``second_better`` count references.
    """
    # In an order that is not that of the rows: a sum of fractions depends on it.
    order = np.lexsort((second, first))
    gaps = (first - second)[order]
    mean, other = (float(pl.Series(each[order]).mean()) for each in (first, second))  # type: ignore[arg-type]
    samples = lcm(*map(int, np.unique(times)))
    return {
        "references": len(gaps),
        "first": mean,
        "second": other,
        **intervals.paired(gaps, step=step or 1 / min(samples, MOST_STEPS)),
        "difference": mean - other,
        "first_better": int((gaps > 0).sum()),
        "second_better": int((gaps < 0).sum()),
    }


def questions(
    scored: Scored, answers: pl.DataFrame, model: str | None, names: Sequence[str]
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Which models solve which question, by the strictest measure: a model does if one of its answers is right.

    The hardest questions, and those that one model alone solves: a line for each of them and each model, with
    ``question`` (its ``reference_id``, else its first row), ``solved_by`` (of how many models), the ``percent`` of
    the model's ``rows`` that are right, and the first such ``row``. And how many ``questions`` are ``solved_by`` that
    many models, by the model if it is one. Only questions that all models answered; empty without two models.
    """
    known = [name for name in names if (answers[name] >= 0).any()]
    if model is None or not known:
        return NOTHING, NOTHING
    name = main_measure(known)
    each = (
        answers.lazy()
        .filter(pl.col(QUESTION).is_not_null())
        .select(model, QUESTION, _right(name), "row")
        .drop_nulls(name)
        .group_by(QUESTION, model)
        .agg((100 * pl.col(name).mean()).alias("percent"), ROWS, pl.col("row").min())
        .collect()
    )
    models = each[model].n_unique()
    solves = pl.col("percent") > 0
    asked = (
        each.lazy()
        .group_by(QUESTION)
        .agg(
            solves.sum().cast(pl.Int64).alias("solved_by"),
            pl.col(model).filter(solves).first().alias(_ALONE),
            pl.col("percent").mean().alias(_MEAN),
            pl.col("row").min().alias(_FIRST),
            pl.len().alias(_MODELS),
        )
        .filter(pl.col(_MODELS) == models)
        .sort("solved_by", _MEAN, _FIRST)
        .collect(engine=IN_ORDER)
    )
    if asked.is_empty() or not 2 <= models <= MOST_MODELS:
        return NOTHING, NOTHING
    alone = pl.when(pl.col("solved_by") == 1).then(pl.col(_ALONE)).alias(model)
    counts = asked.lazy().group_by("solved_by", alone).agg(pl.len().cast(pl.Int64).alias("questions"))
    parts = [asked.lazy().head(MOST_QUESTIONS), asked.lazy().filter(solved_by=1).head(MOST_QUESTIONS)]
    chosen = pl.concat(parts).unique(QUESTION, maintain_order=True).collect()
    given = scored.column("reference_id")
    label = pl.format("row {}", ROW) if given is None else pl.col(given).cast(pl.String)
    labels = scored.frame.filter(pl.col(ROW).is_in(chosen[_FIRST].to_list())).select(
        pl.col(ROW).cast(pl.Int64).alias(_FIRST), question_label(label).alias("question")
    )
    found = (
        chosen.lazy()
        .join(labels.collect(engine="streaming").lazy(), on=_FIRST, how="left", maintain_order="left")
        .with_row_index(_PLACE)
        .join(each.lazy(), on=QUESTION)
        .sort(_PLACE, model)
        .select("question", "solved_by", model, "rows", "percent", "row")
    )
    lines, solved = pl.collect_all([found, counts.sort("solved_by", model)])
    return lines, solved


def question_label(asked: pl.Expr) -> pl.Expr:
    """A question's id without its middle if it is long: questions can begin with the same instructions."""
    half = LABEL_CHARACTERS // 2
    cut = pl.concat_str(asked.str.head(half), asked.str.tail(half), separator=" … ")
    return pl.when(asked.str.len_chars() > LABEL_CHARACTERS).then(cut).otherwise(asked)


_ALONE, _MEAN, _FIRST, _MODELS, _PLACE = (f"pddl_eval.{name}" for name in ("alone", "mean", "first", "models", "place"))


def pass_at_k(answers: pl.DataFrame, model: str | None, names: Sequence[str]) -> pl.DataFrame:
    """The chance that one of k samples is right, by model and measure: the mean over the references.

    ``k`` is 1, 2, 5, 10, … as long as half of the model's references have as many samples; ``references`` are those
    that have, ``percent`` has ``low`` and ``high`` (95 %). Empty if no model has several samples for a reference.
    """
    if model is None or answers.is_empty():
        return NOTHING
    n, parts = pl.col("n"), list[pl.LazyFrame]()
    for name in names:
        right = _right(name)
        counts = {"n": right.count().cast(pl.Int64), "c": right.sum()}
        # Sorted, for the sum of fractions depends on their order.
        samples = answers.lazy().group_by(model, CLUSTER).agg(**counts).filter(n > 0).sort("n", "c").collect()
        steps = (step * 10**power for power in count() for step in (1, 2, 5))
        most = samples["n"][-1] if samples.height else 1
        for k in takewhile(most.__ge__, steps) if most > 1 else ():
            # Of a model, at least half of the references must have as many samples.
            has = n >= k
            half = 2 * has.sum().over(model) >= pl.len().over(model)
            chance = pl.Series("chance", intervals.pass_at_k(samples["n"], samples["c"], k), nan_to_null=True)
            enough = samples.lazy().with_columns(chance).filter(has, half)
            of_model = enough.group_by(model, pl.lit(name).alias("measure"), pl.lit(k, pl.Int64).alias("k"))
            parts.append(of_model.agg(*_mean("chance", n.sum())))
    if not parts:
        return NOTHING
    found = intervals.with_interval(pl.concat(parts).sort(_place_of_measure(), "k").collect(engine=IN_ORDER))
    return in_order(found.select(model, "measure", "k", "references", pl.col("percent", "low", "high") * 100), [model])


def majority(answers: pl.DataFrame, model: str | None) -> pl.DataFrame:
    """How often the commonest of a model's answers is right, over the references with several samples.

    Answers are one if their certificates are equal; those without a certificate do not vote. In a tie
    (``ties``) the vote counts with the mean of the answers in it. ``references``, ``percent``, ``low`` and ``high``.
    """
    if model is None or answers.is_empty() or not {"equivalent", CLASS} <= set(answers.columns):
        return NOTHING
    if answers[CLASS].null_count() == answers.height:
        return NOTHING
    several = answers.lazy().filter(pl.len().over(model, CLUSTER) > 1)
    classes = several.group_by(model, CLUSTER, CLASS).agg(
        pl.when(pl.col(CLASS).is_not_null().first()).then(pl.len()).otherwise(0).alias("votes"),
        _right("equivalent").mean(),
    )
    commonest = pl.col("votes") == pl.col("votes").max()
    chosen = pl.col("equivalent").filter(commonest & (pl.col("votes") > 0))
    votes = (
        classes.group_by(model, CLUSTER)
        .agg(
            chosen.mean().fill_null(0.0).alias("chance"),
            (chosen.len() > 1).alias("tied"),
        )
        .sort("chance")
        .group_by(model)
        .agg(*_mean("chance", 2 * pl.len()), pl.col("tied").sum().cast(pl.Int64).alias("ties"))
        .collect(engine=IN_ORDER)
    )
    if votes.is_empty():
        return NOTHING
    return in_order(
        intervals.with_interval(votes).select(model, "references", "ties", pl.col("percent", "low", "high") * 100),
        [model],
    )


def _mean(name: str, distinct: pl.Expr) -> list[pl.Expr]:
    """The mean of a value of each reference, for its interval; ``distinct`` is the number of distinct answers."""
    return intervals.moments(pl.col(name), pl.col(name).is_not_null(), distinct)


@dataclass(frozen=True, slots=True)
class Bins:
    """Bins of whole numbers, ``step`` wide from ``first`` on; ``last`` is where an open last bin begins, or None."""

    first: int
    step: int
    last: int | None

    def start(self, value: pl.Expr) -> pl.Expr:
        """The smallest number in the bin of each value."""
        starts = (value - self.first) // self.step * self.step + self.first
        return starts if self.last is None else starts.clip(upper_bound=self.last)

    def label(self, start: int) -> str:
        """The name of the bin that begins there.

        >>> [Bins(1, 20, 81).label(start) for start in (1, 21, 81)]
        ['1–20', '21–40', '> 80']
        """
        if start == self.last:
            return f"> {start - 1}"
        return f"{start}" if self.step == 1 else f"{start}–{start + self.step - 1}"


def choose_bins(values: pl.DataFrame) -> Bins:
    """At most ten bins for whole numbers ``value`` that occur ``rows`` times, each 1, 2, 5, 10, 20, … wide.

    The largest 2 % share the last bin if they would need more, so that an outlier does not squeeze the rest.

    >>> choose_bins(pl.DataFrame({"value": [1, 45, 90, 2000], "rows": [500, 300, 199, 1]}))
    Bins(first=1, step=10, last=91)
    """
    order = np.argsort(values["value"].to_numpy())
    ordered, rows = (values[name].to_numpy()[order] for name in ("value", "rows"))
    smallest, largest = int(ordered[0]), int(ordered[-1])
    common = int(ordered[np.searchsorted(rows.cumsum(), 0.98 * rows.sum())])

    def first(step: int) -> int:
        """Where the first bin begins: at 1, 21, … for positive numbers, at a multiple of the step for others."""
        offset = 0 if smallest <= 0 or step == 1 else 1
        return int((smallest - offset) // step * step + offset)

    steps = (step * 10**power for power in count() for step in (1, 2, 5))
    step = next(step for step in steps if (common - first(step)) // step + 1 < MOST_BINS)
    last = first(step) + ((common - first(step)) // step + 1) * step
    return Bins(first(step), step, last if last <= largest else None)


def number_of_atoms(problem: pl.Expr) -> pl.Expr:
    """How many atoms a PDDL problem lists: the opening parentheses that open neither a section nor ``and``.

    >>> text = "(define (problem p) (:domain d) (:objects a b) (:init (on a b) (clear a)) (:goal (and (clear b))))"
    >>> pl.DataFrame({"problem": [text]}).select(number_of_atoms(pl.col("problem"))).item()
    3
    """
    opened = problem.str.count_matches(r"\(\s*[^\s():]")
    return opened.cast(pl.Int64) - problem.str.count_matches(r"(?i)\(\s*(?:define|problem|and)\b").cast(pl.Int64)


def size_of(scored: Scored, column: str | None) -> tuple[str, pl.Expr] | None:
    """The column of ``SIZES`` that tells the size (``column``, else the first that there is), and each row's size.

    Raises ``UserError`` if there is no such column.
    """
    if column is not None and column not in SIZES:
        raise UserError(f"no measure of size is named {column}; {did_you_mean(column, SIZES, 'measures')}")
    if column is not None:
        scored.require(scored.names.get(column, column))
    for meaning in SIZES if column is None else (column,):
        name = scored.column(meaning)
        if name is not None:
            if meaning == "reference_problem":
                return meaning, number_of_atoms(pl.col(name))
            return meaning, pl.col(name).cast(pl.Int64 if scored.schema[name].is_numeric() else pl.String)
    return None


def with_bins(answers: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The answers with ``problem_size``, the name of the bin of their ``size``, and the bins in their order.

    The bins have ``problem_size`` and ``size_from``, the smallest number in it (null if sizes are labels).
    """
    counts = answers.select(value="size").drop_nulls().group_by("value").agg(ROWS)
    if answers["size"].dtype.is_numeric() and counts.height:
        chosen = choose_bins(counts)
        start = chosen.start(pl.col("size"))
        found = counts.select(chosen.start(pl.col("value")).unique().sort()).to_series().to_list()
        labels = {each: chosen.label(each) for each in found}
    else:
        start = pl.col("size")
        labels = {value: value for value in sorted(counts["value"], key=natural_key)}
        found = [None] * len(labels)
    bins = pl.DataFrame({"problem_size": [*labels.values()], "size_from": found}, schema=BINS)
    label = start.replace_strict(labels, default=None, return_dtype=pl.String) if labels else pl.lit(None, pl.String)
    return answers.with_columns(label.alias("problem_size")), bins


BINS = {"problem_size": pl.String, "size_from": pl.Int64}


def rates_by_size(answers: pl.DataFrame, bins: pl.DataFrame, by: Sequence[str], names: Sequence[str]) -> pl.DataFrame:
    """Rates by size, smallest first, of all rows and by the first column to group by.

    ``problem_size`` names the bin, ``size_from`` is the smallest number in it (null if sizes are labels).
    """
    first = by[:1]
    at = [(*level, "problem_size") for level in levels(first)]
    found = rates(answers.drop_nulls("problem_size"), [*first, "problem_size"], names, at)
    if found.is_empty():
        return NOTHING
    found = found.join(bins, on="problem_size", how="left").sort(_place_of_measure(), _place_of_size(bins))
    return in_order(found.select(*first, *BINS, pl.exclude(*first, *BINS)), first)


def abstraction_of(scored: Scored) -> pl.Expr | None:
    """How abstract each row's description is, such as ``explicit-abstract`` (initial state, goal); None if unknown.

    From the column ``abstractness``, or from Planetarium's ``init_is_abstract`` and ``goal_is_abstract``.
    """
    if scored.column("abstractness") is not None:
        return group_key("abstractness")
    flags = ("init_is_abstract", "goal_is_abstract")
    if any(scored.schema.get(name) != pl.Boolean for name in flags):
        return None
    words = [pl.when(name).then(pl.lit("abstract")).otherwise(pl.lit("explicit")) for name in flags]
    return pl.concat_str(words, separator="-")


def rates_by_abstraction(
    answers: pl.DataFrame, bins: pl.DataFrame, by: Sequence[str], names: Sequence[str]
) -> pl.DataFrame:
    """Rates by how abstract the description is and by size: the split of the paper's dataset in its table 1.

    Columns as those of ``rates``, by the first column to group by, ``abstraction`` and ``problem_size``.
    """
    first = by[:1]
    splits = (("abstraction",), ("abstraction", "problem_size"))[: 2 if bins.height else 1]
    at = [(*level, *split) for level in levels(first) for split in splits]
    found = rates(answers, [*first, "abstraction", "problem_size"], names, at)
    if found.is_empty():
        return NOTHING
    return in_order(found.sort(_place_of_measure(), "abstraction", _place_of_size(bins)), first)


def _place_of_measure() -> pl.Expr:
    return pl.col("measure").cast(pl.Enum(MEASURES))


def _place_of_size(bins: pl.DataFrame) -> pl.Expr:
    return pl.col("problem_size").cast(pl.Enum(bins["problem_size"]))


def metrics(scored: Scored, by: Sequence[str], only: Sequence[str] | None = None) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Summaries and histograms of the numeric plan and domain scores (or ``only`` some) that have a value anywhere.

    Both are of all rows and by the first column to group by. A summary has mean, standard deviation and quantiles; a
    histogram has ``rows`` in bins from ``value_from`` up to but without ``value_to`` (null: no end).
    """
    by, value, rows = by[:1], pl.col("value"), pl.col("rows")
    known = {name for name, type_ in scored.schema.items() if type_.is_numeric() and (only is None or name in only)}
    names = [name for name in (*PLAN_COLUMNS, *DOMAIN_COLUMNS, *ANSWER_COLUMNS) if name in known]
    at_a_time = max(1, VALUES // max(1, scored.rows))
    parts = list[pl.DataFrame]()
    for first in range(0, len(names), at_a_time):
        given = {
            name: pl.when(scored.is_counted(name)).then(pl.col(name).cast(pl.Float64).fill_nan(None))
            for name in names[first : first + at_a_time]
        }
        read = scored.frame.select(*map(group_key, by), **given).collect(engine="streaming")
        # A score has few values: from here on, each with how often it occurs.
        parts += pl.collect_all(
            read.lazy().group_by(*by, pl.lit(name).alias("metric"), pl.col(name).alias("value")).agg(ROWS).drop_nulls()
            for name in given
        )
    counts = pl.concat(parts).sort("value", *by) if parts else NOTHING  # in one order, for sums of floats
    if counts.is_empty():
        return NOTHING, NOTHING
    metric = pl.col("metric").cast(pl.Enum(names))
    summary = group_at(counts.lazy(), by, ["metric"], rows.sum(), *_statistics(value, rows)).sort(metric)
    whole = counts.filter(~pl.col("metric").is_in(list(FRACTIONS)))
    whole = whole.group_by("metric", value.cast(pl.Int64)).agg(rows.sum())
    bins = {name: choose_bins(part) for (name,), part in whole.partition_by("metric", as_dict=True).items()}
    histogram = pl.concat(
        _histogram(part.lazy(), by, str(name), bins.get(name))
        for (name,), part in counts.partition_by("metric", as_dict=True).items()
    )
    binned = in_order(histogram.collect(engine=IN_ORDER), by, "value_from").sort(metric, maintain_order=True)
    return in_order(summary.collect(engine=IN_ORDER), by), binned


def _statistics(value: pl.Expr, rows: pl.Expr) -> Iterator[pl.Expr]:
    """Mean, standard deviation and quantiles of values, ascending, that occur ``rows`` times each."""
    all_rows, up_to = rows.sum(), rows.cum_sum()
    # From the first value, so that equal values have exactly that mean and a deviation of 0.
    mean = value.first() + ((value - value.first()) * rows).sum() / all_rows
    yield mean.alias("mean")
    squares = ((value - mean).pow(2) * rows).sum()
    yield pl.when(all_rows > 1).then((squares / (all_rows - 1)).sqrt()).alias("sd")
    for name, share in QUANTILES.items():
        place = share * (all_rows - 1)
        low, high = (value.filter(up_to > each).first() for each in (place.floor(), place.ceil()))
        yield (low + (high - low) * (place - place.floor())).alias(name)


def _histogram(values: pl.LazyFrame, by: Sequence[str], name: str, bins: Bins | None) -> pl.LazyFrame:
    """How many values of a metric, counted, are in each bin; without ``bins`` they are fractions."""
    value, start, last = pl.col("value"), pl.col("value_from"), None
    if bins is None:
        # A millionth keeps 0.3 * 10 = 2.9999… in its bin.
        tenth = (value * MOST_BINS + 1e-6).floor().clip(0, MOST_BINS - 1)
        starts, width = (tenth / MOST_BINS).round(1), 1 / MOST_BINS
    else:
        starts, width, last = bins.start(value.cast(pl.Int64)).cast(pl.Float64), float(bins.step), bins.last
    end = (start + width).round(1)
    ends = end if last is None else pl.when(start < last).then(end)
    found = group_at(values, by, [pl.lit(name).alias("metric"), starts.alias("value_from")], pl.col("rows").sum())
    return found.select(*by, "metric", "value_from", ends.alias("value_to"), "rows")
