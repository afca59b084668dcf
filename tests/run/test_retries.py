"""Attempts at a shard, played without any engine: which rows are poison, which losses are chance."""

from __future__ import annotations

from collections.abc import Callable

from hypothesis import given, settings
from hypothesis import strategies as st
from pddl_eval.datasets.forms import FileVersion
from pddl_eval.datasets.places import Location
from pddl_eval.run.engines import WorkerLost
from pddl_eval.run.partitions import ShardFailure, ShardRecord, ShardResult, ShardTask
from pddl_eval.run.retries import ATTEMPTS, LOSSES_OF_POISON, MOST_POISON_ROWS, attempts_at
from pddl_eval.run.shards import Shard

ROWS = 4096


def play(answer: Callable[[ShardTask], ShardResult | WorkerLost], rows: int = ROWS) -> tuple[ShardResult, int]:
    """What came of a shard, and how many tasks it took."""
    attempts = attempts_at(Shard("s", FileVersion(Location("/s"), ""), 100, 100 + rows))
    tasks = 1
    task = next(attempts)
    while True:
        try:
            task = attempts.send(answer(task))
            tasks += 1
        except StopIteration as end:
            return end.value, tasks


def record(task: ShardTask) -> ShardRecord:
    name = task.shard.between(*(task.probe or (task.shard.start, task.shard.stop))).name
    return ShardRecord(name, "run", 1, {}, 0.0, "node", task.attempt, unscored=task.unscored)


def lost(task: ShardTask) -> WorkerLost:
    return WorkerLost(task, "SIGKILL")


def kills(task: ShardTask, poison: frozenset[int]) -> bool:
    start, stop = task.probe or (task.shard.start, task.shard.stop)
    return any(start <= row < stop and row not in task.unscored for row in poison)


def unlucky(losses: list[bool]) -> Callable[[ShardTask], ShardResult | WorkerLost]:
    """Loses the tasks that the list says, in its order, and no other."""
    left = list(losses)
    return lambda task: lost(task) if left and left.pop(0) else record(task)


@given(st.frozensets(st.integers(100, 100 + ROWS - 1), max_size=MOST_POISON_ROWS))
@settings(max_examples=50, deadline=None)
def test_exactly_the_rows_that_kill_are_left_out(poison: frozenset[int]) -> None:
    result, _ = play(lambda task: lost(task) if kills(task, poison) else record(task))
    assert isinstance(result, ShardRecord)
    assert frozenset(result.unscored) == poison


def test_one_row_among_thousands_takes_a_few_dozen_tasks() -> None:
    _, tasks = play(lambda task: lost(task) if kills(task, frozenset([1234])) else record(task))
    assert tasks <= 45


def test_losing_a_worker_once_or_twice_to_chance_holds_nothing_against_any_row() -> None:
    for chances in ([True], [True, True], [True, True, True], [True, True, False, True, True]):
        result, _ = play(unlucky(chances))
        assert isinstance(result, ShardRecord)
        assert result.unscored == ()


@given(st.lists(st.booleans(), max_size=200))
def test_chance_makes_no_row_poison_unless_it_strikes_as_often_as_poison_would(losses: list[bool]) -> None:
    losses[LOSSES_OF_POISON - 1 :: LOSSES_OF_POISON] = [False] * (len(losses) // LOSSES_OF_POISON)
    result, _ = play(unlucky(losses), rows=8)
    assert not isinstance(result, ShardRecord) or result.unscored == ()


def test_a_shard_that_dies_only_as_a_whole_is_given_up_with_advice() -> None:
    result, _ = play(lambda task: record(task) if task.probe else lost(task))
    assert isinstance(result, ShardFailure)
    assert f"lost its worker {ATTEMPTS} times (SIGKILL)" in result.reason
    assert "shard_rows" in result.reason


def test_where_every_row_kills_it_is_not_the_rows() -> None:
    result, tasks = play(lost)
    assert isinstance(result, ShardFailure)
    assert f"More than {MOST_POISON_ROWS}" in result.reason
    assert tasks < 300


def test_an_empty_shard_on_an_engine_that_loses_everything_ends() -> None:
    assert isinstance(play(lost, rows=0)[0], ShardFailure)


def test_a_failure_is_not_tried_again() -> None:
    failure = ShardFailure("s", "no such file")
    assert play(lambda task: failure) == (failure, 1)
