"""A scorer without PDDL: it scores a text by its length, and does to its worker what it is told to."""

from __future__ import annotations

import json
import os
import time
from functools import partial
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
from pddl_eval.datasets import Input
from pddl_eval.run import Event, Run, RunCounts, Watcher, finish_shards, prepare_run
from pddl_eval.run.partitions import Scorer
from pddl_eval.settings import RunOptions

ADDED = (
    pa.field("length", pa.int64()),
    pa.field("even", pa.bool_()),
    pa.field("verdict", pa.string()),
    pa.field("score_error", pa.string()),
)


SLOW_SECONDS = 301.0
"""On the clock of a test."""


def length_scorer(
    text: str = "text",
    poison: tuple[str, ...] = (),
    pause: float = 0.0,
    slow: tuple[str, ...] = (),
    fails: bool = False,
) -> Scorer:
    """``poison`` are texts that end the process that scores them, ``slow`` such as take a while; ``pause``: a table."""
    score = partial(_score, text=text, poison=poison, pause=pause, slow=slow, fails=fails)
    return Scorer(f"length|text:{text}", {"text": text}, _output_schema, score)


def _output_schema(schema: pa.Schema) -> pa.Schema:
    return pa.schema([*schema, *ADDED], metadata=schema.metadata)


def _score(  # noqa: PLR0913 (one keyword a setting)
    table: pa.Table, until: float, text: str, poison: tuple[str, ...], pause: float, slow: tuple[str, ...], fails: bool
) -> pa.Table:
    time.sleep(pause)
    if poison or slow:
        for number, each in enumerate(table[text].to_pylist()):
            if each in poison:
                os._exit(9)
            if each in slow:
                time.sleep(SLOW_SECONDS)
            if time.monotonic() > until:
                table = table.slice(0, number + 1)
                break
    texts = table[text]
    if fails:
        raise KeyError("bug")
    length = pc.cast(pc.utf8_length(texts), pa.int64())
    even = pc.equal(pc.bit_wise_and(length, 1), 0)
    verdict = pc.if_else(even, "even", "odd")
    errors = pa.nulls(table.num_rows, pa.string())
    return pa.table([*table.columns, length, even, verdict, errors], schema=_output_schema(table.schema))


def run_scorer(  # noqa: PLR0913
    inputs: Input,
    output: str | os.PathLike[str],
    scorer: Scorer,
    options: RunOptions,
    watch: Watcher | None = None,
    part: str | None = None,
) -> RunCounts:
    """``score_dataset`` with this scorer."""
    return finish_shards(prepare_run(inputs, output, scorer, options.shard_rows, part), options, watch=watch)


def event_log(path: str) -> Watcher:
    """A watcher that appends a line of JSON with the kind and the node of each event but the run itself."""

    def watch(event: Event) -> None:
        if not isinstance(event, Run):
            with Path(path).open("a", encoding="utf-8") as log:
                log.write(json.dumps({"event": type(event).__name__, "node": getattr(event, "node", "")}) + "\n")

    return watch
