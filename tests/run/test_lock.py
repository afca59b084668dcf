"""Two runs into one folder: the second is told of the first; a run that was killed blocks nobody for long."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from pathlib import Path
from threading import Barrier, Event, Thread, get_ident
from threading import enumerate as threads

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pddl_eval.datasets.places import (
    DatasetError,
    Location,
    OutputError,
    Unavailable,
    list_files,
    locate,
    read_bytes,
    remove_file,
)
from pddl_eval.run import lock
from pddl_eval.run.lock import claimed
from pddl_eval.settings import RunOptions
from pddl_eval.unchanged import MANIFEST

from tests.support.length_scorer import length_scorer, run_scorer
from tests.support.parquet_files import write_numbered
from tests.support.running import ENVIRONMENT

HOLD = """
import sys, time
from pddl_eval.run.lock import claimed
from pddl_eval.unchanged import MANIFEST
from pddl_eval.datasets import locate

with claimed(locate(sys.argv[1]), *sys.argv[2:]):
    time.sleep(60)
"""


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lock, "BEAT_SECONDS", 0.05)
    monkeypatch.setattr(lock, "GONE_SECONDS", 0.6)


def lock_of(folder: Path) -> Path | None:
    """The lock file in a folder that has at most one."""
    (place,) = [*folder.glob("_running*.json")] or [None]
    return place


def elsewhere(folder: Path) -> Path:
    """Make the lock's holder one of another machine."""
    place = lock_of(folder)
    assert place
    place.write_text(json.dumps(json.loads(place.read_text()) | {"machine": "another", "host": "node7"}))
    return place


def hold(folder: Path, *part: str) -> subprocess.Popen[bytes]:
    process = subprocess.Popen([sys.executable, "-c", HOLD, folder, *part], env=ENVIRONMENT)
    while not lock_of(folder):
        assert process.poll() is None
        time.sleep(0.02)
    return process


def test_the_second_run_is_told_of_the_first_which_goes_on(tmp_path: Path) -> None:
    source, out = write_numbered(tmp_path / "pairs.parquet", rows=40, row_group=40), tmp_path / "out"
    summaries = []
    run = (source, out, length_scorer(pause=0.3), RunOptions(engine="local", workers=1, shard_rows=10))
    first = Thread(target=lambda: summaries.append(run_scorer(*run)))
    first.start()
    while not lock_of(out):
        time.sleep(0.01)
    with pytest.raises(DatasetError, match=f"process {os.getpid()} on .*, since 2"):
        run_scorer(*run)
    first.join()
    assert [summary.rows_scored for summary in summaries] == [40]
    assert not lock_of(out)
    assert run_scorer(*run).shards_reused == 4


def test_a_killed_process_on_this_machine_blocks_nobody(tmp_path: Path) -> None:
    first = hold(tmp_path)
    with pytest.raises(DatasetError, match=f"process {first.pid} "), claimed(locate(tmp_path)):
        pass
    first.send_signal(signal.SIGKILL)
    first.wait()
    killed = lock_of(tmp_path)
    assert killed
    (tmp_path / f".{killed.name}.{'0' * 32}.tmp").touch()  # It was killed while it wrote its file again.
    with claimed(locate(tmp_path)):
        held = lock_of(tmp_path)
        assert held and json.loads(held.read_text())["pid"] == os.getpid()
    assert list(tmp_path.iterdir()) == []


def test_the_number_of_a_claim_grows_with_each_that_takes_over(tmp_path: Path) -> None:
    folder = locate(tmp_path)
    for expected, after in ((1, 0), (5, 4), (1, 0)):  # Whoever ends by itself leaves no writer behind.
        with claimed(folder, after=after) as claim:
            assert claim.number == expected
            (holder,) = lock.holders(folder).values()
    assert holder.number == 1
    for expected in (2, 3):
        killed = replace(holder, process="0", token=f"{expected}", number=expected - 1)
        (tmp_path / killed.name).write_bytes(lock._content(killed))
        with claimed(folder) as claim:
            assert claim.number == expected


@pytest.mark.usefixtures("quick")
def test_a_process_elsewhere_is_watched_for_signs_of_life(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with claimed(locate(tmp_path)):
        place = elsewhere(tmp_path)  # It beats: the holder writes its lock again.
        with pytest.raises(DatasetError, match="node7"), claimed(locate(tmp_path)):
            pass
        content = place.read_text()
    place.write_text(content)
    elsewhere(tmp_path)  # It does not.
    with claimed(locate(tmp_path)):
        held = lock_of(tmp_path)
        assert held and json.loads(held.read_text())["host"] != "node7"
    assert "node7" in capsys.readouterr().err
    odd = json.dumps(json.loads(content) | {"interval": "x", "doing": 3})
    for damaged in ("", "{}", odd, '{"pid": "x"}', "[1]", content.replace('"token": "', '"token": "of another file ')):
        place.write_text(damaged)
        with claimed(locate(tmp_path)):
            pass


@pytest.mark.usefixtures("quick")
def test_a_part_waits_for_a_process_elsewhere_that_still_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As a pod that is replaced before it is gone: it beats for some time, and then no more."""
    own = (locate(tmp_path), "-2-of-3", "run-in-3")

    def end() -> None:
        with claimed(*own):
            time.sleep(1.0)

    monkeypatch.setattr(lock, "ENDING_SECONDS", 5.0)
    process = Thread(target=end)
    process.start()
    while not lock_of(tmp_path):
        time.sleep(0.01)
    elsewhere(tmp_path)
    with claimed(*own):
        process.join()
    monkeypatch.setattr(lock, "ENDING_SECONDS", 0.2)
    with claimed(*own):
        elsewhere(tmp_path)
        with pytest.raises(Unavailable, match="node7"), claimed(*own):
            pass


def test_many_parts_give_signs_of_life_less_often(tmp_path: Path) -> None:
    for parts, seconds in ((1, 5), (32, 5), (1_000, 30), (100_000, 60)):
        with claimed(locate(tmp_path), f"-1-of-{parts}", f"run-in-{parts}", parts):
            (holder,) = lock.holders(locate(tmp_path)).values()
            assert (holder.interval, holder.gone_seconds) == (seconds, max(45, 3 * seconds))


@pytest.mark.usefixtures("quick")
def test_a_sign_of_life_that_is_written_late_leaves_no_lock(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    begun, put_bytes = Event(), lock.places.put_bytes

    def slowly(place: Location, content: bytes) -> None:
        begun.set()
        time.sleep(0.3)
        put_bytes(place, content)

    monkeypatch.setattr(lock.places, "put_bytes", slowly)
    before = set(threads())
    with claimed(locate(str(tmp_path))):
        assert begun.wait(5)
    for thread in set(threads()) - before:
        thread.join(5)
    assert list_files(locate(str(tmp_path))) == {}


@pytest.mark.s3
def test_in_a_bucket(bucket: str) -> None:
    folder = locate(f"s3://{bucket}/out")
    with claimed(folder), pytest.raises(DatasetError, match=f"process {os.getpid()} "), claimed(folder):
        pass
    assert list_files(folder) == {}


@pytest.fixture(params=["a folder", pytest.param("a bucket", marks=[pytest.mark.s3, pytest.mark.slow])])
def folder(request: pytest.FixtureRequest, tmp_path: Path) -> Location:
    if request.param == "a folder":
        return locate(tmp_path)
    return locate(f"s3://{request.getfixturevalue('bucket')}/out")


def at_once(starts: Sequence[Callable[[], None]]) -> list[BaseException | None]:
    """What each of these functions raises; they are called at the same instant, in threads."""
    together = Barrier(len(starts))

    def start(number: int) -> BaseException | None:
        together.wait()
        try:
            starts[number]()
        except BaseException as error:
            return error
        return None

    with ThreadPoolExecutor(len(starts)) as pool:
        return list(pool.map(start, range(len(starts))))


def test_of_runs_that_start_at_the_same_instant_never_two_get_the_lock(
    folder: Location, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lock, "PAUSE_SECONDS", 0.2)
    inside, most, got = set(), 0, 0

    def start() -> None:
        nonlocal most, got
        with claimed(folder):
            inside.add(get_ident())
            most, got = max(most, len(inside)), got + 1
            time.sleep(0.3)
            inside.discard(get_ident())

    for _ in range(2):
        for error in at_once([start] * 6):
            assert error is None or isinstance(error, DatasetError), error
    assert most == 1 and got >= 2
    assert list_files(folder) == {}


def test_of_runs_that_start_at_the_same_instant_one_scores(
    folder: Location, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of two runs with other settings, also in parts: the partitions and the manifest are those of one of them."""
    monkeypatch.setattr(lock, "PAUSE_SECONDS", 0.2)
    source = write_numbered(tmp_path_factory.mktemp("in") / "pairs.parquet", rows=40, row_group=40)
    options = RunOptions(engine="local", workers=1, shard_rows=10)
    runs = [replace(length_scorer(pause=0.01), signature=f"length|{name}") for name in ("a", "b")]
    for number, parts in enumerate([(None, None), ("1/2", "2/2")]):
        out = folder / str(number)
        starts = [
            partial(run_scorer, source, str(out), run, options, part=part)
            for run, part in zip(runs, parts, strict=True)
        ]
        for error in at_once(starts):
            assert error is None or isinstance(error, DatasetError), error
        signature = json.loads(read_bytes(out / MANIFEST))["signature"]
        names = [name for name in list_files(out) if name.endswith(".parquet")]
        assert names
        for name in names:
            metadata = pq.read_metadata(pa.BufferReader(read_bytes(out / name))).metadata
            assert metadata[b"pddl_eval.signature"].decode() == signature


@pytest.mark.usefixtures("quick")
def test_a_lock_that_another_removed_does_not_come_back(folder: Location) -> None:
    with claimed(folder) as claim:
        claim.check()
        remove_file(claim.place)
        time.sleep(0.2)
        assert list_files(folder) == {}
        with pytest.raises(OutputError):
            claim.check()


@pytest.mark.usefixtures("quick")
def test_a_process_that_stood_still_while_another_took_over_gives_way(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It had looked at its file, and writes it after the other one has removed it."""
    begun, go_on, written, put_bytes = Event(), Event(), Event(), lock.places.put_bytes

    def stands_still(place: Location, content: bytes) -> None:
        if json.loads(content)["beats"]:
            begun.set()
            go_on.wait(30)
        put_bytes(place, content)
        written.set()

    monkeypatch.setattr(lock.places, "put_bytes", stands_still)
    with claimed(locate(tmp_path)) as claim:
        assert begun.wait(30)
        monkeypatch.setattr(lock.places, "put_bytes", put_bytes)
        written.clear()
        elsewhere(tmp_path)
        with claimed(locate(tmp_path)) as other:
            go_on.set()
            assert written.wait(30)
            while lock._read(claim.place):
                time.sleep(0.01)
            with pytest.raises(OutputError):
                claim.check()
            other.check()


def test_a_store_that_does_not_answer_for_a_moment_takes_no_lock_away(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read, silent = lock._read, [True]
    with claimed(locate(tmp_path)) as claim:
        monkeypatch.setattr(lock, "_read", lambda place: None if silent.pop() else read(place))
        silent[:] = [False, True]
        claim.check()
        monkeypatch.setattr(lock, "_read", read)
        remove_file(claim.place)
        with pytest.raises(OutputError, match="deleted"):
            claim.check()
