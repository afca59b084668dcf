"""The benchmark: which configurations are combined, for which parameters, in which words; 73 tasks, 145,918 pairs.

The rules. A task takes the parameters that its initial and its goal configuration bring, in that order, and leaves out
those that do not fit one of them. A problem is described in four ways (each side explicit or abstract), in two where
the goal is described by the start; a text that was already given is not given again. So the same problem may count in
several tasks and in several words, but once in the same words. No file is written here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from hashlib import blake2b
from itertools import chain, islice, product
from typing import Any

import pyarrow as pa

from pddl_eval.benchmark.blocksworld import BLOCKSWORLD
from pddl_eval.benchmark.describe import describe
from pddl_eval.benchmark.floor_tile import FLOOR_TILE
from pddl_eval.benchmark.gripper import GRIPPER
from pddl_eval.benchmark.tasks import TaskDomain, TaskProblem, kind_of
from pddl_eval.definition.model import ROOT_TYPE, Problem

DOMAINS: Mapping[str, TaskDomain[Any]] = {"blocksworld": BLOCKSWORLD, "gripper": GRIPPER, "floor-tile": FLOOR_TILE}

PAIRS = 145_918
"""How many pairs there are (the paper's table 1)."""

SIZE_BUCKETS = ("1-20", "21-40", "41-60", "61-80", ">80")
"""The sizes of table 1."""


@dataclass(frozen=True, slots=True)
class Pair:
    """A problem with one of its descriptions.

    ``abstractness`` is ``explicit-abstract`` for an explicit initial state and an abstract goal, and so on.
    ``is_placeholder`` is true where the text leaves open which objects the goal means: an abstract text whose goal is
    not described by the start.
    """

    described: TaskProblem
    description: str
    abstractness: str
    is_placeholder: bool


def benchmark_problems() -> Iterator[TaskProblem]:
    """The problems of all tasks; some are the same problem from different parameters or tasks."""
    for name, domain in DOMAINS.items():
        for task in tasks_of(domain):
            if problem := task_problem(name, *task):
                yield problem


def tasks_of(domain: TaskDomain[Any]) -> Iterator[tuple[str, str, Any]]:
    """The tasks of a domain: an initial and a goal configuration, with each of the parameters that the two bring."""
    free = [sides for sides in product(domain.initial, domain.goals) if sides not in domain.left_out]
    for init, goal in [*free, *zip(domain.tied, domain.tied, strict=True)]:
        brought = (domain.sizes[side]() for side in (init, goal) if side in domain.sizes)
        yield from ((init, goal, parameters) for parameters in dict.fromkeys(chain.from_iterable(brought)))


def task_problem(name: str, task_init: str, task_goal: str, parameters: Any) -> TaskProblem | None:
    """The problem of a task for these parameters, None where they do not fit one of its sides.

    >>> task_problem("blocksworld", "on_table", "stack", (3,)).problem.name
    'blocksworld_on_table_to_stack_3'
    """
    domain = DOMAINS[name]
    tied = domain.tied.get(task_init)
    init, goal = (
        tied(parameters) if tied else (domain.initial[task_init](parameters), domain.goals[task_goal](parameters))
    )
    if not init or not goal:
        return None
    kinds = {thing: kind_of(thing) for thing in domain.objects(parameters)}
    objects = kinds if domain.kinds_as == "types" else dict.fromkeys(kinds, ROOT_TYPE)
    kind_atoms = [(kind, thing) for thing, kind in kinds.items() if domain.kinds_as == "atoms"]
    title = f"{name}_{task_init}_to_{task_goal}_{domain.label(parameters)}"
    problem = Problem(title, name, objects, frozenset((*kind_atoms, *init.atoms)), frozenset(goal.atoms))
    return TaskProblem(problem, init, goal, task_init, task_goal, bool(tied) or task_goal in domain.relative)


def benchmark_pairs(problems: Iterable[TaskProblem] | None = None) -> Iterator[Pair]:
    """The pairs of these problems, or all pairs of the benchmark, task by task; no text is given twice.

    >>> next(benchmark_pairs()).description.splitlines()[1]
    'In the end there shall be: 1 block in a single stack; empty arm.'
    """
    given: set[bytes] = set()
    for described in benchmark_problems() if problems is None else problems:
        for init_abstract, goal_abstract in product((True, False), repeat=2):
            if described.refers_to_start and init_abstract != goal_abstract:
                continue  # A goal that is described by the start needs the start in the same kind of words.
            text = describe(described, init_abstract=init_abstract, goal_abstract=goal_abstract)
            digest = blake2b(text.encode(), digest_size=16).digest()
            if digest not in given:
                given.add(digest)
                abstractness = "-".join("abstract" if side else "explicit" for side in (init_abstract, goal_abstract))
                abstract = init_abstract or goal_abstract
                yield Pair(described, text, abstractness, abstract and not described.refers_to_start)


def size_bucket(size: int) -> str:
    """The column of table 1.

    >>> size_bucket(20), size_bucket(21), size_bucket(90)
    ('1-20', '21-40', '>80')
    """
    return SIZE_BUCKETS[min((size - 1) // 20, 4)]


PAIR_COLUMNS: Mapping[str, tuple[pa.DataType, Callable[[Pair], Any]]] = {
    "name": (pa.string(), lambda pair: pair.described.problem.name),
    "domain": (pa.string(), lambda pair: pair.described.problem.domain),
    "reference_problem": (pa.string(), lambda pair: pair.described.pddl),
    "description": (pa.string(), lambda pair: pair.description),
    "is_placeholder": (pa.bool_(), lambda pair: pair.is_placeholder),
    "task_init": (pa.string(), lambda pair: pair.described.task_init),
    "task_goal": (pa.string(), lambda pair: pair.described.task_goal),
    "abstractness": (pa.string(), lambda pair: pair.abstractness),
    "num_objects": (pa.int32(), lambda pair: len(pair.described.problem.objects)),
    "size": (pa.int32(), lambda pair: pair.described.size),
    "size_bucket": (pa.string(), lambda pair: size_bucket(pair.described.size)),
    "split": (pa.string(), lambda pair: pair.described.split),
}

PAIRS_SCHEMA = pa.schema([("id", pa.int32()), *((name, type_) for name, (type_, _) in PAIR_COLUMNS.items())])
"""``id`` counts the pairs from 1, ``size`` is the number of propositions that table 1 counts."""


def pairs_tables(pairs: Iterable[Pair], rows: int) -> Iterator[pa.Table]:
    """The pairs as tables of that many rows, the last one of fewer."""
    numbered = (
        {"id": number, **{name: value(pair) for name, (_, value) in PAIR_COLUMNS.items()}}
        for number, pair in enumerate(pairs, 1)
    )
    while block := list(islice(numbered, rows)):
        yield pa.Table.from_pylist(block, PAIRS_SCHEMA)
