"""The scored dataset that a report is about: its rows as a lazy frame, its size, its signatures, its score columns.

It is found and read through ``pddl_eval.run``; a frame in memory (in a notebook) works as well. Everything that
reports know of score columns and files is here.
"""

from __future__ import annotations

import os
import re
import shlex
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import TYPE_CHECKING, TypeAlias

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
from polars.io.plugins import register_io_source

from pddl_eval.columns import ASKED, MEANINGS, TWIN
from pddl_eval.datasets import (
    DatasetError,
    Location,
    Source,
    Unavailable,
    dataset_errors,
    fulfilling,
    require_parquet,
    together,
)
from pddl_eval.errors import UserError, did_you_mean
from pddl_eval.run import Tiling, batches_of, damaged, open_scored_rows, open_untouched, settings_of
from pddl_eval.scoring.columns import (
    ANSWER_MEASURES,
    PAIR_COLUMNS,
    PAIRS,
    SCORE_COLUMNS,
    Pair,
    Verdict,
    left_out_by,
    named_columns,
    needed_by,
)
from pddl_eval.scoring.table import SCORE_ERROR, WITHOUT_SCORES
from pddl_eval.version import without_version

ROW = "pddl_eval.row"
"""The number of a row in the dataset, from 0, in the order of its files: what ``pddl-eval explain --row`` takes.

A column of the dataset that has this name is not read.
"""

if TYPE_CHECKING:
    import pandas

ScoredInput: TypeAlias = "str | os.PathLike[str] | pl.DataFrame | pl.LazyFrame | pandas.DataFrame"
"""A Parquet file, folder, pattern or URI; or a polars or pandas frame with score columns.

A lazy frame gives its rows in the same order each time."""

REFERENCES = tuple(pair.reference for pair in PAIRS)
"""Columns whose content is the reference where it has no certificate: the first that says anything."""

CERTIFICATE = "reference_certificate"

WITHOUT = "pddl_eval.without "

KEPT_BYTES = 32 * 2**20
"""Scores that are kept in memory, at most: those of some 200,000 rows."""

VALUE_BYTES = 4
"""Bytes of a score, at least (about): larger datasets are not kept."""

READ_AT_ONCE = 64
"""Files that are read by one thread, and then lie in one piece."""

LONG_BYTES = 2 * 2**20
"""Bytes of long columns in a piece, about: polars holds some 30 pieces, and each has a price of its own."""

SHORT_BYTES = 64
"""Encoded bytes of a value, on average, of other columns that are kept."""


@dataclass(frozen=True, slots=True)
class Scored:
    """``place`` is None for a frame in memory; ``signatures`` are those of the partitions with their rows.

    A signature is None if a file has none. ``tiling`` says what its run has not written, None if the run is complete or
    it belongs to none. ``names`` are the dataset's own names of columns, by meaning.
    """

    place: str | None
    frame: pl.LazyFrame
    schema: pl.Schema
    rows: int
    signatures: tuple[tuple[str | None, int], ...]
    tiling: Tiling | None = None
    names: Mapping[str, str] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """What messages call it."""
        return self.place or "the frame"

    def require(self, column: str) -> None:
        """Raises ``UserError`` if there is no such column."""
        columns = [each for each in self.schema if each != ROW]
        if column not in columns:
            hint = did_you_mean(column, columns, "columns")
            raise UserError(f"there is no column {column} in {self.name}; {hint}")

    def explain_command(self, row: int) -> str | None:
        """The command that explains the verdict on a row, ready for a shell."""
        return None if self.place is None else f"pddl-eval explain {shlex.quote(self.place)} --row {row}"

    def column(self, meaning: str) -> str | None:
        """The name of the column with that meaning, None if no column can be one."""
        name = self.names.get(meaning, meaning)
        return name if name in self.schema and not self.schema[name].is_nested() else None

    @property
    def unfinished(self) -> str | None:
        """In a sentence, that the run is not complete and what is missing; None for any other dataset."""
        return self.tiling.unfinished(self.name) if self.tiling else None

    @property
    def missing(self) -> int | None:
        """How many rows its run has not written; None for any other dataset."""
        return self.tiling.rows_missing if self.tiling else None

    def is_counted(self, score: str | None = None) -> pl.Expr:
        """True for the rows that a score (None: any) is reported of: their reference is no mistake in the data.

        A score that compares is reported of the rows that have a reference.
        """
        verdicts = ("verdict",) if score is None else left_out_by(score)
        known = [pl.col(name).ne_missing(Verdict.REFERENCE_INVALID.value) for name in verdicts if name in self.schema]
        known += [~self._nothing_compared(pair) for pair in (() if score is None else needed_by(score))]
        return pl.all_horizontal(pl.lit(True), *known)

    def nothing_compared(self) -> list[pl.Expr]:
        """A column for each pair, ``WITHOUT`` and its name: true for the rows that had no reference."""
        return [self._nothing_compared(pair).alias(f"{WITHOUT}{pair.name}") for pair in PAIRS]

    def _nothing_compared(self, pair: Pair) -> pl.Expr:
        """True for the rows whose generated value had no reference, as ``scoring.summary.nothing_compared``."""
        if pair.compared not in self.schema or self.schema.get(pair.verdict) != pl.String:
            return pl.lit(False)
        none = [pl.col(pair.compared).is_null(), ~pl.col(pair.verdict).is_in(WITHOUT_SCORES).fill_null(False)]
        if SCORE_ERROR in self.schema:
            none.append(pl.col(SCORE_ERROR).is_null())
        return pl.all_horizontal(none)

    def clusters(self) -> tuple[pl.Expr, pl.Expr, str]:
        """Which answers belong together: hashes of each row's cluster and of its question, and what clusters.

        Answers to one reference are one cluster: one ``reference_id``, else one certificate, else the same text; a
        row without any of these is one of its own. What differs in what it asks about a reference (``content``) is
        not one cluster. Twins (``generate obfuscate``) are one cluster and
        ask one question, by the column ``twin``. Two models answered the same question if both the ``reference_id``
        and the certificate (or the text) agree; the question of a row that has neither is null.
        """
        if TWIN in self.schema:
            shared = pl.when(pl.col(TWIN).is_not_null()).then(_hash(TWIN))
            return pl.coalesce(shared, pl.col(ROW).hash()), shared, TWIN
        given, known = self.column("reference_id"), self.references()
        asked = pl.lit(None, pl.UInt64)
        if given is not None:
            asked = pl.when(pl.col(given).is_not_null()).then(self._with_what_is_asked(_hash(given)))
        reference = self.content(known)
        cluster = pl.coalesce(asked, reference, pl.col(ROW).hash())
        question = pl.when(asked.is_not_null() | reference.is_not_null()).then(
            pl.struct(asked.alias("asked"), reference.alias("reference")).hash()
        )
        return cluster, question, given or (self.column(known[0]) if known else None) or "row"

    def questions(self) -> tuple[str, ...]:
        """Columns of a frame that may name its questions, where none does: each value has one reference, and repeats.

        A frame does not say under which names it was scored.
        """
        known = {*MEANINGS, *SCORE_COLUMNS, ROW, *self.names.values()}
        names = [name for name, type_ in self.schema.items() if name not in known and not type_.is_nested()]
        names = [name for name in names if not self.schema[name].is_float()]
        if self.place is not None or self.column("reference_id") or CERTIFICATE not in self.schema or not names:
            return ()
        rows = self.frame.filter(pl.col(CERTIFICATE).is_not_null())
        single = [pl.col(CERTIFICATE).n_unique().over(name).max().le(1).alias(name) for name in names]
        repeats = [pl.col(name).n_unique().is_between(2, pl.len() - 1).alias(f"repeats {name}") for name in names]
        found = rows.select(*single, *repeats).head(1).collect()
        return tuple(name for name in names if found.height and found[name].item() and found[f"repeats {name}"].item())

    def references(self) -> tuple[str, ...]:
        """The meanings of the columns that say what a row's reference is: the first of them that is not empty."""
        texts = [meaning for meaning in REFERENCES if self.column(meaning)]
        if self.column(CERTIFICATE) is None:
            return tuple(texts)
        # Long texts are read only if a reference has no certificate.
        gaps = self.frame.filter(self.is_counted()).select(pl.col(CERTIFICATE).is_null().any())
        return (CERTIFICATE, *(texts if texts and gaps.collect(engine="streaming").item() else ()))

    def content(self, meanings: Sequence[str]) -> pl.Expr:
        """A hash of the first of the columns that says anything (an empty plan says nothing), else null.

        Questions about one reference differ: where a row has one, it is of the reference, the question, its plan and,
        without a problem, its words.
        """
        names = filter(None, map(self.column, meanings))
        hashes = [pl.when(pl.col(name).cast(pl.String).str.contains("[A-Za-z0-9]")).then(_hash(name)) for name in names]
        return self._with_what_is_asked(pl.coalesce(*hashes, pl.lit(None, pl.UInt64)))

    def _with_what_is_asked(self, reference: pl.Expr) -> pl.Expr:
        question, plan, problem, words = map(self.column, (*ASKED, REFERENCES[0], "question_text"))
        if question is None or ANSWER_MEASURES[0] not in self.schema:
            return reference
        parts = [_hash(name) for name in (question, plan) if name]
        if words:
            parts.append(pl.when(pl.col(problem).is_null()).then(_hash(words)) if problem else _hash(words))
        whole = pl.struct(reference.alias("reference"), *(each.alias(str(n)) for n, each in enumerate(parts))).hash()
        return pl.when(pl.col(question).is_null()).then(reference).otherwise(whole)


def _hash(name: str) -> pl.Expr:
    return pl.col(name).cast(pl.String).hash()


def open_scored(
    scored: ScoredInput,
    columns: Mapping[str, str] | None = None,
    where: str | None = None,
    *,
    is_whole: bool = False,
) -> Scored:
    """The scored dataset at a place, its rows not yet read; ``columns`` are its own names of columns, by meaning.

    By default those under which it was scored. ``where`` is a condition in SQL that its rows fulfil. With ``is_whole``
    nobody looks for damage: the run has just done that.

    Raises ``DatasetError`` if there is no such dataset, ``UserError`` if it has no score columns or the condition
    cannot be understood.

    >>> open_scored(pl.DataFrame({"plan_score": [1.0]})).rows
    1
    """
    names = named_columns(columns)
    library = sys.modules.get("pandas")  # a frame of it exists only where it was imported
    if library and isinstance(scored, library.DataFrame):
        scored = _from_pandas(scored)
    if isinstance(scored, (pl.DataFrame, pl.LazyFrame)):
        frame = _numbered(_with_domain(scored.lazy(), names))
        rows = frame.select(pl.len()).collect().item()
        found = Scored(None, frame, frame.collect_schema(), rows, (), names=names)
    else:
        found = _open_files(os.fspath(scored), names, is_whole)
    for name in names.values():
        found.require(name)
    if PAIR_COLUMNS.isdisjoint(found.schema):
        raise UserError(
            f"{found.name} has no score columns (parseable, equivalent, plan_score, …): "
            "score it first with `pddl-eval score`"
        )
    if where is None:
        return found
    frame, rows = fulfilling(found.frame, where, found.name)  # The rows keep their numbers.
    return replace(found, frame=frame, rows=rows)


NAMED_DOMAIN = {
    "reference_domain": r"(?i)\(\s*define\s*\(\s*domain\s+([^\s()]+)",
    "reference_problem": r"(?i)\(\s*:domain\s+([^\s()]+)",
}
"""Where a reference names its domain."""

FIRST_ROWS = 1000
"""If the references of so many rows name no domain, there is no column of domains."""


def _with_domain(frame: pl.LazyFrame, names: Mapping[str, str]) -> pl.LazyFrame:
    """With a column ``domain`` where there is none: the domain that each row's reference names."""
    schema = frame.collect_schema()
    named = [
        pl.col(name).str.extract(pattern).str.to_lowercase()
        for meaning, pattern in NAMED_DOMAIN.items()
        if schema.get(name := names.get(meaning, meaning)) == pl.String
    ]
    if "domain" in names or "domain" in schema or not named:
        return frame
    found = frame.with_columns(domain=pl.coalesce(named))
    says = found.head(FIRST_ROWS).select(pl.col("domain").is_not_null().any()).collect().item()
    return found if says else frame


def _numbered(frame: pl.LazyFrame) -> pl.LazyFrame:
    return frame.drop(ROW, strict=False).with_row_index(ROW)


def _from_pandas(frame: pandas.DataFrame) -> pl.DataFrame:
    """The columns that a report can use: a column of mixed values, which fits no type, is left out."""
    columns = {}
    for name in frame.columns:
        with suppress(pl.exceptions.PolarsError, pa.ArrowException, TypeError, ValueError):
            if isinstance(name, str) and list(frame.columns).count(name) == 1:
                columns[name] = pl.from_pandas(frame[name])
    return pl.DataFrame(columns)


@contextmanager
def unreadable_texts() -> Iterator[None]:
    """Raise ``UserError`` where a column that is read is damaged, or has bytes that are not UTF-8."""
    try:
        yield
    except pl.exceptions.ComputeError as error:
        if str(error).startswith("parquet:"):
            raise DatasetError(f"a file is damaged: {error}") from None
        if not re.search("utf-?8", str(error), re.IGNORECASE):
            raise
        raise UserError(f"a column to group or join by holds bytes that are not UTF-8: {error}") from None


def _open_files(place: str, names: Mapping[str, str], is_whole: bool) -> Scored:
    whole = open_untouched(place, compared=not is_whole)
    source, tiling = (whole, None) if whole else open_scored_rows(place)
    require_parquet(source)
    for name, count in Counter(source.schema.names).items():
        if count > 1:
            raise UserError(f"{count} columns of {place} are named {name}: rename all but one")
    scores = _read_whole(source) if source.base.is_local and not (is_whole or whole) else None
    rows: Counter[str | None] = Counter()
    shown: dict[str | None, str | None] = {}
    for file in source.files:  # Versions of one code are one: the first is shown.
        rows[shown.setdefault(without_version(file.signature), file.signature)] += file.rows
    names = named_columns(names, settings_of(source))
    frame = _with_domain(_scan(source), names)
    keeps = scores is not None or (whole is not None and not is_whole)
    frame = _numbered(_with_kept(frame, source, scores) if keeps else frame)
    return Scored(place, frame, frame.collect_schema(), source.rows, tuple(rows.items()), tiling, names)


def _read_whole(source: Source) -> pa.Table | None:
    """The scores of all rows, None where they are more than ``KEPT_BYTES``.

    Raises ``DatasetError`` where they are damaged: polars compares no checksums.
    """
    files, names = [file.version.location for file in source.files], SCORE_COLUMNS & {*source.schema.names}
    room = KEPT_BYTES - VALUE_BYTES * len(names) * source.rows

    def read(some: Sequence[Location]) -> pa.Table:
        nonlocal room
        kept = []
        for batch in chain.from_iterable(batches_of(file, names) for file in some):
            room -= batch.nbytes if room > 0 else 0
            kept += [batch] * (room > 0)
        return pa.Table.from_batches(kept).combine_chunks() if kept else None  # Small arrays are large together.

    try:
        with ThreadPoolExecutor(2) as readers:  # Each has a row group in memory.
            tables = [*readers.map(read, (files[n : n + READ_AT_ONCE] for n in range(0, len(files), READ_AT_ONCE)))]
    except DatasetError as error:
        if isinstance(error, Unavailable) or not damaged(files):
            raise
        raise DatasetError(f"{error} The command that wrote it, started again, scores its rows anew.") from None
    return pa.concat_tables(filter(None, tables)) if room > 0 and source.rows else None


def _with_kept(frame: pl.LazyFrame, source: Source, scores: pa.Table | None) -> pl.LazyFrame:
    """The same rows; while scores and other short columns are asked for, no file is opened again.

    Scores that are not read yet are kept where they are as few bytes.
    """
    schema, sizes = frame.collect_schema(), _bytes_of_values(source)
    others = [name for name in schema if name not in SCORE_COLUMNS and not schema[name].is_nested()]
    names = [name for name in others if sizes[name] <= SHORT_BYTES]
    if scores is None:
        unread = [name for name in schema if name in SCORE_COLUMNS]
        if source.rows * sum(max(VALUE_BYTES, sizes[name]) for name in unread) > KEPT_BYTES:
            return frame
        names += unread
    try:
        kept = frame.select(names).collect(engine="streaming")
        if scores is not None:
            scores.validate(full=True)  # UTF-8
            kept = pl.DataFrame([*kept, *pl.DataFrame(scores)])
    except (pl.exceptions.PolarsError, pa.ArrowInvalid):  # Who asks for such a column hears of it.
        return frame

    def rows(
        names: Sequence[str] | None, condition: pl.Expr | None, most: int | None, _: int | None
    ) -> Iterator[pl.DataFrame]:
        wanted, first = schema.names() if names is None else names, 0
        long = [name for name in wanted if name not in kept.columns]
        for read in _read_long(source, long) if long else [kept]:
            found = read.hstack(kept[first : first + read.height]) if long else read
            found = found.select(wanted).head(found.height if most is None else most - first)
            first += found.height
            yield found if condition is None else found.filter(condition)
            if first == most:
                break

    return register_io_source(rows, schema=schema)


def _bytes_of_values(source: Source) -> Mapping[str, float]:
    """By column, the encoded bytes of a value in the largest file; 0 for a column that no file has."""
    largest = max(source.files, key=lambda file: file.rows).version.location
    with dataset_errors(largest, "read"), largest.filesystem.open_input_file(largest.path) as file:
        footer = pq.read_metadata(file)
    sizes = Counter[str]()
    rows = max(1, footer.num_rows)
    for group in map(footer.row_group, range(footer.num_row_groups)):
        for chunk in map(group.column, range(group.num_columns)):
            sizes[chunk.path_in_schema] += chunk.total_uncompressed_size
    return Counter({name: size / rows for name, size in sizes.items()})


def _read_long(source: Source, names: Sequence[str]) -> Iterator[pl.DataFrame]:
    files = (file.version.location for file in source.files)
    for batches in together(chain.from_iterable(batches_of(file, names) for file in files), source.rows, LONG_BYTES):
        table = pa.Table.from_batches(batches).combine_chunks()
        try:
            table.validate(full=True)
        except pa.ArrowInvalid as error:
            raise pl.exceptions.ComputeError(f"invalid UTF-8: {error}") from None
        yield pl.DataFrame(table)


def _scan(source: Source) -> pl.LazyFrame:
    paths = [file.version.location.path for file in source.files]
    if source.base.is_local:
        return pl.scan_parquet(paths, glob=False)
    # Through Arrow, so that credentials are found as everywhere else in the program.
    from pyarrow.dataset import dataset  # imports pandas, where that is installed: a third of a second

    return pl.scan_pyarrow_dataset(dataset(paths, filesystem=source.base.filesystem, format="parquet"))
