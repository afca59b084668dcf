"""The budget of processor time of a row: what is still open when it ends is given up, with the reason.

Limits that count something (states, operators, characters) come first, because they are the same on every machine.
This budget is the last resort, for rows that stay below each of them and still take too long. Long loops call
``check`` now and then. The clock is the thread's own, so rows that are scored in several threads have a budget each,
and what else the machine does costs a row nothing. No signal is sent and nothing outside the thread is changed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cached_property
from math import inf
from time import thread_time
from typing import Any, TypeVar, cast

from pddl_eval.definition.verdict import Undecided

WORK_PER_CHECK = 1_000
"""Work between two looks at the budget, about a millisecond."""

Found = TypeVar("Found")


class OutOfBudgetError(Exception):
    """A limit was hit; the message says which. Whoever fills columns turns it into null or ``undecided``."""


@dataclass(slots=True)
class _Budget:
    seconds: float
    end: float
    """On the thread's clock."""
    work: int = 0
    """Work since the last look at the clock."""


_BUDGET: ContextVar[_Budget | None] = ContextVar("row_budget", default=None)


@contextmanager
def row_budget(seconds: float) -> Iterator[None]:
    """Give what runs inside that many seconds of this thread's processor time.

    Inside another budget it changes nothing: a row has one.

    >>> with row_budget(0):
    ...     or_undecided(check)
    Undecided(reason='the row has used up its budget of 0 seconds')
    """
    if _BUDGET.get() is not None:
        yield
        return
    token = _BUDGET.set(_Budget(seconds, thread_time() + seconds))
    try:
        yield
    finally:
        _BUDGET.reset(token)


@contextmanager
def half_the_budget() -> Iterator[None]:
    """Leave at least half of what is left of the row's budget for what comes after.

    >>> with row_budget(60):
    ...     with half_the_budget():
    ...         inside = seconds_left()
    ...     inside <= 30 < seconds_left()
    True
    """
    budget = _BUDGET.get()
    if budget is None:
        yield
        return
    kept = seconds_left() / 2
    budget.end -= kept
    try:
        yield
    finally:
        budget.end += kept


def check() -> None:
    """Raise ``OutOfBudgetError`` where the row's budget is spent; outside a budget nothing ever is.

    It takes half a microsecond: call it after every ten microseconds of work or more, and after the work, so that what
    is cheap never calls it and is there also in a row that has no time left.
    """
    budget = _BUDGET.get()
    if budget is not None and thread_time() >= budget.end:
        raise OutOfBudgetError(f"the row has used up its budget of {budget.seconds:g} seconds")


def spend(work: int) -> None:
    """Count work, a unit being about a microsecond, and look at the row's budget after each ``WORK_PER_CHECK``.

    For loops whose steps are too short for a ``check`` each, and whose length is limited by what is counted.
    """
    budget = _BUDGET.get()
    if budget is not None:
        budget.work += work
        if budget.work >= WORK_PER_CHECK:
            budget.work = 0
            check()


def checked(items: Iterable[Found]) -> Iterator[Found]:
    """The items, each of which is counted as work: five hundred are a look at the budget."""
    for item in items:
        yield item
        spend(2)


def seconds_left() -> float:
    """What is left of the row's budget, 0 or more; infinite outside a budget."""
    budget = _BUDGET.get()
    return inf if budget is None else max(0.0, budget.end - thread_time())


def spend_seconds(seconds: float) -> None:
    """Count time that another process took on the row's behalf."""
    budget = _BUDGET.get()
    if budget is not None:
        budget.end -= seconds


def or_undecided(compute: Callable[[], Found]) -> Found | Undecided:
    """What the function returns, ``Undecided`` where the budget ends first."""
    try:
        return compute()
    except OutOfBudgetError as end:
        return Undecided(str(end))


class cached_or_undecided(cached_property[Found]):
    """A cached property that is ``Undecided`` (among its types), and not kept, where a limit is hit first."""

    def __get__(self, instance: Any, owner: type[Any] | None = None) -> Found:  # type: ignore[override]
        try:
            found: Any = super().__get__(instance, owner)
        except OutOfBudgetError as end:
            found = Undecided(str(end))
        return cast(Found, found)
