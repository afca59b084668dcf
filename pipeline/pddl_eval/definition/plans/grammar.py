r"""The grammar of steps: what an action looks like, and how actions stand one behind the other.

    items     = gap item (separator item)*
    item      = actions | braces+
    braces    = "{" (gap actions (separator actions)*)? "}"     {take(a), drop(b)}: one concurrent step
    actions   = pddl+ | call+ | bare                            blanks alone separate actions of one notation only
    pddl      = "(" name argument* ")"                          (take a b)
    call      = name "(" arguments ")"                          take(a, b), take (a, b)
    bare      = name                                            take, before a separator or the end
    separator = a gap that is more than blanks
    gap       = link* (";" link*)? (time | number)?             the ";" right behind an item
    link      = blank | "," | arrow | and | then | ...
    line      = lead* items? (link | ";")* closing* rest        2. take(a) - why
    lead      = time | number | sign | label ":" | "[" | "("    0.000:   2.   Step 2:   -   ✓   The plan is:
    closing   = "]" | ")"

The terminals are patterns; the rules are functions of a text and a position. A rule returns what it read and where that
ends, and nothing where it does not match. No rule and no pattern is tried again in another way (all quantifiers are
possessive), so that no text costs more than a few passes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from pddl_eval.definition.budget import spend
from pddl_eval.definition.model import Action, Scheduled
from pddl_eval.definition.pddl.patterns import deferred, re
from pddl_eval.definition.plans.found import RATIO, Step, TimedStep, actions_of, clock, lasting

Rule = Callable[[str, int], tuple[list[Step], int]]

NAME = r"[^\W\d](?:[\w@/+]|\.(?=\w)|-(?!>))*+"
ARGUMENT = r"(?:[^\s(){}\[\]<>,;.!?:]|[.?:](?=\w))++"
ARGUMENTS = r"(?:[^(){}\n]|\([^(){}\n]*+\)|\{[^(){}\n]*+\})*+"  # f(g(x), {y}): one level of brackets
CLOCK = rf"(?:{RATIO}|(?:\d++(?:\.\d++)?+|\.\d++)(?:e-?+\d\d?+)?+)"  # a time or how long something takes
UNIT = r"(?:\s*+(?:s|secs?|seconds?|(?:time\s)?units?)\b)?+"
TIME = rf"(?<![\w./:])(?<!\w-){CLOCK}(?={UNIT}\s*+:)"
LASTS = r"(?:dur(?:ation)?|last(?:s|ing)|for)\s*+[:=]?+\s*+"
# A planner's (take a) [1.000], (take a) (duration 1), and at the end of a line (take a) (1).
DURATION = rf"""(?:[ \t]*+(?:(?:\[\s*+(?:D\s*+[:=]\s*+|{LASTS})?+|\(\s*+{LASTS}){CLOCK}[^()\[\]\n]*+[\])]
    |\(\s*+{CLOCK}{UNIT}\s*+\)(?=[\s,;.]*+$)))?+"""
WORD = r"(?:and|then|next|finally|lastly|first|afterwards|followed\ by)\b(?![(-])"
ARROW = r"(?:[-=]++>|[→⇒➜➔⟶⟹])"
# A sentence may end behind an item where the next one begins with such a word: `(take a). Then (drop a)`.
NEXT_SENTENCE = rf"\.\s++(?:{WORD}|(?:after\ (?:that|this)|now|(?:second|third|fourth|fifth)(?:ly)?+)\b(?![(-]))"
LINK = rf"(?:[\s,]|{ARROW}|{WORD}:?+|{NEXT_SENTENCE})"
LABEL = r"(?:step|action|move|time)\s*+\#?\d+"
# A number leads something: `2.` at the end of a line, or before a comma, ends a sentence.
NUMBER = rf"""(?:(?:\(?\d+[a-z]?+\s*+[.)]{{1,2}}+(?!\d)|{LABEL}\s*+[:.–—-])
    (?!\s*+(?:[,;]|{WORD}|\d+\s*+[.)]|$)))"""
PDDL = rf"\(\s*+({NAME}(?:[\s,]++{ARGUMENT})*+)[\s,]*+\){DURATION}"
# Behind a blank, parentheses are arguments only if they are a list of names: `done (at last)` is a remark.
CALL = rf"""({NAME})
    (?:[ \t]++(?=\([ \t]*+(?:{ARGUMENT}[ \t]*+(?:,[ \t]*+{ARGUMENT}[ \t]*+)*+)?\)))?+\(({ARGUMENTS})\){DURATION}"""


def pattern(text: str) -> re.Pattern[str]:
    """The pattern: blanks in it are layout, case does not matter."""
    return deferred(text, re.VERBOSE | re.IGNORECASE)


_GAP = pattern(rf"{LINK}*+(?:(?<=\S);{LINK}*+)?+(?:(?:(?P<time>{TIME}){UNIT}\s*+:|{NUMBER})\s*+)?+")
_PDDL = pattern(rf"\s*+{PDDL}")
_CALL = pattern(CALL)
_CALL_MORE = pattern(rf"\s++(?!{WORD}){CALL}")
_BARE = pattern(rf"({NAME})(?=\s*+\.?+\s*+(?:[,;\]}}]|{ARROW}|$))(?:\s*+\.)?+")
_LASTS = pattern(rf"[\[(]\D*?({CLOCK})")
_OPEN = deferred(r"\s*+\{")
_CLOSE = pattern(rf"[\s,;]*+\}}{DURATION}")
BULLETS = r"[>|+•·‣◦▪●○\#–—→-]"
SIGN = r"[^\w\s(){}\[\],;（\\]"
_LEADS = pattern(
    rf"""\s*+((?:(?:
    (?:action|step|move|operator)\(e?s\)[^(){{}}\[\],;:=\n]{{0,80}}+:(?=\s*+(?:$|[(\[{{]|{CALL}))  # `Action(s) to do:`
    | (?!{PDDL}|{CALL}|\{{)(?:
        {TIME}{UNIT}\s*+:
        | {NUMBER}
        | (?:[a-z]|[ivx]{{2,5}})[.)](?=\s++(?!{WORD})(?:[^\W\d]|[({{]))  # `b) (take a)`
        | (?<!\d:)\d+(?=\s++[(\w|]|\s*+{SIGN}++\s*+[(\w{{])
        | {LABEL}(?=\s)
        | {SIGN}++
        | \[ | \((?=\s*+(?:[({{]|$))
        | (?![\d./e-]++\s*+:)[^(){{}}\[\],;:=\n]{{1,80}}+(?::|=(?!>))
    ))\s*+)*+)"""
)
_AFTER_ITEMS = deferred(
    rf"(?P<joined>(?:{LINK}|;(?=\s*+$))*+)(?P<closing>(?:[\])][\s,;]*+)*+)(?P<rest>.*+)",
    re.VERBOSE | re.IGNORECASE | re.DOTALL,
)
_END = deferred(r"[\s,;.]*+$")
_ARGUMENT_OF_CALL = deferred(r"(?:[^,()]|\([^()]*+\))++")


class Line(NamedTuple):
    """A line in its parts; ``start`` is the column of its items."""

    text: str
    leads: str
    start: int
    steps: Sequence[TimedStep]
    items: str
    joined: str
    closing: str
    rest: str

    @property
    def brackets(self) -> bool:
        return "(" in self.items or "{" in self.items


def read_line(text: str) -> Line:
    """The parts of a line; every text is one, if only a rest.

    >>> read_line("2. Go: take(a) - why")[1:]
    ('2. Go: ', 7, [(None, ('take', 'a'))], 'take(a)', ' ', '', '- why')
    """
    leads = _LEADS.match(text)
    start = leads.end() if leads else 0
    steps, end = read_items(text, start)
    joined, closing, rest = _AFTER_ITEMS.findall(text, end)[0]
    return Line(text, leads[1] if leads else "", start, steps, text[start:end], joined, closing, rest)


def read_items(text: str, start: int = 0) -> tuple[list[TimedStep], int]:
    """Items, each with the time in front of it.

    >>> read_items("take(a), 2: {y} - why")
    ([(None, ('take', 'a')), ('2', frozenset({('y',)}))], 15)
    """
    return _apart(text, start, _item)


def only_items(text: str, start: int = 0) -> list[TimedStep]:
    """The items of a text that holds nothing else from there on; none for any other text."""
    steps, end = read_items(text, start)
    return steps if _END.match(text, end) else []


def _apart(text: str, start: int, rule: Rule) -> tuple[list[TimedStep], int]:
    """gap RULE (separator RULE)*"""
    steps: list[TimedStep] = []
    end = start
    while gap := _GAP.match(text, end):
        if steps and not gap[0].strip():
            break
        found, after = rule(text, gap.end())
        if not found or (steps and ";" in gap[0] and text[end - 1] in ")]" and text[after - 1] not in ")}]"):
            break  # `(take a); why` is a comment
        steps.append((gap["time"], found[0]))
        steps += [(None, step) for step in found[1:]]
        end = after
        spend(10)
    return steps, end


def _item(text: str, start: int) -> tuple[list[Step], int]:
    if not text.startswith("{", start):
        return _actions(text, start)
    steps: list[Step] = []
    end = start
    while opened := _OPEN.match(text, end):
        inside, after = _apart(text, opened.end(), _actions)
        closed = _CLOSE.match(text, after)
        if not closed:
            break
        step = frozenset().union(*(actions_of(step) for _, step in inside))
        if lasts := _LASTS.search(closed[0]):
            duration = clock(lasts[1])
            step = frozenset(Scheduled(each, duration=lasting(each, duration)) for each in step)
        steps.append(step)
        end = closed.end()
    return steps, end


def _actions(text: str, start: int) -> tuple[list[Step], int]:
    if text.startswith("(", start):
        first, further, action = _PDDL, _PDDL, _action_of_pddl
    else:
        first, further, action = _CALL, _CALL_MORE, _action_of_call
    found = first.match(text, start)
    if not found and (bare := _BARE.match(text, start)):
        return [(bare[1].lower(),)], bare.end()
    steps: list[Step] = []
    end = start
    while found:
        lasts = _LASTS.search(found[0], found.end(found.re.groups) - found.start())
        steps.append(Scheduled(action(found), duration=clock(lasts[1])) if lasts else action(found))
        end = found.end()
        found = further.match(text, end)
    return steps, end


def _action_of_pddl(found: re.Match[str]) -> Action:
    return tuple(found[1].lower().replace(",", " ").split())


def _action_of_call(found: re.Match[str]) -> Action:
    """Commas separate arguments; where there are none, blanks do."""
    arguments = found[2].lower()
    if "(" in arguments:
        parts = _ARGUMENT_OF_CALL.findall(arguments)
    else:
        parts = arguments.split("," if "," in arguments else None)
    return found[1].lower(), *(" ".join(part.split()) for part in parts if part.strip())
