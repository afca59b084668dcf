"""The benchmark's problems, made once a process: it takes seconds."""

from __future__ import annotations

import gc
from collections import Counter
from functools import cache
from itertools import count
from typing import Any

import pytest
from pddl_eval.benchmark import benchmark_problems, enumeration
from pddl_eval.benchmark.tasks import TaskProblem


@cache
def all_problems() -> tuple[TaskProblem, ...]:
    """What ``benchmark_problems`` yields; later garbage collections do not look at them."""
    problems = tuple(benchmark_problems())
    gc.collect()
    gc.freeze()
    return problems


@cache
def problems_of(domain: str) -> tuple[TaskProblem, ...]:
    """All problems of one domain."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(enumeration, "DOMAINS", {domain: enumeration.DOMAINS[domain]})
        return tuple(benchmark_problems())


@cache
def some_problems() -> tuple[TaskProblem, ...]:
    """The first problems of each task and every twentieth of the others."""
    made: Counter[tuple[str, ...]] = Counter()
    asked = count()

    def some(name: str, init: str, goal: str, parameters: Any) -> TaskProblem | None:
        if next(asked) % 20 and made[name, init, goal] >= 8:
            return None
        problem = make(name, init, goal, parameters)
        made[name, init, goal] += problem is not None
        return problem

    make = enumeration.task_problem
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(enumeration, "task_problem", some)
        return tuple(benchmark_problems())
