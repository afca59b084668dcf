"""What a comparison looks like: warnings first, hostile names tamed, everything in JSON."""

from __future__ import annotations

import io
import json
from pathlib import Path

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pddl_eval.comparison import Comparison, compare_datasets
from pddl_eval.comparison.render import comparison_json, comparison_markdown, print_comparison
from pddl_eval.run import SIGNATURE_KEY
from rich.console import Console


def scored(path: Path, signature: str, equivalent: list[bool], models: list[str]) -> Path:
    verdicts = ["identical" if each else "goal_differs" for each in equivalent]
    columns = {"id": list(range(len(models))), "model": models, "equivalent": equivalent, "verdict": verdicts}
    table = pa.table({**columns, "detail": ["the goal lacks\n(on a b)"] * len(models)})
    pq.write_table(table.replace_schema_metadata({SIGNATURE_KEY: signature}), path)
    return path


@pytest.fixture
def comparison(tmp_path: Path) -> Comparison:
    models = ["a|b", "[red]\x1b[31m", "a|b"]
    old = scored(tmp_path / "old.parquet", "pddl-eval:1", [True, True, False], models)
    return compare_datasets(old, scored(tmp_path / "new.parquet", "pddl-eval:2", [False, True, False], models))


def printed(comparison: Comparison) -> str:
    page = io.StringIO()
    print_comparison(comparison, Console(file=page, width=100, highlight=False))
    return page.getvalue()


def test_different_signatures_are_said_first(comparison: Comparison) -> None:
    for text in (printed(comparison), comparison_markdown(comparison).removeprefix("> **")):
        assert text.startswith("Warning:")
        assert text.index("pddl-eval:1") < text.index("pddl-eval:2") < text.index("in both")
    assert not json.loads(comparison_json(comparison))["same_signature"]


def test_a_regression_is_shown_with_its_key_and_the_command_that_explains_it(comparison: Comparison) -> None:
    text = " ".join(printed(comparison).split())
    assert "3 rows in both, joined on id; 0 new, 0 gone." in text
    assert "1 row right before and not any more, 0 right now and not before." in text
    assert "identical → goal differs" in text
    assert "--row 0" in text
    assert json.loads(comparison_json(comparison))["examples"][0]["detail"] == "the goal lacks\n(on a b)"


def test_names_from_the_data_are_neither_markup_nor_escape_sequences(comparison: Comparison) -> None:
    moved = compare_datasets(comparison.new.frame.drop("pddl_eval.row"), comparison.old.frame.drop("pddl_eval.row"))
    assert "\x1b" not in printed(comparison) + comparison_markdown(comparison)
    assert "a\\|b" in comparison_markdown(moved)


def test_only_groups_in_which_something_moved_are_printed(comparison: Comparison) -> None:
    rates = printed(comparison).partition("Rates")[2]
    assert "a|b" in rates
    assert "[red]" not in rates


def test_equal_datasets_have_no_tables_of_changes() -> None:
    frame = pl.DataFrame({"id": [1], "equivalent": [True], "verdict": ["identical"]})
    text = printed(compare_datasets(frame, frame))
    assert "Warning" not in text
    assert "Verdicts that changed" not in text
    assert "0 rows right before" in text


def test_long_tables_are_cut_and_say_so() -> None:
    models = [f"m{n:03}" for n in range(100)]
    frame = pl.DataFrame(
        {"id": range(100), "model": models, "equivalent": [True] * 100, "verdict": ["identical"] * 100}
    )
    page = printed(compare_datasets(frame, frame.with_columns(equivalent=~pl.col("equivalent"))))
    assert "the first 60 of 101; --format json has all" in " ".join(page.split())
