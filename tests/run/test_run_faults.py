"""Faults injected into real runs on a real cluster and a real object store: each output equals an undisturbed one's.

Elsewhere: a row that ends its worker (``test_engines``), a damaged row group (``test_score``), a disk that is full
(``test_partitions``), half-written partitions (``test_partitions``, ``test_object_store``).
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pddl_eval.datasets import places
from pddl_eval.datasets.places import DatasetError, OutputError, list_files, locate, put_bytes, read_bytes
from pddl_eval.errors import RunError, UserError
from pddl_eval.report import build_report, compare_datasets
from pddl_eval.reuse import rescore_dataset
from pddl_eval.run import lock, open_rows, run_status
from pddl_eval.run.partitions import Scorer
from pddl_eval.scoring.scorer import score_dataset
from pddl_eval.settings import RunOptions

from tests.support.cluster import RAY, Cluster, kill
from tests.support.length_scorer import length_scorer, run_scorer
from tests.support.parquet_files import numbered, read_output, write_numbered

ROWS, SHARD_ROWS = 400, 10

RUN = """
import os, sys
from pddl_eval.run.engines import ray
from pddl_eval.settings import RunOptions
from tests.support.length_scorer import event_log, length_scorer, run_scorer

ray.SILENT_SECONDS = float(os.environ.get("SILENT_SECONDS", ray.SILENT_SECONDS))
source, output, address = sys.argv[1:]
options = RunOptions(engine="ray", address=address, shard_rows=10)
run_scorer(source, output, length_scorer(pause=0.15), options, watch=event_log(output + ".jsonl"))
"""


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    pytest.importorskip("ray")
    if not RAY.exists() or not Path("/proc/self/task").exists():
        pytest.skip("needs the command ray and /proc")
    cluster = Cluster()
    try:
        if not cluster.make_network():
            pytest.skip("needs a network namespace of its own")
        cluster.start(workers=2)
        yield cluster
    finally:
        cluster.stop()


@pytest.fixture
def pairs(tmp_path: Path) -> Path:
    return write_numbered(tmp_path / "pairs.parquet", rows=ROWS, row_group=150)


def begin(cluster: Cluster, pairs: Path, output: Path, **environment: str) -> subprocess.Popen[str]:
    arguments = [*cluster.inside, sys.executable, "-c", RUN, str(pairs), str(output), cluster.address]
    return subprocess.Popen(arguments, env=cluster.environment | environment, stderr=subprocess.PIPE, text=True)


def await_partitions(run: subprocess.Popen[str], output: Path, number: int) -> None:
    while len(list(output.glob("*.parquet"))) < number:
        assert run.poll() is None, run.stderr and run.stderr.read()
        time.sleep(0.02)


def assert_complete(run: subprocess.Popen[str], pairs: Path, output: Path, seconds: float = 80) -> None:
    _, errors = run.communicate(timeout=seconds)
    assert run.returncode == 0, errors
    undisturbed = output.with_name("undisturbed")
    run_scorer(pairs, undisturbed, length_scorer(), RunOptions(engine="local", shard_rows=SHARD_ROWS))
    assert read_output(output).equals(read_output(undisturbed))
    assert len(list(output.glob("*.parquet"))) == ROWS // SHARD_ROWS
    assert [path.name for path in output.iterdir() if path.name.startswith(".")] == []


def events(output: Path) -> list[str]:
    return [json.loads(line)["event"] for line in Path(f"{output}.jsonl").read_text().splitlines()]


def test_workers_are_killed(cluster: Cluster, pairs: Path, tmp_path: Path) -> None:
    output = tmp_path / "out"
    run = begin(cluster, pairs, output)
    for losses, partitions in enumerate((4, 10, 16), 1):
        await_partitions(run, output, partitions)
        while events(output).count("WorkerLost") < losses:  # One that has just said its result is no loss.
            assert run.poll() is None
            cluster.kill_worker()
            time.sleep(0.1)
    assert_complete(run, pairs, output)
    assert events(output).count("ShardRecord") == ROWS // SHARD_ROWS


def test_a_worker_is_stopped(cluster: Cluster, pairs: Path, tmp_path: Path) -> None:
    output = tmp_path / "out"
    run = begin(cluster, pairs, output, SILENT_SECONDS="5")
    await_partitions(run, output, 4)
    while not cluster.kill_worker(signal.SIGSTOP):
        assert run.poll() is None
    assert_complete(run, pairs, output)
    assert events(output).count("WorkerLost") == 1
    assert not cluster.kill_worker(0), "its processor is free for other tasks"


def test_a_node_is_stopped_with_its_connections_open(cluster: Cluster, pairs: Path, tmp_path: Path) -> None:
    output = tmp_path / "out"
    cluster.add(1)
    run = begin(cluster, pairs, output)
    await_partitions(run, output, 4)
    cluster.freeze_node()
    try:
        assert_complete(run, pairs, output, seconds=200)
    finally:
        cluster.kill_node()
    assert events(output).count("ShardRecord") == ROWS // SHARD_ROWS


def test_the_driver_is_killed_and_the_run_started_again(cluster: Cluster, pairs: Path, tmp_path: Path) -> None:
    output = tmp_path / "out"
    first = begin(cluster, pairs, output)
    await_partitions(first, output, 6)
    kill(first.pid)
    first.communicate()
    time.sleep(1.0)  # A worker may be finishing the shard that it had begun.
    done = {path.name: path.stat().st_ino for path in output.glob("*.parquet")}
    assert 6 <= len(done) < ROWS // SHARD_ROWS
    assert_complete(begin(cluster, pairs, output), pairs, output)
    assert {name: (output / name).stat().st_ino for name in done} == done


WITHOUT = {
    "input": "mount -t tmpfs none {folder}/in",
    "output": "mount --bind {folder}/out {folder}/out && mount -o remount,bind,ro {folder}/out",
    "mount": "mount -t tmpfs none {folder}/out",
}
"""What a node lacks, and how it is taken from it: its input, the right to write its output, the output's mount."""


def test_nodes_that_lack_something_are_excluded_and_named(cluster: Cluster, tmp_path: Path) -> None:
    pairs, output = write_numbered(tmp_path / "in" / "pairs.parquet", rows=ROWS, row_group=150), tmp_path / "out"
    output.mkdir()
    for lacking in WITHOUT.values():
        cluster.add(1, lacking.format(folder=tmp_path))
    try:
        assert_complete(begin(cluster, pairs, output), pairs, output)
    finally:
        for _ in WITHOUT:
            cluster.kill_node()
    lines = [json.loads(line) for line in Path(f"{output}.jsonl").read_text().splitlines()]
    excluded = {line["node"] for line in lines if line["event"] == "NodeExcluded"}
    assert len(excluded) == len(WITHOUT)
    assert not excluded & {line["node"] for line in lines if line["event"] == "ShardRecord"}


def test_what_all_nodes_say_ends_the_run(cluster: Cluster, pairs: Path, tmp_path: Path) -> None:
    output = tmp_path / "out"
    run = begin(cluster, pairs, output)
    await_partitions(run, output, 2)
    subprocess.run(["mount", "-t", "tmpfs", "none", output], check=True)
    try:
        started = time.monotonic()
        _, errors = run.communicate(timeout=80)
    finally:
        subprocess.run(["umount", output], check=True)
    assert run.returncode == 1 and "OutputError" in errors and "is not the folder of the run" in errors
    assert time.monotonic() - started < 20
    assert_complete(begin(cluster, pairs, output), pairs, output)


def test_a_node_is_killed(cluster: Cluster, pairs: Path, tmp_path: Path) -> None:
    output = tmp_path / "out"
    run = begin(cluster, pairs, output)
    await_partitions(run, output, 6)
    cluster.kill_node()
    assert_complete(run, pairs, output)
    assert "WorkerLost" in events(output)


HOP_BY_HOP = ("transfer-encoding", "connection", "date", "server", "content-length", "expect")
"""Headers that are not handed on."""


class FaultyStore(BaseHTTPRequestHandler):
    """Hands requests on to a real S3 server; some are answered with an error instead, all of them late."""

    protocol_version = "HTTP/1.1"
    endpoint = ""
    every = 0
    delay = 0.0
    requests = 0
    refused = 0
    error = (500, "InternalError")
    body: bytes | None = None

    def is_refused(self) -> bool:
        return bool(self.every) and self.requests % self.every == 0

    def answer(self) -> None:
        cls = type(self)
        cls.requests += 1
        self.body = body = self._body()
        time.sleep(cls.delay)
        if self.is_refused():
            cls.refused += 1
            status, code = cls.error
            self._send(status, {}, f"<Error><Code>{code}</Code></Error>".encode())
            return
        headers = {name: value for name, value in self.headers.items() if name.lower() not in HOP_BY_HOP}
        request = urllib.request.Request(cls.endpoint + self.path, body, headers, method=self.command)
        try:
            with urllib.request.urlopen(request, timeout=20) as reply:
                self._send(reply.status, dict(reply.headers), reply.read())
        except urllib.error.HTTPError as error:
            self._send(error.code, dict(error.headers), error.read())

    do_GET = do_PUT = do_POST = do_DELETE = do_HEAD = answer

    def _body(self) -> bytes | None:
        if self.headers.get("Transfer-Encoding", "").lower() != "chunked":
            length = int(self.headers.get("Content-Length", 0))
            return self.rfile.read(length) if length or self.command == "PUT" else None
        body = b""
        while size := int(self.rfile.readline().split(b";")[0], 16):
            body += self.rfile.read(size)
            self.rfile.readline()
        while self.rfile.readline().strip():
            pass
        return body

    def _send(self, status: int, headers: dict[str, str], body: bytes) -> None:
        self.send_response(status)
        for name, value in headers.items():
            if name.lower() not in HOP_BY_HOP:
                self.send_header(name, value)
        length = headers.get("Content-Length") if self.command == "HEAD" else None
        self.send_header("Content-Length", length or str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def log_message(self, format: str, *arguments: object) -> None:
        pass


@contextmanager
def faulty_store(monkeypatch: pytest.MonkeyPatch, **behaviour: object) -> Iterator[type[FaultyStore]]:
    """A store that behaves like that, in front of the one that the environment names."""
    endpoint = {"endpoint": os.environ["AWS_ENDPOINT_URL"]}
    handler: type[FaultyStore] = type("Handler", (FaultyStore,), endpoint | behaviour)
    store = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=store.serve_forever, daemon=True).start()
    monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{store.server_port}")
    try:
        yield handler
    finally:
        store.shutdown()
        store.server_close()


@pytest.mark.s3
@pytest.mark.parametrize(
    ("every", "delay"), [(7, 0.0), pytest.param(0, 0.05, marks=pytest.mark.slow)], ids=["errors", "slow"]
)
def test_an_object_store_that_fails_or_is_slow(
    every: int, delay: float, bucket: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(places, "PAUSE_SECONDS", 0.1)
    with faulty_store(monkeypatch, every=every, delay=delay) as handler:
        source = write_numbered(tmp_path / "pairs.parquet", rows=60, row_group=30)
        run_scorer(source, f"s3://{bucket}/out", length_scorer(), RunOptions(engine="local", shard_rows=15))
        again = run_scorer(f"s3://{bucket}/out", tmp_path / "copy", RESCORER, RunOptions(engine="local", shard_rows=15))
        names = [name for name in list_files(locate(f"s3://{bucket}/out")) if name.endswith(".parquet")]
    assert handler.requests > 10
    assert (handler.refused > 3) == bool(every)
    assert len(names) == 4
    assert (again.rows, again.rows_unreadable) == (60, 0)
    assert read_output(tmp_path / "copy").select(["n", "text"]).equals(numbered(60))


def file_of_credentials(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], object]:
    """Credentials come from a file, into which the function writes another key."""
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.delenv(name)
    file = folder / "credentials"
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(file))
    return lambda key: file.write_text(f"[default]\naws_access_key_id = {key}\naws_secret_access_key = testing\n")


@pytest.mark.s3
@pytest.mark.parametrize("error", [(403, "AccessDenied"), pytest.param((400, "ExpiredToken"), marks=pytest.mark.slow)])
def test_credentials_that_expire_are_read_again(
    error: tuple[int, str], bucket: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The store stops taking the key in the middle of the run; by then the file of credentials has another one."""
    monkeypatch.setattr(places, "PAUSE_SECONDS", 0.02)
    place = f"s3://{bucket}/in.parquet"
    put_bytes(locate(place), write_numbered(tmp_path / "pairs.parquet", rows=60, row_group=15).read_bytes())
    key = file_of_credentials(tmp_path, monkeypatch)
    key("first")

    def is_expired(request: FaultyStore) -> bool:
        if request.requests > 40:
            key("another")
        return request.requests > 40 and "Credential=another/" not in request.headers["Authorization"]

    with faulty_store(monkeypatch, is_refused=is_expired, error=error) as store:
        summary = run_scorer(place, f"s3://{bucket}/out", length_scorer(), RunOptions(engine="local", shard_rows=5))
    assert store.refused >= 1
    assert (summary.rows, summary.errors) == (60, 0)


@pytest.mark.s3
@pytest.mark.parametrize(
    ("error", "code"),
    [((400, "ExpiredToken"), 75), ((403, "RequestTimeTooSkewed"), 75), ((403, "AccessDenied"), 1)],
    ids=["expired", "clock", "denied"],
)
def test_credentials_that_stay_expired_end_a_run_with_75(
    error: tuple[int, str], code: int, bucket: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In the middle of a run, and at the next start: an answer to HEAD, the first request, has no code."""
    monkeypatch.setattr(places, "PAUSE_SECONDS", 0.001)
    monkeypatch.setattr(places, "S3_ATTEMPTS", 1)
    source = write_numbered(tmp_path / "pairs.parquet", rows=60, row_group=15)
    run = (f"s3://{bucket}/out", length_scorer(), RunOptions(engine="local", shard_rows=15))
    refusing = False

    def is_refused(request: FaultyStore) -> bool:
        nonlocal refusing
        refusing = refusing or (request.command == "PUT" and "000000000030.parquet" in request.path)
        return refusing

    with faulty_store(monkeypatch, is_refused=is_refused, error=error):
        with pytest.raises(RunError) as failure:
            run_scorer(source, *run)
        assert failure.value.exit_code == code, failure.value
        with pytest.raises(UserError) as refused:
            run_scorer(f"s3://{bucket}/pairs.parquet", *run)
        assert refused.value.exit_code == {1: 2}.get(code, code), refused.value


@pytest.mark.s3
def test_whatever_is_asked_of_a_store_survives_an_expired_token(
    bucket: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The process of a run on Ray does little else than list and look: no other request reads the token anew."""
    monkeypatch.setattr(places, "PAUSE_SECONDS", 0.01)
    folder = locate(f"s3://{bucket}/folder")
    put_bytes(folder / "file", b"content")
    key = file_of_credentials(tmp_path, monkeypatch)
    tokens: list[str] = []

    def is_expired(request: FaultyStore) -> bool:
        tokens.append(request.headers["Authorization"].partition("Credential=")[2].partition("/")[0])
        return tokens[-1] == "expired"

    with faulty_store(monkeypatch, is_refused=is_expired, error=(400, "ExpiredToken")):
        folder = locate(str(folder))
        for ask, expected in (
            (lambda: places.list_files(folder), {"file": 7}),
            (lambda: [*places.times_written(folder)], ["file"]),
            (lambda: places.list_folders(folder.parent), ["folder"]),
            (lambda: places.has_file(folder / "file"), True),
            (lambda: places.remove_folder(folder), None),
        ):
            places._open_filesystem.cache_clear()
            key("expired")
            assert folder.filesystem
            key("testing")
            tokens.clear()
            assert ask() == expected
            assert tokens[0] == "expired" and tokens[-1] == "testing"


@pytest.mark.s3
def test_a_refusal_that_persists_is_one_sentence(bucket: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(places, "PAUSE_SECONDS", 0.01)
    source = write_numbered(tmp_path / "pairs.parquet", rows=60, row_group=15)

    refusing = True

    def is_refused(request: FaultyStore) -> bool:
        return refusing and request.command == "PUT" and request.path.endswith("000000000030.parquet")

    options = RunOptions(engine="local", shard_rows=15)
    with faulty_store(monkeypatch, is_refused=is_refused, error=(403, "AccessDenied")) as store:
        with pytest.raises(OutputError, match="permission denied"):
            run_scorer(source, f"s3://{bucket}/out", length_scorer(), options)
        assert store.refused == places.STORE_ATTEMPTS
        refusing = False
        assert run_scorer(source, f"s3://{bucket}/out", length_scorer(), options).shards_reused == 1


@pytest.mark.s3
@pytest.mark.parametrize("part", [1, 2])
@pytest.mark.slow
def test_an_upload_of_which_a_part_fails_leaves_nothing(
    part: int, bucket: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(places, "PAUSE_SECONDS", 0.01)
    monkeypatch.setattr(places, "S3_ATTEMPTS", 1)
    content, refusing = os.urandom(21 * 2**20), True

    def is_refused(request: FaultyStore) -> bool:
        full = (
            len(request.body or b"") > 1000
        )  # A client that gives up completes the object, with an empty part if need be.
        return refusing and full and f"partNumber={part}&" in request.path

    with faulty_store(monkeypatch, is_refused=is_refused):
        place = locate(f"s3://{bucket}/out/x.parquet")
        with pytest.raises(OutputError):
            put_bytes(place, content)
        assert list_files(place.parent) == {}
        refusing = False
        put_bytes(place, content)
        assert read_bytes(place) == content
        assert list_files(place.parent) == {"x.parquet": len(content)}


@pytest.mark.s3
@pytest.mark.usefixtures("brief_reports")
@pytest.mark.parametrize("writer", ["lives", "is gone"])
@pytest.mark.slow
def test_a_put_that_lands_after_another_run_took_over_doubles_no_row(
    writer: str, bucket: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The store holds a partition back. Meanwhile another machine cuts the rest in other ways and ends with success."""
    monkeypatch.setattr(lock, "_is_alive", lambda *_: False)
    monkeypatch.setattr(lock, "BEAT_SECONDS", 600.0)
    monkeypatch.setattr(places, "PAUSE_SECONDS", 0.01)
    plans = pa.table({"reference_plan": ["(a)"] * 60, "generated_plan": [f"(a) (b{n})" for n in range(60)]})
    pq.write_table(plans, tmp_path / "in.parquet", row_group_size=60)
    out, endpoint = f"s3://{bucket}/out", os.environ["AWS_ENDPOINT_URL"]
    late, begun, ended = "in-000000000015-000000000030.parquet", threading.Event(), threading.Event()
    ends: list[str] = []

    def is_refused(request: FaultyStore) -> bool:
        if request.command == "PUT" and late in request.path:
            begun.set()
            return not ended.wait(30 if writer == "lives" else 0)
        return False

    def first() -> None:
        try:
            score_dataset(tmp_path / "in.parquet", out, engine="local", workers=1, shard_rows=15)
        except OutputError as error:
            ends.append(str(error))

    score_dataset(tmp_path / "in.parquet", f"s3://{bucket}/same", engine="local", workers=1, shard_rows=15)
    with faulty_store(monkeypatch, is_refused=is_refused, error=(403, "AccessDenied")):
        thread = threading.Thread(target=first)
        thread.start()
        assert begun.wait(30)
        if writer == "is gone":
            thread.join()
        monkeypatch.setenv("AWS_ENDPOINT_URL", endpoint)
        again = score_dataset(tmp_path / "in.parquet", out, engine="local", workers=1, shard_rows=20)
        assert (again.rows, again.shards_reused) == (60, 1)
        ended.set()
        thread.join()
    assert len(ends) == 1
    if writer == "is gone":
        put_bytes(locate(f"{out}/{late}"), read_bytes(locate(f"s3://{bucket}/same/{late}")))
    names = {name for name in list_files(locate(out)) if name.endswith(".parquet")}
    assert names - {late} == json.loads(read_bytes(locate(f"{out}/_summary.json")))["partitions"].keys()
    assert (late in names) == (writer == "is gone")
    status = run_status(out)
    assert (status.finished, status.rows_done, status.shards_done) == (True, 60, 4)
    assert build_report(out, by=[]).rows == 60
    compared = compare_datasets(out, out)
    assert (compared.old.rows, compared.new.rows, compared.unfinished) == (60, 60, ())
    rescored = rescore_dataset(out, tmp_path / "in.parquet", tmp_path / "again", engine="local")
    assert (rescored.rows, rescored.rows_carried) == (60, 60)
    assert open_rows(out).rows == 60
    if writer == "is gone":
        with pytest.raises(DatasetError, match="does not count"):
            build_report(f"{out}/{late}")
    same = score_dataset(tmp_path / "in.parquet", out, engine="local", workers=1)
    assert (same.rows, same.rows_scored) == (60, 0)
    assert late not in list_files(locate(out))


def with_another_error(schema: pa.Schema) -> pa.Schema:
    return schema.append(pa.field("score_error_again", pa.string()))


def score_again(table: pa.Table, until: float) -> pa.Table:
    errors = pa.nulls(table.num_rows, pa.string())
    return pa.table([*table.columns, errors], schema=with_another_error(table.schema))


RESCORER = Scorer("again", {}, with_another_error, score_again)
"""A scorer for the output of the other one."""


def test_an_answer_of_ten_megabytes_is_a_row_like_any_other(tmp_path: Path) -> None:
    problem = "(define (problem p) (:domain blocksworld) (:objects a) (:init (holding a)) (:goal (clear a)))"
    answers = [problem, "(" * 10_000_000, "x " * 5_000_000, problem + " " * 10_000_000, problem]
    pq.write_table(
        pa.table({"reference_problem": [problem] * 5, "generated_problem": answers}), tmp_path / "in.parquet"
    )
    summary = score_dataset(tmp_path / "in.parquet", tmp_path / "out", engine="local")
    assert (summary.rows, summary.errors) == (5, 0)
    verdicts = read_output(tmp_path / "out")["verdict"].to_pylist()
    assert verdicts[0] == verdicts[4] == "identical"
    assert None not in verdicts


@pytest.mark.parametrize("jump", [-10 * 365 * 86400, 10 * 365 * 86400])
def test_a_clock_that_jumps_does_no_shard_twice_and_none_less(
    jump: int, pairs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    output = tmp_path / "out"
    run_scorer(pairs, output, length_scorer(), RunOptions(engine="local", shard_rows=SHARD_ROWS))
    for path in sorted(output.glob("*.parquet"))[:5]:
        path.unlink()
    for path in output.iterdir():
        os.utime(path, (path.stat().st_mtime + jump,) * 2)
    now = time.time
    monkeypatch.setattr(time, "time", lambda: now() + jump)
    again = run_scorer(pairs, output, length_scorer(), RunOptions(engine="local", shard_rows=SHARD_ROWS))
    assert (again.rows, again.rows_scored) == (ROWS, 5 * SHARD_ROWS)
    assert read_output(output).select(["n", "text"]).equals(numbered(ROWS))
