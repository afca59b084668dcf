"""Plans written as text: actions, line by line or in sentences, with fences, bullets, numbers, labels and comments.

A line is read whole or not at all: leads (``2.``, ``Step 2:``, ``0.000:``, a bullet, a label), then items apart by
separators, then a comment. An item is ``(take a b)``, ``take(a, b)``, ``take (a, b)``, ``{x(p), y}`` or, between
separators, a bare name. ``read_plain`` is the short way for texts of nothing but items, and reads them as
``read_lines`` does. Every pattern is possessive (an attempt that fails is not retried in another way), so that no text
costs more than a few passes.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import NamedTuple

from pddl_eval.model import Action

Step = Action | frozenset[Action]
"""An action; or the concurrent actions that stand in braces, be it one or none."""

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
    rf"|[ \t]++\([ \t]*+(?:{_TOKEN}[ \t]*+(?:,[ \t]*+{_TOKEN}[ \t]*+)*+)?\)){_DURATION}"  # … names, if a blank is between
)
_BARE = rf"{_NAME}(?=\s*+\.?+\s*+(?:[,;\]}}]|[-=]++>|[→⇒]|$))"
_WORDS = r"(?:and|then|next|finally|lastly|first|afterwards|followed\ by)\b(?![(-])"
_LINK = rf"(?:[\s,→⇒]|[-=]++>|{_WORDS})"
_TIME = r"(?:\d+(?:\.\d+)?\s*+:)"
_STEP = r"(?:step|action|move|time)\s*+\#?\d+"
_NUMBER = rf"(?:(?:\(?\d+\s*+[.)](?!\d)|{_STEP}\s*+[:.)–—-])(?!\s*+(?:[,;→⇒]|[-=]++>|{_WORDS}|$)))"
_GAP = rf"(?:{_LINK}*+(?:(?<=\S);{_LINK}*+)?+(?:(?:{_TIME}|{_NUMBER})\s*+)?+)"
_STRONG_GAP = rf"(?:(?=\s*+(?:[,→⇒]|(?<=\S);|[-=]++>|{_WORDS}|{_TIME}|{_NUMBER})){_GAP})"
_FLAT = rf"(?:{_PDDL}(?:\s*+{_PDDL})*+|{_CALL}(?:\s++{_CALL})*+|{_BARE}(?:\s*+\.)?+)"  # blanks separate items of one notation
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
_LIST = re.compile(r"\[|\((?=[\s(\[]*+$)")
_LIKE_ACTION = re.compile(rf"[({{]|{_NAME}[ \t]*+\([^()]*+\)[\s,;.]*+$")
_STATES = r"init|initial\w*|goals?|states?|facts?|objects?|pre-?conditions?|effects?"
_ABOVE_STATES = re.compile(rf"\b(?:{_STATES})\b", re.IGNORECASE)
_BEFORE_STATES = re.compile(rf"\b(?:{_STATES}|requires|results?|adds|deletes|note)\b", re.IGNORECASE)
"""In a label: atoms or prose follow it, not actions; up to a blank line where it has a line of its own."""
_FENCE = re.compile(r"\s*+(?:```|~~~)[\w+-]*+\s*$")
_HEADING = re.compile(r"\s*+#|.*:\s*$")
_COMMENT_LINE = re.compile(r"\s*+(?:;|//)")
_BRACES_AND_LINE = re.compile(r"\{[^{}]*+\}[^\n]*+")
_MARKUP = str.maketrans(dict.fromkeys("`*\"'“”‘’", " "))
"""Emphasis and quotes say nothing about a plan; a blank for each keeps the columns right."""

_WORD = r"[^\W\d][\w@/+-]*+"
_PLAIN_PDDL = rf"{_WORD}(?:[ \t]++[\w@/+-]++)*+[ \t]*+"
_PLAIN_PIECE = re.compile(
    rf"(?=[ \t]*+[\n,])[\s,]*+(?:\(({_PLAIN_PDDL})|({_WORD})\(((?:[\w@/+-]++(?:,[ \t]*+(?=\w))?+)*+))"
)
_PLAIN_END = re.compile(r"[ \t]*+[\n,][\s,]*+")
_PLAIN_LINE = re.compile(
    rf"\s*+(?P<lead>(?P<time>\d+(?:\.\d+)?)\s*+:|\d+[.)]|[-•])?+\s*+\((?P<action>{_PLAIN_PDDL})\)(?:\s*+\[[\d.]++\])?+\s*+$"
)


class _Pieces(dict[str, Action]):
    """A text up to the parenthesis that closes its action, ``, stack(a, b``; ``KeyError`` where it is not plain."""

    def __missing__(self, text: str) -> Action:
        match = _PLAIN_PIECE.fullmatch(text)
        if not match:
            raise KeyError(text)
        action = _action(match[1] or f"{match[2]} {match[3].replace(',', ' ')}")
        if len(text) <= PIECE_CHARACTERS:
            if len(self) >= PIECES_KEPT:
                self.clear()
            self[text] = action
        return action


_PIECES = _Pieces()


def read_plain(text: str) -> FoundPlan | None:
    """The plan of a text of nothing but actions and braces with commas or line breaks between them; else None.

    >>> read_plain("take(A), {x(p), y}, (drop a)").steps[::2]
    [('take', 'a'), ('drop', 'a')]
    """
    steps: list[Step] = []
    after, *rest = re.split(r"\{([^{}]*+)\}", f"\n{text}\n") if "{" in text else [f"\n{text}\n"]
    for inside, following in zip([*rest[::2], None], [*rest[1::2], ""], strict=True):
        *pieces, end = after.split(")")
        try:
            steps += map(_PIECES.__getitem__, pieces)
        except KeyError:
            return None
        if not _PLAIN_END.fullmatch(end):
            return None
        if inside is not None:
            braces = f"{{{inside}}}".replace("\n", " ")
            if not following.lstrip(" \t").startswith(("\n", ",")) or not _ONLY_ITEMS.match(braces):
                return None
            steps += (step for _, step in _steps(braces))
        after = following
    return FoundPlan(steps) if steps else None


def read_lines(text: str) -> FoundPlan | None:
    """The plan of the first fence that holds one, else of the lines outside all fences.

    None where nothing looks like an action; no steps where something does and cannot be read.
    """
    lines = text.translate(_MARKUP)
    if "{" in lines:  # braces over several lines are brought onto the first one
        lines = _BRACES_AND_LINE.sub(lambda match: match[0].replace("\n", " ") + "\n" * match[0].count("\n"), lines)
    found, damaged = None, list[Unread]()
    for numbers, fenced in _blocks(text.split("\n")):
        block = _read_block(lines.split("\n"), numbers, fenced)
        if block.damaged and not block.steps:
            damaged += block.unread
        if block.steps and not found:
            found = block
        elif block.first and found and not set(block.steps) <= set(found.steps):
            found.unread.append(block.first)
    if found:
        return FoundPlan(found.steps, found.unread, found.complaint)
    return FoundPlan((), damaged) if damaged else None


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
    line = _LINE.fullmatch(text.replace("\n", " ").translate(_MARKUP))
    if not line or not line["items"] or _LIST.search(line["leads"]) or line["closing"] or line["rest"].strip(" ."):
        return []
    return [step for _, step in _steps(line["items"])]


def _steps(items: str) -> list[tuple[str | None, Step]]:
    """The steps that a text of nothing but items says, each with its time."""
    steps: list[tuple[str | None, Step]] = []
    for match in _NEXT.finditer(items):
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


def _blocks(lines: Sequence[str]) -> list[tuple[list[int], bool]]:
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
    """The steps of a line, with times, and how they are marked as such: by brackets, a lead, a separator at the end."""

    place: Unread
    steps: list[tuple[str | None, Step]]
    brackets: bool
    numbered: bool
    joined: bool


class _Block(NamedTuple):
    """What lines say. ``first`` is the first line with brackets; ``damaged``: something not read looks like an action."""

    steps: list[Step]
    unread: list[Unread]
    complaint: str
    first: Unread | None
    damaged: bool


def _read_block(lines: Sequence[str], numbers: Sequence[int], fenced: bool) -> _Block:
    """Read the lines that are steps; of the others, note those that should have been."""
    rows: list[_Row] = []
    unread: list[Unread] = []
    lists: list[str] = []
    prose = damaged = about_states = False
    for number in numbers:
        line = lines[number]
        place = Unread.at(number + 1, 1, line)
        plain = _PLAIN_LINE.match(line)  # `3: (pick a b)`: what most lines look like, at a fifth of the time
        if plain:
            rows.append(_Row(place, [(plain["time"], _action(plain["action"]))], True, bool(plain["lead"]), False))
            continue
        about_states = about_states and bool(line.strip())
        match = None if not line.strip() or _COMMENT_LINE.match(line) else _LINE.match(line)
        if not match:
            continue
        leads, items, rest, start = match["leads"], match["items"], match["rest"], match.end("leads")
        numbered = bool(_NUMBERED.search(leads))
        brackets = bool(items) and ("(" in items or "{" in items)
        lists += _LIST.findall(leads)
        closers = re.findall(r"[)\]]", match["closing"])
        paired = lists.count("[") < 2  # lists in a list are for ``read_json``
        paired &= all(lists and lists.pop() + closer in ("()", "[]") for closer in closers)
        if (not items and not rest and paired) or (not brackets and _HEADING.match(line) and not _unbalanced(line[start:])):
            about_states = bool(_ABOVE_STATES.search(line))
            continue
        if about_states or _BEFORE_STATES.search(leads):
            continue
        marked = numbered or bool(_BULLET.search(leads))
        comment = _COMMENT.match(rest) if marked or rest.strip() != ":" else None  # `Done (twice):` is a heading
        remark = brackets and not closers and (marked or fenced) and _REMARK.match(rest)
        if items and paired and (comment or remark) and not _unbalanced(rest):
            steps = _steps(items)
            if time := re.findall(r"(\d+(?:\.\d+)?)\s*+:", leads):
                steps[0] = (time[-1], steps[0][1])
            rows.append(_Row(place, steps, brackets, marked, bool(match["joined"].strip())))
            if comment and "(" in rest and not _NOT_STEPS.match(rest) and _ONLY_ITEMS.match(rest, comment.end()):
                unread.append(Unread.at(number + 1, match.start("rest") + 1, rest))
            continue
        prose = True
        looks_like_one = brackets or not paired or _unbalanced(line[start:]) or bool(_LIKE_ACTION.match(line, start))
        damaged = damaged or looks_like_one
        if (looks_like_one or fenced or numbered) and len(unread) < MAX_UNREAD:
            unread.append(place)
    rows, bare = _without_bare_names(rows, prose)
    unread = sorted([*unread, *(row.place for row in bare if fenced or row.numbered or row.joined)], key=lambda at: at.line)
    complaint = "a list is not closed" if lists and rows else ""
    first = next((row.place for row in rows if row.brackets), None)
    return _Block(_in_time(rows), unread[:MAX_UNREAD], complaint, first, damaged)


def _without_bare_names(rows: list[_Row], prose: bool) -> tuple[list[_Row], list[_Row]]:
    """Lines of bare names are steps if there is no prose and all lines are alike: the others are returned apart."""
    bare = [row for row in rows if not row.brackets]
    alike = len(bare) == len(rows) or all(row.numbered for row in rows) or all(row.joined for row in rows[:-1])
    if not bare or (alike and not prose):
        return rows, []
    return [row for row in rows if row.brackets], bare


def _in_time(rows: Sequence[_Row]) -> list[Step]:
    """The steps, those in sequence with equal times as one: ``0: (a)``, ``0: (b)``, as in a planner's output."""
    groups: list[list[Step]] = []
    before = None
    for row in rows:
        for time, step in row.steps:
            now = None if time is None else float(time)
            if now is None or now != before:
                groups.append([])
            groups[-1].append(step)
            before = now
    return [group[0] if len(group) == 1 else frozenset().union(*map(actions_of, group)) for group in groups]
