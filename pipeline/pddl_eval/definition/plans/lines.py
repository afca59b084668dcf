r"""Plans written line by line, with fences, bullets, numbers, labels and comments; and in sentences.

    line  = lead* items? (link | ";")* closing* comment?
    lead  = time | number | bullet | label ":" | "[" | "("          2.   Step 2:   0.000:   -   The plan is:

A line is read whole or not at all: what stands behind its items is a comment or makes it unreadable. One that begins
like a step and is none is damage, wherever it stands. A row is what is known of a line; ``drafts`` puts rows together.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterable, Sequence
from itertools import chain, zip_longest
from math import inf
from typing import NamedTuple

from pddl_eval.definition.budget import spend
from pddl_eval.definition.model import Scheduled
from pddl_eval.definition.pddl.patterns import deferred, re
from pddl_eval.definition.plans.drafts import LINES_BETWEEN, Row, drafts_of
from pddl_eval.definition.plans.found import (
    EXCERPT,
    MAX_UNREAD,
    Damage,
    Operators,
    Plan,
    ReadPlan,
    Step,
    Unread,
    actions_of,
    clock,
    in_time,
    lasting,
    names_of,
)
from pddl_eval.definition.plans.grammar import (
    ARGUMENT,
    ARGUMENTS,
    ARROW,
    BULLETS,
    CLOCK,
    LABEL,
    LASTS,
    NAME,
    SIGN,
    TIME,
    UNIT,
    Line,
    only_items,
    pattern,
    read_line,
)

MAX_ACTIONS = 50_000
"""The step that exceeds these and the steps after it are left out, and the reason says so."""

_MAX_ROWS = 2 * MAX_ACTIONS
"""Lines with a step, or that should be one; the lines after these are not read."""

_MAX_LISTS = 8
"""Brackets around a list of steps, one in the other."""

_COMMENT = deferred(
    r"\s*+(?:[;.:#|=–—%]|//|--?\s|[^\w\s\x00-\x7f]|$|(?:[^\w(){}\[\]]|\[(?:[^\w(){}\[\]]|\d)*+\])*+$)\s*+"
)
_NOT_STEPS = deferred(r"\s*+(?:#|//)")
_COMMENT_BEHIND = deferred(r"\s*+(?:;|#|//)")
_REMARK = deferred(r"(?!\s*\d)[^(){}\[\]]*+$")
_NUMBERED = pattern(r"\d|\b[a-z][.)]")
_BULLET = pattern(BULLETS)
_LIST = deferred(r"\[|\((?!\d|e?s\))")
_FACE = deferred(r"[:;]-?[()]")
_TIME = pattern(TIME)
_BELOW_ZERO = pattern(rf"(?<![\w.])-{CLOCK}{UNIT}(?:\s*+(?:[–—,-]|to\b)\s*+{CLOCK}{UNIT})?+\s*+:")
_STARTS = r"(?:t(?:ime)?\s*+=|at(?:\ time)?(?:\ t\ ?=)?)\s*+"
_START = pattern(rf"\b{_STARTS}({CLOCK})")
_LASTS = pattern(rf"\b{LASTS}({CLOCK})")
"""A start or a duration in the words around a step. They do not order steps: these need not be times of the plan."""
_ONLY_TIMES = pattern(rf"(?:[\s,;]*+(?:{_STARTS}|{LASTS}){CLOCK}{UNIT})++[\s,;.]*+$")
_LIKE_ACTION = deferred(rf"[({{]|{NAME}[ \t]*+\([^()]*+\)[\s,;.]*+$")
_BEGINS_ACTION = deferred(rf"[({{]|{NAME}[ \t]*+\(")
_HEAD = deferred(rf"[({{（\s]*+({NAME})")
_WORDS = deferred(r"[\w-]++")
_GLUED = deferred(rf"{NAME}[^\w\s.,:;!?]*+\w")
"""`take[a,b]`"""
_LABEL_NAME = deferred(rf"(?<![\w-])({NAME})\s*+[:=]\s*+$")
_STEP_LABEL = pattern(rf"{LABEL}|\b(?:action|step|move|first|next|then|finally|lastly)\b")
_QUOTED = deferred(
    rf"\(\s*+({NAME})(?:[\s,]++{ARGUMENT})*+[\s,]*+\)|(?<![\w-])({NAME})\([^(){{}}\n]*+\)"
    rf"|[\"']name[\"']\s*+:\s*+[\"']({NAME})[\"']"
)
_DEFINE = deferred(r"\s*+\(\s*+define\s*+\(\s*+(?:problem|domain)\b", re.IGNORECASE)
_LONGEST_BARE = 8
"""Words of a line that begins with an operator and is no sentence."""
_ORDINAL = pattern(r"\W*(?:(?:step|action|move|time)\s*+)?\#?\(?(\d{1,6})(?![\w-])")
_STATES = r"init|initial\w*|goals?|states?|facts?|objects?|pre-?conditions?|effects?"
ABOVE_STATES = pattern(rf"(?<![^\W_])(?:{_STATES})(?![^\W_])")
_BEFORE_STATES = pattern(rf"\b(?:{_STATES}|requires|results?|adds|deletes|note)\b")
"""In a label: atoms or prose follow it, not actions; up to a blank line where it has a line of its own."""
_STAR = deferred(r"(?m)^([ \t]*+)\*(?=[ \t])")
_FENCE = deferred(r"\s*+(?:```|~~~)[\w+-]*+(?:\{[\w.#\s=-]*+\})?+\s*$")
_HEADING = deferred(r"\s*+#|.*:\s*$")
_COMMENT_LINE = deferred(r"\s*+(?:;|//)")
_BRACES_AND_LINE = deferred(r"\{[^{}]*+\}[^\n]*+")
_QUOTED_END = deferred(r"\)([`*\"'”’]++);")
"""`"(take a)"; "(drop b)"`: the `;` is right behind an action."""
_MARKUP = str.maketrans(dict.fromkeys("`*\"'“”‘’", " "))
"""Emphasis and quotes say nothing about a plan; a blank for each keeps the columns right."""

_ORDINAL_LEAD = rf"\d+(?:\.\d+)?\s*+[.):,]|\(\d+\)|(?:{LABEL}|action|operator)\s*+[:.–—-]"
_OPERATOR_LINE = pattern(
    rf"""(?P<lead>\s*+(?:(?:{_ORDINAL_LEAD}|{SIGN})\s*+)*+)
    (?P<name>{NAME})(?P<arguments>(?:(?:\s|,)++[\w@/+-]++)*+)(?:\s|[,;]|{SIGN})*+$"""
)
_BETWEEN = pattern(rf"\s*+(?:[,;]|{ARROW})\s*+")
_QUOTES = deferred(r"""(["'])([^"'\n()]*+)\1""")
_FIRST_WORD = pattern(rf"[^\w()\n]*+(?:{_ORDINAL_LEAD})?[^\w()\n]*+({NAME})(?!\s*\()")
_PROSE = frozenset(
    ["the", "an", "it", "up", "down", "on", "onto", "off", "of", "from", "to", "into", "in", "at", "with"]
)
"""Words that tell a sentence from an operator's arguments."""
_OF_SENTENCES = _PROSE | {"is", "are", "was", "this", "that", "so", "i", "we", "because", "since", "now", "as", "by"}
_SENTENCE = deferred(rf"(?<![\w@/+.-]){NAME}\({ARGUMENTS}\)|\([^(){{}}]*+\)|[(){{}}]")


class _Block(NamedTuple):
    """The lines that are steps, and those that are not read and should have been."""

    rows: Sequence[Row]
    places: Sequence[Row]
    not_closed: bool


def read_lines(text: str, answer: str = "first", operators: Operators | None = None) -> ReadPlan | None:
    """The plan of the first fence that holds one, else of the lines outside all fences.

    ``answer`` says which of several drafts it is. Where the operators of the domain are known, a line of one's name and
    arguments without parentheses is reported. None where nothing looks like an action; no steps where something does
    and cannot be read.
    """
    text = _QUOTED_END.sub(r");\1", text) if ";" in text else text
    lines = (_STAR.sub(r"\1-", text) if "*" in text else text).translate(_MARKUP)
    if "{" in lines:  # braces over several lines are brought onto the first one
        lines = _BRACES_AND_LINE.sub(lambda match: match[0].replace("\n", " ") + "\n" * match[0].count("\n"), lines)
    by_line = lines.split("\n")
    *fences, outside = _fences(text.split("\n"))
    blocks = [_read_block(by_line, numbers, fence) for fence, numbers in enumerate(fences, 1)]
    without = _read_block(by_line, outside, 0)
    rows: list[Row] = []
    for numbers, block in zip(fences, blocks, strict=True):
        if block.rows:  # between two fences stand the lines outside
            above = by_line[max(rows[-1].number + 1 if rows else 0, numbers[0] - LINES_BETWEEN) : numbers[0]]
            rows.append(block.rows[0]._replace(between=[line for line in above if line.strip(" ~")]))
            rows += block.rows[1:]
    if rows:
        places = [row for block in blocks for row in block.places]
        found = _one_draft(rows, places, answer, any(block.not_closed for block in blocks), operators, by_line)
        first = next((row for row in without.rows if row.brackets), None)
        if first and not {step for row in without.rows for _, step in row.steps} <= set(found.steps):
            place = Unread.at(first.number + 1, 1, by_line[first.number])
            found = found._replace(unread=(*found.unread, place))
        return found
    if without.rows:
        places = sorted((row for block in (*blocks, without) for row in block.places), key=lambda row: row.number)
        return _one_draft(without.rows, places, answer, without.not_closed, operators, by_line)
    damaged = [row for block in (*blocks, without) if any(row.damaged for row in block.places) for row in block.places]
    return ReadPlan((), tuple(row.unread for row in damaged if row.unread)) if damaged else None


def _fences(lines: Sequence[str]) -> list[Sequence[int]]:
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
    plans = [fence for fence in fences if fence and not any("(define" in lines[number].lower() for number in fence)]
    return [*plans, outside]


def _one_draft(  # noqa: PLR0913 (all that is known of the text)
    rows: Sequence[Row],
    places: Sequence[Row],
    answer: str,
    not_closed: bool,
    operators: Collection[str] | None,
    lines: Sequence[str],
) -> ReadPlan:
    """The plan of the first or last draft, and what is not read of it, or beside it and of no other draft."""
    names = operators or names_of(step for row in rows for _, step in row.steps)
    places = [row for row in places if not row.doubtful or row.head in names]
    drafts = drafts_of(rows)
    at = len(drafts) - 1 if answer == "last" else 0
    first, last = drafts[at][0], drafts[at][-1]
    end = drafts[at + 1][0].number if at + 1 < len(drafts) else inf
    begin = drafts[at - 1][-1].number if at else -1
    near = [
        row
        for row in places
        if first.number <= row.number < end
        # What stands before the heading of a later draft is of the draft before.
        or (begin < row.number < first.number and (not at or row.ordinal == (first.ordinal or 0) - 1))
    ]
    words = {row.number for row in (*_in_words(near, first, -1), *_in_words(near, last, 1))}
    hurt = next((row for row in near if row.number not in words and _should_be_step(row, first, last, names)), None)
    if first is last and hurt is None and quoting([first.aside], names):  # a plan told in one paragraph
        line = lines[first.number]
        hurt = Row(first.number + 1, unread=Unread.at(first.number + 1, len(line) - len(first.aside) + 1, first.aside))
    found = _plan(drafts[at], near[:MAX_UNREAD], hurt, len(drafts) > 1, "a list is not closed" if not_closed else "")
    said = {row.number for row in chain(rows, places) if row.steps or row.cut or row.head in names}
    prose = [line for number, line in enumerate(lines) if number not in said and not _COMMENT_LINE.match(line)]
    prose += [row.aside for row in rows]
    return found._replace(
        skipped=quoting(prose, names) + sum(row.number in words and row.head in names for row in near)
    )


def quoting(lines: Iterable[str], names: Collection[str]) -> int:
    """How many of the lines quote an action with one of these names.

    >>> quoting(["So (take a) is next.", "It (the arm) is free.", '{"name": "take", "args": ["b"]}'], {"take"})
    2
    """
    may = (line for line in lines if "(" in line or "name" in line)
    quoted = (((found[1] or found[2] or found[3]).lower() for found in _QUOTED.finditer(line)) for line in may)
    return sum(any(name in names for name in heads) for heads in quoted)


def _plan(draft: Sequence[Row], places: Iterable[Row], hurt: Row | None, several: bool, reason: str = "") -> ReadPlan:
    before = _steps(row for row in draft if hurt and row.number < hurt.number)
    damage = Damage(len(before), str(hurt.unread)) if hurt else None
    return ReadPlan(_steps(draft), tuple(row.unread for row in places if row.unread), reason, True, damage, several)


def _in_words(places: Iterable[Row], end: Row, direction: int) -> Sequence[Row]:
    """The lines of a list in words, `1. Lift a`, `2. Stack a`, before or behind the steps: as good as another draft."""

    def is_apart(row: Row) -> bool:
        if row.ordinal is None:
            return bool(_BULLET.search(row.label)) and not end.label.strip()
        return end.ordinal is None or (row.ordinal - end.ordinal) * direction <= 0

    beside = (row for row in places if (row.number - end.number) * direction > 0)
    found = [row for row in beside if not (row.steps or row.damaged) and is_apart(row)]
    return found if len(found) > 1 else ()


def _should_be_step(row: Row, first: Row, last: Row, names: Collection[str]) -> bool:
    """True where what is not read is a step of this draft: inside of it, or what begins like a step anywhere."""
    if row.head in names:
        return True
    if row.steps:  # a comment behind a step
        return False
    if first.number < row.number < last.number or row.cut or row.fence:
        return True
    beside, apart = (last, 1) if row.number > last.number else (first, -1)
    return row.ordinal is not None and beside.ordinal is not None and row.ordinal == beside.ordinal + apart


def _steps(rows: Iterable[Row]) -> Plan:
    return in_time(chain.from_iterable(row.steps for row in rows))


def _read_block(lines: Sequence[str], numbers: Sequence[int], fence: int) -> _Block:  # noqa: C901 (one case a kind of line)
    """Read the lines that are steps; of the others, report those that should have been."""
    lists: list[str] = []
    read: list[Row] = []
    about_states = gap = False
    definition, is_closed = -1, True  # the last line of one
    between: deque[str] = deque(maxlen=LINES_BETWEEN)
    for number in numbers:
        spend(10)
        text = lines[number]
        if is_closed and number > definition and _DEFINE.match(text):
            definition = _end_of_definition(lines, number)
            is_closed = definition >= number
        if number <= definition:
            continue
        if not text or text.isspace():
            about_states, gap = False, bool(read)
            continue
        if _COMMENT_LINE.match(text):
            continue
        row = None
        line = read_line(text)
        behind = text[line.start :]
        heading = not line.brackets and _HEADING.match(text) and behind[:1] not in ("(", "{")
        heading = heading and not _unbalanced(behind)
        if heading or line.start == len(text):
            about_states = bool(ABOVE_STATES.search(text))
        if not heading and not about_states and not _BEFORE_STATES.search(line.leads):
            row = _read_line(number, line, fence, lists)
        if (row is None or not (row.steps or row.damaged)) and re.search(r"\w", text):
            between.append(text)
        if row:
            if row.steps and (between or gap):
                row = row._replace(between=tuple(between), gap=gap and not between)
                between.clear()
            gap = gap and not row.steps
            read.append(row)
            if len(read) > _MAX_ROWS:
                break
    return _block_of(read, lines, bool(lists))


def _end_of_definition(lines: Sequence[str], start: int) -> int:
    """The line on which the parentheses of a PDDL definition are closed; -1 where they are not."""
    opened = 0
    for number in range(start, len(lines)):
        spend(10)
        opened += lines[number].count("(") - lines[number].count(")")
        if opened <= 0:
            return number
    return -1


def _block_of(read: Sequence[Row], lines: Sequence[str], not_closed: bool) -> _Block:
    """Bare names among other lines are no steps unless all lines are alike."""
    rows = [row for row in read if row.steps]
    bare = [row for row in rows if not row.brackets]
    places = [row for row in read if row.unread is not None]
    if bare and (len(rows) < len(read) or not _alike(rows)):
        rows = [row for row in rows if row.brackets]
        # `2. wave`, but not `- Reason: needed`.
        told = [row for row in bare if row.ordinal is not None or not re.search(r"[^\W\d_]", row.label)]
        named = [
            row._replace(steps=(), unread=Unread.at(row.number + 1, 1, lines[row.number]))
            for row in told
            if row.fence or row.led or row.joined
        ]
        places = sorted([*places, *named], key=lambda row: row.number)
    return _Block(rows, _without_titles(rows, places), not_closed and bool(rows))


def _alike(rows: Sequence[Row]) -> bool:
    """True where lines of bare names are as much of the plan as the others."""
    brackets = any(row.brackets for row in rows)
    return not brackets or all(row.led for row in rows) or all(row.joined for row in rows[:-1])


def _without_titles(rows: Sequence[Row], places: Sequence[Row]) -> list[Row]:
    """What is not read, without titles: `1. Lift it:`, and from there on each number before steps without numbers."""
    kept: list[Row] = []
    steps = iter(rows)
    step = next(steps, None)
    titled: bool | None = None  # the place before; it is not known yet
    for place, after in zip_longest(places, places[1:]):
        begins = titled is None and (step is None or step.number > place.number)
        while step and step.number <= place.number:
            step = next(steps, None)
        titled = (begins or bool(titled) or place.ordinal == 1) and place.ordinal is not None and not place.fence
        titled = titled and not place.steps and not place.damaged and step is not None and step.ordinal is None
        if not titled or (step and after and step.number > after.number):
            kept.append(place)
    return kept


def _read_line(number: int, line: Line, fence: int, lists: list[str]) -> Row | None:
    """The line's steps, or what is wrong with it; None for one without words. ``lists`` are the open brackets."""
    opened, closed = _LIST.findall(line.leads), [bracket for bracket in line.closing if bracket in ")]"]
    paired = len(lists) + len(opened) <= _MAX_LISTS and [*lists, *opened].count("[") < 2  # the rest is JSON
    lists += opened if paired else ()
    paired &= all(lists and lists.pop() + bracket in ("()", "[]") for bracket in closed)
    paired &= not _unbalanced(line.items) or _unbalanced(line.leads)  # `1) a 2) b`, but not `a, 12) b`
    if not line.steps and not line.rest and paired:
        return None
    numbered = bool(_NUMBERED.search(line.leads))
    led = numbered or bool(_BULLET.search(line.leads))
    row = Row(number, led=led, label=line.leads, ordinal=_ordinal(line.leads), fence=fence)
    comment = _COMMENT.match(line.rest) if led or line.rest.strip() != ":" else None  # `Done (twice):` is a heading
    remark = line.brackets and not closed and (_REMARK if led or fence else _ONLY_TIMES).match(line.rest)
    below_zero = bool(line.steps and _BELOW_ZERO.search(line.leads))
    if line.steps and paired and (comment or remark) and not (below_zero or _unbalanced(line.rest)):
        (time, first), *others = line.steps
        times = _TIME.findall(line.leads)
        if not others and (said := _said_of(f"{line.leads} {line.rest}", first)) is not None:
            first = said
        more, head = False, ""
        if comment and "(" in line.rest and not _NOT_STEPS.match(line.rest):
            more = bool(only_items(line.rest, comment.end()))
            begins = None if line.rest[:1] == ";" else _BEGINS_ACTION.match(line.rest, comment.end())
            head = _head(line.rest[begins.start() :]) if begins else ""
        return row._replace(
            steps=[(times[-1] if times else time, first), *others],
            brackets=line.brackets,
            joined=bool(line.joined.strip()),
            unread=Unread.at(number + 1, len(line.text) - len(line.rest) + 1, line.rest) if more or head else None,
            head=head,
            doubtful=bool(head) and not more,
            aside="" if more or _COMMENT_BEHIND.match(line.rest) else line.rest,
        )
    broken = _unbalanced(line.text[line.start :])
    like = line.brackets or not paired or broken or bool(_LIKE_ACTION.match(line.text, line.start))
    cut, head = _begins(line, broken)
    cut |= below_zero
    told = like or cut or numbered or (bool(fence) and not _is_sentence(line.text))
    return row._replace(
        led=False,
        damaged=like or cut,
        unread=Unread.at(number + 1, 1, line.text) if told or head else None,
        cut=cut,
        head=head,
        doubtful=not told,
    )


def _said_of(words: str, step: Step) -> Step | None:
    """The step of a line with the start and the duration that the words around it say, if any."""
    start, lasts = _START.search(words), _LASTS.search(words)
    if isinstance(step, frozenset) or not (start or lasts):
        return None
    duration = clock(lasts[1]) if lasts and lasting(step) is None else lasting(step)
    return Scheduled(step, clock(start[1]) if start else None, duration)


def _begins(line: Line, broken: bool) -> tuple[bool, str]:
    """Whether the line, which is no step, can only be a broken one; and the name that it begins with like a step."""
    text = line.text[line.start :].strip()
    if broken and _BEGINS_ACTION.match(text):
        return True, _head(text)
    if text[:1] in ("(", "{", "（"):
        labelled = "#" in line.leads or re.search(r"[^\W\d_]", _STEP_LABEL.sub("", line.leads))
        return not (line.brackets or labelled or _is_sentence(text)), _head(text)
    head = _head(text)
    if _BEGINS_ACTION.match(text):
        return False, head
    label = _LABEL_NAME.search(line.leads)
    if label and not _STEP_LABEL.search(label[0]):  # `take: a`, but not `action: take a`
        text, head = f"{label[0]} {text}", label[1].lower()
    bare = (
        _PROSE.isdisjoint(_WORDS.findall(text.lower()))
        and (" " in text or _GLUED.match(text))
        and len(text.split()) <= _LONGEST_BARE
        and not text.endswith(":")
    )
    return False, head if bare else ""


def _is_sentence(text: str) -> bool:
    words = _WORDS.findall(text.lower())
    return len(words) > 2 and not _OF_SENTENCES.isdisjoint(words)


def _head(text: str) -> str:
    """The name that a step which begins so would have."""
    found = _HEAD.match(text)
    return found[1].lower() if found else ""


def _ordinal(lead: str) -> int | None:
    found = _ORDINAL.match(lead)
    return int(found[1]) if found else None


def _unbalanced(text: str) -> bool:
    """True where brackets do not pair up, faces aside."""
    brackets = _FACE.sub("", text)
    return brackets.count("(") != brackets.count(")") or brackets.count("{") != brackets.count("}")


def in_parentheses(text: str, operators: Operators) -> str:
    """The text with parentheses around each line that is an operator and its arguments.

    Empty where there is none, where a line that begins with an operator is a sentence, or where not most of these lines
    have the right number of arguments: then it is prose.

    >>> in_parentheses("2. **stack** a b", {"stack": "xy"}), in_parentheses("stack a on b", {"stack": "xy"})
    ('2. (stack a b)', '')
    """
    lines: list[str] = []
    exact: list[bool] = []
    for line in text.translate(_MARKUP).split("\n"):
        spend(10)
        parts = [_bare_step(part, operators) for part in _BETWEEN.split(line.rstrip(" .,;"))]
        if len(parts) > 1 and all(part and part[1] for part in parts):
            lines.append(", ".join(part[0] for part in parts if part))
            exact.append(True)
            continue
        begins = _FIRST_WORD.match(line)
        if begins and begins[1].lower() in operators:
            step = _bare_step(line, operators)
            if not step:
                return ""
            line, right = step
            exact.append(right)
        lines.append(line)
    return "\n".join(lines) if 2 * sum(exact) > len(exact) else ""


def in_quotes(text: str, operators: Operators) -> str:
    """The text with parentheses inside the quotes around an operator and its arguments.

    >>> in_quotes('["stack a b", "stack"]', {"stack": "xy"})
    '["(stack a b)", "stack"]'
    """

    def parenthesised(string: re.Match[str]) -> str:
        spend(10)
        step = _bare_step(string[2], operators) if " " in string[2].strip() else None
        return f"{string[1]}{step[0]}{string[1]}" if step else string[0]

    return _QUOTES.sub(parenthesised, text)


def _bare_step(line: str, operators: Operators) -> tuple[str, bool] | None:
    """The line with parentheses, and whether the number of arguments is right; None for one that is no step."""
    bare = _OPERATOR_LINE.match(line)
    if not bare or bare["name"].lower() not in operators:
        return None
    arguments = bare["arguments"].replace(",", " ").split()
    exact = len(arguments) == len(operators[bare["name"].lower()])
    if not exact and not _PROSE.isdisjoint(map(str.lower, arguments)):
        return None
    lead = bare["lead"].replace(",", ".")  # a row of CSV
    return f"{lead}({' '.join((bare['name'], *arguments))})", exact


def read_sentences(text: str, answer: str = "first", operators: Operators | None = None) -> ReadPlan | None:
    """``take(a)`` wherever it is, and ``(take a)`` where it is emphasised, quoted or marked as code.

    Other parentheses are remarks or actions: they are reported as not read. Where the operators are known, only what
    they name is a step: sentences quote atoms. None where brackets do not pair up.
    """
    rows: list[Row] = []
    places: list[Row] = []
    said: set[int] = set()
    end = line = counted = 0
    for number, match in enumerate(_SENTENCE.finditer(text)):
        spend(10)
        if len(match[0]) == 1:
            return None
        item, marked = match[0].translate(_MARKUP), text[max(match.start() - 1, 0)] in "`*\"'“‘"
        steps = only_items(item)
        named = not operators or any(action[0] in operators for _, step in steps for action in actions_of(step))
        if steps and named and (marked or item[0] != "("):
            between = text[end : match.start()][-LINES_BETWEEN * EXCERPT :].split("\n")
            rows.append(Row(number, steps, between=[words for words in between if re.search(r"\w{3}", words)]))
            end = match.end()
            line, counted = line + text.count("\n", counted, end), end
            said.add(line)
        elif len(places) < MAX_UNREAD:
            broken = item[0] == "(" and not steps and _head(item) in (operators or ())
            damaged = bool(operators and steps and named)
            unread = Unread.in_text(text, match.start())
            places.append(Row(number, unread=unread, damaged=damaged, cut=broken))
    if not rows:
        return None
    drafts = drafts_of(rows)
    draft = drafts[-1 if answer == "last" else 0]
    inside = range(draft[0].number, draft[-1].number)
    hurt = next((row for row in places if row.cut or (row.damaged and row.number in inside)), None)
    names = operators or names_of(step for row in rows for _, step in row.steps)
    prose = (line for number, line in enumerate(text.split("\n")) if number not in said)
    return _plan(draft, places, hurt, len(drafts) > 1)._replace(skipped=quoting(prose, names))


def steps_of(text: str) -> list[Step]:
    """The steps of a text that is nothing but steps on one line, bare names too; empty for any other text.

    >>> steps_of("2. stack(a, B)"), steps_of("wave goodbye")
    ([('stack', 'a', 'b')], [])
    """
    line = read_line(text.replace("\n", " ").translate(_MARKUP))
    if _LIST.search(line.leads) or line.closing or line.rest.strip(" ."):
        return []
    return [step for _, step in line.steps]
