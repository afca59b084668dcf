"""Docstrings as Markdown: examples become blocks of code."""

from __future__ import annotations

import re
from typing import Any

from griffe import Extension, Object

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


def fenced(docstring: str) -> str:
    """The docstring with a fence around each of its examples.

    >>> fenced("Text.\\n\\n>>> 1\\n1")
    'Text.\\n\\n```pycon\\n>>> 1\\n1\\n```'
    """
    return EXAMPLE.sub(lambda found: f"{found[1]}```pycon\n{found[0]}\n{found[1]}```", docstring)
