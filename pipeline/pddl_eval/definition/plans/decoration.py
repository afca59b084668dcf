r"""What stands around steps and is no word: invisible characters, tags, mark-up, TeX. Blanks take its place.

Times and durations in tables, in brackets and as spans are brought into the notation of planners.

What stands inside of a step's parentheses, or between the letters of a name, stays: such a step cannot be read.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from pddl_eval.definition.pddl.patterns import deferred, re
from pddl_eval.definition.plans.found import clock
from pddl_eval.definition.plans.grammar import CLOCK, NAME, UNIT

_TERMINAL = deferred(r"\x1b\[[\d;]*+[A-Za-z]")
_BLANK = deferred(r"[^\S\n\t ]")
_HIDDEN = (
    r"[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180e\u200b-\u200f\u202a-\u202e"
    r"\u2060-\u206f\u20e3\u2800\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb\U000e0001-\U000e01ef"
    r"\u2460-\u24ff\u2776-\u2793]"  # numbers in circles
)
_HIDDEN_AROUND = deferred(rf"\([^()\n]*+\)|(?<!\w){_HIDDEN}{{1,50}}+|{_HIDDEN}{{1,50}}+(?!\w)")

_TEX_GROUP = deferred(
    r"\\(?:text\w{0,2}|math\w{2}|operatorname|emph|underline|boxed|mbox|fbox|underbrace|begin|end)\{([^{}\n]*+)\}"
)
_TEX_PARENTHESES = deferred(r"\\\(([^()\\\n]*+)\\\)")
_AROUND = deferred(
    r"""\([^()\n]*+\)                                                # a step stays as it is
    | <!--.{0,500}?--> | /\*.{0,500}?\*/                             # comments
    | <\|(?:start_header_id|im_start)\|>(?:assistant|user|system)\b | \[/?(?:INST|EOS)\]  # of chat templates
    | </?[A-Za-z][^<>\n]*+> | <[|｜][^<>\n]*+> | &\#?\w{1,10};       # tags
    | (?<!\w)_++(?=[(\d]) | (?<=\))_++(?!\w)                            # Markdown
    | \\(?:item|(?:short|long)?(?:left|right|Left|Right)?arrow|to|implies|checkmark|bullet|star|cdot|q?quad
        |newline|par|[lc]?dots|noindent
        |left|right|[bB]igg?|displaystyle|tt|bf|rm|it|small|large|hline)(?![A-Za-z])
    | \\[,;!\ ()\[\]]""",
    re.VERBOSE,
)
_STEP_AS_TAG = deferred(rf"[<(]\s*+({NAME})(?=[\s(),;:])")
_BRACKETED = deferred(
    r"(?m)^((?:[^\w\n(){}\[\]]|\d{1,6}[.):])*+)"
    r"\[[ \t]*+(?:(\d{1,6})|[xX]|[^\w\s\[\](){}]{1,3})?+[ \t]*+\](?=[ \t]*+[^\s,\[\]])"
)
"""`- [x] (take a)`, `[1] (take a)`"""
_SPAN = deferred(
    rf"(?im)^((?:[^\w\n(){{}}\[\]]|\d{{1,6}}[.):](?!\d)|step \d{{1,6}})*+)(?:(\[)|\()?+[ ]?"
    rf"(t(?:ime)? ?= ?)?(?<!-)({CLOCK}){UNIT}(?:(?: ?[–—,-] ?| to )({CLOCK}){UNIT})?+"
    r"[ ]?(?(2)\][ ]?:?|(?(3)\)?[ ]?:|:))(?=[ \t]*+[\w({])"
)
"""`[0.5] (take a)`, `Step 1 (t=0.5): (take a)`, `0.5 - 2.5: (take a)`"""
_LPG = deferred(r"(?m)^([ \t]*+[\d.]++:[ \t]*+\([^()\n]*+\)[ \t]*+\[[\d.]++\])\)[ \t]*+$")
"""LPG's files close a parenthesis that they do not open: `0.0002:   (TAKE A) [1.0000])`"""
_COSTS = r"[ \t]*+(?:(?:action|step|unit|total)[ \t]++)?+costs?[ \t]*+"
_UNITS = r"[ \t]*+\d++(?:\.\d++)?+(?:[ \t]++units?)?+[ \t]*+"
_COST = deferred(
    rf"(?im)(?<=\))[ \t,;]*+(?:\[{_COSTS}[:=]?+{_UNITS}\]|\({_COSTS}[:=]{_UNITS}\)|{_COSTS}[:=]?+{_UNITS})"
    r"(?=[ \t,;.]*+(?:$|[(\[]))"
)
"""`(take a) [cost: 1]`; `(cost 1)` is an action."""
_BB_CODE = deferred(r"\[([A-Za-z]{1,12})\]([^\n\[\]]*+)\[/\1\]")


def visible(text: str) -> str:
    """The text with blanks for all blanks of Unicode, and for what cannot be seen, between the letters of a name aside.

    >>> visible("\\ufeff(take\\xa0a)"), visible("(ta\\u200bke a)") == "(ta\\u200bke a)"
    (' (take a)', True)
    """
    line = text.replace("\n", "").replace("\t", "")
    if line.isascii() and line.isprintable():
        return text
    text = _TERMINAL.sub(_blanks, text)
    return _HIDDEN_AROUND.sub(_blanks_but_steps, _BLANK.sub(" ", text))


def undecorated(text: str, operators: Collection[str] = ()) -> str:
    r"""The text with blanks for tags, TeX and mark-up of Markdown around steps; columns stay as they were.

    A step of one of the ``operators`` in angle brackets, ``<take a>``, is no tag.

    >>> undecorated("<li>(take a)</li>"), undecorated(r"$\text{(take a)}$"), undecorated(r"\(take a\)").strip()
    ('    (take a)     ', '$      (take a) $', '(take a)')
    """
    if "\\" in text:
        text = text.replace(r"\_", "_").replace(r"\{", " {").replace(r"\}", " }")
        for _ in range(2):
            text = _TEX_GROUP.sub(_inside, text)
        text = _TEX_PARENTHESES.sub(r" (\1) ", text)
    if ":" in text or "[" in text:
        text = _SPAN.sub(_planner_like, text)
    if "])" in text:
        text = _LPG.sub(r"\1", text)
    if "cost" in text or "Cost" in text:
        text = _COST.sub(_blanks, text)
    if "|" in text:
        text = "\n".join(_rows(text.split("\n")))
    if any(sign in text for sign in "<\\&_/["):
        text = _AROUND.sub(lambda found: found[0] if _is_step(found[0], operators) else _blanks(found), text)
    if "[" in text:
        text = _BB_CODE.sub(_second, text)
        text = _BRACKETED.sub(lambda found: f"{found[1]} {found[2] or ''}".ljust(len(found[0])), text)
    return text


def _planner_like(found: re.Match[str]) -> str:
    """A time in front of a step as planners write it, with a duration where there is an end; numbers are no times."""
    lead, bracket, mark, start, end = found.groups()
    if not mark and not end and (bracket is None or start.isdecimal()):
        return found[0]
    begins, ends = clock(start), clock(end) if end else None
    lasts = ends - begins if begins is not None and ends is not None else None
    if end and (lasts is None or lasts < 0):  # `1 - 0.5: (take a)`
        return found[0]
    return f"{lead}{start}:{f' duration {lasts} =' if lasts is not None else ''}".ljust(len(found[0]))


_RULE = deferred(r"[ \t]*+\|[ \t:|-]++$")
_COLUMNS = {"start": deferred(r"(?i)start|begin|^t(?:ime)?\b"), "lasts": deferred(r"(?i)duration|^dur\b|length")}


def _rows(lines: list[str]) -> Iterator[str]:
    """The lines; those of a table whose header has columns of starts or durations as planners write steps."""
    header: dict[str, int] = {}
    for line, following in zip(lines, [*lines[1:], ""], strict=True):
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")] if line.lstrip()[:1] == "|" else []
        step = next((cell for cell in cells if "(" in cell), "")
        said = {kind: cells[place] for kind, place in header.items() if place < len(cells)}
        if step and said and all(clock(each) is not None for each in said.values()):
            lasts = f" [{said['lasts']}]" if "lasts" in said else ""
            yield f"{said['start']}: {step}{lasts}".ljust(len(line)) if "start" in said else f"{step}{lasts}"
        elif _RULE.match(following):
            header = {kind: at for kind, name in _COLUMNS.items() for at, cell in enumerate(cells) if name.search(cell)}
            yield "" if header else line
        else:
            header = header if cells else {}
            yield line


def _blanks(found: re.Match[str]) -> str:
    return " " * len(found[0])


def _blanks_but_steps(found: re.Match[str]) -> str:
    return found[0] if found[0][0] == "(" else _blanks(found)


def _is_step(tag: str, operators: Collection[str]) -> bool:
    """True of `(take a)`, and of `<take a>` and `<b (take a)>` where there is such an operator."""
    return tag[0] == "(" or ("=" not in tag and any(name.lower() in operators for name in _STEP_AS_TAG.findall(tag)))


def _inside(found: re.Match[str]) -> str:
    """Of a group its text, of `\\begin{…}` and `\\end{…}` nothing."""
    inside = "" if found[0].startswith((r"\begin", r"\end")) else found[1] + " "
    return inside.rjust(len(found[0]))


def _second(found: re.Match[str]) -> str:
    before = found.start(2) - found.start()
    return " " * before + found[2] + " " * (len(found[0]) - before - len(found[2]))
