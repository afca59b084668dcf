"""The column of differences that the kernel sends, as values: it knows no kind and no field by name."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import pyarrow as pa

from pddl_eval.definition.words import Difference


def differences(column: pa.LargeListArray) -> Iterator[list[Difference] | None]:
    """The differences of each row, None for a null.

    A row is a list of a union: each kind is a struct of its fields. A field of type null is the difference before it in
    the list, which is then none of the row's own.
    """
    union = column.values
    kinds = [_kind(field, union.field(code)) for code, field in enumerate(union.type)]
    codes, places = union.type_codes.to_pylist(), union.offsets.to_pylist()
    for is_valid, (start, end) in zip(column.is_valid().to_pylist(), pairwise(column.offsets.to_pylist()), strict=True):
        found: list[Difference] = []
        for code, place in zip(codes[start:end], places[start:end], strict=True):
            what, names, rows, nested = kinds[code]
            fields = dict(zip(names, rows[place], strict=True))
            for name in nested:
                fields[name] = found.pop()
            found.append(Difference(what, **fields))
        yield found if is_valid else None


def _kind(field: pa.Field, fields: pa.StructArray) -> tuple[str, list[str], list[tuple[Any, ...]], list[str]]:
    """Its name, those of its fields, their values, and the fields that are another difference."""
    columns = dict(zip((each.name for each in field.type), fields.flatten(), strict=True))
    nested = [name for name, column in columns.items() if pa.types.is_null(column.type)]
    known = {name: _values(column) for name, column in columns.items() if name not in nested}
    return field.name, list(known), list(zip(*known.values(), strict=True)) or [()] * len(fields), nested


def _values(column: pa.Array) -> list[Any]:
    """The values of a column, lists as tuples; those of a list at once, since pyarrow makes them one by one."""
    if not pa.types.is_large_list(column.type):
        return column.to_pylist()  # type: ignore[no-any-return]
    values = _values(column.values)
    return [tuple(values[start:end]) for start, end in pairwise(column.offsets.to_pylist())]
