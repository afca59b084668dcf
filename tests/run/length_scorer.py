"""A scorer without PDDL: it scores a text by its length, and does to its worker what it is told to."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc
from pddl_eval.options import RunOptions
from pddl_eval.run import Input, RunSummary, Watcher, finish_shards, prepare_run

ADDED = (
    pa.field("length", pa.int64()),
    pa.field("even", pa.bool_()),
    pa.field("verdict", pa.string()),
    pa.field("score_error", pa.string()),
)


@dataclass(frozen=True, slots=True)
class LengthScorer:
    """``poison`` are texts that end the process that scores them; ``pause`` is in seconds a table."""

    text: str = "text"
    poison: tuple[str, ...] = ()
    pause: float = 0.0
    fails: bool = False

    @property
    def signature(self) -> str:
        return f"length|text:{self.text}"

    @property
    def settings(self) -> dict[str, object]:
        return {"text": self.text}

    def output_schema(self, schema: pa.Schema) -> pa.Schema:
        return pa.schema([*schema, *ADDED], metadata=schema.metadata)

    def __call__(self, table: pa.Table) -> pa.Table:
        time.sleep(self.pause)
        texts = table[self.text]
        if self.poison and any(text in self.poison for text in texts.to_pylist()):
            os._exit(9)
        if self.fails:
            raise KeyError("bug")
        length = pc.cast(pc.utf8_length(texts), pa.int64())
        even = pc.equal(pc.bit_wise_and(length, 1), 0)
        verdict = pc.if_else(even, "even", "odd")
        errors = pa.nulls(table.num_rows, pa.string())
        return pa.table([*table.columns, length, even, verdict, errors], schema=self.output_schema(table.schema))


def run_scorer(
    inputs: Input,
    output: str | os.PathLike[str],
    scorer: LengthScorer,
    options: RunOptions,
    watch: Watcher | None = None,
) -> RunSummary:
    """``score_dataset`` with this scorer."""
    return finish_shards(prepare_run(inputs, output, scorer, options.shard_rows), options, watch=watch)
