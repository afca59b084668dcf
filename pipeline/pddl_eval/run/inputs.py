"""What an input consists of: its files, found and described, its shards, and their rows.

``forms`` says what forms of files there are; each is described and read in a file of its own.

The order of the files, and with it of the output, is that of their partitions' names and does not depend on the order
of a listing. A shard is named by what it covers, so the same input has the same shards wherever and whenever it is
scored.

Rows are read in pieces of bounded size, as decoded: memory follows neither the row group nor how often a value of a
dictionary is repeated. A Parquet reader reaches the middle of a row group only by decoding what comes before. So each
thread keeps the file that it read last open at the row where it stopped: consecutive shards of one row group cost one
pass over it, and a worker that is given every second shard skips the others at decoding speed (some 100,000 rows a
second).
"""

from __future__ import annotations

import hashlib
import os
import posixpath
import re
import threading
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from itertools import accumulate, chain, zip_longest
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import unquote

import pyarrow as pa
from pyarrow import fs

from pddl_eval.errors import did_you_mean
from pddl_eval.options import SHARD_ROWS
from pddl_eval.run import arrow_ipc, lines, parquet
from pddl_eval.run.arrow_ipc import ArrowReader
from pddl_eval.run.forms import (
    SUFFIXES,
    FileVersion,
    Form,
    Reader,
    RowGroup,
    form_of_name,
    json_and_not_lines,
    look_at,
)
from pddl_eval.run.lines import Columns, LinesReader
from pddl_eval.run.parquet import ParquetReader
from pddl_eval.run.places import (
    STORE_ATTEMPTS,
    DatasetError,
    Location,
    dataset_errors,
    list_files,
    locate,
    one_line,
    pause_before,
    persistently,
)
from pddl_eval.run.standard_input import STANDARD_INPUT, standard_input
from pddl_eval.run.stores import version_in_store
from pddl_eval.table import is_text, values_of

METADATA_PREFIX = "pddl_eval."
"""Prefix of the keys that this program writes into a file's metadata; they describe that file alone."""

SIGNATURE_KEY = f"{METADATA_PREFIX}signature"
"""The key of the signature of a file's scores."""

PARTITIONS = "_partitions"
"""In an output, while a run lasts whose partitions are merged in the end."""

SHARD_BYTES = 128 * 2**20
"""Encoded bytes of a shard, at most (about), so that workers need no more memory for long answers."""

PIECE_BYTES = 64 * 2**20
"""Decoded bytes of a piece, at most (about). A small file can be large when decoded: rows share the values of a
dictionary."""

BLOCKS_OF_PART = 8
"""Blocks of a part, at least (about), so that the last ones make little difference."""

STEP_ROWS = 64
"""Rows that are decoded at a time, because only decoded rows say how large they are."""

FOOTER_READERS = 16

READ_AHEAD = 256
"""Files that wait for one of the readers."""

Item = TypeVar("Item")
Result = TypeVar("Result")

HASHED_BYTES = 2 * 2**30
"""Bytes of an input of which a run's start reads the whole content, one or two seconds a gigabyte."""

BATCH_ROWS = 1024
HIVE_NULL = "__HIVE_DEFAULT_PARTITION__"

SALVAGE_BATCHES = 16_384
"""Steps in which a damaged row group is read: exact to the row up to that many rows, to a few rows beyond."""

READ_ATTEMPTS = 2
"""Attempts at a range before its file counts as damaged: the connection may have failed."""

READ_ERRORS = (OSError, pa.ArrowException)


Input = str | os.PathLike[str] | Sequence[str | os.PathLike[str]]
"""A file, a folder, a pattern (``*``, ``**``, ``?``), a URI, ``-`` for standard input, or several of them."""


@dataclass(frozen=True, slots=True)
class InputFile:
    """A file of rows; ``name`` is its path within the input, ``size`` in bytes.

    ``signature`` is that of the scores in it, None where it carries none.
    """

    version: FileVersion
    name: str
    size: int
    row_groups: tuple[RowGroup, ...]
    signature: str | None = None

    @property
    def rows(self) -> int:
        return sum(group.rows for group in self.row_groups)


@dataclass(frozen=True, slots=True)
class Source:
    """An input: its files in the order of the output, and the schema that all of them have.

    ``base`` is the folder that the files' names are relative to; ``walked`` are the folders in which every
    file, however deep, belongs to the input.
    """

    base: Location
    walked: tuple[Location, ...]
    files: tuple[InputFile, ...]
    schema: pa.Schema

    @property
    def rows(self) -> int:
        return sum(file.rows for file in self.files)


@dataclass(frozen=True, slots=True)
class Shard:
    """The rows ``start`` (included) to ``stop`` (excluded) of a file, counted from 0 over its row groups.

    Its partition is named by them, so that the partitions that are there say what is done. ``stem`` is that of the
    file's partitions. ``group`` is the first row of the row group in which it lies with other shards, so that reading
    one behind the other is quicker.
    """

    stem: str
    file: FileVersion
    start: int
    stop: int
    group: int | None = None

    @property
    def name(self) -> str:
        """What its partition is called."""
        return f"{self.stem}-{self.start:012d}-{self.stop:012d}.parquet"

    @property
    def rows(self) -> int:
        return self.stop - self.start

    def between(self, start: int, stop: int) -> Shard:
        """Other rows of its file; of its row group too where they lie between its own."""
        return replace(self, start=start, stop=stop)


def open_source(places: Input) -> Source:
    """Find the files of an input and read their footers, or the whole of files that have none.

    A folder ``key=value`` is a column of text, unless the files have a column of that name. JSON Lines and CSV declare
    no columns: an input has those of all its files. Raises ``DatasetError`` where there is nothing, where a file cannot
    be read, where files are of different forms and where declared schemas differ.
    """
    named = [places] if isinstance(places, (str, os.PathLike)) else places
    found = [_find(standard_input() if place == STANDARD_INPUT else locate(place)) for place in named]
    if not found:
        raise DatasetError("No input is named.")
    if len({replace(base, path="") for base, _, _ in found}) > 1:
        raise DatasetError("The inputs lie in different stores: score them in runs of their own.")
    base = replace(found[0][0], path=posixpath.commonpath([base.path for base, _, _ in found]))
    walked = tuple(folder for folder, _, is_walked in found if is_walked)
    paths = sorted({path for _, paths, _ in found for path in paths})
    stopped = threading.Event()
    described: list[tuple[InputFile, Any]] = []
    try:
        for file, schema in in_threads(lambda path: _describe(path, base, stopped), paths):
            known = described[-1][1] if described else None
            # Equal schemas are one object: there may be a hundred thousand files.
            described.append((file, known if schema == known else schema))
    except BaseException:  # Ctrl-C does not wait for the end of a large file.
        stopped.set()
        raise
    schema = _common_schema(described)
    folders = {file.name: dict(_folder_keys(file.name)) for file, _ in described}
    keys = [key for key in dict.fromkeys(chain.from_iterable(folders.values())) if key not in schema.names]
    for key in keys:
        schema = schema.append(pa.field(key, pa.string()))
    files = [
        replace(file, version=replace(file.version, keys=tuple((key, folders[file.name].get(key)) for key in keys)))
        for file, _ in described
    ]
    return Source(base, walked, tuple(sorted(files, key=lambda file: partition_stem(file.name))), schema)


def _folder_keys(name: str) -> Iterator[tuple[str, str | None]]:
    """The keys and values in the names of a file's folders, as Hive writes them.

    >>> list(_folder_keys("model=gpt%204/split=__HIVE_DEFAULT_PARTITION__/x.parquet"))
    [('model', 'gpt 4'), ('split', None)]
    """
    for folder in name.split("/")[:-1]:
        key, equals, value = folder.partition("=")
        if key and equals:
            yield unquote(key), None if value == HIVE_NULL else unquote(value)


def contents(source: Source) -> dict[str, str]:
    """What tells a file from any other version of it, by name: ``blake2b:`` and a digest of its content.

    Of an input larger than ``HASHED_BYTES`` or on an object store it is ``modified:`` and the time when it was written,
    in nanoseconds, or another mark that the store has for a content (``etag:``, ``generation:``, …). Raises
    ``DatasetError`` where a file cannot be read.
    """
    whole = source.base.is_local and sum(file.size for file in source.files) <= HASHED_BYTES

    def content(file: InputFile) -> str:
        place = file.version.location
        with dataset_errors(place, "read"):
            if not whole:
                if known := version_in_store(place.filesystem, place.path):
                    return known
                return f"modified:{place.filesystem.get_file_info(place.path).mtime_ns}"
            with Path(place.path).open("rb") as opened:
                return f"blake2b:{hashlib.file_digest(opened, _short_digest).hexdigest()}"

    return {file.name: each for file, each in zip(source.files, in_threads(content, source.files), strict=True)}


def in_threads(function: Callable[[Item], Result], items: Sequence[Item]) -> Iterator[Result]:
    """The function's result for each item, in order; a few at a time, because each that waits needs memory."""
    with ThreadPoolExecutor(max(1, min(FOOTER_READERS, len(items)))) as readers:
        for first in range(0, len(items), READ_AHEAD):
            yield from readers.map(function, items[first : first + READ_AHEAD])


def _short_digest() -> hashlib.blake2b:
    return hashlib.blake2b(digest_size=16)


Ranges = Sequence[tuple[int, int]]
"""Rows of a file: where each range starts and where it stops (excluded), in the order of the starts."""


def plan_shards(source: Source, shard_rows: int, done: Mapping[str, Ranges] | None = None) -> tuple[Shard, ...]:
    """The shards of an input, in its order: runs of whole row groups, or ranges of rows of a large row group.

    With ``done``, ranges of rows by the stem of their file, the shards of the other rows. An empty file is one empty
    shard, so that its partition keeps the schema; it is done if it has a range.
    """
    return tuple(_plan(source, shard_rows, done or {}))


def _plan(source: Source, shard_rows: int, done: Mapping[str, Ranges]) -> Iterator[Shard]:
    for file in source.files:
        stem = partition_stem(file.name)
        ranges = done.get(stem, ())
        bounds = list(accumulate((group.rows for group in file.row_groups), initial=0))
        if not file.rows and not ranges:
            yield Shard(stem, file.version, 0, 0)
        for low, high in left_over(ranges, 0, file.rows):
            for start, stop in _ranges(file, shard_rows, bounds, low, high):
                group = bisect_right(bounds, start)
                inside = bounds[group - 1] < start or stop < bounds[group]
                yield Shard(stem, file.version, start, stop, bounds[group - 1] if inside else None)


@dataclass(frozen=True, slots=True)
class Part:
    """The ``number``-th of ``of`` shares of an input's rows, from 1.

    Blocks of rows are dealt to the parts in turn, because neighbours are alike: a dataset sorted by domain or model
    would give one part all the hard rows if parts were consecutive. Which rows a part has depends on the input and on
    ``of`` alone.
    """

    number: int
    of: int

    @classmethod
    def parse(cls, text: str) -> Part:
        """The part written as ``I/N``; raises ``DatasetError``.

        >>> str(Part.parse("3/32"))
        '3/32'
        """
        found = re.fullmatch(r"([0-9]{1,6})/([0-9]{1,6})", text)
        part = cls(int(found[1]), int(found[2])) if found else cls(0, 0)
        if not 1 <= part.number <= part.of:
            raise DatasetError(f"A part is written I/N with I from 1 to N, such as 3/32, not {text}.")
        return part

    def __str__(self) -> str:
        return f"{self.number}/{self.of}"

    @property
    def suffix(self) -> str:
        """What tells its files from those of other parts."""
        return f"-{self.number}-of-{self.of}"

    @staticmethod
    def of_file(name: str) -> str | None:
        """The part that a file is of, by its suffix; None for one of a whole run.

        >>> Part.of_file("_running-3-of-32.json"), Part.of_file("_running.json")
        ('3/32', None)
        """
        found = re.search(r"-([0-9]+)-of-([0-9]+)\.json$", name)
        return f"{found[1]}/{found[2]}" if found else None

    def split(self, source: Source) -> tuple[list[Shard], list[Shard]]:
        """The blocks of an input that are its own, and those of all other parts."""
        blocks = plan_shards(source, max(1, min(SHARD_ROWS, source.rows // (BLOCKS_OF_PART * self.of))))
        own = blocks[self.number - 1 :: self.of]
        return list(own), [block for number, block in enumerate(blocks) if number % self.of != self.number - 1]


def left_over(ranges: Iterable[tuple[int, int]], start: int, stop: int) -> Iterator[tuple[int, int]]:
    """What the ranges, in order, leave of the rows from start to stop.

    >>> list(left_over([(0, 10), (20, 25)], 5, 30))
    [(10, 20), (25, 30)]
    """
    for low, high in ranges:
        if start < min(low, stop):
            yield start, min(low, stop)
        start = max(start, high)
    if start < stop:
        yield start, stop


def named_rows(partition: str) -> tuple[str, int, int] | None:
    """The stem and the rows (end excluded) that the name of a partition says; None for any other file.

    >>> named_rows("pairs-000000002048-000000004000.parquet"), named_rows("pairs.parquet")
    (('pairs', 2048, 4000), None)
    """
    found = re.fullmatch(r"(.+)-([0-9]{12,18})-([0-9]{12,18})\.parquet", partition)
    return (found[1], int(found[2]), int(found[3])) if found else None


def shards_named(source: Source, partitions: Iterable[str]) -> list[Shard]:
    """The shards of an input whose partitions have these names, in the order of the input; other names are left out."""
    files = {partition_stem(file.name): file for file in source.files}
    found = []
    for name in partitions:
        stem, start, stop = named_rows(name) or ("", 0, 0)
        file = files.get(stem)
        if file and (start < stop <= file.rows or start == stop == file.rows == 0):
            shard = Shard(stem, file.version, start, stop)
            if shard.name == name:
                found.append(shard)
    return in_order(source, found)


def in_order(source: Source, shards: Iterable[Shard]) -> list[Shard]:
    """The shards in the order of their rows in the input; of two that begin together, the longer one first."""
    order = {partition_stem(file.name): number for number, file in enumerate(source.files)}
    return sorted(shards, key=lambda shard: (order[shard.stem], shard.start, -shard.stop))


def ranges_of(shards: Iterable[Shard]) -> dict[str, list[tuple[int, int]]]:
    """The rows of shards by the stem of their file, as ``plan_shards`` takes them."""
    ranges: dict[str, list[tuple[int, int]]] = {}
    for shard in shards:
        ranges.setdefault(shard.stem, []).append((shard.start, shard.stop))
    return {stem: sorted(rows) for stem, rows in ranges.items()}


def disjoint(shards: Iterable[Shard]) -> list[Shard]:
    """Of shards in order, those that begin where an earlier one has ended; of two that overlap, the first.

    >>> file = FileVersion(Location("/pairs.parquet"), "")
    >>> [(each.start, each.stop) for each in disjoint(Shard("s", file, *rows) for rows in [(0, 9), (5, 7), (9, 10)])]
    [(0, 9), (9, 10)]
    """
    kept: list[Shard] = []
    for shard in shards:
        if not kept or kept[-1].stem != shard.stem or shard.start >= kept[-1].stop:
            kept.append(shard)
    return kept


def partition_stem(name: str) -> str:
    """The first part of the names of a file's partitions: readable, safe on every store, unique.

    >>> partition_stem("pairs.parquet")
    'pairs'
    >>> partition_stem("model a/pairs.parquet")
    'model_a__pairs-936d9f60'
    """
    stem = name.removesuffix(".parquet")
    safe = re.sub(r"[^A-Za-z0-9_.=+-]", "_", stem.replace("/", "__")).lstrip("._")
    if name == f"{safe}.parquet" and len(safe) <= 100:
        return safe
    digest = hashlib.blake2b(name.encode("utf-8", "surrogateescape"), digest_size=4).hexdigest()
    return f"{safe[:100]}-{digest}"


def require_columns(source: Source, names: Iterable[str]) -> None:
    """Raise ``DatasetError`` for the first name that is not one column; the message names the nearest one that is."""
    known = source.schema.names
    for name in names:
        if name not in known:
            raise DatasetError(
                f"There is no column {name} in {place_of(source)}: {did_you_mean(name, known, 'columns')}"
            )
        if known.count(name) > 1:
            raise DatasetError(f"{place_of(source)} has {known.count(name)} columns named {name}: keep one.")


def require_text(source: Source, name: str) -> None:
    """Raise ``DatasetError`` where that column is missing or holds no text."""
    require_columns(source, [name])
    if not holds_text(source, name):
        held = source.schema.field(name).type
        raise DatasetError(f"Column {name} of {place_of(source)} should hold text, but its type is {held}.")


def require_parquet(source: Source) -> None:
    """Raise ``DatasetError`` for an input of another form: what a run has scored is Parquet."""
    form = source.files[0].version.form
    if form is not Form.PARQUET:
        raise DatasetError(f"{place_of(source)} is {form}, and scored datasets are Parquet: score it first.")


def holds_text(source: Source, name: str) -> bool:
    """True for a column whose values are strings or null, however encoded; False where there is no such column."""
    return name in source.schema.names and is_text(source.schema.field(name).type)


def place_of(source: Source) -> Location:
    """What the input is called in a sentence: its only file, or the folder of its files."""
    return source.files[0].version.location if len(source.files) == 1 else source.base


def column_batches(source: Source, names: Sequence[str], batch_rows: int = BATCH_ROWS) -> Iterator[pa.RecordBatch]:
    """The columns of all rows, in the order of the files, in batches of at most that many rows and ``PIECE_BYTES``.

    Raises ``DatasetError`` where a file cannot be read.
    """
    schema = pa.schema([source.schema.field(name) for name in names])
    for file in source.files:
        with dataset_errors(file.version.location, "read"):
            own = _own(schema, file.version)
            batches: list[pa.RecordBatch] = []
            rows = size = 0
            for batch in _own_batches(file, own, min(batch_rows, STEP_ROWS)):
                if batches and (rows + batch.num_rows > batch_rows or size + batch.nbytes > PIECE_BYTES):
                    yield from _with_keys(batches, file.version, schema).combine_chunks().to_batches()
                    batches, rows, size = [], 0, 0
                batches.append(batch)
                rows, size = rows + batch.num_rows, size + batch.nbytes
            yield from _with_keys(batches, file.version, schema).combine_chunks().to_batches()


def _own_batches(file: InputFile, schema: pa.Schema, batch_rows: int) -> Iterator[pa.RecordBatch]:
    """Those columns of a file, from its first row to its last; nothing else of it is decoded."""
    if file.version.form is Form.PARQUET:
        yield from parquet.column_batches(file.version, schema.names, batch_rows)
    else:
        with closing(_open(file.version)) as reader:
            yield from reader.read(0, file.rows, batch_rows, schema, lost={})


@dataclass(frozen=True, slots=True)
class Rows:
    """Consecutive rows of a file: ``damage`` says why rows before them, or behind the last ones, are missing.

    ``lost`` says, by their numbers, why rows are nulls: they are there, and their text cannot be read.
    """

    table: pa.Table
    numbers: range
    damage: str | None = None
    lost: Mapping[int, str] = field(default_factory=dict)


def read_rows(file: FileVersion, start: int, stop: int, schema: pa.Schema) -> Iterator[Rows]:
    """The rows ``start`` to ``stop`` of a file in pieces of about ``PIECE_BYTES``; always at least one.

    Where the file is damaged, all rows before the damage in each row group; those behind it in the same row group
    cannot be decoded. A damaged line is a row of nulls. Raises ``DatasetError`` where the file cannot be opened or is
    no longer that version.
    """
    own = _own(schema, file)
    batches: list[pa.RecordBatch] = []
    lost: dict[int, str] = {}
    size, first, damage, failures, refusals = 0, start, None, 0, 0
    while start < stop:
        try:
            reader = _reader(file)
            low, high = reader.row_group(start)
            # The last attempt reads row by row, up to the damage in this row group.
            last = failures == READ_ATTEMPTS
            step, end = (max(1, (high - low) // SALVAGE_BATCHES), min(stop, high)) if last else (STEP_ROWS, stop)
            for batch in reader.read(start, end, step, own, lost, one_group=last):
                if batches and size + batch.nbytes > PIECE_BYTES:
                    yield _rows(_with_keys(batches, file, schema), range(first, start), damage, lost)
                    batches, size, first, damage = [], 0, start, None
                batches.append(batch)
                size, start = size + batch.nbytes, start + batch.num_rows
            failures = refusals = 0
            if last:
                close_file()
        except READ_ERRORS as error:
            close_file()
            if "AWS Error" in str(error):
                refusals = _refused(file, refusals + 1, error)
                continue
            failures += 1
            if failures > READ_ATTEMPTS:
                if batches:
                    yield _rows(_with_keys(batches, file, schema), range(first, start), damage, lost)
                start = min(stop, _reader(file).row_group(start)[1])
                batches, size, first, damage, failures = [], 0, start, one_line(error), 0
    if batches or first == start:
        yield _rows(_with_keys(batches, file, schema), range(first, start), damage, lost)


def _rows(table: pa.Table, numbers: range, damage: str | None, lost: Mapping[int, str]) -> Rows:
    return Rows(table, numbers, damage, {number: why for number, why in lost.items() if number in numbers})


def _own(schema: pa.Schema, file: FileVersion) -> pa.Schema:
    """The columns that are in the file itself and not in the names of its folders."""
    return pa.schema([field for field in schema if field.name not in dict(file.keys)])


def _refused(file: FileVersion, refusals: int, error: Exception) -> int:
    """Wait before a store is asked again; raises ``DatasetError`` where it has refused too often."""
    if refusals == STORE_ATTEMPTS:
        raise DatasetError(f"Cannot read {file}: {one_line(error)}.") from None
    pause_before(refusals + 1)
    return refusals


def _with_keys(batches: Sequence[pa.RecordBatch], file: FileVersion, schema: pa.Schema) -> pa.Table:
    """The rows as a table of that schema, with the columns that the names of the file's folders give."""
    table = pa.Table.from_batches(batches, _own(schema, file))
    rows, columns = sum(batch.num_rows for batch in batches), iter(table.columns)
    of_file = {key: pa.repeat(pa.scalar(value, pa.string()), rows) for key, value in file.keys}
    return pa.table([of_file[name] if name in of_file else next(columns) for name in schema.names], schema=schema)


def read_row(source: Source, number: int, names: Sequence[str]) -> dict[str, Any]:
    """The values of one row, counted from 0 over the files in their order; only the rows around it are read.

    Raises ``DatasetError`` where there is no such row or it cannot be read.
    """
    place, rows = place_of(source), source.rows
    if not 0 <= number < rows:
        raise DatasetError(f"There is no row {number:,}: {place} has {rows:,}, counted from 0.")
    for file in source.files:
        if number < file.rows:
            break
        number -= file.rows
    damage = None
    try:
        for piece in read_rows(file.version, number, number + 1, source.schema):
            damage = damage or piece.damage or piece.lost.get(number)
            if piece.table.num_rows and not piece.lost:
                return {name: values_of(piece.table[name])[0] for name in names}
    finally:
        close_file()
    raise DatasetError(f"The row cannot be read: {file.version} is damaged ({damage}).")


def close_file() -> None:
    """Close the file that this thread keeps open."""
    if _kept.reader is not None:
        _kept.reader.close()
        _kept.reader = None


class _Kept(threading.local):
    """What a thread keeps from one shard to the next."""

    reader: Reader | None = None


_kept = _Kept()


def _reader(file: FileVersion) -> Reader:
    """The file as this thread keeps it open."""
    if _kept.reader is None or _kept.reader.file != file:
        close_file()
        with dataset_errors(file.location, "read"):
            _kept.reader = persistently(file.location, lambda: _open(file))
    return _kept.reader


def _open(file: FileVersion) -> Reader:
    """The file, if it is still that version; raises ``DatasetError`` otherwise."""
    if file.form is Form.PARQUET:
        return ParquetReader(file)
    return ArrowReader(file) if file.form is Form.ARROW else LinesReader(file)


def _find(place: Location) -> tuple[Location, list[str], bool]:
    """The folder of a place, the paths of its files, and whether it means all files of that folder."""
    with dataset_errors(place, "read"):
        kind = place.filesystem.get_file_info(place.path).type
        if kind == fs.FileType.File:
            return replace(place, path=posixpath.dirname(place.path)), [place.path], False
        if kind == fs.FileType.Directory:
            return place, _of_one_form(place, files_below(place)), True
        if re.search(r"[*?\[]", place.path):
            return files_matching(place)
        bucket = replace(place, path=place.path.partition("/")[0])
        if place.has_buckets and bucket.filesystem.get_file_info(bucket.path).type == fs.FileType.NotFound:
            raise DatasetError(f"There is no bucket {bucket}, or these credentials may not see it.")
    raise DatasetError(f"There is no file or folder {place}.")


def _of_one_form(folder: Location, paths: Iterable[str]) -> list[str]:
    """Those of a folder's files that are its rows: the Parquet files, or those of the only other form there is."""
    by_form: dict[Form, list[str]] = {}
    for path in paths:
        if (form := form_of_name(path)) is not None:
            by_form.setdefault(form, []).append(path)
    # Compressed Parquet is none: it would have to be unpacked to be read.
    by_form[Form.PARQUET] = [path for path in by_form.get(Form.PARQUET, []) if path.endswith(SUFFIXES[Form.PARQUET])]
    forms = [form for form in Form if by_form.get(form)]
    if not forms:
        suffixes = ", ".join(chain.from_iterable(SUFFIXES.values()))
        if list_files(folder / PARTITIONS):
            raise DatasetError(
                f"{folder} is the output of a run that is not finished: until it is, its rows are in "
                f"{folder / PARTITIONS}. `pddl-eval status` says what is missing."
            )
        raise DatasetError(f"{folder} holds no files of rows (names ending in {suffixes}).")
    if forms[0] is not Form.PARQUET and len(forms) > 1:
        raise DatasetError(
            f"{folder} holds {' and '.join(forms)} files: name those of one form, such as "
            f"{folder / f'*{SUFFIXES[forms[0]][0]}'}."
        )
    return by_form[forms[0]]


def files_matching(pattern: Location) -> tuple[Location, list[str], bool]:
    base = replace(pattern, path=posixpath.dirname(re.split(r"[*?\[]", pattern.path, maxsplit=1)[0]) or "/")
    if base.filesystem.get_file_info(base.path).type != fs.FileType.Directory:
        raise DatasetError(f"There is no folder {base}, so nothing matches {pattern}.")
    parts = _relative(pattern.path, base).split("/")
    walked = files_below(base, recursive=len(parts) > 1)
    paths = [path for path in walked if _matches(_relative(path, base).split("/"), parts)]
    if not paths:
        raise DatasetError(f"No file matches {pattern}.")
    return base, paths, any("**" in part for part in parts)


def _matches(parts: Sequence[str], pattern: Sequence[str]) -> bool:
    """``**`` is any number of folders; everything else stays within one name."""
    if not parts or not pattern:
        return not parts and not pattern
    if pattern[0] == "**" and len(pattern) > 1:
        return any(_matches(parts[skipped:], pattern[1:]) for skipped in range(len(parts)))
    return fnmatchcase(parts[0], pattern[0]) and _matches(parts[1:], pattern[1:])


def files_below(folder: Location, *, recursive: bool = True) -> list[str]:
    if folder.is_local:
        files = _walk_local(folder.path, recursive)
    else:
        infos = folder.filesystem.get_file_info(fs.FileSelector(folder.path, recursive=recursive))
        files = (info.path for info in infos if info.type == fs.FileType.File)
    return [path for path in files if not re.search(r"(?:^|/)[._]", _relative(path, folder))]


def _walk_local(folder: str, recursive: bool) -> Iterator[str]:
    """The files of a folder; each folder once, whatever links lead to it, real folders before links."""
    walked = set()
    for place, folders, files in os.walk(folder, followlinks=True):
        here = Path(place)
        new = here.resolve() not in walked
        walked.add(here.resolve())
        links = [name for name in folders if (here / name).is_symlink()]
        folders[:] = [*sorted({*folders} - {*links}), *sorted(links)] if new and recursive else []
        if new:
            yield from (f"{place.rstrip('/')}/{name}" for name in files if (here / name).is_file())


def _relative(path: str, folder: Location) -> str:
    return path[len(folder.path) :].lstrip("/")


def _describe(path: str, base: Location, stopped: threading.Event) -> tuple[InputFile, pa.Schema | Columns]:
    """A file, and its schema or, of a form that declares none, its columns."""
    location = replace(base, path=path)
    name, signature = posixpath.relpath(path, base.path), None
    schema: pa.Schema | Columns
    with dataset_errors(location, "read"), location.filesystem.open_input_file(path) as file:
        form, compression = look_at(file, location)
        if form is Form.PARQUET:
            version, groups, schema, metadata = parquet.describe(file, location)
            if signed := metadata.get(SIGNATURE_KEY.encode()):
                signature = signed.decode("utf-8", "replace")
        elif form is Form.ARROW:
            version, groups, schema = arrow_ipc.describe(file, location, compression, stopped)
        else:
            version, groups, schema = lines.describe(file, location, form, compression, stopped)
        return InputFile(version, name, file.size(), groups, signature), schema


def _common_schema(described: Sequence[tuple[InputFile, pa.Schema | Columns]]) -> pa.Schema:
    """The schema of all files: the one that they declare, or their columns together. Raises ``DatasetError``."""
    first, schema = described[0]
    for file, other in described[1:]:
        if file.version.form is not first.version.form:
            raise DatasetError(
                f"The files of one input must have one form: {first.name} is {first.version.form}, {file.name} is "
                f"{file.version.form}."
            )
        if isinstance(schema, pa.Schema):
            _require_equal(first, schema, file, other)
    if not isinstance(schema, pa.Schema):
        together = lines.schema_of(columns for _, columns in described)
        if not together.names and any(file.rows for file, _ in described):
            raise json_and_not_lines(first.version.location)
        return together
    prefix = METADATA_PREFIX.encode()
    kept = {key: value for key, value in (schema.metadata or {}).items() if not key.startswith(prefix)}
    return schema.with_metadata(kept or None)


def _require_equal(first: InputFile, schema: pa.Schema, file: InputFile, other: pa.Schema) -> None:
    for mine, theirs in zip_longest(schema, other):
        if mine is None or theirs is None or not mine.equals(theirs):
            raise DatasetError(
                f"The files of one input must have the same columns: {first.name} has {_declared(mine)} where "
                f"{file.name} has {_declared(theirs)}."
            )


def _declared(field: pa.Field | None) -> str:
    return "no column" if field is None else f"{field.name}: {field.type}{'' if field.nullable else ' not null'}"


def _ranges(file: InputFile, shard_rows: int, bounds: Sequence[int], low: int, high: int) -> Iterator[tuple[int, int]]:
    """Ranges of the rows from low to high: of whole row groups, or of parts of one that is large or cut there."""
    start = stop = low
    size = 0
    for number in range(bisect_right(bounds, low) - 1, bisect_left(bounds, high)):
        whole = file.row_groups[number]
        rows = min(bounds[number + 1], high) - max(bounds[number], low)
        if not rows:
            continue
        group = RowGroup(rows, whole.size * rows // whole.rows)
        if stop > start and (stop - start + group.rows > shard_rows or size + group.size > SHARD_BYTES):
            yield start, stop
            start, size = stop, 0
        stop += group.rows
        size += group.size
        step = min(shard_rows, max(1, SHARD_BYTES * group.rows // max(1, group.size)))
        if group.rows > step:
            # No earlier row group is left over here: the first condition is true for one this large, too.
            yield from ((each, min(each + step, stop)) for each in range(start, stop, step))
            start, size = stop, 0
    if stop > start:
        yield start, stop
