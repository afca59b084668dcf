"""S-expressions: words and nested lists of PDDL text, and the closed ``(define (problem …) …)`` blocks of a raw answer.

Prose, Markdown fences, a domain before the problem and drafts that were cut off are passed over. Nothing here knows
what a problem or a domain is made of. All work is linear in the length of the text.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator
from typing import NamedTuple

WINDOW = 1_000_000
"""Characters, counted from the first ``(define (problem`` on, in which blocks are looked for."""

Expression = str | list["Expression"]
"""A word, or the list of the expressions between two parentheses."""

DEFINE_PROBLEM = re.compile(r"\(\s*+define\s*+\(\s*+problem")  # the pddl package's lexer demands no more than this
DEFINE_DOMAIN = re.compile(r"\(\s*+define\s*+\(\s*+domain(?=[\s)])")
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
    if ";" in text:
        text = _COMMENT.sub("", text)
    return text.replace("(", " ( ").replace(")", " ) ").split()


def read_expression(text: str, deepest: int) -> list[Expression]:
    """The nested lists of the expression that opens at the start of the text; what follows it is ignored.

    Raises ``Unbalanced`` where it is never closed or has more than ``deepest`` parentheses open at once.

    >>> read_expression("(and (p a) (q)) and so on", deepest=2)
    ['and', ['p', 'a'], ['q']]
    """
    open_lists: list[list[Expression]] = []
    for word in split_words(text):
        if word == "(":
            if len(open_lists) == deepest:
                raise Unbalanced(f"nests deeper than {deepest} parentheses")
            open_lists.append([])
        elif word == ")":
            closed = open_lists.pop()
            if not open_lists:
                return closed
            open_lists[-1].append(closed)
        else:
            open_lists[-1].append(word)
    raise Unbalanced("has a parenthesis that is never closed")


class Block(NamedTuple):
    """The text of a block and the line of the answer, counted from 1, on which it opens."""

    text: str
    line: int


def problem_blocks(answer: str) -> Iterator[Block]:
    """Yield each closed block ``(define (problem …)`` of a lower-case answer, in the order in which they open.

    A block ends at the parenthesis that matches its first one; what a ``;`` comments out, seen from the block's own
    start, does not count. A start that is never closed is not a block, but starts after it or inside it may be. Blocks
    inside blocks are yielded until their total length exceeds twice the window.

    >>> answer = "draft: (define (problem p) (:init ... sorry! (define (problem q) ; a comment :)\\n (:domain d))"
    >>> list(problem_blocks(answer))
    [Block(text='(define (problem q) ; a comment :)\\n (:domain d))', line=1)]
    """
    opening = DEFINE_PROBLEM.search(answer)
    if opening is None:
        return
    counted = opening.start()
    limit = counted + WINDOW
    starts = [match.start() for match in DEFINE_PROBLEM.finditer(answer, counted, limit)]
    ends: dict[int, int] | None = None  # of all starts, followed when the first one is not shallow
    line = answer.count("\n", 0, counted) + 1
    allowance = 2 * WINDOW
    for start in starts:
        shallow = _SHALLOW.match(answer, start, limit)
        if not shallow and ends is None:
            ends = _follow(answer, starts, limit)[0]
        end = shallow.end() if shallow else (ends or {}).get(start)
        if end is None:
            continue
        allowance -= end - start
        if allowance < 0:
            return
        line += answer.count("\n", counted, start)
        counted = start
        yield Block(answer[start:end], line)


def why_no_block(answer: str) -> str:
    """Why ``problem_blocks`` found none in this lower-case answer, as a sentence.

    >>> why_no_block("(define (problem p)\\n (:domain")
    'the block at line 1 is never closed: the answer seems cut off'
    """
    opening = DEFINE_PROBLEM.search(answer)
    if opening is None:
        return "no `(define (problem …` found"
    line = answer.count("\n", 0, opening.start()) + 1
    if len(answer) - opening.start() > WINDOW:
        return f"neither the block at line {line} nor another one is closed within {WINDOW:,} characters"
    return f"the block at line {line} is never closed: the answer seems cut off"


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
