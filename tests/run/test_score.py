"""A run from input to summary: interrupted, resumed, damaged, logged."""

from __future__ import annotations

import hashlib
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pddl_eval.datasets import known_contents
from pddl_eval.datasets.forms import FileVersion
from pddl_eval.datasets.places import DatasetError, OutputError, locate, put_bytes
from pddl_eval.explain import find_row
from pddl_eval.run import SUMMARY, InputChanged, OtherRun, RunIncomplete, partitions, retries, run_status
from pddl_eval.run.partitions import ShardRecord
from pddl_eval.run.score import IN_PROCESS
from pddl_eval.run.shards import Shard
from pddl_eval.scoring.scorer import score_dataset
from pddl_eval.settings import RunOptions

from tests.support.length_scorer import length_scorer, run_scorer
from tests.support.parquet_files import damage, read_output, write_numbered

SHARD = Shard("s", FileVersion(locate("/s"), ""), 0, 7)
ROOT = Path(__file__).parent.parent.parent

RUN = """
import sys
from pddl_eval.settings import RunOptions
from tests.support.length_scorer import length_scorer, run_scorer

if __name__ == "__main__":
    source, output, workers = sys.argv[1:]
    options = RunOptions(engine="local", workers=int(workers), shard_rows=10)
    run_scorer(source, output, length_scorer(pause=0.15), options)
"""


@pytest.fixture
def pairs(tmp_path: Path) -> Path:
    return write_numbered(tmp_path / "pairs.parquet", rows=200, row_group=200)


@pytest.mark.parametrize("workers", [pytest.param(1, marks=pytest.mark.slow), 2])
def test_a_run_killed_half_way_and_started_again_equals_an_undisturbed_one(
    workers: int, pairs: Path, tmp_path: Path
) -> None:
    out = tmp_path / "killed"
    script = tmp_path / "run.py"
    script.write_text(RUN)
    process = subprocess.Popen([sys.executable, script, pairs, out, str(workers)], env=environment())
    while len(list(out.glob("*.parquet"))) < 4:
        assert process.poll() is None
        time.sleep(0.02)
    process.send_signal(signal.SIGKILL)
    process.wait()
    time.sleep(0.5)  # A worker process may be finishing the shard that it had begun.
    before = {path.name: path.stat() for path in out.glob("*.parquet")}
    assert len(before) < 20
    assert not (out / SUMMARY).exists()

    summary = run_scorer(pairs, out, length_scorer(), RunOptions(engine="local", shard_rows=10))
    assert summary.shards_reused == len(before)
    assert summary.rows_scored == 200 - 10 * len(before)
    for name, stat in before.items():
        now = (out / name).stat()
        assert (now.st_ino, now.st_mtime_ns) == (stat.st_ino, stat.st_mtime_ns), "a finished shard was done again"
    undisturbed = run_scorer(
        pairs, tmp_path / "undisturbed", length_scorer(), RunOptions(engine="local", shard_rows=10)
    )
    assert read_output(out).equals(read_output(tmp_path / "undisturbed"))
    assert summary.statistics == undisturbed.statistics
    assert [path.name for path in out.iterdir() if path.name.startswith(".")] == []


def environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "pipeline")])}


def test_worker_processes_end_with_the_process_that_started_them(pairs: Path, tmp_path: Path) -> None:
    script = tmp_path / "run.py"
    script.write_text(RUN)
    process = subprocess.Popen([sys.executable, script, pairs, tmp_path / "out", "2"], env=environment())
    while not list((tmp_path / "out").glob("*.parquet")):
        time.sleep(0.02)
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
    process.send_signal(signal.SIGKILL)
    process.wait()
    deadline = time.monotonic() + 10
    while any(is_running(int(pid)) for pid in children):
        assert time.monotonic() < deadline
        time.sleep(0.05)


def is_running(pid: int) -> bool:
    try:
        return ") Z" not in Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False


@pytest.mark.slow
def test_a_script_without_a_main_guard_is_told_so(pairs: Path, tmp_path: Path) -> None:
    script = tmp_path / "run.py"
    script.write_text(RUN.replace('if __name__ == "__main__":', "if True:"))
    arguments = [sys.executable, str(script), str(pairs), str(tmp_path / "out"), "2"]
    result = subprocess.run(arguments, env=environment(), capture_output=True, text=True)
    assert result.returncode != 0
    assert 'under `if __name__ == "__main__":`' in result.stderr


def test_rows_that_cannot_be_read_are_named_and_all_others_scored(tmp_path: Path) -> None:
    pairs = write_numbered(tmp_path / "pairs.parquet", rows=60, row_group=20)
    whole = pairs.read_bytes()
    damage(pairs, row_group=1, column=1)

    with pytest.raises(RunIncomplete, match=r"rows 20 to 39 of .*pairs\.parquet cannot be read") as incomplete:
        run_scorer(pairs, tmp_path / "out", length_scorer(), RunOptions(engine="local", shard_rows=40))
    assert "\n" not in str(incomplete.value)
    assert (incomplete.value.summary.rows, incomplete.value.summary.rows_unreadable) == (40, 20)
    assert read_output(tmp_path / "out")["n"].to_pylist() == [*range(20), *range(40, 60)]
    assert not (tmp_path / "out" / SUMMARY).exists()

    pairs.write_bytes(whole)  # which rows of the damaged file were those of this one, nobody knows
    with pytest.raises(DatasetError, match=r"pairs\.parquet is not the same"):
        run_scorer(pairs, tmp_path / "out", length_scorer(), RunOptions(engine="local", shard_rows=40))
    assert run_scorer(pairs, tmp_path / "new", length_scorer(), RunOptions(engine="local", shard_rows=40)).rows == 60


def test_the_summary_is_that_of_all_starts_together(pairs: Path, tmp_path: Path) -> None:
    first = run_scorer(pairs, tmp_path / "out", length_scorer(), RunOptions(engine="local", shard_rows=50))
    removed = next((tmp_path / "out").glob("*.parquet"))
    removed.unlink()
    second = run_scorer(pairs, tmp_path / "out", length_scorer(), RunOptions(engine="local", shard_rows=50))
    assert second.statistics == first.statistics
    assert (second.rows, second.rows_scored, second.shards_reused) == (200, 50, 3)
    kept = json.loads((tmp_path / "out" / SUMMARY).read_text())
    assert kept["complete"]
    names = sorted(path.name for path in (tmp_path / "out").glob("*.parquet"))
    assert kept["partitions"] == {name: 1 + (name == removed.name) for name in names}
    assert kept["verdicts"] == dict(first.verdicts)
    assert sum(first.verdicts.values()) == 200
    assert "200 in 4 shards (3 of them from an earlier start)" in str(second)


def test_few_shards_are_dealt_evenly_to_the_workers(tmp_path: Path) -> None:
    pairs = write_numbered(tmp_path / "pairs.parquet", rows=5_000, row_group=2_000)
    for workers, least in ((1, 3), (2, 8)):
        out = tmp_path / f"out{workers}"
        summary = run_scorer(pairs, out, length_scorer(), RunOptions(engine="local", workers=workers))
        assert summary.rows_scored == 5_000 and summary.workers == workers
        assert least <= len(list(out.glob("*.parquet"))) <= least + 3
    assert read_output(tmp_path / "out1").equals(read_output(tmp_path / "out2"))
    small = write_numbered(tmp_path / "small.parquet", rows=500, row_group=500)
    assert run_scorer(small, tmp_path / "small", length_scorer(), RunOptions(engine="local", workers=8)).workers == 1


@pytest.mark.slow  # It writes 100 MB.
def test_what_is_held_of_a_large_row_group_does_not_follow_its_number_of_rows(tmp_path: Path) -> None:
    """Arrow's own count of its memory; rows are of a kilobyte, so that a few pages of each column hold 10,000 too."""
    code = (
        "import sys, pyarrow as pa\n"
        "from pddl_eval.settings import RunOptions\n"
        "from tests.support.length_scorer import length_scorer, run_scorer\n"
        "run_scorer(sys.argv[1], sys.argv[2], length_scorer(), RunOptions('local', shard_rows=500))\n"
        "print(pa.default_memory_pool().max_memory())\n"
    )
    peaks = []
    for rows in (10_000, 100_000):
        path = tmp_path / f"{rows}.parquet"
        table = pa.table({"n": range(rows), "text": [f"{n:8}" * 128 for n in range(rows)]})
        pq.write_table(table, path, row_group_size=rows, compression="zstd")
        arguments = [sys.executable, "-c", code, str(path), str(tmp_path / f"out{rows}")]
        result = subprocess.run(arguments, env=environment(), capture_output=True, text=True, check=True)
        peaks.append(int(result.stdout))
    assert peaks[1] < peaks[0] + 4 * 2**20, "90 MB more of rows may cost a larger page and dictionary of each column"


KILLED = """
import sys
from pddl_eval.settings import RunOptions
from tests.support.length_scorer import length_scorer, run_scorer

run_scorer(*sys.argv[1:], length_scorer(poison=("2:xx",)), RunOptions(engine="local"))
"""


def test_a_row_that_ends_the_process_is_left_out_when_the_run_is_started_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(retries, "LOSSES_OF_POISON", 1)
    pairs, out = write_numbered(tmp_path / "pairs.parquet", rows=4, row_group=4), tmp_path / "out"
    killed = subprocess.run([sys.executable, "-c", KILLED, pairs, out], env=environment())
    assert killed.returncode == 9 and (out / IN_PROCESS).exists()
    summary = run_scorer(pairs, out, length_scorer(poison=("2:xx",)), RunOptions(engine="local"))
    assert (summary.rows, summary.errors) == (4, 1)
    assert [row["n"] for row in read_output(out).to_pylist() if row["score_error"]] == [2]
    assert not (out / IN_PROCESS).exists()


@pytest.mark.slow  # It decodes 3 GB.
def test_rows_that_share_a_long_prompt_need_no_more_memory_than_some_of_them(tmp_path: Path) -> None:
    """A megabyte and a half in 2,048 rows, 3 GB when decoded; a plan each, so that something is scored."""
    code = (
        "import sys\n"
        "from pddl_eval.scoring.scorer import score_dataset\n"
        "score_dataset(sys.argv[1], sys.argv[2])\n"
        "peak = open('/proc/self/status').read().split('VmHWM:')[1].split()[0]\n"  # ru_maxrss counts the parent's too
        "print(int(peak) // 1024)\n"
    )
    prompt = pa.array(["x" * 1_500_000]).dictionary_encode()
    rows = pa.DictionaryArray.from_arrays(pa.array([0] * 2048, pa.int32()), prompt.dictionary)
    plans = pa.array(["(pick a)"] * 2048)
    table = pa.table({"prompt": rows, "reference_plan": plans, "generated_plan": plans})
    pq.write_table(table, tmp_path / "pairs.parquet", store_schema=False)
    assert (tmp_path / "pairs.parquet").stat().st_size < 1_000_000
    arguments = [sys.executable, "-c", code, str(tmp_path / "pairs.parquet"), str(tmp_path / "out")]
    result = subprocess.run(arguments, env=environment(), capture_output=True, text=True, check=True)
    assert int(result.stdout) < 700, "megabytes"
    assert sum(pq.read_metadata(path).num_rows for path in (tmp_path / "out").glob("*.parquet")) == 2048


def test_names_of_domains_that_nobody_knows_are_counted_and_named(tmp_path: Path) -> None:
    held = "(define (problem p) (:domain blocksworld) (:objects a) (:init (holding a)) (:goal (clear a)))"
    problems = {"reference_problem": [held] * 4, "generated_problem": [held] * 4}
    domains = ["blockworld", "blocksworld", "blockworld", "chess\x1b[2J"]
    pq.write_table(pa.table({**problems, "domain": domains}), tmp_path / "pairs.parquet", row_group_size=2)
    summary = score_dataset(tmp_path / "pairs.parquet", tmp_path / "out", shard_rows=2)
    assert summary.statistics["unknown domains"] == {"blockworld": 2, "chess\\x1b[2J": 1}
    assert "2 rows: blockworld; did you mean blocksworld?" in str(summary)


def test_answers_with_several_drafts_are_counted(tmp_path: Path) -> None:
    held = "(define (problem p) (:domain blocksworld) (:objects a) (:init (holding a)) (:goal (clear a)))"
    wrong = held.replace("(clear a)", "(holding a)")
    drafts = {"plan": "1. (a)\n2. (b)\nFinal plan:\n1. (a)\n2. (c)", "problem": f"{wrong} {held}"}
    single = {"plan": "<think>(a)</think>(a)\n(c)", "problem": f"<think>{wrong}</think>{held}"}
    rows = {f"generated_{kind}": [drafts[kind], single[kind]] for kind in ("plan", "problem")}
    table = pa.table({**rows, "reference_plan": ["(a), (c)"] * 2, "reference_problem": [held] * 2})
    pq.write_table(table, tmp_path / "pairs.parquet", row_group_size=1)
    first, last = (score_dataset(tmp_path / "pairs.parquet", tmp_path / how, answer=how) for how in ("first", "last"))
    assert (first.share("equivalent"), last.share("equivalent")) == (0.5, 1.0)
    assert (first.mean("plan_lcs"), last.mean("plan_lcs")) == (0.0, 0.0)  # no such operators
    for summary, how in ((first, "first"), (last, "last")):
        assert (
            summary.statistics["detail"]["several drafts"] == summary.statistics["plan_detail"]["several drafts"] == 1
        )
        assert "several drafts" in str(summary) and f"answer:{how}" in summary.signature
    assert find_row(str(tmp_path / "last"), row=0).options.answer == "last"


def write_texts(texts: list[str], place: Path) -> Path:
    """A file whose footer is the same for the same texts in any order."""
    table = pa.table({"n": range(len(texts)), "text": texts})
    pq.write_table(table, place, compression="none", use_dictionary=False, row_group_size=len(texts))
    return place


@pytest.mark.parametrize("part", [None, "1/1"])
def test_an_input_that_is_changed_during_the_run_is_not_finished_by_any_start(
    part: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = [f"{number:04}" + "x" * (number % 3) for number in range(60)]
    other = [*texts[:7], texts[8], texts[7], *texts[9:]]
    pairs, changed = (write_texts(each, tmp_path / f"{name}.parquet") for name, each in (("a", texts), ("b", other)))
    assert pairs.read_bytes()[-600:] == changed.read_bytes()[-600:]

    def change(event: object) -> None:
        if isinstance(event, ShardRecord) and changed.exists():
            changed.replace(pairs)

    run = (pairs, tmp_path / "out", length_scorer(), RunOptions(engine="local", workers=1, shard_rows=20))
    with pytest.raises(InputChanged):
        run_scorer(*run, watch=change, part=part)
    status = run_status(tmp_path / "out")
    assert not status.finished and "a.parquet" in status.failed[0] and "same score command" not in str(status)
    for content in (other, texts):  # What it is now, and what it was: the folder has rows of both.
        write_texts(content, pairs)
        with pytest.raises(OtherRun, match=r"a.parquet was written while"):
            run_scorer(*run, part=part)
    monkeypatch.setattr("pddl_eval.datasets.inputs.SETTLED_SECONDS", 0.0)
    assert run_scorer(pairs, tmp_path / "new", *run[2:], watch=lambda _: write_texts(texts, pairs) and None).rows == 60


@pytest.mark.s3
def test_an_object_that_is_changed_during_the_run_is_found_by_its_digest(bucket: str, tmp_path: Path) -> None:
    texts = [f"{number:04}" for number in range(60)]
    place = locate(f"s3://{bucket}/in.parquet")
    put_bytes(place, write_texts(texts, tmp_path / "a.parquet").read_bytes())
    changed = write_texts([texts[1], texts[0], *texts[2:]], tmp_path / "b.parquet").read_bytes()
    run = (str(place), f"s3://{bucket}/out", length_scorer(), RunOptions(engine="local", workers=1, shard_rows=20))
    with pytest.raises(InputChanged):
        run_scorer(*run, watch=lambda event: put_bytes(place, changed) if isinstance(event, ShardRecord) else None)
    with pytest.raises(OtherRun):
        run_scorer(*run)


@pytest.mark.s3
def test_equal_bytes_uploaded_again_are_the_same_input(bucket: str, tmp_path: Path) -> None:
    place = locate(f"s3://{bucket}/in.parquet")
    content = write_texts([f"{number:04}" for number in range(60)], tmp_path / "a.parquet").read_bytes()
    put_bytes(place, content)
    run = (str(place), f"s3://{bucket}/out", length_scorer(), RunOptions(engine="local", workers=1, shard_rows=20))

    def upload_again(event: object) -> None:
        if isinstance(event, ShardRecord):
            time.sleep(1.1)  # S3 says seconds.
            put_bytes(place, content)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_scorer(*run, watch=upload_again)
    again = run_scorer(*run)
    assert (again.rows, again.shards_reused) == (60, 1)


def test_nothing_is_read_twice_by_a_complete_run_that_is_started_again(
    pairs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pddl_eval.datasets.inputs.SETTLED_SECONDS", 0.0)
    run = (pairs, tmp_path / "out", length_scorer(), RunOptions(engine="local", workers=1, shard_rows=20))
    run_scorer(*run)
    known_contents.clear()  # As in another process.
    footers, digests = [], []
    read, digest = partitions.record_of, hashlib.file_digest
    monkeypatch.setattr(partitions, "record_of", lambda at, *more: (footers.append(at), read(at, *more))[1])
    monkeypatch.setattr(hashlib, "file_digest", lambda *file: (digests.append(file), digest(*file))[1])
    assert run_scorer(*run).shards_reused == 10
    assert not footers and len(digests) == 10  # The bytes of each partition, and nothing else.
    os.utime(pairs)
    assert run_scorer(*run).shards_reused == 10 and len(digests) == 10 + 1 + 10
    assert not footers


@pytest.mark.parametrize("without", [("contents",), ("contents", "digest"), ("digest",)])
def test_a_run_whose_summary_has_no_digests_is_read_whole_once(
    without: tuple[str, ...], pairs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One of an earlier version, for example."""
    run = (pairs, tmp_path / "out", length_scorer(), RunOptions(engine="local", workers=1, shard_rows=20))
    first = run_scorer(*run)
    place = tmp_path / "out" / SUMMARY
    whole = json.loads(place.read_text())
    place.write_text(json.dumps({name: value for name, value in whole.items() if name not in without}, indent=1))
    footers, read = [], partitions.record_of
    monkeypatch.setattr(partitions, "record_of", lambda at, *more: (footers.append(at), read(at, *more))[1])
    for _ in range(2):
        again = run_scorer(*run)
        assert (again.rows, again.rows_scored, again.shards_reused) == (200, 0, 10)
        assert again.statistics == first.statistics and len(footers) == 10
    assert json.loads(place.read_text()) == whole


@pytest.mark.parametrize("harm", ["a byte of a partition", "a number of the summary", "a file beside them"])
def test_what_is_not_as_the_run_left_it_is_read_whole(harm: str, pairs: Path, tmp_path: Path) -> None:
    """Also where neither the size nor the time of a file tells it, as after a fault of a disk."""
    run = (pairs, tmp_path / "out", length_scorer(), RunOptions(engine="local", workers=1, shard_rows=20))
    first = run_scorer(*run)
    place = tmp_path / "out" / SUMMARY
    harmed = min(tmp_path.glob("out/*.parquet")) if "byte" in harm else place
    before, content = harmed.stat(), harmed.read_bytes()
    if "beside" in harm:
        (tmp_path / "out" / "_failed.json").write_text("{}")
    elif "byte" in harm:
        harmed.write_bytes(content[:40] + bytes([content[40] ^ 1]) + content[41:])
    else:
        harmed.write_bytes(content.replace(b'"even": {', b'"even": {"x": 1,'))
    os.utime(harmed, ns=(before.st_atime_ns, before.st_mtime_ns))
    again = run_scorer(*run)
    assert (again.rows, again.rows_scored, again.statistics) == (200, 20 * ("byte" in harm), first.statistics)
    assert json.loads(place.read_text())["statistics"] == first.statistics
    assert not (tmp_path / "out" / "_failed.json").exists()


@pytest.mark.parametrize("workers", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_an_output_that_is_deleted_during_the_run_ends_it_and_can_be_scored_anew(
    workers: int, pairs: Path, tmp_path: Path
) -> None:
    out, records = tmp_path / "out", list[object]()

    def delete(event: object) -> None:
        if isinstance(event, ShardRecord):
            records.append(event)
            if len(records) == 1:
                out.rename(tmp_path / "gone")  # at once: a worker may write there

    options = RunOptions(engine="local", workers=workers, shard_rows=10)
    with pytest.raises(OutputError, match="deleted"):
        run_scorer(pairs, out, length_scorer(pause=0.05), options, watch=delete)
    assert len(records) < 6 and not list(out.glob("*.parquet"))
    assert run_scorer(pairs, out, length_scorer(), options).rows == 200
