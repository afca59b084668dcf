"""How fast this machine scores: workloads, the time of each stage, a plain baseline measured in the same run.

Workloads are made from the benchmark's own tasks with fixed seeds, so two runs measure the same pairs. The baseline is
how one would write it first: the ``pddl`` package, closures, networkx's matcher, textbook tables, no caches. Times are
those of this machine at this moment: quote ratios within one run. Nothing here asserts a time.
"""

from __future__ import annotations

import os
import pkgutil
import platform
import resource
import signal
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from itertools import cycle, islice
from pathlib import Path
from random import Random
from typing import Any, NamedTuple
from unittest.mock import patch

import pyarrow as pa
import pyarrow.parquet as pq
from pddl.parser.domain import DomainParser

from pddl_eval.benchmark import (
    DOMAIN_RECIPES,
    DOMAIN_TEXTS,
    PLAN_RECIPES,
    PRESETS,
    Floor,
    Grade,
    Load,
    Preset,
    benchmark_problems,
    by_preset,
    task_problem,
    variants_table,
)
from pddl_eval.domains import known_domain
from pddl_eval.equivalence import Task, read_task, same_graph, scene_graph
from pddl_eval.metrics import score_problem_pair
from pddl_eval.model import Problem, problem_to_pddl
from pddl_eval.options import ScoringOptions, version_of
from pddl_eval.parsing import read_problem_by_package
from pddl_eval.run import score_dataset
from pddl_eval.solve import solve
from pddl_eval.table import score_table

BASELINE_PAIRS = 100
"""Pairs of a workload that the baseline scores; it takes some ten milliseconds for most, far longer for some."""

BASELINE_SECONDS = 2.0
"""After which the baseline gives a pair up: a backtracking matcher may never end on a symmetric one."""

STAGES = {
    "read": ("pddl_eval.equivalence.task.read_problem", "pddl_eval.equivalence.task.parse_problem"),
    "fully specify": ("pddl_eval.equivalence.task._closure_of",),
    "isomorphism": ("pddl_eval.equivalence.decide.isomorphic", "pddl_eval.equivalence.decide._object_map"),
    "decide, else": ("pddl_eval.metrics.problem.decide",),
    "certificate": ("pddl_eval.equivalence.task.Task._digest",),
    "solvability": ("pddl_eval.metrics.problem._plan_through_map", "pddl_eval.equivalence.task.solve"),
}
"""Stages of scoring a problem pair and the functions whose own time, without that of other stages, they are."""

RENAMED = Preset({Grade.CORRECT: 1}, {"renamed": 1e6})


def machine() -> dict[str, Any]:
    """Where the numbers come from."""
    system, load = f"{platform.system()} {platform.machine()}", round(os.getloadavg()[0], 1)
    versions = {"python": platform.python_version(), "pddl-eval": version_of("pddl-eval")}
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
    if workload.plainly is _problems_plainly:
        with _stopwatch() as spent:
            _score(table)
        measured["stages"] = {stage: total / len(table) for stage, total in spent.items()}
    elif workload.plainly is _plans_plainly:  # which simulates nothing
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


def _micros(function: Callable[[pa.Table], Any], table: pa.Table) -> tuple[float, Any]:
    """Microseconds a row, and what the function returns."""
    start = time.perf_counter()
    result = function(table)
    return (time.perf_counter() - start) / len(table) * 1e6, result


def _score(table: pa.Table) -> pa.Table:
    """The scored table; nothing is kept from an earlier one, so a workload pays for its own references."""
    for cached in (read_task, score_problem_pair):
        cached.cache_clear()
    return score_table(table, ScoringOptions())


@contextmanager
def _stopwatch() -> Iterator[dict[str, float]]:
    """Microseconds that each stage's functions take themselves, other stages' calls inside them not counted."""
    micros = dict.fromkeys(STAGES, 0.0)
    inside = 0.0  # Of the stages called by the one that is running.

    def timed(stage: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def run(*arguments: Any, **options: Any) -> Any:
            nonlocal inside
            before, inside, start = inside, 0.0, time.perf_counter()
            try:
                return function(*arguments, **options)
            finally:
                spent = (time.perf_counter() - start) * 1e6
                micros[stage] += spent - inside
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
            signal.setitimer(signal.ITIMER_REAL, BASELINE_SECONDS)
            try:
                plainly(row)
            except TimeoutError:
                given_up += 1
            finally:
                signal.setitimer(signal.ITIMER_REAL, 0)
        return given_up

    before = signal.signal(signal.SIGALRM, give_up)
    micros, given_up = _micros(score_each, table)
    signal.signal(signal.SIGALRM, before)
    return {"pairs": len(table), "micros": micros, "given_up": given_up, "limit": BASELINE_SECONDS}


def _problems_plainly(row: dict[str, Any]) -> bool | None:
    theirs, ours = (read_problem_by_package(row[side]) for side in ("reference_problem", "generated_problem"))
    if not isinstance(theirs, Problem) or not isinstance(ours, Problem) or len(ours.objects) != len(theirs.objects):
        return None
    if not same_graph(scene_graph(ours, ["init"]), scene_graph(theirs, ["init"])):
        return False
    if same_graph(scene_graph(ours), scene_graph(theirs)):
        return True
    our_goal, their_goal = (Task(problem, known_domain(theirs.domain)).closure for problem in (ours, theirs))
    if not isinstance(our_goal, frozenset) or not isinstance(their_goal, frozenset):
        return None
    scenes = ["goal"] if row["is_placeholder"] else ["init", "goal"]
    return same_graph(scene_graph(ours, scenes, goal=our_goal), scene_graph(theirs, scenes, goal=their_goal))


def _plans_plainly(row: dict[str, Any]) -> tuple[float, float]:
    """LCS by the textbook's table and Jaccard of sets, on one action a line."""
    a, b = (row[side].lower().splitlines() for side in ("reference_plan", "generated_plan"))
    lengths = [[0] * (len(b) + 1) for _ in range(len(a) + 1)]
    for i, step in enumerate(a):
        for j, other in enumerate(b):
            longest = max(lengths[i][j + 1], lengths[i + 1][j])
            lengths[i + 1][j + 1] = lengths[i][j] + 1 if step == other else longest
    both = set(a) | set(b)
    return lengths[-1][-1] / max(len(a), len(b), 1), len(set(a) & set(b)) / len(both) if both else 1.0


def _domains_plainly(row: dict[str, Any]) -> object:
    """The common part of each action's printed conditions."""
    parser = DomainParser()
    reference, generated = (
        {action.name: (str(action.precondition), str(action.effect)) for action in parser(row[side].strip()).actions}
        for side in ("reference_domain", "generated_domain")
    )
    return [reference[name] == generated.get(name) for name in reference]


def _answers(problems: Sequence[Problem], preset: Preset) -> pa.Table:
    texts = [problem_to_pddl(problem) for problem in problems]
    references = {"reference_problem": texts, "is_placeholder": [i % 3 != 0 for i in range(len(texts))]}
    return variants_table(pa.table(references), 0, by_preset(preset, seed=1))


def _spread(count: int) -> list[Problem]:
    """So many problems spread evenly over the benchmark."""
    problems = [task.problem for task in benchmark_problems()]
    return [problems[i * len(problems) // count] for i in range(count)]


def _benchmark(pairs: int, preset: Preset) -> pa.Table:
    """Answers to about four rows a problem, as in the benchmark."""
    return _answers([problem for problem in _spread(-(-pairs // 4)) for _ in range(4)][:pairs], preset)


def _symmetric(pairs: int) -> pa.Table:
    """Twenty equal towers, a hundred balls, a row of tiles: each against a renamed copy."""
    tasks = (
        task_problem("blocksworld", "equal_towers", "on_table", (100,)),
        task_problem("gripper", "one_room", "evenly_distributed", Load((0,), (100, 0))),
        task_problem("floor-tile", "grid", "paint_all", Floor((30,), 2, 1)),
    )
    return _answers([task.problem for task in islice(cycle(filter(None, tasks)), max(3, min(pairs, 300)))], RENAMED)


def _plans(pairs: int) -> pa.Table:
    """Plans of benchmark problems against the same with a step lost or doubled."""
    random = Random(1)
    rows = []
    for problem in _spread(pairs):
        plan = solve(problem, known_domain(problem.domain))
        if isinstance(plan, tuple) and plan:
            change = PLAN_RECIPES[random.choice(("plan_step_lost", "plan_step_doubled"))]
            texts = PLAN_RECIPES["same_plan"](plan, 0), change(plan, random.randrange(len(plan)))
            rows.append((problem_to_pddl(problem), *texts))
    return _table(("reference_problem", "reference_plan", "generated_plan"), rows)


def _long_plans(pairs: int) -> pa.Table:
    """Plans of a thousand steps against the same with every tenth step another."""
    random = Random(1)
    rows = []
    for _ in range(min(pairs, 20)):
        steps = [f"(stack b{random.randrange(30)} b{random.randrange(30)})" for _ in range(1000)]
        changed = [f"(pickup b{i % 30})" if i % 10 == 0 else step for i, step in enumerate(steps)]
        rows.append(("\n".join(steps), "\n".join(changed)))
    return _table(("reference_plan", "generated_plan"), rows)


def _domains(pairs: int) -> pa.Table:
    """The known domains against copies that lost an effect."""
    texts = islice(cycle(DOMAIN_TEXTS.values()), pairs)
    return _table(
        ("reference_domain", "generated_domain"), [(t, DOMAIN_RECIPES["domain_effect_lost"](t)) for t in texts]
    )


def _table(names: Sequence[str], rows: Sequence[Sequence[str]]) -> pa.Table:
    return pa.table(dict(zip(names, zip(*rows, strict=True), strict=True)))


class Workload(NamedTuple):
    """``make`` makes so many pairs of a kind, or as many as there are; ``plainly`` is the baseline for one of them."""

    make: Callable[[int], pa.Table]
    plainly: Callable[[dict[str, Any]], object]


WORKLOADS = {
    "zero-shot": Workload(partial(_benchmark, preset=PRESETS["zero-shot"]), _problems_plainly),
    "fine-tuned": Workload(partial(_benchmark, preset=PRESETS["fine-tuned"]), _problems_plainly),
    "renamed": Workload(partial(_benchmark, preset=RENAMED), _problems_plainly),
    "unparseable": Workload(partial(_benchmark, preset=Preset({Grade.UNPARSEABLE: 1})), _problems_plainly),
    "symmetric": Workload(_symmetric, _problems_plainly),
    "plans": Workload(_plans, _plans_plainly),
    "long plans": Workload(_long_plans, _plans_plainly),
    "domains": Workload(_domains, _domains_plainly),
}
