"""What is kept between rows: references, domains and questions that were read, states that were listed.

Answers to one reference come one after the other, and a few domains serve all rows. Each kind of value has a bound in
bytes; what was not asked for longest goes first.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from threading import Lock
from typing import Any

from pddl_eval.definition.model import Domain

BYTES_KEPT = 64 * 2**20
"""Of each kind of value, about."""

BYTES_OF_CHARACTER = 40
"""What a text becomes: a benchmark's problem of 1,200 characters is a task of 50 KB."""

BYTES_OF_DOMAIN = 2**18
"""What is made of a domain: the strata of its rules, the parts of its durative actions."""

BYTES_OF_OTHERS = 2**24
"""A list of states, or what the goal costs from each of them: some megabytes."""


class Kept:
    """Calls functions, or returns what they returned for the same arguments; what they raise is not kept.

    >>> keep = Kept()
    >>> keep(str.split, "a b") is keep(str.split, "a b")
    True
    """

    def __init__(self, most: int = BYTES_KEPT) -> None:
        self.most = most
        self._found: dict[Callable[..., Any], OrderedDict[Any, tuple[Any, int]]] = {}
        self._bytes: dict[Callable[..., Any], int] = {}
        self._lock = Lock()

    def __call__(self, compute: Callable[..., Any], *arguments: Any, **options: Any) -> Any:
        asked = (arguments, *sorted(options.items()))
        with self._lock:
            found = self._found.setdefault(compute, OrderedDict())
            if asked in found:
                found.move_to_end(asked)
                return found[asked][0]
        value = compute(*arguments, **options)
        size = bytes_for(arguments)
        with self._lock:
            if asked not in found and size <= self.most:
                found[asked] = value, size
                total = self._bytes.get(compute, 0) + size
                while total > self.most:
                    total -= found.popitem(last=False)[1][1]
                self._bytes[compute] = total
        return value

    def clear(self) -> None:
        """Keep nothing of what was found."""
        with self._lock:
            self._found.clear()
            self._bytes.clear()


def bytes_for(arguments: tuple[Any, ...]) -> int:
    """How much room what is made of these arguments takes, about.

    >>> bytes_for(("(define (domain d))", None)), bytes_for((object(),)) == BYTES_OF_OTHERS
    (760, True)
    """
    if all(isinstance(each, Domain) for each in arguments):
        return BYTES_OF_DOMAIN
    texts = [each for each in arguments if isinstance(each, str)]
    return BYTES_OF_CHARACTER * sum(map(len, texts)) if texts else BYTES_OF_OTHERS


KEPT = Kept()
"""For the rows of this process."""
