"""JSON Lines and CSV: their rows, the kinds of values in their columns, and the types that hold these.

These forms declare nothing: the columns and their types are known at the end of the last file.

A row that cannot be read keeps its place: its columns are null, and ``Row.damage`` says why.
"""

from __future__ import annotations

import csv
import json
import re
from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain, islice
from typing import Any, NamedTuple

import pyarrow as pa

from pddl_eval.datasets.forms import READ_BYTES, Form
from pddl_eval.datasets.places import DatasetError, Location
from pddl_eval.shown import encodable
from pddl_eval.shown import line as on_one_line

LINE_BYTES = 16 * 2**20
"""A longer line, or row of a CSV, is damaged: parsed JSON takes some twenty times the memory of its text."""

MOST_COLUMNS = 1000

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


class Damaged(ValueError):
    """Why a row cannot be read: the end of a sentence that begins with its file and line."""


class Row(NamedTuple):
    """A row: its values by column, or else its damage; the first of its lines, and the bytes of its text."""

    line: int
    values: Mapping[str, Any]
    size: int
    damage: str | None = None


def rows(stream: Any, form: Form, location: Location, columns: dict[str, int]) -> Iterator[Row]:
    """The rows of a stream; the kinds of their values are added to those of the ``columns``.

    Raises ``DatasetError`` where a CSV has no header that can be read, and where there are too many columns.
    """
    text = split(stream, LINE_BYTES)
    found = _csv_rows(text, location, columns) if form is Form.CSV else _json_rows(text)
    kind_of = _kind_of_field if form is Form.CSV else _kind
    for row in found:
        for name, value in row.values.items():
            known = columns.get(name, NULL)
            if not known & TEXT:  # With a text among them, the column is text.
                columns[name] = known | kind_of(value)
        if len(columns) > MOST_COLUMNS:
            break
        yield row
    if len(columns) > MOST_COLUMNS:
        raise DatasetError(f"{location} has more than {MOST_COLUMNS:,} columns.")


def schema_of(columns: Mapping[str, int]) -> pa.Schema:
    """The columns with these kinds of values, each of the one type that loses nothing.

    Numbers are int64 or float64 if that holds them all exactly. A column of different types is text: its texts as they
    are, other values as JSON; so are lists and objects.

    >>> schema_of({"id": INT | TEXT, "score": INT | FLOAT}).types
    [DataType(string), DataType(double)]
    """
    return pa.schema([pa.field(name, _type_of(kind)) for name, kind in columns.items()])


def array_of(values: list[Any], type_: pa.DataType, form: Form) -> pa.Array:
    """Values of rows as a column of that type."""
    return _csv_array(values, type_) if form is Form.CSV else _json_array(values, type_)


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


def split(stream: Any, most_bytes: int) -> Iterator[bytes | None]:
    """The lines of a stream without their line breaks, None for a longer one."""
    rest = b""
    dropped = False  # The beginning of a line that is too long.
    block = stream.read(READ_BYTES).removeprefix(BOM)
    while block:
        lines = (rest + block).split(b"\n")
        rest = lines.pop()
        for line in lines:
            yield None if dropped or len(line) > most_bytes else line
            dropped = False
        if dropped or len(rest) > most_bytes:
            dropped, rest = True, b""
        block = stream.read(READ_BYTES)
    if rest or dropped:
        yield None if dropped else rest


def _json_rows(lines: Iterator[bytes | None]) -> Iterator[Row]:
    """A row for each line that is not blank."""
    for number, line in enumerate(lines, 1):
        if line is None:
            yield Row(number, {}, 0, TOO_LONG)
        elif line and not line.isspace():
            try:
                yield Row(number, json_object(line), len(line))
            except Damaged as damage:
                yield Row(number, {}, 0, str(damage))


class _CsvLines:
    """Lines as ``csv.reader`` takes them: ``taken`` are those of the row that it reads."""

    def __init__(self, lines: Iterator[bytes | None]) -> None:
        self.lines = lines
        self.again: deque[bytes | None] = deque()
        self.why = ""
        self.begin()

    def begin(self) -> None:
        self.taken: list[bytes | None] = []
        self.size = 0
        self.is_text = True

    def __iter__(self) -> _CsvLines:
        return self

    def __next__(self) -> str:
        if self.taken and self.again:  # The row goes on in lines that, read so before, led to the same damage.
            raise Damaged(self.why)
        line = self.again.popleft() if self.again else next(self.lines)
        self.taken.append(line)
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
        return b"\n".join(line or b"" for line in self.taken).decode("utf-8", "replace")


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


def _csv_rows(lines: Iterator[bytes | None], location: Location, columns: dict[str, int]) -> Iterator[Row]:
    """The rows of a CSV by its header, whose names are added to the columns."""
    first = list(islice(lines, 1))
    if not first:
        return
    # Where a comma is the decimal point, spreadsheets write semicolons.
    delimiter = max(",\t;", key=lambda each: (first[0] or b"").count(each.encode()))
    records = _csv_records(chain(first, lines), delimiter)
    _, header, _, damage = next(records, (1, [], 0, "is empty"))
    if damage:
        raise DatasetError(f"{location} is not CSV: its first line {damage}.")
    names = [name or "" for name in header]
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        raise DatasetError(f"{location} has two columns named {on_one_line(twice[0])}: rename one.")
    for name in names:
        columns.setdefault(name, NULL)
    for line, fields, size, damage in records:
        if not damage and len(fields) != len(names):
            damage = f"has {len(fields)} fields and not {len(names)}"
        yield Row(line, {} if damage else dict(zip(names, fields, strict=True)), size, damage)


def _csv_records(
    lines: Iterator[bytes | None], delimiter: str
) -> Iterator[tuple[int, Sequence[str | None], int, str | None]]:
    """Each row of a CSV, which may be several lines: its first line, its fields, its bytes, its damage.

    A quote that is not closed is mostly found in the next row that has one, where a closed quote is followed by text.
    Then the first of these lines is the damaged row, and the others are read again.
    """
    number = 1
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
            text.why = damage
            del text.taken[1:]
        if "" in fields:
            fields = _with_nulls(fields, text.whole(), delimiter)
        if not text.is_text:
            damage = damage or "is not UTF-8"
        if fields or damage:
            yield number, fields, text.size, damage
        number += len(text.taken)


def json_object(text: bytes) -> dict[str, Any]:
    """The object that a line holds; of a key that stands twice the last value counts. Raises ``Damaged``."""
    try:
        value = _DECODE(text.decode())
    except UnicodeDecodeError as error:
        raise Damaged(f"is not UTF-8: byte {error.start}") from None
    except RecursionError:
        raise Damaged("is nested too deeply") from None
    except json.JSONDecodeError as error:
        raise Damaged(f"is not JSON: {error.msg.removesuffix(' at')}, character {error.pos}") from None
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
