"""What is known of a run from its output folder alone: what is done, what is missing, who works on it, what failed.

Nothing is written, and the input is not needed. Whoever calls it may be on another machine than the run.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from pddl_eval.datasets import PARQUET_SUFFIXES, PARTITIONS, Location, places
from pddl_eval.run.lock import Holder, holders, is_alive_by_now
from pddl_eval.run.manifest import COLUMNS, entries_of
from pddl_eval.run.partitions import ShardRecord, whole_records
from pddl_eval.run.score import FAILED
from pddl_eval.run.shards import Part, shards_named
from pddl_eval.run.tiling import RowRange, run_folder
from pddl_eval.shown import labelled, printable
from pddl_eval.unchanged import SUMMARY

SPEED_SECONDS = 600.0
"""The speed is that of the last partitions, because a run may have been started long before."""

SHOWN_LINES = 10
"""Missing ranges, writers and failures that are printed, at most; the JSON has all."""


@dataclass(frozen=True, slots=True)
class Writer:
    """A process that has claimed the folder, or a ``part`` of it (``3/32``, else None).

    ``seconds`` have passed since its last sign of life, by the clock of the store. ``alive`` is False for one that was
    killed. ``doing`` are the shards that its workers were on then, those that began first: ``shard``, ``node`` and
    ``since``.
    """

    part: str | None
    host: str
    pid: int
    since: str
    seconds: float
    alive: bool
    doing: tuple[Mapping[str, str], ...] = ()

    def __str__(self) -> str:
        name = f"part {self.part}: " if self.part else ""
        return f"{name}process {self.pid} on {self.host}, since {self.since}, last seen {self.seconds:.0f} s ago"


@dataclass(frozen=True, slots=True)
class RunStatus:
    """A run as its folder shows it; ``finished`` where all rows are there, once, and the summary is written.

    ``doubled`` are rows that two partitions hold, ``failed`` says why rows are missing that the run tried to score.
    ``rows_per_second`` is that of the last ten minutes in which partitions were written, None without any.

    >>> missing = (RowRange("pairs.parquet", 6, 8),)
    >>> print(RunStatus("scored", False, 8, 6, 2, 3.5, (), missing, (), "pddl-eval:0.1.0"))
    pairs    6 of 8 (75.0%) in 2 partitions
    speed    3.5 pairs/s
    missing  pairs.parquet rows 6 to 7
    state    not finished
    """

    output: str
    finished: bool
    rows: int
    rows_done: int
    shards_done: int
    rows_per_second: float | None
    writers: tuple[Writer, ...]
    missing: tuple[RowRange, ...]
    failed: tuple[str, ...]
    signature: str
    doubled: tuple[RowRange, ...] = ()

    def lines(self) -> list[tuple[str, str]]:
        """Pairs of a label and its value, in the order in which a person wants them."""
        share = self.rows_done / self.rows if self.rows else 1.0
        lines = [("pairs", f"{self.rows_done:,} of {self.rows:,} ({share:.1%}) in {self.shards_done:,} partitions")]
        if self.rows_per_second and not self.finished:
            lines.append(("speed", f"{self.rows_per_second:,.1f} pairs/s"))
        for label, entries in (
            ("running", [each for each in self.writers if each.alive]),
            ("killed", [each for each in self.writers if not each.alive]),
            ("working on", [_shown(each) for writer in self.writers if writer.alive for each in writer.doing]),
            ("failed", self.failed),
            ("missing", self.missing),
            ("doubled", self.doubled),
        ):
            lines += [(label, printable(str(each))) for each in entries[:SHOWN_LINES]]
            if len(entries) > SHOWN_LINES:
                lines.append((label, f"and {len(entries) - SHOWN_LINES:,} more"))
        if not self.finished and not (self.missing or self.failed or self.doubled):
            lines.append(("missing", "the summary: the same score command writes it"))
        return [*lines, ("state", "finished" if self.finished else "not finished")]

    def __str__(self) -> str:
        return labelled(self.lines())


def run_status(output: str | os.PathLike[str]) -> RunStatus:
    """What is known of the run that writes, or wrote, into a folder; it may be on ``s3://``.

    Raises ``DatasetError`` where the folder is not that of a run or cannot be read.

    >>> run_status("/no/such/folder")
    Traceback (most recent call last):
    pddl_eval.datasets.places.DatasetError: /no/such/folder is not the output of a run: it has no _pddl_eval_run.json.
    """
    folder = places.locate(output)
    written = places.times_written(folder)
    found = run_folder(folder, written)
    if found.is_merged and SUMMARY not in written:
        return replace(run_status(str(folder / PARTITIONS)), output=str(folder), finished=False)
    records: dict[str, ShardRecord] = {}
    present = {name for name in written if name == SUMMARY or name.endswith(PARQUET_SUFFIXES)}
    if not found.is_merged:
        there = shards_named(found.source, present)
        records = whole_records(folder, there, found.manifest["run"], columns=found.manifest.get(COLUMNS))
        present &= {*records, SUMMARY}
    # Whoever reads the folder reads the others, too.
    everything = found.tiling(written)
    present -= {*everything.late}
    tiling = replace(found.tiling(present), doubled=everything.doubled)
    return RunStatus(
        str(folder),
        tiling.is_complete,
        tiling.rows,
        tiling.rows - tiling.rows_missing,
        len(present - {SUMMARY}),
        _speed(records.values(), written),
        tuple(_writer(name, holder, written) for name, holder in holders(folder).items()),
        tiling.missing,
        tuple(_failures(folder, written)),
        found.manifest["signature"],
        tiling.doubled,
    )


def _shown(doing: Mapping[str, str]) -> str:
    return f"{doing['shard']} on {doing['node']}, since {doing['since']}"


def _failures(folder: Location, names: Iterable[str]) -> list[str]:
    """What runs that ended have said about the rows that they could not score."""
    return [
        str(trouble)
        for name in sorted(names)
        if name.startswith(FAILED) and name.endswith(".json")
        for trouble in entries_of(folder / name).get("troubles", ())
    ]


def _speed(records: Iterable[ShardRecord], written: Mapping[str, float]) -> float | None:
    ended = {record.name: written[record.name] for record in records}
    if not ended:
        return None
    latest = max(ended.values())
    recent = [record for record in records if ended[record.name] > latest - SPEED_SECONDS]
    seconds = latest - min(ended[record.name] - record.seconds for record in recent)
    return sum(record.rows for record in recent) / seconds if seconds > 0 else None


def _writer(name: str, holder: Holder, written: Mapping[str, float]) -> Writer:
    seconds = max(0.0, time.time() - written.get(name, time.time()))
    alive = is_alive_by_now(holder, seconds)
    known = ("shard", "node", "since")
    doing = tuple({name: str(each.get(name, "")) for name in known} for each in holder.doing)
    return Writer(Part.of_file(name), holder.host, holder.pid, holder.since, seconds, alive, doing)
