"""How a notebook shows verdicts, explanations and reports: the one place where values get their HTML.

Every text is escaped and cut; there are no scripts. The rooms of explanations and reports are imported when one of
their values is shown: it exists, so they are loaded already.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from typing import Any

from pddl_eval.metrics import ProblemVerdict
from pddl_eval.model import show_atom
from pddl_eval.pages import render

MOST_CHARACTERS = 300
"""Characters of a line of a verdict."""

MOST_ITEMS = 8
"""Pairs of the object map and actions of the plan that are shown."""


def register() -> None:
    """Have a running IPython show verdicts, explanations and reports as HTML; does nothing without one."""
    shell = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
    if shell is not None:
        formatter = shell.display_formatter.formatters["text/html"]
        for (module, name), show in SHOWN.items():
            formatter.for_type_by_name(module, name, show)


def html(value: object) -> str:
    """A value as a fragment of HTML. Raises ``TypeError`` for a value of another type.

    >>> from pddl_eval import compare_problems
    >>> html(compare_problems("(define", "<b>")).count("<b>")
    0
    """
    show = SHOWN.get((type(value).__module__, type(value).__name__))
    if show is None:
        raise TypeError(f"{type(value).__name__} has no HTML; verdicts, explanations and reports have")
    return show(value)


def _verdict(verdict: ProblemVerdict) -> str:
    return render("verdict.html", rows=_rows(verdict), most=MOST_CHARACTERS)
