"""From a table of rows to a table of scores: every column of the input unchanged, then the score columns.

A bad row costs one row: an error inside it is its ``score_error``. Where rows come from and go to is not known here.
``score_frame`` does the same for a frame in a notebook.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import replace
from functools import partial
from math import inf
from time import monotonic, perf_counter_ns
from typing import Any, TypeVar

import pyarrow as pa
import pyarrow.compute as pc

from pddl_eval.columns import ASKED, MEANINGS, SCORED
from pddl_eval.datasets import is_text, values_of
from pddl_eval.definition.budget import or_undecided
from pddl_eval.definition.domains import chosen_domain
from pddl_eval.definition.metrics import ANSWER, DOMAIN, PLAN, PROBLEM, Pair, Row, given
from pddl_eval.definition.options import ScoringOptions
from pddl_eval.definition.verdict import Verdict
from pddl_eval.errors import UserError
from pddl_eval.kernel import read_answer, tables
from pddl_eval.pairs import ColumnError, log_hint, pairs_present
from pddl_eval.process import reraise_interrupt, rows_scored
from pddl_eval.progress import progress
from pddl_eval.scoring.budget import row_budget
from pddl_eval.scoring.columns import FEEDBACK, ROW_COLUMNS
from pddl_eval.scoring.feedback import row_feedback
from pddl_eval.settings import grouped, shows_settings
from pddl_eval.shown import listed, printable, quote

Frame = TypeVar("Frame")
"""``polars.DataFrame`` or ``pandas.DataFrame``."""

CHUNK_ROWS = 256
"""Rows of a frame between two updates of the progress bar."""

MOST_NAMES = 5
"""Names in one sentence, at most."""

KERNEL_KEY = "pddl-eval kernel"
"""In the metadata of a scored table's schema: how many rows the kernel was given, and how many it left, by reason."""

KERNELS = ((PROBLEM, tables.score), (PLAN, tables.score_plans), (DOMAIN, tables.score_domains))
"""The pairs that the kernel scores."""

READERS = {ANSWER.name: read_answer}
"""How rows are read of the pairs of which the kernel knows only a part."""

SCORE_MICROS = "score_micros"

SCORE_ERROR = "score_error"

WITHOUT_SCORES = (Verdict.UNDECIDED.value, Verdict.REFERENCE_INVALID.value)
"""Verdicts that leave scores null although there was a reference."""

CHECKED_ROWS = 1000
"""Rows whose references are read before a run, at most: the first that can be read is enough."""

ARROW_TYPES = {bool: pa.bool_(), int: pa.int64(), float: pa.float64(), str: pa.string()}


def score_table(table: pa.Table, options: ScoringOptions, until: float = inf) -> pa.Table:
    """The table with its score columns; only its first rows, at least one, if ``time.monotonic`` passes ``until``.

    Raises ``ColumnError`` if the columns do not fit. An error inside a row goes into its ``score_error``.

    >>> plans = pa.table({"reference_plan": ["(pick a)"], "generated_plan": ["(pick a), (drop a)"]})
    >>> score_table(plans, ScoringOptions())["plan_lcs"].to_pylist()
    [0.5]
    """
    schema = score_schema(table.schema, options)
    pairs = pairs_present(table.schema, options)
    added = schema.names[len(table.column_names) :]
    asks = {meaning for pair in pairs for meaning in pair.asks}
    scored_with = [meaning for meaning in SCORED if meaning not in ASKED or meaning in asks]
    present = {name: options.column(name) for name in scored_with if options.column(name) in table.column_names}
    # The kernel first. Of a row, the pairs that it leaves are the definition's.
    columns = {meaning: table[name] for meaning, name in present.items()}
    asked = [(pair.name, score) for pair, score in KERNELS if pair.asked(options) in pairs]
    answers = {name: found for name, score in asked if (found := score(columns, options))}
    left = pc.coalesce(pa.nulls(table.num_rows, pa.string()), *[why for _, why in answers.values()])  # the first reason
    is_open = {name: why.is_valid().to_pylist() for name, (_, why) in answers.items()}
    is_asked = len(answers) < len(pairs) or options.feedback
    open_rows = list(range(table.num_rows)) if is_asked else pc.indices_nonzero(left.is_valid()).to_pylist()
    rows_scored.add(table.num_rows - len(open_rows))
    values = [_values_in(column, open_rows) for column in columns.values()]
    rows = [dict(zip(present, row, strict=True)) for row in zip(*values, strict=True)]
    for pair in pairs:
        if pair.prepare is not None:
            pair.prepare(rows, options)
    scored = []
    known: dict[tuple[Any, ...], list[Any]] = {}
    for row, number in zip(rows, open_rows, strict=True):
        closed = frozenset(name for name, each in is_open.items() if not each[number])
        # Samples of one model repeat: equal rows of a table are scored once, and the others take no time.
        content = (*row.values(), closed)
        repeated = known.get(content)
        if repeated is None:
            known[content] = _score_row(row, pairs, closed, options)
        scored.append(known[content] if repeated is None else [*repeated[:-1], 0])
        rows_scored.add(1)
        if monotonic() > until:
            table = table.slice(0, [*open_rows, table.num_rows][len(scored)])
            break
    by_definition = zip(*scored, strict=True) if scored else [()] * len(added)
    arrays = {name: pa.array(each, schema.field(name).type) for each, name in zip(by_definition, added, strict=True)}
    if answers:
        arrays = _merged(arrays, answers.values(), open_rows[: len(scored)], table.num_rows)
    scored_table = pa.table([*table.columns, *arrays.values()], schema=schema)
    counts = tables.count_left(left.slice(0, table.num_rows)) if answers else None
    metadata = {} if counts is None else {KERNEL_KEY: json.dumps({"rows": table.num_rows, **counts})}
    return scored_table.replace_schema_metadata({**(schema.metadata or {}), **metadata} or None)


def _values_in(column: pa.ChunkedArray, rows: Sequence[int]) -> list[Any]:
    """The values of the column in these rows."""
    if len(rows) == len(column):
        return values_of(column)
    if column.type == pa.string_view():  # of which pyarrow takes no rows
        column = column.cast(pa.large_string())
    return values_of(column.take(pa.array(rows, pa.int64())))


def _merged(
    by_definition: Mapping[str, pa.Array], answers: Iterable[tables.Answers], open_rows: Sequence[int], count: int
) -> dict[str, pa.Array]:
    """The columns of all rows: the kernel's, and of rows that it left the definition's, which has the open rows."""
    places = pc.index_in(pa.array(range(count), pa.int64()), pa.array(open_rows, pa.int64()))
    merged = {name: scores.take(places) for name, scores in by_definition.items()}
    for columns, left in answers:
        is_left = left.slice(0, count).is_valid()
        for name, known in columns.items():
            scores, known = merged[name], known.slice(0, count)
            if name == SCORE_MICROS:
                merged[name] = pc.add(scores.fill_null(0), known)
            else:
                merged[name] = pc.if_else(is_left, scores, known)
    return merged


def _score_row(row: Row, pairs: Sequence[Pair], closed: Set[str], options: ScoringOptions) -> list[Any]:
    """The row's score columns, null for pairs that are closed; an error costs the columns of its pair."""
    start = perf_counter_ns()
    scores: list[Any] = []
    errors: list[str] = []
    with row_budget(options.row_seconds):
        for pair in pairs:
            if pair.name in closed:
                scores += [None] * len(pair.columns)
                continue
            try:
                scores += pair.score(READERS.get(pair.name, pair.read)(row, options))
            except Exception as error:
                reraise_interrupt(error)
                scores += [None] * len(pair.columns)
                errors.append(f"{pair.name}: {type(error).__name__}: {error}")
    # Sentences quote answers, which may hold anything that a terminal obeys or that is no Unicode.
    told = [_feedback(row, options, errors)] if options.feedback else []
    scores = [printable(each) if isinstance(each, str) else each for each in scores]
    shown = [*scores, *told, printable("; ".join(errors)) or None]
    return [*shown, (perf_counter_ns() - start) // 1000]


def _feedback(row: Row, options: ScoringOptions, errors: list[str]) -> str | None:
    """What to tell the model; null where the data has a mistake, which the scores say."""
    try:
        return row_feedback(row, options)
    except UserError:
        return None
    except Exception as error:
        reraise_interrupt(error)
        errors.append(f"feedback: {type(error).__name__}: {error}")
        return None


def require_references(rows: Iterable[pa.RecordBatch], schema: pa.Schema, options: ScoringOptions) -> None:
    """Raise ``ColumnError`` where nothing that a pair is held against can be read in the first rows, but there is some.

    Every answer would be left out: a column holds something else, such as ids. Outside STRIPS is not unreadable.
    """
    doubtful: dict[Pair, tuple[str, str]] = dict.fromkeys(pairs_present(schema, options), ("", ""))
    checked = 0
    for batch in rows:
        for pair, meaning, reads in [(each, *read) for each in list(doubtful) for read in each.reads]:
            name = options.column(meaning)
            if pair not in doubtful or name not in schema.names:
                continue
            texts = [text for text in values_of(batch.column(name)) if given(text)]
            if texts and not doubtful[pair][0]:
                doubtful[pair] = meaning, texts[0]
            # One that takes too long is not unreadable.
            with row_budget(options.row_seconds):
                if any(or_undecided(partial(reads, text)) for text in dict.fromkeys(texts)):
                    del doubtful[pair]
        checked += batch.num_rows
        if not doubtful or checked >= CHECKED_ROWS:
            break
    for meaning, example in doubtful.values():
        if meaning:
            raise ColumnError(
                f"none of the first {checked:,} rows has a {meaning.replace('_', ' ')} that can be read; column "
                f"{options.column(meaning)} has {quote(' '.join(example.split()))}. If these are ids, name the dataset "
                f"with the references: --references DATASET; if another column has them: "
                f"--column {meaning}=NAME{log_hint(schema)}"
            )


def score_schema(schema: pa.Schema, options: ScoringOptions) -> pa.Schema:
    """The schema of the scored dataset: all columns of the input, then the score columns.

    Raises ``ColumnError``: no pair of columns present, a column of the wrong type or twice, a score column's name
    already taken; ``UserError`` where no domain is what the options name.

    >>> text = pa.schema([("reference_plan", pa.string()), ("generated_plan", pa.string())])
    >>> score_schema(text, ScoringOptions()).names[2:5]
    ['plan_lcs', 'plan_jaccard', 'plan_score']
    """
    present = pairs_present(schema, options)
    if options.domain:
        chosen_domain(options.domain)
    for name in map(options.column, MEANINGS):
        if schema.names.count(name) > 1:
            raise ColumnError(f"{schema.names.count(name)} columns are named {name}: keep one")
    sides = [side for pair in present for side in (*pair.compared_with, pair.generated, *pair.asks)]
    for meaning in [*sides, "reference_problem", "domain"]:
        name = options.column(meaning)
        if name in schema.names and not is_text(schema.field(name).type):
            raise ColumnError(f"column {name} should hold text, but its type is {schema.field(name).type}")
    placeholder = options.column("is_placeholder")
    # Planetarium's published dataset has 0 and 1.
    if placeholder in schema.names and not _is_truth(schema.field(placeholder).type):
        raise ColumnError(f"column {placeholder} should be boolean, but its type is {schema.field(placeholder).type}")
    added = [column for pair in present for column in pair.columns]
    added += [*[FEEDBACK] * options.feedback, *ROW_COLUMNS]
    taken = [column.name for column in added if column.name in schema.names]
    if taken:
        raise ColumnError(
            f"the input already has the score column{'s' if len(taken) > 1 else ''} {listed(taken, MOST_NAMES)}: "
            "it seems scored already; drop or rename them first, or use `pddl-eval rescore`"
        )
    return pa.schema(
        [*schema, *(pa.field(column.name, ARROW_TYPES[column.type]) for column in added)], metadata=schema.metadata
    )


def constants_signed(schema: pa.Schema, options: ScoringOptions) -> str:
    """What the signature of these columns' scores says beside the settings: constants that are no setting.

    >>> constants_signed(pa.schema({"reference_plan": pa.string(), "generated_plan": pa.string()}), ScoringOptions())
    ''
    """
    return "".join(f"|{pair.signed}" for pair in pairs_present(schema, options) if pair.signed)


def _is_truth(type_: pa.DataType) -> bool:
    return type_ in (pa.bool_(), pa.null()) or pa.types.is_integer(type_)


@shows_settings(ScoringOptions)
def score_frame(frame: Frame, **settings: Any) -> Frame:
    """The polars or pandas frame, followed by its score columns: the columns that ``pddl-eval score`` writes.

    For frames of up to about 10,000 rows: ``score_dataset`` uses all CPUs, resumes after interruptions and writes to
    disk.

    * ``frame``: it is not changed, and pandas keeps its index;
    * ``columns``: the frame's own name for a column, by its meaning (``{"generated_problem": "output"}``); a frame does
      not keep them, so ``build_report`` wants them too;
    * ``domain``: the name of a known domain or PDDL text, for rows that name none;
    * the other settings are those of ``pddl_eval.score_dataset``.

    In pandas, bools and integers are nullable (``boolean``, ``Int64``), because None means "not decided". Long work
    shows a progress bar.

    Raises ``TypeError`` if this is not a frame, ``ColumnError`` (a ``UserError``) if columns are missing or of the
    wrong type, ``UserError`` if a setting is wrong. An error inside a row goes into its ``score_error``.

    >>> import polars
    >>> plans = polars.DataFrame({"reference_plan": ["(pick a)"] * 2, "generated_plan": ["(pick a)", "(drop a)"]})
    >>> score_frame(plans)["plan_lcs"].to_list()
    [1.0, 0.0]
    """
    (options,) = grouped(settings, ScoringOptions)
    names, take, attach = _library(frame)
    arrays: dict[str, pa.Array] = {}
    asks = ASKED if options.column(ANSWER.generated) in names else ()
    for name in dict.fromkeys(options.column(each) for each in SCORED if each in asks or each not in ASKED):
        if names.count(name) > 1:
            raise ColumnError(f"{names.count(name)} columns are named {name}: keep one")
        if name in names:
            try:
                arrays[name] = take(name)
            except (pa.ArrowException, TypeError, ValueError) as error:
                raise ColumnError(f"column {name} holds values of different or unknown types: {error}") from None
    table = pa.table(arrays)
    # The other columns, whatever they hold, need not fit Arrow; but their names are checked.
    others = [pa.field(name, pa.null()) for name in names if isinstance(name, str) and name not in arrays]
    score_schema(pa.schema([*table.schema, *others]), options)
    # The other names are checked, and the table has only the columns that are scored.
    options = replace(options, columns={each: name for each, name in (options.columns or {}).items() if name in arrays})
    chunks = []
    with progress(table.num_rows, "rows") as bar:
        for start in range(0, max(1, table.num_rows), CHUNK_ROWS):
            chunks.append(score_table(table.slice(start, CHUNK_ROWS), options).drop_columns(table.column_names))
            bar.advance(min(CHUNK_ROWS, table.num_rows - start))
    scored: Frame = attach(pa.concat_tables(chunks))
    return scored


def _library(frame: Any) -> tuple[list[Any], Callable[[str], pa.Array], Callable[[pa.Table], Any]]:
    """A frame's column names, how a column becomes an array, and how score columns are added to the frame."""
    # A frame exists only where its library was imported; this file does not import it for others.
    polars, pandas = sys.modules.get("polars"), sys.modules.get("pandas")
    if polars and isinstance(frame, polars.DataFrame):
        return frame.columns, lambda name: frame[name].to_arrow(), lambda added: frame.hstack(polars.from_arrow(added))
    if polars and isinstance(frame, polars.LazyFrame):
        raise TypeError("score_frame takes a frame whose rows are there: collect() the LazyFrame first")
    if pandas and isinstance(frame, pandas.DataFrame):
        nullable: Mapping[Any, Any] = {pa.bool_(): pandas.BooleanDtype(), pa.int64(): pandas.Int64Dtype()}

        def attach(added: pa.Table) -> Any:
            return pandas.concat([frame, added.to_pandas(types_mapper=nullable.get).set_index(frame.index)], axis=1)

        return list(frame.columns), lambda name: pa.array(frame[name], from_pandas=True), attach
    raise TypeError(f"score_frame takes a polars or pandas DataFrame, not a {type(frame).__name__}")
