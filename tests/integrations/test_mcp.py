"""The tools of ``pddl-eval mcp``, asked by the library's own client: in this process, and over standard input."""

from __future__ import annotations

import asyncio
import sys
from typing import Any

import pytest

pytest.importorskip("mcp")

import pddl_eval
from mcp import Client, StdioServerParameters, stdio_client
from mcp.types import CallToolResult
from pddl_eval.integrations.mcp import MOST_CHARACTERS, MOST_ITEMS, TOOLS, server

START = "(:init (arm-empty) (clear a) (on-table a) (clear b) (on-table b))"
TOWER = f"(define (problem p) (:domain blocksworld) (:objects a b) {START} (:goal (on a b)))"
PRESS = "(define (domain lamp) (:predicates (on)) (:action press :parameters () :effect (on)))"
CALLS: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
    ("validate", {"plan": "(pickup a), (stack a b)", "problem": TOWER}, {"valid": True, "cost": 2}),
    ("validate", {"plan": "(stack a b)", "problem": TOWER}, {"verdict": "precondition", "failed_step": 1}),
    (
        "compare_problems",
        {"reference": TOWER, "generated": f"Sure: {TOWER.replace('on a b', 'on b a')}"},
        {"verdict": "isomorphic", "equivalent": True, "object_map": {"a": "b", "b": "a"}},
    ),
    ("compare_domains", {"reference": PRESS, "generated": PRESS.replace("press", "push")}, {"verdict": "renamed"}),
    ("feedback", {"answer": "(pickup a)", "kind": "plan", "problem": TOWER}, {"ok": False}),
    ("judge_answer", {"question": "applicable", "answer": "(pickup a)", "problem": TOWER}, {"correct": False}),
    ("generate_task", {"domain": "blocksworld", "least_steps": 2, "most_steps": 2}, {"steps": 2, "optimal_cost": 2.0}),
]


def facts(found: CallToolResult, names: dict[str, Any]) -> dict[str, Any]:
    assert not found.is_error and found.structured_content is not None, found.content
    return {name: found.structured_content.get(name) for name in names}


async def ask(place: Any) -> None:
    async with Client(place) as client:
        listed = (await client.list_tools()).tools
        assert [each.name for each in listed] == [each.__name__ for each in TOOLS]
        assert all(each.description and each.input_schema["properties"] for each in listed)
        assert listed[0].input_schema["properties"]["problem"]["examples"]
        for name, arguments, expected in CALLS:
            assert facts(await client.call_tool(name, arguments), expected) == expected
        page = facts(await client.call_tool("explain", {"reference": TOWER, "answer": "no"}), {"page": ""})["page"]
        assert page.startswith("#")
        wrong = await client.call_tool("judge_answer", {"question": "weather", "answer": "", "problem": TOWER})
        assert wrong.is_error
        unknown = await client.call_tool("validate", {"plan": "(go)", "problem": TOWER, "domain": "nowhere"})
        assert unknown.is_error and "nowhere" in str(unknown.content)


def test_the_tools_say_what_the_functions_say() -> None:
    asyncio.run(ask(server()))


@pytest.mark.slow
def test_the_command_over_standard_input() -> None:
    command = StdioServerParameters(command=sys.executable, args=["-m", "pddl_eval", "mcp"])
    asyncio.run(ask(stdio_client(command)))


def test_what_a_client_reads_is_bounded() -> None:
    plan = "(pickup a)\n(putdown a)\n" * MOST_ITEMS
    arguments = {"plan": plan, "problem": TOWER, "states": True}

    async def asked() -> CallToolResult:
        async with Client(server()) as client:
            return await client.call_tool("validate", arguments)

    found = facts(asyncio.run(asked()), {"states": [], "cut": [], "detail": ""})
    assert len(found["states"]) == MOST_ITEMS and found["cut"] == ["states"]
    assert len(pddl_eval.validate(plan, TOWER).states) == 2 * MOST_ITEMS + 1
    assert len(found["detail"]) < MOST_CHARACTERS
