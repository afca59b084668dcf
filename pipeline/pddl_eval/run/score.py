"""A run from input to summary: what is to be done, the shards that are missing, its completion.

The manifest in the output folder says which run the folder belongs to. The same run started again finds its finished
partitions and does the rest; any other run is refused, because one folder cannot hold the scores of two settings. Only
this file of the room knows what is done to the rows (``pair_scorer``) and which columns a summary shows.
"""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

import pyarrow as pa

from pddl_eval.domains import known_domain_names
from pddl_eval.errors import RunError, did_you_mean
from pddl_eval.metrics import PAIRS
from pddl_eval.options import RunOptions, ScoringOptions, takes
from pddl_eval.progress import progress
from pddl_eval.run import places
from pddl_eval.run.engines import Notice, Processes, RayTasks, WorkerLost, choose_engine
from pddl_eval.run.inputs import (
    SUFFIXES,
    Input,
    Shard,
    Source,
    close_file,
    contents,
    named_rows,
    open_source,
    plan_shards,
)
from pddl_eval.run.lock import claimed
from pddl_eval.run.partitions import (
    SCORE_ERROR,
    VERDICT,
    Scorer,
    ShardFailure,
    ShardRecord,
    ShardResult,
    ShardTask,
    Statistics,
    Work,
    finished_records,
    merge_statistics,
    score_shard,
)
from pddl_eval.run.places import DatasetError, Location, OutputError, dataset_errors, locate
from pddl_eval.run.retries import run_shards
from pddl_eval.shown import printable, shorten
from pddl_eval.table import UNKNOWN_DOMAINS, constants_signed, count_unknown_domains, score_schema, score_table
from pddl_eval.verdict import Verdict

MANIFEST = "_pddl_eval_run.json"
SUMMARY = "_summary.json"
"""Written last, when every partition is there; Parquet readers ignore names with a leading underscore."""

IN_PROCESS = "_in_process"
"""There while a process scores into the folder itself; it stays if that process is killed."""

FILE_SUFFIXES = ("parquet", "parq", "pq", "jsonl", "json", "csv", "arrow", "feather", "txt")

FORMAT = 2
"""Of the manifest."""

_SHOWN = [column for pair in PAIRS for column in pair.columns if column.in_summary]
SHARES = tuple(column.name for column in _SHOWN if column.type is bool)
"""Score columns that a summary shows the share of."""

OPTIONAL = frozenset(column.name for column in _SHOWN if column.optional)
"""Those whose share is that of the rows that have a value."""

FOLLOWS = {column.name: column.follows for column in _SHOWN if column.follows}
"""Those whose null is undecided only where this other column is null too, and else a no."""

MEANS = tuple(column.name for column in _SHOWN if column.type is float)
"""Score columns that a summary shows the mean of."""


@dataclass(frozen=True, slots=True)
class Run:
    """A run before it starts. ``finished`` are the records of the partitions that are there already, by shard name."""

    source: Source
    work: Work
    shards: tuple[Shard, ...]
    finished: Mapping[str, ShardRecord]
    manifest: Mapping[str, Any]

    @property
    def missing(self) -> tuple[Shard, ...]:
        return tuple(shard for shard in self.shards if shard.name not in self.finished)


Event = Run | ShardResult | WorkerLost | Notice

Watcher = Callable[[Event], None]
"""Is told the run before its first shard, then the record or failure of each shard, each lost worker, each notice."""


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
    what is missing. Without a watcher, long work shows a progress bar on a terminal and in a notebook.

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
    return finish_shards(prepare_run(input, output, pair_scorer(scoring), running.shard_rows), running, watch=watch)


def prepare_run(inputs: Input, output: str | os.PathLike[str], scorer: Scorer, shard_rows: int) -> Run:
    """Look at input and output and say what is to be done; nothing is written.

    Raises ``DatasetError`` for an input that cannot be read, an output that belongs to another run and an output that
    lies in the input; whatever the scorer raises for a schema that it cannot score.
    """
    folder = locate(output)
    _refuse_file(folder)
    source = open_source(inputs)
    _refuse_overlap(source, folder)
    output_schema = scorer.output_schema(source.schema)
    scorer = replace(scorer, signature=scorer.signature + scorer.constants_signed(source.schema))
    # All that must be the same for a run to be the same. Where the input lies is not part of it.
    content = contents(source)
    identity = {
        "format": FORMAT,
        "signature": scorer.signature,
        "settings": scorer.settings,
        "shard_rows": shard_rows,
        "schema": source.schema.to_string(show_schema_metadata=False, show_field_metadata=False),
        "files": [
            {"name": file.name, "rows": file.rows, "size": file.size, "content": content[file.name]}
            for file in source.files
        ],
    }
    run = hashlib.blake2b(json.dumps(identity, sort_keys=True).encode(), digest_size=16).hexdigest()
    present = places.list_files(folder)
    if MANIFEST in present:
        _refuse_other_run(folder, identity)
    elif any(name.endswith(SUFFIXES) for name in present):
        raise DatasetError(f"{folder} holds Parquet files that no run of this program wrote: choose an empty folder.")
    shards = plan_shards(source, shard_rows)
    finished = finished_records(folder, [shard for shard in shards if shard.name in present], run)
    work = Work(run, folder, source.schema, output_schema, scorer)
    return Run(source, work, shards, finished, {"run": run, "place": str(source.base), **identity})


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
            stack.enter_context(claimed(run.work.output))
        if scorer is not None:
            run = replace(run, work=replace(run.work, scorer=scorer()))
        watch = watch or stack.enter_context(shown_progress())
        begin_run(run)
        for event in chain([run], stack.enter_context(closing(_results(run, options)))):
            for watcher in filter(None, (log, watch)):
                watcher(event)
            if isinstance(event, ShardRecord):
                records[event.name] = event
            elif isinstance(event, ShardFailure):
                failures.append(event)
                if event.fatal:
                    raise OutputError(event.reason)
            elif isinstance(event, Notice) and event.node:
                excluded.append(event.reason)
        summary = _summary(run, records, options, time.perf_counter() - started)
        summary = replace(summary, excluded_nodes=tuple(dict.fromkeys(excluded)))
        troubles = _troubles(run, records, failures)
        if troubles:
            raise RunIncomplete(troubles, summary)
        finish_run(run, summary.to_json())
        return summary


def begin_run(run: Run) -> None:
    """Claim the output folder for the run.

    Raises ``OutputError`` where it cannot be written to, and ``DatasetError`` where another run was faster.
    """
    output = run.work.output
    places.put_new(output / MANIFEST, json.dumps(run.manifest, indent=1).encode())
    _refuse_other_run(output, run.manifest)
    if run.missing:
        places.remove_file(output / SUMMARY)


def finish_run(run: Run, summary: Mapping[str, Any]) -> None:
    """Mark the run as complete, with its summary, and remove what killed writers left behind.

    Raises ``OutputError`` where a partition is missing, and ``DatasetError`` where the folder has become another run's
    (on an object store, which cannot refuse the second of two manifests).
    """
    output = run.work.output
    _refuse_other_run(output, run.manifest)
    absent = len(run.shards) - len(finished_records(output, run.shards, run.work.run))
    if absent:
        raise OutputError(
            f"{absent} of {len(run.shards)} partitions are missing from {output}: on a cluster, the output must be a "
            "folder that all nodes share, or an object store. The same run started again makes them."
        )
    places.remove_temporary_files(output)
    content = {"run": run.work.run, "complete": True, **summary}
    places.put_bytes(output / SUMMARY, json.dumps(content, indent=1).encode())


@dataclass(frozen=True, slots=True)
class RunSummary:
    """The result of a run over all its partitions, also those that an interrupted run had finished.

    ``rows`` is the number of rows in the output. ``rows_scored`` of them were scored this time, in ``seconds`` of wall
    time; ``rows_carried`` have their scores from an earlier dataset (``pddl_eval.reuse``). ``shards_reused`` is the
    number of partitions that were there already. ``excluded_nodes`` says which nodes of a cluster failed, and why.

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
    excluded_nodes: tuple[str, ...] = ()

    @property
    def verdicts(self) -> Mapping[str, float]:
        """How often each verdict was given, the most frequent first."""
        counts = self.statistics.get(VERDICT, {})
        return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))

    @property
    def rows_per_second(self) -> float:
        return self.rows_scored / self.seconds if self.seconds else 0.0

    @property
    def errors(self) -> int:
        """Rows with a ``score_error``."""
        return int(self.statistics.get(SCORE_ERROR, {}).get("count", 0))

    def share(self, column: str) -> float | None:
        """The share of rows in which a bool score column is true; None without it.

        It is the rate of ``pddl_eval.report``: rows whose reference is a mistake in the data are left out, undecided
        rows count as no.
        """
        counts = self.statistics.get(column, {})
        rows = sum(number for value, number in counts.items() if value != "null" or column not in OPTIONAL)
        return counts["true"] / rows if rows else None

    @property
    def mistakes(self) -> int:
        """Rows whose reference is a mistake in the data: left out of all shares and means."""
        return int(self.statistics.get(VERDICT, {}).get(Verdict.REFERENCE_INVALID, 0))

    def mean(self, column: str) -> float | None:
        """The mean of a number score column over the rows that have one; None where none has."""
        values = self.statistics.get(column)
        return values["sum"] / values["count"] if values and values["count"] else None

    def to_json(self) -> dict[str, Any]:
        """What the run's ``_summary.json`` keeps: only what a run that was resumed can say as well."""
        names = ("rows", "rows_carried", "shards", "signature", "verdicts", "statistics")
        return {name: getattr(self, name) for name in names}

    def lines(self) -> list[tuple[str, str]]:
        """The summary as pairs of a label and its value, in the order in which a person wants them."""
        reused = f" ({self.shards_reused} of them from an earlier start)" if self.shards_reused else ""
        lines = [("pairs", f"{self.rows:,} in {self.shards:,} shard{'' if self.shards == 1 else 's'}{reused}")]
        if self.rows_carried:
            lines.append(("carried over", f"{self.rows_carried:,} unchanged, {self.rows - self.rows_carried:,} scored"))
        if self.rows_unreadable:
            lines.append(("not readable", f"{self.rows_unreadable:,}"))
        if self.mistakes:
            lines.append(("left out", f"{self.mistakes:,} whose reference is a mistake in the data"))
        lines += [(column, shown) for column in SHARES if (shown := self._share_line(column))]
        for column in MEANS:
            mean = self.mean(column)
            if mean is not None:
                lines.append((column, f"{mean:7.4f}  (mean of {self.statistics[column]['count']:,})"))
        lines += [(f"verdict {verdict}", f"{count:,}") for verdict, count in self.verdicts.items()]
        for name, count in self.statistics.get(UNKNOWN_DOMAINS, {}).items():
            hint = did_you_mean(name, known_domain_names(), "known domains")
            lines.append(("unknown domain", f"{count:,} rows: {name}; {hint}"))
        if self.errors:
            lines.append(("score_error", f"{self.errors:,} rows could not be scored"))
        if self.rows_scored:
            workers = f", {self.workers} worker{'' if self.workers == 1 else 's'}" if self.workers else ""
            speed = f"{self.rows_per_second:,.0f} pairs/s in {self.seconds:,.1f} s ({self.engine}{workers})"
            lines.append(("throughput", speed))
        lines += [("excluded node", printable(reason)) for reason in self.excluded_nodes]
        return [*lines, ("signature", self.signature), ("output", printable(self.output))]

    def _share_line(self, column: str) -> str:
        counts = self.statistics.get(column)
        if not counts:
            return ""
        nulls = self.statistics.get(FOLLOWS.get(column, column), counts)["null"]
        if nulls == sum(counts.values()):
            return ""
        others = f", {nulls:,} {'not checked' if column in OPTIONAL else 'undecided'}" if nulls else ""
        return f"{self.share(column):7.2%}  ({counts['true']:,}{others})"

    def __str__(self) -> str:
        lines = self.lines()
        width = max(len(label) for label, _ in lines)
        return "\n".join(f"{label:<{width}}  {value}" for label, value in lines)


class OtherRun(DatasetError):
    """The output belongs to a run of another input or of other settings."""


class RunIncomplete(RunError):
    """Shards failed or rows could not be read; everything else is scored and written. ``summary`` says how much."""

    def __init__(self, troubles: list[str], summary: RunSummary) -> None:
        others = f" (and {len(troubles) - 1} more)" if len(troubles) > 1 else ""
        super().__init__(
            f"Not all rows could be scored: {troubles[0]}{others}. The other {summary.rows:,} rows are in "
            f"{summary.output}; the same run started again tries the rest."
        )
        self.summary = summary


def pair_scorer(options: ScoringOptions) -> Scorer:
    """``score_table`` as the scorer of a run."""
    signature = options.signature
    score = partial(_score_pairs, options=options, signature=signature)
    schema, count = (partial(function, options=options) for function in (score_schema, count_unknown_domains))
    return Scorer(signature, asdict(options), schema, score, count, partial(constants_signed, options=options))


def scored_with(source: Source) -> ScoringOptions:
    """The columns and the domain that a dataset was scored with, from the manifest beside its files.

    Those of no settings where there is no manifest, or none that can be read.
    """
    try:
        if MANIFEST in places.list_files(source.base):
            settings = json.loads(places.read_bytes(source.base / MANIFEST))["settings"]
            return ScoringOptions(columns=settings["columns"], domain=settings["domain"])
    except (ValueError, KeyError, TypeError, AttributeError):
        pass  # A copy beside another manifest.
    return ScoringOptions()


def unfinished_rows(source: Source) -> tuple[int, int] | None:
    """How many rows the run that wrote a dataset has not written, and of how many; None for a complete run or no run.

    A run that had to leave rows out, because they could not be read, is not complete either.
    """
    present = places.list_files(source.base)
    if MANIFEST not in present:
        return None
    try:
        manifest = json.loads(places.read_bytes(source.base / MANIFEST))
        if SUMMARY in present and json.loads(places.read_bytes(source.base / SUMMARY))["run"] == manifest["run"]:
            return None
        expected = sum(int(file["rows"]) for file in manifest["files"])
    except (ValueError, KeyError, TypeError):
        return None  # A copy beside another manifest.
    known = {file.name: file.rows for file in source.files}
    named = {name: named_rows(name) for name in present}
    written = sum(known.get(name, rows) for name, rows in named.items() if rows is not None)
    return max(0, expected - written), expected


def _score_pairs(table: pa.Table, options: ScoringOptions, signature: str) -> pa.Table:
    if options.signature != signature:
        raise RuntimeError(f"this worker would score as {options.signature}: install the same version everywhere")
    return score_table(table, options)


@contextmanager
def shown_progress(*, lines: bool = False) -> Iterator[Watcher]:
    """A watcher that shows a run's progress and what goes wrong; ``lines`` as in ``pddl_eval.progress``."""
    with progress(lines=lines) as pace:

        def watch(event: Event) -> None:
            if isinstance(event, Run):
                pace.begin(event.source.rows, sum(record.rows for record in event.finished.values()))
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


def log_line(result: ShardResult | WorkerLost | Notice) -> str:
    """A line of JSON without its line break, in UTC.

    ``event`` is ``shard``, ``shard_failed``, ``worker_lost``, ``node_excluded`` or ``no_node``. A ``shard`` has
    ``rows``, of these ``carried``, ``unreadable`` and ``unscored`` ones, ``statistics`` (verdict counts among them),
    ``seconds``, ``node`` and ``attempt``; the others have a ``reason``.
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
    else:
        task = result.task
        fields = {"event": "worker_lost", "shard": task.shard.name, "attempt": task.attempt, "reason": result.reason}
    return json.dumps({"time": datetime.now(UTC).isoformat(timespec="milliseconds"), **fields})


def _results(run: Run, options: RunOptions) -> Generator[Event, None, None]:
    """The results of the missing shards, as they finish, and each lost worker."""
    function = partial(score_shard, run.work)
    marker = run.work.output / IN_PROCESS
    if not run.missing:
        return
    if options.engine == "local" and options.workers == 1 and not places.list_files(run.work.output).get(marker.name):
        places.put_bytes(marker, b"If nothing scores into this folder, a row has ended the process that did.\n")
        try:
            yield from map(function, map(ShardTask, run.missing))
        finally:
            places.remove_file(marker)
            close_file()
    else:
        engine = (
            RayTasks(partial(_score_on_node, run.work), options)
            if options.engine == "ray"
            else Processes(function, options.workers or 1)
        )
        with closing(engine):
            yield from run_shards(engine, run.missing)
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


def _troubles(run: Run, records: Mapping[str, ShardRecord], failures: Sequence[ShardFailure]) -> list[str]:
    troubles = [f"{failure.name}: {failure.reason.rstrip('.')}" for failure in failures]
    for shard in run.shards:
        record = records.get(shard.name)
        if record and record.unreadable:
            ranges = ", ".join(f"{start:,} to {stop - 1:,}" for start, stop in record.unreadable)
            troubles.append(f"rows {ranges} of {shard.file} cannot be read ({record.damage})")
    return troubles


def _refuse_file(output: Location) -> None:
    suffix = output.name.rpartition(".")[2].lower()
    if suffix in FILE_SUFFIXES and not places.list_files(output):
        raise DatasetError(f"The output {output} is named like a file: name a folder, which gets Parquet partitions.")


def _refuse_overlap(source: Source, output: Location) -> None:
    for file in source.files:
        if file.version.location.within(output):
            raise DatasetError(f"The input {file.version} lies in the output {output}: choose another folder.")
    for folder in source.walked:
        if output.within(folder):
            raise DatasetError(f"The output {output} lies in the input {folder}: choose a folder outside of it.")


def _refuse_other_run(output: Location, identity: Mapping[str, Any]) -> None:
    try:
        difference = _first_difference(json.loads(places.read_bytes(output / MANIFEST)), identity)
    except (ValueError, TypeError, KeyError, AttributeError):
        difference = f"its {MANIFEST} cannot be read"
    if difference:
        raise OtherRun(f"{output} belongs to another run: {difference}. Choose another folder, or delete this one.")


def _first_difference(theirs: Mapping[str, Any], ours: Mapping[str, Any]) -> str | None:
    names = ("format", "signature", "shard_rows")
    before, now = (each["settings"] | {name: each[name] for name in names} for each in (theirs, ours))
    for name in before | now:
        if before.get(name) != now.get(name):
            was, is_ = (shorten(json.dumps(each.get(name)), 80) for each in (before, now))
            return f"{name} was {was} and is {is_} now"
    before, now = ({file["name"]: file for file in each["files"]} for each in (theirs, ours))
    changed = sorted(name for name in before | now if before.get(name) != now.get(name))
    return f"its input was another one ({changed[0]} is not the same)" if changed else None
