"""Labels hostile graphs within a time limit: ``python -m tests.measure.hostile_graphs [--name latin-square-12]``.

Each graph of ``tests.support.hostile_graphs`` is labelled, then a renamed copy, then its lookalike where it has
one, in a process of its own that is ended where a labelling takes too long. It prints how long the slowest took,
whether it was decided, whether the form equals the copy's and differs from the lookalike's, and the memory; it exits
with 1 where a form is wrong.
"""

from __future__ import annotations

import argparse
import multiprocessing
import resource
import signal
import sys
import time
from collections.abc import Hashable
from multiprocessing.connection import Connection

from pddl_eval.definition.canonical import LabelledGraph

from tests.measure.canonical import form_of
from tests.support.hostile_graphs import GRAPHS, LOOKALIKES, HostileGraph, renamed

LIMIT_SECONDS = 60.0

SEED = 1


def form(graph: HostileGraph) -> Hashable | None:
    """The graph's canonical form; None past the budget."""
    return form_of(LabelledGraph(dict.fromkeys(graph.objects, "object"), {"init": graph.atoms}))


def differ(name: str, seed: int = SEED) -> bool | None:
    """Whether the forms of a graph and its lookalike differ; None where either is undecided."""
    forms = [form(GRAPHS[each](seed)) for each in (name, LOOKALIKES[name])]
    return None if None in forms else forms[0] != forms[1]


def _label(name: str, seed: int, limit: float, answers: Connection) -> None:
    """Send the sizes, then for each labelling its seconds and the answer."""
    signal.alarm(int(4 * limit) + 60)  # The end, also where the parent is gone and C code runs.
    graph = GRAPHS[name](seed)
    others = [renamed(graph, seed)] + ([GRAPHS[LOOKALIKES[name]](seed)] if name in LOOKALIKES else [])
    form(HostileGraph(("a",), ()))  # Imports what labelling needs.
    answers.send((len(graph.objects), len(graph.atoms)))
    first = None
    for other in (graph, *others):
        start = time.perf_counter()
        found = form(other)
        seconds = time.perf_counter() - start
        if other is graph:
            first = found
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
        answers.send((seconds, "undecided" if None in (found, first) else "yes" if found == first else "no", memory))


def run(name: str, seed: int, limit: float) -> tuple[list[str], bool]:
    """The cells of the graph's line, and whether a form is wrong."""
    context = multiprocessing.get_context("spawn")  # A fresh process: nothing is cached, nothing is shared.
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=_label, args=(name, seed, limit, sender))
    process.start()
    sender.close()

    def answer(seconds: float) -> tuple[float, str, int]:
        try:
            return receiver.recv() if receiver.poll(seconds) else (seconds, f"> {seconds:.0f} s", 0)
        except EOFError:
            return 0.0, "died", 0

    try:
        sizes = receiver.recv()
        found = [answer(limit)]
        while len(found) < 2 + (name in LOOKALIKES) and found[-1][1] in ("yes", "no", "undecided"):
            found.append(answer(limit))
    finally:
        process.kill()
        process.join()
    words = [word for _, word, _ in found]
    decided = {"yes": "decided"}.get(words[0], words[0])
    copy = words[1] if len(words) > 1 else "-"
    lookalike = {"yes": "no", "no": "yes"}.get(words[2], words[2]) if len(words) > 2 else "-"
    cells = [name, *map(str, sizes), f"{max(seconds for seconds, _, _ in found):.2f}", decided, copy, lookalike]
    wrong = (decided == "decided" and copy == "no") or lookalike == "no" or "died" in words
    return [*cells, str(max(memory for _, _, memory in found))], wrong


def main() -> int:
    """Label, print the table; 1 where a form is wrong."""
    parser = argparse.ArgumentParser(description="Label graphs that are hard or large within a time limit.")
    parser.add_argument("--name", action="append", choices=sorted(GRAPHS), help="only this graph; may be repeated")
    parser.add_argument("--limit", type=float, default=LIMIT_SECONDS, help="seconds for each labelling")
    parser.add_argument("--seed", type=int, default=SEED)
    arguments = parser.parse_args()
    line = "{:32}{:>8}{:>8}{:>9} {:12}{:12}{:12}{:>6}"
    print(line.format("graph", "objects", "atoms", "slowest", "decided", "copy equal", "lookalike≠", "MB"), flush=True)
    wrong = 0
    for name in arguments.name or GRAPHS:
        cells, is_wrong = run(name, arguments.seed, arguments.limit)
        wrong += is_wrong
        print(line.format(*cells), "  WRONG" if is_wrong else "", flush=True)
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
