r"""What stands around steps and is no word: invisible characters, tags, mark-up, TeX. Blanks take its place.

What stands inside of a step's parentheses, or between the letters of a name, stays: such a step cannot be read.
"""

from __future__ import annotations

from collections.abc import Collection

from pddl_eval.definition.pddl.patterns import re
from pddl_eval.definition.plans.grammar import NAME

_TERMINAL = re.compile(r"\x1b\[[\d;]*+[A-Za-z]")
_BLANK = re.compile(r"[^\S\n\t ]")
_HIDDEN = (
    r"[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180e\u200b-\u200f\u202a-\u202e"
    r"\u2060-\u206f\u20e3\u2800\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb\U000e0001-\U000e01ef"
    r"\u2460-\u24ff\u2776-\u2793]"  # numbers in circles
)
_HIDDEN_AROUND = re.compile(rf"\([^()\n]*+\)|(?<!\w){_HIDDEN}{{1,50}}+|{_HIDDEN}{{1,50}}+(?!\w)")

_TEX_GROUP = re.compile(
    r"\\(?:text\w{0,2}|math\w{2}|operatorname|emph|underline|boxed|mbox|fbox|underbrace|begin|end)\{([^{}\n]*+)\}"
)
_TEX_PARENTHESES = re.compile(r"\\\(([^()\\\n]*+)\\\)")
_AROUND = re.compile(
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
_STEP_AS_TAG = re.compile(rf"[<(]\s*+({NAME})(?=[\s(),;:])")
_BRACKETED = re.compile(
    r"(?m)^((?:[^\w\n(){}\[\]]|\d{1,6}[.):])*+)"
    r"\[[ \t]*+(?:(\d{1,6})|[xX]|[^\w\s\[\](){}]{1,3})?+[ \t]*+\](?=[ \t]*+[^\s,\[\]])"
)
"""`- [x] (take a)`, `[1] (take a)`"""
_BB_CODE = re.compile(r"\[([A-Za-z]{1,12})\]([^\n\[\]]*+)\[/\1\]")


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
    if any(sign in text for sign in "<\\&_/["):
        text = _AROUND.sub(lambda found: found[0] if _is_step(found[0], operators) else _blanks(found), text)
    if "[" in text:
        text = _BB_CODE.sub(_second, text)
        text = _BRACKETED.sub(lambda found: f"{found[1]} {found[2] or ''}".ljust(len(found[0])), text)
    return text


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
