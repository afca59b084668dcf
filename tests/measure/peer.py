"""Another program on pairs, in that program's own Python: ``bench --peer`` starts this file as a script.

It imports the standard library and the one peer, and nothing of pddl_eval. Pairs come in as one JSON list; what goes
out is the peer's version and, for each pair, its seconds of processor time or its error. A pair is a reference, an
answer and whether it is a placeholder.
"""

import importlib
import importlib.metadata
import json
import os
import signal
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

LIMIT = 20.0
"""Seconds of the clock on the wall after which a pair is given up."""


def timed(run: Callable[[], object], limit: float = LIMIT) -> float | str:
    """Seconds of processor time, or why there are none."""

    def give_up(*_: object) -> None:
        raise TimeoutError(f"given up after {limit:g} s")

    before = signal.signal(signal.SIGALRM, give_up)
    signal.setitimer(signal.ITIMER_REAL, limit)
    start = time.process_time()
    try:
        run()
        return time.process_time() - start
    except Exception as error:
        return f"{type(error).__name__}: {error}"[:200]
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def prepared(peer: str, function: str) -> Callable[[list[Any]], Callable[[], object]]:
    """From a pair to what is timed."""
    if peer == "planetarium":
        evaluate = importlib.import_module("planetarium.evaluate").evaluate
        return lambda pair: partial(evaluate, *pair[:2], is_placeholder=pair[2], check_solveable=False)
    if peer == "gaico":
        metric = getattr(importlib.import_module("gaico.metrics.structured"), function)()
        return lambda pair: partial(metric.calculate, pair[1], pair[0])
    if peer == "amlgym":
        metrics = importlib.import_module("amlgym.metrics")
        folder = Path(tempfile.mkdtemp())

        def both(pair: list[Any]) -> Callable[[], object]:
            for name, text in zip("01", pair, strict=False):  # It takes names of files; only reading counts.
                (folder / name).write_text(text, encoding="utf-8")
            files = str(folder / "1"), str(folder / "0")
            return lambda: (metrics.syntactic_precision(*files), metrics.syntactic_recall(*files))

        return both
    parse = importlib.import_module("pddl.parser.problem").ProblemParser()
    return lambda pair: partial(parse, pair[0])


def main() -> None:
    """``peer.py PEER FUNCTION < PAIRS``."""
    sys.path.pop(0)  # The folder of this script: its neighbours are not what the peer means by their names.
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # What a peer prints is not an answer.
    make, pairs = prepared(*sys.argv[1:3]), json.load(sys.stdin)
    timed(make(pairs[0]))  # What is made once is made before the clock runs.
    times = [timed(make(pair)) for pair in pairs]
    found = importlib.metadata.packages_distributions().get(sys.argv[1], ())
    version = [importlib.metadata.version(each) for each in found]
    print(json.dumps({"version": " ".join(version) or "unknown", "times": times}), file=answers)


if __name__ == "__main__":
    main()
