"""Engine ``auto``: which engine, and how many workers, are done first with so many rows.

The estimate is rows times a row's cost over the workers, plus what it takes to start them. The constants are of the
right order on the machines that we know; they matter near the break-even of a few thousand rows alone, where either way
takes seconds.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from pddl_eval.errors import UserError

ROW_SECONDS = 0.0005
"""Scoring a row: two parses, a comparison, sometimes a plan."""

PROCESSES_SECONDS = 1.5
"""Starting worker processes, which import the program side by side."""

CLUSTER_SECONDS = 4.0
"""Joining a Ray cluster until its workers have imported the program."""

CPU_QUOTA = Path("/sys/fs/cgroup/cpu.max")
"""Where Linux says how many microseconds of each period a container may compute; absent outside one."""

ENGINES = ("auto", "local", "ray")


@dataclass(frozen=True, slots=True)
class Choice:
    """``engine`` is ``local`` or ``ray``; one local worker is this process. No ``workers``: as many as Ray has CPUs."""

    engine: str
    workers: int | None


def choose_engine(
    rows: int, shards: int, *, engine: str = "auto", address: str | None = None, workers: int | None = None
) -> Choice:
    """The engine for that many rows in that many shards.

    ``auto`` takes Ray where an address is given, and where ``RAY_ADDRESS`` names a cluster and the rows are worth
    joining it; otherwise as many processes of this machine as pay for their start. A local Ray is never the fastest
    on one machine: it is started only when asked for.

    Raises ``ValueError`` for an engine that there is not, a number of workers below 1, an address without Ray.

    >>> choose_engine(300, 1).workers
    1
    >>> choose_engine(1_000_000, 245, workers=8)
    Choice(engine='local', workers=8)
    """
    if engine not in ENGINES:
        raise UserError(f"There is no engine {engine}: choose {', '.join(ENGINES)}.")
    if workers is not None and workers < 1:
        raise UserError(f"A run has at least one worker, not {workers}.")
    if engine == "local" and address:
        raise UserError("An address is that of a Ray cluster: choose the engine ray or auto.")
    if engine == "ray" or address:
        return Choice("ray", workers)
    if engine == "local":
        return Choice("local", max(1, min(workers or 1, shards)))
    here = max(1, min(workers or available_cpus(), shards))
    alone, together = rows * ROW_SECONDS, PROCESSES_SECONDS + rows * ROW_SECONDS / here
    if cluster_address() and min(alone, together) > CLUSTER_SECONDS:
        return Choice("ray", workers)
    return Choice("local", here if together < alone else 1)


def cluster_address() -> str | None:
    """The cluster that ``RAY_ADDRESS`` names; None where it names the HTTP server that jobs are submitted to."""
    address = os.environ.get("RAY_ADDRESS") or None
    return None if address and address.startswith(("http://", "https://")) else address


def available_cpus(quota_file: Path = CPU_QUOTA) -> int:
    """CPUs that this process may use: fewer than the machine's in a container with a CPU set or a quota."""
    cpus = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    try:
        quota, period = quota_file.read_text(encoding="ascii").split()
        return max(1, min(cpus, int(quota) // int(period)))
    except (OSError, ValueError):  # not Linux, no control group, or the quota is "max"
        return cpus
