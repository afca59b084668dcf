"""Plans written as a JSON list, T-Eval's ``{"name", "args", "id"}`` objects first of all, anywhere in an answer.

Lists are followed element by element, so that one that was cut off still says what it says. Python's literals become
JSON first, token by token: nothing is evaluated.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from fractions import Fraction
from itertools import chain, islice
from typing import Any, TypeVar

from pddl_eval.definition.budget import spend
from pddl_eval.definition.model import Action, Scheduled
from pddl_eval.definition.pddl.patterns import deferred, re
from pddl_eval.definition.plans.found import (
    MAX_UNREAD,
    Damage,
    ReadPlan,
    Step,
    Unread,
    chosen,
    clock,
    names_of,
)
from pddl_eval.definition.plans.lines import quoting, steps_of

_MAX_LISTS = 50
"""Opening brackets that are tried; the plan of an answer is not its fiftieth list."""

NAME_KEYS = ("name", "action", "operator", "action_name")
_OBJECT = deferred(rf"""["'](?:{"|".join(NAME_KEYS)})["']\s*+:\s*+["']""", re.IGNORECASE)
_WORDS = r"\s*+(?:[\w.-]{1,20}+,\s*+){0,3}+"
_OBJECTS = deferred(rf"\[(?={_WORDS}\{{)")
_LIST = deferred(rf"""\[(?={_WORDS}["'\[({{])""")
_NEXT_OBJECT = deferred(r"\}\s*+,\s*+(?=\{)")
_TO_NEXT = deferred(r"\}(?=[^\n{]*+\n)((?:\s|</?tool_call>)*+)\{")
_PART = deferred(r"[,\])]\s*+$")
_MORE = deferred(r"""\s*+(?:[\])]|,\s*+(?:[\])\[({]|"[^"\n]*+"(?!\s*+:)|'[^'\n]*+'(?!\s*+:)))""")
"""Before and after a list that is a part of something, or all that is left of it."""
_DOUBLE, _SINGLE = r'"(?:[^"\\]|\\.)*+"', r"'(?:[^'\\]|\\.)*+'"
_END_OF_VALUE = deferred(r"""\s*+(?:\}|,\s*+"[^"\n]*+"\s*+:)""")
_APART = deferred(r"```|\n[ \t]*+\n|^\s*+[^\W\d]|^\s*+[#*]", re.MULTILINE)
_BLANKS = deferred(r"(?:\s|(?:;|#|//)[^\n]*+)*+")
_PYTHON = deferred(rf"{_DOUBLE}|{_SINGLE}|\b(?:True|False|None)\b|,(?=\s*+[}}\])])|[()]", re.DOTALL)
_IN_JSON = {"True": "true", "False": "false", "None": "null", ",": "", "(": "[", ")": "]"}
Said = TypeVar("Said")

_OPENING = deferred(r"[\[{](?=\s*+[\[{(\"'\]}])")
_DECODER = json.JSONDecoder(strict=False)
_STARTS = ("start", "start_time", "time")
_LASTS = ("duration", "dur")
_ENDS = ("end", "end_time")
ARGUMENT_KEYS = ("args", "arguments", "parameters", "params", "objects")


def read_json(text: str, answer: str = "first", operators: Collection[str] | None = None) -> ReadPlan | None:
    """The plan of the first list that begins with an action object, else with a text of steps or a list of strings.

    With ``answer`` ``last`` it is the last such list, where prose or a fence separates it from those before. Without
    steps where there are action objects that cannot be read. An element that cannot be read is damage; it costs itself.
    """
    objects = _OBJECT.search(text)
    opening = _OBJECTS if objects else _LIST
    first = opening.search(text)
    if objects and not first:
        text = _as_list(text)
        first = opening.search(text)
    if not first:
        return ReadPlan((), (Unread.in_text(text, objects.start()),)) if objects else None
    found, end = _lists(text, opening, first.start(), whole=False) if objects else ([], 0)
    if not found:  # From there on, what is JSON once Python's literals are; the line breaks stay.
        in_json = text[: first.start()] + _PYTHON.sub(_json_of_python, text[first.start() :])
        found, end = _lists(in_json, opening, first.start(), whole=not objects)
        text = in_json
    if objects and not found:
        return ReadPlan((), (Unread.in_text(text, first.start()),))
    if not found or (not objects and _PART.search(text[max(first.start() - 9, 0) : first.start()])):
        return None
    plan = chosen(found, answer)
    around = (text[: first.start()] + text[end:]).split("\n")
    return plan._replace(skipped=quoting(around, operators or names_of(plan.steps)))


def _lists(text: str, opening: re.Pattern[str], start: int, whole: bool) -> tuple[list[ReadPlan], int]:
    """The plans of all lists here that other text than JSON separates, and where the last of them ends."""
    found: list[ReadPlan] = []
    end = start
    for match in islice(opening.finditer(text, start), _MAX_LISTS):
        if match.start() < end or (found and not _APART.search(text, end, match.start())):
            continue
        if read := _elements(text, match.start(), whole):
            found.append(read[0])
            end = read[1]
        elif whole:
            break
    return found, end


def _as_list(text: str) -> str:
    """Several objects, one a line as tools are called, as a list; other texts stay."""
    start, end = text.find("{"), text.rfind("}") + 1
    listed, further = _TO_NEXT.subn(r"},\1{", text[start:end])
    if not further:
        return text
    for tag in ("</tool_call>", "<tool_call>"):
        listed = listed.replace(tag, " " * len(tag))
    return f"{text[:start]}[{listed}]{text[end:]}"


def text_here(text: str, position: int) -> str:
    """The JSON string that is the value here; empty where there is none.

    >>> text_here('{"plan": "a\\\\nb"}', 9)
    'a\\nb'
    """
    try:
        value, end = _DECODER.raw_decode(text, position)
    except (ValueError, RecursionError):
        return ""
    return value if isinstance(value, str) and _END_OF_VALUE.match(text, end) else ""


def value_of_text(text: str) -> tuple[Any, str] | None:
    """The JSON list or object, or Python's, from a text's first bracket to its last; None where it is none.

    With the text around it.

    >>> value_of_text("So: {'valid': False}."), value_of_text("[a]"), value_of_text("[1] (a) [2]")
    (({'valid': False}, 'So: .'), None, None)
    """
    opening = _OPENING.search(text)
    begin, end = opening.start() if opening else 0, max(text.rfind("]"), text.rfind("}")) + 1
    around, text = text[:begin] + text[end:], text[begin:end] if opening else ""
    for each in (text, _PYTHON.sub(_json_of_python, text)) if text else ():
        try:
            return _DECODER.decode(each), around
        except (ValueError, RecursionError):
            continue
    return None


def action_of_object(value: Mapping[Any, Any]) -> Action | None:
    """The action of a T-Eval object, None for one without a name or with a start below 0.

    Named arguments become ``key=value``, sorted by key.

    >>> action_of_object({"name": "GetWeather", "args": '{"city": "Paris", "days": 2}', "id": 0})
    ('getweather', 'city=paris', 'days=2')
    """
    value = _lower_keys(value)
    name = next((value[key] for key in NAME_KEYS if key in value), None)
    if not isinstance(name, str) or not name.strip():
        return None
    key = next(filter(value.__contains__, ARGUMENT_KEYS), None)
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
        texts = (f"{str(key).lstrip('?')}={_argument(arguments[key])}" for key in sorted(arguments, key=str))
    else:
        texts = (_argument(arguments),)
    action = (name.strip().lower(), *map(str.lower, texts))
    start, duration, end = (
        _clock(next((value[key] for key in keys if key in value), None)) for keys in (_STARTS, _LASTS, _ENDS)
    )
    if start is not None and start < 0:
        return None
    duration = end - start if duration is None and start is not None and end is not None else duration
    return action if start is duration is None else Scheduled(action, start, duration)


def _clock(value: Any) -> Fraction | None:
    return clock(str(value).strip()) if isinstance(value, (str, int, float)) else None


def steps_of_value(value: Any) -> list[Step]:
    """The steps of a T-Eval object, of a list of a name and arguments, or of a text of steps; empty for anything else.

    >>> steps_of_value("stack(a, B)"), steps_of_value(["stack", "a", "B"]), steps_of_value(7)
    ([('stack', 'a', 'b')], [('stack', 'a', 'b')], [])
    """
    if isinstance(value, str):
        return steps_of(value)
    if isinstance(value, (dict, Mapping)):  # The first of them is found at once.
        action = action_of_object(value)
        if action and "(" in action[0]:  # {"action": "(pick a)"}
            found = steps_of(action[0]) if len(action) == 1 else []
            if isinstance(action, Scheduled) and len(found) == 1 and isinstance(found[0], tuple):
                return [Scheduled(found[0], action.start, action.duration)]
            return found
        return [action] if action else []
    if not isinstance(value, (list, tuple)) or not value or not all(isinstance(part, str) for part in value):
        return []
    name = value[0].strip().lower()
    return [(name, *(part.strip().lower() for part in value[1:]))] if name and "(" not in name else []


def in_order(said: Sequence[tuple[Any, Said]]) -> list[Said]:
    """What values say, in T-Eval's order: by ``id`` where every value is an object with a whole number there."""
    numbers: list[Any] = [_lower_keys(value).get("id") if isinstance(value, Mapping) else None for value, _ in said]
    if all(isinstance(number, int) for number in numbers):
        said = [said[at] for at in sorted(range(len(said)), key=numbers.__getitem__)]
    return [steps for _, steps in said]


def _lower_keys(value: Mapping[Any, Any]) -> Mapping[Any, Any]:
    """The object with keys in lower case; of two that are then equal the first counts."""
    if all(isinstance(key, str) and key.islower() for key in value):
        return value
    return {str(key).lower(): value[key] for key in reversed([*value])}


def _argument(value: Any) -> str:
    return value.strip() if isinstance(value, str) else json.dumps(value, sort_keys=True, ensure_ascii=False)


def _elements(text: str, start: int, whole: bool) -> tuple[ReadPlan, int] | None:  # noqa: C901 (one case an end)
    """The plan of the list here, as far as it can be followed, and its end; None where it is none, or a part."""
    found: list[tuple[Any, list[Step]]] = []
    places: list[tuple[int, int]] = []  # what is not read, and the number of elements before it
    complaint = ""
    position = _after_blanks(text, start + 1)
    while not text.startswith("]", position):
        spend(10)
        steps: list[Step] = []
        try:
            value, end = _DECODER.raw_decode(text, position)
            if not found or type(value) is type(found[0][0]):
                steps = steps_of_value(value)
        except (ValueError, RecursionError):
            after = _NEXT_OBJECT.search(text, position) if not whole and len(places) < MAX_UNREAD else None
            if after:  # only this element is broken
                places.append((position, len(found)))
                position = after.end()
                continue
            complaint = "the JSON list is cut off or broken inside an element"
        if steps:
            found.append((value, steps))
        else:
            places.append((position, len(found)))
        if complaint:
            break
        position = _after_blanks(text, end)
        if text.startswith(",", position):
            position = _after_blanks(text, position + 1)
        elif not text.startswith("]", position):
            if whole and text.startswith(":", position):  # it was a key
                found.pop()
            places.append((position, len(found)))
            complaint = "the JSON list is not closed"
            break
    if not found or (whole and ((places and not _is_plan(found)) or _MORE.match(text, position + 1))):
        return None
    unread = tuple(Unread.in_text(text, place) for place, _ in places[:MAX_UNREAD])
    before = sum(len(steps) for _, steps in found[: places[0][1]]) if places else 0
    damage = Damage(before, str(unread[0])) if places else None
    return ReadPlan(tuple(chain.from_iterable(in_order(found))), unread, complaint, damage=damage), position + 1


def _is_plan(found: Iterable[tuple[Any, Any]]) -> bool:
    """True where the elements that were read are no mere words."""
    return any(isinstance(value, list) or "(" in value for value, _ in found)


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
