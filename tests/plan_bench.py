"""LCS and Jaccard of plans beside GAICo's, reading included: ``python -m tests.plan_bench --peer-python PATH``.

``PATH`` is the python of an environment with GAICo (``pip install 'gaico[audio,jsd]'``: without the extras it cannot
be imported). Both get the same pairs of texts in turn, pair by pair, each in a process of its own; the ratio of the
medians is printed. Every pair is another one, so that what is kept serves only actions that are alike.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import time
from collections.abc import Callable, Iterator
from random import Random
from statistics import median

from pddl_eval.metrics.actions import plan_jaccard, plan_lcs
from pddl_eval.parsing import Plan, read_plan

STEPS = (20, 100, 1_000)
PAIRS = {20: 300, 100: 60, 1_000: 4}
METRICS: dict[str, Callable[[Plan, Plan], float]] = {"PlanningLCS": plan_lcs, "PlanningJaccard": plan_jaccard}

PEER = """
import json, sys, time
from gaico.metrics import structured
metrics = {name: getattr(structured, name)().calculate for name in ("PlanningLCS", "PlanningJaccard")}
print("ready", flush=True)
for line in sys.stdin:
    name, reference, generated = json.loads(line)
    start = time.perf_counter()
    metrics[name](generated, reference)
    print(time.perf_counter() - start, flush=True)
"""


def action(random: Random) -> str:
    """An action of Blocks World with twenty blocks, as GAICo writes it."""
    name, arguments = random.choice((("pickup", 1), ("putdown", 1), ("stack", 2), ("unstack", 2)))
    return f"{name}({', '.join(f'b{random.randint(1, 20)}' for _ in range(arguments))})"


def braces(random: Random) -> str:
    """One step in ten is concurrent."""
    return f"{{{action(random)}, {action(random)}}}" if random.random() < 0.1 else action(random)


KINDS: dict[str, Callable[[Random], str]] = {
    "calls": action,
    "with braces": braces,
    "bare names": lambda random: f"a{random.randint(1, 400)}",
}


def main() -> None:
    """Print a line for each cell: our time, GAICo's, and how many times as fast."""
    parser = argparse.ArgumentParser(description="Measure reading and comparing plans beside GAICo.")
    parser.add_argument("--peer-python", required=True, help="python of an environment with GAICo")
    peer = subprocess.Popen(
        [parser.parse_args().peer_python, "-c", PEER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert peer.stdin is not None
    assert peer.stdout is not None
    peer.stdout.readline()
    for cell, name, pairs in cells():
        ours, theirs = [], []
        for reference, generated in pairs:
            start = time.perf_counter()
            METRICS[name](read_plan(reference).steps, read_plan(generated).steps)
            ours.append(time.perf_counter() - start)
            print(json.dumps([name, reference, generated]), file=peer.stdin, flush=True)
            theirs.append(float(peer.stdout.readline()))
        micros = [1e6 * median(times) for times in (ours, theirs)]
        print(
            f"{cell:30} {name:16} {micros[0]:>10.0f} µs {micros[1]:>12.0f} µs {micros[1] / micros[0]:>8.1f}", flush=True
        )
    peer.stdin.close()
    peer.wait()


def cells() -> Iterator[tuple[str, str, list[tuple[str, str]]]]:
    """Each kind of text at each length for each metric, with its pairs."""
    for kind, step in KINDS.items():
        for steps in STEPS:
            for name in METRICS:
                random = Random(f"{kind} {steps}")
                texts = [", ".join(step(random) for _ in range(steps)) for _ in range(2 * PAIRS[steps])]
                yield f"{kind}, {steps} steps", name, list(zip(texts[::2], texts[1::2], strict=True))


if __name__ == "__main__":
    main()
