"""The benchmark: which configurations are combined, for which parameters, and in which words; 73 tasks, 145,918 pairs.

The rules. A task takes the parameters that its initial and its goal configuration bring, in that order, and leaves out
those that do not fit one of them. A problem is told in four ways (each side explicit or abstract), in two where the
goal is told by the start; a text that was already given is not given again. So the same problem may count in several
tasks and in several words, but once in the same words.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from hashlib import blake2b
from itertools import chain
from typing import Any

from pddl_eval.benchmark.blocksworld import BLOCKSWORLD
from pddl_eval.benchmark.describe import describe
from pddl_eval.benchmark.floor_tile import FLOOR_TILE
from pddl_eval.benchmark.gripper import GRIPPER
from pddl_eval.benchmark.scene import P, Scene, TaskDomain
from pddl_eval.model import Problem

DOMAINS: tuple[TaskDomain[Any], ...] = (BLOCKSWORLD, GRIPPER, FLOOR_TILE)

PAIRS = 145_918
"""How many pairs there are (the paper's table 1)."""

TEST_GOALS = frozenset({"swap", "invert", "juggle", "focus_min", "drop_and_pickup"})
"""The goals whose tasks are kept for testing, besides all of Floor Tile."""

BUCKETS = ((20, "1-20"), (40, "21-40"), (60, "41-60"), (80, "61-80"))
"""The sizes of table 1, by their upper limits."""


@dataclass(frozen=True, slots=True)
class TaskProblem:
    """A problem of a task, with the scenes that it is told by."""

    problem: Problem
    init: Scene
    goal: Scene
    task_init: str
    task_goal: str
    refers_to_start: bool

    @property
    def size(self) -> int:
        """The number of propositions, counted as in table 1.

        That leaves out where Gripper's robot is, and counts the centre of an X once for each of its diagonals.
        """
        return len(self.problem.init) - (self.problem.domain == "gripper") + len(self.goal.atoms)

    @property
    def split(self) -> str:
        is_test = self.problem.domain == "floor-tile" or self.task_goal in TEST_GOALS
        return "test" if is_test else "train"


@dataclass(frozen=True, slots=True)
class Pair:
    """A text-to-PDDL pair."""

    described: TaskProblem
    description: str
    init_abstract: bool
    goal_abstract: bool

    @property
    def abstractness(self) -> str:
        """``explicit-abstract`` for an explicit initial state and an abstract goal, and so on."""
        return "-".join("abstract" if side else "explicit" for side in (self.init_abstract, self.goal_abstract))

    @property
    def is_placeholder(self) -> bool:
        """True where the text leaves open which objects the goal means: abstract, and not told by the start."""
        return (self.init_abstract or self.goal_abstract) and not self.described.refers_to_start


def size_bucket(size: int) -> str:
    """The column of table 1.

    >>> size_bucket(20), size_bucket(21), size_bucket(90)
    ('1-20', '21-40', '>80')
    """
    return next((name for limit, name in BUCKETS if size <= limit), ">80")


def benchmark_pairs() -> Iterator[Pair]:
    """All pairs of the benchmark, task by task.

    >>> next(benchmark_pairs()).description.splitlines()[1]
    'In the end there shall be: 1 block in a single stack; empty arm.'
    """
    return tell_problems(benchmark_problems())


def tell_problems(problems: Iterable[TaskProblem]) -> Iterator[Pair]:
    """The pairs of the problems, a text that was already given left out."""
    told: set[bytes] = set()
    for described in problems:
        for pair in _tell(described):
            digest = blake2b(pair.description.encode(), digest_size=16).digest()
            if digest not in told:
                told.add(digest)
                yield pair


def benchmark_problems() -> Iterator[TaskProblem]:
    """The problems of all tasks; some are the same problem from different parameters or tasks."""
    for domain in DOMAINS:
        yield from _problems_of(domain)


def _problems_of(domain: TaskDomain[P]) -> Iterator[TaskProblem]:
    for init, arrange_init in domain.initial.items():
        for goal, arrange_goal in domain.goals.items():
            if (init, goal) not in domain.left_out:
                for parameters in _parameters(domain, init, goal):
                    scenes = arrange_init(parameters), arrange_goal(parameters)
                    yield from _problem(domain, parameters, scenes, init, goal)
    for tied, arrange in domain.tied.items():
        for parameters in _parameters(domain, tied):
            yield from _problem(domain, parameters, arrange(parameters) or (None, None), tied, tied)


def _parameters(domain: TaskDomain[P], *configurations: str) -> Iterator[P]:
    """The parameters that the configurations bring, each once."""
    sizes = (domain.sizes[name]() for name in configurations if name in domain.sizes)
    return iter(dict.fromkeys(chain.from_iterable(sizes)))


def _problem(
    domain: TaskDomain[P], parameters: P, scenes: tuple[Scene | None, Scene | None], task_init: str, task_goal: str
) -> Iterator[TaskProblem]:
    """The problem, or nothing where the parameters do not fit one of its sides."""
    init, goal = scenes
    if init and goal:
        name = f"{domain.name}_{task_init}_to_{task_goal}_{domain.label(parameters)}"
        state = frozenset((*domain.kinds(parameters), *init.atoms))
        problem = Problem(name, domain.name, domain.objects(parameters), state, frozenset(goal.atoms))
        refers_to_start = task_init in domain.tied or task_goal in domain.relative
        yield TaskProblem(problem, init, goal, task_init, task_goal, refers_to_start)


def _tell(described: TaskProblem) -> Iterator[Pair]:
    """The ways to tell a problem; one that refers to its start is abstract as a whole or not at all."""
    for init_abstract in (True, False):
        for goal_abstract in (True, False):
            if init_abstract == goal_abstract or not described.refers_to_start:
                text = describe(
                    described.problem.objects,
                    described.init,
                    described.goal,
                    init_abstract=init_abstract,
                    goal_abstract=goal_abstract,
                )
                yield Pair(described, text, init_abstract, goal_abstract)
