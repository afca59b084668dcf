"""What counts as a column, and how references and generated values pair up."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from pddl_eval.scoring.pairing import as_column, pair_up


@pytest.mark.parametrize(
    "column",
    [
        ["a", None],
        ("a", float("nan")),
        pl.Series(["a", None]),
        pd.Series(["a", None]),
        pd.Series(["a", pd.NA], dtype="string"),
        pd.Series(["a", pd.NaT], dtype=object),
        pd.array(["a", None]),
        np.array(["a", np.nan], dtype=object),
        pa.array(["a", None]),
        pa.chunked_array([["a"], [None]]),
    ],
)
def test_columns_and_their_missing_values(column: object) -> None:
    assert as_column(column) == ["a", None]


@pytest.mark.parametrize("value", ["a", np.str_("a"), np.True_, np.float64(1), np.array("a"), None, 7, {"a": 1}, b"a"])
def test_single_values(value: object) -> None:
    assert as_column(value) is None


def test_a_list_may_be_one_value() -> None:
    assert as_column(["a"], lambda _: True) is None
    assert as_column(pl.Series(["a"]), lambda _: True) == ["a"]


def test_pairs() -> None:
    assert pair_up(1, 3, "numbers") == ([(1, 3)], False)
    assert pair_up([1, 2], (3, 4), "numbers") == ([(1, 3), (2, 4)], True)
    assert pair_up(1, [3, 4], "numbers") == ([(1, 3), (1, 4)], True)
    with pytest.raises(ValueError, match=r"1 reference numbers .* 2 generated"):
        pair_up([1], [3, 4], "numbers")
    with pytest.raises(ValueError, match="needs a column"):
        pair_up([1], 3, "numbers")


def test_beside_a_column_an_empty_list_is_an_empty_column() -> None:
    assert pair_up([], [], "lists", lambda _: True) == ([([], [])], False)
    assert pair_up(pl.Series([]), [], "lists", lambda _: True) == ([], True)
    assert pair_up((), pl.Series([]), "lists", lambda _: True) == ([], True)
