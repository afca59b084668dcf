"""An environment with the calls of OpenEnv: ``reset``, ``step`` and ``state``, for its HTTP server or a trainer.

    from pddl_eval.integrations.open_env import PddlEnvironment
    environment = PddlEnvironment(domain="blocksworld", steps=(2, 8), attempts=3)

An action is an object with ``answer``, or the answer itself. None of it needs OpenEnv but ``application``, its server:

    uvicorn --factory my_server:make        # def make(): return application(domain="blocksworld", steps=(2, 8))
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from typing import Any
from uuid import uuid4

import pddl_eval


@dataclass(frozen=True)
class Observation:
    """What a model sees: the messages of a new task, or the feedback on its last answer."""

    messages: tuple[dict[str, str], ...]
    feedback: str = ""
    reward: float | None = None
    done: bool = False
    metadata: dict[str, Any] = field(default_factory=dict)


@dataclass
class State:
    """Which episode it is, and how many answers it has had."""

    episode_id: str = ""
    step_count: int = 0


class PddlEnvironment:
    """Tasks one after the other. An episode ends with a right answer, or with the last of its attempts."""

    def __init__(self, attempts: int = 1, **settings: Any) -> None:
        self.attempts, self.settings = attempts, settings
        self.state = State()
        self._stream: Iterator[pddl_eval.Episode] = pddl_eval.Environment(**settings).stream()
        self._episode: pddl_eval.Episode | None = None

    def reset(self, seed: int | None = None, episode_id: str | None = None, **_others: Any) -> Observation:
        """The next task; with a seed, the first of the stream that it begins."""
        if seed is not None:
            self._stream = pddl_eval.Environment(**{**self.settings, "seed": seed}).stream()
        self._episode = next(self._stream)
        self.state = State(episode_id or str(uuid4()))
        return Observation(self._episode.messages, metadata={"reference_id": self._episode.task.reference_id})

    def step(self, action: Any, **_others: Any) -> Observation:
        """What an answer is worth, and what is wrong with it."""
        if self._episode is None:
            raise RuntimeError("reset comes before step")
        answer = getattr(action, "answer", action)
        self.state.step_count += 1
        reward = self._episode.reward(answer)
        done = reward == 1 or self.state.step_count >= self.attempts
        told = "" if reward == 1 else self._episode.feedback(answer).text
        return Observation(self._episode.messages, told, reward, done)


def application(attempts: int = 1, **settings: Any) -> Any:
    """OpenEnv's server (0.10) of such environments, a FastAPI application; each session has a stream of its own.

    A client sends ``{"answer": …}``. Its observations have ``messages`` and ``feedback`` beside what all have.
    """
    from openenv.core.env_server import http_server, interfaces, types

    class Answer(types.Action):
        answer: str

    class Told(types.Observation):
        messages: list[dict[str, str]]
        feedback: str = ""

    class Served(interfaces.Environment[Answer, Told, types.State]):
        SUPPORTS_CONCURRENT_SESSIONS = True

        def __init__(self) -> None:
            super().__init__()
            self.environment = PddlEnvironment(attempts, **settings)

        def reset(self, seed: int | None = None, episode_id: str | None = None, **_others: Any) -> Told:
            return Told(**asdict(self.environment.reset(seed, episode_id)))

        def step(self, action: Answer, **_others: Any) -> Told:
            return Told(**asdict(self.environment.step(action)))

        @property
        def state(self) -> types.State:
            return types.State(**asdict(self.environment.state))

    return http_server.create_fastapi_app(Served, Answer, Told)
