"""What is read of a text: a plan, places that could not be read, damage."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from pddl_eval.definition.model import Action

Step = Action | frozenset[Action]
"""An action, or a set of concurrent actions, possibly empty."""

Plan = tuple[Step, ...]

TimedStep = tuple[str | None, Step]
"""A step and the time in front of it, if any."""

MAX_UNREAD = 20
"""Unread places that are kept and counted."""

EXCERPT = 60
"""Characters of a place that are quoted."""


def actions_of(step: Step) -> frozenset[Action]:
    """The actions of a step.

    >>> actions_of(("pick", "a"))
    frozenset({('pick', 'a')})
    """
    return step if isinstance(step, frozenset) else frozenset((step,))


def in_time(steps: Iterable[TimedStep]) -> Plan:
    """The steps, those in sequence with equal times as one: ``0: (a)``, ``0: (b)``, as in a planner's output."""
    groups: list[list[Step]] = []
    before = None
    for time, step in steps:
        now = None if time is None else float(time)
        if now is None or now != before:
            groups.append([step])
        else:
            groups[-1].append(step)
        before = now
    return tuple(group[0] if len(group) == 1 else frozenset().union(*map(actions_of, group)) for group in groups)


@dataclass(frozen=True, slots=True)
class Unread:
    """A place where a step should be and could not be read; line and column count from 1."""

    line: int
    column: int
    text: str

    @staticmethod
    def at(line: int, column: int, text: str) -> Unread:
        """The place where this text begins, blanks aside."""
        stripped = text.lstrip()
        return Unread(line, column + len(text) - len(stripped), stripped[:EXCERPT].split("\n", 1)[0].strip())

    @staticmethod
    def in_text(text: str, offset: int) -> Unread:
        """The place at this offset of the whole text."""
        column = offset - text.rfind("\n", 0, offset)
        return Unread.at(text.count("\n", 0, offset) + 1, column, text[offset : offset + EXCERPT])

    def __str__(self) -> str:
        return f"line {self.line}, column {self.column}: {self.text!r}"


def not_read(places: str) -> str:
    """What to say of places of an answer that were not read."""
    return f"not read: {places}"


def cannot_be_read(place: str) -> str:
    """Why a step fails that cannot be read."""
    return f"it cannot be read, {place}"


class Damage(NamedTuple):
    """A step of the plan that cannot be read: the number of steps before it, and its place in words."""

    steps_before: int
    place: str


class ReadPlan(NamedTuple):
    """What a text says: its plan, and what of it could not be read.

    ``reason`` is empty exactly when there was something to read and all of it was read. ``found`` is False where there
    is no text, or one without a plan; ``[]`` and ``()`` are the empty plan. ``damage`` is the first place where a step
    of the plan should be and could not be read: such a plan is not valid. ``several`` is True where there were drafts.
    """

    steps: Plan
    unread: tuple[Unread, ...] = ()
    reason: str = ""
    found: bool = True
    damage: Damage | None = None
    several: bool = False


def chosen(drafts: Sequence[ReadPlan], answer: str) -> ReadPlan:
    """The first or the last of several plans."""
    plan = drafts[-1 if answer == "last" else 0]
    return plan._replace(several=plan.several or len(drafts) > 1)
