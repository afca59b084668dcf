"""A dataset scored again: a row with the content of a row scored before keeps its scores, the others are scored.

The output is what ``score_dataset`` would have written, partition by partition; only the time spent differs. It
compares no scores: that is ``pddl_eval.report``.

The earlier scores are found before the run starts: the rows of both datasets are divided by a digest of their content
and joined bucket by bucket, so that memory follows the bucket. What is found lies in the output while the run lasts, in
blocks of some rows of the new dataset, in their order: a worker reads the blocks of its rows and nothing else.
"""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import ipc

from pddl_eval import datasets
from pddl_eval import run as runs
from pddl_eval.options import MEANINGS, ReadingOptions, RunOptions, ScoringOptions, takes
from pddl_eval.table import ColumnError, pairs_present, values_of

KNOWN_FOLDER = "_previous"
"""In the output, while the run lasts: workers on other machines see it there."""

KNOWN_FORMAT = 3
"""Goes up when keys or blocks change."""

BUCKET_ROWS = 200_000
"""Rows of a bucket, those of both datasets, about: some hundred bytes each."""

BLOCK_ROWS = 65_536
"""Rows of a block, about: a few shards, some hundred bytes for each row that is known."""

MOST_FILES = 200
"""Buckets, and blocks, are open at the same time: with more rows they grow."""

READ_ROWS = 16_384
"""Rows that are read at a time to be divided, at most."""

VERDICTS = frozenset({"verdict", "domain_verdict"})
"""Score columns that say ``undecided``."""

KEY, FILE, BLOCK = "pddl_eval.key", "pddl_eval.file", "pddl_eval.block"
KEY_BYTES = 16

Keys = np.ndarray[Any, Any]

Content = tuple[pa.Table, Keys]
"""Some columns of some rows, and the rows' keys."""


@dataclass(frozen=True, slots=True)
class Previous:
    """The earlier dataset: ``source`` has those of its files that can be reused, perhaps none.

    ``options`` have the names of its columns; ``scores`` are the columns to carry over; rows with a verdict in
    ``retry`` are not reused; ``obstacle`` says why not all rows can be reused, or is None.
    """

    source: datasets.Source
    options: ScoringOptions
    scores: pa.Schema
    obstacle: str | None = None
    retry: tuple[str, ...] = ()

    def reusable(self, table: pa.Table) -> pa.Table:
        """The rows whose scores can be carried over: they were scored, and are not to be tried again."""
        table = table.filter(pc.is_null(table[runs.SCORE_ERROR]))
        for verdict in self.verdicts:
            tried_again = pc.is_in(table[verdict].cast(pa.string()), pa.array(self.retry, pa.string()))
            table = table.filter(pc.invert(tried_again))
        return table

    def count_reusable(self) -> int:
        """How many rows can be carried over; raises ``DatasetError`` where a file cannot be read."""
        batches = datasets.column_batches(self.source, [runs.SCORE_ERROR, *self.verdicts], READ_ROWS)
        return sum(self.reusable(pa.Table.from_batches([batch])).num_rows for batch in batches)

    @property
    def verdicts(self) -> list[str]:
        """The columns that say what is to be tried again."""
        return [name for name in self.scores.names if name in VERDICTS and self.retry]


@takes(reading=ReadingOptions, scoring=ScoringOptions, running=RunOptions)
def rescore_dataset(  # noqa: PLR0913 (one keyword a setting)
    previous: datasets.Input,
    input: datasets.Input,
    output: str | os.PathLike[str],
    *,
    reading: ReadingOptions,
    scoring: ScoringOptions,
    running: RunOptions,
    previous_columns: Mapping[str, str] | None = None,
    retry: Sequence[str] = (),
    watch: runs.Watcher | None = None,
    warn: Callable[[str], None] | None = None,
) -> runs.RunSummary:
    """Score a dataset as ``score_dataset`` does, except for the rows whose scores ``previous`` has.

    ``previous`` is a scored dataset, its rows in any order, complete or not. A row's scores are carried over,
    ``score_micros`` included, where its content (the pairs, ``is_placeholder``, ``domain``) is that of a row there
    which was scored without ``score_error`` and with the same signature. ``RunSummary.rows_carried`` says how many;
    ``warn`` is told why rows of ``previous`` cannot be reused. ``previous_columns`` are the names of the columns there,
    by default those under which they were scored. Rows whose ``verdict`` or ``domain_verdict`` there is in ``retry``
    (such as ``undecided``, which a limit of time can cause) are scored again.

    It is the same run as that of ``score_dataset`` into the same output: one may finish what the other began. Raises
    what ``score_dataset`` raises.
    """
    with runs.readable_input(input, output, reading, scoring, warn) as source:
        run, before = prepare_rescore(previous, source, output, scoring, running.shard_rows, previous_columns, retry)
    if before.obstacle and warn is not None:
        warn(before.obstacle)
    folder = run.work.output / KNOWN_FOLDER

    def with_known() -> runs.Scorer:
        known = find_known(before, run, scoring, folder)
        return replace(run.work.scorer, known=partial(known_scores, known=known))

    reuses = run.missing and before.source.files
    try:
        summary = runs.finish_shards(run, running, watch=watch, scorer=with_known if reuses else None)
    finally:
        _open_block.cache_clear()
    if datasets.list_files(folder):
        datasets.remove_folder(folder)
    return summary


def prepare_rescore(  # noqa: PLR0913 (what rescore_dataset takes)
    previous: datasets.Input,
    inputs: datasets.Input,
    output: str | os.PathLike[str],
    options: ScoringOptions,
    shard_rows: int,
    previous_columns: Mapping[str, str] | None = None,
    retry: Sequence[str] = (),
) -> tuple[runs.Run, Previous]:
    """What ``rescore_dataset`` would do, and what it would reuse; nothing is written. Errors as there.

    Equal content has equal scores only where the signatures are equal and the same pairs of columns were scored.
    """
    run = runs.prepare_run(inputs, output, runs.pair_scorer(options), shard_rows)
    source = datasets.open_source(previous)
    for file in source.files:
        if file.version.location.within(run.work.output):
            raise datasets.DatasetError(
                f"The previous scores {file.version} lie in the output {run.work.output}: choose another folder."
            )
    named = replace(
        options,
        columns=runs.scored_with(source).columns or options.columns if previous_columns is None else previous_columns,
    )
    scores = pa.schema([run.work.output_schema.field(name) for name in run.work.score_columns])
    signature = run.work.scorer.signature
    files = tuple(file for file in source.files if file.signature == signature)
    others = [file for file in source.files if file.signature != signature]
    mismatch = _mismatch(source.schema, named, run.work.input_schema, options, scores)
    obstacle = None
    if mismatch:
        files = ()
        obstacle = f"{datasets.place_of(source)} cannot be reused: {mismatch}"
    elif others:
        obstacle = (
            f"{sum(file.rows for file in others):,} rows of {datasets.place_of(source)} were scored in another way and "
            f"cannot be reused: {others[0].signature or 'no signature'}, now {signature}"
        )
    return run, Previous(replace(source, files=files), named, scores, obstacle, tuple(sorted(retry)))


def content_columns(schema: pa.Schema, options: ScoringOptions) -> dict[str, str]:
    """The columns that the scores of such a dataset depend on: their names, by meaning.

    Raises ``ColumnError`` where the dataset has nothing to score.

    >>> plans = pa.schema({"id": pa.int64(), "reference_plan": pa.string(), "output": pa.string()})
    >>> content_columns(plans, ScoringOptions(columns={"generated_plan": "output"}))
    {'reference_plan': 'reference_plan', 'generated_plan': 'output'}
    """
    scored = {meaning for pair in pairs_present(schema, options) for meaning in (pair.reference, pair.generated)}
    # Plans and domains are carried out in the reference problem, problems and plans in the reference domain.
    scored |= {"is_placeholder", "domain", "reference_problem", "reference_domain"}
    names = {meaning: options.column(meaning) for meaning in MEANINGS if meaning in scored}
    return {meaning: name for meaning, name in names.items() if name in schema.names}


def content_keys(table: pa.Table, options: ScoringOptions) -> Keys:
    """A 128-bit digest of each row's content: equal for rows that get equal scores, whatever else they hold.

    A missing column counts as one of nulls, a null ``is_placeholder`` as false and an empty ``domain`` as null, as in
    scoring. The length of each text is hashed before it, so that no two rows hash the same bytes.

    >>> plans = pa.table({"reference_plan": ["(a)", "(a)"], "generated_plan": ["(b)", "(b)"], "id": [1, 2]})
    >>> first, second = content_keys(plans, ScoringOptions()).tolist()
    >>> first == second
    True
    """
    columns: dict[bytes, list[str | None]] = {}
    for meaning, name in content_columns(table.schema, options).items():
        values = values_of(table[name])
        if meaning == "is_placeholder":
            values = ["yes" if value else None for value in values]
        columns[meaning.encode()] = [text or None for text in values] if meaning == "domain" else values
    keys = bytearray()
    for row in zip(*columns.values(), strict=True):
        digest = hashlib.blake2b(digest_size=KEY_BYTES)
        for each, text in zip(columns, row, strict=True):
            if text is not None:
                content = text.encode()
                digest.update(b"%s:%d:" % (each, len(content)))
                digest.update(content)
        keys += digest.digest()
    return np.frombuffer(bytes(keys), dtype=f"S{KEY_BYTES}")


@dataclass(frozen=True, slots=True)
class Known:
    """Where known scores lie: in ``folder``, in files whose names begin with ``name``.

    Files of the new dataset are divided into ``groups``, the rows of a group into blocks of ``block_rows`` row numbers,
    so that many small files share a block and a large one has many.
    """

    folder: datasets.Location
    name: str
    groups: int
    block_rows: int

    schema: pa.Schema

    def block(self, number: int) -> datasets.Location:
        return self.folder / f"{self.name}-{number}.arrow"

    def block_of(self, path: pa.Scalar, rows: Keys) -> Keys:
        """The blocks of some rows of the file with that digest of its path: consecutive numbers."""
        group = int.from_bytes(path.as_py()[:4], "little") % self.groups
        return group * 2**32 + rows // self.block_rows


def find_known(previous: Previous, run: runs.Run, options: ScoringOptions, folder: datasets.Location) -> Known:
    """Find the rows of a run whose scores are known; what an earlier start has found is kept.

    A row that could not be scored, or whose verdict is to be tried again, is not known, nor is one behind damage in an
    earlier file.
    """
    before, now = previous.source, run.source
    footers = [file.version.footer for file in before.files]
    identity = [KNOWN_FORMAT, footers, previous.options.columns, previous.scores.names, previous.retry]
    text = json.dumps([*identity, run.work.run, str(now.base)])
    name = hashlib.blake2b(text.encode(), digest_size=KEY_BYTES).hexdigest()
    block_rows = max(BLOCK_ROWS, now.rows // MOST_FILES)
    schema = pa.schema([(FILE, pa.binary(KEY_BYTES)), (runs.KNOWN_ROW, pa.int64()), *previous.scores])
    known = Known(folder, name, max(1, now.rows // block_rows), block_rows, schema)
    complete = folder / f"{name}.json"
    if datasets.has_file(complete):
        return known
    buckets = max(1, min(MOST_FILES, (before.rows + now.rows) // BUCKET_ROWS))
    with tempfile.TemporaryDirectory(prefix="pddl-eval-") as aside:
        with ExitStack() as stack:
            earlier, later = (_Streams(stack, Path(aside, name)) for name in ("earlier", "later"))
            for file in before.files:
                one = replace(before, files=(file,))
                for rows, keys in _readable(_contents(one, previous.options, previous.scores.names, previous.reusable)):
                    earlier.add(rows.cast(previous.scores).add_column(0, KEY, _binary(keys)), _bucket_of(keys, buckets))
            for file in now.files:
                path, first = _digest(file.version), 0
                for _, keys in _readable(_contents(replace(now, files=(file,)), options)):
                    numbers = np.arange(first, first := first + len(keys))
                    columns = {KEY: _binary(keys), FILE: pa.repeat(path, len(keys)), runs.KNOWN_ROW: numbers}
                    columns[BLOCK] = known.block_of(path, numbers)
                    later.add(pa.table(columns), _bucket_of(keys, buckets))
        with ExitStack() as stack:
            blocks = _Streams(stack, Path(aside, "blocks"))
            for bucket in sorted(earlier.writers.keys() & later.writers.keys()):
                scores, rows = (pl.DataFrame(streams.read(bucket)) for streams in (earlier, later))
                found = rows.join(scores.unique(KEY, keep="first", maintain_order=True), on=KEY).drop(KEY)
                blocks.add(found.drop(BLOCK).to_arrow().cast(known.schema), found[BLOCK].to_numpy())
        for block in blocks.writers:
            rows = blocks.read(block).sort_by([(FILE, "ascending"), (runs.KNOWN_ROW, "ascending")])
            with datasets.new_file(known.block(block)) as new, ipc.new_file(new, rows.schema) as writer:
                writer.write_table(rows)
    datasets.put_bytes(complete, b"{}")
    return known


def _contents(
    source: datasets.Source,
    options: ScoringOptions,
    names: Sequence[str] = (),
    kept: Callable[[pa.Table], pa.Table] = lambda table: table,
) -> Iterator[Content]:
    """Some columns of all rows that are kept, with the keys of the rows, some rows at a time."""
    read = list(dict.fromkeys([*content_columns(source.schema, options).values(), *names]))
    for batch in datasets.column_batches(source, read, READ_ROWS):
        table = kept(pa.Table.from_batches([batch]))
        yield table.select(names), content_keys(table, options)


def _readable(contents: Iterator[Content]) -> Iterator[Content]:
    """Those before damage in the file. Of the new dataset the run finds it itself, of the earlier one it costs time."""
    with suppress(datasets.DatasetError):
        yield from contents


class _Streams:
    """Tables divided among files on the local disk: each row is given the number of its file.

    Raises ``OutputError`` where that disk is full.
    """

    def __init__(self, stack: ExitStack, folder: Path) -> None:
        folder.mkdir()
        self.stack, self.folder = stack, folder
        self.writers: dict[int, ipc.RecordBatchStreamWriter] = {}

    def add(self, table: pa.Table, numbers: Keys) -> None:
        if not table.num_rows:
            return
        order = np.argsort(numbers, kind="stable")
        table = table.take(order)
        found, starts = np.unique(numbers[order], return_index=True)
        for number, start, stop in zip(found.tolist(), starts, [*starts[1:], len(order)], strict=True):
            with datasets.dataset_errors(datasets.locate(self.folder), "write"):
                if number not in self.writers:
                    stream = ipc.new_stream(f"{self.folder}/{number}", table.schema)
                    self.writers[number] = self.stack.enter_context(stream)
                self.writers[number].write_table(table.slice(start, stop - start))

    def read(self, number: int) -> pa.Table:
        """The rows of a file, when all are written."""
        with pa.memory_map(f"{self.folder}/{number}") as mapped:
            return ipc.open_stream(mapped).read_all()


def known_scores(file: datasets.FileVersion, numbers: range, known: Known) -> pa.Table | None:
    """The known scores of some rows of a file, as ``Scorer.known`` has them; None where there are none."""
    path = _digest(file)
    ends = np.array([numbers.start, max(numbers.start, numbers.stop - 1)])
    first, last = known.block_of(path, ends).tolist()
    tables = []
    for block in range(first, last + 1):
        rows = _open_block(known.block(block))
        if rows is not None:
            row = rows[runs.KNOWN_ROW]
            inside = pc.and_(pc.greater_equal(row, numbers.start), pc.less(row, numbers.stop))
            tables.append(rows.filter(pc.and_(inside, pc.equal(rows[FILE], path))))
    return pa.concat_tables(tables) if tables else None


@lru_cache(maxsize=4)
def _open_block(block: datasets.Location) -> pa.Table | None:
    """The rows of a block, mapped where it is local; None if nothing in it is known."""
    if not datasets.has_file(block):
        return None
    with datasets.dataset_errors(block, "read"):
        if block.is_local:
            return ipc.open_file(pa.memory_map(block.path)).read_all()
        with block.filesystem.open_input_file(block.path) as file:
            return ipc.open_file(file).read_all()


def _digest(file: datasets.FileVersion) -> pa.Scalar:
    digest = hashlib.blake2b(file.location.path.encode("utf-8", "surrogateescape"), digest_size=KEY_BYTES).digest()
    return pa.scalar(digest, pa.binary(KEY_BYTES))


def _binary(keys: Keys) -> pa.Array:
    return pa.Array.from_buffers(pa.binary(KEY_BYTES), len(keys), [None, pa.py_buffer(keys)])


def _bucket_of(keys: Keys, buckets: int) -> Keys:
    return keys.view("<u8")[::2] % buckets


def _mismatch(
    theirs: pa.Schema, named: ScoringOptions, ours: pa.Schema, options: ScoringOptions, scores: pa.Schema
) -> str | None:
    """Why no row of the dataset can be reused, as the end of a sentence."""
    try:
        pairs = [kind.name for kind in pairs_present(theirs, named)]
    except ColumnError as error:
        return str(error)
    if pairs != [kind.name for kind in pairs_present(ours, options)]:
        return f"it has other pairs of columns ({', '.join(pairs)})"
    for field in scores:
        if field.name not in theirs.names:
            return f"it has no scores ({field.name} is missing)"
        if theirs.field(field.name).type not in (field.type, pa.null()):
            return f"{field.name} is {theirs.field(field.name).type} and not {field.type}"
    return None
