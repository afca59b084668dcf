"""What a file of rows is: its form and its compression, by its name or its first bytes, and its bytes as a stream.

Only Parquet is read by row. Rows in another form (JSON Lines and CSV in ``lines``, Arrow IPC in ``arrow_ipc``) are
converted to it once, by ``conversion``.
"""

from __future__ import annotations

import lzma
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import chain
from typing import Any, NamedTuple
from urllib.parse import unquote

import pyarrow as pa

from pddl_eval.datasets.places import DatasetError, Location

HEAD_BYTES = 64 * 1024
"""Read of a file's beginning to see what it is."""

READ_BYTES = 2 * 2**20
"""Read of a text or a compressed file at a time."""

HIVE_NULL = "__HIVE_DEFAULT_PARTITION__"

DAMAGE = "pddl_eval.damage"
"""The last column of converted rows: why a row is null that could not be read. It is no column of the input."""


class Form(StrEnum):
    """A form in which rows can be stored."""

    PARQUET = "Parquet"
    ARROW = "Arrow IPC"
    JSON_LINES = "JSON Lines"
    CSV = "CSV"


PARQUET_SUFFIXES = (".parquet", ".parq", ".pq")

SUFFIXES: Mapping[Form, tuple[str, ...]] = {
    Form.PARQUET: PARQUET_SUFFIXES,
    Form.ARROW: (".arrow", ".feather", ".ipc", ".arrows"),
    Form.JSON_LINES: (".jsonl", ".ndjson"),
    Form.CSV: (".csv", ".tsv"),
}
"""What the files of a folder are called; a file named by itself or by a pattern may be called anything."""

COMPRESSIONS = {".gz": "gzip", ".zst": "zstd", ".bz2": "bz2", ".xz": "xz"}

_COMPRESSED = {b"\x1f\x8b": "gzip", b"\x28\xb5\x2f\xfd": "zstd", b"BZh": "bz2", b"\xfd7zXZ\0": "xz"}

ARROW_FILE, ARROW_STREAM = b"ARROW1\0\0", b"\xff\xff\xff\xff"
"""The first bytes of the two forms of Arrow IPC."""

_OTHERS = {
    b"FEA1": "Feather version 1; in Python, polars.from_pandas(pandas.read_feather(FILE)).write_parquet(…) converts it",
    b"\xff\xfe": "text in UTF-16; write it as UTF-8",
    b"\xfe\xff": "text in UTF-16; write it as UTF-8",
    b"PK\x03\x04": "a ZIP archive; unpack it (a log of Inspect: --from inspect)",
    b"SQLite format 3\0": "an SQLite database; write its rows as CSV",
}


AS_LINES = (
    "it should have one object a line; in Python, polars.read_json(FILE).write_ndjson(FILE.jsonl) converts a JSON array"
)


@dataclass(frozen=True, slots=True)
class FileVersion:
    """A file as it was when the run was prepared: ``footer`` is a digest of its Parquet footer.

    A footer holds the size, place and bounds of every column chunk, so that nearly every file whose rows changed has
    another one; ``contents`` finds the others when a run is started again. ``keys`` are the columns that its folders'
    names give it (``model=a/split=test``); None is a null. ``form`` is that of the rows before they were converted.
    """

    location: Location
    footer: str
    keys: tuple[tuple[str, str | None], ...] = ()
    form: Form = Form.PARQUET
    compression: str | None = None

    def __str__(self) -> str:
        return str(self.location)

    def own(self, schema: pa.Schema) -> pa.Schema:
        """The columns that are in the file itself and not in the names of its folders."""
        return pa.schema([field for field in schema if field.name not in dict(self.keys)])

    def table(self, batches: Sequence[pa.RecordBatch], schema: pa.Schema) -> pa.Table:
        """Its rows as a table of that schema, with the columns that the names of its folders give."""
        table = pa.Table.from_batches(batches, self.own(schema))
        rows, columns = sum(batch.num_rows for batch in batches), iter(table.columns)
        of_file = {key: pa.repeat(pa.scalar(value, pa.string()), rows) for key, value in self.keys}
        return pa.table([of_file[name] if name in of_file else next(columns) for name in schema.names], schema=schema)


class RowGroup(NamedTuple):
    """``size`` is that of its values as encoded, uncompressed, in bytes."""

    rows: int
    size: int


@dataclass(frozen=True, slots=True)
class InputFile:
    """A file of rows; ``name`` is its path within the input, ``size`` in bytes. One to be converted has no row groups.

    ``signature`` is that of the scores in it, None where it carries none. ``notes`` are what the user should know of
    it. ``made_of`` says what a file in an output's ``_input`` was made of.
    """

    version: FileVersion
    name: str
    size: int
    row_groups: tuple[RowGroup, ...]
    signature: str | None = None
    notes: tuple[str, ...] = ()
    made_of: Mapping[str, Any] | None = field(default=None, hash=False)

    @property
    def rows(self) -> int:
        return sum(group.rows for group in self.row_groups)


def with_folder_columns(names: Sequence[str], schema: pa.Schema) -> tuple[pa.Schema, list[tuple[Any, ...]]]:
    """The schema with the columns that the folders of files give, and each file's keys (see ``FileVersion``).

    A folder ``key=value`` is a column of text, unless the files have a column of that name.
    """
    folders = [dict(_folder_keys(name)) for name in names]
    keys = [key for key in dict.fromkeys(chain.from_iterable(folders)) if key not in schema.names]
    for key in keys:
        schema = schema.append(pa.field(key, pa.string()))
    return schema, [tuple((key, folder.get(key)) for key in keys) for folder in folders]


def _folder_keys(name: str) -> Iterator[tuple[str, str | None]]:
    """The keys and values in the names of a file's folders, as Hive writes them.

    >>> list(_folder_keys("model=gpt%204/split=__HIVE_DEFAULT_PARTITION__/x.parquet"))
    [('model', 'gpt 4'), ('split', None)]
    """
    for folder in name.split("/")[:-1]:
        key, equals, value = folder.partition("=")
        if key and equals:
            yield unquote(key), None if value == HIVE_NULL else unquote(value)


def form_of_name(name: str) -> Form | None:
    """The form that a file's name says; None where it says none.

    >>> form_of_name("answers.JSONL.gz"), form_of_name("README.md")
    (<Form.JSON_LINES: 'JSON Lines'>, None)
    """
    name = name.lower()
    for suffix in COMPRESSIONS:
        name = name.removesuffix(suffix)
    return next((form for form, suffixes in SUFFIXES.items() if name.endswith(suffixes)), None)


def look_at(file: pa.NativeFile, location: Location) -> tuple[Form, str | None]:
    """The form and the compression of an open file: by its name, else by its first bytes.

    Raises ``DatasetError`` where it is none of them.
    """
    if location.name.endswith(PARQUET_SUFFIXES):
        return Form.PARQUET, None  # If it holds something else, the reader says so.
    head = file.read_at(min(file.size(), HEAD_BYTES), 0)
    compression = next((name for magic, name in _COMPRESSED.items() if head.startswith(magic)), None)
    named = form_of_name(location.name)
    if compression is not None:
        with open_bytes(location, compression) as stream:
            head = stream.read(HEAD_BYTES)
    _refuse_others(head, named, location)
    found = form_of_content(head)
    if compression is not None and (found is Form.PARQUET or head.startswith(ARROW_FILE)):
        raise DatasetError(f"{location} is a {found} file inside {compression}: decompress it first.")
    if found in (Form.PARQUET, Form.ARROW):
        return found, compression
    form = named or found
    if form is None:
        raise DatasetError(f"{location} is none of {', '.join(Form)}.")
    if form is Form.ARROW and head:
        raise DatasetError(f"{location} is not an Arrow file, although it is named like one.")
    return form, compression


def _refuse_others(head: bytes, named: Form | None, location: Location) -> None:
    for magic, what in _OTHERS.items():
        if head.startswith(magic):
            raise DatasetError(f"{location} is {what}.")
    if 4 * head.count(0) > len(head) and form_of_content(head) in (None, Form.JSON_LINES):
        raise DatasetError(f"{location} is no text in UTF-8: it may be UTF-16, or damaged.")
    first = head.lstrip().partition(b"\n")[0].strip()
    # A line of JSON Lines that is damaged may well begin so; a line of its own is the beginning of an array.
    if first == b"[" or (named is None and first.startswith(b"[")):
        raise DatasetError(f"{location} is JSON and not JSON Lines: {AS_LINES}.")


def form_of_content(head: bytes) -> Form | None:
    """The form that a file's first bytes show; None where they show none.

    >>> form_of_content(b'{"answer": "(define')
    <Form.JSON_LINES: 'JSON Lines'>
    """
    if head.startswith(b"PAR1"):
        return Form.PARQUET
    if head.startswith((ARROW_FILE, ARROW_STREAM)):
        return Form.ARROW
    first = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    if first.startswith(b"{"):
        return Form.JSON_LINES
    line = first.partition(b"\n")[0]
    return Form.CSV if b"\0" not in head and any(each in line for each in (b",", b"\t", b";")) else None


def open_bytes(location: Location, compression: str | None) -> pa.NativeFile:
    """A file's bytes, decompressed, to be read once."""
    file = location.filesystem.open_input_file(location.path)
    if compression is None:
        return file
    # Decompressors ask for some kilobytes at a time, and each may be a request to a store.
    buffered = pa.BufferedInputStream(file, READ_BYTES)
    if compression == "xz":
        return pa.PythonFile(_Xz(buffered), "r")
    return pa.CompressedInputStream(buffered, compression)


class _Xz(lzma.LZMAFile):
    """A file whose damage is an ``OSError``, as everywhere else."""

    def read(self, size: int | None = -1) -> bytes:
        try:
            return super().read(size)
        except (EOFError, lzma.LZMAError) as error:
            raise OSError(str(error)) from None
