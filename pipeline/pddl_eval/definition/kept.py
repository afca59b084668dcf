"""What many rows ask for and who scores them may keep: the reading of a reference or a domain, a list of states.

Here everything is computed anew. Who scores rows says what is kept, for how long and how much of it
(``scoring.kept``); no answer depends on it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, ParamSpec, TypeVar

Parameters = ParamSpec("Parameters")
Found = TypeVar("Found")

Keep = Callable[..., Any]
"""Calls a function with arguments that can be hashed, or returns what it returned for them before."""

_KEEP: ContextVar[Keep | None] = ContextVar("keep", default=None)


@contextmanager
def keeping(keep: Keep) -> Iterator[None]:
    """Let ``keep`` call what is given to ``kept`` inside."""
    token = _KEEP.set(keep)
    try:
        yield
    finally:
        _KEEP.reset(token)


def kept(compute: Callable[Parameters, Found], *arguments: Parameters.args, **options: Parameters.kwargs) -> Found:
    """What the function returns.

    >>> kept(max, 3, 4)
    4
    """
    keep = _KEEP.get()
    return compute(*arguments, **options) if keep is None else keep(compute, *arguments, **options)
