"""Conditions of ``--where``: expressions on columns, and nothing else that SQL has."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from pddl_eval.datasets import fulfilling
from pddl_eval.errors import UserError

FRAME = pl.LazyFrame(
    {
        "id": [1, 2, 3, 4],
        "name": ["a", "it's", None, "B"],
        "select": [1, 0, 0, 0],
        "read_csv": [0, 1, 0, 0],
        "date": ["2024-01-01", "2025-01-01", "x", "y"],
        "a b": [True, False, True, None],
        'q"q': [1, 1, 2, 2],
        "Größe": [0.5, 1.5, 2.5, 3.5],
    }
)


@pytest.mark.parametrize(
    ("condition", "rows"),
    [
        ("id = 1", 1),
        ("id IN (1, 2, 7) AND name IS NOT NULL", 2),
        ("name = 'it''s'", 1),
        ("name = '-- SELECT /* (;'", 0),
        ("lower(name) = 'b' or upper(name)='A'", 2),
        ("id BETWEEN 2 AND 3", 2),
        ("id > avg(id)", 2),
        ("NOT (id = 1)", 3),
        ("id * 2 + 1 >= 7", 2),
        ("name LIKE '%t%' OR name ~ '^[ab]$'", 2),
        (r"date ~ '^\d{4}'", 2),
        ("CASE WHEN id < 3 THEN 'x' ELSE 'y' END = 'x'", 2),
        ("CAST(id AS varchar) = '4'", 1),
        ("id::int = 4", 1),
        ("name IS DISTINCT FROM 'a'", 3),
        ("coalesce(name, 'none') = 'none'", 1),
        ("select = 1", 1),
        ('"select" = 1', 1),
        ("`read_csv` = 1", 1),
        ("date = 'x'", 1),
        ('"a b"', 2),
        ('"q""q" = 2', 2),
        ("Größe > 2", 2),
        ("-id < -3", 1),
        (" OR ".join(f"id = {number}" for number in range(200)), 4),
        (f"id IN ({','.join(map(str, range(10_000)))})", 4),
    ],
    ids=lambda value: str(value)[:40],
)
def test_an_expression_on_columns_chooses_rows(condition: str, rows: int) -> None:
    assert fulfilling(FRAME, condition, "the frame")[1] == rows


@pytest.mark.parametrize(
    "condition",
    [
        "name IN (SELECT column_1 FROM read_csv('{file}'))",
        "name IN (SELECT * FROM '{file}')",
        "name IN (FROM read_csv('{file}'))",
        "EXISTS (SELECT 1 FROM read_csv('{file}'))",
        "EXISTS (SELECT 1)",
        "id = (WITH t AS (SELECT 1) SELECT * FROM t)",
        "WITH t AS (SELECT 1) SELECT * FROM t",
        "id IN (TABLE t)",
        "id IN (VALUES (1))",
        "id = ANY (SELECT 1)",
        "read_csv('{file}') IS NULL",
        "\"read_csv\"('{file}') IS NULL",
        "`read_csv` ('{file}') IS NULL",
        "read_parquet('{file}') IS NULL",
        "read_json('{file}') IS NULL",
        "read_ipc('{file}') IS NULL",
        "read_csv /**/ ('{file}') IS NULL",
        "id = 1 -- ",
        "id = 1 /* */",
        "id = 1; SELECT 1",
        r"name = 'a\' OR name IN (SELECT 1) OR name = '",
        "name = E'a'",
        "name = $$a$$",
        "name = U&'a'",
        "[id] = 1",
        "id = unnest(id)",
        "sum(id) OVER (PARTITION BY name) > 1",
        "COUNT(*) > 1",
        "* = 1",
        "select(1) = 1",
        "select name from self",
        "id = 1 UNION SELECT 1",
        "name = 'open",
        '"id = 1',
        "id = 1 \x00",
        "id FROM id",
        "nowhere = 1",
        '"pddl_eval.row" = 1',
        "pddl_eval.row = 1",
        "name > 1 + 'a'",
        "",
        " ",
        "id",
        "(" * 1_000 + "id = 1" + ")" * 1_000,
        "NOT " * 5_000 + "id = 1",
        "-" * 5_000 + "id = 1",
        " OR ".join(f"id = {number}" for number in range(2_000)),
        "id < 0" + " + 1" * 30_000,
        "id = 1" + " " * 200_000,
        "lower(" * 300 + "name" + ")" * 300 + " = 'a'",
        "CASE WHEN " * 400 + "id",
    ],
    ids=lambda value: value[:40],
)
def test_what_is_no_expression_on_columns_is_refused_in_one_line(condition: str, tmp_path: Path) -> None:
    """No file is opened, nothing of one is shown, and no internal name."""
    file = tmp_path / "secrets.csv"
    file.write_text("hidden,words\nof,this file\n")
    with pytest.raises(UserError) as refused:
        fulfilling(FRAME.with_row_index("pddl_eval.row"), condition.replace("{file}", str(file)), "the frame")
    said = str(refused.value)
    assert "hidden" not in said and "\n" not in said and len(said) < 1_000
    assert "pddl_eval.row" in condition or "pddl_eval.row" not in said
