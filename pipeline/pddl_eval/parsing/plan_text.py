"""Plans written as text: actions, line by line or in sentences, with fences, bullets, numbers, labels and comments.

``take(a, b)``, ``(take a b)``, ``{x(p), y}``, and a bare name between commas. The order in which notations are tried is
said in ``plans``. Every pattern is possessive (an attempt that fails is not retried in another way), so that no text
costs more than a few passes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass
from typing import NamedTuple

from pddl_eval.model import Action

Step = frozenset[Action]
"""The actions of one step; more than one happen concurrently."""

MAX_STEPS = 50_000
"""Steps after these are left out, and the reason says so."""

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
        """The place where this text begins, blanks aside."""
        stripped = text.lstrip()
        return Unread(line, column + len(text) - len(stripped), stripped[:EXCERPT].split("\n", 1)[0].strip())

    @staticmethod
    def in_text(text: str, offset: int) -> Unread:
        """The place at this offset of the whole text."""
        column = offset - text.rfind("\n", 0, offset)
        return Unread.at(text.count("\n", 0, offset) + 1, column, text[offset : offset + EXCERPT])

    def __str__(self) -> str:
        return f"line {self.line}, column {self.column}: {self.text!r}"


class FoundPlan(NamedTuple):
    """What one notation's reader found: the steps, the places it could not read, and what cut it short, in words."""

    steps: Sequence[Set[Action]]
    unread: Sequence[Unread] = ()
    complaint: str = ""


_NAME = r"[^\W\d](?:[\w@/+]|\.(?=\w)|-(?!>))*+"
_PDDL = re.compile(rf"\(\s*+({_NAME})(?=[\s)])([^(){{}}\n]*+)\)")
_CALL = re.compile(rf"(?<![\w@/+.-])({_NAME})(?:\s(?=\([^(),\n]*+,))?\(((?:[^()\n]|\([^()\n]*+\))*+)\)")
_BRACES = re.compile(r"\{([^{}]*+)\}")
_BARE = re.compile(rf"({_NAME})\.?(?=\s*+(?:[,\]]|$))")
_ITEM_ANYWHERE = re.compile(f"{_CALL.pattern}|{_PDDL.pattern}|{_BRACES.pattern}")
"""Finds where something with parentheses or braces may be an action; ``marked_item`` says whether it is."""
_LINKING_WORDS = "and|then|next|finally|lastly|first|afterwards|followed by"
_LINKS = re.compile(rf"(?:\s|,|->|=>|→|(?:{_LINKING_WORDS})\b(?![(-])|\d+[.)]\s)*+", re.IGNORECASE)

_DECORATION = str.maketrans(dict.fromkeys("`*\"'“”‘’", " "))
"""Emphasis and quotes say nothing about a plan; a blank for each keeps the columns right."""
_PLAIN_ACTION = r"\(([^\W\d][\w@/+-]*+(?:[ \t]++[\w?./@:+-]++)*+[ \t]*+)\)"
_PLAIN_TEXT = re.compile(rf"(?:\s*+{_PLAIN_ACTION})++\s*+")
_PLAIN_LINE = re.compile(rf"\s*+(?:(\d+(?:\.\d+)?)\s*+:|\d+[.)]|[-•])?+\s*+{_PLAIN_ACTION}\s*+$")
_TIME = re.compile(r"(\d+(?:\.\d+)?)\s*:")
_LEAD = re.compile(
    r"""[\s\[>|+•·‣\#–—-]++                      # a bullet, a heading, the bracket of a list
    | \((?=\s*+\()                              # the parenthesis around a list of actions
    | \(?\d+\s*+[.)](?!\d)                       # 1. 1) (1)
    | \d+(?=\s+[(\w])                            # 1 (pick a)
    | (?:step|action|move|time)\s*+\#?\d+(?!\w)  # Step 1
    | [^(){},;:\n]{1,80}:                        # any label that ends in a colon
    """,
    re.VERBOSE | re.IGNORECASE,
)
_MAX_LEADS = 8
_MARKED_LEAD = re.compile(r"\s*+[>|+•·‣\#–—\d-]|step|action|move|time", re.IGNORECASE)
_ABOUT_STATES = re.compile(
    r"\b(?:init|initial\w*|goals?|states?|facts?|objects?|pre-?conditions?|effects?|requires|results?|adds|deletes|note)\b",
    re.IGNORECASE,
)
"""In a label: atoms or prose follow it, not actions."""
_COMMENT = re.compile(r"\s*+(?:[);.:#|\[\]–—=]|//|--?\s|$)")
_NUMBERED = re.compile(r"\s*+(?:\d+\s*+[.):]|(?:step|action)\s*+\d+)", re.IGNORECASE)
_FENCE = re.compile(r"\s*+(?:```|~~~)[\w+-]*+\s*$")
_REMARK = re.compile(r"\s*+(?:;|//)")
_BRACES_AND_LINE = re.compile(r"\{[^{}]*+\}[^\n]*+")


def read_lines(text: str) -> FoundPlan | None:
    """The plan of the first fence that holds one, else of the lines that begin with an action, else of bare names."""
    if _PLAIN_TEXT.fullmatch(text):  # nothing but `(unstack b1 b2)`: what references look like, at a tenth of the time
        return FoundPlan([{tuple(inside.lower().split())} for inside in re.findall(r"\(([^)]*+)\)", text)])
    lines = _join_braces(text.translate(_DECORATION)).split("\n")
    blocks, outside = _fenced_blocks(text.split("\n"))
    for block in blocks:
        if not any("(define" in lines[number].lower() for number in block):
            found = _read_block(lines, block, fenced=True) or _read_bare(lines, block)
            if found:
                return found
    return _read_block(lines, outside, fenced=False) or _read_bare(lines, outside)


def read_sentences(text: str) -> FoundPlan | None:
    """All actions with parentheses or braces, wherever they are."""
    text = text.translate(_DECORATION)
    steps: list[Set[Action]] = []
    position = 0
    while len(steps) <= MAX_STEPS and (match := _ITEM_ANYWHERE.search(text, position)):
        item = marked_item(text, match.start())
        position = item[1] if item else match.start() + 1
        if item and item[0]:
            steps.append(item[0])
    return FoundPlan(steps) if steps else None


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
    if opening == "{":
        match = _BRACES.match(text, position)
        steps, _, end = read_items(match[1], 0) if match else ([], False, 0)
        whole = match and not match[1][end:].strip(" \t\n\r,;")
        return (frozenset().union(*steps), match.end()) if match and whole else None
    if opening == "(":
        match = _PDDL.match(text, position)
        arguments = match[2].lower().replace(",", " ").split() if match else []
    else:
        match = _CALL.match(text, position) if opening.isidentifier() else None
        arguments = list(_arguments(match[2].lower())) if match else []
    return (frozenset({(match[1].lower(), *arguments)}), match.end()) if match else None


def _arguments(text: str) -> Iterator[str]:
    """Split at the commas outside inner parentheses, at blanks where there is no such comma."""
    if "(" in text:
        parts = re.findall(r"(?:[^,()]|\([^()]*+\))++", text)
    else:
        parts = text.split(",") if "," in text else text.split()
    return filter(None, (" ".join(part.split()) for part in parts))


def _after_links(text: str, position: int) -> int:
    match = _LINKS.match(text, position)
    return match.end() if match else position


def _join_braces(text: str) -> str:
    """Bring braces that stretch over several lines onto their first one; the line breaks follow at its end."""
    if "{" not in text:
        return text
    return _BRACES_AND_LINE.sub(lambda match: match[0].replace("\n", " ") + "\n" * match[0].count("\n"), text)


def _fenced_blocks(lines: Sequence[str]) -> tuple[list[list[int]], list[int]]:
    """The numbers of the lines inside each fence, and those outside all of them."""
    blocks: list[list[int]] = []
    outside: list[int] = []
    current = outside
    for number, line in enumerate(lines):
        if not _FENCE.match(line):
            current.append(number)
        elif current is outside:
            current = []
            blocks.append(current)
        else:
            current = outside
    return blocks, outside


def _read_block(lines: Sequence[str], numbers: Sequence[int], fenced: bool) -> FoundPlan | None:
    """Read the lines that begin with an action; of the others, note those that should have been steps."""
    steps: list[Set[Action]] = []
    unread: list[Unread] = []
    together: set[Action] = set()  # the actions of the step at `time_before`
    time_before = None
    for number in numbers:
        line = lines[number]
        if len(steps) > MAX_STEPS:
            break
        plain = _PLAIN_LINE.match(line)  # `3: (pick a b)`: what most lines look like, at a fifth of the time
        if plain:
            time, found = plain[1] and float(plain[1]), [frozenset({tuple(plain[2].lower().split())})]
        elif not line.strip() or _REMARK.match(line):
            continue
        else:
            time, found, remark = _read_line(number, line, fenced)
            unread += remark
            if not found:
                continue
        if time is None or len(found) > 1:
            steps += found
            time_before = None
            continue
        if time != time_before:
            together = set()
            steps.append(together)
        together |= found[0]
        time_before = time
    return FoundPlan(steps, unread[:MAX_UNREAD]) if steps else None


def _read_line(number: int, line: str, fenced: bool) -> tuple[float | None, list[Step], list[Unread]]:
    """The line's time if it has one, its steps, and the place in it that could not be read."""
    time, start = _read_lead(line)
    if _ABOUT_STATES.search(line, 0, start):
        return None, [], []
    found, marked, end = read_items(line, start)
    whole = bool(_COMMENT.match(line, end))
    if marked and (whole or fenced or _MARKED_LEAD.match(line)):
        cut_short = not whole and ("(" in line[end:] or "{" in line[end:])
        return time, found, [Unread.at(number + 1, end + 1, line[end:])] if cut_short else []
    expected = marked or fenced or _NUMBERED.match(line) or line.startswith(("(", "{"), start)
    return None, [], [Unread.at(number + 1, 1, line)] if expected and not line.lstrip().startswith("#") else []


def _read_lead(line: str) -> tuple[float | None, int]:
    """The line's time if it has one, and where its first action has to begin."""
    time = None
    position = 0
    for _ in range(_MAX_LEADS):
        if marked_item(line, position):
            break
        stamp = _TIME.match(line, position)
        lead = stamp or _LEAD.match(line, position)
        if not lead:
            break
        if stamp:
            time = float(stamp[1])
        position = lead.end()
    return time, position


def _read_bare(lines: Sequence[str], numbers: Sequence[int]) -> FoundPlan | None:
    """Names and commas and nothing else, GAICo's ``a1, a2``."""
    steps: list[Set[Action]] = []
    for number in numbers:
        line = lines[number].strip(" \t\r[]")
        found, _, end = read_items(line, 0)
        steps += found
        if len(steps) > MAX_STEPS:
            break
        if line[end:].strip(","):
            return None
    return FoundPlan(steps) if steps else None
