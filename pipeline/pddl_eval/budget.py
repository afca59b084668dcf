"""The budget of processor time of a row: what is still open when it ends is given up, with the reason.

Limits that count something (states, operators, characters) come first, because they are the same on every machine.
This budget is the last resort, for rows that stay below each of them and still take too long. Long loops call
``check`` now and then. The clock is the thread's own, so rows that are scored in several threads have a budget each,
and what else the machine does costs a row nothing. No signal is sent and nothing outside the thread is changed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cached_property
from math import inf
from time import monotonic, thread_time
from typing import Any, TypeVar, cast

from pddl_eval.verdict import Undecided

RESOLUTION = 0.01
"""Seconds by which a budget may be exceeded."""

Found = TypeVar("Found")


class OutOfBudgetError(Exception):
    """A limit was hit; the message says which. Whoever fills columns turns it into null or ``undecided``."""


@dataclass(slots=True)
class _Budget:
    seconds: float
    end: float
    """On the thread's clock."""
    look_at: float = 0.0
    """When to look at the thread's clock again, on a clock that costs nothing to read: the thread's is never faster."""


_BUDGET: ContextVar[_Budget | None] = ContextVar("row_budget", default=None)


@contextmanager
def row_budget(seconds: float) -> Iterator[None]:
    """Give what runs inside so many seconds of this thread's processor time.

    Inside another budget it changes nothing: a row has one.

    >>> with row_budget(0):
    ...     attempt(check)
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


def check() -> None:
    """Raise ``OutOfBudgetError`` where the row's budget is spent; outside a budget nothing ever is.

    It takes a tenth of a microsecond: call it after every ten microseconds of work or more, and after the work, so
    that what is cheap never calls it and is there also in a row that has no time left.
    """
    budget = _BUDGET.get()
    if budget is None or (now := monotonic()) < budget.look_at:
        return
    left = budget.end - thread_time()
    if left <= 0:
        raise OutOfBudgetError(f"the row has used up its budget of {budget.seconds:g} seconds")
    budget.look_at = now + max(left, RESOLUTION)


def seconds_left() -> float:
    """What is left of the row's budget, 0 or more; infinite outside a budget."""
    budget = _BUDGET.get()
    return inf if budget is None else max(0.0, budget.end - thread_time())


def spend(seconds: float) -> None:
    """Count time that another process took on the row's behalf."""
    budget = _BUDGET.get()
    if budget is not None:
        budget.end -= seconds
        budget.look_at = 0.0


def attempt(compute: Callable[[], Found]) -> Found | Undecided:
    """What the function returns, ``Undecided`` where the budget ends first."""
    try:
        return compute()
    except OutOfBudgetError as end:
        return Undecided(str(end))


class attempted(cached_property[Found]):
    """A cached property that is ``Undecided`` (among its types), and not kept, where a limit is hit first."""

    def __get__(self, instance: Any, owner: type[Any] | None = None) -> Found:  # type: ignore[override]
        try:
            found: Any = super().__get__(instance, owner)
        except OutOfBudgetError as end:
            found = Undecided(str(end))
        return cast(Found, found)
