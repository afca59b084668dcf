"""A run that is started again deletes what is proven damaged and nothing else, and leaves nothing behind."""

from __future__ import annotations

import errno
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from pddl_eval import build_report, run_status
from pddl_eval.datasets import Location, Unavailable, locate
from pddl_eval.errors import TRY_AGAIN
from pddl_eval.run import MANIFEST
from pddl_eval.run.lock import claimed
from pddl_eval.run.manifest import COLUMNS
from pddl_eval.scoring.scorer import score_dataset
from pddl_eval.settings import RunOptions
from pyarrow import fs

from tests.run.test_lock import elsewhere, lock_of, quick
from tests.support.length_scorer import length_scorer, run_scorer
from tests.support.parquet_files import damage, numbered, read_output, write_numbered
from tests.support.running import ENVIRONMENT, run

__all__ = ["quick"]

ROWS = 40


@pytest.fixture
def pairs(tmp_path: Path) -> Path:
    return write_numbered(tmp_path / "pairs.parquet", rows=ROWS, row_group=40)


def score(pairs: Path, output: Path, shard_rows: int = 10) -> int:
    return run_scorer(
        pairs, output, length_scorer(), RunOptions(engine="local", workers=1, shard_rows=shard_rows)
    ).rows_scored


def files_of(folder: Path) -> dict[str, int]:
    return {path.name: path.stat().st_ino for path in folder.glob("*.parquet")}


@pytest.fixture
def failing(monkeypatch: pytest.MonkeyPatch) -> Callable[[Collection[Path], int, int], None]:
    """Files that cannot be opened, with that error, that many times."""

    def fail(files: Collection[Path], number: int, times: int = 10**6) -> None:
        paths, left = {str(file) for file in files}, [times]

        def unless_failing(known: Callable[..., Any]) -> Callable[..., Any]:
            def open_(path: str | Path, *arguments: Any, **options: Any) -> Any:
                if str(path) in paths and left[0]:
                    left[0] -= 1
                    raise OSError(number, os.strerror(number))
                return known(path, *arguments, **options)

            return open_

        class Failing:
            def __getattr__(self, name: str) -> Any:
                known = getattr(fs.LocalFileSystem(), name)
                return unless_failing(known) if name in ("open_input_file", "open_input_stream") else known

        monkeypatch.setattr(Location, "filesystem", property(lambda self: Failing()))
        monkeypatch.setattr(Path, "open", unless_failing(Path.open))

    return fail


@pytest.mark.parametrize("number", [errno.EACCES, errno.EIO])
@pytest.mark.parametrize("shard_rows", [10, 7])
def test_what_cannot_be_read_is_kept_and_the_run_says_try_again(
    number: int, shard_rows: int, pairs: Path, tmp_path: Path, failing: Callable[..., None]
) -> None:
    out = tmp_path / "out"
    score(pairs, out)
    before = files_of(out)
    failing(out.glob("*.parquet"), number)
    with pytest.raises(Unavailable) as raised:
        score(pairs, out, shard_rows)
    assert raised.value.exit_code == TRY_AGAIN
    assert files_of(out) == before


def test_one_error_of_a_disk_costs_nothing(pairs: Path, tmp_path: Path, failing: Callable[..., None]) -> None:
    out = tmp_path / "out"
    score(pairs, out)
    before = files_of(out)
    failing(out.glob("*.parquet"), errno.EIO, 1)
    assert score(pairs, out) == 0 and files_of(out) == before


@pytest.mark.parametrize("name", [MANIFEST, "_summary.json"])
def test_a_manifest_that_cannot_be_read_now_is_no_other_run(
    name: str, pairs: Path, tmp_path: Path, failing: Callable[..., None]
) -> None:
    out = tmp_path / "out"
    score(pairs, out)
    failing([out / name], errno.EIO)
    with pytest.raises(Unavailable):
        run_status(out)
    if name == MANIFEST:
        with pytest.raises(Unavailable):
            score(pairs, out)


def test_a_lock_that_cannot_be_read_is_a_lock(tmp_path: Path, failing: Callable[..., None]) -> None:
    with claimed(locate(tmp_path)):
        place = lock_of(tmp_path)
        assert place
        failing([place], errno.EIO)
        with pytest.raises(Unavailable), claimed(locate(tmp_path)):
            pass


def test_a_report_of_what_cannot_be_read_does_not_call_it_damaged(
    tmp_path: Path, failing: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    out = scored_plans(tmp_path)
    monkeypatch.setattr("pddl_eval.report.scored.open_scored_rows", opened_before(out))
    failing(out.glob("*.parquet"), errno.EIO)
    assert run("report", out).exit_code == TRY_AGAIN


def opened_before(out: Path) -> Callable[[object], object]:
    from pddl_eval.run import open_scored_rows

    found = open_scored_rows(str(out))
    return lambda _: found


def scored_plans(folder: Path) -> Path:
    import pyarrow as pa

    plans = ["(pick a), (drop a)"] * ROWS
    pq.write_table(pa.table({"reference_plan": plans, "generated_plan": plans}), folder / "plans.parquet")
    score_dataset(folder / "plans.parquet", folder / "out", engine="local", workers=1, shard_rows=10)
    return folder / "out"


def test_damage_that_is_proven_is_made_again(pairs: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    score(pairs, out)
    first, second, third, fourth = sorted(out.glob("*.parquet"))
    first.write_bytes(b"")
    second.write_bytes(second.read_bytes()[:-9])
    damage(third, 0, 1)  # A page: its footer is whole.
    kept = files_of(out)[fourth.name]
    assert score(pairs, out) == 20
    assert score(pairs, out) == 10  # Pages are read once no footer is damaged.
    assert files_of(out)[fourth.name] == kept
    assert read_output(out).select(["n", "text"]).equals(numbered(ROWS)) and run_status(out).finished


def test_a_flipped_bit_in_the_name_of_a_column_is_damage(tmp_path: Path) -> None:
    """The footer is whole otherwise, and its record is that of the partition."""
    out = scored_plans(tmp_path)
    first = min(out.glob("*.parquet"))
    content = first.read_bytes()
    flipped = content.replace(b"plan_precision", b"plan_0recision")
    assert flipped != content
    first.write_bytes(flipped)
    assert pq.read_schema(first).names != json.loads((out / MANIFEST).read_text())[COLUMNS]
    assert not run_status(out).finished
    again = score_dataset(tmp_path / "plans.parquet", out, engine="local", workers=1, shard_rows=10)
    assert again.rows_scored == 10
    assert build_report(out).rows == ROWS and run_status(out).finished
    merged = tmp_path / "merged"
    options = {"engine": "local", "workers": 1, "rows_per_file": 20}
    score_dataset(tmp_path / "plans.parquet", merged, **options)
    (merged / "part-000001.parquet").write_bytes(
        (merged / "part-000001.parquet").read_bytes().replace(b"plan_precision", b"plan_0recision")
    )
    assert score_dataset(tmp_path / "plans.parquet", merged, **options).rows_scored == ROWS
    assert build_report(merged).rows == ROWS


@pytest.mark.parametrize(
    ("was", "is_"), [(b'"even": {"true": ', b'"even": {"4rue": '), (b"length|text", b"length|tezt")]
)
def test_a_flipped_bit_in_what_a_partition_says_of_itself_is_damage(
    was: bytes, is_: bytes, pairs: Path, tmp_path: Path
) -> None:
    """No page and no column is touched, and the summary would take the numbers for its own."""
    out = tmp_path / "out"
    score(pairs, out)
    summary, first = json.loads((out / "_summary.json").read_text()), min(out.glob("*.parquet"))
    content = first.read_bytes()
    assert content.count(was) == 1
    first.write_bytes(content.replace(was, is_))
    assert not run_status(out).finished
    assert score(pairs, out) == 10
    assert json.loads((out / "_summary.json").read_text())["statistics"] == summary["statistics"]


KILLED = """
import os, signal, sys
from pathlib import Path
from pddl_eval.run import score
from pddl_eval.settings import RunOptions
from tests.support.length_scorer import length_scorer, run_scorer

def killed(*arguments):
    os.kill(os.getpid(), signal.SIGKILL)

score._completed = killed
options = RunOptions(engine="local", workers=1, shard_rows=10)
run_scorer(sys.argv[1], sys.argv[2], length_scorer(), options, part=sys.argv[3] or None)
"""


@pytest.mark.parametrize("part", ["", pytest.param("1/1", marks=pytest.mark.slow)])
def test_a_kill_before_the_lock_is_released_leaves_no_lock_for_ever(part: str, pairs: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    ended = subprocess.run([sys.executable, "-c", KILLED, pairs, out, part], env=ENVIRONMENT)
    assert ended.returncode == -signal.SIGKILL and len(files_of(out)) == 4 and lock_of(out)
    options = RunOptions(engine="local", workers=1, shard_rows=10)
    assert run_scorer(pairs, out, length_scorer(), options, part=part or None).rows_scored == 0
    assert not lock_of(out) and not run_status(out).writers and run_status(out).finished


@pytest.mark.usefixtures("quick")
def test_a_dead_lock_of_another_machine_goes_and_a_live_one_stays(pairs: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    score(pairs, out)
    with claimed(locate(out)):
        place = elsewhere(out)
        content = place.read_text()  # At once: the holder's next sign of life says again whose it is.
        assert score(pairs, out) == 0 and place.exists()
    place.write_text(content)
    os.utime(place, (0, 0))
    assert score(pairs, out) == 0 and not place.exists()
