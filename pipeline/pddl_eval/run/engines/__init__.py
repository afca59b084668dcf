"""Where shards are worked on: in this process, in worker processes of this machine, or on a Ray cluster.

An engine runs tasks. ``submit(task)`` starts one; ``take()`` waits for any of them and returns it with its result or
``WorkerLost``, or returns a ``NodeExcluded``; ``under_way()`` says what workers are on; ``close()`` stops what still
runs. At most ``capacity`` tasks may be submitted and not taken. What to do about a lost worker is decided in
``retries``, for all engines.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from pddl_eval.process import available_cpus
from pddl_eval.run.engines.in_process import InProcess
from pddl_eval.run.engines.processes import (
    EngineError,
    Processes,
    UnderWay,
    WorkerLost,
    forked_workers,
    ordered_map,
)
from pddl_eval.run.engines.ray import NodeExcluded, RayTasks, cluster_address
from pddl_eval.run.partitions import ROW_SECONDS, SILENT_SECONDS, ShardResult, ShardTask
from pddl_eval.settings import RunOptions

PROCESSES_SECONDS = 1.5
"""Starting worker processes."""

CLUSTER_SECONDS = 4.0
"""Joining a Ray cluster and starting its workers."""

Engine = InProcess | Processes | RayTasks


def choose_engine(rows: int, shards: int, options: RunOptions, row_seconds: float = ROW_SECONDS) -> RunOptions:
    """The options with the engine and the number of workers that are expected to finish first.

    One local worker is this process; Ray without ``workers`` has as many as CPUs. ``workers`` that are asked for are
    used, as far as there are shards for them.

    ``auto`` takes Ray where an address is given, and where ``RAY_ADDRESS`` names a cluster and there are enough rows to
    pay for joining it. Otherwise it takes this process or worker processes, whichever is faster: the number of rows
    times the cost of a row over the workers, plus their start. The constants matter only for a few thousand rows, where
    either choice takes seconds.

    >>> choose_engine(300, 1, RunOptions()).workers
    1
    >>> choose_engine(1_000_000, 245, RunOptions(workers=8)).engine
    'local'
    """
    if options.engine == "local":
        return replace(options, workers=max(1, min(options.workers or 1, shards)))
    if options.engine == "ray" or options.address:
        return replace(options, engine="ray")
    here = max(1, min(options.workers or available_cpus(), shards))
    alone, together = rows * row_seconds, PROCESSES_SECONDS + rows * row_seconds / here
    if min(alone, together) > CLUSTER_SECONDS and cluster_address():
        return replace(options, engine="ray")
    return replace(options, engine="local", workers=here if options.workers or together < alone else 1)


def start_engine(function: Callable[[ShardTask], ShardResult], options: RunOptions, *, in_process: bool) -> Engine:
    """The engine that ``choose_engine`` chose; raises ``EngineError`` where it does not start."""
    if options.engine == "ray":
        return RayTasks(function, options)
    return InProcess(function) if in_process else Processes(function, options.workers or 1, patience=SILENT_SECONDS)
