"""What an input consists of: its Parquet files, found and described by their footers, its shards, and their rows.

The order of the files, and with it of the output, is that of their partitions' names and does not depend on the order
of a listing. A shard is named by what it covers, so the same input has the same shards wherever and whenever it is
scored.

Rows are read in memory that follows the shard and not the row group that it is cut from. A Parquet reader reaches the
middle of a row group only by decoding what comes before. So each thread keeps the file that it read last open at the
row where it stopped: consecutive shards of one row group cost one pass over it, and a worker that is given every second
shard skips the others at decoding speed (some million rows a second).
"""

from __future__ import annotations

import hashlib
import os
import posixpath
import re
import struct
import threading
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from itertools import accumulate, pairwise, zip_longest
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow import fs

from pddl_eval.errors import did_you_mean
from pddl_eval.run.places import DatasetError, Location, dataset_errors, locate, one_line
from pddl_eval.table import is_text

SUFFIXES = (".parquet", ".parq", ".pq")
"""What a folder's Parquet files are called; a file named by itself or by a pattern may be called anything."""

METADATA_PREFIX = "pddl_eval."
"""Prefix of the keys that this program writes into a file's metadata; they describe that file alone."""

SIGNATURE_KEY = f"{METADATA_PREFIX}signature"
"""The key of the signature of a file's scores."""

SHARD_BYTES = 128 * 2**20
"""Encoded bytes of a shard, at most (about), so that workers need no more memory for long answers."""

FOOTER_READERS = 16
BATCH_ROWS = 1024
LOCAL_BUFFER_BYTES = 128 * 1024
REMOTE_BUFFER_BYTES = 2 * 2**20
"""Read from each column chunk at a time: what a worker holds of a file is this times the number of columns."""

SALVAGE_BATCHES = 16_384
"""Steps in which a damaged row group is read: exact to the row up to that many rows, to a few rows beyond."""

READ_ATTEMPTS = 2
"""Attempts at a range before its file counts as damaged: the connection may have failed."""

READ_ERRORS = (OSError, pa.ArrowException)

_FOOTER_BYTES = 64 * 1024
_MAGIC = b"PAR1"

Input = str | os.PathLike[str] | Sequence[str | os.PathLike[str]]
"""A file, a folder, a pattern (``*``, ``**``, ``?``), a URI, or several of them."""


@dataclass(frozen=True, slots=True)
class FileVersion:
    """A file as it was when the run was prepared: ``footer`` is a digest of its footer.

    The footer holds the size, place and bounds of every column chunk, so that a file whose rows changed has another
    one, while copying or touching the file changes nothing.
    """

    location: Location
    footer: str

    def __str__(self) -> str:
        return str(self.location)


class RowGroup(NamedTuple):
    """``size`` is that of its values as encoded, uncompressed, in bytes."""

    rows: int
    size: int


@dataclass(frozen=True, slots=True)
class InputFile:
    """A Parquet file; ``name`` is its path within the input, ``size`` in bytes.

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

    ``base`` is the folder that the files' names are relative to; ``walked`` are the folders in which every Parquet
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
    """The rows ``start`` (included) to ``stop`` (excluded) of a file, counted from 0 over its row groups."""

    name: str
    file: FileVersion
    start: int
    stop: int

    @property
    def rows(self) -> int:
        return self.stop - self.start


def open_source(places: Input) -> Source:
    """Find the files of an input and read their footers.

    Raises ``DatasetError`` where there is nothing, where a file is not Parquet and where schemas differ.
    """
    found = [_find(locate(place)) for place in ([places] if isinstance(places, (str, os.PathLike)) else places)]
    if not found:
        raise DatasetError("No input is named.")
    if len({replace(base, path="") for base, _, _ in found}) > 1:
        raise DatasetError("The inputs lie in different stores: score them in runs of their own.")
    base = replace(found[0][0], path=posixpath.commonpath([base.path for base, _, _ in found]))
    walked = tuple(folder for folder, _, is_walked in found if is_walked)
    paths = sorted({path for _, paths, _ in found for path in paths})
    with ThreadPoolExecutor(min(FOOTER_READERS, len(paths))) as readers:
        described = list(readers.map(lambda path: _describe(path, base), paths))
    schema = _common_schema(described)
    files = sorted((file for file, _ in described), key=lambda file: partition_stem(file.name))
    return Source(base, walked, tuple(files), schema)


def read_footer(file: pa.NativeFile, location: Location) -> tuple[FileVersion, pq.FileMetaData]:
    """The version of an open file and what its footer says; raises ``DatasetError`` for a file that is not Parquet."""
    size = file.size()
    tail = file.read_at(min(size, _FOOTER_BYTES), max(0, size - _FOOTER_BYTES))
    # Thrift metadata, its length and the magic number end the file, which begins with the magic number too.
    length = struct.unpack("<I", tail[-8:-4])[0] + 8 if len(tail) >= 12 and tail.endswith(_MAGIC) else size
    if length + len(_MAGIC) > size:
        raise DatasetError(f"{location} is not a Parquet file.")
    footer = tail[-length:] if length <= len(tail) else file.read_at(length, size - length)
    try:
        metadata = pq.read_metadata(pa.BufferReader(_MAGIC + footer))
    except (OSError, pa.ArrowException) as error:
        raise DatasetError(f"{location} is not a Parquet file that can be read: {one_line(error)}.") from None
    return FileVersion(location, hashlib.blake2b(footer, digest_size=16).hexdigest()), metadata


def plan_shards(source: Source, shard_rows: int) -> tuple[Shard, ...]:
    """The shards of an input, in its order: runs of whole row groups, or ranges of rows of a large row group.

    An empty file is one empty shard, so that its partition keeps the schema.
    """
    return tuple(
        Shard(f"{partition_stem(file.name)}-{start:012d}-{stop:012d}.parquet", file.version, start, stop)
        for file in source.files
        for start, stop in _ranges(file, shard_rows)
    )


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
    """Raise ``DatasetError`` for the first name that is not a column; the message names the nearest one that is."""
    known = source.schema.names
    for name in names:
        if name not in known:
            raise DatasetError(
                f"There is no column {name} in {place_of(source)}: {did_you_mean(name, known, 'columns')}"
            )


def require_text(source: Source, name: str) -> None:
    """Raise ``DatasetError`` where that column is missing or holds no text."""
    require_columns(source, [name])
    if not holds_text(source, name):
        held = source.schema.field(name).type
        raise DatasetError(f"Column {name} of {place_of(source)} should hold text, but its type is {held}.")


def holds_text(source: Source, name: str) -> bool:
    """True for a column whose values are strings or null, however encoded; False where there is no such column."""
    return name in source.schema.names and is_text(source.schema.field(name).type)


def place_of(source: Source) -> Location:
    """What the input is called in a sentence: its only file, or the folder of its files."""
    return source.files[0].version.location if len(source.files) == 1 else source.base


def column_batches(source: Source, names: Sequence[str], batch_rows: int = BATCH_ROWS) -> Iterator[pa.RecordBatch]:
    """The columns of all rows, in the order of the files; raises ``DatasetError`` where a file cannot be read."""
    for file in source.files:
        place = file.version.location
        with (
            dataset_errors(place, "read"),
            place.filesystem.open_input_file(place.path) as stream,
            pq.ParquetFile(stream, buffer_size=REMOTE_BUFFER_BYTES, pre_buffer=False) as parquet,
        ):
            yield from parquet.iter_batches(batch_rows, columns=list(names), use_threads=False)


@dataclass(frozen=True, slots=True)
class Rows:
    """What could be read of a range: the rows, their numbers in the file, and why the others are missing (or None)."""

    table: pa.Table
    numbers: tuple[range, ...]
    damage: str | None = None


def read_rows(file: FileVersion, start: int, stop: int, schema: pa.Schema) -> Rows:
    """The rows ``start`` to ``stop`` of a file.

    Where the file is damaged, all rows before the damage in each row group; those behind it in the same row group
    cannot be decoded. Raises ``DatasetError`` where the file cannot be opened or is no longer that version.
    """
    for _ in range(READ_ATTEMPTS):
        try:
            reader = _reader(file)
            batches = list(reader.read(start, stop, max(1, stop - start), reader.parquet.num_row_groups))
            return Rows(pa.Table.from_batches(batches, schema), (range(start, stop),))
        except READ_ERRORS:
            close_file()
    return _salvage(file, start, stop, schema)


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
    start = number - number % BATCH_ROWS
    window = read_rows(file.version, start, min(start + BATCH_ROWS, file.rows), source.schema)
    close_file()
    present = [each for numbers in window.numbers for each in numbers]
    if number not in present:
        raise DatasetError(f"The row cannot be read: {file.version} is damaged ({window.damage}).")
    return dict(window.table.select(list(names)).slice(present.index(number), 1).to_pylist()[0])


def close_file() -> None:
    """Close the file that this thread keeps open."""
    if _kept.reader is not None:
        _kept.reader.parquet.close(force=True)
        _kept.reader = None


@dataclass(slots=True)
class _Reader:
    """A file open at the row ``position``: ``rest`` is what was decoded and not yet asked for."""

    file: FileVersion
    parquet: pq.ParquetFile
    bounds: list[int]  # Of the row groups: the first row of each, and the number of rows.
    batches: Iterator[pa.RecordBatch] = field(default_factory=lambda: iter(()))
    position: int = -1
    rest: pa.RecordBatch | None = None

    def read(self, start: int, stop: int, batch_rows: int, stop_group: int) -> Iterator[pa.RecordBatch]:
        """Continue decoding where ``start`` is ahead in the same row group, otherwise begin at its row group."""
        group = bisect_right(self.bounds, start) - 1
        if not self.bounds[group] <= self.position <= start:
            self.rest = None
            self.position = self.bounds[group]
            groups = range(group, stop_group)
            self.batches = self.parquet.iter_batches(batch_rows, row_groups=groups, use_threads=False)
        while self.position < stop:
            batch = self.rest if self.rest is not None else next(self.batches, None)
            if batch is None:
                raise OSError("the file holds fewer rows than its footer says")
            first = min(batch.num_rows, max(0, start - self.position))
            last = min(batch.num_rows, stop - self.position)
            self.rest = batch.slice(last) if last < batch.num_rows else None
            self.position += last
            if last > first:
                yield batch.slice(first, last - first)


class _Kept(threading.local):
    """What a thread keeps from one shard to the next."""

    reader: _Reader | None = None


_kept = _Kept()


def _reader(file: FileVersion) -> _Reader:
    """The file as this thread keeps it open."""
    if _kept.reader is None or _kept.reader.file != file:
        close_file()
        place = file.location
        with dataset_errors(place, "read"):
            handle = place.filesystem.open_input_file(place.path)
            version, metadata = read_footer(handle, place)
            if version != file:
                raise DatasetError(f"{place} has changed since the run was prepared.")
            buffer = LOCAL_BUFFER_BYTES if place.is_local else REMOTE_BUFFER_BYTES
            parquet = pq.ParquetFile(
                handle, metadata=metadata, buffer_size=buffer, pre_buffer=False, page_checksum_verification=True
            )
        rows = [metadata.row_group(i).num_rows for i in range(metadata.num_row_groups)]
        _kept.reader = _Reader(file, parquet, list(accumulate(rows, initial=0)))
    return _kept.reader


def _salvage(file: FileVersion, start: int, stop: int, schema: pa.Schema) -> Rows:
    """The rows of a damaged range: each row group is read in small steps up to its damage."""
    batches: list[pa.RecordBatch] = []
    numbers: list[range] = []
    damage = None
    for group, (low, high) in enumerate(pairwise(_reader(file).bounds)):
        first, last = max(start, low), min(stop, high)
        if first >= last:
            continue
        read = first
        try:
            for batch in _reader(file).read(first, last, max(1, (high - low) // SALVAGE_BATCHES), group + 1):
                batches.append(batch)
                read += batch.num_rows
        except READ_ERRORS as error:
            if "AWS Error" in str(error):
                raise DatasetError(f"Cannot read {file}: {one_line(error)}.") from None
            damage = damage or one_line(error)
        finally:
            close_file()
        if first < read:
            numbers.append(range(first, read))
    return Rows(pa.Table.from_batches(batches, schema), tuple(numbers), damage)


def _find(place: Location) -> tuple[Location, list[str], bool]:
    """The folder of a place, the paths of its files, and whether it means all Parquet files of that folder."""
    with dataset_errors(place, "read"):
        kind = place.filesystem.get_file_info(place.path).type
        if kind == fs.FileType.File:
            return replace(place, path=posixpath.dirname(place.path)), [place.path], False
        if kind == fs.FileType.Directory:
            paths = [path for path in _walk(place) if path.endswith(SUFFIXES)]
            if not paths:
                raise DatasetError(f"{place} holds no Parquet files (names ending in {', '.join(SUFFIXES)}).")
            return place, paths, True
        if re.search(r"[*?\[]", place.path):
            return _match(place)
        bucket = replace(place, path=place.path.partition("/")[0])
        if not place.is_local and bucket.filesystem.get_file_info(bucket.path).type == fs.FileType.NotFound:
            raise DatasetError(f"There is no bucket {bucket}, or these credentials may not see it.")
    raise DatasetError(f"There is no file or folder {place}.")


def _match(pattern: Location) -> tuple[Location, list[str], bool]:
    base = replace(pattern, path=posixpath.dirname(re.split(r"[*?\[]", pattern.path, maxsplit=1)[0]) or "/")
    if base.filesystem.get_file_info(base.path).type != fs.FileType.Directory:
        raise DatasetError(f"There is no folder {base}, so nothing matches {pattern}.")
    parts = _relative(pattern.path, base).split("/")
    walked = _walk(base, recursive=len(parts) > 1)
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


def _walk(folder: Location, *, recursive: bool = True) -> list[str]:
    infos = folder.filesystem.get_file_info(fs.FileSelector(folder.path, recursive=recursive))
    files = (info.path for info in infos if info.type == fs.FileType.File)
    return [path for path in files if not re.search(r"(?:^|/)[._]", _relative(path, folder))]


def _relative(path: str, folder: Location) -> str:
    return path[len(folder.path) :].lstrip("/")


def _describe(path: str, base: Location) -> tuple[InputFile, pa.Schema]:
    location = replace(base, path=path)
    with dataset_errors(location, "read"), location.filesystem.open_input_file(path) as file:
        version, metadata = read_footer(file, location)
        groups = (metadata.row_group(i) for i in range(metadata.num_row_groups))
        signature = (metadata.metadata or {}).get(SIGNATURE_KEY.encode())
        described = InputFile(
            version,
            posixpath.relpath(path, base.path),
            file.size(),
            tuple(RowGroup(group.num_rows, group.total_byte_size) for group in groups),
            None if signature is None else signature.decode("utf-8", "replace"),
        )
        return described, metadata.schema.to_arrow_schema()


def _common_schema(described: Sequence[tuple[InputFile, pa.Schema]]) -> pa.Schema:
    first, schema = described[0]
    for file, other in described[1:]:
        for mine, theirs in zip_longest(schema, other):
            if mine is None or theirs is None or not mine.equals(theirs):
                raise DatasetError(
                    f"The files of one input must have the same columns: {first.name} has {_declared(mine)} where "
                    f"{file.name} has {_declared(theirs)}."
                )
    prefix = METADATA_PREFIX.encode()
    kept = {key: value for key, value in (schema.metadata or {}).items() if not key.startswith(prefix)}
    return schema.with_metadata(kept or None)


def _declared(field: pa.Field | None) -> str:
    return "no column" if field is None else f"{field.name}: {field.type}{'' if field.nullable else ' not null'}"


def _ranges(file: InputFile, shard_rows: int) -> Iterator[tuple[int, int]]:
    start = stop = size = 0
    for group in file.row_groups:
        if stop > start and (stop - start + group.rows > shard_rows or size + group.size > SHARD_BYTES):
            yield start, stop
            start, size = stop, 0
        stop += group.rows
        size += group.size
        step = min(shard_rows, max(1, SHARD_BYTES * group.rows // max(1, group.size)))
        if group.rows > step:
            # No earlier row group is left over here: the first condition is true for one this large, too.
            yield from ((first, min(first + step, stop)) for first in range(start, stop, step))
            start, size = stop, 0
    if stop > start or stop == 0:
        yield start, stop
