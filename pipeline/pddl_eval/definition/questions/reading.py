r"""Answers out of raw texts: sets of atoms or actions, states, indices, yes or no, "none".

The rules are those of plans (``plans.reading``). Thoughts and end tokens are no answer; what stands in ``<answer>`` or
``\boxed{}``, or behind the heading *Final answer:*, is the answer where it says something. A line that holds elements
and no words besides (a label in front of a colon, signs, numbers and mark-up are no words) is a part of the answer;
other lines are prose, and are read only where there is no such line. What stands in a list and cannot be read as an
element of the problem is an element all the same, and a wrong one: nothing is dropped.

Elements are written ``(on a b)``, ``on(a, b)``, in a list or on a line of their own also ``on a b``; negated ones
``(not (on a b))``, ``not on(a, b)``, ``¬(on a b)``; in JSON also as ``{"name": "on", "args": ["a", "b"]}`` and
``["on", "a", "b"]``. Every pattern is possessive: a text costs a few passes.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from typing import Any

from pddl_eval.definition.budget import spend
from pddl_eval.definition.model import Atom, Formula, show_atom, show_formula
from pddl_eval.definition.pddl import too_long, without_thinking
from pddl_eval.definition.pddl.patterns import deferred, re
from pddl_eval.definition.plans.decoration import undecorated, visible
from pddl_eval.definition.plans.grammar import ARGUMENT, NAME, PDDL
from pddl_eval.definition.plans.json import action_of_object, value_of_text
from pddl_eval.definition.plans.reading import EMPTY, NO_ANSWER, marked_texts
from pddl_eval.definition.plans.records import as_lines

MOST_ELEMENTS = 50_000
"""Elements that are read; the row says so where there are more."""

MOST_PLACES = 1_000
"""Mentions of steps that are looked at."""

_SENTENCE = 200
"""Characters before and behind a number in which its sentence is looked for."""

_DEPTH = 8
"""Lists in lists of JSON that are read as such."""

NO_ELEMENT = "nothing of the kind that is asked for was found"

_CALL = rf"(?<![\w@/+.-])({NAME})\(([^(){{}}\[\]\n]*+)\)"
_DENIED = (
    r"(?:not|(?:do|would|should|is)n['’]t)(?:\s++(?:do|choose|pick|select|use|take|apply|execute|perform)\b)?+"
    r"|instead\s++of|rather\s++than"
)
_NOT = rf"(\(\s*+not\s++)|(\b(?:{_DENIED})\s*+(?=\(|[^\W\d][\w-]*+\()|[¬~!]\s*+)"
_IS_FALSE = r"(\s++(?:is|are|becomes?)\s++(?:now\s++)?+(?:false|not\s++true|no\s++longer(?:\s++true)?+)\b)"
_WORDS = rf"(?(1)({NAME}(?:[\s,]++{ARGUMENT})*+)|(?!))"  # (not on a b)
_ELEMENT = deferred(rf"(?:{_NOT})?+(?:{PDDL}|{_CALL}|{_WORDS})(?(1)\s*+\)){_IS_FALSE}?+", re.IGNORECASE)
_PLAIN = deferred(r"[ \t]*+\(([^\W\d][\w-]*+(?: [\w-]++)*+)\)$")
_SPACED_CALL = deferred(
    rf"(?<![\w@/+.-])({NAME})[ \t]++(?=\([ \t]*+(?:{ARGUMENT}[ \t]*+(?:,[ \t]*+{ARGUMENT}[ \t]*+)*+)?+\))"
)
_BRACKETS = deferred(r"\[([^\[\]]*+)\]")
_MARKUP = str.maketrans(dict.fromkeys('`*"“”{}', " "))
_QUOTE = deferred(r"(?<!\w)['‘’]|['‘’](?!\w)")  # No apostrophe: "isn't".
_WRAPPER = deferred(r"(\(\s*+(?:and|:[\w-]++)(?=[\s()]))|[()]", re.IGNORECASE)
_FENCE = deferred(r"(?m)^[ \t]*+(?:```|~~~)[\w+-]*+[ \t]*+$|```")
_FINAL = deferred(
    r"\b(?:final\s++(?:answer|state)\b[^\w\n(\[]*+(?:is\b)?+|answer[*_`\s]*+:)[^\w\n(\[]*+", re.IGNORECASE
)
_LABEL = deferred(r"[^():\[\]\n]{1,120}+:|\s*+(?:answer|result)\b\s*+(?:is\b)?+", re.IGNORECASE)
_NUMBERED = deferred(r"\s*+(?:[-•·+>#|]++\s*+)*+(?:\(?\d{1,6}[.):]++\s++)?+(?:[-•·+>#|]++\s++)*+")
_LINKS = deferred(r"\b(?:and|or|are|is|true|facts?|atoms?|actions?|state)\b|[^\w()]++|\b\d++\b", re.IGNORECASE)
_UNCLOSED = deferred(rf"\(\s*+({NAME})[^()]*+$")
_WORD = deferred(r"[^\W_]")
_SINGLES = deferred(r"(?:\([^\s()]++\)\s*+){2,}+")
_PLAN = deferred(
    r"""(?:\b(?:plan|sequence|order|steps)\b
            (?:(?:(?!\baction\b)[^.;\n(]){0,80}?(?::|\b(?:is|are|be)\b) | [^\w\n(]*+\n)
        | \bstep\ 1\b)
        [^\w(]*+(?:\d{1,3}[.):]++)?+[^\w(]*+\(?+\Z""",
    re.VERBOSE | re.IGNORECASE,
)
_THEN = deferred(
    r"""[^\w(]*?(?:[-=]>|→)
        | [^\w(]*+(?:and\ )?+(?:then|(?:which\ is\ )?+followed\ by|after\ (?:that|which)|afterwards|next)\b""",
    re.VERBOSE | re.IGNORECASE,
)
_NOTHING = (
    r"none|nothing|null|n/?a|no|empty|∅|no\s++(?:such\s++)?+(?:action|atom|proposition|fact|one|landmark|step)s?+"
)
_NONE_LINE = deferred(
    rf"[\W_]*+(?:(?:{_NOTHING})[\W_]*+|\[\s*+\][\s.,;]*+|\(\s*+\)[\s.,;]*+|\{{\s*+\}}[\s.,;]*+|-1[\s.]*+)$",
    re.IGNORECASE,
)
_NONE_SAID = deferred(
    r"""\A\W*+(?:none|nothing)\b | \b(?:there\ (?:is|are)|exists?)\ (?:none|no\ such|no\ (?:\w++\ ){0,4}?
        (?:action|atom|proposition|fact|landmark|step)s?\b)
    | \bnone\ (?:of|are|is|exists?|can|could|needs?)\b | \bno\ such\ \w++
    | \bno\ (?:\w++\ ){0,3}?(?:action|atom|proposition|fact|landmark|step)s?\ (?:is|are|exists?|can|could|that|to)\b
    | \bempty\ (?:set|list)\b | \bno\ (?:\w++\ ){0,3}?(?:in|un)(?:applicable|reachable|executable)""",
    re.VERBOSE | re.IGNORECASE,
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Elements:
    """The elements that an answer names: atoms or actions, and ``("not", atom)``.

    ``none``: it says that there is none. ``damage`` are places of a list that cannot be read. ``reason`` says why
    nothing was found; ``found`` is False then.
    """

    elements: tuple[Formula, ...] = ()
    none: bool = False
    damage: tuple[str, ...] = ()
    reason: str = ""

    @property
    def found(self) -> bool:
        return bool(self.elements or self.damage or self.none)


def answer_text(text: str, answer: str = "first") -> str:
    """What counts of a raw answer, JSON as lines, without mark-up; empty where it says nothing.

    ``answer`` says which of several marked answers, the ``first`` or the ``last``.

    >>> answer_text("<think>(a)</think> So: <answer>**(b c)**</answer>").strip()
    '(b c)'
    >>> answer_text('{"positive": [{"name": "on", "args": ["a", "b"]}], "negative": []}')
    'positive:\\n(on a b)\\nnegative:\\nnone'
    """
    if too_long(text):
        return ""
    text = visible(without_thinking(text.replace("\r\n", "\n").replace("\r", "\n")))
    if marked := [each for each in marked_texts(text) if each.strip()]:
        text = marked[-1 if answer == "last" else 0]
    elif (final := [*_FINAL.finditer(text)]) and text[final[-1].end() :].strip():
        text = text[final[-1].end() :]
    text = _FENCE.sub(" ", text)
    found = value_of_text(text)
    if found and (
        not (beside := found[1].strip()) or (found[0] and not (_ELEMENT.search(beside) or _STEP.search(beside)))
    ):
        return "\n".join(_lines(found[0]))
    records = as_lines(text, None)
    if records and not _ELEMENT.search(records[1]):
        text = records[0]
    return _QUOTE.sub(" ", undecorated(text).translate(_MARKUP))


def why_empty(text: str | None) -> str:
    """Why a raw answer says nothing at all; empty where it says something."""
    if text is None:
        return NO_ANSWER
    return too_long(text) or (EMPTY if not without_thinking(text).strip() else "")


def _lines(value: Any, depth: int = 0) -> Iterator[str]:
    """JSON as lines: keys as labels, elements in parentheses, a list in a list in brackets."""
    spend(1)
    if isinstance(value, Mapping):
        action = action_of_object(_as_action(value))
        if action and "(" not in action[0]:
            yield show_atom(action)
            return
        for key, each in value.items():
            yield f"{str(key).replace('_', ' ')}:"
            yield from _lines(each, depth)
    elif isinstance(value, list) and depth < _DEPTH:
        yield from _lines_of_list(value, depth)
    elif isinstance(value, str):
        yield _in_parentheses(value) if depth else value
    elif value is None:
        yield "none"
    else:
        yield str(value) if isinstance(value, bool | int | float) else json.dumps(value)


def _lines_of_list(value: Sequence[Any], depth: int) -> Iterator[str]:
    if not value:
        yield "[none]" if depth else "none"
    elif depth and _is_atom(value):
        yield f"({' '.join(value)})"
    elif depth:
        yield f"[{' '.join(chain.from_iterable(_lines(each, depth + 1) for each in value))}]"
    else:
        for each in value:
            yield from [_in_parentheses(each)] if isinstance(each, str) else _lines(each, depth + 1)


def _as_action(value: Mapping[str, Any]) -> Mapping[str, Any]:
    """An object of an atom is written as that of an action is."""
    return {"name" if key.lower() in ("predicate", "atom", "fact") else key: each for key, each in value.items()}


def _is_atom(value: Sequence[Any]) -> bool:
    """``["on", "a", "b"]``, and not ``["(on a b)", "clear c"]``."""
    return all(isinstance(each, str) and re.fullmatch(r"[^\s(),]++", each) for each in value)


def _in_parentheses(text: str) -> str:
    """An element of a JSON list."""
    text = text.strip()
    if not text or "(" in text or _NONE_LINE.match(text) or ":" in text:
        return text
    negated = re.match(r"(?:not\s++|[¬~!]\s*+)(.++)", text, re.IGNORECASE)
    return f"(not ({negated[1]}))" if negated else f"({text})"


def read_elements(text: str, names: Mapping[str, int], others: Collection[str] = ()) -> Elements:
    """The elements in what ``answer_text`` returns; ``names`` are those known, with the number of their arguments.

    What names one of ``others`` (actions where atoms are asked for, and the other way round) counts only where nothing
    else is said.

    >>> blocks = {"on": 2, "clear": 1, "handempty": 0}
    >>> read_elements("As (on a b) holds, these are true:\\n- (clear a)\\n- not on(a, b)", blocks).elements
    (('clear', 'a'), ('not', ('on', 'a', 'b')))
    >>> read_elements("[on a b, b a, handempty]", blocks).elements
    (('on', 'a', 'b'), ('b', 'a'), ('handempty',))
    >>> read_elements("There is no such atom.", blocks).none
    True
    """
    text = _BRACKETS.sub(lambda found: found[0].replace("\n", ", "), _unwrapped(_as_one(text, names)))
    elements: list[Formula] = []
    damage: list[str] = []
    aside: list[Formula] = []
    said_none = False
    for line in text.split("\n"):
        spend(10)
        found = _of_line(line, names)
        if found is None:
            continue
        if found[0] and all(_name(each) in others and _name(each) not in names for each in found[0]):
            aside += found[0]
            continue
        elements += found[0]
        damage += found[1]
        said_none = said_none or found[2]
        if len(elements) > MOST_ELEMENTS:
            return Elements(reason=f"the answer has more than {MOST_ELEMENTS:,} elements")
    if elements or damage:
        return Elements(tuple(elements), False, tuple(damage))
    if said_none or _NONE_SAID.search(text):
        return Elements(none=True)
    if aside:
        return Elements(tuple(aside))
    quoted = [_element(found) for found in _ELEMENT.finditer(_joined(text, names))]
    known = [each for each in quoted if _name(each) in names]
    chosen = known or [each for each in quoted if _name(each) not in others]
    return Elements(tuple(chosen[:MOST_ELEMENTS]), reason="" if chosen else NO_ELEMENT)


def _unwrapped(text: str) -> str:
    """``(and (on a b) (clear c))`` and ``(:init (on a b))`` as what they hold.

    >>> _unwrapped("(and (on a b) (clear c))").split()
    ['(on', 'a', 'b)', '(clear', 'c)']
    """
    pieces, opened, start = [], [False], 0
    for mark in _WRAPPER.finditer(text):
        if mark[0] != ")":
            opened.append(mark[1] is not None)
        if opened[-1] and mark[0] != "(":
            pieces.append(text[start : mark.start()])
            start = mark.end()
        if mark[0] == ")" and len(opened) > 1:
            opened.pop()
    return " ".join([*pieces, text[start:]])


def mentioned(text: str, names: Mapping[str, int]) -> tuple[Formula, ...]:
    """All elements with known names, wherever they stand.

    >>> mentioned("1. (clear a) and in hand", {"clear": 1})
    (('clear', 'a'),)
    """
    found = map(_element, islice(_ELEMENT.finditer(_joined(text, names)), MOST_ELEMENTS))
    return tuple([each for each in found if _name(each) in names])


def _as_one(text: str, names: Mapping[str, int]) -> str:
    """The words of one element, each in a list's place, as the element: ``["on", "a", "b"]``."""

    def joined(run: re.Match[str]) -> str:
        first, *others = words = run[0].replace("(", " ").replace(")", " ").split()
        is_one = names.get(first.lower()) == len(others) and not any(names.get(each.lower()) == 0 for each in others)
        return f"({' '.join(words)})\n" if is_one else run[0]

    return _SINGLES.sub(joined, text)


def first_of_plan(text: str, elements: tuple[Formula, ...]) -> tuple[Formula, ...]:
    """The elements up to the first of a plan that the answer calls one, or before what it says comes then; else all.

    >>> actions = (("pick-up", "a"), ("stack", "a", "b"))
    >>> first_of_plan("The cheapest plan is: (pick-up a) (stack a b)", actions)
    (('pick-up', 'a'),)
    >>> first_of_plan("(pick-up a) and then stack(a, b)", actions), first_of_plan("(pick-up a), (stack a b)", actions)
    ((('pick-up', 'a'),), (('pick-up', 'a'), ('stack', 'a', 'b')))
    """
    end = 0
    for place, element in enumerate(elements):
        words = map(re.escape, as_atom(element)[0])
        found = re.compile(r"[\s,(]++".join(words), re.IGNORECASE).search(text, end)
        if found is None:
            break
        if place and _THEN.match(text, end):
            return elements[:place]
        if _PLAN.search(text[end : found.start()]):
            return elements[: place + 1]
        end = found.end()
    return elements


def _of_line(line: str, names: Mapping[str, int]) -> tuple[list[Formula], list[str], bool] | None:
    """The elements of a line, what of it cannot be read, and whether it says none; None for prose and blank lines."""
    plain = _PLAIN.match(line)
    if plain and (atom := tuple(plain[1].lower().split()))[0] in names:
        return [atom], [], False  # The usual line: below it is read as the same, in four times the time.
    if not _WORD.search(line) and not _NONE_LINE.match(line) and "]" not in line:
        return None
    label = _LABEL.match(line)
    for body in dict.fromkeys([line, line[label.end() :] if label else line]):
        if _NONE_LINE.match(body) and not any(_name(_element(each)) in names for each in _ELEMENT.finditer(body)):
            return [], [], True  # A domain may have an atom (empty).
        body = _NUMBERED.sub("", body, count=1)
        found = _of_list(_joined(body, names), names)
        if found is not None:
            return found
    return None


def _of_list(body: str, names: Mapping[str, int]) -> tuple[list[Formula], list[str], bool] | None:
    elements = [_element(found) for found in _ELEMENT.finditer(body)]
    rest = _ELEMENT.sub(";", body)
    bare: list[Formula] = []
    for inside in _BRACKETS.findall(rest):
        said = (_NUMBERED.sub("", piece, count=1) for piece in re.split(r"[,;]", inside))
        said = (each for each in said if _WORD.search(each) and (_is_bare(each, names) or not _NONE_LINE.match(each)))
        bare += map(_bare, said)
    outside = _BRACKETS.sub(" ", rest)
    left = _LINKS.sub(" ", outside)
    if not _WORD.search(left):
        broken = [body.strip()] if "(" in left or ")" in left else []
        is_list = elements or bare or broken or _BRACKETS.search(rest)
        return ([*elements, *bare], broken, not (elements or bare or broken)) if is_list else None
    pieces = [piece for piece in re.split(r"[,;]|\band\b", _NUMBERED.sub("", rest, count=1)) if _WORD.search(piece)]
    if all(_is_bare(piece, names) for piece in pieces):
        return [*elements, *map(_bare, pieces)], [], False
    if (
        elements
        and body.lstrip()[:1] == "("
        and re.match(r"[\W_]*+(?:[#;]|//|--|[–—-]\s)", _ELEMENT.sub("", body, count=1))
    ):
        return elements[:1], [], False  # `(on a b) -- why`
    unclosed = _UNCLOSED.search(rest)
    if unclosed and (unclosed[1].lower() in names or unclosed[1].lower() == "not"):
        return elements, [unclosed[0]], False
    return None


def _is_bare(piece: str, names: Mapping[str, int]) -> bool:
    words = _without_not(piece).split()
    return bool(words) and names.get(words[0].lower()) == len(words) - 1


def _bare(piece: str) -> Formula:
    plain = _without_not(piece)
    atom = tuple(plain.lower().split())
    return atom if plain.split() == piece.split(".")[0].split() else ("not", atom)


def _without_not(piece: str) -> str:
    return re.sub(r"\A\W*+(?:not\s++|[¬~!]\s*+)", "", piece.strip(" .\t\r"), flags=re.IGNORECASE)


def _joined(text: str, names: Collection[str]) -> str:
    """``on (a, b)`` as ``on(a, b)``, where that name is known."""
    if " (" not in text and "\t(" not in text:
        return text
    return _SPACED_CALL.sub(lambda call: call[1] if call[1].lower() in names else call[0], text)


def _element(found: re.Match[str]) -> Formula:
    wrapped, before, pddl, name, arguments, bare, is_false = found.groups()
    words = pddl or bare or f"{name} {arguments}"
    atom = tuple(words.lower().replace(",", " ").split())
    return ("not", atom) if wrapped or before or is_false else atom


def _name(element: Formula) -> Formula:
    return as_atom(element)[0][0]


# Several lists


_POSITIVE = r"positive|add(?:ed|s)?+|(?:becom\w++|made|make\w*+|turn\w*+)\s++true|pos|new(?:ly)?\s++true|true(?=\s*+:)"
_NEGATIVE = (
    r"negative|delet\w++|remov\w++|(?:becom\w++|made|make\w*+|turn\w*+)\s++false|neg|no\s++longer\s++true"
    r"|(?:false|not\s++true)(?=\s*+:)"
)
_SIGN = deferred(
    rf"(?<![^\W_])(?:(?P<positive>{_POSITIVE})|(?:{_NEGATIVE}))(?![^\W_])[^:\n(\[]{{0,60}}+(?::|\n|(?=\[)|(?=\()|\b(?:is|are)\b|\Z)",
    re.IGNORECASE,
)
_TURNS = deferred(
    r"""(?:\b(?:becom\w++|turn\w*+|(?:is|are)\s++now)\s++|(?<=\))[\s|:=]++)(?:(?P<positive>true)|false)\b
        | \b(?:(?:is|are)\s++)?+no\s++longer\b(?:\s++true\b)?+""",
    re.VERBOSE | re.IGNORECASE,
)
_PLUS_OR_MINUS = deferred(r"(?m)(?:^[ \t]*+|(?<=[\s,;])(?=.\())(?:(?P<positive>\+)|[-−–])(?=[ \t]*+[\w(])")


def signed_texts(text: str) -> tuple[str, str] | None:
    """What stands under headings such as *Positive effects:* and under *Negative effects:*; None where there are none.

    Also what stands before *becomes true* and *becomes false*, or behind ``+`` and ``-`` where lines or atoms begin
    with both; or two lists in brackets one behind the other.

    >>> signed_texts("Positive effects: [(a)]\\nNegative effects: [(b)]"), signed_texts("[(a)] [(b)]")
    ((' [(a)]\\n', ' [(b)]'), ('[(a)]', '[(b)]'))
    >>> signed_texts("(a) becomes true, (b) becomes false"), signed_texts("+ (a)\\n- (b)")
    (('(a) ', ', (b) '), (' (a)\\n', ' (b)'))
    """
    signs = [*_SIGN.finditer(text)]
    if all(map(_TURNS.match, (sign[0] for sign in signs))):  # Nothing else is a heading.
        turns, before, end = [*_TURNS.finditer(text)], [], 0
        for turn in turns:
            before.append(text[max(end, text.rfind("\n", end, turn.start())) : turn.start()])
            end = turn.end()
        if turns and all(map(_ELEMENT.search, before)):
            signed = [(turn["positive"] is not None, said) for turn, said in zip(turns, before, strict=True)]
            return "".join(said for to, said in signed if to), "".join(said for to, said in signed if not to)
        marks = [*_PLUS_OR_MINUS.finditer(text)]
        signs = marks if len({each["positive"] for each in marks}) == 2 else signs
    if signs:
        parts: dict[bool, str] = {}
        ends = [*[each.start() for each in signs[1:]], len(text)]
        for sign, end in zip(signs, ends, strict=True):
            is_positive = sign["positive"] is not None
            if (said := text[sign.end() : end]).strip() or is_positive not in parts:
                parts[is_positive] = parts.get(is_positive, "") + said
        return parts.get(True, ""), parts.get(False, "")
    lists = _BRACKETS.findall(text)
    if len(lists) == 2 and not _WORD.search(_BRACKETS.sub("", text)):
        return f"[{lists[0]}]", f"[{lists[1]}]"
    return None


_STEP = deferred(
    r"""(?m)^[^\w\n(]*+(?:
            (?:(?:the\s++)?+(?:states?\s++after|state|after|step|time|s|action)\b|(?:after|s|t|state|step)(?=\d))
        [^\w\n(]*+(?:(?:the|step|action|state|time|execut\w++|perform\w++|of|after)\b[^\w\n(]*+){0,4}+
        (?P<number>\d{1,6})(?!\w)
        | (?P<plain>\d{1,6})\s*+[.):]
        | (?P<initial>initial(?:ly)?\b[^\w\n(]*+(?:state\b)?+))""",
    re.VERBOSE | re.IGNORECASE,
)


def numbered_texts(text: str) -> list[tuple[int | None, str]]:
    """The parts of a text that follow *Step 1:*, *After step 2:*, *State 3:*, *4.*; else its lists, blocks or lines.

    Each with its number, 0 of the initial state, None where it has none. A part without words follows its heading.

    >>> numbered_texts("Initially: (a)\\nStep 1: (b)\\nStep 2: (c)")
    [(0, '(a)\\n'), (1, ': (b)\\n'), (2, ': (c)')]
    >>> numbered_texts("[(a) (b)]\\n[(c)]")
    [(None, '(a) (b)'), (None, '(c)')]
    """
    marks = [*_STEP.finditer(text)]
    if marks:
        ends = [*[mark.start() for mark in marks[1:]], len(text)]
        found: list[tuple[int | None, str]] = []
        for mark, end in zip(marks, ends, strict=True):
            number = 0 if mark["initial"] else int(mark["number"] or mark["plain"])
            if found and found[-1][0] == number:
                found[-1] = (number, found[-1][1] + text[mark.end() : end])
            else:
                found.append((number, text[mark.end() : end]))
        return found
    lists = _BRACKETS.findall(text)
    if lists and not _WORD.search(_BRACKETS.sub("", text)):
        return [(None, each) for each in lists]
    blocks = [each for each in re.split(r"\n[ \t]*+\n", text) if _WORD.search(each)]
    if len(blocks) < 2:
        blocks = [each for each in text.split("\n") if "(" in each or "[" in each]
    return [(None, each) for each in blocks]


# Numbers, yes and no


_ORDINALS = [
    "first",
    "second",
    "third",
    "fourth",
    "fifth",
    "sixth",
    "seventh",
    "eighth",
    "ninth",
    "tenth",
    "eleventh",
    "twelfth",
    "thirteenth",
    "fourteenth",
    "fifteenth",
    "sixteenth",
    "seventeenth",
    "eighteenth",
    "nineteenth",
    "twentieth",
]
_ORDINAL = deferred(
    rf"\b(?:({'|'.join(_ORDINALS)})|(\d{{1,6}})(?:st|nd|rd|th))\s++(?:action|step|one|in|of|is|$|(?!in))(?!\s*+(?:in)?applicable)",
    re.IGNORECASE,
)
_COUNTED = deferred(
    r"\b(?:step|index|action|position|number|place|line)s?+\s*+(?:(?:number|index|no\.?|is|was|at|of|=|:|\#)\s*+){0,3}+(\d{1,6})(?![\w-])",
    re.IGNORECASE,
)
_ALONE = deferred(
    r"(?m)^[^\w\n-]*+(?:(?:the\s++)?+(?:final\s++)?+(?:answer|result|index|solution)\b[^\w\n-]*+(?:is\b)?+)?+[^\w\n-]*+(-?+\d{1,6})[^\w\n]*+$",
    re.IGNORECASE,
)
_LONE_NUMBER = deferred(r"(?<![\w.-])(\d{1,6})(?![\w-]|\.\d)")


@dataclass(frozen=True, slots=True)
class Position:
    """A place: ``number`` as said, ``ordinal`` if counted from the *first*, ``is_index`` if called that."""

    number: int
    ordinal: bool = False
    is_index: bool = False


def read_position(text: str, answer: str = "first") -> Position | None:
    """The place that an answer names: ``3``, ``step 3``, ``the third action``; the first or last of several.

    A line that is only a number comes before what sentences say.

    >>> read_position("Step 0 is fine.\\nAnswer: 4"), read_position("the third action").number
    (Position(number=4, ordinal=False, is_index=False), 3)
    """
    at = -1 if answer == "last" else 0
    if alone := [*_ALONE.finditer(text)]:
        return Position(int(alone[at][1]), is_index="index" in alone[at][0].lower())
    text = _ELEMENT.sub(lambda found: found[0] if _COUNTED.match(found[0], 1) else " ", text)  # Not `(index 1)`.
    if ordinals := [
        found for found in islice(_ORDINAL.finditer(text), MOST_PLACES) if not _is_the_question(found, text)
    ]:
        found = ([each for each in ordinals if _FAULTY.search(_clause(text, each.end()))] or ordinals)[at]
        number = _ORDINALS.index(found[1].lower()) + 1 if found[1] else int(found[2])
        return Position(number, ordinal=True)
    if counted := [*islice(_COUNTED.finditer(text), MOST_PLACES)]:
        faulty = [each for each in counted if _FAULTY.search(_sentence(text, each.start()))] or counted
        found = ([each for each in faulty if "index" in each[0].lower()] or faulty)[at]
        return Position(int(found[1]), is_index="index" in found[0].lower())
    lone = _LONE_NUMBER.findall(text)
    return Position(int(lone[at])) if lone else None


def read_step(text: str, answer: str = "first") -> int | None:
    """The step, from 1, that an answer names as a step or an action; the first or last of several.

    >>> read_step("No: step 3 fails."), read_step("No, 2 blocks are held."), read_step("index 0")
    (3, None, 1)
    """
    text = _ELEMENT.sub(" ", text)
    named = any(found for found in _ORDINAL.finditer(text) if not _is_the_question(found, text)) or _COUNTED.search(
        text
    )
    said = read_position(text, answer) if named else None
    return None if said is None else said.number + said.is_index


_FAULTY = deferred(
    r"(?:in|not\s)\s*+(?:applicable|executable|valid)|\b(?:cannot|can\s?not|can't|fails?|violat\w++|first|unmet|is(?:\s++not|n't))\b",
    re.IGNORECASE,
)


def _is_the_question(found: re.Match[str], text: str) -> bool:
    """``the first action that cannot be executed`` repeats the question."""
    after = text[found.end() : found.end() + 40].lower()
    return (found[1] or "").lower() == "first" and re.match(
        r"\s*+(?:that|which|to)\b|\s*+(?:in|un)\w++", after
    ) is not None


def _clause(text: str, position: int) -> str:
    return re.split(r"[,;\n]|\.\s", text[position : position + _SENTENCE], maxsplit=1)[0]


def _sentence(text: str, position: int) -> str:
    before, after = text[max(position - _SENTENCE, 0) : position], text[position : position + _SENTENCE]
    return re.split(r"\n|\.\s", before)[-1] + re.split(r"\n|\.\s", after, maxsplit=1)[0]


_TRUTH = deferred(
    r"""\b(?:(?P<not>(?:is|are|was|be|would\ be)?n[o'’]t\b(?:\ (?:a|an|actually|fully|entirely))?+|never|none
        |no(?:\ (?:step|action))?+)\s++)?+
    (?P<word>valid|correct|executable|invalid|incorrect|works|fails|false|true)\b""",
    re.VERBOSE | re.IGNORECASE,
)
_YES = deferred(
    r"\A\W*+(?:the\s++)?+(?:(?:final\s++)?+answer\b\W*+(?:is\b)?+\W*+)?+(?:(yes|true|valid)|(?:no|false|invalid|not\s++valid))\b(?!\s*+:|\s++\w++\s++action)",
    re.IGNORECASE,
)
_SAID_YES = deferred(r"\banswer\b\W*+(?:is\b)?+\W*+(yes|no|true|false|valid|invalid)\b", re.IGNORECASE)
_REACH = r"reach|achiev|satisf|accomplish"
_GOAL = deferred(
    rf"""(?:\b(?P<not>(?:does\s++not|doesn['’]t|do\s++not|not|never|fails?\s++to)\s++))?+\b(?:{_REACH})\w*+\s++(?:the|its|all|every)\s++(?:\w++\s++){{0,2}}?goals?\b"""
    rf"""|\bgoals?\s++(?:\w++\s++){{0,2}}?(?:is|are)(?P<never>\s++not|n['’]t)?+\s++(?:{_REACH})""",
    re.IGNORECASE,
)
_FALSE_WORDS = frozenset({"invalid", "incorrect", "fails", "false"})


def read_truth(text: str, answer: str = "first") -> bool | None:
    """Yes or no: how an answer begins, else what its sentences say of what is *valid*, the last or first of them.

    >>> read_truth("Yes, it works."), read_truth("The plan is not valid: step 3 fails."), read_truth("Hm.")
    (True, False, None)
    """
    if answers := _SAID_YES.findall(text):
        return str(answers[-1]).lower() in ("yes", "true", "valid")
    if begins := _YES.match(text):
        return begins[1] is not None
    lines = [line for line in text.split("\n") if _YES.match(line)]
    if lines:
        line = _YES.match(lines[0 if answer == "first" else -1])
        assert line is not None
        return line[1] is not None
    said = [(found["word"].lower() in _FALSE_WORDS) == (found["not"] is not None) for found in _TRUTH.finditer(text)]
    if said:
        return said[-1]
    if goals := [*_GOAL.finditer(text)]:
        return goals[-1]["not"] is None and goals[-1]["never"] is None
    words = re.findall(r"\b(yes|no)\b", text.lower())
    return words[-1] == "yes" if words else None


_ANSWER_IS = r"\banswer\b\W*+(?:is\b)?+\W*+"
_LETTERS = (
    deferred(rf"{_ANSWER_IS}(?:option\W*+)?+([A-Z])(?=\W|\Z)", re.IGNORECASE),
    deferred(r"\A\W*+([A-Z])(?=[.):]|\W*+\Z)", re.IGNORECASE),
    deferred(r"^\W*+([A-Z])\W*+$", re.IGNORECASE | re.MULTILINE),
    deferred(r"\b(?:option|choice)\b\W*+(?:is\b)?+\W*+([A-Z])(?=\W|\Z)", re.IGNORECASE),
)
"""The letter of a choice: behind *answer*, at the beginning, on a line of its own, behind *option*."""


def read_letter(text: str, answer: str = "first") -> str | None:
    """The letter of a choice; where *the answer is* is said several times, the last one.

    >>> read_letter("B. (pick-up a)"), read_letter("Option A is wrong. The answer is (C).")
    ('B', 'C')
    """
    for number, pattern in enumerate(_LETTERS):
        if found := pattern.findall(text):
            return str(found[-1 if not number or answer == "last" else 0]).upper()
    return None


def shown_elements(elements: Iterable[Formula]) -> str:
    """Elements as ``read_elements`` reads them."""
    return "\n".join(map(show_formula, elements)) or "none"


def as_atom(element: Formula) -> tuple[Atom, bool]:
    """The atom of an element, and whether it is said to be true."""
    if element[0] == "not" and len(element) == 2 and not isinstance(element[1], str):
        return element[1], False  # type: ignore[return-value]
    return element, True  # type: ignore[return-value]
