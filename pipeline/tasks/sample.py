"""The pairs that are bundled with the project: a few small ones of each task, each with one answer of known labels."""

from __future__ import annotations

from itertools import cycle, groupby, islice
from random import Random

import pyarrow as pa

from pipeline.tasks.enumeration import Pair, benchmark_problems, tell_problems
from pipeline.tasks.reference import Reference
from pipeline.tasks.tables import pairs_tables, variants_table
from pipeline.tasks.variants import KINDS, Variant, variant_of

PAIRS_PER_TASK = 4
LARGEST_SIZE = 40
"""Propositions of a bundled problem, at most."""


def sample_table() -> pa.Table:
    """The bundled sample, the same on every machine: every task, all kinds of answers by turns."""
    small = (problem for problem in benchmark_problems() if problem.size <= LARGEST_SIZE)
    chosen = [pair for task, pairs in groupby(tell_problems(small), _task) for pair in _some(list(pairs), task)]
    (references,) = pairs_tables(chosen, rows=len(chosen))
    return variants_table(references, 0, _next_kind)


def _task(pair: Pair) -> tuple[str, str, str]:
    return pair.described.problem.domain, pair.described.task_init, pair.described.task_goal


def _some(pairs: list[Pair], task: tuple[str, str, str]) -> list[Pair]:
    """A few of a task's pairs, in their order."""
    places = Random(" ".join(task)).sample(range(len(pairs)), min(PAIRS_PER_TASK, len(pairs)))
    return [pairs[place] for place in sorted(places)]


def _next_kind(reference: Reference, row: int, answer: int) -> Variant:
    """The kinds take turns; one that does not apply leaves its turn to the next."""
    turns = islice(cycle(KINDS), row % len(KINDS), None)
    random = Random(f"sample {row}")
    return next(variant for kind in turns if (variant := variant_of(reference, kind, random)))
