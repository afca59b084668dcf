"""Runs another program on pairs, in that program's own Python: ``peers`` starts this file as a script.

It imports the standard library and the one peer that it is asked for, and nothing of pddl_eval. The first line that it
writes says the peer's version or what is missing. Then each line that it reads is a pair, and each line that it writes
the seconds of processor time that the peer took for it, or the peer's error.
"""

from __future__ import annotations

import importlib
import importlib.metadata
import json
import os
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

Prepare = Callable[[dict[str, Any]], Callable[[], object]]
"""From a pair to what is timed."""


def _planetarium() -> dict[str, Prepare]:
    evaluate = importlib.import_module("planetarium.evaluate").evaluate

    def equivalence(pair: dict[str, Any]) -> Callable[[], object]:
        texts = pair["reference"], pair["generated"]
        return partial(evaluate, *texts, is_placeholder=pair["is_placeholder"], check_solveable=False)

    return {"equivalence": equivalence}


def _gaico() -> dict[str, Prepare]:
    structured = importlib.import_module("gaico.metrics.structured")
    metrics = {"LCS": structured.PlanningLCS(), "Jaccard": structured.PlanningJaccard()}

    def calculate(metric: Any, pair: dict[str, Any]) -> Callable[[], object]:
        return partial(metric.calculate, pair["generated"], pair["reference"])

    return {name: partial(calculate, metric) for name, metric in metrics.items()}


def _amlgym() -> dict[str, Prepare]:
    metrics = importlib.import_module("amlgym.metrics")
    files = [Path(sys.argv[2]) / f"{side}.pddl" for side in ("generated", "reference")]

    def both(paths: list[str]) -> object:
        return metrics.syntactic_precision(*paths), metrics.syntactic_recall(*paths)

    def similarity(pair: dict[str, Any]) -> Callable[[], object]:
        for file in files:  # It takes names of files; only reading them counts.
            file.write_text(pair[file.stem], encoding="utf-8")
        return partial(both, [str(file) for file in files])

    return {"precision and recall": similarity}


def _pddl() -> dict[str, Prepare]:
    parse = importlib.import_module("pddl.parser.problem").ProblemParser()
    return {"one parse": lambda pair: partial(parse, pair["reference"])}


PEERS: dict[str, Callable[[], dict[str, Prepare]]] = {
    "planetarium": _planetarium,
    "gaico": _gaico,
    "amlgym": _amlgym,
    "pddl": _pddl,
}


def _timed(run: Callable[[], object]) -> dict[str, Any]:
    start = time.process_time()
    try:
        run()
    except Exception as error:
        return {"error": f"{type(error).__name__}: {error}"[:200]}
    return {"seconds": time.process_time() - start}


def main() -> None:
    """``peer_process.py PEER FOLDER``, the folder for files that a peer reads; ends with its input."""
    sys.path.pop(0)  # The folder of this script: its neighbours are not what the peer means by their names.
    name = sys.argv[1]
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # What a peer prints is not an answer.

    def answer(value: dict[str, Any]) -> None:
        print(json.dumps(value), file=answers, flush=True)

    try:
        functions = PEERS[name]()
    except Exception as error:  # An import can fail in any way.
        return answer({"missing": f"{type(error).__name__}: {error}"[:200]})
    try:
        version = importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        version = "of unknown version"
    answer({"version": version})
    for line in sys.stdin:
        pair = json.loads(line)
        answer(_timed(functions[pair["function"]](pair)))


if __name__ == "__main__":
    main()
