"""``pddl-eval bench``: how fast this machine scores, stage by stage, beside a plain baseline measured in the same run.

Workloads are made on the spot from the benchmark's own tasks with fixed seeds, so two runs measure the same pairs. The
times are of this machine at this moment: quote ratios within one run. Nothing here asserts a time.
"""

from __future__ import annotations

import json
import os
import platform
import resource
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Annotated, Any, Optional
from unittest.mock import patch

import typer

from pddl_eval.commands.cli import run_job
from pddl_eval.errors import UserError

if TYPE_CHECKING:
    import pyarrow as pa

    from pddl_eval.model import Problem

BASELINE_PAIRS = 100
"""Pairs of a workload that the baseline scores; it takes some ten milliseconds for most, far longer for some."""

BASELINE_SECONDS = 2.0
"""After which the baseline gives a pair up: a backtracking matcher may never end on a symmetric one."""

STAGES = {
    "read": ("pddl_eval.scoring.problem_pair.read_problem",),
    "fully specify": ("pddl_eval.equivalence.analysis.closure_of",),
    "isomorphism": (
        "pddl_eval.equivalence.decide.isomorphic",
        "pddl_eval.equivalence.decide._object_map",
    ),
    "decide, else": ("pddl_eval.scoring.problem_pair.decide_analysed",),
    "certificate": ("pddl_eval.scoring.problem_pair.certify",),
    "solvability": ("pddl_eval.scoring.problem_pair._plan",),
}
"""Stages of scoring a problem pair and the functions whose own time, without that of other stages, they are."""


def bench(
    pairs: Annotated[int, typer.Option(help="Pairs in each workload.")] = 3000,
    only: Annotated[
        Optional[list[str]],  # noqa: UP045 (typer reads it)
        typer.Option("--workload", help="Only this workload; may be repeated."),
    ] = None,
    engines: Annotated[
        bool, typer.Option("--engines", help="Also whole runs by engine and number of workers.")
    ] = False,
    json_file: Annotated[
        Optional[Path],  # noqa: UP045
        typer.Option("--json", metavar="FILE", help="Write all numbers there as JSON."),
    ] = None,
) -> None:
    """Measure pairs per second and microseconds a pair by stage, on fixed workloads, against a plain baseline.

    \b
    pddl-eval bench
    pddl-eval bench --workload zero-shot --pairs 20000 --json bench.json
    pddl-eval bench --engines
    """
    makers = _workloads()
    unknown = set(only or ()) - makers.keys()
    if unknown:
        raise UserError(f"there is no workload {min(unknown)}; choose from {', '.join(makers)}")
    results: dict[str, Any] = {"machine": _machine(), "pairs": pairs, "workloads": {}}
    print(", ".join(f"{key} {value}" for key, value in results["machine"].items()))
    for name in only or makers:
        results["workloads"][name] = measured = _measure(makers[name](pairs))
        print(_line(name, measured))
    if engines:
        results["runs"] = _runs(makers["zero-shot"](max(pairs, 20_000)))
        for run in results["runs"]:
            print(f"  {run['engine']:<6} {run['workers'] or 1} workers  {run['pairs_per_second']:>9,.0f} pairs/s")
    if json_file:
        json_file.write_text(json.dumps(results, indent=2) + "\n", encoding="utf-8")


def _machine() -> dict[str, Any]:
    from importlib.metadata import version

    return {
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}",
        "cpus": os.cpu_count(),
        "load": round(os.getloadavg()[0], 1),
        "pddl-eval": version("pddl-eval"),
    }


def _workloads() -> dict[str, Callable[[int], pa.Table]]:
    from pddl_eval.benchmark.labels import Outcome
    from pddl_eval.benchmark.presets import PRESETS, Preset

    unparseable = Preset({Outcome.UNPARSEABLE: 1})
    renamed = Preset({Outcome.CORRECT: 1}, {"renamed": 1e6})
    return {
        "zero-shot": lambda pairs: _variants(pairs, PRESETS["zero-shot"]),
        "fine-tuned": lambda pairs: _variants(pairs, PRESETS["fine-tuned"]),
        "renamed": lambda pairs: _variants(pairs, renamed),
        "unparseable": lambda pairs: _variants(pairs, unparseable),
        "symmetric": _symmetric,
        "plans": _plans,
        "long plans": _long_plans,
        "domains": _domains,
    }


def _variants(pairs: int, preset: Any) -> pa.Table:
    """Answers to problems spread evenly over the benchmark, about four rows a problem as there."""
    import pyarrow as pa

    from pddl_eval.benchmark.enumeration import benchmark_problems
    from pddl_eval.benchmark.tables import by_preset, variants_table

    distinct = -(-pairs // 4)
    problems = [task.problem for task in benchmark_problems()]
    chosen = [problems[i * len(problems) // distinct] for i in range(distinct) for _ in range(4)][:pairs]
    return variants_table(_references(chosen, pa), 0, by_preset(preset, seed=1))


def _references(problems: list[Problem], pa: Any) -> pa.Table:
    from pddl_eval.model import problem_to_pddl

    return pa.table(
        {
            "reference_problem": [problem_to_pddl(problem) for problem in problems],
            "is_placeholder": [i % 3 != 0 for i in range(len(problems))],
        }
    )


def _symmetric(pairs: int) -> pa.Table:
    """Twenty equal towers, a hundred balls, a row of tiles: each against a renamed copy."""
    import pyarrow as pa

    from pddl_eval.benchmark.labels import Outcome
    from pddl_eval.benchmark.presets import Preset
    from pddl_eval.benchmark.tables import by_preset, variants_table
    from pddl_eval.model import Problem

    blocks = [[f"b{t}-{h}" for h in range(5)] for t in range(20)]
    names = [block for tower in blocks for block in tower]
    on = {("on", tower[h + 1], tower[h]) for tower in blocks for h in range(4)}
    ends = {("on-table", tower[0]) for tower in blocks} | {("clear", tower[-1]) for tower in blocks}
    towers = frozenset(on | ends | {("arm-empty",)})
    flat = frozenset(("on-table", name) for name in names)
    balls = [f"ball{i}" for i in range(100)]
    rooms = {("room", "x"), ("room", "y"), ("at-robby", "x"), ("gripper", "l"), ("free", "l")}
    balls_in_x = frozenset(rooms | {("ball", ball) for ball in balls} | {("at", ball, "x") for ball in balls})
    balls_in_y = frozenset(("at", ball, "y") for ball in balls)
    tiles = [f"t{i}" for i in range(30)]
    row = {("right", tiles[i + 1], tiles[i]) for i in range(29)} | {("robot-at", "r", "t0"), ("robot-has", "r", "c")}
    floor = dict.fromkeys(tiles, "tile") | {"r": "robot", "c": "color"}
    problems = [
        Problem("towers", "blocksworld", dict.fromkeys(names, "object"), towers, flat),
        Problem("balls", "gripper", dict.fromkeys([*balls, "x", "y", "l"], "object"), balls_in_x, balls_in_y),
        Problem("row", "floor-tile", floor, frozenset(row), frozenset(("painted", tile, "c") for tile in tiles)),
    ]
    renamed = Preset({Outcome.CORRECT: 1}, {"renamed": 1e6})
    count = max(3, min(pairs, 300))
    references = _references([problems[i % 3] for i in range(count)], pa)
    return variants_table(references, 0, by_preset(renamed, seed=1))


def _plans(pairs: int) -> pa.Table:
    """Plans of benchmark problems against the same with a step lost, doubled or exchanged."""
    import pyarrow as pa

    from pddl_eval.benchmark.enumeration import benchmark_problems
    from pddl_eval.domains import known_domain
    from pddl_eval.model import problem_to_pddl, show_atom
    from pddl_eval.solve import solve

    random = Random(1)
    problems = [task.problem for task in benchmark_problems()]
    rows: dict[str, list[str]] = {"reference_problem": [], "reference_plan": [], "generated_plan": []}
    for i in range(pairs):
        problem = problems[i * len(problems) // pairs]
        plan = solve(problem, known_domain(problem.domain))
        steps = [show_atom(action) for action in plan] if isinstance(plan, tuple) else []
        if not steps:
            continue
        changed = list(steps)
        at, other = random.randrange(len(steps)), random.randrange(len(steps))
        change = random.choice(["lose", "double", "exchange"])
        if change == "lose":
            del changed[at]
        elif change == "double":
            changed.insert(at, changed[at])
        else:
            changed[at], changed[other] = changed[other], changed[at]
        rows["reference_problem"].append(problem_to_pddl(problem))
        rows["reference_plan"].append("\n".join(steps))
        rows["generated_plan"].append("\n".join(changed))
    return pa.table(rows)


def _long_plans(pairs: int) -> pa.Table:
    """Plans of a thousand steps against the same with every tenth step another."""
    import pyarrow as pa

    random = Random(1)
    rows: dict[str, list[str]] = {"reference_plan": [], "generated_plan": []}
    for _ in range(min(pairs, 20)):
        steps = [f"(stack b{random.randrange(30)} b{random.randrange(30)})" for _ in range(1000)]
        rows["reference_plan"].append("\n".join(steps))
        changed = [f"(pickup b{i % 30})" if i % 10 == 0 else step for i, step in enumerate(steps)]
        rows["generated_plan"].append("\n".join(changed))
    return pa.table(rows)


def _domains(pairs: int) -> pa.Table:
    """The known domains against copies that lost one atom."""
    import pyarrow as pa

    from pddl_eval.domains import blocksworld, floor_tile, gripper

    random = Random(1)
    texts = [blocksworld.PDDL, floor_tile.PDDL, gripper.PDDL]
    rows: dict[str, list[str]] = {"reference_domain": [], "generated_domain": []}
    for i in range(pairs):
        text = texts[i % 3]
        atom = random.choice(["(arm-empty)", "(robot-has ?r ?c)", "(at-robby ?r)"])
        rows["reference_domain"].append(text)
        rows["generated_domain"].append(text.replace(f"{atom} ", "", 1))
    return pa.table(rows)


def _measure(table: pa.Table) -> dict[str, Any]:
    """Pairs per second, time by stage, the time to write, peak memory and the ratio to the baseline."""
    import pyarrow.parquet as pq

    from pddl_eval.options import ScoringOptions
    from pddl_eval.table import score_table

    settings = ScoringOptions()
    score_table(table.slice(0, 50), settings)
    _forget()
    start = time.perf_counter()
    scored = score_table(table, settings)
    seconds = time.perf_counter() - start
    measured: dict[str, Any] = {
        "pairs": len(table),
        "pairs_per_second": len(table) / seconds,
        "micros": seconds / len(table) * 1e6,
        "slowest_micros": max(scored["score_micros"].to_pylist()),
    }
    start = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        pq.write_table(scored, Path(folder) / "scored.parquet", compression="zstd")
    measured["write_micros"] = (time.perf_counter() - start) / len(table) * 1e6
    if "verdict" in scored.column_names:
        _forget()
        with _stopwatch() as micros:
            score_table(table, settings)
        measured["stages"] = {stage: spent / len(table) for stage, spent in micros.items()}
        measured["baseline"] = _baseline(table, _score_plainly)
        measured["ratio"] = measured["baseline"]["micros"] / measured["micros"]
    elif "reference_plan" in table.column_names:
        measured["baseline"] = _baseline(table, _score_plans_plainly)
        sequences = table.select(["reference_plan", "generated_plan"])
        start = time.perf_counter()
        score_table(sequences, settings)
        measured["sequence_micros"] = (time.perf_counter() - start) / len(table) * 1e6
        measured["ratio"] = measured["baseline"]["micros"] / measured["sequence_micros"]
    else:
        measured["baseline"] = _baseline(table, _score_domains_plainly)
        measured["ratio"] = measured["baseline"]["micros"] / measured["micros"]
    measured["peak_mb"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return measured


def _forget() -> None:
    """Empty the caches of references and answers, so that a workload pays for its own."""
    from pddl_eval.scoring import problem_pair

    problem_pair.reference_of.cache_clear()
    problem_pair.score_problem_pair.cache_clear()


@contextmanager
def _stopwatch() -> Iterator[dict[str, float]]:
    """Microseconds that each stage's functions take themselves, other stages' calls inside them not counted."""
    micros = dict.fromkeys(STAGES, 0.0)
    running: list[str] = []
    last = time.perf_counter()

    def tick() -> None:
        nonlocal last
        now = time.perf_counter()
        if running:
            micros[running[-1]] += (now - last) * 1e6
        last = now

    def timed(stage: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def run(*arguments: Any, **options: Any) -> Any:
            tick()
            running.append(stage)
            try:
                return function(*arguments, **options)
            finally:
                tick()
                running.pop()

        return run

    with ExitStack() as stack:
        for stage, targets in STAGES.items():
            for target in targets:
                module, _, name = target.rpartition(".")
                __import__(module)
                original = getattr(sys.modules[module], name)
                stack.enter_context(patch(target, timed(stage, original)))
        yield micros


def _baseline(table: pa.Table, score_plainly: Callable[[dict[str, Any]], object]) -> dict[str, Any]:
    """The plain way, nothing kept from pair to pair; a pair that takes too long is given up and counted."""
    rows = table.slice(0, BASELINE_PAIRS).to_pylist()
    given_up = 0

    def alarm(_signal: int, _frame: object) -> None:
        raise TimeoutError

    before = signal.signal(signal.SIGALRM, alarm)
    start = time.perf_counter()
    for row in rows:
        signal.setitimer(signal.ITIMER_REAL, BASELINE_SECONDS)
        try:
            score_plainly(row)
        except TimeoutError:
            given_up += 1
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
    seconds = time.perf_counter() - start
    signal.signal(signal.SIGALRM, before)
    return {"pairs": len(rows), "micros": seconds / len(rows) * 1e6, "given_up": given_up}


def _score_plans_plainly(row: dict[str, Any]) -> tuple[float, float]:
    """LCS by the textbook's table and Jaccard of sets, on one action a line."""
    a, b = (row[side].lower().splitlines() for side in ("reference_plan", "generated_plan"))
    lengths = [[0] * (len(b) + 1) for _ in range(len(a) + 1)]
    for i, step in enumerate(a):
        for j, other in enumerate(b):
            longest = max(lengths[i][j + 1], lengths[i + 1][j])
            lengths[i + 1][j + 1] = lengths[i][j] + 1 if step == other else longest
    both = set(a) | set(b)
    return lengths[-1][-1] / max(len(a), len(b), 1), len(set(a) & set(b)) / len(both) if both else 1.0


def _score_domains_plainly(row: dict[str, Any]) -> object:
    """Both texts through the ``pddl`` package's parser, and the common part of each action's printed conditions."""
    from pddl.parser.domain import DomainParser

    parser = DomainParser()
    reference, generated = (
        {action.name: (str(action.precondition), str(action.effect)) for action in parser(row[side].strip()).actions}
        for side in ("reference_domain", "generated_domain")
    )
    return [reference[name] == generated.get(name) for name in reference]


def _score_plainly(row: dict[str, Any]) -> bool | None:
    """The ``pddl`` package, closures, networkx's matcher."""
    from pddl_eval.domains import known_domain
    from pddl_eval.equivalence.analysis import closure_of
    from pddl_eval.equivalence.scene_graph import goal_scene, initial_scene, problem_graph, same_graph
    from pddl_eval.model import Problem
    from pddl_eval.parsing import read_problem_by_package

    theirs, ours = (read_problem_by_package(row[side]) for side in ("reference_problem", "generated_problem"))
    if not isinstance(theirs, Problem) or not isinstance(ours, Problem) or len(ours.objects) != len(theirs.objects):
        return None
    if not same_graph(initial_scene(ours), initial_scene(theirs)):
        return False
    if same_graph(problem_graph(ours), problem_graph(theirs)):
        return True
    domain = known_domain(theirs.domain)
    our_goal, their_goal = closure_of(ours, domain), closure_of(theirs, domain)
    if not isinstance(our_goal, frozenset) or not isinstance(their_goal, frozenset):
        return None
    if row["is_placeholder"]:
        return same_graph(goal_scene(ours, our_goal), goal_scene(theirs, their_goal))
    return same_graph(problem_graph(ours, our_goal), problem_graph(theirs, their_goal))


def _runs(table: pa.Table) -> list[dict[str, Any]]:
    """Whole runs, Parquet to Parquet with start-up, by engine and number of workers."""
    import pyarrow.parquet as pq

    from pddl_eval.run import score_dataset

    runs = []
    with tempfile.TemporaryDirectory() as folder:
        pairs = Path(folder) / "pairs.parquet"
        pq.write_table(table, pairs)
        cpus = os.cpu_count() or 1
        for engine, workers in (("local", 1), ("local", cpus), ("ray", cpus)):
            summary = score_dataset(pairs, Path(folder) / f"{engine}-{workers}", engine=engine, workers=workers)
            run = {"engine": engine, "workers": workers, "seconds": summary.seconds}
            runs.append(run | {"pairs_per_second": len(table) / summary.seconds})
    return runs


def _line(name: str, measured: dict[str, Any]) -> str:
    lines = [
        f"\n{name}: {measured['pairs_per_second']:,.0f} pairs/s, {measured['micros']:,.0f} µs a pair, "
        f"slowest {measured['slowest_micros'] / 1000:,.1f} ms, writing {measured['write_micros']:,.0f} µs, "
        f"peak memory {measured['peak_mb']:,.0f} MB"
    ]
    if "stages" in measured:
        spent = sum(measured["stages"].values()) or 1.0
        for stage, micros in measured["stages"].items():
            lines.append(f"  {stage:<14} {micros:>9,.1f} µs  {'▇' * round(30 * micros / spent)}")
    if "sequence_micros" in measured:
        lines.append(f"  without simulation {measured['sequence_micros']:>5,.0f} µs")
    baseline = measured["baseline"]
    given_up = f", {baseline['given_up']} given up after {BASELINE_SECONDS:g} s" if baseline["given_up"] else ""
    lines.append(
        f"  baseline       {baseline['micros']:>9,.0f} µs  {measured['ratio']:,.1f} times as long "
        f"({baseline['pairs']} pairs{given_up})"
    )
    return "\n".join(lines)


if __name__ == "__main__":
    run_job(bench)
