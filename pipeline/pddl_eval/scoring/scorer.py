"""Datasets of pairs: what a run does to their rows, and the function that runs it."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict
from functools import partial
from typing import Any, cast

import pyarrow as pa

from pddl_eval import kernel
from pddl_eval.datasets import DatasetError, Input, Source, column_batches, locate
from pddl_eval.definition.metrics import PLAN
from pddl_eval.definition.options import ScoringOptions
from pddl_eval.errors import UserError
from pddl_eval.pairs import held_against, pairs_present
from pddl_eval.run import (
    ROW_SECONDS,
    Scorer,
    Watcher,
    finish_merged,
    finish_shards,
    partitions_of,
    prepare_run,
    readable_input,
)
from pddl_eval.scoring.summary import RunSummary, count_rows
from pddl_eval.scoring.table import (
    KERNELS,
    constants_signed,
    require_references,
    score_schema,
    score_table,
)
from pddl_eval.settings import ReadingOptions, RunOptions, grouped, shows_settings

KERNEL_ROW_SECONDS = 0.00008
"""A row of pairs that the kernel scores, with its way from file to file."""

CHECKED_AT_A_TIME = 64
"""Rows whose references are read together before a run."""


@shows_settings(ReadingOptions, ScoringOptions, RunOptions)
def score_dataset(  # noqa: PLR0913 (what is no setting)
    input: Input,
    output: str | os.PathLike[str],
    *,
    part: str | None = None,
    rows_per_file: int | None = None,
    watch: Watcher | None = None,
    warn: Callable[[str], None] | None = None,
    **settings: Any,
) -> RunSummary:
    """Score the pairs of a dataset into a folder of Parquet partitions: the input's columns and the scores.

    After an interruption, the same call does only what is missing.

    * ``input``: a file, a folder, a pattern, a URI (``s3://bucket/pairs``) or several of them;
    * ``output``: the folder of the partitions; it may be on an object store;
    * ``columns``: the input's own name for a column, by its meaning (``{"generated_plan": "output"}``);
    * ``domain``: the name of a known domain or PDDL text, for rows that name none;
    * ``harness`` (the flag ``--from``): the input is logs of that harness;
    * ``references``: a dataset whose rows are joined to the answers by the columns ``key``;
    * ``part``: one of N shares of the rows, such as ``3/32``. Processes on any machines score one each into the same
      output, and the last one completes it;
    * ``rows_per_file``: the partitions of a complete run are merged into files of that many rows;
    * ``watch``: is told each event of the run. Without it, long work shows a progress bar on a terminal and in a
      notebook;
    * ``warn``: is told what could not be read or joined;
    * ``settings``: the fields of ``ReadingOptions``, ``ScoringOptions`` and ``RunOptions``, most of them flags of
      ``pddl-eval score``.

    Raises ``UserError`` if a setting or a column is wrong, the input cannot be used or another process writes into the
    output (``DatasetError``). Raises ``RunError`` if the engine does not start (``EngineError``), the output cannot be
    written (``OutputError``), or some rows could not be read or scored (``RunIncomplete``).

    >>> import pyarrow.parquet, tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> plans = pa.table({"reference_plan": ["(pick a)", "(drop a)"], "output": ["(pick a)", "(pick a)"]})
    >>> pyarrow.parquet.write_table(plans, f"{folder.name}/pairs.parquet")
    >>> names = {"generated_plan": "output"}
    >>> summary = score_dataset(f"{folder.name}/pairs.parquet", f"{folder.name}/scored", columns=names)
    >>> summary.rows, summary.mean("plan_lcs")
    (2, 0.5)
    >>> folder.cleanup()
    """
    reading, scoring, running = grouped(settings, ReadingOptions, ScoringOptions, RunOptions)
    if rows_per_file is not None and part is not None:
        raise UserError("Only a whole run can be merged: leave out rows_per_file, or part.")
    folder = locate(output) if rows_per_file is None else partitions_of(output)
    with readable_input(input, str(folder), reading, scoring.columns, warn) as source:
        run = prepare_run(source, str(folder), pair_scorer(scoring), running.shard_rows, part)
    if rows_per_file is None:
        return cast(RunSummary, finish_shards(run, running, watch=watch))
    return cast(RunSummary, finish_merged(run, rows_per_file, partial(finish_shards, run, running, watch=watch)))


def pair_scorer(options: ScoringOptions) -> Scorer:
    """``score_table`` as the scorer of a run."""
    return Scorer(
        signature=options.signature,
        settings=asdict(options),
        output_schema=partial(score_schema, options=options),
        score=partial(_score_pairs, options=options, comparable=options.comparable),
        count=partial(count_rows, options=options),
        summary=RunSummary,
        check=partial(_check_references, options=options),
        constants_signed=partial(constants_signed, options=options),
        row_seconds=partial(_row_seconds, options=options),
    )


def _row_seconds(schema: pa.Schema, options: ScoringOptions) -> float:
    # Problems without references are the definition's.
    answered = {pair.name for pair, _ in KERNELS if pair is PLAN or options.column(pair.reference) in schema.names}
    present = {pair.name for pair in pairs_present(schema, options)}
    by_kernel = kernel.version() and not options.optimal and not options.feedback and present <= answered
    return KERNEL_ROW_SECONDS if by_kernel else ROW_SECONDS


def _check_references(source: Source, options: ScoringOptions) -> None:
    pairs = pairs_present(source.schema, options)
    names = list(dict.fromkeys(name for pair in pairs for name in held_against(pair, source.schema, options)))
    with suppress(DatasetError):  # Damage is found, and said, where the rows are scored.
        require_references(column_batches(source, names, CHECKED_AT_A_TIME), source.schema, options)


def _score_pairs(table: pa.Table, until: float, options: ScoringOptions, comparable: str) -> pa.Table:
    if options.comparable != comparable:
        raise RuntimeError(f"this worker would score as {options.comparable}: install the same version everywhere")
    return score_table(table, options, until)
