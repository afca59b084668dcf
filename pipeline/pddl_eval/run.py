"""A run from input to summary: the one place where scoring, dataset and engines meet.

``score_dataset`` scores pairs; ``run_scorer`` does the same with any scorer, and knows no PDDL.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa

from pddl_eval.dataset.locations import OutputError, dataset_errors, locate
from pddl_eval.dataset.partitions import ShardRecord
from pddl_eval.dataset.plan import RunPlan, begin_run, finish_run, plan_run
from pddl_eval.dataset.sources import Input
from pddl_eval.dataset.statistics import merge_statistics
from pddl_eval.dataset.work import Scorer, ShardFailure, score_shard
from pddl_eval.engines.attempts import Outcome
from pddl_eval.engines.choice import Choice, choose_engine
from pddl_eval.engines.local import InProcess, Processes, ShardFunction
from pddl_eval.engines.log import log_line
from pddl_eval.engines.ray import RayTasks
from pddl_eval.engines.runner import Pool, run_shards
from pddl_eval.errors import RunError
from pddl_eval.options import SHARD_ROWS
from pddl_eval.summary import RunSummary

if TYPE_CHECKING:
    from pddl_eval.options import ScoringOptions

Watcher = Callable[[RunPlan | Outcome], None]
"""Is told the plan before the first shard, then what comes of each shard and each lost worker."""


class RunIncomplete(RunError):
    """Shards failed or rows could not be read; everything else is scored and written. ``summary`` says how much."""

    def __init__(self, message: str, summary: RunSummary) -> None:
        super().__init__(message)
        self.summary = summary


def score_dataset(
    input: Input,
    output: str | os.PathLike[str],
    *,
    columns: Mapping[str, str] | None = None,
    domain: str | None = None,
    check_solvable: bool = True,
    similarity: str = "exact",
    beta: float = 0.75,
    threshold: float = 0.8,
    engine: str = "auto",
    address: str | None = None,
    workers: int | None = None,
    shard_rows: int = SHARD_ROWS,
    json_log: str | os.PathLike[str] | None = None,
    watch: Watcher | None = None,
) -> RunSummary:
    """Score the pairs of a Parquet dataset into a folder of Parquet partitions: the input's columns and the scores.

    ``input`` is a file, a folder, a pattern, a URI (``s3://bucket/pairs``) or several of them. ``columns`` maps a
    column's meaning to its name in the input (``{"generated_problem": "output"}``), ``domain`` is the name of a known
    domain or PDDL text. Which engine runs the shards changes no score: ``auto`` takes the one that is done first.
    The same call repeated after an interruption does only what is missing. ``json_log`` is a file to which one line
    a shard is appended.

    Raises ``ValueError`` for a setting or column that is not right, ``DatasetError`` for an input or output that
    cannot be used, ``EngineError`` for an engine that does not start, ``RunIncomplete`` where some rows could not be
    read or scored.

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
    from pddl_eval.options import ScoringOptions

    settings = ScoringOptions(
        columns=dict(columns or {}),
        domain=domain,
        check_solvable=check_solvable,
        similarity=similarity,
        beta=beta,
        threshold=threshold,
    )
    return run_scorer(
        input,
        output,
        pair_scorer(settings),
        engine=engine,
        address=address,
        workers=workers,
        shard_rows=shard_rows,
        json_log=json_log,
        watch=watch,
    )


def run_scorer(
    input: Input,
    output: str | os.PathLike[str],
    scorer: Scorer,
    *,
    engine: str = "auto",
    address: str | None = None,
    workers: int | None = None,
    shard_rows: int = SHARD_ROWS,
    json_log: str | os.PathLike[str] | None = None,
    watch: Watcher | None = None,
) -> RunSummary:
    """The run behind ``score_dataset``, for any scorer; parameters and errors as there."""
    choose_engine(0, 0, engine=engine, address=address, workers=workers)  # Wrong arguments end here, before any I/O.
    plan = plan_run(input, output, scorer, shard_rows)
    return run_plan(plan, engine=engine, address=address, workers=workers, json_log=json_log, watch=watch)


def run_plan(
    plan: RunPlan,
    *,
    engine: str = "auto",
    address: str | None = None,
    workers: int | None = None,
    json_log: str | os.PathLike[str] | None = None,
    watch: Watcher | None = None,
) -> RunSummary:
    """Do what a plan finds missing; parameters and errors as of ``score_dataset``."""
    started = time.perf_counter()
    missing = plan.missing
    choice = choose_engine(
        sum(shard.rows for shard in missing), len(missing), engine=engine, address=address, workers=workers
    )
    records = dict(plan.finished)
    failures: list[ShardFailure] = []
    with ExitStack() as stack:
        tell = _watchers(json_log, watch, stack)
        begin_run(plan)
        tell(plan)
        if missing:
            pool = _open_pool(choice, address, partial(score_shard, plan.work))
            stack.callback(pool.close)
            for outcome in run_shards(pool, missing):
                tell(outcome)
                if isinstance(outcome, ShardRecord):
                    records[outcome.name] = outcome
                elif isinstance(outcome, ShardFailure):
                    failures.append(outcome)
    summary = _summary(plan, records, choice, time.perf_counter() - started)
    _refuse_incomplete(plan, records, failures, summary)
    finish_run(plan, summary.to_json())
    return summary


@dataclass(frozen=True, slots=True)
class PairScorer:
    """``pddl_eval.scoring`` as the scorer of a run."""

    options: ScoringOptions
    signature: str
    counted: tuple[str, ...] = ("verdict",)

    @property
    def settings(self) -> dict[str, object]:
        return dict(json.loads(self.options.to_json()))

    def output_schema(self, schema: pa.Schema) -> pa.Schema:
        from pddl_eval.scoring.table import score_schema

        return score_schema(schema, self.options)

    def __call__(self, table: pa.Table) -> pa.Table:
        from pddl_eval.scoring.table import score_table

        here = _signature_here(self.options.to_json())
        if here != self.signature:
            raise RuntimeError(f"this worker would score as {here}: install the same version everywhere")
        return score_table(table, self.options)


def pair_scorer(settings: ScoringOptions) -> PairScorer:
    """The scorer of pairs with these settings, signed with the versions that are installed here."""
    return PairScorer(settings, _signature_here(settings.to_json()))


@lru_cache(maxsize=4)
def _signature_here(settings: str) -> str:
    from pddl_eval.options import ScoringOptions

    return ScoringOptions.from_json(settings).signature


def _open_pool(choice: Choice, address: str | None, function: ShardFunction) -> Pool:
    if choice.engine == "ray":
        return RayTasks(function, address=address, workers=choice.workers)
    if choice.workers == 1:
        return InProcess(function)
    return Processes(function, choice.workers or 1)


def _watchers(json_log: str | os.PathLike[str] | None, watch: Watcher | None, stack: ExitStack) -> Watcher:
    watchers = [] if watch is None else [watch]
    if json_log is not None:
        place = locate(json_log)
        with dataset_errors(place, "write"):
            file = stack.enter_context(Path(place.path).open("a", buffering=1, encoding="utf-8"))  # noqa: SIM115

        def log(event: RunPlan | Outcome) -> None:
            if not isinstance(event, RunPlan):
                with dataset_errors(place, "write"):
                    file.write(f"{log_line(event)}\n")

        watchers.append(log)

    def tell(event: RunPlan | Outcome) -> None:
        for each in watchers:
            each(event)

    return tell


def _summary(plan: RunPlan, records: Mapping[str, ShardRecord], choice: Choice, seconds: float) -> RunSummary:
    # In the order of the input, so that sums of floats do not depend on which shard was done first.
    in_order = [records[shard.name] for shard in plan.shards if shard.name in records]
    rows = sum(record.rows for record in in_order)
    return RunSummary(
        output=str(plan.work.output),
        rows=rows,
        rows_scored=sum(record.rows - record.carried for record in in_order if record.name not in plan.finished),
        rows_carried=sum(record.carried for record in in_order),
        rows_unreadable=sum(record.unreadable_rows for record in in_order),
        shards=len(plan.shards),
        shards_reused=len(plan.finished),
        engine=choice.engine,
        workers=choice.workers,
        seconds=seconds,
        signature=plan.work.scorer.signature,
        statistics=merge_statistics(record.statistics for record in in_order),
    )


def _refuse_incomplete(
    plan: RunPlan, records: Mapping[str, ShardRecord], failures: list[ShardFailure], summary: RunSummary
) -> None:
    fatal = next((failure for failure in failures if failure.fatal), None)
    if fatal is not None:
        raise OutputError(fatal.reason)
    troubles = [f"{failure.name}: {failure.reason.rstrip('.')}" for failure in failures]
    for shard in plan.shards:
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
