"""The rows of a scored dataset for a reader to browse: a bounded number, in turn from every group and verdict."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import polars as pl

from pddl_eval.columns import MEANINGS
from pddl_eval.pages import CELL_CHARACTERS, words
from pddl_eval.report.groups import group_key, label_column
from pddl_eval.report.numbers import LABEL_CHARACTERS, ROWS, counts_in, measures, question_label
from pddl_eval.report.reasons import DETAIL_CHARACTERS, OUTCOMES, in_turn
from pddl_eval.report.scored import ROW, Scored, open_scored
from pddl_eval.report.sections import COUNTED, MEASURE_NAMES
from pddl_eval.scoring.columns import PAIRS, SCORE_COLUMNS, Pair, without_thinking

if TYPE_CHECKING:
    from pddl_eval.report.build import Report

PREVIEW_CHARACTERS = LABEL_CHARACTERS
"""How much of an answer, a prompt or another column the table shows."""

PROMPTS = ("prompt", "question_text", "natural_language", "description", "instruction", "question", "input", "messages")
"""Columns that hold what was asked: the first that there is."""

BETWEEN = ", "
"""Between the measures in the column ``COUNTED``: ``rows.js`` filters by each of them."""

MOST_COLUMNS = 12
"""Other columns of the dataset in the table."""

OPENING, LAST_OPENING = r"(?is)(\(\s*define\b.{0,200})", r"(?is).*(\(\s*define\b.{0,200})"
"""Where PDDL begins: previews start there, not at ``Here is the problem:``; and where the last draft does."""


@dataclass(frozen=True, slots=True)
class Listed:
    """Rows of a dataset, those that are not right first.

    ``frame`` has for each ``row`` its texts in the columns ``header``, and besides them ``right``, ``detail``,
    ``answer`` (how it begins), and ``asked``, a hash of the question, null if nothing tells it. ``verdicts`` are the
    names of the columns with verdicts, ``others`` those of the dataset that are only shown if asked for, ``prompt`` the
    column that holds what was asked, ``label`` the one that tells references apart. In all the dataset has
    ``rows``, of which ``wrong`` are not right.
    """

    frame: pl.DataFrame
    header: tuple[str, ...]
    verdicts: tuple[str, ...]
    others: tuple[str, ...]
    prompt: str | None
    rows: int
    wrong: int
    label: str

    @property
    def shown(self) -> tuple[str, ...]:
        """The names in the header but those of ``others``."""
        return self.header[: len(self.header) - len(self.others)]


def listed_rows(report: Report, most: int, only: Sequence[int] | None = None) -> Listed:
    """At most ``most`` rows of a report's dataset (or ``only`` of some); raises as ``build_report``.

    After the report's examples, each group and verdict gives its first row, then each its second, and so on: a
    frequent verdict does not crowd out a rare one.
    """
    scored = open_scored(report.place or pl.DataFrame(), report.columns, report.where)
    if only is not None:
        scored = replace(scored, frame=scored.frame.filter(pl.col(ROW).is_in(list(only))))
    known = _verdicts(scored)
    groups = {name: group_key(name) for name in report.by}
    wrong = pl.any_horizontal(
        *(~said.is_in(right) & said.is_not_null() for said, right, *_ in known.values()),
        pl.col("score_error").is_not_null() if "score_error" in scored.schema else False,
    )
    examples = [row for frame in (report.examples, report.reason_examples) if frame.height for row in frame["row"]]
    keys = [*groups.values(), *(said.alias(f"{_KEY}.{name}") for name, (said, *_) in known.items())]
    # Of each group only the first rows are kept: no group can have more of those that are chosen.
    rows = pl.col(ROW).bottom_k(most).alias("row")
    grouped = scored.frame.group_by(*keys, wrong.alias(_KEY)).agg(ROWS, rows).collect(engine="streaming")
    chosen = (
        in_turn(grouped.lazy())
        .sort(~pl.col("row").is_in(examples), "turn", ~pl.col(_KEY), "row")
        .select(pl.col("row").cast(pl.Int64), pl.int_range(pl.len()).alias("turn"))
        .drop_nulls("row")
        .head(most)
        .collect()
    )
    # As much as ``shown.line`` looks at: addresses name groups in full, and cells are cut as these are.
    columns = {name: _text(each, 4 * CELL_CHARACTERS) for name, each in _identity(scored, groups).items()}
    columns |= {name: said for name, (said, *_) in known.items()}
    others = {name: _text(each) for name, each in _others(scored, [*columns, *report.by]).items()}
    counted = [pl.when(counts_in(scored, name)).then(pl.lit(MEASURE_NAMES[name])) for name in measures(scored)]
    others |= {COUNTED: pl.concat_str(counted, separator=BETWEEN, ignore_nulls=True)} if counted else {}
    detail, answer = _detail_and_answer(scored, known)
    _, asked, _ = scored.clusters()
    texts = scored.frame.filter(pl.col(ROW).is_in(chosen["row"].to_list())).select(
        pl.col(ROW).cast(pl.Int64).alias("row"),
        *(each.alias(_column(name)) for name, each in {**columns, **others}.items()),
        (~wrong).alias("right"),
        detail.str.slice(0, DETAIL_CHARACTERS).fill_null("").alias("detail"),
        answer.alias("answer"),
        asked.alias("asked"),
    )
    found = chosen.join(texts.collect(engine="streaming"), on="row", maintain_order="left")
    return Listed(
        found,
        (*columns, *others),
        tuple(known),
        tuple(others),
        prompt_column(scored),
        scored.rows,
        int(grouped.filter(_KEY)["rows"].sum()),
        label_column(groups),
    )


_KEY = "pddl_eval.key"


def _column(name: str) -> str:
    """The name of a text's column in ``Listed.frame``: no name of the dataset can be one of its own."""
    return f"text.{name}"


def texts_of(listed: Listed, row: Mapping[str, object]) -> dict[str, str]:
    """The texts of a line of ``Listed.frame``, by the names in its header."""
    return {name: str(row[_column(name)] or "") for name in listed.header}


def _text(value: pl.Expr, most: int = PREVIEW_CHARACTERS) -> pl.Expr:
    return value.cast(pl.String).str.slice(0, most)


def prompt_column(scored: Scored) -> str | None:
    """The column that holds what was asked, None if there is none."""
    taken = {scored.names.get(meaning, meaning) for meaning in MEANINGS}
    return next((name for name in PROMPTS if name not in taken and scored.schema.get(name) == pl.String), None)


def _identity(scored: Scored, groups: Mapping[str, pl.Expr]) -> dict[str, pl.Expr]:
    """What tells rows apart: the question, the groups, the sample."""
    found: dict[str, pl.Expr] = {}
    if (asked := scored.column("reference_id")) is not None:
        found[label_column(groups)] = question_label(pl.col(asked).cast(pl.String))
    found |= groups
    if (sample := scored.column("sample")) is not None:
        found["sample"] = pl.col(sample)
    return found


def _others(scored: Scored, taken: list[str]) -> dict[str, pl.Expr]:
    """Other columns of the dataset, the prompt first, but for the texts that are scored."""
    prompt = prompt_column(scored)
    meanings = {scored.names.get(meaning, meaning) for meaning in MEANINGS}
    names = [*([prompt] if prompt else []), *(name for name in scored.schema if name != prompt)]
    found: dict[str, pl.Expr] = {}
    for name in names:
        shown = "prompt" if name == prompt else name
        known = name in meanings | SCORE_COLUMNS | {ROW} or shown in taken
        if not known and not scored.schema[name].is_nested() and scored.schema[name] != pl.Binary:
            found[shown] = pl.col(name)
    return dict(list(found.items())[:MOST_COLUMNS])


_Verdict = tuple[pl.Expr, tuple[str, ...], str, Pair]
"""What was said, what of it is right, the column that says more, and the pair."""


def _verdicts(scored: Scored) -> dict[str, _Verdict]:
    """The verdicts on problem, plan and domain, in words; those that the dataset has."""
    found: dict[str, _Verdict] = {}
    for pair in PAIRS:
        known = OUTCOMES[pair.name]
        if known.verdict in scored.schema:
            said = pl.col(known.verdict).str.replace_all("_", " ", literal=True)
            found[words(known.verdict)] = said, tuple(map(words, known.right)), known.sentence, pair
        elif pair.name == "plan" and "plan_valid" in scored.schema:  # from before there were verdicts on plans
            reached = pl.col("goal_reached") if "goal_reached" in scored.schema else pl.lit(True)
            reaches = pl.when(~reached).then(pl.lit("goal not reached")).when("plan_valid").then(pl.lit("valid"))
            said = pl.when(~pl.col("plan_valid")).then(pl.lit("not valid")).otherwise(reaches)
            found[words(known.verdict)] = said, ("valid",), known.sentence, pair
    return found


def _detail_and_answer(scored: Scored, known: Mapping[str, _Verdict]) -> tuple[pl.Expr, pl.Expr]:
    """The sentence that says what is wrong, and how that answer begins; of a right row, the first answer."""
    detail, answer = pl.lit(None, pl.String), pl.lit(None, pl.String)
    takes_last = any("|answer:last" in (signature or "") for signature, _ in scored.signatures)
    for only_wrong in (False, True):
        for said, right, sentence, pair in reversed([*known.values()]):
            applies = ~said.is_in(right) if only_wrong else said.is_not_null()
            name = scored.column(pair.generated)
            given = pl.col(name) if name and scored.schema[name] == pl.String else pl.lit(None, pl.String)
            # What was thought was not scored.
            said_aloud = given.map_elements(lambda text: without_thinking(text).lstrip() or None, pl.String)
            start = pl.coalesce(
                said_aloud.str.extract(LAST_OPENING if takes_last else OPENING),
                said_aloud.str.slice(0, PREVIEW_CHARACTERS),
                given.str.slice(0, PREVIEW_CHARACTERS),
            )
            more = pl.col(sentence) if sentence in scored.schema else pl.lit(None, pl.String)
            detail = pl.when(applies).then(more).otherwise(detail)
            answer = pl.when(applies).then(start).otherwise(answer)
    if "score_error" in scored.schema:
        detail = pl.coalesce("score_error", detail)
    return detail, answer
