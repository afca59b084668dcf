"""Why plans and domains fail: what became of them, with the commonest details, as ``numbers`` has it for problems."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import polars as pl

from pddl_eval.report.numbers import NOTHING, count_rows, details, verdicts
from pddl_eval.report.scored import Scored
from pddl_eval.scoring.columns import PAIRS, VERDICTS, Pair


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
            columns = {"verdict": pl.col(known.verdict), "detail": pl.col(known.sentence)}
            schema = pl.Schema({**scored.schema, **dict.fromkeys(columns, pl.String())})
            seen = replace(scored, frame=scored.frame.with_columns(**columns), schema=schema)
            kinds, examples = details(seen, by, known.right, known.reason)
            if examples.height:
                examples = examples.with_columns(pl.col("command") + f" --only {pair}")
            frames = (verdicts(count_rows(seen, by), by), kinds, examples)
            found.append(tuple(frame.select(pl.lit(pair).alias("pair"), pl.all()) for frame in frames))
    if not found:
        return NOTHING, NOTHING, NOTHING
    outcomes, kinds, examples = (
        pl.concat([frame for frame in frames if frame.width > 1] or [NOTHING]) for frames in zip(*found, strict=True)
    )
    return outcomes, kinds, examples
