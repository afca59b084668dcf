"""Counts and sums over score columns that add up: of a shard, of a run, of a run that was resumed five times.

Which columns there are is the scorer's business; what is kept of one follows from its type alone.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

import pyarrow as pa
import pyarrow.compute as pc

Statistics = Mapping[str, Mapping[str, float]]
"""By column: ``true``/``false``/``null`` of a bool, ``count``/``sum`` of a number, ``count`` of a string (not null),
and, of a counted string, how often each of its values occurs."""


def column_statistics(table: pa.Table, columns: Iterable[str], counted: Collection[str] = ()) -> Statistics:
    """The statistics of some columns of a table; the values of those in ``counted`` are counted one by one.

    >>> scores = pa.table({"verdict": ["equivalent", "equivalent", "unparseable"], "solvable": [True, None, False]})
    >>> column_statistics(scores, ["verdict", "solvable"], counted=["verdict"])
    {'verdict': {'equivalent': 2, 'unparseable': 1}, 'solvable': {'true': 1, 'false': 1, 'null': 1}}
    """
    return {name: _of_column(table.column(name), name in counted) for name in columns}


def merge_statistics(parts: Iterable[Statistics]) -> Statistics:
    """The statistics of all parts together; sums are added in the order of the parts.

    >>> merge_statistics([{"plan_lcs": {"count": 2, "sum": 1.5}}, {"plan_lcs": {"count": 1, "sum": 0.5}}])
    {'plan_lcs': {'count': 3, 'sum': 2.0}}
    """
    total: dict[str, dict[str, float]] = {}
    for part in parts:
        for column, values in part.items():
            into = total.setdefault(column, {})
            for key, value in values.items():
                into[key] = into.get(key, 0) + value
    return total


def _of_column(column: pa.ChunkedArray, counted: bool) -> dict[str, float]:
    present = len(column) - column.null_count
    if pa.types.is_boolean(column.type):
        true = pc.sum(column).as_py() or 0
        return {"true": true, "false": present - true, "null": column.null_count}
    if counted:
        counts = pc.value_counts(column.drop_null())
        return {str(entry["values"]): entry["counts"] for entry in counts.to_pylist()}
    if pa.types.is_integer(column.type) or pa.types.is_floating(column.type):
        return {"count": present, "sum": pc.sum(column).as_py() or 0}
    return {"count": present}
