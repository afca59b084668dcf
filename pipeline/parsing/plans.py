"""Plans out of text: the notations in which people and models write action sequences, inside raw model answers.

A plan is a tuple of steps and a step the set of actions that happen at once, nearly always one. What a text says beside
its plan (prose, fences, numbering, comments) is skipped; what stands where a step should and cannot be read is
reported with its place, not guessed. Whether a plan makes sense is the business of ``plan_metrics``.

Notations, tried in this order; the first that yields a step is the text's notation:

1. *JSON*: the first list of ``{"name", "args", "id"}`` objects (T-Eval), sorted by ``id`` where all have one; named
   arguments become ``key=value`` in the order of their keys. Also a list of action strings, or of lists of strings.
2. *A fence*: the first Markdown fence that holds a step and no PDDL definition; its lines are read as in 3.
3. *Lines*: each line that begins with an action, after a bullet, a number, a time or a label (``2.``, ``Step 2:``,
   ``0.000:``, ``The plan is:``), is read to its end: ``(unstack b1 b2)``, ``take(a), move(l1, l2), {x(p), y}``, or a mix. Commas,
   arrows and linking words separate actions, ``;``, a dash, a colon, a full stop or a bracket after the last one opens
   a comment. A name without parentheses is an action only between commas. Lines with equal times (``0: (a)``,
   ``0: (b)``) are one concurrent step, as in a planner's output. Lines that begin otherwise are prose.
4. *Bare names*: a text of nothing but names and commas, ``noop1, noop2``.
5. *Sentences*: actions with parentheses anywhere in the text, as a last resort.

Braces make one concurrent step; ``{a}`` holds nothing concurrent and is the single action ``a``; ``{}`` is no step.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Any

from pipeline.domain import Action

Step = frozenset[Action]
"""The actions of one step; more than one happen concurrently."""

Plan = tuple[Step, ...]

MAX_CHARACTERS = 2_000_000
"""A longer answer is not read; a plan of 50,000 steps is well below this."""

MAX_STEPS = 50_000
"""Steps after these are left out, and said to be."""

MAX_UNREAD = 20
"""Places that are reported; later ones are only counted in ``reason``."""

_MAX_JSON_DEPTH = 32
_MAX_JSON_CANDIDATES = 50
_EXCERPT = 60


class PlanError(ValueError):
    """A plan that has to be there is missing or cannot be read; the message is one sentence."""


@dataclass(frozen=True, slots=True)
class Unread:
    """A place where a step should be and could not be read; line and column count from 1."""

    line: int
    column: int
    text: str

    def __str__(self) -> str:
        return f"line {self.line}, column {self.column}: {self.text!r}"


@dataclass(frozen=True, slots=True)
class ReadPlan:
    """What a text says: its plan, and what of it could not be read.

    ``reason`` is empty exactly when everything was read. A text without a plan has no steps and a reason; the empty
    plan written as ``[]`` has neither.
    """

    steps: Plan
    unread: tuple[Unread, ...] = ()
    reason: str = ""

    @property
    def missing(self) -> bool:
        """True when the text holds no plan at all, not even an empty one."""
        return not self.steps and bool(self.reason)


def read_plan(text: str | None) -> ReadPlan:
    """Find the plan in a raw answer; in time linear in the text, and without exceptions, whatever the text.

    >>> read_plan("Sure: take(A), move(l1, l2), {x(p), y}").steps[:2]
    (frozenset({('take', 'a')}), frozenset({('move', 'l1', 'l2')}))
    >>> read_plan("1. (pick a b)\\n2. pick the other one").unread[0]
    Unread(line=2, column=1, text='2. pick the other one')
    """
    if text is None:
        return ReadPlan((), reason="there is no answer")
    if not text.strip():
        return ReadPlan((), reason="the answer is empty")
    if len(text) > MAX_CHARACTERS:
        return ReadPlan((), reason=f"the answer is longer than {MAX_CHARACTERS:,} characters and was not read")
    return _read_json(text) or _read_lines(text) or _read_sentences(text) or _nothing(text)


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
    if steps and all(isinstance(step, Mapping) for step in steps):
        steps = _by_id(steps)
    plan = []
    for number, step in enumerate(steps, 1):
        parts = step if isinstance(step, Set) else (step,)
        actions = [_action_of_value(part) for part in parts]
        if None in actions:
            raise PlanError(f"step {number} of the plan is no action: {str(step)[:_EXCERPT]}")
        plan.append(frozenset(action for action in actions if action))
    return tuple(step for step in plan if step)


def show_action(action: Action) -> str:
    """An action as PDDL writes it.

    >>> show_action(("stack", "a", "b"))
    '(stack a b)'
    """
    return f"({' '.join(action)})"


# --- lines -----------------------------------------------------------------------------------------------------------

# All loops are possessive: an attempt that fails is not retried in another way, so that no text costs more than a pass.
_NAME = r"[^\W\d](?:[\w@/+]|\.(?=\w)|-(?!>))*+"
_PDDL = re.compile(rf"\(\s*+({_NAME})(?=[\s,)])([^(){{}}\n]*+)\)")
_CALL = re.compile(rf"(?<![\w@/+.-])({_NAME})\(((?:[^()\n]|\([^()\n]*+\))*+)\)")
_BRACES = re.compile(r"\{([^{}]*+)\}")
_BARE = re.compile(rf"({_NAME})\.?(?=\s*+(?:,|$))")

_DECORATION = str.maketrans(dict.fromkeys("`*\"'[]“”‘’", " "))
"""Emphasis, quotes and list brackets say nothing about a plan; a blank for each keeps the columns right."""

_TIME = re.compile(r"(\d+(?:\.\d+)?)\s*:")
_LEAD = re.compile(
    r"""[\s>|+•·‣–—-]+                           # a bullet
    | \(?\d+\s*[.)](?!\d)                        # 1. 1) (1)
    | \d+(?=\s+[(\w])                            # 1 (pick a)
    | (?:step|action|move|time)\s*\#?\d+(?!\w)   # Step 1
    | [^(){},;:\n]{1,80}:(?!\S*//)               # any label that ends in a colon
    """,
    re.VERBOSE | re.IGNORECASE,
)
_LINKING = ("and", "then", "next", "finally", "lastly", "first", "afterwards", "followed by")
_LINKS = re.compile(rf"(?:\s|,|->|=>|→|(?:{'|'.join(_LINKING)})\b(?![(-])|\d+[.)]\s)*+", re.IGNORECASE)
_COMMENT = re.compile(r"\s*(?:[;.:#|–—=]|//|--?\s|$)")
_NUMBERED = re.compile(r"\s*(?:\d+\s*[.):]|(?:step|action)\s*\d+)", re.IGNORECASE)
_FENCE = re.compile(r"\s*(?:```|~~~)[\w+-]*\s*$")
_REMARK = re.compile(r"\s*(?:;|#|//)")
_PARENTHESES = re.compile(r"[(){}]")


def _read_lines(text: str) -> ReadPlan | None:
    lines = text.translate(_DECORATION).split("\n")
    blocks, rest = _fenced_blocks(text.split("\n"))
    for block in blocks:
        if not any("(define" in lines[number].lower() for number in block):
            reading = _read_block(lines, block, fenced=True)
            if reading:
                return reading
    return _read_block(lines, rest, fenced=False) or _read_bare(lines, rest)


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


def _read_block(lines: Sequence[str], numbers: Sequence[int], fenced: bool) -> ReadPlan | None:
    """Read the lines that begin with an action; inside a fence every other line is one that could not be read."""
    steps: list[Step] = []
    unread: list[Unread] = []
    time_before = None
    for number in numbers:
        line = lines[number]
        if not line.strip() or _REMARK.match(line):
            continue
        time, found, end = _read_line(line)
        if time is not None and time == time_before and len(found) == 1 and steps:
            steps[-1] |= found[0]
        else:
            steps += found
        time_before = time
        complete = found and _COMMENT.match(line, end)
        if not complete and (found or fenced or _NUMBERED.match(line) or _PARENTHESES.search(line)):
            start = end if found else len(line) - len(line.lstrip())
            unread.append(Unread(number + 1, start + 1, line[start:].strip()[:_EXCERPT]))
    return _finished(steps, unread) if steps else None


def _read_line(line: str) -> tuple[float | None, list[Step], int]:
    """The line's time if it bears one, its steps, and where reading ended."""
    time = None
    position = 0
    while not _strong_item(line, position):
        stamp = _TIME.match(line, position)
        lead = stamp or _LEAD.match(line, position)
        if not lead:
            break
        if stamp:
            time = float(stamp[1])
        position = lead.end()
    steps, strong, end = _read_items(line, position)
    return (time, steps, end) if strong else (None, [], 0)


def _read_items(text: str, position: int) -> tuple[list[Step], bool, int]:
    """Read items as long as they come: their steps, whether one of them had parentheses or braces, and the end."""
    steps: list[Step] = []
    strong = False
    end = position
    while True:
        position = _LINKS.match(text, position).end()  # type: ignore[union-attr]  # it matches the empty string too
        item = _strong_item(text, position)
        if item:
            step, position = item
            strong = True
            if text.startswith(";", position) and _CALL.match(text, _LINKS.match(text, position + 1).end()):  # type: ignore[union-attr]
                position += 1  # `pick(a); stack(a, b)`: statements, not a comment
        else:
            bare = _BARE.match(text, position)
            if not bare:
                return steps, strong, end
            step, position = frozenset({(bare[1].lower(),)}), bare.end()
        end = position
        if step:
            steps.append(step)


def _strong_item(text: str, position: int) -> tuple[Step, int] | None:
    """The step that is written with parentheses or braces at this position, and where it ends."""
    opening = text[position : position + 1]
    if opening == "(":
        match = _PDDL.match(text, position)
        return (frozenset({_pddl_action(match)}), match.end()) if match else None
    if opening == "{":
        match = _BRACES.match(text, position)
        step = _concurrent(match[1]) if match else None
        return (step, match.end()) if match and step is not None else None
    match = _CALL.match(text, position)
    return (frozenset({_call_action(match)}), match.end()) if match else None


def _concurrent(content: str) -> Step | None:
    """The actions between braces, None where something else stands between them too."""
    steps, _, end = _read_items(content, 0)
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
        parts = re.findall(r"(?:[^,()]|\([^()]*\))+", text)
    for part in parts:
        words = part.split()
        if words:
            yield " ".join(words)


def _read_bare(lines: Sequence[str], numbers: Sequence[int]) -> ReadPlan | None:
    """Names and commas and nothing else, GAICo's ``a1, a2``."""
    steps: list[Step] = []
    for number in numbers:
        found, _, end = _read_items(lines[number], 0)
        if lines[number][end:].strip(" \t\r,"):
            return None
        steps += found
    return _finished(steps, []) if steps else None


def _read_sentences(text: str) -> ReadPlan | None:
    text = text.translate(_DECORATION)
    steps = []
    position = 0
    while match := _ITEM_ANYWHERE.search(text, position):
        item = _strong_item(text, match.start())
        position = item[1] if item else match.start() + 1
        if item and item[0]:
            steps.append(item[0])
    return _finished(steps, []) if steps else None


_ITEM_ANYWHERE = re.compile(f"{_CALL.pattern}|{_PDDL.pattern}|{_BRACES.pattern}")


# --- JSON ------------------------------------------------------------------------------------------------------------

_OBJECT_LIST = re.compile(r"\[(?=\s*\{)")
_OTHER_LIST = re.compile(r"""\[(?=\s*["\[])""")
_JSON_MARK = re.compile(r'"(?:[^"\\]|\\.)*+"|[{}\[\]"]', re.DOTALL)
_BLANKS = re.compile(r"\s*")


def _read_json(text: str) -> ReadPlan | None:
    if "[" not in text:
        return None
    if re.fullmatch(r"\s*(?:```\w*)?\s*\[\s*\]\s*(?:```)?\s*", text):
        return ReadPlan(())
    return _first_list(text, _OBJECT_LIST, _action_of_object) or _first_list(text, _OTHER_LIST, _action_of_value)


def _first_list(text: str, opening: re.Pattern[str], action_of: Callable[[Any], Action | None]) -> ReadPlan | None:
    """The first list that begins with an action."""
    for _, match in zip(range(_MAX_JSON_CANDIDATES), opening.finditer(text), strict=False):
        values, unread, complaint = _list_values(text, match.end(), action_of)
        if values:
            actions = [action_of(value) for value in _by_id(values)]
            places = [_place(text, offset) for offset in unread[:MAX_UNREAD]]
            return _finished([frozenset({action}) for action in actions if action], places, complaint)
    return None


def _list_values(text: str, position: int, action_of: Callable[[Any], Action | None]) -> tuple[list[Any], list[int], str]:
    """The elements of the list after its opening bracket, as far as it can be followed: those that are actions, the
    positions of those that are not, and what cut the list short. Nothing where the first one is not."""
    values: list[Any] = []
    unread: list[int] = []
    while True:
        position = _BLANKS.match(text, position).end()  # type: ignore[union-attr]  # it matches the empty string too
        if text.startswith("]", position) or (position == len(text) and not values):
            return values, unread, ""
        end = _json_end(text, position)
        try:
            value = json.loads(text[position:end]) if end else None
        except ValueError:
            value = None
        if action_of(value):
            values.append(value)
        elif not values:
            return [], [], ""
        else:
            unread.append(position)
        if not end:
            return values, unread, "the JSON list ends inside an element"
        position = _BLANKS.match(text, end).end()  # type: ignore[union-attr]
        if text.startswith(",", position):
            position += 1
        elif not text.startswith("]", position):
            return values, [*unread, position], "the JSON list is not closed"


def _json_end(text: str, position: int) -> int | None:
    """Where the object, list or string that begins here ends, None where it does not, or nests too deeply."""
    depth = 0
    for mark in _JSON_MARK.finditer(text, position):
        symbol = mark[0]
        if depth == 0 and mark.start() != position:
            return None
        if symbol in "{[":
            depth += 1
            if depth > _MAX_JSON_DEPTH:
                return None
        elif symbol in "}]":
            depth -= 1
        elif symbol == '"':
            return None
        if depth <= 0:
            return mark.end()
    return None


def _by_id(values: list[Any]) -> list[Any]:
    ids = [value.get("id") if isinstance(value, Mapping) else None for value in values]
    if all(isinstance(id_, int) for id_ in ids):
        return [value for _, value in sorted(zip(ids, values, strict=True), key=lambda pair: pair[0])]
    return values


def _action_of_object(value: Any) -> Action | None:
    """The action of a T-Eval object, None for anything else."""
    if not isinstance(value, Mapping) or not isinstance(value.get("name"), str) or not value["name"].strip():
        return None
    arguments = value.get("args")
    if arguments is None or arguments == "":
        texts: Iterable[str] = ()
    elif isinstance(arguments, Mapping):
        texts = (f"{key}={_argument(arguments[key])}" for key in sorted(arguments, key=str))
    elif isinstance(arguments, (list, tuple)):
        texts = map(_argument, arguments)
    else:
        texts = (_argument(arguments),)
    return (value["name"].strip().lower(), *(text.lower() for text in texts))


def _argument(value: Any) -> str:
    return value.strip() if isinstance(value, str) else json.dumps(value, sort_keys=True, ensure_ascii=False)


def _action_of_value(value: Any) -> Action | None:
    """The action of a string, of a sequence of strings or of a T-Eval object, None for anything else."""
    if isinstance(value, str):
        item = _strong_item(value.strip(), 0)
        if item and len(item[0]) == 1 and item[1] == len(value.strip()):
            return next(iter(item[0]))
        return (value.strip().lower(),) if value.strip() else None
    if isinstance(value, (list, tuple)):
        if not value or not all(isinstance(part, str) for part in value) or not value[0].strip():
            return None
        return tuple(part.strip().lower() for part in value)
    return _action_of_object(value)


# --- the answer ------------------------------------------------------------------------------------------------------


def _finished(steps: list[Step], unread: list[Unread], complaint: str = "") -> ReadPlan:
    reasons = []
    if len(steps) > MAX_STEPS:
        reasons.append(f"only the first {MAX_STEPS:,} steps were read")
    if complaint:
        reasons.append(complaint)
    if unread:
        more = f" and {len(unread) - 1} more" if len(unread) > 1 else ""
        reasons.append(f"not read: {unread[0]}{more}")
    return ReadPlan(tuple(steps[:MAX_STEPS]), tuple(unread[:MAX_UNREAD]), "; ".join(reasons))


def _nothing(text: str) -> ReadPlan:
    place = _place(text, len(text) - len(text.lstrip()))
    return ReadPlan((), (place,), f"no action was found: {place}")


def _place(text: str, offset: int) -> Unread:
    line_start = text.rfind("\n", 0, offset) + 1
    excerpt = text[offset : offset + _EXCERPT].split("\n", 1)[0].strip()
    return Unread(text.count("\n", 0, offset) + 1, offset - line_start + 1, excerpt)
