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


def reasons(scored: Scored, by: Sequence[str]) -> tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame]:
    """What became of plans and domains: ``verdicts`` of each ``pair``, and both frames of ``details``.

    >>> from pddl_eval.report.scored import open_scored
    >>> scored = {"domain_verdict": ["renamed", "empty"], "domain_detail": ["", "there is no domain"]}
    >>> outcomes, kinds, _ = reasons(open_scored(pl.DataFrame(scored)), [])
    >>> outcomes.rows()
    [('domain', 'empty', 1, 50.0), ('domain', 'renamed', 1, 50.0)]
    >>> kinds.rows()
    [('domain', 'empty', 'there is no domain', 1, 100.0)]
    """
    found: list[tuple[pl.DataFrame, ...]] = []
    for pair, known in list(OUTCOMES.items())[1:]:
        if scored.schema.get(known.verdict) == scored.schema.get(known.sentence) == pl.String:
            frames = (verdicts(count_rows(scored, by, known.verdict), by), *details(scored, by, pair))
            found.append(tuple(frame.select(pl.lit(pair).alias("pair"), pl.all()) for frame in frames))
    outcomes, kinds, examples = (
        pl.concat([frames[place] for frames in found if frames[place].width > 1] or [NOTHING]) for place in range(3)
    )
    return outcomes, kinds, examples


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


def count_rows(scored: Scored, by: Sequence[str], name: str = "verdict") -> pl.DataFrame:
    """How many ``rows`` there are by the columns to group by and ``verdict`` (null where it is missing)."""
    verdict = pl.col(name) if name in scored.schema else pl.lit(None, pl.String)
    keys = [*map(group_key, by), verdict.alias("verdict")]
    return group_at(scored.frame, (), keys, ROWS, at=[()]).collect(engine="streaming")


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
    atoms = detail.str.slice(0, DETAIL_CHARACTERS).str.replace_all(r"\(([^\s()]+)\s[^()]*\)", "($1 …)")
    return atoms.str.replace_all(r"[0-9]+", "#")


def details(scored: Scored, by: Sequence[str], pair: str = "problem") -> tuple[pl.DataFrame, pl.DataFrame]:
    """The commonest kinds of detail, and some rows of each verdict that is not right.

    Kinds have their verdict, ``rows`` and ``percent`` of the rows that are not right. The rows, those of the commonest
    verdict first, have ``row``, groups, ``detail`` and the ``command`` to explain them: of a verdict, the first row of
    its commonest kind of detail, then that of the second, …, then second rows.
    """
    known = OUTCOMES[pair]
    if not scored.schema.get(known.verdict) == scored.schema.get(known.sentence) == pl.String:
        return NOTHING, NOTHING
    verdict = pl.col(known.verdict)
    wrong = verdict.is_not_null() & ~verdict.is_in(known.right)
    kind = kind_of_detail(known.reason.fill_null("")).alias("kind")
    first_rows = pl.col(ROW).bottom_k(EXAMPLES).alias("row")
    query = scored.frame.filter(wrong).group_by(verdict.alias("verdict"), kind).agg(ROWS, first_rows)
    found = query.sort("rows", "verdict", "kind", descending=[True, False, False]).collect(engine="streaming")
    if found.is_empty():
        return NOTHING, NOTHING
    percent = (100 * pl.col("rows") / pl.col("rows").sum()).alias("percent")
    kinds = found.select("verdict", "kind", "rows", percent).head(MOST_KINDS)
    chosen = (
        in_turn(found.lazy().with_columns(pl.col("rows").sum().over("verdict")))
        .sort("turn", maintain_order=True)
        .group_by("verdict", maintain_order=True)
        .head(EXAMPLES)
        .sort("rows", "verdict", descending=[True, False], maintain_order=True)
        .select("verdict", "row")
        .collect()
    )
    wanted = chosen["row"].to_list()
    only = "" if pair == "problem" else f" --only {pair}"
    commands = [command and command + only for command in map(scored.explain_command, wanted)]
    texts = scored.frame.filter(pl.col(ROW).is_in(wanted)).select(
        pl.col(ROW).alias("row"),
        *map(group_key, by),
        pl.col(known.sentence).str.slice(0, DETAIL_CHARACTERS).alias("detail"),
    )
    examples = (
        chosen.lazy()
        .with_columns(pl.Series("command", commands, pl.String))
        .join(texts.collect(engine="streaming").lazy(), on="row", maintain_order="left")
        .select("verdict", pl.col("row").cast(pl.Int64), *by, "detail", "command")
    )
    return kinds, examples.collect()


def in_turn(found: pl.LazyFrame) -> pl.LazyFrame:
    """A line for each ``row`` that a line lists, with its ``turn``: 0 for the first, 1 for the second, …"""
    turn = pl.int_ranges(pl.col("row").list.len()).alias("turn")
    return found.with_columns(pl.col("row").list.sort(), turn).explode("row", "turn")
