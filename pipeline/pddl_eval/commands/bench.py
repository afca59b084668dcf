"""``pddl-eval bench``: how fast this machine scores, stage by stage, beside a plain baseline."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

from typer import Option

from pddl_eval.commands.command import command
from pddl_eval.errors import UserError, did_you_mean

NAMES = "zero-shot|fine-tuned|renamed|unparseable|symmetric|plans|long plans|domains"


@command
def bench(
    pairs: Annotated[int, Option(min=1, help="Pairs in each workload.")] = 3000,
    only: Annotated[
        list[str] | None, Option("--workload", metavar=NAMES, help="Only this workload; may be repeated.")
    ] = None,
    engines: Annotated[bool, Option("--engines", help="Also whole runs by engine and number of workers.")] = False,
    json_file: Annotated[Path | None, Option("--json", metavar="FILE", help="Write all numbers there as JSON.")] = None,
) -> None:
    """Measure how fast this machine scores, beside a plain baseline.

    \b
    pddl-eval bench
    pddl-eval bench --workload zero-shot --pairs 20000 --json bench.json
    pddl-eval bench --engines
    """
    from pddl_eval.bench import WORKLOADS, machine, measure, whole_runs

    for name in only or ():
        if name not in WORKLOADS:
            raise UserError(f"there is no workload {name}; {did_you_mean(name, WORKLOADS, 'workloads')}")
    results: dict[str, Any] = {"machine": machine(), "pairs": pairs, "workloads": {}}
    print(", ".join(f"{key} {value}" for key, value in results["machine"].items()))
    for name in only or WORKLOADS:
        results["workloads"][name] = measured = measure(WORKLOADS[name], pairs)
        print(_lines(name, measured))
    if engines:
        results["runs"] = whole_runs(pairs)
        for run in results["runs"]:
            print(f"  {run['engine']:<6} {run['workers'] or 1} workers  {run['pairs_per_second']:>9,.0f} pairs/s")
    if json_file:
        json_file.write_text(json.dumps(results, indent=2) + "\n", encoding="utf-8")


def _lines(name: str, measured: dict[str, Any]) -> str:
    lines = [
        f"\n{name}: {measured['pairs_per_second']:,.0f} pairs/s, {measured['micros']:,.0f} µs a pair, "
        f"slowest {measured['slowest_micros'] / 1000:,.1f} ms, writing {measured['write_micros']:,.0f} µs, "
        f"peak memory {measured['peak_mb']:,.0f} MB"
    ]
    stages = measured.get("stages", {})
    spent = sum(stages.values()) or 1.0
    for stage, micros in stages.items():
        lines.append(f"  {stage:<14} {micros:>9,.1f} µs  {'▇' * round(30 * micros / spent)}")
    if "sequence_micros" in measured:
        lines.append(f"  without simulation {measured['sequence_micros']:>5,.0f} µs")
    baseline = measured["baseline"]
    given_up = f", {baseline['given_up']} given up after {baseline['limit']:g} s" if baseline["given_up"] else ""
    lines.append(
        f"  baseline       {baseline['micros']:>9,.0f} µs  {measured['ratio']:,.1f} times as long "
        f"({baseline['pairs']} pairs{given_up})"
    )
    return "\n".join(lines)
