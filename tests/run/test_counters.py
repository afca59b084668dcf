"""What a run says to the outside while it works: counters in a file, and what the heartbeat names."""

from __future__ import annotations

import json
import re
import threading
import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from pddl_eval.datasets import locate, read_bytes
from pddl_eval.errors import RunError, UserError
from pddl_eval.run import Event, RunIncomplete, run_status, watching
from pddl_eval.run import lock as locking
from pddl_eval.run.counters import INTERVALS, MEANINGS
from pddl_eval.run.watching import Waiting
from pddl_eval.settings import RunOptions

from tests.support.length_scorer import length_scorer, run_scorer
from tests.support.parquet_files import damage, write_numbered

LOCAL = RunOptions(engine="local", workers=1, shard_rows=10)


@pytest.fixture
def pairs(tmp_path: Path) -> Path:
    return write_numbered(tmp_path / "pairs.parquet", rows=60, row_group=20)


def samples(textfile: Path) -> Mapping[str, float]:
    """The numbers of a textfile by name, with the verdict where there is one."""
    found = {}
    for line in textfile.read_text().splitlines():
        sample = re.fullmatch(r"pddl_eval_(\w+)\{(.*)\} (\S+)", line)
        assert sample or re.match(r"# (HELP|TYPE) pddl_eval_\w+ \S", line), line
        if sample:
            verdict = re.search(r'verdict="(\w+)"', sample[2])
            found[sample[1] + (f" {verdict[1]}" if verdict else "")] = float(sample[3])
    return found


@pytest.mark.parametrize("workers", [1, 2])
def test_the_counters_of_a_run_add_up(workers: int, pairs: Path, tmp_path: Path) -> None:
    place = tmp_path / "run.prom"
    options = replace(LOCAL, workers=workers, counters=str(place))
    summary = run_scorer(pairs, tmp_path / "out", length_scorer(), options)
    found = samples(place)
    assert (found["rows"], found["rows_done"], found["rows_scored_total"], found["shards_total"]) == (60, 60, 60, 6)
    assert {name.partition(" ")[2]: count for name, count in found.items() if " " in name} == summary.verdicts
    assert found["finished"] == 1 and found["shards_under_way"] == 0
    assert found["started_timestamp_seconds"] <= found["last_result_timestamp_seconds"] <= time.time()
    assert {name.partition(" ")[0] for name in found} == MEANINGS.keys()
    run_scorer(pairs, tmp_path / "out", length_scorer(), options)
    assert (samples(place)["rows_done"], samples(place)["rows_scored_total"]) == (60, 0)


def test_each_part_has_its_file_and_they_add_up(pairs: Path, tmp_path: Path) -> None:
    for part in ("1/2", "2/2"):
        run_scorer(pairs, tmp_path / "out", length_scorer(), replace(LOCAL, counters=f"{tmp_path}/run.prom"), part=part)
    both = [samples(tmp_path / f"run-{number}-of-2.prom") for number in (1, 2)]
    assert sum(each["rows_scored_total"] for each in both) == sum(each["rows"] for each in both) == 60
    assert 'part="1/2"' in (tmp_path / "run-1-of-2.prom").read_text()


def test_the_log_says_what_failed_and_goes_on_with_the_next_start(
    pairs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(INTERVALS, ".jsonl", 0.0)  # type: ignore[index]
    damage(pairs, row_group=1, column=1)
    options = replace(LOCAL, counters=str(tmp_path / "logs" / "run.jsonl"))
    for start in (1, 2):
        with pytest.raises(RunIncomplete):
            run_scorer(pairs, tmp_path / "out", length_scorer(), options)
        lines = [json.loads(line) for line in (tmp_path / "logs" / "run.jsonl").read_text().splitlines()]
        assert lines[-1]["rows_done"] == 40 and lines[-1]["finished"] == 0
        assert sum(line["rows_done"] < lines[-1]["rows_done"] for line in lines) > 1, "not only the end"
        assert len({line["started_timestamp_seconds"] for line in lines}) == start


def test_a_file_that_cannot_be_written_is_told_before_the_run(pairs: Path, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="prom"):
        RunOptions(counters="counters.txt")
    with pytest.raises(RunError):
        run_scorer(pairs, tmp_path / "out", length_scorer(), replace(LOCAL, counters=f"{pairs}/run.prom"))
    assert not list((tmp_path / "out").glob("*.parquet"))


@pytest.mark.s3
def test_in_a_bucket(bucket: str, pairs: Path, tmp_path: Path) -> None:
    for _ in range(2):
        run_scorer(pairs, tmp_path / "out", length_scorer(), replace(LOCAL, counters=f"s3://{bucket}/logs/run.jsonl"))
    lines = read_bytes(locate(f"s3://{bucket}/logs/run.jsonl")).splitlines()
    assert [json.loads(line)["rows_scored_total"] for line in (lines[0], lines[-1])] == [0, 0] and len(lines) >= 4


@pytest.mark.parametrize("workers", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_the_heartbeat_and_the_status_say_which_shard_is_worked_on_and_where(
    workers: int, pairs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(locking, "BEAT_SECONDS", 0.05)
    monkeypatch.setattr(watching, "HEARTBEAT_SECONDS", 0.3)
    waits: list[Waiting] = []

    def watch(event: Event) -> None:
        if isinstance(event, Waiting) and event.oldest:
            waits.append(event)

    run = (pairs, tmp_path / "out", length_scorer(pause=1.5), replace(LOCAL, workers=workers, shard_rows=30))
    thread = threading.Thread(target=lambda: run_scorer(*run, watch=watch))
    thread.start()
    doing: list[Mapping[str, str]] = []
    while thread.is_alive() and not doing:
        time.sleep(0.1)
        if (tmp_path / "out" / "_pddl_eval_run.json").exists():
            doing = [each for writer in run_status(tmp_path / "out").writers for each in writer.doing]
            shown = str(run_status(tmp_path / "out"))
    thread.join()
    assert doing[0]["shard"].startswith("pairs-") and doing[0]["node"] and doing[0]["since"].endswith("UTC")
    assert "working on  pairs-" in shown
    assert waits[0].oldest and waits[0].oldest.task.shard.stem == "pairs" and waits[0].oldest.seconds < 60
