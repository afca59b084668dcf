"""How many random cases a test tries: some in the default run, all of them in ``pytest -m slow``."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st


def in_two_sizes(some: int, full: int) -> pytest.MarkDecorator:
    """Run the test with ``cases=some``, and with ``cases=full`` where slow tests are run."""
    return pytest.mark.parametrize("cases", [some, pytest.param(full, marks=pytest.mark.slow)])


def scaled(some: int) -> int:
    """A third of that many examples by default, ten times that many with ``--hypothesis-profile=all``."""
    return some * 10 if settings().max_examples > 30 else some // 3


def with_seeds(cases: int, check: Callable[[int], None]) -> None:
    """Call ``check`` with so many seeds that hypothesis chooses; a seed that fails is printed and tried again first."""
    settings(max_examples=cases, deadline=None)(given(st.integers(0, 2**32 - 1))(check))()


def seeded(some: int, full: int) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Run the test with ``seed`` for some seeds, and for all where slow tests are run."""

    def wrap(test: Callable[..., None]) -> Callable[..., None]:
        def run(cases: int, **arguments: Any) -> None:
            with_seeds(cases, lambda seed: test(seed=seed, **arguments))

        own = [each for each in inspect.signature(test).parameters.values() if each.name != "seed"]
        cases = inspect.Parameter("cases", inspect.Parameter.POSITIONAL_OR_KEYWORD)
        run.__signature__ = inspect.Signature([*own, cases])  # type: ignore[attr-defined]
        for name in ("__name__", "__doc__", "__module__", "pytestmark"):
            if hasattr(test, name):
                setattr(run, name, getattr(test, name))
        return in_two_sizes(some, full)(run)

    return wrap
