"""What many parts and many workers cost those who coordinate them: requests to the store, and the driver's CPU time.

    python -m tests.measure.scale --parts 10,100,1000
    python -m tests.measure.scale --slots 1500,6000,48000

``--parts``: the partitions and locks of all other parts lie in a bucket (moto on this machine); one part is run there
in a process of its own. Requests are counted by the server: until the first shard, for a shard, after the last one; for
a part that starts when half of the others are done, and for the last one. A heartbeat is measured alone, and taken
times the parts over their interval.

``--slots``: a real Ray of this machine, and that many tasks under way that never begin (they ask for a resource that is
missing). So the driver waits for them as it does for a cluster of that size; results come from a few real tasks.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from pddl_eval.datasets import locate, put_bytes
from pddl_eval.run import Event, Run, ShardRecord, finish_shards, lock, prepare_run
from pddl_eval.run.lock import Holder, claimed
from pddl_eval.run.partitions import ShardTask, score_shard
from pddl_eval.run.score import begin_run
from pddl_eval.run.shards import BLOCKS_OF_PART
from pddl_eval.settings import RunOptions

from tests.support.length_scorer import length_scorer

ROWS_OF_BLOCK = 2

RESULTS = 400
"""Results that are taken while all slots are under way."""

TASK_SECONDS = 0.02
"""More than a task that does nothing takes."""

BEATS = 10

KEYS = {"AWS_ACCESS_KEY_ID": "testing", "AWS_SECRET_ACCESS_KEY": "testing", "AWS_REGION": "us-east-1"}


@contextmanager
def counted_store() -> Iterator[Counter[str]]:
    """A store on the loopback interface, and how many requests it got, by method; the environment points to it."""
    from moto.server import ThreadedMotoServer
    from pyarrow import fs
    from werkzeug.serving import WSGIRequestHandler

    requests: Counter[str] = Counter()

    def count(handler: Any, *_: Any) -> None:
        requests[handler.command] += 1

    WSGIRequestHandler.log_request = count  # type: ignore[method-assign]
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    os.environ |= {**KEYS, "AWS_ENDPOINT_URL": f"http://{host}:{port}"}
    keys = {"access_key": "testing", "secret_key": "testing", "region": "us-east-1", "scheme": "http"}
    store = fs.S3FileSystem(endpoint_override=f"{host}:{port}", allow_bucket_creation=True, **keys)
    store.create_dir("scale")
    try:
        yield requests
    finally:
        server.stop()


def prefill(folder: Path, place: str, parts: int) -> tuple[Run, dict[str, bytes]]:
    """The run of a dataset cut into so many parts, begun in a bucket, and each block's partition."""
    rows = parts * BLOCKS_OF_PART * ROWS_OF_BLOCK
    table = pa.table({"n": range(rows), "text": [f"{row:07}" for row in range(rows)]})
    pq.write_table(table, folder / "pairs.parquet", row_group_size=BLOCKS_OF_PART * ROWS_OF_BLOCK)
    put_bytes(locate(f"{place}/pairs.parquet"), (folder / "pairs.parquet").read_bytes())
    run = prepare_run(f"{place}/pairs.parquet", f"{place}/out", length_scorer(), ROWS_OF_BLOCK, f"1/{parts}")
    begin_run(run)
    here = prepare_run(folder / "pairs.parquet", folder / "out", length_scorer(), ROWS_OF_BLOCK)
    contents = {}
    for shard in here.shards:
        result = score_shard(replace(here.work, run=run.work.run), ShardTask(shard))
        assert isinstance(result, ShardRecord), result
        contents[shard.name] = (folder / "out" / shard.name).read_bytes()
    return run, contents


def measure_parts(parts: int, requests: Counter[str]) -> None:
    """Print the lines of one number of parts."""
    with tempfile.TemporaryDirectory(prefix="scale-") as folder:
        place = f"s3://scale/{parts}"
        run, contents = prefill(Path(folder), place, parts)
        assert len(contents) == parts * BLOCKS_OF_PART
        out = locate(f"{place}/out")
        for number in range(2, parts + 1):
            holder = Holder("node", 1, "now", "another", "1", f"{number:032x}", f"-{number}-of-{parts}", "", 0)
            name = f"_running-{holder.token}-{run.work.run}-in-{parts}{holder.part}.json"
            put_bytes(out / name, b"{}")  # Nobody needs to read it.
        half, last = {0, parts // 2}, {0}  # The residues of the blocks that nobody has made.
        for when, open_parts, each in (("half done", half, 2), ("the last", last, 1)):
            for number, (name, content) in enumerate(contents.items()):
                if number % each == 0 and number % parts not in open_parts:
                    put_bytes(out / name, content)
            print_part(parts, when, place, f"{max(open_parts) + 1}/{parts}", requests)


def print_part(parts: int, when: str, place: str, part: str, requests: Counter[str]) -> None:
    """Run one part in a process of its own and print what it asked the store for."""
    command = [sys.executable, "-m", "tests.measure.scale", "--child", f"{place}/pairs.parquet", f"{place}/out", part]
    child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert child.stdin and child.stdout
    seen = [(requests.total(), 0.0)]
    for line in child.stdout:
        word, cpu = line.split()
        if word == "began":
            seen = [(requests.total(), float(cpu))]
        else:
            seen.append((requests.total(), float(cpu)))
        child.stdin.write("\n")
        child.stdin.flush()
    assert child.wait() == 0
    shards = len(seen) - 3
    (start, start_cpu), (first, first_cpu), (last, last_cpu), (end, end_cpu) = seen[0], seen[1], seen[-2], seen[-1]
    each = (last - first) / max(1, shards)
    print(
        f"| {parts:,} | {when} | {first - start} | {each:.1f} | {end - last} | {first_cpu - start_cpu:.2f} | "
        f"{1000 * (last_cpu - first_cpu) / max(1, shards):.0f} | {end_cpu - last_cpu:.2f} |",
        flush=True,
    )


def child(source: str, output: str, part: str) -> None:
    """Run a part; says each step with the CPU time, and waits until it was counted."""

    def tell(word: str) -> None:
        print(word, time.process_time(), flush=True)
        input()

    def watch(event: Event) -> None:
        if isinstance(event, (Run, ShardRecord)):
            tell("step")

    tell("began")
    run = prepare_run(source, output, length_scorer(), ROWS_OF_BLOCK, part)
    finish_shards(run, RunOptions(engine="local", workers=1), watch=watch)
    tell("step")


def requests_of_a_beat(requests: Counter[str]) -> float:
    """Requests for one sign of life."""
    lock.BEAT_SECONDS, seconds = 0.2, lock.BEAT_SECONDS
    try:
        with claimed(locate("s3://scale/beats")):
            before = requests.total()
            time.sleep(0.2 * BEATS + 0.1)
            return (requests.total() - before) / BEATS
    finally:
        lock.BEAT_SECONDS = seconds


def answer(task: Any) -> Any:
    """What the few real tasks do: nothing."""
    from pddl_eval.run.partitions import ShardRecord

    return ShardRecord(task.shard.name, "", task.shard.rows, {}, 0.0, "", 1)


def measure_slots(slots: int) -> None:
    """Print the line of so many tasks under way: the driver's CPU time to send one, and for a result."""
    import ray
    from pddl_eval.datasets import FileVersion
    from pddl_eval.run.engines.ray import RayTasks, _Sent
    from pddl_eval.run.shards import Shard

    file = FileVersion(locate("/none.parquet"), "")
    engine = RayTasks(answer, RunOptions(engine="ray"))
    absent = engine._task.options(resources={"absent": 1}, scheduling_strategy="DEFAULT")
    began, cpu = time.monotonic(), time.process_time()
    for number in range(slots):
        task = ShardTask(Shard("s", file, number, number + 1))
        engine._running[absent.remote(engine._function, task)] = _Sent(task, "")
    sent, sent_cpu = time.monotonic() - began, time.process_time() - cpu
    for number in range(4):
        engine.submit(ShardTask(Shard("t", file, number, number + 1)))
    engine.take()  # Ray has started a worker.
    spent = []
    for together in (1, RESULTS):
        cpu, taken = 0.0, 0
        while taken < RESULTS // (8 if together == 1 else 1):
            before = time.process_time()
            for number in range(together):
                engine.submit(ShardTask(Shard("u", file, number, number + 1)))
            time.sleep(together * TASK_SECONDS)  # They end meanwhile.
            for _ in range(together):
                engine.take()
            cpu += time.process_time() - before
            taken += together
        spent.append(1000 * cpu / taken)
    print(f"| {slots:,} | {1000 * sent_cpu / slots:.2f} | {sent:.0f} | {spent[0]:.1f} | {spent[1]:.1f} |", flush=True)
    engine.close()
    ray.shutdown()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--parts", default="")
    parser.add_argument("--slots", default="")
    parser.add_argument("--child", nargs=3, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.child:
        child(*arguments.child)
        return
    if arguments.parts:
        with counted_store() as requests:
            beat = requests_of_a_beat(requests)
            counted = "requests until the first shard | for a shard | after the last"
            print(f"| parts | which | {counted} | CPU until the first shard, s | for a shard, ms | after the last, s |")
            print("|---|---|---|---|---|---|---|---|")
            numbers = [int(each) for each in arguments.parts.split(",")]
            for parts in numbers:
                measure_parts(parts, requests)
            for parts in numbers:
                interval = max(lock.BEAT_SECONDS, min(lock.BEAT_SECONDS_OF_PART * parts, lock.MOST_BEAT_SECONDS))
                print(f"{parts:,} parts: {beat:.1f} requests a beat, {beat * parts / interval:.0f} requests/s of all")
    if arguments.slots:
        alone = f"CPU of a shard, sent and taken alone, ms | of one of {RESULTS} that end together, ms"
        print(f"| tasks under way | driver CPU to send one, ms | all sent, s | {alone} |")
        print("|---|---|---|---|---|")
        for slots in arguments.slots.split(","):
            code = f"from tests.measure.scale import measure_slots; measure_slots({int(slots)})"
            subprocess.run([sys.executable, "-c", code], check=True, stderr=subprocess.DEVNULL)


if __name__ == "__main__":
    main()
