"""The authority on PDDL problems: the ``pddl`` package's parser, made safe to call on one block of a model answer.

It is built once a process when first needed, is given only blocks that it reads in a fraction of a second, and its
many exceptions become one ``ParseError``. What it accepts becomes a ``Problem`` if it is STRIPS. Nothing here looks
for blocks or checks that objects are declared.
"""

from __future__ import annotations

import re
import sys
import threading
from collections.abc import Iterable
from functools import cache
from typing import TYPE_CHECKING, Any

from pddl_eval.model import ROOT_TYPE, Atom, Problem
from pddl_eval.parsing.unreadable import ParseError
from pddl_eval.shown import quote

if TYPE_CHECKING:
    from pddl.parser.problem import ProblemParser

PACKAGE_CHARACTERS = 50_000
"""What the package is given of one answer: it takes 1 to 10 µs a character, half a second at the very most."""

PACKAGE_NESTING = 50
"""The most parentheses open at once in a block that the package is given (an ordinary problem needs five): its time
grows with nesting times length, and far enough down it recurses."""

_TOKEN = re.compile(r"[()]|;[^\n]*+")
_WORD = re.compile(r"[()]|[^\s()]++")
_ONE_PARSE_AT_A_TIME = threading.Lock()  # the package's parser and sys.tracebacklimit are shared state
_WHAT_IS_DUE = {
    "LPAR": "`(`",
    "RPAR": "`)`",
    "NAME": "a name",
    "NUMBER": "a number",
    "TYPE_SEP": "`-`",
    "DOMAIN_P": "`:domain`",
    "REQUIREMENTS": "`:requirements`",
    "OBJECTS": "`:objects`",
    "INIT": "`:init`",
    "GOAL": "`:goal`",
    "METRIC": "`:metric`",
}
_WHAT_REQUIRES = {
    "disjunctive-preconditions": "`or` or `imply`",
    "universal-preconditions": "`forall`",
    "existential-preconditions": "`exists`",
    "equality": "`=`",
}


def read_problem_block(block: str, first_line: int = 1, allowance: int = PACKAGE_CHARACTERS) -> Problem:
    """The STRIPS problem that the package reads in a lower-case block ``(define (problem …)``.

    Atoms may name objects that are not declared. ``first_line`` is the block's line in the answer, for the messages;
    ``allowance`` is what is left of the characters that the package may read for one answer. Raises ``ParseError``
    where the package finds no problem, or one that is not STRIPS.

    >>> read_problem_block("(define (problem p) (:domain d) (:init (q)) (:goal (and)))").init
    frozenset({('q',)})
    >>> read_problem_block("(define (problem p) (:domain d)\\n (:init q) (:goal (and)))")
    Traceback (most recent call last):
        ...
    pddl_eval.parsing.unreadable.ParseError: unparseable: line 2: `q` stands where `(` or `)` is due
    """
    if len(block) > allowance:
        raise ParseError(
            "unparseable",
            f"the block at line {first_line} is too long: only the pddl package can judge what stands in it, "
            f"and that reads {PACKAGE_CHARACTERS:,} characters of an answer",
        )
    if _nesting(block) > PACKAGE_NESTING:
        raise ParseError(
            "unparseable", f"the block at line {first_line} nests parentheses deeper than {PACKAGE_NESTING} levels"
        )
    parsed, constants = _parse(block, first_line)
    if parsed.metric is not None:
        raise ParseError("not_strips", "the problem has a `(:metric …)`: STRIPS has no numeric fluents")
    return Problem(
        str(parsed.name),
        str(parsed.domain_name),
        {str(constant.name): str(constant.type_tag or ROOT_TYPE) for constant in constants},
        frozenset(_atoms(parsed.init, ":init")),
        frozenset(_atoms([parsed.goal], "the goal")),
    )


def _nesting(block: str) -> int:
    """The largest number of parentheses open at once."""
    depth = deepest = 0
    for token in _TOKEN.finditer(block):
        if token[0] == "(":
            depth += 1
            deepest = max(deepest, depth)
        elif token[0] == ")":
            depth -= 1
    return deepest


@cache
def _parser() -> ProblemParser:
    from pddl.parser.problem import ProblemParser

    return ProblemParser()


def _parse(block: str, first_line: int) -> tuple[Any, list[Any]]:
    """The package's problem and, in the order of the text (the problem keeps but a set), its objects.

    Whatever the package raises becomes a ``ParseError``, and no state is left behind.
    """
    from lark.exceptions import UnexpectedInput
    from pddl.exceptions import PDDLMissingRequirementError

    with _ONE_PARSE_AT_A_TIME:
        parser = _parser()
        parser._transformer._objects_by_name = {}  # else a block without :objects inherits those of the last one
        traceback_limit = getattr(sys, "tracebacklimit", None)
        try:
            return parser(block), list(parser._transformer._objects_by_name.values())
        except PDDLMissingRequirementError as error:
            construct = _WHAT_REQUIRES.get(error.requirement.value, f"what `{error.requirement}` stands for")
            raise _not_strips("the goal", construct) from None
        except UnexpectedInput as error:
            raise ParseError("unparseable", _syntax_error(block, first_line, error)) from None
        except (
            Exception
        ) as error:  # a duplicate, a keyword as name, a strange number: it has many ways to refuse a text
            why = quote(str(error.__cause__ or error), most=120)
            raise ParseError("unparseable", f"the block at line {first_line} is refused: {why}") from None
        finally:
            if traceback_limit is not None:
                sys.tracebacklimit = traceback_limit
            elif hasattr(sys, "tracebacklimit"):
                del sys.tracebacklimit


def _syntax_error(block: str, first_line: int, error: Any) -> str:
    """Where reading ended and what is due there. (``str(error)`` would copy the parser's stacks to find that out.)"""
    position = error.pos_in_stream or 0
    word = _WORD.match(block, position)
    found = quote(word[0] if word else "")
    line = first_line + block.count("\n", 0, position)
    expected = set(getattr(error, "expected", None) or getattr(error, "allowed", None) or ())
    if expected and expected <= _WHAT_IS_DUE.keys():
        due = " or ".join(what for terminal, what in _WHAT_IS_DUE.items() if terminal in expected)
        return f"line {line}: {found} stands where {due} is due"
    return f"line {line}: {found} is out of place"


def _atoms(formulas: Iterable[Any], where: str) -> Iterable[Atom]:
    """The ground atoms whose conjunction the package's formulas are; raises ``ParseError`` where they are more."""
    from pddl.logic.base import And
    from pddl.logic.predicates import Predicate
    from pddl.logic.terms import Constant

    unread = list(formulas)
    while unread:
        formula = unread.pop()
        if isinstance(formula, And):
            unread.extend(formula.operands)
        elif not isinstance(formula, Predicate):
            symbol = getattr(formula, "SYMBOL", "")
            raise _not_strips(where, quote(getattr(symbol, "value", symbol)))
        elif not all(isinstance(term, Constant) for term in formula.terms):
            raise _not_strips(where, "a variable")
        else:
            yield (str(formula.name), *(str(term.name) for term in formula.terms))


def _not_strips(where: str, construct: str) -> ParseError:
    return ParseError(
        "not_strips", f"{where} contains {construct}: only a conjunction of positive ground atoms is STRIPS"
    )
