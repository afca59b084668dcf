"""Plans written as a JSON list, T-Eval's ``{"name", "args", "id"}`` objects first of all, anywhere in an answer.

Lists are followed element by element, so that one that was cut off still says what it says; nesting is bounded before
``json`` sees it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from pddl_eval.model import Action
from pddl_eval.parsing.plan_text import MAX_UNREAD, FoundPlan, Unread, marked_item

_MAX_DEPTH = 32
_MAX_LISTS = 50
"""Opening brackets that are tried; the plan of an answer is not its fiftieth list."""

_EMPTY_LIST = re.compile(r"\s*(?:```\w*)?\s*\[\s*\]\s*(?:```)?\s*")
_OBJECT_LIST = re.compile(r"\[(?=\s*\{)")
_OTHER_LIST = re.compile(r"""\[(?=\s*["\[])""")
_MARK = re.compile(r'"(?:[^"\\]|\\.)*+"|[{}\[\]"]', re.DOTALL)
_LETTER = re.compile(r"[^\W\d_]")


def read_json(text: str) -> FoundPlan | None:
    """The plan of the first list of action objects, else of the first list of action strings or lists of strings."""
    if "[" not in text:
        return None
    if _EMPTY_LIST.fullmatch(text):
        return FoundPlan([])
    return _first_list(text, _OBJECT_LIST, action_of_object) or _first_list(text, _OTHER_LIST, action_of_value)


def action_of_object(value: Any) -> Action | None:
    """The action of a T-Eval object, None for anything else. Named arguments become ``key=value``, sorted by key.

    >>> action_of_object({"name": "GetWeather", "args": {"city": "Paris", "days": 2}, "id": 0})
    ('getweather', 'city=paris', 'days=2')
    """
    if not isinstance(value, Mapping) or not isinstance(value.get("name"), str) or not value["name"].strip():
        return None
    arguments = value.get("args")
    texts: Iterable[str]
    if arguments is None or arguments == "":
        texts = ()
    elif isinstance(arguments, Mapping):
        texts = (f"{key}={_argument(arguments[key])}" for key in sorted(arguments, key=str))
    elif isinstance(arguments, (list, tuple)):
        texts = map(_argument, arguments)
    else:
        texts = (_argument(arguments),)
    return (value["name"].strip().lower(), *(text.lower() for text in texts))


def action_of_value(value: Any) -> Action | None:
    """The action of a string, of a sequence of strings or of a T-Eval object, None for anything else.

    >>> action_of_value("stack(a, B)"), action_of_value(["stack", "a", "B"]), action_of_value("wave goodbye")
    (('stack', 'a', 'b'), ('stack', 'a', 'b'), ('wave goodbye',))
    """
    if isinstance(value, str):
        text = value.strip()
        item = marked_item(text, 0)
        if item and len(item[0]) == 1 and item[1] == len(text):
            return next(iter(item[0]))
        return (" ".join(text.lower().split()),) if _LETTER.search(text) else None
    if isinstance(value, (list, tuple)):
        if not value or not all(isinstance(part, str) for part in value) or not value[0].strip():
            return None
        return tuple(part.strip().lower() for part in value)
    return action_of_object(value)


def sorted_by_id(values: Sequence[Any]) -> list[Any]:
    """T-Eval's order: by ``id`` where every value is an object with a whole number there, else as written."""
    if all(isinstance(value, Mapping) and isinstance(value.get("id"), int) for value in values):
        return sorted(values, key=lambda value: int(value["id"]))
    return list(values)


def _argument(value: Any) -> str:
    return value.strip() if isinstance(value, str) else json.dumps(value, sort_keys=True, ensure_ascii=False)


def _first_list(text: str, opening: re.Pattern[str], action_of: Callable[[Any], Action | None]) -> FoundPlan | None:
    """The first list that begins with an action."""
    for _, match in zip(range(_MAX_LISTS), opening.finditer(text), strict=False):
        values, unread, complaint = _elements(text, match.end(), action_of)
        if values:
            steps = [{action} for value in sorted_by_id(values) if (action := action_of(value))]
            return FoundPlan(steps, [Unread.in_text(text, offset) for offset in unread[:MAX_UNREAD]], complaint)
    return None


def _elements(text: str, position: int, action_of: Callable[[Any], Action | None]) -> tuple[list[Any], list[int], str]:
    """The elements of the list after its opening bracket, as far as it can be followed.

    Those that are actions, the positions of those that are not, and what cut the list short; nothing where the first
    element is none.
    """
    values: list[Any] = []
    unread: list[int] = []
    while True:
        position = _after_blanks(text, position)
        if text.startswith("]", position):
            return values, unread, ""
        value, end = _value(text, position)
        if action_of(value):
            values.append(value)
        elif values:
            unread.append(position)
        else:
            return [], [], ""
        if not end:
            return values, unread, "the JSON list is cut off or broken inside an element"
        position = _after_blanks(text, end)
        if text.startswith(",", position):
            position += 1
        elif not text.startswith("]", position):
            return values, [*unread, position], "the JSON list is not closed"


def _after_blanks(text: str, position: int) -> int:
    while text[position : position + 1].isspace():
        position += 1
    return position


def _value(text: str, position: int) -> tuple[Any, int]:
    """The object, list or string that begins here, and its end.

    None where it is not JSON; the end is 0 where it does not end, nests too deeply or is something else.
    """
    depth = 0
    for mark in _MARK.finditer(text, position):
        symbol = mark[0]
        if symbol == '"' or (depth == 0 and mark.start() != position):
            break
        depth += (symbol in "{[") - (symbol in "}]")
        if depth > _MAX_DEPTH:
            break
        if depth <= 0:
            try:
                return json.loads(text[position : mark.end()]), mark.end()
            except ValueError:
                return None, mark.end()
    return None, 0
