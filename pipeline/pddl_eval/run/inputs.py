"""What an input consists of: its Parquet files, found and described by their footers alone, and its shards.

The order of the files, and with it of the output, is that of their partitions' names and does not depend on the order
of a listing. A shard is named by what it covers, so the same input has the same shards wherever and whenever it is
scored. Also here: some columns batch by batch, for programs that read and do not score. What a worker reads of a shard,
and what it does about a damaged file, is in ``rows``.
"""

from __future__ import annotations

import hashlib
import os
import posixpath
import re
import struct
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow import fs

from pddl_eval.errors import did_you_mean
from pddl_eval.options import SHARD_ROWS
from pddl_eval.run.places import DatasetError, Location, dataset_errors, locate

SUFFIXES = (".parquet", ".parq", ".pq")
"""What a folder's Parquet files are called; a file named by itself or by a pattern may be called anything."""

METADATA_PREFIX = "pddl_eval."
"""Opens the keys that this program writes into a file's metadata; they describe that file alone."""

SIGNATURE_KEY = f"{METADATA_PREFIX}signature"
"""The key of the signature of a file's scores."""

SHARD_BYTES = 128 * 2**20
"""Encoded bytes of a shard, about and at most, so that long answers make shorter shards and not larger workers."""

FOOTER_READERS = 16
BATCH_ROWS = 1024
BUFFER_BYTES = 2**20
"""Read from each column chunk at a time."""

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
    def location(self) -> Location:
        return self.version.location

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
    if len({base.store for base, _, _ in found}) > 1:
        raise DatasetError("The inputs lie in different stores: score them in runs of their own.")
    base = Location(found[0][0].store, posixpath.commonpath([base.path for base, _, _ in found]))
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
        raise DatasetError(f"{location} is not a Parquet file that can be read: {error}") from None
    return FileVersion(location, hashlib.blake2b(footer, digest_size=16).hexdigest()), metadata


def plan_shards(source: Source, shard_rows: int = SHARD_ROWS) -> tuple[Shard, ...]:
    """The shards of an input, in its order: runs of whole row groups, or ranges of rows of a large row group.

    An empty file is one empty shard, so that its partition keeps the schema.
    """
    return tuple(
        Shard(f"{partition_stem(file.name)}-{start:012d}-{stop:012d}.parquet", file.version, start, stop)
        for file in source.files
        for start, stop in _ranges(file, shard_rows)
    )


def partition_stem(name: str) -> str:
    """How the partitions of a file are called before their row numbers: readable, safe on every store, unique.

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
    """Raise ``DatasetError`` for the first name that is no column, with the nearest one that is."""
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
    if name not in source.schema.names:
        return False
    held = source.schema.field(name).type
    return (held.value_type if pa.types.is_dictionary(held) else held) in (
        pa.string(),
        pa.large_string(),
        pa.string_view(),
        pa.null(),
    )


def column_batches(source: Source, names: Sequence[str], batch_rows: int = BATCH_ROWS) -> Iterator[pa.RecordBatch]:
    """The columns of all rows, in the order of the files; raises ``DatasetError`` where a file cannot be read."""
    for file in source.files:
        place = file.location
        with (
            dataset_errors(place, "read"),
            place.filesystem.open_input_file(place.path) as stream,
            pq.ParquetFile(stream, buffer_size=BUFFER_BYTES, pre_buffer=False) as parquet,
        ):
            yield from parquet.iter_batches(batch_rows, columns=list(names), use_threads=False)


def place_of(source: Source) -> Location:
    """What the input is called in a sentence: its only file, or the folder of its files."""
    return source.files[0].location if len(source.files) == 1 else source.base


def _find(place: Location) -> tuple[Location, list[str], bool]:
    """The folder and the paths of the files that a place names; are all Parquet files of that folder meant?"""
    with dataset_errors(place, "read"):
        kind = place.filesystem.get_file_info(place.path).type
        if kind == fs.FileType.File:
            return Location(place.store, posixpath.dirname(place.path)), [place.path], False
        if kind == fs.FileType.Directory:
            paths = [path for path in _walk(place) if path.endswith(SUFFIXES)]
            if not paths:
                raise DatasetError(f"{place} holds no Parquet files (names ending in {', '.join(SUFFIXES)}).")
            return place, paths, True
        if re.search(r"[*?\[]", place.path):
            return _match(place)
        bucket = Location(place.store, place.path.partition("/")[0])
        if not place.is_local and bucket.filesystem.get_file_info(bucket.path).type == fs.FileType.NotFound:
            raise DatasetError(f"There is no bucket {bucket}, or these credentials may not see it.")
    raise DatasetError(f"There is no file or folder {place}.")


def _match(pattern: Location) -> tuple[Location, list[str], bool]:
    base = Location(pattern.store, posixpath.dirname(re.split(r"[*?\[]", pattern.path, maxsplit=1)[0]) or "/")
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
    location = Location(base.store, path)
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
        if not schema.equals(other):
            difference = _difference(schema, first.name, other, file.name)
            raise DatasetError(f"The files of one input must have the same columns, but {difference}.")
    prefix = METADATA_PREFIX.encode()
    kept = {key: value for key, value in (schema.metadata or {}).items() if not key.startswith(prefix)}
    return schema.with_metadata(kept or None)


def _difference(mine: pa.Schema, my_name: str, theirs: pa.Schema, their_name: str) -> str:
    for there, here, name in ((mine, theirs, their_name), (theirs, mine, my_name)):
        absent = [column for column in there.names if column not in here.names]
        if absent:
            return f"{name} lacks {', '.join(absent)}"
    for field in mine:
        other = theirs.field(field.name)
        if not field.equals(other):
            return f"{field.name} is {_type_of(other)} in {their_name} and {_type_of(field)} in {my_name}"
    return f"they come in another order in {their_name} than in {my_name}"


def _type_of(field: pa.Field) -> str:
    return f"{field.type}" if field.nullable else f"{field.type} not null"


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
            # Nothing came before it in this run: what makes a row group too large has ended the run above.
            yield from ((first, min(first + step, stop)) for first in range(start, stop, step))
            start, size = stop, 0
    if stop > start or stop == 0:
        yield start, stop
