"""What is read of a text: a plan, places that could not be read, damage."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain
from typing import NamedTuple

from pddl_eval.definition import words
from pddl_eval.definition.model import NUMBER, Action, Scheduled, in_order_of
from pddl_eval.definition.pddl.patterns import deferred

Step = Action | frozenset[Action]
"""An action, or a set of concurrent actions, possibly empty."""

Plan = tuple[Step, ...]

TimedStep = tuple[str | None, Step]
"""A step and the time in front of it, if any."""

Operators = Mapping[str, Sequence[str]]
"""The operators of a domain, each with the names of its parameters, without question marks."""

MAX_UNREAD = 20
"""Unread places that are kept and counted."""

EXCERPT = 60
"""Characters of a place that are quoted."""

LONGEST_TIME = 40
"""Characters of a time or a duration."""

RATIO = r"\d{1,9}+/[1-9]\d{0,9}+"
_RATIO = deferred(RATIO)


def actions_of(step: Step) -> frozenset[Action]:
    """The actions of a step.

    >>> actions_of(("pick", "a"))
    frozenset({('pick', 'a')})
    """
    return step if isinstance(step, frozenset) else frozenset((step,))


def names_of(steps: Iterable[Step]) -> frozenset[str]:
    """The names of the actions: those that texts are known to name where no domain says which operators there are."""
    return frozenset(action[0] for step in steps for action in actions_of(step))


def clock(text: str) -> Fraction | None:
    """A time or a duration, exactly; None for what is none, or is longer than ``LONGEST_TIME``.

    >>> clock("0.003"), clock("1/3"), clock("soon")
    (Fraction(3, 1000), Fraction(1, 3), None)
    """
    is_number = NUMBER.fullmatch(text) or _RATIO.fullmatch(text)
    return Fraction(text) if len(text) <= LONGEST_TIME and is_number else None


def started(step: Step, start: Fraction | None) -> Step:
    """The step, whose actions start at this time.

    >>> started(("go",), Fraction(2)).start
    Fraction(2, 1)
    """
    if start is None:
        return step
    if isinstance(step, frozenset):
        return frozenset(Scheduled(action, start, lasting(action)) for action in step)
    return Scheduled(step, start, lasting(step))


def lasting(action: Action, other: Fraction | None = None) -> Fraction | None:
    """How long the action takes, as far as the text says so, else the other duration."""
    return action.duration if isinstance(action, Scheduled) and action.duration is not None else other


def by_parameters(step: Step, operators: Operators) -> Step:
    """The step with its arguments in the order of the parameters, where all are named by these.

    >>> by_parameters(("stack", "?y=a", "x = b"), {"stack": ("x", "y")})
    ('stack', 'b', 'a')
    """
    if isinstance(step, frozenset):
        return frozenset(by_parameters(action, operators) for action in step)  # type: ignore[misc]
    parts = [word.partition("=") for word in step[1:]]
    if not all(value.strip() for _, _, value in parts):
        return step
    said = [f"{name.strip().lstrip('?')}={value.strip()}" for name, _, value in parts]
    ordered = in_order_of([f"?{name}" for name in operators.get(step[0], ())], said)
    if ordered is said:
        return step
    action = (step[0], *ordered)
    return Scheduled(action, step.start, step.duration, step.more) if isinstance(step, Scheduled) else action


def in_time(steps: Iterable[TimedStep]) -> Plan:
    """The steps by their times, those with equal times as one: ``0: (a)``, ``0: (b)``, as in a planner's output.

    A step without a time stays behind the one before it.

    >>> in_time([("1", ("b",)), (None, ("c",)), ("0", ("a",))])
    (('a',), ('b',), ('c',))
    """
    timed: list[tuple[float, bool, Step]] = []
    now = -1.0
    for time, step in steps:
        now = now if time is None else float(Fraction(time)) if "/" in time else float(time)
        timed.append((now, time is not None, step if time is None else started(step, clock(time))))
    groups: list[list[Step]] = []
    before = None
    for now, has_time, step in sorted(timed, key=lambda each: each[0]):
        if not has_time or now != before:
            groups.append([step])
        else:
            groups[-1].append(step)
        before = now if has_time else None
    return tuple(group[0] if len(group) == 1 else _together(group) for group in groups)


def _together(group: Sequence[Step]) -> frozenset[Action]:
    """The actions of steps at one time; one that stands there with several durations has them all."""
    found: dict[Action, Action] = {}
    for action in chain.from_iterable(map(actions_of, group)):
        first = found.setdefault(action, action)
        if isinstance(first, Scheduled) and lasting(action) not in (first.duration, *first.more):
            found[action] = Scheduled(first, first.start, first.duration, (*first.more, lasting(action)))
    return frozenset(found.values())


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
        return words.place(self.line, self.column, self.text)


FINISH = "finishaction"


def without_finish(steps: Sequence[Step]) -> Plan:
    """The plan without T-Eval's last action, whatever its arguments: it says that the plan ends, and is no step.

    >>> without_finish((("pick", "a"), ("finishaction", "done")))
    (('pick', 'a'),)
    """
    ends = bool(steps) and isinstance(steps[-1], tuple) and steps[-1][0] == FINISH
    return tuple(steps[:-1]) if ends else tuple(steps)


class Damage(NamedTuple):
    """A step of the plan that cannot be read: the number of steps before it, and its place in words."""

    steps_before: int
    place: str


class ReadPlan(NamedTuple):
    """What a text says: its plan, and what of it could not be read.

    ``reason`` is empty exactly when there was something to read and all of it was read. ``found`` is False where there
    is no text, or one without a plan; ``[]`` and ``()`` are the empty plan. ``damage`` is the first place where a step
    of the plan should be and could not be read: such a plan is not valid. ``several`` is True where there were drafts.
    ``skipped`` counts lines of prose that quote an action.
    """

    steps: Plan
    unread: tuple[Unread, ...] = ()
    reason: str = ""
    found: bool = True
    damage: Damage | None = None
    several: bool = False
    skipped: int = 0


def chosen(drafts: Sequence[ReadPlan], answer: str) -> ReadPlan:
    """The first or the last of several plans."""
    plan = drafts[-1 if answer == "last" else 0]
    return plan._replace(several=plan.several or len(drafts) > 1)
