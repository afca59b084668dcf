"""What became of problems, plans and domains: their verdicts, and the commonest details of those that are not right."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from pddl_eval.report.groups import group_at, group_key, in_order
from pddl_eval.report.numbers import NOTHING, ROWS
from pddl_eval.report.scored import ROW, Scored
from pddl_eval.scoring.columns import PAIRS, VERDICTS, Pair, Verdict

EXAMPLES = 3
"""Rows shown of each verdict, of different kinds of detail if there are enough."""

MOST_KINDS = 200
"""Kinds of detail in the report, the commonest of all."""

DETAIL_CHARACTERS = 400
"""How much of a detail is looked at and shown: it may quote a whole answer."""


@dataclass(frozen=True, slots=True)
class Outcomes:
    """What becomes of a pair: ``verdict`` is the column that says it (null: nothing was decided).

    ``sentence`` is the column that says more, ``reason`` the part of it that tells kinds apart, ``meanings`` what each
    verdict means, ``right`` those that are right.
    """

    verdict: str
    sentence: str
    reason: pl.Expr
    meanings: Mapping[str, str]
    right: tuple[str, ...]


def _outcomes(pair: Pair) -> Outcomes:
    sentence, known = pair.verdict.replace("verdict", "detail"), VERDICTS[pair.verdict]
    reason = pl.col(sentence)
    if pair.name == "domain":
        reason = reason.str.split("; ").list.first()  # notes on behaviour follow
    meanings = {each.value: each.meaning for each in known}
    return Outcomes(pair.verdict, sentence, reason, meanings, tuple(each.value for each in known if each.right))


OUTCOMES = {pair.name: _outcomes(pair) for pair in PAIRS}
"""By the name of the pair."""


Frames = tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame]


def reasons(scored: Scored, by: Sequence[str], counts: pl.DataFrame) -> dict[str, Frames]:
    """What became of each pair that was scored: ``verdicts``, and the commonest kinds of detail and some rows.

    Kinds have their verdict, ``rows`` and ``percent`` of the rows that are not right. The rows, those of the commonest
    verdict first, have ``row``, groups, ``detail`` and the ``command`` to explain them: of a verdict, the first row of
    its commonest kind of detail, then that of the second, …, then second rows. ``counts`` as ``count_rows`` counts.

    >>> from pddl_eval.report.scored import open_scored
    >>> scored = open_scored(pl.DataFrame({"domain_verdict": ["renamed", "empty"], "domain_detail": ["", "no domain"]}))
    >>> outcomes, kinds, _ = reasons(scored, [], count_rows(scored, []))["domain"]
    >>> outcomes.rows()
    [('empty', 1, 50.0), ('renamed', 1, 50.0)]
    >>> kinds.rows()
    [('empty', 'no domain', 1, 100.0)]
    """
    known = {pair: _kinds(scored, pair) for pair in OUTCOMES if _is_told(scored, pair)}
    rows = {row for _, chosen in known.values() for row in chosen["row"]}
    texts = scored.frame.filter(pl.col(ROW).is_in([*rows])).select(
        pl.col(ROW).cast(pl.Int64).alias("row"),
        *map(group_key, by),
        *(pl.col(OUTCOMES[pair].sentence).str.slice(0, DETAIL_CHARACTERS) for pair in known),
    )
    texts_of = texts.collect(engine="streaming") if rows else NOTHING
    found = {}
    for pair, outcomes in OUTCOMES.items():
        if pair == "problem" or pair in known:
            kinds, chosen = known.get(pair, (NOTHING, NOTHING))
            examples = NOTHING
            if chosen.height:
                only = "" if pair == "problem" else f" --only {pair}"
                commands = [command and command + only for command in map(scored.explain_command, chosen["row"])]
                told = texts_of.select("row", *by, pl.col(outcomes.sentence).alias("detail"))
                shown = chosen.with_columns(pl.Series("command", commands, pl.String))
                shown = shown.join(told, on="row", maintain_order="left")
                examples = shown.select("verdict", "row", *by, "detail", "command")
            found[pair] = verdicts(counts.select(*by, "rows", verdict=outcomes.verdict), by), kinds, examples
    return found


def _is_told(scored: Scored, pair: str) -> bool:
    return scored.schema.get(OUTCOMES[pair].verdict) == scored.schema.get(OUTCOMES[pair].sentence) == pl.String


def _kinds(scored: Scored, pair: str) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The commonest kinds of detail, and the rows to show of each verdict that is not right."""
    known = OUTCOMES[pair]
    verdict = pl.col(known.verdict)
    wrong = verdict.is_not_null() & ~verdict.is_in(known.right)
    kind = kind_of_detail(known.reason.fill_null("")).alias("kind")
    first_rows = pl.col(ROW).bottom_k(EXAMPLES).alias("row")
    query = scored.frame.filter(wrong).group_by(verdict.alias("verdict"), kind).agg(ROWS, first_rows)
    found = query.sort("rows", "verdict", "kind", descending=[True, False, False]).collect(engine="streaming")
    if found.is_empty():
        return NOTHING, found.select("verdict", "row")
    percent = (100 * pl.col("rows") / pl.col("rows").sum()).alias("percent")
    chosen = (
        in_turn(found.lazy().with_columns(pl.col("rows").sum().over("verdict")))
        .sort("turn", maintain_order=True)
        .group_by("verdict", maintain_order=True)
        .head(EXAMPLES)
        .sort("rows", "verdict", descending=[True, False], maintain_order=True)
        .select("verdict", pl.col("row").cast(pl.Int64))
    )
    return found.select("verdict", "kind", "rows", percent).head(MOST_KINDS), chosen.collect()


def doubts(scored: Scored) -> pl.DataFrame:
    """References that are mistakes in the data, by what is wrong, and those that state another question's problem.

    Each ``doubt`` has its ``rows``, the ``first`` of them and ``mended_by``.
    """
    found = []
    first = pl.col(ROW).min().cast(pl.Int64).alias("first")
    texts = {"verdict": pl.String, "detail": pl.String}
    if all(scored.schema.get(name) == type_ for name, type_ in texts.items()):
        said = pl.format("the reference: {}", kind_of_detail(pl.col("detail").fill_null(""))).alias("doubt")
        wrong = scored.frame.filter(pl.col("verdict") == Verdict.REFERENCE_INVALID.value)
        cure = pl.lit("mend the reference; until then its rows are left out").alias("mended_by")
        found.append(wrong.group_by(said).agg(ROWS, first).select("doubt", "rows", "first", cure))
    asked = scored.column("reference_id")
    if asked is not None and scored.schema.get("reference_certificate") == pl.String:
        known = scored.frame.drop_nulls("reference_certificate").group_by("reference_certificate")
        several = known.agg(pl.col(asked).n_unique().alias("questions"), ROWS, first).filter(pl.col("questions") > 1)
        said = pl.format("{} questions with one problem", "questions").alias("doubt")
        cure = pl.lit("give them one reference_id: intervals count them as different questions").alias("mended_by")
        found.append(several.group_by(said).agg(pl.col("rows").sum(), pl.col("first").min()).with_columns(cure))
    frame = (
        pl.concat(found).sort("rows", "doubt", descending=[True, False]).head(MOST_KINDS).collect()
        if found
        else NOTHING
    )
    return frame if frame.height else NOTHING


FAILED = "pddl_eval.failed"
"""The column of ``count_rows`` for rows that were not scored."""


def count_rows(scored: Scored, by: Sequence[str]) -> pl.DataFrame:
    """How many ``rows`` there are by groups, verdicts, whether they failed, and by pair whether nothing was compared.

    One question for all counts: each opens every file of the dataset.
    """
    columns = {known.verdict for known in OUTCOMES.values()}
    said = [pl.col(name) if name in scored.schema else pl.lit(None, pl.String).alias(name) for name in sorted(columns)]
    failed = pl.col("score_error").is_not_null() if "score_error" in scored.schema else pl.lit(False)
    keys = [*map(group_key, by), *said, failed.alias(FAILED), *scored.nothing_compared()]
    return scored.frame.group_by(keys).agg(ROWS).collect(engine="streaming")


def verdicts(counts: pl.DataFrame, by: Sequence[str]) -> pl.DataFrame:
    """One row for each group and verdict: its ``rows`` and their ``percent`` of the group, mistakes in the data too."""
    total = pl.col("rows").sum().over(by) if by else pl.col("rows").sum()
    found = (
        group_at(counts.lazy().drop_nulls("verdict"), by, ["verdict"], pl.col("rows").sum())
        .with_columns((100 * pl.col("rows") / total).alias("percent"))
        .sort("rows", "verdict", descending=[True, False])
        .collect()
    )
    return NOTHING if found.is_empty() else in_order(found, by)


def kind_of_detail(detail: pl.Expr) -> pl.Expr:
    """What a detail says under any names of objects: details that differ only in names are of one kind.

    >>> details = pl.DataFrame({"detail": ["5 objects instead of 6: b6 is missing", "the goal asks for (on b1 b2)"]})
    >>> details.select(kind_of_detail(pl.col("detail"))).to_series().to_list()
    ['# objects instead of #: b# is missing', 'the goal asks for (on …)']
    """
    atoms = detail.str.slice(0, DETAIL_CHARACTERS).str.replace_all(r"\(([^\s()`]+)\s[^()]*\)", "($1 …)")
    return atoms.str.replace_all(r"[0-9]+", "#")


def in_turn(found: pl.LazyFrame) -> pl.LazyFrame:
    """A line for each ``row`` that a line lists, with its ``turn``: 0 for the first, 1 for the second, …"""
    turn = pl.int_ranges(pl.col("row").list.len()).alias("turn")
    return found.with_columns(pl.col("row").list.sort(), turn).explode("row", "turn")
