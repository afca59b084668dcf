"""How many random cases a test tries: some in the default run, all of them in ``pytest -m slow``."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st


def in_two_sizes(some: int, full: int) -> pytest.MarkDecorator:
    """Run the test with ``cases=some``, and with ``cases=full`` where slow tests are run."""
    return pytest.mark.parametrize("cases", [some, pytest.param(full, marks=pytest.mark.slow)])


def with_seeds(cases: int, check: Callable[[int], None]) -> None:
    """Call ``check`` with so many seeds that hypothesis chooses; a seed that fails is printed and tried again first."""
    settings(max_examples=cases, deadline=None)(given(st.integers(0, 2**32 - 1))(check))()
