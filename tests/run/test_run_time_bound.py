"""Shards bounded by time: what is done is a partition, the rest goes on elsewhere, and no row is lost or doubled."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pddl_eval.datasets.forms import FileVersion
from pddl_eval.datasets.places import Location, OutputError
from pddl_eval.process import rows_scored
from pddl_eval.run import MANIFEST, RunIncomplete, lock, partitions, score, watching
from pddl_eval.run.engines import InProcess, Processes, WorkerLost
from pddl_eval.run.partitions import ShardRecord, ShardResult, ShardTask, score_shard
from pddl_eval.run.prepare import Run, prepare_run
from pddl_eval.run.retries import run_shards
from pddl_eval.run.shards import Shard, disjoint, left_over, named_rows
from pddl_eval.run.watching import Event, Waiting
from pddl_eval.settings import RunOptions

from tests.support import length_scorer as length_scorer_module
from tests.support.length_scorer import length_scorer, run_scorer
from tests.support.parquet_files import damage, numbered, read_output, write_numbered
from tests.support.volume import scaled

ROWS = 200
TEXTS = numbered(ROWS)["text"].to_pylist()
ALONE = RunOptions(engine="local", workers=1)


@pytest.fixture
def pairs(tmp_path: Path) -> Path:
    return write_numbered(tmp_path / "pairs.parquet", rows=ROWS, row_group=120)


class Clock:
    """A clock on which only slow rows take time."""

    now = 0.0
    perf_counter = staticmethod(time.perf_counter)

    def monotonic(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds


@pytest.fixture
def hurried(monkeypatch: pytest.MonkeyPatch) -> None:
    """A slow row, and the time is up."""
    clock = Clock()
    monkeypatch.setattr(partitions, "time", clock)
    monkeypatch.setattr(length_scorer_module, "time", clock)


def ranges(out: Path) -> list[tuple[int, int]]:
    return [(start, stop) for path in sorted(out.glob("*.parquet")) for _, start, stop in [named_rows(path.name) or ()]]


@pytest.mark.usefixtures("hurried")
def test_slow_rows_are_partitions_of_their_own_and_the_rest_goes_on(pairs: Path, tmp_path: Path) -> None:
    slow = length_scorer(slow=tuple(TEXTS[50:53]))
    summary = run_scorer(pairs, tmp_path / "out", slow, ALONE)
    undisturbed = run_scorer(pairs, tmp_path / "quick", length_scorer(), ALONE)
    assert ranges(tmp_path / "quick") == [(0, ROWS)]
    assert ranges(tmp_path / "out") == [(0, 51), (51, 52), (52, 53), (53, ROWS)]
    assert read_output(tmp_path / "out").equals(read_output(tmp_path / "quick"))
    assert (summary.rows, summary.rows_scored, summary.shards) == (ROWS, ROWS, 4)
    assert summary.statistics == undisturbed.statistics


def test_a_slow_last_shard_is_shared_by_idle_workers(pairs: Path) -> None:
    started: list[list[tuple[int, int]]] = []

    class Engine:
        """Four slots. A task takes a round; of row 100 and those behind it, a round is enough for one."""

        capacity = 4

        def __init__(self) -> None:
            self.tasks: list[ShardTask] = []

        def submit(self, task: ShardTask) -> None:
            self.tasks.append(task)

        def take(self) -> tuple[ShardTask, ShardResult]:
            started.append([(task.shard.start, task.shard.stop) for task in self.tasks])
            task = self.tasks.pop(0)
            done = task.shard.between(task.shard.start, min(task.shard.stop, max(100, task.shard.start + 1)))
            return task, ShardRecord(done.name, "run", done.rows, {}, 0.0, "node", 1)

        def close(self) -> None:
            pass

    shard = Shard("s", FileVersion(Location("/s"), ""), 0, 116)
    records = list(run_shards(Engine(), [shard]))
    done = sorted((named_rows(record.name) or ("", 0, 0))[1:] for record in records)
    assert list(left_over(done, 0, 116)) == [] and sum(stop - start for start, stop in done) == 116
    assert started[:2] == [[(0, 116)], [(100, 104), (104, 108), (108, 112), (112, 116)]]
    assert max(map(len, started)) == 4


@pytest.mark.usefixtures("hurried")
def test_a_partition_that_ends_early_has_its_own_poison_rows_alone(pairs: Path, tmp_path: Path) -> None:
    plan = prepare_run(pairs, tmp_path / "out", length_scorer(poison=(TEXTS[45], TEXTS[60]), slow=(TEXTS[50],)), 100)
    record = score_shard(plan.work, ShardTask(plan.shards[0], unscored=(45, 51, 60)))
    assert isinstance(record, ShardRecord)
    assert (record.name, record.stop, record.rows, record.unscored) == (
        plan.shards[0].between(0, 52).name,
        52,
        52,
        (45, 51),
    )
    rows = read_output(tmp_path / "out").to_pylist()
    assert [row["n"] for row in rows] == list(range(52))
    assert [row["n"] for row in rows if row["score_error"]] == [45, 51]
    probe = score_shard(plan.work, ShardTask(plan.shards[0], probe=(49, 60)))
    assert isinstance(probe, ShardRecord) and probe.stop == 51


def poisoned(task: ShardTask, poison: frozenset[int], seconds: dict[int, int]) -> int | None:
    """Where a task that has ten seconds ends; None if a row ends its worker before."""
    start, stop = task.probe or (task.shard.start, task.shard.stop)
    spent = 0
    for row in range(start, stop):
        if row in poison and row not in task.unscored:
            return None
        spent += 0 if row in task.unscored else seconds.get(row, 0)
        if spent > 10:
            return row + 1
    return stop


@given(
    st.frozensets(st.integers(0, 63), max_size=4),
    st.dictionaries(st.integers(0, 63), st.integers(1, 20)),
    st.integers(1, 64),
    st.integers(1, 5),
)
@settings(max_examples=scaled(40), deadline=None)
def test_whatever_is_slow_and_whatever_kills_every_row_is_done_once(
    poison: frozenset[int], seconds: dict[int, int], shard_rows: int, capacity: int
) -> None:
    class Engine:
        def __init__(self) -> None:
            self.capacity = capacity
            self.tasks: list[ShardTask] = []

        def submit(self, task: ShardTask) -> None:
            self.tasks.append(task)
            assert len(self.tasks) <= capacity

        def take(self) -> tuple[ShardTask, ShardResult | WorkerLost]:
            task = self.tasks.pop(len(self.tasks) // 2)
            stop = poisoned(task, poison, seconds)
            if stop is None:
                return task, WorkerLost(task, "SIGKILL")
            done = task.shard.between((task.probe or (task.shard.start, 0))[0], stop)
            unscored = tuple(row for row in task.unscored if done.start <= row < done.stop)
            return task, ShardRecord(done.name, "run", done.rows, {}, 0.0, "node", 1, unscored=unscored)

        def close(self) -> None:
            pass

    file = FileVersion(Location("/s"), "")
    shards = [Shard("s", file, row, min(64, row + shard_rows)) for row in range(0, 64, shard_rows)]
    records = [each for each in run_shards(Engine(), shards) if isinstance(each, ShardRecord)]
    done = sorted((named_rows(record.name) or ("", 0, 0))[1:] for record in records)
    assert [row for start, stop in done for row in range(start, stop)] == list(range(64))
    assert {row for record in records for row in record.unscored} == poison


@pytest.mark.usefixtures("hurried")
def test_rows_of_a_damaged_row_group_are_named_once(tmp_path: Path) -> None:
    pairs = write_numbered(tmp_path / "pairs.parquet", rows=60, row_group=20)
    damage(pairs, row_group=1, column=1)
    slow = length_scorer(slow=tuple(TEXTS[row] for row in (5, 19, 50)))
    for options in (ALONE, replace(ALONE, shard_rows=40)):  # The second run tries them again.
        with pytest.raises(RunIncomplete) as incomplete:
            run_scorer(pairs, tmp_path / "out", slow, options)
        assert (incomplete.value.summary.rows, incomplete.value.summary.rows_unreadable) == (40, 20)
        assert read_output(tmp_path / "out")["n"].to_pylist() == [*range(20), *range(40, 60)]
        assert json.loads((tmp_path / "out" / "_failed.json").read_text())


def test_a_run_goes_on_with_shards_of_another_size(pairs: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    plan = prepare_run(pairs, out, length_scorer(), 70)
    score.begin_run(plan)
    assert [(shard.start, shard.stop) for shard in plan.shards] == [(0, 70), (70, 120), (120, 190), (190, 200)]
    score_shard(plan.work, ShardTask(plan.shards[1]))
    again = prepare_run(pairs, out, length_scorer(), 30)
    assert [(shard.start, shard.stop) for shard in again.missing] == [
        (0, 30),
        (30, 60),
        (60, 70),
        (120, 150),
        (150, 180),
        (180, 200),
    ]
    summary = run_scorer(pairs, out, length_scorer(), replace(ALONE, shard_rows=30))
    assert (summary.rows, summary.rows_scored, summary.shards, summary.shards_reused) == (ROWS, 150, 7, 1)
    assert read_output(out)["n"].to_pylist() == list(range(ROWS))
    assert json.loads((out / MANIFEST).read_text())["shard_rows"] == 70
    assert run_scorer(pairs, out, length_scorer(), ALONE).rows_scored == 0


def test_of_partitions_that_overlap_those_are_kept_that_have_the_most_rows(pairs: Path, tmp_path: Path) -> None:
    """As after a worker that wrote its partition and died, so that the shard was done again, and cut."""
    out = tmp_path / "out"
    plan = prepare_run(pairs, out, length_scorer(), 100)
    score.begin_run(plan)
    first, second, *_ = plan.shards
    score_shard(plan.work, ShardTask(first))
    for start, stop in ((0, 40), (40, 130), (130, 140)):
        score_shard(plan.work, ShardTask(first.between(start, stop)))
    (out / second.between(125, 135).name).write_bytes(b"PAR1")
    summary = run_scorer(pairs, out, length_scorer(), ALONE)
    assert ranges(out) == [(0, 40), (40, 130), (130, 140), (140, 200)]
    assert summary.rows_scored == 60
    assert read_output(out)["n"].to_pylist() == list(range(ROWS))


@pytest.mark.usefixtures("hurried")
def test_what_a_dead_worker_has_written_gives_way_to_what_was_done_again(pairs: Path, tmp_path: Path) -> None:
    """Its partition is longer than that of the worker behind it, whose time was up earlier."""
    out = tmp_path / "out"

    def watch(event: Event) -> None:
        if isinstance(event, Run):
            [shard] = event.shards
            score_shard(replace(event.work, scorer=length_scorer()), ShardTask(shard.between(0, 140)))
            assert ranges(out) == [(0, 140)]

    summary = run_scorer(pairs, out, length_scorer(slow=(TEXTS[50],)), ALONE, watch)
    assert ranges(out) == [(0, 51), (51, ROWS)]
    assert summary.rows == ROWS
    assert read_output(out)["n"].to_pylist() == list(range(ROWS))


@given(st.lists(st.tuples(st.integers(0, 30), st.integers(1, 9)), max_size=8))
def test_what_is_kept_overlaps_nothing_and_what_is_left_is_the_rest(found: list[tuple[int, int]]) -> None:
    file = FileVersion(Location("/s"), "")
    shards = [Shard("s", file, start, start + rows) for start, rows in found]
    shards = sorted(shards, key=lambda each: (each.start, -each.stop))
    kept = [(each.start, each.stop) for each in disjoint(shards, {})]
    covered = [row for start, stop in kept for row in range(start, stop)]
    rest = [row for start, stop in left_over(kept, 0, 40) for row in range(start, stop)]
    assert sorted(covered + rest) == list(range(40))


def test_a_worker_of_a_run_that_another_has_replaced_writes_nothing(pairs: Path, tmp_path: Path) -> None:
    plan = prepare_run(pairs, tmp_path / "out", length_scorer(), 100)
    score.begin_run(plan)
    with lock.claimed(plan.work.output) as claim:
        work = replace(plan.work, claim=claim)
        assert isinstance(score_shard(work, ShardTask(plan.shards[0])), ShardRecord)
        Path(claim.place.path).unlink()
        refused = score_shard(work, ShardTask(plan.shards[1]))
        assert isinstance(refused, partitions.ShardFailure) and refused.fatal
    with pytest.raises(OutputError):
        claim.check()
    assert ranges(tmp_path / "out") == [(0, 100)]


def test_a_run_in_which_nothing_ends_says_that_it_waits(
    pairs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watching, "HEARTBEAT_SECONDS", 0.05)
    events: list[Event] = []
    options = replace(ALONE, shard_rows=100)
    run_scorer(pairs, tmp_path / "out", length_scorer(pause=0.3), options, watch=events.append)
    waits = [event for event in events if isinstance(event, Waiting)]
    assert {wait.done for wait in waits} - {ROWS} == {0, 100, 120}  # Completing the run may take long as well.


def _row_by_row(_task: object) -> str:
    for _ in range(7):
        rows_scored.add(1)
        time.sleep(0.2)
    return "done"


@pytest.mark.parametrize("engine", [InProcess, pytest.param(partial(Processes, workers=1), marks=pytest.mark.slow)])
def test_progress_counts_the_rows_of_a_shard_that_is_not_done(
    engine: Callable[..., InProcess | Processes], monkeypatch: pytest.MonkeyPatch, pairs: Path, tmp_path: Path
) -> None:
    monkeypatch.setattr(watching, "TICK_SECONDS", 0.05)
    events: list[Event] = []
    plan = prepare_run(pairs, tmp_path / "out", length_scorer(), 100)
    with closing(engine(_row_by_row)) as started, watching.told(events.append, plan, started.under_way):
        started.submit("task")
        assert started.take() == ("task", "done")
    told = [event.done for event in events if isinstance(event, watching.Progressed)]
    assert told == sorted(set(told)) and {2, 3, 4, 5} <= {*told} <= {*range(1, 8)}


def test_in_this_process_one_task_after_the_other_is_done() -> None:
    tasks = [ShardTask(Shard("s", FileVersion(Location("/s"), ""), row, row + 1)) for row in range(2)]
    engine = InProcess(lambda task: partitions.ShardFailure(task.shard.name, "no"))
    engine.submit(tasks[0])
    assert engine.take()[0] == tasks[0]
