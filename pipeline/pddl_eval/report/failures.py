"""The rows of a scored dataset that are not right, a bounded number of them, taken in turn from every group."""

from __future__ import annotations

import polars as pl

from pddl_eval.definition.metrics import DOMAIN, PLAN, PROBLEM
from pddl_eval.report.build import Report
from pddl_eval.report.groups import group_key
from pddl_eval.report.numbers import DETAIL_CHARACTERS, RIGHT, ROWS, in_turn
from pddl_eval.report.reasons import OUTCOMES
from pddl_eval.report.scored import ROW, Scored, open_scored

ANSWER = "pddl_eval.answer"


def failing_rows(report: Report, most: int) -> tuple[pl.DataFrame, int]:
    """At most ``most`` rows of a report's dataset that are not right, and how many there are in all.

    A column for each of ``row``, the groups, ``verdict`` (of the problem, else what is wrong with the plan or the
    domain), ``detail``, and ``ANSWER``: the meaning of the column with what is wrong. After the report's examples, each
    group and verdict gives its first row, then each its second, and so on: a frequent verdict does not crowd out a rare
    one. Raises as ``build_report``.
    """
    scored = open_scored(report.place or pl.DataFrame())
    verdict, detail, answer = _reasons(scored)
    groups = [group_key(name) for name in report.by]
    examples = [row for frame in (report.examples, report.reason_examples) if frame.height for row in frame["row"]]
    # Of each group only the first rows are kept: no group can have more of those that are chosen.
    rows = pl.col(ROW).bottom_k(most).alias("row")
    failed = scored.frame.with_columns(verdict.alias(_VERDICT)).filter(pl.col(_VERDICT).is_not_null())
    found = failed.group_by(*groups, _VERDICT).agg(ROWS, rows).collect(engine="streaming")
    chosen = (
        in_turn(found)
        .sort(~pl.col("row").is_in(examples), "turn", "row")
        .select(pl.col("row").cast(pl.Int64))
        .drop_nulls()
        .head(most)
    )
    texts = scored.frame.filter(pl.col(ROW).is_in(chosen["row"].to_list())).select(
        pl.col(ROW).cast(pl.Int64).alias("row"),
        *groups,
        verdict.str.slice(0, DETAIL_CHARACTERS).alias("verdict"),
        detail.str.slice(0, DETAIL_CHARACTERS).fill_null("").alias("detail"),
        answer.alias(ANSWER),
    )
    return chosen.join(texts.collect(engine="streaming"), on="row", maintain_order="left"), int(found["rows"].sum())


_VERDICT = "pddl_eval.verdict"


def _reasons(scored: Scored) -> tuple[pl.Expr, pl.Expr, pl.Expr]:
    """What is wrong with each row, null where nothing is, the sentence that says more, and what holds the answer."""
    nothing = pl.lit(None, pl.String)
    wrong = {
        "verdict": (~pl.col("verdict").is_in(RIGHT), pl.col("verdict"), "detail"),
        "plan_valid": (~pl.col("plan_valid"), pl.lit("plan not valid"), "plan_detail"),
        "goal_reached": (~pl.col("goal_reached"), pl.lit("goal not reached"), "plan_detail"),
        "domain_verdict": (
            ~pl.col("domain_verdict").is_in(OUTCOMES["domain"].right),
            pl.lit("domain: ") + pl.col("domain_verdict"),
            "domain_detail",
        ),
        "score_error": (pl.col("score_error").is_not_null(), pl.lit("not scored"), "score_error"),
    }
    holders = {"detail": PROBLEM.generated, "plan_detail": PLAN.generated, "domain_detail": DOMAIN.generated}
    reason = detail = answer = nothing
    for column, (fails, said, sentence) in reversed(wrong.items()):
        if column in scored.schema:
            more = pl.col(sentence) if sentence in scored.schema else nothing
            holder = pl.lit(holders.get(sentence), pl.String)
            reason, detail, answer = (
                pl.when(fails).then(now).otherwise(then)
                for now, then in ((said, reason), (more, detail), (holder, answer))
            )
    return reason, detail, answer
