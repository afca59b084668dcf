"""Other programs on the same pairs in the same run, pair by pair in turn with this one.

A peer runs in a process of its own, by a Python that has it (``peer_process``). Both sides are measured in processor
time, reading included. Nothing of a peer is copied or needed.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from threading import Timer
from time import thread_time
from typing import Any, NamedTuple

import pyarrow as pa

from pddl_eval.bench import peer_process
from pddl_eval.bench.workloads import STEPS, WORKLOADS, equivalence, random_plans
from pddl_eval.equivalence import read_task
from pddl_eval.errors import UserError
from pddl_eval.metrics import compare_domains, plan_jaccard, plan_lcs
from pddl_eval.parsing import read_plan

PEER_PAIRS = 100
"""Pairs of a cell, at most."""

PEER_SECONDS = 20.0
"""For one pair, of the clock on the wall; then the peer is ended and started again."""

START_SECONDS = 120.0
"""For the imports of a peer."""

GIVEN_UP = 3
"""So many pairs given up end a cell."""

MAX_CHARACTERS = 1_000_000
"""Of a line in either direction; a longer pair is left out."""

INSTALL = {
    "planetarium": "git+https://github.com/BatsResearch/planetarium.git",  # The package index has another program.
    "gaico": "'gaico[audio,jsd]'",  # Without these it cannot be imported.
    "amlgym": "amlgym",
    "pddl": "pddl",
}
"""What ``pip install`` takes, by the name of the peer."""


class Cell(NamedTuple):
    """``ours`` and the peer's ``function`` do the same with each pair of the columns of ``make``'s table."""

    name: str
    function: str
    make: Callable[[int], pa.Table]
    columns: str
    ours: Callable[[dict[str, Any]], object]


def _equivalence(pair: dict[str, Any]) -> object:
    return equivalence(pair["reference"], pair["generated"], pair["is_placeholder"])


def _plans(metric: Callable[[Any, Any], float], pair: dict[str, Any]) -> object:
    return metric(read_plan(pair["reference"]).steps, read_plan(pair["generated"]).steps)


CELLS = {
    "planetarium": [Cell("equivalence", "equivalence", WORKLOADS["weak"].make, "problem", _equivalence)],
    "gaico": [
        Cell(
            f"{kind}, {steps} steps, {name}",
            name,
            partial(random_plans, steps=steps, step=step),
            "plan",
            partial(_plans, metric),
        )
        for kind, step in STEPS.items()
        for steps in (20, 100, 1000)
        for name, metric in (("LCS", plan_lcs), ("Jaccard", plan_jaccard))
    ],
    "amlgym": [
        Cell(
            "precision and recall",
            "precision and recall",
            WORKLOADS["domains"].make,
            "domain",
            lambda pair: compare_domains(pair["reference"], pair["generated"]),
        )
    ],
    "pddl": [Cell("equivalence, and one parse", "one parse", WORKLOADS["weak"].make, "problem", _equivalence)],
}


def measure_peer(name: str, python: Path | None, pairs: int) -> dict[str, Any]:
    """The median time of both sides for a pair of each of the peer's cells: ``version`` and, by name, ``cells``.

    Raises ``UserError`` where that Python does not have the peer.
    """
    with _running(name, python or Path(sys.executable)) as peer:
        return {"version": peer.version, "cells": {cell.name: _measure(cell, peer, pairs) for cell in CELLS[name]}}


def _measure(cell: Cell, peer: _Peer, pairs: int) -> dict[str, Any]:
    read_task.cache_clear()
    ours: list[float] = []
    theirs: list[float] = []
    given_up = 0
    errors: list[str] = []
    for number, row in enumerate(cell.make(min(pairs, PEER_PAIRS)).to_pylist()):
        pair = {side: row[f"{side}_{cell.columns}"] for side in ("reference", "generated")}
        pair |= {"is_placeholder": bool(row.get("is_placeholder")), "function": cell.function}
        if number == 0:  # What is made once is made before the clock runs, on both sides.
            cell.ours(pair)
            peer.ask(pair)
            read_task.cache_clear()
        start = thread_time()
        cell.ours(pair)
        spent = thread_time() - start
        answer = peer.ask(pair)
        if answer is None:
            given_up += 1
        elif "seconds" not in answer:
            errors.append(str(answer.get("error")))
        else:
            ours.append(spent * 1e6)
            theirs.append(float(answer["seconds"]) * 1e6)
        if given_up >= GIVEN_UP:
            break
    return {
        "pairs": len(ours),
        "micros": median(ours) if ours else None,
        "peer_micros": median(theirs) if ours else None,
        "ratio": median(theirs) / median(ours) if ours else None,
        "given_up": given_up,
        "failed": len(errors),
        "error": errors[0] if errors else None,
    }


class _Peer:
    """A peer's process, which is started again after a pair that it did not end in time."""

    def __init__(self, name: str, python: Path, folder: str) -> None:
        self.name, self.python, self.folder = name, python, folder
        self.version = ""
        self._process: subprocess.Popen[str] | None = None

    def start(self) -> None:
        try:
            self._process = subprocess.Popen(
                [self.python, peer_process.__file__, self.name, self.folder],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                encoding="utf-8",
                start_new_session=True,  # Ctrl-C is for this program, which ends the other.
            )
        except OSError as error:
            raise UserError(f"--peer-python {self.python}: {error.strerror}") from None
        answer = self._answer(START_SECONDS) or {"missing": "no answer"}
        if "version" not in answer:
            raise UserError(
                f"{self.python} cannot run {self.name} ({answer.get('missing')}): pip install "
                f"{INSTALL[self.name]} there, or name the Python that has it with --peer-python"
            )
        self.version = str(answer["version"])

    def ask(self, pair: dict[str, Any]) -> dict[str, Any] | None:
        """The peer's answer; None where it did not come in time or the pair is too long."""
        line = json.dumps(pair)
        if len(line) > MAX_CHARACTERS or self._process is None or self._process.stdin is None:
            return None
        with suppress(BrokenPipeError):  # Then there is no answer either.
            self._process.stdin.write(line + "\n")
            self._process.stdin.flush()
        answer = self._answer(PEER_SECONDS)
        if answer is None:
            self.close()
            self.start()
        return answer

    def _answer(self, seconds: float) -> dict[str, Any] | None:
        """The next line; None where the process ended, which it is made to do when the time is over."""
        assert self._process is not None and self._process.stdout is not None
        clock = Timer(seconds, self._process.kill)
        clock.start()
        try:
            line = self._process.stdout.readline(MAX_CHARACTERS)
        finally:
            clock.cancel()
        try:
            answer = json.loads(line)
        except ValueError:
            return None
        return answer if isinstance(answer, dict) else None

    def close(self) -> None:
        if self._process is not None:
            self._process.kill()
            with suppress(BrokenPipeError):  # What it did not read any more.
                self._process.communicate()


@contextmanager
def _running(name: str, python: Path) -> Iterator[_Peer]:
    with TemporaryDirectory() as folder:
        peer = _Peer(name, python, folder)
        try:
            peer.start()
            yield peer
        finally:
            peer.close()
