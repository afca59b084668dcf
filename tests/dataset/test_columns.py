"""Some columns of an input, all rows or one."""

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pddl_eval.dataset.columns import column_batches, holds_text, read_row, require_columns, require_text
from pddl_eval.dataset.locations import DatasetError
from pddl_eval.dataset.sources import Source, open_source


@pytest.fixture
def source(tmp_path: Path) -> Source:
    for name, numbers in (("b.parquet", range(5, 8)), ("a.parquet", range(5))):
        texts = pa.array([str(number) for number in numbers]).dictionary_encode()
        columns = {"number": list(numbers), "text": texts, "nothing": pa.nulls(len(numbers))}
        pq.write_table(pa.table(columns), tmp_path / name, row_group_size=2)
    return open_source(tmp_path)


def test_batches_follow_the_files_in_order(source: Source) -> None:
    batches = list(column_batches(source, ["number"], batch_rows=3))
    assert [number for batch in batches for number in batch["number"].to_pylist()] == list(range(8))
    assert {batch.num_columns for batch in batches} == {1}
    assert max(batch.num_rows for batch in batches) <= 3


def test_a_row_is_found_wherever_it_lies(source: Source) -> None:
    assert [read_row(source, number, ["text"]) for number in range(8)] == [{"text": str(n)} for n in range(8)]
    with pytest.raises(DatasetError, match="There is no row 8"):
        read_row(source, 8, ["text"])


def test_text_is_text_however_it_is_encoded(source: Source) -> None:
    assert [holds_text(source, name) for name in ("text", "nothing", "number", "absent")] == [True, True, False, False]
    require_text(source, "text")
    with pytest.raises(DatasetError, match=r"Column number of .* should hold text, but its type is int64"):
        require_text(source, "number")


def test_a_missing_column_is_named_with_the_nearest(source: Source) -> None:
    require_columns(source, ["number", "text"])
    with pytest.raises(DatasetError, match=r"There is no column numbers in .*: did you mean number?"):
        require_columns(source, ["text", "numbers"])
    with pytest.raises(DatasetError, match="the columns are number, text, nothing"):
        require_columns(source, ["xyz"])
