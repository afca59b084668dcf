"""What an input consists of: its files, found and described, and the columns that all of them have.

Parquet is described by its footers; rows in any other form are converted to it first (``conversion``).

The order of the files, and with it of the output, is that of their partitions' names and does not depend on the order
of a listing.
"""

from __future__ import annotations

import hashlib
import json
import os
import posixpath
import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow import fs

from pddl_eval.datasets.columns import is_text
from pddl_eval.datasets.conversion import convert, require_equal
from pddl_eval.datasets.forms import (
    DAMAGE,
    SUFFIXES,
    FileVersion,
    Form,
    InputFile,
    RowGroup,
    form_of_name,
    look_at,
    with_folder_columns,
)
from pddl_eval.datasets.parquet import read_footer
from pddl_eval.datasets.places import (
    DatasetError,
    Location,
    dataset_errors,
    has_file,
    list_files,
    locate,
    persistently,
)
from pddl_eval.datasets.standard_input import STANDARD_INPUT, stored_standard_input, temporary_folder
from pddl_eval.datasets.stores import version_in_store
from pddl_eval.errors import did_you_mean
from pddl_eval.unchanged import (
    HASHED,
    HASHED_BYTES,
    digest_of_file,
    files_below,
    files_matching,
    folder_of,
    mark_of,
)

METADATA_PREFIX = "pddl_eval."
"""Prefix of the keys that this program writes into a file's metadata; they describe that file alone."""

SIGNATURE_KEY = f"{METADATA_PREFIX}signature"
"""The key of the signature of a file's scores."""

INPUT_FOLDER = "_input"
"""In the output: what was made of rows in other forms, logs and references. Readers of datasets ignore names with a
leading underscore."""

MADE_OF = f"{METADATA_PREFIX}made_of"
NOTES = f"{METADATA_PREFIX}notes"
"""Metadata keys of a file there: what it was made of, and notes for the user."""

FORMAT = 1
"""Goes up when the same rows or logs are converted to other rows."""

PARTITIONS = "_partitions"
"""In an output, while a run lasts whose partitions are merged in the end."""

KNOWN_FOLDER = "_previous"
"""In an output, while a dataset is scored again: the scores that are carried over, where all workers see them."""

FOOTER_READERS = 16

READ_AHEAD = 256
"""Files that wait for one of the readers."""

Item = TypeVar("Item")

Result = TypeVar("Result")

SETTLED_SECONDS = 2.0
"""A file that was written more recently may be written again without another mark: clocks of filesystems are coarse."""

known_contents: dict[str, tuple[str, str]] = {}
"""By place, the mark of a file whose content was read, and its digest: while the mark stays, it is not read again."""

Input = str | os.PathLike[str] | Sequence[str | os.PathLike[str]]
"""A file, a folder, a pattern (``*``, ``**``, ``?``), a URI, ``-`` for standard input, or several of them."""


@dataclass(frozen=True, slots=True)
class Source:
    """An input: its files in the order of the output, and the schema that all of them have.

    ``base`` is the folder that the files' names are relative to; ``walked`` are the folders in which every
    file, however deep, belongs to the input. ``original`` is the input whose rows were converted to these.
    """

    base: Location
    walked: tuple[Location, ...]
    files: tuple[InputFile, ...]
    schema: pa.Schema
    original: Source | None = None

    @property
    def rows(self) -> int:
        return sum(file.rows for file in self.files)

    @property
    def notes(self) -> list[str]:
        """What the user should know of its files."""
        return [note for file in self.files for note in file.notes]

    @property
    def form(self) -> Form:
        """The form of its files, before they were converted."""
        return self.files[0].version.form

    @property
    def made_of(self) -> Mapping[str, Any] | None:
        """What it was made of, from a file in an output's ``_input``; None for any other input.

        Its ``key`` says what the content is, whichever process wrote it.
        """
        return self.files[0].made_of if len(self.files) == 1 else None


Write = Callable[[Location, Mapping[str, Any]], None]
"""Writes a file of the folder ``_input``, with what it was made of."""

Make = Callable[[Source | None, Mapping[str, Any], Write], Location]
"""Where the rows of an input are that were converted, or joined answers (None): written there, unless they are."""


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
    """Find the files of an input and read their footers; rows in another form are converted to a temporary file.

    A folder ``key=value`` is a column of text, unless the files have a column of that name. Raises ``DatasetError``
    where there is nothing, where a file cannot be read, where files are of different forms and where declared schemas
    differ.
    """
    return as_parquet(find_source(places), make_aside)


def find_source(places: Input) -> Source:
    """As ``open_source``, but nothing is converted: files of another form than Parquet have no rows and no columns."""
    found = find_files(places, _of_one_form)
    base = replace(found[0].folder, path=posixpath.commonpath([each.folder.path for each in found]))
    walked = tuple(each.folder for each in found if each.is_walked)
    paths = sorted({path for each in found for path in each.paths})
    files: list[InputFile] = []
    schema = pa.schema([])
    known: _Schemas = {}
    for file, its in in_threads(lambda path: _describe(replace(base, path=path), base, known), paths):
        if not files:
            schema = its
        elif file.version.form is not files[0].version.form:
            raise DatasetError(
                f"The files of one input must have one form: {files[0].name} is {files[0].version.form}, {file.name} "
                f"is {file.version.form}."
            )
        require_equal(files[0].name if files else "", schema, file.name, its)
        files.append(file)
    if files[0].version.form is Form.PARQUET:
        schema, keys = with_folder_columns([file.name for file in files], schema)
        files = [
            replace(file, version=replace(file.version, keys=each)) for file, each in zip(files, keys, strict=True)
        ]
    return Source(base, walked, tuple(sorted(files, key=lambda file: partition_stem(file.name))), schema)


def as_parquet(found: Source, make: Make) -> Source:
    """An input that ``find_source`` has found, its rows converted to one file of Parquet if they are in another form.

    That file is named like the only file of the input, or ``rows``.
    """
    if found.form is Form.PARQUET or found.made_of:
        return found
    made_of = {"format": FORMAT, "form": found.form, "rows": described(found)}
    return made_from(found, make(found, made_of, partial(_convert, found)))


def made_from(found: Source, place: Location) -> Source:
    """The file that was made of an input, in its place."""
    file, schema = _describe(place, place.parent, {})
    name = found.files[0].name if len(found.files) == 1 else "rows"
    file = replace(file, name=name, size=sum(each.size for each in found.files))
    return Source(found.base, found.walked, (file,), schema, found)


def _convert(found: Source, place: Location, made_of: Mapping[str, Any]) -> None:
    def told(notes: Sequence[str]) -> Mapping[str, str]:
        if described(found) != made_of["rows"]:
            raise DatasetError(f"{place_of(found)} has changed while it was read.")
        return {MADE_OF: json.dumps(made_of), NOTES: json.dumps(notes)}

    convert(found.files, place, told)


def make_aside(_found: Source | None, made_of: Mapping[str, Any], write: Write) -> Location:
    """A temporary file with the rows; this process does not convert the same ones twice."""
    key = key_of(made_of)
    place = locate(temporary_folder().name) / INPUT_FOLDER / f"rows-{key}"
    if not has_file(place):
        write(place, {**made_of, "key": key})
    return place


def key_of(made_of: Mapping[str, Any]) -> str:
    """A digest of what a file was made of."""
    return hashlib.blake2b(json.dumps(made_of, sort_keys=True).encode(), digest_size=8).hexdigest()


def described(source: Source) -> list[dict[str, Any]]:
    """The files of an input and their content, for ``key_of``."""
    content = contents(source)
    return [{"name": file.name, "size": file.size, "content": content[file.name]} for file in source.files]


def contents(source: Source, parts: int = 1, before: Mapping[str, str] | None = None) -> dict[str, str]:
    """What tells a file from any other version of it, by name: ``blake2b:`` and a digest of its content.

    Of an input on an object store it is its ``_mark``. Of a local one that is larger than ``HASHED_BYTES`` together for
    all ``parts`` that read it, it is ``modified:`` and the time of writing, in nanoseconds. With ``before``, the
    contents that a run has found, it is of the same kind as there, and empty for a file that is gone. Raises
    ``DatasetError`` where a file cannot be read.
    """
    if before:
        hashed = any(each.startswith(HASHED) for each in before.values())
    else:
        hashed = sum(file.size for file in source.files) * parts <= HASHED_BYTES

    def content(file: InputFile) -> str:
        place, mark = file.version.location, _mark(file.version.location)
        if not place.is_local or (before and not mark):
            return mark
        if hashed and (known := known_contents.get(str(place))) and known[0] == mark:
            return known[1]
        with dataset_errors(place, "read"), Path(place.path).open("rb") as opened:
            if not hashed:
                return f"modified:{os.fstat(opened.fileno()).st_mtime_ns}"
            digest = f"{HASHED}{digest_of_file(opened)}"
            settled = time.time() - os.fstat(opened.fileno()).st_ctime > SETTLED_SECONDS
        if settled:
            known_contents[str(place)] = mark, digest
        return digest

    return {file.name: each for file, each in zip(source.files, in_threads(content, source.files), strict=True)}


def _mark(place: Location) -> str:
    """What changes whenever a file is written, without reading it; empty for a file that is gone.

    On an object store it is a digest of its content or its version there (``stores.MARKS``), else ``modified:`` and the
    time. Raises ``DatasetError``.
    """
    with dataset_errors(place, "read"), suppress(FileNotFoundError):
        return persistently(place, lambda: mark_of(place.path) if place.is_local else _store_mark(place))
    return ""


def _store_mark(place: Location) -> str:
    if known := version_in_store(place.filesystem, place.path):
        return known
    info = place.filesystem.get_file_info(place.path)
    return f"modified:{info.mtime_ns}" if info.type == fs.FileType.File else ""


def in_threads(function: Callable[[Item], Result], items: Sequence[Item]) -> Iterator[Result]:
    """The function's result for each item, in order; a few at a time, because each that waits needs memory."""
    with ThreadPoolExecutor(max(1, min(FOOTER_READERS, len(items)))) as readers:
        for first in range(0, len(items), READ_AHEAD):
            yield from readers.map(function, items[first : first + READ_AHEAD])


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
    if source.form is not Form.PARQUET:
        raise DatasetError(f"{place_of(source)} is {source.form}, and scored datasets are Parquet: score it first.")


def holds_text(source: Source, name: str) -> bool:
    """True for a column whose values are strings or null, however encoded; False where there is no such column."""
    return name in source.schema.names and is_text(source.schema.field(name).type)


def place_of(source: Source) -> Location:
    """What the input is called in a sentence: its only file, or the folder of its files."""
    source = source.original or source
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
    if place.is_local and os.path.lexists(place.path):
        what = "a link that leads nowhere" if Path(place.path).is_symlink() else "a pipe or a device, and no file"
        raise DatasetError(f"{place} is {what}; - is standard input.")
    raise DatasetError(f"There is no file or folder {place}.")


def _of_one_form(folder: Location, paths: Iterable[str]) -> list[str]:
    """Those of a folder's files that are its rows: the Parquet files, or those of the only other form there is."""
    by_form: dict[Form, list[str]] = {}
    for path in paths:
        if (form := form_of_name(path)) is not None:
            by_form.setdefault(form, []).append(path)
    # Compressed Parquet does not count: it would have to be unpacked to be read.
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
    base = replace(pattern, path=folder_of(pattern.path))
    if base.filesystem.get_file_info(base.path).type != fs.FileType.Directory:
        raise DatasetError(f"There is no folder {base}, so nothing matches {pattern}.")
    paths = files_matching(pattern.path, base.path, partial(_files_below, base))
    if not paths:
        raise DatasetError(f"No file matches {pattern}.")
    return Found(base, paths, "**" in pattern.path)


def _files_below(folder: Location, *, recursive: bool = True) -> list[str]:
    if folder.is_local:
        files = files_below(folder.path, recursive=recursive)
    else:
        infos = folder.filesystem.get_file_info(fs.FileSelector(folder.path, recursive=recursive))
        files = (info.path for info in infos if info.type == fs.FileType.File)
    return [path for path in files if not re.search(r"(?:^|/)[._]", _relative(path, folder))]


def _relative(path: str, folder: Location) -> str:
    return path[len(folder.path) :].lstrip("/")


_Schemas = dict[bytes | None, tuple[pq.ParquetSchema, pa.Schema]]


def _schema_of(footer: pq.FileMetaData, known: _Schemas) -> pa.Schema:
    """The columns that a footer describes, without what this program has written beside them.

    They are made once for all files that describe the same ones: to make them takes half as long as to read a footer.
    """
    said = (footer.metadata or {}).get(b"ARROW:schema")
    found = known.get(said)
    # Parquet's own description is compared by its innermost columns alone, so it is not enough.
    if said is None or found is None or not footer.schema.equals(found[0]):
        schema, prefix = footer.schema.to_arrow_schema(), METADATA_PREFIX.encode()
        kept = {key: value for key, value in (schema.metadata or {}).items() if not key.startswith(prefix)}
        found = known[said] = footer.schema, schema.with_metadata(kept or None)
    return found[1]


def _describe(location: Location, base: Location, known: _Schemas) -> tuple[InputFile, pa.Schema]:
    """A file, and its schema if it is Parquet."""
    name = posixpath.relpath(location.path, base.path)
    with dataset_errors(location, "read"), location.filesystem.open_input_file(location.path) as file:
        form, compression = look_at(file, location)
        if form is not Form.PARQUET:
            return InputFile(FileVersion(location, "", (), form, compression), name, file.size(), ()), pa.schema([])
        version, footer = read_footer(file, location)
        groups = [footer.row_group(number) for number in range(footer.num_row_groups)]
        schema, metadata = _schema_of(footer, known), footer.metadata or {}
        told = {key: metadata[key.encode()].decode("utf-8", "replace") for key in _TOLD if key.encode() in metadata}
        made_of = json.loads(told[MADE_OF]) if MADE_OF in told and location.parent.name == INPUT_FOLDER else None
        if made_of and "form" in made_of:
            version = replace(version, form=Form(made_of["form"]))
            schema = schema.remove(schema.get_field_index(DAMAGE))
        notes = tuple(json.loads(told.get(NOTES, "[]"))) if made_of else ()
        sizes = tuple(RowGroup(group.num_rows, group.total_byte_size) for group in groups)
        return InputFile(version, name, file.size(), sizes, told.get(SIGNATURE_KEY), notes, made_of), schema


_TOLD = (SIGNATURE_KEY, MADE_OF, NOTES)
