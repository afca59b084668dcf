"""From a table of rows to a table of scores: every column of the input unchanged, then the score columns.

A bad row costs one row: an error inside it is its ``score_error``. Where rows come from and go to is not known here.
``score_frame`` does the same for a frame in a notebook.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from math import inf
from time import monotonic, perf_counter_ns
from typing import Any, TypeVar

import pyarrow as pa

from pddl_eval.budget import row_budget
from pddl_eval.domains import chosen_domain, planning_domain
from pddl_eval.errors import UserError, did_you_mean, never_an_interrupt
from pddl_eval.metrics import PAIRS, ROW_COLUMNS, Pair, Row
from pddl_eval.options import MEANINGS, SCORED, ScoringOptions, takes
from pddl_eval.progress import progress
from pddl_eval.shown import line, listed, printable

Frame = TypeVar("Frame")
"""``polars.DataFrame`` or ``pandas.DataFrame``."""

CHUNK_ROWS = 256
"""Rows of a frame between two updates of the progress bar."""

MOST_NAMES = 5
"""Names in one sentence, at most."""

UNKNOWN_DOMAINS = "unknown domains"

ARROW_TYPES = {bool: pa.bool_(), int: pa.int64(), float: pa.float64(), str: pa.string()}


class ColumnError(UserError):
    """The dataset's columns do not fit; the message says which and what would be right."""


def score_table(table: pa.Table, options: ScoringOptions, until: float = inf) -> pa.Table:
    """The table with its score columns; only its first rows, at least one, if ``time.monotonic`` passes ``until``.

    Raises ``ColumnError`` if the columns do not fit. An error inside a row goes into its ``score_error``.

    >>> plans = pa.table({"reference_plan": ["(pick a)"], "generated_plan": ["(pick a), (drop a)"]})
    >>> score_table(plans, ScoringOptions())["plan_lcs"].to_pylist()
    [0.5]
    """
    schema = score_schema(table.schema, options)
    pairs = pairs_present(table.schema, options)
    present = [meaning for meaning in SCORED if options.column(meaning) in table.column_names]
    values = [values_of(table[options.column(meaning)]) for meaning in present]
    rows = [dict(zip(present, row, strict=True)) for row in zip(*values, strict=True)]
    for pair in pairs:
        if pair.prepare is not None:
            pair.prepare(rows, options)
    scored = []
    for row in rows:
        scored.append(_score_row(row, pairs, options))
        if monotonic() > until:
            table = table.slice(0, len(scored))
            break
    added = schema.names[len(table.column_names) :]
    columns = zip(*scored, strict=True) if scored else [()] * len(added)
    arrays = [pa.array(column, schema.field(name).type) for column, name in zip(columns, added, strict=True)]
    return pa.table([*table.columns, *arrays], schema=schema)


def _score_row(row: Row, pairs: Sequence[Pair], options: ScoringOptions) -> list[Any]:
    """The row's score columns; an error costs the columns of its pair."""
    start = perf_counter_ns()
    scores: list[Any] = []
    errors: list[str] = []
    with row_budget(options.row_seconds):
        for pair in pairs:
            try:
                scores += pair.score(pair.read(row, options))
            except Exception as error:
                never_an_interrupt(error)
                scores += [None] * len(pair.columns)
                errors.append(f"{pair.name}: {type(error).__name__}: {error}")
    # Sentences quote answers, which may hold anything that a terminal obeys or that is no Unicode.
    shown = [printable(score) if isinstance(score, str) else score for score in [*scores, "; ".join(errors) or None]]
    return [*shown, (perf_counter_ns() - start) // 1000]


def pairs_present(schema: pa.Schema, options: ScoringOptions) -> list[Pair]:
    """The pairs of columns that the dataset has.

    Raises ``ColumnError`` where there is none, or where only one side of a pair is there.
    """
    for meaning, name in (options.columns or {}).items():
        if name not in schema.names:
            raise ColumnError(f"there is no column {name} for {meaning}; {did_you_mean(name, schema.names, 'columns')}")
    names = {pair: (options.column(pair.reference), options.column(pair.generated)) for pair in PAIRS}
    present = [pair for pair in PAIRS if set(names[pair]) <= set(schema.names)]
    if present:
        return present
    others = [name for name in schema.names if name not in set().union(*names.values())]
    for sides in names.values():
        there, absent = sorted(sides, key=lambda name: name not in schema.names)
        if there in schema.names:
            raise ColumnError(
                f"there is a column {there} but no {absent}; {did_you_mean(absent, others, 'other columns')}; "
                f"name the column: --column {absent}=NAME, in Python columns={{{absent!r}: NAME}}"
            )
    wanted = " or ".join(map(" and ".join, names.values()))
    raise ColumnError(f"no pair of columns to score: expected {wanted}; found {', '.join(schema.names) or 'none'}")


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
    sides = [side for pair in present for side in (pair.reference, pair.generated)]
    for meaning in [*sides, "reference_problem", "domain"]:
        name = options.column(meaning)
        if name in schema.names and not is_text(schema.field(name).type):
            raise ColumnError(f"column {name} should hold text, but its type is {schema.field(name).type}")
    placeholder = options.column("is_placeholder")
    # Planetarium's published dataset has 0 and 1.
    if placeholder in schema.names and not _is_truth(schema.field(placeholder).type):
        raise ColumnError(f"column {placeholder} should be boolean, but its type is {schema.field(placeholder).type}")
    added = [column for pair in present for column in pair.columns] + list(ROW_COLUMNS)
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


def count_unknown_domains(table: pa.Table, options: ScoringOptions) -> dict[str, dict[str, float]]:
    """In how many rows the column ``domain`` has a name that is not known, by name: statistics of ``UNKNOWN_DOMAINS``.

    >>> rows = pa.table({"reference_problem": ["", "", ""], "domain": ["gripper", "griper", None]})
    >>> count_unknown_domains(rows, ScoringOptions())
    {'unknown domains': {'griper': 1}}
    """
    domain, problem = map(options.column, ("domain", "reference_problem"))
    if not {domain, problem} <= set(table.column_names):
        return {}  # Only problems, and plans in them, have a domain.
    names = Counter(name for name in values_of(table[domain]) if name and "(" not in name)
    rows = Counter({name: count for name, count in names.items() if planning_domain(name) is None})
    named = Counter({line(name): count for name, count in rows.most_common(MOST_NAMES)})
    if len(rows) > MOST_NAMES:
        named["others"] += rows.total() - named.total()
    return {UNKNOWN_DOMAINS: dict(named)} if rows else {}


def _is_truth(type_: pa.DataType) -> bool:
    return type_ in (pa.bool_(), pa.null()) or pa.types.is_integer(type_)


def is_text(type_: pa.DataType) -> bool:
    """True for strings, however encoded, and for a column of nulls."""
    type_ = type_.value_type if pa.types.is_dictionary(type_) else type_
    return type_ in (pa.string(), pa.large_string(), pa.string_view(), pa.null())


def values_of(column: pa.Array | pa.ChunkedArray) -> list[Any]:
    """The column as Python values; rows share those of a dictionary. Bytes that are not UTF-8 are read as ``\\xff``.

    >>> values_of(pa.array([b"a\\xff", None]).cast(pa.string(), safe=False))
    ['a\\\\xff', None]
    """
    if isinstance(column, pa.ChunkedArray):
        return [value for chunk in column.chunks for value in values_of(chunk)]
    if pa.types.is_dictionary(column.type):
        known = values_of(column.dictionary)
        return [None if place is None else known[place] for place in column.indices.to_pylist()]
    try:
        return list(column.to_pylist())
    except UnicodeDecodeError:
        texts = column.cast(pa.large_string()).cast(pa.large_binary()).to_pylist()
        return [None if text is None else text.decode("utf-8", "backslashreplace") for text in texts]


@takes(options=ScoringOptions)
def score_frame(frame: Frame, *, options: ScoringOptions) -> Frame:
    """The polars or pandas frame, followed by its score columns: the columns that ``pddl-eval score`` writes.

    For frames of up to about 10,000 rows: ``score_dataset`` uses all CPUs, resumes after interruptions and writes to
    disk. ``columns`` maps a column's meaning to its name in the frame (``{"generated_problem": "output"}``);
    ``domain`` is the name of a known domain or PDDL text, for rows that name none. The other settings are those of
    ``pddl_eval.score_dataset``. The frame itself is not changed, and pandas keeps its index. In pandas, bools and
    integers are nullable (``boolean``, ``Int64``), because None means "not decided". Long work shows a progress bar.

    Raises ``TypeError`` if this is not a frame, ``ColumnError`` (a ``UserError``) if columns are missing or of the
    wrong type, ``UserError`` if a setting is wrong. An error inside a row goes into its ``score_error``.

    >>> import polars
    >>> plans = polars.DataFrame({"reference_plan": ["(pick a)"] * 2, "generated_plan": ["(pick a)", "(drop a)"]})
    >>> score_frame(plans)["plan_lcs"].to_list()
    [1.0, 0.0]
    """
    names, take, attach = _library(frame)
    arrays: dict[str, pa.Array] = {}
    for name in dict.fromkeys(map(options.column, SCORED)):
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
    chunks = []
    with progress(table.num_rows, "rows") as pace:
        for start in range(0, max(1, table.num_rows), CHUNK_ROWS):
            chunks.append(score_table(table.slice(start, CHUNK_ROWS), options).drop_columns(table.column_names))
            pace.advance(min(CHUNK_ROWS, table.num_rows - start))
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
