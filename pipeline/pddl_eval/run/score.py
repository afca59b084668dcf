"""A run from its plan to its summary: the shards that are missing are worked on, their partitions complete the output.

Parts of a run in several processes write into one folder; the last one completes it.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager, suppress
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from itertools import chain
from typing import Any

from pddl_eval.datasets import DatasetError, OutputError, OutputUnavailable, contents, partition_stem, places
from pddl_eval.run.engines import Engine, NodeExcluded, UnderWay, choose_engine, start_engine
from pddl_eval.run.lock import SECONDS, Claim, claimed, dead_locks
from pddl_eval.run.manifest import CHANGED, entries_of, same_run
from pddl_eval.run.partitions import Scorer, ShardFailure, ShardRecord, finished_records, score_shard
from pddl_eval.run.prepare import Run, missing_shards
from pddl_eval.run.retries import run_shards
from pddl_eval.run.shards import Shard, in_order, overlaps, ranges_of, shards_named
from pddl_eval.run.summary import (
    InputChanged,
    RunCounts,
    RunIncomplete,
    merge_statistics,
)
from pddl_eval.run.watching import Event, Watcher, shown_progress, told
from pddl_eval.settings import SHARD_ROWS, RunOptions
from pddl_eval.unchanged import ASKED, CONTENTS, COUNTED, MANIFEST, SAID, SUMMARY, signed

IN_PROCESS = "_in_process"
"""There while a process scores into the folder itself; it stays if that process is killed."""

SHARDS_OF_WORKER, LEAST_ROWS = 4, 256
"""Shards of a worker process, at least, if they have that many rows: so all end at about the same time."""

SHOWN_UNDER_WAY = 20
"""Shards under way that the lock file names: those on which workers have been for longest."""

FAILED = "_failed"
"""Says why rows are missing after a run that did all it could; with the suffix of a part."""


def finish_shards(
    run: Run, options: RunOptions, *, watch: Watcher | None = None, scorer: Callable[[], Scorer] | None = None
) -> RunCounts:
    """Score the shards that are missing and complete the run; errors as of ``score_dataset``.

    ``scorer`` makes a scorer in place of the run's once the folder is claimed; it gives the same scores.

    A small dataset is scored in this process, because worker processes take longer to start than its rows to score. If
    a row ends this process, the marker ``IN_PROCESS`` stays behind, and the run started again uses a worker process,
    in which such a row is found and left out.
    """
    started = time.perf_counter()
    most = max(len(run.missing), run.rows_missing // LEAST_ROWS)
    options = choose_engine(run.rows_missing, most, options, run.work.scorer.seconds_of_row(run.source.schema))
    if options.engine == "local" and options.workers:
        run = _dealt(run, options.workers)
    made: dict[str, ShardRecord] = {}
    failures: list[ShardFailure] = []
    excluded: dict[str, None] = {}
    engines: list[Engine] = []
    under_way = partial(_under_way, engines)
    with ExitStack() as stack:
        if run.missing or dead_locks(run.work.output, run.suffix):  # Who claims a folder removes the locks of the dead.
            run = replace(run, work=replace(run.work, claim=stack.enter_context(_claimed(run, under_way))))
            stack.enter_context(_without_late(run))
        if scorer is not None:
            run = replace(run, work=replace(run.work, scorer=scorer()))
        watch = watch or stack.enter_context(shown_progress())
        begin_run(run)
        tell = stack.enter_context(told(watch, run, under_way, options.counters))
        for event in chain([run], stack.enter_context(closing(_results(run, options, engines)))):
            tell(event)
            match event:
                case ShardRecord():
                    made[event.name] = event
                case ShardFailure(fatal=True):
                    raise (OutputUnavailable if event.may_pass else OutputError)(event.reason)
                case ShardFailure():
                    failures.append(event)
                case NodeExcluded():
                    excluded[event.reason] = None
        if run.missing:
            _require_unchanged(run)
        seconds = time.perf_counter() - started
        summarize = partial(_summary, run, made, options, seconds, tuple(excluded))
        # A worker that died before it said so may have made a partition: what was made then need not end where it ends.
        there = () if run.summary else _remove_doubled(run, _partitions(run), shards_named(run.source, made))
        return _completed(run, there, {**run.finished, **made}, failures, summarize)


def _dealt(run: Run, workers: int) -> Run:
    """The run in shards so small that each worker has several: of three shards, two workers would have two and one."""
    rows = max(LEAST_ROWS, -(-run.rows_missing // (SHARDS_OF_WORKER * workers)))
    if workers == 1 or rows >= max(shard.rows for shard in run.missing):
        return run
    done = [shard for shard in run.shards if shard.name in run.finished]
    missing = missing_shards(run.source, rows, done, run.part)
    return replace(run, shards=tuple(in_order(run.source, [*done, *missing])))


def _completed(
    run: Run,
    there: Sequence[Shard],
    records: Mapping[str, ShardRecord],
    failures: Sequence[ShardFailure],
    summarize: Callable[[Mapping[str, ShardRecord]], RunCounts],
) -> RunCounts:
    """The run's summary, written if nothing is missing; raises ``RunIncomplete`` where rows of its own are."""
    if troubles := _troubles(run, records, failures):
        _put_troubles(run, troubles)
        raise RunIncomplete(troubles, summarize(records), any(failure.may_pass for failure in failures))
    finished = summarize(records) if run.summary else finish_run(run, summarize, there, records)
    if isinstance(finished, RunCounts):
        return finished
    return replace(summarize(records), rows_missing=sum(shard.rows for shard in finished))


def _put_troubles(run: Run, troubles: list[str]) -> None:
    content = json.dumps({"troubles": troubles}, indent=1).encode()
    places.put_bytes(run.work.output / f"{FAILED}{run.suffix}.json", content)


def _require_unchanged(run: Run) -> None:
    """Raise ``InputChanged`` where a file of the input was written since the run was prepared.

    Its footer may be the same, so that workers did not see it. The manifest gets no content for such a file, so that
    no start takes the rows that are there for those of one version, whatever is in the file then.
    """
    stems = {shard.stem for shard in run.missing}  # Of its other files it has read nothing but the footer.
    read = tuple(file for file in run.source.files if partition_stem(file.name) in stems and not run.source.made_of)
    entries = {file["name"]: file for file in run.manifest["files"]}
    before = {name: file["content"] for name, file in entries.items()}
    now = contents(replace(run.source, files=read), before=before)
    changed = [file for file in read if now[file.name] != before[file.name]]
    if changed:
        unknown = {file.name: {**entries[file.name], "content": CHANGED} for file in changed}
        run.work.put(MANIFEST, {**run.manifest, "files": list({**entries, **unknown}.values())})
        error = InputChanged(str(changed[0].version), str(run.work.output))
        _put_troubles(run, [str(error)])
        raise error


def _claimed(run: Run, under_way: Callable[[], Sequence[UnderWay]]) -> AbstractContextManager[Claim]:
    """The lock of the output folder; that of a part excludes no other part of the same number of parts."""

    def doing() -> list[dict[str, str]]:
        oldest = sorted(under_way(), key=lambda each: -each.seconds)[:SHOWN_UNDER_WAY]
        since = [datetime.fromtimestamp(time.time() - each.seconds, UTC).strftime(SECONDS) for each in oldest]
        return [
            {"shard": each.task.shard.name, "node": each.node, "since": when}
            for each, when in zip(oldest, since, strict=True)
        ]

    # Parts of the same run, cut into as many, have different rows: they may write at the same time.
    parts = run.part.of if run.part else 1
    after = max((record.claim for record in run.finished.values()), default=0)
    return claimed(run.work.output, run.suffix, f"{run.work.run}-in-{parts}" if run.part else "", parts, doing, after)


def begin_run(run: Run) -> None:
    """Claim the output folder for the run, and remove partitions in the way of those that it will write.

    Raises ``OutputError`` where it cannot be written to, and ``DatasetError`` where another run was faster.
    """
    output = run.work.output
    if not places.has_file(output / MANIFEST):  # No other run writes one at the same time: the lock excludes it.
        run.work.put(MANIFEST, run.manifest)
    same_run(output, run.manifest)
    if run.missing:
        places.remove_file(run.work.may_write(SUMMARY))
        places.remove_file(output / f"{FAILED}{run.suffix}.json")
    _remove_doubled(run, run.stale, run.shards)


def finish_run(
    run: Run,
    summarize: Callable[[Mapping[str, ShardRecord]], RunCounts],
    there: Sequence[Shard] | None = None,
    known: Mapping[str, ShardRecord] | None = None,
) -> RunCounts | tuple[Shard, ...]:
    """Mark the run as complete, with the summary of all its records, and remove what killed writers left behind.

    ``there`` are the partitions of the folder if they were listed just now, ``known`` the records that need not be read
    again. Returns the shards that are missing, if all of them are of other parts. Raises ``OutputError`` where others
    are, and ``DatasetError`` where the folder has become another run's (on an object store, which cannot refuse the
    second of two manifests).
    """
    output, source = run.work.output, run.source
    same_run(output, run.manifest)
    there = _partitions(run) if there is None else there
    counted, missing = list(there), missing_shards(source, SHARD_ROWS, there)
    if not missing:  # By their names, which cost less than their content.
        records = finished_records(output, there, run.work.run, known, run.work.columns)
        counted = [shard for shard in there if shard.name in records]
        missing = missing_shards(source, SHARD_ROWS, counted)
    if own := missing_shards(source, SHARD_ROWS, counted, run.part) if missing and run.part else missing:
        raise OutputError(
            f"{sum(shard.rows for shard in own):,} rows are missing from {output}: on a cluster, the output must be a "
            "folder that all nodes share, or an object store. The same run started again makes them."
        )
    if missing:
        return missing
    if not run.part:
        places.remove_temporary_files(output)
    for name in places.list_files(output):
        if name.startswith((FAILED, IN_PROCESS)):
            places.remove_file(output / name)
    summary = summarize(records)
    said: dict[str, Any] = {"run": run.work.run, "complete": True, **summary.to_json()}
    said[COUNTED] = {shard.name: records[shard.name].claim for shard in counted}
    said[CONTENTS] = {name: records[name].content for name in said[COUNTED] if records[name].content}
    run.work.put(SUMMARY, signed(said))
    _remove_late(run)  # Listed anew: what appears from now on, whoever wrote it removes.
    return summary


def keep_said(output: str, asked: str, said: Any) -> None:
    """Keep in the summary of a finished run what was said of it; nothing where that is kept, or cannot be."""
    folder = places.locate(output)
    with suppress(DatasetError, OutputError):
        if entries_of(folder / SUMMARY).get(ASKED) == asked:
            return
        with claimed(folder) as claim:
            summary = entries_of(folder / SUMMARY)
            if signed(summary) == summary:
                content = json.dumps(signed({**summary, ASKED: asked, SAID: said}), indent=1).encode()
                places.put_bytes(folder / SUMMARY, content, partial(claim.may_write, SUMMARY))


def _partitions(run: Run) -> list[Shard]:
    """The shards whose partitions are there, whoever made them, by their names."""
    return shards_named(run.source, places.list_files(run.work.output))


def _remove_doubled(run: Run, there: Iterable[Shard], kept: Iterable[Shard]) -> list[Shard]:
    """Remove those partitions that hold rows of other ones, which are kept; the others."""
    kept = list(kept)
    names, ranges = {shard.name for shard in kept}, ranges_of(kept)
    left = []
    for shard in there:
        if shard.name in names or not overlaps(shard, ranges):
            left.append(shard)
        else:
            places.remove_file(run.work.may_write(shard.name))
    return left


def _remove_late(run: Run) -> None:
    """Remove the partitions that the summary of the finished run does not count."""
    output = run.work.output
    there = _partitions(run)  # Before the summary is read: a new start removes that before it writes others.
    if there and places.has_file(output / SUMMARY):
        counted = entries_of(output / SUMMARY, COUNTED)
        for shard in there:
            if counted and shard.name not in counted:
                places.remove_file(output / shard.name)


@contextmanager
def _without_late(run: Run) -> Iterator[None]:
    """If the claim is lost in the block, remove what was written nevertheless and another run has finished without."""
    try:
        yield
    except OutputError:
        if run.work.output.has_buckets:
            with suppress(DatasetError, OutputError, ValueError):
                _remove_late(run)
        raise


def _under_way(engines: Iterable[Engine]) -> list[UnderWay]:
    return [each for engine in engines for each in engine.under_way()]


def _results(run: Run, options: RunOptions, engines: list[Engine]) -> Generator[Event, None, None]:
    """The results of the missing shards, as they finish, each lost worker and each excluded node.

    ``engines`` gets the engine, for whoever asks what it does.
    """
    if not run.missing:
        return
    marker = run.work.output / f"{IN_PROCESS}{run.suffix}"
    in_process = options.engine == "local" and options.workers == 1 and not places.has_file(marker)
    if in_process:
        places.put_bytes(marker, b"If nothing scores into this folder, a row has ended the process that did.\n")
    try:
        with closing(start_engine(partial(score_shard, run.work), options, in_process=in_process)) as engine:
            engines.append(engine)
            yield from run_shards(engine, run.missing)
    finally:
        if in_process:
            places.remove_file(marker)
    if not in_process:
        places.remove_file(marker)


def _summary(  # noqa: PLR0913 (what a summary says)
    run: Run,
    made: Mapping[str, ShardRecord],
    options: RunOptions,
    seconds: float,
    excluded: tuple[str, ...],
    records: Mapping[str, ShardRecord],
) -> RunCounts:
    """The summary of some records; ``made`` are those of this process."""
    if run.summary:
        kept = run.work.scorer.summary.from_json(run.summary, str(run.work.output))
        return replace(kept, engine=options.engine, workers=options.workers, seconds=seconds)
    # In the order of the input, so that sums of floats do not depend on which shard was done first.
    in_order = [records[shard.name] for shard in shards_named(run.source, records)]
    return run.work.scorer.summary(
        output=str(run.work.output),
        rows=sum(record.rows for record in in_order),
        rows_scored=sum(record.rows - record.carried for record in made.values()),
        rows_carried=sum(record.carried for record in in_order),
        rows_unreadable=sum(record.unreadable_rows for record in in_order),
        shards=len(in_order),
        shards_reused=sum(record.name not in made for record in in_order),
        engine=options.engine,
        workers=options.workers,
        seconds=seconds,
        signature=run.work.scorer.signature,
        statistics=merge_statistics(record.statistics for record in in_order),
        excluded_nodes=excluded,
    )


def _troubles(run: Run, records: Mapping[str, ShardRecord], failures: Sequence[ShardFailure]) -> list[str]:
    troubles = [f"{failure.name}: {failure.reason.rstrip('.')}" for failure in failures]
    for shard in shards_named(run.source, records):
        record = records[shard.name]
        if record.unreadable:
            ranges = ", ".join(f"{start:,} to {stop - 1:,}" for start, stop in record.unreadable)
            troubles.append(f"rows {ranges} of {shard.file} cannot be read ({record.damage})")
    return troubles
