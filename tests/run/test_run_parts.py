"""Parts of a run in several processes: every row is in one part, the last part completes the run, all can be killed."""

from __future__ import annotations

import json
import os
import shutil
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pddl_eval.datasets.forms import FileVersion, RowGroup
from pddl_eval.datasets.inputs import InputFile, Source, partition_stem
from pddl_eval.datasets.places import DatasetError, Location, list_files, locate
from pddl_eval.run import MANIFEST, SUMMARY, RunIncomplete, finish_shards, partitions, run_status, score
from pddl_eval.run import lock as locking
from pddl_eval.run.lock import claimed
from pddl_eval.run.partitions import ShardTask, score_shard
from pddl_eval.run.prepare import prepare_run
from pddl_eval.run.score import begin_run
from pddl_eval.run.shards import Part
from pddl_eval.settings import RunOptions

from tests.run.test_lock import elsewhere, hold
from tests.support.length_scorer import length_scorer, run_scorer
from tests.support.parquet_files import damage, read_output, write_numbered

ROWS = 200
ALONE = RunOptions(engine="local", workers=1)


@pytest.fixture
def pairs(tmp_path: Path) -> Path:
    return write_numbered(tmp_path / "pairs.parquet", rows=ROWS, row_group=120)


def source_of(files: list[list[int]]) -> Source:
    version = FileVersion(Location("/in"), "")
    groups = (tuple(RowGroup(rows, rows * 1000) for rows in sizes) for sizes in files)
    described = (InputFile(version, f"{n}.parquet", 0, group) for n, group in enumerate(groups))
    return Source(
        Location("/"), (), tuple(sorted(described, key=lambda file: partition_stem(file.name))), pa.schema([])
    )


@given(st.lists(st.lists(st.integers(1, 5000), max_size=4), min_size=1, max_size=5), st.integers(1, 40))
@settings(max_examples=20, deadline=None)
def test_every_row_is_in_exactly_one_part_and_parts_are_alike(files: list[list[int]], of: int) -> None:
    source = source_of(files)
    rows: Counter[tuple[str, int]] = Counter()
    sizes = []
    for number in range(1, of + 1):
        own, others = Part(number, of).split(source)
        rows.update((shard.stem, row) for shard in own for row in range(shard.start, shard.stop))
        sizes.append(sum(shard.rows for shard in own))
        assert sum(shard.rows for shard in [*own, *others]) == source.rows
    assert set(rows.values()) <= {1} and rows.total() == source.rows


def test_hard_rows_at_the_end_are_shared_by_all_parts() -> None:
    source = source_of([[1_000_000]])
    for number in (1, 17, 32):
        own, _ = Part(number, 32).split(source)
        assert abs(sum(shard.rows for shard in own) - 1_000_000 / 32) <= 2048
        assert abs(sum(shard.rows for shard in own if shard.start >= 900_000) - 100_000 / 32) <= 2048


@pytest.mark.parametrize("part", ["", "3", "0/4", "5/4", "1/0", "a/b", "1/4/4", "-1/4", "1 /4", "1/99999999"])
def test_what_is_no_part_is_refused(part: str, pairs: Path, tmp_path: Path) -> None:
    with pytest.raises(DatasetError):
        prepare_run(pairs, tmp_path / "out", length_scorer(), 50, part)


def test_the_last_part_completes_the_run(pairs: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    options = (replace(ALONE, shard_rows=rows) for rows in (7, 50, 2048))
    missing = []
    for part in ("2/3", "3/3", "1/3"):
        summary = run_scorer(pairs, out, length_scorer(), next(options), part=part)
        missing.append(summary.rows_missing)
        assert (out / SUMMARY).exists() == (part == "1/3")
    whole = run_scorer(pairs, tmp_path / "whole", length_scorer(), ALONE)
    assert missing[0] > missing[1] > missing[2] == 0 and summary.rows == ROWS
    assert summary.statistics == whole.statistics
    assert read_output(out).equals(read_output(tmp_path / "whole"))
    assert json.loads((out / SUMMARY).read_text())["verdicts"] == dict(whole.verdicts)
    again = run_scorer(pairs, out, length_scorer(), ALONE, part="2/3")
    assert (again.rows_scored, again.rows_missing, again.rows) == (0, 0, ROWS)


def test_what_other_starts_have_done_is_not_done_again(pairs: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    first = run_scorer(pairs, out, length_scorer(), ALONE, part="1/2")
    other = run_scorer(pairs, out, length_scorer(), ALONE, part="2/5")
    rest = run_scorer(pairs, out, length_scorer(), ALONE)
    assert 0 < other.rows_scored < ROWS / 5 and other.rows_missing > 0
    assert first.rows_scored + other.rows_scored + rest.rows_scored == ROWS
    assert read_output(out)["n"].to_pylist() == list(range(ROWS))


def test_a_part_reads_of_the_others_their_names_until_it_completes_the_run(
    pairs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "out"
    for part in ("1/3", "2/3"):
        run_scorer(pairs, out, length_scorer(), replace(ALONE, shard_rows=7), part=part)
    footers, locks = [], []
    footer, lock = partitions.record_of, locking._read
    monkeypatch.setattr(partitions, "record_of", lambda at, *more: (footers.append(at.name), footer(at, *more))[1])
    monkeypatch.setattr(locking, "_read", lambda place: (locks.append(place.name), lock(place))[1])
    again = prepare_run(pairs, out, length_scorer(), 50, "2/3")
    assert not again.missing and set(footers) == again.finished.keys()
    others = {name for name in list_files(locate(out)) if name.endswith(".parquet")}
    footers.clear()
    first = hold(out, "-1-of-3", f"{again.work.run}-in-3")
    try:
        last = prepare_run(pairs, out, length_scorer(), 50, "3/3")
        assert last.missing and not footers
        finish_shards(last, ALONE)
        own = {name for name in locks if "-3-of-3" in name}
        assert sorted(footers) == sorted(others) and set(locks) == own
    finally:
        first.kill()
        first.wait()
    assert run_status(out).finished


def test_what_is_damaged_of_another_part_is_missing_and_made_by_that_part(pairs: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    first = run_scorer(pairs, out, length_scorer(), ALONE, part="1/2")
    damaged = next(out.glob("*.parquet"))
    damaged.write_bytes(damaged.read_bytes()[:-9])
    rows = first.rows - sum(pq.read_metadata(path).num_rows for path in out.glob("*.parquet") if path != damaged)
    summary = run_scorer(pairs, out, length_scorer(), ALONE, part="2/2")
    assert (summary.rows_missing, summary.rows) == (rows, ROWS - first.rows) and not run_status(out).finished
    assert run_scorer(pairs, out, length_scorer(), ALONE, part="1/2").rows_scored == rows
    assert run_status(out).finished and read_output(out)["n"].to_pylist() == list(range(ROWS))


def test_a_run_whose_last_part_was_killed_before_its_summary_is_completed_by_anyone(
    pairs: Path, tmp_path: Path
) -> None:
    for starter in (None, "1/2"):
        out = tmp_path / f"out{starter is None}"
        plan = prepare_run(pairs, out, length_scorer(), 50)
        begin_run(plan)
        for shard in plan.shards:
            score_shard(plan.work, ShardTask(shard))
        status = run_status(out)
        assert (status.finished, status.rows_done, status.missing) == (False, ROWS, ())
        summary = run_scorer(pairs, out, length_scorer(), ALONE, part=starter)
        assert (summary.rows, summary.rows_scored) == (ROWS, 0)
        assert run_status(out).finished


def test_a_late_partition_of_another_part_leaves_no_gap(tmp_path: Path) -> None:
    """It was written with other cuts by a process of the same part that had lost its claim: any that tile the rows
    count."""
    pairs, out = write_numbered(tmp_path / "pairs.parquet", rows=ROWS, row_group=ROWS), tmp_path / "out"
    run_scorer(pairs, tmp_path / "late", length_scorer(), replace(ALONE, shard_rows=6), part="1/2")
    run_scorer(pairs, out, length_scorer(), replace(ALONE, shard_rows=4), part="1/2")
    late = sorted((tmp_path / "late").glob("*.parquet"))[0]
    shutil.copy(late, out)
    summary = run_scorer(pairs, out, length_scorer(), replace(ALONE, shard_rows=4), part="2/2")
    assert (summary.rows, summary.rows_missing) == (ROWS, 0)
    assert run_status(out).finished
    assert read_output(out)["n"].to_pylist() == list(range(ROWS))


def test_parts_work_at_once_and_no_two_on_the_same_rows(pairs: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    first = hold(out, "-1-of-3", f"{prepare_run(pairs, out, length_scorer(), 50).work.run}-in-3")
    try:
        for part in ("1/3", None, "2/4"):
            with pytest.raises(DatasetError, match=f"process {first.pid} "):
                run_scorer(pairs, out, length_scorer(), ALONE, part=part)
        assert run_scorer(pairs, out, length_scorer(), ALONE, part="2/3").rows_scored > 0
        assert [(writer.part, writer.pid, writer.alive) for writer in run_status(out).writers] == [
            ("1/3", first.pid, True)
        ]
    finally:
        first.kill()
        first.wait()
    assert not run_status(out).writers[0].alive
    assert run_scorer(pairs, out, length_scorer(), ALONE).rows_missing == 0
    assert [path.name for path in out.iterdir() if path.name.startswith("_running")] == []
    with claimed(locate(tmp_path / "else")), pytest.raises(DatasetError, match=f"process {os.getpid()} "):
        run_scorer(pairs, tmp_path / "else", length_scorer(), ALONE, part="1/3")


def test_the_status_says_what_is_done_missing_and_failed(tmp_path: Path) -> None:
    pairs = write_numbered(tmp_path / "pairs.parquet", rows=60, row_group=20)
    damage(pairs, row_group=1, column=1)
    out = tmp_path / "out"
    with pytest.raises(RunIncomplete):
        run_scorer(pairs, out, length_scorer(), replace(ALONE, shard_rows=20))
    with claimed(locate(out)):
        elsewhere(out)
        status = run_status(out)
    assert (status.finished, status.rows, status.rows_done, status.shards_done) == (False, 60, 40, 2)
    assert [(each.file, each.start, each.stop) for each in status.missing] == [("pairs.parquet", 20, 40)]
    assert [(writer.part, writer.host, writer.alive) for writer in status.writers] == [(None, "node7", True)]
    assert len(status.failed) == 1 and "pairs.parquet" in status.failed[0]
    assert status.rows_per_second and status.signature == "length|text:text"
    (out / MANIFEST).write_text("[]")
    with pytest.raises(DatasetError):
        run_status(out)


@pytest.mark.s3
@pytest.mark.slow
def test_parts_and_status_in_a_bucket(bucket: str, pairs: Path, tmp_path: Path) -> None:
    place = f"s3://{bucket}/out"
    run_scorer(pairs, place, length_scorer(), ALONE, part="1/2")
    status = run_status(place)
    assert not status.finished and 0 < status.rows_done < ROWS
    run_scorer(pairs, place, length_scorer(), ALONE, part="2/2")
    assert run_status(place).finished
    assert run_scorer(pairs, place, length_scorer(), ALONE).rows_scored == 0
    assert score.SUMMARY in score.places.list_files(locate(place))
