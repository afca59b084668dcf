"""The authority on PDDL problems: the ``pddl`` package's parser, made safe to call on one block of a model answer.

It is built once a process when first needed, gets only blocks that it reads in a fraction of a second, and its many
exceptions become one ``ParseError``. What it accepts becomes a ``Problem`` if it is STRIPS. Nothing here looks for
blocks or checks that objects are declared.
"""

from __future__ import annotations

import re
import sys
import threading
from functools import cache
from typing import TYPE_CHECKING, Any

from pipeline.parsing.extract import line_of
from pipeline.parsing.unreadable import ParseError, quote
from pipeline.problem import ROOT_TYPE, Atom, Problem

if TYPE_CHECKING:
    from pddl.core import Problem as ParsedProblem
    from pddl.logic.base import Formula
    from pddl.logic.predicates import Predicate
    from pddl.parser.problem import ProblemParser

PACKAGE_CHARACTERS = 50_000
"""The longest block that the package is given: it takes 1 to 10 µs a character, a third of a second at most."""

PACKAGE_NESTING = 50
"""Parentheses that may be open at once in a block that the package is given (an ordinary problem needs five): beyond
some hundred, its time grows with the square of the nesting and its recursion ends in ``RecursionError``."""

_NESTING_TOKEN = re.compile(r"[()]|;[^\n]*+")
_ONE_PARSE_AT_A_TIME = threading.Lock()  # the package's parser and sys.tracebacklimit are shared state


def read_problem_block(block: str, first_line: int = 1) -> Problem:
    """The STRIPS problem that the package reads in a lower-case block ``(define (problem …)``.

    Atoms may name objects that are not declared. ``first_line`` is the block's line in the answer, for the messages.
    Raises ``ParseError``, ``unparseable`` or ``not_strips``.

    >>> read_problem_block("(define (problem p) (:domain d) (:init (q)) (:goal (and)))").init
    frozenset({('q',)})
    >>> read_problem_block("(define (problem p)\\n (:domain d) (:init q) (:goal (and)))")
    Traceback (most recent call last):
        ...
    pipeline.parsing.unreadable.ParseError: unparseable: line 2: `q` is out of place, `(` or `)` is due
    """
    if len(block) > PACKAGE_CHARACTERS:
        raise ParseError("unparseable", f"the block at line {first_line} is longer than {PACKAGE_CHARACTERS:,} characters")
    if _nesting(block) > PACKAGE_NESTING:
        raise ParseError("unparseable", f"parentheses are nested deeper than {PACKAGE_NESTING} levels")
    return _strips_problem(_parse(block, first_line))
