"""Where a shard runs changes nothing about what is written, and a row that ends its worker costs that row alone."""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from multiprocessing.connection import Connection
from pathlib import Path

import pytest
from pddl_eval import reward
from pddl_eval.datasets.forms import FileVersion
from pddl_eval.datasets.places import Location, OutputError
from pddl_eval.process import available_cpus
from pddl_eval.run import RunIncomplete, engines, partitions, retries
from pddl_eval.run.engines import (
    EngineError,
    NodeExcluded,
    Processes,
    RayTasks,
    WorkerLost,
    choose_engine,
    ordered_map,
)
from pddl_eval.run.partitions import UNSCORED, ShardFailure, ShardRecord, ShardTask
from pddl_eval.run.shards import Shard
from pddl_eval.settings import RunOptions

from tests.support.length_scorer import length_scorer, run_scorer
from tests.support.parquet_files import numbered, read_output, write_numbered
from tests.support.running import ENVIRONMENT
from tests.support.small_work import KilledWhileUnpickled, half, pandas_is_there, work_in_a_folder


@pytest.fixture
def quick_conviction(monkeypatch: pytest.MonkeyPatch) -> None:
    """No worker of these tests is lost by chance, so a row need not lose ten to be held responsible."""
    monkeypatch.setattr(retries, "LOSSES_OF_POISON", 2)


@pytest.fixture
def pairs(tmp_path: Path) -> Path:
    return write_numbered(tmp_path / "pairs.parquet", rows=200, row_group=120)


def test_worker_processes_write_what_this_process_writes(pairs: Path, tmp_path: Path) -> None:
    alone = run_scorer(pairs, tmp_path / "a", length_scorer(), RunOptions(engine="local", shard_rows=30))
    together = run_scorer(pairs, tmp_path / "b", length_scorer(), RunOptions(engine="local", workers=2, shard_rows=30))
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
        length_scorer(poison=(poison,)),
        RunOptions(engine="local", workers=2, shard_rows=4),
        watch=events.append,
    )
    assert_only_unscored(tmp_path / "out", {137})
    losses = [event for event in events if isinstance(event, WorkerLost)]
    assert losses
    assert losses[0].reason == "its process ended with exit code 9"


def test_ray_writes_what_this_process_writes(ray_session: None, pairs: Path, tmp_path: Path) -> None:
    run_scorer(pairs, tmp_path / "local", length_scorer(), RunOptions(engine="local", shard_rows=30))
    summary = run_scorer(pairs, tmp_path / "ray", length_scorer(), RunOptions(engine="ray", shard_rows=30))
    assert read_output(tmp_path / "ray").equals(read_output(tmp_path / "local"))
    assert (summary.engine, summary.rows) == ("ray", 200)


@pytest.mark.slow  # Ray takes seconds to start each worker anew.
def test_ray_finds_the_row_that_ends_its_worker(
    ray_session: None, quick_conviction: None, pairs: Path, tmp_path: Path
) -> None:
    poison = numbered(200)["text"][137].as_py()
    run_scorer(pairs, tmp_path / "poison", length_scorer(poison=(poison,)), RunOptions(engine="ray", shard_rows=8))
    assert_only_unscored(tmp_path / "poison", {137})


def assert_only_unscored(output: Path, rows: set[int]) -> None:
    table = read_output(output)
    assert table.select(["n", "text"]).equals(numbered(200))
    assert {row["n"] for row in table.to_pylist() if row["score_error"] == UNSCORED} == rows
    assert {row["n"] for row in table.to_pylist() if row["length"] is None} == rows


@pytest.mark.parametrize(
    ("number", "reason"),
    [
        (signal.SIGKILL, "its process was ended by SIGKILL"),
        pytest.param(signal.SIGSTOP, "its process did not answer for 8 s", marks=pytest.mark.slow),
    ],
)
def test_a_worker_killed_or_stopped_from_outside_costs_an_attempt_and_no_row(
    number: int, reason: str, pairs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engines, "SILENT_SECONDS", 8.0)
    outcomes: list[object] = []
    stop = threading.Event()

    def losses() -> list[WorkerLost]:
        return [outcome for outcome in outcomes if isinstance(outcome, WorkerLost)]

    def kill_one() -> None:
        done = 0
        while not stop.wait(0.05) and not losses():  # A worker that has no shard at that moment is no loss.
            children = Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()
            spawned = [pid for pid in children if "spawn_main" in Path(f"/proc/{pid}/cmdline").read_text()]
            before, done = done, len(list((tmp_path / "out").glob("*.parquet")))
            if spawned and done > before:
                os.kill(int(spawned[0]), number)
                if number == signal.SIGSTOP:
                    return

    killer = threading.Thread(target=kill_one)
    killer.start()
    try:
        summary = run_scorer(
            pairs,
            tmp_path / "out",
            length_scorer(pause=0.5),
            RunOptions(engine="local", workers=2, shard_rows=20),
            watch=outcomes.append,
        )
    finally:
        stop.set()
        killer.join()
    assert {loss.reason for loss in losses()} == {reason}
    assert summary.errors == 0
    assert read_output(tmp_path / "out").select(["n", "text"]).equals(numbered(200))


def test_no_worker_outlives_a_run_that_fails(pairs: Path, tmp_path: Path) -> None:
    with pytest.raises(RunIncomplete, match="KeyError: 'bug'"):
        run_scorer(
            pairs, tmp_path / "out", length_scorer(fails=True), RunOptions(engine="local", workers=2, shard_rows=30)
        )
    deadline = time.monotonic() + 5
    while time.monotonic() < deadline:
        children = Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()
        if not any("spawn_main" in Path(f"/proc/{pid}/cmdline").read_text() for pid in children):
            return
        time.sleep(0.05)
    pytest.fail("worker processes are still there")


def test_a_fatal_failure_ends_the_run_at_once(pairs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*arguments: object) -> None:
        raise OutputError("No space is left on the device: cannot write it.")

    monkeypatch.setattr(partitions.places, "new_parquet", full)
    outcomes: list[object] = []
    with pytest.raises(OutputError, match="No space is left"):
        run_scorer(
            pairs, tmp_path / "out", length_scorer(), RunOptions(engine="local", shard_rows=10), watch=outcomes.append
        )
    assert len(outcomes) == 2, "the plan and one failure"


@pytest.mark.ray
@pytest.mark.parametrize("address", ["nowhere", "127.0.0.1:1", "ray://127.0.0.1:1"])
def test_no_cluster_at_the_address_is_one_sentence(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    ray = pytest.importorskip("ray")
    monkeypatch.setattr(ray, "is_initialized", lambda: False)
    with pytest.raises(EngineError, match=f"No Ray answers at {address}") as failure:
        RayTasks(len, RunOptions(address=address))  # type: ignore[arg-type]
    assert "\n" not in str(failure.value)


@pytest.mark.ray
def test_a_second_cluster_is_refused(ray_session: None) -> None:
    with pytest.raises(EngineError, match="connected to Ray already"):
        RayTasks(len, RunOptions(address="127.0.0.1:6379"))  # type: ignore[arg-type]


@pytest.fixture(autouse=True)
def no_cluster(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("RAY_ADDRESS", raising=False)


def chosen(rows: int, shards: int, **options: object) -> tuple[str, int | None]:
    chosen = choose_engine(rows, shards, RunOptions(**options))  # type: ignore[arg-type]
    return chosen.engine, chosen.workers


def test_few_rows_stay_in_this_process_and_many_do_not() -> None:
    assert chosen(500, 1, workers=8) == ("local", 1)
    assert chosen(0, 0, workers=8) == ("local", 1)
    assert chosen(1_000_000, 245, workers=8) == ("local", 8)
    assert chosen(1_000_000, 3, workers=8) == ("local", 3)


def test_local_has_worker_processes_only_when_asked() -> None:
    assert chosen(1_000_000, 245, engine="local") == ("local", 1)
    assert chosen(10, 2, engine="local", workers=2) == ("local", 2)


def test_a_cluster_is_taken_when_named_and_when_the_rows_are_worth_joining_it(monkeypatch: pytest.MonkeyPatch) -> None:
    assert chosen(1, 1, address="auto") == ("ray", None)
    assert chosen(1, 1, engine="ray", workers=3) == ("ray", 3)
    monkeypatch.setenv("RAY_ADDRESS", "127.0.0.1:6379")
    assert chosen(1_000_000, 245)[0] == "ray"
    assert chosen(500, 1)[0] == "local"
    monkeypatch.setenv("RAY_ADDRESS", "http://127.0.0.1:8265")
    assert chosen(1_000_000, 245)[0] == "local", "that is where jobs are submitted to, and no cluster's address"


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"engine": "spark"}, "spark"),
        ({"workers": 0}, "at least one worker"),
        ({"engine": "local", "address": "auto"}, "An address is that of a Ray cluster"),
    ],
)
def test_what_makes_no_sense_is_refused(arguments: dict[str, object], sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        RunOptions(**arguments)  # type: ignore[arg-type]


def test_a_quota_of_the_container_counts(tmp_path: Path) -> None:
    quota = tmp_path / "cpu.max"
    everything = available_cpus(quota)
    quota.write_text("100000 100000\n")
    assert available_cpus(quota) == 1
    quota.write_text("max 100000\n")
    assert available_cpus(quota) == everything


def test_results_come_in_order_and_items_are_drawn_as_needed() -> None:
    drawn: list[int] = []
    numbers = (drawn.append(number) or number for number in range(0, 80, 2))  # type: ignore[func-returns-value]
    results = ordered_map(half, numbers, workers=2)
    assert next(results) == 0
    assert len(drawn) <= 8
    assert list(results) == list(range(1, 40))


def test_what_the_function_raises_is_raised_here_and_a_lost_worker_is_one_sentence() -> None:
    with pytest.raises(ArithmeticError, match="5 is odd"):
        list(ordered_map(half, [2, 4, 5], workers=2))
    with pytest.raises(EngineError, match="exit code 7"):
        list(ordered_map(half, [2, 98], workers=2))


@pytest.mark.slow
def test_workers_do_without_pandas_until_it_is_asked_for() -> None:
    pytest.importorskip("pandas")
    assert next(ordered_map(pandas_is_there, range(2), workers=2)) == (False, 2)


def test_workers_that_are_asked_for_are_used() -> None:
    assert choose_engine(4_000, 2, RunOptions(workers=2)).workers == 2
    assert choose_engine(4_000, 2, RunOptions(workers=3)).workers == 2, "there are two shards"
    assert choose_engine(4_000, 2, RunOptions()).workers == 1


def test_rows_that_take_less_time_stay_longer_in_this_process() -> None:
    """A kernel scores 15,000 rows before a worker process has started."""
    assert choose_engine(15_000, 8, RunOptions(), row_seconds=0.00008).workers == 1
    assert choose_engine(15_000, 8, RunOptions(), row_seconds=1).workers == min(available_cpus(), 8)


def test_a_worker_that_is_stopped_cleans_up(tmp_path: Path) -> None:
    pool = Processes(work_in_a_folder, 1)
    pool.submit("")
    pool.take()
    pool.submit(str(tmp_path))
    while not (found := list(tmp_path.glob("*/pid"))) or not found[0].read_text():
        time.sleep(0.02)
    pid = int(found[0].read_text())
    pool.close()
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


class RayOfTwoNodes:
    """What an engine asks of Ray: two nodes, of which one lacks the package; each task runs where it is sent."""

    def __init__(self) -> None:
        from ray import exceptions

        self.exceptions = exceptions
        self.sent: list[str] = []
        self.gone: set[str] = set()

    def nodes(self) -> list[dict[str, object]]:
        return [
            {"NodeManagerHostname": name, "NodeID": name, "NodeManagerAddress": address, "Alive": True} | TWO_CPUS
            for name, address in (("bad", "10.0.0.1"), ("good", "10.0.0.2"))
            if name not in self.gone
        ]

    def options(self, scheduling_strategy: str = "bad") -> RayOfTwoNodes:
        self.sent.append(scheduling_strategy)
        return self

    def remote(self, function: object, task: ShardTask) -> Iterator[tuple[str, ShardTask]]:
        return iter([(self.sent[-1], task)])

    def wait(self, references: list[object], **_: object) -> tuple[list[object], list[object]]:
        return references[:1], references[1:]

    def get(self, reference: tuple[str, ShardTask]) -> ShardRecord:
        node, task = reference
        if node == "bad":
            cause, said = ModuleNotFoundError("No module named 'pddl_eval'"), "Traceback (most recent call last):"
            raise self.exceptions.RayTaskError("_run", said, cause, "ray::_run", 7, "10.0.0.1").as_instanceof_cause()
        return ShardRecord(task.shard.name, "run", task.shard.rows, {}, 0.0, f"{node}/{node}", 1)


TWO_CPUS = {"Resources": {"CPU": 2.0}}


@pytest.fixture
def two_nodes(monkeypatch: pytest.MonkeyPatch) -> tuple[RayOfTwoNodes, RayTasks]:
    ray = RayOfTwoNodes()
    monkeypatch.setattr("pddl_eval.run.engines.ray._connect", lambda _: False)
    monkeypatch.setattr("pddl_eval.run.engines.ray.NODES_SECONDS", 0.0)
    monkeypatch.setattr("ray.put", lambda function: function)
    engine = RayTasks(str, RunOptions(engine="ray", address="auto", workers=2))  # type: ignore[arg-type]
    engine._ray, engine._task, engine._on_node = ray, ray, lambda node, soft: node
    return ray, engine


SHARDS = [Shard("s", FileVersion(Location("/s"), ""), row, row + 1) for row in range(20)]


@pytest.mark.ray
def test_a_node_without_the_package_is_excluded_and_loses_no_shard(two_nodes: tuple[RayOfTwoNodes, RayTasks]) -> None:
    ray, engine = two_nodes
    events = list(retries.run_shards(engine, SHARDS))
    assert sorted(event.name for event in events if isinstance(event, ShardRecord)) == [each.name for each in SHARDS]
    [excluded] = [event for event in events if not isinstance(event, ShardRecord)]
    assert isinstance(excluded, NodeExcluded) and excluded.node == "bad/bad"
    assert ray.sent.count("bad") <= 6


@pytest.mark.ray
def test_a_run_ends_with_what_the_nodes_said_where_those_that_worked_are_gone(
    two_nodes: tuple[RayOfTwoNodes, RayTasks],
) -> None:
    """The shards that are not done are no failures: the same run started again does them."""
    ray, engine = two_nodes
    events: list[object] = []
    with pytest.raises(EngineError, match="No module named 'pddl_eval'"):
        for event in retries.run_shards(engine, SHARDS):
            events.append(event)
            if isinstance(event, NodeExcluded):
                ray.gone.add("good")
    assert 0 < len(events) < len(SHARDS) and not any(isinstance(event, ShardFailure) for event in events)


def test_a_script_without_its_guard_is_told_which_function_asked_for_workers(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        "import pddl_eval\npddl_eval.reward(['(a)'] * 4, '(define (domain d))', kind='domain', workers=2)\n"
    )
    done = subprocess.run([sys.executable, script], env=ENVIRONMENT, capture_output=True, text=True, check=False)
    assert done.returncode == 1 and done.stderr.count("Traceback") == 1
    last = done.stderr.splitlines()[-1]
    assert "reward" in last and "__main__" in last and "score_dataset" not in last


FORKS = """
import sys, time
from pddl_eval.run import Processes, WorkerLost, forked_workers
from tests.support.small_work import place_or_end

sys.marked = "forked"
if __name__ == "__main__":
    with forked_workers(3):
        engine = Processes(place_or_end, 3)
        for task in ("end", "marked"):
            engine.submit(task)
        lost, (pid, said) = sorted((engine.take()[1] for _ in range(2)), key=lambda each: isinstance(each, tuple))
        assert isinstance(lost, WorkerLost) and "SIGKILL" in lost.reason, lost
        assert said == "forked", said
        print(pid, flush=True)
        time.sleep(60)
"""


def test_forked_workers_have_what_was_imported_and_end_with_their_process(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(FORKS)
    process = subprocess.Popen([sys.executable, script], env=ENVIRONMENT, stdout=subprocess.PIPE, text=True)
    assert process.stdout
    worker = int(process.stdout.readline())
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
    assert str(worker) in children and len(children) == 2  # one is killed, one waits for its function
    process.kill()
    process.wait()
    deadline = time.monotonic() + 30
    while any(Path(f"/proc/{child}").exists() for child in children):
        assert time.monotonic() < deadline
        time.sleep(0.05)


def _rewarded(pipe: Connection) -> None:
    try:
        reward(["(a)"] * 4, "(define (domain d))", kind="domain", workers=2)
    except EngineError as error:
        pipe.send(str(error))


@pytest.mark.slow
def test_a_daemonic_process_is_told_that_it_has_no_workers() -> None:
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=_rewarded, args=(theirs,), daemon=True)
    process.start()
    assert ours.poll(60) and "daemonic" in ours.recv()
    process.join()


@pytest.mark.slow
def test_workers_that_are_killed_before_they_begin_are_no_script_without_a_guard() -> None:
    engine = Processes(KilledWhileUnpickled(), 1)  # type: ignore[arg-type]
    engine.submit(1)
    with pytest.raises(EngineError) as found:
        engine.take()
    assert "SIGKILL" in str(found.value) and "memory" in str(found.value) and "__main__" not in str(found.value)
