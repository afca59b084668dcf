"""Two runs into one folder: the second is told of the first; a run that was killed blocks nobody for long."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from threading import Event, Thread
from threading import enumerate as threads

import pytest
from pddl_eval.datasets.places import DatasetError, Location, list_files, locate
from pddl_eval.options import RunOptions
from pddl_eval.run import lock
from pddl_eval.run.lock import LOCK, claimed

from tests.commands.running import ENVIRONMENT
from tests.datasets.parquet_files import write_numbered
from tests.run.length_scorer import length_scorer, run_scorer

HOLD = """
import sys, time
from pddl_eval.run.lock import claimed
from pddl_eval.datasets import locate

with claimed(locate(sys.argv[1]), sys.argv[2]):
    time.sleep(60)
"""


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lock, "BEAT_SECONDS", 0.05)
    monkeypatch.setattr(lock, "GONE_SECONDS", 0.6)


def elsewhere(folder: Path) -> Path:
    """Make the lock's holder one of another machine."""
    place = folder / LOCK
    place.write_text(json.dumps(json.loads(place.read_text()) | {"machine": "another", "host": "node7"}))
    return place


def hold(folder: Path, name: str = LOCK) -> subprocess.Popen[bytes]:
    process = subprocess.Popen([sys.executable, "-c", HOLD, folder, name], env=ENVIRONMENT)
    while not (folder / name).exists():
        assert process.poll() is None
        time.sleep(0.02)
    return process


def test_the_second_run_is_told_of_the_first_which_goes_on(tmp_path: Path) -> None:
    source, out = write_numbered(tmp_path / "pairs.parquet", rows=40, row_group=40), tmp_path / "out"
    summaries = []
    run = (source, out, length_scorer(pause=0.3), RunOptions(engine="local", workers=1, shard_rows=10))
    first = Thread(target=lambda: summaries.append(run_scorer(*run)))
    first.start()
    while not (out / LOCK).exists():
        time.sleep(0.01)
    with pytest.raises(DatasetError, match=f"process {os.getpid()} on .*, since 2"):
        run_scorer(*run)
    first.join()
    assert [summary.rows_scored for summary in summaries] == [40]
    assert not (out / LOCK).exists()
    assert run_scorer(*run).shards_reused == 4


def test_a_killed_process_on_this_machine_blocks_nobody(tmp_path: Path) -> None:
    first = hold(tmp_path)
    with pytest.raises(DatasetError, match=f"process {first.pid} "), claimed(locate(tmp_path)):
        pass
    first.send_signal(signal.SIGKILL)
    first.wait()
    assert (tmp_path / LOCK).exists()
    begun = time.monotonic()
    with claimed(locate(tmp_path)):
        assert json.loads((tmp_path / LOCK).read_text())["pid"] == os.getpid()
    assert time.monotonic() - begun < lock.BEAT_SECONDS
    assert list(tmp_path.iterdir()) == []


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
        assert json.loads(place.read_text())["host"] != "node7"
    assert "node7" in capsys.readouterr().err
    for damaged in ("", "{}", '{"pid": "x"}', "[1]"):
        place.write_text(damaged)
        with claimed(locate(tmp_path)):
            pass


@pytest.mark.usefixtures("quick")
def test_a_sign_of_life_that_is_written_late_leaves_no_lock(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    begun, put_bytes = Event(), lock.put_bytes

    def slowly(place: Location, content: bytes) -> None:
        begun.set()
        time.sleep(0.3)
        put_bytes(place, content)

    monkeypatch.setattr(lock, "put_bytes", slowly)
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
