"""Docstrings as Markdown: examples become blocks of code, and settings become the keywords that ``help`` shows."""

from __future__ import annotations

import inspect
import re
from importlib import import_module
from typing import Any

from griffe import Extension, Function, Object, Parameter, ParameterKind, Parameters

EXAMPLE = re.compile(r"^( *)>>> .*(?:\n.*\S.*)*", re.MULTILINE)
"""A doctest: from its prompt to the next blank line."""


class Docstrings(Extension):
    """What mkdocstrings loads with the library."""

    def on_object(self, *, obj: Object, **_: Any) -> None:
        """Put each example of a docstring into a block of its own; leave out special methods that say nothing."""
        if obj.docstring:
            obj.docstring.value = fenced(obj.docstring.value)
        elif obj.is_function and obj.is_special:
            obj.public = False

    def on_function(self, *, func: Function, **_: Any) -> None:
        """Give a function that ``takes`` options the keywords that it has when it is imported."""
        if any(str(decorator.value).startswith("takes(") for decorator in func.decorators):
            called = getattr(import_module(func.module.path), func.name)
            func.parameters = Parameters(*map(_parameter, inspect.signature(called).parameters.values()))


def fenced(docstring: str) -> str:
    """The docstring with a fence around each of its examples.

    >>> fenced("Text.\\n\\n>>> 1\\n1")
    'Text.\\n\\n```pycon\\n>>> 1\\n1\\n```'
    """
    return EXAMPLE.sub(lambda found: f"{found[1]}```pycon\n{found[0]}\n{found[1]}```", docstring)


def _parameter(shown: inspect.Parameter) -> Parameter:
    empty = inspect.Parameter.empty
    return Parameter(
        shown.name,
        kind=ParameterKind(shown.kind.description),
        default=None if shown.default is empty else repr(shown.default),
        annotation=None if shown.annotation is empty else str(shown.annotation),
    )
