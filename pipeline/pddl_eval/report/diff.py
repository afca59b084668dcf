"""Two scored datasets compared row by row: which answers got better or worse, which are new or gone, by how much.

It reads the score columns of both and scores nothing. Models of one dataset are compared in its report.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from tempfile import TemporaryDirectory
from typing import Any

import polars as pl

from pddl_eval.errors import UserError
from pddl_eval.pages import Cell, Page, Section, Table, Value, change, row_count, table, words
from pddl_eval.report.buckets import Buckets, bucket_count, common_type, joined, key_column
from pddl_eval.report.files import to_json
from pddl_eval.report.groups import choose_groups, group_at, group_key, in_order
from pddl_eval.report.intervals import ALIKE, RESAMPLES, SEED, alike, resampled
from pddl_eval.report.numbers import MEASURES, OPTIONAL, ROWS, measures, said
from pddl_eval.report.scored import (
    CERTIFICATE,
    DOMAIN_COLUMNS,
    PLAN_COLUMNS,
    REFERENCES,
    ROW,
    Scored,
    ScoredInput,
    open_scored,
    unreadable_texts,
)
from pddl_eval.report.sections import MEASURE_NAMES

KEYS = ("pair_id", "id")
"""What identifies a row by default: the first of these that both datasets have."""

MODEL = "model"
"""Part of the key of rows that have no id."""

CONTENT = "content of the reference"
"""What the key of rows that have no id is called."""

ENOUGH = 0.9
"""The share of the old dataset's rows that need a partner, for the comparison to say that nothing got worse."""

MOST_EXAMPLES = 5

MOST_LINES = 20
"""Of a table of differences."""

MOST_GROUPS = 1000
"""Values of one column: a column with more identifies rows and does not group them."""

BIN = 0.01
"""Differences of scores are resampled in bins of that width, each with its own mean."""

DETAILS = {"problem": "detail", "plan": "plan_detail", "domain": "domain_detail"}

RIGHT = {
    "problem": (("equivalent",), pl.col("equivalent")),
    "plan": (("plan_score", "goal_reached"), pl.coalesce("goal_reached", pl.col("plan_score") == 1)),
    "domain": (
        ("domain_precision", "domain_recall"),
        (pl.col("domain_precision") == 1) & (pl.col("domain_recall") == 1),
    ),
}
"""For each pair of columns: the scores needed, and when an answer is right. A plan is right if it reaches the goal
or, if that is not known, if its plan score is 1."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two scored datasets row by row, joined ``on`` their keys, grouped ``by`` columns.

    * ``both``, ``added``, ``gone``: keys in both, only in the new one, only in the old one;
    * ``keyless``: rows of the two whose key is null; they match nothing, so they are in ``added`` and ``gone``;
    * ``strangers``: keys in both whose references differ: another question, left out of all that follows;
    * ``regressions``, ``improvements``: rows that were right and are no longer right, and the reverse. Right is an
      equivalent problem, a plan that reaches the goal (if that is not known: whose plan score is 1), a domain
      without error; everything else is not: wrong, undecided, not scored;
    * ``flips``: by group, how many rows went from which verdict to which other one;
    * ``rates``, ``scores``: by group and measure, ``rows``, mean ``old`` and ``new``, their ``difference`` with
      ``low``, ``high`` (95 %) and ``p``, and in how many rows the value ``rose`` or ``fell``;
    * ``examples``: the first regressions in the order of the new dataset.

    In ``flips``, ``rates`` and ``scores`` a null in a group's column means all its values together.
    """

    old: Scored
    new: Scored
    on: tuple[str, ...]
    by: tuple[str, ...]
    both: int
    added: int
    gone: int
    keyless: int
    strangers: int
    regressions: int
    improvements: int
    flips: pl.DataFrame
    rates: pl.DataFrame
    scores: pl.DataFrame
    examples: pl.DataFrame

    @property
    def unfinished(self) -> tuple[str, ...]:
        """Which of the two is an unfinished run, in sentences."""
        return tuple(each.unfinished for each in (self.old, self.new) if each.unfinished)

    @property
    def too_few(self) -> str | None:
        """In a sentence, that too few rows of the old dataset found a partner to say that nothing got worse."""
        partners = self.both - self.strangers
        if partners >= ENOUGH * self.old.rows:
            return None
        return (
            f"Only {partners:,} of the {self.old.rows:,} rows of OLD found a partner in NEW, joined on "
            f"{', '.join(self.on)}: fewer than {ENOUGH:.0%}."
        )

    @property
    def same_signature(self) -> bool:
        """False where rows of the two were scored in different ways, so that the scorer may explain differences."""
        return len({signature for each in (self.old, self.new) for signature, _ in each.signatures}) < 2


@unreadable_texts()
def compare_datasets(
    before: ScoredInput, after: ScoredInput, *, on: Sequence[str] | None = None, by: str | Sequence[str] | None = None
) -> Comparison:
    """Compare two scored datasets (places or frames).

    ``on`` are the columns that identify a row in both (default: ``pair_id``, else ``id``, else the content of the
    reference with ``model``, where of several rows the right ones are paired first); ``by`` are those to group by
    (default: ``model`` and ``domain`` if the new dataset has them). Raises ``DatasetError`` for what cannot be read,
    ``UserError`` for columns that do not fit and for keys that repeat.

    >>> monday = pl.DataFrame({"id": [1, 2], "equivalent": [True, False], "verdict": ["identical", "goal_differs"]})
    >>> tuesday = pl.DataFrame({"id": [2, 1], "equivalent": [True, False], "verdict": ["equivalent", "unparseable"]})
    >>> found = compare_datasets(monday, tuesday)
    >>> found.regressions, found.improvements, found.both
    (1, 1, 2)
    """
    sides = open_scored(before), open_scored(after)
    keys = _choose_keys(sides, on)
    groups = choose_groups(sides[1].schema, by)
    rates = [name for name in measures(sides[0].schema) if name in measures(sides[1].schema)]
    scores = [
        name for name in (*PLAN_COLUMNS, *DOMAIN_COLUMNS) if all(side.schema.get(name) == pl.Float64 for side in sides)
    ]
    pairs = [
        pair for pair, (needed, _) in RIGHT.items() if all(name in side.schema for name in needed for side in sides)
    ]
    in_old, in_new = (there("is_there").is_not_null() for there in (_old, _new))
    is_stranger = (in_old & in_new & (_old("question") != _new("question"))).fill_null(False)
    in_both = in_old & in_new & ~is_stranger
    is_lost, is_won = in_both & _lost(pairs, _old, _new), in_both & _lost(pairs, _new, _old)
    counted = {
        "both": in_old & in_new,
        "added": ~in_old,
        "gone": ~in_new,
        "keyless": pl.any_horizontal(_old("keyless"), _new("keyless")),
        "strangers": is_stranger,
        "regressions": is_lost,
        "improvements": is_won,
    }
    counts: Counter[str] = Counter()
    values: dict[str, set[str]] = {name: set() for name in groups}
    flips, worse = [], []
    with TemporaryDirectory(prefix="pddl-eval-") as folder:
        # Rows of one reference belong together (see ``_deltas``), whatever their keys.
        clusters = Buckets(folder, bucket_count(sides[1].rows))
        for lines in _side_by_side(sides, keys, groups, [*rates, *scores], pairs):
            for name in groups:
                values[name] |= {*lines[name].unique()}
                if len(values[name]) > MOST_GROUPS:
                    raise UserError(
                        f"column {name} has more than {MOST_GROUPS} values: it identifies rows and does not group them"
                    )
            counts.update(lines.select(each.sum().alias(name) for name, each in counted.items()).row(0, named=True))
            worse.append(lines.filter(is_lost).sort(_new(ROW)).head(MOST_EXAMPLES))
            both = lines.filter(in_both)
            flips.append(_flips(both, groups))
            clusters.add(both.select(*groups, _CLUSTER, *_compared([*rates, *scores])), [_CLUSTER])
        deltas = _deltas(clusters, groups, [*rates, *scores])
    return Comparison(
        old=sides[0],
        new=sides[1],
        on=keys,
        by=groups,
        **{name: counts[name] for name in counted},
        flips=_add_up(flips, groups),
        rates=deltas.filter(pl.col("measure").is_in(rates)),
        scores=deltas.filter(pl.col("measure").is_in(scores)),
        examples=_examples(pl.concat(worse).sort(_new(ROW)).head(MOST_EXAMPLES), sides[1], keys, groups),
    )


def _old(name: str) -> pl.Expr:
    return pl.col(f"pddl_eval.old.{name}")


def _new(name: str) -> pl.Expr:
    return pl.col(f"pddl_eval.new.{name}")


def _choose_keys(sides: Sequence[Scored], on: Sequence[str] | None) -> tuple[str, ...]:
    common = (name for name in KEYS if all(name in side.schema for side in sides))
    keys = tuple(dict.fromkeys(on or ())) or tuple(common)[:1]
    if not keys and _references(sides):
        return (CONTENT, *((MODEL,) if all(side.column(MODEL) for side in sides) else ()))
    if not keys:
        raise UserError(
            f"neither {' nor '.join(KEYS)} is in both datasets, nor a reference: say with --on what identifies a row"
        )
    for name in keys:
        for side in sides:
            side.require(name)
        types = [side.schema[name] for side in sides]
        if common_type(*types) is None:
            raise UserError(f"column {name} is {types[0]} in {sides[0].name} and {types[1]} in {sides[1].name}")
    return keys


def _references(sides: Sequence[Scored]) -> list[str]:
    """The columns of references that both have: texts, then the certificate."""
    return [name for name in (*REFERENCES, CERTIFICATE) if all(side.column(name) for side in sides)]


def _side_by_side(
    sides: Sequence[Scored], on: Sequence[str], by: Sequence[str], names: Sequence[str], pairs: Sequence[str]
) -> Iterator[pl.DataFrame]:
    """One line for each key, bucket by bucket: its group and its values in both datasets, null if missing from one.

    Only scores and groups are kept, no texts.
    """
    references = _references(sides)
    basis = [CERTIFICATE] if CERTIFICATE in references else references
    by_content = on[0] == CONTENT
    absent = pl.lit(None, pl.String)
    keys: dict[str, list[pl.Expr]] = {}
    values: dict[str, dict[str, pl.Expr]] = {}
    for side, what in zip(sides, ("old", "new"), strict=True):
        if by_content:
            model = side.column(MODEL)
            named = pl.lit("") if model is None else pl.col(model).cast(pl.String).fill_null("")
            own = [side.content(references), named][: len(on)]
        else:
            own = [pl.col(name) for name in on]
        types = [None if by_content else common_type(*(each.schema[name] for each in sides)) for name in on]
        keys[what] = [
            (key if type_ is None else key.cast(type_, strict=False)).alias(key_column(name))
            for key, type_, name in zip(own, types, on, strict=True)
        ]
        values[what] = {
            "is_there": pl.lit(True),
            "keyless": pl.any_horizontal(key.is_null() for key in own),
            ROW: pl.col(ROW),
            **{f"counted.{name}": side.is_counted(name) for name in names},
            "question": side.content(basis),
            "cluster": sides[1].clusters()[0] if what == "new" else absent,
            "verdict": pl.col("verdict") if "verdict" in side.schema else absent,
            **{name: said(side, name) for name in names},
            **{f"right.{pair}": RIGHT[pair][1] for pair in pairs},
            **{f"group.{name}": group_key(name) if name in side.schema else absent for name in by},
        }
    # A row that is gone has only the old dataset's group.
    groups = [pl.coalesce(_new(f"group.{name}"), _old(f"group.{name}")).alias(name) for name in by]
    best_first = [f"right.{pair}" for pair in pairs] if by_content else None
    for lines in joined(dict(zip(("old", "new"), sides, strict=True)), keys, values, best_first):
        yield lines.with_columns(groups)


_CLUSTER = "pddl_eval.new.cluster"


def _lost(pairs: Sequence[str], there: Callable[[str], pl.Expr], here: Callable[[str], pl.Expr]) -> pl.Expr:
    """True for the rows with an answer that is right ``there`` and not ``here``."""
    lost = [there(f"right.{pair}").fill_null(False) & ~here(f"right.{pair}").fill_null(False) for pair in pairs]
    return pl.any_horizontal(pl.lit(False), *lost)


def _levels(by: Sequence[str]) -> list[tuple[str, ...]]:
    """All rows together, then each column to group by alone."""
    return [(), *((name,) for name in by)]


_VERDICTS = ("old_verdict", "new_verdict")


def _flips(both: pl.DataFrame, by: Sequence[str]) -> pl.DataFrame:
    verdicts = dict(zip(_VERDICTS, (_old("verdict"), _new("verdict")), strict=True))
    changed = both.filter(_old("verdict").ne_missing(_new("verdict"))).with_columns(**verdicts)
    return group_at(changed, by, _VERDICTS, ROWS, at=_levels(by))


def _add_up(flips: Sequence[pl.DataFrame], by: Sequence[str]) -> pl.DataFrame:
    counts = pl.concat(flips).group_by(*by, *_VERDICTS).agg(pl.col("rows").sum())
    return in_order(counts.sort("rows", *_VERDICTS, descending=[True, False, False]), by)


def _compared(names: Sequence[str]) -> Iterator[pl.Expr]:
    """What ``_moves`` needs."""
    for name in names:
        yield from (there(column) for there in (_old, _new) for column in (name, f"counted.{name}"))


def _moves(names: Sequence[str]) -> Iterator[pl.Expr]:
    """For each score, of each row: ``size`` (1 if it counts), values ``old`` and ``new`` (0 if not ``known``).

    As in ``report.numbers``, rows whose reference is a mistake in the data do not count, and an undecided measure
    counts as no; any other null has no value.
    """
    for name in names:
        values = {side: there(name).cast(pl.Float64) for side, there in (("old", _old), ("new", _new))}
        counts = _old(f"counted.{name}") & _new(f"counted.{name}")
        if name in OPTIONAL or name not in MEASURES:
            counts &= pl.all_horizontal(value.is_not_null() for value in values.values())
        yield counts.cast(pl.UInt32).alias(f"size.{name}")
        for side, value in values.items():
            yield pl.when(counts).then(value.fill_null(0.0)).otherwise(0.0).alias(f"{side}.{name}")
            yield (counts & value.is_not_null()).cast(pl.UInt32).alias(f"known.{side}.{name}")


def _deltas(clusters: Buckets, by: Sequence[str], names: Sequence[str]) -> pl.DataFrame:
    """How much the means of some scores moved, with the paired bootstrap's interval. A rate is a mean of 0 and 1.

    ``clusters`` are the rows in both, those of one reference in one bucket: they are resampled together.
    """
    gaps = [(pl.col(f"new.{name}") - pl.col(f"old.{name}")).alias(f"total.{name}") for name in names]
    changes = [(pl.col(f"total.{name}") > 0).cast(pl.UInt32).alias(f"rose.{name}") for name in names]
    changes += [(pl.col(f"total.{name}") < 0).cast(pl.UInt32).alias(f"fell.{name}") for name in names]
    sums: list[pl.DataFrame] = []
    spreads: dict[str, list[pl.DataFrame]] = {name: [] for name in names}
    for bucket in range(clusters.count):
        rows = clusters.read(bucket).select(*by, _CLUSTER, *_moves(names)).with_columns(gaps)
        every = rows.with_columns(changes).drop(_CLUSTER)
        sums.append(group_at(every, by, [], pl.exclude(by).sum(), at=[by]))
        for level in _levels(by):
            references = rows.group_by(*level, _CLUSTER).agg(pl.col(r"^(size|total)\..*$").sum())
            for name in names:
                of_score = references.select(*level, size=f"size.{name}", total=f"total.{name}")
                found = alike(of_score.filter(pl.col("size") > 0), BIN, level)
                spreads[name].append(group_at(found, by, ALIKE, pl.col("total", "count").sum(), at=[level]))
    every = group_at(pl.concat(sums), by, [], pl.exclude(by).sum(), at=_levels(by))
    lines = []
    for name in names:
        if not every.select(pl.min_horizontal(f"known.{side}.{name}" for side in ("old", "new")).sum()).item():
            continue  # One of the two did not compute it.
        spread = pl.concat(spreads[name]).group_by(*by, *ALIKE).agg(pl.col("total", "count").sum())
        parts = spread.partition_by(by, as_dict=True) if by else {(): spread}
        for line in every.filter(pl.col(f"size.{name}") > 0).to_dicts():
            group = {column: line[column] for column in by}
            size = line[f"size.{name}"]
            means = {side: line[f"{side}.{name}"] / size for side in ("old", "new")}
            moved = {side: line[f"{side}.{name}"] for side in ("rose", "fell")}
            interval = resampled(parts[tuple(group.values())])
            lines.append({**group, "measure": name, "rows": size, **means, **interval, **moved})
    floats = dict.fromkeys(("old", "new", "difference", "low", "high"), pl.Float64)
    schema = {**dict.fromkeys([*by, "measure"], pl.String), "rows": pl.Int64, **floats, "p": pl.Float64}
    return in_order(pl.DataFrame(lines, schema={**schema, "rose": pl.Int64, "fell": pl.Int64}), by)


def _examples(worse: pl.DataFrame, after: Scored, keys: Sequence[str], by: Sequence[str]) -> pl.DataFrame:
    """The row's number in the new dataset, keys, groups, verdicts, and what the new dataset says about it."""
    shown = worse.select(
        _new(ROW).alias("row"),
        *(pl.col(key_column(name)).alias(name) for name in keys if name != CONTENT),
        *(name for name in by if name not in keys),
        _old("verdict").alias("old_verdict"),
        _new("verdict").alias("new_verdict"),
    )
    details_of = {pair: pl.col(name) for pair, name in DETAILS.items() if name in after.schema}
    details = [
        pl.when(detail != "").then(pl.format("{}: {}", pl.lit(pair), detail) if len(details_of) > 1 else detail)
        for pair, detail in details_of.items()
    ]
    reason = pl.concat_str(details, separator="; ", ignore_nulls=True) if details else pl.lit(None, pl.String)
    rows = shown["row"].to_list()
    texts = [
        piece.filter(pl.col(ROW).is_in(rows)).select(pl.col(ROW).alias("row"), reason.alias("detail"))
        for piece in after.pieces
    ]
    found = pl.concat(text.collect(engine="streaming") for text in texts)
    return shown.join(found, on="row", how="left", maintain_order="left")


def comparison_json(comparison: Comparison) -> str:
    """Everything in the comparison, unrounded."""
    known = {field.name: getattr(comparison, field.name) for field in fields(comparison)}
    return to_json({"same_signature": comparison.same_signature, "unfinished": comparison.unfinished, **known})


def comparison_page(comparison: Comparison) -> Page:
    """The comparison as a page: what was joined, and tables of what differs. What is equal in both is not shown."""
    old, new, by = comparison.old, comparison.new, comparison.by
    warning = (
        "The datasets were scored in different ways, so a difference may come from the scorer, not the answers. "
        f"OLD: {_signatures(old)}. NEW: {_signatures(new)}."
    )
    facts = [
        f"{row_count(comparison.both)} in both, joined on {', '.join(comparison.on)}; "
        f"{comparison.gone:,} only in OLD, {comparison.added:,} only in NEW.",
        f"{row_count(comparison.regressions)} right in OLD and not in NEW, "
        f"{comparison.improvements:,} right in NEW and not in OLD.",
    ]
    if comparison.keyless:
        facts.append(f"{row_count(comparison.keyless)} of OLD and NEW have an empty key, which matches nothing.")
    if comparison.strangers:
        facts.append(
            f"{row_count(comparison.strangers)} in both have another reference in NEW than in OLD: another question, "
            "left out of all below."
        )
    if comparison.rates.height or comparison.scores.height:
        facts.append(f"Intervals: 95 %, bootstrap of the references, {RESAMPLES:,} resamples, seed {SEED}.")
    if comparison.same_signature and new.signatures:
        facts.append(f"Signature: {_signatures(new)}")
    together = comparison.flips.filter(pl.all_horizontal(pl.lit(True), *(pl.col(name).is_null() for name in by)))
    flips: list[list[Value]] = [
        [_verdict(line["old_verdict"]), _verdict(line["new_verdict"]), line["rows"]] for line in together.to_dicts()
    ]
    tables = [
        _example_table(comparison),
        _moved("Rates in percent", "share", comparison.rates, by),
        _moved("Mean scores", "score", comparison.scores, by),
        table("Verdicts that differ", ("verdict in OLD", "verdict in NEW", "rows"), flips, texts=1, most=MOST_LINES),
    ]
    return Page(
        f"OLD: {old.name}, NEW: {new.name}",
        (
            *comparison.unfinished,
            *((comparison.too_few,) if comparison.too_few else ()),
            *(() if comparison.same_signature else (warning,)),
        ),
        facts,
        [Section("", (), [each for each in tables if each.rows])],
    )


def _example_table(comparison: Comparison) -> Table:
    keys = list(dict.fromkeys([*comparison.on, *comparison.by]))
    lines: list[list[Value]] = [
        [
            *(str(line["row" if key == CONTENT else key]) for key in keys),
            f"{_verdict(line['old_verdict'])} → {_verdict(line['new_verdict'])}",
            Cell(line["detail"] or "", command=comparison.new.explain_command(line["row"]) or ""),
        ]
        for line in comparison.examples.to_dicts()
    ]
    caption = f"Right in OLD and not in NEW: the first of {row_count(comparison.regressions)}"
    names = ["row of NEW" if key == CONTENT else key for key in keys]
    return table(caption, [*names, "verdict", "detail"], lines, labels=len(keys), texts=2)


def _moved(what: str, measure: str, frame: pl.DataFrame, by: Sequence[str]) -> Table:
    """How much the means moved (rates in percent), of all rows and of groups, where any row differs."""
    times, decimals = (100, 1) if measure == "share" else (1, 3)
    lines: list[list[Value]] = []
    for line in frame.filter(pl.col("rose") + pl.col("fell") > 0).to_dicts():
        means = [f"{times * line[name]:.{decimals}f}" for name in ("old", "new")]
        low, high = (None if line[end] is None else times * line[end] for end in ("low", "high"))
        gap = change(times * line["difference"], low, high, decimals)
        name = MEASURE_NAMES.get(line["measure"], words(line["measure"]))
        lines.append([*_groups(line, by), name, line["rows"], *means, gap, line["rose"], line["fell"]])
    header = [*by, measure, "rows", "OLD", "NEW", "difference", "higher in NEW", "lower in NEW"]
    caption = f"{what} over the rows in both, where they differ"
    return table(caption, header, lines, labels=len(by) + 1, most=MOST_LINES)


def _groups(line: Mapping[str, Any], by: Sequence[str]) -> list[str]:
    return ["all" if line[name] is None else line[name] for name in by]


def _verdict(name: str | None) -> str:
    return words(name or "–")


def _signatures(side: Scored) -> str:
    return "; ".join(f"{signature or 'none'} ({row_count(rows)})" for signature, rows in side.signatures) or "none"
