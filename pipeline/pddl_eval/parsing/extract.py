"""Finds the problems in a raw model answer: where each ``(define (problem`` opens and where its parenthesis closes.

Prose, Markdown fences, a domain before it and drafts cut off are passed over. Nothing here knows what a problem is
made of: that the block reads as PDDL is for ``problems`` to say. The work is linear in the length of the answer.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

WINDOW = 1_000_000
"""Characters, counted from the first ``(define (problem`` on, in which blocks are looked for."""

_START = re.compile(r"\(\s*+define\s*+\(\s*+problem")  # the pddl package's lexer demands no more than this
_TOKEN = re.compile(r"[()]|;[^\n]*+")


def _nested(depth: int) -> str:
    plain = r"[^();]*+"
    return rf"{plain}(?:\({_nested(depth - 1)}\){plain})*+" if depth else plain


_SHALLOW = re.compile(rf"\({_nested(5)}\)")  # a block as problems are: no comment, few levels


@dataclass(frozen=True, slots=True)
class Block:
    """The text of a block and the line of the answer, counted from 1, on which it opens."""

    text: str
    line: int


def problem_blocks(answer: str) -> Iterator[Block]:
    """Yield each closed block ``(define (problem …)`` of a lower-case answer, in the order in which they open.

    A block ends at the parenthesis that matches its first one; what a ``;`` comments out, seen from the block's own
    start, does not count. A start that is never closed is no block, but starts after it or inside it may be. Of blocks
    inside blocks no more are made than fill the window once again.

    >>> answer = "draft: (define (problem p) (:init ... sorry! (define (problem q) ; a comment :)\\n (:domain d))"
    >>> list(problem_blocks(answer))
    [Block(text='(define (problem q) ; a comment :)\\n (:domain d))', line=1)]
    """
    opening = _START.search(answer)
    if opening is None:
        return
    line, counted, yielded = 1, 0, 0
    for start, end in _spans(answer, opening.start(), min(len(answer), opening.start() + WINDOW)):
        line += answer.count("\n", counted, start)
        counted = start
        yielded += end - start
        if yielded > 2 * WINDOW:
            return
        yield Block(answer[start:end], line)


def why_no_block(answer: str) -> str:
    """Why ``problem_blocks`` found none in this lower-case answer, as a sentence.

    >>> why_no_block("(define (problem p)\\n (:domain")
    'the block opened at line 1 is never closed: the answer seems cut off'
    """
    opening = _START.search(answer)
    if opening is None:
        return "no `(define (problem …` found"
    line = answer.count("\n", 0, opening.start()) + 1
    if len(answer) - opening.start() > WINDOW:
        return f"the block opened at line {line} is not closed, nor is another, within {WINDOW:,} characters"
    return f"the block opened at line {line} is never closed: the answer seems cut off"


def _spans(answer: str, first: int, limit: int) -> Iterator[tuple[int, int]]:
    """Start and end of the blocks that open at or after the first start and close before the limit."""
    shallow = _SHALLOW.match(answer, first, limit)
    if shallow:
        yield shallow.span()
    starts = [match.start() for match in _START.finditer(answer, first, limit)]
    closed, _, _ = _follow(answer, starts, limit)
    for start in starts[1:] if shallow else starts:
        if start in closed:
            yield start, closed[start]


def _follow(text: str, starts: list[int], limit: int) -> tuple[dict[int, int], dict[int, list[int]], int]:
    """Follow the parentheses from the first of the starts, which are in order, to the limit, and skip ``;`` comments.

    Returns the position after the closing parenthesis of each start that is closed; the starts still open, listed by
    the depth at which they would close; and the depth at the limit. Depth is counted from the first start.

    One pass serves all starts. Only one that itself stands in a comment sees its line otherwise: it is followed to the
    end of that piece of comment, which holds no further ``;``, and from there on with the others.
    """
    closed: dict[int, int] = {}
    waiting: dict[int, list[int]] = {}
    depth = 0
    upcoming = iter(starts)
    due = next(upcoming)
    for token in _TOKEN.finditer(text, due, limit):
        position = token.start()
        char = text[position]
        if char == "(":
            if position == due:
                waiting.setdefault(depth, []).append(position)
                due = next(upcoming, limit)
            depth += 1
        elif char == ")":
            depth -= 1
            if depth in waiting:
                closed.update(dict.fromkeys(waiting.pop(depth), position + 1))
        else:
            while due < token.end():
                end = text.find(";", due, token.end())
                end = token.end() if end < 0 else end
                commented = []
                while due < end:
                    commented.append(due)
                    due = next(upcoming, limit)
                closed_in_piece, open_after_piece, depth_after_piece = _follow(text, commented, end)
                closed |= closed_in_piece
                for level, inner in open_after_piece.items():
                    waiting.setdefault(depth - depth_after_piece + level, []).extend(inner)
    return closed, waiting, depth
