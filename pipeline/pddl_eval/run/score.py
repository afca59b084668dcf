"""A run from input to summary: ``score_dataset`` scores pairs, ``run_scorer`` does the same with any scorer.

Only this file of the room knows what is done to the rows (``PairScorer``) and which columns a summary shows.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack, closing
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa

from pddl_eval.errors import RunError
from pddl_eval.metrics import PAIRS
from pddl_eval.options import RunOptions, ScoringOptions, takes
from pddl_eval.run.engines import Engine, InProcess, Processes, RayTasks, WorkerLost, choose_engine
from pddl_eval.run.inputs import Input
from pddl_eval.run.manifest import Run, begin_run, finish_run, prepare_run
from pddl_eval.run.partitions import (
    Scorer,
    ShardFailure,
    ShardRecord,
    ShardResult,
    Statistics,
    merge_statistics,
    score_shard,
)
from pddl_eval.run.places import OutputError, dataset_errors, locate
from pddl_eval.run.retries import run_shards
from pddl_eval.table import score_schema, score_table

_SHOWN = [column for pair in PAIRS for column in pair.columns if column.in_summary]

SHARES = tuple(column.name for column in _SHOWN if column.type is bool)
"""Score columns that a summary shows the share of."""

MEANS = tuple(column.name for column in _SHOWN if column.type is float)
"""Score columns that a summary shows the mean of."""

Event = Run | ShardResult | WorkerLost

Watcher = Callable[[Event], None]
"""Is told the run before its first shard, then the record or failure of each shard and each lost worker."""


@takes(scoring=ScoringOptions, running=RunOptions)
def score_dataset(
    input: Input,
    output: str | os.PathLike[str],
    *,
    scoring: ScoringOptions,
    running: RunOptions,
    watch: Watcher | None = None,
) -> RunSummary:
    """Score the pairs of a Parquet dataset into a folder of Parquet partitions: the input's columns and the scores.

    ``input`` is a file, a folder, a pattern, a URI (``s3://bucket/pairs``) or several of them. ``columns`` maps a
    column's meaning to its name in the input; ``domain`` is the name of a known domain or PDDL text. The other keywords
    are the flags of ``pddl-eval score``, see ``pddl-eval score --help``. After an interruption, the same call does only
    what is missing.

    Raises ``UserError`` if a setting or a column is wrong or the input cannot be used (``DatasetError``). Raises
    ``RunError`` if the engine does not start (``EngineError``), the output cannot be written (``OutputError``), or some
    rows could not be read or scored (``RunIncomplete``).

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
    return run_scorer(input, output, PairScorer(scoring), running, watch=watch)


def run_scorer(
    inputs: Input, output: str | os.PathLike[str], scorer: Scorer, options: RunOptions, *, watch: Watcher | None = None
) -> RunSummary:
    """The run behind ``score_dataset``, for any scorer; errors as there."""
    return finish_shards(prepare_run(inputs, output, scorer, options.shard_rows), options, watch=watch)


def finish_shards(run: Run, options: RunOptions, *, watch: Watcher | None = None) -> RunSummary:
    """Score the shards that are missing and complete the run; errors as of ``score_dataset``."""
    started = time.perf_counter()
    missing = run.missing
    options = choose_engine(sum(shard.rows for shard in missing), len(missing), options)
    records = dict(run.finished)
    failures: list[ShardFailure] = []
    with ExitStack() as stack:
        log = locate(options.json_log or os.devnull)
        with dataset_errors(log, "write"):
            lines = stack.enter_context(Path(log.path).open("a", buffering=1, encoding="utf-8"))
        begin_run(run)
        if watch:
            watch(run)
        if missing:
            engine = stack.enter_context(closing(_open_engine(run, options)))
            for result in run_shards(engine, missing):
                with dataset_errors(log, "write"):
                    lines.write(f"{log_line(result)}\n")
                if watch:
                    watch(result)
                if isinstance(result, ShardRecord):
                    records[result.name] = result
                elif isinstance(result, ShardFailure):
                    failures.append(result)
    summary = _summary(run, records, options, time.perf_counter() - started)
    _refuse_incomplete(run, records, failures, summary)
    finish_run(run, summary.to_json())
    return summary


@dataclass(frozen=True, slots=True)
class RunSummary:
    """The result of a run over all its partitions, also those that an interrupted run had finished.

    ``rows`` is the number of rows in the output. ``rows_scored`` of them were scored this time, in ``seconds`` of wall
    time; ``rows_carried`` have their scores from an earlier dataset (``pddl_eval.reuse``). ``shards_reused`` is the
    number of partitions that were there already.

    >>> statistics = {"equivalent": {"true": 1, "false": 3, "null": 0}, "verdict": {"identical": 1, "goal_differs": 3}}
    >>> summary = RunSummary("scored", 4, 4, 0, 0, 1, 0, "local", 1, 0.002, "pddl-eval:0.1.0", statistics)
    >>> summary.share("equivalent"), list(summary.verdicts), summary.rows_per_second
    (0.25, ['goal_differs', 'identical'], 2000.0)
    """

    output: str
    rows: int
    rows_scored: int
    rows_carried: int
    rows_unreadable: int
    shards: int
    shards_reused: int
    engine: str
    workers: int | None
    seconds: float
    signature: str
    statistics: Statistics

    @property
    def verdicts(self) -> Mapping[str, float]:
        """How often each verdict was given, the most frequent first."""
        counts = self.statistics.get("verdict", {})
        return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))

    @property
    def rows_per_second(self) -> float:
        return self.rows_scored / self.seconds if self.seconds else 0.0

    @property
    def errors(self) -> int:
        """Rows with a ``score_error``."""
        return int(self.statistics.get("score_error", {}).get("count", 0))

    def share(self, column: str) -> float | None:
        """The share of rows in which a bool score column is true, undecided rows counting as not; None without it."""
        counts = self.statistics.get(column)
        return counts["true"] / self.rows if counts and self.rows else None

    def mean(self, column: str) -> float | None:
        """The mean of a number score column over the rows that have one; None where none has."""
        values = self.statistics.get(column)
        return values["sum"] / values["count"] if values and values["count"] else None

    def to_json(self) -> dict[str, Any]:
        """What the run's ``_summary.json`` keeps: only what a run that was resumed can say as well."""
        return {
            "rows": self.rows,
            "rows_carried": self.rows_carried,
            "shards": self.shards,
            "signature": self.signature,
            "verdicts": self.verdicts,
            "statistics": self.statistics,
        }

    def lines(self) -> list[tuple[str, str]]:
        """The summary as pairs of a label and its value, in the order in which a person wants them."""
        reused = f" ({self.shards_reused} of them from an earlier start)" if self.shards_reused else ""
        lines = [("pairs", f"{self.rows:,} in {self.shards:,} shard{'' if self.shards == 1 else 's'}{reused}")]
        if self.rows_carried:
            lines.append(("carried over", f"{self.rows_carried:,} unchanged, {self.rows - self.rows_carried:,} scored"))
        if self.rows_unreadable:
            lines.append(("not readable", f"{self.rows_unreadable:,}"))
        for column in SHARES:
            counts = self.statistics.get(column)
            if counts and counts["true"] + counts["false"]:
                undecided = f", {counts['null']:,} undecided" if counts["null"] else ""
                lines.append((column, f"{self.share(column):7.2%}  ({counts['true']:,}{undecided})"))
        for column in MEANS:
            mean = self.mean(column)
            if mean is not None:
                lines.append((column, f"{mean:7.4f}  (mean of {self.statistics[column]['count']:,})"))
        lines += [(f"verdict {verdict}", f"{count:,}") for verdict, count in self.verdicts.items()]
        if self.errors:
            lines.append(("score_error", f"{self.errors:,} rows could not be scored"))
        if self.rows_scored:
            workers = f", {self.workers} workers" if (self.workers or 1) > 1 else ""
            speed = f"{self.rows_per_second:,.0f} pairs/s in {self.seconds:,.1f} s ({self.engine}{workers})"
            lines.append(("throughput", speed))
        return [*lines, ("signature", self.signature), ("output", self.output)]

    def __str__(self) -> str:
        width = max(len(label) for label, _ in self.lines())
        return "\n".join(f"{label:<{width}}  {value}" for label, value in self.lines())


class RunIncomplete(RunError):
    """Shards failed or rows could not be read; everything else is scored and written. ``summary`` says how much."""

    def __init__(self, message: str, summary: RunSummary) -> None:
        super().__init__(message)
        self.summary = summary


@dataclass(frozen=True, slots=True)
class PairScorer:
    """``score_table`` as the scorer of a run, signed with the versions that are installed where it is made."""

    options: ScoringOptions
    signature: str = field(init=False)
    counted: tuple[str, ...] = ("verdict",)

    def __post_init__(self) -> None:
        object.__setattr__(self, "signature", self.options.signature)

    @property
    def settings(self) -> dict[str, object]:
        return dict(json.loads(self.options.to_json()))

    def output_schema(self, schema: pa.Schema) -> pa.Schema:
        return score_schema(schema, self.options)

    def __call__(self, table: pa.Table) -> pa.Table:
        here = self.options.signature
        if here != self.signature:
            raise RuntimeError(f"this worker would score as {here}: install the same version everywhere")
        return score_table(table, self.options)


def log_line(result: ShardResult | WorkerLost) -> str:
    """A line of JSON without its line break: ``event`` is ``shard``, ``shard_failed`` or ``worker_lost``, in UTC.

    A ``shard`` has ``rows``, of these ``carried``, ``unreadable`` and ``unscored`` ones, ``statistics`` (verdict counts
    among them), ``seconds``, ``node`` and ``attempt``; the others have a ``reason``.
    """
    fields: dict[str, object]
    if isinstance(result, ShardRecord):
        names = ("rows", "carried", "statistics", "seconds", "node", "attempt")
        fields = {"event": "shard", "shard": result.name, **{name: getattr(result, name) for name in names}}
        fields |= {"unreadable": result.unreadable_rows, "unscored": len(result.unscored)}
    elif isinstance(result, ShardFailure):
        fields = {"event": "shard_failed", "shard": result.name, "reason": result.reason, "trace": result.trace}
    else:
        task = result.task
        fields = {"event": "worker_lost", "shard": task.shard.name, "attempt": task.attempt, "reason": result.reason}
    return json.dumps({"time": datetime.now(UTC).isoformat(timespec="milliseconds"), **fields})


def _open_engine(run: Run, options: RunOptions) -> Engine:
    function = partial(score_shard, run.work)
    if options.engine == "ray":
        return RayTasks(function, options)
    return InProcess(function) if options.workers == 1 else Processes(function, options.workers or 1)


def _summary(run: Run, records: Mapping[str, ShardRecord], options: RunOptions, seconds: float) -> RunSummary:
    # In the order of the input, so that sums of floats do not depend on which shard was done first.
    in_order = [records[shard.name] for shard in run.shards if shard.name in records]
    return RunSummary(
        output=str(run.work.output),
        rows=sum(record.rows for record in in_order),
        rows_scored=sum(record.rows - record.carried for record in in_order if record.name not in run.finished),
        rows_carried=sum(record.carried for record in in_order),
        rows_unreadable=sum(record.unreadable_rows for record in in_order),
        shards=len(run.shards),
        shards_reused=len(run.finished),
        engine=options.engine,
        workers=options.workers,
        seconds=seconds,
        signature=run.work.scorer.signature,
        statistics=merge_statistics(record.statistics for record in in_order),
    )


def _refuse_incomplete(
    run: Run, records: Mapping[str, ShardRecord], failures: list[ShardFailure], summary: RunSummary
) -> None:
    troubles = [f"{failure.name}: {failure.reason.rstrip('.')}" for failure in failures]
    for failure in failures:
        if failure.fatal:
            raise OutputError(failure.reason)
    for shard in run.shards:
        record = records.get(shard.name)
        if record is not None and record.unreadable:
            ranges = ", ".join(f"{start:,} to {stop - 1:,}" for start, stop in record.unreadable)
            troubles.append(f"rows {ranges} of {shard.file} cannot be read ({record.damage})")
    if troubles:
        others = f" (and {len(troubles) - 1} shards more)" if len(troubles) > 1 else ""
        raise RunIncomplete(
            f"Not all rows could be scored: {troubles[0]}{others}. The other {summary.rows:,} rows are in "
            f"{summary.output}; the same run started again tries the rest.",
            summary,
        )
