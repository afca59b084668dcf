"""How fast this machine scores, beside the plain way and other programs.

    python -m tests.measure.bench
    python -m tests.measure.bench zero-shot --pairs 20000 --json bench.json
    python -m tests.measure.bench --peer gaico --python ~/gaico/bin/python

Workloads have fixed seeds, so two runs measure the same pairs. Times are those of this machine at this moment: quote
ratios within one run. A peer runs in a process of its own, by a Python that has it (``peer.py``), on the same pairs.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import platform
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

import pddl_eval
import pyarrow as pa
from pddl.parser.problem import ProblemParser
from pddl_eval.definition.metrics import plan_jaccard, plan_lcs
from pddl_eval.definition.options import ScoringOptions
from pddl_eval.definition.plans import read_plan
from pddl_eval.scoring.kept import KEPT
from pddl_eval.scoring.table import score_table

from tests.measure import peer
from tests.measure.workloads import STEPS, WORKLOADS, equivalence, plainly, random_plans

BASELINE_PAIRS, BASELINE_SECONDS = 100, 2.0
"""A backtracking matcher may never end on a symmetric pair."""

BLOCK, PARSES = 25, 5
"""Pairs scored and references parsed in turn."""

PEERS = {
    "planetarium": "git+https://github.com/BatsResearch/planetarium.git",  # The package index has another program.
    "gaico": "'gaico[audio,jsd]'",  # Without these it cannot be imported.
    "amlgym": "amlgym",
    "pddl": "pddl",
}
"""What ``pip install`` takes, by the name of the peer."""


def measure(make: Callable[[int], pa.Table], pairs: int) -> dict[str, Any]:
    """Microseconds of processor time a pair and, for problems, how often as long one parse and the plain way take."""
    table = make(pairs)
    score(table.slice(0, 50))
    start = time.process_time()
    scored = score(table)
    micros = (time.process_time() - start) / len(table) * 1e6
    found: dict[str, Any] = {"pairs": len(table), "micros": micros, "slowest": max(scored["score_micros"].to_pylist())}
    if "generated_problem" in table.column_names:
        found["of a parse"] = of_a_parse(table)
        rows = table.slice(0, BASELINE_PAIRS).to_pylist()
        times = [peer.timed(partial(plainly, row), BASELINE_SECONDS) for row in rows]
        known = [BASELINE_SECONDS if isinstance(each, str) else each for each in times]
        found |= {"baseline": 1e6 * sum(known) / len(known), "given up": sum(isinstance(each, str) for each in times)}
        found["ratio"] = found["baseline"] / micros
    found["peak MB"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    return found


def score(table: pa.Table) -> pa.Table:
    """The scored table; nothing is kept from an earlier one, so a workload pays for its own references."""
    forget()
    return score_table(table, ScoringOptions())


def forget() -> None:
    """Keep nothing of earlier rows."""
    KEPT.clear()


def of_a_parse(table: pa.Table) -> float:
    """What a pair costs, of one parse of a reference by the ``pddl`` package: both in turn, in processor time."""
    parse, pairs, parses = ProblemParser(), 0.0, 0.0
    forget()
    gc.collect()
    gc.freeze()  # What is there already would be searched again while one side or the other is timed.
    for start in range(0, len(table), BLOCK):
        rows = table.slice(start, BLOCK)
        texts = rows["reference_problem"][:PARSES].to_pylist()
        before = time.thread_time()
        score_table(rows, ScoringOptions())
        between = time.thread_time()
        for text in texts:
            parse(text)
        pairs += between - before
        parses += (time.thread_time() - between) * len(rows) / len(texts)
    gc.unfreeze()
    return pairs / parses


def plans(metric: Callable[[Any, Any], float], reference: str, generated: str, _: bool) -> float:
    """A metric of plans, reading included."""
    return metric(read_plan(reference).steps, read_plan(generated).steps)


CELLS: dict[str, list[tuple[str, str, Callable[[int], pa.Table], Callable[[str, str, bool], object]]]] = {
    "planetarium": [("equivalence", "", WORKLOADS["weak"], equivalence)],
    "gaico": [
        (f"{kind}, {steps} steps, {name}", name, partial(random_plans, steps=steps, step=step), partial(plans, metric))
        for kind, step in STEPS.items()
        for steps in (20, 100, 1000)
        for name, metric in (("PlanningLCS", plan_lcs), ("PlanningJaccard", plan_jaccard))
    ],
    "amlgym": [("precision and recall", "", WORKLOADS["domains"], lambda *row: pddl_eval.compare_domains(*row[:2]))],
    "pddl": [("equivalence, and one parse", "", WORKLOADS["weak"], equivalence)],
}
"""What is compared with a peer: a name, the peer's function, the pairs, and what this program does with one."""


def compare(name: str, python: str, pairs: int) -> dict[str, Any]:
    """The median microseconds of both sides in each of the peer's cells, and the peer's errors."""
    found: dict[str, Any] = {}
    for cell, function, make, ours in CELLS[name]:
        table = make(min(pairs, BASELINE_PAIRS))
        kind = table.column_names[0].removeprefix("reference_")
        rows = [
            (row[f"reference_{kind}"], row[f"generated_{kind}"], bool(row.get("is_placeholder")))
            for row in table.to_pylist()
        ]
        command = [python, peer.__file__, name, function]
        try:
            ran = subprocess.run(command, input=json.dumps(rows), capture_output=True, text=True, check=True)
        except (OSError, subprocess.CalledProcessError) as error:
            said = (getattr(error, "stderr", "") or str(error)).strip().splitlines()[-1]
            sys.exit(
                f"{python} cannot run {name} ({said}): pip install {PEERS[name]} there, or choose another --python"
            )
        answer = json.loads(ran.stdout)
        forget()
        mine = [peer.timed(partial(ours, *row)) for row in rows]
        theirs = answer["times"]
        errors = [each for each in theirs if isinstance(each, str)]
        both = [each for each in zip(mine, theirs, strict=True) if not any(isinstance(one, str) for one in each)]
        found[cell] = {"version": answer["version"], "pairs": len(both), "errors": errors}
        if both:
            found[cell] |= {"micros": 1e6 * median(a for a, _ in both), "peer micros": 1e6 * median(b for _, b in both)}
    return found


def main() -> None:
    """See the top of this file."""
    parser = argparse.ArgumentParser(description="Measure how fast this machine scores.")
    parser.add_argument("workloads", nargs="*", metavar="WORKLOAD", help=", ".join(WORKLOADS))
    parser.add_argument("--pairs", type=int, default=3000)
    parser.add_argument("--peer", choices=PEERS)
    parser.add_argument("--python", default=sys.executable, help="the Python that has the peer")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    if unknown := set(options.workloads) - set(WORKLOADS):
        parser.error(f"no workload is named {', '.join(sorted(unknown))}: choose of {', '.join(WORKLOADS)}")
    found: dict[str, Any] = {
        "version": pddl_eval.__version__,
        "python": f"Python {platform.python_version()}",
        "machine": f"{os.cpu_count()} CPUs {platform.machine()}, load {os.getloadavg()[0]:.1f}",
    }
    print(", ".join(found.values()))
    for name in options.workloads or (() if options.peer else WORKLOADS):
        found[name] = measure(WORKLOADS[name], options.pairs)
        show(name, found[name])
    for cell, times in (compare(options.peer, options.python, options.pairs) if options.peer else {}).items():
        found[cell] = times
        show(f"{options.peer}, {cell}", times)
    if options.json:
        options.json.write_text(json.dumps(found, indent=2) + "\n", encoding="utf-8")


def show(name: str, numbers: dict[str, Any]) -> None:
    """Print numbers by their names."""
    shown = (f"{label} {f'{value:,.4g}' if isinstance(value, float) else value}" for label, value in numbers.items())
    print(f"{name}: {', '.join(shown)}")


if __name__ == "__main__":
    main()
