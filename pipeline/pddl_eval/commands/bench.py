"""``pddl-eval bench``: how fast this machine scores, stage by stage, beside a plain baseline and other programs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

from typer import Option

from pddl_eval.commands.command import command, split_names
from pddl_eval.commands.completion import choices
from pddl_eval.errors import UserError, did_you_mean
from pddl_eval.shown import printable

NAMES = "zero-shot|weak|fine-tuned|renamed|unparseable|symmetric|plans|long plans|domains|domains in problems"
PEERS = "planetarium|gaico|amlgym|pddl"


@command
def bench(
    pairs: Annotated[int, Option(min=1, help="Pairs in each workload.")] = 3000,
    only: Annotated[
        list[str] | None,
        Option("--workload", metavar=NAMES, help="Only these workloads.", autocompletion=choices(NAMES.split("|"))),
    ] = None,
    engines: Annotated[bool, Option("--engines", help="Also whole runs by engine and number of workers.")] = False,
    peers: Annotated[
        list[str] | None,
        Option(
            "--peer",
            metavar=PEERS,
            help="Also these programs on the same pairs.",
            autocompletion=choices(PEERS.split("|")),
        ),
    ] = None,
    peer_python: Annotated[
        Path | None, Option(metavar="PATH", help="The Python that has the peers. Default: the one that runs this.")
    ] = None,
    json_file: Annotated[Path | None, Option("--json", metavar="FILE", help="Write all numbers there as JSON.")] = None,
) -> None:
    """Measure how fast this machine scores, beside a plain baseline.

    \b
    pddl-eval bench
    pddl-eval bench --workload zero-shot --pairs 20000 --json bench.json
    pddl-eval bench --engines
    pddl-eval bench --peer gaico --peer-python ~/gaico/bin/python

    With --peer only the workloads that --workload names are measured.
    """
    from pddl_eval.bench import CELLS, WORKLOADS, machine, measure, measure_peer, whole_runs

    only, peers = split_names(only or []), split_names(peers or [])
    for chosen, known, kind in ((only, WORKLOADS, "workload"), (peers, CELLS, "peer")):
        for name in chosen:
            if name not in known:
                raise UserError(f"there is no {kind} {name}; {did_you_mean(name, known, f'{kind}s')}")
    results: dict[str, Any] = {"machine": machine(), "pairs": pairs, "workloads": {}}
    print(", ".join(f"{key} {value}" for key, value in results["machine"].items()))
    for name in only or (() if peers else WORKLOADS):
        results["workloads"][name] = measured = measure(WORKLOADS[name], pairs)
        print(_lines(name, measured))
    for name in peers:
        measured = results.setdefault("peers", {})[name] = measure_peer(name, peer_python, pairs)
        print(f"\n{name} {measured['version']} on the same pairs, in turn, median of processor time:")
        for cell, times in measured["cells"].items():
            print(_cell(cell, times))
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
    if "of_a_parse" in measured:
        costs = (f"{name} {ratio:.3f}" for name, ratio in measured["of_a_parse"].items())
        lines.append(f"  of one parse by the pddl package: {', '.join(costs)}")
    if "sequence_micros" in measured:
        lines.append(f"  without simulation {measured['sequence_micros']:>5,.0f} µs")
    baseline = measured["baseline"]
    given_up = f", {baseline['given_up']} given up after {baseline['limit']:g} s" if baseline["given_up"] else ""
    lines.append(
        f"  baseline       {baseline['micros']:>9,.0f} µs  {measured['ratio']:,.1f} times as long "
        f"({baseline['pairs']} pairs{given_up})"
    )
    return "\n".join(lines)


def _cell(name: str, times: dict[str, Any]) -> str:
    notes = [
        f"{times['pairs']} pairs",
        *(f"{times[how]} {how.replace('_', ' ')}" for how in ("given_up", "failed") if times[how]),
    ]
    if times["error"]:
        notes.append(printable(times["error"]))
    both = ""
    if times["pairs"]:
        both = f"{times['micros']:>9,.1f} µs  {times['peer_micros']:>9,.1f} µs  {times['ratio']:,.1f} times as long "
    return f"  {name:<22} {both}({', '.join(notes)})"
