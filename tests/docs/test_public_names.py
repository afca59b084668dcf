"""Each public name exists and shows how it is used; doctests run with the tests."""

from __future__ import annotations

import inspect

import pddl_eval
import pytest


@pytest.mark.parametrize("name", pddl_eval.__all__)
def test_a_public_name_has_an_example(name: str) -> None:
    assert ">>> " in (inspect.getdoc(getattr(pddl_eval, name)) or "")


def test_public_names_are_completed_before_they_are_imported() -> None:
    assert set(pddl_eval.__all__) <= set(dir(pddl_eval))


def test_settings_are_shown_as_keywords() -> None:
    shown = inspect.signature(pddl_eval.score_dataset).parameters
    assert (shown["engine"].default, shown["beta"].default, shown["references"].default) == ("auto", 0.75, None)
    assert "engine" not in inspect.signature(pddl_eval.score_frame).parameters
