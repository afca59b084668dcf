"""Planetarium in Inspect: a task, and a scorer that other tasks can use.

    inspect eval infra/integrations/inspect_planetarium.py --model openai/gpt-4o -T pairs=planetarium.jsonl

A line of ``pairs`` has the fields ``natural_language``, ``problem_pddl``, ``domain`` and ``is_placeholder``, as the
published dataset has them.
"""

from asyncio import to_thread

import pddl_eval
from inspect_ai import Task, task
from inspect_ai.dataset import FieldSpec, json_dataset
from inspect_ai.scorer import Score, Scorer, Target, mean, scorer, stderr
from inspect_ai.solver import TaskState, generate, system_message

PROMPT = "Answer with a PDDL problem that says what the user describes, in the domain that the user names."


@task
def planetarium(pairs: str) -> Task:
    """Write the PDDL problem that a text describes."""
    fields = FieldSpec(input="natural_language", target="problem_pddl", metadata=["domain", "is_placeholder"])
    solver = [system_message(PROMPT), generate()]
    return Task(dataset=json_dataset(pairs, fields), solver=solver, scorer=pddl_problem())


@scorer(metrics={"*": [mean(), stderr()]})
def pddl_problem() -> Scorer:
    """Whether the answer is the target's planning problem; undecided counts as no, the verdict is in the log."""

    async def score(state: TaskState, target: Target) -> Score:
        known = {"is_placeholder": bool(state.metadata.get("is_placeholder"))}
        # In a thread: a hard problem takes seconds, and other samples go on meanwhile.
        found = await to_thread(pddl_eval.compare_problems, target.text, state.output.completion, **known)
        names = ("parseable", "solvable", "solves_reference", "equivalent")
        return Score(
            value={name: int(bool(getattr(found, name))) for name in names},
            answer=state.output.completion,
            explanation=f"{found.verdict.value}: {found.detail}",
            metadata={"certificate": found.certificate},
        )

    return score
