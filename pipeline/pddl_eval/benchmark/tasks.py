"""What a task consists of: sides (an initial state or a goal, as atoms and in words) and the objects they are about.

A planning domain's file fills in a ``TaskDomain``. This file holds no configuration of any domain, only the lists of
numbers that several of them use.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from random import Random
from typing import Generic, Literal, TypeVar

from pddl_eval.definition.model import Atom, Problem, State, problem_to_pddl

T = TypeVar("T", str, Atom)

P = TypeVar("P")
"""A domain's parameters: they fix the objects, and together with a configuration the atoms."""

PARTITIONS_STEP = {21: 5, 22: 5, 23: 20, 24: 20, 25: 60}
"""The benchmark uses every n-th partition of these numbers, and every partition of smaller ones."""

TEST_GOALS = frozenset({"swap", "invert", "juggle", "focus_min", "drop_and_pickup"})
"""The goals whose tasks are kept for testing, besides all of Floor Tile."""


@dataclass(frozen=True, slots=True)
class Side:
    """An initial state or a goal.

    ``atoms`` are in the order in which a description lists them, without those that only name an object's kind.
    ``words`` describe the whole side. Words that name no objects fix the side up to the names of its objects.
    """

    atoms: tuple[Atom, ...]
    words: str


Arrange = Callable[[P], Side | None]
"""A configuration: its side for these parameters, None where they do not fit it."""


@dataclass(frozen=True, slots=True)
class TaskDomain(Generic[P]):
    """The configurations of one planning domain, in the benchmark's order.

    ``initial`` and ``goals`` combine freely except for the pairs in ``left_out``. A configuration in ``tied`` gives
    both sides. A goal in ``relative`` is described by what holds at the start. ``sizes`` says which parameters a
    configuration brings to its tasks: a task takes those of both its sides. ``objects`` are names such as ``ball3``;
    ``kinds_as`` says whether a problem states their kinds as types, as atoms of the initial state, or not at all.

    The other three make sides at random over the objects of any problem: a goal, an initial state, and all
    contradictions (atoms that no state has together) among a few objects.
    """

    objects: Callable[[P], list[str]]
    label: Callable[[P], str]
    initial: Mapping[str, Arrange[P]]
    goals: Mapping[str, Arrange[P]]
    tied: Mapping[str, Callable[[P], tuple[Side | None, Side | None]]]
    sizes: Mapping[str, Callable[[], Iterable[P]]]
    random_goal: Callable[[Problem, Random], State]
    random_init: Callable[[Problem, Random], State | None]
    contradictions: Callable[[Problem, Random], list[tuple[Atom, ...]]]
    kinds_as: Literal["types", "atoms"] | None = None
    relative: frozenset[str] = frozenset()
    left_out: frozenset[tuple[str, str]] = frozenset()


@dataclass(frozen=True)
class TaskProblem:
    """A problem of a task, with the sides that describe it."""

    problem: Problem
    init: Side
    goal: Side
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
        """``train`` or ``test``."""
        return "test" if self.problem.domain == "floor-tile" or self.task_goal in TEST_GOALS else "train"

    @cached_property
    def pddl(self) -> str:
        return problem_to_pddl(self.problem)


def named(*configurations: Arrange[P]) -> dict[str, Arrange[P]]:
    """Configurations under the names of their functions."""
    return {arrange.__name__: arrange for arrange in configurations}


def numbered(kind: str, count: int) -> list[str]:
    """The names of a kind's objects.

    >>> numbered("ball", 2)
    ['ball1', 'ball2']
    """
    return [f"{kind}{number}" for number in range(1, count + 1)]


def kind_of(name: str) -> str:
    """The kind of a numbered object.

    >>> kind_of("ball12")
    'ball'
    """
    return name.rstrip("0123456789")


def fresh_name(kind: str, taken: Collection[str]) -> str:
    """The first numbered name of a kind that is not taken.

    >>> fresh_name("ball", ["ball1", "ball3"])
    'ball2'
    """
    return next(name for name in numbered(kind, len(taken) + 1) if name not in taken)


def counted(count: int, noun: str) -> str:
    """A number with its noun.

    >>> counted(1, "room"), counted(3, "room")
    ('1 room', '3 rooms')
    """
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def partitions(total: int, parts: int, smallest: int = 1) -> Iterator[tuple[int, ...]]:
    """The ways to write ``total`` as a sum of that many parts, none below ``smallest``, in ascending order.

    >>> list(partitions(5, 2))
    [(1, 4), (2, 3)]
    """
    if parts > 1:
        for first in range(smallest, total // parts + 1):
            yield from ((first, *rest) for rest in partitions(total - first, parts - 1, first))
    elif total >= smallest * parts and (parts or total == 0):
        yield (total,) * parts


def benchmark_partitions(most_parts: int = 10) -> Iterator[tuple[int, ...]]:
    """The benchmark's lists of tower heights and of balls per room, of at most ``most_parts`` parts.

    The paper does not say which lists it uses; this is the rule behind the published problems: the partitions of 1 to
    25 with a smallest part of 1 and at most ten parts, by sum, then by number of parts, thinned where they are many.

    >>> [len(list(benchmark_partitions(parts))) for parts in (10, 8)]
    [2119, 1705]
    """
    listed = ((1, *rest) for total in range(1, 26) for parts in range(10) for rest in partitions(total - 1, parts))
    for place, partition in enumerate(listed):
        if place % PARTITIONS_STEP.get(sum(partition), 1) == 0 and len(partition) <= most_parts:
            yield partition


def holding_for(predicate: str, problem: Problem) -> list[str]:
    """The objects for which this predicate of one argument holds in the initial state."""
    return sorted(atom[1] for atom in problem.init if atom[0] == predicate and len(atom) == 2)


def of_type(type_: str, problem: Problem) -> list[str]:
    """The objects of exactly this type."""
    return sorted(name for name, its_type in problem.objects.items() if its_type == type_)


def choose(most: int, items: Collection[T], random: Random) -> list[T]:
    """At most that many of the items (names or atoms), in random order."""
    return random.sample(sorted(items), min(most, len(items)))
