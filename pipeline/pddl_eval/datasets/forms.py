"""What a file of rows is: its form and its compression, by its name or its first bytes, and its bytes as a stream.

The forms are read in files of their own: Parquet in ``parquet``, JSON Lines and CSV in ``lines``, Arrow IPC in
``arrow_ipc``. What they all give is here: a file is described once, as blocks of rows, and then read by a ``Reader``.
"""

from __future__ import annotations

import hashlib
import lzma
from bisect import bisect_right
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from operator import attrgetter
from typing import NamedTuple, Protocol

import pyarrow as pa

from pddl_eval.datasets.places import DatasetError, Location

HEAD_BYTES = 64 * 1024
"""Read of a file's beginning to see what it is; the same at its end tells it from other versions of it."""

READ_BYTES = 2 * 2**20
"""Read of a text or a compressed file at a time."""

MOST_MARKS = 1024
"""Places in a file where reading can begin, at most: they travel with every shard."""


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
    b"PK\x03\x04": "a ZIP archive; unpack it",
    b"SQLite format 3\0": "an SQLite database; write its rows as CSV",
}


AS_LINES = (
    "it should have one object a line; in Python, polars.read_json(FILE).write_ndjson(FILE.jsonl) converts a JSON array"
)


class Mark(NamedTuple):
    """Where reading can begin: before row ``row``, at a byte or a record batch, in line ``line`` (from 1)."""

    row: int
    place: int
    line: int = 0


@dataclass(frozen=True, slots=True)
class FileVersion:
    """A file as it was when the run was prepared: ``footer`` is a digest of its footer, else of its size and its ends.

    A Parquet footer holds the size, place and bounds of every column chunk, so that nearly every file whose rows
    changed has another one; ``contents`` finds the others when a run is started again. ``keys`` are the columns that
    its folders' names give it (``model=a/split=test``); None is a null. ``marks`` are for forms without a footer: the
    last one is the end of the file.
    """

    location: Location
    footer: str
    keys: tuple[tuple[str, str | None], ...] = ()
    form: Form = Form.PARQUET
    compression: str | None = None
    marks: tuple[Mark, ...] = ()

    def __str__(self) -> str:
        return str(self.location)

    def mark_before(self, row: int) -> Mark:
        """The last mark at or before a row."""
        return self.marks[self._marks_to(row) - 1]

    def block(self, row: int) -> tuple[int, int]:
        """The first row of the block with that row, and of the next one, where blocks are known by their marks."""
        behind = min(self._marks_to(row), len(self.marks) - 1)
        return self.marks[behind - 1].row, self.marks[behind].row

    def _marks_to(self, row: int) -> int:
        return bisect_right(self.marks, row, key=attrgetter("row"))


class RowGroup(NamedTuple):
    """``size`` is that of its values as encoded, uncompressed, in bytes."""

    rows: int
    size: int


class Reader(Protocol):
    """A file open at a row; reading on from there costs nothing."""

    file: FileVersion

    def row_group(self, row: int) -> tuple[int, int]:
        """The first row of that row's block, and of the next one: damage behind a row costs at most its block."""
        ...

    def read(  # noqa: PLR0913 (said once, for three readers)
        self,
        start: int,
        stop: int,
        batch_rows: int,
        schema: pa.Schema,
        lost: dict[int, str],
        *,
        one_group: bool = False,
    ) -> Iterator[pa.RecordBatch]:
        """These rows, at most so many at a time; ``schema`` is that of the file's own columns.

        Rows whose text cannot be read are nulls, and ``lost`` gets the reasons, by number. With ``one_group`` nothing
        behind the row's block is decoded.
        """
        ...

    def close(self) -> None: ...


class Blocks:
    """The blocks of a file while it is described, and the marks before them: every one, or every second, fourth, …"""

    def __init__(self) -> None:
        self.groups: list[RowGroup] = []
        self._marks: list[Mark] = []
        self._every = 1

    def begin(self, mark: Mark) -> None:
        """A block begins there."""
        if len(self.groups) % self._every == 0:
            self._marks.append(mark)
            if len(self._marks) > MOST_MARKS:
                del self._marks[1::2]
                self._every *= 2

    def end(self, rows: int, size: int) -> None:
        """The block has ended."""
        self.groups.append(RowGroup(rows, size))

    def marks(self, end: Mark) -> tuple[Mark, ...]:
        """All marks, with that of the end of the file."""
        return (*self._marks, end)


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
        return Form.PARQUET, None  # Whatever it holds: its reader says what is wrong with it.
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
    first = head.lstrip().partition(b"\n")[0].strip()
    # A line of JSON Lines that is damaged may well begin so; a line of its own is the beginning of an array.
    if first == b"[" or (named is None and first.startswith(b"[")):
        raise json_and_not_lines(location)


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


def json_and_not_lines(location: Location) -> DatasetError:
    """What is wrong with a file of one JSON value."""
    return DatasetError(f"{location} is JSON and not JSON Lines: {AS_LINES}.")


def open_bytes(location: Location, compression: str | None, place: int = 0) -> pa.NativeFile:
    """A file's bytes, decompressed, to be read once; from a place in it where it is not compressed."""
    file = location.filesystem.open_input_file(location.path)
    if compression is None:
        file.seek(place)
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


def changed(file: FileVersion) -> DatasetError:
    """What is wrong with a file that is another version now."""
    return DatasetError(f"{file} has changed since the run was prepared.")


def require_unchanged(file: FileVersion) -> None:
    """Raise ``DatasetError`` for a file without a footer that is another version now."""
    with file.location.filesystem.open_input_file(file.location.path) as handle:
        if version_of_ends(handle) != file.footer:
            raise changed(file)


def version_of_ends(file: pa.NativeFile) -> str:
    """A digest of a file's size, its beginning and its end."""
    size = file.size()
    digest = hashlib.blake2b(str(size).encode(), digest_size=16)
    digest.update(file.read_at(min(size, HEAD_BYTES), 0))
    digest.update(file.read_at(min(size, HEAD_BYTES), max(0, size - HEAD_BYTES)))
    return digest.hexdigest()
