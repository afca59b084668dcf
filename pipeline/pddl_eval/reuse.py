"""A dataset scored again: a row with the content of a row scored before keeps its scores, the others are scored.

The output is what ``score_dataset`` would have written, partition by partition; only the time spent differs. It
compares no scores: that is ``pddl_eval.report``.

The earlier scores are found through an index: an Arrow file in the output with a digest of each row's content and its
scores, a sorted record batch for each bucket of digests. It is written in one pass over the earlier dataset and one
over each bucket, so that memory follows the bucket; workers map it and load only the pages that they read. From an
object store it is copied to the worker's disk first.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import ipc

from pddl_eval import run as runs
from pddl_eval.options import MEANINGS, RunOptions, ScoringOptions, takes
from pddl_eval.table import ColumnError, pairs_present, values_of

INDEX_FOLDER = "_previous"
"""In the output, while the run lasts: workers on other machines see it there."""

INDEX_FORMAT = 2
"""Goes up when keys or index files change."""

BUCKET_ROWS = 200_000
"""Rows of a bucket, at most (about): some hundred bytes each."""

VERDICTS = frozenset({"verdict", "domain_verdict"})
"""Score columns that say ``undecided``."""

KEY = "key"
KEY_BYTES = 16


@dataclass(frozen=True, slots=True)
class Previous:
    """The earlier dataset: ``source`` has those of its files that can be reused, perhaps none.

    ``options`` have the names of its columns; ``scores`` are the columns to carry over; rows with a verdict in
    ``retry`` are not reused; ``obstacle`` says why not all rows can be reused, or is None.
    """

    source: runs.Source
    options: ScoringOptions
    scores: pa.Schema
    obstacle: str | None = None
    retry: tuple[str, ...] = ()


@takes(scoring=ScoringOptions, running=RunOptions)
def rescore_dataset(  # noqa: PLR0913 (one keyword a setting)
    previous: runs.Input,
    input: runs.Input,
    output: str | os.PathLike[str],
    *,
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
    run, before = prepare_rescore(previous, input, output, scoring, running.shard_rows, previous_columns)
    before = replace(before, retry=tuple(sorted(retry)))
    if before.obstacle and warn is not None:
        warn(before.obstacle)
    folder = run.work.output / INDEX_FOLDER

    def with_index() -> runs.Scorer:
        score = partial(_score_or_carry, work=run.work, options=scoring, index=build_index(before, folder))
        return replace(run.work.scorer, score=score)

    reuses = run.missing and before.source.files
    try:
        summary = runs.finish_shards(run, running, watch=watch, scorer=with_index if reuses else None)
    finally:
        _open_index.cache_clear()
    if runs.list_files(folder):
        runs.remove_folder(folder)
    return summary


def prepare_rescore(  # noqa: PLR0913 (what rescore_dataset takes)
    previous: runs.Input,
    inputs: runs.Input,
    output: str | os.PathLike[str],
    options: ScoringOptions,
    shard_rows: int,
    previous_columns: Mapping[str, str] | None = None,
) -> tuple[runs.Run, Previous]:
    """What ``rescore_dataset`` would do, and what it would reuse; nothing is written. Errors as there.

    Equal content has equal scores only where the signatures are equal and the same pairs of columns were scored.
    """
    run = runs.prepare_run(inputs, output, runs.pair_scorer(options), shard_rows)
    source = runs.open_source(previous)
    for file in source.files:
        if file.version.location.within(run.work.output):
            raise runs.DatasetError(
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
        obstacle = f"{runs.place_of(source)} cannot be reused: {mismatch}"
    elif others:
        obstacle = (
            f"{sum(file.rows for file in others):,} rows of {runs.place_of(source)} were scored in another way and "
            f"cannot be reused: {others[0].signature or 'no signature'}, now {signature}"
        )
    return run, Previous(replace(source, files=files), named, scores, obstacle)


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


def content_keys(table: pa.Table, options: ScoringOptions) -> np.ndarray[Any, Any]:
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


def build_index(previous: Previous, folder: runs.Location) -> runs.Location:
    """The index of the files that can be reused; one from an earlier start is kept.

    A row that could not be scored, or whose verdict is to be tried again, is not in it. Raises ``DatasetError``.
    """
    source, options, names = previous.source, previous.options, previous.scores.names
    identity = [INDEX_FORMAT, [file.version.footer for file in source.files], options.columns, names, previous.retry]
    index = folder / f"{hashlib.blake2b(json.dumps(identity).encode(), digest_size=16).hexdigest()}.arrow"
    if runs.list_files(folder).get(index.path.rpartition("/")[2]):
        return index
    schema = pa.schema([pa.field(KEY, pa.binary(KEY_BYTES)), *previous.scores])
    buckets = max(1, -(-source.rows // BUCKET_ROWS))
    read = list(dict.fromkeys([*content_columns(source.schema, options).values(), *names]))
    with tempfile.TemporaryDirectory(prefix="pddl-eval-") as aside:
        with ExitStack() as stack:
            writers = [stack.enter_context(ipc.new_stream(f"{aside}/{bucket}", schema)) for bucket in range(buckets)]
            for batch in runs.column_batches(source, read):
                table = pa.Table.from_batches([batch])
                table = table.filter(pc.is_null(table[runs.SCORE_ERROR]))
                for verdicts in VERDICTS & set(names) if previous.retry else ():
                    tried_again = pc.is_in(table[verdicts], pa.array(previous.retry, table[verdicts].type))
                    table = table.filter(pc.invert(tried_again))
                keys = content_keys(table, options)
                key = pa.Array.from_buffers(pa.binary(KEY_BYTES), len(keys), [None, pa.py_buffer(keys)])
                table = pa.table([key, *table.select(names).columns], names=schema.names).cast(schema)
                bucket_of = _bucket_of(keys, buckets)
                for bucket in np.unique(bucket_of):
                    writers[bucket].write_table(table.filter(bucket_of == bucket))
        with runs.new_file(index) as file, ipc.new_file(file, schema) as writer:
            for bucket in range(buckets):
                with pa.memory_map(f"{aside}/{bucket}") as mapped:
                    table = ipc.open_stream(mapped).read_all().sort_by(KEY).combine_chunks()
                    [batch] = table.to_batches() or [pa.RecordBatch.from_pylist([], schema)]
                    writer.write_batch(batch)
    return index


def _score_or_carry(
    table: pa.Table, until: float, work: runs.Work, options: ScoringOptions, index: runs.Location
) -> pa.Table:
    """The table with its scores: those in the index for the rows whose content it knows, new ones for the others."""
    found, carried = _look_up(index, content_keys(table, options))
    unknown = np.setdiff1d(np.arange(table.num_rows), found)
    scores = []
    if len(unknown):
        scored = work.scorer.score(table.take(unknown), until)
        scores = [scored.select(carried.column_names)]
        if scored.num_rows < len(unknown):  # The time was up: only the rows before the first that is not scored.
            stop = int(unknown[scored.num_rows])
            known = found < stop
            table, unknown = table.slice(0, stop), unknown[: scored.num_rows]
            found, carried = found[known], carried.filter(pa.array(known))
    scores = [carried, *scores]
    order = np.argsort(np.concatenate([found, unknown]))
    scored = pa.table([*table.columns, *pa.concat_tables(scores).take(order).columns], schema=work.output_schema)
    return scored.replace_schema_metadata({runs.CARRIED_KEY: str(len(found))})


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


def _bucket_of(keys: np.ndarray[Any, Any], buckets: int) -> np.ndarray[Any, Any]:
    return keys.view("<u8")[::2] % buckets


def _look_up(index: runs.Location, keys: np.ndarray[Any, Any]) -> tuple[np.ndarray[Any, Any], pa.Table]:
    """Which rows are found (their places, not in order) and their score columns, in the same order."""
    reader = _open_index(index)
    bucket_of = _bucket_of(keys, reader.num_record_batches)
    places = [np.array([], dtype=np.int64)]
    scores = [reader.schema.empty_table()]
    for bucket in np.unique(bucket_of):
        batch = reader.get_batch(bucket)
        if batch.num_rows:
            here = np.flatnonzero(bucket_of == bucket)
            theirs = np.frombuffer(batch[KEY].buffers()[1], dtype=keys.dtype, count=batch.num_rows)
            at = np.searchsorted(theirs, keys[here]).clip(max=batch.num_rows - 1)
            same = theirs[at] == keys[here]
            places.append(here[same])
            scores.append(pa.Table.from_batches([batch]).take(at[same]))
    return np.concatenate(places), pa.concat_tables(scores).drop_columns(KEY)


@lru_cache(maxsize=4)
def _open_index(index: runs.Location) -> ipc.RecordBatchFileReader:
    """The mapped index. The name of the file says what is in it."""
    with runs.dataset_errors(index, "read"):
        if index.is_local:
            return ipc.open_file(pa.memory_map(index.path))
        with tempfile.NamedTemporaryFile(prefix="pddl-eval-") as copy:
            with index.filesystem.open_input_stream(index.path) as stream:
                shutil.copyfileobj(stream, copy)
            copy.flush()
            return ipc.open_file(pa.memory_map(copy.name))  # The map outlives the name.
