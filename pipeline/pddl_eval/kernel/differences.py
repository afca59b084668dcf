"""The column of differences that the kernel sends, as values: it knows no kind and no field by name."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise, repeat
from typing import Any, TypeAlias

import pyarrow as pa

from pddl_eval.definition.words import Difference

Row: TypeAlias = "tuple[tuple[Any, ...], ...]"
"""Differences as they are sent, each a kind, the names of its fields and their values: a key for what they say."""


def rows_of(column: pa.LargeListArray) -> Iterator[Row | None]:
    """The differences of each row, None for a null: a row is a list of a union, each kind a struct of its fields."""
    union = column.values
    kinds = [_kind(field, union.field(code)) for code, field in enumerate(union.type)]
    places = zip(union.type_codes.to_pylist(), union.offsets.to_pylist(), strict=True)
    sent = [kinds[code][place] for code, place in places]
    for is_valid, (start, end) in zip(column.is_valid().to_pylist(), pairwise(column.offsets.to_pylist()), strict=True):
        yield tuple(sent[start:end]) if is_valid else None


def differences(row: Row) -> list[Difference]:
    """A row's differences; a field that is None is the difference before it, which is then none of the row's own."""
    found: list[Difference] = []
    for what, names, *values in row:
        fields = {name: found.pop() if value is None else value for name, value in zip(names, values, strict=True)}
        found.append(Difference(what, **fields))
    return found


def _kind(field: pa.Field, fields: pa.StructArray) -> list[tuple[Any, ...]]:
    """All differences of a kind."""
    names, count = tuple(each.name for each in field.type), len(fields)
    return list(zip(repeat(field.name, count), repeat(names, count), *map(_values, fields.flatten()), strict=True))


def _values(column: pa.Array) -> list[Any]:
    """The values of a column, lists as tuples; those of a list at once, since pyarrow makes them one by one."""
    if not pa.types.is_large_list(column.type):
        return column.to_pylist()  # type: ignore[no-any-return]
    values = _values(column.values)
    return [tuple(values[start:end]) for start, end in pairwise(column.offsets.to_pylist())]
