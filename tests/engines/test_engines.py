"""Where a shard runs changes nothing about what is written, and a row that ends its worker costs that row alone."""

from __future__ import annotations

import os
import signal
import threading
import time
from pathlib import Path

import pytest
from pddl_eval.dataset.locations import OutputError
from pddl_eval.dataset.work import UNSCORED
from pddl_eval.engines import attempts
from pddl_eval.engines.attempts import Outcome, WorkerLost
from pddl_eval.engines.ray import RayTasks
from pddl_eval.engines.runner import EngineError
from pddl_eval.run import RunIncomplete, run_scorer

from tests.dataset.length_scorer import LengthScorer
from tests.dataset.parquet_files import numbered, read_output, write_numbered


@pytest.fixture
def quick_conviction(monkeypatch: pytest.MonkeyPatch) -> None:
    """No worker of these tests is lost by chance, so a row need not lose ten to be held responsible."""
    monkeypatch.setattr(attempts, "LOSSES_OF_A_KILLER", 2)


@pytest.fixture
def pairs(tmp_path: Path) -> Path:
    return write_numbered(tmp_path / "pairs.parquet", rows=200, row_group=120)


def test_worker_processes_write_what_this_process_writes(pairs: Path, tmp_path: Path) -> None:
    alone = run_scorer(pairs, tmp_path / "a", LengthScorer(), engine="local", shard_rows=30)
    together = run_scorer(pairs, tmp_path / "b", LengthScorer(), engine="local", workers=2, shard_rows=30)
    assert read_output(tmp_path / "a").equals(read_output(tmp_path / "b"))
    assert read_output(tmp_path / "a").select(["n", "text"]).equals(numbered(200))
    assert together.statistics == alone.statistics
    assert (together.rows, together.rows_scored, together.workers) == (200, 200, 2)


def test_worker_processes_find_the_row_that_ends_them(quick_conviction: None, pairs: Path, tmp_path: Path) -> None:
    events: list[object] = []
    poison = numbered(200)["text"][137].as_py()
    run_scorer(
        pairs,
        tmp_path / "out",
        LengthScorer(killers=(poison,)),
        engine="local",
        workers=2,
        shard_rows=16,
        watch=events.append,
    )
    assert_only_unscored(tmp_path / "out", {137})
    losses = [event for event in events if isinstance(event, WorkerLost)]
    assert losses
    assert losses[0].reason == "its process ended with exit code 9"


def test_ray_writes_what_this_process_writes_and_finds_the_row_that_ends_its_worker(
    ray_session: None, quick_conviction: None, pairs: Path, tmp_path: Path
) -> None:
    run_scorer(pairs, tmp_path / "local", LengthScorer(), engine="local", shard_rows=30)
    summary = run_scorer(pairs, tmp_path / "ray", LengthScorer(), engine="ray", shard_rows=30)
    assert read_output(tmp_path / "ray").equals(read_output(tmp_path / "local"))
    assert (summary.engine, summary.rows) == ("ray", 200)
    poison = numbered(200)["text"][137].as_py()
    run_scorer(pairs, tmp_path / "poison", LengthScorer(killers=(poison,)), engine="ray", shard_rows=8)
    assert_only_unscored(tmp_path / "poison", {137})


def assert_only_unscored(output: Path, rows: set[int]) -> None:
    table = read_output(output)
    assert table.select(["n", "text"]).equals(numbered(200))
    assert {row["n"] for row in table.to_pylist() if row["score_error"] == UNSCORED} == rows
    assert {row["n"] for row in table.to_pylist() if row["length"] is None} == rows


def test_a_worker_killed_from_outside_costs_an_attempt_and_no_row(pairs: Path, tmp_path: Path) -> None:
    outcomes: list[Outcome] = []
    stop = threading.Event()

    def kill_one() -> None:
        while not stop.wait(0.05):
            children = Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()
            spawned = [pid for pid in children if "spawn_main" in Path(f"/proc/{pid}/cmdline").read_text()]
            if spawned and any((tmp_path / "out").glob("*.parquet")):
                os.kill(int(spawned[0]), signal.SIGKILL)
                return

    killer = threading.Thread(target=kill_one)
    killer.start()
    try:
        summary = run_scorer(
            pairs,
            tmp_path / "out",
            LengthScorer(pause=0.2),
            engine="local",
            workers=2,
            shard_rows=20,
            watch=outcomes.append,  # type: ignore[arg-type]
        )
    finally:
        stop.set()
        killer.join()
    losses = [outcome for outcome in outcomes if isinstance(outcome, WorkerLost)]
    assert [loss.reason for loss in losses] == ["its process was ended by SIGKILL"]
    assert summary.errors == 0
    assert read_output(tmp_path / "out").select(["n", "text"]).equals(numbered(200))


def test_no_worker_outlives_a_run_that_fails(pairs: Path, tmp_path: Path) -> None:
    with pytest.raises(RunIncomplete, match="KeyError: 'bug'"):
        run_scorer(pairs, tmp_path / "out", LengthScorer(fails=True), engine="local", workers=2, shard_rows=30)
    deadline = time.monotonic() + 5
    while time.monotonic() < deadline:
        children = Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()
        if not any("spawn_main" in Path(f"/proc/{pid}/cmdline").read_text() for pid in children):
            return
        time.sleep(0.05)
    pytest.fail("worker processes are still there")


def test_a_fatal_failure_ends_the_run_at_once(pairs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from pddl_eval.dataset import work

    def full(*arguments: object) -> None:
        raise OutputError("No space is left on the device: cannot write it.")

    monkeypatch.setattr(work, "write_partition", full)
    outcomes: list[object] = []
    with pytest.raises(OutputError, match="No space is left"):
        run_scorer(pairs, tmp_path / "out", LengthScorer(), engine="local", shard_rows=10, watch=outcomes.append)
    assert len(outcomes) == 2, "the plan and one failure"


@pytest.mark.parametrize("address", ["nowhere", "127.0.0.1:1", "ray://127.0.0.1:1"])
def test_no_cluster_at_the_address_is_one_sentence(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    ray = pytest.importorskip("ray")
    monkeypatch.setattr(ray, "is_initialized", lambda: False)
    with pytest.raises(EngineError, match=f"No Ray answers at {address}") as failure:
        RayTasks(len, address=address)  # type: ignore[arg-type]
    assert "\n" not in str(failure.value)


def test_a_second_cluster_is_refused(ray_session: None) -> None:
    with pytest.raises(EngineError, match="connected to Ray already"):
        RayTasks(len, address="127.0.0.1:6379")  # type: ignore[arg-type]
