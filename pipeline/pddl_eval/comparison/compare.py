"""The whole comparison of two scored datasets as one value of small frames."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import polars as pl

from pddl_eval.comparison.deltas import deltas, levels
from pddl_eval.comparison.rows import (
    IN_NEW,
    IN_OLD,
    choose_keys,
    group,
    new,
    old,
    rate_names,
    right_pairs,
    score_names,
    side_by_side,
)
from pddl_eval.errors import UserError
from pddl_eval.report.groups import choose_groups, in_order, level_keys
from pddl_eval.report.scored import ROW, Scored, ScoredInput, open_scored

MOST_EXAMPLES = 5

MAX_GROUPS = 1000
"""Of one column: beyond, it identifies rows and does not group them."""

DETAILS = ("detail", "plan_detail", "domain_detail")


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two scored datasets row by row, joined ``on`` their keys, grouped ``by`` columns.

    * ``both``, ``added``, ``gone``: keys in both, only in the new one, only in the old one;
    * ``regressions``, ``improvements``: rows right before and not any more, and the other way round. Right is an
      equivalent problem, a plan that reaches the goal (where that is not known: whose plan score is 1), a domain
      without error; not any more is whatever else: wrong, undecided, not scored;
    * ``flips``: by group, how many rows went from which verdict to which other one;
    * ``rates``, ``scores``: by group and measure, what moved (see ``deltas.deltas``);
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
    regressions: int
    improvements: int
    flips: pl.DataFrame
    rates: pl.DataFrame
    scores: pl.DataFrame
    examples: pl.DataFrame

    @property
    def same_signature(self) -> bool:
        """False where rows of the two were scored in different ways, so that differences may be the scorer's."""
        signatures = {signature for each in (self.old, self.new) for signature, _ in each.signatures}
        return len(signatures) < 2


def compare_datasets(
    before: ScoredInput, after: ScoredInput, *, on: Sequence[str] | None = None, by: str | Sequence[str] | None = None
) -> Comparison:
    """Compare two scored datasets (places or frames).

    ``on`` are the columns that identify a row in both (default: ``pair_id``, else ``id``), ``by`` those to group by
    (default: ``model`` and ``domain`` where the new dataset has them). Raises ``DatasetError`` for what cannot be read,
    ``ValueError`` for columns that do not fit and for keys that repeat.

    >>> monday = pl.DataFrame({"id": [1, 2], "equivalent": [True, False], "verdict": ["identical", "goal_differs"]})
    >>> tuesday = pl.DataFrame({"id": [2, 1], "equivalent": [True, False], "verdict": ["equivalent", "unparseable"]})
    >>> found = compare_datasets(monday, tuesday)
    >>> found.regressions, found.improvements, found.both
    (1, 1, 2)
    """
    first, second = open_scored(before), open_scored(after)
    keys = choose_keys(first, second, on)
    groups = choose_groups(second.schema, by)
    lines = side_by_side(first, second, keys, groups)
    _refuse_identifiers(lines, groups)
    pairs = right_pairs(first, second)
    both = lines.filter(pl.col(IN_OLD) & pl.col(IN_NEW))
    worse = both.filter(_lost(pairs, old, new))
    return Comparison(
        old=first,
        new=second,
        on=keys,
        by=groups,
        both=both.height,
        added=lines.filter(~pl.col(IN_OLD)).height,
        gone=lines.filter(~pl.col(IN_NEW)).height,
        regressions=worse.height,
        improvements=both.filter(_lost(pairs, new, old)).height,
        flips=_flips(both, groups),
        rates=deltas(lines, groups, rate_names(first, second)),
        scores=deltas(lines, groups, score_names(first, second)),
        examples=_examples(worse.head(MOST_EXAMPLES), second, keys, groups),
    )


def _refuse_identifiers(lines: pl.DataFrame, by: Sequence[str]) -> None:
    for name in by:
        if lines.select(group(name).n_unique()).item() > MAX_GROUPS:
            raise UserError(
                f"column {name} has more than {MAX_GROUPS} values: it identifies rows and does not group them"
            )


def _lost(pairs: Sequence[str], there: Callable[[str], pl.Expr], here: Callable[[str], pl.Expr]) -> pl.Expr:
    """True for the rows of which some answer is right ``there`` and not ``here``."""
    lost = [there(f"right.{pair}").fill_null(False) & ~here(f"right.{pair}").fill_null(False) for pair in pairs]
    return pl.any_horizontal(pl.lit(False), *lost)


def _flips(both: pl.DataFrame, by: Sequence[str]) -> pl.DataFrame:
    changed = both.filter(old("verdict").ne_missing(new("verdict"))).select(
        *map(group, by), old("verdict").alias("old_verdict"), new("verdict").alias("new_verdict")
    )
    parts = [
        changed.group_by(*level_keys(by, level), "old_verdict", "new_verdict").agg(
            pl.len().cast(pl.Int64).alias("rows")
        )
        for level in levels(by)
    ]
    counts = pl.concat(parts).sort("rows", "old_verdict", "new_verdict", descending=[True, False, False])
    return in_order(counts, by)


def _examples(worse: pl.DataFrame, after: Scored, keys: Sequence[str], by: Sequence[str]) -> pl.DataFrame:
    """Keys, groups, verdicts, what the new dataset says about it, and the row's number there."""
    shown = worse.select(
        new(ROW).alias("row"),
        *keys,
        *(group(name) for name in by if name not in keys),
        old("verdict").alias("old_verdict"),
        new("verdict").alias("new_verdict"),
    )
    details = [name for name in DETAILS if name in after.schema]
    said = pl.concat_str(details, separator="; ", ignore_nulls=True) if details else pl.lit(None, pl.String)
    texts = after.frame.filter(pl.col(ROW).is_in(shown["row"].to_list())).select(
        pl.col(ROW).alias("row"), said.alias("detail")
    )
    return shown.join(texts.collect(), on="row", how="left", maintain_order="left")
