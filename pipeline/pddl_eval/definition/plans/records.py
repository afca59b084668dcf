"""Steps as records: rows of a table whose header names its columns (Markdown, CSV), items of a YAML list, fields.

They are brought into lines of steps, one for each line of the text. A record names its action beside the arguments; one
that cannot be read, among others that can, becomes a line that is damage. What names variables describes a domain.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from pddl_eval.definition.budget import spend
from pddl_eval.definition.model import Scheduled
from pddl_eval.definition.pddl.patterns import deferred, re
from pddl_eval.definition.plans.found import Operators
from pddl_eval.definition.plans.grammar import NAME
from pddl_eval.definition.plans.json import ARGUMENT_KEYS, NAME_KEYS, action_of_object
from pddl_eval.definition.plans.lines import ABOVE_STATES

_IS_NAME = deferred(rf"{NAME}$")
_WORDS = r"""["'*]*+[^\s:"'*,;()\[\]{}|`-][^:"'*,;()\[\]{}|`\n]{0,40}+["'*]*+[ \t]*+:["'*]{0,2}+"""
_BULLET = r"(?:[-*+•]|\d{1,4}[.)])[ \t]++"
_MAY_BE = deferred(
    rf"""(?im)^[ \t]*+{_BULLET}(?:\{{[ \t]*+\w|{_WORDS}[ \t]*+(?:[\[{{]|$))
    |^[ \t]*+(?:{_BULLET})?+["'*]*+(?:{"|".join((*NAME_KEYS, *ARGUMENT_KEYS))})["'*]*+[ \t]*+:
    |(?:^|[|,;\t])[\ *_`"']*+(?:action|operator|operation|name)s?(?:[\ _]name)?[\ *_`"']*+(?:[|,;\t]|$)""",
    re.VERBOSE,
)
_ITEM = deferred(rf"([ \t]*+){_BULLET}(?=\{{[ \t]*+\w|{_WORDS}(?:[ \t]|$))")
_KEY = deferred(rf"([ \t]*+)(?={_WORDS}(?:[ \t]|$))([^:]++):[\"'*]{{0,2}}+(.*+)")
_FLOW = deferred(r"(?s)\[([^\[\]]*+)\]|\{([^{}]*+)\}")
_COMMENT = deferred(r"(?:^|[ \t])#[^\n]*+")
_ACTION = deferred(r"(?:action|operator|operation)s?(?: name)?$|name$")
_ARGUMENTS = deferred(r"(?:arg(?:ument)?|param(?:eter)?|object)(?:s|\(s\))? ?#?\d*$")
_NUMBERS = deferred(r"(?:step|time ?step|order|index|id|no|nr|number)s?\.?$|#$")
_COMMENT_LINE = deferred(r"\s*+(?:;|//)")
_APART = deferred(r"\"([^\"\n]*+)\"|(\([^()\n]*+\))")
_MOST_COLUMNS = 20
_LONGEST_FLOW = 1_000
_NOTHING = frozenset(["", "-", "–", "—", "none", "n/a", "null", "()", "[]"])
_QUOTES = " \t*_`\"'"


class _Record(NamedTuple):
    """The lines of a record, from the first to before the end; and the line of its step, empty where there is none."""

    start: int
    end: int
    step: str


def as_lines(text: str, operators: Operators | None) -> tuple[str, str] | None:
    """The text with records as lines of steps, and without records; None where it has none.

    >>> as_lines("- action: pick\\n  args: [a, b]\\n- drop: [a]", None)
    ('- pick(a, b)\\n;\\n- drop(a)', ';\\n;\\n;')
    >>> as_lines("step,action,arguments\\n1,pick,a b", None)[0]
    ';\\n| 1 | pick(a b) |  |'
    """
    if not _MAY_BE.search(text):
        return None
    lines = text.split("\n")
    records = [*_items(lines, operators), *_rows(lines, operators)]
    if not any("(" in record.step and "()" not in record.step for record in records):
        return None
    rest = [*lines]
    for start, end, step in records:
        broken = f"(… {lines[start].strip()}"  # not closed: damage
        lines[start:end] = [step or broken, *[";"] * (end - start - 1)]
        rest[start:end] = [";"] * (end - start)
    return "\n".join(lines), "\n".join(rest)


def _items(lines: Sequence[str], operators: Operators | None) -> Iterator[_Record]:
    """The items of lists, and fields below each other, that name an action or its arguments."""
    number, about_states = 0, False
    while number < len(lines):
        spend(10)
        start, number = number, number + 1
        line = lines[start]
        item, field = _ITEM.match(line), _KEY.match(line)
        if field and not field[3].strip():
            about_states = bool(ABOVE_STATES.search(line))
        elif about_states:
            continue
        first = item or field
        if not first or (not item and _key(first) not in NAME_KEYS):
            continue
        if item:
            line = " " * item.end() + line[item.end() :]
        while number < len(lines) and _goes_on(lines[number], first, not item):
            number += 1
        value = _value([line, *lines[start + 1 : number]])
        step = _step_of(value, operators) if isinstance(value, dict) else None
        if step is None:
            number = start + 1  # there may be records inside
        else:
            yield _Record(start, number, step and f"{first[1]}- {step}")


def _goes_on(line: str, first: re.Match[str], are_fields: bool) -> bool:
    """True where a line belongs to the record: it stands further in, or is another of its fields."""
    field = _KEY.match(line) if are_fields else None
    is_field = field is not None and field[1] == first[1] and _key(field) not in NAME_KEYS
    return is_field or line.startswith((f"{first[1]} ", f"{first[1]}\t"))


def _key(field: re.Match[str]) -> str:
    return field[2].strip(_QUOTES).lower()


def _step_of(value: dict[str, Any], operators: Operators | None) -> str | None:
    """The step of an item, empty where it cannot be read; None where it is no step."""
    arguments = next(filter(value.__contains__, ARGUMENT_KEYS), None)
    name = next(filter(value.__contains__, NAME_KEYS), None)
    key, only = next(iter(value.items()), ("", None))
    if len(value) == 1 and not name and not arguments and isinstance(only, (list, dict)):
        if operators and key not in operators:
            return None
        value, arguments = {"name": key, "args": only}, "args"
    elif not arguments and (not name or name == "name"):
        return None
    action = action_of_object(value)
    if action and any(word.startswith("?") for word in action[1:]):
        return None
    if not action or not _IS_NAME.match(action[0]):
        return "" if arguments else None
    step = f"{action[0]}({', '.join(action[1:])})"
    if isinstance(action, Scheduled):
        start = "" if action.start is None else f"{action.start}: "
        step = start + step + ("" if action.duration is None else f" [{action.duration}]")
    return step


def _value(lines: Sequence[str]) -> Any:
    """What the lines of a YAML value say, as far as plans need it: mappings, lists of texts, texts."""
    text = "\n".join(_COMMENT.sub("", line) for line in lines).strip()
    flow = _FLOW.match(text)
    if flow and flow.end() < len(text):
        return text
    if flow and flow[1] is not None:
        return [part.strip(_QUOTES + "\n") for part in flow[1].split(",") if part.strip()]
    if text.startswith("{") and text.endswith("}"):
        return _flow_of(text[1:-1])
    if text.startswith("- "):
        listed = [line.strip() for line in text.split("\n")]
        return [each[2:].strip(_QUOTES) for each in listed] if all(each[:2] == "- " for each in listed) else text
    if "\n" not in text and not _KEY.match(text):
        return text.strip(_QUOTES)
    return _mapping(lines)


def _flow_of(inside: str) -> Any:
    """The mapping `action: pick, args: [a, b]`."""
    if len(inside) > _LONGEST_FLOW:
        return None
    parts = re.split(r",(?![^\[\]{}]*+[\]}])", inside)
    pairs = [part.partition(":") for part in parts if part.strip()]
    return {key.strip(_QUOTES + "\n").lower(): _value([said]) for key, _, said in pairs}


def _mapping(lines: Sequence[str]) -> Any:
    """The mapping whose keys stand where the first one stands; None where there is another line among them."""
    found: dict[str, list[str]] = {}
    base, key = "", ""
    for line in lines:
        at = _KEY.match(line)
        if at and (not found or at[1] == base):
            base, key = at[1], _key(at)
            found[key] = [at[3]]
        elif not found:
            return None
        else:
            found[key].append(line)
    return {key: _value(said if said[0].strip() else said[1:]) for key, said in found.items()}


def _rows(lines: Sequence[str], operators: Operators | None) -> Iterator[_Record]:
    """The rows of tables whose header names the column of the actions; and the headers, as lines without a step."""
    header: list[str] = []
    columns: list[int] = []
    sign, place = "", 0
    for number, line in enumerate(lines):
        spend(10)
        if not line.strip() or line.lstrip().startswith("```"):
            header = []
            continue
        if not header:
            header, sign = _header(line) if not _COMMENT_LINE.match(line) else ([], "")
            if header and sign != "|":
                yield _Record(number, number + 1, ";")
            place = next((at for at, name in enumerate(header) if _ACTION.match(name)), 0)
            columns = [at for at, name in enumerate(header) if _ARGUMENTS.match(name)]
            continue
        cells = _cells(line, sign)
        if len(cells) <= place or not re.search(r"\w", line):
            continue
        more = range(len(header), len(cells)) if columns and columns[-1] == len(header) - 1 else ()
        said = [cells[at].strip(_QUOTES) for at in (*columns, *more) if at < len(cells)]
        step = _step_in(cells[place].strip(_QUOTES), [each for each in said if each.lower() not in _NOTHING], operators)
        if step is None or (sign == "|" and "(" in cells[place]):
            continue
        shown = [step if at == place else "" if at in columns else cell for at, cell in enumerate(cells[: len(header)])]
        yield _Record(number, number + 1, step and f"| {' | '.join(shown if columns else shown[: place + 1])} |")


def _header(line: str) -> tuple[list[str], str]:
    """The names of the columns and the sign between them; nothing where the line is no header of steps."""
    for sign in "|,;\t":
        names = [" ".join(cell.strip(_QUOTES).lower().replace("_", " ").split()) for cell in _cells(line, sign)]
        beside = any(_ARGUMENTS.match(name) or _NUMBERS.match(name) for name in names)
        if len(names) > _MOST_COLUMNS:
            continue
        if sum(map(bool, map(_ACTION.match, names))) == 1 and beside and max(map(len, names)) < 40:
            return names, sign
    return [], ""


def _cells(line: str, sign: str) -> list[str]:
    """The cells of a row; what stands in quotes or in parentheses is in one."""
    if sign not in line:
        return []
    if sign == "|":
        line = line.strip().strip("|")
    line = _APART.sub(lambda found: (found[1] or found[2] or "").replace(sign, " "), line)
    return [cell.strip() for cell in line.split(sign)]


def _step_in(name: str, said: Iterable[str], operators: Operators | None) -> str | None:
    """The step of a row, empty where it cannot be read; None where it is none."""
    arguments = ", ".join(each.strip("()[] ") for each in said)
    if "?" in f"{name}{arguments}" or not (arguments or re.search(r"[^\W\d]", name)):
        return None
    if "(" in name:
        return name
    if _IS_NAME.match(name):
        return f"{name}({arguments})"
    words = name.lower().replace(",", " ").split()
    if words and not arguments and operators and len(operators.get(words[0], ())) == len(words) - 1 > 0:
        return f"({' '.join(words)})"
    return ""
