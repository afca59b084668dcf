"""What counts of a raw answer of any kind: no train of thought, no end tokens, and one of several drafts.

The readers of problems, plans and domains ask here, so that all of them mean the same by it.
"""

from __future__ import annotations

import re

from pddl_eval.definition import words

MAX_CHARACTERS = 4_000_000
"""A longer text, an answer or a reference, is not read; the largest problems of the benchmarks are below a million."""

_NAMES = r"think(?:ing)?|thoughts?|reasoning|reflection|scratchpad|analysis"
_TAG = rf"(?:\w{{1,20}}:)?(?:{_NAMES})(?:\s[^<>\n]{{0,200}}+)?"
_THINKING = re.compile(
    rf"""(?P<opens> <{_TAG}> | \[think(?:ing)?\] | ◁think▷ | <\|(?:begin_of_thought|start_thinking)\|>
        | <\|channel\|>(?!final))                          # harmony: analysis, commentary
    | (?P<closes> </{_TAG}> | \[/think(?:ing)?\] | ◁/think▷ | <\|(?:end_of_thought|end_thinking)\|>
        | <\|channel\|>final(?:<\|message\|>)?+
        | assistantfinal )                                 # harmony, its special tokens removed
    | <\|end\|>                                            # of a message: of a thought only where one is open""",
    re.VERBOSE | re.IGNORECASE,
)
_TEXT = re.compile(r"[^\n]++")
_END_TOKEN = re.compile(
    r"(?:<[|｜][a-z0-9_▁.:/-]{1,40}[|｜]>|</?s>|<(?:eos|eot|eod|eom|bos|pad|(?:end|start)_of_(?:turn|text|utterance))>)\Z",
    re.IGNORECASE | re.ASCII,
)
"""A token of a chat template, such as ``<|im_end|>``, that a decoder left behind the answer."""
_LONGEST_TOKEN = 44
_STRING = re.compile(
    r"""(?P<before>[:,\[(=]\s*+|^\s*+)
    (?:"(?P<double>[^"\\]*+(?:\\.[^"\\]*+)*+)(?:"|\Z)
    | '(?P<single>(?=\s*+(?:\\[nrt]\s*+)*+[;(`])[^'\\]*+(?:\\.[^'\\]*+)*+)(?:'|\Z))""",
    re.VERBOSE | re.DOTALL | re.MULTILINE,
)
"""A string of JSON or Python, as a value; in single quotes only what begins like PDDL: prose has apostrophes."""
_ESCAPE = re.compile(r"\\(?:u([0-9a-f]{4})|(.))", re.IGNORECASE | re.DOTALL)
_ESCAPED = {"n": "\n", "N": "\n", "t": "\t", "r": " ", "b": " ", "f": " "}
_BLANKS = " \t\n\r\f"


def too_long(text: str) -> str:
    """Why a text is not read, asked before anything scans it; empty where it is read.

    >>> too_long("(a)"), too_long(" " * (MAX_CHARACTERS + 1))
    ('', 'the text is longer than 4,000,000 characters and was not read')
    """
    return f"the text is longer than {MAX_CHARACTERS:,} characters and was not read" * (len(text) > MAX_CHARACTERS)


def says_nothing(answer: str) -> bool:
    """True where an answer is blank but for thoughts.

    >>> says_nothing("<think>(a)"), says_nothing("(a)")
    (True, False)
    """
    return not too_long(answer) and not without_thinking(answer).strip()


def without_thinking(answer: str) -> str:
    """The answer with blanks in place of thoughts and of end tokens behind it; lines and columns stay as they were.

    A mark that is closed and was not opened was opened by the prompt: what stands before it was thought. One that is
    not closed leaves no answer after it. Harmony's channels are thoughts but for the final one.

    >>> without_thinking("<think>(a)</think> (b)").strip(), without_thinking("(a)</think>(b) <think> (c)").strip()
    ('(b)', '(b)')
    >>> without_thinking("(b)<|im_end|>")
    '(b)          '
    """
    if not any(mark in answer for mark in ("<", "[t", "[T", "◁", "assistantfinal")):  # all of them begin so
        return answer
    thoughts: list[tuple[int, int]] = []
    opened = -1
    for mark in _THINKING.finditer(answer):
        if mark["opens"]:
            opened = mark.start() if opened < 0 else opened
        elif opened >= 0:
            thoughts.append((opened, mark.end()))
            opened = -1
        elif mark["closes"]:
            thoughts = [(0, mark.end())]
    if opened >= 0:
        thoughts.append((opened, len(answer)))
    parts: list[str] = []
    read = 0
    for start, end in thoughts:
        parts += answer[read:start], _TEXT.sub(lambda line: " " * len(line[0]), answer[start:end])
        read = end
    return _without_end_tokens("".join((*parts, answer[read:])))


def pddl_text(answer: str) -> str:
    """What of an answer may hold PDDL: no thoughts, and of strings of JSON that hold PDDL what they say.

    Each character stays where it was; a line break that was escaped begins a line.

    >>> pddl_text('{"pddl": "(define\\\\n(domain d))"}')
    '{"pddl":  (define \\n(domain d)) }'
    """
    text = without_thinking(answer)
    for _ in range(2):  # JSON may stand in JSON
        if "\\" not in text or not ('"' in text or "'" in text):
            break
        text = _STRING.sub(_said, text)
    return text


def _said(string: re.Match[str]) -> str:
    inside = string["double"] or string["single"] or ""
    if not any(word in inside.lower() for word in ("define", ":action")):
        return string[0]
    said = _ESCAPE.sub(lambda each: _character(each).rjust(len(each[0])), inside)
    return f"{string['before']} {said}".ljust(len(string[0]))


def _character(escape: re.Match[str]) -> str:
    return chr(int(escape[1], 16)) if escape[1] else _ESCAPED.get(escape[2], escape[2])


def _without_end_tokens(answer: str) -> str:
    kept = len(answer.rstrip(_BLANKS))
    while (
        kept and answer[kept - 1] == ">" and (token := _END_TOKEN.search(answer, max(0, kept - _LONGEST_TOKEN), kept))
    ):
        kept = token.start()
        while kept and answer[kept - 1] in _BLANKS:
            kept -= 1
    return answer[:kept] + _TEXT.sub(lambda line: " " * len(line[0]), answer[kept:])


def note_on_drafts(several: bool, answer: str) -> str:
    """What a detail says of an answer, first of all, where it held several drafts; else nothing.

    >>> note_on_drafts(True, "last")
    'several drafts, the last was read'
    """
    return words.drafts(answer) if several else ""
