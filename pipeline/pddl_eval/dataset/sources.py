"""What an input consists of: its Parquet files, found and described by reading nothing but their footers.

Folders are walked, patterns matched and schemas compared here; rows are read in ``rows``. The order of the files, and
with it of the output, is that of their partitions' names and does not depend on the order of a listing.
"""

from __future__ import annotations

import hashlib
import os
import posixpath
import re
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import pyarrow as pa
from pyarrow import fs

from pddl_eval.dataset.footers import FileVersion, read_footer
from pddl_eval.dataset.locations import DatasetError, Location, dataset_errors, locate

SUFFIXES = (".parquet", ".parq", ".pq")
"""What a folder's Parquet files are called; a file named by itself or by a pattern may be called anything."""

METADATA_PREFIX = b"pddl_eval."
"""Opens the keys that this program writes into a partition's metadata; they speak of that partition alone."""

FOOTER_READERS = 16

Input = str | os.PathLike[str] | Sequence[str | os.PathLike[str]]
"""A file, a folder, a pattern (``*``, ``**``, ``?``), a URI, or several of them."""


@dataclass(frozen=True, slots=True)
class RowGroup:
    """``size`` is that of its values as encoded, uncompressed, in bytes."""

    rows: int
    size: int


@dataclass(frozen=True, slots=True)
class InputFile:
    """A Parquet file; ``name`` is its path within the input, ``size`` in bytes."""

    version: FileVersion
    name: str
    size: int
    row_groups: tuple[RowGroup, ...]

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


def open_source(places: Input) -> Source:
    """Find the files of an input and read their footers.

    Raises ``DatasetError`` where there is nothing, where a file is not Parquet and where schemas differ.
    """
    texts = [os.fspath(places)] if isinstance(places, (str, os.PathLike)) else [os.fspath(place) for place in places]
    if not texts:
        raise DatasetError("No input is named.")
    found = [_find(text) for text in texts]
    if len({each.base.store for each in found}) > 1:
        raise DatasetError("The inputs lie in different stores: score them in runs of their own.")
    store = found[0].base.store
    base = Location(store, posixpath.commonpath([each.base.path for each in found]))
    walked = tuple(each.base for each in found if each.walked)
    paths = sorted({path for each in found for path in each.paths})
    locations = [Location(store, path) for path in paths]
    names = [posixpath.relpath(path, base.path) for path in paths]
    with ThreadPoolExecutor(min(FOOTER_READERS, len(paths))) as readers:
        described = list(readers.map(_describe, locations, names))
    files = [file for file, _ in described]
    schema = _common_schema(described)
    return Source(base, walked, tuple(sorted(files, key=lambda file: partition_stem(file.name))), schema)


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


@dataclass(frozen=True, slots=True)
class _Found:
    base: Location
    paths: list[str]
    walked: bool = False


def _find(text: str) -> _Found:
    location = locate(text)
    with dataset_errors(location, "read"):
        info = location.filesystem.get_file_info(location.path)
        if info.type == fs.FileType.File:
            return _Found(Location(location.store, posixpath.dirname(location.path)), [location.path])
        if info.type == fs.FileType.Directory:
            paths = [path for path in _walk(location, recursive=True) if path.endswith(SUFFIXES)]
            if not paths:
                raise DatasetError(f"{location} holds no Parquet files (names ending in {', '.join(SUFFIXES)}).")
            return _Found(location, paths, walked=True)
        if re.search(r"[*?\[]", location.path):
            return _match(location)
        bucket = Location(location.store, location.path.partition("/")[0])
        if not location.is_local and bucket.filesystem.get_file_info(bucket.path).type == fs.FileType.NotFound:
            raise DatasetError(f"There is no bucket {bucket}, or these credentials may not see it.")
    raise DatasetError(f"There is no file or folder {location}.")


def _match(pattern: Location) -> _Found:
    fixed = re.split(r"[*?\[]", pattern.path, maxsplit=1)[0]
    base = Location(pattern.store, posixpath.dirname(fixed) or "/")
    rest = pattern.path[len(base.path) :].lstrip("/")
    if base.filesystem.get_file_info(base.path).type != fs.FileType.Directory:
        raise DatasetError(f"There is no folder {base}, so nothing matches {pattern}.")
    regex = _pattern_regex(rest)
    paths = [
        path
        for path in _walk(base, recursive="/" in rest or "**" in rest)
        if regex.fullmatch(path[len(base.path) :].lstrip("/"))
    ]
    if not paths:
        raise DatasetError(f"No file matches {pattern}.")
    return _Found(base, paths, walked="**" in rest)


def _pattern_regex(pattern: str) -> re.Pattern[str]:
    """``**/`` is any number of folders, ``*`` and ``?`` stay within one name, ``[…]`` is one of these characters."""
    parts = re.findall(r"\*\*/|\*+|\?|\[[^/\]]+\]|[^*?\[]+|\[", pattern)
    meaning = {"**/": "(?:[^/]+/)*", "?": "[^/]"}
    regex = ""
    for part in parts:
        if part in meaning:
            regex += meaning[part]
        elif part.startswith("*"):
            regex += "[^/]*"
        elif part.startswith("[") and len(part) > 1:
            inside = part[1:-1].replace("\\", r"\\").replace("[", r"\[")
            regex += f"[^{inside[1:]}]" if inside.startswith("!") and len(inside) > 1 else f"[{inside}]"
        else:
            regex += re.escape(part)
    return re.compile(regex)


def _walk(folder: Location, *, recursive: bool) -> list[str]:
    infos = folder.filesystem.get_file_info(fs.FileSelector(folder.path, recursive=recursive))
    return [info.path for info in infos if info.type == fs.FileType.File and not _is_hidden(info.path, folder)]


def _is_hidden(path: str, folder: Location) -> bool:
    return any(part.startswith((".", "_")) for part in path[len(folder.path) :].split("/"))


def _describe(location: Location, name: str) -> tuple[InputFile, pa.Schema]:
    with dataset_errors(location, "read"), location.filesystem.open_input_file(location.path) as file:
        version, metadata = read_footer(file, location)
        groups = (metadata.row_group(i) for i in range(metadata.num_row_groups))
        row_groups = tuple(RowGroup(group.num_rows, group.total_byte_size) for group in groups)
        return InputFile(version, name, file.size(), row_groups), metadata.schema.to_arrow_schema()


def _common_schema(described: Iterable[tuple[InputFile, pa.Schema]]) -> pa.Schema:
    (first, schema), *others = described
    for file, other in others:
        if not schema.equals(other):
            raise DatasetError(
                f"The files of one input must have the same columns, but {_difference(schema, first, other, file)}."
            )
    own = {key: value for key, value in (schema.metadata or {}).items() if not key.startswith(METADATA_PREFIX)}
    return schema.with_metadata(own or None)


def _difference(schema: pa.Schema, first: InputFile, other: pa.Schema, file: InputFile) -> str:
    for there, names, lacking in ((schema, other.names, file), (other, schema.names, first)):
        absent = [name for name in there.names if name not in names]
        if absent:
            return f"{lacking.name} lacks {', '.join(absent)}"
    for mine, theirs in zip(schema, other, strict=False):
        if mine.name == theirs.name and not mine.equals(theirs):
            return f"{mine.name} is {_show(theirs)} in {file.name} and {_show(mine)} in {first.name}"
    return f"they come in another order in {file.name} than in {first.name}"


def _show(field: pa.Field) -> str:
    return f"{field.type}" if field.nullable else f"{field.type} not null"
