"""Rows of a run that are missing or there twice are named by whoever reads its folder, with exit code 3."""

from __future__ import annotations

import json
import re
import shlex
import shutil
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pddl_eval import build_report, run_status, score_dataset, verify_dataset
from pddl_eval.datasets import SIGNATURE_KEY, locate
from pddl_eval.datasets.inputs import open_source
from pddl_eval.errors import UNFINISHED
from pddl_eval.explain import find_row
from pddl_eval.report import compare_datasets
from pddl_eval.run import MANIFEST, SUMMARY, RowsDoubled, RowsMissing, open_scored_rows, open_untouched
from pddl_eval.run.partitions import RECORD_KEY
from pddl_eval.scoring.dedupe import dedupe

from tests.support.running import ROOT, run

ROWS, SHARD_ROWS = 40, 10

PROBLEM = (
    "(define (problem p) (:domain blocksworld) (:objects a) (:init (ontable a) (clear a) (arm-empty)) (:goal ({})))"
)


@pytest.fixture(scope="module")
def scored(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Forty rows of a file ``pairs.parquet`` in four partitions, the input beside them."""
    folder = tmp_path_factory.mktemp("tiled")
    goals = [PROBLEM.format("holding a" if row % 2 else "ontable a") for row in range(ROWS)]
    table = pa.table({"id": range(ROWS), "reference_problem": goals, "generated_problem": goals})
    pq.write_table(table, folder / "pairs.parquet", row_group_size=SHARD_ROWS)
    score_dataset(folder / "pairs.parquet", folder / "scored", shard_rows=SHARD_ROWS, engine="local", workers=1)
    return folder / "scored"


def partition(start: int, stop: int) -> str:
    return f"pairs-{start:012d}-{stop:012d}.parquet"


@pytest.fixture
def copied(scored: Path, tmp_path: Path) -> Path:
    shutil.copy(scored.parent / "pairs.parquet", tmp_path)
    return shutil.copytree(scored, tmp_path / "scored")


def lose(folder: Path) -> None:
    (folder / partition(10, 20)).unlink()


def double(folder: Path) -> None:
    """Rows 5 to 14 once more, as a late writer with other cuts leaves them."""
    first, second = (folder / partition(start, start + 10) for start in (0, 10))
    rows = pa.concat_tables([pq.ParquetFile(first).read().slice(5), pq.ParquetFile(second).read().slice(0, 5)])
    write_partition(rows, first, folder / partition(5, 15))


def write_partition(table: pa.Table, like: Path, place: Path, **record: object) -> None:
    """Write a partition with the metadata of another one, and a record of its own."""
    told = {key.decode(): value.decode() for key, value in pq.read_metadata(like).metadata.items()}
    of = json.loads(told[RECORD_KEY]) | {"name": place.name, "rows": table.num_rows} | record
    table = table.replace_schema_metadata(None)
    with pq.ParquetWriter(place, table.schema) as writer:
        writer.write_table(table)
        writer.add_key_value_metadata({SIGNATURE_KEY: told[SIGNATURE_KEY], RECORD_KEY: json.dumps(of)})


COMMANDS: dict[str, Callable[[Path, Path], tuple[object, ...]]] = {
    "report": lambda bad, _: ("report", bad),
    "report to a folder": lambda bad, _: ("report", bad, "--output", bad.parent / "report/"),
    "compare, as OLD": lambda bad, good: ("compare", bad, good, "--key", "id"),
    "compare, as NEW": lambda bad, good: ("compare", good, bad, "--key", "id", "--fail-on", "regression"),
    "compare three": lambda bad, good: ("compare", good, bad, good, "--key", "id"),
    "explain": lambda bad, _: ("explain", bad, "--row", "12"),
    "explain to the model": lambda bad, _: ("explain", bad, "--row", "12", "--feedback"),
    "rescore, as OLD": lambda bad, good: (
        "rescore", "--previous", bad, good.parent / "pairs.parquet", bad.parent / "n", "--workers", "1"
    ),
    "rescore, dry": lambda bad, good: (
        "rescore", "--previous", bad, good.parent / "pairs.parquet", bad.parent / "n", "--dry-run"
    ),
    "score, as INPUT": lambda bad, _: ("score", bad, bad.parent / "n", "--workers", "1"),
    "dedupe": lambda bad, _: ("dedupe", bad, bad.parent / "classes.parquet", "--workers", "1"),
    "dedupe --against": lambda bad, good: (
        "dedupe", good, bad.parent / "classes.parquet", "--against", bad, "--workers", "1"
    ),
    "status": lambda bad, _: ("status", bad),
}  # fmt: skip


@pytest.mark.parametrize("harm", [lose, double])
@pytest.mark.parametrize("command", COMMANDS)
def test_whoever_reads_the_folder_names_the_rows(
    command: str, harm: Callable[[Path], None], scored: Path, copied: Path
) -> None:
    harm(copied)
    found = run(*COMMANDS[command](copied, scored))
    if "NEW" in command and harm is lose:  # Fewer than 90 % of OLD found a partner: it is said as well.
        assert found.exit_code == 1
    else:
        assert found.exit_code == UNFINISHED, found.stderr
    told = " ".join(re.sub(r"[│|]", " ", found.stdout + found.stderr).split())
    page = copied.parent / "report" / "index.html"
    told += page.read_text() if page.exists() else ""
    start, stop = (10, 19) if harm is lose else (5, 14)
    assert re.search(rf"pairs\.parquet rows {start} to {9 if harm is double else stop}", told), told


def test_a_whole_run_and_files_of_no_run_are_read_without_a_word(scored: Path, copied: Path) -> None:
    assert open_scored_rows(str(scored))[1] is None
    assert run("explain", scored, "--row", "12").exit_code == 0
    double(copied)
    lose(copied)
    (copied / MANIFEST).unlink()
    assert build_report(copied).unfinished is None
    plain = copied.parent / "plain.parquet"
    pq.write_table(pq.read_table(scored), plain)
    assert open_scored_rows(str(plain))[1] is None


def test_what_is_missing_is_exact_also_inside_a_partition(copied: Path) -> None:
    """Rows that could not be read are not in their partition, and its record says which."""
    place = copied / partition(20, 30)
    table = pq.ParquetFile(place).read()
    kept = pa.concat_tables([table.slice(0, 4), table.slice(7)])
    write_partition(kept, copied / partition(0, 10), place, unreadable=[[24, 27]], damage="a disk")
    _, tiling = open_scored_rows(copied)
    assert tiling and [(each.file, each.start, each.stop) for each in tiling.missing] == [("pairs.parquet", 24, 27)]


def test_a_copy_under_another_name_is_no_partition(copied: Path) -> None:
    shutil.copy(copied / partition(0, 10), copied / "pairs-000000000000-000000000010 (1).parquet")
    with pytest.raises(RowsDoubled, match=r"\(1\)"):
        build_report(copied)
    (copied / "sub").mkdir()
    (copied / "pairs-000000000000-000000000010 (1).parquet").rename(copied / "sub" / partition(0, 10))
    with pytest.raises(RowsDoubled, match="sub"):
        dedupe(copied)


def test_several_runs_are_checked_each(scored: Path, copied: Path) -> None:
    assert dedupe([scored, copied], workers=1).rows.height == 2 * ROWS
    lose(copied)
    with pytest.raises(RowsMissing, match="rows 10 to 19"):
        dedupe([scored, copied])
    with pytest.raises(RowsMissing):
        dedupe(copied / partition(0, 10))  # A few files stand for the folder.


def test_a_folder_that_nobody_touched_is_described_as_by_its_footers(scored: Path) -> None:
    by_footers, by_summary = open_source(scored), open_untouched(str(scored))
    assert by_summary and by_summary.schema.equals(by_footers.schema, check_metadata=True)
    assert (by_summary.base, by_summary.walked) == (by_footers.base, by_footers.walked)
    files, others = ([(f.name, f.rows, f.size, f.signature) for f in each.files] for each in (by_summary, by_footers))
    assert files == others and len(files) == 4


def flip(folder: Path) -> None:
    """A byte that belongs to no page, so that no checksum covers it."""
    place = folder / partition(10, 20)
    content = place.read_bytes()
    place.write_bytes(b"PARE" + content[4:])


def go_on(folder: Path) -> None:
    (folder / SUMMARY).write_text(json.dumps(json.loads((folder / SUMMARY).read_text()) | {"run": "another"}))


def forget(folder: Path) -> None:
    summary = json.loads((folder / SUMMARY).read_text())
    del summary["contents"]
    (folder / SUMMARY).write_text(json.dumps(summary))


def add(folder: Path) -> None:
    """Rows in a folder within, which readers of the folder read."""
    (folder / "more").mkdir()
    shutil.copy(folder / partition(10, 20), folder / "more")


@pytest.mark.parametrize("harm", [lose, double, flip, go_on, forget, add])
def test_a_folder_that_somebody_touched_is_opened_file_by_file(harm: Callable[[Path], None], copied: Path) -> None:
    assert open_untouched(str(copied))
    harm(copied)
    assert open_untouched(str(copied)) is None
    assert (open_untouched(str(copied), compared=False) is None) == (harm is not flip)


@pytest.mark.parametrize("place", ["-", "no such folder", "hf://datasets/none", "*.parquet"])
def test_what_is_no_folder_of_this_machine_is_opened_file_by_file(place: str) -> None:
    assert open_untouched(place) is None


def test_a_run_that_goes_on_is_reported_and_compared_with_what_it_lacks(scored: Path, copied: Path) -> None:
    lose(copied)
    (copied / SUMMARY).unlink()
    report = build_report(copied)
    assert (report.rows, report.missing) == (30, 10) and "rows 10 to 19" in str(report.unfinished)
    assert len(compare_datasets(scored, copied, on=["id"]).unfinished) == 1
    found = find_row(str(copied), row=12)
    assert found.values["reference_problem"] and "rows 10 to 19" in str(found.unfinished)


def test_new_scores_are_complete_whatever_old_lacks(scored: Path, copied: Path) -> None:
    lose(copied)
    pairs, new = copied.parent / "pairs.parquet", copied.parent / "new"
    assert run("rescore", "--previous", copied, pairs, new, "--workers", "1").exit_code == UNFINISHED
    assert run_status(new).finished and run("report", new, "--format", "json").exit_code == 0


def test_the_command_merges_and_verify_says_the_command_again(scored: Path, tmp_path: Path) -> None:
    pairs, out = scored.parent / "pairs.parquet", tmp_path / "out"
    command = ("score", pairs, out, "--rows-per-file", "25")
    assert run(*command).exit_code == 0 and len([*out.glob("*.parquet")]) == -(-ROWS // 25)
    (out / "part-000000.parquet").unlink()
    found = run("verify", out)
    assert shlex.join(map(str, ("pddl-eval", *command))) in found.stdout
    assert run(*command).exit_code == 0 and verify_dataset(out).ok


@pytest.mark.parametrize("harm", ["gone", "cut", "copied"])
def test_merged_files_are_tiles_too(harm: str, scored: Path, tmp_path: Path) -> None:
    options = {"engine": "local", "workers": 1, "rows_per_file": 15}
    out, pairs = tmp_path / "out", scored.parent / "pairs.parquet"
    score_dataset(pairs, out, **options)
    assert open_scored_rows(out)[1] is None and run_status(out).finished
    second = out / "part-000001.parquet"
    if harm == "gone":
        second.unlink()
    elif harm == "cut":
        table = pq.ParquetFile(second).read()
        pq.write_table(table.slice(2), second)
    else:
        shutil.copy(second, out / "part-000009.parquet")
    found = run("report", out)
    assert found.exit_code == UNFINISHED
    told = " ".join((found.stdout + found.stderr).split())
    assert "part-000009" in told if harm == "copied" else "pairs.parquet rows 15 to 29" in told
    if harm == "gone":
        assert not run_status(out).finished
        assert score_dataset(pairs, out, **options).rows == ROWS and open_scored_rows(out)[1] is None


def test_a_doubled_run_is_not_finished_and_the_same_command_mends_it(copied: Path) -> None:
    double(copied)
    status = run_status(copied)
    assert not status.finished and (status.rows, status.rows_done) == (ROWS, ROWS)
    again = score_dataset(copied.parent / "pairs.parquet", copied, engine="local", workers=1, shard_rows=SHARD_ROWS)
    assert again.rows_scored == 0 and open_scored_rows(copied)[1] is None and run_status(copied).finished


def test_a_night_does_not_follow_one_that_lost_rows_without_a_word(copied: Path) -> None:
    pairs, nights = copied.parent / "pairs.parquet", copied.parent / "nights"
    night = ("nightly", pairs, nights, "--workers", "1", "--date")
    assert run(*night, "2026-03-01").exit_code == 0
    shutil.rmtree(nights / "2026-03-01" / "scored")
    lose(copied)
    copied.rename(nights / "2026-03-01" / "scored")
    found = run(*night, "2026-03-02")
    assert found.exit_code and "pairs.parquet rows 10 to 19" in found.stderr


@pytest.mark.s3
def test_in_a_bucket(bucket: str, scored: Path) -> None:
    output = f"s3://{bucket}/scored"
    score_dataset(scored.parent / "pairs.parquet", output, shard_rows=SHARD_ROWS, engine="local", workers=1)
    assert open_scored_rows(output)[1] is None
    place = locate(output)
    place.filesystem.delete_file(f"{place.path}/{partition(10, 20)}")
    assert "rows 10 to 19" in str(build_report(output).unfinished)


def test_scored_folders_have_one_door() -> None:
    """Above ``run`` nobody opens a dataset but through it."""
    rooms = ROOT / "pipeline" / "pddl_eval"
    below = {rooms / "datasets", rooms / "run"}
    for path in rooms.rglob("*.py"):
        if below.isdisjoint(path.parents):
            assert not re.search(r"(\.|import .*)\bopen_source\b", path.read_text(encoding="utf-8")), path
