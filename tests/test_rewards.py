"""The reward: its steps, what cannot raise, what must, bounded time, worker processes."""

from __future__ import annotations

import logging
import os
from collections import UserString
from typing import Any

import numpy as np
import pddl_eval
import polars as pl
import pytest
from pddl_eval.definition.domains import blocksworld
from pddl_eval.definition.options import ScoringOptions
from pddl_eval.errors import UserError
from pddl_eval.scoring import rewards

START = "(arm-empty) (clear a) (on-table a) (clear b) (on-table b)"
TOWER = f"(define (problem p) (:domain blocksworld) (:objects a b) (:init {START}) (:goal (on a b)))"
PLAN = "(pickup a), (stack a b)"
FERRY = """(define (domain ferry) (:types car) (:predicates (at ?c - car) (on ?c - car))
  (:action board :parameters (?c - car) :precondition (at ?c) :effect (and (on ?c) (not (at ?c))))
  (:action leave :parameters (?c - car) :precondition (on ?c) :effect (and (at ?c) (not (on ?c)))))"""
TRIP = "(define (problem p) (:domain ferry) (:objects c - car) (:init (at c)) (:goal (on c)))"


def goal(text: str) -> str:
    return TOWER.replace("(:goal (on a b))", f"(:goal (and {text}))")


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (None, 0.0),
        ("I cannot do that.", 0.0),
        (goal("(not (on a b))"), 0.0),
        (goal("(on a a)"), 0.1),  # read, but unsolvable
        (goal("(holding a)"), 0.2),
        (goal(""), 0.2),
        (goal("(on a b) (arm-empty)"), 1.0),
        (goal("(on b a)"), 1.0),  # in other names
        (TOWER.replace("(clear a)", "(clear a) (red a)"), 0.5),  # another initial state, the plan is one of both
    ],
)
def test_a_problem(answer: str | None, expected: float) -> None:
    assert pddl_eval.reward(answer, TOWER) == expected


@pytest.mark.parametrize(
    ("answer", "executed", "compared"),
    [
        ("no plan", 0.0, 0.0),
        ("(fly a)", 0.0, 0.1),
        ("(stack a)", 0.1, 0.1),
        ("(pickup a)\n(teleport b (b\n(stack a b)", 0.1, 0.2),
        ("(pickup a)\n(stack a b)\n(pickup", 0.5, 0.5),
        ("<think>(pickup a)</think>", 0.0, 0.0),
        ("<think>(pickup b)</think>(pickup a)\n(stack a b)", 1.0, 1.0),
        ("(pickup b)", 0.2, 0.1),
        ("(pickup a)", 0.2, 0.2),
        ("(stack a b), (pickup a)", 0.1, 0.5),
        ("(pickup a), (stack a b), (fly a)", 0.5, 0.2),
        ("1. (pickup a)\n2. (stack a b)", 1.0, 1.0),
        ("(pickup a), (putdown a), (pickup a), (stack a b)", 1.0, 0.2),
    ],
)
def test_a_plan(answer: str, executed: float, compared: float) -> None:
    assert pddl_eval.reward(answer, kind="plan", problem=TOWER) == executed
    assert pddl_eval.reward(answer, PLAN, kind="plan", problem=TOWER) == executed
    assert pddl_eval.reward(answer, PLAN, kind="plan") == compared


@pytest.mark.parametrize(
    ("answer", "alone", "with_problem"),
    [
        ("(define (domain", 0.0, 0.0),
        ("(define (domain ferry) (:action sail :parameters (?c) :precondition (at ?c)))", 0.1, 0.1),
        (FERRY.replace("(on ?c) (not (at ?c))", "(on ?c)"), 0.2, 0.5),
        (FERRY.replace("(and (on ?c) (not (at ?c)))", "(not (at ?c))"), 0.2, 0.2),
        (FERRY.replace(" - car", "").replace("(:types car)", ""), 0.5, 0.5),
        (FERRY.replace("board", "enter").replace("?c", "?x"), 1.0, 1.0),
    ],
)
def test_a_domain(answer: str, alone: float, with_problem: float) -> None:
    assert pddl_eval.reward(answer, FERRY, kind="domain") == alone
    assert pddl_eval.reward(answer, FERRY, kind="domain", problem=TRIP) == with_problem


def test_a_batch_of_all_kinds_in_any_column() -> None:
    columns: dict[str, Any] = {
        "completions": [TOWER, PLAN, FERRY],
        "reference": [TOWER, None, FERRY],
        "kind": ["problem", "plan", "domain"],
        "problem": ["How do I build a tower?", TOWER, None],  # Training data often has a question of that name.
    }
    assert pddl_eval.reward(**columns) == [1.0, 1.0, 1.0]
    assert pddl_eval.reward(**{name: pl.Series(name, values) for name, values in columns.items()}) == [1.0, 1.0, 1.0]
    assert pddl_eval.reward([], TOWER) == []


def test_the_domain_and_the_mode_of_each_row() -> None:
    turned = TOWER.replace(START, "(arm-empty) (clear b) (on b a) (on-table a)")
    same = turned.replace("(on a b)", "(on b a)")
    assert pddl_eval.reward([same, same], turned, is_placeholder=[True, False]) == [1.0, 0.2]
    trip = TRIP.replace("ferry", "boat")
    assert pddl_eval.reward([trip, trip], trip, domain=[FERRY.replace("ferry", "boat"), None]) == [1.0, 1.0]


class Hostile:
    """Raises wherever one looks."""

    def __getattr__(self, name: str) -> Any:
        raise RuntimeError(name)


def nested(depth: int) -> list[Any]:
    found: list[Any] = []
    for _ in range(depth):
        found = [found]
    return found


@pytest.mark.parametrize(
    "answer",
    [
        *(0, 1.5, float("nan"), True, b"", b"\xff", "", " ", object(), Hostile(), {}, {"content": None}, {1, 2}),
        *(np.float64(3), np.array(3), UserString(TOWER), iter([TOWER]), Exception("no"), type, nested(100_000)),
        *("\ud800", "(" * 100_000, "(and " * 20_000, "\0" * 1_000, "(define (problem \ud800) (:domain \udfff))"),
        "word " * 2_000_000,
        '[{"name": ' * 5_000,
    ],
    ids=lambda answer: type(answer).__name__,
)
@pytest.mark.parametrize("kind", ["problem", "plan", "domain"])
def test_what_is_no_answer_gets_nothing_and_raises_nothing(answer: Any, kind: str) -> None:
    arguments = {"kind": kind, "reference": {"problem": TOWER, "plan": PLAN, "domain": FERRY}[kind]}
    assert pddl_eval.reward([answer, answer], **arguments) == [0.0, 0.0]
    if not isinstance(answer, (list, np.ndarray)):
        assert pddl_eval.reward(answer, **arguments) == 0.0


@pytest.mark.parametrize(
    "answer",
    [
        TOWER.encode(),
        b"\xff " + TOWER.encode(),
        "\ud800 " + TOWER,
        "word " * 2_000_000 + TOWER,
        {"role": "assistant", "content": TOWER},
        [{"role": "user", "content": "Well?"}, {"role": "assistant", "content": TOWER}],
        [{"role": "assistant", "content": [{"type": "text", "text": TOWER}]}],
    ],
    ids=lambda answer: type(answer).__name__,
)
def test_bytes_chats_and_damaged_text_around_an_answer(answer: Any) -> None:
    assert pddl_eval.reward([answer], TOWER) == [1.0]


def test_a_domain_of_nonsense_earns_nothing_through_two_empty_plans() -> None:
    solved = goal("(clear a)")
    assert pddl_eval.reward("(define (domain x) (:action foo))", blocksworld.PDDL, kind="domain", problem=solved) == 0.1
    assert pddl_eval.reward(blocksworld.PDDL, blocksworld.PDDL, kind="domain", problem=solved) == 1.0


@pytest.mark.parametrize("reference", ["no problem", goal("(on a a)"), 7, "\ud800"])
def test_a_reference_that_cannot_be_used_is_logged(reference: Any, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING, "pddl_eval.scoring.rewards"):
        assert pddl_eval.reward([TOWER, TOWER], [reference, TOWER]) == [0.0, 1.0]
    assert len(caplog.records) == 1


@pytest.mark.parametrize("problem", ["no problem", TOWER.replace("blocksworld", "nowhere"), TRIP])
def test_a_plan_is_not_compared_where_it_should_be_carried_out(problem: str) -> None:
    assert pddl_eval.reward(PLAN, PLAN, kind="plan", problem=problem) == 0.0


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"kind": "plan"},
        {"kind": "domain", "problem": TOWER},
        {"reference": TOWER, "kind": "poem"},
        {"reference": [TOWER, TOWER]},
        {"reference": TOWER, "scale": (0.5, 0.2, 0.5, 1)},
        {"reference": TOWER, "scale": (1,)},
        {"reference": TOWER, "seconds": 0},
        {"reference": TOWER, "workers": 0},
    ],
)
def test_a_call_that_cannot_be_meant_raises(arguments: dict[str, Any]) -> None:
    with pytest.raises(UserError):
        pddl_eval.reward([TOWER], **arguments)


def test_a_scale_of_ones_own() -> None:
    answers = ["", goal("(on a a)"), goal(""), TOWER]
    assert pddl_eval.reward(answers, TOWER, scale=(0, 0, 0, 1)) == [0.0, 0.0, 0.0, 1.0]
    assert pddl_eval.reward(answers, TOWER, scale=(0.5, 0.5, 0.5, 2)) == [0.0, 0.5, 0.5, 2.0]


def test_what_takes_too_long_keeps_what_it_reached() -> None:
    names = " ".join(f"b{number}" for number in range(60))
    init = " ".join(f"(at {one} {other})" for one in names.split() for other in names.split())
    slow = f"(define (problem p) (:domain d) (:objects {names}) (:init {init}) (:goal (and (in b0 b1))))"
    domain = """(define (domain d) (:action go :parameters (?a ?b ?c ?d ?e)
        :precondition (and (at ?a ?b) (at ?b ?c) (at ?c ?d) (at ?d ?e)) :effect (in ?a ?e)))"""
    found = pddl_eval.reward(slow.replace("b0 b1", "b1 b2"), slow, domain=domain, seconds=0.05)
    assert found in (0.0, 0.1)


class EndsItsProcess:
    """Where it is read, the process exits."""

    def __reduce__(self) -> Any:
        return os._exit, (1,)


class NeverEnds:
    """Where it is looked at, nothing comes back, and nobody asks for the budget."""

    def items(self) -> Any:
        while True:
            pass


def tasks(*rows: Any) -> list[Any]:
    return [("problem", row, ScoringOptions(row_seconds=0.1)) for row in rows]


ROW = {"reference_problem": TOWER, "generated_problem": TOWER}


def test_a_row_that_ends_its_worker_costs_one_row() -> None:
    found = rewards._in_workers(tasks(ROW, EndsItsProcess(), ROW), workers=1)
    assert [reached for reached, _ in found] == [4, 0, 4]
    assert [bool(reason) for _, reason in found] == [False, True, False]
    pool = rewards._POOLS[os.getpid(), 1]
    assert pddl_eval.reward([TOWER, goal(""), None], TOWER, workers=1) == [1.0, 0.2, 0.0]
    assert rewards._POOLS[os.getpid(), 1] is pool


@pytest.mark.slow
def test_a_row_that_asks_for_no_budget_is_ended_in_a_worker() -> None:
    found = rewards._in_workers(tasks(NeverEnds(), ROW), workers=2)
    assert [reached for reached, _ in found] == [0, 4]
