"""A run from input to summary: the shards that are missing are worked on and their partitions complete the output.

Parts of a run in several processes write into one folder; the last one completes it. Only this file of the room knows
what is done to the rows (``pair_scorer``); ``summary`` knows which columns are shown in the end.
"""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import asdict, replace
from functools import partial
from itertools import chain

import pyarrow as pa

from pddl_eval.datasets import Input, OutputError, locate, places
from pddl_eval.errors import UserError
from pddl_eval.options import SHARD_ROWS, ReadingOptions, RunOptions, ScoringOptions, takes
from pddl_eval.run.answers import readable_input
from pddl_eval.run.engines import Engine, InProcess, Notice, Processes, RayTasks, choose_engine
from pddl_eval.run.lock import claimed
from pddl_eval.run.manifest import MANIFEST, same_run
from pddl_eval.run.merged import finish_merged, partitions_of
from pddl_eval.run.partitions import (
    Scorer,
    ShardFailure,
    ShardRecord,
    ShardResult,
    ShardTask,
    Work,
    finished_records,
    merge_statistics,
    score_shard,
)
from pddl_eval.run.prepare import Run, missing_shards, prepare_run
from pddl_eval.run.retries import run_shards
from pddl_eval.run.shards import Shard, left_over, ranges_of, shards_named
from pddl_eval.run.summary import SUMMARY, RunIncomplete, RunSummary
from pddl_eval.run.watching import Event, Watcher, json_log, shown_progress, told
from pddl_eval.table import constants_signed, count_unknown_domains, score_schema, score_table

IN_PROCESS = "_in_process"
"""There while a process scores into the folder itself; it stays if that process is killed."""

FAILED = "_failed"
"""Says why rows are missing after a run that did all it could; with the suffix of a part."""


@takes(reading=ReadingOptions, scoring=ScoringOptions, running=RunOptions)
def score_dataset(  # noqa: PLR0913 (one keyword a group of settings)
    input: Input,
    output: str | os.PathLike[str],
    *,
    reading: ReadingOptions,
    scoring: ScoringOptions,
    running: RunOptions,
    part: str | None = None,
    rows_per_file: int | None = None,
    watch: Watcher | None = None,
    warn: Callable[[str], None] | None = None,
) -> RunSummary:
    """Score the pairs of a dataset into a folder of Parquet partitions: the input's columns and the scores.

    ``input`` is a file, a folder, a pattern, a URI (``s3://bucket/pairs``) or several of them. ``columns`` maps a
    column's meaning to its name in the input; ``domain`` is the name of a known domain or PDDL text. The other keywords
    are the flags of ``pddl-eval score``, see ``pddl-eval score --help``. After an interruption, the same call does only
    what is missing. ``part`` is one of N shares of the rows, such as ``3/32``: processes on any machines score one each
    into the same output, and the last one completes it. With ``rows_per_file`` the partitions of a complete run are
    merged into files of so many rows. Without a watcher, long work shows a progress bar on a terminal and in a
    notebook.

    ``harness`` (the flag ``--from``) says that the input is logs of that harness; ``references`` is a dataset whose
    rows are joined to the answers by the columns ``on``. ``warn`` is told what could not be read or joined.

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
    if rows_per_file is not None and part is not None:
        raise UserError("Only a whole run can be merged: leave out rows_per_file, or part.")
    folder = locate(output) if rows_per_file is None else partitions_of(output)
    with readable_input(input, str(folder), reading, scoring, warn) as source:
        run = prepare_run(source, str(folder), pair_scorer(scoring), running.shard_rows, part)
    if rows_per_file is None:
        return finish_shards(run, running, watch=watch)
    return finish_merged(run, rows_per_file, partial(finish_shards, run, running, watch=watch))


def finish_shards(
    run: Run, options: RunOptions, *, watch: Watcher | None = None, scorer: Callable[[], Scorer] | None = None
) -> RunSummary:
    """Score the shards that are missing and complete the run; errors as of ``score_dataset``.

    ``scorer`` makes a scorer in place of the run's once the folder is claimed; it gives the same scores.

    A small dataset is scored in this process, because worker processes take longer to start than its rows to score. If
    a row ends this process, the marker ``IN_PROCESS`` stays behind, and the run started again uses a worker process,
    in which such a row is found and left out.
    """
    started = time.perf_counter()
    options = choose_engine(sum(shard.rows for shard in run.missing), len(run.missing), options)
    records = dict(run.finished)
    failures: list[ShardFailure] = []
    excluded: list[str] = []
    with ExitStack() as stack:
        log = stack.enter_context(json_log(options.json_log)) if options.json_log else None
        if run.missing:
            beside = re.compile(rf"_running-\d+-of-{run.part.of}\.json") if run.part else None
            lock = f"_running{run.suffix}.json"
            run = replace(
                run, work=replace(run.work, claim=stack.enter_context(claimed(run.work.output, lock, beside)))
            )
        if scorer is not None:
            run = replace(run, work=replace(run.work, scorer=scorer()))
        watch = watch or stack.enter_context(shown_progress())
        begin_run(run)
        tell = stack.enter_context(told([each for each in (log, watch) if each], run))
        for event in chain([run], stack.enter_context(closing(_results(run, options)))):
            tell(event)
            if isinstance(event, ShardRecord):
                records[event.name] = event
            elif isinstance(event, ShardFailure):
                failures.append(event)
                if event.fatal:
                    raise OutputError(event.reason)
            elif isinstance(event, Notice) and event.node:
                excluded.append(event.reason)

        def summarize(all_records: Mapping[str, ShardRecord], seconds: float) -> RunSummary:
            summary = _summary(run, all_records, records, options, seconds)
            return replace(summary, excluded_nodes=tuple(dict.fromkeys(excluded)))

        summary = summarize(records, time.perf_counter() - started)
        _remove_left_behind(run, records.keys() - run.finished.keys())
        troubles = _troubles(run, records, failures)
        if troubles:
            places.put_bytes(run.work.output / f"{FAILED}{run.suffix}.json", _troubled(troubles))
            raise RunIncomplete(troubles, summary)
        done = finish_run(run, lambda all_records: summarize(all_records, summary.seconds))
        return done or replace(summary, rows_missing=_rows_left(run))


def _troubled(troubles: Sequence[str]) -> bytes:
    return json.dumps({"troubles": troubles}, indent=1).encode()


def begin_run(run: Run) -> None:
    """Claim the output folder for the run, and remove partitions in the way of those that it will write.

    Raises ``OutputError`` where it cannot be written to, and ``DatasetError`` where another run was faster.
    """
    output = run.work.output
    places.put_new(output / MANIFEST, json.dumps(run.manifest, indent=1).encode())
    same_run(output, run.manifest)
    if run.missing:
        places.remove_file(output / SUMMARY)
        places.remove_file(output / f"{FAILED}{run.suffix}.json")
    _remove_doubled(run, run.stale, run.shards)


def finish_run(run: Run, summarize: Callable[[Mapping[str, ShardRecord]], RunSummary]) -> RunSummary | None:
    """Mark the run as complete, with the summary of all its records, and remove what killed writers left behind.

    None where rows of other parts are missing. Raises ``OutputError`` where others are, and ``DatasetError`` where the
    folder has become another run's (on an object store, which cannot refuse the second of two manifests).
    """
    output, source = run.work.output, run.source
    same_run(output, run.manifest)
    there = shards_named(source, places.list_files(output))
    counted, missing = there, missing_shards(source, SHARD_ROWS, there)
    if not missing:  # By their names, which cost less than their content.
        records = finished_records(output, there, run.work.run)
        counted = [shard for shard in there if shard.name in records]
        missing = missing_shards(source, SHARD_ROWS, counted)
    if own := missing_shards(source, SHARD_ROWS, counted, run.part) if missing and run.part else missing:
        raise OutputError(
            f"{sum(shard.rows for shard in own):,} rows are missing from {output}: on a cluster, the output must be a "
            "folder that all nodes share, or an object store. The same run started again makes them."
        )
    if missing:
        return None
    _remove_doubled(run, [shard for shard in there if shard.name not in records], counted)
    if not run.part:
        places.remove_temporary_files(output)
    for name in places.list_files(output):
        if name.startswith((FAILED, IN_PROCESS)):
            places.remove_file(output / name)
    summary = summarize(records)
    content = {"run": run.work.run, "complete": True, **summary.to_json()}
    places.put_bytes(output / SUMMARY, json.dumps(content, indent=1).encode())
    return summary


def _remove_left_behind(run: Run, made: Iterable[str]) -> None:
    """Remove partitions of workers that died before they said so: what was made then need not end where they end."""
    if own := shards_named(run.source, made):
        _remove_doubled(run, shards_named(run.source, places.list_files(run.work.output)), own)


def _rows_left(run: Run) -> int:
    """Rows without a partition, whoever should make it."""
    there = shards_named(run.source, places.list_files(run.work.output))
    return sum(shard.rows for shard in missing_shards(run.source, SHARD_ROWS, there))


def _remove_doubled(run: Run, doubled: Iterable[Shard], kept: Iterable[Shard]) -> None:
    """Remove partitions that hold rows of other ones."""
    kept = list(kept)
    names, ranges = {shard.name for shard in kept}, ranges_of(kept)
    for shard in doubled:
        whole = [(shard.start, shard.stop)]
        if shard.name not in names and list(left_over(ranges.get(shard.stem, ()), shard.start, shard.stop)) != whole:
            places.remove_file(run.work.output / shard.name)


def pair_scorer(options: ScoringOptions) -> Scorer:
    """``score_table`` as the scorer of a run."""
    signature = options.signature
    score = partial(_score_pairs, options=options, signature=signature)
    schema, count = (partial(function, options=options) for function in (score_schema, count_unknown_domains))
    return Scorer(signature, asdict(options), schema, score, count, partial(constants_signed, options=options))


def _score_pairs(table: pa.Table, until: float, options: ScoringOptions, signature: str) -> pa.Table:
    if options.signature != signature:
        raise RuntimeError(f"this worker would score as {options.signature}: install the same version everywhere")
    return score_table(table, options, until)


def _results(run: Run, options: RunOptions) -> Generator[Event, None, None]:
    """The results of the missing shards, as they finish, and each lost worker."""
    function = partial(score_shard, run.work)
    marker = run.work.output / f"{IN_PROCESS}{run.suffix}"
    if not run.missing:
        return
    engine: Engine
    alone = options.engine == "local" and options.workers == 1 and not places.has_file(marker)
    if alone:
        places.put_bytes(marker, b"If nothing scores into this folder, a row has ended the process that did.\n")
        engine = InProcess(function)
    else:
        engine = (
            RayTasks(partial(_score_on_node, run.work), options, len(run.missing))
            if options.engine == "ray"
            else Processes(function, options.workers or 1)
        )
    try:
        with closing(engine):
            yield from run_shards(engine, run.missing)
    finally:
        if alone:
            places.remove_file(marker)
    if not alone:
        places.remove_file(marker)


def _score_on_node(work: Work, task: ShardTask) -> ShardResult:
    """``score_shard`` on a node of a cluster; one that lacks the output's mount would write where nobody looks."""
    if work.output.is_local:
        try:
            with os.scandir(work.output.path) as entries:  # A network filesystem may remember that a file was missing.
                shared = any(entry.name == MANIFEST for entry in entries)
        except OSError:
            shared = False
        if not shared:
            reason = f"{work.output} on this node is not the folder of the run: is it a mount that the node lacks?"
            return ShardFailure(task.shard.name, reason, fatal=True)
    return score_shard(work, task)


def _summary(
    run: Run,
    records: Mapping[str, ShardRecord],
    known: Mapping[str, ShardRecord],
    options: RunOptions,
    seconds: float,
) -> RunSummary:
    """The summary of some records; ``known`` are those that were there before and those made by this process."""
    # In the order of the input, so that sums of floats do not depend on which shard was done first.
    in_order = [records[shard.name] for shard in shards_named(run.source, records)]
    mine = [record for name, record in known.items() if name not in run.finished]
    return RunSummary(
        output=str(run.work.output),
        rows=sum(record.rows for record in in_order),
        rows_scored=sum(record.rows - record.carried for record in mine),
        rows_carried=sum(record.carried for record in in_order),
        rows_unreadable=sum(record.unreadable_rows for record in in_order),
        shards=len(in_order),
        shards_reused=sum(record.name in run.finished for record in in_order),
        engine=options.engine,
        workers=options.workers,
        seconds=seconds,
        signature=run.work.scorer.signature,
        statistics=merge_statistics(record.statistics for record in in_order),
    )


def _troubles(run: Run, records: Mapping[str, ShardRecord], failures: Sequence[ShardFailure]) -> list[str]:
    troubles = [f"{failure.name}: {failure.reason.rstrip('.')}" for failure in failures]
    for shard in shards_named(run.source, records):
        record = records[shard.name]
        if record.unreadable:
            ranges = ", ".join(f"{start:,} to {stop - 1:,}" for start, stop in record.unreadable)
            troubles.append(f"rows {ranges} of {shard.file} cannot be read ({record.damage})")
    return troubles
