"""Plans written line by line: fences, bullets, numbers, labels, times and comments around actions.

What an action looks like is ``plan_actions``' business; the order in which notations are tried is ``plans``'.
"""

from __future__ import annotations

import re
from collections.abc import Sequence, Set

from pddl_eval.model import Action
from pddl_eval.parsing.plan_actions import (
    ITEM_ANYWHERE,
    MAX_STEPS,
    MAX_UNREAD,
    FoundPlan,
    Step,
    Unread,
    marked_item,
    read_items,
)

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
"""In a label: what follows it are atoms, or prose, and not actions."""
_COMMENT = re.compile(r"\s*+(?:[);.:#|\[\]–—=]|//|--?\s|$)")
_NUMBERED = re.compile(r"\s*+(?:\d+\s*+[.):]|(?:step|action)\s*+\d+)", re.IGNORECASE)
_FENCE = re.compile(r"\s*+(?:```|~~~)[\w+-]*+\s*$")
_REMARK = re.compile(r"\s*+(?:;|//)")
_BRACES_AND_LINE = re.compile(r"\{[^{}]*+\}[^\n]*+")


def read_lines(text: str) -> FoundPlan | None:
    """The plan of the first fence that holds one, else of the lines that begin with an action, else of bare names."""
    if _PLAIN_TEXT.fullmatch(text):  # nothing but `(unstack b1 b2)`: what references look like, at a tenth of the time
        actions = [tuple(inside.lower().split()) for inside in re.findall(r"\(([^)]*+)\)", text)]
        return FoundPlan([{action} for action in actions])
    lines = _join_braces(text.translate(_DECORATION)).split("\n")
    blocks, outside = _fenced_blocks(text.split("\n"))
    for block in blocks:
        if not any("(define" in lines[number].lower() for number in block):
            found = _read_block(lines, block, fenced=True) or _read_bare(lines, block)
            if found:
                return found
    return _read_block(lines, outside, fenced=False) or _read_bare(lines, outside)


def read_sentences(text: str) -> FoundPlan | None:
    """All actions with parentheses or braces, wherever they stand."""
    text = text.translate(_DECORATION)
    steps: list[Set[Action]] = []
    position = 0
    while len(steps) <= MAX_STEPS and (match := ITEM_ANYWHERE.search(text, position)):
        item = marked_item(text, match.start())
        position = item[1] if item else match.start() + 1
        if item and item[0]:
            steps.append(item[0])
    return FoundPlan(steps) if steps else None


def _join_braces(text: str) -> str:
    """Bring braces that stretch over several lines onto their first one; the line breaks follow at its end."""
    if "{" not in text:
        return text
    return _BRACES_AND_LINE.sub(lambda match: match[0].replace("\n", " ") + "\n" * match[0].count("\n"), text)


def _fenced_blocks(lines: Sequence[str]) -> tuple[list[list[int]], list[int]]:
    """The numbers of the lines inside each fence, and those outside all of them."""
    blocks: list[list[int]] = []
    outside: list[int] = []
    inside: list[int] | None = None
    for number, line in enumerate(lines):
        if _FENCE.match(line):
            if inside is None:
                inside = []
                blocks.append(inside)
            else:
                inside = None
        else:
            (outside if inside is None else inside).append(number)
    return blocks, outside


def _read_block(lines: Sequence[str], numbers: Sequence[int], fenced: bool) -> FoundPlan | None:
    """Read the lines that begin with an action; of the others, note those that should have been steps."""
    steps: list[Set[Action]] = []
    unread: list[Unread] = []
    together: set[Action] = set()  # the actions of the step that bears `time_before`
    time_before = None
    for number in numbers:
        line = lines[number]
        if len(steps) > MAX_STEPS:
            break
        plain = _PLAIN_LINE.match(line)  # `3: (pick a b)`: what most lines look like, at a fifth of the time
        if plain:
            time, found = plain[1] and float(plain[1]), [frozenset({tuple(plain[2].lower().split())})]
        else:
            if not line.strip() or _REMARK.match(line):
                continue
            time, found, remark = _read_line(number, line, fenced)
            unread += remark
            if not found:
                continue
        if time is not None and len(found) == 1:
            if time != time_before:
                together = set()
                steps.append(together)
            together |= found[0]
            time_before = time
        else:
            steps += found
            time_before = None
    return FoundPlan(steps, unread[:MAX_UNREAD]) if steps else None


def _read_line(number: int, line: str, fenced: bool) -> tuple[float | None, list[Step], list[Unread]]:
    """The line's time if it bears one, its steps, and the place in it that could not be read."""
    time, start = _read_lead(line)
    if _ABOUT_STATES.search(line, 0, start):
        return None, [], []
    found, marked, end = read_items(line, start)
    whole = bool(_COMMENT.match(line, end))
    if marked and (whole or fenced or _MARKED_LEAD.match(line)):
        cut_short = not whole and ("(" in line[end:] or "{" in line[end:])
        return time, found, [_unread(number, line, end)] if cut_short else []
    expected = marked or fenced or _NUMBERED.match(line) or line.startswith(("(", "{"), start)
    return None, [], [_unread(number, line, 0)] if expected and not line.lstrip().startswith("#") else []


def _read_lead(line: str) -> tuple[float | None, int]:
    """The line's time if it bears one, and where its first action has to begin."""
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


def _unread(number: int, line: str, start: int) -> Unread:
    start += len(line[start:]) - len(line[start:].lstrip())
    return Unread.at(number + 1, start + 1, line[start:])


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
