"""Plans written as a JSON list, T-Eval's ``{"name", "args", "id"}`` objects first of all, anywhere in an answer.

Lists are followed element by element, so that one that was cut off still says what it says. Python's literals become
JSON first, token by token: nothing is evaluated.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from typing import Any

from pddl_eval.model import Action
from pddl_eval.parsing.patterns import re
from pddl_eval.parsing.plan_text import MAX_UNREAD, FoundPlan, Step, Unread, steps_of

_MAX_LISTS = 50
"""Opening brackets that are tried; the plan of an answer is not its fiftieth list."""

_OBJECT = re.compile(r"""["']name["']\s*+:\s*+["']""")
_OBJECTS = re.compile(r"\[(?=\s*\{)")
_LIST = re.compile(r"""\[(?=\s*["'\[({])""")
_PART = re.compile(r"[,\])]\s*+$")
_MORE = re.compile(r"""\s*+(?:[\])]|,\s*+(?:[\])\[({]|"[^"\n]*+"(?!\s*+:)|'[^'\n]*+'(?!\s*+:)))""")
"""Before and after a list that is a part of something, or all that is left of it."""
_DOUBLE, _SINGLE = r'"(?:[^"\\]|\\.)*+"', r"'(?:[^'\\]|\\.)*+'"
_BLANKS = re.compile(r"(?:\s|(?:;|#|//)[^\n]*+)*+")
_PYTHON = re.compile(rf"{_DOUBLE}|{_SINGLE}|\b(?:True|False|None)\b|,(?=\s*+[}}\])])|[()]", re.DOTALL)
_IN_JSON = {"True": "true", "False": "false", "None": "null", ",": "", "(": "[", ")": "]"}
_Element = tuple[Any, Sequence[Step]]
"""A value and the steps that it says."""

_DECODER = json.JSONDecoder(strict=False)
_ARGUMENTS = ("args", "arguments", "parameters")


def read_json(text: str) -> FoundPlan | None:
    """The plan of the first list that begins with an action object, else with a text of steps or a list of strings.

    Without steps where there are action objects that cannot be read.
    """
    objects = _OBJECT.search(text)
    first = (_OBJECTS if objects else _LIST).search(text)
    if objects and not first:
        return FoundPlan((), (Unread.in_text(text, objects.start()),))
    if not first:
        return None
    for match in islice(_OBJECTS.finditer(text), _MAX_LISTS if objects else 0):
        if found := _elements(text, match.start(), whole=False):
            return found
    # From there on, what is JSON once Python's literals are; the line breaks stay.
    in_json = text[: first.start()] + _PYTHON.sub(_json_of_python, text[first.start() :])
    found = _elements(in_json, first.start(), whole=not objects)
    if objects:
        return found or FoundPlan((), (Unread.in_text(text, first.start()),))
    return None if _PART.search(text[max(first.start() - 9, 0) : first.start()]) else found


def action_of_object(value: Mapping[Any, Any]) -> Action | None:
    """The action of a T-Eval object, None for one without a name. Named arguments become ``key=value``, sorted by key.

    >>> action_of_object({"name": "GetWeather", "args": '{"city": "Paris", "days": 2}', "id": 0})
    ('getweather', 'city=paris', 'days=2')
    """
    name = value.get("name")
    if not isinstance(name, str) or not name.strip():
        return None
    key = next(filter(value.__contains__, _ARGUMENTS), None)
    arguments = None if key is None else value[key]
    if isinstance(arguments, str) and arguments.strip()[:1] in ("{", "["):
        try:
            arguments = _DECODER.decode(_PYTHON.sub(_json_of_python, arguments))
        except (ValueError, RecursionError):
            return None
    texts: Iterable[str]
    if arguments is None or arguments == "":
        texts = ()
    elif isinstance(arguments, (list, tuple)):
        texts = map(_argument, arguments)
    elif isinstance(arguments, Mapping):
        texts = (f"{key}={_argument(arguments[key])}" for key in sorted(arguments, key=str))
    else:
        texts = (_argument(arguments),)
    return (name.strip().lower(), *map(str.lower, texts))


def steps_of_value(value: Any) -> list[Step]:
    """The steps of a T-Eval object, of a list of a name and arguments, or of a text of steps; empty for anything else.

    >>> steps_of_value("stack(a, B)"), steps_of_value(["stack", "a", "B"]), steps_of_value(7)
    ([('stack', 'a', 'b')], [('stack', 'a', 'b')], [])
    """
    if isinstance(value, str):
        return steps_of(value)
    if isinstance(value, (dict, Mapping)):  # The first of them is found at once.
        action = action_of_object(value)
        return [action] if action else []
    if not isinstance(value, (list, tuple)) or not value or not all(isinstance(part, str) for part in value):
        return []
    name = value[0].strip().lower()
    return [(name, *(part.strip().lower() for part in value[1:]))] if name and "(" not in name else []


def sorted_by_id(values: Sequence[Any]) -> list[Any]:
    """T-Eval's order: by ``id`` where every value is an object with a whole number there, else as written."""
    if all(isinstance(value, Mapping) and isinstance(value.get("id"), int) for value in values):
        return sorted(values, key=lambda value: int(value["id"]))
    return list(values)


def _argument(value: Any) -> str:
    return value.strip() if isinstance(value, str) else json.dumps(value, sort_keys=True, ensure_ascii=False)


def _elements(text: str, start: int, whole: bool) -> FoundPlan | None:
    """The plan of the list here, as far as it can be followed; None if it begins otherwise or has to be whole."""
    found, position = _at_once(text, start) or ([], start + 1)
    unread: list[Unread] = []
    complaint = ""
    while not text.startswith("]", position := _after_blanks(text, position)):
        try:
            value, end = _DECODER.raw_decode(text, position)
            steps = steps_of_value(value) if not found or type(value) is type(found[0][0]) else ()
        except (ValueError, RecursionError):
            steps, end = (), -1
            complaint = "the JSON list is cut off or broken inside an element"
        if steps:
            found.append((value, steps))
        elif not found:
            return None
        elif len(unread) < MAX_UNREAD:
            unread.append(Unread.in_text(text, position))
        if complaint:
            break
        position = _after_blanks(text, end)
        if text.startswith(",", position):
            position += 1
        elif not text.startswith("]", position):
            unread.append(Unread.in_text(text, position))
            complaint = "the JSON list is not closed"
            break
    if whole and (unread or _MORE.match(text, position + 1)):
        return None
    steps_by_value = {id(value): steps for value, steps in found}
    ordered = sorted_by_id([value for value, _ in found])
    plan = [step for value in ordered for step in steps_by_value[id(value)]]
    return FoundPlan(plan, unread, complaint) if plan else None


def _at_once(text: str, start: int) -> tuple[list[_Element], int] | None:
    """All elements of the list here and the place of its end; None unless it is JSON and all are steps of one type."""
    try:
        first, _ = _DECODER.raw_decode(text, _after_blanks(text, start + 1))
        if not steps_of_value(first):  # Many such lists may be tried: none is read to its end.
            return None
        values, end = _DECODER.raw_decode(text, start)
    except (ValueError, RecursionError):
        return None
    found: list[_Element] = [(value, steps_of_value(value)) for value in values if type(value) is type(first)]
    return (found, end - 1) if len(found) == len(values) and all(steps for _, steps in found) else None


def _after_blanks(text: str, position: int) -> int:
    match = _BLANKS.match(text, position)
    return match.end() if match else position


def _json_of_python(token: re.Match[str]) -> str:
    """Python's string, constant, comma at an end or tuple's bracket as JSON has it."""
    text = token[0]
    if text[0] not in "\"'":
        return _IN_JSON[text]
    inside = re.sub(r"\\.|\"", lambda part: {"\\'": "'", '"': '\\"'}.get(part[0], part[0]), text[1:-1])
    return f'"{inside}"'
