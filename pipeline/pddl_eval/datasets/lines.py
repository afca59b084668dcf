"""JSON Lines and CSV: where their rows begin, which columns they have and of which types, and their rows.

These forms declare nothing, so that a file is read once, from its beginning to its end, before a run: that finds its
blocks of rows and its columns. Workers then read from the mark before their rows; a compressed file from its beginning,
or from where they stopped.

A row that cannot be read is a row all the same: its columns are null and its damage is told (``Reader.read``).
"""

from __future__ import annotations

import csv
import json
import re
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from itertools import chain, islice
from threading import Event
from typing import Any, NamedTuple

import pyarrow as pa

from pddl_eval.datasets.forms import (
    READ_BYTES,
    Blocks,
    FileVersion,
    Form,
    Mark,
    RowGroup,
    changed,
    open_bytes,
    require_unchanged,
    version_of_ends,
)
from pddl_eval.datasets.places import DatasetError, Location
from pddl_eval.shown import encodable
from pddl_eval.shown import line as on_one_line

LINE_BYTES = 16 * 2**20
"""A longer line, or row of a CSV, is damaged: parsed JSON takes some twenty times the memory of its text."""

MOST_COLUMNS = 1000

BLOCK_ROWS = 256
BLOCK_BYTES = 2**20
"""A block of rows ends with the row that reaches one of these."""

BATCH_BYTES = 4 * 2**20
"""Text of the rows that become a record batch, at most (about)."""

TOO_LONG = f"is longer than {LINE_BYTES // 2**20} MiB"

BOM = b"\xef\xbb\xbf"

NULL, BOOL, INT, LARGE_INT, HUGE_INT, FLOAT, TEXT, NESTED, EMPTY = 0, 1, 2, 4, 8, 16, 32, 64, 128
"""Kinds of values, one bit each: integers that a float64 holds exactly, that an int64 holds, and larger ones; ``""``
in a CSV, which some programs write for a null."""

_EXACT, _INT64 = 2**53, 2**63

_DECODE = json.JSONDecoder().decode
_CSV_INT = re.compile(r"-?[1-9][0-9]{0,17}|0")
_CSV_FLOAT = re.compile(r"-?[0-9]+(?:\.[0-9]+)?(?:e[+-][0-9]+)?")
_QUOTED = re.compile(r'"[^"]*(?:""[^"]*)*"')
_CSV_BOOL = {"true": True, "false": False}
_FROM_CSV: Mapping[pa.DataType, Callable[[str], Any]] = {
    pa.bool_(): lambda text: _CSV_BOOL[text.lower()],
    pa.int64(): int,
    pa.float64(): float,
}

Columns = Mapping[str, int]
"""The kinds of values of each column."""


class Damaged(ValueError):
    """Why a row cannot be read: the end of a sentence that begins with its file and line."""


class Record(NamedTuple):
    """A row as text: its line of JSON, or its fields in a CSV; ``end`` and ``next_line`` are what follows it."""

    end: int
    line: int
    next_line: int
    content: Any
    damage: str | None = None


Lines = Iterator[tuple[int, bytes | None]]
"""Lines: the place behind each, and its bytes without the line break, None if it is too long."""


def describe(
    file: pa.NativeFile, location: Location, form: Form, compression: str | None, stopped: Event
) -> tuple[FileVersion, tuple[RowGroup, ...], Columns]:
    """Read a whole file: its blocks, its columns in the order of their first values, and their kinds of values.

    It ends early where ``stopped`` is set.

    Raises ``DatasetError`` where there is no such file, its compression is damaged, or it has too many columns.
    """
    columns: dict[str, int] = {}
    blocks = Blocks()
    rows = block_rows = 0
    with ExitStack() as stack:
        version = version_of_ends(file)
        stream = stack.enter_context(open_bytes(location, compression))
        records = _Rows(stream, form, location)
        columns.update(dict.fromkeys(records.names, NULL))
        begin = records.place
        blocks.begin(Mark(0, begin, records.line))
        for record in records:
            with suppress(Damaged):  # It is a row all the same.
                _note(columns, records.values(record), form)
            rows, block_rows = rows + 1, block_rows + 1
            if block_rows >= BLOCK_ROWS or record.end - begin >= BLOCK_BYTES:
                blocks.end(block_rows, record.end - begin)
                begin, block_rows = record.end, 0
                blocks.begin(Mark(rows, begin, records.line))
                if stopped.is_set():
                    raise KeyboardInterrupt
            if len(columns) > MOST_COLUMNS:
                break
        if len(columns) > MOST_COLUMNS:
            raise DatasetError(f"{location} has more than {MOST_COLUMNS:,} columns.")
        if block_rows:
            blocks.end(block_rows, records.place - begin)
    marks = blocks.marks(Mark(rows, records.place, records.line))
    if compression is not None:  # Reading begins at its beginning.
        marks = (marks[0], marks[-1])
    return FileVersion(location, version, (), form, compression, marks), tuple(blocks.groups), columns


def schema_of(files: Iterable[Columns]) -> pa.Schema:
    """The columns of all files together, each of the one type that loses nothing.

    Numbers are int64 or float64 if that holds them all exactly. A column of different types is text: its texts as they
    are, other values as JSON; so are lists and objects.

    >>> schema_of([{"id": INT, "score": INT}, {"id": INT | TEXT, "score": FLOAT}]).types
    [DataType(string), DataType(double)]
    """
    kinds: dict[str, int] = {}
    for columns in files:
        for name, kind in columns.items():
            kinds[name] = kinds.get(name, NULL) | kind
    return pa.schema([pa.field(name, _type_of(kind)) for name, kind in kinds.items()])


def _type_of(kind: int) -> pa.DataType:
    if kind in (NULL, EMPTY):
        return pa.string() if kind else pa.null()
    kind &= ~EMPTY
    if kind == BOOL:
        return pa.bool_()
    if kind | INT | LARGE_INT == INT | LARGE_INT:
        return pa.int64()
    if kind | INT | FLOAT == INT | FLOAT:
        return pa.float64()
    return pa.string()


def _note(columns: dict[str, int], row: Mapping[str, Any], form: Form) -> None:
    """Add a row's kinds of values to those of its columns."""
    kind_of = _kind_of_field if form is Form.CSV else _kind
    for name, value in row.items():
        known = columns.get(name)
        if known is None:
            columns[name] = kind_of(value)
        elif known & TEXT == 0 or form is not Form.CSV:
            columns[name] = known | kind_of(value)


def _kind(value: Any) -> int:
    if isinstance(value, str):
        return TEXT
    if value is None:
        return NULL
    if isinstance(value, bool):
        return BOOL
    if isinstance(value, int):
        return INT if -_EXACT <= value <= _EXACT else LARGE_INT if -_INT64 <= value < _INT64 else HUGE_INT
    return FLOAT if isinstance(value, float) else NESTED


def _kind_of_field(text: str | None) -> int:
    """The kind of a CSV's field: a number if it can be written back as it was read, so that ``007`` is a text."""
    if not text:
        return NULL if text is None else EMPTY
    if len(text) > 30:
        return TEXT
    if text.lower() in _CSV_BOOL:
        return BOOL
    if _CSV_INT.fullmatch(text):
        return _kind(int(text))
    if _CSV_FLOAT.fullmatch(text) and repr(float(text)) == text:
        return FLOAT
    return TEXT


def _lines(stream: Any, place: int) -> Lines:
    """The lines of a stream that is at a place of its file."""
    rest = b""
    dropped = 0  # Bytes of a line that is too long.
    block = stream.read(READ_BYTES)
    if place == 0 and block.startswith(BOM):
        block, place = block[len(BOM) :], len(BOM)
    while block:
        lines = (rest + block).split(b"\n")
        rest = lines.pop()
        for line in lines:
            place += len(line) + dropped + 1
            yield place, line if not dropped and len(line) <= LINE_BYTES else None
            dropped = 0
        if dropped or len(rest) > LINE_BYTES:
            dropped, rest = dropped + len(rest), b""
        block = stream.read(READ_BYTES)
    if rest or dropped:
        yield place + len(rest) + dropped, None if dropped else rest


def _json_records(lines: Lines, first: int) -> Iterator[Record]:
    """A record for each line that is not blank; ``first`` is the number of the first line."""
    for number, (end, line) in enumerate(lines, first):
        if line is None:
            yield Record(end, number, number + 1, b"", TOO_LONG)
        elif line and not line.isspace():
            yield Record(end, number, number + 1, line)


class _CsvLines:
    """Lines as ``csv.reader`` takes them: ``taken`` are those of the row that it reads."""

    def __init__(self, lines: Lines) -> None:
        self.lines = lines
        self.again: deque[tuple[int, bytes | None]] = deque()
        self.begin()

    def begin(self) -> None:
        self.taken: list[tuple[int, bytes | None]] = []
        self.size = 0
        self.is_text = True

    def __iter__(self) -> _CsvLines:
        return self

    def __next__(self) -> str:
        end, line = self.again.popleft() if self.again else next(self.lines)
        self.taken.append((end, line))
        self.size += len(line or b"")
        if line is None or self.size > LINE_BYTES:
            raise Damaged(TOO_LONG)
        try:
            return f"{line.decode()}\n"
        except UnicodeDecodeError:
            self.is_text = False
            return f"{line.decode('utf-8', 'replace')}\n"

    def whole(self) -> str:
        """The text of the row."""
        return b"\n".join(line or b"" for _, line in self.taken).decode("utf-8", "replace")


def _with_nulls(fields: Sequence[str | None], text: str, delimiter: str) -> list[str | None]:
    """The fields of a row of which this is the text: an empty one that has no quotes is None.

    >>> _with_nulls(["", "a", ""], ',a,""', ",")
    [None, 'a', '']
    """
    if '""' not in text:
        return [field or None for field in fields]
    found: list[str | None] = []
    place = 0
    for field in fields:
        quoted = _QUOTED.match(text, place)
        found.append(field if quoted else field or None)
        end = text.find(delimiter, quoted.end() if quoted else place)
        place = len(text) if end < 0 else end + 1
    return found


def _csv_records(lines: Lines, number: int, delimiter: str, width: int | None) -> Iterator[Record]:
    """A record for each row of a CSV, which may be several lines; blank lines are none.

    A quote that is not closed is mostly found in the next row that has one, where a closed quote is followed by text.
    Then the first of these lines is the damaged row, and the others are read again.
    """
    csv.field_size_limit(LINE_BYTES)
    text = _CsvLines(lines)
    reader = csv.reader(text, delimiter=delimiter, strict=True)
    while True:
        text.begin()
        fields: Sequence[str | None] = []
        damage = None
        try:
            fields = next(reader)
        except StopIteration:
            return
        except Damaged as error:
            damage = str(error)
        except csv.Error as error:
            damage = f"is not CSV: {error}"
        if damage and len(text.taken) > 1:
            text.again.extendleft(reversed(text.taken[1:]))
            del text.taken[1:]
        if "" in fields:
            fields = _with_nulls(fields, text.whole(), delimiter)
        if not text.is_text:
            damage = damage or "is not UTF-8"
        elif fields and width is not None and len(fields) != width:
            damage = f"has {len(fields)} fields and not {width}"
        first, number = number, number + len(text.taken)
        if fields or damage:
            yield Record(text.taken[-1][0], first, number, fields, damage)


class _Rows:
    """The rows of a file as text, from its beginning; ``place`` and ``line`` are behind the last one.

    ``names`` are those of a CSV's header; JSON Lines have none.
    """

    def __init__(self, stream: Any, form: Form, location: Location) -> None:
        self.names: tuple[str, ...] = ()
        self.place, self.line = 0, 1
        self._is_csv = form is Form.CSV
        self._delimiter = ","
        lines = _lines(stream, 0)
        if self._is_csv:
            self._read_header(lines, location)
        self._go_on(lines)

    def seek(self, stream: Any, mark: Mark) -> None:
        """Go on at a mark of the same file, where the stream is."""
        self.place, self.line = mark.place, mark.line
        self._go_on(_lines(stream, mark.place))

    def __iter__(self) -> Iterator[Record]:
        return self

    def __next__(self) -> Record:
        record = next(self._records)
        self.place, self.line = record.end, record.next_line
        return record

    def values(self, record: Record) -> Mapping[str, Any]:
        """The row's values by column; raises ``Damaged``."""
        if record.damage:
            raise Damaged(record.damage)
        if self._is_csv:
            return dict(zip(self.names, record.content, strict=True))
        return _json_object(record.content)

    def _go_on(self, lines: Lines) -> None:
        if self._is_csv:
            self._records = _csv_records(lines, self.line, self._delimiter, len(self.names))
        else:
            self._records = _json_records(lines, self.line)

    def _read_header(self, lines: Lines, location: Location) -> None:
        first = next(lines, None)
        if first is None:
            return
        # Where a comma is the decimal point, spreadsheets write semicolons.
        self._delimiter = max(",\t;", key=lambda each: (first[1] or b"").count(each.encode()))
        header = next(_csv_records(chain([first], lines), 1, self._delimiter, None), None)
        if header is None or header.damage:
            raise DatasetError(f"{location} is not CSV: its first line {header.damage if header else 'is empty'}.")
        twice = [name for name, count in Counter(header.content).items() if count > 1]
        if twice:
            raise DatasetError(f"{location} has two columns named {on_one_line(twice[0])}: rename one.")
        self.names = tuple(header.content)
        self.place, self.line = header.end, header.next_line


class LinesReader:
    """A file of JSON Lines or CSV, open at a row; see ``Reader``."""

    def __init__(self, file: FileVersion) -> None:
        require_unchanged(file)
        self.file = file
        self._open()

    def close(self) -> None:
        self._stream.close()

    def row_group(self, row: int) -> tuple[int, int]:
        return self.file.block(row)

    def read(  # noqa: PLR0913 (see Reader)
        self,
        start: int,
        stop: int,
        batch_rows: int,
        schema: pa.Schema,
        lost: dict[int, str],
        *,
        one_group: bool = False,  # noqa: ARG002 (no row is decoded before it is asked for)
    ) -> Iterator[pa.RecordBatch]:
        self._seek(start)
        while self._position < stop:
            rows: list[Mapping[str, Any]] = []
            begin = self._rows.place
            for record in islice(self._rows, min(batch_rows, stop - self._position)):
                try:
                    rows.append(self._rows.values(record))
                except Damaged as damage:
                    rows.append({})
                    name = on_one_line(self.file.location.name)
                    lost[self._position] = f"{name}:{record.line} {on_one_line(str(damage))}"
                self._position += 1
                if record.end - begin >= BATCH_BYTES:
                    break
            if not rows:
                raise changed(self.file)
            yield self._batch(rows, schema)

    def _open(self) -> None:
        self._stream = open_bytes(self.file.location, self.file.compression)
        self._rows = _Rows(self._stream, self.file.form, self.file.location)
        self._position = 0

    def _seek(self, row: int) -> None:
        """Be at a row: on from here if no mark is nearer, else from the mark before it."""
        mark = self.file.mark_before(row)
        if not mark.row <= self._position <= row:
            if self.file.compression is None:
                self._stream.seek(mark.place)
                self._rows.seek(self._stream, mark)
                self._position = mark.row
            elif self._position > row:
                self.close()
                self._open()
        for _ in islice(self._rows, row - self._position):
            self._position += 1
        if self._position < row:
            raise changed(self.file)

    def _batch(self, rows: Sequence[Mapping[str, Any]], schema: pa.Schema) -> pa.RecordBatch:
        array = _csv_array if self.file.form is Form.CSV else _json_array
        try:
            columns = [array([row.get(field.name) for row in rows], field.type) for field in schema]
        except (pa.ArrowException, TypeError, ValueError):
            raise changed(self.file) from None
        return pa.RecordBatch.from_arrays(columns, schema=schema)


def _json_object(text: bytes) -> dict[str, Any]:
    """The object that a line holds; of a key that stands twice the last value counts. Raises ``Damaged``."""
    try:
        value = _DECODE(text.decode())
    except UnicodeDecodeError as error:
        raise Damaged(f"is not UTF-8: byte {error.start}") from None
    except RecursionError:
        raise Damaged("is nested too deeply") from None
    except json.JSONDecodeError as error:
        raise Damaged(f"is not JSON: {error.msg}, character {error.pos}") from None
    except ValueError as error:  # A number of thousands of digits.
        raise Damaged(f"is not JSON that can be read: {error}") from None
    if not isinstance(value, dict):
        raise Damaged("is not a JSON object")
    if len(value) > MOST_COLUMNS:
        raise Damaged(f"has more than {MOST_COLUMNS:,} keys")
    if b"\\u" in text and not all(map(_is_unicode, value)):
        raise Damaged("has a key that is not Unicode")
    return value


def _json_array(values: list[Any], type_: pa.DataType) -> pa.Array:
    """The values as a column, in a column of text lists, objects and values of another type as JSON."""
    try:
        return pa.array(values, type_)
    except (pa.ArrowException, TypeError, ValueError):
        if type_ != pa.string():
            raise
        return pa.array(map(_as_text, values), type_)


def _as_text(value: Any) -> str | None:
    """A text as it is, but half a surrogate pair as its code; any other value as JSON."""
    if value is None:
        return None
    return encodable(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))


def _csv_array(texts: list[str | None], type_: pa.DataType) -> pa.Array:
    """The fields as a column; an empty one that should be a number is null."""
    parse = _FROM_CSV.get(type_)
    return pa.array([parse(text) if text else None for text in texts] if parse else texts, type_)


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
