"""The judge of the reader of problems: the ``pddl`` package alone."""

from __future__ import annotations

from collections.abc import Iterable
from unittest import mock

from pddl_eval.definition.model import Problem
from pddl_eval.definition.pddl import Unreadable, problems


def read_problem_by_package(text: str | None, constants: Iterable[str] = ()) -> Problem | Unreadable:
    """As ``read_problem``, as if no block were plain."""
    with mock.patch.object(problems, "read_plain_problem", side_effect=problems.NotPlain):
        return problems.read_problem(text, constants)
