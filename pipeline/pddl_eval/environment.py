"""An endless stream of new tasks for trainers: what to ask, the reward of an answer, and what to tell its writer.

Tasks are made as ``generate tasks`` makes them, from a seed. A share of all problems is held out by their certificates:
whatever the seed, no problem of the stream is equivalent to one of ``held_out_tasks``, and the other way round.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import count, islice
from typing import Any, Literal

from pddl_eval.benchmark import OwnTask, OwnTasks, Prompts
from pddl_eval.errors import UserError
from pddl_eval.scoring.feedback import Feedback, feedback
from pddl_eval.scoring.rewards import reward

TASKS = 200
"""Tasks that are drawn at a time, as many of each length; those of another time are others."""

MOST_KNOWN = 1_000_000
"""Certificates that are kept, so that no task comes twice; then the stream forgets them."""


@dataclass(frozen=True)
class Episode:
    """A task as it is asked: ``messages`` for a chat model, and what its answer is held against.

    >>> episode = next(Environment("gripper", steps=(2, 2), seed=7).stream())
    >>> episode.task.steps, episode.row["kind"], episode.feedback("(pick ball1)").ok
    (2, 'plan', False)
    """

    task: OwnTask
    kind: Literal["plan", "problem"]
    messages: tuple[dict[str, str], ...]

    @property
    def row(self) -> dict[str, Any]:
        """What ``pddl_eval.reward`` and ``feedback`` take beside the answer; integrations hand it on."""
        task = self.task
        if self.kind == "plan":
            return {"kind": "plan", "reference": None, "problem": task.reference_problem, "domain": task.domain}
        return {"kind": "problem", "reference": task.reference_problem, "domain": task.domain}

    def reward(self, answer: str, **settings: Any) -> float:
        """The reward of an answer, from 0 to 1; the settings are those of ``pddl_eval.reward``."""
        return float(reward(answer, **self.row, **settings))

    def feedback(self, answer: str, **settings: Any) -> Feedback:
        """What is wrong with an answer, for who wrote it; the settings are those of ``pddl_eval.feedback``."""
        return feedback(answer, **self.row, **settings)


@dataclass(frozen=True)
class Environment:
    """Tasks of a domain: ``steps`` says how long their plans are, ``held_out`` which share of all is never trained on.

    ``seeds`` are texts of problems to begin with; the domains of the benchmark need none. ``kind`` is what is asked
    for. Raises ``UserError`` as ``OwnTasks``.

    >>> environment = Environment("blocksworld", steps=(2, 3), seed=7)
    >>> first = next(environment.stream())
    >>> first.reward(first.task.reference_plan), first.reward("(pickup nothing)") < 1
    (1.0, True)
    """

    domain: str
    seeds: Sequence[str] = ()
    steps: tuple[int, int] = (1, 20)
    seed: int = 0
    kind: Literal["plan", "problem"] = "plan"
    held_out: float = 0.1

    def __post_init__(self) -> None:
        if not 0 <= self.held_out < 1 or self.kind not in ("plan", "problem"):
            raise UserError("an environment asks for a plan or a problem, and holds out a share from 0 to below 1")
        _ = self._tasks

    @cached_property
    def _tasks(self) -> OwnTasks:
        admits = partial(is_held_out, self.held_out, wanted=False)
        return OwnTasks(self.domain, self.seeds, self.steps, self.seed, admits=admits)

    def stream(self) -> Iterator[Episode]:
        """Tasks without end, the same for a seed; none comes twice before the domain has no others that are found.

        Raises ``UserError`` where there is no task at all.
        """
        known: set[str] = set()
        for turn in count():
            before = len(known)
            for task in replace(self._tasks, seed=f"{self.seed}-{turn}", excluded=known).draw(TASKS):
                known.add(task.reference_id)
                yield self._episode(task)
            if len(known) == before:
                if not known:
                    raise UserError(f"no task of {self.domain[:40]} has plans of {self.steps} steps")
                known = set()
            if len(known) > MOST_KNOWN:
                known = set()

    def held_out_tasks(self, number: int) -> list[Episode]:
        """That many tasks of those that no stream has, for any seed; fewer where no others are found."""
        tasks = replace(self._tasks, admits=partial(is_held_out, self.held_out, wanted=True))
        return [self._episode(task) for task in islice(tasks.draw(number), number)]

    def _episode(self, task: OwnTask) -> Episode:
        (request,) = Prompts(self.kind, format="messages").requests([task._asdict()])
        return Episode(task, self.kind, tuple(request["messages"]))


def is_held_out(share: float, certificate: str, wanted: bool = True) -> bool:
    """Whether a problem is among that share of all, which its certificate decides alone.

    >>> is_held_out(0.1, "0" * 32), is_held_out(0.1, "f" * 32), is_held_out(0.1, "f" * 32, wanted=False)
    (True, False, True)
    """
    return (int(certificate[:13], 16) < share * 16**13) is wanted
