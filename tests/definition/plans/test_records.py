"""Steps as records: rows of tables, items of YAML lists, fields; what of them cannot be read is damage."""

from __future__ import annotations

import pytest
from pddl_eval.definition.plans import read_plan

OPERATORS = {"pick": ("ball", "room"), "wait": ()}
STEPS = (("pick", "b", "r"), ("wait",))

RECORDS = {
    "a YAML list": "plan:\n  - action: pick\n    args: [b, r]\n  - action: wait\n    args: []",
    "block lists": "- name: pick\n  args:\n    - b\n    - r\n- name: wait\n  args:",
    "names of parameters": "- action: pick\n  parameters:\n    ball: b\n    room: r\n- action: wait\n  parameters: {}",
    "operators as keys": "- pick: [b, r]\n- wait: []",
    "flow mappings": "- {action: pick, args: [b, r]}\n- {action: wait, args: []}",
    "comments and reasons": "- action: pick  # now\n  args: [b, r]\n  reason: (at b r)\n- action: wait\n  args: []",
    "numbers": "1. **Action:** pick\n   **Arguments:** b, r\n2. **Action:** wait\n   **Arguments:** []",
    "fields": "Action: pick\nArguments: b, r\n\nAction: wait\nArguments: []",
    "numbered keys": "step1:\n  action: pick\n  args: [b, r]\nstep2:\n  action: wait\n  args: []",
    "phases": "- phase: 1\n  steps:\n    - action: pick\n      args: [b, r]\n- phase: 2\n  steps:\n    - wait: []",
    "a Markdown table": "| step | action | arguments |\n|---|---|---|\n| 1 | `pick` | b, r |\n| 2 | **wait** | – |",
    "a table with reasons": "|#|Action|Objects|Why|\n|-|-|-|-|\n|1|pick|b r|to carry b|\n|2|wait|none|why not|",
    "CSV": "step,action,arguments\n1,pick,b r\n2,wait,",
    "CSV with quotes": 'step,action,arguments\n1,pick,"b, r"\n2,wait,""',
    "columns of arguments": "action;arg1;arg2\npick;b;r\nwait;;",
    "a fence": "As asked:\n```csv\naction\targuments\npick\tb, r\nwait\t\n```\nIt picks, then waits.",
}


@pytest.mark.parametrize("kind", RECORDS)
def test_records_are_steps(kind: str) -> None:
    found = read_plan(RECORDS[kind], operators=OPERATORS)
    assert (found.steps, found.damage, found.reason) == (STEPS, None, "")


@pytest.mark.parametrize("kind", [kind for kind in RECORDS if kind != "names of parameters"])
def test_a_record_that_cannot_be_read_is_damage(kind: str) -> None:
    found = read_plan(RECORDS[kind].replace("pick", "pi!ck") + "\n" + RECORDS[kind])
    assert found.damage is not None
    assert found.damage.steps_before == 0


@pytest.mark.parametrize(
    "text",
    [
        "| action | parameters | effect |\n|---|---|---|\n| pick | ?ball ?room | the ball is held |\n| wait | | |",
        "actions:\n- name: pick\n  parameters: [?ball, ?room]",
        "objects:\n- name: b\n  type: ball\n- name: r\n  type: room",
        "final_state:\n- at: [b, r]\n- free: []",
    ],
)
def test_descriptions_are_no_steps(text: str) -> None:
    for operators in (OPERATORS, None):
        assert read_plan(text, operators=operators).steps == ()
        both = read_plan(f"(pick b r)\n(wait)\n\n{text.replace('?', '')}", operators=None)
        assert both.steps == STEPS


def test_records_beside_a_plan_are_none_of_its_steps() -> None:
    found = read_plan("(pick b r)\n(wait)\n\n" + RECORDS["a table with reasons"], operators=OPERATORS)
    assert found.steps == STEPS


@pytest.mark.parametrize("text", ["pick,b,r\nwait", "1,pick,b,r\n2,wait", "- action: pick b r\n- action: wait"])
def test_rows_without_a_header_are_read_where_the_operators_are_known(text: str) -> None:
    assert read_plan(text, operators=OPERATORS).steps == STEPS


@pytest.mark.parametrize("tail", [" [cost: 1]", " (cost: 1)", " cost: 1", ", cost 1", " [action cost = 2.5]"])
def test_costs_behind_steps_say_nothing(tail: str) -> None:
    found = read_plan(f"(pick b r){tail}\nwait(){tail}")
    assert (found.steps, found.reason) == (STEPS, "")


def test_a_cost_without_a_sign_is_an_action() -> None:
    assert read_plan("(pick b r) (cost 1)").steps == (("pick", "b", "r"), ("cost", "1"))


@pytest.mark.parametrize("quote", ['"', "'", "`", "**"])
def test_semicolons_behind_quotes_separate_steps(quote: str) -> None:
    found = read_plan(f"{quote}(pick b r){quote}; {quote}(wait){quote}")
    assert (found.steps, found.reason) == (STEPS, "")


def test_long_texts_of_records_take_linear_time() -> None:
    for piece in ("- action: a\n", "action,", "| action | b |\n", "- {a: [", "action: a\n  b: c\n", "- a: {b: c, "):
        found = read_plan(piece * (50_000 // len(piece)), operators=OPERATORS)
        assert (found.steps, found.found) == ((), False)
