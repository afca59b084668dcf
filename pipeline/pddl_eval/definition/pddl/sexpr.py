"""S-expressions: words and nested tuples of PDDL, and the closed ``(define (problem …) …)`` blocks of a raw answer.

Prose, Markdown fences, a domain before the problem and drafts that were cut off are passed over. Nothing here knows
what a problem or a domain is made of. All work is linear in the length of the text.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from pddl_eval.definition import words
from pddl_eval.definition.model import Formula
from pddl_eval.shown import quote

WINDOW = 1_000_000
"""Characters, counted from the first ``(define (problem`` on, in which blocks are looked for."""

PACKAGE_NESTING = 50
"""The most parentheses open at once in a block that is read (an ordinary problem needs five, a STRIPS operator six):
the package's time grows with nesting times length, and at some depth it recurses."""

_GAP = r"(?:\s++|;(?:[^\n(]++|\((?!\s*+define))*+\n)*+"  # with comments that begin no block: a search stays linear
DEFINE_PROBLEM = re.compile(rf"\(\s*+define{_GAP}\({_GAP}problem")  # the pddl package's lexer demands no more than this
DEFINE_DOMAIN = re.compile(r"\(\s*+define\s*+\(\s*+domain(?=[\s)])")
ACTION = re.compile(r"\(\s*+:action(?=[\s)])\s*+([^\s()]*+)")
_COMMENT = re.compile(r";[^\n]*+")
_MARK = re.compile(r"[()]|;[^\n]*+")


def _nested(depth: int) -> str:
    plain = r"[^();]*+"
    return rf"{plain}(?:\({_nested(depth - 1)}\){plain})*+" if depth else plain


_SHALLOW = re.compile(rf"\({_nested(5)}\)")  # an ordinary block: no comment, few levels


class Unbalanced(ValueError):
    """An expression is not closed or nests too deeply; the message continues a sentence about it."""


def split_words(text: str) -> list[str]:
    """The words and the parentheses of a text, without its comments.

    >>> split_words("(on b1 ;below\\n b2)")
    ['(', 'on', 'b1', 'b2', ')']
    """
    return without_comments(text).replace("(", " ( ").replace(")", " ) ").split()


def without_comments(text: str) -> str:
    """The text with each ``;`` and what follows it on its line removed."""
    return _COMMENT.sub("", text) if ";" in text else text


def read_expression(text: str, deepest: int = PACKAGE_NESTING) -> tuple[Formula, ...]:
    """The expression that opens at the start of the text; what follows it is ignored.

    Raises ``Unbalanced`` where it is never closed or has more than ``deepest`` parentheses open at once.

    >>> read_expression("(and (p a) (q)) and so on", deepest=2)
    ('and', ('p', 'a'), ('q',))
    """
    outer: list[list[Formula]] = []
    current: list[Formula] = []
    for opened in without_comments(text).split("(")[1:]:  # one round a list, not one a word
        if len(outer) == deepest:
            raise Unbalanced(f"nests deeper than {deepest} parentheses")
        here, closing, more = opened.partition(")")
        if closing and outer and (not more or more.isspace()):  # an atom, as most lists are
            current.append((*here.split(),))
            continue
        outer.append(current)
        current = [*here.split()]
        while closing:
            closed = tuple(current)
            current = outer.pop()
            if not outer:
                return closed
            current.append(closed)
            here, closing, more = more.partition(")")
            current += here.split()
    raise Unbalanced(words.NEVER_CLOSED)


def excerpt(expression: Formula) -> str:
    """A short quotation of an expression.

    >>> excerpt(("and", ("p", "a"), "q"))
    '`(and (…) q)`'
    """
    if isinstance(expression, str):
        return quote(expression)
    return quote(f"({' '.join(part if isinstance(part, str) else '(…)' for part in expression[:20])})")


def typed_groups(items: Iterable[Formula], glued: bool = False) -> Iterator[tuple[list[Formula], Formula | None]]:
    """Read ``a b - t c``: names with the type after them, ``""`` where a ``-`` ends the list, None where none is given.

    With ``glued``, ``-t`` is ``- t``.

    >>> list(typed_groups(("a", "b", "-", ("either", "t", "u"), "c")))
    [(['a', 'b'], ('either', 't', 'u')), (['c'], None)]
    """
    names: list[Formula] = []
    rest = iter(items)
    for item in rest:
        if item == "-" or (glued and isinstance(item, str) and item.startswith("-")):
            yield names, item[1:] or next(rest, "")
            names = []
        else:
            names.append(item)
    if names:
        yield names, None


class Block(NamedTuple):
    """The text of a block and the line of the answer, counted from 1, on which it opens."""

    text: str
    line: int


def problem_blocks(answer: str, opening: re.Pattern[str] = DEFINE_PROBLEM) -> Iterator[Block]:
    """Yield each closed block ``(define (problem …)`` of a lower-case answer, in the order in which they open.

    ``opening`` is how the blocks begin, where they are no problems.

    A block ends at the parenthesis that matches its first one; what a ``;`` comments out, seen from the block's own
    start, does not count. A start that is never closed is not a block, but starts after it or inside it may be. Blocks
    inside blocks are yielded until their total length exceeds twice the window.

    >>> answer = "draft: (define (problem p) (:init ... sorry! (define (problem q) ; a comment :)\\n (:domain d))"
    >>> list(problem_blocks(answer))
    [Block(text='(define (problem q) ; a comment :)\\n (:domain d))', line=1)]
    """
    first = opening.search(answer)
    if first is None:
        return
    counted = first.start()
    limit = counted + WINDOW
    ends: dict[int, int] | None = None  # of all starts from the first one on that is not shallow
    line = answer.count("\n", 0, counted) + 1
    allowance = 2 * WINDOW
    for start in _starts(answer, opening, counted, limit):
        shallow = _SHALLOW.match(answer, start, limit)
        if not shallow and ends is None:
            ends = _follow(answer, [*_starts(answer, opening, start, limit)], limit)[0]
        end = shallow.end() if shallow else (ends or {}).get(start)
        if end is None:
            continue
        allowance -= end - start
        if allowance < 0:
            return
        line += answer.count("\n", counted, start)
        counted = start
        yield Block(answer[start:end], line)


def _starts(answer: str, opening: re.Pattern[str], first: int, limit: int) -> Iterator[int]:
    return (match.start() for match in opening.finditer(answer, first, limit))


def why_no_block(answer: str) -> str:
    """Why ``problem_blocks`` found none in this lower-case answer, as a sentence.

    >>> why_no_block("(define (problem p)\\n (:domain")
    'the block at line 1 is never closed: a parenthesis is missing, or the answer is cut off'
    """
    opening = DEFINE_PROBLEM.search(answer)
    if opening is None:
        return words.no_block()
    line = answer.count("\n", 0, opening.start()) + 1
    if len(answer) - opening.start() > WINDOW:
        return f"neither the block at line {line} nor another one is closed within {WINDOW:,} characters"
    return words.never_closed(line)


def _follow(text: str, starts: list[int], limit: int) -> tuple[dict[int, int], dict[int, list[int]], int]:
    """Follow the parentheses from the first start (of several, in order) to the limit, and skip ``;`` comments.

    Returns where each closed start ends; the starts still open, by the depth at which they would close; and the depth
    at the limit. Depth is counted from the first start.

    One pass serves all starts. Only a start inside a comment sees its line differently: it is followed to the end of
    its piece of the comment, which holds no further ``;``, and from there on with the others.
    """
    ends: dict[int, int] = {}
    waiting: dict[int, list[int]] = {}
    depth = 0
    upcoming = deque(starts)
    for mark in _MARK.finditer(text, starts[0], limit):
        position, end = mark.span()
        if text[position] == "(":
            if upcoming and upcoming[0] == position:
                waiting.setdefault(depth, []).append(upcoming.popleft())
            depth += 1
        elif text[position] == ")":
            depth -= 1
            if depth in waiting:
                ends.update(dict.fromkeys(waiting.pop(depth), end))
        else:
            while upcoming and upcoming[0] < end:
                next_comment = text.find(";", upcoming[0], end)
                piece_end = end if next_comment < 0 else next_comment
                commented = []
                while upcoming and upcoming[0] < piece_end:
                    commented.append(upcoming.popleft())
                ends_in_piece, open_after_piece, depth_after_piece = _follow(text, commented, piece_end)
                ends |= ends_in_piece
                for level, inner in open_after_piece.items():
                    waiting.setdefault(depth - depth_after_piece + level, []).extend(inner)
    return ends, waiting, depth
