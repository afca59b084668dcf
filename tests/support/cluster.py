"""A Ray cluster of several nodes on this machine, each a process group of its own that can be killed like a machine.

The nodes live in a network namespace of their own with nothing but a loopback device: Ray, which prefers the machine's
outer address where nodes are to meet, finds no other there, and nothing that the tests do can leave it.
"""

from __future__ import annotations

import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
RAY = Path(sys.executable).with_name("ray")

LOOPBACK = "127.0.0.1"

NAMESPACE = """
import fcntl, signal, socket, struct
with socket.socket() as any_socket:
    up, set_flags = 0x1, 0x8914
    fcntl.ioctl(any_socket, set_flags, struct.pack("16sh14x", b"lo", up))
print("ready", flush=True)
signal.pause()
"""
"""Keeps a network namespace alive in which the loopback device is up."""

START_SECONDS = 180.0


@dataclass(slots=True)
class Cluster:
    """``inside`` is the command that runs another one in the cluster's network; ``environment`` holds its token."""

    folder: Path = field(default_factory=lambda: Path(tempfile.mkdtemp(prefix="ray.", dir="/tmp")))
    port: int = 0
    environment: dict[str, str] = field(default_factory=dict)
    namespace: subprocess.Popen[str] | None = None
    nodes: list[subprocess.Popen[bytes]] = field(default_factory=list)
    logs: dict[int, Path] = field(default_factory=dict)

    @property
    def address(self) -> str:
        return f"{LOOPBACK}:{self.port}"

    @property
    def inside(self) -> list[str]:
        assert self.namespace is not None
        return ["nsenter", f"--net=/proc/{self.namespace.pid}/ns/net"]

    def make_network(self) -> bool:
        """A network namespace for the cluster; False where this user may not make one."""
        with suppress(OSError):
            self.namespace = subprocess.Popen(
                ["unshare", "--net", sys.executable, "-c", NAMESPACE], stdout=subprocess.PIPE, text=True
            )
            assert self.namespace.stdout is not None
            return self.namespace.stdout.readline() == "ready\n"
        return False

    def start(self, workers: int) -> None:
        """A head without CPUs, which is never killed, and that many nodes with one."""
        with socket.socket() as free:
            free.bind((LOOPBACK, 0))
            self.port = free.getsockname()[1]
        self.environment = {
            **{name: value for name, value in os.environ.items() if name != "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"},
            "RAY_AUTH_MODE": "token",
            "RAY_AUTH_TOKEN": secrets.token_hex(32),
            "RAY_USAGE_STATS_ENABLED": "0",
            "RAY_raylet_start_wait_time_s": "120",  # A slow machine is no fault.
            "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "pipeline")]),
        }
        head = ("--head", f"--port={self.port}", "--num-cpus=0", "--include-dashboard=false")
        self._await(self._begin(*head, f"--temp-dir={self.folder}"))
        self.add(workers)

    def add(self, workers: int, mounts: str = "true") -> None:
        """So many more nodes; ``mounts`` are shell commands in the file system that each of them has for itself."""
        alone = ("unshare", "--mount", "sh", "-c", f'{mounts} && exec "$@"', "sh") if mounts != "true" else ()
        for _ in range(workers):
            self._await(self._begin(f"--address={self.address}", "--num-cpus=1", alone=alone))

    def kill_node(self) -> None:
        """Every process of the node that was started last, at once and without a word to the others."""
        node = self.nodes.pop()
        for process in (*self._workers_of(node), node.pid):
            kill(process)
        node.wait()

    def freeze_node(self) -> None:
        """Stop every process of the node that was started last; its connections stay open, as after a power cut."""
        node = self.nodes[-1]
        for process in (node.pid, *self._workers_of(node)):
            kill(process, signal.SIGSTOP)

    def kill_worker(self, number: int = signal.SIGKILL) -> bool:
        """Send a process that runs a task this signal; False where there is none."""
        for node in self.nodes[1:]:
            for worker in self._workers_of(node):
                if command_of(worker).startswith("ray::_run"):
                    kill(worker, number)
                    return True
        return False

    def stop(self) -> None:
        for node in reversed(self.nodes):
            workers = self._workers_of(node)
            node.terminate()
            try:
                node.wait(15)
            except subprocess.TimeoutExpired:
                os.killpg(node.pid, signal.SIGKILL)
                node.wait()
            for worker in workers:
                kill(worker)
        if self.namespace is not None:
            self.namespace.kill()
            self.namespace.wait()
        shutil.rmtree(self.folder, ignore_errors=True)

    def _begin(self, *arguments: str, alone: Sequence[str] = ()) -> subprocess.Popen[bytes]:
        quiet = ("--block", f"--node-ip-address={LOOPBACK}", "--disable-usage-stats", "--object-store-memory=100000000")
        with (self.folder / f"node{time.monotonic_ns()}.log").open("wb") as log:
            node = subprocess.Popen(
                [*self.inside, *alone, str(RAY), "start", *quiet, *arguments],
                env=self.environment,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        self.nodes.append(node)
        self.logs[node.pid] = Path(log.name)
        return node

    def _await(self, node: subprocess.Popen[bytes]) -> None:
        deadline = time.monotonic() + START_SECONDS
        log = self.logs[node.pid]
        while "runtime started" not in log.read_text():
            assert node.poll() is None and time.monotonic() < deadline, log.read_text()[-2000:]
            time.sleep(0.1)

    def _workers_of(self, node: subprocess.Popen[bytes]) -> list[int]:
        found, rest = [], [node.pid]
        while rest:
            children = children_of(rest.pop())
            found += children
            rest += children
        return found


def children_of(pid: int) -> list[int]:
    try:
        tasks = list(Path(f"/proc/{pid}/task").iterdir())
        return [int(child) for task in tasks for child in (task / "children").read_text().split()]
    except OSError:
        return []


def command_of(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_text(errors="replace")
    except OSError:
        return ""


def kill(pid: int, number: int = signal.SIGKILL) -> None:
    with suppress(ProcessLookupError):
        os.kill(pid, number)
