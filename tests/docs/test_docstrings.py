"""Whoever lands on a file or a name by search is told what it is for."""

from __future__ import annotations

import ast
import inspect

import pddl_eval
import pytest

from tests.docs.markdown import ROOT

FILES = sorted(
    path.relative_to(ROOT).as_posix() for room in ("pipeline", "jobs") for path in (ROOT / room).rglob("*.py")
)


@pytest.mark.parametrize("name", pddl_eval.__all__)
def test_a_public_name_has_a_docstring_with_an_example(name: str) -> None:
    docstring = inspect.getdoc(getattr(pddl_eval, name))
    assert docstring
    assert docstring.split("\n\n")[0].rstrip()[-1] in ".?:;"
    assert ">>> " in docstring


def test_public_names_are_in_order_and_where_they_are_said_to_be() -> None:
    assert sorted(pddl_eval.__all__) == pddl_eval.__all__
    assert set(pddl_eval._HOME) == set(pddl_eval.__all__)


@pytest.mark.parametrize("file", FILES)
def test_a_file_opens_with_a_paragraph(file: str) -> None:
    text = (ROOT / file).read_text(encoding="utf-8")
    if text:
        opening = (ast.get_docstring(ast.parse(text)) or "").split("\n\n")[0]
        assert len(opening.split()) >= 5
        assert opening[-1] in ".:?"
