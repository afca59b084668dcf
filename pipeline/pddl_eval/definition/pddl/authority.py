"""The authority on PDDL problems: the ``pddl`` package's parser, made safe to call on one block of a model answer.

It is built once a process when first needed, gets only blocks that it reads in a fraction of a second, and its many
exceptions become one ``ParseError``. What it accepts becomes a ``Problem`` if it is STRIPS. Nothing here looks for
blocks or checks that objects are declared.
"""

from __future__ import annotations

import re
import sys
import threading
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from itertools import accumulate
from typing import TYPE_CHECKING, Any

from pddl_eval.definition import words
from pddl_eval.definition.model import ROOT_TYPE, Atom, Problem
from pddl_eval.definition.pddl.sexpr import PACKAGE_NESTING, split_words
from pddl_eval.definition.verdict import Verdict
from pddl_eval.errors import UserError
from pddl_eval.shown import quote

if TYPE_CHECKING:
    from pddl.parser.problem import ProblemParser

PACKAGE_CHARACTERS = 50_000
"""What the package reads of one answer: it takes 1 to 10 µs a character, half a second at the very most."""

TOO_LONG = "is too long: only the pddl package can read it"

_ONE_PARSE_AT_A_TIME = threading.Lock()  # the package's parser and sys.tracebacklimit are shared state
_TERMINALS = {"LPAR": "`(`", "RPAR": "`)`", "NAME": "a name", "NUMBER": "a number", "TYPE_SEP": "`-`"}
_TERMINALS |= {"DOMAIN_P": "`:domain`", "REQUIREMENTS": "`:requirements`", "OBJECTS": "`:objects`"}
_TERMINALS |= {"INIT": "`:init`", "GOAL": "`:goal`", "METRIC": "`:metric`"}
_REQUIRED_BY = {"disjunctive-preconditions": "`or` or `imply`", "equality": "`=`"}
_REQUIRED_BY |= {"universal-preconditions": "`forall`", "existential-preconditions": "`exists`"}


@dataclass(frozen=True, slots=True)
class Unreadable:
    """Why a text holds no problem, and a sentence.

    ``empty``, ``unparseable``, ``not_strips``, ``invalid_atom``, or ``undecided``: it says what is not executed.
    """

    verdict: Verdict
    detail: str


class ParseError(UserError):
    """A text holds no problem; ``verdict`` and ``detail`` are those of ``Unreadable``.

    >>> str(ParseError(Verdict.NOT_STRIPS, "the goal contains `not`"))
    'not_strips: the goal contains `not`'
    """

    def __init__(self, verdict: Verdict, detail: str) -> None:
        super().__init__(verdict, detail)
        self.verdict = verdict
        self.detail = detail

    def __str__(self) -> str:
        return f"{self.verdict}: {self.detail}"


def unparseable(detail: str) -> ParseError:
    """The error for a text that is not a PDDL problem."""
    return ParseError(Verdict.UNPARSEABLE, detail)


def not_strips(where: str, construct: str) -> ParseError:
    """The error for a construct in ``:init`` or the goal that STRIPS does not have."""
    return ParseError(Verdict.NOT_STRIPS, words.not_strips(where, construct))


def read_by_package(block: str, first_line: int = 1, characters_before: int = 0) -> Problem:
    """The STRIPS problem that the package reads in a lower-case block ``(define (problem …)``.

    Atoms may name objects that are not declared. ``first_line`` is the block's line in the answer, for the messages;
    ``characters_before`` is the length of the blocks of this answer that were read before. Raises ``ParseError`` where
    the package finds no problem, or one that is not STRIPS.

    >>> read_by_package("(define (problem p) (:domain d) (:init (q)) (:goal (and)))").init
    frozenset({('q',)})
    >>> read_by_package("(define (problem p) (:domain d)\\n (:init q) (:goal (and)))")
    Traceback (most recent call last):
        ...
    pddl_eval.definition.pddl.authority.ParseError: unparseable: line 2: expected `(` or `)`, found `q`
    >>> read_by_package("(define (problem p) (:domain d) (:initial (q)) (:goal (and)))")
    Traceback (most recent call last):
        ...
    pddl_eval.definition.pddl.authority.ParseError: unparseable: line 1: unexpected `:initial`
    """
    if characters_before + len(block) > PACKAGE_CHARACTERS:
        raise unparseable(
            f"the block at line {first_line} {TOO_LONG}, and that reads {PACKAGE_CHARACTERS:,} characters of an answer"
        )
    if max(accumulate((word == "(") - (word == ")") for word in split_words(block))) > PACKAGE_NESTING:
        raise unparseable(f"the block at line {first_line} nests parentheses deeper than {PACKAGE_NESTING} levels")
    from pddl.logic.base import Not  # as in _parser

    parsed, constants = _parse(block, first_line)
    if parsed.metric is not None:
        raise ParseError(Verdict.NOT_STRIPS, "the problem has a `(:metric …)`: STRIPS has no numeric fluents")
    return Problem(
        str(parsed.name),
        str(parsed.domain_name),
        {str(constant.name): str(constant.type_tag or ROOT_TYPE) for constant in constants},
        frozenset(_atoms([each for each in parsed.init if not isinstance(each, Not)], ":init")),
        frozenset(_atoms([parsed.goal], "the goal")),
        denied=frozenset(_atoms([each.argument for each in parsed.init if isinstance(each, Not)], ":init")),
    )


@cache
def _parser() -> ProblemParser:
    from pddl.parser.problem import ProblemParser  # 0.2 s, and most processes never need it

    return ProblemParser()


def _parse(block: str, first_line: int) -> tuple[Any, list[Any]]:
    """The package's problem and its objects in the order of the text, which the problem does not keep.

    Any exception of the package becomes a ``ParseError``, and no state is left behind.
    """
    from lark.exceptions import UnexpectedInput  # as above
    from pddl.exceptions import PDDLMissingRequirementError

    with _ONE_PARSE_AT_A_TIME:
        parser = _parser()
        transformer = parser._transformer  # noqa: SLF001 (the package keeps the objects of the last problem in it)
        transformer._objects_by_name = {}  # noqa: SLF001 (a block without :objects would inherit them)
        traceback_limit = vars(sys).get("tracebacklimit")
        try:
            return parser(block), list(transformer._objects_by_name.values())  # noqa: SLF001 (as above)
        except PDDLMissingRequirementError as error:
            requirement = str(error.requirement.value)
            raise not_strips("the goal", _REQUIRED_BY.get(requirement, quote(f":{requirement}"))) from None
        except UnexpectedInput as error:
            raise unparseable(_syntax_error(block, first_line, error)) from None
        except Exception as error:  # a duplicate, a keyword as name, a strange number: it refuses a text in many ways
            why = quote(str(error.__cause__ or error), most=120)
            raise unparseable(f"the block at line {first_line} is refused: {why}") from None
        finally:
            vars(sys).pop("tracebacklimit", None)
            if traceback_limit is not None:
                sys.tracebacklimit = traceback_limit


def _syntax_error(block: str, first_line: int, error: Any) -> str:
    """Where reading ended and what was expected. (``str(error)`` would copy the parser's stacks to find that out.)"""
    position = error.pos_in_stream or 0
    # The package reads `:initial` as `:init` and `ial`.
    start = position - len(re.split(r"[\s()]", block[:position])[-1])
    found = quote(next(iter(split_words(block[start:])), ""))
    line = first_line + block.count("\n", 0, position)
    expected = set(getattr(error, "expected", None) or getattr(error, "allowed", None) or ())
    if start == position and expected and expected <= _TERMINALS.keys():
        shown = " or ".join(what for terminal, what in _TERMINALS.items() if terminal in expected)
        return f"line {line}: expected {shown}, found {found}"
    return f"line {line}: unexpected {found}"


def _atoms(formulas: Iterable[Any], where: str) -> Iterable[Atom]:
    """The ground atoms of a conjunction of the package's formulas; raises ``ParseError`` for any other formula."""
    from pddl.logic.base import And  # as above
    from pddl.logic.predicates import Predicate
    from pddl.logic.terms import Constant

    unread = list(formulas)
    while unread:
        formula = unread.pop()
        if isinstance(formula, And):
            unread.extend(formula.operands)
        elif not isinstance(formula, Predicate):
            symbol = getattr(formula, "SYMBOL", "")
            raise not_strips(where, quote(getattr(symbol, "value", symbol)))
        elif not all(isinstance(term, Constant) for term in formula.terms):
            raise not_strips(where, "a variable")
        else:
            yield (str(formula.name), *(str(term.name) for term in formula.terms))
