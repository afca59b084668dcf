"""Raw answers around plans of known validity: every notation, train of thought, draft and damage that models write.

The plans are of Blocks World: towers are taken down and one is built, so they are valid by construction; without the
last step they are not. The writers share nothing with the reader.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from itertools import pairwise
from random import Random
from typing import NamedTuple

Actions = tuple[tuple[str, ...], ...]
DOMAIN = "blocksworld"


class Answer(NamedTuple):
    """A text, its problem, and the drafts that it holds: each with plan, validity, and whether it is damaged."""

    text: str
    problem: str
    drafts: Sequence[tuple[Actions, bool, bool]]
    kinds: Sequence[str]


def plan_and_problem(random: Random) -> tuple[Actions, str]:
    """A valid plan of three to eight blocks, and its problem."""
    blocks = [f"b{number}" for number in range(random.randint(3, 8))]
    random.shuffle(blocks)
    height = random.randint(1, len(blocks) - 1)
    tower, table = blocks[:height], blocks[height:]  # the tower from its top
    init = ["(arm-empty)", f"(clear {tower[0]})", f"(on-table {tower[-1]})"]
    init += [f"(on {above} {below})" for above, below in pairwise(tower)]
    init += [f"({name} {block})" for block in table for name in ("clear", "on-table")]
    plan: list[tuple[str, ...]] = []
    for above, below in pairwise(tower):
        plan += ("unstack", above, below), ("putdown", above)
    goal = random.sample(blocks, random.randint(3, len(blocks)))  # from its bottom
    for below, above in pairwise(goal):
        plan += ("pickup", above), ("stack", above, below)
    wanted = " ".join(f"(on {above} {below})" for below, above in pairwise(goal))
    objects = " ".join(sorted(blocks))
    problem = (
        f"(define (problem p) (:domain {DOMAIN}) (:objects {objects}) (:init {' '.join(init)}) (:goal (and {wanted})))"
    )
    return tuple(plan), problem


def pddl(action: Sequence[str]) -> str:
    return f"({' '.join(action)})"


def call(action: Sequence[str]) -> str:
    return f"{action[0]}({', '.join(action[1:])})"


def _objects(plan: Actions) -> list[dict[str, object]]:
    return [{"action": name, "args": arguments} for name, *arguments in plan]


LINES: dict[str, Callable[[int, Sequence[str]], str]] = {
    "PDDL lines": lambda _, a: pddl(a),
    "numbered": lambda n, a: f"{n}. {pddl(a)}",
    "numbered in code": lambda n, a: f"{n}. `{pddl(a)}` - as needed",
    "steps": lambda n, a: f"Step {n}: {call(a)}",
    "times": lambda n, a: f"{n}.000: {pddl(a)} [1]",
    "bullets": lambda _, a: f"- {call(a)}",
    "calls": lambda _, a: call(a),
    "backslashes": lambda _, a: f"{pddl(a)}\\",
    "explained": lambda n, a: (
        f"{n}. **Use the {a[0]} operator on {a[1]}**\n   - *Action*: `{call(a)}`\n   - Reason: needed."
    ),
    "bare lines": lambda _, a: " ".join(a),
    "bare in bold": lambda _, a: f"- **{a[0]}** {' '.join(a[1:])}",
    "bare, numbered": lambda n, a: f"{n}. {' '.join(a)}",
}
WHOLE: dict[str, Callable[[Actions], str]] = {
    "calls on a line": lambda plan: ", ".join(map(call, plan)),
    "fence": lambda plan: "```pddl\n" + "\n".join(map(pddl, plan)) + "\n```",
    "plan tags on a line": lambda plan: f"<plan>{' '.join(map(pddl, plan))}</plan>",
    "answer tags on a line": lambda plan: f"<answer>{' '.join(map(pddl, plan))}</answer>",
    "answer tags": lambda plan: "<answer>\n" + "\n".join(map(pddl, plan)) + "\n</answer>",
    "boxed": lambda plan: f"\\boxed{{{', '.join(map(pddl, plan))}}}",
    "PLAN marks": lambda plan: "[PLAN]\n" + "\n".join(map(pddl, plan)) + "\n[PLAN END]",
    "QUERY PLAN marks": lambda plan: "[QUERY PLAN]\n" + "\n".join(map(pddl, plan)) + "\n[PLAN_END]",
    "a list closed on the last line": lambda plan: "(:plan\n  " + "\n  ".join(map(pddl, plan)) + ")",
    "a list on a line": lambda plan: f"(plan {' '.join(map(pddl, plan))})",
    "JSON text": lambda plan: json.dumps({"plan": "\n".join(map(pddl, plan))}),
    "JSON actions": lambda plan: json.dumps({"plan": _objects(plan)}),
    "JSON steps": lambda plan: json.dumps({"steps": [pddl(action) for action in plan]}, indent=1),
    "JSON actions as texts": lambda plan: json.dumps({"steps": [{"action": pddl(action)} for action in plan]}),
}
DRAFTS = ("one", "final heading", "the same again", "wrong", "numbers again", "breakdown")
FINAL = ("The final plan is:", "**Final answer:**", "### Final Plan", "So, the PDDL syntax for the plan is:")
WRONG = ("Wait, that is wrong. Let me try again.", "That was a mistake.", "This does not work; corrected plan:")
THOUGHTS: dict[str, Callable[[str, str], str]] = {
    "no thought": lambda _, text: text,
    "think": lambda thought, text: f"<think>\n{thought}\n</think>\n{text}",
    "opened by the prompt": lambda thought, text: f"{thought}\n</think>\n\n{text}",
    "thinking": lambda thought, text: f"<thinking>{thought}</thinking>\n{text}",
    "harmony": lambda thought, text: (
        f"<|channel|>analysis<|message|>{thought}<|end|><|channel|>final<|message|>\n{text}"
    ),
    "not closed": lambda thought, text: f"{text}\n<reasoning>\n{thought}",
}
DAMAGES: dict[str, Callable[[int, str], str]] = {
    "an open bracket": lambda _, __: "(teleport b (b",
    "words": lambda n, _: f"{n}. fly to the moon (a)",
    "a bracket lost": lambda _, line: line.replace(")", "", 1),
}


def write_answer(random: Random) -> Answer:
    """A random answer: one draft or two, in one notation, perhaps damaged, perhaps with a thought."""
    plan, problem = plan_and_problem(random)
    notation = random.choice([*LINES, *WHOLE])
    valid = random.random() < 0.7
    first = plan if valid else plan[:-1]
    kind = random.choice(("one", *DRAFTS))
    damage = random.choice(list(DAMAGES)) if random.random() < 0.3 and notation in LINES and len(first) > 1 else ""
    if "bare" in notation and damage == "a bracket lost":
        damage = ""
    if kind == "numbers again" and notation not in ("numbered", "steps", "times", "numbered in code"):
        kind = "final heading"
    if kind == "breakdown":
        notation, damage = random.choice(("calls", "PDDL lines", "calls on a line")), ""
    texts = [_text(random, notation, first, damage)]
    drafts = [(first, valid, bool(damage))]
    if kind != "one":
        again = first if kind in ("the same again", "breakdown") else random.choice((plan, plan[:-1], plan[1:]))
        between = random.choice(WRONG if kind == "wrong" else FINAL)
        between = {"numbers again": "\n", "breakdown": "Action breakdown:"}.get(kind, between)
        texts += between, _text(random, "numbered in code" if kind == "breakdown" else notation, again, "")
        drafts.append((again, again == plan, False))
    text = "\n".join(texts) if random.random() < 0.5 else "\n\n".join(texts)
    thought, marks = _text(random, random.choice(list(LINES)), plan[:-1], ""), random.choice(list(THOUGHTS))
    text = THOUGHTS[marks](thought, text)
    return Answer(text, problem, drafts, (notation, kind, damage or "whole", marks))


def _text(random: Random, notation: str, plan: Actions, damage: str) -> str:
    if notation in WHOLE:
        return WHOLE[notation](plan)
    lines = [LINES[notation](number, action) for number, action in enumerate(plan, 1)]
    if damage:
        place = random.randrange(1, len(lines))
        broken = DAMAGES[damage](place + 1, lines[place])
        lines[place : place + (damage == "a bracket lost")] = [broken]
    return "\n".join(lines)
