"""Plans out of text: the notations in which people and models write action sequences, inside raw model answers.

A plan is a tuple of steps and a step the set of actions that happen at once, nearly always one. What a text says beside
its plan (prose, fences, numbering, comments) is skipped. A line that should be a step and cannot be read is reported
with its place, not guessed. Nothing here knows whether a plan can be executed.

Notations, tried in this order; the first that yields a step is the text's notation:

1. *JSON*: the first list of ``{"name", "args", "id"}`` objects (T-Eval), sorted by ``id`` where all have one; named
   arguments become ``key=value`` in the order of their keys. Else a list of action strings, or of lists of strings.
2. *A fence*: the first Markdown fence that holds a step and no PDDL definition; its lines are read as in 3.
3. *Lines*: each line that begins with an action, after a bullet, a number, a time or a label (``2.``, ``Step 2:``,
   ``0.000:``, ``The plan is:``), is read to its end: ``(unstack b1 b2)``, ``take(a), move(l1, l2), {x(p), y}``, or a
   mix. Commas, arrows and linking words separate actions; what follows the last one is a comment, which needs a mark
   (``;``, a dash, a colon …) where the line is neither numbered nor bulleted nor in a fence. A name without parentheses
   is an action only between commas. Lines in sequence with equal times (``0: (a)``, ``0: (b)``) are one concurrent
   step, as in a planner's output. Lines that begin otherwise are prose, and so are those whose label speaks of states,
   goals, preconditions or effects.
4. *Bare names*: a text of nothing but names and commas, ``noop1, noop2``.
5. *Sentences*: actions with parentheses anywhere in the text, as a last resort.

Braces make one concurrent step; ``{a}`` holds nothing concurrent and is the single action ``a``; ``{}`` is no step.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass
from typing import Any

from pddl_eval.errors import UserError
from pddl_eval.parsing.plan_json import action_of_value, read_json, sorted_by_id
from pddl_eval.parsing.plan_text import MAX_STEPS, MAX_UNREAD, FoundPlan, Step, Unread, read_lines, read_sentences
from pddl_eval.shown import quote

Plan = tuple[Step, ...]

MAX_CHARACTERS = 2_000_000
"""A longer answer is not read; a plan of 50,000 steps is well below this."""


class PlanError(UserError):
    """A plan that has to be there is missing or cannot be read; the message is one sentence."""


@dataclass(frozen=True, slots=True)
class ReadPlan:
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
    (frozenset({('take', 'a')}), frozenset({('move', 'l1', 'l2')}))
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
    found = read_json(text) or read_lines(text) or read_sentences(text)
    if not found:
        place = Unread.in_text(text, len(text) - len(text.lstrip()))
        return ReadPlan((), (place,), f"no action was found: {place}", found=False)
    return ReadPlan(tuple(map(frozenset, found.steps[:MAX_STEPS])), tuple(found.unread[:MAX_UNREAD]), _reason(found))


def plan_of_steps(steps: Iterable[Any]) -> Plan:
    """The plan of a Python sequence: each step an action string, a sequence ``("stack", "a", "b")``, a T-Eval
    mapping, or a set of such for concurrent actions.

    A string that is not in the notation of an action is the name of an action without arguments. Raises ``PlanError``
    for a step of another type.

    >>> plan_of_steps([("pick", "A"), {"noop", "drop(A)"}]) == (
    ...     frozenset({("pick", "a")}), frozenset({("noop",), ("drop", "a")}))
    True
    """
    steps = list(steps)
    if all(isinstance(step, Mapping) for step in steps):
        steps = sorted_by_id(steps)
    return tuple(step for step in map(_step_of_value, steps) if step)


def _step_of_value(value: Any) -> Step:
    parts = value if isinstance(value, Set) else (value,)
    actions = [action_of_value(part) for part in parts]
    if None in actions:
        raise PlanError(f"a step of the plan is not an action: {quote(str(value))}")
    return frozenset(action for action in actions if action)


def _reason(found: FoundPlan) -> str:
    reasons = []
    if len(found.steps) > MAX_STEPS:
        reasons.append(f"only the first {MAX_STEPS:,} steps were read")
    if found.complaint:
        reasons.append(found.complaint)
    if found.unread:
        others = len(found.unread) - 1
        at_least = "at least " if len(found.unread) >= MAX_UNREAD else ""
        reasons.append(f"not read: {found.unread[0]}" + (f" and {at_least}{others} more" if others else ""))
    return "; ".join(reasons)
