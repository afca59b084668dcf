"""What a configuration gives: one side of a problem, as atoms and in words; and what a planning domain's tasks are.

No configuration stands here; they are in the file of their planning domain.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Generic, TypeVar

from pddl_eval.model import Atom

P = TypeVar("P")
"""A domain's parameters: what fixes the objects, and with a configuration the atoms."""


@dataclass(frozen=True, slots=True)
class Scene:
    """An initial state or a goal.

    ``atoms`` stand in the order in which they are told, without those that only name an object's kind; ``words``
    describe the same scene as a whole. Where the words name no objects, they fix the scene up to its objects' names.
    """

    atoms: tuple[Atom, ...]
    words: str


Arrange = Callable[[P], Scene | None]
"""A configuration: its scene for these parameters, None where they do not fit it."""


@dataclass(frozen=True, slots=True)
class TaskDomain(Generic[P]):
    """The configurations of one planning domain, in the benchmark's order.

    ``initial`` and ``goals`` combine freely except for the pairs in ``left_out``; a configuration in ``tied`` gives
    both sides, and a goal in ``relative`` is told by what holds at the start. ``sizes`` says which parameters a
    configuration brings to its tasks: a task takes those of both its sides. ``kinds`` are the atoms of every initial
    state that say what each object is.
    """

    name: str
    objects: Callable[[P], Mapping[str, str]]
    kinds: Callable[[P], tuple[Atom, ...]]
    label: Callable[[P], str]
    initial: Mapping[str, Arrange[P]]
    goals: Mapping[str, Arrange[P]]
    tied: Mapping[str, Callable[[P], tuple[Scene, Scene] | None]]
    sizes: Mapping[str, Callable[[], Iterable[P]]]
    relative: frozenset[str] = frozenset()
    left_out: frozenset[tuple[str, str]] = frozenset()


def numbered(kind: str, count: int) -> list[str]:
    """The names of a kind's objects.

    >>> numbered("ball", 2)
    ['ball1', 'ball2']
    """
    return [f"{kind}{number}" for number in range(1, count + 1)]


def counted(count: int, noun: str) -> str:
    """A number with its noun.

    >>> counted(1, "room"), counted(3, "room")
    ('1 room', '3 rooms')
    """
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
