"""One action, or several with only commas and the like between them: the smallest pieces of a plan's text.

``take(a, b)``, ``(take a b)``, ``{x(p), y}``, and a bare name between commas. Which part of an answer holds a plan is
not decided here but in ``plan_lines``. Every pattern is possessive (an attempt that fails is not retried in another
way), so that no text costs more than a few passes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass

from pddl_eval.model import Action

Step = frozenset[Action]
"""The actions of one step; more than one happen concurrently."""

MAX_STEPS = 50_000
"""Steps after these are left out, and said to be."""

MAX_UNREAD = 20
"""Places that are kept and counted."""

EXCERPT = 60
"""Characters of a text that are quoted to a person."""


@dataclass(frozen=True, slots=True)
class Unread:
    """A place where a step should be and could not be read; line and column count from 1."""

    line: int
    column: int
    text: str

    @staticmethod
    def at(line: int, column: int, text: str) -> Unread:
        """The place with the beginning of what stands there."""
        return Unread(line, column, text[:EXCERPT].split("\n", 1)[0].strip())

    @staticmethod
    def in_text(text: str, offset: int) -> Unread:
        """The place at this offset of the whole text."""
        column = offset - text.rfind("\n", 0, offset)
        return Unread.at(text.count("\n", 0, offset) + 1, column, text[offset : offset + EXCERPT])

    def __str__(self) -> str:
        return f"line {self.line}, column {self.column}: {self.text!r}"


@dataclass(frozen=True, slots=True)
class FoundPlan:
    """What one notation's reader found: the steps, the places it could not read, and what cut it short, in words."""

    steps: Sequence[Set[Action]]
    unread: Sequence[Unread] = ()
    complaint: str = ""


_NAME = r"[^\W\d](?:[\w@/+]|\.(?=\w)|-(?!>))*+"
_PDDL = re.compile(rf"\(\s*+({_NAME})(?=[\s)])([^(){{}}\n]*+)\)")
_CALL = re.compile(rf"(?<![\w@/+.-])({_NAME})(?:\s(?=\([^(),\n]*+,))?\(((?:[^()\n]|\([^()\n]*+\))*+)\)")
_BRACES = re.compile(r"\{([^{}]*+)\}")
_BARE = re.compile(rf"({_NAME})\.?(?=\s*+(?:[,\]]|$))")

ITEM_ANYWHERE = re.compile(f"{_CALL.pattern}|{_PDDL.pattern}|{_BRACES.pattern}")
"""Finds where something with parentheses or braces stands that may be an action; ``marked_item`` says whether it is."""

_LINKING_WORDS = "and|then|next|finally|lastly|first|afterwards|followed by"
_LINKS = re.compile(rf"(?:\s|,|->|=>|→|(?:{_LINKING_WORDS})\b(?![(-])|\d+[.)]\s)*+", re.IGNORECASE)


def read_items(text: str, position: int) -> tuple[list[Step], bool, int]:
    """Read items as long as they come: their steps, whether one of them had parentheses or braces, and the end.

    >>> read_items("pick(a), then noop, {drop(a)} and so on", 8)
    ([frozenset({('noop',)}), frozenset({('drop', 'a')})], True, 29)
    """
    steps: list[Step] = []
    marked = False
    end = position
    while len(steps) <= MAX_STEPS:
        position = _after_links(text, position)
        item = marked_item(text, position)
        if item:
            step, position = item
            marked = True
            if text.startswith(";", position) and _CALL.match(text, _after_links(text, position + 1)):
                position += 1  # `pick(a); stack(a, b)`: statements, not a comment
        else:
            bare = _BARE.match(text, position)
            if not bare:
                break
            step, position = frozenset({(bare[1].lower(),)}), bare.end()
        end = position
        if step:
            steps.append(step)
    return steps, marked, end


def marked_item(text: str, position: int) -> tuple[Step, int] | None:
    """The step that is written with parentheses or braces at this position, and where it ends.

    >>> marked_item("(stack b1 b2) ; done", 0)
    (frozenset({('stack', 'b1', 'b2')}), 13)
    """
    opening = text[position : position + 1]
    if opening == "(":
        match = _PDDL.match(text, position)
        return (frozenset({_pddl_action(match)}), match.end()) if match else None
    if opening == "{":
        match = _BRACES.match(text, position)
        step = _concurrent(match[1]) if match else None
        return (step, match.end()) if match and step is not None else None
    match = _CALL.match(text, position) if opening.isidentifier() else None
    return (frozenset({_call_action(match)}), match.end()) if match else None


def _after_links(text: str, position: int) -> int:
    match = _LINKS.match(text, position)
    return match.end() if match else position


def _concurrent(content: str) -> Step | None:
    """The actions between braces, None where something else stands between them too."""
    steps, _, end = read_items(content, 0)
    return frozenset().union(*steps) if not content[end:].strip(" \t\n\r,;") else None


def _pddl_action(match: re.Match[str]) -> Action:
    return (match[1].lower(), *match[2].lower().replace(",", " ").split())


def _call_action(match: re.Match[str]) -> Action:
    return (match[1].lower(), *_arguments(match[2].lower()))


def _arguments(text: str) -> Iterator[str]:
    """Split at the commas outside inner parentheses, at blanks where there is no such comma."""
    if "(" not in text:
        parts = text.split(",") if "," in text else text.split()
    else:
        parts = re.findall(r"(?:[^,()]|\([^()]*+\))++", text)
    for part in parts:
        words = part.split()
        if words:
            yield " ".join(words)
