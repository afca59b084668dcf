"""What an input consists of: its files, found and described, and the columns that all of them have.

``forms`` says what forms of files there are; each is described and read in a file of its own.

The order of the files, and with it of the output, is that of their partitions' names and does not depend on the order
of a listing.
"""

from __future__ import annotations

import hashlib
import os
import posixpath
import re
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from itertools import chain, zip_longest
from pathlib import Path
from typing import Any, NamedTuple, TypeVar
from urllib.parse import unquote

import pyarrow as pa
from pyarrow import fs

from pddl_eval.datasets import arrow_ipc, lines, parquet
from pddl_eval.datasets.forms import SUFFIXES, FileVersion, Form, RowGroup, form_of_name, json_and_not_lines, look_at
from pddl_eval.datasets.lines import Columns
from pddl_eval.datasets.places import DatasetError, Location, dataset_errors, list_files, locate
from pddl_eval.datasets.standard_input import STANDARD_INPUT, stored_standard_input
from pddl_eval.datasets.stores import version_in_store
from pddl_eval.errors import did_you_mean
from pddl_eval.table import is_text

METADATA_PREFIX = "pddl_eval."
"""Prefix of the keys that this program writes into a file's metadata; they describe that file alone."""

SIGNATURE_KEY = f"{METADATA_PREFIX}signature"
"""The key of the signature of a file's scores."""

PARTITIONS = "_partitions"
"""In an output, while a run lasts whose partitions are merged in the end."""

FOOTER_READERS = 16

READ_AHEAD = 256
"""Files that wait for one of the readers."""

Item = TypeVar("Item")

Result = TypeVar("Result")

HASHED_BYTES = 2 * 2**30
"""Bytes of an input of which a run's start reads the whole content, one or two seconds a gigabyte."""

HIVE_NULL = "__HIVE_DEFAULT_PARTITION__"

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


class Found(NamedTuple):
    """What a place means: a folder, the paths of files in it, and whether these are all that belong to the input."""

    folder: Location
    paths: list[str]
    is_walked: bool


def find_files(places: Input, of_folder: Callable[[Location, Iterable[str]], list[str]]) -> list[Found]:
    """The files that each place means; ``of_folder`` chooses among all files of a folder.

    Raises ``DatasetError`` where there is nothing and where the places lie in different stores.
    """
    named = [places] if isinstance(places, (str, os.PathLike)) else places
    found = [_find(stored_standard_input() if place == STANDARD_INPUT else locate(place), of_folder) for place in named]
    if not found:
        raise DatasetError("No input is named.")
    if len({replace(each.folder, path="") for each in found}) > 1:
        raise DatasetError("The inputs lie in different stores: score them in runs of their own.")
    return found


def open_source(places: Input) -> Source:
    """Find the files of an input and read their footers, or the whole of files that have none.

    A folder ``key=value`` is a column of text, unless the files have a column of that name. JSON Lines and CSV declare
    no columns: an input has those of all its files. Raises ``DatasetError`` where there is nothing, where a file cannot
    be read, where files are of different forms and where declared schemas differ.
    """
    found = find_files(places, _of_one_form)
    base = replace(found[0].folder, path=posixpath.commonpath([each.folder.path for each in found]))
    walked = tuple(each.folder for each in found if each.is_walked)
    paths = sorted({path for each in found for path in each.paths})
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


def _find(place: Location, of_folder: Callable[[Location, Iterable[str]], list[str]]) -> Found:
    with dataset_errors(place, "read"):
        kind = place.filesystem.get_file_info(place.path).type
        if kind == fs.FileType.File:
            return Found(replace(place, path=posixpath.dirname(place.path)), [place.path], False)
        if kind == fs.FileType.Directory:
            return Found(place, of_folder(place, _files_below(place)), True)
        if re.search(r"[*?\[]", place.path):
            return _files_matching(place)
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


def _files_matching(pattern: Location) -> Found:
    base = replace(pattern, path=posixpath.dirname(re.split(r"[*?\[]", pattern.path, maxsplit=1)[0]) or "/")
    if base.filesystem.get_file_info(base.path).type != fs.FileType.Directory:
        raise DatasetError(f"There is no folder {base}, so nothing matches {pattern}.")
    parts = _relative(pattern.path, base).split("/")
    walked = _files_below(base, recursive=len(parts) > 1)
    paths = [path for path in walked if _matches(_relative(path, base).split("/"), parts)]
    if not paths:
        raise DatasetError(f"No file matches {pattern}.")
    return Found(base, paths, any("**" in part for part in parts))


def _matches(parts: Sequence[str], pattern: Sequence[str]) -> bool:
    """``**`` is any number of folders; everything else stays within one name."""
    if not parts or not pattern:
        return not parts and not pattern
    if pattern[0] == "**" and len(pattern) > 1:
        return any(_matches(parts[skipped:], pattern[1:]) for skipped in range(len(parts)))
    return fnmatchcase(parts[0], pattern[0]) and _matches(parts[1:], pattern[1:])


def _files_below(folder: Location, *, recursive: bool = True) -> list[str]:
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
