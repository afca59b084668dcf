"""Whether the folder of a run is what its run says: each row once, every byte whole, nothing left over.

Nothing is believed but the manifest. What is proven damaged, there twice or left over can be removed, so that the
command that made the run completes it. Rows are drawn for whoever can score them again.
"""

from __future__ import annotations

import random
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from pddl_eval.datasets import (
    KNOWN_FOLDER,
    PARQUET_SUFFIXES,
    PARTITIONS,
    SIGNATURE_KEY,
    Location,
    in_threads,
    places,
    step_rows,
)
from pddl_eval.run.lock import LOCKS, claimed, dead_locks
from pddl_eval.run.manifest import COLUMNS, entries_of
from pddl_eval.run.partitions import columns_of, finished_records, proven, record_of
from pddl_eval.run.score import FAILED, IN_PROCESS
from pddl_eval.run.shards import shards_named
from pddl_eval.run.summary import SCORE_ERROR, merge_statistics
from pddl_eval.run.tiling import RunFolder, ranges_in, run_folder
from pddl_eval.settings import SHARD_ROWS
from pddl_eval.shown import labelled, printable
from pddl_eval.unchanged import COUNTED, SUMMARY

REMOVED = ("damaged", "doubled", "left over")
"""The kinds of findings that a repair removes."""


@dataclass(frozen=True, slots=True)
class Finding:
    """What is wrong: its ``kind``, the file or the rows ``where`` it is, and more in words.

    * ``missing``: rows; ``damaged``: a file that is not whole, has other columns or was not written by the run;
    * ``doubled``: a partition whose rows others hold, too; ``foreign``: a Parquet file that is no partition of the run;
    * ``left over``: what a killed process left; ``running``: a process writes into the folder;
    * ``summary``: it is missing, or its numbers are not those of the partitions;
    * ``signature``: not that of the run; ``score``: a row that was scored again has another score;
    * ``record``: a column, or the rows, are not those of the record that was named.
    """

    kind: str
    where: str
    detail: str

    def __str__(self) -> str:
        return f"{self.where}: {self.detail}"


@dataclass(frozen=True, slots=True)
class Verification:
    """What ``verify_dataset`` has found in a folder of ``rows`` in ``files``.

    ``rows_again`` were scored again and compared; ``rows_set_aside`` of those drawn were not: they have a
    ``score_error``, or took so long that a limit of time may decide. ``notes`` are no faults, ``removed`` is what the
    repair has deleted. ``command`` started the run, as far as its manifest says it.

    >>> print(Verification("scored", "pddl-eval:0.1.0", 292, 1, 100, 0, (), (), (), None))
    pairs         292 in 1 files
    scored again  100
    signature     pddl-eval:0.1.0
    state         verified
    """

    output: str
    signature: str
    rows: int
    files: int
    rows_again: int
    rows_set_aside: int
    findings: tuple[Finding, ...]
    notes: tuple[str, ...]
    removed: tuple[str, ...]
    command: str | None = None

    @property
    def ok(self) -> bool:
        """Whether nothing is wrong."""
        return not self.findings

    def __str__(self) -> str:
        """A line for each finding, the verdict last."""
        aside = f", {self.rows_set_aside:,} set aside" if self.rows_set_aside else ""
        lines = [("pairs", f"{self.rows:,} in {self.files:,} files"), ("scored again", f"{self.rows_again:,}{aside}")]
        lines += [("removed", each) for each in self.removed]
        lines += [(each.kind, str(each)) for each in self.findings]
        lines += [("note", each) for each in self.notes]
        if any(each.kind in ("missing", "summary", *REMOVED) for each in self.findings):
            lines.append(("completed by", self.command or "the command that started the run"))
        lines += [("signature", self.signature), ("state", "verified" if self.ok else "not verified")]
        return labelled([(label, printable(value)) for label, value in lines])


class Drawn(NamedTuple):
    """The rows to score again, with the ``labels`` that name them, of the run that the ``manifest`` describes."""

    rows: pa.Table | None
    labels: tuple[str, ...]
    manifest: Mapping[str, Any]


def check_folder(folder: Location, rows: int, seed: int, *, repair: bool = False) -> tuple[Verification, Drawn]:
    """Read all of a run's folder; ``rows`` of its rows are drawn, by ``seed``. A repair comes first.

    Drawn rows that have a ``score_error`` are set aside, the others are left to score again.

    Raises ``DatasetError`` where the folder is not that of a run, or one that is to be repaired is held by another
    process, and ``Unavailable`` where something cannot be read now.
    """
    before = places.list_files(folder)
    of_run, removed = run_folder(folder, before), list[str]()
    if repair:
        with claimed(folder) as claim:  # It removes the locks of killed processes.
            removed = sorted(before.keys() - places.list_files(folder))
            removed += _repair(folder, _findings(of_run, (), claim.place.name)[0])
    source = of_run.source
    drawn = sorted(random.Random(seed).sample(range(source.rows), min(rows, source.rows)))
    findings, files = _findings(of_run, drawn)
    numbers = ((number, number + 1) for file in files for number in file.numbers)
    tables = [file.drawn for file in files if file.drawn is not None and file.drawn.num_rows]
    found = Verification(
        str(folder),
        of_run.manifest["signature"],
        source.rows,
        len(files),
        0,
        sum(file.failed for file in files),
        tuple(findings),
        (),
        tuple(removed),
    )
    labels = tuple(f"{each.file} row {each.start:,}" for each in ranges_in(source, numbers))
    return found, Drawn(pa.concat_tables(tables) if tables else None, labels, of_run.manifest)


@dataclass(frozen=True, slots=True)
class _File:
    """A Parquet file of the folder, all of it read; ``damage`` says what is wrong with it."""

    name: str
    rows: int = 0
    signature: str | None = None
    drawn: pa.Table | None = None
    numbers: tuple[int, ...] = ()
    failed: int = 0
    damage: str | None = None


def _findings(of_run: RunFolder, drawn: Sequence[int], own: str = "") -> tuple[list[Finding], list[_File]]:
    folder, manifest = of_run.place, of_run.manifest
    present = places.list_files(folder)
    names = [name for name in sorted(present) if name.endswith(PARQUET_SUFFIXES)]
    source, held = of_run.source, of_run.rows_held(names)
    files = list(in_threads(partial(_check, of_run, held, drawn), names))
    found = [Finding("damaged", file.name, file.damage) for file in files if file.damage and file.name in held]
    whole = {file.name: file.rows for file in files if not file.damage}
    if not of_run.is_merged:
        there = shards_named(source, whole)
        # Those with rows that could not be read count here, too.
        records = {s.name: record for s in there if (record := record_of(folder / s.name))}
        kept = finished_records(folder, there, manifest["run"], records)
        for name in records.keys() - kept.keys():
            said = ", ".join(map(str, ranges_in(source, held[name])))
            found.append(Finding("doubled", name, f"other partitions hold {said}, too"))
            del whole[name]
    tiling = of_run.tiling({*present} - {*names} | {*whole}, whole)
    found += [Finding("missing", str(each), "no partition holds these rows") for each in tiling.missing]
    found += [
        Finding("foreign", name, "it is no partition of this run")
        for name in [*names, *_below(folder)]
        if name not in held
    ]
    signed = {file.name: str(file.signature) for file in files if not file.damage and file.name in held}
    found += [Finding("signature", name, each) for name, each in signed.items() if each != manifest["signature"]]
    found += _left_over(of_run, present, own)
    if not tiling.finished:
        found.append(Finding("summary", SUMMARY, "it is missing: the run is not finished"))
    elif not of_run.is_merged and not tiling.missing:
        in_order = [records[shard.name] for shard in there if shard.name in whole]
        counted = merge_statistics(record.statistics for record in in_order)
        summary = entries_of(folder / SUMMARY)
        if (summary.get("rows"), summary.get("statistics")) != (tiling.rows, counted):
            found.append(Finding("summary", SUMMARY, "its numbers are not those of the partitions"))
    return found, files


def _below(folder: Location) -> list[str]:
    """The Parquet files in its folders that readers of the folder read, too."""
    folders = [name for name in places.list_folders(folder) if not name.startswith(("_", "."))]
    return [
        f"{each}/{name}"
        for each in folders
        for name in places.list_files(folder / each)
        if name.endswith(PARQUET_SUFFIXES)
    ]


def _check(of_run: RunFolder, held: Mapping[str, Sequence[tuple[int, int]]], drawn: Sequence[int], name: str) -> _File:
    """Read all of a file; the drawn rows that it holds are kept."""
    wanted: list[int] = []
    numbers: list[int] = []
    rows = 0
    for start, stop in held.get(name, ()):
        here = drawn[bisect_left(drawn, start) : bisect_left(drawn, stop)]
        wanted += [rows + row - start for row in here]
        numbers += here
        rows += stop - start
    found = proven(of_run.place / name, partial(_read, wanted=wanted))
    if found is None:
        return _File(name, damage="it cannot be read")
    schema, columns, count, signature, taken, scored = found
    file = _File(name, count, signature)
    if name not in held:
        return file
    if columns != of_run.manifest.get(COLUMNS, columns):
        return _File(name, damage="its columns are not those of the run")
    if of_run.is_merged:
        if count != rows:
            return _File(name, damage=f"it has {count:,} rows and not {rows:,}")
    else:
        record = record_of(of_run.place / name)
        if record is None or (record.run, record.name) != (of_run.manifest["run"], name):
            return _File(name, damage="it is no partition as the run wrote it")
    if count != rows:  # Rows that could not be read from the input are not there, and the others have other places.
        return file
    table = pa.Table.from_batches(taken, schema.remove_metadata())
    taken_from = tuple(numbers[each] for each in scored)
    return _File(name, count, signature, table, taken_from, len(numbers) - len(scored))


def _read(
    file: pa.NativeFile, wanted: Sequence[int]
) -> tuple[pa.Schema, str, int, str | None, list[pa.RecordBatch], list[int]]:
    """Schema, columns, number of rows, signature; of the wanted rows those without a ``score_error``, and which.

    Every page is compared with its checksum. It does little else: what fails here is the file.
    """
    with pq.ParquetFile(file, page_checksum_verification=True) as parquet:
        first = 0
        taken: list[pa.RecordBatch] = []
        scored: list[int] = []
        for batch in parquet.iter_batches(step_rows(parquet.metadata, SHARD_ROWS), use_threads=False):
            here = [number for number, row in enumerate(wanted) if 0 <= row - first < batch.num_rows]
            failed = batch.column(SCORE_ERROR) if here and SCORE_ERROR in batch.schema.names else None
            here = [number for number in here if failed is None or not failed[wanted[number] - first].is_valid]
            taken += _rows(batch, [wanted[number] - first for number in here])
            scored += here
            first += batch.num_rows
        schema, metadata = parquet.schema_arrow, parquet.metadata.metadata or {}
        said = metadata.get(SIGNATURE_KEY.encode())
        return schema, columns_of(schema), first, said.decode("utf-8", "replace") if said else None, taken, scored


def _rows(batch: pa.RecordBatch, rows: list[int]) -> list[pa.RecordBatch]:
    """Some rows of a batch, copied, so that they do not hold the others in memory."""
    try:
        batch = batch.replace_schema_metadata(None)
        return [batch.take(pa.array(rows))] if rows else []
    except pa.ArrowNotImplementedError:  # Of views; it says nothing of the file.
        return [batch.slice(row, 1) for row in rows]


def _left_over(of_run: RunFolder, present: Mapping[str, int], own: str) -> list[Finding]:
    """What killed processes have left; nothing that a live one may need."""
    folder, kept_aside = of_run.place, (KNOWN_FOLDER, PARTITIONS if of_run.is_merged else None)
    dead = dead_locks(folder)
    if alive := [name for name in present if LOCKS.fullmatch(name) and name not in (*dead, own)]:
        return [Finding("running", name, "a process writes into this folder") for name in alive]
    found = [Finding("left over", name, "its process was killed") for name in dead]
    temporary = (name for name in sorted(present) if places.TEMPORARY.fullmatch(name))
    found += [Finding("left over", name, "it was not written to its end") for name in temporary]
    if SUMMARY in present:
        marks = [name for name in sorted(present) if name.startswith((FAILED, IN_PROCESS))]
        marks += [f"{name}/" for name in places.list_folders(folder) if name in kept_aside]
        found += [Finding("left over", name, "the run is finished") for name in marks]
    return found


def _repair(folder: Location, findings: Sequence[Finding]) -> Iterator[str]:
    """Remove what may be removed, and the summary if it counts any of it; the names."""
    names = [each.where for each in findings if each.kind in REMOVED]
    counted = entries_of(folder / SUMMARY, COUNTED) if places.has_file(folder / SUMMARY) else {}
    if any(each.kind == "damaged" for each in findings) or not counted.keys().isdisjoint(names):
        places.remove_file(folder / SUMMARY)  # First, so that nobody takes what is half repaired for a finished run.
    for name in names:
        (places.remove_folder if name.endswith("/") else places.remove_file)(folder / name.rstrip("/"))
        yield name
