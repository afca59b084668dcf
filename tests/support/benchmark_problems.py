"""All problems of the benchmark, made once in a process: that takes seconds, and several tests look at them."""

from __future__ import annotations

import gc
from functools import cache

from pddl_eval.benchmark import benchmark_problems
from pddl_eval.benchmark.tasks import TaskProblem


@cache
def all_problems() -> tuple[TaskProblem, ...]:
    """What ``benchmark_problems`` yields; later garbage collections do not look at them."""
    problems = tuple(benchmark_problems())
    gc.collect()
    gc.freeze()
    return problems
