"""The numbers of a report as polars frames: rates, differences, verdicts, sizes and metrics, by group.

What counts: a row whose reference is a mistake in the data (``reference_invalid``) is left out of every rate. For a
problem, a null counts as no: a row that was not decided, or not scored at all, stays among the rows and is also counted
as undecided, so that the true rate is between ``percent`` and ``percent`` plus the share of the undecided. For a plan,
a null means that there was nothing to check it against: such rows are left out of the plan's rates and only counted as
undecided. If nothing of a group was decided (solvability not asked for), its rate is null. Every row has weight 1.

In every frame a null in a column to group by means all its values together.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, count

import polars as pl

from pddl_eval.report.groups import group_at, group_key, in_order
from pddl_eval.report.intervals import paired_difference, wilson
from pddl_eval.report.scored import DOMAIN_COLUMNS, FRACTIONS, PLAN_COLUMNS, ROW, Scored
from pddl_eval.shown import natural_key
from pddl_eval.verdict import Verdict

PROBLEM_MEASURES = ("parseable", "solvable", "equivalent", "equivalent_untyped")
PLAN_MEASURES = ("plan_valid", "goal_reached")
MEASURES = PROBLEM_MEASURES + PLAN_MEASURES

PAIRING_COLUMNS = ("pair_id", "id", "reference_problem", "reference_plan")
"""Columns that may identify a problem: the first with values that two models share is taken."""

MOST_MODELS = 30
"""Models compared with each other: nobody reads a table of more pairs."""

EXAMPLES = 3
"""Rows shown of each verdict, of different kinds of detail if there are enough."""

MOST_KINDS = 200
"""Kinds of detail in the report, the commonest of all."""

DETAIL_CHARACTERS = 400
"""How much of a detail is looked at and shown: it may quote a whole answer."""

SIZES = {
    "size_bucket": "size",
    "num_objects": "objects",
    "reference_problem": "atoms in the reference",
    "reference_plan_length": "steps of the reference plan",
}
"""Columns that tell a problem's size, and what that is (atoms: the paper's measure, section 4.2).

The first that a dataset has is taken."""

QUANTILES = {"min": 0.0, "q25": 0.25, "median": 0.5, "q75": 0.75, "max": 1.0}

MOST_BINS = 10
"""Bins of a histogram or of sizes. Fractions have as many between 0 and 1, the last of them with 1 itself."""

ROWS = pl.len().cast(pl.Int64).alias("rows")

NOTHING = pl.DataFrame()


def measures(schema: Mapping[str, pl.DataType]) -> tuple[str, ...]:
    """The yes-or-no scores that a dataset has."""
    return tuple(name for name in MEASURES if schema.get(name) == pl.Boolean)


def main_measure(names: Sequence[str]) -> str:
    """The measure to show if there is room for only one: the strictest that was asked.

    >>> main_measure(["parseable", "equivalent_untyped", "equivalent"])
    'equivalent'
    """
    preferred = ("equivalent", "equivalent_untyped", "solvable", "parseable", *reversed(PLAN_MEASURES))
    return next(name for name in preferred if name in names)


def count_rows(rows: pl.LazyFrame, keys: Sequence[str | pl.Expr], names: Sequence[str]) -> pl.DataFrame:
    """By some keys: how many ``rows`` there are, and of each measure a struct, how many are yes and undecided."""
    tallies = [
        pl.struct(
            pl.lit(name).alias("measure"),
            pl.col(name).sum().cast(pl.Int64).alias("yes"),
            pl.col(name).null_count().cast(pl.Int64).alias("undecided"),
        ).alias(name)
        for name in names
    ]
    return group_at(rows, (), keys, ROWS, *tallies).collect(engine="streaming")


def rates(counts: pl.DataFrame, by: Sequence[str], names: Sequence[str], *keys: str) -> pl.DataFrame:
    """One row for each group, each value of the keys and each measure, with its rate.

    ``rows``, ``yes``, ``undecided``, ``percent`` with ``low`` and ``high`` (Wilson, 95 %). A measure without
    any decided value is left out.

    >>> frame = pl.LazyFrame({"parseable": [True] * 8 + [False] * 2})
    >>> found = rates(count_rows(frame, [], ["parseable"]), [], ["parseable"])
    >>> found.select("percent", pl.col("low", "high").round(1)).row(0)
    (80.0, 49.0, 94.3)
    """
    if not names:
        return NOTHING
    long = counts.with_columns(pl.concat_list(names).alias("tally")).explode("tally").unnest("tally")
    rows, yes, decided = pl.col("rows"), pl.col("yes"), pl.col("rows") - pl.col("undecided")
    low, high = wilson(yes.cast(pl.Float64), rows)
    shares = {"percent": yes / rows, "low": low, "high": high}
    of_plans = pl.col("measure").is_in(PLAN_MEASURES)
    found = (
        group_at(long, by, [*keys, "measure"], pl.col("rows", "yes", "undecided").sum())
        .with_columns(pl.when(of_plans).then(decided).otherwise(rows).alias("rows"), (decided > 0).alias(_DECIDED))
        .with_columns(pl.when(_DECIDED).then(100 * each.clip(0, 1)).alias(what) for what, each in shares.items())
        .filter(pl.col(_DECIDED).any().over("measure"))
        .sort(pl.col("measure").cast(pl.Enum(MEASURES)), *keys)
    )
    return in_order(found.select(*by, *keys, "measure", "rows", "yes", "undecided", *shares), by)


_DECIDED = "pddl_eval.decided"


def differences(
    scored: Scored, by: Sequence[str], names: Sequence[str], counts: pl.DataFrame, pair_on: str | None
) -> tuple[pl.DataFrame, str | None]:
    """The models (values of the first column to group by) compared, and the column that problems were paired on.

    That column is ``pair_on``, else the first of ``PAIRING_COLUMNS`` with values that two models share. There is
    one row for each measure and each two models that share problems: the first's percent minus the second's.

    Two models are compared over the problems that both answered, each problem with the same weight however often it was
    answered; rates over all their answers may differ from these. ``low`` and ``high`` bound the difference (percentage
    points, 95 %, paired bootstrap); ``only_first`` and ``only_second`` count the problems on which that model alone did
    better. A measure without any decided value of a model is not compared.

    Raises ``UserError`` if there is no column ``pair_on``.
    """
    if pair_on is not None:
        scored.require(pair_on)
    compares = by and names and 2 <= counts[by[0]].n_unique() <= MOST_MODELS
    for key in (PAIRING_COLUMNS if pair_on is None else (pair_on,)) if compares else ():
        if key in scored.schema and not scored.schema[key].is_nested():
            found = _differences(scored, by[0], key, names)
            if not found.is_empty():
                return found, key
    return NOTHING, None


def _differences(scored: Scored, model: str, key: str, names: Sequence[str]) -> pl.DataFrame:
    answers = (
        scored.frame.filter(scored.is_counted() & pl.col(key).is_not_null())
        # A problem may be a long text, so a hash of 64 bits replaces it.
        .group_by(group_key(model), pl.col(key).hash().alias("pddl_eval.problem"))
        .agg(
            *(pl.col(name).mean() if name in PLAN_MEASURES else pl.col(name).sum() / pl.len() for name in names),
            *(pl.col(name).is_not_null().any().alias(f"{name}:decided") for name in names),
        )
        .collect(engine="streaming")
    )
    models = sorted(answers[model].unique(), key=natural_key)
    found = []
    for name in names:
        known = set(answers.filter(f"{name}:decided")[model].unique())
        shares = answers.pivot(model, index="pddl_eval.problem", values=name)
        for first, second in combinations([each for each in models if each in known], 2):
            both = shares.select(pl.col(first).alias("first"), pl.col(second).alias("second")).drop_nulls()
            if both.height:
                found.append({"first": first, "second": second, "measure": name, **_difference(both)})
    return pl.DataFrame(found)


def _difference(both: pl.DataFrame) -> dict[str, float]:
    first, second = both.select(pl.col("first", "second").mean() * 100).row(0)
    found = paired_difference(both["first"] - both["second"])
    return {
        "problems": both.height,
        "first_percent": first,
        "second_percent": second,
        "difference": first - second,
        "low": 100 * found["low"],
        "high": 100 * found["high"],
        "only_first": found["rose"],
        "only_second": found["fell"],
    }


def verdicts(counts: pl.DataFrame, by: Sequence[str]) -> pl.DataFrame:
    """One row for each group and verdict: its ``rows`` and their ``percent`` of the group, mistakes in the data too."""
    if "verdict" not in counts:
        return NOTHING
    found = group_at(counts.drop_nulls("verdict"), by, ["verdict"], pl.col("rows").sum())
    total = pl.col("rows").sum().over(by) if by else pl.col("rows").sum()
    percents = found.with_columns((100 * pl.col("rows") / total).alias("percent"))
    return in_order(percents.sort("rows", "verdict", descending=[True, False]), by)


def kind_of_detail(detail: pl.Expr) -> pl.Expr:
    """What a detail says, whatever the objects are called: details that differ only in names are of one kind.

    >>> details = pl.DataFrame({"detail": ["5 objects instead of 6: b6 is missing", "the goal asks for (on b1 b2)"]})
    >>> details.select(kind_of_detail(pl.col("detail"))).to_series().to_list()
    ['# objects instead of #: b# is missing', 'the goal asks for (on …)']
    """
    atoms = detail.str.slice(0, DETAIL_CHARACTERS).str.replace_all(r"\(([^\s()]+)\s[^()]*\)", "($1 …)")
    return atoms.str.replace_all(r"[0-9]+", "#")


RIGHT = tuple(verdict.value for verdict in Verdict if verdict.right)


def details(scored: Scored, by: Sequence[str]) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The commonest kinds of detail, and some rows of each verdict that is not right.

    Kinds have their verdict, ``rows`` and ``percent`` of the rows that are not right. The rows, those of the commonest
    verdict first, have ``row``, groups, ``detail`` and the ``command`` to explain them: of a verdict, the first row of
    its commonest kind of detail, then that of the second, …, then second rows.
    """
    if not scored.schema.get("verdict") == scored.schema.get("detail") == pl.String:
        return NOTHING, NOTHING
    wrong = pl.col("verdict").is_not_null() & ~pl.col("verdict").is_in(RIGHT)
    kind = kind_of_detail(pl.col("detail").fill_null("")).alias("kind")
    first_rows = pl.col(ROW).bottom_k(EXAMPLES).alias("row")
    query = scored.frame.filter(wrong).group_by("verdict", kind).agg(ROWS, first_rows)
    found = query.collect(engine="streaming").sort("rows", "verdict", "kind", descending=[True, False, False])
    if found.is_empty():
        return NOTHING, NOTHING
    percent = (100 * pl.col("rows") / pl.col("rows").sum()).alias("percent")
    kinds = found.select("verdict", "kind", "rows", percent).head(MOST_KINDS)
    turn = pl.int_ranges(pl.col("row").list.len()).alias("turn")
    chosen = (
        found.with_columns(pl.col("row").list.sort(), turn, pl.col("rows").sum().over("verdict"))
        .explode("row", "turn")
        .sort("turn", maintain_order=True)
        .group_by("verdict", maintain_order=True)
        .head(EXAMPLES)
        .sort("rows", "verdict", descending=[True, False], maintain_order=True)
    )
    wanted = chosen["row"].to_list()
    texts = scored.frame.filter(pl.col(ROW).is_in(wanted)).select(
        pl.col(ROW).alias("row"), *map(group_key, by), pl.col("detail").str.slice(0, DETAIL_CHARACTERS)
    )
    examples = chosen.with_columns(pl.Series("command", map(scored.explain_command, wanted), pl.String)).join(
        texts.collect(engine="streaming"), on="row", maintain_order="left"
    )
    return kinds, examples.select("verdict", pl.col("row").cast(pl.Int64), *by, "detail", "command")


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
    ordered = values.sort("value")
    smallest, largest = ordered["value"][0], ordered["value"][-1]
    common = ordered.filter(pl.col("rows").cum_sum() >= 0.98 * pl.col("rows").sum())["value"][0]

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


def rates_by_size(scored: Scored, column: str, by: Sequence[str], names: Sequence[str]) -> pl.DataFrame:
    """Rates by the size that a column of ``SIZES`` tells, smallest first, and by the first column to group by.

    ``problem_size`` names the bin, ``size_from`` is the smallest number in it (null if sizes are labels).
    """
    size = number_of_atoms(pl.col(column)) if column == "reference_problem" else pl.col(column)
    is_number = column == "reference_problem" or scored.schema[column].is_numeric()
    keys = [*map(group_key, by[:1]), size.cast(pl.Int64 if is_number else pl.String).alias("value")]
    counts = count_rows(scored.frame.filter(scored.is_counted()), keys, names).drop_nulls("value")
    if counts.is_empty():
        return NOTHING
    place: pl.Expr = pl.col("value")
    if is_number:
        bins = choose_bins(counts)
        place = bins.start(place)
        labels = {start: bins.label(start) for start in counts.select(place.unique().sort()).to_series()}
    else:
        labels = {value: value for value in sorted(counts["value"].unique(), key=natural_key)}
    counts = counts.with_columns(
        place.replace_strict(labels, return_dtype=pl.Enum([*labels.values()])).alias("problem_size"),
        (place if is_number else pl.lit(None, pl.Int64)).alias("size_from"),
    )
    found = rates(counts, by[:1], names, "problem_size", "size_from")
    return found.with_columns(pl.col("problem_size").cast(pl.String))


def metrics(scored: Scored, by: Sequence[str]) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Summaries and histograms of the numeric plan and domain scores that have a value anywhere.

    Both are of all rows and by the first column to group by. A summary has mean, standard deviation and quantiles; a
    histogram has ``rows`` in bins from ``value_from`` up to but without ``value_to`` (null: no end).
    """
    by, value = by[:1], pl.col("value")
    statistics = [value.mean().alias("mean"), value.std().alias("sd")]
    statistics += [value.quantile(share, "linear").alias(name) for name, share in QUANTILES.items()]
    summaries, histograms = [], []
    for name in (*PLAN_COLUMNS, *DOMAIN_COLUMNS):
        if name in scored.schema and scored.schema[name].is_numeric():
            given = pl.col(name).cast(pl.Float64).fill_nan(None).alias("value")
            query = scored.frame.filter(scored.is_counted()).select(*map(group_key, by), given).drop_nulls("value")
            values = query.collect(engine="streaming")
            if values.height:
                columns: list[str | pl.Expr] = [*by, pl.lit(name).alias("metric"), pl.exclude(by)]
                summaries.append(group_at(values, by, [], ROWS, *statistics).select(columns))
                histograms.append(_histogram(values, by, name in FRACTIONS).select(columns))
    if not summaries:
        return NOTHING, NOTHING
    return in_order(pl.concat(summaries), by), pl.concat(histograms)


def _histogram(values: pl.DataFrame, by: Sequence[str], is_fraction: bool) -> pl.DataFrame:
    value, last = pl.col("value"), None
    if is_fraction:
        # A millionth keeps 0.3 * 10 = 2.9999… in its bin.
        tenth = (value * MOST_BINS + 1e-6).floor().clip(0, MOST_BINS - 1)
        start, width = (tenth / MOST_BINS).round(1), 1 / MOST_BINS
    else:
        bins = choose_bins(values.group_by(value.cast(pl.Int64)).agg(ROWS))
        start, width, last = bins.start(value.cast(pl.Int64)).cast(pl.Float64), float(bins.step), bins.last
    found = group_at(values, by, [start.alias("value_from")], ROWS)
    start = pl.col("value_from")
    end = (start + width).round(1)
    ends = end if last is None else pl.when(start < last).then(end)
    return in_order(found, by, "value_from").select(*by, start, ends.alias("value_to"), "rows")
