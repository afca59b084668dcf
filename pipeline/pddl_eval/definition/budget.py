"""The counter of work of a row. Every limit counts something, so an answer is the same on every machine.

Long loops count their steps here, too. Who scores rows may look on now and then, and end a row that stays below each
limit and still takes too long (``scoring.budget``): what is still open then is given up, with the reason.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cached_property
from typing import Any, TypeVar, cast

from pddl_eval.definition.verdict import Undecided

WORK_PER_LOOK = 1_000
"""Work between two looks at the row, about a millisecond."""

Found = TypeVar("Found")


class OutOfBudgetError(Exception):
    """A limit was hit; the message says which. Whoever fills columns turns it into null or ``undecided``."""


class _Work:
    def __init__(self, look: Callable[[], None]) -> None:
        self.look = look
        self.done = 0
        """Since the last look."""


_WORK: ContextVar[_Work | None] = ContextVar("work", default=None)


@contextmanager
def looked_after(look: Callable[[], None]) -> Iterator[None]:
    """Call ``look`` after each ``WORK_PER_LOOK`` units of the work inside; it raises ``OutOfBudgetError`` to end it.

    Inside another one it changes nothing: a row has one.
    """
    if _WORK.get() is not None:
        yield
        return
    token = _WORK.set(_Work(look))
    try:
        yield
    finally:
        _WORK.reset(token)


def spend(work: int) -> None:
    """Count work, a unit being about a microsecond; after the work, so that what is cheap is there in any case."""
    row = _WORK.get()
    if row is not None:
        row.done += work
        if row.done >= WORK_PER_LOOK:
            row.done = 0
            row.look()


def or_undecided(compute: Callable[[], Found]) -> Found | Undecided:
    """What the function returns, ``Undecided`` where a limit is hit first."""
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
