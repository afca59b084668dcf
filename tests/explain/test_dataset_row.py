"""A row of a dataset: found by number over files and row groups, or by its id."""

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pddl_eval.datasets import DatasetError, open_source
from pddl_eval.errors import UserError
from pddl_eval.explain.dataset_row import DatasetRow, row_at, rows_of_id


@pytest.fixture
def scored(tmp_path: Path) -> Path:
    """Two partitions with row groups of two rows: rows 0 to 4 and 5 to 7."""
    for name, numbers in (("part-000.parquet", range(5)), ("part-001.parquet", range(5, 8))):
        columns = {
            "reference_problem": [f"reference {number}" for number in numbers],
            "output": [None if number == 3 else f"answer {number}" for number in numbers],
            "is_placeholder": [number % 2 == 1 for number in numbers],
            "domain": ["" if number == 0 else "gripper" for number in numbers],
            "pair_id": [100 + number for number in numbers],
            "verdict": ["identical" for _ in numbers],
        }
        pq.write_table(pa.table(columns), tmp_path / name, row_group_size=2)
    return tmp_path


NAMES = {"generated_problem": "output"}


def test_every_row_is_found_over_row_groups_and_files(scored: Path) -> None:
    for number in range(8):
        pair = row_at(open_source(scored), number, NAMES)
        assert (pair.number, pair.values["reference_problem"]) == (number, f"reference {number}")
        assert pair.values["is_placeholder"] == (number % 2 == 1)
    values = {"reference_problem": "reference 3", "generated_problem": None, "is_placeholder": True}
    assert row_at(open_source(scored), 3, NAMES) == DatasetRow(3, {**values, "domain": "gripper"}, "identical")


def test_a_dataset_needs_no_column_but_the_pair(tmp_path: Path) -> None:
    pq.write_table(pa.table({"reference_problem": ["r"], "generated_problem": ["g"]}), tmp_path / "p.parquet")
    assert row_at(open_source(tmp_path / "p.parquet"), 0) == DatasetRow(
        0, {"reference_problem": "r", "generated_problem": "g"}
    )


def test_an_id_of_any_type_names_the_first_row_that_has_it(scored: Path) -> None:
    assert rows_of_id(open_source(scored), ["106"], ["pair_id"]) == [6]
    assert rows_of_id(open_source(scored), ["reference 2", "102"], ["reference_problem", "pair_id"]) == [2]
    with pytest.raises(DatasetError, match="999"):
        rows_of_id(open_source(scored), ["999"], ["pair_id"])


def test_what_is_not_there_is_said(scored: Path) -> None:
    with pytest.raises(DatasetError, match=r"\b8\b"):
        row_at(open_source(scored), 8, NAMES)
    with pytest.raises(DatasetError, match="-1"):
        row_at(open_source(scored), -1, NAMES)
    with pytest.raises(UserError, match="generated_problem"):
        row_at(open_source(scored), 0)
    with pytest.raises(UserError, match=r"placeholder.*is_placeholder"):
        row_at(open_source(scored), 0, NAMES | {"is_placeholder": "placeholder"})
    with pytest.raises(DatasetError, match=r"pair_id.*int64"):
        row_at(open_source(scored), 0, {"generated_problem": "pair_id"})
