"""Whether the partitions of a run tile its rows: each row of the manifest's files is there, and there once.

Whoever reads a scored folder opens it here. It looks at names and at the numbers of rows that footers say; folders
that no manifest belongs to (copies, files of other programs) are datasets like any other.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import accumulate, chain
from pathlib import Path
from typing import Any

import pyarrow as pa

from pddl_eval.datasets import (
    DatasetError,
    FileVersion,
    Input,
    InputFile,
    Location,
    RowGroup,
    Source,
    open_source,
    partition_stem,
    places,
)
from pddl_eval.errors import UNFINISHED
from pddl_eval.run.manifest import CHANGED, entries_of
from pddl_eval.run.partitions import record_of
from pddl_eval.run.shards import left_over, named_rows, shards_named
from pddl_eval.shown import listed, row_count
from pddl_eval.unchanged import CONTENTS, COUNTED, MANIFEST, SUMMARY, is_untouched

MERGED = "rows_per_file"
"""In the manifest of a run whose partitions are merged."""

COMPARED_BYTES = 256 * 2**20
"""Partitions that are read as a whole to be proven whole, a third of a second; of more than that, fewer columns are."""

SHOWN = 5
"""Ranges that a sentence names, at most; ``pddl-eval status`` has all."""


class RowsMissing(DatasetError):
    """A run has not written all of its rows, or they are gone."""

    exit_code = UNFINISHED


class RowsDoubled(DatasetError):
    """A scored folder holds rows twice, or rows that are not of its run: no number made of them would be right."""

    exit_code = UNFINISHED


@dataclass(frozen=True, slots=True)
class RowRange:
    """Rows of a file of the input, from ``start`` to ``stop`` (excluded)."""

    file: str
    start: int
    stop: int

    def __str__(self) -> str:
        return f"{self.file} rows {self.start:,} to {self.stop - 1:,}" if self.stop else f"{self.file} (no rows)"


@dataclass(frozen=True, slots=True)
class Tiling:
    """Which of the ``rows`` of a run are ``missing`` and which are there twice, and files that are not of the run.

    ``finished`` says that the run has written its summary, ``changed`` that its input was written meanwhile. ``late``
    are partitions that do not count: the summary does not know them, and they were written under a claim older than
    the last one.
    """

    rows: int
    missing: tuple[RowRange, ...] = ()
    doubled: tuple[RowRange, ...] = ()
    foreign: tuple[str, ...] = ()
    finished: bool = True
    changed: bool = False
    late: tuple[str, ...] = ()

    @property
    def rows_missing(self) -> int:
        return sum(each.stop - each.start for each in self.missing)

    @property
    def is_complete(self) -> bool:
        return self.finished and not (self.missing or self.doubled or self.foreign)

    def unfinished(self, name: str) -> str | None:
        """In a sentence, that the run is not complete and what is missing; None for one that is."""
        if self.finished and not self.missing:
            return None
        gone = self.rows_missing
        what = f"{gone:,} of {row_count(self.rows)} {'is' if gone == 1 else 'are'} missing"
        what = (
            f"{what}: {listed(self.missing, SHOWN)}" if self.missing else "all rows are there, but its summary is not"
        )
        remedy = "The command that started the run completes it."
        if self.changed:
            remedy = "Its input was written while it was scored: score it into another folder."
        return f"{name} is an unfinished run: {what}. {remedy}"

    def require_once(self, name: str) -> None:
        """Raise ``RowsDoubled`` where rows are there twice, or files that are not of the run."""
        if self.doubled:
            raise RowsDoubled(
                f"{name} holds rows twice: {listed(self.doubled, SHOWN)}. The command that started the run, or "
                "pddl-eval verify --repair, removes what is too much."
            )
        if self.foreign:
            raise RowsDoubled(
                f"{name} holds files that are no partitions of its run: {listed(self.foreign, SHOWN)}. Move them "
                "elsewhere."
            )


def open_rows(found: Input | Source) -> Source:
    """A dataset of which all rows are there, once; raises ``RowsMissing`` and what ``open_scored_rows`` raises."""
    source, tiling = open_scored_rows(found)
    if tiling:
        raise RowsMissing(tiling.unfinished(str(source.base)) or "")
    return source


def open_scored_rows(found: Input | Source) -> tuple[Source, Tiling | None]:
    """A dataset without what was written late, and the tiling of the run, or runs, that have written its files.

    The tiling is None if it is complete, or of no run. A few files of a run's folder stand for the whole folder. Raises
    ``RowsDoubled`` for a dataset with rows twice, and ``DatasetError`` as ``open_source`` and where a manifest cannot
    be read.
    """
    source = found if isinstance(found, Source) else open_source(found)
    folders = {file.version.location.parent for file in source.files if file.signature}
    tilings = []
    for folder in sorted(folders, key=str):
        present = places.list_files(folder)
        if MANIFEST in present:
            rows = {file.version.location: file.rows for file in source.files if file.version.location.within(folder)}
            names = {place.path[len(folder.path) :].lstrip("/"): count for place, count in rows.items()}
            tiling = run_folder(folder, present).tiling(present, names)
            tiling.require_once(str(folder))
            tilings.append((folder, tiling))
    late = {folder / name for folder, tiling in tilings for name in tiling.late}
    counted = tuple(file for file in source.files if file.version.location not in late)
    if not counted:
        raise RowsDoubled(f"{source.files[0].version} does not count: a process wrote it that had lost its claim.")
    source = replace(source, files=counted)
    if all(tiling.is_complete for _, tiling in tilings):
        return source, None
    if len(tilings) == 1:
        return source, tilings[0][1]
    missing = ((folder, each) for folder, tiling in tilings for each in tiling.missing)
    return source, Tiling(
        sum(tiling.rows for _, tiling in tilings),
        tuple(RowRange(str(folder / each.file), each.start, each.stop) for folder, each in missing),
        finished=all(tiling.finished for _, tiling in tilings),
        changed=any(tiling.changed for _, tiling in tilings),
    )


def untouched(
    folder: Location, present: Mapping[str, int], run: str, *, compared: bool = True
) -> Mapping[str, Any] | None:
    """The summary of the finished run if each file is byte for byte as the run has left it and no other one is there.

    None where nobody knows. Unless it is ``compared``, no file but the summary is read.
    """
    try:
        said = entries_of(folder / SUMMARY) if SUMMARY in present else {}
        whole = said.get("run") == run and is_untouched(folder.path, present, said, compared=compared)
        return said if whole else None
    except (DatasetError, OSError):
        return None


def open_untouched(place: str, *, compared: bool = True) -> Source | None:
    """The partitions in the local folder of a finished run that nobody has touched (``untouched``): all rows, once.

    They are described by their names and the run's summary; of their footers one is read, so only readers of whole
    files can use them. None for any other place, and where to read all bytes would take long.
    """
    if not Path(place).is_dir():
        return None
    folder = places.locate(place)
    present = places.list_files(folder)
    if MANIFEST not in present or any(not name.startswith(("_", ".")) for name in places.list_folders(folder)):
        return None
    if compared and sum(present.values()) > COMPARED_BYTES:
        return None
    said = untouched(folder, present, str(entries_of(folder / MANIFEST).get("run")), compared=compared)
    if said is None:
        return None
    names = sorted(said[CONTENTS], key=partition_stem)
    first = open_source(str(folder / names[0]))
    files = []
    for name in names:
        _, start, stop = named_rows(name) or ("", 0, 0)
        version, groups = FileVersion(folder / name, ""), (RowGroup(stop - start, 0),)
        files.append(replace(first.files[0], version=version, name=name, size=present[name], row_groups=groups))
    return replace(first, walked=(folder,), files=tuple(files))


@dataclass(frozen=True, slots=True)
class RunFolder:
    """The folder of a run with its ``manifest``; ``source`` is the input as that describes it.

    It has names and numbers of rows, in the order of the output.
    """

    place: Location
    manifest: Mapping[str, Any]
    source: Source

    @property
    def is_merged(self) -> bool:
        """Whether its partitions are merged, or will be."""
        return MERGED in self.manifest

    def tiling(self, present: Iterable[str], rows: Mapping[str, int] | None = None) -> Tiling:
        """How the files that are ``present`` tile the run's rows; ``rows`` are the numbers that footers say, if known.

        Other files among ``rows`` are foreign.
        """
        source, present, rows = self.source, set(present), rows or {}
        summary = entries_of(self.place / SUMMARY) if SUMMARY in present else {}
        finished = summary.get("run") == self.manifest["run"]
        late = {*self._late(present, summary.get(COUNTED) or {})} if finished else set()
        rows = {name: count for name, count in rows.items() if name not in late}
        held = self.rows_held(present - late, rows)
        ranges = sorted(chain.from_iterable(held.values()))
        reached = accumulate((stop for _, stop in ranges), max, initial=0)
        twice = ((start, min(stop, end)) for (start, stop), end in zip(ranges, reached, strict=False))
        missing = [*ranges_in(source, left_over(ranges, 0, source.rows))]
        if not self.is_merged:
            stems = {(named_rows(name) or ("",))[0] for name in held}
            empty = (file.name for file in source.files if not file.rows and partition_stem(file.name) not in stems)
            missing += [RowRange(name, 0, 0) for name in empty]
            order = {file.name: number for number, file in enumerate(source.files)}
            missing.sort(key=lambda each: order[each.file])
        return Tiling(
            source.rows,
            tuple(missing),
            tuple(ranges_in(source, twice)),
            tuple(sorted(rows.keys() - held.keys())) if rows.keys() & held.keys() else (),
            finished,
            any(file.get("content") == CHANGED for file in self.manifest["files"]),
            tuple(sorted(late)),
        )

    def _late(self, present: Iterable[str], counted: Mapping[str, int]) -> Iterator[str]:
        """The partitions that a process wrote after it had lost its claim, and the finished run without it."""
        for shard in shards_named(self.source, present if counted else ()):
            record = record_of(self.place / shard.name) if shard.name not in counted else None
            if record and record.run == self.manifest["run"] and record.claim < max(counted.values()):
                yield shard.name

    def rows_held(
        self, present: Collection[str], rows: Mapping[str, int] | None = None
    ) -> dict[str, list[tuple[int, int]]]:
        """The run's partitions, or merged files, among those that are ``present``, and the rows that each holds.

        Rows are counted over all files of the input (``ranges_in``). They are those of the file's name; where ``rows``
        says that it has fewer, without those that could not be read of the input, and where it says more, they count
        twice.
        """
        source, size = self.source, int(self.manifest.get(MERGED) or 0)
        if size:
            total = source.rows
            files = enumerate(merged_names(total, size))
            spans = {name: (size * n, min(size * (n + 1), total), 0) for n, name in files if name in present}
        else:
            starts = accumulate((file.rows for file in source.files), initial=0)
            firsts = dict(zip((partition_stem(file.name) for file in source.files), starts, strict=False))
            there = ((shard, firsts[shard.stem]) for shard in shards_named(source, present))
            spans = {shard.name: (first + shard.start, first + shard.stop, first) for shard, first in there}
        held = {}
        for name, (start, stop, first) in spans.items():
            count = (rows or {}).get(name, stop - start)
            held[name] = [(start, stop)] * (2 if count > stop - start else 1)
            if count < stop - start:
                record = record_of(self.place / name)
                unreadable = ((first + low, first + high) for low, high in record.unreadable) if record else ()
                held[name] = list(left_over(unreadable, start, stop)) if record else []
        return held


def run_folder(folder: Location, present: Collection[str]) -> RunFolder:
    """The folder of a run; raises ``DatasetError`` where there is no manifest among the files that are ``present``, or
    it cannot be read."""
    if MANIFEST not in present:
        raise DatasetError(f"{folder} is not the output of a run: it has no {MANIFEST}.")
    manifest, nothing = entries_of(folder / MANIFEST), FileVersion(folder, "")
    with suppress(ValueError, TypeError, KeyError, AttributeError):
        described = [(str(file["name"]), RowGroup(int(file["rows"]), 0)) for file in manifest["files"]]
        files = (InputFile(nothing, name, 0, (rows,)) for name, rows in described)
        source = Source(folder, (), tuple(sorted(files, key=lambda file: partition_stem(file.name))), pa.schema([]))
        return RunFolder(
            folder, {**manifest, "run": str(manifest["run"]), "signature": str(manifest["signature"])}, source
        )
    raise DatasetError(
        f"{folder / MANIFEST} cannot be read, so nothing says whether rows are missing: delete it to take the rows "
        "that are there for all."
    )


def ranges_in(source: Source, ranges: Iterable[tuple[int, int]]) -> Iterator[RowRange]:
    """Rows that are counted over all files of an input, by file."""
    starts = list(accumulate((file.rows for file in source.files), initial=0))
    for start, stop in ranges:
        for number in range(bisect_right(starts, start) - 1, bisect_left(starts, stop)):
            low, high = max(start, starts[number]), min(stop, starts[number + 1])
            if low < high:
                yield RowRange(source.files[number].name, low - starts[number], high - starts[number])


def merged_names(rows: int, size: int) -> Iterator[str]:
    """The names of a merged run's files."""
    return (f"part-{number:06d}.parquet" for number in range(max(1, -(-rows // size))))
