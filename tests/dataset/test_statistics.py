"""Statistics of parts add up to those of the whole."""

from __future__ import annotations

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st
from pddl_eval.dataset.statistics import column_statistics, merge_statistics

rows = st.lists(
    st.tuples(
        st.none() | st.booleans(),
        st.none() | st.sampled_from(["equivalent", "unparseable"]),
        st.none() | st.integers(-100, 100),
        st.none() | st.text(max_size=2),
    )
)
SCHEMA = pa.schema(
    [("solvable", pa.bool_()), ("verdict", pa.string()), ("plan_length", pa.int64()), ("detail", pa.string())]
)


def table(values: list[tuple[object, ...]]) -> pa.Table:
    return pa.table([list(column) for column in zip(*values, strict=True)] or [[]] * 4, schema=SCHEMA)


@given(st.lists(rows, min_size=1, max_size=4))
def test_parts_add_up(parts: list[list[tuple[object, ...]]]) -> None:
    names = SCHEMA.names
    whole = column_statistics(table([row for part in parts for row in part]), names, counted=["verdict"])
    merged = merge_statistics(column_statistics(table(part), names, counted=["verdict"]) for part in parts)
    assert merged == whole


def test_undecided_is_neither_true_nor_false_and_null_is_no_verdict() -> None:
    two = table([(True, "equivalent", 3, "x"), (None, None, None, None)])
    assert column_statistics(two, SCHEMA.names, counted=["verdict"]) == {
        "solvable": {"true": 1, "false": 0, "null": 1},
        "verdict": {"equivalent": 1},
        "plan_length": {"count": 1, "sum": 3},
        "detail": {"count": 1},
    }
