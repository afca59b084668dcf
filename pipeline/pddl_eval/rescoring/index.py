"""Scores by content: the score columns of a scored dataset, to be found by the keys of their rows.

The index is a few Arrow files, each with the rows whose keys fall into its bucket, sorted by key. They are written in
one pass over the dataset and one over each bucket, so that memory follows the bucket; workers map them and touch only
the pages that they look at. Files on an object store are copied to the worker's disk first.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import ipc

from pddl_eval.dataset.columns import column_batches
from pddl_eval.dataset.locations import (
    Location,
    dataset_errors,
    list_files,
    put_bytes,
    read_bytes,
)
from pddl_eval.dataset.work import SCORE_ERROR
from pddl_eval.rescoring.content import content_columns, content_keys
from pddl_eval.rescoring.previous import Previous

if TYPE_CHECKING:
    import numpy as np

BUCKET_ROWS = 200_000
"""Rows of a bucket, about and at most: some hundred bytes each."""

HIGH, LOW = "key_high", "key_low"
"""The halves of the keys: one is searched, the other tells whether the row that is found is the right one."""

OPEN_BUCKETS = 1024


def build_index(previous: Previous, folder: Location) -> tuple[Location, ...]:
    """The files of the index, in the order of their buckets; those of an earlier start are taken as they are.

    A row that could not be scored is not in it: it is to be tried again. Raises ``DatasetError``.
    """
    marker = folder / f"{previous.fingerprint}.json"
    buckets = max(1, -(-previous.source.rows // BUCKET_ROWS))
    files = tuple(folder / f"{previous.fingerprint}-{bucket:05d}.arrow" for bucket in range(buckets))
    if f"{previous.fingerprint}.json" in list_files(folder) and json.loads(read_bytes(marker)) == buckets:
        return files
    with tempfile.TemporaryDirectory(prefix="pddl-eval-") as aside, ExitStack() as stack:
        spilt = [Path(aside) / str(bucket) for bucket in range(buckets)]
        schema = _index_schema(previous)
        writers = [stack.enter_context(ipc.new_stream(path, schema)) for path in spilt]
        for table in _keyed_scores(previous, schema):
            for bucket, part in _parts(table, buckets):
                writers[bucket].write_table(part)
        stack.close()
        for path, file in zip(spilt, files, strict=True):
            put_bytes(file, _sorted(path))
    put_bytes(marker, json.dumps(buckets).encode())
    return files


def look_up(files: Sequence[Location], keys: np.ndarray[Any, Any]) -> tuple[np.ndarray[Any, Any], pa.Table]:
    """Which rows are found (their places, not in order) and their score columns, in the same order.

    Two contents whose keys have equal halves may hide one another: the row is not found then, and scored again.
    """
    import numpy as np

    bucket_of = keys[:, 0] % len(files)
    places: list[np.ndarray[Any, Any]] = []
    scores: list[pa.Table] = []
    for bucket, file in enumerate(files):
        here = np.flatnonzero(bucket_of == bucket)
        table, high, low = _open_bucket(file)
        if not len(here) or not len(high):
            continue
        at = np.minimum(np.searchsorted(high, keys[here, 0]), len(high) - 1)
        found = (high[at] == keys[here, 0]) & (low[at] == keys[here, 1])
        places.append(here[found])
        scores.append(table.take(at[found]))
    if not scores:
        return np.array([], dtype=np.int64), _open_bucket(files[0])[0].slice(0, 0)
    return np.concatenate(places), pa.concat_tables(scores)


def close_index() -> None:
    """Let go of the files that this process has mapped."""
    _open_bucket.cache_clear()


@lru_cache(maxsize=OPEN_BUCKETS)
def _open_bucket(file: Location) -> tuple[pa.Table, np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """The score columns of a bucket and the halves of its keys. The name of a file says what is in it."""
    with dataset_errors(file, "read"):
        if file.is_local:
            mapped = pa.memory_map(file.path)
        else:
            with tempfile.NamedTemporaryFile(prefix="pddl-eval-") as copy:
                with file.filesystem.open_input_stream(file.path) as stream:
                    while block := stream.read(2**20):
                        copy.write(block)
                copy.flush()
                mapped = pa.memory_map(copy.name)  # Which outlives the name.
        table = ipc.open_file(mapped).read_all()
    return table.drop_columns([HIGH, LOW]), table[HIGH].to_numpy(), table[LOW].to_numpy()


def _index_schema(previous: Previous) -> pa.Schema:
    scores = [previous.source.schema.field(name) for name in previous.score_columns]
    return pa.schema([pa.field(HIGH, pa.uint64()), pa.field(LOW, pa.uint64()), *scores])


def _keyed_scores(previous: Previous, schema: pa.Schema) -> Iterator[pa.Table]:
    """The dataset's score columns behind the keys of its rows, batch by batch."""
    source = previous.source
    names = [*content_columns(source.schema, previous.settings), *previous.score_columns]
    for batch in column_batches(source, list(dict.fromkeys(names))):
        table = pa.Table.from_batches([batch])
        table = table.filter(pc.is_null(table[SCORE_ERROR]))
        keys = content_keys(table, previous.settings)
        yield pa.table([keys[:, 0], keys[:, 1], *table.select(previous.score_columns).columns], schema=schema)


def _parts(table: pa.Table, buckets: int) -> Iterator[tuple[int, pa.Table]]:
    """The rows of each bucket that has any."""
    import numpy as np

    bucket_of = table[HIGH].to_numpy() % buckets
    order = np.argsort(bucket_of)
    table, bucket_of = table.take(order), bucket_of[order]
    present, starts = np.unique(bucket_of, return_index=True)
    for bucket, start, stop in zip(present, starts, [*starts[1:], table.num_rows], strict=True):
        yield int(bucket), table.slice(start, stop - start)


def _sorted(stream: Path) -> pa.Buffer:
    """The rows of a stream sorted by key, as an Arrow file in memory."""
    with pa.memory_map(str(stream)) as mapped:
        table = ipc.open_stream(mapped).read_all()
        sink = pa.BufferOutputStream()
        table = table.take(pc.sort_indices(table[HIGH])).combine_chunks()
        with ipc.new_file(sink, table.schema) as writer:
            writer.write_table(table)
        return sink.getvalue()
