"""Planetarium in verifiers, from version 0.4 on: a taskset, and the reward of a task for tasksets of one's own.

verifiers imports a taskset by one name, so that a file ``planetarium.py`` on Python's path says

    from pddl_eval.integrations.verifiers import PlanetariumTaskset
    __all__ = ["PlanetariumTaskset"]

and the evaluation ``--env.taskset.id planetarium``. Its rows are read with ``datasets``, which verifiers 0.4.0 does not
bring: install it, too. A reward is plugged in by its name:
``--env.taskset.task.rewards.pddl.fn pddl_eval.integrations.verifiers.task_reward``.
"""

from itertools import islice
from typing import Any

import verifiers.v1 as vf

import pddl_eval
from pddl_eval.integrations import question, reward_columns

__all__ = ["NewTasksTaskset", "PlanetariumTaskset", "task_reward"]


async def task_reward(task: Any, trace: Any) -> float:
    """The reward of a trace's last reply; ``task.data`` has the reference in ``answer``, and may have ``info``."""
    known = reward_columns(getattr(task.data, "info", None))
    rewarded = await pddl_eval.areward([trace.last_reply], task.data.answer, workers=2, **known)
    return float(rewarded[0])


class PlanetariumData(vf.TaskData):
    """A question, and the problem that is to be written."""

    answer: str
    info: dict[str, bool]


class PlanetariumTask(vf.Task[PlanetariumData]):
    """One answer."""

    @vf.stop
    async def single_turn(self, trace: vf.Trace) -> bool:
        """A model answers once."""
        return bool(trace.num_turns >= 1)

    @vf.reward
    async def pddl(self, trace: vf.Trace) -> float:
        """How far the answer gets, from 0 to 1."""
        return await task_reward(self, trace)


class PlanetariumConfig(vf.TasksetConfig):
    """Where the rows are: a dataset of Hugging Face, or with ``json`` the files in ``data_files``."""

    dataset: str = "BatsResearch/planetarium"
    split: str = "train"
    data_files: str | None = None


class PlanetariumTaskset(vf.Taskset[PlanetariumTask, PlanetariumConfig]):
    """The published dataset."""

    def load(self) -> list[PlanetariumTask]:
        """A task for each row."""
        from datasets import load_dataset

        rows = load_dataset(self.config.dataset, split=self.config.split, data_files=self.config.data_files)
        return [
            PlanetariumTask(
                PlanetariumData(
                    idx=number,
                    prompt=question(row),
                    answer=row["problem_pddl"],
                    info={"is_placeholder": bool(row.get("is_placeholder"))},
                ),
                self.config.task,
            )
            for number, row in enumerate(rows)
        ]


class NewTasksData(vf.TaskData):
    """A new task; ``answer`` is its problem where that is asked for, else nothing: plans are executed."""

    answer: str | None
    info: dict[str, str]


class NewTasksTask(vf.Task[NewTasksData]):
    """One answer."""

    single_turn = PlanetariumTask.single_turn
    pddl = PlanetariumTask.pddl


class NewTasksConfig(vf.TasksetConfig):
    """Which tasks are made (``pddl_eval.environment``), how many, and whether those that are held out."""

    domain: str = "blocksworld"
    shortest: int = 1
    longest: int = 20
    seed: int = 0
    number: int = 1000
    held_out: bool = False


class NewTasksTaskset(vf.Taskset[NewTasksTask, NewTasksConfig]):
    """New tasks of one's own."""

    def load(self) -> list[NewTasksTask]:
        """The first tasks of the stream, or of those that it never has."""
        asked = self.config
        environment = pddl_eval.Environment(asked.domain, steps=(asked.shortest, asked.longest), seed=asked.seed)
        episodes = (
            environment.held_out_tasks(asked.number) if asked.held_out else islice(environment.stream(), asked.number)
        )
        return [
            NewTasksTask(
                NewTasksData(
                    idx=number,
                    prompt=each.messages[-1]["content"],
                    answer=each.row["reference"],
                    info={name: value for name, value in each.row.items() if name != "reference"},
                ),
                asked.task,
            )
            for number, each in enumerate(episodes)
        ]
