"""Two scored datasets compared row by row: which answers got better or worse, which are new or gone, by how much.

It reads the score columns of both and scores nothing. Models of one dataset are compared in its report.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import partial
from typing import Any

import numpy as np
import polars as pl

from pddl_eval.errors import UserError, did_you_mean
from pddl_eval.pages import Cell, Page, Section, Table, Value, change, frame_table, table, words
from pddl_eval.report.files import text_of
from pddl_eval.report.groups import MISSING, at_level, choose_groups, group_at, group_key, in_order
from pddl_eval.report.intervals import Numbers
from pddl_eval.report.keys import DIGEST, PASS_CELLS, common_type, digests, matching_rows
from pddl_eval.report.numbers import CLUSTER, ROWS, as_counted, measures, paired_means
from pddl_eval.report.reasons import OUTCOMES
from pddl_eval.report.scored import (
    CERTIFICATE,
    REFERENCES,
    ROW,
    Scored,
    ScoredInput,
    open_scored,
    unreadable_texts,
)
from pddl_eval.report.sections import COMPUTED, MEASURE_NAMES, SIGNIFICANT, p_cell
from pddl_eval.scoring.columns import DOMAIN_COLUMNS, MEASURES, OPTIONAL, PLAN_COLUMNS
from pddl_eval.shown import line as one_line
from pddl_eval.shown import row_count
from pddl_eval.terminal import plain
from pddl_eval.version import without_version

SIDES = ("OLD", "NEW")
"""What two datasets are called that are not those of two models."""

KEYS = ("pair_id", "id")
"""What identifies a row by default: the first of these that both datasets have."""

MODEL = "model"
"""Part of the key of rows that have no id."""

ASKED = ("reference_id", "sample")
"""Part of it too, also of two models' rows: the question, and which of several answers it is."""

CONTENT = "content of the reference"
"""What the key of rows that have no id is called."""

ENOUGH = 0.9
"""The share of the old dataset's rows that need a partner, for the comparison to say that nothing got worse."""

DIFFERENT = 1e-9
"""Sums of the same fractions in another order differ less."""

NAMES = ("model", "question", "domain", "sample")
"""What an answer that got worse is named by; the question is its ``reference_id``."""

MOST_EXAMPLES = 20

MOST_LINES = 20
"""Of a table of differences."""

MOST_GROUPS = 1000
"""Values of one column: a column with more identifies rows and does not group them."""

CELLS_OF_SCORE = 20
"""Values of a row, and of its reference, that are in memory for each score that is compared."""

BIN = 0.001
"""Differences of scores that are no yes or no are rounded to multiples of that in their test."""

UNDECIDED = float("-inf")
"""The value of a measure that is undecided and counts as no."""

RIGHT = {
    "problem": (("equivalent",), pl.col("equivalent")),
    "plan": (("plan_score", "plan_valid"), pl.coalesce("plan_valid", pl.col("plan_score") == 1)),
    "domain": (
        ("domain_precision", "domain_recall"),
        (pl.col("domain_precision") == 1) & (pl.col("domain_recall") == 1),
    ),
    "answer": (("answer_correct",), pl.col("answer_correct")),
}
"""For each pair of columns: the scores needed, and when an answer is right. A plan is right if it is valid
or, if that is not known, if its plan score is 1."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two scored datasets row by row, joined ``on`` their keys, grouped ``by`` columns.

    ``names`` is what they are called: ``OLD`` and ``NEW``, or two models.

    * ``both``, ``added``, ``gone``: keys in both, only in the new one, only in the old one;
    * ``keyless``: rows of the two whose key is null; they match nothing, so they are in ``added`` and ``gone``;
    * ``strangers``: keys in both whose references differ: another question, left out of all that follows;
    * ``regressions``, ``improvements``: rows that were right and are no longer right, and the reverse. Right is an
      equivalent problem, a plan that reaches the goal (if that is not known: whose plan score is 1), a domain
      without error; everything else is not: wrong, undecided, not scored;
    * ``flips``: by group, how many rows went from which verdict to which other one;
    * ``rates``, ``scores``: by group and measure, ``rows`` in both, ``references``, mean ``old`` and ``new`` over these
      (each has the same weight, with the mean of its answers; of two models, of all their answers to it), their
      ``difference`` with ``low``, ``high`` (95 %) and ``p``, and in how many rows the value ``rose`` or ``fell``;
    * ``moved``: ``row`` (of the new dataset), ``old_row``, ``key`` (a hash), ``worse`` and both verdicts of each
      regression and improvement; ``examples``: the first regressions, in the order of the new dataset;
    * ``compared``: the kinds of answers (``problem``, ``plan``, ``domain``) of which both have scores.

    In ``flips``, ``rates`` and ``scores`` a null in a group's column means all its values together.
    """

    old: Scored
    new: Scored
    names: tuple[str, str]
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
    moved: pl.DataFrame
    examples: pl.DataFrame
    compared: tuple[str, ...]

    def __str__(self) -> str:
        """What was joined, what got worse and better, and which means differ by more than chance."""
        return plain(comparison_page(self, brief=True))

    @property
    def unfinished(self) -> tuple[str, ...]:
        """Which of the two is an unfinished run, in sentences."""
        return tuple(each.unfinished for each in (self.old, self.new) if each.unfinished)

    @property
    def too_few(self) -> str | None:
        """In a sentence, that too little of the old dataset is compared to say that nothing got worse."""
        old, new = self.names
        partners = self.both - self.strangers
        if partners < ENOUGH * self.old.rows:
            return (
                f"Only {partners:,} of the {self.old.rows:,} rows of {old} found a partner in {new}, "
                f"joined on {', '.join(self.on)}: fewer than {ENOUGH:.0%}."
            )
        if lost := [f"{kind}s" for kind in _kinds(self.old) if kind not in self.compared]:
            return f"Scores of {' and '.join(lost)} are in {old} and not in {new}."
        return None if partners and self.compared else f"Nothing of {old} is compared with anything of {new}."

    @property
    def same_signature(self) -> bool:
        """False where rows of the two were scored in different ways, so that the scorer may explain differences."""
        signatures = (*self.old.signatures, *self.new.signatures)
        return len({without_version(signature) for signature, _ in signatures}) < 2

    @property
    def regressed(self) -> pl.Series:
        """The numbers of the rows of the new dataset that regressed."""
        return self.moved.filter("worse")["row"]

    def named(self, rows: Sequence[int]) -> dict[int, dict[str, Any]]:
        """By its number, ``row``, the ``NAMES`` (None without a name) and ``detail`` of rows of NEW."""
        known = {meaning: self.new.column("reference_id" if meaning == "question" else meaning) for meaning in NAMES}
        texts = [
            (pl.lit(None, pl.String) if name is None else group_key(name).replace(MISSING, None)).alias(meaning)
            for meaning, name in known.items()
        ]
        found = _rows_of(self.new, rows, *texts, _detail(self.new).alias("detail"))
        return {each["row"]: each for each in found.to_dicts()}

    def keys_in_new(self) -> set[int]:
        """The keys of all rows of NEW, as in ``moved``."""
        keys = _keys_of(self.new, (self.old, self.new), self.on)
        return {*_read(self.new, {"key": digests(keys)[DIGEST[0]]})["key"]}


@unreadable_texts()
def compare_datasets(  # noqa: PLR0913 (what can be asked of a comparison)
    before: ScoredInput,
    after: ScoredInput | None = None,
    *,
    on: Sequence[str] | None = None,
    by: str | Sequence[str] | None = None,
    models: Sequence[str] | None = None,
    where: str | None = None,
) -> Comparison:
    """Compare two scored datasets (places or frames), or two ``models`` of one.

    ``on`` are the columns that identify a row in both (default: ``pair_id``, else ``id``, else the content of the
    reference with ``model``, ``reference_id`` and ``sample``, where of several rows the right ones are paired first; of
    two models without ``model``). ``by`` are those to group by (default: ``model`` and ``domain`` if the new dataset
    has them); rows whose values differ are a group ``old → new``. ``where`` is a condition in SQL. Raises
    ``DatasetError`` for what cannot be read, ``UserError`` for columns and models that do not fit and for keys that
    repeat.

    >>> monday = pl.DataFrame({"id": [1, 2], "equivalent": [True, False], "verdict": ["identical", "goal_differs"]})
    >>> tuesday = pl.DataFrame({"id": [2, 1], "equivalent": [True, False], "verdict": ["equivalent", "unparseable"]})
    >>> found = compare_datasets(monday, tuesday)
    >>> found.regressions, found.improvements, found.both
    (1, 1, 2)
    """
    sides = _open_sides(before, after, models, where)
    names = (models[0], models[1]) if models else _alone(*sides)
    are_models = names != SIDES
    on = _choose_keys(sides, on, of_one=models is not None, are_models=are_models)
    groups = choose_groups(sides[1].schema, by, sides[1].names)
    groups = tuple(name for name in groups if not are_models or name != sides[1].column(MODEL))
    rates, scores = _common_scores(sides)
    pairs = [pair for pair in RIGHT if all(pair in _kinds(side) for side in sides)]
    keys = [_keys_of(side, sides, on) for side in sides]
    values = [_values_of(side, sides, groups, pairs) for side in sides]
    order = [
        _best_first(side, its, [*rates, *scores]) if on[0] == CONTENT else {}
        for side, its in zip(sides, values, strict=True)
    ]
    known = [
        _read(side, digests(key) | its | first)
        for side, key, its, first in zip(sides, keys, values, order, strict=True)
    ]
    rows = matching_rows(sides, keys, known, [*order[0]])
    keyless = sum(each[DIGEST[0]].null_count() for each in known)
    known = [each.drop(*DIGEST[1:], *order[0]) for each in known]
    places = [_places(each, its) for each, its in zip(known, rows, strict=True)]
    old, new = (each if its is None else each[its] for each, its in zip(known, places, strict=True))
    del known
    # A row that was asked another question is left out of all that follows.
    is_stranger = (old["question"] != new["question"]).fill_null(False)
    kept = rows
    if is_stranger.any():
        kept = [each.filter(~is_stranger) for each in rows]
        old, new = old.filter(~is_stranger), new.filter(~is_stranger)
    lost, won = (_lost(pairs, there, here) for there, here in ((old, new), (new, old)))
    lines = _lines(old, new, groups)
    moved = lines.select("old_verdict", "new_verdict", row=kept[1], old_row=kept[0], worse=lost, key=new[DIGEST[0]])
    moved = moved.filter(lost | won)
    worse = lines.with_columns(row=kept[1]).filter(lost).head(MOST_EXAMPLES)
    del old, new
    deltas = _deltas(sides, kept, lines, groups, [*rates, *scores], are_models=are_models)
    return Comparison(
        old=sides[0],
        new=sides[1],
        names=names,
        on=on,
        by=groups,
        both=len(rows[1]),
        added=sides[1].rows - len(rows[1]),
        gone=sides[0].rows - len(rows[0]),
        keyless=keyless,
        strangers=int(is_stranger.sum()),
        regressions=int(lost.sum()),
        improvements=int(won.sum()),
        flips=_flips(lines, groups),
        rates=deltas.filter(pl.col("measure").is_in(rates)),
        scores=deltas.filter(pl.col("measure").is_in(scores)),
        moved=moved,
        examples=_examples(worse, sides[1], keys[1], groups),
        compared=tuple(pairs),
    )


def _open_sides(
    before: ScoredInput, after: ScoredInput | None, models: Sequence[str] | None, where: str | None
) -> tuple[Scored, Scored]:
    """Two datasets, or the rows of two models of one; raises ``UserError`` if neither was asked for."""
    if (after is None) != (models is not None):
        raise UserError("compare two datasets, or two models of one: --models A,B")
    old, new = open_scored(before, where=where), open_scored(before if after is None else after, where=where)
    if models is None:
        return old, new
    if len(models) != 2:
        raise UserError(f"--models names two models, not {len(models)}")
    return _of_model(old, models[0]), _of_model(new, models[1])


def _common_scores(sides: Sequence[Scored]) -> tuple[list[str], list[str]]:
    """The yes-or-no scores that both have, and the other numbers."""
    rates = [name for name in measures(sides[0]) if name in measures(sides[1])]
    names = (*PLAN_COLUMNS, *DOMAIN_COLUMNS)
    return rates, [name for name in names if all(side.schema.get(name) == pl.Float64 for side in sides)]


def _lines(old: pl.DataFrame, new: pl.DataFrame, by: Sequence[str]) -> pl.DataFrame:
    """The groups, verdicts and cluster of each row that is in both; where groups differ, as of models, both."""
    groups = {}
    for name in by:
        there, here = old[f"group {name}"], new[f"group {name}"]
        both = pl.when(there != here).then(pl.format("{} → {}", there, here)).otherwise(pl.coalesce(here, there))
        groups[name] = pl.select(both).to_series()
        if groups[name].n_unique() > MOST_GROUPS:
            raise UserError(
                f"column {name} has more than {MOST_GROUPS} values: it identifies rows and does not group them"
            )
    return pl.DataFrame(
        {**groups, "old_verdict": old["verdict"], "new_verdict": new["verdict"], CLUSTER: new["cluster"]}
    )


def _kinds(side: Scored) -> list[str]:
    """The kinds of answers of which a dataset says which are right."""
    return [pair for pair, (needed, _) in RIGHT.items() if all(name in side.schema for name in needed)]


def _alone(old: Scored, new: Scored) -> tuple[str, str]:
    """The models of both, if each has one and they differ; else what two datasets are called."""
    found = []
    for side in (old, new):
        column = side.column(MODEL)
        values: list[str | None] = []
        if column is not None:
            values = side.frame.select(pl.col(column).cast(pl.String).unique()).collect()[column].to_list()
        found.append(values[0] or "" if len(values) == 1 else "")
    return (found[0], found[1]) if all(found) and found[0] != found[1] else SIDES


def _of_model(side: Scored, model: str) -> Scored:
    """The rows of one model; raises ``UserError`` if there are none."""
    column = side.column(MODEL)
    if column is None:
        raise UserError(f"there is no column {side.names.get(MODEL, MODEL)} in {side.name}")
    frame = side.frame.filter(pl.col(column).cast(pl.String) == model)
    rows = int(frame.select(pl.len()).collect().item())
    if not rows:
        known = side.frame.select(pl.col(column).cast(pl.String).unique()).collect()[column].drop_nulls().to_list()
        raise UserError(f"there is no model {model} in {side.name}; {did_you_mean(model, known[:100], 'models')}")
    return replace(side, frame=frame, rows=rows)


def _choose_keys(
    sides: Sequence[Scored], on: Sequence[str] | None, *, of_one: bool, are_models: bool
) -> tuple[str, ...]:
    """What identifies a row: what was asked for, an id, else the content of the reference."""
    common = [name for name in KEYS if all(name in side.schema for side in sides)]
    asked = [name for name in ASKED if all(side.column(name) for side in sides)]
    references = _references(sides)
    if on is None and are_models and (of_one or not common) and (references or "reference_id" in asked):
        return (CONTENT, *asked)
    keys = tuple(dict.fromkeys(on or common[:1]))
    if not keys and references:
        return (CONTENT, *[MODEL] * all(side.column(MODEL) for side in sides), *asked)
    if not keys:
        raise UserError(
            f"neither {' nor '.join(KEYS)} is in both datasets, nor a reference: say with --key what identifies a row"
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


def _keys_of(side: Scored, sides: Sequence[Scored], on: Sequence[str]) -> list[pl.Expr]:
    """The columns of a row's key, of the same types on both sides."""
    if on[0] == CONTENT:
        content = side.content(_references(sides)) if _references(sides) else pl.lit(0, pl.UInt64)
        return [content.alias(CONTENT), *(_text_of(side, name) for name in on[1:])]
    types = [common_type(*(each.schema[name] for each in sides)) for name in on]
    return [pl.col(name).cast(type_ or pl.Null, strict=False) for name, type_ in zip(on, types, strict=True)]


def _text_of(side: Scored, meaning: str) -> pl.Expr:
    """A part of a key; answers without a model or a sample are of one, those without a question match nothing."""
    text = pl.col(side.column(meaning) or meaning).cast(pl.String).alias(meaning)
    return text if meaning == "reference_id" else text.fill_null("")


def _values_of(side: Scored, sides: Sequence[Scored], by: Sequence[str], pairs: Sequence[str]) -> dict[str, pl.Expr]:
    """What is compared of a row besides its scores."""
    absent = pl.lit(None, pl.String)
    references = _references(sides)
    verdicts = [known.verdict for known in OUTCOMES.values()]
    verdict = next((name for name in verdicts if all(name in each.schema for each in sides)), verdicts[0])
    return {
        "question": side.content([CERTIFICATE] if CERTIFICATE in references else references),
        "cluster": side.clusters()[0] if side is sides[1] else pl.lit(None, pl.UInt64),
        "verdict": pl.col(verdict) if verdict in side.schema else absent,
        **{f"right {pair}": RIGHT[pair][1] for pair in pairs},
        **{f"group {name}": group_key(name) if name in side.schema else absent for name in by},
    }


def _best_first(side: Scored, values: Mapping[str, pl.Expr], names: Sequence[str]) -> dict[str, pl.Expr]:
    """The order of rows without ids: the right ones first, then by all values, so that no order of files matters."""
    right, groups = ([each for name, each in values.items() if name.startswith(kind)] for kind in ("right ", "group "))
    rest = [values[name] for name in ("question", "cluster", "verdict")]
    counted, scores = [side.is_counted(name) for name in names], [as_counted(side, name) for name in names]
    order = [*(~each.fill_null(False) for each in right), *counted, *rest, *scores, *groups]
    return {f"pddl_eval.rank.{number}": each for number, each in enumerate(order)}


def _read(side: Scored, values: Mapping[str, pl.Expr]) -> pl.DataFrame:
    """Values of all rows by their names, beside the numbers of the rows."""
    return side.frame.select(ROW, **values).collect(engine="streaming")


def _places(known: pl.DataFrame, rows: pl.Series) -> pl.Series | None:
    """Where some rows are in what ``_read`` has read: where rows are left out, their numbers are not their places.

    None where they are all rows, in their order, as of two nights.
    """
    numbers = known[ROW]
    if len(rows) == len(numbers) and (rows == numbers).all():
        return None
    return rows if not known.height or numbers[-1] == known.height - 1 else numbers.search_sorted(rows)


def _lost(pairs: Sequence[str], there: pl.DataFrame, here: pl.DataFrame) -> pl.Series:
    """True for the rows with an answer that is right ``there`` and not ``here``."""
    lost = pl.repeat(False, here.height, dtype=pl.Boolean, eager=True)
    for name in (f"right {pair}" for pair in pairs):
        lost |= there[name].fill_null(False) & ~here[name].fill_null(False)
    return lost


def _levels(by: Sequence[str]) -> list[tuple[str, ...]]:
    """All rows together, then each column to group by alone."""
    return [(), *((name,) for name in by)]


def _flips(lines: pl.DataFrame, by: Sequence[str]) -> pl.DataFrame:
    verdicts = ("old_verdict", "new_verdict")
    changed = lines.lazy().filter(pl.col("old_verdict").ne_missing(pl.col("new_verdict")))
    counts = group_at(changed, by, verdicts, ROWS, at=_levels(by))
    return in_order(counts.sort("rows", *verdicts, descending=[True, False, False]).collect(), by)


def _deltas(  # noqa: PLR0913 (the two sides, what is compared, and how)
    sides: Sequence[Scored],
    rows: Sequence[pl.Series],
    lines: pl.DataFrame,
    by: Sequence[str],
    names: Sequence[str],
    *,
    are_models: bool,
) -> pl.DataFrame:
    """How much the means of some scores moved, with interval and p-value. A rate is a mean of 0 and 1.

    As in ``report.numbers``, rows whose reference is a mistake in the data do not count, and an undecided measure
    counts as no; any other null has no value. A score that one of the two did not compute is left out. Of two models
    all answers to a question count, as in their report; else the rows that are in both.
    """
    asked = [_answers(side, by) for side in sides] if are_models else []
    # An empty side: nothing says which question it was.
    alike = bool(asked) and not any(each.is_empty() for each in asked)
    answers = _alike(asked, by) if alike else []
    units, of = _distinct(pl.concat(each.select(*by, CLUSTER) for each in (lines, *answers)))
    in_both, *theirs = np.split(of, np.cumsum([each.height for each in (lines, *answers)])[:-1])
    levels = []
    for level in _levels(by):
        # A unit is a reference in each group: at the last level nothing is left to be added up.
        references, place = (units, None) if level == tuple(by) else _distinct(units.select(*level, CLUSTER))
        levels.append((level, _members(references, level), place))
    found: list[dict[str, Any]] = []
    at_a_time = max(1, PASS_CELLS // max(1, lines.height) // CELLS_OF_SCORE)
    for first in range(0, len(names), at_a_time):
        for name, pair, values in _pairs_of_scores(sides, rows, answers, names[first : first + at_a_time]):
            both = ~np.isnan(pair).any(axis=0)
            pair, unit = (pair, in_both) if both.all() else (pair[:, both], in_both[both])
            if all((each > UNDECIDED).any() for each in values or pair):
                gaps = np.diff(np.where(pair == UNDECIDED, 0, pair), axis=0)[0]
                counts = [(np.ones(len(unit)), unit), (gaps > 0, unit), (gaps < 0, unit)]
                for each, its in zip(values or pair, theirs or [unit] * 2, strict=True):
                    counts += [(np.where(each > UNDECIDED, each, 0), its), (~np.isnan(each), its)]
                sums = np.array([np.bincount(its, each, units.height) for each, its in counts])
                found += _moves(name, sums, levels, by)
    floats = dict.fromkeys(("old", "new", "difference", "low", "high"), pl.Float64)
    counted = dict.fromkeys(("rows", "references"), pl.Int64)
    schema = {**dict.fromkeys([*by, "measure"], pl.String), **counted, **floats, "p": pl.Float64}
    return in_order(pl.DataFrame(found, schema={**schema, "rose": pl.Int64, "fell": pl.Int64}), by)


def _pairs_of_scores(
    sides: Sequence[Scored], rows: Sequence[pl.Series], answers: Sequence[pl.DataFrame], names: Sequence[str]
) -> Iterator[tuple[str, Numbers, list[Numbers]]]:
    """Scores of the rows that are in both, and of both sides' answers where these are not the same rows."""
    known = [_read(side, {name: _score(side, name) for name in names}) for side in sides]
    names = [name for name in names if all(each[name].null_count() < each.height for each in known)]
    paired = [_places(each, numbers) for each, numbers in zip(known, rows, strict=True)]
    given = [_places(each, answer[ROW]) for each, answer in zip(known, answers, strict=False)]
    for name in names:
        columns = [each.drop_in_place(name) for each in known]
        pair, alone = (
            [(each if its is None else each.gather(its)).to_numpy() for each, its in zip(columns, places, strict=False)]
            for places in (paired, given)
        )
        yield name, np.array(pair), alone


def _score(side: Scored, name: str) -> pl.Expr:
    """The values of a score where it counts, else null; ``UNDECIDED`` counts as no."""
    value = as_counted(side, name).cast(pl.Float64)
    no = value if name in OPTIONAL or name not in MEASURES else value.fill_null(UNDECIDED)
    return pl.when(side.is_counted(name)).then(no)


def _answers(side: Scored, by: Sequence[str]) -> pl.DataFrame:
    """The row, groups and question of a model's answers that count."""
    groups = [group_key(each) if each in side.schema else pl.lit(None, pl.String).alias(each) for each in by]
    found = side.frame.filter(side.is_counted()).select(ROW, *groups, side.clusters()[1].alias(CLUSTER))
    return found.collect(engine="streaming").drop_nulls(CLUSTER)


def _alike(answers: Sequence[pl.DataFrame], by: Sequence[str]) -> list[pl.DataFrame]:
    """The answers of both, in the group ``old → new`` where a question is in one group there and another one here."""
    found = list(answers)
    for name in by:
        group, other = pl.col(name), pl.col(f"{name}_right")
        old, new = (
            each.group_by(CLUSTER).agg(group.first(), alone=group.n_unique() == 1).filter("alone") for each in found
        )
        moved = old.join(new, on=CLUSTER).filter(group != other)
        moved = moved.select(CLUSTER, moved=pl.format("{} → {}", group, other))
        joined = (each.join(moved, on=CLUSTER, how="left", maintain_order="left") for each in found)
        found = [each.with_columns(pl.coalesce("moved", name).alias(name)).drop("moved") for each in joined]
    return found


def _distinct(keys: pl.DataFrame) -> tuple[pl.DataFrame, Numbers]:
    """The different lines of a frame, and which of them each of its lines is."""
    hashes = keys.select(pl.struct(pl.all()).hash()).to_series().to_numpy()
    _, first, place = np.unique(hashes, return_index=True, return_inverse=True)
    return keys[first], place


_Groups = dict[tuple[object, ...], Numbers | slice]


def _members(references: pl.DataFrame, level: Sequence[str]) -> _Groups:
    """The places of the references of each group."""
    if not level:
        return {(): slice(None)}
    parts = references.with_row_index(ROW).partition_by(level, as_dict=True)
    return {group: part[ROW].to_numpy() for group, part in parts.items()}


def _moves(
    name: str, sums: Numbers, levels: Sequence[tuple[tuple[str, ...], _Groups, Numbers | None]], by: Sequence[str]
) -> Iterator[dict[str, Any]]:
    """A line for all rows together and for each group, in which each reference has the same weight.

    ``sums`` are those of each reference and group: how many rows there are, rose and fell, then of both sides the sum
    of the values and their number.
    """
    for level, groups, place in levels:
        of_level = sums if place is None else np.array([np.bincount(place, each) for each in sums])
        for group, members in groups.items():
            of_group = of_level[:, members]
            is_counted = (of_group[4] > 0) & (of_group[6] > 0)
            old, old_times, new, new_times = of_group[3:] if is_counted.all() else of_group[3:, is_counted]
            if len(old):
                step = None if name in MEASURES else BIN
                known = paired_means(new / new_times, old / old_times, np.array([new_times, old_times]), step)
                yield {
                    **dict.fromkeys(by),
                    **dict(zip(level, group, strict=True)),
                    "measure": name,
                    **dict(zip(("rows", "rose", "fell"), map(int, of_group[:3].sum(axis=1)), strict=True)),
                    **{"references": known["references"], "old": known["second"], "new": known["first"]},
                    **{each: known[each] for each in ("difference", "low", "high", "p")},
                }


def _rows_of(side: Scored, rows: Iterable[int], *values: pl.Expr) -> pl.DataFrame:
    """Values of a few rows, by their numbers."""
    wanted = side.frame.filter(pl.col(ROW).is_in([*rows])).select(pl.col(ROW).alias("row"), *values)
    return wanted.collect(engine="streaming")


def _detail(after: Scored) -> pl.Expr:
    """What a dataset says about a row."""
    details_of = {pair: pl.col(known.sentence) for pair, known in OUTCOMES.items() if known.sentence in after.schema}
    details = [
        pl.when(detail != "").then(f"{pair}: " + detail if len(details_of) > 1 else detail)
        for pair, detail in details_of.items()
    ]
    return pl.concat_str(details, separator="; ", ignore_nulls=True) if details else pl.lit(None, pl.String)


def _examples(worse: pl.DataFrame, after: Scored, keys: Sequence[pl.Expr], by: Sequence[str]) -> pl.DataFrame:
    """The row's number in the new dataset, keys, groups, verdicts, and what the new dataset says about it."""
    shown = [key for key in keys if key.meta.output_name() != CONTENT]
    names = [key.meta.output_name() for key in shown]
    texts = _rows_of(after, worse["row"], *shown, _detail(after).alias("detail"))
    groups = [name for name in by if name not in names]
    found = worse.drop([name for name in by if name in names]).join(texts, on="row", how="left", maintain_order="left")
    return found.select("row", *names, *groups, "old_verdict", "new_verdict", "detail")


def comparison_text(comparison: Comparison, form: str) -> str:
    """The comparison as ``terminal``, ``md``, ``tex``, ``html``, ``json`` (all of it) or ``csv`` (rates and scores)."""
    known = {field.name: getattr(comparison, field.name) for field in fields(comparison)}
    del known["moved"]  # There may be a million; how many is in ``regressions``.
    known = {"same_signature": comparison.same_signature, "unfinished": comparison.unfinished, **known}
    main = pl.concat([comparison.rates, comparison.scores])
    return text_of(form, partial(comparison_page, comparison), main, known)


def comparison_page(comparison: Comparison, *, brief: bool = False) -> Page:
    """The comparison as a page: what was joined, and tables of what differs. What is equal in both is not shown.

    A ``brief`` page has of the means only those of which p says that they differ, and names no answers.
    """
    old, new, by = comparison.old, comparison.new, comparison.by
    first, second = (one_line(name) for name in comparison.names)
    title = f"{first}: {old.name}, {second}: {new.name}"
    if old.name == new.name:
        title = f"{first} and {second} of {old.name}"
    warning = (
        "The datasets were scored in different ways, so a difference may come from the scorer, not the answers. "
        f"{first}: {_signatures(old)}. {second}: {_signatures(new)}."
    )
    facts = [
        f"{row_count(comparison.both)} in both, joined on {', '.join(comparison.on)}; "
        f"{comparison.gone:,} only of {first}, {comparison.added:,} only of {second}.",
        f"{row_count(comparison.regressions)} right in {first} and not in {second}, "
        f"{comparison.improvements:,} right in {second} and not in {first}.",
        f"{row_count(comparison.keyless)} of {first} and {second} have an empty key, which matches nothing."
        * bool(comparison.keyless),
        f"{row_count(comparison.strangers)} in both have another reference in {second} than in {first}: "
        "another question, left out of all below." * bool(comparison.strangers),
    ]
    rates, scores = comparison.rates, comparison.scores
    means = "Means, intervals (95 %) and p (exact sign-flip test) count references, not rows."
    computed = [means] if rates.height or scores.height else []
    computed += [f"Signature: {_signatures(new)}"] if comparison.same_signature and new.signatures else []
    if brief:
        certain = pl.col("p") < SIGNIFICANT
        moved = sum(frame.filter(_differs(by), ~certain).height for frame in (rates, scores))
        rates, scores = (frame.filter(certain) for frame in (rates, scores))
        places = [shlex.quote(each.place) for each in (old, new) if each.place]
        more = f": pddl-eval compare {' '.join(places)}" if len(places) == 2 else ""
        facts.append(
            f"Rates and means that differ by no more than chance (p ≥ {SIGNIFICANT}): {moved:,}{more}" * bool(moved)
        )
        computed = []
    flips: dict[str, Any] = {
        f"verdict in {first}": lambda each: _verdict(each["old_verdict"]),
        f"verdict in {second}": lambda each: _verdict(each["new_verdict"]),
        "rows": "rows",
    }
    together = at_level(comparison.flips, by, ())
    tables = [
        _moved("Rates in percent", "share", rates, comparison),
        _moved("Mean scores", "score", scores, comparison),
        *([] if brief else [_example_table(comparison)]),
        frame_table("Verdicts that differ", together, flips, texts=1, most=MOST_LINES),
    ]
    said = [*comparison.unfinished, comparison.too_few or "", "" if comparison.same_signature else warning]
    sections = [
        Section("", (), [each for each in tables if each.rows]),
        *[Section(COMPUTED, computed)] * bool(computed),
    ]
    return Page(title, [*filter(None, said)], [*filter(None, facts)], sections)


def example_cells(comparison: Comparison, each: Mapping[str, Any]) -> list[Value]:
    """The row, the verdicts and the detail of a line of ``examples``, with the command that tells more."""
    return [
        str(each["row"]),
        f"{_verdict(each['old_verdict'])} → {_verdict(each['new_verdict'])}",
        Cell(each["detail"] or "", command=comparison.new.explain_command(each["row"]) or ""),
    ]


def _example_table(comparison: Comparison) -> Table:
    keys = list(dict.fromkeys([*comparison.on, *comparison.by]))
    lines: list[list[Value]] = [
        [*(str(each["row" if key == CONTENT else key]) for key in keys), *example_cells(comparison, each)[1:]]
        for each in comparison.examples.to_dicts()
    ]
    first, second = comparison.names
    caption = f"Right in {first} and not in {second}: the first of {row_count(comparison.regressions)}"
    names = [f"row of {second}" if key == CONTENT else key for key in keys]
    return table(caption, [*names, "verdict", "detail"], lines, labels=len(keys), texts=2)


def _moved(what: str, measure: str, frame: pl.DataFrame, comparison: Comparison) -> Table:
    """How much the means moved (rates in percent), of all rows and of groups, where any row differs."""
    by, (first, second) = comparison.by, comparison.names
    times, decimals = (100, 1) if measure == "share" else (1, 3)
    lines: list[list[Value]] = []
    for line in frame.filter(_differs(by)).to_dicts():
        means = [f"{times * line[name]:.{decimals}f}" for name in ("old", "new")]
        low, high = (None if line[end] is None else times * line[end] for end in ("low", "high"))
        gap = change(times * line["difference"], low, high, decimals)
        name = MEASURE_NAMES.get(line["measure"], words(line["measure"]))
        p_value = p_cell(line["p"])
        lines.append([*_groups(line, by), name, *means, gap, p_value, line["rows"], line["rose"], line["fell"]])
    header = [*by, measure, first, second, "difference", "p", "rows", f"higher in {second}", f"lower in {second}"]
    caption = f"{what}, means over references, where they differ"
    return table(caption, header, lines, labels=len(by) + 1, most=MOST_LINES)


def _differs(by: Sequence[str]) -> pl.Expr:
    """True for means that moved, but for those of a group of all rows, which would only repeat them."""
    every = pl.all_horizontal(pl.lit(True), pl.col(by).is_null())
    shown = every | (pl.col("rows") < pl.col("rows").max().over("measure"))
    return shown & ((pl.col("rose") + pl.col("fell") > 0) | (pl.col("difference").abs() > DIFFERENT))


def _groups(line: Mapping[str, Any], by: Sequence[str]) -> list[str]:
    return ["all" if line[name] is None else line[name] for name in by]


def _verdict(name: str | None) -> str:
    return words(name or "–")


def _signatures(side: Scored) -> str:
    return "; ".join(f"{signature or 'none'} ({row_count(rows)})" for signature, rows in side.signatures) or "none"
