"""The environment for trainers: the same stream for a seed, rewards, and a share that no seed trains on."""

from __future__ import annotations

from itertools import islice
from typing import Any

import pytest
from pddl_eval import environment as module
from pddl_eval.environment import Environment, is_held_out
from pddl_eval.errors import UserError
from pddl_eval.integrations.open_env import PddlEnvironment

from tests.corpus import CORPUS

FERRY: dict[str, Any] = {"domain": CORPUS["ferry"].domain, "seeds": [CORPUS["ferry"].problem], "steps": (1, 5)}


def test_no_seed_trains_on_what_is_held_out() -> None:
    environment = Environment(**FERRY, seed=1, held_out=0.5)
    trained = {
        each.task.reference_id
        for seed in range(3)
        for each in islice(Environment(**FERRY, seed=seed, held_out=0.5).stream(), 8)
    }
    held_out = {each.task.reference_id for each in environment.held_out_tasks(8)}
    assert len(held_out) == 8 and all(is_held_out(0.5, each) for each in held_out)
    assert not any(is_held_out(0.5, each) for each in trained)


def test_a_stream_goes_on_and_is_the_same_for_a_seed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "TASKS", 5)
    environment = Environment(**FERRY, seed=4)
    first = [*islice(environment.stream(), 12)]
    assert first == [*islice(Environment(**FERRY, seed=4).stream(), 12)]
    assert len({each.task.reference_id for each in first}) == 12
    assert all(1 <= (each.task.steps or 0) <= 5 for each in first)


@pytest.mark.parametrize("kind", ["plan", "problem"])
def test_a_right_answer_gets_the_whole_reward(kind: Any) -> None:
    episode = next(Environment(**FERRY, kind=kind).stream())
    right = episode.task.reference_plan if kind == "plan" else episode.task.reference_problem
    assert right is not None and episode.reward(right) == 1 and episode.feedback(right).ok
    assert episode.reward("Sorry.") == 0 and not episode.feedback("Sorry.").ok
    assert right not in episode.messages[-1]["content"]


def test_open_env_ends_with_a_right_answer_or_the_last_attempt() -> None:
    environment = PddlEnvironment(attempts=2, **FERRY)
    first = environment.reset(seed=3)
    wrong = environment.step("(nothing)")
    assert not wrong.done and wrong.feedback and wrong.reward is not None and wrong.reward < 1
    assert environment.step("(nothing)").done and environment.state.step_count == 2
    assert environment.reset(seed=3).messages == first.messages
    assert environment._episode is not None
    right = environment.step(environment._episode.task.reference_plan)
    assert right.done and right.reward == 1 and not right.feedback


def test_what_an_environment_cannot_be_is_said() -> None:
    with pytest.raises(UserError, match="holds out"):
        Environment("blocksworld", held_out=1.0)
