"""Runs that meet each fault of a cluster, a store or a machine, and what is lost, doubled or stale in the end.

    python -m tests.measure.faults
    python -m tests.measure.faults --only 'a node *'

A run that ends is started again, as a scheduler does. A row is lost if the output does not have it, doubled if it has
it twice, and stale if its score is not that of the input's row as it is now. The pause is the longest time in which no
partition appeared, from the fault on, new starts included. A worker may be silent for ``SILENT_SECONDS`` here, not 330.
Of nights, alarms are counted instead of rows. Prints a Markdown table (infra/README.md) and ends with 1 where a row is
lost, doubled or stale. It is no test of the default run: it starts Ray clusters in a network namespace and takes a
quarter of an hour. What this machine does not allow (such a namespace, mounts) is skipped and said.
"""

from __future__ import annotations

import argparse
import fcntl
import json
import math
import os
import pty
import shutil
import signal
import subprocess
import sys
import tempfile
import termios
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from fnmatch import fnmatch
from functools import partial
from http.server import ThreadingHTTPServer
from itertools import pairwise
from pathlib import Path
from uuid import uuid4

import pyarrow as pa
import pyarrow.parquet as pq
from click.testing import CliRunner
from pddl_eval.commands.nightly import nightly
from pddl_eval.datasets import places
from pddl_eval.datasets.places import locate, put_bytes
from pddl_eval.errors import TRY_AGAIN, UNFINISHED, WRONG_INPUT, RunError, UserError
from pddl_eval.run import lock, open_rows, partitions
from pddl_eval.run.lock import holders
from pddl_eval.settings import RunOptions

from tests.run.test_run_faults import WITHOUT, FaultyStore
from tests.run.test_run_restart import KILLED
from tests.run.test_tiling import write_partition
from tests.support import length_scorer as length_scorer_module
from tests.support.cluster import ROOT, Cluster, children_of, command_of, kill
from tests.support.length_scorer import length_scorer, run_scorer
from tests.support.parquet_files import numbered, write_numbered
from tests.support.running import shard_rows

ROWS, SHARD_ROWS = 400, 10

STARTS = 6
"""Starts of a run, at most."""

SILENT_SECONDS = 60.0

RUN_SECONDS = 400.0
"""A start that takes longer has hung."""

SCRIPT = """
import os
import click
from pddl_eval.commands.command import Command
from pddl_eval.commands.flags import flags
from pddl_eval.run import engines
from pddl_eval.run.engines import ray
from pddl_eval.settings import RunOptions
from tests.support.length_scorer import length_scorer, run_scorer

engines.SILENT_SECONDS = ray.SILENT_SECONDS = float(os.environ["SILENT"])

@click.command(cls=Command)
@flags(RunOptions)
def score(**settings):
    scorer = length_scorer(pause=float(os.environ["PAUSE"]))
    run_scorer(os.environ["SOURCE"], os.environ["OUTPUT"], scorer, RunOptions(**settings))

if __name__ == "__main__":
    score()
"""

ENVIRONMENT = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "pipeline")])}


class Skipped(Exception):
    """This machine cannot make the fault."""


class Case:
    """A folder with an input, and the runs that were started on it."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.output = folder, folder / "out"
        self.source = write_numbered(folder / "in" / "pairs.parquet", rows=ROWS, row_group=150)
        self.table = numbered(ROWS)
        self.codes: list[int] = []
        self.began = math.inf
        """When the fault began."""
        (folder / "score.py").write_text(SCRIPT)

    def begin(
        self,
        *options: str,
        cluster: Cluster | None = None,
        pause: float = 0.15,
        terminal: int | None = None,
        inside: list[str] | None = None,
    ) -> subprocess.Popen[str]:
        inside = cluster.inside if cluster else inside or []
        ray = ["--engine", "ray", "--address", cluster.address] if cluster else ["--engine", "local"]
        script = (self.folder / "score.py", *shard_rows(SHARD_ROWS, self.folder))
        places = {"SOURCE": str(self.source), "OUTPUT": str(self.output), "PAUSE": str(pause)}
        places["SILENT"] = str(SILENT_SECONDS)
        return subprocess.Popen(
            [*inside, sys.executable, *map(str, script), *ray, *options],
            env=(cluster.environment if cluster else ENVIRONMENT) | places,
            stdin=terminal,
            stdout=terminal or subprocess.DEVNULL,  # Ray's own messages.
            stderr=terminal or subprocess.PIPE,
            text=True,
            start_new_session=True,
            preexec_fn=None if terminal is None else lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
        )

    def finish(self, run: subprocess.Popen[str], *options: str, cluster: Cluster | None = None) -> None:
        """Wait for the run, and start it again until it ends well."""
        while True:
            try:
                _, errors = run.communicate(timeout=RUN_SECONDS)
            except subprocess.TimeoutExpired:
                os.killpg(run.pid, signal.SIGKILL)
                run.wait()
                errors = f"It hung and was killed after {RUN_SECONDS:.0f} s.\n"
            self.codes.append(run.returncode)
            if run.returncode:
                print(f"    {' | '.join(errors.splitlines()[-2:])[-400:]}", file=sys.stderr)
            if run.returncode == 0 or len(self.codes) == STARTS:
                return
            run = self.begin(*options, cluster=cluster)

    def await_partitions(self, run: subprocess.Popen[str], number: int) -> None:
        while len(list(self.output.glob("*.parquet"))) < number:
            if run.poll() is not None:
                raise RuntimeError(f"the run ended: {run.stderr and run.stderr.read()}")
            time.sleep(0.02)
        self.began = time.time()

    def pause(self) -> str:
        """The longest time from the fault on in which no partition appeared, in seconds."""
        if self.began == math.inf:
            return ""
        written = sorted(path.stat().st_mtime for path in self.output.glob("*.parquet"))
        times = [self.began, *(each for each in written if each > self.began)]
        return f"{max((later - earlier for earlier, later in pairwise(times)), default=0.0):.0f}"

    def here(self, options: RunOptions, source: str = "", output: str = "", **scorer: object) -> None:
        """Run in this process, again until it ends well."""
        for _ in range(STARTS):
            try:
                scored = length_scorer(**scorer)  # type: ignore[arg-type]
                run_scorer(source or self.source, output or self.output, scored, options)
                self.codes.append(0)
                return
            except (RunError, UserError) as error:
                print(f"    {error}", file=sys.stderr)
                self.codes.append(error.exit_code)

    def read(self, expected: int) -> None:
        """A reader opens the folder, and ends with that exit code."""
        try:
            open_rows(self.output)
            code = 0
        except UserError as error:
            print(f"    a reader: {error}", file=sys.stderr)
            code = error.exit_code
        if code != expected:
            raise RuntimeError(f"a reader ended with {code} and not {expected}")

    def judge(self, output: str = "") -> tuple[int, int, int]:
        """Rows lost, doubled, stale."""
        place = locate(output or self.output)
        names = [name for name in partitions_of(place) if name.endswith(".parquet")]
        tables = [pq.read_table(f"{place.path}/{name}", filesystem=place.filesystem) for name in sorted(names)]
        rows = pa.concat_tables(tables).to_pylist() if tables else []
        seen = Counter(row["n"] for row in rows)
        truth = {row["n"]: row["text"] for row in self.table.to_pylist()}
        stale = sum(row["text"] != truth.get(row["n"]) or row["length"] != len(row["text"]) for row in rows)
        return len(truth.keys() - seen), sum(count - 1 for count in seen.values()), stale


def partitions_of(place: object) -> list[str]:
    from pddl_eval.datasets.places import list_files

    return list(list_files(place))  # type: ignore[arg-type]


@contextmanager
def cluster_of(workers: int) -> Iterator[Cluster]:
    cluster = Cluster()
    try:
        if not cluster.make_network():
            raise Skipped("needs a network namespace of its own")
        cluster.start(workers)
        yield cluster
    finally:
        cluster.stop()


def mount(*arguments: object) -> None:
    if subprocess.run(["mount", *map(str, arguments)], capture_output=True).returncode:
        raise Skipped("may not mount")


def a_node_lacks(mounts: str, case: Case) -> tuple[int, int, int]:
    case.output.mkdir()
    with cluster_of(1) as cluster:
        cluster.add(1, mounts.format(folder=case.folder))
        case.finish(case.begin(cluster=cluster), cluster=cluster)
    return case.judge()


@contextmanager
def store_of(
    case: Case, is_refused: Callable[[FaultyStore], bool], error: tuple[int, str] = (403, "AccessDenied")
) -> Iterator[tuple[str, str]]:
    """A bucket with the input, behind a store that refuses; its URI, and the endpoint that refuses nothing."""
    bucket = f"bucket-{uuid4().hex}"
    from moto.server import ThreadedMotoServer
    from pyarrow import fs

    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    behaviour = {"endpoint": f"http://{host}:{port}", "is_refused": is_refused, "error": error}
    store = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (FaultyStore,), behaviour))
    threading.Thread(target=store.serve_forever, daemon=True).start()
    os.environ |= {"AWS_ACCESS_KEY_ID": "testing", "AWS_SECRET_ACCESS_KEY": "testing", "AWS_REGION": "us-east-1"}
    os.environ["AWS_ENDPOINT_URL"] = f"http://127.0.0.1:{store.server_port}"
    try:
        keys = {"access_key": "testing", "secret_key": "testing", "region": "us-east-1", "scheme": "http"}
        fs.S3FileSystem(endpoint_override=f"{host}:{port}", allow_bucket_creation=True, **keys).create_dir(bucket)
        put_bytes(locate(f"s3://{bucket}/in.parquet"), case.source.read_bytes())
        yield f"s3://{bucket}", f"http://{host}:{port}"
    finally:
        store.shutdown()
        store.server_close()
        server.stop()


def a_store_refuses(error: tuple[int, str], seconds: float, case: Case) -> tuple[int, int, int]:
    """All requests for that long."""
    began: list[float] = []

    def is_refused(request: FaultyStore) -> bool:
        if request.requests > 100 and not began:
            began.append(time.monotonic())
        return bool(began) and time.monotonic() - began[0] < seconds

    with store_of(case, is_refused, error) as (bucket, _):
        case.here(RunOptions(engine="local", shard_rows=SHARD_ROWS), f"{bucket}/in.parquet", f"{bucket}/out")
        if not began:
            raise RuntimeError("nothing was refused")
        return case.judge(f"{bucket}/out")


def an_expired_token(case: Case) -> tuple[int, int, int]:
    """The store refuses for longer than a start waits, which is less here than the minutes of a real one."""
    pause, attempts = places.PAUSE_SECONDS, places.S3_ATTEMPTS
    places.PAUSE_SECONDS, places.S3_ATTEMPTS = 0.02, 1
    try:
        return a_store_refuses((400, "ExpiredToken"), 5.0, case)
    finally:
        places.PAUSE_SECONDS, places.S3_ATTEMPTS = pause, attempts


def a_late_upload(case: Case) -> tuple[int, int, int]:
    """The store holds a partition back until another run has taken over, with other cuts, and ended."""
    begun, ended = threading.Event(), threading.Event()
    codes: list[int] = []

    def held_back(request: FaultyStore) -> bool:
        if request.command == "PUT" and "pairs-000000000100" in request.path:
            begun.set()
            ended.wait(60)
        return False

    def first(*paths: str) -> None:
        try:
            run_scorer(*paths, length_scorer(), RunOptions(engine="local", workers=1, shard_rows=20))
        except RunError as error:
            codes.append(error.exit_code)

    is_alive, beat = lock._is_alive, lock.BEAT_SECONDS
    lock._is_alive, lock.BEAT_SECONDS = lambda *_: False, 600.0  # Silent for 45 seconds.
    try:
        with store_of(case, held_back) as (bucket, endpoint):
            thread = threading.Thread(target=first, args=(str(case.source), f"{bucket}/out"))
            thread.start()
            begun.wait(60)
            os.environ["AWS_ENDPOINT_URL"] = endpoint
            case.here(RunOptions(engine="local", workers=1, shard_rows=30), output=f"{bucket}/out")
            ended.set()
            thread.join()
            case.codes = [*codes, *case.codes]
            case.output = f"{bucket}/out"  # type: ignore[assignment]
            case.read(0)
            return case.judge(f"{bucket}/out")
    finally:
        lock._is_alive, lock.BEAT_SECONDS = is_alive, beat


def an_upload_again(case: Case) -> tuple[int, int, int]:
    """A run is stopped; then the same bytes are uploaded as the input once more, and the run is started again."""

    def stop(event: object) -> None:
        if isinstance(event, partitions.ShardRecord):
            raise KeyboardInterrupt

    with store_of(case, lambda _: False) as (bucket, _):
        options = RunOptions(engine="local", workers=1, shard_rows=SHARD_ROWS)
        with suppress(KeyboardInterrupt):
            run_scorer(f"{bucket}/in.parquet", f"{bucket}/out", length_scorer(), options, watch=stop)
        case.codes.append(130)
        time.sleep(1.1)  # S3 says seconds.
        put_bytes(locate(f"{bucket}/in.parquet"), case.source.read_bytes())
        case.here(options, f"{bucket}/in.parquet", f"{bucket}/out")
        return case.judge(f"{bucket}/out")


def a_signal(number: signal.Signals, engine: str, case: Case) -> tuple[int, int, int]:
    if engine == "local":
        return _signal(number, case, None)
    with cluster_of(2) as cluster:
        return _signal(number, case, cluster)


def _signal(number: signal.Signals, case: Case, cluster: Cluster | None) -> tuple[int, int, int]:
    options = () if cluster else ("--workers", "2")
    run = case.begin(*options, cluster=cluster)
    case.await_partitions(run, 6)
    os.killpg(run.pid, number)
    case.finish(run, *options, cluster=cluster)
    return case.judge()


def a_frozen_worker(engine: str, case: Case) -> tuple[int, int, int]:
    """Its process is stopped (SIGSTOP): it neither answers nor dies."""
    if engine == "ray":
        with cluster_of(2) as cluster:
            run = case.begin(cluster=cluster)
            case.await_partitions(run, 6)
            while not cluster.kill_worker(signal.SIGSTOP):
                time.sleep(0.01)
            case.finish(run, cluster=cluster)
        return case.judge()
    run = case.begin("--workers", "2")
    case.await_partitions(run, 6)
    worker = next(pid for pid in children_of(run.pid) if "spawn_main" in command_of(pid))
    kill(worker, signal.SIGSTOP)
    try:
        case.finish(run, "--workers", "2")
    finally:
        kill(worker)
    return case.judge()


def a_frozen_node(case: Case) -> tuple[int, int, int]:
    """All its processes are stopped; its connections stay open, as after a power cut."""
    with cluster_of(2) as cluster:
        run = case.begin(cluster=cluster, pause=0.5)
        case.await_partitions(run, 6)
        cluster.freeze_node()
        case.finish(run, cluster=cluster)
    return case.judge()


def a_closed_terminal(case: Case) -> tuple[int, int, int]:
    """The run is the foreground of a terminal that is gone: SIGHUP to all its processes, and nothing can be printed."""
    terminal, other_end = pty.openpty()
    run = case.begin("--workers", "2", terminal=other_end)
    os.close(other_end)
    case.await_partitions(run, 6)
    os.close(terminal)
    run.wait(60)
    case.codes.append(run.returncode)
    case.finish(case.begin("--workers", "2"), "--workers", "2")
    return case.judge()


def the_head_is_lost(case: Case) -> tuple[int, int, int]:
    with cluster_of(2) as cluster:
        run = case.begin(cluster=cluster)
        case.await_partitions(run, 6)
        os.killpg(cluster.nodes[0].pid, signal.SIGKILL)
        run.wait(300)
    with cluster_of(2) as cluster:
        case.finish(run, cluster=cluster)
    return case.judge()


def spot_nodes(case: Case) -> tuple[int, int, int]:
    """One node stays; another one comes and goes."""
    with cluster_of(2) as cluster:
        run = case.begin(cluster=cluster, pause=2.0)
        case.await_partitions(run, 2)
        while run.poll() is None:
            until = time.monotonic() + 20
            while run.poll() is None and time.monotonic() < until:
                time.sleep(0.1)
            cluster.kill_node()
            cluster.add(1)
        case.finish(run, cluster=cluster)
    return case.judge()


def two_runs(case: Case) -> tuple[int, int, int]:
    runs = [case.begin("--workers", "2") for _ in range(2)]
    for run in runs:
        run.wait(200)
        case.codes.append(run.returncode)
    return case.judge()


def a_changed_input(case: Case) -> tuple[int, int, int]:
    """Two texts are exchanged half way; the run refuses to go on, and the folder is deleted."""
    run = case.begin("--workers", "2")
    case.await_partitions(run, 6)
    texts = case.table["text"].to_pylist()
    texts[7], texts[399] = texts[399], texts[7]
    case.table = case.table.set_column(1, "text", pa.array(texts))
    run.send_signal(signal.SIGTERM)
    run.wait(60)
    case.codes.append(run.returncode)
    pq.write_table(case.table, case.source, row_group_size=150)
    refused = case.begin("--workers", "2")
    refused.wait(60)
    case.codes.append(refused.returncode)
    if refused.returncode != 2:
        return case.judge()
    case.output = case.folder / "new"
    case.finish(case.begin("--workers", "2"))
    return case.judge()


def an_input_changed_meanwhile(case: Case) -> tuple[int, int, int]:
    """Two texts are exchanged while the run goes on, under an equal footer; it is not finished, and cannot be."""
    pq.write_table(case.table, case.source, row_group_size=150, compression="none", use_dictionary=False)
    footer = case.source.read_bytes()[-500:]
    run = case.begin("--workers", "2")
    case.await_partitions(run, 6)
    texts = case.table["text"].to_pylist()
    like = next(row for row in range(301, ROWS) if len(texts[row]) == len(texts[300]))
    texts[300], texts[like] = texts[like], texts[300]
    case.table = case.table.set_column(1, "text", pa.array(texts))
    aside = case.folder / "aside.parquet"
    pq.write_table(case.table, aside, row_group_size=150, compression="none", use_dictionary=False)
    if aside.read_bytes()[-500:] != footer:
        raise RuntimeError("another footer")
    aside.replace(case.source)
    for _ in range(2):
        run.wait(60)
        case.codes.append(run.returncode)
        run = case.begin("--workers", "2") if len(case.codes) == 1 else run
    if case.codes != [1, 2]:
        return case.judge()
    case.output = case.folder / "new"
    case.finish(case.begin("--workers", "2"), "--workers", "2")
    return case.judge()


def slow_rows(case: Case) -> tuple[int, int, int]:
    """Every third row takes as long as a shard may take."""
    seconds, partitions.SHARD_SECONDS = partitions.SHARD_SECONDS, 0.05
    slow_seconds, length_scorer_module.SLOW_SECONDS = length_scorer_module.SLOW_SECONDS, 0.1
    try:
        slow = tuple(case.table["text"].to_pylist()[::3])
        case.here(RunOptions(engine="local", workers=1, shard_rows=100), slow=slow)  # In this process: as set above.
    finally:
        partitions.SHARD_SECONDS, length_scorer_module.SLOW_SECONDS = seconds, slow_seconds
    return case.judge()


def a_clock_jumps(case: Case) -> tuple[int, int, int]:
    run = case.begin("--workers", "2")
    case.await_partitions(run, 6)
    run.kill()
    run.communicate()
    case.codes.append(run.returncode)
    now, jump = time.time, 10 * 365 * 86400
    for sign in (-1, 1):
        for path in sorted(case.output.glob("*.parquet"))[:3]:
            os.utime(path, (now() - sign * jump,) * 2)
        time.time = lambda sign=sign: now() + sign * jump  # type: ignore[misc]
        try:
            case.here(RunOptions(engine="local", shard_rows=SHARD_ROWS))
        finally:
            time.time = now
    return case.judge()


def a_full_disk(case: Case) -> tuple[int, int, int]:
    case.output.mkdir()
    mount("-t", "tmpfs", "-o", "size=80k", "none", case.output)
    try:
        run = case.begin("--workers", "2")
        run.wait(100)
        case.began = time.time()
        mount("-o", "remount,size=50m", case.output)
        case.finish(run, "--workers", "2")
        return case.judge()
    finally:
        subprocess.run(["umount", "--lazy", case.output], check=False)


def partitions_go(case: Case) -> tuple[int, int, int]:
    """Some partitions of a finished run are deleted; a reader says which rows are missing."""
    case.finish(case.begin("--workers", "2"))
    for path in sorted(case.output.glob("*.parquet"))[3:9:2]:
        path.unlink()
    case.read(UNFINISHED)
    case.finish(case.begin("--workers", "2"))
    case.read(0)
    return case.judge()


def partitions_come_twice(case: Case) -> tuple[int, int, int]:
    """Rows of a finished run once more in a partition with other cuts; a reader says which."""
    case.finish(case.begin("--workers", "2"))
    first, second = sorted(case.output.glob("*.parquet"))[:2]
    rows = [pq.ParquetFile(path).read() for path in (first, second)]
    twice = pa.concat_tables([rows[0].slice(3), rows[1].slice(0, 3)])
    start, stop = (rows[number]["n"][0].as_py() + 3 for number in range(2))
    write_partition(twice, first, case.output / f"pairs-{start:012d}-{stop:012d}.parquet")
    case.read(UNFINISHED)
    case.finish(case.begin("--workers", "2"))
    case.read(0)
    return case.judge()


def partitions_that_may_not_be_read(case: Case) -> tuple[int, int, int]:
    """A user who may write the folder, but not read its partitions, starts the finished run again."""
    without_rights = ["setpriv", "--bounding-set=-dac_override,-dac_read_search"]
    secret = case.folder / "secret"
    secret.touch(0)
    if subprocess.run([*without_rights, "cat", secret], capture_output=True).returncode == 0:
        raise Skipped("gives root all rights")
    case.finish(case.begin("--workers", "2"))
    before = {path: path.read_bytes() for path in case.output.glob("*.parquet")}
    for path in before:
        path.chmod(0)
    refused = case.begin("--workers", "2", inside=without_rights)
    _, errors = refused.communicate(timeout=RUN_SECONDS)
    case.codes.append(refused.returncode)
    if refused.returncode != TRY_AGAIN or {path: path.read_bytes() for path in before} != before:
        raise RuntimeError(f"not kept: {errors}")
    for path in before:
        path.chmod(0o644)
    case.finish(case.begin("--workers", "2"))
    return case.judge()


def a_flipped_name(case: Case) -> tuple[int, int, int]:
    """One bit of the name of a column in a footer; readers refuse the folder, and the partition is made again."""
    case.finish(case.begin("--workers", "2"))
    path = min(case.output.glob("*.parquet"))
    path.write_bytes(path.read_bytes().replace(b"length", b"lengtx"))
    case.read(WRONG_INPUT)
    case.finish(case.begin("--workers", "2"))
    case.read(0)
    return case.judge()


def a_kill_before_the_end(case: Case) -> tuple[int, int, int]:
    """After the last partition, before the summary: the lock that is left goes with the next start."""
    command = [sys.executable, "-c", KILLED, case.source, case.output, ""]
    case.codes.append(subprocess.run(command, env=ENVIRONMENT).returncode)
    case.read(UNFINISHED)
    locks = len(holders(locate(case.output)))
    case.finish(case.begin("--workers", "2"))
    if (locks, len(holders(locate(case.output)))) != (1, 0):
        raise RuntimeError("the lock is left")
    case.read(0)
    return case.judge()


class NightsOf:
    """Nights over 400 questions, and what an alarm was told of them."""

    def __init__(self, case: Case) -> None:
        self.case, self.told, self.nights = case, case.folder / "told", case.folder / "nights"
        self.expected: list[tuple[str, int]] = []
        """By night, how many answers got worse."""

    def night(self, day: int, wrong: Sequence[int], code: int, *options: str) -> None:
        """Score the night, in which these answers are wrong, and compare it."""
        plans = ["(drop a)" if number in wrong else "(pick a)" for number in range(ROWS)]
        columns = {"pair_id": range(ROWS), "reference_plan": ["(pick a)"] * ROWS, "generated_plan": plans}
        pq.write_table(pa.table(columns), self.case.folder / "answers.parquet")
        tell = f'{sys.executable} -c \'import sys; print(sys.stdin.read(), file=open("{self.told}", "a"))\''
        places = (str(self.case.folder / "answers.parquet"), str(self.nights), "--date", f"2026-03-{day:02}")
        found = CliRunner().invoke(nightly, [*places, "--workers", "1", "--on-regression", tell, *options])
        self.case.codes.append(found.exit_code)
        if found.exit_code != code:
            raise RuntimeError(f"{found.exit_code}, not {code}: {found.stderr}")
        if code == 4 and (f"2026-03-{day:02}", len(wrong)) not in self.expected:
            self.expected.append((f"2026-03-{day:02}", len(wrong)))

    def judge(self) -> tuple[int, int, int]:
        """Alarms lost, doubled, and those of other answers than got worse."""
        alarms = [json.loads(each) for each in (self.told.read_text().splitlines() if self.told.exists() else ())]
        told = Counter((each["night"], each["regressions"]) for each in alarms)
        lost = sum((Counter(self.expected) - told).values())
        return lost, sum(count - 1 for count in told.values()), len(told.keys() - {*self.expected})


def a_baseline_that_is_gone(case: Case) -> tuple[int, int, int]:
    nights = NightsOf(case)
    nights.night(1, [], 0)
    nights.night(2, [5, 6], 4)
    shutil.rmtree(nights.nights / "2026-03-01")
    nights.night(3, [5, 6], 2)
    nights.night(3, [5, 6], 0, "--baseline", "2026-03-02")
    nights.night(4, [5, 6, 7], 4)
    nights.expected[-1] = ("2026-03-04", 1)
    nights.night(5, [5, 6], 0)
    return nights.judge()


def a_damaged_night(damage: Callable[[Path], object], case: Case) -> tuple[int, int, int]:
    nights = NightsOf(case)
    nights.night(1, [], 0)
    nights.night(2, [], 0)
    damage(nights.nights / "2026-03-02")
    nights.night(3, [5, 6], 4)
    nights.night(4, [], 0)
    return nights.judge()


def emptied(night: Path) -> None:
    for file in (night / "scored").iterdir():
        file.unlink()


def cut(night: Path) -> None:
    for file in (night / "scored").iterdir():
        os.truncate(file, file.stat().st_size // 2)


def a_red_night_again(case: Case) -> tuple[int, int, int]:
    nights = NightsOf(case)
    nights.night(1, [], 0)
    for _ in range(3):
        nights.night(2, [5, 6], 4)
    nights.night(3, [], 0)
    return nights.judge()


FAULTS: dict[str, Callable[[Case], tuple[int, int, int]]] = {
    "a node without the input": partial(a_node_lacks, WITHOUT["input"]),
    "a node that may not write the output": partial(a_node_lacks, WITHOUT["output"]),
    "a node without the output's mount": partial(a_node_lacks, WITHOUT["mount"]),
    "a store that answers 403 for 5 s": partial(a_store_refuses, (403, "AccessDenied"), 5.0),
    "a store that answers ExpiredToken for 5 s": partial(a_store_refuses, (400, "ExpiredToken"), 5.0),
    "a token that has expired, until the next start": an_expired_token,
    "an upload that lands after another run has ended": a_late_upload,
    "the input is uploaded again between two starts": an_upload_again,
    "SIGINT, local": partial(a_signal, signal.SIGINT, "local"),
    "SIGTERM, local": partial(a_signal, signal.SIGTERM, "local"),
    "SIGINT, Ray": partial(a_signal, signal.SIGINT, "ray"),
    "SIGTERM, Ray": partial(a_signal, signal.SIGTERM, "ray"),
    "a closed terminal (SIGHUP)": a_closed_terminal,
    "a frozen worker, local": partial(a_frozen_worker, "local"),
    "a frozen worker, Ray": partial(a_frozen_worker, "ray"),
    "a frozen node": a_frozen_node,
    "the head is lost": the_head_is_lost,
    "a spot node that comes and goes every 20 s": spot_nodes,
    "two runs at once": two_runs,
    "the input is changed between two starts": a_changed_input,
    "the input is changed while the run goes on": an_input_changed_meanwhile,
    "slow rows": slow_rows,
    "a clock that jumps ten years": a_clock_jumps,
    "a full disk": a_full_disk,
    "partitions of a finished run are deleted": partitions_go,
    "rows of a finished run once more, with other cuts": partitions_come_twice,
    "partitions that the next start may not read": partitions_that_may_not_be_read,
    "a flipped bit in a column's name": a_flipped_name,
    "a kill between the last partition and the end": a_kill_before_the_end,
    "a baseline night that is gone": a_baseline_that_is_gone,
    "a last night that is emptied": partial(a_damaged_night, emptied),
    "a last night that is cut short": partial(a_damaged_night, cut),
    "a red night that is started again": a_red_night_again,
}


def main() -> int:
    arguments = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    arguments.add_argument("--only", nargs="+", default=["*"], help="patterns of faults' names")
    only = arguments.parse_args().only
    columns = ("fault", "exit codes of the starts", "rows lost", "doubled", "stale", "longest pause, s")
    print(f"| {' | '.join(columns)} |\n|{'---|' * len(columns)}", flush=True)
    wrong = 0
    for name, fault in FAULTS.items():
        if any(fnmatch(name, each) for each in only):
            with tempfile.TemporaryDirectory(prefix="faults-", dir="/tmp", ignore_cleanup_errors=True) as folder:
                case = Case(Path(folder))
                try:
                    numbers = fault(case)
                except Skipped as reason:
                    print(f"| {name} | skipped: this machine {reason} | | | | |", flush=True)
                    continue
                codes = ", ".join(map(str, case.codes))
                print(f"| {name} | {codes} | {' | '.join(map(str, numbers))} | {case.pause()} |", flush=True)
                wrong += any(numbers) or case.codes[-1:] not in ([0], [2]) or 0 not in case.codes
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
