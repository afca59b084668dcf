"""Plans out of text: the notations in which people and models write action sequences, inside raw model answers.

A plan is a tuple of steps. A step is an action or, as on GAICo's page, a set of concurrent actions: ``{a, b}``, also
``{a}`` and ``{}``, which are other things than the bare ``a`` and no step. What a text says beside its plan (prose,
numbers, comments) is skipped. One rule holds for all notations: what should be a step and cannot be read whole is not
read at all and is reported with its place. Nothing here knows whether a plan can be executed.

Notations, tried in this order; the first that yields a step is the text's notation:

1. *Items*: nothing but actions and braces, apart by commas or line breaks: ``take(a), {x(p), y}, (drop a)``.
2. *JSON*: the first list of ``{"name", "args", "id"}`` objects (T-Eval), sorted by ``id`` where all have one; named
   arguments become ``key=value`` in the order of their keys. Else a list of strings with steps, or of lists of names.
   Python's quotes, tuples and constants are read too.
3. *A fence*: the first Markdown fence that holds a step and no PDDL definition; its lines are read as in 4. A step that
   only another fence or the text outside holds is reported as not read.
4. *Lines*: each line of items, after a bullet, a number, a time or a label (``2.``, ``Step 2:``, ``0.000:``, ``The plan
   is:``) and before a comment. Commas, arrows, linking words, numbers and ``;`` right behind an action separate items;
   blanks only items of one notation. A comment needs a mark (``;``, a dash, a colon …) where the line is neither
   numbered nor bulleted nor in a fence; one that is nothing but actions is reported. A bare name is an action between
   separators, and on a line of its own where all lines are alike and none is prose. Lines in sequence with equal times
   (``0: (a)``, ``0: (b)``) are one concurrent step, as in a planner's output. Lines that begin otherwise are prose, and
   so are those whose label, or the label above them, speaks of states, goals, preconditions or effects.
5. *Sentences*: ``take(a)`` anywhere in the text, and ``(take a)`` where it is emphasised, quoted or marked as code.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence, Set
from itertools import accumulate
from typing import Any, NamedTuple

from pddl_eval.errors import UserError
from pddl_eval.model import Action
from pddl_eval.parsing.plan_json import read_json, sorted_by_id, steps_of_value
from pddl_eval.parsing.plan_text import (
    MAX_ACTIONS,
    MAX_UNREAD,
    FoundPlan,
    Step,
    Unread,
    actions_of,
    read_lines,
    read_plain,
    read_sentences,
)
from pddl_eval.shown import quote

Plan = tuple[Step, ...]

MAX_CHARACTERS = 2_000_000
"""A longer answer is not read; a plan of 50,000 steps is well below this."""

_EMPTY_PLAN = re.compile(r"(?:[\s,]|\[[\s,]*+\]|\(\s*+\)|```\w*+|;[^\n]*+)*+")
"""Commas, an empty list, and comments, as a planner writes them where there is nothing to do."""


class PlanError(UserError):
    """A plan that has to be there is missing or cannot be read; the message is one sentence."""


class ReadPlan(NamedTuple):
    """What a text says: its plan, and what of it could not be read.

    ``reason`` is empty exactly when there was something to read and all of it was read. ``found`` is False where there
    is no text, or one without a plan; an empty text and ``[]`` are the empty plan.
    """

    steps: Plan
    unread: tuple[Unread, ...] = ()
    reason: str = ""
    found: bool = True


def read_plan(text: str | None) -> ReadPlan:
    """Find the plan in a raw answer; in time linear in the text, and without exceptions, whatever the text.

    >>> read_plan("Sure: take(A), move(l1, l2), {x(p), y}").steps[:2]
    (('take', 'a'), ('move', 'l1', 'l2'))
    >>> read_plan("1. (pick a b)\\n2. pick the other one").reason
    "not read: line 2, column 1: '2. pick the other one'"
    """
    if text is None:
        return ReadPlan((), reason="there is no answer", found=False)
    if not text or text.isspace():
        return ReadPlan((), reason="the answer is empty")
    if len(text) > MAX_CHARACTERS:
        reason = f"the answer is longer than {MAX_CHARACTERS:,} characters and was not read"
        return ReadPlan((), reason=reason, found=False)
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    plain = read_plain(text)
    if plain and len(text) <= MAX_ACTIONS:  # which cannot hold more actions
        return ReadPlan(plain)
    if _EMPTY_PLAN.fullmatch(text):
        return ReadPlan(())
    found = FoundPlan(plain) if plain else read_json(text) or read_lines(text) or read_sentences(text)
    if not found or not found.steps:
        places = tuple(found.unread) if found else (Unread.in_text(text, len(text) - len(text.lstrip())),)
        return ReadPlan((), places, f"no action was found: {places[0]}", found=False)
    return _bounded(found, len(text))


def _bounded(found: FoundPlan, characters: int) -> ReadPlan:
    steps, kept = tuple(found.steps), len(found.steps)
    if characters > MAX_ACTIONS:  # fewer cannot hold more actions
        kept = sum(actions <= MAX_ACTIONS for actions in accumulate(max(1, len(actions_of(step))) for step in steps))
    cut = (
        f"only the first {kept:,} steps were read: more have over {MAX_ACTIONS:,} actions" if kept < len(steps) else ""
    )
    reason = "; ".join(filter(None, (cut, found.complaint, _places(found))))
    return ReadPlan(steps[:kept], tuple(found.unread[:MAX_UNREAD]), reason)


def _places(found: FoundPlan) -> str:
    if not found.unread:
        return ""
    others = len(found.unread) - 1
    at_least = "at least " if len(found.unread) >= MAX_UNREAD else ""
    return f"not read: {found.unread[0]}" + (f" and {at_least}{others} more" if others else "")


def plan_of_steps(steps: Iterable[Any]) -> Plan:
    """The plan of a Python sequence: each step an action string, a sequence ``("stack", "a", "b")``, a T-Eval
    mapping, or a set of such for concurrent actions, which is what ``{…}`` is in a text.

    A string that is not in the notation of an action is the name of an action without arguments. Raises ``PlanError``
    for a step of another type.

    >>> plan_of_steps([("pick", "A"), {"noop", "drop(A)"}]) == (
    ...     ("pick", "a"), frozenset({("noop",), ("drop", "a")}))
    True
    """
    steps = list(steps)
    if all(isinstance(step, Mapping) for step in steps):
        steps = sorted_by_id(steps)
    return tuple(
        frozenset(map(_action_of_value, step)) if isinstance(step, Set) else _step_of_value(step) for step in steps
    )


def _step_of_value(value: Any) -> Step:
    steps: Sequence[Step] = steps_of_value(value)
    if not steps and isinstance(value, str) and re.search(r"[^\W\d_]", value) and not re.search(r"[(){},]", value):
        return (" ".join(value.lower().split()),)
    if len(steps) != 1:
        raise PlanError(f"a step of the plan is not an action: {quote(str(value))}")
    return steps[0]


def _action_of_value(value: Any) -> Action:
    step = _step_of_value(value)
    if isinstance(step, frozenset):
        raise PlanError(f"a set of actions holds another one: {quote(str(value))}")
    return step
