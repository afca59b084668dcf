"""``verify`` finds each harm to a scored folder, and its repair leaves what the same command completes."""

from __future__ import annotations

import errno
import json
import shutil
from collections.abc import Callable, Collection
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pddl_eval import build_report, run_status, score_dataset, verify_dataset
from pddl_eval.datasets import DatasetError, Unavailable, locate
from pddl_eval.run import MANIFEST, SUMMARY
from pddl_eval.run.lock import claimed

from tests.run.test_lock import elsewhere, lock_of
from tests.run.test_run_restart import failing
from tests.run.test_tiling import ROWS, SHARD_ROWS, double, lose, partition, scored, write_partition
from tests.support.parquet_files import flip_bit
from tests.support.running import run

__all__ = ["failing", "scored"]

OPTIONS = {"engine": "local", "workers": 1, "shard_rows": SHARD_ROWS}


@pytest.fixture
def copied(scored: Path, tmp_path: Path) -> Path:
    shutil.copy(scored.parent / "pairs.parquet", tmp_path)
    return shutil.copytree(scored, tmp_path / "scored")


def test_an_undisturbed_run_is_verified(scored: Path) -> None:
    found = verify_dataset(scored, rows=10)
    assert found.ok and (found.rows, found.files, found.rows_again, found.rows_set_aside) == (ROWS, 4, 10, 0)
    assert not found.notes and verify_dataset(scored, rows=10**6).rows_again == ROWS
    assert verify_dataset(scored, rows=0).rows_again == 0
    with pytest.raises(DatasetError):
        verify_dataset(scored.parent)


def flip_name(folder: Path) -> None:
    place = folder / partition(0, 10)
    place.write_bytes(place.read_bytes().replace(b"reference_certificate", b"reference_cert0ficate"))


def flip_name_to_no_text(folder: Path) -> None:
    place = folder / partition(0, 10)
    place.write_bytes(place.read_bytes().replace(b"reference_certificate", b"reference_cert\xe9ficate"))


def flip_page(folder: Path) -> None:
    flip_bit(folder / partition(30, 40), "generated_problem")


def cut(folder: Path) -> None:
    place = folder / partition(0, 10)
    place.write_bytes(place.read_bytes()[:-20])


def rename(folder: Path) -> None:
    (folder / partition(0, 10)).rename(folder / partition(30, 40))


def leave_lock(folder: Path) -> None:
    with claimed(locate(folder)):
        place = elsewhere(folder)
        content = json.loads(place.read_text())
    place.write_text(json.dumps({**content, "machine": lock_machine(), "pid": 4_194_303}))


def lock_machine() -> str:
    from pddl_eval.run import lock

    return lock._machine()


def leave_files(folder: Path) -> None:
    (folder / f".{partition(0, 10)}.{'0' * 32}.tmp").write_bytes(b"PAR1")
    (folder / "_failed.json").write_text("{}")
    (folder / "_previous").mkdir()


HARMS: dict[Callable[[Path], None], tuple[str, ...]] = {
    lose: ("missing",),
    double: ("doubled",),
    flip_name: ("damaged", "missing"),
    flip_name_to_no_text: ("damaged", "missing"),
    flip_page: ("damaged", "missing"),
    cut: ("damaged", "missing"),
    rename: ("damaged", "missing", "missing"),
    leave_lock: ("left over",),
    leave_files: ("left over", "left over", "left over"),
}


@pytest.mark.parametrize("harm", HARMS, ids=lambda harm: harm.__name__)
def test_each_harm_is_found_and_repaired(harm: Callable[[Path], None], copied: Path) -> None:
    harm(copied)
    there = {path.name for path in copied.iterdir()}
    found = verify_dataset(copied, rows=5)
    assert sorted(each.kind for each in found.findings) == sorted(HARMS[harm])
    assert {path.name for path in copied.iterdir()} == there, "without repair nothing is touched"
    code = run("verify", copied, "--repair")
    lost = "missing" in HARMS[harm]
    assert code.exit_code == (3 if lost else 0)
    command = f"pddl-eval score {json.loads((copied / MANIFEST).read_text())['place']}/pairs.parquet {copied}"
    assert (command in code.stdout) == lost
    again = score_dataset(copied.parent / "pairs.parquet", copied, **OPTIONS)
    assert (again.rows, again.rows_scored) == (ROWS, SHARD_ROWS * HARMS[harm].count("missing"))
    assert verify_dataset(copied, rows=ROWS).ok


def rewritten(
    folder: Path, column: str, value: object, rows: slice = slice(0, 10), name: str = partition(0, 10)
) -> None:
    """A partition whose column says something else, written as partitions are."""
    place = folder / name
    table = pq.ParquetFile(place).read()
    values = table[column].to_pylist()
    values[rows] = [value] * len(values[rows])
    kept = shutil.copy(place, folder.parent / "kept.parquet")
    at = table.schema.get_field_index(column)
    write_partition(
        table.set_column(at, table.schema.field(at), pa.array(values, table.schema.field(at).type)), kept, place
    )


@pytest.mark.parametrize(
    ("column", "value"), [("equivalent", False), ("verdict", "goal_differs"), ("certificate", None)]
)
def test_a_score_that_does_not_come_out_again_is_named_with_its_row(column: str, value: object, copied: Path) -> None:
    rewritten(copied, column, value, slice(4, 5))
    found = verify_dataset(copied, rows=ROWS)
    (finding,) = found.findings
    assert (finding.kind, finding.where) == ("score", "pairs.parquet row 4") and column in finding.detail
    result = run("verify", copied, "--rows", ROWS, "--format", "json")
    assert result.exit_code == 3 and json.loads(result.stdout)["findings"][0]["where"] == "pairs.parquet row 4"
    assert verify_dataset(copied, rows=3, seed=1) == verify_dataset(copied, rows=3, seed=1)


def test_times_and_rows_that_could_not_be_scored_are_not_compared(copied: Path) -> None:
    rewritten(copied, "score_micros", 1)
    assert verify_dataset(copied, rows=ROWS).ok
    rewritten(copied, "score_error", "its worker died", slice(0, 2))
    found = verify_dataset(copied, rows=ROWS)
    assert (found.rows_again, found.rows_set_aside) == (ROWS - 2, 2)
    for start in range(0, ROWS, SHARD_ROWS):
        name = partition(start, start + SHARD_ROWS)
        rewritten(copied, "score_error", "its worker died", slice(0, SHARD_ROWS), name)
    found = verify_dataset(copied, rows=ROWS)
    assert found.rows_again == 0 and not found.ok, "what compared nothing verifies nothing"


def test_an_unfinished_run_and_a_summary_of_other_numbers(copied: Path) -> None:
    summary = json.loads((copied / SUMMARY).read_text())
    (copied / SUMMARY).unlink()
    assert [each.kind for each in verify_dataset(copied).findings] == ["summary"]
    (copied / SUMMARY).write_text(json.dumps({**summary, "rows": ROWS + 1}))
    assert [each.kind for each in verify_dataset(copied).findings] == ["summary"]


def test_other_signatures_are_said(copied: Path) -> None:
    manifest = json.loads((copied / MANIFEST).read_text())
    other = manifest["signature"].replace("|code:", "|code:0")
    (copied / MANIFEST).write_text(json.dumps({**manifest, "signature": other}))
    found = verify_dataset(copied, rows=ROWS)
    assert [each.kind for each in found.findings] == ["signature"] * 4
    assert len(found.notes) == 1 and found.rows_again == ROWS


def test_files_that_the_run_did_not_write_are_named_and_kept(copied: Path) -> None:
    shutil.copy(copied / partition(0, 10), copied / "copy.parquet")
    (copied / "sub").mkdir()
    shutil.copy(copied / partition(0, 10), copied / "sub")
    for name in ("cut.parquet", "empty.parquet"):  # It may be a file that is still written.
        (copied / name).write_bytes(b"PAR1" if name == "cut.parquet" else b"")
    found = verify_dataset(copied, repair=True)
    assert [each.kind for each in found.findings] == ["foreign"] * 4 and not found.removed
    assert all((copied / name).exists() for name in ("copy.parquet", "cut.parquet", "empty.parquet"))


def test_a_folder_in_use_is_not_repaired(copied: Path) -> None:
    with claimed(locate(copied)):
        assert [each.kind for each in verify_dataset(copied).findings] == ["running"]
        with pytest.raises(DatasetError):
            verify_dataset(copied, repair=True)
    assert not lock_of(copied)


def test_merged_files(scored: Path, tmp_path: Path) -> None:
    out, pairs = tmp_path / "out", scored.parent / "pairs.parquet"
    score_dataset(pairs, out, rows_per_file=15, **OPTIONS)
    assert verify_dataset(out, rows=ROWS).rows_again == ROWS and verify_dataset(out).ok
    cut_file = out / "part-000001.parquet"
    cut_file.write_bytes(cut_file.read_bytes()[:-20])
    assert {each.kind for each in verify_dataset(out).findings} == {"damaged", "missing"}
    repaired = verify_dataset(out, repair=True)
    assert repaired.removed == ("part-000001.parquet",) and {each.kind for each in repaired.findings} == {
        "missing",
        "summary",
    }
    assert score_dataset(pairs, out, rows_per_file=15, **OPTIONS).rows == ROWS and verify_dataset(out).ok


def test_what_arrow_cannot_do_with_a_type_is_no_damage(tmp_path: Path) -> None:
    """Rows of views cannot be taken by their numbers; folders, lines of JSON and nulls are inputs like any other."""
    types = {"view": pa.string_view(), "large": pa.large_string(), "time": pa.timestamp("ns")}
    columns = {name: pa.array([None] * 4, kind) for name, kind in types.items()}
    plans = {"reference_plan": ["(a)"] * 4, "generated_plan": ["(a)", "(b)", "", None]}
    (tmp_path / "in" / "model=x").mkdir(parents=True)
    table = pa.table({**plans, **columns, "kind": pa.array(["u", None, "v", "u"]).dictionary_encode()})
    pq.write_table(table, tmp_path / "in" / "model=x" / "pairs.parquet")
    (tmp_path / "pairs.jsonl").write_text(
        "".join(json.dumps(row) + "\n" for row in pa.table(plans).to_pylist()) + "{no\n"
    )
    for place, rows in (("in", 4), ("pairs.jsonl", 4)):
        out = tmp_path / f"{place}-scored"
        score_dataset(tmp_path / place, out, engine="local", workers=1)
        found = verify_dataset(out)
        assert found.ok and found.rows_again == rows, str(found)
        assert score_dataset(tmp_path / place, out, engine="local", workers=1).rows_scored == 0


def test_a_partition_that_cannot_be_read_now_is_not_removed(
    copied: Path, failing: Callable[[Collection[Path], int], None]
) -> None:
    failing([copied / partition(0, 10)], errno.EIO)
    for repair in (False, True):
        with pytest.raises(Unavailable):
            verify_dataset(copied, repair=repair)
    assert (copied / partition(0, 10)).exists() and (copied / SUMMARY).exists()


@pytest.mark.s3
@pytest.mark.slow
def test_in_a_bucket(bucket: str, scored: Path) -> None:
    output, pairs = f"s3://{bucket}/scored", scored.parent / "pairs.parquet"
    score_dataset(pairs, output, **OPTIONS)
    assert verify_dataset(output, rows=ROWS).rows_again == ROWS and verify_dataset(output).ok
    place = locate(output)
    with place.filesystem.open_output_stream(f"{place.path}/{partition(10, 20)}") as file:
        file.write(b"PAR1")
    assert {each.kind for each in verify_dataset(output).findings} == {"damaged", "missing"}
    assert verify_dataset(output, repair=True).removed == (partition(10, 20),)
    assert score_dataset(pairs, output, **OPTIONS).rows_scored == SHARD_ROWS
    assert verify_dataset(output, rows=ROWS).ok and build_report(output).unfinished is None
    assert run_status(output).finished
