"""Reading plans: DESIGN.md section 6's notations, as models write them, and what cannot be read, with its place."""

from __future__ import annotations

import json
import re
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pddl_eval.definition.budget import OutOfBudgetError
from pddl_eval.definition.pddl import MAX_CHARACTERS
from pddl_eval.definition.plans import Plan, PlanError, Step, Unread, read_plan
from pddl_eval.definition.plans.found import actions_of, lasting
from pddl_eval.definition.plans.lines import MAX_ACTIONS
from pddl_eval.scoring.budget import row_budget
from pddl_eval.scoring.plans import plan_of_steps

from tests.measure.written_plans import answer_fault, fault
from tests.support.volume import in_two_sizes


def plan(*steps: str) -> Plan:
    """``plan("pick a", "x p|y")``: a bar is between concurrent actions, ``"|"`` is ``{}``."""
    return tuple(_step(step) for step in steps)


def _step(text: str) -> Step:
    actions = [tuple(action.split()) for action in text.strip("|").split("|") if action]
    return frozenset(actions) if "|" in text else actions[0]


BLOCKS = plan("unstack b1 b2", "put-down b1")

READABLE = {
    "GAICo's page": ("take(a), move(l1, l2), {x(p), y}, drop(a)", plan("take a", "move l1 l2", "x p|y", "drop a")),
    "GAICo's bare names": ("a1, {a2, a3}, a4", plan("a1", "a2|a3", "a4")),
    "one bare name": ("noop1", plan("noop1")),
    "braces around one action": ("{a}, b", plan("a|", "b")),
    "braces around nothing": ("a, {}, b", plan("a", "|", "b")),
    "braces over two lines": ("{x(p),\n  y(q)}, drop(a)\nwave()", plan("x p|y q", "drop a", "wave")),
    "case and blanks": ("  Take( A ) ,MOVE(l1 ,  L2)  ", plan("take a", "move l1 l2")),
    "a call with a blank": ("move (l1, l2)", plan("move l1 l2")),
    "inner parentheses": ("f(g(x, y), z)", (("f", "g(x, y)", "z"),)),
    "PDDL lines": ("(unstack b1 b2)\n(put-down b1)\n", BLOCKS),
    "PDDL on one line": ("(unstack b1 b2) (put-down b1)", BLOCKS),
    "PDDL with commas": ("(unstack b1, b2), (put-down b1)", BLOCKS),
    "a list of PDDL actions": ("((unstack b1 b2)\n (put-down b1))", BLOCKS),
    "Windows lines": ("(unstack b1 b2)\r\n(put-down b1)\r\n", BLOCKS),
    "a planner's output": ("0: (UNSTACK B1 B2) [1]\n1: (put-down b1) [1]\n; cost = 2 (unit cost)", BLOCKS),
    "a temporal planner": ("0.000: (a) [1.0]\n0.000: (b c) [2.000]\n3.5: (d) [D:1.0; C:0.1]", plan("a|b c", "d")),
    "comments": ("; (noop)\n(unstack b1 b2) ; then\n(put-down b1) # done (twice)\n// (noop)", BLOCKS),
    "numbered": ("1. (unstack b1 b2)\n2. (put-down b1)", BLOCKS),
    "numbered alike": ("1. (unstack b1 b2)\n1. (put-down b1)", BLOCKS),
    "numbered in a row": ("1) unstack(b1, b2) 2) put-down(b1)", BLOCKS),
    "steps": ("Step 1: unstack(b1, b2)\nStep 2: **put-down(b1)**", BLOCKS),
    "explained steps": ("1. `(unstack b1 b2)`: free b1\n2. **(put-down b1)** – onto (on) the table", BLOCKS),
    "explained before": ("1. Free b1: (unstack b1 b2)\n2. Put it down: (put-down b1)", BLOCKS),
    "bullets": ("- (unstack b1 b2)\n* (put-down b1)", BLOCKS),
    "a table": ("| 1 | (unstack b1 b2) | free b1 |\n| 2 | (put-down b1) | |", BLOCKS),
    "a Python list": ("['unstack(b1, b2)', 'put-down(b1)']", BLOCKS),
    "brackets": ("[unstack(b1, b2), put-down(b1)]", BLOCKS),
    "arrows": ("unstack(b1, b2) -> put-down(b1)", BLOCKS),
    "statements": ("unstack(b1, b2); put-down(b1);", BLOCKS),
    "a labelled list": ("The plan is: (unstack b1 b2), (put-down b1).", BLOCKS),
    "prose around lines": ("Sure (of course)!\n\n(unstack b1 b2)\n(put-down b1)\n\nNow (on b1 b2) is false.", BLOCKS),
    "explained by states": (
        "Initial state: on(b1, b2), clear(b1)\nGoal: (on-table b1)\n\n1. unstack(b1, b2) takes it\n"
        "   - Preconditions: on(b1, b2), clear(b1)\n   - Effects: holding(b1)\n2. put-down(b1)\nResult: done(b1).",
        BLOCKS,
    ),
    "a fence": ("I (the robot) do:\n```pddl\n(unstack b1 b2)\n(put-down b1)\n```\n(or (noop))", BLOCKS),
    "a problem before": (
        "```pddl\n(define (problem p)\n(clear b1)\n)\n```\n```\n(unstack b1 b2)\n(put-down b1)\n```",
        BLOCKS,
    ),
    "an open fence": ("```\n(unstack b1 b2)\n(put-down b1)", BLOCKS),
    "a fence of names": ("The plan:\n```\nnoop, wave\n```", plan("noop", "wave")),
    "sentences": ("First I do `(unstack b1 b2)`, and then comes put-down(b1).", BLOCKS),
    "PDDL lines with commas": ("(unstack b1 b2),\n(put-down b1)", BLOCKS),
    "lines that end in `and`": ("(unstack b1 b2) and\n(put-down b1)", BLOCKS),
    "lines that end in an arrow": ("unstack(b1, b2) ->\nput-down(b1)", BLOCKS),
    "GAICo's page, a line each": (
        "take(a),\nmove(l1, l2),\n{x(p), y},\nnoop,\ndrop(a)",
        plan("take a", "move l1 l2", "x p|y", "noop", "drop a"),
    ),
    "a list over lines": ("[\n  take(a),\n  drop(b)\n]", plan("take a", "drop b")),
    "a list that is assigned": ("plan = [take(a), drop(b)]", plan("take a", "drop b")),
    "actions named like labels": (
        "take(a),\nmove(b),\nstep(c),\naction(d),\ntime(e),\ndrop(a)",
        plan("take a", "move b", "step c", "action d", "time e", "drop a"),
    ),
    "bare names like labels": ("step1, action, move", plan("step1", "action", "move")),
    "blanks before parentheses": ("pickup (a), stack (a, b)", plan("pickup a", "stack a b")),
    "blanks before parentheses, a line each": ("take (a)\ndrop (b)", plan("take a", "drop b")),
    "steps on one line": ("Step 1: take(a); Step 2: drop(b)", plan("take a", "drop b")),
    "lettered": ("a) take(a)\nb) drop(b)", plan("take a", "drop b")),
    "times on one line": ("0: (a) [1], 0: (b) [1], 1: (c) [1]", plan("a|b", "c")),
    "states above": ("Initial state:\n- on(b1, b2)\n- clear(b1)\n\nPlan:\n- unstack(b1, b2)\n- put-down(b1)", BLOCKS),
    "atoms above": ("The goal is:\n(on b1 b2)\n\nPlan:\n1. (unstack b1 b2)\n2. (put-down b1)", BLOCKS),
    "JSON with Python's quotes": (
        "[{'name': 'take', 'args': {'what': \"a's\", 'n': None}, 'id': 0}, {'name': 'drop', 'args': ('b',), 'id': 1},]",
        (("take", "n=null", "what=a's"), ("drop", "b")),
    ),
    "arguments as a JSON string": (
        '[{"name": "take", "args": "{\\"n\\": 1, \\"x\\": \\"A\\"}"}, {"name": "drop", "args": "{}"}]',
        plan("take n=1 x=a", "drop"),
    ),
    "arguments by the names of variables": ('[{"name": "take", "args": {"?x": "a"}}]', plan("take x=a")),
    "arguments as OpenAI calls them": ('[{"name": "take", "arguments": "{\\"n\\": 1}"}]', plan("take n=1")),
    "Python tuples": ("[('unstack', 'b1', 'b2'), ('put-down', 'b1')]", BLOCKS),
    "a planner with nothing to do": ("[]\n; cost = 0 (unit cost)", ()),
    "the empty list of PDDL": ("()", ()),
    "empty braces": ("{}", plan("|")),
    "the empty list": ("[]", ()),
    "the empty list in a fence": ("```json\n[ ]\n```", ()),
    "JSON strings": ('["unstack(b1, b2)", "(put-down b1)", "wave"]', (*BLOCKS, *plan("wave"))),
    "JSON lists": ('[["unstack", "b1", "B2"], ["put-down", "b1"]]', BLOCKS),
    "a text in JSON": ('{"plan": "(unstack b1 b2)\\n(put-down b1)"}', BLOCKS),
    "actions in JSON": ('{"plan": [{"action": "unstack", "args": ["b1", "b2"]}, {"action": "(put-down b1)"}]}', BLOCKS),
    "texts under a key": ('{"steps": ["(unstack b1 b2)", "(put-down b1)"]}', BLOCKS),
    "tags on a line": ("I think: <plan>(unstack b1 b2) (put-down b1)</plan>", BLOCKS),
    "an answer on a line": ("<answer>(unstack b1 b2) (put-down b1)</answer>", BLOCKS),
    "a box": ("So \\boxed{(unstack b1 b2), (put-down b1)}.", BLOCKS),
    "a box of text": ("\\boxed{\\text{(unstack b1 b2), (put-down b1)}}", BLOCKS),
    "backslashes": ("(unstack b1 b2)\\\n(put-down b1)\\", BLOCKS),
    "marks of a prompt": ("[PLAN]\n(unstack b1 b2)\n(put-down b1)\n[PLAN END]", BLOCKS),
    "the end mark of a prompt": ("(unstack b1 b2)\n(put-down b1)\n[PLAN_END]", BLOCKS),
    "other marks of a prompt": ("[QUERY PLAN]\n(unstack b1 b2)\n(put-down b1)\n[PLAN_END]", BLOCKS),
    "a list closed on the last line": ("(:plan\n  (unstack b1 b2)\n  (put-down b1))", BLOCKS),
    "a list on one line": ("(plan (unstack b1 b2) (put-down b1))", BLOCKS),
    "braces over four lines": ("{\nx(p),\ny\n}, drop(a)", plan("x p|y", "drop a")),
    "titles": ("1. **Unstack b1.**\n   - `unstack(b1, b2)`\n2. **Put it down.**\n   - `put-down(b1)`", BLOCKS),
    "a thought": ("<think>1. (noop)\n2. (wave)</think>\n(unstack b1 b2)\n(put-down b1)", BLOCKS),
    "a thought that the prompt opened": ("(noop)\n</think>\n(unstack b1 b2)\n(put-down b1)", BLOCKS),
    "numbers under headings that count": (
        "### Phase 1: take it\n1. (unstack b1 b2)\n2. (noop)\n\n### Phase 2: drop it\n1. (put-down b1)",
        plan("unstack b1 b2", "noop", "put-down b1"),
    ),
    "numbers under numbers": (
        "1. Take it:\n   1. (unstack b1 b2)\n   2. (noop)\n2. Drop it:\n   1. (put-down b1)",
        plan("unstack b1 b2", "noop", "put-down b1"),
    ),
    "a list that prose interrupts": ("(unstack b1 b2)\nNow it is in the hand.\n(put-down b1)", BLOCKS),
    "a numbering that goes on": ("1. (unstack b1 b2)\n\nThe plan goes on:\n2. (put-down b1)", BLOCKS),
    "fences that go on": ("Step 1:\n```\n(unstack b1 b2)\n```\nStep 2:\n```\n(put-down b1)\n```", BLOCKS),
    "a step again": ("(noop)\n(noop)\n\n(noop)", plan("noop", "noop", "noop")),
    "JSON under a key": (
        '{"plan": [{"name": "unstack", "args": ["b1", "b2"]}, {"name": "put-down", "args": "b1"}]}',
        BLOCKS,
    ),
}


@pytest.mark.parametrize("name", READABLE)
def test_read_whole(name: str) -> None:
    text, expected = READABLE[name]
    reading = read_plan(text)
    assert reading.steps == expected
    assert (reading.unread, reading.reason, reading.found) == ((), "", True)


def test_t_eval_objects_in_prose() -> None:
    """T-Eval's own format: sorted by id, arguments by name, whatever stands around."""
    actions = [
        {"name": "FinishAction", "args": {}, "id": 2},
        {"name": "Email.send", "args": {"to": "Ann", "body": "a, (b) [c]"}, "id": 1},
        {"name": "GetWeather", "args": {"days": 2, "city": "New York", "opts": {"b": [1], "a": None}}, "id": 0},
    ]
    reading = read_plan(f"As asked [1], (see below):\n```json\n{json.dumps(actions, indent=2)}\n```\nDone.")
    assert reading.steps == (
        ("getweather", "city=new york", "days=2", 'opts={"a": null, "b": [1]}'),
        ("email.send", "body=a, (b) [c]", "to=ann"),
    )
    assert reading.reason == ""


def test_objects_without_ids_stay_in_order() -> None:
    assert read_plan('[{"name": "b", "id": 1}, {"name": "a"}]').steps == plan("b", "a")


UNREAD = {
    "words for an action": (
        "1. (pick a)\n2. pick the other\n3. (drop a)",
        plan("pick a", "drop a"),
        (2, 1, "2. pick the other"),
    ),
    "cut off": ("(pick a)\n(drop", plan("pick a"), (2, 1, "(drop")),
    "in a fence": ("```\n(pick a)\n  whatever\n```", plan("pick a"), (3, 3, "whatever")),
    "an action in prose": (
        "(pick a)\non(a, b) is true now\n(drop a)",
        plan("pick a", "drop a"),
        (2, 1, "on(a, b) is true now"),
    ),
    "behind an action": ("(drop a)\n1. (pick a) or (put (b) c)", plan("drop a"), (2, 1, "1. (pick a) or (put (b) c)")),
    "JSON cut off": ('[{"name": "a"},\n {"name": "b', plan("a"), (2, 2, '{"name": "b')),
    "JSON of another kind": ('[{"name": "a"}, 7, {"name": "b"}]', plan("a", "b"), (1, 17, '7, {"name": "b"}]')),
    "JSON without a name": (
        '[{"name": "a"}, {"id": 1}, {"name": "b"}]',
        plan("a", "b"),
        (1, 17, '{"id": 1}, {"name": "b"}]'),
    ),
    "JSON not closed": ('[{"name": "a"} {"name": "b"}]', plan("a"), (1, 16, '{"name": "b"}]')),
}


DAMAGED = {
    "braces in braces": "{a, {b, c}}, d",
    "a parenthesis too many": "take(a)) , drop(b)",
    "a parenthesis too few": "take(a, drop(b)",
    "names in parentheses behind a word": "pick (a b)\nand (c d) too",
    "linking words and no action": "pick(a) then ()",
    "a list in a list": '[["a", ["b", "c"]], "d"]',
    "objects without names": '[{"nome": "a", "args": ["b"]}]',
    "objects without a list": '{"name": "pick", "args": ["a", "b"]}',
    "a remark": "I am sorry (at this time), that cannot be done.",
    "a comment on costs": "I found nothing (unit cost).",
}


@pytest.mark.parametrize("name", DAMAGED)
def test_what_is_damaged_is_said_and_no_action(name: str) -> None:
    reading = read_plan(DAMAGED[name])
    assert (reading.steps, reading.found) == ((), False)
    assert reading.unread and str(reading.unread[0]) in reading.reason


SAID = {
    "a comment of actions": ("(a) ; (b)\n(c)", plan("a", "c"), (1, 5, "; (b)")),
    "another notation behind blanks": ("1. pick(a) (frees b)\n2. (c)", plan("c"), (1, 1, "1. pick(a) (frees b)")),
    "a lettered item": ("(a) pick(b)\n(c)", plan("c"), (1, 1, "(a) pick(b)")),
    "lines outside of the fence": ("(b)\n```\n(a)\n```", plan("a"), (1, 1, "(b)")),
    "a list that does not end": ("[pick(a),\ndrop(b", plan("pick a"), (2, 1, "drop(b")),
    "parentheses in sentences": ("Do pick(a) where (of course) it is.", plan("pick a"), (1, 18, "(of course) it is.")),
    "a bare name among lines": ("1. (a)\n2. wave\nWhatever comes.", plan("a"), (2, 1, "2. wave")),
}


@pytest.mark.parametrize("name", SAID)
def test_what_is_not_read_is_said(name: str) -> None:
    text, steps, place = SAID[name]
    reading = read_plan(text)
    assert reading.steps == steps
    assert Unread(*place) in reading.unread


DRAFTS = {
    "a final plan": ("1. (a b)\n2. (c)\nThe final plan is:\n1. (a b)\n2. (d)", plan("a b", "c"), plan("a b", "d")),
    "a final plan on a line": ("1. (a b)\n2. (c)\nFinal plan: (a b), (d)", plan("a b", "c"), plan("a b", "d")),
    "numbers again": ("1. (a b)\n2. (c)\n\n1. (a b)\n2. (d)", plan("a b", "c"), plan("a b", "d")),
    "numbers again behind a broken step": (
        "1. (a b)\n2. (c)\n3. (e\n\n1. (a b)\n2. (d)",
        plan("a b", "c"),
        plan("a b", "d"),
    ),
    "steps again": ("Step 1: a(b)\nStep 2: c()\nStep 1: a(b)\nStep 2: d()", plan("a b", "c"), plan("a b", "d")),
    "a breakdown": (
        "Plan: a(b), c(d)\nAction breakdown:\n1. a(b): takes it\n2. c(d): drops it",
        plan("a b", "c d"),
        plan("a b", "c d"),
    ),
    "the same list": ("(a b)\n(c)\n\n(a b)\n(c)", plan("a b", "c"), plan("a b", "c")),
    "the same list on a line": ("a(b), c(d)\na(b), c(d)", plan("a b", "c d"), plan("a b", "c d")),
    "a mistake": ("(a b)\n(c)\nWait, that is wrong.\n(d)\n(e)", plan("a b", "c"), plan("d", "e")),
    "fences": ("```\n(a b)\n```\nBetter:\n```\n(c)\n```", plan("a b"), plan("c")),
    "answers": ("<answer>(a b)</answer> No: <answer>(c)</answer>", plan("a b"), plan("c")),
    "JSON": ('[{"name": "a"}]\n\nNo:\n[{"name": "c"}]', plan("a"), plan("c")),
    "drafts in a JSON text": (
        '{"plan": "1. (a)\\nFinal plan:\\n1. (c)"}',
        plan("a"),
        plan("c"),
    ),
    "JSON texts": ('{"plan": "(a)"}\nNo:\n{"plan": "(c)"}', plan("a"), plan("c")),
    "sentences": (
        "Do `(a b)` and `(c)`.\nThe final plan:\nso `(a b)` and then `(c)`.",
        plan("a b", "c"),
        plan("a b", "c"),
    ),
}


@pytest.mark.parametrize("name", DRAFTS)
def test_one_of_several_drafts_is_read(name: str) -> None:
    text, first, last = DRAFTS[name]
    readings = read_plan(text), read_plan(text, "last")
    assert [(reading.steps, reading.several) for reading in readings] == [(first, True), (last, True)]
    assert readings[1].damage is None


@pytest.mark.parametrize("name", READABLE)
def test_what_is_one_plan_is_not_split(name: str) -> None:
    text, expected = READABLE[name]
    reading = read_plan(text, "last")
    assert (reading.steps, reading.several) == (expected, False)


BROKEN = {
    "between": ("(a)\n(b (c\n(d)", 1),
    "before": ("(b (c\n(d)", 0),
    "cut off": ("(a)\n(d)\n(e", 2),
    "words for a step": ("1. (a)\n2. fly to the moon (b)\n3. (d)", 1),
    "words for the last step": ("1. (a)\n2. fly to the moon", 1),
    "words for the first step": ("1. fly to the moon\n2. (a)", 0),
    "in a fence": ("```\n(a)\nfly\n```", 1),
    "in a draft": ("1. (a)\n2. fly away\n3. (d)\nFinal plan:\n1. (a)", 1),
    "JSON": ('[{"name": "a"}, {"name": 5}]', 1),
    "JSON cut off": ('[{"name": "a"}, {"name": "b", "args": [', 1),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_step_that_cannot_be_read_is_damage(name: str) -> None:
    text, before = BROKEN[name]
    damage = read_plan(text).damage
    assert damage is not None
    assert damage.steps_before == before


@pytest.mark.parametrize(
    "text",
    [
        "(a)\n(b) ; (c)\n(d)",
        "1. (a)\n2. (d)\n\n(on b1 b2) holds now.",
        "1. We need it on b.\n2. It is on c.\n\nPlan:\n\n1. (a)\n2. (d)",
        "Do pick(a) where (of course) it is, then drop(b).",
        "1. (a)\n2. (b (c\nFinal plan:\n1. (a)\n2. (d)",
    ],
)
def test_what_is_no_step_is_no_damage(text: str) -> None:
    assert read_plan(text, "last").damage is None


OPERATORS = {"load-truck": ("p", "t", "l"), "drive": ("t", "to"), "noop": ()}


@pytest.mark.parametrize(
    ("text", "steps"),
    [
        ("load-truck p t l\ndrive t m", plan("load-truck p t l", "drive t m")),
        ("1. **load-truck** p, t, l\n2. drive t m.", plan("load-truck p t l", "drive t m")),
        ("- load-truck p t l\n- drive t\n- drive t m", plan("load-truck p t l", "drive t", "drive t m")),
        ("drive t m\nThen drive the truck to the market.", plan("drive t m")),
        ("drive t m\ndrive the truck to l", ()),
        ("drive the truck\nload-truck it", ()),
        ("The goals `(on a b)` and `(on b a)` form a cycle, so there is no plan.", ()),
        ("load_truck(p, t, l)\nmove(t, m)", ()),
        ("The atom `at(t, l)` holds, so `drive(t, m)` is next.", plan("drive t m")),
        ("drive(t, m), fly(t)", plan("drive t m", "fly t")),
    ],
)
def test_operators_tell_steps_from_words(text: str, steps: Plan) -> None:
    reading = read_plan(text, operators=OPERATORS)
    assert (reading.steps, reading.found) == (steps, bool(steps))


def test_a_line_without_parentheses_among_others_is_damage() -> None:
    damage = read_plan("(load-truck p t l)\ndrive t m\n(drive m t)", operators=OPERATORS).damage
    assert damage is not None
    assert damage.steps_before == 1
    assert "load-truck" in read_plan("load_truck(p, t, l)", operators=OPERATORS).reason


@pytest.mark.parametrize(
    "line",
    ["<drive m t>", "<drive(m, t)>", "action: drive m t", "Next: drive m t", "drive = m t", "drive[m,t]", "drive{m,t}"],
)
def test_a_step_in_signs_that_no_step_has_or_behind_a_label_is_damage(line: str) -> None:
    steps = "(load-truck p t l)\n(drive t m)"
    for text in (f"{line}\n{steps}", steps.replace("\n", f"\n{line}\n"), f"{steps}\n{line}"):
        reading = read_plan(text, operators=OPERATORS)
        assert reading.damage is not None or ("drive", "m", "t") in reading.steps
    assert read_plan(f"{steps}\n<b (drive m t)>", operators=OPERATORS).skipped == 1


@pytest.mark.parametrize(
    "text",
    [
        "1a. (drive t m)\n1b. (drive m t)",
        "(drive t m)\n(drive m t)[/INST]",
        "[INST](drive t m)\n(drive m t) [EOS]",
        "(drive t m)\n(drive m t)<|eot_id|><|start_header_id|>assistant<|end_header_id|>\n\n",
        "```{.pddl}\n(drive t m)\n(drive m t)\n```",
        "<drive>(drive t m)</drive>\n<drive>(drive m t)</drive>",
        '<drive class="x">(drive t m)</drive>\n<b>(drive m t)</b>',
    ],
)
def test_what_stands_around_steps_costs_none(text: str) -> None:
    for operators in (None, OPERATORS):
        reading = read_plan(text, operators=operators)
        assert (reading.steps, reading.damage, reading.reason) == (plan("drive t m", "drive m t"), None, "")


@pytest.mark.parametrize("piece", ["a\n", ",A. \n", "\n(", "１\n\n", "(a)\nFinal plan:\n", '{"name":"a"},'])
def test_the_reader_looks_at_the_budget(piece: str) -> None:
    """2,000,000 characters took 16 seconds: a row without time left ends in the reader."""
    with row_budget(0), pytest.raises(OutOfBudgetError):
        read_plan(f"[{piece * 100_000}(")


@in_two_sizes(50, 4_000)
def test_answers_of_known_validity_are_read_once_and_whole(cases: int) -> None:
    """Notations, drafts, thoughts, damage; ``python -m tests.measure.written_plans --answers 4000`` prints a table."""
    assert [wrong for number in range(cases) if (wrong := answer_fault(number, 17)[1])] == []


@pytest.mark.parametrize("damaged", [False, True])
@in_two_sizes(200, 20_000)
def test_written_plans_are_read_back(cases: int, damaged: bool) -> None:
    """Every notation, separator, number, bullet, label, fence, comment, line break; see ``measure.written_plans``."""
    assert [wrong for number in range(cases) if (wrong := fault(number, 17, damaged)[1])] == []


@pytest.mark.parametrize("name", UNREAD)
def test_place_of_what_could_not_be_read(name: str) -> None:
    text, steps, place = UNREAD[name]
    reading = read_plan(text)
    assert reading.steps == steps
    assert reading.unread == (Unread(*place),)
    assert str(Unread(*place)) in reading.reason


def test_many_unread_places_are_counted() -> None:
    text = "(pick a)\n" + "\n".join(f"{number}. nothing" for number in range(100))
    reading = read_plan(text)
    assert len(reading.unread) == 20
    assert str(Unread(2, 1, "0. nothing")) in reading.reason
    assert "at least 19 more" in reading.reason


@pytest.mark.parametrize(
    ("text", "reason", "found"),
    [
        (None, "no answer", False),
        ("", "empty", False),
        (" \n\t", "empty", False),
        (",", "empty", False),
        ("; cost = 0 (unit cost)", "empty", False),
        ("```pddl\n\n```", "empty", False),
        ("<think>(a)</think>", "empty", False),
        ("I cannot do that.", "line 1, column 1: 'I cannot do that.'", False),
        ("\n\n  Sorry, but no.", "line 3, column 3: 'Sorry, but no.'", False),
        ("a" * (MAX_CHARACTERS + 1), "4,000,000 characters", False),
    ],
)
def test_no_plan(text: str | None, reason: str, found: bool) -> None:
    reading = read_plan(text)
    assert (reading.steps, reading.found) == ((), found)
    assert reason in reading.reason


@pytest.mark.parametrize(
    "token", ["<|im_end|>", "</s>", "<|eot_id|>", "<end_of_turn>", "<｜end▁of▁sentence｜>", " <|end|>\n<|endoftext|>\n"]
)
@pytest.mark.parametrize(
    "text", ["(pick a)\n(drop a)", "pick(a), drop(a)", '[{"name": "pick", "args": "a"}, ["drop"]]']
)
def test_end_tokens_are_no_text(text: str, token: str) -> None:
    assert read_plan(text + token)._replace(unread=()) == read_plan(text)._replace(unread=())
    assert read_plan(token).reason == "the answer is empty"


@pytest.mark.parametrize("step", ["(pick\u200b a)", "(\ufeffpick a)", "(pi\u200bck a)", "(pick <b>a</b>)"])
def test_what_cannot_be_seen_inside_of_a_step_is_damage(step: str) -> None:
    for text in (f"(drop a)\n{step}", f"{step}\n(drop a)", f"(drop a)\n{step}\n(drop a)"):
        assert read_plan(text).damage is not None


@pytest.mark.parametrize(
    ("text", "steps"),
    [
        ("1: (a)\n2: (b)\n4: (c)\n3: (d)", plan("a", "b", "d", "c")),
        ("3: (c) [1]\n1: (a) [1]\n\n2: (b) [1]", plan("a", "b", "c")),
        ("0: (a)\n1: (b)\n0: (c)", plan("a|c", "b")),
        ("1. (a)\n3. (c)\n2. (b)", plan("a", "c", "b")),  # numbers are no times
        ("0: (a), (x)\n2: (c)\n1: (b)", plan("a", "x", "b", "c")),
        ("0: (a)\n1: (b)\n0: (a)\n1: (c)", plan("a", "b")),  # another draft
        ("0: (a) [1]\n3: (b)\n0: (a) [2]", plan("a|a", "b")),  # one that starts twice, in any order
        ("0: (a) [1]\n3: (b)\n2: (c)\n0: (a) [2]\n4: (d)", plan("a|a", "c", "b", "d")),
    ],
)
def test_times_order_the_steps(text: str, steps: Plan) -> None:
    assert read_plan(text).steps == steps


@pytest.mark.parametrize(
    ("text", "start", "duration"),
    [
        ("1/100: (a x)", "1/100", None),
        ("0.5s: (a x) [8 s]", "1/2", "8"),
        ("1e-3: (a x) [.5]", "1/1000", "1/2"),
        ("[0.5] (a x) [8]", "1/2", "8"),
        ("3. [t=2] (a x)", "2", None),
        ("Step 1 (t = 0.5): (a x) [duration: 8]", "1/2", "8"),
        ("(a x) (duration 8)", None, "8"),
        ("2: a(x) (lasts: 1/3)", "2", "1/3"),
        ("2: (a x) (8)", "2", "8"),
        ("a(x) (8.5 s).", None, "17/2"),
        ("(a x) at time 0.5 for 8 seconds", "1/2", "8"),
        ("0.5: (a x), duration 8.5 minutes", "1/2", "17/2"),
        ("0.5 - 2.5: (a x)", "1/2", "2"),
        ("[1, 2.5] (a x)", "1", "3/2"),
        ("1 - 0.5: (a x)", "1/2", None),  # a number and a time
        ("| Start time | End | Action | Duration |\n|---|---|---|---|\n| 0.5 | 9 | `(a x)` | 8 |", "1/2", "8"),
        ("| Step | Action | Duration (s) |\n|--|--|--|\n| 1 | a(x) | 8 |", None, "8"),
        ("| Step | Action | Cost |\n|--|--|--|\n| 1 | a(x) | 8 |", None, None),
    ],
)
def test_a_step_says_when_it_starts_and_how_long_it_takes(text: str, start: str | None, duration: str | None) -> None:
    (step,) = read_plan(text).steps
    said = [getattr(step, name, None) for name in ("start", "duration")]
    assert (step, said) == (("a", "x"), [None if each is None else Fraction(each) for each in (start, duration)])


def test_what_is_no_time_is_not_read_as_one() -> None:
    assert not read_plan("00:05: (a x)").steps


@pytest.mark.parametrize(
    "text",
    [
        "0: (a)\n-1: (b)",
        "0: (a)\n-0.5s: b()",
        "(a)\nt=-1: (b)",
        "0: (a)\n-1 - 2: (b)",
        '[{"name": "a", "start": 0}, {"name": "b", "start": -1}]',
    ],
)
def test_a_step_below_0_is_damage(text: str) -> None:
    reading = read_plan(text)
    assert reading.damage is not None
    assert (reading.steps, reading.damage.steps_before) == (plan("a"), 1)
    assert str(reading.unread[0]) in reading.reason


def test_bullets_and_numbers_behind_a_minus_are_no_times_below_0() -> None:
    assert [*map(lasting, read_plan("- 1: (a)\n- 2: (b)").steps)] == [None, None]
    assert read_plan("-1. (b)\n-2. (a)").steps == plan("b", "a")


def test_the_duration_behind_braces_is_that_of_each_action_without_one() -> None:
    (step, after) = read_plan("{a(), b() [3], c()} [8] {d()}").steps
    durations = {action[0]: lasting(action) for action in actions_of(step)}
    assert (durations, after) == ({"a": 8, "b": 3, "c": 8}, frozenset([("d",)]))


def test_numbers_in_parentheses_before_steps_of_a_line_are_no_durations() -> None:
    assert [*map(lasting, read_plan("(1) a() (2) b(x) (3) c()").steps)] == [None, None, None]


@pytest.mark.parametrize(
    ("text", "steps", "before"),
    [
        ("['(go x y)', '(go y z (1))']", plan("go x y"), 1),
        ("['(go y z (1))', '(go x y)']", plan("go x y"), 0),
        ("[7, '(go x y)', null]", plan("go x y"), 0),
        ('[["go", "x", "y"], ["go", 1]]', plan("go x y"), 1),
        ('[{"name": "a", "args": }, {"name": "b"}]', plan("b"), 0),
    ],
)
def test_a_bad_item_of_a_list_costs_itself_and_is_damage(text: str, steps: Plan, before: int) -> None:
    reading = read_plan(text)
    assert reading.damage is not None
    assert (reading.steps, reading.damage.steps_before) == (steps, before)


def test_json_with_other_keys_and_blanks() -> None:
    assert read_plan('[{"Name":\u00a0"go",\u00a0"ARGS": ["x"], "ID": 2}, {"Name": "b", "ID": 1}]').steps == plan(
        "b", "go x"
    )


@pytest.mark.parametrize(
    ("text", "skipped"),
    [
        ("(go x y)\nThen (go y z) would follow.", 1),
        ("I use (go x y) first, then go(y, z).\n(go x y)\nIt (the van) is (at y).", 1),
        ("So (go x y):\n```\n(go x y)\n```\nThat is (go x y).", 2),
        ("Use (go x y): <plan>(go x y)</plan>", 1),
        ('By (go x y):\n[{"name": "go", "args": ["x", "y"]}]', 1),
        ('[{"name": "go", "args": ["x", "y"]}],\n{"name": "go", "args": ["y", "z"]}', 1),
        ('[[{"name": "go", "args": ["x", "y"]}],\n[{"name": "go", "args": ["y", "z"]}]]', 1),
        ("(go x y)\n; (go y z)", 0),
        ("(go x y)", 0),
    ],
)
def test_lines_of_prose_that_quote_actions_are_counted(text: str, skipped: int) -> None:
    for operators in (None, {"go": ("from", "to")}):
        reading = read_plan(text, operators=operators)
        assert (reading.steps, reading.skipped, reading.damage) == (plan("go x y"), skipped, None)


@pytest.mark.parametrize(
    "between",
    [". Then ", ". Next, ", ". After that, ", ". Now ", ". Second, ", " and then ", ", followed by ", "; next: "],
)
@pytest.mark.parametrize("first", ["", "First, ", "1. ", "The plan: "])
def test_sentences_that_go_on_in_one_paragraph_are_steps(between: str, first: str) -> None:
    """No action of a paragraph is lost: of `First, (a). Next (b).` only the first was read, and nothing was said."""
    for steps in (["(load-truck p t l)", "(drive t m)", "(noop)"], ["load-truck(p, t, l)", "drive(t, m)", "noop()"]):
        for operators in (None, OPERATORS):
            reading = read_plan(f"{first}{between.join(steps)}.", operators=operators)
            assert (reading.steps, reading.reason) == (plan("load-truck p t l", "drive t m", "noop"), "")


@pytest.mark.parametrize("between", [". We then ", ". Do ", " ... ", " || ", " - so that we can "])
def test_actions_behind_the_steps_of_a_line_are_told(between: str) -> None:
    paragraph = read_plan(f"(drive t m){between}(drive m t).", operators=OPERATORS)
    assert paragraph.steps == plan("drive t m")
    assert paragraph.damage is not None
    line = f"1. (drive t m) - so that (drive m t) can follow{between}go."
    listed = read_plan(f"{line}\n2. (drive m t)", operators=OPERATORS)
    assert (listed.steps, listed.damage, listed.skipped) == (plan("drive t m", "drive m t"), None, 1)


@pytest.mark.parametrize(
    "text",
    [
        '["load-truck p t l", "drive t m"]',
        '{"plan": ["load-truck p t l", "drive t m"]}',
        "plan = [\n    'load-truck p t l',  # first\n    'drive t m',\n]",
        '{"steps": [{"step": 1, "action": "load-truck p t l"}, {"step": 2, "action": "drive t m"}]}',
        "load-truck p t l, drive t m",
        "load-truck p t l -> drive t m.",
        "load-truck p t l; drive t m",
        '{"name": "load-truck", "arguments": {"l": "l", "p": "p", "t": "t"}}\n'
        '{"name": "drive", "arguments": {"?t": "t", "?to": "m"}}',
        '<tool_call>\n{"name": "load-truck", "args": ["p", "t", "l"]}\n</tool_call>\n'
        '<tool_call>\n{"name": "drive", "args": ["t", "m"]}\n</tool_call>',
        '[{"name": "load-truck", "args": {"t": "t", "p": "p", "l": "l"}},'
        ' {"name": "drive", "args": {"to": "m", "t": "t"}}]',
        'load-truck(p="p", t="t", l="l")\ndrive(to="m", t="t")',
        "(load-truck ?p=p ?t=t ?l=l)\n(drive ?t=t ?to=m)",
    ],
)
def test_known_operators_need_no_parentheses_and_name_arguments(text: str) -> None:
    reading = read_plan(text, operators=OPERATORS)
    assert (reading.steps, reading.reason, reading.damage) == (plan("load-truck p t l", "drive t m"), "", None)


@pytest.mark.parametrize("end", ["\n ", " "])
@pytest.mark.parametrize(
    "head",
    ["(plan", "(define (plan", "(define (plan p-1)", "(define (plan p-1)\n (:steps", "(define (plan p)\n (:actions"],
)
def test_plans_as_models_define_them(head: str, end: str) -> None:
    """GPT-4 answers PlanBench so."""
    closing = ")" * (head.count("(") - head.count(")"))
    text = f"Here is the plan:\n```\n{head}{end}(drive t m){end}(drive m t){end}{closing}\n```"
    for operators in (None, OPERATORS):
        reading = read_plan(text, operators=operators)
        assert (reading.steps, reading.reason) == (plan("drive t m", "drive m t"), "")


@pytest.mark.parametrize(
    ("text", "step"),
    [
        ('[{"name": "drive", "args": {"from": "a", "to": "b"}}]', "drive from=a to=b"),
        ('[{"name": "fly", "args": {"t": "a", "to": "b"}}, {"name": "noop"}]', "fly t=a to=b"),
    ],
)
def test_arguments_under_other_names_than_the_parameters_stay(text: str, step: str) -> None:
    assert read_plan(text, operators=OPERATORS).steps[0] == plan(step)[0]


@pytest.mark.parametrize("words", ["1. unstack c from a\n2. put-down c", "- put-down b\n- put-down c"])
def test_a_list_in_words_before_the_plan_is_no_damage(words: str) -> None:
    """As PlanBench's models answer: first in words, then in PDDL."""
    text = f"The plan is:\n\n{words}\n\nIn PDDL:\n(unstack c a)\n(put-down c)"
    reading = read_plan(text, operators={"unstack": ("x", "y"), "put-down": ("x",)})
    assert (reading.steps, reading.damage) == (plan("unstack c a", "put-down c"), None)


HOSTILE = {
    "opening parentheses": "(" * 30_000,
    "closing parentheses": ")" * 30_000,
    "calls in calls": "f(" * 30_000,
    "calls beside calls": "f(x(y)" * 15_000,
    "open PDDL": "(a " * 30_000,
    "open braces": "{a" * 30_000,
    "nested lists": "[" * 30_000,
    "nested objects": '[{"a":' * 30_000,
    "nested names": '[{"name":"a","args":' * 30_000,
    "open strings": '[{"name":"a","args":"' * 15_000,
    "backslashes": '[{"\\' * 30_000,
    "quotes": '"' * 60_000,
    "labels": "a:" * 60_000,
    "numbers": "1. " * 60_000,
    "one number": "1" * 60_000 + ": (a)",
    "one word": "a" * 60_000,
    "dashes": "- " * 60_000,
    "steps": "step 1 " * 30_000,
    "commas": "," * 60_000,
    "fences": "```\n" * 30_000,
    "one time": "".join(f"0: (a b{number})\n" for number in range(15_000)),
    "lists": '["" ' * 30_000,
    "unread elements": '[{"name":"a"}' + ',{"x":1}' * 15_000 + "]",
    "doubled parentheses": "((" * 30_000,
    "lists on lines": '["a", //\n' * 30_000,
    "braces on lines": "{\n" * 30_000,
    "parentheses on lines": "(\n" * 30_000,
    "many fences": "```\n(a)\n```\n" * 15_000,
    "blank lines": "\n" * 300_000 + "x",
    "labels on lines": "a:\n" * 30_000,
    "semicolons": "a(b);" * 30_000 + "(",
    "pairs of braces": "{}" * 30_000,
    "Python objects": "[{'name':'a','args':" * 15_000,
    "apostrophes": "['" * 30_000,
    "a long number": '[{"name":"a","id":' + "9" * 30_000 + "}]",
    "deep arguments": '[{"name":"a","args":' + "[" * 900 + "]" * 900 + "}]",
    "faces": ":) " * 30_000,
    "definitions": "(define (problem p)\n" * 15_000,
    "HTML comments": "<!--" * 30_000,
    "signs that are letters": "a" + "\u3164" * 60_000 + "a",
    "TeX": "\\\\text{" * 15_000,
    "end tokens": "(a)" + "<|im_end|>" * 30_000,
    "boxes": "\\\\boxed{(a)}\n" * 6_000,
    "broken objects": '[{"name": "a", "args": }, ' * 6_000,
    "binary": "".join(map(chr, range(0xD800))) * 3,
    "ten megabytes": "(a b)\n" * 1_700_000,
}


LONG = {
    "one time",
    "lists on lines",
    "parentheses on lines",
    "many fences",
    "labels on lines",
    "semicolons",
    "nested names",
}
"""Each takes a second, and its like are tried by default."""


@pytest.mark.parametrize("name", [pytest.param(each, marks=[pytest.mark.slow] * (each in LONG)) for each in HOSTILE])
def test_hostile_text_is_read_in_linear_time(name: str) -> None:
    """No exception, and no hang: each of these took minutes with patterns that backtrack."""
    reading = read_plan(HOSTILE[name])
    assert len(reading.steps) <= MAX_ACTIONS


@pytest.fixture
def few_actions(monkeypatch: pytest.MonkeyPatch) -> int:
    """The most actions of a plan, made few."""
    monkeypatch.setattr("pddl_eval.definition.plans.reading.MAX_ACTIONS", 5_000)
    return 5_000


def test_steps_beyond_the_limit_are_left_out_and_said_to_be(few_actions: int) -> None:
    many = few_actions + 1
    for text in ("(a b)\n" * many, json.dumps([{"name": "a"}] * many)):
        reading = read_plan(text)
        assert len(reading.steps) == few_actions
        assert "first 5,000 steps" in reading.reason
        assert reading.damage and reading.damage.steps_before == few_actions


def test_a_step_of_too_many_actions_is_left_out_and_said_to_be(few_actions: int) -> None:
    reading = read_plan("(a), {" + "b(c), " * (few_actions + 1) + "}, (d)")
    assert reading.steps == (*plan("a"), frozenset({("b", "c")}), *plan("d"))  # they are one action
    reading = read_plan("(a), {" + ", ".join(f"b({number})" for number in range(few_actions)) + "}, (d)")
    assert (reading.steps, "first 1 steps" in reading.reason) == (plan("a"), True)


WORDS = st.from_regex(r"[a-z][a-z0-9_]{0,5}(-[a-z0-9]{1,3})?", fullmatch=True).filter(
    lambda word: word not in {"and", "then", "next", "finally", "lastly", "first", "afterwards"}
)
ACTIONS = st.lists(WORDS, min_size=1, max_size=4).map(tuple)
PLANS = st.lists(ACTIONS, min_size=1, max_size=8)


def call(action: tuple[str, ...]) -> str:
    return f"{action[0]}({', '.join(action[1:])})"


def pddl(action: tuple[str, ...]) -> str:
    return f"({' '.join(action)})"


WRITERS = {
    "calls": lambda actions: ", ".join(map(call, actions)),
    "calls, a line each": lambda actions: "\n".join(map(call, actions)),
    "lines": lambda actions: "\n".join(map(pddl, actions)),
    "upper case": lambda actions: "\n".join(map(pddl, actions)).upper(),
    "numbered": lambda actions: "\n".join(f"{n}: {pddl(a)} [1]" for n, a in enumerate(actions)),
    "explained": lambda actions: "Plan:\n" + "\n".join(f"{n}. `{pddl(a)}` - so" for n, a in enumerate(actions)),
    "fenced": lambda actions: "Here (now):\n```\n" + "\n".join(map(pddl, actions)) + "\n```\nbye",
    "objects": lambda actions: "So: " + json.dumps([{"name": a[0], "args": list(a[1:])} for a in actions]),
    "strings": lambda actions: json.dumps([call(a) for a in actions]),
}


@given(actions=PLANS)
def test_what_is_written_is_read(actions: list[tuple[str, ...]]) -> None:
    for name, write in WRITERS.items():
        reading = read_plan(write(actions))
        assert (reading.steps, reading.reason) == (tuple(actions), ""), name


@given(steps=st.lists(st.frozensets(ACTIONS, min_size=1, max_size=3), min_size=1, max_size=6))
def test_concurrent_steps_are_sets(steps: list[frozenset[tuple[str, ...]]]) -> None:
    assert read_plan(", ".join("{" + ", ".join(map(call, step)) + "}" for step in steps)).steps == tuple(steps)


@given(text=st.text("abAB12 ()?-.,;:\n\t{}[]`*'\"", max_size=60))
def test_any_text_is_answered(text: str) -> None:
    reading = read_plan(text)
    assert reading.found or not reading.steps
    assert all(1 <= place.line <= text.count("\n") + 1 and place.column >= 1 for place in reading.unread)


@pytest.mark.parametrize(
    ("steps", "expected"),
    [
        ([("pick", "A"), ["drop", " a "]], plan("pick a", "drop a")),
        (["pick(A)", "(drop a)", "noop"], plan("pick a", "drop a", "noop")),
        (["a1", frozenset({"a2", "a3(x)"}), "a4"], plan("a1", "a2|a3 x", "a4")),
        ([{("pick", "a"), ("wave",)}, set()], plan("pick a|wave", "|")),
        ([{"name": "b", "id": 1}, {"name": "a", "args": ["x"], "id": 0}], plan("a x", "b")),
        (["Pick  up A"], (("pick up a",),)),
        ((), ()),
    ],
)
def test_plans_from_python_sequences(steps: list[object], expected: Plan) -> None:
    assert plan_of_steps(steps) == expected


@pytest.mark.parametrize("step", [7, None, (), ("a", 7), "", {"args": []}])
def test_a_step_of_another_type_is_an_error(step: object) -> None:
    with pytest.raises(PlanError, match=re.escape(f"`{step}`")):
        plan_of_steps([("pick", "a"), step])
