"""A run from input to summary: what is to be done, the shards that are missing, its completion.

The manifest in the output folder says which run the folder belongs to. The same run started again finds its finished
partitions and does the rest, cut into shards of any size; any other run is refused, because one folder cannot hold the
scores of two settings. Parts of a run in several processes write into one folder; the last one completes it. Only this
file of the room knows what is done to the rows (``pair_scorer``); ``summary`` knows which columns are shown in the end.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from functools import partial
from itertools import chain
from pathlib import Path
from threading import Event as Ended
from threading import Lock, Thread
from typing import Any

import pyarrow as pa

from pddl_eval.datasets import (
    PARTITIONS,
    DatasetError,
    Input,
    Location,
    OutputError,
    Source,
    contents,
    dataset_errors,
    locate,
    open_source,
    places,
)
from pddl_eval.errors import UserError
from pddl_eval.options import SHARD_ROWS, ReadingOptions, RunOptions, ScoringOptions, takes
from pddl_eval.progress import progress
from pddl_eval.run.answers import INPUT_FOLDER, made_of, readable_input
from pddl_eval.run.engines import Engine, InProcess, Notice, Processes, RayTasks, WorkerLost, choose_engine
from pddl_eval.run.lock import claimed
from pddl_eval.run.manifest import FORMAT, MANIFEST, OtherRun, refuse_foreign, require_folder, same_run
from pddl_eval.run.merged import merge
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
from pddl_eval.run.retries import run_shards
from pddl_eval.run.shards import Part, Shard, in_order, left_over, plan_shards, ranges_of, shards_named
from pddl_eval.run.summary import SUMMARY, RunIncomplete, RunSummary
from pddl_eval.table import constants_signed, count_unknown_domains, score_schema, score_table

MERGED = "rows_per_file"
"""In the manifest of such a run."""

IN_PROCESS = "_in_process"
"""There while a process scores into the folder itself; it stays if that process is killed."""

FAILED = "_failed"
"""Says why rows are missing after a run that did all it could; with the suffix of a part."""

HEARTBEAT_SECONDS = 60.0
"""After so long without a result, and again and again, watchers are told that the run still works."""


@dataclass(frozen=True, slots=True)
class Run:
    """A run before it starts: its shards, and the records of those that are ``finished``, by name.

    Of a ``part``, only its own shards are missing. ``stale`` are partitions that do not count: damaged, without some of
    their rows, or overlapping others.
    """

    source: Source
    work: Work
    shards: tuple[Shard, ...]
    finished: Mapping[str, ShardRecord]
    manifest: Mapping[str, Any]
    part: Part | None = None
    stale: tuple[Shard, ...] = ()

    @property
    def missing(self) -> tuple[Shard, ...]:
        return tuple(shard for shard in self.shards if shard.name not in self.finished)

    @property
    def total_rows(self) -> int:
        """Rows of the input, or of the part."""
        return sum(block.rows for block in self.part.split(self.source)[0]) if self.part else self.source.rows

    @property
    def suffix(self) -> str:
        """Of the names of files that each part has."""
        return self.part.suffix if self.part else ""


@dataclass(frozen=True, slots=True)
class Waiting:
    """No shard has ended for some ``seconds``; so many rows are ``done``."""

    done: int
    seconds: float


Event = Run | ShardResult | WorkerLost | Notice | Waiting

Watcher = Callable[[Event], None]
"""Is told the run before its first shard, then the record or failure of each shard, each lost worker and each notice.

And, once a minute and from another thread, that it waits (``Waiting``)."""


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
    return _finish_merged(run, rows_per_file, partial(finish_shards, run, running, watch=watch))


def partitions_of(output: str | os.PathLike[str]) -> Location:
    """Where the partitions lie of a run that merges them in the end, until then; raises ``DatasetError``."""
    folder = locate(output)
    require_folder(folder)
    return folder / PARTITIONS


def is_merged(run: Run, rows_per_file: int) -> bool:
    """Whether the run is finished and merged in the folder above; raises ``OtherRun`` where another run is there."""
    output = run.work.output.parent
    if not places.has_file(output / MANIFEST):
        return False
    before = same_run(output, run.manifest).get(MERGED)
    if before != rows_per_file:
        has = f"has {MERGED} {before}, not {rows_per_file}" if before else f"was scored without {MERGED}"
        raise OtherRun(f"{output} {has}: choose another folder.")
    return places.has_file(output / SUMMARY)


def _finish_merged(run: Run, rows_per_file: int, finish: Callable[[], RunSummary]) -> RunSummary:
    """Finish the run, then merge its partitions into the folder above; nothing where that is done.

    A start after an interruption continues the run or merges again. The partitions are deleted when all is there.
    """
    output = run.work.output.parent
    if rows_per_file < 1:
        raise UserError(f"A file has at least one row, not {rows_per_file}.")
    if not made_of(run.source):
        _refuse_overlap(run.source, output)
    present = places.list_files(output)
    if MANIFEST not in present:
        refuse_foreign(output, present)
    with claimed(output):
        places.put_new(output / MANIFEST, json.dumps({**run.manifest, MERGED: rows_per_file}, indent=1).encode())
        if is_merged(run, rows_per_file):
            known = json.loads(places.read_bytes(output / SUMMARY))
            summary = RunSummary(
                output=str(output),
                rows=known["rows"],
                rows_scored=0,
                rows_carried=known["rows_carried"],
                rows_unreadable=0,
                shards=known["shards"],
                shards_reused=known["shards"],
                engine="local",
                workers=None,
                seconds=0.0,
                signature=known["signature"],
                statistics=known["statistics"],
            )
        else:
            summary = replace(finish(), output=str(output))
            there = shards_named(run.source, places.list_files(run.work.output))
            partitions = (run.work.output / shard.name for shard in there)
            merge(partitions, output, run.work.output_schema, run.work.scorer.signature, rows_per_file)
            places.put_bytes(output / SUMMARY, places.read_bytes(run.work.output / SUMMARY))
        places.remove_folder(run.work.output)
    return summary


def prepare_run(
    inputs: Input, output: str | os.PathLike[str], scorer: Scorer, shard_rows: int, part: str | None = None
) -> Run:
    """Look at input and output and say what is to be done; nothing is written.

    Raises ``DatasetError`` for an input that cannot be read, an output that belongs to another run and an output that
    lies in the input; whatever the scorer raises for a schema that it cannot score.
    """
    share = None if part is None else Part.parse(part)
    folder = locate(output)
    require_folder(folder)
    source = open_source(inputs)
    _refuse_overlap(source, folder)
    output_schema = scorer.output_schema(source.schema)
    scorer = replace(scorer, signature=scorer.signature + scorer.constants_signed(source.schema))
    # All that must be the same for a run to be the same. Where the input lies and how it is cut is not part of it.
    made = made_of(source)
    names = [file.name for file in source.files]
    content = dict.fromkeys(names, f"made:{made['key']}") if made else contents(source)
    identity = {
        "format": FORMAT,
        "signature": scorer.signature,
        "settings": scorer.settings,
        "schema": source.schema.to_string(show_schema_metadata=False, show_field_metadata=False),
        "files": [
            {"name": file.name, "rows": file.rows, "size": file.size, "content": content[file.name]}
            for file in source.files
        ],
    }
    if made:
        identity["made_of"] = made
    run = hashlib.blake2b(json.dumps(identity, sort_keys=True).encode(), digest_size=16).hexdigest()
    manifest: Mapping[str, Any] = {"run": run, "place": str(source.base), "shard_rows": shard_rows, **identity}
    present = places.list_files(folder)
    if MANIFEST in present:
        manifest = same_run(folder, manifest)
        if MERGED in manifest:
            raise OtherRun(f"{folder} has {MERGED} {manifest[MERGED]}: score with that, or choose another folder.")
    elif folder.name != PARTITIONS:  # Without its manifest, that is left over where a merged run was killed in the end.
        refuse_foreign(folder, present)
    there = shards_named(source, present)
    finished = finished_records(folder, there, manifest["run"])
    done = [shard for shard in there if shard.name in finished]
    missing = _missing(source, shard_rows, done, share)
    return Run(
        source,
        Work(manifest["run"], folder, source.schema, output_schema, scorer),
        tuple(in_order(source, [*done, *missing])),
        finished,
        manifest,
        share,
        tuple(shard for shard in there if shard.name not in finished),
    )


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
        log = stack.enter_context(_json_log(options.json_log)) if options.json_log else None
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
        tell = stack.enter_context(_told([each for each in (log, watch) if each], run))
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
    counted, missing = there, _missing(source, SHARD_ROWS, there)
    if not missing:  # By their names, which cost less than their content.
        records = finished_records(output, there, run.work.run)
        counted = [shard for shard in there if shard.name in records]
        missing = _missing(source, SHARD_ROWS, counted)
    if own := _missing(source, SHARD_ROWS, counted, run.part) if missing and run.part else missing:
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


def _missing(source: Source, shard_rows: int, there: Iterable[Shard], part: Part | None = None) -> tuple[Shard, ...]:
    """The shards of the rows that others leave, or of those among them that belong to a part."""
    return plan_shards(source, shard_rows, ranges_of([*there, *(part.split(source)[1] if part else ())]))


def _remove_left_behind(run: Run, made: Iterable[str]) -> None:
    """Remove partitions of workers that died before they said so: what was made then need not end where they end."""
    if own := shards_named(run.source, made):
        _remove_doubled(run, shards_named(run.source, places.list_files(run.work.output)), own)


def _rows_left(run: Run) -> int:
    """Rows without a partition, whoever should make it."""
    there = shards_named(run.source, places.list_files(run.work.output))
    return sum(shard.rows for shard in _missing(run.source, SHARD_ROWS, there))


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


@contextmanager
def shown_progress(*, lines: bool = False) -> Iterator[Watcher]:
    """A watcher that shows a run's progress and what goes wrong; ``lines`` as in ``pddl_eval.progress``."""
    with progress(lines=lines) as pace:

        def watch(event: Event) -> None:
            if isinstance(event, Run):
                pace.begin(event.total_rows, event.total_rows - sum(shard.rows for shard in event.missing))
            elif isinstance(event, Waiting):
                pace.wait(event.seconds)
            elif isinstance(event, ShardRecord):
                pace.advance(event.rows)
                if event.unscored:
                    pace.say(f"{event.name}: {len(event.unscored)} rows end their worker and are left unscored")
            elif isinstance(event, ShardFailure):
                pace.say(f"{event.name}: {event.reason}")
            elif isinstance(event, Notice):
                pace.say(event.reason)
            else:
                task = event.task
                pace.say(f"{task.shard.name}: worker lost in attempt {task.attempt} ({event.reason})")

        yield watch


@contextmanager
def _json_log(path: str) -> Iterator[Watcher]:
    """A watcher that appends a line to the file for each finished shard and each lost worker."""
    place = locate(path)
    if not place.is_local:
        raise DatasetError(f"Nothing can be appended to {place}: the log is a local file.")

    def watch(event: Event) -> None:
        if not isinstance(event, Run):
            with dataset_errors(place, "write"):
                lines.write(f"{log_line(event)}\n")

    with ExitStack() as stack:
        with dataset_errors(place, "write"):
            lines = stack.enter_context(Path(place.path).open("a", buffering=1, encoding="utf-8"))
        yield watch


def log_line(result: ShardResult | WorkerLost | Notice | Waiting) -> str:
    """A line of JSON without its line break, in UTC.

    ``event`` is ``shard``, ``shard_failed``, ``worker_lost``, ``node_excluded`` or ``no_node`` (``Notice``), or
    ``waiting``, once a minute while no shard ends: the rows ``done`` so far, ``seconds`` since the last result.

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
        fields |= {"node": result.node}
    elif isinstance(result, Notice):
        fields = asdict(result)
    elif isinstance(result, Waiting):
        fields = {"event": "waiting", "done": result.done, "seconds": round(result.seconds)}
    else:
        task = result.task
        fields = {"event": "worker_lost", "shard": task.shard.name, "attempt": task.attempt, "reason": result.reason}
    return json.dumps({"time": datetime.now(UTC).isoformat(timespec="milliseconds"), **fields})


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


@contextmanager
def _told(watchers: Sequence[Watcher], run: Run) -> Iterator[Watcher]:
    """Tells all watchers of an event, one event at a time, and that the run waits where there is none for long."""
    one = Lock()
    ended = Ended()
    rows, last = run.total_rows - sum(shard.rows for shard in run.missing), time.monotonic()

    def tell(event: Event) -> None:
        nonlocal rows, last
        with one:
            last = time.monotonic()
            rows += event.rows if isinstance(event, ShardRecord) else 0
            for watch in watchers:
                watch(event)

    def wait() -> None:
        told = last
        while not ended.wait(max(0.01, max(told, last) + HEARTBEAT_SECONDS - time.monotonic())):
            with one:
                now = time.monotonic()
                if now - max(told, last) >= HEARTBEAT_SECONDS:
                    told = now
                    for watch in watchers:
                        with suppress(OutputError, DatasetError):  # The next result raises it again.
                            watch(Waiting(rows, now - last))

    heart = Thread(target=wait, daemon=True)
    heart.start()
    try:
        yield tell
    finally:
        ended.set()
        heart.join()


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


def _refuse_overlap(source: Source, output: Location) -> None:
    for file in source.files:
        if file.version.location.within(output) and file.version.location.parent != output / INPUT_FOLDER:
            raise DatasetError(f"The input {file.version} lies in the output {output}: choose another folder.")
    for folder in source.walked:
        if output.within(folder):
            raise DatasetError(f"The output {output} lies in the input {folder}: choose a folder outside of it.")
