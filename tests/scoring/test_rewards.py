"""The reward: its steps, what cannot raise, what must, bounded time, worker processes."""

from __future__ import annotations

import asyncio
import logging
import math
import os
import re
import signal
from collections import UserString
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pddl_eval
import polars as pl
import pytest
from pddl_eval.definition.domains import blocksworld
from pddl_eval.definition.options import ScoringOptions
from pddl_eval.errors import UserError
from pddl_eval.kernel import library
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
        "word " * 750_000 + TOWER,
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
        {"reference": TOWER, "scale": (0, 0, 0, math.inf)},
        {"reference": TOWER, "scale": (0, 0, math.nan, 1)},
        {"reference": TOWER, "scale": "abcd"},
        {"reference": TOWER, "scale": None},
        {"reference": TOWER, "scale": 1},
        {"reference": TOWER, "seconds": "2"},
        {"reference": TOWER, "seconds": math.nan},
        {"reference": TOWER, "seconds": None},
        {"reference": TOWER, "shape": ["scale"]},
        {"reference": TOWER, "workers": 0},
        {"reference": TOWER, "workers": "2"},
        {"reference": TOWER, "workers": 1.5},
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


def test_answers_that_use_their_whole_budget_are_counted(caplog: pytest.LogCaptureFixture) -> None:
    from tests.support.sliding_tiles import DOMAIN, random_goal

    hard, easy = random_goal(6, 2), random_goal(6, 1)
    with caplog.at_level(logging.WARNING, "pddl_eval.rewards"):
        found = pddl_eval.reward([hard, easy, hard], easy, domain=DOMAIN, seconds=0.05, details=True)
    assert [each.exhausted for each in found] == [True, False, True]
    assert ["2 of 3" in each.getMessage() for each in caplog.records if "budget" in each.getMessage()] == [True]
    assert not pddl_eval.reward(TOWER, TOWER, details=True).exhausted


class EndsItsProcess:
    """Where it is read, the process exits."""

    def __reduce__(self) -> Any:
        return os._exit, (1,)


class NeverEnds:
    """Where it is looked at, nothing comes back, and nobody asks for the budget."""

    def items(self) -> Any:
        while True:
            pass


def in_workers(*rows: Any, workers: int) -> list[pddl_eval.Rewarded]:
    options = ScoringOptions(row_seconds=0.1)
    return [*rewards._in_workers([rewards.Task("problem", row, options) for row in rows], workers)]


ROW = {"reference_problem": TOWER, "generated_problem": TOWER}


def processes() -> list[Any]:
    """The worker process of the only thread."""
    return rewards._POOLS[1].submit(lambda: [each.process for each in rewards._OWN.process._workers]).result()


def test_a_row_that_ends_its_worker_costs_one_row() -> None:
    found = in_workers(ROW, EndsItsProcess(), ROW, workers=1)
    assert [each.reached for each in found] == [4, 0, 4]
    assert [bool(each.error) for each in found] == [False, True, False]
    (process,) = processes()
    assert pddl_eval.reward([FERRY, "no", None], FERRY, kind="domain", workers=1) == [1.0, 0.0, 0.0]
    assert processes() == [process], "it is kept for the next call"


@pytest.mark.slow
def test_a_row_that_never_ends_is_ended_and_delays_no_other_call() -> None:
    in_workers(ROW, ROW, workers=2)
    stalled = ThreadPoolExecutor(1).submit(in_workers, NeverEnds(), workers=2)
    for _ in range(3):
        assert pddl_eval.reward([FERRY, "no"], FERRY, kind="domain", workers=2) == [1.0, 0.0]
    assert asyncio.run(pddl_eval.areward(FERRY, FERRY, kind="domain", workers=2)) == 1.0
    assert not stalled.done(), "the others did not wait for it"
    assert stalled.result()[0].reached == 0


ANSWERS = [TOWER, goal(""), "no", goal("(on a a)")]
EARNED = [1.0, 0.2, 0.0, 0.1]


@pytest.mark.parametrize(
    ("workers", "kernel"), [(None, "off"), (2, "auto"), pytest.param(2, "off", marks=pytest.mark.slow)]
)
def test_threads_without_a_signal(workers: int | None, kernel: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PDDL_EVAL_KERNEL", kernel)
    library.cache_clear()

    def refused(*_: Any) -> None:
        raise AssertionError("a signal in a thread")

    for name in ("signal", "setitimer", "alarm"):
        monkeypatch.setattr(signal, name, refused)
    try:
        with ThreadPoolExecutor(8) as threads:
            calls = [threads.submit(pddl_eval.reward, ANSWERS, TOWER, workers=workers) for _ in range(8)]
            assert [call.result() for call in calls] == [EARNED] * 8
    finally:
        library.cache_clear()


@pytest.mark.parametrize("workers", [None, 2])
def test_asyncio_goes_on_meanwhile(workers: int | None) -> None:
    async def run() -> tuple[list[Any], int]:
        beats = 0

        async def beat() -> None:
            nonlocal beats
            while True:
                beats += 1
                await asyncio.sleep(0)

        heart = asyncio.create_task(beat())
        calls = [pddl_eval.areward(answer, TOWER, workers=workers) for answer in ANSWERS * 10]
        found = await asyncio.gather(*calls, pddl_eval.areward(ANSWERS, TOWER, workers=workers))
        heart.cancel()
        return found, beats

    found, beats = asyncio.run(run())
    assert found == [*EARNED * 10, EARNED] and beats > 1
    with pytest.raises(UserError):
        asyncio.run(pddl_eval.areward(TOWER))


@pytest.mark.usefixtures("ray_session")
@pytest.mark.slow
def test_ray_actors() -> None:
    import ray

    class Scorer:
        """An actor with threads; its worker processes are its own."""

        def score(self, answers: list[str], workers: int | None) -> Any:
            return pddl_eval.reward([*answers, FERRY], TOWER, kind=["problem"] * 4 + ["domain"], workers=workers)

    class AsyncScorer:
        """An asynchronous actor."""

        async def score(self, answers: list[str], workers: int | None) -> Any:
            return await pddl_eval.areward(answers, TOWER, workers=workers)

    threaded = ray.remote(Scorer).options(max_concurrency=3, num_cpus=0).remote()
    coroutines = ray.remote(AsyncScorer).options(num_cpus=0).remote()
    calls = [threaded.score.remote(ANSWERS, workers) for workers in (None, None, 1, 1)]
    assert [found[:4] for found in ray.get(calls)] == [EARNED] * 4
    assert ray.get([coroutines.score.remote(ANSWERS, workers) for workers in (None, 1)]) == [EARNED] * 2
    ray.kill(threaded)
    ray.kill(coroutines)


def test_the_kernel_earns_what_the_definition_does(monkeypatch: pytest.MonkeyPatch) -> None:
    plans = [
        None,
        "",
        "[]",
        "{}",
        "no",
        PLAN,
        "(pickup a)",
        "(stack a b)",
        f"{PLAN}, (fly a)",
        "(pickup a)\n(stack a b",
    ]
    plans += ["(pickup a\n(stack a b)", "(pickup a), (stack a a), (stack a b)", "1. pickup a\n2. stack a b"]
    calls: list[tuple[Any, dict[str, Any]]] = [(ANSWERS, {"reference": TOWER}), (ANSWERS, {"reference": "no"})]
    for problem in (TOWER, goal("(clear a) (on a b)"), goal("(clear a)"), goal(""), "no", TRIP):
        calls += [(plans, {"kind": "plan", "problem": problem, "shape": shape}) for shape in ("scale", "shares")]
    calls.append((plans, {"kind": "plan", "reference": PLAN}))
    flipped = FERRY.replace("(and (on ?c) (not (at ?c)))", "(not (at ?c))")
    domains = [None, "", "no", FERRY, FERRY.replace("?c", "?x"), FERRY.replace(" - car", ""), flipped]
    domains += [FERRY.replace("board", "enter"), re.sub(r":precondition \(\w+ \?c\)", "", FERRY), FERRY[:-9]]
    for problem in (None, TRIP, TRIP.replace("(on c)))", "(at c)))"), "no"):
        calls.append((domains, {"kind": "domain", "reference": FERRY, "problem": problem}))
    found = []
    for wanted in ("auto", "off"):
        monkeypatch.setenv("PDDL_EVAL_KERNEL", wanted)
        library.cache_clear()
        found.append([pddl_eval.reward(answers, **arguments) for answers, arguments in calls])
    library.cache_clear()
    assert found[0] == found[1]


def test_details_and_time(monkeypatch: pytest.MonkeyPatch) -> None:
    found = pddl_eval.reward([TOWER, "no"], [TOWER, "no"], details=True)
    assert [(each.reward, each.reached) for each in found] == [(1.0, 4), (0.0, 0)]
    assert found[0].error is None and "reference" in found[1].error
    monkeypatch.setenv("PDDL_EVAL_KERNEL", "off")
    library.cache_clear()
    twice = pddl_eval.reward([FERRY, FERRY], FERRY, kind="domain", details=True)
    assert twice[0].seconds > 0 == twice[1].seconds and twice[0].reward == twice[1].reward
    monkeypatch.undo()
    library.cache_clear()
    assert pddl_eval.reward(TOWER, TOWER, details=True).seconds >= 0


TOWER_OF_3 = f"""(define (problem p) (:domain blocksworld) (:objects a b c)
  (:init {START} (clear c) (on-table c)) (:goal (and (on a b) (on b c))))"""
VALID = "(pickup b)\n(stack b c)\n(pickup a)\n(stack a b)"
PADDED = VALID.replace("(pickup a)", "(unstack b c)\n(stack b c)\n(pickup a)")


@pytest.mark.parametrize(
    ("plan", "scale", "shares", "labels"),
    [
        (VALID, 1.0, 1.0, 1.0),
        (PADDED, 1.0, 1.0, 0.5 + 0.5 * 5 / 6),
        ("(pickup b)\n(stack b c)", 0.2, 0.35, 0.35),
        (f"{VALID}\n(pickup c)", 0.5, 0.1 + 0.08 + 0.3, 0.1 + 0.08 + 0.3),
        ("(pickup b)\n(stack a c)", 0.1, 0.15, 0.1 + 0.05 + 0.3 / 4),
        ("(pickup a)\n(stack a c)", 0.2, 0.2, 0.2),
        ("no", 0.0, 0.0, 0.0),
    ],
)
def test_shaped_rewards(plan: str, scale: float, shares: float, labels: float) -> None:
    found = [pddl_eval.reward(plan, kind="plan", problem=TOWER_OF_3, shape=shape) for shape in rewards.SHAPES]
    assert found == pytest.approx([scale, shares, labels])


def test_labels_of_steps() -> None:
    found = pddl_eval.reward(PADDED, kind="plan", problem=TOWER_OF_3, shape="labels", details=True)
    assert found.labels == (1.0, 1.0, 0.5, 0.5, 1.0, 1.0)


PROMPT = f"Here is a problem:\n{TOWER}\nNow put b on a."
SOLVE: dict[str, Any] = {"kind": "plan", "problem": TOWER}
HACKS: dict[str, tuple[str, dict[str, Any], float]] = {
    "several problems, the right one last": ("\n".join((goal(""), goal("(holding a)"), TOWER)), {}, 0.2),
    "several plans, the right one last": (
        f"(pickup a)\n\nFinal plan:\n{PLAN}",
        {"kind": "plan", "problem": TOWER},
        0.2,
    ),
    "the prompt and nothing else": (PROMPT, {"strip_prompt": PROMPT}, 0.0),
    "the prompt twice": (f"{PROMPT} {PROMPT}", {"strip_prompt": PROMPT}, 1.0),
    "the prompt's problem as a plan": (TOWER, SOLVE, 0.0),
    "the domain as a plan": (blocksworld.PDDL, SOLVE, 0.0),
    "an empty goal": (goal(""), {}, 0.2),
    "a goal that holds": (goal("(clear a)"), {}, 0.2),
    "an initial state with the goal": (TOWER.replace("(clear b)", "(clear b) (on a b)"), {}, 0.2),
    "all atoms at once": (TOWER.replace(START, f"{START} (on a b) (on b a) (holding a) (holding b)"), {}, 0.2),
    "no steps": ("[]", SOLVE, 0.0),
    "steps without actions": ("{}, {}, {}", SOLVE, 0.0),
    "steps that do and undo": ("(pickup a)\n(putdown a)\n" * 1000, SOLVE, 0.2),
    "the same, shaped": (
        "(pickup a)\n(putdown a)\n" * 1000,
        {**SOLVE, "shape": "labels"},
        0.2,
    ),
    "all actions at once": ("{pickup(a), pickup(b), stack(a, b)}", SOLVE, 0.1),
    "a damaged step before a plan": (f"(pickup (a\n{VALID}", {"kind": "plan", "problem": TOWER_OF_3}, 0.0),
    "a damaged step after a plan": (f"{VALID}\n(pickup (a", {"kind": "plan", "problem": TOWER_OF_3}, 0.5),
    **{
        f"{line!r} {where} a plan": (
            "\n".join((line, VALID) if where == "before" else (VALID, line)),
            {"kind": "plan", "problem": TOWER_OF_3},
            0.0 if where == "before" else 0.5,
        )
        for line in (
            "(pickup [c)",
            "(:action pickup c)",
            "(not (pickup c))",
            "{pickup c}",
            "(pickup <c>)",
            "pickup c (1)",
        )
        for where in ("before", "after")
    },
    **{
        f"a bad step behind {sign!r} {where} a plan": (
            VALID.replace("\n(pickup a)", f"\n{sign}(pickup c)\n(pickup a)")
            if where == "in"
            else f"{VALID}\n{sign}(stack c a)",
            {"kind": "plan", "problem": TOWER_OF_3},
            0.1 if where == "in" else 0.5,
        )
        for sign in ("✓ ", "✅ ", "\u200b", "\ufeff", "\0", "$ ", "~", "<step>", "1️⃣ ")
        for where in ("in", "after")
    },
    "a damaged item in a list": (
        str([*VALID.split("\n"), "(pickup c (1))"]),
        {"kind": "plan", "problem": TOWER_OF_3},
        0.5,
    ),
    "a damaged item first in a list": (
        str(["(pickup c (1))", *VALID.split("\n")]),
        {"kind": "plan", "problem": TOWER_OF_3},
        0.0,
    ),
    "times against the order of the lines": (
        "1: (pickup b)\n2: (stack b c)\n4: (pickup a)\n3: (stack a b)",
        {"kind": "plan", "problem": TOWER_OF_3},
        0.1,
    ),
    "times that sort the lines": (
        "1: (pickup b)\n2: (stack b c)\n4: (stack a b)\n3: (pickup a)",
        {"kind": "plan", "problem": TOWER_OF_3},
        1.0,
    ),
    "an end token": (f"{VALID}<|im_end|>", {"kind": "plan", "problem": TOWER_OF_3}, 1.0),
    "a trailing FinishAction": (f"{VALID}\n(FinishAction)", {"kind": "plan", "problem": TOWER_OF_3}, 1.0),
    "the goal holds, the first step fails": ("(stack a a)", {"kind": "plan", "problem": goal("(clear a)")}, 0.1),
    "the goal holds, a later step fails": (
        "(pickup b)\n(stack a a)",
        {"kind": "plan", "problem": goal("(clear a)")},
        0.1,
    ),
    "a plan in thoughts": (f"<think>{PLAN}", SOLVE, 0.0),
    "operators by name alone": (
        "(define (domain d) (:action board :parameters (?c)) (:action leave :parameters (?c)))",
        {"kind": "domain", "problem": TRIP},
        0.2,
    ),
    "operators that need nothing": (
        re.sub(r":precondition \(\w+ \?c\)", "", FERRY).replace("(not (at ?c))", "(at ?c)"),
        {"kind": "domain", "problem": TRIP},
        0.5,
    ),
    "an operator more, which reaches the goal": (
        f"{FERRY.rstrip()[:-1]} (:action a :parameters (?c - car) :effect (on ?c)))",
        {"kind": "domain", "problem": TRIP},
        0.2,
    ),
    "three million characters before a problem": ("word " * 600_000 + TOWER, {}, 1.0),
    "three million characters of problems": (f"{goal('')} " * 18_000, {}, 0.2),
    "ten million characters before a problem": ("word " * 2_000_000 + TOWER, {}, 0.0),
}


@pytest.mark.parametrize("name", HACKS)
def test_what_a_hack_earns(name: str) -> None:
    answer, arguments, earned = HACKS[name]
    reference = None if "problem" in arguments and arguments.get("kind") == "plan" else TOWER
    reference = FERRY if arguments.get("kind") == "domain" else reference
    assert pddl_eval.reward(answer, reference, **arguments) == pytest.approx(earned)


def test_a_prompt_in_front_of_the_answer() -> None:
    template = "<|user|>\n" + PROMPT.replace("\n", " \n ") + "<|end|>\n<|assistant|>\n{}<|end|>"
    texts = [template.format(answer) for answer in (TOWER, "no", "")] + [TOWER]
    found = pddl_eval.reward(texts, TOWER, strip_prompt=PROMPT, details=True)
    assert [each.reward for each in found] == [1.0, 0.0, 0.0, 0.0]
    assert [bool(each.error) for each in found] == [False, False, False, True]
