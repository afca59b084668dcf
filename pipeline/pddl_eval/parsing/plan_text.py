"""Plans written as text: actions, line by line or in sentences, with fences, bullets, numbers, labels and comments.

A line is read whole or not at all: leads (``2.``, ``Step 2:``, ``0.000:``, a bullet, a label), then items apart by
separators, then a comment. An item is ``(take a b)``, ``take(a, b)``, ``take (a, b)``, ``{x(p), y}`` or, between
separators, a bare name. ``read_plain`` is the short way for texts of nothing but items, and reads them as
``read_lines`` does. Every pattern is possessive (an attempt that fails is not retried in another way), so that no text
costs more than a few passes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from typing import NamedTuple

from pddl_eval.model import Action
from pddl_eval.parsing.patterns import re

Step = Action | frozenset[Action]
"""An action; or the concurrent actions that stand in braces, be it one or none."""

_TimedStep = tuple[str | None, Step]

MAX_ACTIONS = 50_000
"""The step that exceeds these and the steps after it are left out, and the reason says so."""

MAX_UNREAD = 20
"""Places that are kept and counted."""

EXCERPT = 60
"""Characters of a text that are quoted to a person."""

PIECES_KEPT = 20_000
PIECE_CHARACTERS = 120
"""Short pieces of text are kept with their actions: the plans of a dataset are made of few."""


@dataclass(frozen=True, slots=True)
class Unread:
    """A place where a step should be and could not be read; line and column count from 1."""

    line: int
    column: int
    text: str

    @staticmethod
    def at(line: int, column: int, text: str) -> Unread:
        """The place where this text begins, blanks aside."""
        stripped = text.lstrip()
        return Unread(line, column + len(text) - len(stripped), stripped[:EXCERPT].split("\n", 1)[0].strip())

    @staticmethod
    def in_text(text: str, offset: int) -> Unread:
        """The place at this offset of the whole text."""
        column = offset - text.rfind("\n", 0, offset)
        return Unread.at(text.count("\n", 0, offset) + 1, column, text[offset : offset + EXCERPT])

    def __str__(self) -> str:
        return f"line {self.line}, column {self.column}: {self.text!r}"


class FoundPlan(NamedTuple):
    """What one notation's reader found: the steps, the places it could not read, and what cut it short, in words."""

    steps: Sequence[Step]
    unread: Sequence[Unread] = ()
    complaint: str = ""


def actions_of(step: Step) -> frozenset[Action]:
    """The actions of a step.

    >>> actions_of(("pick", "a"))
    frozenset({('pick', 'a')})
    """
    return step if isinstance(step, frozenset) else frozenset((step,))


_NAME = r"[^\W\d](?:[\w@/+]|\.(?=\w)|-(?!>))*+"
_TOKEN = r"(?:[^\s(){}\[\]<>,;.!?:]|[.?:](?=\w))++"
_DURATION = r"(?:[ \t]*+\[(?:D:)?\d[^\[\]\n]*+\])?+"
_PDDL = rf"\(\s*+{_NAME}(?:[\s,]++{_TOKEN})*+[\s,]*+\){_DURATION}"
_ARGUMENTS = r"(?:[^(){}\n]|\([^(){}\n]*+\)|\{[^(){}\n]*+\})*+"
_CALL = (
    rf"{_NAME}(?:\({_ARGUMENTS}\)"  # anything in parentheses behind a name …
    rf"|[ \t]++\([ \t]*+(?:{_TOKEN}[ \t]*+(?:,[ \t]*+{_TOKEN}[ \t]*+)*+)?\)){_DURATION}"  # … names, behind a blank
)
_BARE = rf"{_NAME}(?=\s*+\.?+\s*+(?:[,;\]}}]|[-=]++>|[→⇒]|$))"
_WORDS = r"(?:and|then|next|finally|lastly|first|afterwards|followed\ by)\b(?![(-])"
_LINK = rf"(?:[\s,→⇒]|[-=]++>|{_WORDS})"
_TIME = r"(?:\d+(?:\.\d+)?\s*+:)"
_STEP = r"(?:step|action|move|time)\s*+\#?\d+"
_NUMBER = rf"(?:(?:\(?\d+\s*+[.)](?!\d)|{_STEP}\s*+[:.–—-])(?!\s*+(?:[,;→⇒]|[-=]++>|{_WORDS}|\d+\s*+[.)]|$)))"
_GAP = rf"(?:{_LINK}*+(?:(?<=\S);{_LINK}*+)?+(?:(?:{_TIME}|{_NUMBER})\s*+)?+)"
_STRONG_GAP = rf"(?:(?=\s*+(?:[,→⇒]|(?<=\S);|[-=]++>|{_WORDS}|{_TIME}|{_NUMBER})){_GAP})"
# Blanks alone separate items of one notation only: what follows in `pick(a) (frees b)` is a remark.
_FLAT = rf"(?:{_PDDL}(?:\s*+{_PDDL})*+|{_CALL}(?:\s++{_CALL})*+|{_BARE}(?:\s*+\.)?+)"
_BRACES = rf"\{{(?:{_GAP}{_FLAT}(?:{_STRONG_GAP}{_FLAT})*+)?+[\s,;]*+\}}{_DURATION}"
_ITEM = rf"(?:{_FLAT}|{_BRACES}(?:\s*+{_BRACES})*+)"
_ITEMS = rf"{_GAP}{_ITEM}(?:{_STRONG_GAP}{_ITEM})*+"
_LEAD = rf"""(?:
    (?:action|step|move|operator)\(e?s\)[^(){{}}\[\],;:=\n]{{0,80}}+:(?=\s*+(?:$|[(\[{{]|{_CALL}))
    | (?!{_PDDL}|{_CALL}|\{{)(?:
        {_TIME} | {_NUMBER}
        | [a-z][.)](?=\s++(?!{_WORDS})(?:[^\W\d]|[({{])) | \d+(?=\s++[(\w|]) | {_STEP}(?=\s)
        | [>|+•·‣◦▪●○\#–—→-]++
        | \[ | \((?=\s*+(?:[({{]|$))
        | [^(){{}}\[\],;:=\n]{{1,80}}+(?::|=(?!>))
    )
)\s*+"""
_LINE = re.compile(
    rf"""\s*+(?P<leads>(?:{_LEAD})*+)(?P<items>{_ITEMS})?+
    (?P<joined>(?:{_LINK}|;(?=\s*+$))*+)(?P<closing>(?:[\])][\s,;]*+)*+)(?P<rest>.*+)""",
    re.VERBOSE | re.IGNORECASE | re.DOTALL,
)
_NEXT = re.compile(
    rf"""(?:{_LINK}|;)*+(?:(?P<time>\d+(?:\.\d+)?)\s*+:\s*+|{_NUMBER}\s*+)?+
    (?:\((?P<pddl>[^()]*+)\)|\{{(?P<braces>(?:[^{{}}]|\{{[^{{}}]*+\}})*+)\}}
    |(?P<name>{_NAME})(?:[ \t]*+\((?P<arguments>{_ARGUMENTS})\))?+){_DURATION}(?:\s*+\.)?+""",
    re.VERBOSE | re.IGNORECASE,
)
_COMMENT = re.compile(r"\s*+(?:[;.:#|=–—]|//|--?\s|$)")
_NOT_STEPS = re.compile(r"\s*+(?:#|//)")
_ONLY_ITEMS = re.compile(rf"{_ITEMS}[\s,;.]*+$", re.VERBOSE | re.IGNORECASE)
_REMARK = re.compile(r"(?!\s*\d)[^(){}\[\]]*+$")
_NUMBERED = re.compile(r"\d|\b[a-z][.)]", re.IGNORECASE)
_BULLET = re.compile(r"[>|+•·‣◦▪●○\#–—→-]")
_LIST = re.compile(r"\[|\((?!\d|e?s\))")
_MAX_LISTS = 8
"""Brackets around a list of steps, one in the other."""
_LIKE_ACTION = re.compile(rf"[({{]|{_NAME}[ \t]*+\([^()]*+\)[\s,;.]*+$")
_STATES = r"init|initial\w*|goals?|states?|facts?|objects?|pre-?conditions?|effects?"
_ABOVE_STATES = re.compile(rf"\b(?:{_STATES})\b", re.IGNORECASE)
_BEFORE_STATES = re.compile(rf"\b(?:{_STATES}|requires|results?|adds|deletes|note)\b", re.IGNORECASE)
"""In a label: atoms or prose follow it, not actions; up to a blank line where it has a line of its own."""
_STAR = re.compile(r"(?m)^([ \t]*+)\*(?=[ \t])")
_FENCE = re.compile(r"\s*+(?:```|~~~)[\w+-]*+\s*$")
_HEADING = re.compile(r"\s*+#|.*:\s*$")
_COMMENT_LINE = re.compile(r"\s*+(?:;|//)")
_BRACES_AND_LINE = re.compile(r"\{[^{}]*+\}[^\n]*+")
_MARKUP = str.maketrans(dict.fromkeys("`*\"'“”‘’", " "))
"""Emphasis and quotes say nothing about a plan; a blank for each keeps the columns right."""

_WORD = r"[^\W\d][\w@/+-]*+"
_PLAIN_PDDL = rf"{_WORD}(?:[ \t]++[\w@/+-]++)*+[ \t]*+"
_PLAIN_NAME = rf"(?!{_WORDS}){_WORD}[ \t]*+"
_PLAIN_NAMES = rf"(?=[ \t]*+[\n,])[\s,]*+((?:{_PLAIN_NAME},[ \t,]*+)*+"
_PLAIN_CALL = rf"(?:{_WORD}|{_PLAIN_NAME})\((?:[\w@/+-]++(?:,[ \t]*+(?=\w))?+)*+"
_PLAIN_PIECE = re.compile(rf"{_PLAIN_NAMES})(\({_PLAIN_PDDL}|{_PLAIN_CALL}|\{{)", re.VERBOSE | re.IGNORECASE)
_PLAIN_END = re.compile(rf"{_PLAIN_NAMES}(?:{_PLAIN_NAME})?+)[\s,]*+", re.VERBOSE | re.IGNORECASE)
_LOOSE = re.compile(r"[\w@/+-][ \t]*+(?:(?<=[ \t])\(|,[\s,]*+\{)")
"""A blank before a parenthesis, or a bare name before a brace: where braces may go over lines, these are not plain."""
_PLAIN_BARE = re.compile(rf"[ \t]*+{_PLAIN_NAME}", re.VERBOSE | re.IGNORECASE)
_PLAIN_LINE = re.compile(
    rf"""\s*+((?:step\ )?+(\d+(?:\.\d+)?)\s*+:|\d+[.)]|[-•])?+\s*+
    (\({_PLAIN_PDDL}|{_PLAIN_CALL})\)(?:\s*+\[[\d.]++\])?+\s*+$""",
    re.VERBOSE | re.IGNORECASE,
)

_OPEN, _CLOSE = ("{",), ("}",)
"""The braces around concurrent actions, among actions: none of these has such a name."""


class _Kept(dict[str, Action]):
    """The action or brace that ``read`` finds in a piece of text; ``KeyError`` for a piece that is not just one."""

    def __init__(self, read: Callable[[str], Sequence[Action]]) -> None:
        super().__init__()
        self.read = read

    def __missing__(self, piece: str) -> Action:
        found = self.read(piece)
        if len(found) != 1:
            raise KeyError(piece)
        if len(piece) <= PIECE_CHARACTERS:
            if len(self) >= PIECES_KEPT:
                self.clear()
            self[piece] = found[0]
        return found[0]


def _read_piece(piece: str) -> Sequence[Action]:
    """The actions up to what ends a piece: ``)`` of the last one, as in ``, noop, stack(a, b``, or a brace."""
    if match := _PLAIN_PIECE.fullmatch(piece):
        last = _OPEN if match[2] == "{" else _action(match[2].replace("(", " ").replace(",", " "))
        return [*_names(match[1]), last]
    if piece.endswith("}"):
        return [*_read_end(piece[:-1], "\n" not in piece), _CLOSE]
    raise KeyError(piece)


def _read_end(text: str, one_line: bool) -> Sequence[Action]:
    """The bare names behind the last parenthesis, if any; on several lines they may be prose."""
    if not text.strip(" \t\n,"):
        return ()
    if one_line and (match := _PLAIN_END.fullmatch(text)):
        return _names(match[1])
    raise KeyError(text)


def _read_name(text: str) -> Sequence[Action]:
    return _names(text) if _PLAIN_BARE.fullmatch(text) else ()


def _names(text: str) -> Sequence[Action]:
    return [(name,) for name in text.lower().replace(",", " ").split()]


_ACTIONS, _NAMES = _Kept(_read_piece), _Kept(_read_name)


def read_plain(text: str) -> tuple[Step, ...]:
    """The steps of a text of nothing but actions and braces with commas or line breaks between them; else none.

    >>> read_plain("take(A), {x(p), y}, (drop a)")[::2]
    (('take', 'a'), ('drop', 'a'))
    """
    try:
        if "{" in text or "}" in text:
            if "\n" in text.strip() and _LOOSE.search(text):
                return ()
            # Each brace ends a piece, as a closing parenthesis does.
            return _grouped(_plain(text.replace("{", "{),").replace("}", "})")))
        if "(" in text:
            return _plain(text)
        return tuple(map(_NAMES.__getitem__, text.strip(" \t\n,").split(",")))
    except KeyError:
        return ()


def _plain(text: str) -> tuple[Action, ...]:
    """The actions and braces of all pieces."""
    *pieces, rest = f"\n{text}\n".split(")")
    try:
        actions = tuple(map(_ACTIONS.__getitem__, pieces))
    except KeyError:
        read = ((_ACTIONS[piece],) if piece in _ACTIONS else _read_piece(piece) for piece in pieces)
        actions = tuple(chain.from_iterable(read))
    if rest == "\n":
        return actions
    return *actions, *_read_end(rest, "\n" not in text.strip())


def _grouped(actions: Iterable[Action]) -> tuple[Step, ...]:
    """The steps of actions and braces; none where braces do not pair up."""
    steps: list[Step] = []
    inside: list[Action] | None = None
    for action in actions:
        if action is _OPEN and inside is None:
            inside = []
        elif action is _CLOSE and inside is not None:
            steps.append(frozenset(inside))
            inside = None
        elif action is _OPEN or action is _CLOSE:
            return ()
        elif inside is None:
            steps.append(action)
        else:
            inside.append(action)
    return tuple(steps) if inside is None else ()


def read_lines(text: str) -> FoundPlan | None:
    """The plan of the first fence that holds one, else of the lines outside all fences.

    None where nothing looks like an action; no steps where something does and cannot be read.
    """
    if plain := _plain_lines(text):
        return FoundPlan(_in_time(plain))
    lines = (_STAR.sub(r"\1-", text) if "*" in text else text).translate(_MARKUP)
    if "{" in lines:  # braces over several lines are brought onto the first one
        lines = _BRACES_AND_LINE.sub(lambda match: match[0].replace("\n", " ") + "\n" * match[0].count("\n"), lines)
    found, damaged, by_line = None, list[Unread](), lines.split("\n")
    has_fence = "```" in text or "~~~" in text
    for numbers, fenced in _blocks(text.split("\n")) if has_fence else [(range(len(by_line)), False)]:
        block = _read_block(by_line, numbers, fenced)
        if block.damaged and not block.steps:
            damaged += block.unread
        if block.steps and not found:
            found = block
        elif block.first and found and not set(block.steps) <= set(found.steps):
            found.unread.append(block.first)
    if found:
        return FoundPlan(found.steps, found.unread, found.complaint)
    return FoundPlan((), damaged) if damaged else None


def _plain_lines(text: str) -> list[_TimedStep]:
    """The steps of a text of nothing but plain lines and comments; else none."""
    steps: list[_TimedStep] = []
    for line in text.split("\n"):
        if plain := _PLAIN_LINE.match(line):
            time, inside = plain.group(2, 3)
            steps.append((time, _ACTIONS[f"\n{inside}"]))
        elif line and not line.isspace() and not _COMMENT_LINE.match(line):
            return []
    return steps


_SENTENCE = re.compile(rf"(?<![\w@/+.-]){_NAME}\({_ARGUMENTS}\)|\([^(){{}}]*+\)|[(){{}}]")


def read_sentences(text: str) -> FoundPlan | None:
    """``take(a)`` wherever it is, and ``(take a)`` where it is emphasised, quoted or marked as code.

    Other parentheses are remarks or actions: they are reported as not read. None where brackets do not pair up.
    """
    steps: list[Step] = []
    unread: list[Unread] = []
    for match in _SENTENCE.finditer(text):
        if len(match[0]) == 1:
            return None
        item, marked = match[0].translate(_MARKUP), text[max(match.start() - 1, 0)] in "`*\"'“‘"
        if _ONLY_ITEMS.match(item) and (marked or item[0] != "("):
            steps += [step for _, step in _steps(item)]
        elif len(unread) < MAX_UNREAD:
            unread.append(Unread.in_text(text, match.start()))
    return FoundPlan(steps, unread) if steps else None


def steps_of(text: str) -> list[Step]:
    """The steps of a text that is nothing but steps on one line, bare names too; empty for any other text.

    >>> steps_of("2. stack(a, B)"), steps_of("wave goodbye")
    ([('stack', 'a', 'b')], [])
    """
    if "\n" not in text and (plain := read_plain(text)):
        return [*plain]
    line = _LINE.fullmatch(text.replace("\n", " ").translate(_MARKUP))
    if not line or not line["items"] or _LIST.search(line["leads"]) or line["closing"] or line["rest"].strip(" ."):
        return []
    return [step for _, step in _steps(line["items"])]


def _steps(items: str) -> list[_TimedStep]:
    """The steps that a text of nothing but items says, each with its time."""
    steps: list[_TimedStep] = []
    for match in islice(_NEXT.finditer(items), MAX_ACTIONS + 1):
        if match["braces"] is not None:
            step: Step = frozenset(chain.from_iterable(actions_of(part) for _, part in _steps(match["braces"])))
        elif match["pddl"]:
            step = _action(match["pddl"].replace(",", " "))
        else:
            step = (match["name"].lower(), *_arguments((match["arguments"] or "").lower()))
        steps.append((match["time"], step))
    return steps


def _action(pddl: str) -> Action:
    return tuple(pddl.lower().split())


def _arguments(text: str) -> list[str]:
    """Split at the commas outside inner parentheses, at blanks where there is no such comma."""
    if "(" in text:
        parts = re.findall(r"(?:[^,()]|\([^()]*+\))++", text)
    else:
        parts = text.split(",") if "," in text else text.split()
    return [" ".join(part.split()) for part in parts if part.strip()]


def _blocks(lines: Sequence[str]) -> list[tuple[Sequence[int], bool]]:
    """The numbers of the lines of each fence without a PDDL definition, and of those outside of fences as the last."""
    outside: list[int] = []
    fences: list[list[int]] = []
    current = outside
    for number, line in enumerate(lines):
        if not _FENCE.match(line):
            current.append(number)
        elif current is outside:
            fences.append(current := [])
        else:
            current = outside
    plans = [fence for fence in fences if not any("(define" in lines[number].lower() for number in fence)]
    return [*((fence, True) for fence in plans), (outside, False)]


def _unbalanced(line: str) -> bool:
    """True where brackets do not pair up, faces aside."""
    brackets = re.sub(r"[:;]-?[()]", "", line)
    return brackets.count("(") != brackets.count(")") or brackets.count("{") != brackets.count("}")


class _Row(NamedTuple):
    """A line: its steps with their times, and how they are marked as such: by brackets, a lead, a separator at the end.

    Without steps it is prose, or, if ``damaged``, looks like an action. It is reported from ``unread`` on.
    """

    number: int
    steps: Sequence[_TimedStep] = ()
    brackets: bool = True
    led: bool = False
    joined: bool = False
    damaged: bool = False
    unread: int | None = None


class _Block(NamedTuple):
    """What lines say. ``first`` is the first line of actions with brackets, ``damaged`` as in a row."""

    steps: list[Step]
    unread: list[Unread]
    complaint: str
    first: Unread | None
    damaged: bool


def _read_block(lines: Sequence[str], numbers: Sequence[int], fenced: bool) -> _Block:
    """Read the lines that are steps; of the others, report those that should have been."""
    lists: list[str] = []
    read: list[_Row] = []
    about_states = False
    for number in numbers:
        line = lines[number]
        plain = _PLAIN_LINE.match(line)  # `3: (pick a b)`: what most lines look like, at a fifth of the time
        if plain:
            lead, time, inside = plain.groups()
            if not about_states:
                read.append(_Row(number, [(time, _ACTIONS[f"\n{inside}"])], True, lead is not None))
        elif not line or line.isspace():
            about_states = False
        elif not _COMMENT_LINE.match(line) and (match := _LINE.match(line)):
            heading = not _brackets(match) and _HEADING.match(line) and not _unbalanced(line[match.end("leads") :])
            if heading or match.end("leads") == len(line):
                about_states = bool(_ABOVE_STATES.search(line))
            if not heading and not about_states and not _BEFORE_STATES.search(match["leads"]):
                read += filter(None, [_read_line(number, match, fenced, lists)])
    rows = [row for row in read if row.steps]
    bare = [row for row in rows if not row.brackets]
    unread = [(row.number, row.unread) for row in read if row.unread is not None]
    if bare and (len(rows) < len(read) or not _alike(rows)):
        rows = [row for row in rows if row.brackets]
        unread = sorted([*unread, *((row.number, 0) for row in bare if fenced or row.led or row.joined)])
    first = [(row.number, 0) for row in islice((row for row in rows if row.brackets), 1)]
    places = [Unread.at(at + 1, column + 1, lines[at][column:]) for at, column in [*first, *unread[:MAX_UNREAD]]]
    return _Block(
        _in_time(chain.from_iterable(row.steps for row in rows)),
        places[len(first) :],
        "a list is not closed" if lists and rows else "",
        places[0] if first else None,
        any(row.damaged for row in read),
    )


def _alike(rows: Sequence[_Row]) -> bool:
    """True where lines of bare names are as much of the plan as the others."""
    brackets = any(row.brackets for row in rows)
    return not brackets or all(row.led for row in rows) or all(row.joined for row in rows[:-1])


def _read_line(number: int, line: re.Match[str], fenced: bool, lists: list[str]) -> _Row | None:
    """The line's steps, or what is wrong with it; None for one without words. ``lists`` are the open brackets."""
    leads, rest, brackets = line["leads"], line["rest"], _brackets(line)
    opened, closed = _LIST.findall(leads), re.findall(r"[)\]]", line["closing"])
    paired = len(lists) + len(opened) <= _MAX_LISTS and [*lists, *opened].count("[") < 2  # the rest is JSON
    lists += opened if paired else ()
    paired &= all(lists and lists.pop() + bracket in ("()", "[]") for bracket in closed)
    paired &= not _unbalanced(line["items"] or "") or _unbalanced(leads)  # `1) a 2) b`, but not `a, 12) b`
    if not line["items"] and not rest and paired:
        return None
    numbered = bool(_NUMBERED.search(leads))
    led = numbered or bool(_BULLET.search(leads))
    comment = _COMMENT.match(rest) if led or rest.strip() != ":" else None  # `Done (twice):` is a heading
    remark = brackets and not closed and (led or fenced) and _REMARK.match(rest)
    if line["items"] and paired and (comment or remark) and not _unbalanced(rest):
        steps = _steps(line["items"])
        if time := re.findall(r"(\d+(?:\.\d+)?)\s*+:", leads):
            steps[0] = (time[-1], steps[0][1])
        more = comment and "(" in rest and not _NOT_STEPS.match(rest) and _ONLY_ITEMS.match(rest, comment.end())
        return _Row(
            number, steps, brackets, led, bool(line["joined"].strip()), unread=line.start("rest") if more else None
        )
    start = line.end("leads")
    like = brackets or not paired or _unbalanced(line[0][start:]) or bool(_LIKE_ACTION.match(line[0], start))
    return _Row(number, damaged=like, unread=0 if like or fenced or numbered else None)


def _brackets(line: re.Match[str]) -> bool:
    return bool(line["items"]) and ("(" in line["items"] or "{" in line["items"])


def _in_time(steps: Iterable[_TimedStep]) -> list[Step]:
    """The steps, those in sequence with equal times as one: ``0: (a)``, ``0: (b)``, as in a planner's output."""
    groups: list[list[Step]] = []
    before = None
    for time, step in steps:
        now = None if time is None else float(time)
        if now is None or now != before:
            groups.append([step])
        else:
            groups[-1].append(step)
        before = now
    return [group[0] if len(group) == 1 else frozenset().union(*map(actions_of, group)) for group in groups]
