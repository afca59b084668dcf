"""A cluster without worker nodes and with an autoscaler: all nodes that the run can use are asked for at once."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.datasets.parquet_files import read_output, write_numbered
from tests.run.cluster import RAY, Cluster
from tests.run.test_faults import RUN

NODES = 3

STATUS_SECONDS = 15.0


@pytest.mark.ray
@pytest.mark.network
@pytest.mark.slow
def test_an_autoscaler_is_asked_for_all_nodes_at_once_and_for_none_in_the_end(tmp_path: Path) -> None:
    pytest.importorskip("ray")
    if not RAY.exists() or not Path("/proc/self/task").exists():
        pytest.skip("needs the command ray and /proc")
    pairs, output = write_numbered(tmp_path / "pairs.parquet", rows=120, row_group=50), tmp_path / "out"
    cluster = Cluster()
    try:
        if not cluster.make_network():
            pytest.skip("needs a network namespace of its own")
        cluster.start(0, autoscaled=NODES)
        arguments = [*cluster.inside, sys.executable, "-c", RUN, str(pairs), str(output), cluster.address]
        subprocess.run(arguments, env=cluster.environment, check=True, timeout=200)
        log = cluster.folder / "session_latest" / "logs" / "monitor.log"
        deadline = time.monotonic() + STATUS_SECONDS
        while asked_for(log)[-1] != "(none)" and time.monotonic() < deadline:
            time.sleep(0.5)
        assert asked_for(log)[-1] == "(none)"
        assert max(map(int, re.findall(r"Queue (\d+) new nodes for launch", log.read_text()))) == NODES
    finally:
        cluster.stop()
    lines = [json.loads(line) for line in Path(f"{output}.jsonl").read_text().splitlines()]
    assert sorted(row["n"] for row in read_output(output).to_pylist()) == list(range(120))
    assert {line["event"] for line in lines} <= {"shard", "no_node", "waiting"}


def asked_for(log: Path) -> list[str]:
    """What the autoscaler was asked for, each time that it looked."""
    return re.findall(r"From request_resources:\n (.*)", log.read_text())
