"""Random plans, written in every notation and setting that DESIGN.md section 6 names, and damaged ones.

The writers follow the definitions of the notations and share nothing with the reader. A notation writes the items of a
plan; a layout puts them on lines, with what models add: numbers, bullets, labels, separators, comments, lists, fences,
prose around.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from random import Random
from typing import NamedTuple

from pddl_eval.definition.plans import Plan, Step

NAMES = (
    *("pick", "drop", "put-down", "pick_up", "stack", "un-stack", "noop", "fly2", "a1", "Load", "SEND"),
    *("step", "action", "move", "time", "plan", "goal", "at", "on", "not", "Email.send"),
)
BARE = tuple(name for name in NAMES if name != "plan")
"""Without parentheses: ``[plan]`` alone is the mark that a plan begins."""

OBJECTS = ("a", "b1", "B2", "room-1", "loc_2", "x", "t3", "S", "step", "gripper1", "c.d", "12", "v1.5")


class Written(NamedTuple):
    """A text and the plan that it says; how it was written is for people."""

    text: str
    plan: Plan
    how: str


def random_plan(random: Random, bare: bool = False, concurrent: bool = True) -> Plan:
    """Up to six steps; ``bare``: without arguments; ``concurrent``: now and then braces, also around one or none."""

    def action() -> tuple[str, ...]:
        return (
            random.choice(BARE if bare else NAMES),
            *(() if bare else random.choices(OBJECTS, k=random.choice((0, 1, 1, 2, 3)))),
        )

    def step() -> Step:
        if concurrent and random.random() < 0.2:
            return frozenset(action() for _ in range(random.choice((0, 1, 2, 2, 3))))
        return action()

    return tuple(step() for _ in range(random.randint(1, 6)))


def lower(plan: Plan) -> Plan:
    """The plan as it compares: in lower case."""

    def lowered(action: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(part.lower() for part in action)

    return tuple(frozenset(map(lowered, s)) if isinstance(s, frozenset) else lowered(s) for s in plan)


def call(action: Sequence[str], blank: str = "", comma: str = ", ") -> str:
    return f"{action[0]}{blank}({comma.join(action[1:])})"


ACTIONS: dict[str, Callable[[Sequence[str]], str]] = {
    "call": call,
    "tight call": lambda action: call(action, comma=","),
    "call with a blank": lambda action: call(action, blank=" "),
    "call with blanks": lambda action: f"{action[0]}( {' , '.join(action[1:])} )",
    "PDDL": lambda action: f"({' '.join(action)})",
    "PDDL with blanks": lambda action: f"( {'  '.join(action)} )",
    "PDDL with commas": lambda action: f"({', '.join(action)})",
    "bare": lambda action: action[0],
}
SEPARATORS = {"comma": ", ", "tight comma": ",", "arrow": " -> ", "long arrow": " --> ", "double arrow": " => "} | {
    "arrow sign": " → ",
    "then": " then ",
    "and": " and ",
    "comma and": ", and then ",
    "semicolon": "; ",
}
LINE_ENDS = ("", "", ",", " ,", " and", " ->", " →", ";", ".", ", then")
NUMBERS: tuple[Callable[[int], str], ...] = (
    *(lambda n: f"{n}. ", lambda n: f"{n}) ", lambda n: f"({n}) ", lambda n: f"{n}.", lambda n: f"{n}: "),
    *(lambda n: f"{n}.000: ", lambda n: f"Step {n}: ", lambda n: f"step {n} - ", lambda n: f"**Step {n}:** "),
    *(lambda n: f"Action {n}: ", lambda n: f"- Step {n}: ", lambda n: f"{n}. Step {n}: ", lambda n: f"# {n}: "),
    *(lambda n: f"### Step {n}. ", lambda n: f"Move #{n}: ", lambda n: f"{'abcdefghij'[n]}) ", lambda n: f"Time {n}: "),
)
BULLETS = ("- ", "* ", "• ", "> ", "+ ", "– ", "  - ", "\t* ", "-> ", "| ")
MARKS = ("`{}`", "**{}**", "*{}*", "**`{}`**", '"{}"', "“{}”", "'{}'")
COMMENTS = (
    "  ; frees it",
    " # why (not)",
    " // so",
    " - takes it",
    " – for (the) goal",
    ": it is on top",
    " ; cost = 1",
)
FENCES = ("```", "```pddl", "```text", "~~~", "```json")
HEADINGS = ("Plan:", "Here is the plan:", "**Plan:**", "## Plan", "Sure! Here is it:", "The steps (in order) are:", "")
ENDINGS = ("", "", "Done!", "This reaches the goal.", "The goal holds (at last).", "; cost = 3 (unit cost)")


def write(random: Random, damaged: bool = False) -> Written:
    """A random plan in a random notation and setting; ``damaged``: a bracket of one step is lost or doubled."""
    if random.random() < 0.2:
        return _json(random, damaged)
    notation = random.choice(list(ACTIONS))
    plan = random_plan(random, bare=notation == "bare", concurrent=random.random() < 0.5)
    one = ACTIONS[notation]
    inner = random.choice((", ", ",", ", ", "; ") if notation != "PDDL" else (", ", " "))
    items = ["{" + inner.join(map(one, sorted(s))) + "}" if isinstance(s, frozenset) else one(s) for s in plan]
    if damaged:
        place = random.randrange(len(items))
        items[place] = _damaged(random, items[place])
    layout = _on_one_line if random.random() < 0.35 else _on_lines
    text, how = layout(random, items, notation)
    text, framed = _framed(random, text, notation, how)
    breaks = random.choice(("\n", "\n", "\n", "\r\n", "\r"))
    return Written(text.replace("\n", breaks), lower(plan), f"{notation}, {how}, {framed}, {breaks!r}")


def _on_one_line(random: Random, items: list[str], notation: str) -> tuple[str, str]:
    same = len({item[0] == "{" for item in items}) == 1
    blank = {"blank": " "} if same and (notation.startswith("PDDL") or notation == "call") else {}
    words = () if notation != "bare" else ("then", "and", "comma and")
    how = random.choice([name for name in SEPARATORS | blank if name not in words])
    text = (SEPARATORS | blank)[how].join(items)
    if random.random() < 0.15 and notation != "bare":
        text, how = " ".join(f"{n}. {item}" for n, item in enumerate(items, 1)), "numbers in a row"
    text += random.choice(("", "", ".", ","))
    if random.random() < 0.2:
        text, how = random.choice((f"[{text.rstrip('.')}]", f"plan = [{text.rstrip('.')}]")), f"{how} in a list"
    return text, how


def _on_lines(random: Random, items: list[str], notation: str) -> tuple[str, str]:
    """Each item on a line of its own: with one kind of lead, of end and of mark, and comments now and then."""
    kind = random.choice(("nothing", "nothing", "number", "bullet", "list"))
    lead: Callable[[int], str] = lambda _: ""  # noqa: E731
    first = random.choice((0, 1))
    if kind == "number":
        lead = random.choice([number for number in NUMBERS if notation != "bare" or "#" not in number(1)])
    elif kind == "bullet":
        bullet = random.choice(BULLETS)
        lead = lambda _: bullet  # noqa: E731
    ends = [end for end in LINE_ENDS if notation != "bare" or not end.endswith(("d", "n"))]
    end = "," if kind == "list" else random.choice(ends)
    mark = random.choice(MARKS) if random.random() < 0.2 else "{}"
    comment = end in ("", ",") and notation != "bare" and random.random() < 0.3
    if notation == "bare" and kind == "nothing" and any("{" in item for item in items) and end in ("", "."):
        end = ","
    lines = []
    for number, item in enumerate(items, first):
        last = number == len(items) - 1 + first
        line = lead(number) + mark.format(item) + ("" if last and random.random() < 0.7 else end)
        if comment and end == "" and random.random() < 0.5:
            line += random.choice(COMMENTS)
        elif notation.startswith("PDDL") and end == "" and kind in ("nothing", "number") and random.random() < 0.1:
            line += random.choice((" [1]", "  [1.000]", " [D:1.0; C:0.1]"))
        lines.append(line)
        if random.random() < 0.1:
            lines.append(random.choice(("", "  ", "; a comment", "// (a comment)")))
    if kind == "list":
        opening, closing = random.choice((("[", "]"), ("[\n", "\n]"), ("plan = [\n", "\n]")))
        lines[0] = opening + lines[0]
        lines[-1] += "\n]" if ";" in lines[-1] or "//" in lines[-1] else closing
    elif kind == "nothing" and notation == "PDDL" and end == "" and not comment and random.random() < 0.2:
        lines[0], kind = "(" + lines[0], "PDDL list"
        lines[-1] += "\n)"
    return "\n".join(lines), f"{kind}, end {end!r}, mark {mark!r}"


def _framed(random: Random, text: str, notation: str, how: str) -> tuple[str, str]:
    """The text in a fence, under a heading, before an ending, or as it is."""
    frame = random.choice(("bare", "heading", "fence", "fence in prose"))
    if frame == "heading":
        ending = random.choice(ENDINGS) if notation != "bare" else ""
        return f"{random.choice(HEADINGS)}\n{text}\n{ending}", frame
    if frame.startswith("fence"):
        fence = random.choice(FENCES)
        text = f"{fence}\n{text}\n{fence[:3]}"
        if frame == "fence in prose":
            text = f"{random.choice(HEADINGS)}\n{text}\n\n{random.choice(ENDINGS)}"
    return text, frame


def _damaged(random: Random, text: str) -> str:
    brackets = [place for place, letter in enumerate(text) if letter in "(){}"]
    if not brackets:
        return f"{text}{random.choice('(){}')}"
    place = random.choice(brackets)
    return text[:place] + random.choice(("", 2 * text[place])) + text[place + 1 :]


def _json(random: Random, damaged: bool) -> Written:
    """T-Eval's objects, lists of strings, lists of lists; as JSON or as Python writes them."""
    plan = random_plan(random, concurrent=False)
    kind = random.choice(("objects", "named", "strings", "PDDL strings", "lists"))
    values: list[object] = []
    expected: list[Step] = []
    for number, (name, *arguments) in enumerate(plan):
        expected.append((name, *arguments))
        if kind == "objects":
            values.append({"name": name, "args": arguments, "id": number})
        elif kind == "named":
            of = [random.choice((value, i, True, None, [value], {"x": value})) for i, value in enumerate(arguments)]
            named = {f"k{i}": value for i, value in enumerate(of)}
            texts = (f"{k}={v if isinstance(v, str) else json.dumps(v, sort_keys=True)}" for k, v in named.items())
            expected[-1] = (name, *texts)
            as_text = random.random() < 0.3 and not damaged
            values.append({"id": number, "name": name, "args": json.dumps(named) if as_text else named})
        elif kind == "lists":
            values.append([name, *arguments])
        else:
            values.append(call((name, *arguments)) if kind == "strings" else f"({' '.join((name, *arguments))})")
    if kind in ("objects", "named"):
        random.shuffle(values)
    how = random.choice(("json", "indented", "python", "key"))
    text = json.dumps(values, indent=2 if how == "indented" else None)
    if how == "python":
        text = repr([tuple(value) if isinstance(value, list) and random.random() < 0.5 else value for value in values])
    if damaged:
        place = random.choice([place for place, letter in enumerate(text) if letter in "[]{}"])
        text = text[:place] + text[place + 1 :]
    if how == "key":
        text = f'{{"plan": {text}, "cost": {len(plan)}}}'
    text, framed = _framed(random, text, "json", how)
    return Written(text, lower(tuple(expected)), f"{kind}, {how}, {framed}")
