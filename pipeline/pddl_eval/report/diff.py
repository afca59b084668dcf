"""Two scored datasets compared row by row: which answers got better or worse, which are new or gone, by how much.

It reads the score columns of both and scores nothing. Models of one dataset are compared in its report.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

import polars as pl

from pddl_eval.errors import UserError
from pddl_eval.pages import Cell, Page, Section, Table, Value, change, row_count, table, words
from pddl_eval.report.files import to_json
from pddl_eval.report.groups import choose_groups, group_at, group_key, in_order
from pddl_eval.report.intervals import RESAMPLES, SEED, paired
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
    lines = _side_by_side(sides, keys, groups, [*rates, *scores], pairs)
    for name in groups:
        if lines[name].n_unique() > MOST_GROUPS:
            raise UserError(
                f"column {name} has more than {MOST_GROUPS} values: it identifies rows and does not group them"
            )
    joined = lines.filter(_old("is_there"), _new("is_there"))
    keyless = pl.any_horizontal(pl.col(_key(name)).is_null() for name in keys)
    both = joined.filter((_old("question") == _new("question")).fill_null(True))
    worse = both.filter(_lost(pairs, _old, _new))
    return Comparison(
        old=sides[0],
        new=sides[1],
        on=keys,
        by=groups,
        both=joined.height,
        added=lines.filter(_old("is_there").is_null()).height,
        gone=lines.filter(_new("is_there").is_null()).height,
        keyless=lines.filter(keyless).height,
        strangers=joined.height - both.height,
        regressions=worse.height,
        improvements=both.filter(_lost(pairs, _new, _old)).height,
        flips=_flips(both, groups),
        rates=_deltas(both, groups, rates),
        scores=_deltas(both, groups, scores),
        examples=_examples(worse.head(MOST_EXAMPLES), sides[1], keys, groups),
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
        if types[0] != types[1] and not all(type_.is_integer() for type_ in types):
            raise UserError(f"column {name} is {types[0]} in {sides[0].name} and {types[1]} in {sides[1].name}")
    return keys


def _references(sides: Sequence[Scored]) -> list[str]:
    """The columns of references that both have: texts, then the certificate."""
    return [name for name in (*REFERENCES, CERTIFICATE) if all(side.column(name) for side in sides)]


def _side_by_side(
    sides: Sequence[Scored], on: Sequence[str], by: Sequence[str], names: Sequence[str], pairs: Sequence[str]
) -> pl.DataFrame:
    """One line for each key: its group and its values in both datasets, null if it is missing from one.

    Only scores and groups are read, no texts. The lines are in the order of the new dataset, what is gone after them.
    """
    frames = []
    references = _references(sides)
    basis = [CERTIFICATE] if CERTIFICATE in references else references
    by_content = on[0] == CONTENT
    for side, what in zip(sides, ("old", "new"), strict=True):
        if not by_content:
            _require_unique(side, on)
        absent = pl.lit(None, pl.String)
        values = {
            "is_there": pl.lit(True),
            ROW: pl.col(ROW),
            **{f"counted.{name}": side.is_counted(name) for name in names},
            "question": side.content(basis),
            "cluster": sides[1].clusters()[0] if what == "new" else absent,
            "verdict": pl.col("verdict") if "verdict" in side.schema else absent,
            **{name: said(side, name) for name in names},
            **{f"right.{pair}": RIGHT[pair][1] for pair in pairs},
            **{f"group.{name}": group_key(name) if name in side.schema else absent for name in by},
        }
        if by_content:
            model = side.column(MODEL)
            named = pl.lit("") if model is None else pl.col(model).cast(pl.String).fill_null("")
            keys = [side.content(references), named][: len(on)]
        else:
            # Integers of two widths are one key.
            keys = [pl.col(name).cast(pl.Int64) if side.schema[name].is_integer() else pl.col(name) for name in on]
        frame = side.frame.select(
            *(key.alias(_key(name)) for name, key in zip(on, keys, strict=True)),
            *(value.alias(f"pddl_eval.{what}.{name}") for name, value in values.items()),
        )
        if by_content:
            right = [pl.col(f"pddl_eval.{what}.right.{pair}").fill_null(False) for pair in pairs]
            ordered = frame.sort(*right, f"pddl_eval.{what}.{ROW}", descending=[*(True for _ in right), False])
            frame = ordered.with_columns(pl.int_range(pl.len()).over([_key(name) for name in on]).alias(_SAMPLE))
        frames.append(frame)
    names_of_keys = [*(_key(name) for name in on), *((_SAMPLE,) if by_content else ())]
    joined = frames[0].join(frames[1], on=names_of_keys, how="full", coalesce=True)
    # A row that is gone has only the old dataset's group.
    groups = [pl.coalesce(_new(f"group.{name}"), _old(f"group.{name}")).alias(name) for name in by]
    return joined.with_columns(*groups).sort(_new(ROW), _old(ROW), nulls_last=True).collect()


_CLUSTER = "pddl_eval.new.cluster"
_SAMPLE = "pddl_eval.sample"


def _key(name: str) -> str:
    return f"pddl_eval.key.{name}"


def _require_unique(side: Scored, on: Sequence[str]) -> None:
    repeated = side.frame.drop_nulls(on).group_by(on).len("rows").filter(pl.col("rows") > 1).sort(on).head(1).collect()
    for line in repeated.to_dicts():
        shared = ", ".join(f"{name} {str(line[name])[:60]}" for name in on)
        raise UserError(
            f"{line['rows']:,} rows of {side.name} share {shared}: say with --on what identifies a row "
            f"(--on {','.join([*on, 'model' if 'model' not in on else 'split'])})"
        )


def _lost(pairs: Sequence[str], there: Callable[[str], pl.Expr], here: Callable[[str], pl.Expr]) -> pl.Expr:
    """True for the rows with an answer that is right ``there`` and not ``here``."""
    lost = [there(f"right.{pair}").fill_null(False) & ~here(f"right.{pair}").fill_null(False) for pair in pairs]
    return pl.any_horizontal(pl.lit(False), *lost)


def _levels(by: Sequence[str]) -> list[tuple[str, ...]]:
    """All rows together, then each column to group by alone."""
    return [(), *((name,) for name in by)]


def _flips(both: pl.DataFrame, by: Sequence[str]) -> pl.DataFrame:
    verdicts = {"old_verdict": _old("verdict"), "new_verdict": _new("verdict")}
    changed = both.filter(_old("verdict").ne_missing(_new("verdict"))).with_columns(**verdicts)
    counts = group_at(changed, by, [*verdicts], pl.len().cast(pl.Int64).alias("rows"), at=_levels(by))
    return in_order(counts.sort("rows", *verdicts, descending=[True, False, False]), by)


def _deltas(both: pl.DataFrame, by: Sequence[str], names: Sequence[str]) -> pl.DataFrame:
    """How much the means of some scores moved, with the paired bootstrap's interval. A rate is a mean of 0 and 1.

    As in ``report.numbers``, rows whose reference is a mistake in the data do not count, rows of one reference are
    resampled together, and an undecided measure counts as no; any other null has no value.
    """
    found = []
    for name in names:
        values = both.filter(_old(f"counted.{name}"), _new(f"counted.{name}")).select(
            *by, _CLUSTER, old=_old(name).cast(pl.Float64), new=_new(name).cast(pl.Float64)
        )
        if name in OPTIONAL or name not in MEASURES:
            values = values.drop_nulls(["old", "new"])
        elif values["old"].count() == 0 or values["new"].count() == 0:
            continue  # One of the two did not compute it.
        values = values.with_columns(pl.col("old", "new").fill_null(0.0))
        for level in _levels(by):
            for part in values.partition_by(level) if level else [values]:
                if part.height:
                    groups = {column: part[column][0] if column in level else None for column in by}
                    means = {"rows": part.height, "old": part["old"].mean(), "new": part["new"].mean()}
                    gap = part["new"] - part["old"]
                    moved = {"rose": (gap > 0).sum(), "fell": (gap < 0).sum()}
                    of_reference = part.group_by(_CLUSTER).agg((pl.col("new") - pl.col("old")).sum(), ROWS)
                    interval = paired(of_reference["new"], of_reference["rows"], BIN)
                    found.append({**groups, "measure": name, **means, **interval, **moved})
    floats = dict.fromkeys(("old", "new", "difference", "low", "high"), pl.Float64)
    schema = {**dict.fromkeys([*by, "measure"], pl.String), "rows": pl.Int64, **floats, "p": pl.Float64}
    return in_order(pl.DataFrame(found, schema={**schema, "rose": pl.Int64, "fell": pl.Int64}), by)


def _examples(worse: pl.DataFrame, after: Scored, keys: Sequence[str], by: Sequence[str]) -> pl.DataFrame:
    """The row's number in the new dataset, keys, groups, verdicts, and what the new dataset says about it."""
    shown = worse.select(
        _new(ROW).alias("row"),
        *(pl.col(_key(name)).alias(name) for name in keys if name != CONTENT),
        *(name for name in by if name not in keys),
        _old("verdict").alias("old_verdict"),
        _new("verdict").alias("new_verdict"),
    )
    found = {pair: pl.col(name) for pair, name in DETAILS.items() if name in after.schema}
    details = [
        pl.when(detail != "").then(pl.format("{}: {}", pl.lit(pair), detail) if len(found) > 1 else detail)
        for pair, detail in found.items()
    ]
    reason = pl.concat_str(details, separator="; ", ignore_nulls=True) if details else pl.lit(None, pl.String)
    texts = after.frame.filter(pl.col(ROW).is_in(shown["row"].to_list())).select(
        pl.col(ROW).alias("row"), reason.alias("detail")
    )
    return shown.join(texts.collect(), on="row", how="left", maintain_order="left")


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
