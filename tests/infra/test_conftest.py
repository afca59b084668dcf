"""The groups of ``tests/conftest.py`` hold: nothing else fails where pytest and pytest-xdist lose them."""

from __future__ import annotations

import pytest


def test_a_worker_gets_its_tests_by_groups(request: pytest.FixtureRequest) -> None:
    """pytest-xdist writes the group behind the name of each test that it distributes."""
    if not hasattr(request.config, "workerinput"):
        pytest.skip("no worker of pytest-xdist")
    assert request.node.nodeid.endswith("@tests/infra/test_conftest.py")
