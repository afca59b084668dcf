"""The differences that the kernel sends, as values: it knows no kind and no field by name."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pyarrow as pa

from pddl_eval.definition.words import Difference


def differences(column: pa.ListArray) -> list[list[Difference]]:
    """Lists of structs, each a kind and the names and values of its fields.

    A value is one of a union; a null is the difference before, which is then none of the list's own.
    """
    what, fields = map(column.values.field, range(2))
    names, union = map(fields.values.field, range(2))
    kinds = [_values(union.field(code)) for code in range(union.type.num_fields)]
    places = zip(union.type_codes.to_pylist(), union.offsets.to_pylist(), strict=True)
    named = list(zip(names.to_pylist(), (kinds[code][place] for code, place in places), strict=True))
    ends = pairwise(fields.offsets.to_pylist())
    sent = [(kind, named[start:end]) for kind, (start, end) in zip(what.to_pylist(), ends, strict=True)]
    return [_nested(sent[start:end]) for start, end in pairwise(column.offsets.to_pylist())]


def _nested(sent: list[tuple[str, list[tuple[str, Any]]]]) -> list[Difference]:
    found: list[Difference] = []
    for what, fields in sent:
        found.append(Difference(what, **{name: found.pop() if value is None else value for name, value in fields}))
    return found


def _values(column: pa.Array) -> list[Any]:
    """The values of a column, lists as tuples; those of a list at once, since pyarrow makes them one by one.

    An atom behind ``not`` is negated: no predicate, object or type has that name.
    """
    if not pa.types.is_list(column.type):
        return column.to_pylist()  # type: ignore[no-any-return]
    values = _values(column.values)
    found = [tuple(values[start:end]) for start, end in pairwise(column.offsets.to_pylist())]
    return [("not", each[1:]) if each[:1] == ("not",) else each for each in found]
