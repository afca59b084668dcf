"""Keys of content: equal for rows that score equally because they say the same, different for all others."""

from __future__ import annotations

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pddl_eval.options import ScoringOptions
from pddl_eval.rescoring.content import content_columns, content_keys
from pddl_eval.table import ColumnError

TEXTS = st.none() | st.text("ab(", max_size=3)
ROWS = st.lists(
    st.fixed_dictionaries(
        {
            "reference_problem": TEXTS,
            "generated_problem": TEXTS,
            "domain": TEXTS,
            "is_placeholder": st.none() | st.booleans(),
        }
    ),
    max_size=12,
)
SCHEMA = pa.schema(
    [
        ("reference_problem", pa.string()),
        ("generated_problem", pa.string()),
        ("domain", pa.string()),
        ("is_placeholder", pa.bool_()),
    ]
)


def keys(table: pa.Table, **columns: str) -> list[tuple[int, int]]:
    return [(high, low) for high, low in content_keys(table, ScoringOptions(columns=columns)).tolist()]


@given(ROWS)
def test_rows_have_equal_keys_exactly_where_their_content_is_equal(rows: list[dict[str, object]]) -> None:
    contents = [
        (row["reference_problem"], row["generated_problem"], row["domain"] or None, bool(row["is_placeholder"]))
        for row in rows
    ]
    found = keys(pa.Table.from_pylist(rows, schema=SCHEMA))
    for mine, my_key in zip(contents, found, strict=True):
        for other, key in zip(contents, found, strict=True):
            assert (mine == other) == (my_key == key)


@given(ROWS, st.integers(0, 5))
def test_neither_encoding_nor_chunks_nor_names_nor_other_columns_change_a_key(
    rows: list[dict[str, object]], cut: int
) -> None:
    table = pa.Table.from_pylist(rows, schema=SCHEMA)
    expected = keys(table)
    assert keys(pa.concat_tables([table.slice(0, cut), table.slice(cut)])) == expected
    assert keys(table.slice(cut)) == expected[cut:]
    wide = table.cast(
        pa.schema([SCHEMA.field(0).with_type(pa.large_string()), *(SCHEMA.field(place) for place in (1, 2, 3))])
    )
    assert keys(wide) == expected
    text = table["generated_problem"]
    encoded = table.set_column(1, "output", text.dictionary_encode() if len(rows) else text)
    assert keys(encoded.append_column("n", pa.array(range(len(rows)))), generated_problem="output") == expected
    assert keys(table.set_column(1, "generated_problem", text.cast(pa.string_view()))) == expected


def test_a_missing_column_is_one_of_nulls() -> None:
    pair = pa.table({"reference_problem": ["(a)"], "generated_problem": ["(b)"]})
    full = pair.append_column("domain", pa.nulls(1, pa.string())).append_column("is_placeholder", pa.array([False]))
    assert keys(pair) == keys(full)


def test_what_is_not_scored_is_not_content() -> None:
    """Half a pair has no scores; a reference problem says what a plan is carried out on."""
    schema = pa.schema(
        [(name, pa.string()) for name in ("generated_plan", "reference_plan", "reference_domain", "reference_problem")]
    )
    assert content_columns(schema, ScoringOptions()) == ["generated_plan", "reference_plan", "reference_problem"]
    with pytest.raises(ColumnError):
        content_columns(pa.schema([("reference_plan", pa.string())]), ScoringOptions())


def test_what_lies_behind_a_null_is_no_content() -> None:
    hidden = pa.Array.from_buffers(
        pa.string(),
        2,
        [pa.py_buffer(b"\x00"), pa.py_buffer(bytes([0, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0])), pa.py_buffer(b"xy")],
    )
    assert hidden.to_pylist() == [None, None]
    first, second = keys(pa.table({"reference_plan": hidden, "generated_plan": ["(a)", "(a)"]}))
    assert first == second
