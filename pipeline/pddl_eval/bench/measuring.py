"""One workload measured: pairs per second, the time of each stage, a plain baseline and a yardstick in the same run."""

from __future__ import annotations

import gc
import os
import pkgutil
import platform
import resource
import signal
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pyarrow as pa
import pyarrow.parquet as pq
from pddl.parser.problem import ProblemParser

from pddl_eval.bench.workloads import WORKLOADS, Workload, equivalence
from pddl_eval.equivalence import read_task
from pddl_eval.metrics import score_problem_pair
from pddl_eval.options import ScoringOptions, build, version_of
from pddl_eval.run import score_dataset
from pddl_eval.table import score_table

BASELINE_PAIRS = 100
"""Pairs of a workload that the baseline scores; it takes some ten milliseconds for most, far longer for some."""

BASELINE_SECONDS = 2.0
"""After which the baseline gives a pair up: a backtracking matcher may never end on a symmetric one."""

BLOCK, PARSES = 25, 5
"""Pairs scored and references parsed in turn."""

STAGES = {
    "read": ("pddl_eval.equivalence.task.read_problem", "pddl_eval.equivalence.task.parse_problem"),
    "fully specify": ("pddl_eval.equivalence.task._closure_of",),
    "isomorphism": ("pddl_eval.equivalence.decide.isomorphic", "pddl_eval.equivalence.decide._object_map"),
    "decide, else": ("pddl_eval.metrics.problem.decide",),
    "certificate": ("pddl_eval.equivalence.task.Task._digest",),
    "solvability": ("pddl_eval.metrics.problem._plan_through_map", "pddl_eval.equivalence.task.solve"),
}
"""Stages of scoring a problem pair and the functions whose own time, without that of other stages, they are."""


def machine() -> dict[str, Any]:
    """Where the numbers come from."""
    system, load = f"{platform.system()} {platform.machine()}", round(os.getloadavg()[0], 1)
    versions = {"python": platform.python_version(), "pddl-eval": version_of("pddl-eval"), "build": build()}
    return {**versions, "system": system, "cpus": os.cpu_count(), "load": load}


def measure(workload: Workload, pairs: int) -> dict[str, Any]:
    """Pairs per second, time by stage, the time to write, peak memory and the ratio to the baseline."""
    table = workload.make(pairs)
    _score(table.slice(0, 50))
    micros, scored = _micros(_score, table)
    compared = micros
    measured: dict[str, Any] = {"pairs": len(table), "pairs_per_second": 1e6 / micros, "micros": micros}
    measured["slowest_micros"] = max(scored["score_micros"].to_pylist())
    with tempfile.TemporaryDirectory() as folder:
        write = partial(pq.write_table, where=Path(folder) / "scored.parquet", compression="zstd")
        measured["write_micros"] = _micros(write, scored)[0]
    if "generated_problem" in table.column_names:
        measured["of_a_parse"] = _of_a_parse(table)
        with _stopwatch() as spent:
            _score(table)
        measured["stages"] = {stage: spent[stage] / len(table) for stage in STAGES if stage in spent}
    elif "generated_plan" in table.column_names:  # The plain way simulates nothing.
        compared, _ = _micros(_score, table.select(["reference_plan", "generated_plan"]))
        measured["sequence_micros"] = compared
    measured["baseline"] = baseline = _baseline(table.slice(0, BASELINE_PAIRS), workload.plainly)
    measured["ratio"] = baseline["micros"] / compared
    measured["peak_mb"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return measured


def whole_runs(pairs: int) -> list[dict[str, Any]]:
    """Whole runs, Parquet to Parquet with start-up, by engine and number of workers."""
    table = WORKLOADS["zero-shot"].make(max(pairs, 20_000))
    runs = []
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "pairs.parquet"
        pq.write_table(table, source)
        cpus = os.cpu_count() or 1
        for engine, workers in (("local", 1), ("local", cpus), ("ray", cpus)):
            output = Path(folder) / f"{engine}-{workers}"
            seconds = score_dataset(source, output, engine=engine, workers=workers).seconds
            rate = len(table) / seconds
            runs.append({"engine": engine, "workers": workers, "seconds": seconds, "pairs_per_second": rate})
    return runs


def _of_a_parse(table: pa.Table) -> dict[str, float]:
    """What a pair costs, of one parse of a reference by the ``pddl`` package: both in turn, in processor time.

    All columns, and the decision of equivalence alone. A pair's own parse of its reference is counted in it.
    """

    def decide_all(rows: pa.Table) -> None:
        for row in rows.to_pylist():
            equivalence(row["reference_problem"], row["generated_problem"], row["is_placeholder"])

    parse = ProblemParser()
    ratios = {}
    for name, score in (("all columns", partial(score_table, options=ScoringOptions())), ("equivalence", decide_all)):
        _forget()
        gc.collect()
        gc.freeze()  # What is there already would be searched again while one side or the other is timed.
        spent = {"pairs": 0.0, "parses": 0.0}
        for start in range(0, len(table), BLOCK):
            rows = table.slice(start, BLOCK)
            before = time.thread_time()
            score(rows)
            between = time.thread_time()
            for text in rows["reference_problem"][:PARSES].to_pylist():
                parse(text)
            spent["pairs"] += between - before
            spent["parses"] += (time.thread_time() - between) * len(rows) / min(PARSES, len(rows))
        gc.unfreeze()
        ratios[name] = spent["pairs"] / spent["parses"]
    return ratios


def _micros(function: Callable[[pa.Table], Any], table: pa.Table) -> tuple[float, Any]:
    """Microseconds a row, and what the function returns."""
    start = time.perf_counter()
    result = function(table)
    return (time.perf_counter() - start) / len(table) * 1e6, result


def _score(table: pa.Table) -> pa.Table:
    """The scored table; nothing is kept from an earlier one, so a workload pays for its own references."""
    _forget()
    return score_table(table, ScoringOptions())


def _forget() -> None:
    for cached in (read_task, score_problem_pair):
        cached.cache_clear()


@contextmanager
def _stopwatch() -> Iterator[dict[str, float]]:
    """Microseconds that each stage's functions take themselves, other stages' calls inside them not counted.

    A stage that is never seen is left out: compiled code calls its own functions directly, and their time is their
    caller's.
    """
    micros: dict[str, float] = {}
    inside = 0.0  # Of the stages called by the one that is running.

    def timed(stage: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def run(*arguments: Any, **options: Any) -> Any:
            nonlocal inside
            before, inside, start = inside, 0.0, time.perf_counter()
            try:
                return function(*arguments, **options)
            finally:
                spent = (time.perf_counter() - start) * 1e6
                micros[stage] = micros.get(stage, 0.0) + spent - inside
                inside = before + spent

        return run

    with ExitStack() as stack:
        for stage, targets in STAGES.items():
            for target in targets:
                stack.enter_context(patch(target, timed(stage, pkgutil.resolve_name(target))))
        yield micros


def _baseline(table: pa.Table, plainly: Callable[[dict[str, Any]], object]) -> dict[str, Any]:
    """The plain way; a pair that takes too long is given up and counted."""

    def give_up(_signal: int, _frame: object) -> None:
        raise TimeoutError

    def score_each(part: pa.Table) -> int:
        given_up = 0
        for row in part.to_pylist():
            try:
                try:
                    signal.setitimer(signal.ITIMER_REAL, BASELINE_SECONDS)
                    plainly(row)
                finally:
                    signal.setitimer(signal.ITIMER_REAL, 0)
            except TimeoutError:  # also from the line above, if the row ends when its time does
                given_up += 1
        return given_up

    before = signal.signal(signal.SIGALRM, give_up)
    micros, given_up = _micros(score_each, table)
    signal.signal(signal.SIGALRM, before)
    return {"pairs": len(table), "micros": micros, "given_up": given_up, "limit": BASELINE_SECONDS}
