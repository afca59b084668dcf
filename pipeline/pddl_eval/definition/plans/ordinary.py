"""The short way for texts of nothing but ordinary lines or items: no notation, only speed.

The rules of ``grammar`` and ``lines`` read the same of such texts, ten times as slowly (a test leaves the short way
out). The plans of a dataset are made of few actions, so that lines and items are kept with what they say.
"""

from __future__ import annotations

from functools import lru_cache

from pddl_eval.definition.model import Action
from pddl_eval.definition.pddl.patterns import re
from pddl_eval.definition.plans.found import Plan, Step, TimedStep, in_time
from pddl_eval.definition.plans.grammar import WORD, pattern

KEPT = 20_000
"""Lines, and as many items, that are kept."""

MAX_CHARACTERS = 120
"""Characters of an ordinary line or item; longer ones are left to the rules."""

_ACTION = r"""(?:\([^\W\d][\w@/+-]*+(?:[ \t]++[\w@/+-]++)*+[ \t]*+\)
    |[^\W\d][\w@/+-]*+\((?:[\w@/+-]++(?:,[ \t]*+(?=\w))?+)*+\))"""
_ORDINARY_LINE = pattern(
    rf"\s*+((?:step\ )?+(\d+(?:\.\d+)?)\s*+:|\d+[.)]|[-•])?+\s*+({_ACTION})(?:\s*+\[[\d.]++\])?+\s*+$"
)
_ORDINARY_ITEM = pattern(rf"\s*+(\{{)?+\s*+({_ACTION}|(?!{WORD})[^\W\d][\w@/+-]*+)?+\s*+(\}})?+\s*+$")
_COMMA = re.compile(r",(?![^()]{0,100}+\))")
_ORDINARY_COMMENT = re.compile(r"\s*+;[^<◁\[{\"'\\]*+$")


def read_ordinary(text: str) -> Plan:
    """The steps of a text of nothing but ordinary lines and comments, in one list, or of ordinary items on one line.

    Else none.

    >>> read_ordinary("1. (take a)\\n2. (drop a)"), read_ordinary("So: take(a)")
    ((('take', 'a'), ('drop', 'a')), ())
    """
    text = text.strip()
    return _ordinary_lines(text) if "\n" in text else _ordinary_items(text)


def _ordinary_lines(text: str) -> Plan:
    steps: list[TimedStep] = []
    before = -1.0
    for line in text.split("\n"):
        if ordinary := ordinary_line(line):
            lead, step = ordinary
            steps.append(step)
            if lead or before >= 0:
                number = float(step[0] or lead[:-1] or -1)
                if number < before:  # another draft
                    return ()
                before = number
        elif not _ORDINARY_COMMENT.match(line):
            return ()
    return in_time(steps) if before >= 0 else tuple(step for _, step in steps)


def _ordinary_items(text: str) -> Plan:
    steps: list[Step] = []
    inside: list[Action] | None = None
    for item in _COMMA.split(text) if "(" in text else text.split(","):
        ordinary = _ordinary_item(item) if len(item) <= MAX_CHARACTERS else None
        if not ordinary or (ordinary[0] and inside is not None):
            return ()
        opens, action, closes = ordinary
        if opens:
            inside = []
        if action:
            (steps if inside is None else inside).append(action)
        if closes:
            if inside is None:
                return ()
            steps.append(frozenset(inside))
            inside = None
    return () if inside is not None else tuple(steps)


def ordinary_line(line: str) -> tuple[str, TimedStep] | None:
    """The lead and the step of an ordinary line."""
    return _kept_line(line) if len(line) <= MAX_CHARACTERS else None


@lru_cache(KEPT)
def _kept_line(line: str) -> tuple[str, TimedStep] | None:
    found = _ORDINARY_LINE.match(line)
    return found and (found[1] or "", (found[2], _ordinary_action(found[3])))


@lru_cache(KEPT)
def _ordinary_item(item: str) -> tuple[bool, Action, bool] | None:
    """Whether a brace opens before the item, its action, if any, and whether a brace closes behind it."""
    found = _ORDINARY_ITEM.match(item)
    return found and (bool(found[1]), _ordinary_action(found[2] or ""), bool(found[3]))


def _ordinary_action(text: str) -> Action:
    return tuple(text.lower().replace("(", " ").replace(")", " ").replace(",", " ").split())
